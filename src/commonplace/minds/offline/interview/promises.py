"""What became of the promises of the one who is asked, by the account of its own past."""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.minds.notes import PastNote
from commonplace.minds.offline.interview.interview import Interview, Piece, Pieces
from commonplace.minds.offline.interview.oneself import told_with
from commonplace.minds.offline.interview.retell import some

SETTLED = ("kept", "broke", "promised")
MOST = 3
"""Promises named in one answer."""


def are_asked(talk: Interview) -> bool:
    """Tells whether the question is about the character's promises to others."""
    if not _has("promise", talk):
        return False
    if _has("promised_by_another", talk):
        return _has("promise_broken", talk)
    if language(talk.asked.language).has_particles:  # `you` is left out
        return not talk.asked.people or not re.search(r"(은|는|이|가) .*약속", talk.given.question)
    return talk.asked.own or talk.asked.past


def promises(talk: Interview) -> Pieces:
    """Yields the promises and whether they were kept: to the people or about the things named, the latest first."""
    if _has("promised_by_another", talk):
        rows = [one for one in talk.given.past.notes if one.kind == "hurt"]
        ids = {memory for one in rows for memory in one.because}
        yield from some(talk, (note for note in talk.everything if note.id in ids), 2) or [talk.say("promise.unbroken")]
        return
    people = talk.asked.people
    rows = [one for one in talk.given.past.notes if one.kind in SETTLED and (not people or one.other in people)]
    rows = [one for one in rows if any(talk.has(word, one.named) for word in talk.asked.words)] or rows
    if _has("promise_broken", talk):
        broken = [one for one in rows if one.kind == "broke"]
        yield None if broken else talk.say("promise.unbroken")
        rows = broken or rows
    elif _has("promise_kept", talk):
        rows = sorted(rows, key=lambda row: row.kind == "promised")
    if not rows:
        yield talk.say("promise.none")
    yield from _told(talk, rows[:MOST])


def owed(talk: Interview) -> Pieces:
    """Yields debts: what the character promised to give and has not given, and what card and starting memories say
    about owing."""
    rows = [row for row in talk.given.past.notes if row.kind == "promised" and row.act in GIVEN]
    due = list(_told(talk, [row for row in rows if not talk.asked.people or row.other in talk.asked.people]))
    return [*due, *(piece for piece in told_with(talk) if piece and (piece.ids or not due))]


GIVEN = frozenset({"lend", "give", "return"})
"""Acts of promises after which something is owed."""


def _told(talk: Interview, rows: list[PastNote]) -> Iterator[Piece | None]:
    for row in rows:
        deed = talk.say(f"promise.deed.{row.act or 'come'}", x=row.called, topic=row.named or row.topic)
        if deed is not None:
            yield talk.say(f"promise.{row.kind}", *row.because, mark=deed.text, deed=deed.text)


def _has(pattern: str, talk: Interview) -> bool:
    return re.search(phrases(talk.asked.language, "patterns")[pattern], talk.given.question, re.IGNORECASE) is not None
