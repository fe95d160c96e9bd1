"""What `doctor` looks at without asking anybody: Python, packages, SQLite, the folder, the terminal."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, version
from pathlib import Path

from commonplace.cli.finding import BROKEN, FINE, NOTE, Finding, broken_by
from commonplace.errors import CommonplaceError
from commonplace.minds.prices import VARIABLE, price_of
from commonplace.run.manifest import package_version

NAME = "commonplace"
SMALLEST = (80, 24)
"""Columns and lines the terminal view needs."""
RULER = ("|한글 마을|🏮|→ ◆|", "|         |  |   |")
"""Line up where a terminal gives Hangul and emoji two columns each."""
_WANTED = re.compile(r"^([\w.-]+)")
_EXTRA = re.compile(r"extra == [\"']([\w-]+)[\"']")


def machine() -> Iterator[Finding]:
    """Everything that is not a mind."""
    yield Finding(FINE, f"Commonplace {package_version()}, Python {platform.python_version()}, {platform.platform()}")
    yield from packages()
    yield database()
    yield folder(Path("runs"))
    yield from terminal()
    yield from prices()


def packages() -> Iterator[Finding]:
    """What the package asks for: its own needs, then extras."""
    needs = _needs()
    if not needs:
        yield Finding(NOTE, "run from a source tree: what it needs is not known here", "pip install -e . tells pip")
        return
    for extra, names in sorted(needs.items()):
        found = {name: _version(name) for name in names}
        missing = [name for name, number in found.items() if not number]
        wanted = f"{NAME}[{extra}]" if extra else NAME
        what = f"[{extra}] " if extra else ""
        if not missing:
            yield Finding(FINE, what + ", ".join(f"{name} {number}" for name, number in found.items()))
        elif extra:
            yield Finding(NOTE, f"{what}not installed: {', '.join(missing)}", f'pip install "{wanted}"')
        else:
            yield Finding(BROKEN, f"missing: {', '.join(missing)}", f"pip install {wanted}")


def _needs() -> dict[str, list[str]]:
    """Extra → packages; those always needed under the empty name."""
    try:
        lines = metadata(NAME).get_all("Requires-Dist") or []
    except PackageNotFoundError:
        return {}
    needs: dict[str, list[str]] = {}
    for line in lines:
        wanted, extra = _WANTED.match(line), _EXTRA.search(line)
        if wanted:
            needs.setdefault(extra[1] if extra else "", []).append(wanted[1])
    return needs


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def database() -> Finding:
    """SQLite must be able to write ahead of its log, as runs do."""
    with tempfile.TemporaryDirectory(prefix="commonplace-") as temporary:
        connection = sqlite3.connect(Path(temporary) / "probe.run")
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        finally:
            connection.close()
    if mode != "wal":
        return Finding(BROKEN, f"SQLite {sqlite3.sqlite_version} cannot write ahead", "use another build of Python")
    return Finding(FINE, f"SQLite {sqlite3.sqlite_version}")


def folder(wanted: Path) -> Finding:
    """Where runs go unless `-o` says otherwise: the folder, or the nearest one above it that exists."""
    place = next(path for path in (wanted, *wanted.resolve().parents) if path.is_dir())
    try:
        with tempfile.NamedTemporaryFile(dir=place, prefix=".commonplace-"):
            free = shutil.disk_usage(place).free
    except OSError as error:
        todo = "give runs another place with -o, or start from another folder"
        return Finding(BROKEN, f"{place.resolve()} cannot be written to ({error.strerror})", todo)
    return Finding(FINE, f"runs are written to {wanted.resolve()}, {free / 1e9:,.1f} GB free")


def terminal() -> Iterator[Finding]:
    """Whether the terminal view can be shown here, and how wide characters come out."""
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        yield Finding(NOTE, f"output is written in {sys.stdout.encoding}", "set PYTHONUTF8=1")
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        yield Finding(NOTE, "no terminal here: runs are shown as plain lines", "--view chooses another way")
        return
    size = shutil.get_terminal_size()
    what = f"terminal {os.environ.get('TERM', '')}, {size.columns}×{size.lines}"
    if size < SMALLEST:
        yield Finding(NOTE, what, "the terminal view needs 80×24: make the window larger, or use --view plain")
    else:
        yield Finding(FINE, what)
    todo = "if the strokes below one another do not line up, choose a monospaced font with Hangul and emoji"
    yield Finding(NOTE, f"{RULER[0]}\n        {RULER[1]}", todo)


def prices() -> Iterator[Finding]:
    """The user's own list of prices, if there is one."""
    own = os.environ.get(VARIABLE)
    if own:
        try:
            price_of("offline")
        except CommonplaceError as error:
            yield broken_by(error)
        else:
            yield Finding(FINE, f"prices from {own}")
