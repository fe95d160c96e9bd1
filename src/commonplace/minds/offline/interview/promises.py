"""What became of the promises of the one who is asked, by the account of its own past."""

from __future__ import annotations

import re
from collections.abc import Iterator

from commonplace.minds.notes import PastNote
from commonplace.minds.offline.interview.interview import Interview, Piece, Pieces

SETTLED = ("kept", "broke", "promised")
MOST = 3
"""Promises named in one answer."""
_PROMISE = {"en": r"\bpromis|\b(keep|kept|break|broke|broken) your word\b", "ko": r"약속"}
_BROKEN = {"en": r"\b(break|broke|broken|unkept)\b", "ko": r"어[기긴겼]|못 지[키킨켰]"}
_KEPT = {"en": r"\b(keep|kept|done)\b", "ko": r"지[키킨켰]"}
_BY_ANOTHER = {"en": r"\bpromised?( \w+)? (to )?(you|me)\b", "ko": r"(당신|너|네)(에게|한테|께)|제게|저에게"}


def are_asked(talk: Interview) -> bool:
    """Whether the question is about what the one who is asked promised to others."""
    if not _has(_PROMISE, talk) or _has(_BY_ANOTHER, talk):
        return False
    if talk.asked.language == "ko":  # which leaves out `you`
        return not talk.asked.people or not re.search(r"(은|는|이|가) .*약속", talk.given.question)
    return talk.asked.own or talk.asked.past


def promises(talk: Interview) -> Pieces:
    """What was promised, and whether it was done: to those who are named, about what is named, the latest first."""
    people = talk.asked.people
    rows = [one for one in talk.given.past.notes if one.kind in SETTLED and (not people or one.other in people)]
    rows = [one for one in rows if any(talk.has(word, one.named) for word in talk.asked.words)] or rows
    if _has(_BROKEN, talk):
        broken = [one for one in rows if one.kind == "broke"]
        yield None if broken else talk.say("promise.unbroken")
        rows = broken or rows
    elif _has(_KEPT, talk):
        rows = sorted(rows, key=lambda row: row.kind == "promised")
    if not rows:
        yield talk.say("promise.none")
    yield from _told(talk, rows[:MOST])


def _told(talk: Interview, rows: list[PastNote]) -> Iterator[Piece | None]:
    for row in rows:
        deed = talk.say(f"promise.deed.{row.act or 'come'}", x=row.called, topic=row.named or row.topic)
        if deed is not None:
            yield talk.say(f"promise.{row.kind}", *row.because, mark=deed.text, deed=deed.text)


def _has(phrases: dict[str, str], talk: Interview) -> bool:
    pattern = phrases.get(talk.asked.language, phrases["en"])
    return re.search(pattern, talk.given.question, re.IGNORECASE) is not None
