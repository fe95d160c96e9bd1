"""An inner voice: what it asks for, whether the character does it, and the words for whom it is to be said to.

A thought that names somebody is an errand: to somebody here it is said at once; somebody else is looked for, and told
when met. A thought that names a place or a thing leads there. What the character refuses, it refuses with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from commonplace.languages import file_text
from commonplace.languages.language import language
from commonplace.minds.notes import News, Person, Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import grammar, reason
from commonplace.minds.offline.perceive_event import meant, named_place, spoken_words
from commonplace.minds.offline.scene import COLD, Line, Scene
from commonplace.minds.tasks import ReactInput, ReactOutput, Stroke
from commonplace.world.happenings import Voiced

DAY = 24 * 60
"""Minutes an errand is kept in mind."""
SEEKS = 60
"""Minutes somebody is looked for."""


@dataclass(frozen=True, slots=True)
class Errand:
    """What a thought wants said to somebody."""

    message: str
    """As it is said to them; empty where there is nothing to say but hello."""
    act: str = "tell"


# ── what a thought asks for ──────────────────────────────────────────────────────────────────────────────────────────


@cache
def _errands(language: str) -> list[tuple[str, str, str]]:
    """Pattern, template and act of each errand that `errands.txt` knows."""
    rows = [row for row in file_text(language, "errands.txt").splitlines() if row and not row.startswith("#")]
    lead = rows.pop(0).removeprefix("lead: ") if rows[0].startswith("lead: ") else ""
    parts = [re.fullmatch(r"(.+) => ?(.*) <(.+)>", row) for row in rows]
    return [(lead + part[1], part[2], part[3]) for part in parts if part]


def errand(text: str, name: str, called: str, spoken: str) -> Errand | None:
    """What a thought wants said to somebody of that name; None when it wants nothing of the kind."""
    thought = text.strip().rstrip(".!").strip()
    names = "|".join(re.escape(one) for one in (name, called))
    for pattern, template, act in _errands(spoken):
        found = re.fullmatch(pattern.replace("{x}", f"(?:{names})"), thought, re.IGNORECASE)
        if found:
            parts = {
                key: language(spoken).as_oneself(part or "").strip(" ,'\"“”") for key, part in found.groupdict().items()
            }
            said = template.format(**parts)
            return Errand(said[:1].upper() + said[1:], act)
    return None


# ── what the character makes of it ───────────────────────────────────────────────────────────────────────────────────


def voice(given: ReactInput, dice: Dice) -> ReactOutput | None:
    """Carry out a thought where possible: say it to somebody, go somewhere, do it here. Else refuse, with a reason."""
    news = next((one for one in given.news if one.kind == "voice"), None)
    if news is None:
        return None
    text, name = thought_in(news), given.who.language
    if grammar(name).has("voice.wrong", text):
        return ReactOutput(decision="keep", reason=reason(name, "voice.wrong"), because=_ids(news))
    return _to_somebody(given, news, text) or _somewhere(given, news, text, dice)


def thought_in(noted: News | Recalled) -> str:
    """The words of a thought that will not go away."""
    return noted.happening.text if isinstance(noted.happening, Voiced) else noted.text


def _to_somebody(given: ReactInput, news: News, text: str) -> ReactOutput | None:
    """Say it, or look for the one it is for."""
    name, spoken = given.who.language, language(given.who.language)
    here = next((one for one in given.situation.people if spoken.names(text, one.name, one.called)), None)
    if here is not None:
        wanted = errand(text, here.name, here.called, name)
        if here.warmth < COLD and wanted is not None and wanted.act in {"thank", "invite", "apologise", "comfort"}:
            why = reason(name, "voice.cold", x=here.called)
            return ReactOutput(decision="keep", reason=why, because=_ids(news))
        if here.can_be_spoken_to:
            purpose = "greet" if wanted is not None and not wanted.message else "tell"
            why = reason(name, "voice.say", x=here.called)
            return ReactOutput(decision="talk", target=here.id, purpose=purpose, reason=why, because=_ids(news))
    called = here.called if here else _named_absent(given, text)
    if not called or (here is None and errand(text, called, called, name) is None):
        return None
    place = given.situation.place.id if here else whereabouts_of(given, called)
    do = grammar(name).first("voice.seek", {"x": called})
    stroke = Stroke(start=given.situation.time, minutes=SEEKS, location=place, do=do, because=_ids(news), emoji="💭")
    return ReactOutput(decision="go", stroke=stroke, reason=reason(name, "voice.seek", x=called), because=_ids(news))


def _named_absent(given: ReactInput, text: str) -> str:
    """The short name of somebody the character does not see, by what it remembers and by the names of places."""
    spoken = language(given.who.language)
    called = {one for known in given.recalled for one in (known.happening.called, known.happening.to_called)}
    called |= {spot.name.partition("'s ")[0] for spot in given.places if "'s " in spot.name}
    found = [one for one in sorted(called) if one and one != given.who.called and spoken.names(text, one, one)]
    return found[0] if found else ""


def whereabouts_of(given: ReactInput, called: str) -> str:
    """Where to look for somebody: where it was seen last, as far as one remembers, else a place named after it."""
    seen = [
        (memory.minutes_ago, memory.happening.place) for memory in given.recalled
        if memory.happening.called == called and memory.happening.place and memory.minutes_ago < DAY
    ]  # fmt: skip
    known = {spot.id for spot in given.places}
    places = [place for _, place in sorted(seen) if place in known and place != given.situation.place.id]
    own = [spot.id for spot in given.places if spot.name.startswith((f"{called}'s ", f"{called}네"))]
    return next(iter((*places, *own)), given.situation.place.id)


def _somewhere(given: ReactInput, news: News, text: str, dice: Dice) -> ReactOutput:
    """Go to the place or the thing it names, or do here what it says."""
    name = given.who.language
    place = _place(given, text)
    do = language(name).commanded(text)
    if place is None and not do:
        return ReactOutput(decision="keep", reason=reason(name, "voice.unclear"), because=_ids(news))
    stroke = Stroke(
        start=given.situation.time,
        minutes=30 + 5 * dice.below(4, "voice"),
        location=place or given.situation.place.id,
        do=do or grammar(name).first("voice.do", {}),
        because=_ids(news),
        emoji="💭",
    )
    return ReactOutput(decision="go", stroke=stroke, reason=reason(name, "voice"), because=_ids(news))


def _place(given: ReactInput, text: str) -> str | None:
    """The place named, or that of the thing named, as far as the character remembers it."""
    from_name = named_place(given.places, text)
    if from_name is not None:
        return from_name.id
    known = {spot.id for spot in given.places}
    things = {memory.id: memory.happening.object_name for memory in given.recalled}
    found = meant({str(id): thing for id, thing in things.items() if thing}, spoken_words(text))
    places = [memory.happening.place for memory in given.recalled if str(memory.id) in found]
    return next((place for place in places if place in known), None)


# ── meeting the one it is for ────────────────────────────────────────────────────────────────────────────────────────


def undelivered(given: ReactInput) -> tuple[Person, Recalled] | None:
    """Somebody here to whom a thought of today is still to be said, with the thought."""
    for memory in given.recalled:
        if not isinstance(memory.happening, Voiced) or memory.minutes_ago >= DAY:
            continue
        for person in given.situation.people:
            if person.can_be_spoken_to and not person.asleep and _is_owed(given, person, memory):
                return person, memory
    return None


def _is_owed(given: ReactInput, person: Person, thought: Recalled) -> bool:
    wanted = errand(thought_in(thought), person.name, person.called, given.who.language)
    if wanted is None or not wanted.message:
        return False
    said = [one.happening.quote for one in given.recalled if one.happening.to == person.id]
    said += [line.text for line in given.lines if line.speaker == given.who.id]
    return not any(wanted.message in quote for quote in said)


def delivery(given: ReactInput, dice: Dice) -> ReactOutput | None:  # noqa: ARG001 – nothing to draw
    """Say to somebody met what a thought wanted said to them."""
    if given.lines:
        return None
    found = undelivered(given)
    if found is None:
        return None
    person, thought = found
    why = reason(given.who.language, "voice.say", x=person.called)
    return ReactOutput(decision="talk", target=person.id, purpose="tell", reason=why, because=(thought.id,))


def thought_aloud(scene: Scene) -> Line | None:
    """What a thought of today wanted said to the hearer, if it has not been said."""
    for memory in scene.talk.recalled:
        if not isinstance(memory.happening, Voiced) or memory.minutes_ago >= DAY:
            continue
        wanted = errand(thought_in(memory), scene.you.name, scene.you.called, scene.me.language)
        if wanted is None or not wanted.message:
            continue
        message = scene.voiced(wanted.message)
        if any(message in said for said in (*scene.talk.said, *scene.mine, scene.aired)):
            continue
        return Line(message, (memory.id,), wanted.act, scene.language.noun_phrase(wanted.message))
    return None


def _ids(news: News) -> tuple[int, ...]:
    return (news.memory_id,) if news.memory_id else ()
