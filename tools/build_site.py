"""Builds the documentation site into build/site: `make docs`. Fails on a broken link, a name that does not exist, or a
picture that is not shown.

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
DOCS = PROJECT / "docs"
PAGES = PROJECT / "build" / "pages"
SITE = PROJECT / "build" / "site"
ROOT_PAGES = {
    "README.md": "index.md",
    "README.ko.md": "readme.ko.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
SHOWN = re.compile(r'<img\b[^>]*\bsrc="([^"]+)"')


def main() -> int:
    """Collects the pages, runs Zensical over them and looks for their pictures; returns the exit status."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(DOCS, PAGES)
    for page in sorted(DOCS.rglob("*.md")):
        write(page, PAGES / str(place_of(page)))
    for name, target in ROOT_PAGES.items():
        write(PROJECT / name, PAGES / target)
    (PAGES / "tutorial.md").write_text(tutorial(), encoding="utf-8")
    status = subprocess.call([sys.executable, "-m", "zensical", "build", "--strict", "--clean"], cwd=PROJECT)
    return status or not_shown()


def not_shown() -> int:
    """Compares the pictures of the pages with those of the site and prints what is missing; 1 if anything is."""
    lost: list[str] = []
    wanted = 0
    for page in sorted(PAGES.rglob("*.md")):
        place = page.relative_to(PAGES)
        built = SITE / (
            place.with_name("index.html") if place.stem == "index" else place.with_suffix("") / "index.html"
        )
        shown = {(built.parent / source).resolve() for source in SHOWN.findall(built.read_text(encoding="utf-8"))}
        for picture in PICTURE.findall(page.read_text(encoding="utf-8")):
            wanted += 1
            file = (SITE / place.parent / picture).resolve()
            if file not in shown or not file.is_file():
                lost.append(f"{place}: {picture} is not shown")
    print(*lost, f"{wanted - len(lost)} of {wanted} pictures are shown", sep="\n")
    return int(bool(lost))


def write(page: Path, target: Path) -> None:
    """Writes one page with its links rewritten; a link to a file that is not on the site becomes plain text."""
    up = "../" * (len(target.relative_to(PAGES).parts) - 1)

    def rewritten(found: re.Match[str]) -> str:
        text, link, anchor = found[1], found[2], found[3] or ""
        if "://" in link:
            return found[0]
        place = place_of((page.parent / link).resolve())
        return f"[{text}]({up}{place}{anchor})" if place else text

    target.write_text(LINK.sub(rewritten, page.read_text(encoding="utf-8")), encoding="utf-8")


def place_of(file: Path) -> str | None:
    """Where a file of the project stands on the site; None for one that is not on it."""
    if file.parent == PROJECT:
        return ROOT_PAGES.get(file.name)
    if file == PROJECT / "examples":
        return "tutorial.md"
    if file == DOCS / "index.md":
        return "pages.md"  # the first page of the site is the README
    return file.relative_to(DOCS).as_posix() if file.is_relative_to(DOCS) and file.is_file() else None


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
