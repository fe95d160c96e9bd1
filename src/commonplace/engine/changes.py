"""What inputs change besides the world: a character's card, relations and beliefs, the seed and policy of the run, and
who there is.

A change is history: it takes effect at the end of its tick and is stored as versions of the state, and a newcomer's
starting memories as memories. What a body shows (place, doing, emoji, asleep) belongs to the world: `world.inputs`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Annotated, Any, cast

from pydantic import TypeAdapter, ValidationError

from commonplace.character.state import AREA, CharacterState, KnownNode, Relation
from commonplace.engine.beginnings import arrival
from commonplace.errors import UsageError
from commonplace.memory import Delta, policies
from commonplace.run.rows import InputRow
from commonplace.scenario.circumstances import refuse_unknown
from commonplace.scenario.compiling import character_json, newcomer, with_character
from commonplace.scenario.model import CharacterPart, Part, RelationPart, StepPart
from commonplace.scenario.scenario import Scenario
from commonplace.text import clean
from commonplace.world.events import NOBODY, Adjusted, Event, Forgot, Joined, of_kind
from commonplace.world.inputs import BODY_FIELDS, Attempt, GodEvent, Input, Join, from_dict, validate

CARD = ("age", "pronoun", "work", "traits", "background", "goals", "home")
"""Fields of a persona. A name is not among them: it is written in everybody's memories."""
RELATION = ("warmth", "label", "summary")
BELIEF = ("place", "state")
SETTINGS = ("seed", "policy")
"""Fields of the run, which the character `-` stands for."""
FIELDS = (
    *BODY_FIELDS,
    *CARD,
    *(f"relation.OTHER.{name}" for name in RELATION),
    *(f"belief.THING.{name}" for name in BELIEF),
)
"""What can be set of a character, as a person names it."""
SEPARATOR = ";"
"""Between the entries of a list that is given as text."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What the inputs of a tick leave behind."""

    states: Mapping[str, CharacterState] = field(default_factory=dict[str, CharacterState])
    """The new states, by character; those that stay are left out."""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """New settings of the run."""
    newcomers: Mapping[str, Delta] = field(default_factory=dict[str, Delta])
    """The starting memories of those who are new, by character; empty for somebody without."""
    cards: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The cards of those whose state is new."""


NO_CHANGES = Changes()


def changes_of(
    tick: int,
    inputs: Iterable[Input],
    events: Sequence[Event],
    states: Mapping[str, CharacterState],
    scenario: Scenario,
    newcomers: Container[str] | None = None,
) -> Changes:
    """Returns what the inputs of a tick do to the states at its end, as far as its events say that they took effect.

    `newcomers`: those who are to be added to the states, where these are only a part of all; None for everybody new.
    Raises UsageError for an unknown field, and for a newcomer who cannot come.
    """
    changed: dict[str, CharacterState] = {}
    settings: dict[str, Any] = {}
    came: dict[str, Delta] = {}
    joined = {event.agent_id for event, _ in of_kind(events, Joined)}
    for item in inputs:  # in their order: the second newcomer may know the first
        if isinstance(item, Join) and item.character and item.agent_id in joined:
            new, scenario = arrival(item.character, scenario, tick)
            if newcomers is None or item.agent_id in newcomers:
                changed[item.agent_id], came[item.agent_id] = new.state, new.memories
    for event in events:
        me = event.agent_id
        match event.body:
            case Forgot(memory_ids=ids) if me in states:
                state, forgotten = changed.get(me) or states[me], frozenset(ids)
                account, goals = state.account.without(forgotten), state.goals.without(forgotten)
                if account is not state.account or goals is not state.goals:
                    changed[me] = replace(state, account=account, goals=goals)
            case Adjusted(field=name, value=value) if me == NOBODY:
                settings[name] = value
            case Adjusted(field=name, value=value) if name not in BODY_FIELDS and (me in changed or me in states):
                changed[me] = _state_with(changed.get(me) or states[me], name, value, scenario, event.tick)
            case _:
                pass
    cards = {agent: state.card for agent, state in changed.items()}
    return Changes(changed, settings, came, cards) if changed or settings else NO_CHANGES


def _state_with(state: CharacterState, name: str, value: Any, scenario: Scenario, tick: int) -> CharacterState:
    what, *rest = name.split(".")
    match what, rest:
        case "relation", [other, part] if part in RELATION:
            relation = state.relations.get(other) or Relation(other, known_since=tick)
            relations = {**state.relations, other: replace(relation, **{part: value})}
            return replace(state, relations=dict(sorted(relations.items())))
        case "belief", [node, part] if part in BELIEF:
            found = scenario.geography.nodes[node]
            unseen = KnownNode(found.parent_id, AREA if found.type == "area" else found.state, 0)
            known = state.belief.nodes.get(node) or unseen
            fresh = replace(known, **{"parent" if part == "place" else "state": value}, seen=tick)
            return replace(state, belief=state.belief.updated({node: fresh}))
        case _, [] if what in CARD:
            state = replace(state, card=dict(sorted({**state.card, what: value}.items())))
            if what != "home" or state.belief.knows(str(value)):
                return state
            home = KnownNode(scenario.geography.nodes[str(value)].parent_id, AREA, tick)  # also when it is private
            return replace(state, belief=state.belief.updated({str(value): home}))
        case _:
            raise UsageError(f"a character has no field {name!r}", hint=_fields(name))


# ── checking ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def queueable(body: Mapping[str, Any], scenario: Scenario) -> tuple[Input, Scenario]:
    """Returns an input as it is queued, and the scenario for those queued after it, in which a newcomer is known.

    Raises UsageError for an unknown kind, field, name or value, and for a newcomer with mistakes.
    """
    if body.get("kind") == "set":
        body = checked(body, scenario)
    elif body.get("kind") == "join":
        body, scenario = _joining(body, scenario)
    item = from_dict({"seq": 0, **body})
    validate(item, scenario.geography, scenario.personas)
    if isinstance(item, GodEvent | Attempt):
        for one in item.raises:
            refuse_unknown(scenario, one.key, one.by)
        for key in item.ends:
            refuse_unknown(scenario, key)
    return item, scenario


def _joining(body: Mapping[str, Any], scenario: Scenario) -> tuple[Mapping[str, Any], Scenario]:
    """Returns a `join` input with the id of its newcomer, and at home if it names no area; and the scenario after
    it."""
    given: object = body.get("character")
    if not given:
        home = scenario.personas[str(body["agent_id"])].home if body.get("agent_id") in scenario.personas else ""
        return {"area": home, **body}, scenario
    if not isinstance(given, Mapping):
        raise UsageError(f"the character of a join cannot be {given!r}", hint="expected a mapping with its keys")
    character = newcomer(cast("Mapping[str, Any]", given), scenario)
    if body.get("agent_id", character.id) != character.id:
        what = f"the id of the character that joins is {character.id!r}, not {body['agent_id']!r}"
        raise UsageError(what, hint="leave agent_id out")
    start = {"agent_id": character.id, "area": character.starts_at or character.home}
    return {**start, **body, "character": character_json(character)}, with_character(scenario, character)


def with_queued(scenario: Scenario, queued: Iterable[InputRow]) -> Scenario:
    """Returns the scenario with those newcomers who wait for a tick."""
    for row in queued:
        if row.body.get("character"):
            _, scenario = queueable(row.body, scenario)
    return scenario


def checked(body: Mapping[str, Any], scenario: Scenario) -> dict[str, Any]:
    """Returns a `set` input with its names resolved and its value of the field's type, which may be given as text.

    Raises UsageError for an unknown character, field or name, with the nearest, and for a value that does not fit.
    """
    me, name, given = str(body.get("agent_id", "")), str(body.get("field", "")), body.get("value")
    if me != NOBODY:
        _one_of("character", me, {id: one.name for id, one in scenario.personas.items()})
    value = _setting(name, given, scenario) if me == NOBODY else _of_character(name, given, scenario)
    return {"kind": "set", "agent_id": me, "field": name, "value": value}


def _setting(name: str, given: Any, scenario: Scenario) -> Any:
    if name == "policy":
        if given not in scenario.part.policies:
            policies.by_name(str(given))
        return given
    if name == "seed":
        return _fitting(name, int, given)
    raise UsageError(f"a run has no setting {name!r}", hint=f"settings are {', '.join(SETTINGS)}")


def _of_character(name: str, given: Any, scenario: Scenario) -> Any:
    nodes = scenario.geography.nodes
    what, *rest = name.split(".")
    match what, rest:
        case (("place" | "home"), []):
            return _area(given, scenario)
        case "asleep", []:
            return _fitting(name, bool, given)
        case (("doing" | "emoji"), []):
            return _fitting(name, _type(StepPart, "do" if what == "doing" else what), given)
        case _, [] if what in CARD:
            return _fitting(name, tuple[str, ...] if what == "goals" else _type(CharacterPart, what), given)
        case "relation", [other, part] if part in RELATION:
            _one_of("character", other, {id: one.name for id, one in scenario.personas.items()})
            return _fitting(name, _type(RelationPart, part), given)
        case "belief", [node, part] if part in BELIEF:
            _one_of("object or area", node, {id: one.name for id, one in nodes.items() if one.type != "agent"})
            return _area(given, scenario) if part == "place" else _state(node, str(given), scenario)
        case _:
            raise UsageError(f"a character has no field {name!r}", hint=_fields(name))


def _area(given: Any, scenario: Scenario) -> str:
    return _one_of("area", str(given), {id: scenario.geography.name(id) for id in scenario.geography.destinations})


def _state(node: str, given: str, scenario: Scenario) -> str:
    """Returns a state that the object can have; areas have only one."""
    found = scenario.geography.nodes[node]
    states = (AREA,) if found.type == "area" else scenario.geography.kinds[found.kind].states
    return _one_of(f"state of {node}", given, {state: state for state in states})


def _type(part: type[Part], name: str) -> Any:
    """Returns the type of a scenario's key, with its limits: a mind's questions have no room for more."""
    info = part.model_fields[name]
    return Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation


def _fitting(name: str, type_: Any, given: Any) -> Any:
    """Converts the value as its type wants it. Lists given as text have their entries between semicolons."""
    adapter = TypeAdapter[Any](type_)
    if isinstance(given, str) and adapter.json_schema().get("type") == "array":
        given = [entry.strip() for entry in given.split(SEPARATOR) if entry.strip()]
    try:
        value = adapter.validate_python(clean(given) if isinstance(given, str) else given)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise UsageError(f"{name} cannot be {given!r}", hint=why[:1].lower() + why[1:]) from None
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _one_of(what: str, given: str, names: Mapping[str, str]) -> str:
    """Returns the id that is given, or whose name is. Raises UsageError with the nearest."""
    if given in names:
        return given
    found = [id for id, name in names.items() if given.casefold() in (id.casefold(), name.casefold())]
    if len(found) == 1:
        return found[0]
    near = get_close_matches(given, sorted(names), n=1, cutoff=0)
    raise UsageError(f"there is no {what} {given!r}", hint=f"the nearest is {near[0]!r}" if near else "")


def _fields(name: str) -> str:
    near = get_close_matches(name, FIELDS, n=1)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"{guess}fields are {', '.join(FIELDS)}"
