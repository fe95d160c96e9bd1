"""How tasks are told to a prompt: what scenes share.

A task's `scene` makes the values that its template needs in addition to those every template gets. What is said of the
here and now is not said again by a memory. Of the character's past, rows of the talk that is shown are left out, so
that the sentence stays the same while the talk goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from commonplace.character.account import as_topic
from commonplace.minds.mind import Ask
from commonplace.minds.notes import (
    FactNote,
    Given,
    GoalNote,
    ItemNote,
    Past,
    PastNote,
    Person,
    Recalled,
    Situation,
    Spoken,
    Spot,
    Value,
    fields_of,
)
from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.minds.prompts.speech_guard import LONGEST_LINE
from commonplace.minds.prompts.teller import Teller, ToldMemory, gist, plain, speech
from commonplace.minds.tasks.offers import Choices, Offers, title_of
from commonplace.minds.tasks.wire import offers_of
from commonplace.text import shortened
from commonplace.world.happenings import Came, Changed, Hour, Planned, Seen, Sky, Walked

Values = Mapping[str, Any]

TALKING = 6
"""Memories shown when only words are asked for."""
LATEST_LINES, STEP = 8, 4
"""Lines of a talk shown at least, and so many more before the oldest are left out: what was read stays a prefix."""
MOST_SAID = 3
"""Earlier lines of the day shown so that they are not said again."""
LONGEST_BACKGROUND = 4000
"""Characters; the most a scenario takes."""


@dataclass(frozen=True, slots=True)
class PromptView:
    """What a scene is made from, in addition to the input."""

    setting: PromptSetting
    offers: Offers
    drop: int = 0
    """So many of the memories that scored lowest are left out, because the prompt was too long."""

    def teller(self, inputs: Any) -> Teller:
        """Returns the teller of the input's character."""
        who, situation = inputs.who, getattr(inputs, "situation", None)
        return Teller(who.called, who.name, who.language, situation.moment if situation else "", self.setting)

    def best(self, told: Sequence[ToldMemory], most: int) -> list[ToldMemory]:
        """Returns the first of a list that is sorted, the best first."""
        return list(told[: max(0, most - self.drop)])

    def memories(self, inputs: Any, most: int = TALKING) -> list[ToldMemory]:
        """Returns the best of `inputs.recalled`."""
        return self.best(self.teller(inputs).memories(not_present(inputs.recalled, inputs)), most)


def scene_values(ask: Ask[Any, Any], setting: PromptSetting, drop: int = 0) -> dict[str, Any]:
    """Returns all values of a task's template. `drop`: see `PromptView`."""
    view = PromptView(setting, offers_of(ask), drop)
    values: dict[str, Any] = {"input": _shown(ask.input, view), "memories": [], "setting": _world(setting)}
    values["task"] = ask.task.name
    who = getattr(ask.input, "who", None)
    if who is not None:
        background = view.teller(ask.input).bare(who.background, LONGEST_BACKGROUND)
        values["me"] = values["input"]["who"]
        values["background"] = background[:1].upper() + background[1:]
        values["home"] = plain(setting.names.get(who.home, who.home))
        values["voice"] = [speech(line) for line in voice_of(ask, setting)]
        values["acquaintances"] = [
            {"called": plain(called), "label": plain(label)} for called, label in setting.acquaintances.get(who.id, ())
        ]
    return values | (dict(ask.task.scene(ask.input, view)) if ask.task.scene else {})


def voice_of(ask: Ask[Any, Any], setting: PromptSetting) -> tuple[str, ...]:
    """Returns lines that show how the asked character speaks; none on a stage for two, whose characters have these
    lines to tell."""
    who = getattr(ask.input, "who", None)
    return setting.voices.get(who.id, ()) if who is not None and not ask.task.name.startswith("duet") else ()


def _world(setting: PromptSetting) -> Values:
    labels = Choices.of((*setting.places, *setting.private))
    return {"title": plain(setting.title), "places": [labels.label(id) for id, _ in setting.places]}


def _shown(value: Any, view: PromptView) -> Any:
    """Returns a typed input with every text in it `plain`, and with people and places by the labels that answers may
    use."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Given | Value):
        fields = {name: _shown(inner, view) for name, inner in fields_of(value)}
        offers = view.offers
        match value:
            case Person():
                fields["called"] = offers.people.label(value.id, fields["called"])
                feeling = next((word for least, word in _FEELINGS if value.warmth >= least), "hate")
                fields |= {"age": dict(view.setting.ages).get(value.id, 0), "feeling": feeling}
                fields["ago"] = _ago(value.minutes_since_talk)
            case Spot():
                fields["name"] = offers.places.label(value.id, fields["name"])
            case ItemNote():
                fields["location_name"] = offers.places.label(value.location, fields["location_name"])
            case _:
                pass
        return fields
    if isinstance(value, Mapping):
        return {key: _shown(inner, view) for key, inner in cast(Mapping[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_shown(inner, view) for inner in cast(Sequence[Any], value)]
    return value


_FEELINGS = ((60, "love"), (20, "like"), (-19, ""), (-59, "dislike"))


def _ago(minutes: int) -> tuple[int, str]:
    """Returns the time since a talk: a number and `min`, `h` or `days`; `never` if there was none."""
    if minutes < 0:
        return 0, "never"
    if minutes < 90:
        return minutes, "min"
    return (round(minutes / 60), "h") if minutes < 36 * 60 else (round(minutes / 1440), "days")


def spoken_lines(lines: Sequence[Spoken], longest: int = LONGEST_LINE) -> list[Values]:
    """Returns the lines of a talk."""
    return [{"called": plain(line.called), "text": gist(speech(line.text), longest)} for line in lines]


def latest(lines: Sequence[Spoken]) -> Sequence[Spoken]:
    """Returns the latest lines of a talk; several prompts in a row begin with the same line."""
    return lines[max(0, len(lines) - LATEST_LINES) // STEP * STEP :]


def unsaid(notes: Iterable[Recalled], lines: Iterable[Spoken]) -> list[Recalled]:
    """Returns the memories that are not lines of the talk: the prompt has those already."""
    said = {line.text for line in lines if line.text}
    return [note for note in notes if note.happening.quote not in said]


def said_before(mine: Iterable[str], lines: Iterable[Spoken]) -> list[str]:
    """Returns the latest of the day's lines that are not part of the talk."""
    shown = {line.text for line in lines}
    return [speech(line) for line in mine if line not in shown][-MOST_SAID:]


def carried_facts(
    known: Iterable[FactNote], carriers: Mapping[str, int], heard: Mapping[str, Collection[str]], view: PromptView
) -> list[Values]:
    """Returns the facts that something in the prompt carries. `carriers`: fact → memory. `heard`: fact → names of those
    who know it."""
    return [
        {
            "title": view.offers.facts.label(fact.id),
            "memory": carriers[fact.id],
            "heard": list(heard.get(fact.id, ())),
            "place": plain(fact.place_name),
            "starts": fact.starts[11:16],
        }
        for fact in known
        if fact.id in carriers
    ]


def carriers(recalled: Iterable[Recalled], shown: Iterable[ToldMemory]) -> dict[str, int]:
    """Returns fact → the last shown memory that carries it."""
    ids = {told.id for told in shown}
    return {fact: note.id for note in recalled for fact in note.facts if note.id in ids}


def own_places(known: Iterable[Spot], view: PromptView) -> list[str]:
    """Returns the places that this character knows and not everybody does."""
    public = {id for id, _ in view.setting.places}
    return [view.offers.places.label(spot.id, plain(spot.name)) for spot in known if spot.id not in public]


DAY = 24 * 60
JUST = 30
"""Minutes for which somebody is taken to be at what they were seen doing."""


def not_present(notes: Iterable[Recalled], inputs: Any) -> list[Recalled]:
    """Returns the memories that tell more than the situation, the plan and the news in a task's input."""
    here: Situation | None = getattr(inputs, "situation", None)
    planned = {item.do for item in _plan(inputs)}
    told = {one.text for one in getattr(inputs, "news", ()) if not isinstance(one, str)}
    told |= {one.text for one in here.circumstances} if here else set()
    return [note for note in notes if note.text not in told and not _is_present(note, here, planned)]


def _plan(inputs: Any) -> Iterator[ItemNote]:
    """Yields the strokes that a prompt shows."""
    for name in ("now", "item"):
        if isinstance(item := getattr(inputs, name, None), ItemNote):
            yield item
    for name in ("done", "later"):
        yield from getattr(inputs, name, ())


def _is_present(note: Recalled, here: Situation | None, planned: set[str]) -> bool:
    happening = note.happening
    if isinstance(happening, Planned):
        return happening.do in planned
    return here is not None and _is_in_sight(note, here)


def _is_in_sight(note: Recalled, here: Situation) -> bool:
    people = {one.id for one in here.people}
    match note.happening:
        case Sky(sky=sky):
            same = sky == here.sky
        case Hour(part=part):
            same = part == here.part_of_day and note.minutes_ago < DAY
        case Changed(object=thing, state=state):
            same = any((one.id, one.state) == (thing, state) for one in here.things)
        case Came(who=who):
            same = who in people
        case Seen(who=who):
            same = who in people and note.minutes_ago <= JUST
        case Walked(place=place):
            same = place == here.place.id
        case _:
            same = False
    return same


BETWEEN = (
    "told", "heard", "asked", "was_asked", "promised", "agreed", "declined", "refused", "kept", "broke",
    "hurt", "pleased",
)  # fmt: skip
"""Kinds in the order in which they are told."""
MOST_TOPICS, MOST_ELSEWHERE, MOST_NAMES, MOST_ATTENDED, MOST_PROMISES = 2, 1, 2, 2, 4
TALK = 60
"""Minutes: what happened since belongs to the talk that is shown, if there is one."""
LATELY = 2 * 24 * 60
MOST_GOALS = 4
LONGEST_TOPIC, LONGEST_EVENT, LONGEST_GOAL = 40, 70, 120


def between(past: Past, other: str, called: str, language: str, *, talking: bool) -> Values:
    """Returns what passed between the character and another, by kind: `rows` of `{kind, topics}`."""
    earlier = [note for note in past.notes if not talking or note.minutes_ago > TALK or note.times > 1]
    return {"called": called, "rows": _by_kind((note for note in earlier if note.other == other), language)}


def spoken_of(past: Past, present: Collection[str], language: str) -> Values:
    """Returns what the character knows about the subjects of the talk: `elsewhere`, from whom it has heard of them and
    whom it told, besides those who are `present`; `seen`, where it last saw the people named; `did`, its own deeds."""
    return {
        "elsewhere": _elsewhere(past, present, language),
        "seen": [
            {"called": plain(note.called), "place": plain(note.text), "minutes": note.minutes_ago}
            for note in past.notes
            if note.kind == "saw"
        ],
        "did": [plain(note.named) for note in past.notes if note.kind == "did" and not note.topic],
    }


def lately_values(past: Past, language: str) -> Values:
    """Returns promises, and the character's deeds of the last two days: what a plan has to know."""
    promises = [note for note in past.notes if note.kind in ("promised", "broke") and note.topic]
    attended = [note for note in past.notes if note.kind == "attended" and note.minutes_ago <= LATELY]
    return {
        "promises": [
            {"kind": note.kind, "called": plain(note.called), "topic": _topic(note, language)}
            for note in promises[:MOST_PROMISES]
        ],
        "attended": [
            shortened(plain(note.text), LONGEST_EVENT) if note.text else _topic(note, language)
            for note in attended[:MOST_ATTENDED]
        ],
    }


def goal_values(goals: Iterable[GoalNote], places: Choices | None = None) -> list[Values]:
    """Returns the first goals: their progress and the day they are due; with `places`, also where and when, and what
    they lack."""
    return [
        {
            "text": shortened(plain(goal.text), LONGEST_GOAL),
            "day": plain(goal.day),
            "steps": goal.steps,
            "done_steps": goal.done_steps,
            "at": [plain(one) for one in (places.label(goal.place, ""), goal.time) if one] if places else [],
            "lacks": plain(goal.lacks) if places else "",
        }
        for goal in list(goals)[:MOST_GOALS]
    ]


def _by_kind(notes: Iterable[PastNote], language: str) -> list[Values]:
    topics: dict[str, dict[str, str]] = {kind: {} for kind in BETWEEN}
    # by the first memory: a subject keeps its place when it comes up again
    for note in sorted(notes, key=lambda note: -note.because[0] if note.because else 0):
        name = plain(note.act) if note.kind in ("hurt", "pleased") else _topic(note, language)
        if name and note.kind in topics and len(topics[note.kind]) < MOST_TOPICS:
            topics[note.kind].setdefault(as_topic(name), name)
    return [{"kind": kind, "topics": list(found.values())} for kind, found in topics.items() if found]


def _elsewhere(past: Past, present: Collection[str], language: str) -> Sequence[Values]:
    found: dict[str, dict[str, Any]] = {}
    for note in past.notes:
        if note.kind in ("told", "heard") and note.other and note.other not in present:
            topic = _topic(note, language)
            row = found.setdefault(as_topic(topic), {"topic": topic, "told": [], "heard": []})
            names: list[str] = row[note.kind]
            if (name := plain(note.called)) not in names and len(names) < MOST_NAMES:
                names.append(name)
    return list(found.values())[:MOST_ELSEWHERE]


def _topic(note: PastNote, language: str) -> str:
    """Returns the subject in words; for news, its title."""
    return shortened(plain(note.named or (title_of(note.text, language) if note.text else note.topic)), LONGEST_TOPIC)
