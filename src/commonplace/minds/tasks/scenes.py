"""How tasks are told to a prompt: what all scenes share.

A task's `scene` makes the values that its template needs in addition to those every template gets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from commonplace.minds.mind import Ask
from commonplace.minds.notes import FactNote, Given, ItemNote, Person, Recalled, Spoken, Spot, Value, fields_of
from commonplace.minds.prompts.prompt import PromptSetting
from commonplace.minds.prompts.speech_guard import LONGEST_LINE
from commonplace.minds.prompts.teller import Teller, ToldMemory, gist, plain, speech
from commonplace.minds.tasks.offers import Choices, Offers
from commonplace.minds.tasks.present import not_present
from commonplace.minds.tasks.wire import offers_of

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
