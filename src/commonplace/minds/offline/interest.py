"""Whether one goes to an event one has heard of: the same answer every time it is asked, with a reason to read."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.minds.notes import FactNote, Recalled, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.occasions import event_name
from commonplace.minds.offline.temper import temper

GOES = 56
"""Score from which one goes."""
EARLY = 15
"""Minutes one is there before it begins."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A decision about an event."""

    goes: bool
    score: int
    reason: str


def wish_to_go(who: Who, note: FactNote, hearing: Recalled, warmth: int, dice: Dice) -> Wish:
    """The decision: who told it and how dear they are, how sociable one is, whether it touches what one cares for."""
    mood = temper(who)
    teller = hearing.frame.get("called", "") if hearing.frame.get("what") == "said" else ""
    interest = _interest(who, note)
    score = 34 + warmth * 2 // 5 + 9 * mood.sociable + 12 * interest + 6 * min(1, mood.curious) - 4 * mood.busy
    score += dice.steady().below(31, "go", note.id) - 8
    if not teller:
        score += 25
    name = event_name(note) or "it"
    return Wish(score >= GOES, score, _reason(name, teller, warmth=warmth, interest=interest, goes=score >= GOES))


def _interest(who: Who, note: FactNote) -> int:
    """How many of one's goals, traits and tasks the event touches, at most 2."""
    event = content(note.text)
    own = [*who.goals, *who.traits, who.work, who.background]
    return min(2, sum(1 for text in own if event & content(text)))


def _reason(name: str, teller: str, *, warmth: int, interest: int, goes: bool) -> str:
    told = f"{teller} told me about {name}" if teller else f"I know of {name}"
    if not goes:
        return f"{told}, but it is not for me"
    if teller and warmth >= 15:
        return f"{told} and I like {teller}"
    if interest:
        return f"{told} and it is just my kind of thing"
    return f"{told} and I want to see it"


def moment_minutes(time: str) -> int:
    """`19:05` → minutes after midnight."""
    return int(time[:2]) * 60 + int(time[3:5])


def hhmm(minutes: int) -> str:
    """Minutes after midnight → `19:05`."""
    minutes %= 24 * 60
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
