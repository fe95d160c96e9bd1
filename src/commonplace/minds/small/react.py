"""`react` in the small form: one choice by letter among what is possible.

Words are not asked for: who chooses to talk is asked `converse`. New memories that a merged reaction would rate are
rated by the rules, and the plan says what is done. A change of the plan can be chosen where its time and place are
known: what a talk has settled, an event that is still to come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.languages.language import language
from commonplace.minds.mind import RequestKey
from commonplace.minds.notes import FactNote, Person
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.gatherings import event_stroke
from commonplace.minds.offline.rate import rate
from commonplace.minds.prompts.teller import plain
from commonplace.minds.small.form import LETTERS, PlainAnswer, Small, chosen
from commonplace.minds.tasks.offers import title_of
from commonplace.minds.tasks.plan import Stroke
from commonplace.minds.tasks.rate import RateInput
from commonplace.minds.tasks.react import ReactInput
from commonplace.minds.tasks.scenes import PromptView, Values

MOST_PEOPLE, MOST_SETTLED = 2, 2
"""People that can be spoken to, and things settled, that are offered."""
MET = 12 * 60
"""Minutes after a talk in which somebody is not greeted again."""
Sort = Literal["reply", "keep", "greet", "talk", "tell", "leave", "settle", "attend", "wait"]


@dataclass(frozen=True, slots=True)
class Option:
    """Something that can be done now, and the answer of the full form that does it."""

    sort: Sort
    """The words for it, in the template."""
    data: Mapping[str, Any]
    other: str = ""
    """Character id."""
    what: str = ""
    where: str = ""
    """Area id."""
    time: str = ""
    """`HH:MM`."""


def choices(inputs: ReactInput) -> tuple[Option, ...]:
    """Returns the choices: first to answer whoever has spoken, else to go on."""
    people, talking = _people(inputs), bool(inputs.lines)
    answers = [_talk("reply", people[0], "reply", _heard(inputs, people[0]))] if people and inputs.floor else []
    keep, wait = Option("keep", {"decision": "keep"}), Option("wait", {"decision": "wait"})
    open_talk = [] if inputs.floor else [_opening(inputs, one) for one in people]
    leave = [_talk("leave", people[0], "farewell")] if people and talking else []
    found = [*answers, keep, *open_talk, *_news(inputs, people), *_settled(inputs), *_events(inputs), *leave, wait]
    return tuple(found[: len(LETTERS)])


def _people(inputs: ReactInput) -> list[Person]:
    """Returns the people who can be spoken to: the last speaker, others of the talk, others."""
    speakers = [line.speaker for line in reversed(inputs.lines) if line.speaker != inputs.who.id]
    place = {who: number for number, who in reversed(list(enumerate(speakers)))}
    able = [one for one in inputs.situation.people if one.can_be_spoken_to and (not speakers or one.id in place)]
    return sorted(able, key=lambda one: place.get(one.id, len(speakers)))[:MOST_PEOPLE]


def _talk(sort: Sort, person: Person, purpose: str, because: Sequence[int] = (), what: str = "") -> Option:
    data = {"decision": "talk", "target": person.id, "talk": {"purpose": purpose}, "because": list(because)}
    return Option(sort, data, person.id, what)


def _opening(inputs: ReactInput, person: Person) -> Option:
    greets = not inputs.lines and not 0 <= person.minutes_since_talk < MET
    return _talk("greet" if greets else "talk", person, "greet" if greets else "", _heard(inputs, person))


def _heard(inputs: ReactInput, person: Person) -> list[int]:
    """Returns the memories of what they have just done or said."""
    return [entry.memory_id for entry in inputs.news if entry.who == person.id and entry.memory_id]


def _news(inputs: ReactInput, people: Sequence[Person]) -> Iterator[Option]:
    """Yields the first piece of news that one of them has not heard."""
    for fact, memory in _carried(inputs):
        for person in people:
            if fact.id not in inputs.told.get(person.id, ()):
                yield _talk("tell", person, "tell", [memory], title_of(fact.text, inputs.who.language))
                return


def _carried(inputs: ReactInput) -> Iterator[tuple[FactNote, int]]:
    """Yields the facts, each with the memory that carries it."""
    carrying = {fact: note.id for note in reversed(inputs.recalled) for fact in note.facts}
    carrying |= {fact: entry.memory_id for entry in inputs.news for fact in entry.facts if entry.memory_id}
    yield from ((fact, carrying[fact.id]) for fact in inputs.facts if fact.id in carrying)


def _settled(inputs: ReactInput) -> Iterator[Option]:
    """Yields the choices for what talks have settled for later today."""
    spoken, known = language(inputs.who.language), _known(inputs)
    for one in [one for one in inputs.agreed if one.place in known][:MOST_SETTLED]:
        stroke = Stroke(
            start=one.time, minutes=one.minutes, location=one.place, do=spoken.gerund(one.text)[:120],
            because=one.because,
        )  # fmt: skip
        yield _planned("settle", stroke, plain(one.text))


def _events(inputs: ReactInput) -> Iterator[Option]:
    """Yields the first known event that is still to come today and is not in the plan."""
    moment, known = inputs.situation.moment, _known(inputs)
    plan = [(item.location, item.event) for item in (inputs.now, *inputs.later) if item is not None]
    for fact, memory in _carried(inputs):
        if fact.place in known and fact.starts[:10] == moment[:10] and fact.starts > moment:
            stroke = event_stroke(inputs.who, fact, memory, inputs.situation.time)
            if (stroke.location, stroke.event) not in plan:
                yield _planned("attend", stroke, title_of(fact.text, inputs.who.language))
                return


def _known(inputs: ReactInput) -> frozenset[str]:
    return frozenset({spot.id for spot in inputs.places} | {inputs.situation.place.id})


def _planned(sort: Sort, stroke: Stroke, what: str) -> Option:
    """Returns the choice to go on for now, with something new in the plan."""
    because = list(stroke.because)
    plan = {
        "start": stroke.start, "minutes": stroke.minutes, "place": stroke.location, "do": stroke.do,
        "emoji": stroke.emoji, "because": because, "event": stroke.event,
    }  # fmt: skip
    return Option(sort, {"decision": "keep", "plan": plan, "because": because}, what=what, where=stroke.location,
                  time=stroke.start)  # fmt: skip


def _data(inputs: ReactInput, words: PlainAnswer) -> Mapping[str, Any]:
    offered = choices(inputs)
    return {**offered[chosen(words, LETTERS[: len(offered)])].data, "rate": _ratings(inputs)}


def _ratings(inputs: ReactInput) -> list[dict[str, Any]]:
    """Returns the ratings by the rules, which draw nothing."""
    new = RateInput(
        who=inputs.who, texts=inputs.unrated, happenings=inputs.unrated_happenings, bearings=inputs.unrated_bearings
    )
    ratings = rate(new, Dice.of(RequestKey(0, inputs.who.id, 0, 0))).ratings
    return [one.model_dump(by_alias=True) for one in ratings]


def _scene(inputs: ReactInput, view: PromptView) -> Values:
    people, places = view.offers.people, view.offers.places
    offered = choices(inputs)
    return {
        "letters": LETTERS[: len(offered)],
        "choices": [
            {
                "letter": letter,
                "sort": one.sort,
                "called": people.label(one.other) if one.other else "",
                "what": one.what,
                "where": places.label(one.where) if one.where else "",
                "time": one.time,
            }
            for letter, one in zip(LETTERS, offered, strict=False)
        ],
    }


REACT: Small[ReactInput] = Small(_data, 4, _scene, choices)
