"""Builds the documentation site into build/site: `make docs`. Fails on a broken link or a name that does not exist.

The site is made of docs/, the Markdown pages of the project's root, and a tutorial made of the programs in examples/
with their stored output. Links between these places are rewritten, so that the same pages also work when they are read
in the repository.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PAGES = PROJECT / "build" / "pages"
ROOT_PAGES = {
    "README.md": "readme.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def main() -> int:
    """Collects the pages and runs Zensical over them; returns its exit status."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for page in sorted(PROJECT.glob("docs/**/*.md")):
        write(page, PAGES / page.relative_to(PROJECT / "docs"))
    for name, target in ROOT_PAGES.items():
        write(PROJECT / name, PAGES / target)
    (PAGES / "tutorial.md").write_text(tutorial(), encoding="utf-8")
    return subprocess.call([sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=PROJECT)


def write(page: Path, target: Path) -> None:
    """Writes one page with its links rewritten; a link to a file that is not on the site becomes plain text."""
    up = "../" * (len(target.relative_to(PAGES).parts) - 1)

    def rewritten(found: re.Match[str]) -> str:
        text, link, anchor = found[1], found[2], found[3] or ""
        if "://" in link:
            return found[0]
        place = place_of((page.parent / link).resolve())
        return f"[{text}]({up}{place}{anchor})" if place else text

    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(LINK.sub(rewritten, page.read_text(encoding="utf-8")), encoding="utf-8")


def place_of(file: Path) -> str | None:
    """Where a file of the project stands on the site; None for one that is not on it."""
    if file.parent == PROJECT:
        return ROOT_PAGES.get(file.name)
    if file == PROJECT / "examples":
        return "tutorial.md"
    inside = file.is_relative_to(PROJECT / "docs") and file.suffix == ".md"
    return file.relative_to(PROJECT / "docs").as_posix() if inside else None


def tutorial() -> str:
    """All examples as one page: what each shows, the program, and what it prints."""
    parts = ["# Tutorial", "Each program runs as it stands: `python examples/01_remember.py`."]
    for program in sorted(PROJECT.glob("examples/[0-9]*.py")):
        code = program.read_text(encoding="utf-8")
        module = ast.parse(code)
        title, _, rest = (ast.get_docstring(module) or "").partition("\n\n")
        body = "\n".join(code.splitlines()[module.body[0].end_lineno or 0 :]).strip()
        output = program.with_suffix(".out").read_text(encoding="utf-8").rstrip()
        parts += [f"## {title.rstrip('.')}", rest, f"`examples/{program.name}`"]
        parts += [f"```python\n{body}\n```", "It prints:", f"```text\n{output}\n```"]
    return "\n\n".join(filter(None, parts)) + "\n"


if __name__ == "__main__":
    sys.exit(main())
