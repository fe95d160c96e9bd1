"""Latticeville in the names of its document, over the town of `commonplace`. Times are ticks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Literal

from commonplace.analysis.walks import walks
from commonplace.api import Minds
from commonplace.engine.live_state import seen_at
from commonplace.founding.agent_crossing import World
from commonplace.memory import Analyser, Memory, MemoryStream, ScoredMemory, policies
from commonplace.memory.importance import unscaled
from commonplace.memory.record import checked_importance, checked_kind
from commonplace.minds.mind import Mind
from commonplace.minds.tasks import ACT, ActOutput
from commonplace.minds.tasks.act import ActCall, InteractCall, MoveCall, SayCall
from commonplace.minds.tasks.wire import schema
from commonplace.run.rows import event_json
from commonplace.views.state_lines import belief_tree, state_lines, world_tree
from commonplace.world.actions import Interact, Move, Say, Targets, objection
from commonplace.world.events import ActionRejected, WeatherChanged
from commonplace.world.tree import Node as WorldNode

__all__ = [
    "ACT_SCHEMA",
    "ActOutput",
    "MemoryRecord",
    "Simulation",
    "Targets",
    "WorldNode",
    "normalized_importance",
    "retrieval_score",
    "retrieve",
    "validated",
]

ACT_SCHEMA = schema(ACT, tool=True)
"""The arguments of the tool `act`. In a scenario `minds: {act: {structured: tool}}` forces a model to call it."""
RecordType = Literal["observation", "plan", "reflection", "action"]
_START = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """An entry of the append-only memory stream.

    Raises UsageError for an unknown type and an importance that is not a number; one out of range is clamped.
    """

    description: str
    created_at: int
    """Tick."""
    last_accessed_at: int
    """Tick."""
    importance: float
    """1–10."""
    type: RecordType = "observation"
    links: tuple[int, ...] = ()
    """Ids of the records that support it."""
    id: int = 0
    """Its number in the stream; 0 outside one."""

    def __post_init__(self) -> None:
        checked_kind(self.type)
        object.__setattr__(self, "importance", checked_importance(self.importance))


def normalized_importance(importance: float) -> float:
    """Returns (importance − 1) / 9, 0–1."""
    return unscaled(importance)


def retrieval_score(
    memories: Iterable[MemoryRecord], query: str, now: int, *, decay: float = 0.995, tick_minutes: float = 5.0
) -> list[float]:
    """Returns recency + relevance + importance of each memory, in order, each min-max normalised over all of them.

    Recency is decay ** hours since the last access, relevance the BM25 score of the description, importance
    (i − 1) / 9. A part that is the same for all is 0. `now`: a tick of `tick_minutes`. Raises UsageError for a decay
    outside (0, 1].
    """
    records = list(memories)
    hits = _scored(records, query, now, len(records), decay, tick_minutes)
    by_id = {hit.memory.id: hit.score for hit in hits}
    return [by_id[id] for id in range(1, len(records) + 1)]


def retrieve(
    memories: Iterable[MemoryRecord],
    query: str,
    now: int,
    k: int = 10,
    *,
    max_tokens: int | None = None,
    decay: float = 0.995,
    tick_minutes: float = 5.0,
) -> list[MemoryRecord]:
    """Returns the `k` records that score highest, best first, as last accessed now. Arguments as of `retrieval_score`.

    `max_tokens`: only as many as fit into a context window of so many tokens.
    """
    records = list(memories)
    hits = _scored(records, query, now, k, decay, tick_minutes, max_tokens)
    return [replace(records[hit.memory.id - 1], last_accessed_at=now) for hit in hits]


class _Undated(Analyser):
    """A language in which no question names a date: a tick has none."""

    def date(self, day: date, text: str = "") -> tuple[str, ...]:
        """Returns no date."""
        del day, text
        return ()


def _scored(
    records: list[MemoryRecord], query: str, now: int, k: int, decay: float, minutes: float, most: int | None = None
) -> list[ScoredMemory]:
    if not records:
        return []

    def moment(tick: int) -> datetime:
        return _START + timedelta(minutes=minutes * tick)

    made = [
        Memory(
            id=id,
            agent="",
            kind=one.type,
            text=one.description,
            created_at=moment(one.created_at),
            accessed_at=moment(one.last_accessed_at),
            tick=one.created_at,
            importance=one.importance,
        )
        for id, one in enumerate(records, 1)
    ]
    policy = replace(policies.LEXICAL, decay=decay)
    stream = MemoryStream.restore("", made, [None] * len(made), policy=policy, analyser=_Undated())
    return stream.recall(query, at=moment(now), k=k, touch=False, max_tokens=most)


def validated(call: Mapping[str, Any], targets: Targets) -> ActOutput:
    """Returns the action that the arguments of `act` name if it is a valid target (ids, not labels); else IDLE."""
    try:
        wanted = ActCall.model_validate(dict(call))
    except ValueError:
        return ActOutput(kind="IDLE")
    match wanted.kind, wanted.move, wanted.interact, wanted.say:
        case "MOVE", MoveCall(to_location_id=area), _, _ if not objection(Move(to_location_id=area), targets):
            return ActOutput(kind="MOVE", to_location_id=area)
        case "INTERACT", _, InteractCall(object_id=thing, verb=verb), _ if not objection(
            Interact(object_id=thing, verb=verb), targets
        ):
            return ActOutput(kind="INTERACT", object_id=thing, verb=verb)
        case "SAY", _, _, SayCall(to_agent_id=other, utterance=words) if not objection(
            Say(to_agent_id=other, utterance=words), targets
        ):
            return ActOutput(kind="SAY", to_agent_id=other, utterance=words)
        case _:
            return ActOutput(kind="IDLE")


class Simulation(World):
    """The village, tick by tick, on BM25. Arguments as of `World`; a model is forced to call the tool `act`."""

    ASKED: ClassVar[Minds] = {"act": {"structured": "tool"}}

    def __init__(
        self,
        scenario: str | Path = "latticeville",
        *,
        seed: int = 7,
        mind: str | Mind = "",
        path: str | Path | None = None,
        policy: str = "lexical",
    ) -> None:
        super().__init__(scenario, seed=seed, mind=mind, path=path, policy=policy)

    def step(self, ticks: int = 1) -> list[dict[str, Any]]:
        """Lets ticks pass and returns what `happened` in the last of them."""
        self.advance(self.run.scenario.clock.time(self.run.tick + ticks))
        return self.happened()

    def happened(self, tick: int | None = None) -> list[dict[str, Any]]:
        """Returns the events of a tick, the last one if None: `{tick, time, type, agent_id, …}`.

        MOVE is one event for a whole walk, with `from_location` and `to_location`, when it has reached its goal. An
        invalid action is an IDLE with what was `proposed` and `why` it cannot be. WEATHER_CHANGED has `old` and `new`.
        The rest is as in `commonplace events`.
        """
        reading = self.run.reading
        at = reading.tick(tick)
        moved = {row["id"]: row for row in walks(reading, at, at)}
        found: list[dict[str, Any]] = []
        for event in reading.events(at, at):
            row: dict[str, Any] = {**event_json(event, reading.time(at))}
            if isinstance(event.body, WeatherChanged):
                row |= {"old": event.body.old, "new": event.body.to}
            if event.type != "MOVE":
                found.append(row | {"type": "IDLE"} if isinstance(event.body, ActionRejected) else row)
            elif event.id in moved:
                found.append(moved[event.id])
        return found

    def world(self, tick: int | None = None) -> dict[str, WorldNode]:
        """Returns the tree of areas, objects and agents by id as it was at the end of a tick."""
        reading = self.run.reading
        return world_tree(reading.scenario_at(tick).geography, reading.world_at(tick))

    def belief(self, agent_id: str, tick: int | None = None) -> dict[str, WorldNode]:
        """Returns the part of the tree that an agent knows, as it believes it to be."""
        reading = self.run.reading
        return belief_tree(reading.scenario_at(tick).geography, reading.state_at(agent_id, tick).belief)

    def memories(self, agent_id: str) -> list[MemoryRecord]:
        """Returns an agent's memory stream, oldest first."""
        clock = self.run.scenario.clock
        return [
            MemoryRecord(
                description=memory.text,
                created_at=clock.tick(memory.created_at),
                last_accessed_at=clock.tick(memory.accessed_at),
                importance=memory.importance,
                type=memory.kind,
                links=memory.citations,
                id=memory.id,
            )
            for memory in self.run.reading.stream_at(agent_id)
        ]

    def targets(self, agent_id: str) -> Targets:
        """Returns what an agent may do in the next tick: `areas`, `objects` with their verbs, `agents`."""
        return seen_at(self.run.reading, self.run.scenario, agent_id, self.run.tick).targets

    def state(self, tick: int | None = None) -> str:
        """Returns tree, plans and beliefs of a tick, as `commonplace watch --view state` shows them."""
        return "\n".join(state_lines(self.run.reading, self.run.reading.tick(tick)))
