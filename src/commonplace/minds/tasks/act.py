"""`act`: one action for this tick (`fidelity: every_tick`).

A target that is not among this tick's is passed on as it came: the simulator rejects it, and history shows that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Given, ItemNote, Recalled, Situation, Spot, Value, Who, always
from commonplace.minds.tasks.offers import Choices, Offers, people, places, uses
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import (
    LONGEST_CHOICE,
    LONGEST_DOING,
    UPPER,
    AnswerModel,
    Cited,
    Context,
    Emoji,
    Rule,
    Unasked,
    WireValue,
    phrase,
    spoken,
    words,
)
from commonplace.world.actions import ACTIONS
from commonplace.world.tree import Verb, action_words

if TYPE_CHECKING:
    Kind = DeedKind = str
else:
    Kind = Literal[tuple(ACTIONS)]
    DeedKind = Literal[tuple(kind for kind in ACTIONS if kind != "SAY")]
"""The name of a kind of action, and of one that takes no words."""
OFFERED: Mapping[str, Literal["people", "places", "things"]] = {
    "to_agent_id": "people",
    "to_location_id": "places",
    "object_id": "things",
}
"""Target → what it is one of; anything else is said as it is."""


class KnownTargets(Given, omit_defaults=True):
    """The possible targets of an action at this tick, and the action of the plan's next step.

    `cognition.act.targets` derives it from the world's own `KnownTargets`, narrowed to what the character knows.
    """

    areas: tuple[str, ...] = always(())
    objects: Mapping[str, tuple[str, ...]] = always({})
    """Object → verbs it takes."""
    agents: tuple[str, ...] = always(())
    step: str = always("")
    """The kind of action of the plan's next step: IDLE, MOVE or INTERACT …"""
    step_target: str = always("")
    step_verb: str = always("")
    step_doing: str = always("")
    """What one would be seen doing."""
    others: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    """Of the kinds of action that have no field above, where there are any: as the world has them."""

    @property
    def of(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Returns kind of action → first target → second targets, none if it takes only one."""
        areas, agents = dict.fromkeys(self.areas, ()), dict.fromkeys(self.agents, ())
        return {"MOVE": areas, "INTERACT": self.objects, "SAY": agents, **self.others}


class ActInput(KnownTargets, kw_only=True):
    who: Who
    situation: Situation
    item: ItemNote | None
    reaction: str = always("")
    places: tuple[Spot, ...] = always(())
    """The areas one knows, for their names."""
    recalled: tuple[Recalled, ...] = always(())


class ActOutput(Value):
    kind: Kind
    to_location_id: str = ""
    object_id: str = ""
    verb: str = ""
    to_agent_id: str = ""
    utterance: str = ""
    doing: str = ""
    emoji: str = ""
    because: tuple[int, ...] = ()


_SPOKEN = spoken(needed=True)


def _say(value: object, context: Context) -> str:
    """Reads the words for SAY only: beside other actions the field is ignored."""
    return _SPOKEN.read(value, context) if context.fields.get("kind") == "SAY" else ""


class DeedAnswer(WireValue):
    """The action in a reaction, which has the words itself: who speaks decides to talk."""

    kind: Annotated[DeedKind, UPPER]
    target: Annotated[str, words(LONGEST_CHOICE)] = ""
    """A label; which of the targets it means depends on the kind."""
    doing: Annotated[str, phrase(LONGEST_DOING)] = ""
    emoji: Emoji = ""
    because: Annotated[Cited | None, Unasked] = None
    """None: it rests on what the reaction rests on."""

    def action(self, offers: Offers, because: tuple[int, ...]) -> ActOutput:
        """Returns the action, at one of the targets that `target_offers` makes."""
        because = because if self.because is None else self.because
        targets = _targets_of(self.kind, self.target, offers)
        return ActOutput(kind=self.kind, doing=self.doing, emoji=self.emoji, because=because, **targets)

    @classmethod
    def of_action(cls, offers: Offers, value: ActOutput, because: tuple[int, ...]) -> Self:
        """Returns the answer from which `action` makes this action."""
        return cls(
            kind=value.kind,
            target=_label_of(value, offers),
            doing=value.doing,
            emoji=value.emoji,
            because=None if value.because == because else value.because,
        )


class ActAnswer(AnswerModel):
    kind: Annotated[Kind, UPPER]
    target: Annotated[str, words(LONGEST_CHOICE)] = ""
    say: Annotated[str, Rule(_say)] = Field(default="", validate_default=True)
    doing: Annotated[str, phrase(LONGEST_DOING)] = ""
    emoji: Emoji = ""
    because: Cited = ()

    def output(self, inputs: ActInput) -> ActOutput:
        return ActOutput(
            kind=self.kind,
            utterance=self.say,
            doing=self.doing,
            emoji=self.emoji,
            because=self.because,
            **_targets_of(self.kind, self.target, _offers(inputs)),
        )

    @classmethod
    def of(cls, inputs: ActInput, value: ActOutput) -> Self:
        return cls(
            kind=value.kind,
            target=_label_of(value, _offers(inputs)),
            say=value.utterance,
            doing=value.doing,
            emoji=value.emoji,
            because=value.because,
        )


def _targets_of(kind: str, label: str, offers: Offers) -> dict[str, Any]:
    """Returns field → id for what a label means for a kind of action; the label itself if it was not offered."""
    named = ACTIONS[kind].targets
    found = offers.actions.get(kind, Choices()).id(label)
    whole = found or (label if len(named) == 1 else _split(label))
    targets = (whole,) if len(named) == 1 else whole.rpartition(" ")[::2]
    return dict(zip(named, targets, strict=False))


def _label_of(value: ActOutput, offers: Offers) -> str:
    """Returns the label from which `_targets_of` makes an action's targets."""
    target = " ".join(getattr(value, name) for name in ACTIONS[value.kind].targets)
    return offers.actions.get(value.kind, Choices()).label(target)


class MoveCall(WireValue):
    to_location_id: Annotated[str, words(LONGEST_CHOICE)]


class InteractCall(WireValue):
    object_id: Annotated[str, words(LONGEST_CHOICE)]
    verb: Annotated[Verb, UPPER]


class SayCall(WireValue):
    to_agent_id: Annotated[str, words(LONGEST_CHOICE)]
    utterance: Annotated[str, spoken(needed=True)]


class ActCall(AnswerModel):
    """The arguments of the tool `act`: a kind, and what belongs to it; the rest is null. Ids may be labels."""

    kind: Annotated[Kind, UPPER]
    move: MoveCall | None = None
    interact: InteractCall | None = None
    say: SayCall | None = None

    def output(self, inputs: ActInput) -> ActOutput:
        """Returns the action. If the part for its kind is missing it has no target, and the simulator rejects it."""
        match self.kind, self.move, self.interact, self.say:
            case "MOVE", MoveCall(to_location_id=area), _, _:
                target, say = area, ""
            case "INTERACT", _, InteractCall(object_id=thing, verb=verb), _:
                target, say = f"{thing}: {verb}", ""
            case "SAY", _, _, SayCall(to_agent_id=other, utterance=utterance):
                target, say = other, utterance
            case _:
                target, say = "", ""
        return ActOutput(kind=self.kind, utterance=say, **_targets_of(self.kind, target, _offers(inputs)))

    @classmethod
    def of(cls, inputs: ActInput, value: ActOutput) -> Self:
        """Returns the call from which `output` makes this action."""
        offers = _offers(inputs)
        thing = offers.things.label(f"{value.object_id} {value.verb}").rpartition(":")[0] or value.object_id
        return cls(
            kind=value.kind,
            move=MoveCall(to_location_id=offers.places.label(value.to_location_id)) if value.kind == "MOVE" else None,
            interact=InteractCall.model_validate({"object_id": thing, "verb": value.verb})
            if value.kind == "INTERACT"
            else None,
            say=SayCall(to_agent_id=offers.people.label(value.to_agent_id), utterance=value.utterance)
            if value.kind == "SAY"
            else None,
        )


def is_possible(targets: KnownTargets, action: ActOutput) -> bool:
    """Tells whether an action is at one of the targets; an action without targets always is."""
    named = ACTIONS[action.kind].targets
    first, *second = (getattr(action, name) for name in named) if named else ("",)
    offered = targets.of.get(action.kind, {})
    return not named or (first in offered and (not second or second[0] in offered[first]))


def _split(target: str) -> str:
    """Returns a label that was not offered as an id would be: `stove: USE` → `stove USE`."""
    thing, _, verb = target.rpartition(":")
    return f"{thing.strip() or target} {verb.strip()}"


def target_offers(targets: KnownTargets, known: Iterable[Spot], here: Situation) -> Offers:
    """Returns this tick's targets, by the names of `known` places, and of things and people in sight."""
    named = _named(places(known), here)
    actions = {kind: _choices(ACTIONS[kind].targets, offered, named) for kind, offered in targets.of.items()}
    return Offers(people=actions["SAY"], places=actions["MOVE"], things=actions["INTERACT"], actions=actions)


def _named(known: Choices, here: Situation) -> Callable[[str, str], str]:
    """Returns a function from the field and the id of a target to the name a mind knows it by."""
    things = Choices.of((thing.id, thing.name) for thing in here.things)
    by_sort = {"people": people(here.people), "places": known, "things": things}
    return lambda target, id: by_sort[OFFERED[target]].label(id) if target in OFFERED else id


def _choices(kinds: Sequence[str], offered: Mapping[str, tuple[str, ...]], named: Callable[[str, str], str]) -> Choices:
    if len(kinds) == 1:
        return Choices({id: named(kinds[0], id) for id in offered})
    each = [(first, one) for first, second in offered.items() for one in second]
    return Choices({f"{first} {one}": f"{named(kinds[0], first)}: {named(kinds[1], one)}" for first, one in each})


def target_values(targets: KnownTargets, offers: Offers, here: Situation, language: str) -> Values:
    """Returns the kinds of action with their targets as a template lists them, and the plan's next step."""
    if targets.step == "INTERACT":
        step_target = offers.things.label(f"{targets.step_target} {targets.step_verb}")
    else:
        step_target = offers.places.label(targets.step_target)
    named = _named(offers.places, here)
    kinds = [
        {
            "kind": kind.name,
            "hint": action_words(language, kind.name, "hint"),
            "sort": OFFERED[kind.targets[0]] if kind.targets else "",
            "targets": _listed(kind.targets, targets.of.get(kind.name, {}), here, named),
        }
        for kind in ACTIONS.values()
    ]
    return {"kinds": kinds, "step": targets.step, "step_target": step_target}


def _listed(
    kinds: Sequence[str],
    offered: Mapping[str, tuple[str, ...]],
    here: Situation,
    named: Callable[[str, str], str],
) -> list[str]:
    """Returns labels such as `plaza`, without places that have no name; with two targets, `stove (cold): USE, OPEN`."""
    if len(kinds) > 1:
        return uses(here.things, {first: [named(kinds[1], one) for one in second] for first, second in offered.items()})
    labels = {id: named(kind, id) for kind in kinds for id in offered}
    return [label for id, label in labels.items() if label != id or OFFERED[kinds[0]] != "places"]


def _offers(inputs: ActInput) -> Offers:
    here = inputs.situation
    return target_offers(inputs, (*inputs.places, here.place), here)


def _scene(inputs: ActInput, view: PromptView) -> Values:
    return {
        "memories": sorted(view.memories(inputs), key=lambda told: told.id),
        "targets": target_values(inputs, view.offers, inputs.situation, inputs.who.language),
    }


def _fallback(inputs: ActInput) -> ActOutput:
    """Returns the plan's next step."""
    doing = inputs.step_doing
    match inputs.step:
        case "MOVE":
            return ActOutput(kind="MOVE", to_location_id=inputs.step_target)
        case "INTERACT":
            return ActOutput(kind="INTERACT", object_id=inputs.step_target, verb=inputs.step_verb, doing=doing)
        case _:
            return ActOutput(kind="IDLE", doing=doing)


ACT = Task(
    "act",
    ActInput,
    ActOutput,
    _fallback,
    max_tokens=350,
    temperature=0.3,
    scene=_scene,
    offers=_offers,
    answer=ActAnswer,
    tool=ActCall,
    possible=is_possible,
)
