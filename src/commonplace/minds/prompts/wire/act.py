"""The `act` tool: one action of a kind, at one of this tick's valid targets.

A target that is not among them is passed on as it came: the simulator rejects it, and history shows that.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from commonplace.minds.notes import Person, Spot, ThingHere
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.choices import Choices, people, places
from commonplace.minds.prompts.wire.citing import ids_of
from commonplace.minds.prompts.wire.fields import Fields, listed
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import Schema, obj, one_of, some_of, text
from commonplace.minds.tasks import ActInput, ActOutput, Targets

KINDS = ("IDLE", "MOVE", "INTERACT", "SAY")
LONGEST_DOING = 120


def areas(targets: Targets, known: Sequence[Spot]) -> Choices:
    """Where one can go, by name where the input tells it."""
    offered = places(known)
    return Choices(tuple((area, offered.label(area)) for area in targets.areas))


def objects(targets: Targets, things: Sequence[ThingHere]) -> Choices:
    """What can be done with what: id `stove USE`, label `stove: USE`."""
    names = Choices.of((thing.id, thing.name) for thing in things)
    pairs = ((thing, verb) for thing, verbs in targets.objects.items() for verb in verbs)
    return Choices(tuple((f"{thing} {verb}", f"{names.label(thing)}: {verb}") for thing, verb in pairs))


def hearers(targets: Targets, seen: Sequence[Person]) -> Choices:
    """Whom one can speak to, by the names others call them."""
    named = people(seen)
    return Choices(tuple((agent, named.label(agent)) for agent in targets.agents))


def action_schema(
    targets: Targets, known: Sequence[Spot], things: Sequence[ThingHere], seen: Sequence[Person], shown: Sequence[int]
) -> Schema:
    """The tool's arguments."""
    labels = (
        *areas(targets, known).labels,
        *objects(targets, things).labels,
        *hearers(targets, seen).labels,
    )
    return obj(
        kind=one_of(KINDS),
        target=one_of(("", *labels)),
        say=text(400),
        doing=text(LONGEST_DOING),
        emoji=text(16),
        because=some_of(shown),
    )


def action_read(
    fields: Fields,
    targets: Targets,
    known: Sequence[Spot],
    things: Sequence[ThingHere],
    seen: Sequence[Person],
    offered: Collection[int],
    ear: Ear,
    names: tuple[str, ...],
) -> ActOutput:
    """The action. Raises Unusable for words that cannot be said, or none where something is to be said."""
    kind = fields.choice("kind", KINDS)
    target = fields.words("target", 200)
    rest = {
        "kind": kind,
        "doing": ear.text(fields.words("doing", LONGEST_DOING)),
        "emoji": fields.emoji("emoji"),
        "because": fields.ids("because", offered),
    }
    match kind:
        case "MOVE":
            rest["to_location_id"] = areas(targets, known).id(target) or target
        case "INTERACT":
            object_id, _, verb = (objects(targets, things).id(target) or _split(target)).rpartition(" ")
            rest |= {"object_id": object_id, "verb": verb}
        case "SAY":
            words = ear.line(fields.words("say", 2000), names)
            if not words:
                raise Unusable("'say' must not be empty when the kind is SAY", "empty")
            rest |= {"to_agent_id": hearers(targets, seen).id(target) or target, "utterance": words}
        case _:
            pass
    return ActOutput.model_validate(rest)


def _split(target: str) -> str:
    """`stove: USE`, not offered, as `stove USE`."""
    thing, _, verb = target.rpartition(":")
    return f"{thing.strip() or target} {verb.strip()}"


def action_written(
    value: ActOutput, targets: Targets, known: Sequence[Spot], things: Sequence[ThingHere], seen: Sequence[Person]
) -> dict[str, Any]:
    """As the tool's arguments."""
    match value.kind:
        case "MOVE":
            target = areas(targets, known).label(value.to_location_id)
        case "INTERACT":
            target = objects(targets, things).label(f"{value.object_id} {value.verb}")
        case "SAY":
            target = hearers(targets, seen).label(value.to_agent_id)
        case "IDLE":
            target = ""
    return {
        "kind": value.kind,
        "target": target,
        "say": value.utterance,
        "doing": value.doing,
        "emoji": value.emoji,
        "because": listed(value.because),
    }


def offered(given: ActInput) -> tuple[int, ...]:
    """Memory ids an action may cite."""
    return ids_of(given.recalled, items=(given.item,))


def _schema(given: ActInput) -> Schema:
    here = given.situation
    return action_schema(given, (here.place,), here.things, here.people, offered(given))


def _read(given: ActInput, fields: Fields, ear: Ear) -> ActOutput:
    here, who = given.situation, given.who
    names = (who.called, who.name)
    return action_read(fields, given, (here.place,), here.things, here.people, offered(given), ear, names)


def _written(given: ActInput, value: ActOutput) -> dict[str, Any]:
    here = given.situation
    return action_written(value, given, (here.place,), here.things, here.people)


ACT = Form(_schema, _read, _written)
