"""Meeting people: answer when spoken to, greet or pass by, keep away from whom one cannot stand."""

from __future__ import annotations

from commonplace import rng
from commonplace.minds.notes import FactNote, News, Person, Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.grammar.speech import topic
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.occasions import event_name
from commonplace.minds.offline.scene import COLD
from commonplace.minds.offline.temper import Temper, temper
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke
from commonplace.text import words

LATELY = 30 * 60
"""Minutes for which something remains the talk of the day."""
SPEAKS = 60
"""Score from which one speaks to somebody."""
MEETINGS = frozenset({"arrived", "doing", "did", "said"})
"""News of somebody one may speak to."""
REST = 90
"""Minutes for which two who have just talked leave each other in peace."""


def floor(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Spoken to: a reply, or a farewell when the talk has gone on long enough."""
    if not given.floor or not given.lines:
        return None
    last = given.lines[-1]
    person = next((one for one in given.situation.people if one.id == last.speaker), None)
    if person is None:
        return None
    because = tuple(
        one.memory_id for one in given.news if one.kind == "said" and one.who == person.id and one.memory_id
    )
    line = heard(last.text, given.who.language)
    if line.act == "bye":
        return _answer_bye(given, person, because)
    enough = _length(given, person, dice)
    purpose = (
        "farewell" if len(given.lines) >= enough and not (line.asks and len(given.lines) < enough + 2) else "reply"
    )
    reason = f"{person.called} {'asked me something' if line.asks else 'spoke to me'}"
    if purpose == "farewell":
        reason = f"we have talked enough, {person.called} and I"
    return ReactOutput(decision="talk", target=person.id, purpose=purpose, reason=reason, because=because)


def _answer_bye(given: ReactInput, person: Person, because: tuple[int, ...]) -> ReactOutput:
    mine = [line for line in given.lines if line.speaker == given.who.id]
    if mine and heard(mine[-1].text, given.who.language).act == "bye":
        return ReactOutput(decision="keep", reason="we have said goodbye", because=because)
    return ReactOutput(
        decision="talk", target=person.id, purpose="farewell", reason=f"{person.called} is leaving", because=because
    )


def _length(given: ReactInput, person: Person, dice: Dice) -> int:
    """After how many lines one takes leave: 3 among strangers at work, up to 8 among friends of talk."""
    mood = temper(given.who)
    wanted = 5 + mood.sociable + (person.warmth > 40) - (person.warmth < 0) - (2 if person.warmth < COLD else 0)
    wanted -= 1 if _is_busy(given, mood) else 0
    return max(3, min(8, wanted + dice.steady().below(3, "length", given.lines[0].text) - 1))


def _is_busy(given: ReactInput, mood: Temper) -> bool:
    return given.now is not None and (mood.busy > 0 or given.now.object_id != "")


def avoidance(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Somebody one cannot stand is here: who has come last leaves, unless work or home holds one there."""
    arrived = {news.who: news for news in given.news if news.kind in {"arrived", "doing"} and news.who}
    for person in given.situation.people:
        news = arrived.get(person.id)
        if person.warmth >= COLD or news is None or person.asleep:
            continue
        because = (news.memory_id,) if news.memory_id else ()
        reason = f"I would rather not be where {person.called} is"
        at_home = given.situation.place.id == given.who.home
        held = given.now is not None and bool(given.now.object_id or given.now.because)
        if news.kind == "arrived" or at_home or held or not dice.steady().chance(45, "avoid", person.id, _hour(given)):
            return ReactOutput(decision="avoid", target=person.id, reason=reason, because=because)
        do = grammar(given.who.language).say("avoid.do", "", {"x": person.called}, dice)
        stroke = Stroke(start=given.situation.time, minutes=20, location=given.who.home, do=do, because=because)
        return ReactOutput(decision="avoid", target=person.id, stroke=stroke, reason=reason, because=because)
    return None


def _hour(given: ReactInput) -> str:
    return f"{given.situation.day}.{given.situation.time[:2]}"


def meeting(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Speak to the one of those here whom one most wants to speak to, if at all."""
    if given.lines and given.lines[-1].speaker == given.who.id:
        return None
    if not _opens(given, dice):
        return None
    named = {news.who: news for news in given.news if news.who and news.kind in MEETINGS}
    passing = tuple(grammar(given.who.language).words("passing"))
    wishes = [
        (score, person.id, purpose, why)
        for person in given.situation.people
        if person.id in named and person.can_be_spoken_to and not person.asleep and not person.doing.startswith(passing)
        for score, purpose, why in (_wish(given, person, dice),)
    ]
    if not wishes or max(wishes)[0] < SPEAKS:
        return None
    _, other, purpose, why = max(wishes)
    because = (named[other].memory_id,) if named[other].memory_id else ()
    return ReactOutput(decision="talk", target=other, purpose=purpose, reason=why, because=because)


def _wish(given: ReactInput, person: Person, dice: Dice) -> tuple[int, str, str]:
    """How much one wants to speak to somebody now, what for and why."""
    since = person.minutes_since_talk
    if 0 <= since < REST or person.warmth < COLD:
        return 0, "", ""
    mood = temper(given.who)
    note = _untold(given, person)
    score = 20 + person.warmth // 3 + 9 * mood.sociable + (14 if since < 0 else min(12, since // 60))
    score += 8 if person.label else 0
    score -= 12 if _on_the_way(given) else 0
    score -= 6 * mood.busy
    score += dice.steady().below(50, "meet", person.id, _hour(given)) - 18
    if note is not None:
        return score + 26, "invite" if note.starts else "tell", f"{person.called} should hear about this"
    if _is_sorry_for(given, person):
        return score + 18, "comfort", f"{person.called} did not sound happy"
    subject = _talk_of_the_day(given, dice)
    if subject:
        return score + 12, "tell", f"{person.called} and I could talk about {subject}"
    if any(memory.importance >= 6 and memory.frame.get("who") != person.id for memory in given.recalled):
        score += 6
    return (
        score,
        "greet",
        f"I like to have a word with {person.called}" if person.warmth >= 20 else f"I met {person.called}",
    )


def _talk_of_the_day(given: ReactInput, dice: Dice) -> str:
    """What has happened lately and is on everybody's mind: an event that has begun, or something perceived."""
    for note in given.facts:
        if note.starts and note.starts <= given.situation.moment:
            return event_name(note)
    if not dice.chance(60, "subject"):
        return ""
    rules = grammar(given.who.language)
    for memory in given.recalled:
        what = memory.frame.get("what")
        if what == "event" and memory.minutes_ago < LATELY:
            return topic(memory.text) or "what happened"
        word = next((one for one in words(memory.frame.get("doing", "")) if one in rules.words("occasion")), "")
        if what == "did" and word and memory.minutes_ago < LATELY:
            return f"the {word}"
    return ""


def _opens(given: ReactInput, dice: Dice) -> bool:
    """Whether I am the one of those awake here who may open a talk now: the same answer for all, so that people do
    not speak at once. Whose turn it is changes with every tick."""
    here = sorted(
        [given.who.id, *(one.id for one in given.situation.people if one.can_be_spoken_to and not one.asleep)]
    )
    return (
        here[rng.below(len(here), dice.key[0], "opens", given.situation.place.id, given.situation.moment)]
        == given.who.id
    )


def _untold(given: ReactInput, person: Person) -> FactNote | None:
    """News I carry that this person, as far as I know, has not heard: not from me, and it was not they who told me."""
    told = given.told.get(person.id, ())
    for note in given.facts:
        if note.id in told or (note.starts and note.starts <= given.situation.moment):
            continue
        carrying = [memory for memory in given.recalled if note.id in memory.facts]
        if carrying and not any(_shared(memory, person) for memory in carrying):
            return note
    return None


def _shared(memory: Recalled, person: Person) -> bool:
    frame = memory.frame
    return person.id in (frame.get("who"), frame.get("to"))


def _is_sorry_for(given: ReactInput, person: Person) -> bool:
    """Whether the person told me of a trouble, not just now and not long ago."""
    return any(
        memory.frame.get("what") == "said"
        and memory.frame.get("who") == person.id
        and 60 <= memory.minutes_ago <= 24 * 60
        and heard(memory.frame.get("quote", ""), given.who.language).act == "trouble"
        for memory in given.recalled
    )


def _on_the_way(given: ReactInput) -> bool:
    return given.now is not None and given.now.location != given.situation.place.id


__all__ = ["News", "avoidance", "floor", "meeting"]
