"""`act`: one action for this tick (`fidelity: every_tick`).

A target that is not among this tick's is passed on as it came: the simulator rejects it, and history shows that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self

from msgspec import field
from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Given, Item, Recalled, Situation, Spot, Value, Who
from commonplace.minds.tasks.offers import Offers, people, places, things, uses
from commonplace.minds.tasks.scenes import Values, View
from commonplace.minds.tasks.wire import (
    LONGEST_CHOICE,
    LONGEST_DOING,
    UPPER,
    AnswerModel,
    Cited,
    Context,
    Emoji,
    Rule,
    WireValue,
    phrase,
    spoken,
    words,
)
from commonplace.world.actions import Verb

Kind = Literal["IDLE", "MOVE", "INTERACT", "SAY"]


class Targets(Given):
    """The possible targets of an action at this tick, and the action of the plan's next step.

    `cognition.act.targets` derives it from the world's own `Targets`, narrowed to what the character knows.
    """

    areas: tuple[str, ...] = ()
    objects: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Object → verbs it takes."""
    agents: tuple[str, ...] = ()
    step: str = ""
    """The kind of action of the plan's next step: IDLE, MOVE or INTERACT …"""
    step_target: str = ""
    step_verb: str = ""
    step_doing: str = ""
    """What one would be seen doing."""


class ActInput(Targets, kw_only=True):
    who: Who
    situation: Situation
    item: Item | None
    reaction: str = ""
    places: tuple[Spot, ...] = ()
    """The areas one knows, for their names."""
    recalled: tuple[Recalled, ...] = ()


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
    """Read for SAY only: beside other actions the field is ignored."""
    return _SPOKEN.read(value, context) if context.fields.get("kind") == "SAY" else ""


class ActAnswer(AnswerModel):
    kind: Annotated[Kind, UPPER]
    target: Annotated[str, words(LONGEST_CHOICE)] = ""
    """A label; which of the targets it means depends on the kind."""
    say: Annotated[str, Rule(_say)] = Field(default="", validate_default=True)
    doing: Annotated[str, phrase(LONGEST_DOING)] = ""
    emoji: Emoji = ""
    because: Cited = ()

    def action(self, offers: Offers) -> ActOutput:
        """The action, at one of the targets that `target_offers` makes."""
        target: dict[str, str] = {}
        match self.kind:
            case "MOVE":
                target = {"to_location_id": offers.places.id(self.target) or self.target}
            case "INTERACT":
                object_id, _, verb = (offers.things.id(self.target) or _split(self.target)).rpartition(" ")
                target = {"object_id": object_id, "verb": verb}
            case "SAY":
                target = {"to_agent_id": offers.people.id(self.target) or self.target}
            case "IDLE":
                pass
        return ActOutput(
            kind=self.kind,
            utterance=self.say,
            doing=self.doing,
            emoji=self.emoji,
            because=self.because,
            **target,
        )

    @classmethod
    def of_action(cls, offers: Offers, value: ActOutput) -> Self:
        """The answer that `action` makes this action of."""
        target = {
            "IDLE": "",
            "MOVE": offers.places.label(value.to_location_id),
            "INTERACT": offers.things.label(f"{value.object_id} {value.verb}"),
            "SAY": offers.people.label(value.to_agent_id),
        }[value.kind]
        return cls(
            kind=value.kind,
            target=target,
            say=value.utterance,
            doing=value.doing,
            emoji=value.emoji,
            because=value.because,
        )

    def output(self, inputs: ActInput) -> ActOutput:
        return self.action(_offers(inputs))

    @classmethod
    def of(cls, inputs: ActInput, value: ActOutput) -> Self:
        return cls.of_action(_offers(inputs), value)


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
        """The action; without what belongs to its kind it has no target, and the simulator rejects it."""
        match self.kind, self.move, self.interact, self.say:
            case "MOVE", MoveCall(to_location_id=area), _, _:
                target, say = area, ""
            case "INTERACT", _, InteractCall(object_id=thing, verb=verb), _:
                target, say = f"{thing}: {verb}", ""
            case "SAY", _, _, SayCall(to_agent_id=other, utterance=utterance):
                target, say = other, utterance
            case _:
                target, say = "", ""
        return ActAnswer(kind=self.kind, target=target, say=say).action(_offers(inputs))

    @classmethod
    def of(cls, inputs: ActInput, value: ActOutput) -> Self:
        """The call that `output` makes this action of."""
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


def _split(target: str) -> str:
    """`stove: USE`, not offered, as `stove USE`."""
    thing, _, verb = target.rpartition(":")
    return f"{thing.strip() or target} {verb.strip()}"


def target_offers(targets: Targets, known: Iterable[Spot], here: Situation) -> Offers:
    """This tick's targets, by the names that `known` places, things in sight and people in sight have."""
    return Offers(
        people=people(here.people).only(targets.agents),
        places=places(known).only(targets.areas),
        things=things(here.things, targets.objects),
    )


def target_values(targets: Targets, offers: Offers, here: Situation) -> Values:
    """The targets as a template lists them, with the plan's next step."""
    if targets.step == "INTERACT":
        step_target = offers.things.label(f"{targets.step_target} {targets.step_verb}")
    else:
        step_target = offers.places.label(targets.step_target)
    return {
        "areas": [label for id, label in offers.places.labels_by_id.items() if label != id],
        "uses": uses(here.things, targets.objects),
        "agents": offers.people.labels,
        "step": targets.step,
        "step_target": step_target,
    }


def _offers(inputs: ActInput) -> Offers:
    here = inputs.situation
    return target_offers(inputs, (*inputs.places, here.place), here)


def _scene(inputs: ActInput, view: View) -> Values:
    return {
        "memories": sorted(view.memories(inputs), key=lambda told: told.id),
        "targets": target_values(inputs, view.offers, inputs.situation),
    }


def _fallback(inputs: ActInput) -> ActOutput:
    """The plan's next step."""
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
)
