"""Writes docs/founding.md, which says of each requirement of the founding documents what fulfils it.

    python tools/founding_page.py

The rows are the marks of the tests in tests/founding, one file for each document: section, requirement, what to call
or to type, and the file that does it, in src/commonplace or the project.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[1]
PAGE = PROJECT / "docs" / "founding.md"
TESTS = PROJECT / "tests" / "founding"
SOURCE = PROJECT / "src" / "commonplace"
DOCUMENTS = {
    "agent_crossing": "Agent Crossing",
    "sitcom": "The sitcom simulator",
    "memory_graph": "The agent memory graph",
    "coordinate_memory": "Coordinate memory",
    "latticeville": "Latticeville",
}
HEAD = """# The founding documents

Commonplace grew from five documents. Each has a module with the names that stand in it, and a file of tests with a test
for each requirement. The modules are adapters: what they call is what the rest of the package uses. Names in camel case
are written in snake case; names in the tables without a module are those of the module in the title.

Where the engine keeps something else, the module gives the document's form beside it
([which, and why](decisions/beside-the-documents.md)).

This page is made of the tests by `python tools/founding_page.py`.
"""


class Row(NamedTuple):
    """A requirement; `calls` and `file` are what stands in the test."""

    test: str
    section: str
    text: str
    calls: str
    file: str


def rows(document: str) -> list[Row]:
    """The requirements of a document in the order of their tests; a test may fulfil several."""
    file = TESTS / f"test_{document}.py"
    if not file.exists():
        return []
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {
        target.id: value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for targets in node.targets
        for target, value in _pairs(targets, node.value)
        if isinstance(value, ast.Constant)
    }
    return [
        Row(node.name, *(_text(given, names) for given in mark.args))
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        for mark in node.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "requirement"
    ]


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.Name, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return [pair for one, other in zip(target.elts, value.elts, strict=True) for pair in _pairs(one, other)]
    return [(target, value)] if isinstance(target, ast.Name) else []


def _text(given: ast.expr, names: dict[str, object]) -> str:
    return str(names[given.id] if isinstance(given, ast.Name) else ast.literal_eval(given))


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for document, title in DOCUMENTS.items():
        if found := rows(document):
            parts.append(f"\n## {title}\n\n`commonplace.founding.{document}` · `tests/founding/test_{document}.py`\n\n")
            parts.append("| § | requirement | with | in |\n|---|---|---|---|\n")
            parts += [f"| {row.section} | {row.text} | {_code(row.calls)} | {_file(row.file)} |\n" for row in found]
    return "".join(parts)


def _code(calls: str) -> str:
    return f"`{calls}`" if calls else ""


def _file(name: str) -> str:
    if not ((SOURCE / name).exists() or (PROJECT / name).exists()):
        raise SystemExit(f"{name}: no such file in src/commonplace or in the project")
    return f"`{name}`"


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
