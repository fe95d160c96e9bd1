"""Hearing of an event: a stroke for it later today, resting on the memory of the hearing."""

from __future__ import annotations

from commonplace.minds.notes import FactNote, Item, Person, Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.interest import EARLY, hhmm, moment_minutes, wish_to_go
from commonplace.minds.offline.occasions import event_name
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke

LINGER = 20
"""Minutes one stays on when an event is over."""


def invitation(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """The event of today that one has heard of and wants to go to, unless the plan already holds it."""
    for note in given.facts:
        hearing = _hearing(given, note)
        if hearing is None or not _is_ahead(given, note) or _is_there(given, note):
            continue
        if holds(given.later, given.now, note):
            continue
        wish = wish_to_go(given.who, note, hearing, _warmth(given, hearing), dice)
        if wish.goes:
            return ReactOutput(
                decision="keep",
                stroke=event_stroke(note, hearing.id, given.situation.time),
                reason=wish.reason,
                because=(hearing.id,),
            )
    return None


def event_stroke(note: FactNote, memory: int, now: str = "00:00") -> Stroke:
    """The stroke that takes one to an event, a little before it begins."""
    begins = moment_minutes(note.starts[11:16])
    start = max(begins - EARLY, moment_minutes(now))
    minutes = max(30, min(240, begins - start + (note.minutes or 60) + LINGER))
    return Stroke(
        start=hhmm(start),
        minutes=min(minutes, 24 * 60 - 5 - start) if start < 24 * 60 - 10 else 5,
        location=note.place,
        do=f"going to {event_name(note) or 'see what it is'}",
        because=(memory,),
        emoji="🏮" if "lantern" in note.text.lower() else "🎉",
    )


def holds(later: tuple[Item, ...], now: Item | None, note: FactNote) -> bool:
    """Whether the plan has one at the event's place when it begins, or already means to go."""
    begins = moment_minutes(note.starts[11:16])
    name = f"going to {event_name(note)}"
    for item in (*((now,) if now else ()), *later):
        if item.do == name:
            return True
        start = moment_minutes(item.start)
        ahead = max(0, begins - start)
        if item.location == note.place and item.because and (ahead < item.minutes or ahead <= EARLY * 2):
            return True
    return False


def _is_there(given: ReactInput, note: FactNote) -> bool:
    """Whether one is at the event already, or on the way with it begun."""
    begun = note.starts <= given.situation.moment
    return begun and note.place in (given.situation.place.id, given.now.location if given.now else "")


def _is_ahead(given: ReactInput, note: FactNote) -> bool:
    """An event of today that has not long begun."""
    if not note.starts or not note.place or note.starts[:10] != given.situation.moment[:10]:
        return False
    return moment_minutes(note.starts[11:16]) + (note.minutes or 60) // 3 > moment_minutes(given.situation.time)


def _hearing(given: ReactInput, note: FactNote) -> Recalled | None:
    """The memory one has it from, when it is news: what was heard before was decided then."""
    for news in given.news:
        if note.id in news.facts and news.memory_id:
            return Recalled(
                id=news.memory_id, text=news.text, kind="observation", importance=news.importance, minutes_ago=0,
                frame=news.frame, facts=news.facts,
            )  # fmt: skip
    return None


def _warmth(given: ReactInput, hearing: Recalled) -> int:
    teller: Person | None = next(
        (person for person in given.situation.people if person.id == hearing.frame.get("who")), None
    )
    return teller.warmth if teller else 10
