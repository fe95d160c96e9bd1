"""Messages in a sentence: to whom a letter is, where a notice hangs, what the radio says; by rows of `happens.toml`.

A row is a whole sentence, in which `<to>`, `<by>` and `<at>` are names and `<words>` is what the message says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from commonplace.minds.offline.happens import book, forms_of
from commonplace.minds.offline.told import ended
from commonplace.minds.tasks import PerceiveEventInput
from commonplace.text import plain_name
from commonplace.world.events import Form, Post

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
    for form, row in _rows(given.language):
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
def _rows(language: str) -> Sequence[tuple[Form, re.Pattern[str]]]:
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
