"""What a sentence of god mode begins and ends, and the messages in it, by the rows of `happens.toml` of its language.

Names become tags, the sentence is cut into clauses, and the verbs of the rows are looked for in each. What a tag is to
a verb (its role) follows from the words around it: a preposition in English, a particle in Korean. What is dreamt,
feared, denied, asked or still to come does not happen. Whoever may be one of several is asked for, not guessed.

The row of a message (a letter, a notice, what the radio says) is a whole sentence, in which `<to>`, `<by>` and `<at>`
are names and `<words>` is what the message says.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec import Struct

from commonplace.languages import file_text, weekdays
from commonplace.languages.language import said
from commonplace.minds.offline.told import ended
from commonplace.minds.tasks import PerceiveEventInput
from commonplace.text import plain_name, words
from commonplace.world.circumstances import TOWN, subject_of
from commonplace.world.events import Form, Post

_TAG = r"⟦([\d-]+)⟧"
_ANY = r"(?:the |a |an )?⟦[\d-]+⟧"


class KindPattern(NamedTuple):
    """A way to say that kinds begin, or end."""

    kinds: tuple[str, ...]
    ends: bool
    of: tuple[str, ...]
    """Roles that the subject may have, the first that fits counts; `town` needs no name."""
    by: tuple[str, ...]
    verb: re.Pattern[str]


class PatternBook(Struct, frozen=True, forbid_unknown_fields=True):
    """`happens.toml`."""

    spelled: Mapping[str, str]
    """What is written short → in full, such as `he's`."""
    split: int
    """Letters of the shortest word into which a word of a name may be split, as `tea house` is."""
    mention: str
    """A name, which stands for FORMS."""
    town: tuple[str, ...]
    both: str
    """What stands between two names that have one role."""
    head: int
    """The place in such a row of the name that shows the role."""
    clauses: str
    resets: str
    """The ends of clauses after which something is meant again."""
    prefix: str
    """What may stand before a verb whose subject is that of the clause before."""
    they: str
    """A pronoun as subject."""
    gap: str
    """Words between a subject and its verb that take the verb for themselves."""
    end: str
    unreal: str
    """Words before a verb that say that it does not happen."""
    unreal_on: str
    """Words anywhere in a clause that say so, of the following clauses too."""
    later: str
    newcomer: tuple[str, ...]
    nobody: tuple[str, ...]
    """What somebody is called who is new; no work."""
    she: tuple[str, ...]
    he: tuple[str, ...]
    roles: Mapping[str, tuple[str, str]]
    """Role → what stands before a name, and what behind it; other names are `s` before the verb and `o` after it."""
    says: str
    """What stands between a message and its words."""
    boards: tuple[str, ...]
    """What a notice hangs on where it is not said at what place."""
    messages: Mapping[Form, tuple[str, ...]]
    """`letter`, `notice`, `broadcast` → ways to say that there is one: see `messages.py`."""
    numbers: Mapping[str, int]
    units: Mapping[str, int]
    parts: Mapping[str, int]
    """Part of the day → hour of the clock."""
    lasting: Mapping[str, str]
    """Hours → words that say so, or `units` and `day`; until a part of the day where it has one."""
    ends: Mapping[str, tuple[str, ...]]
    begins: Mapping[str, tuple[str, ...]]


@cache
def book(language: str) -> PatternBook:
    """Returns the rows of a language."""
    return msgspec.convert(tomllib.loads(file_text(language, "happens.toml")), PatternBook)


@cache
def _rows(language: str) -> tuple[KindPattern, ...]:
    read = book(language)
    return tuple(
        _row(kinds.split(), line, read.end, ends=ends)
        for ends, table in ((True, read.ends), (False, read.begins))
        for kinds, lines in table.items()
        for line in lines
    )


def _row(kinds: Iterable[str], line: str, end: str, *, ends: bool = False) -> KindPattern:
    roles, _, verb = line.partition(": ")
    of, _, by = roles.partition("<")
    pattern = rf"(?<!\w)(?:{verb.replace('{}', _ANY)}){end}"
    return KindPattern(tuple(kinds), ends, tuple(of.split()), tuple(by.split()), re.compile(pattern, re.IGNORECASE))


class Happens(NamedTuple):
    """What of circumstances a sentence says."""

    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    hours: int = 0
    by: str = ""
    unclear: str = ""
    """A question to whoever wrote it; empty where all is clear."""
    areas: tuple[str, ...] = ()
    """The areas named."""


def happens(given: PerceiveEventInput) -> Happens:
    """Returns the circumstances that a sentence begins and ends; a question begins nothing."""
    if not given.circumstances or given.text.rstrip(" \"'”’").endswith("?"):
        return Happens()
    return _Reading(given).happens()


class _Group(NamedTuple):
    """Names that have one role: `Jun and Mira`."""

    start: int
    end: int
    role: str
    tags: tuple[int, ...]


class _Reading:
    """A sentence being read."""

    def __init__(self, given: PerceiveEventInput) -> None:
        self.given, self.book = given, book(given.language)
        self.tagged, self.meant = _tagged(given, self.book)
        own = (_row((kind,), f"s at of o: {_any_of(said)}", "") for kind, said in given.words.items())
        self.rows = (*_rows(given.language), *own)
        prefix = self.book.prefix
        self.lead = re.compile(rf"\s*{prefix}(?P<they>(?:{self.book.they})(?!\w))?\s*{prefix}", re.IGNORECASE)
        self.begins, self.ends = dict[str, str](), dict[str, str]()
        self.question = ""

    def happens(self) -> Happens:
        """Reads clause by clause; a clause without a subject has that of a clause before."""
        before, unreal = list[_Group](), False
        for number, (clause, resets) in enumerate(_clauses(self.tagged, self.book)):
            unreal = unreal and not resets
            if not unreal:
                self._read(clause, before, first=not number)
            unreal = unreal or _says(self.book.unreal_on, clause)
            before = [*(one for one in self._groups(clause, len(clause)) if one.role == "s"), *before]
        by = next((who for who in self.begins.values() if who), "")
        hours = _hours(self.given, self.book) if self.begins else 0
        known = {area.id for area in self.given.areas}
        areas = tuple(dict.fromkeys(ids[0] for ids in self.meant if len(ids) == 1 and ids[0] in known))
        return Happens(tuple(self.begins), tuple(self.ends), hours, by, self.question, areas)

    def _read(self, clause: str, before: Sequence[_Group], *, first: bool) -> None:
        taken, question = list[tuple[int, int]](), ""
        for row in self.rows:
            for verb in row.verb.finditer(clause):
                start, end = verb.span()
                rest = f"{clause[:start]}   {clause[end:]}"
                if any(start < last and other < end for other, last in taken) or _says(self.book.unreal_on, rest):
                    continue
                if not row.ends and _says(self.book.unreal, clause[:start]):
                    continue
                groups = self._groups(clause, start)
                keys, asked = self._keys(row, groups, clause, start, before, first=first)
                question = question or asked
                if keys:
                    taken.append((start, end))
                    into = self.ends if row.ends else self.begins
                    into |= {key: self._by(row, groups or before, key) for key in keys if key not in into}
        self.question = self.question or ("" if taken else question)

    def _keys(
        self,
        row: KindPattern,
        groups: Sequence[_Group],
        clause: str,
        verb: int,
        before: Sequence[_Group],
        *,
        first: bool,
    ) -> tuple[tuple[str, ...], str]:
        """Returns the keys of what a verb begins or ends, and a question if its subject is unclear or missing."""
        for role in row.of:
            if role == "town" and (keys := self._possible(row, clause, (TOWN,))):
                return keys, ""
            for group in groups:
                if group.role == role and not (role == "s" and re.search(self.book.gap, clause[group.end : verb])):
                    keys, question = self._of(row, clause, group.tags)
                    if keys or question:
                        return keys, question
        if row.ends:
            so = [key for key in self.given.so if subject_of(key)[0] in row.kinds]
            return (tuple(so) if len(so) == 1 and not groups else ()), ""
        lead = self.lead.fullmatch(clause[:verb])
        if lead and "s" in row.of:
            for group in before:
                keys, question = self._of(row, clause, group.tags)
                if keys or question:
                    return keys, question
        nobody = lead is not None and (first or (lead["they"] and not before)) and not groups
        return (), said(self.given.language, "god_mode", "whom") if nobody else ""

    def _of(self, row: KindPattern, clause: str, tags: Iterable[int]) -> tuple[tuple[str, ...], str]:
        keys = list[str]()
        for tag in tags:
            found = self._possible(row, clause, self.meant[tag])
            if len(self.meant[tag]) > 1 and len(found) > 1:
                names = ", ".join(self._name(key) for key in found)
                return (), said(self.given.language, "god_mode", "which", names=names)
            keys += found
        return tuple(keys), ""

    def _possible(self, row: KindPattern, clause: str, ids: Iterable[str]) -> tuple[str, ...]:
        """Returns the keys of those subjects that can have the circumstance, or have it; not what is still to come,
        unless it is of a fact."""
        possible = self.given.so if row.ends else self.given.circumstances
        keys = (f"{kind}.{of}" for of in ids for kind in row.kinds)
        later = not row.ends and _says(self.book.later, clause)
        facts = found_facts(self.given)
        return tuple(key for key in keys if key in possible and not (later and subject_of(key)[1] not in facts))

    def _name(self, key: str) -> str:
        of = subject_of(key)[1]
        return next((one.name for one in self.given.people if one.id == of), self.given.circumstances[key])

    def _by(self, row: KindPattern, groups: Sequence[_Group], key: str) -> str:
        people, of = {one.id for one in self.given.people}, subject_of(key)[1]
        for role in row.by:
            for group in groups:
                for tag in group.tags if group.role == role else ():
                    if len(self.meant[tag]) == 1 and self.meant[tag][0] in people and self.meant[tag][0] != of:
                        return self.meant[tag][0]
        return ""

    def _groups(self, clause: str, verb: int) -> list[_Group]:
        """Returns the names of a clause in their roles to a verb, the nearest before it first, then those after it."""
        rows = list[list[re.Match[str]]]()
        for tag in re.finditer(_TAG, clause):
            if rows and re.fullmatch(self.book.both, clause[rows[-1][-1].end() : tag.start()]):
                rows[-1].append(tag)
            else:
                rows.append([tag])
        groups = [
            _Group(
                row[0].start(),
                row[-1].end(),
                self._role(clause, row[self.book.head], verb),
                tuple(int(one[1]) for one in row),
            )
            for row in rows
        ]
        return sorted(groups, key=lambda one: (one.start >= verb, one.start if one.start >= verb else -one.start))

    def _role(self, clause: str, tag: re.Match[str], verb: int) -> str:
        for role, (before, after) in self.book.roles.items():
            if before and re.search(before, clause[: tag.start()].removesuffix("the "), re.IGNORECASE):
                return role
            if after and re.match(after, clause[tag.end() :]):
                return role
        return "s" if tag.start() < verb else "o"


def _says(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _any_of(phrases: Iterable[str]) -> str:
    return "|".join(re.escape(one) for one in phrases)


def _clauses(text: str, read: PatternBook) -> Iterator[tuple[str, bool]]:
    """Yields the clauses of a sentence, each with whether it ends what was dreamt before. A name alone is not a
    clause."""
    start, resets, kept = 0, False, ""
    breaks = [*re.finditer(rf"{read.clauses.replace('{}', _ANY)}", text, re.IGNORECASE), None]
    for end in breaks:
        piece = kept + text[start : end.start() if end else len(text)]
        if end and re.fullmatch(rf"(?:.*{read.both})?\s*(?:the )?⟦[\d-]+⟧\s*", piece, re.IGNORECASE):
            kept, start = piece + end[0], end.end()
            continue
        yield piece.strip(" .!"), resets
        kept, start, resets = "", end.end() if end else 0, bool(end and _says(read.resets, end[0]))


def _hours(given: PerceiveEventInput, read: PatternBook) -> int:
    """Returns how many hours a sentence says something lasts; 0 if it does not say."""
    days = weekdays(given.language)
    n = "|".join((r"\d+", *sorted(read.numbers, key=len, reverse=True)))
    for key, pattern in read.lasting.items():
        filled = pattern.replace("N", n).replace("U", "|".join(read.units)) if key == "units" else pattern
        for group, forms in (("day>D", days), ("part>P", read.parts)):
            filled = filled.replace(f"(?P<{group})", f"(?P<{group[:-1]}{'|'.join(forms)})")
        found = re.search(filled, given.text, re.IGNORECASE)
        if found is None:
            continue
        if key == "units":
            unit = next(hours for one, hours in read.units.items() if re.fullmatch(one, found["unit"], re.IGNORECASE))
            number = found["n"].lower()
            return (int(number) if number.isdigit() else read.numbers[number]) * unit
        now = datetime.fromisoformat(given.now) if given.now else None
        part = found.groupdict().get("part") or ""
        until = read.parts[part.lower()] - now.hour if now and part else 0
        if key != "day":
            return max(1, int(key) + until)
        if now:
            wanted = [one.lower() for one in days].index(found["day"].lower())
            return 24 * ((wanted - now.weekday()) % 7 or 7) + until
    return 0


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def found_facts(given: PerceiveEventInput) -> Mapping[str, str]:
    """Returns the subjects that can have circumstances, by id."""
    known = {one.id for one in (*given.people, *given.areas, *given.things)} | {TOWN}
    named = ((subject_of(key)[1], name) for key, name in given.circumstances.items())
    return {of: name for of, name in named if of not in known}


def respelled(given: PerceiveEventInput) -> PerceiveEventInput:
    """Returns a sentence with short forms in full, and with names as the scenario writes them: `teahouse`, not `tea
    house`."""
    read, text = book(given.language), given.text.strip().replace("’", "'")
    for short, full in read.spelled.items():
        text = re.sub(short, full, text, flags=re.IGNORECASE)
    names = (one.name for one in (*given.people, *given.areas, *given.things))
    for word in sorted({word for name in names for word in words(name)}):
        at = range(read.split, len(word) - read.split + 1)
        if len(at) > 1 and word[: read.split].lower() in text.lower():  # few words are worth compiling
            halves = "|".join(f"{re.escape(word[:n])}[ -]{re.escape(word[n:])}" for n in at)
            text = re.sub(rf"\b(?:{halves})", word, text, flags=re.IGNORECASE)
    return msgspec.structs.replace(given, text=text)


def _tagged(given: PerceiveEventInput, read: PatternBook) -> tuple[str, list[tuple[str, ...]]]:
    """Returns a sentence with tags for its names, and the ids that each tag may mean; `⟦-⟧` is the town."""
    forms, parts = forms_of(given, read)
    meant = list[tuple[str, ...]]()

    def tag(found: re.Match[str]) -> str:
        form = plain_name(found["name"])
        if form in parts and found["name"].islower():  # a park is nobody of that name
            return found[0]
        meant.append(forms[form])
        return f"⟦{len(meant) - 1}⟧"

    names = "|".join(re.escape(one) for one in sorted(forms, key=len, reverse=True))
    text = given.text
    return (re.sub(read.mention.replace("FORMS", names), tag, text, flags=re.IGNORECASE) if names else text), meant


def forms_of(given: PerceiveEventInput, read: PatternBook) -> tuple[Mapping[str, tuple[str, ...]], frozenset[str]]:
    """Returns the ids that each form of a name may mean, and the forms that are only a part of a person's name."""
    whole, part, first = (dict[str, list[str]]() for _ in range(3))
    people = {form: one for one in given.people for form in (plain_name(one.name), plain_name(one.called))}
    for form, one in people.items():
        whole.setdefault(form, []).append(one.id)
    for one in given.people:
        for word in words(one.name):
            part.setdefault(word, []).append(one.id)
    own = frozenset(part) - frozenset(whole)
    for word in (*read.town, given.circumstances.get(f"dark.{TOWN}", "")):
        whole[plain_name(word)] = [TOWN]
    places = [(one.id, one.name) for one in given.areas]
    for id, name in (*places, *((one.id, one.name) for one in given.things), *found_facts(given).items()):
        whole.setdefault(plain_name(name), []).append(id)
        for form in (*_endings(name), id.replace("-", " ").replace("_", " ")):
            part.setdefault(form, []).append(id)
    for id, name in places:
        head = plain_name(name).partition(" ")[0]
        if "'s" not in head and id not in given.homes and not any(head.startswith(form) for form in people):
            first.setdefault(head, []).append(id)
    forms = {**first, **part, **whole}
    return {form: tuple(dict.fromkeys(ids)) for form, ids in forms.items() if len(form) > 1}, own


def _endings(name: str) -> Iterator[str]:
    """Yields the last words of a name: `noodle bar`, `bar`; for `cat Pixel` the first word, too."""
    _, owner, rest = name.partition("'s ")
    parts = plain_name(rest if owner else name).split()
    yield from (form for first in range(len(parts)) if len(form := " ".join(parts[first:])) > 1)
    if (
        len(parts) > 1
        and name[:1].islower()
        and not name.startswith("the ")
        and not name[len(parts[0]) + 1 :].islower()
    ):
        yield parts[0]


# ── somebody new ─────────────────────────────────────────────────────────────────────────────────────────────────────


def newcomer(given: PerceiveEventInput) -> str:
    """Returns name, age, work and pronoun of somebody new whom a sentence brings; empty if there is nobody."""
    read = book(given.language)
    known = {word for one in given.people for word in (one.name, one.called, *one.name.split())}
    text = given.text.strip()
    for pattern in read.newcomer:
        found = re.search(pattern, text)
        if found and found["name"] not in known and not _says(read.unreal_on, text):
            parts = found.groupdict()
            what = (parts["what"] or "").strip()
            work = "" if what.endswith(read.nobody) else what
            pronoun = "she" if what.endswith(read.she) else "he" if what.endswith(read.he) else ""
            return f"{found['name']}; {parts['age'] or parts.get('old') or ''}; {work}; {pronoun}"
    return ""


_QUOTES = " “”\"'‘’"


class SentMessage(NamedTuple):
    """A message that a sentence sends."""

    post: Post
    sent: str
    """The sentence without the words of the message."""


def message(given: PerceiveEventInput, here: str = "") -> SentMessage | None:
    """Returns the message that a sentence sends; None if it sends none, or if its reader or its place is not clear.
    `here` is the area of a board that has no other name."""
    forms, _ = forms_of(given, book(given.language))
    for form, row in _patterns(given.language):
        found = row.fullmatch(given.text.strip().rstrip(" .!。"))
        post = _post(form, found.groupdict(), given, forms, here) if found else None
        if found and post:
            said = [found.span(name) for name in ("words", "says") if name in row.groupindex]
            start, end = min(one for one, _ in said), max(one for _, one in said)
            return SentMessage(post, sentence(f"{found[0][:start].rstrip()} {found[0][end:]}"))
    return None


def sentence(text: str) -> str:
    """Returns a text with a capital and an end mark."""
    bare = text.strip(_QUOTES)
    return ended(bare[:1].upper() + bare[1:])


@cache
def _patterns(language: str) -> Sequence[tuple[Form, re.Pattern[str]]]:
    read = book(language)
    return tuple((form, _pattern(row, read.says)) for form, rows in read.messages.items() for row in rows)


def _pattern(row: str, says: str) -> re.Pattern[str]:
    for name in ("to", "by", "at"):
        row = row.replace(f"<{name}>", rf"(?P<{name}>[^:,;“”\"]{{1,60}}?)")
    return re.compile(row.replace("SAYS", says).replace("<words>", "(?P<words>.+?)"), re.IGNORECASE)


def _post(
    form: Form,
    parts: Mapping[str, str | None],
    given: PerceiveEventInput,
    forms: Mapping[str, Sequence[str]],
    here: str,
) -> Post | None:
    people = {one.id for one in given.people}
    by = parts.get("by") or ""
    writers = [id for id in forms.get(plain_name(by), ()) if id in people]
    words, writer = sentence(parts["words"] or ""), writers[0] if len(writers) == 1 else by
    if form == "broadcast":
        return Post(words=words, by=writer)
    if form == "letter":
        to = [id for id in forms.get(plain_name(parts["to"] or ""), ()) if id in people]
        is_one = len(to) == 1 and to[0] != writer
        return Post(words=words, to=to[0], by=writer, handed=bool(parts.get("handed"))) if is_one else None
    named = parts.get("at") or ""
    names = _parts(named) if named else () if here else book(given.language).boards
    at = (given.located.get(id, id) for name in names for id in forms.get(plain_name(name), ()))
    area = next((id for id in at if id in {one.id for one in given.areas}), here)
    return Post(words=words, to=area, by=writer) if area else None


def _parts(name: str) -> Iterator[str]:
    """Yields a name, and the names it may consist of: `the board at the plaza`, `the plaza`, `the board`."""
    yield name
    pieces = re.split(r" (?:at|in|on|of|by) | ", name)
    yield from (" ".join(pieces[number:]) for number in range(1, len(pieces)))
    yield from reversed([" ".join(pieces[:number]) for number in range(1, len(pieces))])
