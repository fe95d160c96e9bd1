"""Parser events become plain data and the line of every part of it.

Scalars follow YAML 1.2's core schema (so `no`, `on` and `06:00` are text), except that dates stay text too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import events

from commonplace.scenario.plain import Path, is_list, is_mapping
from commonplace.text import clean

DEEPEST = 100
"""Levels; rooms in rooms go no deeper, and validating must not run out of stack."""
MOST_PARTS = 500_000
"""Values after aliases are followed: a short file can otherwise unfold into more than memory holds."""

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_STRING_TAGS = ("!", "!!str", "tag:yaml.org,2002:str")
MERGE = "<<"


@dataclass(slots=True)
class _Frame:
    """A list or mapping that is still open."""

    value: dict[str, Any] | list[Any]
    path: Path
    anchor: str | None
    parts_before: int
    key: str | None = None
    """The key whose value comes next; always None in a list."""
    merged: list[Any] = field(default_factory=list[Any])
    dropping: bool = False
    """Whether the value that comes next belongs to a duplicate key."""


class Builder:
    """Takes the events of one document, one by one. `stopped` is set when the rest cannot be read."""

    def __init__(self) -> None:
        self.data: Any = None
        self.lines: dict[Path, int] = {(): 1}
        self.faults: list[tuple[int, Path, str]] = []
        """Line, path and description of duplicate keys and the like."""
        self.stopped: tuple[int, str] | None = None
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._parts = 0
        self._documents = 0

    @property
    def depth(self) -> int:
        """Lists and mappings open now."""
        return len(self._frames)

    @property
    def top(self) -> dict[str, Any]:
        """The document's outermost mapping as far as it has been read."""
        value = self._frames[0].value if self._frames else self.data
        return value if is_mapping(value) else {}

    def take(self, event: Any) -> None:
        """The next event."""
        if self.stopped:
            return
        line = event.start_mark.line + 1
        kind: object = event
        match kind:
            case events.ScalarEvent():
                self._scalar(event, line)
            case events.MappingStartEvent() | events.SequenceStartEvent():
                self._open(event, line)
            case events.MappingEndEvent() | events.SequenceEndEvent():
                self._close()
            case events.AliasEvent():
                self._alias(event.anchor, line)
            case events.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    self.stopped = (line, "a second document begins here (`---`); a scenario is one document")
            case _:
                pass

    def _scalar(self, event: Any, line: int) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.value, dict) and frame.key is None:
            self._key(frame, _cleaned(event.value), line)
            return
        value = self._scalar_value(event, line)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._put(value, line, 1)

    def _scalar_value(self, event: Any, line: int) -> Any:
        tag = str(event.tag) if event.tag else ""
        if tag and tag not in _STRING_TAGS:
            self.faults.append((line, self._next_path(), f"the tag {tag} has no meaning here; leave it out"))
        return _cleaned(event.value) if tag or event.style else _plain(event.value)

    def _key(self, frame: _Frame, key: str, line: int) -> None:
        assert isinstance(frame.value, dict)
        frame.key = key
        path = (*frame.path, key)
        frame.dropping = key in frame.value
        if frame.dropping:
            first = self.lines.get(path, 0)
            self.faults.append((line, path, f'the key "{key}" is here a second time; the first is on line {first}'))
        elif key != MERGE:
            self.lines.setdefault(path, line)

    def _next_path(self) -> Path:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        return (*frame.path, frame.key if frame.key is not None else len(frame.value))

    def _open(self, event: Any, line: int) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.value, dict) and frame.key is None:
            self.stopped = (line, "a list or mapping stands where a key must be a word")
        elif len(self._frames) >= DEEPEST:
            self.stopped = (line, f"lists and mappings are nested more than {DEEPEST} deep")
        else:
            path = self._next_path()
            self.lines.setdefault(path, line)
            kind: object = event
            value: dict[str, Any] | list[Any] = {} if isinstance(kind, events.MappingStartEvent) else []
            self._frames.append(_Frame(value, path, event.anchor, self._parts))

    def _close(self) -> None:
        frame = self._frames.pop()
        for source in frame.merged:
            self._merge(frame, source)
        parts = self._parts - frame.parts_before + 1
        if frame.anchor:
            self._anchors[frame.anchor] = (frame.value, parts)
        self._put(frame.value, self.lines.get(frame.path, 1), 1)

    def _merge(self, frame: _Frame, source: Any) -> None:
        """YAML's merge key: what the mapping does not say itself comes from the source, or the sources in a list."""
        assert isinstance(frame.value, dict)
        for one in source if is_list(source) else [source]:
            if is_mapping(one):
                frame.value.update({key: value for key, value in one.items() if key not in frame.value})
            else:
                line = self.lines.get(frame.path, 1)
                self.faults.append((line, frame.path, "`<<` needs a mapping to take keys from"))

    def _alias(self, name: str, line: int) -> None:
        if name in self._anchors:
            value, parts = self._anchors[name]
            self._put(value, line, parts)
        else:
            self.stopped = (line, f"`*{name}` refers to an anchor `&{name}` that does not stand complete before it")

    def _put(self, value: Any, line: int, parts: int) -> None:
        """The value in its place: the top, the next of a list, or under the key that waits for one."""
        self._parts += parts
        if self._parts > MOST_PARTS:
            self.stopped = (line, f"the document unfolds into more than {MOST_PARTS:,} values")
        if not self._frames:
            self.data = value
            return
        frame = self._frames[-1]
        if isinstance(frame.value, list):
            self.lines.setdefault((*frame.path, len(frame.value)), line)
            frame.value.append(value)
            return
        assert frame.key is not None
        if frame.key == MERGE:
            frame.merged.append(value)
        elif not frame.dropping:
            frame.value[frame.key] = value
        frame.key = None


def _plain(text: str) -> Any:
    """The value of a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else _cleaned(text)


def _cleaned(text: str) -> str:
    """The text as `text.clean` gives it; most of it is clean already, and seen to be so at less cost."""
    is_clean = text.isascii() and text.isprintable() and "  " not in text and text == text.strip()
    return text if is_clean else clean(text)
