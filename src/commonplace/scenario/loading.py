"""YAML with line numbers: a file, or a shipped scenario's name, becomes plain data in which every place has a line.

Built straight from the parser's events (see docs/decisions/yaml-reader.md): that costs little more than the parser
itself, reads deep and recursive documents without the library's recursion, and detects duplicate keys.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any, Self, TypeGuard, TypeVar

import yaml
from yaml import events
from yaml.error import MarkedYAMLError, YAMLError
from yaml.reader import ReaderError

from commonplace.errors import UsageError
from commonplace.paths import is_inside, kind_of, text_of
from commonplace.text import clean

B = TypeVar("B", bound="Builder")
KeyPath = tuple[str | int, ...]
"""Keys and positions from the top of the document: `("characters", 3, "routine", 1, "place")`."""
DEEPEST = 100
"""Levels of nesting: more than any scenario needs, and few enough that validating cannot overflow the stack."""
MOST_PARTS = 500_000
"""Values after aliases are followed: a short file can otherwise unfold into more than memory holds."""
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""LibYAML, which PyYAML's wheels contain. An installation without it gets the same events, twenty times slower."""
LISTED = 14
"""Valid names shown when none of them is near the wrong one."""
TOLD = 100
"""Mistakes told of one by one."""
TOLD_ALIKE = 10
"""Mistakes of one sort that are."""
SUFFIX, RULES = ".yaml", ".rules.yaml"
"""How names of scenarios end, and those of files of rules."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document as read. `faults` are mistakes of writing (broken YAML, duplicate keys); data is None when broken."""

    text: str
    origin: str
    """What mistakes call the file."""
    data: Any
    lines: Mapping[KeyPath, int] = field(default_factory=dict[KeyPath, int])
    faults: tuple[Mistake, ...] = ()
    rules: tuple[tuple[str, int], ...] = ()
    """Where files of rules are read: of each rule the file it is from, and its place there."""

    def line(self, path: KeyPath) -> int:
        """The line of the path, from 1; that of the nearest part around it if the path does not exist."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def mistake(self, path: KeyPath, what: str, expected: str = "", nearest: str = "") -> Mistake:
        """A mistake at a path of this document."""
        origin, written = self.origin, path
        if self.rules and path[:1] == ("rules",) and len(path) > 1 and isinstance(path[1], int):
            origin, number = self.rules[path[1]]
            written = ("rules", number, *path[2:])
        return Mistake(origin, self.line(path), label(self.data, written), what, expected, nearest)


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing to correct."""

    file: str
    line: int
    """From 1; 0 when it belongs to no line."""
    where: str
    """`characters › mira › routine › 2 › place`; list positions count from 1. Empty for the whole file."""
    what: str
    """A clause without a full stop: `there is no area "nodle_bar"`."""
    expected: str = ""
    """What would be right; empty when `what` says it."""
    nearest: str = ""
    """The valid name that is most like the wrong one; empty when none is like it."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.line else f"{self.file}: "
        where = f"{self.where}: " if self.where else ""
        if self.nearest:
            return f'{place}{where}{self.what} — did you mean "{self.nearest}"?'
        return f"{place}{where}{self.what}{f' — expected {self.expected}' if self.expected else ''}"


# ── finding and reading ──────────────────────────────────────────────────────────────────────────────────────────────


def find(name_or_path: str) -> Source:
    """A shipped scenario by name, or any file by path, as a document, with the rules of files that it names. Errors as
    of `located`."""
    source = read(*located(name_or_path))
    return _with_rules(source, (_shipped_path(name_or_path) or FilePath(name_or_path).expanduser()).parent)


def located(name_or_path: str) -> tuple[str, str]:
    """The text of a scenario and what mistakes call its file. Raises UsageError when there is nothing to read."""
    path = _shipped_path(name_or_path) or FilePath(name_or_path).expanduser()
    kind = kind_of(path, name_or_path)
    if kind == "folder":
        raise UsageError(f"{name_or_path!r} is a folder; a scenario is one YAML file", hint=_hint_in(path))
    if kind == "nothing":
        raise _unknown(name_or_path)
    return text_of(path, "a scenario"), _origin(path)


def read(text: str, origin: str) -> Source:
    """The text as a document. Never raises: what is wrong with the writing is in `faults`."""
    try:
        builder = _built(text, Builder)
    except YAMLError as error:
        line, what = in_plain_words(error, text)
        return Source(text, origin, None, {}, (Mistake(origin, line, "", what),))
    if builder.stopped:
        line, what = builder.stopped
        return Source(text, origin, None, {}, (Mistake(origin, line, "", what),))
    faults = tuple(Mistake(origin, line, label(builder.data, path), what) for line, path, what in builder.faults)
    return Source(text, origin, builder.data, builder.lines, faults)


def shipped() -> list[tuple[str, str, str]]:
    """(name, title, summary) of the scenarios in the package, by name; reads only the head of each file."""
    return [(path.stem, *_head(path.read_text(encoding="utf-8"))) for path in _shipped_paths()]


def _built(text: str, builder: type[B]) -> B:
    """The document, from the C parser; or from the Python one, whose complaints are more exact."""
    try:
        return builder.of(_events(text, LOADER))
    except (YAMLError, UnicodeEncodeError):  # half a surrogate pair cannot be passed on to C
        return builder.of(_events(text, yaml.SafeLoader))


def _events(text: str, loader: Any) -> Iterator[events.Event]:
    return yaml.parse(text, Loader=loader)  # pyright: ignore[reportUnknownVariableType]


def _head(text: str) -> tuple[str, str]:
    """Title and summary: the scalars of the document's top before its first list or mapping."""
    builder = Builder()
    try:
        for event in _events(text, LOADER):
            builder.take(event)
            if builder.depth > 1:
                break
    except YAMLError:
        pass  # `check` reports a broken file; a listing shows what could be read
    top = builder.top
    return str(top.get("title") or ""), str(top.get("summary") or "").strip()


def _shipped_paths() -> list[FilePath]:
    folder = FilePath(str(files("commonplace"))) / "scenarios"
    found = (path for path in folder.glob(f"*{SUFFIX}") if not path.name.endswith(RULES))
    return sorted(found, key=lambda path: path.stem)


def _shipped_path(name: str) -> FilePath | None:
    return next((path for path in _shipped_paths() if path.stem == name), None)


def _hint_in(folder: FilePath) -> str:
    try:
        inside = sorted(path.name for path in folder.iterdir() if path.suffix in (".yaml", ".yml"))
    except OSError:
        inside = []
    return f"In it: {', '.join(inside[:8])}." if inside else "Give the name of the file."


def _unknown(name: str) -> UsageError:
    names = [path.stem for path in _shipped_paths()]
    near = nearest(name, names)
    hint = f"Did you mean {near}? " if near else ""
    return UsageError(
        f"there is no scenario {_quoted(name)}: no file has this path, and no shipped scenario has this name",
        hint=f"{hint}Shipped: {choice(names)}. `commonplace new PATH` writes one to start from.",
    )


def _quoted(name: str) -> str:
    return repr(name if len(name) <= 80 else f"{name[:79]}…")


def _origin(path: FilePath) -> str:
    return path.name if path in _shipped_paths() else str(path)


# ── rules in files beside ────────────────────────────────────────────────────────────────────────────────────────────


def _with_rules(source: Source, folder: FilePath) -> Source:
    """The document with the rules of the files that it names in place of their names, in its text as well: what is made
    of that needs the files no more."""
    given = below(source.data, "rules")
    if not is_list(given) or not any(isinstance(one, str) for one in given):
        return source
    names, faults = _built(source.text, _Names), [*source.faults]
    rules, places, texts = list[Any](), list[tuple[str, int]](), dict[int, list[str]]()
    lines = {path: line for path, line in source.lines.items() if path[:1] != ("rules",) or len(path) == 1}
    for number, one in enumerate(given):
        file = source if not isinstance(one, str) else _rules_file(source, number, one, folder, names)
        found = [(number, one)] if file is source else [*enumerate(file.data or ())]
        faults += () if file is source else file.faults
        texts |= {} if file is source else {number: [json.dumps(rule, ensure_ascii=False) for _, rule in found]}
        for place, rule in found:
            before: KeyPath = ("rules", place) if file is source else (place,)
            lines |= {("rules", len(rules), *path[len(before):]): line
                      for path, line in file.lines.items() if path[:len(before)] == before}  # fmt: skip
            rules.append(rule)
            places.append((file.origin, place))
    text = source.text if faults else names.replaced(source.text, texts)
    return Source(text, source.origin, {**source.data, "rules": rules}, lines, tuple(faults), tuple(places))


def _rules_file(source: Source, number: int, name: str, folder: FilePath, names: _Names) -> Source:
    """The list of a file of rules; without data where it cannot be read."""
    path: KeyPath = ("rules", number)
    what = expected = near = ""
    if not name.endswith(RULES) or not is_inside(name, folder):
        what, expected = f"{_quoted(name)} cannot be read as rules", f"a file beside the scenario, such as rain{RULES}"
    elif number not in names.spans:
        what, expected = "a file of rules is named by way of an alias", "its name"
    elif kind_of(folder / name) != "file":
        others = {one.name.removesuffix(RULES): one.name for one in folder.glob(f"*{RULES}") if one.is_file()}
        near = others.get(nearest(name.removesuffix(RULES), others), "")
        what, expected = f"there is no file {_quoted(name)} beside the scenario", f"a file such as rain{RULES}"
    if what:
        return Source("", source.origin, None, {}, (source.mistake(path, what, expected, near),))
    file = read(text_of(folder / name, "a file of rules"), str(FilePath(source.origin).parent / name))
    if file.faults or (is_list(file.data) and file.data):
        return file
    nothing = Mistake(file.origin, 1, "", "the file holds no list of rules", "a list; each rule has `when` and `says`")
    return Source(file.text, file.origin, None, {}, (nothing,))


# ── mistakes in words ────────────────────────────────────────────────────────────────────────────────────────────────


def report(mistakes: Iterable[Mistake]) -> str:
    """The mistakes as text, one line each, in the order given: the first of each sort, and how many more there are."""
    told: list[Mistake] = []
    alike: Counter[tuple[str, str]] = Counter()
    untold = 0
    for mistake in mistakes:
        sort = mistake.what, mistake.expected
        alike[sort] += 1
        if alike[sort] > TOLD_ALIKE or len(told) == TOLD:
            untold += 1
        else:
            told.append(mistake)
    more = [f"… and {untold:,} more"] if untold else []
    return "\n".join([*map(str, told), *more])


def nearest(name: str, valid: Iterable[str]) -> str:
    """The valid name most like this one, upper and lower case alike; empty when none is."""
    by_folded = {one.lower(): one for one in valid}
    found = get_close_matches(name.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def choice(valid: Collection[str]) -> str:
    """`a, b or c`; of a long list only the beginning, and how many there are."""
    names = sorted(valid)
    if len(names) > LISTED:
        return f"one of {len(names)} names such as {', '.join(names[:LISTED])}"
    if len(names) < 2:
        return names[0] if names else "a name that is defined; the file defines none yet"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def label(document: object, path: KeyPath) -> str:
    """The path as a person reads it: an item that has an id is called by it, any other by its number from 1."""
    words: list[str] = []
    here = document
    for key in path:
        here = below(here, key)
        words.append(_id(here) or str(key + 1) if isinstance(key, int) else key)
    return " › ".join(words)


def _id(item: object) -> str:
    named = below(item, "id")
    return named if isinstance(named, str) else ""


# ── plain data ───────────────────────────────────────────────────────────────────────────────────────────────────────


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is a mapping; documents have text keys only."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a list."""
    return isinstance(value, list)


def holds(here: object, key: str | int) -> bool:
    """Whether a mapping has the key, or a list the position."""
    if is_list(here):
        return isinstance(key, int) and 0 <= key < len(here)
    return is_mapping(here) and key in here


def below(here: object, key: str | int) -> Any:
    """What is under the key or at the position; None when nothing is."""
    if is_list(here):
        return here[key] if isinstance(key, int) and 0 <= key < len(here) else None
    return here.get(str(key)) if is_mapping(here) else None


# ── the document, from the parser's events ───────────────────────────────────────────────────────────────────────────


# Scalars follow YAML 1.2's core schema (so `no`, `on` and `06:00` are text), except that dates stay text too.
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
    path: KeyPath
    anchor: str | None
    parts_before: int
    key: str | None = None
    """The key whose value comes next; always None in a list."""
    merged: list[Any] = field(default_factory=list[Any])
    dropping: bool = False
    """Whether the value that comes next belongs to a duplicate key."""


class Builder:
    """Builds one document from its events, one by one. `stopped` is set when the rest cannot be read."""

    def __init__(self) -> None:
        self.data: Any = None
        self.lines: dict[KeyPath, int] = {(): 1}
        self.faults: list[tuple[int, KeyPath, str]] = []
        """Line, path and description of duplicate keys and the like."""
        self.stopped: tuple[int, str] | None = None
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._parts = 0
        self._documents = 0

    @classmethod
    def of(cls, parsed: Iterable[events.Event]) -> Self:
        """A builder that has taken the events up to the one it stopped at. Raises what the parser raises."""
        builder = cls()
        for event in parsed:
            builder.take(event)
            if builder.stopped:
                break
        return builder

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
        """The next event. Nothing more may follow once `stopped` is set."""
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

    def _next_path(self) -> KeyPath:
        if not self._frames:
            return ()
        frame = self._frames[-1]
        return (*frame.path, frame.key if frame.key is not None else len(frame.value))

    def _open(self, event: Any, line: int) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame and isinstance(frame.value, dict) and frame.key is None:
            self.stopped = (line, "expected a key, got a list or mapping")
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
        """YAML's merge key: keys that the mapping lacks come from the source, or from the sources in a list."""
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
            self.stopped = (line, f"`*{name}` refers to the anchor `&{name}`, which is not complete before it")

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


class _Names(Builder):
    """Also notes where in the text the items of `rules` stand that are texts."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: dict[int, tuple[int, int]] = {}
        self._is_flow, self._column = False, 0

    def take(self, event: Any) -> None:
        """The next event."""
        kind: object = event
        here = self._frames[-1] if self._frames else None
        if isinstance(kind, events.SequenceStartEvent) and self._next_path() == ("rules",):
            self._is_flow, self._column = bool(event.flow_style), event.start_mark.column
        elif isinstance(kind, events.ScalarEvent) and here and here.path == ("rules",) and is_list(here.value):
            self.spans[len(here.value)] = event.start_mark.index, event.end_mark.index
        super().take(event)

    def replaced(self, text: str, items: Mapping[int, Sequence[str]]) -> str:
        """The text with several items in place of each of these."""
        between = ", " if self._is_flow else f"\n{' ' * self._column}- "
        for number, several in sorted(items.items(), reverse=True):
            begin, end = self.spans[number]
            after = "\n" if text[begin:end].endswith("\n") else ""
            text = f"{text[:begin]}{between.join(several)}{after}{text[end:]}"
        return text


def _plain(text: str) -> Any:
    """The value of a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else _cleaned(text)


def _cleaned(text: str) -> str:
    """The text as `text.clean` gives it; most texts are clean already, which is cheaper to check."""
    is_clean = text.isascii() and text.isprintable() and "  " not in text and text == text.strip()
    return text if is_clean else clean(text)


# ── what the parser complains about, for somebody who does not know the parser ───────────────────────────────────────


QUOTES = "put the text in quotes"
_WORDING = (
    (r"mapping values are not allowed", f'a ":" is not allowed here: the indentation does not fit, or {QUOTES}'),
    (r"sequence entries are not allowed", 'a "-" is not allowed here: a list begins on a line of its own'),
    (r"character '\\t'", "the line is indented with a tab; YAML wants spaces"),
    (r"found character '(.)' that cannot start", rf'a text cannot begin with "\1": {QUOTES}'),
    (r"expected ',' or '([\]}])'", r'a list or mapping in brackets is not closed: a "," or "\1" is missing'),
    (r"expected <block end>", "the line does not fit the list or mapping it is in: check its indentation"),
    (r"could not find expected ':'", 'a ":" is missing after the key, or the text before runs on to this line'),
    (r"unknown escape character '(.)'", r'"\\\1" means nothing in double quotes: use single quotes or "\\\\"'),
    (r"expected '<document start>'", "the line is indented less than the first one: all keys of the top begin alike"),
    (r"expected the node content", "a value is missing, or a bracket closes that was not opened"),
    (r"expected alphabetic or numeric", f"a text cannot begin with “*” or “&”: {QUOTES}"),
)


def in_plain_words(error: YAMLError, text: str) -> tuple[int, str]:
    """(line from 1, what is wrong) of an error the parser raised while reading the text."""
    if isinstance(error, ReaderError):
        return _stray_character(error, text)
    if not isinstance(error, MarkedYAMLError):
        return 1, f"this is not YAML: {error}"
    marked: Any = error  # the library leaves its attributes without types
    problem = str(marked.problem or marked.context or "this is not YAML")
    if "unexpected end of stream" in problem and marked.context_mark:
        return marked.context_mark.line + 1, "the quote opened here is never closed"
    mark = marked.problem_mark or marked.context_mark
    if "<stream end>" in problem and marked.context_mark:
        mark = marked.context_mark  # where the bracket was opened, rather than the last line of the file
    return (mark.line + 1 if mark else 1), _worded(problem)


def _worded(problem: str) -> str:
    for pattern, words in _WORDING:
        found = re.search(pattern, problem)
        if found:
            return found.expand(words)
    return problem


def _stray_character(error: Any, text: str) -> tuple[int, str]:
    """The reader gives the character but no line."""
    character: str = error.character if isinstance(error.character, str) else chr(error.character)
    place = text.find(character)
    line = text.count("\n", 0, max(place, 0)) + 1
    return line, f"the character U+{ord(character):04X} is not allowed in a YAML file"
