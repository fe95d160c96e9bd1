"""Facts: short statements that stand alone, each with the words of a memory that it was made of.

Who finds them is a callable, such as a mind. What it says is data: a fact whose words the memory does not have is
dropped, and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from commonplace.memory.preparing import FACTS_DROPPED, FACTS_ERROR, Item
from commonplace.memory.record import EXPIRES, QUOTES, VALID_FROM, VALID_UNTIL, Memory, MemoryFields, Quote
from commonplace.text import clean

FACT = "fact"
"""The tag of memories that are facts."""
NOT_YET, CHANGED = "not asked for yet", "the text has changed since"
"""Why a memory has no facts, besides what a failure says."""
BEFORE = 4
"""Memories that are told besides, so that the others can be understood."""
NEAR = timedelta(hours=8)
"""How long before the others these may be."""
_MOST, _LONGEST = 20, 6000
"""Memories that are asked about at once, and their characters."""
_KEPT = (VALID_FROM, VALID_UNTIL, EXPIRES)
"""Details that a fact has from what it was made of."""


class Fact(NamedTuple):
    """What somebody has found in some memories."""

    text: str
    """A short statement that stands alone."""
    words: str
    """The words that say it, as one of the memories has them; letter case, white space, quotation marks and brackets
    may differ."""
    line: int = 1
    """Which of the memories has them, from 1."""


FindsFacts = Callable[[Sequence[Memory], Sequence[Memory]], Iterable[Fact]]
"""Memories in their order, and some from before by which they are understood → the facts of the first."""


@dataclass(frozen=True, slots=True)
class Extracted:
    """What has become of an attempt to find facts."""

    facts: list[Memory]
    """Those that were added."""
    dropped: int
    """How many quote words that no memory has."""
    failed: tuple[int, ...]
    """Ids of the memories that could not be asked about; they are in `unextracted`."""


def grouped(memories: Iterable[Memory]) -> Iterator[list[Memory]]:
    """Yields the memories that are asked about at once: neighbours of one session."""
    some: list[Memory] = []
    size = 0
    for memory in memories:
        size += len(memory.full_text)
        if some and (memory.session != some[-1].session or len(some) == _MOST or size > _LONGEST):
            yield some
            some, size = [], len(memory.full_text)
        some.append(memory)
    if some:
        yield some


def fact_items(found: Iterable[Fact], memories: Sequence[Memory]) -> tuple[list[Item], Counter[int]]:
    """Returns the facts as memories to add, and how many were dropped, by the id of the memory that they name.

    Raises TypeError for what is not a fact.
    """
    items = dict[tuple[int, str], Item]()
    dropped = Counter[int]()
    for one in found:
        text, words, line = Fact(*one)
        if not (isinstance(text, str) and isinstance(words, str) and isinstance(line, int)):  # pyright: ignore[reportUnnecessaryIsInstance] - models answer
            raise TypeError(f"{one!r:.60} is not a fact")
        place = _place(words, line, memories)
        if place is None or not clean(text):
            dropped[memories[line - 1 if 0 < line <= len(memories) else 0].id] += 1
        else:
            source, quote = place
            items.setdefault((source.id, clean(text)), _item(text, source, quote))
    return list(items.values()), dropped


def flags_of(dropped: int) -> Mapping[str, Any]:
    """Returns the details of a memory whose facts were found."""
    return {FACTS_DROPPED: dropped} if dropped else {}


def flagged_again(memory: Memory, flags: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the details of a memory with other flags."""
    kept = {name: one for name, one in memory.details.items() if name not in (FACTS_ERROR, FACTS_DROPPED)}
    return {**kept, **flags}


def is_said_before(one: Memory, other: Memory) -> bool:
    """Returns whether what a memory says was said before what another says. A fact was said when its source was."""
    said, quote = other.quotes.id if other.quotes else other.id, one.quotes
    return quote.id <= said if quote else one.id < said


def _item(text: str, source: Memory, quote: Quote) -> Item:
    kept = {name: source.details[name] for name in _KEPT if name in source.details}
    fields = MemoryFields(
        source=source.source,
        session=source.session,
        place=source.place,
        tick=source.tick,
        tags=(FACT,),
        details={**kept, QUOTES: quote._asdict()},
    )
    return Item(text, source.created_at, fields)


def _place(words: str, line: int, memories: Sequence[Memory]) -> tuple[Memory, Quote] | None:
    """Returns the memory that has the words, and where they stand; None if none has them, or if several have them and
    `line` names none of these."""
    pattern = _pattern(words)
    if pattern is None:
        return None
    found = {number: match for number, one in enumerate(memories, 1) if (match := pattern.search(one.full_text))}
    if line not in found and len(found) == 1:
        line = next(iter(found))
    if line not in found:
        return None
    source = memories[line - 1]
    return source, Quote(source.id, *found[line].span(), found[line][0])


_MARKS = " \t\n\"'“”‘’«»「」『』.,;:!?。…"
_ALIKE = ("\"'‘’“”", "([{", ")]}")
"""Signs that prompts and models put in the place of one another."""
_SPELLED = {sign: f"[{re.escape(signs)}]" for signs in _ALIKE for sign in signs}


def _pattern(words: str) -> re.Pattern[str] | None:
    """Returns what finds the words in a text; None if there are none."""
    parts = [
        "".join(_SPELLED.get(sign, re.escape(sign)) for sign in part) for part in clean(words).strip(_MARKS).split()
    ]
    found = r"\s+".join(parts)
    return re.compile(rf"(?<![A-Za-z0-9]){found}(?![A-Za-z0-9])", re.IGNORECASE) if parts else None
