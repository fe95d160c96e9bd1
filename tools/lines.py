"""How many lines of code each folder has, and whether it keeps to its budget: `tools/lines.txt`.

    python tools/lines.py            each folder: lines, budget
    python tools/lines.py --write    lower the budgets to what is there now

A line of code holds something other than blanks, comments and docstrings. A budget rises by hand only, with its reason
behind it.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
BUDGETS = Path(__file__).with_suffix(".txt")
PACKAGE = ROOT / "src" / "commonplace"
LIBRARIES = ("adapters", "founding", "querygraph", "testing")
"""Folders that are neither core nor part: each is used by itself."""
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


class Budget(NamedTuple):
    """What a folder may have, and why, where that was raised."""

    lines: int
    reason: str = ""


def code_lines(path: Path) -> int:
    """Lines with code."""
    with path.open("rb") as file:
        tokens = [token for token in tokenize.tokenize(file.readline) if token.type not in _NO_CODE]
    lines = {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}
    return len(lines - _documentation(ast.parse(path.read_bytes())))


def _documentation(tree: ast.AST) -> set[int]:
    """The lines of docstrings, those below a name included: every statement that is only a text."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def counted() -> dict[str, int]:
    """Folder → lines of code: those of the package and of `parts/` each, single modules together, then the rest."""
    lines: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        *folders, _ = path.relative_to(PACKAGE).parts
        lines["/".join(folders[: 2 if folders[:1] == ["parts"] else 1]) or "."] += code_lines(path)
    for folder in ("tools", "benchmarks"):
        lines[f"{folder}/"] = sum(code_lines(path) for path in sorted((ROOT / folder).rglob("*.py")))
    return dict(sorted(lines.items()))


def sums(lines: dict[str, int]) -> dict[str, int]:
    """The core, the parts, the libraries and all of the package."""
    package = {folder: count for folder, count in lines.items() if not folder.endswith("/")}
    parts = sum(count for folder, count in package.items() if folder.startswith("parts"))
    libraries = sum(package[folder] for folder in LIBRARIES) + code_lines(PACKAGE / "ledger.py")
    whole = sum(package.values())
    return {"core": whole - parts - libraries, "parts": parts, "libraries": libraries, "src": whole}


def budgets() -> dict[str, Budget]:
    """Folder → its budget; each line of the file is `NUMBER FOLDER [REASON]`."""
    rows = (line.split(maxsplit=2) for line in BUDGETS.read_text(encoding="utf-8").splitlines())
    return {folder: Budget(int(number), " ".join(reason)) for number, folder, *reason in rows}


def over() -> list[str]:
    """What exceeds its budget, or has none, in words."""
    allowed = budgets()
    return [
        f"{folder}: {lines} lines of code, {allowed.get(folder, Budget(0)).lines} allowed"
        for folder, lines in counted().items()
        if lines > allowed.get(folder, Budget(0)).lines
    ]


def write() -> None:
    """Lower the budgets; a new folder gets what it has."""
    allowed = budgets()
    text = ""
    for folder, lines in counted().items():
        budget = allowed.get(folder, Budget(lines))
        text += f"{min(lines, budget.lines):>6} {folder} {budget.reason}".rstrip() + "\n"
    BUDGETS.write_text(text, encoding="utf-8")


def main() -> int:
    """Print the table; status 1 if a folder exceeds its budget."""
    if "--write" in sys.argv[1:]:
        write()
    lines, allowed = counted(), budgets()
    for folder, count in lines.items():
        print(f"{count:>6} of {allowed.get(folder, Budget(0)).lines:>6}  {folder}")
    for name, count in sums(lines).items():
        print(f"{count:>6}            {name}")
    return int(bool(over()))


if __name__ == "__main__":
    raise SystemExit(main())
