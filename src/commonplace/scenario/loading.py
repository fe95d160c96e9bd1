"""YAML with line numbers: a file, or a shipped scenario's name, becomes plain data in which every part has a line.

The parser's events become nodes, in which the rules of other files take the place of these files' names, and the nodes
become data (see docs/decisions/yaml-reader.md). Checks name the path of a part; `Source` knows its file and line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.resources import files
from itertools import islice, takewhile
from pathlib import Path as FilePath
from typing import Any, TypeGuard

import yaml
from yaml import events
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from yaml.reader import ReaderError

from commonplace.errors import UsageError
from commonplace.paths import is_inside, kind_of, text_of
from commonplace.text import clean

KeyPath = tuple[str | int, ...]
"""Keys and positions from the top of the document: `("characters", 3, "routine", 1, "place")`."""
DEEPEST = 100
"""Levels of nesting: more than any scenario needs, and few enough that validating cannot overflow the stack."""
MOST_PARTS, A_PART = 500_000, 10
"""Values after aliases are followed, and one more for so many characters of the file: a short one can otherwise unfold
into more than memory holds, and a city of 10,000 has 3.2 million in 52 million characters."""
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
        """Returns the line of the path, from 1; that of the nearest part around it if the path does not exist."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def mistake(self, path: KeyPath, what: str, expected: str = "", nearest: str = "") -> Mistake:
        """Returns a mistake at a path of this document."""
        origin, written = self.origin, path
        if self.rules and path[:1] == ("rules",) and len(path) > 1 and isinstance(path[1], int):
            origin, number = self.rules[path[1]]
            written = ("rules", number, *path[2:])
        return Mistake(origin, self.line(path), label(self.data, written), what, expected, nearest)


class Unreadable(Exception):
    """The document, or a file of rules that it names, cannot be read."""

    def __init__(self, mistake: Mistake) -> None:
        super().__init__(str(mistake))
        self.mistake = mistake


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
    """Returns a shipped scenario by name, or any file by path, as a document, with the rules of files that it names.
    Raises what `located` raises."""
    path = _shipped_path(name_or_path) or FilePath(name_or_path).expanduser()
    return read(*located(name_or_path), path.parent)


def located(name_or_path: str) -> tuple[str, str]:
    """Returns the text of a scenario and what mistakes call its file. Raises UsageError when there is nothing to
    read."""
    path = _shipped_path(name_or_path) or FilePath(name_or_path).expanduser()
    kind = kind_of(path, name_or_path)
    if kind == "folder":
        raise UsageError(f"{name_or_path!r} is a folder; a scenario is one YAML file", hint=_hint_in(path))
    if kind == "nothing":
        raise _unknown(name_or_path)
    return text_of(path, "a scenario"), _origin(path)


def read(text: str, origin: str, folder: FilePath | None = None) -> Source:
    """Reads a text as a document. Never raises for what is wrong with the writing: that is in `faults`.

    `folder`: where the files of rules lie that the document names; their rules take the place of their names, in the
    text as well, so that what is made of it needs the files no more. Without a folder the names stay.
    """
    try:
        root = _nodes(text, origin)
        text, rules, faults = _with_rules(root, text, origin, folder) if folder else (text, (), [])
        found = _Unfolding(root, origin, rules)
    except Unreadable as error:
        return Source(text, origin, None, faults=(error.mistake,))
    document = Source(text, origin, found.data, found.lines, rules=rules)
    faults += (replace(document.mistake(path, what), line=line) for path, line, what in found.faults)
    return replace(document, faults=tuple(faults))


def shipped() -> list[tuple[str, str, str]]:
    """Returns name, title and summary of the scenarios in the package, by name; reads only the head of each file."""
    return [(path.stem, *_head(path.read_text(encoding="utf-8"))) for path in _shipped_paths()]


def _head(text: str) -> tuple[str, str]:
    """Returns title and summary: scalars of the document's top before its first list or mapping."""
    inside = islice(_events(text, LOADER), 3, None)  # after the beginnings of stream, document and mapping
    scalars = [clean(one.value) for one in takewhile(lambda one: isinstance(one, events.ScalarEvent), inside)]
    top = dict(zip(scalars[::2], scalars[1::2], strict=False))
    return top.get("title", ""), top.get("summary", "")


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


def _with_rules(
    root: Node | None, text: str, origin: str, folder: FilePath
) -> tuple[str, tuple[tuple[str, int], ...], list[Mistake]]:
    """Puts the rules of files in place of the files' names. Returns the text with them, where each rule is from, and
    what keeps files from being read."""
    pairs = root.value if isinstance(root, MappingNode) else ()
    given = next((value for key, value in pairs if key.value == "rules"), None)
    if not isinstance(given, SequenceNode) or not any(isinstance(_scalar(one), str) for one in given.value):
        return text, (), []
    rules, places, faults = list[Node](), list[tuple[str, int]](), list[Mistake]()
    begin, pieces, end = 0, list[str](), given.start_mark.index
    for number, node in enumerate(given.value):
        mark, name, file, found = node.start_mark, _scalar(node), origin, [(number, node)]
        if isinstance(name, str):
            wrong = Mistake(origin, mark.line + 1, f"rules › {number + 1}", "")
            try:
                file, written = _rules_file(name, wrong, folder, is_alias=mark.index < end)
            except Unreadable as error:
                faults.append(error.mistake)
                continue
            found = [*enumerate(written)]
            several = [json.dumps(_Unfolding(rule, file).data, ensure_ascii=False) for rule in written]
            between = ", " if given.flow_style else f"\n{' ' * given.start_mark.column}- "
            after = "\n" if text[mark.index : node.end_mark.index].endswith("\n") else ""
            pieces.append(f"{text[begin : mark.index]}{between.join(several)}{after}")
            begin = node.end_mark.index
        end = max(end, node.end_mark.index)
        rules += (rule for _, rule in found)
        places += ((file, place) for place, _ in found)
    given.value[:] = rules
    return f"{''.join(pieces)}{text[begin:]}", tuple(places), faults


def _rules_file(name: str, wrong: Mistake, folder: FilePath, *, is_alias: bool) -> tuple[str, list[Node]]:
    """Returns what mistakes call a file of rules, and its rules. Raises Unreadable; `wrong` is where it is named."""
    if not name.endswith(RULES) or not is_inside(name, folder):
        what, expected = f"{_quoted(name)} cannot be read as rules", f"a file beside the scenario, such as rain{RULES}"
        raise Unreadable(replace(wrong, what=what, expected=expected))
    if is_alias:
        raise Unreadable(replace(wrong, what="a file of rules is named by way of an alias", expected="its name"))
    if kind_of(folder / name) != "file":
        others = {one.name.removesuffix(RULES): one.name for one in folder.glob(f"*{RULES}") if one.is_file()}
        near = others.get(nearest(name.removesuffix(RULES), others), "")
        what, expected = f"there is no file {_quoted(name)} beside the scenario", f"a file such as rain{RULES}"
        raise Unreadable(replace(wrong, what=what, expected=expected, nearest=near))
    origin = str(FilePath(wrong.file).parent / name)
    root = _nodes(text_of(folder / name, "a file of rules"), origin)
    if not isinstance(root, SequenceNode) or not root.value:
        what, expected = "the file holds no list of rules", "a list; each rule has `when` and `says`"
        raise Unreadable(Mistake(origin, 1, "", what, expected))
    return origin, root.value


# ── mistakes in words ────────────────────────────────────────────────────────────────────────────────────────────────


def report(mistakes: Iterable[Mistake]) -> str:
    """Returns the mistakes as text, one line each, in the order given: the first of each sort, and how many more there
    are."""
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


def refusal(origin: str, mistakes: Sequence[Mistake], hint: str) -> UsageError:
    """Returns the error that tells all mistakes of a document."""
    count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    return UsageError(f"{origin} has {count}\n{report(mistakes)}", hint=hint)


def nearest(name: str, valid: Iterable[str]) -> str:
    """Returns the valid name most like this one, upper and lower case alike; empty when none is."""
    by_folded = {one.lower(): one for one in valid}
    found = get_close_matches(name.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def choice(valid: Collection[str]) -> str:
    """Returns `a, b or c`; of a long list only the beginning, and how many there are."""
    names = sorted(valid)
    if len(names) > LISTED:
        return f"one of {len(names)} names such as {', '.join(names[:LISTED])}"
    if len(names) < 2:
        return names[0] if names else "a name that is defined; the file defines none yet"
    return f"{', '.join(names[:-1])} or {names[-1]}"


def label(document: object, path: KeyPath) -> str:
    """Returns the path as a person reads it: an item with an id is called by it, any other by its number from 1."""
    words: list[str] = []
    here = document
    for key in path:
        here = below(here, key)
        id = below(here, "id") if isinstance(key, int) else None
        words.append(id if id and isinstance(id, str) else str(key + 1) if isinstance(key, int) else key)
    return " › ".join(words)


# ── plain data ───────────────────────────────────────────────────────────────────────────────────────────────────────


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Returns whether it is a mapping; documents have text keys only."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Returns whether it is a list."""
    return isinstance(value, list)


def holds(here: object, key: str | int) -> bool:
    """Returns whether a mapping has the key, or a list the position."""
    if is_list(here):
        return isinstance(key, int) and 0 <= key < len(here)
    return is_mapping(here) and key in here


def below(here: object, key: str | int) -> Any:
    """Returns what is under the key or at the position; None when nothing is."""
    if is_list(here):
        return here[key] if isinstance(key, int) and 0 <= key < len(here) else None
    return here.get(str(key)) if is_mapping(here) else None


# ── the document: events, nodes, data ───────────────────────────────────────────────────────────────────────────────


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


def _nodes(text: str, origin: str) -> Node | None:
    """Composes the nodes of a document; None for an empty one. Raises Unreadable.

    The C parser reads it first, and what that refuses the Python one, whose complaints are more exact.
    """
    try:
        try:
            return _composed(_events(text, LOADER), origin)
        except (YAMLError, UnicodeEncodeError):  # half a surrogate pair cannot be passed on to C
            return _composed(_events(text, yaml.SafeLoader), origin)
    except YAMLError as error:
        line, what = in_plain_words(error, text)
        raise Unreadable(Mistake(origin, line, "", what)) from error


def _events(text: str, loader: Any) -> Iterator[Any]:
    return yaml.parse(text, Loader=loader)  # pyright: ignore[reportUnknownVariableType]


def _composed(parsed: Iterator[Any], origin: str) -> Node | None:
    """Composes nodes as the library does, but bounds their depth and refuses an alias within what it stands for."""
    anchors: dict[str, Node] = {}

    def refusal(event: Any, what: str) -> Unreadable:
        return Unreadable(Mistake(origin, event.start_mark.line + 1, "", what))

    def scalar(event: Any) -> ScalarNode:
        return ScalarNode(event.tag, event.value, event.start_mark, event.end_mark, event.style)

    def composed(event: Any, depth: int) -> Node:
        if isinstance(event, events.AliasEvent):
            if event.anchor not in anchors:
                name = event.anchor
                raise refusal(event, f"`*{name}` refers to the anchor `&{name}`, which is not complete before it")
            return anchors[event.anchor]
        if isinstance(event, events.ScalarEvent):
            node: Node = scalar(event)
        elif depth == DEEPEST:
            raise refusal(event, f"lists and mappings are nested more than {DEEPEST} deep")
        elif isinstance(event, events.SequenceStartEvent):
            inside: list[Any] = []
            while not isinstance(after := next(parsed), events.SequenceEndEvent):
                inside.append(composed(after, depth + 1))
            node = SequenceNode(event.tag, inside, event.start_mark, after.end_mark, event.flow_style)
        else:
            inside = []
            while not isinstance(after := next(parsed), events.MappingEndEvent):
                if not isinstance(after, events.ScalarEvent):
                    got = "an alias" if isinstance(after, events.AliasEvent) else "a list or mapping"
                    raise refusal(after, f"expected a key, got {got}")
                key = scalar(after)
                key.value = _cleaned(key.value)
                inside.append((key, composed(next(parsed), depth + 1)))
            node = MappingNode(event.tag, inside, event.start_mark, after.end_mark, event.flow_style)
        if event.anchor:
            anchors[event.anchor] = node
        return node

    root: Node | None = None
    for event in parsed:
        if isinstance(event, events.DocumentStartEvent):
            if root is not None:
                raise refusal(event, "a second document begins here (`---`); a scenario is one document")
            root = composed(next(parsed), 0)
    return root


class _Unfolding:
    """The data of nodes with aliases followed, the line of each part, and faults as path, line and description."""

    def __init__(self, root: Node | None, origin: str, rules: Sequence[tuple[str, int]] = ()) -> None:
        """Raises Unreadable for more data than any scenario needs. `rules`: as in `Source`."""
        self.lines: dict[KeyPath, int] = {}
        self.faults: list[tuple[KeyPath, int, str]] = []
        self._origin, self._rules = origin, rules
        self._parts, self._most = 0, MOST_PARTS + (root.end_mark.index // A_PART if root is not None else 0)
        self.data = None if root is None else self._value(root, ())
        self.lines[()] = 1

    def _value(self, node: Node, path: KeyPath) -> Any:
        self._count(node, path)
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if isinstance(node, ScalarNode):
            if node.tag and node.tag not in _STRING_TAGS:
                self.faults.append((path, line, f"the tag {node.tag} has no meaning here; leave it out"))
            return _scalar(node)
        if isinstance(node, SequenceNode):
            return [self._value(one, (*path, number)) for number, one in enumerate(node.value)]
        found: dict[str, Any] = {}
        for key, value in node.value:
            here = (*path, key.value)
            if key.value in found:
                what = f'the key "{key.value}" is here a second time; the first is on line {self.lines[here]}'
                self.faults.append((here, key.start_mark.line + 1, what))
            elif key.value != MERGE:
                self.lines[here] = key.start_mark.line + 1
                found[key.value] = self._value(value, here)
        for key, value in self._merged(node, path):
            if key.value not in found:
                found[key.value] = self._value(value, (*path, key.value))
        return found

    def _merged(self, node: Node, path: KeyPath) -> Iterator[tuple[Node, Node]]:
        """Yields what YAML's merge key brings in: the keys of a mapping, or of several in a list, the first ahead."""
        waiting = [value for key, value in reversed(node.value) if key.value == MERGE]
        while waiting:
            source = waiting.pop()
            self._count(source, path)
            if isinstance(source, SequenceNode):
                waiting += reversed(source.value)
            elif isinstance(source, MappingNode):
                yield from ((key, value) for key, value in source.value if key.value != MERGE)
                waiting += (value for key, value in reversed(source.value) if key.value == MERGE)
            else:
                self.faults.append((path, node.start_mark.line + 1, "`<<` needs a mapping to take keys from"))

    def _count(self, node: Node, path: KeyPath) -> None:
        self._parts += 1
        what = f"unfolds into more than {self._most:,} values" if self._parts > self._most else ""
        if len(path) > DEEPEST:  # by way of aliases
            what = f"unfolds into lists and mappings nested more than {DEEPEST} deep"
        if what:
            number = path[1] if self._rules and path[:1] == ("rules",) and len(path) > 1 else None
            origin = self._rules[number][0] if isinstance(number, int) else self._origin
            raise Unreadable(Mistake(origin, node.start_mark.line + 1, "", f"the document {what}"))


def _scalar(node: Any) -> Any:
    """Returns the value of a scalar; None for a list or mapping."""
    if not isinstance(node, ScalarNode):
        return None
    return _cleaned(node.value) if node.tag or node.style else _plain(node.value)


def _plain(text: str) -> Any:
    """Returns the value of a scalar without quotes."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text) and len(text) < 20:
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else _cleaned(text)


def _cleaned(text: str) -> str:
    """Returns the text as `text.clean` gives it; most texts are clean already, which is cheaper to check."""
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
    """Returns the line, from 1, and what is wrong, for an error the parser raised while reading the text."""
    marked: Any = error  # the library leaves its attributes without types
    if isinstance(error, ReaderError):  # it gives the character but no line
        character: str = marked.character if isinstance(marked.character, str) else chr(marked.character)
        line = text.count("\n", 0, max(text.find(character), 0)) + 1
        return line, f"the character U+{ord(character):04X} is not allowed in a YAML file"
    if not isinstance(error, MarkedYAMLError):
        return 1, f"this is not YAML: {error}"
    problem = str(marked.problem or marked.context)
    if "unexpected end of stream" in problem and marked.context_mark:
        return marked.context_mark.line + 1, "the quote opened here is never closed"
    mark = marked.problem_mark or marked.context_mark
    if "<stream end>" in problem and marked.context_mark:
        mark = marked.context_mark  # where the bracket was opened, rather than the last line of the file
    found = ((re.search(pattern, problem), words) for pattern, words in _WORDING)
    worded = next((match.expand(words) for match, words in found if match), problem)
    return (mark.line + 1 if mark else 1), worded
