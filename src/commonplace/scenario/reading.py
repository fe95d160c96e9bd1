"""YAML with line numbers: a file, or a shipped scenario's name, becomes plain data in which every place has a line.

Built straight from the parser's events (see docs/decisions/yaml-reader.md): that costs little more than the parser
itself, reads deep and recursive documents without recursion of the library's, and sees duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from commonplace.errors import WrongUse
from commonplace.scenario.document import Builder
from commonplace.scenario.mistake import Mistake, choice, label, nearest
from commonplace.scenario.plain import Path
from commonplace.scenario.syntax import in_plain_words

LARGEST = 4_000_000
"""Bytes; a scenario of a thousand characters is about half of it."""
SUFFIX = ".yaml"


@dataclass(frozen=True, slots=True)
class Source:
    """A document as read. `faults` are mistakes of writing (broken YAML, duplicate keys); data is None when broken."""

    text: str
    origin: str
    """What mistakes call the file."""
    data: Any
    lines: Mapping[Path, int] = field(default_factory=dict[Path, int])
    faults: tuple[Mistake, ...] = ()

    def line(self, path: Path) -> int:
        """The line the path stands on, from 1; that of the nearest part around it when the path does not exist."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def mistake(self, path: Path, what: str, expected: str = "", nearest: str = "") -> Mistake:
        """A mistake at a path of this document."""
        return Mistake(self.origin, self.line(path), label(self.data, path), what, expected, nearest)


def find(name_or_path: str) -> Source:
    """A shipped scenario by name, or any file by path, as a document. Errors as of `located`."""
    return read(*located(name_or_path))


def located(name_or_path: str) -> tuple[str, str]:
    """The text of a scenario and what mistakes call its file. Raises WrongUse when there is nothing to be read."""
    path = _shipped_path(name_or_path) or FilePath(name_or_path).expanduser()
    if not _is_file(path, name_or_path):
        raise _unknown(name_or_path)
    return _text(path), _origin(path)


def read(text: str, origin: str) -> Source:
    """The text as a document. Never raises: what is wrong with the writing is in `faults`."""
    builder = Builder()
    try:
        for event in _events(text):
            builder.take(event)
    except YAMLError as error:
        line, what = in_plain_words(error, text)
        return Source(text, origin, None, {}, (Mistake(origin, line, "", what),))
    if builder.stopped:
        line, what = builder.stopped
        return Source(text, origin, None, {}, (Mistake(origin, line, "", what),))
    source = Source(text, origin, builder.data, builder.lines)
    faults = tuple(Mistake(origin, line, label(builder.data, path), what) for line, path, what in builder.faults)
    return Source(text, origin, source.data, source.lines, faults)


def shipped() -> list[tuple[str, str, str]]:
    """(name, title, summary) of the scenarios in the package, by name; reads only the head of each file."""
    return [(path.stem, *_head(path.read_text(encoding="utf-8"))) for path in _shipped_paths()]


def _events(text: str) -> Iterator[Any]:
    return YAML(typ="safe", pure=True).parse(text)  # pyright: ignore[reportUnknownVariableType]


def _head(text: str) -> tuple[str, str]:
    """Title and summary: the scalars of the document's top before its first list or mapping."""
    builder = Builder()
    try:
        for event in _events(text):
            builder.take(event)
            if builder.depth > 1:
                break
    except YAMLError:
        pass  # a broken file is the affair of `check`; a listing shows what could be read
    top = builder.top
    return str(top.get("title") or ""), str(top.get("summary") or "").strip()


def _shipped_paths() -> list[FilePath]:
    folder = FilePath(str(files("commonplace"))) / "scenarios"
    return sorted(folder.glob(f"*{SUFFIX}"))


def _shipped_path(name: str) -> FilePath | None:
    return next((path for path in _shipped_paths() if path.stem == name), None)


def _is_file(path: FilePath, given: str) -> bool:
    """Raises WrongUse for what exists and is no file."""
    try:
        if path.is_dir():
            raise WrongUse(f"{given!r} is a folder; a scenario is one YAML file", todo=_hint_in(path))
        return path.exists()
    except (OSError, ValueError):  # a name too long for the system, or with a zero byte in it
        return False


def _hint_in(folder: FilePath) -> str:
    try:
        inside = sorted(path.name for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except OSError:
        inside = []
    return f"In it: {', '.join(inside[:8])}." if inside else ""


def _unknown(given: str) -> WrongUse:
    names = [path.stem for path in _shipped_paths()]
    near = nearest(given, names)
    hint = f"Did you mean {near}? " if near else ""
    return WrongUse(
        f"there is no scenario {_quoted(given)}: no file has this path, and none of this name ships with Commonplace",
        todo=f"{hint}Shipped: {choice(names)}. `commonplace new PATH` writes one to start from.",
    )


def _quoted(given: str) -> str:
    return repr(given if len(given) <= 80 else f"{given[:79]}…")


def _origin(path: FilePath) -> str:
    return path.name if path in _shipped_paths() else str(path)


def _text(path: FilePath) -> str:
    """The file's text. Raises WrongUse when it is too large, unreadable or not UTF-8."""
    where = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST + 1)
    except OSError as error:
        raise WrongUse(f"cannot be read ({error.strerror or error})", where=where) from error
    if len(raw) > LARGEST:
        raise WrongUse(f"is larger than {LARGEST // 1_000_000} MB, too large for a scenario", where=where)
    try:
        return re.sub("\r\n?", "\n", raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise WrongUse(
            "is not UTF-8 text", where=f"{where}:{line}", todo="Save it as UTF-8, in the editor's “save with encoding”."
        ) from error
