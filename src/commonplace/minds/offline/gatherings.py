"""Events as the speaker knows of them: what they are called, whether one goes, whether the other does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from commonplace.minds.notes import FactNote, Item, Person, Recalled, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import speech
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.hear import content, heard
from commonplace.minds.offline.scene import Scene
from commonplace.minds.offline.temper import temper
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke
from commonplace.text import words

# ── occasions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def event_name(note: FactNote) -> str:
    """What an event is called: `the lantern festival`."""
    return speech.topic(note.text)


def minutes_since(scene: Scene, note: FactNote) -> int:
    """Minutes since the event began; negative before."""
    passed = datetime.fromisoformat(scene.moment) - datetime.fromisoformat(note.starts)
    return int(passed.total_seconds() // 60)


def goes_to(scene: Scene, note: FactNote) -> bool:
    """Whether an event of today, still to come or going on, stands in the plan."""
    if note.starts[:10] != scene.moment[:10] or minutes_since(scene, note) > (note.minutes or 60):
        return False
    now = (scene.given.now,) if scene.given.now else ()
    return any(_is_for(item, note) for item in (*now, *scene.given.later))


def _is_for(item: Item, note: FactNote) -> bool:
    """Whether a stretch of plan is for the event: named so, or at its place when it begins."""
    name = event_name(note).partition(" ")[2]
    if bool(name) and name in item.do:
        return True
    return bool(note.place) and item.location == note.place and (
        bool(item.because) or _spans(item.start, item.minutes, note.starts[11:16])
    )  # fmt: skip


def _spans(start: str, minutes: int, moment: str) -> bool:
    begun = int(start[:2]) * 60 + int(start[3:5])
    at = int(moment[:2]) * 60 + int(moment[3:5])
    return begun <= at < begun + minutes and at - begun <= 30


def has_said_yes(scene: Scene, note: FactNote) -> bool:
    """Whether the hearer is known to go: they have said so, or asked me along."""
    you = scene.you.id
    if any(line.speaker == you and says_yes(line.text, scene) for line in scene.given.lines):
        return True
    for memory in scene.given.recalled:
        frame = memory.frame
        if frame.get("what") == "said" and frame.get("who") == you:
            quote = frame.get("quote", "")
            if says_yes(quote, scene) or (note.id in memory.facts and asks_along(quote, scene)):
                return True
    return False


def says_yes(quote: str, scene: Scene) -> bool:
    """Whether a line accepts."""
    return heard(quote, scene.me.language).act == "accepts"


def asks_along(quote: str, scene: Scene) -> bool:
    """Whether a line ends by asking somebody along."""
    last = quote.replace("!", ".").rstrip().rpartition(". ")[2]
    spoken = f" {' '.join(words(last))} "
    return any(f" {phrase} " in spoken for phrase in grammar(scene.me.language).words("seek.going"))


# ── interest ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Whether one goes to an event one has heard of: the same answer every time it is asked, with a reason to read.


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


# ── invitations ──────────────────────────────────────────────────────────────────────────────────────────────────────
# Hearing of an event: a stroke for it later today, resting on the memory of the hearing.


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
