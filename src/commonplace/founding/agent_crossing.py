"""Agent Crossing in the names of its document, over the town of `commonplace`: its turn, its stream and its run.

The plan items of a character (`AgentBrain.plan`) have the document's fields already: `PlannedAction` is their class.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from types import TracebackType
from typing import Any, ClassVar, Literal, Self, TypedDict, TypeVar, cast
from weakref import finalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from commonplace.analysis.diffusion import diffusion
from commonplace.analysis.network import network_density, spoken
from commonplace.api import Minds, create_run, resume_run
from commonplace.character.plan import Plan
from commonplace.character.plan import PlanItem as PlannedAction
from commonplace.clock import iso
from commonplace.cognition.turn import CHOSEN
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from commonplace.memory import Memory, MemoryStream, ReflectionTrigger, policies
from commonplace.memory.embedding import NOT_EMBEDDED, Embedder, Embeds
from commonplace.memory.importance import usable_rating
from commonplace.memory.record import KINDS, checked_count, checked_time, checked_vector
from commonplace.minds.mind import Mind
from commonplace.minds.tasks.wire import number
from commonplace.run.rows import event_json
from commonplace.text import clean
from commonplace.world.events import Phase

__all__ = [
    "AgentBrain",
    "AgentEvent",
    "MemoryObject",
    "MemoryRepository",
    "NodeType",
    "PlanUpdate",
    "PlannedAction",
    "ReflectionCheck",
    "Retrieved",
    "Step",
    "TickResult",
    "World",
    "network_density",
    "parse_importance",
    "retrieve",
]

INSIGHTS = 5
T = TypeVar("T")


class NodeType(StrEnum):
    """The type of a memory. A character's own action is an observation."""

    OBSERVATION = "OBSERVATION"
    REFLECTION = "REFLECTION"
    PLAN = "PLAN"

    @property
    def kind(self) -> str:
        """The name of the same type in `commonplace.memory`."""
        return self.value.lower()


_TYPES = {kind: NodeType(kind.upper() if kind != "action" else "OBSERVATION") for kind in KINDS}


def parse_importance(answer: object) -> int:
    """Reads a mind's rating as a whole number from 1 to 10; 3 for what cannot be read as a number."""
    found = number(answer) if isinstance(answer, str) else answer
    return round(usable_rating(found))


@dataclass(slots=True, eq=False)
class MemoryObject:
    """One memory. Raises UsageError for an observation with citations.

    `importance` is clamped to 1–10, and 3 where it is not a number. `embedding` may be empty: such a memory has no
    relevance to any question. Raises UsageError for an unknown type, too, and for an embedding that is not numbers.
    """

    id: int
    node_type: NodeType
    citations: list[int] | None
    description: str
    creation_timestamp: datetime
    last_accessed: datetime
    importance: int
    embedding: NDArray[np.float32] = field(repr=False)
    location_path: str = ""
    """`Town > House > Kitchen > Stove`."""

    def __post_init__(self) -> None:
        if self.node_type not in [*NodeType]:
            raise UsageError(
                f"node_type {self.node_type!r:.60} is unknown", hint=f"the types are {', '.join(NodeType)}"
            )
        self.node_type = NodeType(self.node_type)
        vector = checked_vector(self.embedding)
        self.embedding = np.empty(0, np.float32) if vector is None else vector
        self.importance = parse_importance(self.importance)
        self.citations = list(self.citations) if self.citations else None
        if self.citations and self.node_type is NodeType.OBSERVATION:
            raise UsageError(
                f"the OBSERVATION {self.id} has citations {self.citations}",
                hint="only a REFLECTION or a PLAN rests on other memories; give None",
            )

    @classmethod
    def of(cls, memory: Memory, stream: MemoryStream) -> Self:
        """Returns a memory of a stream."""
        vector = stream.vector(memory.id)
        return cls(
            id=memory.id,
            node_type=_TYPES[memory.kind],
            citations=[*memory.citations],
            description=memory.text,
            creation_timestamp=memory.created_at,
            last_accessed=memory.accessed_at,
            importance=round(memory.importance),
            embedding=np.empty(0, np.float32) if vector is None else vector,
            location_path=" > ".join(memory.place),
        )


class Retrieved(list[MemoryObject]):
    """The memories found, best first. `fallback`: nothing could compete, and these are the most recent ones."""

    fallback = False


def retrieve(
    memories: Iterable[MemoryObject],
    query_embedding: ArrayLike,
    current_time: datetime,
    top_k: int,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    gamma: float = 1.0,
    among: Callable[[MemoryObject], bool] | None = None,
) -> Retrieved:
    """Returns the `top_k` memories with the best alpha · recency + beta · importance + gamma · relevance, best first.

    recency = 0.995 ** hours since the last access, relevance = cosine; each part is min-max normalised over the
    candidates, and is 0.5 where all are equal. A memory whose embedding has another size than the question's has a
    relevance of 0. Of equal scores the newest comes first. Those returned are last accessed at `current_time`. `among`:
    which memories compete; where none does, the most recent are the answer. Those of a later time than `current_time`
    never do. Raises UsageError for `top_k` below 1.
    """
    question, now = _vector(query_embedding), checked_time(current_time)
    known = [one for one in memories if checked_time(one.creation_timestamp) <= now]
    competing = known if among is None else [one for one in known if among(one)]
    chosen, query = (competing, question) if competing else (known, None)
    weighted = replace(policies.PARK, recency_weight=alpha, importance_weight=beta, relevance_weight=gamma)
    stream = MemoryStream.restore(
        "",
        [_record(one, id) for id, one in enumerate(chosen, 1)],
        [vector if len(vector := _vector(one.embedding)) == len(question) else None for one in chosen],
        policy=weighted,
        embedder=_sized(len(question)),
    )
    hits = stream.retrieve("", at=now, k=checked_count("top_k", top_k, 1), embedding=query)
    found = Retrieved(chosen[memory.id - 1] for memory in hits.found)
    found.fallback = bool(known) and not competing
    for one in found:
        one.last_accessed = current_time
    return found


def _record(one: MemoryObject, id: int) -> Memory:
    """Returns the memory as a row of a stream that only compares vectors."""
    return Memory(
        id=id,
        agent="",
        kind="observation",
        text=one.description,
        created_at=checked_time(one.creation_timestamp),
        accessed_at=checked_time(one.last_accessed),
        tick=0,
        importance=one.importance,
    )


def _vector(given: ArrayLike) -> NDArray[np.float32]:
    """Returns finite numbers in a row; empty for anything else."""
    vector = checked_vector(given)
    return vector if vector is not None and vector.ndim == 1 and np.isfinite(vector).all() else NOT_EMBEDDED


def _sized(dimensions: int) -> Embeds:
    """Returns an embedder that only says how many numbers a vector has."""
    return lambda texts: [np.ones(max(1, dimensions), np.float32)] * len(texts)


class MemoryRepository:
    """A character's memories where they last: `postgresql://…` with pgvector, or any store of `docs/stores.md`.

    Use it in a `with` statement, or close it. `embedder` as of `MemoryStream`; a memory's own vector is kept as it is.
    """

    def __init__(self, where: str | Path, agent_id: str, *, embedder: Embedder | None = None) -> None:
        self.stream = MemoryStream.open(where, agent_id, policies.PARK, embedder=embedder)

    def add(self, memory: MemoryObject) -> MemoryObject:
        """Stores a memory and returns it with its own id. An empty embedding is computed here."""
        stored = self.stream.remember(
            memory.description,
            at=memory.creation_timestamp,
            importance=memory.importance,
            kind=memory.node_type.kind,
            citations=memory.citations or (),
            place=[part for part in memory.location_path.split(" > ") if part],
            embedding=memory.embedding if len(memory.embedding) else None,
        )
        return MemoryObject.of(stored, self.stream)

    def all(self) -> list[MemoryObject]:
        """Returns all memories, oldest first."""
        return [MemoryObject.of(memory, self.stream) for memory in self.stream]

    def retrieve(self, query_embedding: ArrayLike, current_time: datetime, top_k: int) -> Retrieved:
        """Retrieves as `retrieve` does. Accesses are stored with the next change, or when the repository is closed."""
        hits = self.stream.retrieve("", at=current_time, k=top_k, embedding=_vector(query_embedding))
        return Retrieved(MemoryObject.of(self.stream.get(memory.id), self.stream) for memory in hits.found)

    def close(self) -> None:
        """Writes what is left, and closes the store."""
        self.stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class AgentEvent(TypedDict):
    """A character in a WebSocket message."""

    agent_id: str
    position: str
    current_action: str
    current_plan_item: str
    dialogue: str
    emoji: str
    timestamp: str


StepName = Literal["perceive", "store", "retrieve", "plan", "act", "reflect"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a tick, and what it did in a sentence."""

    name: StepName
    text: str


@dataclass(frozen=True, slots=True)
class PlanUpdate:
    """A change of the plan."""

    item: PlannedAction | None
    """The action of 5–15 minutes for now; None before the first plan."""
    updated: bool
    """Whether the plan from now on is another one than before."""
    decision: str
    """`keep`, or the reaction: `talk`, `go`, `help`, `avoid`, `wait`."""
    reason: str


@dataclass(frozen=True, slots=True)
class ReflectionCheck:
    """A check whether there is enough to reflect on, and the insights of a reflection that ended in this tick."""

    accumulated: float
    """Importance of what has happened since the last reflection."""
    threshold: float
    due: bool
    questions: tuple[str, ...] = ()
    insights: tuple[MemoryObject, ...] = ()
    flag: str = ""
    """Why there are fewer than five insights; empty where there are five, or no reflection ended."""


@dataclass(frozen=True, slots=True)
class TickResult:
    """A character's tick, step by step."""

    agent_id: str
    now: datetime
    perceived: tuple[str, ...]
    """Observations in words, own deeds among them; also those that are not remembered again so soon."""
    stored: tuple[MemoryObject, ...]
    retrieved: Retrieved
    """All that was retrieved for decisions of this tick; empty for a sleeper."""
    plan: PlanUpdate
    action: Mapping[str, Any]
    """The action as an event: `type` is IDLE, MOVE, INTERACT, SAY, or ACTION_REJECTED for one that cannot be done."""
    reflection: ReflectionCheck
    event: AgentEvent

    @property
    def steps(self) -> tuple[Step, ...]:
        """The six steps in their order."""
        item, check = self.plan.item, self.reflection
        doing = item.action_description if item else "no plan yet"
        made = f"; {len(check.insights)} insights" if check.insights else ""
        return (
            Step("perceive", "; ".join(self.perceived) or "nothing new"),
            Step("store", ", ".join(f"{one.id} ({one.importance})" for one in self.stored) or "nothing"),
            Step("retrieve", ", ".join(str(one.id) for one in self.retrieved) or "nothing"),
            Step("plan", f"{self.plan.decision}: {doing}{', changed' if self.plan.updated else ''}"),
            Step("act", f"{self.action['type']} {self.event['current_action']}"),
            Step("reflect", f"{check.accumulated:g} of {check.threshold:g}{made}"),
        )


class World:
    """The world clock and scheduler: a scenario's characters and the world they share, tick by tick.

    `scenario`: one that ships, or a file. `path`: the run file to make, or to continue where it exists; a temporary one
    if left out. `mind`, `policy`: as of `create_run`. In every tick memories are retrieved and the mind is asked for
    the action (fidelity `full`). Use it in a `with` statement, or close it. Calls wait for the mind.
    """

    ASKED: ClassVar[Minds] = {}
    """Task or group → how a named mind is asked, as of `create_run`."""

    def __init__(
        self,
        scenario: str | Path = "plaza",
        *,
        seed: int = 7,
        mind: str | Mind = "",
        path: str | Path | None = None,
        policy: str = "",
    ) -> None:
        minds = {**self.ASKED, **({"default": mind} if mind else {})} if isinstance(mind, str) else mind
        folder = "" if path else mkdtemp(prefix="agent-crossing-")
        where = Path(path) if path else Path(folder) / "world.run"
        self.run = (
            resume_run(where, mind)
            if where.exists()
            else create_run(where, scenario, seed=seed, mind=minds, fidelity="full", policy=policy)
        )
        self.close = finalize(self, _close, self.run, folder)
        """Closes the run; a temporary file is gone."""

    @property
    def brains(self) -> dict[str, AgentBrain]:
        """The brains by character, including those who came later."""
        return {agent: AgentBrain(agent, self) for agent in self.run.scenario.personas}

    @property
    def now(self) -> datetime:
        """The moment of the last tick."""
        return self.run.scenario.clock.time(self.run.tick)

    def tick(self, now: datetime | None = None) -> dict[str, TickResult]:
        """Returns what each present character did in the tick at a moment. Arguments as of `AgentBrain.tick`."""
        self.advance(now)
        acted = {event.agent_id for event in self.run.reading.events(self.run.tick) if event.phase is Phase.ACTION}
        acted.intersection_update(self.run.reading.frame().agents)
        return {agent: brain.tick(self.now) for agent, brain in self.brains.items() if agent in acted}

    def advance(self, now: datetime | None = None) -> None:
        """Lets time pass up to a moment; None is one tick. Raises UsageError for a moment that is over."""
        clock, last = self.run.scenario.clock, self.run.tick
        target = last + 1 if now is None else clock.tick(checked_time(now))
        if target < last:
            raise UsageError(f"{iso(cast(datetime, now))} is over", hint=f"it is {iso(self.now)}")
        if target > last:
            _waited(self._play(target))

    async def _play(self, until: int) -> None:
        async for _ in self.run.play(until=until):
            pass

    def inject(self, text: str) -> str:
        """Makes a sentence happen (god mode). Those it reaches perceive it in the tick after the next one.

        Returns what it will do.
        """
        body = _waited(self.run.preview(text))
        self.run.submit(body)
        return self.run.described(body)

    def events(self) -> list[AgentEvent]:
        """Returns the WebSocket messages about everybody at the last tick."""
        frame = self.run.reading.frame()
        return [
            {
                "agent_id": one.agent_id,
                "position": one.position,
                "current_action": clean(one.doing),
                "current_plan_item": clean(one.plan_item),
                "dialogue": clean(one.dialogue),
                "emoji": clean(one.emoji),
                "timestamp": iso(frame.time),
            }
            for one in frame.agents.values()
        ]

    def diffusion(self) -> dict[str, float]:
        """Maps each seed fact to the share of the characters who know it, 0–1."""
        return {row["fact"]: row["share"] for row in diffusion(self.run.reading)}

    def density(self) -> float:
        """Returns η of those who have spoken with each other."""
        return network_density(self.run.scenario.personas, spoken(self.run.reading, self.run.tick))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _waited(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end and returns its result, also where an event loop runs, as in a notebook."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def _close(run: Run, folder: str) -> None:
    run.close()
    if folder:
        rmtree(folder, ignore_errors=True)


class AgentBrain:
    """The loop of one character. `world`: the one it lives in, or the scenario of a new one."""

    def __init__(self, agent_id: str, world: World | str | Path = "plaza") -> None:
        """Raises UsageError for a character that the world does not have."""
        self.agent_id = agent_id
        self.world = world if isinstance(world, World) else World(world)
        if agent_id not in (personas := self.world.run.scenario.personas):
            raise UsageError(f"there is no character {agent_id!r}", hint=f"there are {', '.join(personas)}")

    def tick(self, now: datetime | None = None) -> TickResult:
        """Perceives, stores, retrieves, plans, acts, and checks whether to reflect. Returns what each step did.

        `now`: the moment, up to which the world's time passes for everybody; None for the next tick of the world. All
        characters act on the same moment, so that the order in which they are asked for it changes nothing. Raises
        UsageError for a moment that is over.
        """
        self.world.advance(now)
        return self._result()

    def _result(self) -> TickResult:
        reading, tick, agent = self.world.run.reading, self.world.run.tick, self.agent_id
        stream, trace = reading.stream_at(agent), reading.trace(agent, tick)
        first = reading.event(tick, agent, 0)
        told = next((one for one in self.world.events() if one["agent_id"] == agent), None)
        if first is None or first.phase is not Phase.ACTION or told is None:
            raise UsageError(f"{agent} did nothing at tick {tick}", hint="let the world tick while it is there")
        reasons = self.world.run.why(first.id)
        texts = [stream.get(memory).text for _, memory in trace.get("percepts", ())]
        stored = [MemoryObject.of(stream.get(memory), stream) for memory, _ in trace.get("stored", ())]
        found = Retrieved(
            MemoryObject.of(stream.get(memory), stream)
            for memory in dict.fromkeys(hit[0] for one in trace.get("retrievals", ()) for hit in one["hits"])
            if memory in stream
        )
        scored = [one for one in trace.get("retrievals", ()) if one["hits"] and one["policy"] != CHOSEN]
        found.fallback = any(not one["parts"] for one in scored)
        return TickResult(
            agent_id=agent,
            now=self.world.now,
            perceived=(*texts, *(entry[0] for entry in trace.get("dropped", ()))),
            stored=tuple(stored),
            retrieved=found,
            plan=self._plan_update(reasons["reaction"] or {}),
            action=event_json(first, self.world.now),
            reflection=self._check(stream, stored, reasons["asked"]),
            event=told,
        )

    def _plan_update(self, reaction: Mapping[str, Any]) -> PlanUpdate:
        reading, tick = self.world.run.reading, self.world.run.tick
        changed = reading.events(tick, tick, type="PLAN_CHANGED", agent=self.agent_id)
        item = self.plan.current(self.world.now)
        return PlanUpdate(item, bool(changed), reaction.get("decision", "keep"), reaction.get("reason", ""))

    def _check(
        self, stream: MemoryStream, stored: Sequence[MemoryObject], asked: Sequence[Mapping[str, Any]]
    ) -> ReflectionCheck:
        settings = self.world.run.scenario.cognition.reflection
        trigger = ReflectionTrigger(settings.threshold, settings.strict)
        accumulated = stream.importance_since_reflection()
        ended = [one for one in asked if one["task"] in ("questions", "insights")]
        answers = [cast("Mapping[str, Sequence[str]]", one["answer"] or {}) for one in ended]
        questions = [text for answer in answers for text in answer.get("questions", ())]
        insights = [one for one in stored if one.node_type is NodeType.REFLECTION]
        few = f"{len(insights)} of {INSIGHTS} insights: the evidence allowed no more"
        flag = few if ended and len(insights) < INSIGHTS else ""
        due = trigger.reached(accumulated)
        return ReflectionCheck(accumulated, settings.threshold, due, tuple(questions), tuple(insights), flag)

    @property
    def memories(self) -> list[MemoryObject]:
        """All memories of the character, oldest first; a copy."""
        stream = self.world.run.reading.stream_at(self.agent_id)
        return [MemoryObject.of(memory, stream) for memory in stream]

    @property
    def plan(self) -> Plan:
        """The plan of the day: `level("day")` are its 5–8 strokes, `"hour"` and `"action"` what is opened so far."""
        return self.world.run.reading.state_at(self.agent_id).plan

    def inject(self, text: str) -> str:
        """Gives this character alone a thought that it believes to be its own (god mode). Returns what it will do.

        `World.inject` lets something happen that others perceive, too.
        """
        self.world.run.submit({"kind": "inner_voice", "agent_id": self.agent_id, "text": text})
        return f"{self.agent_id} will think “{text}”"

    def __iter__(self) -> Iterator[TickResult]:
        """Yields tick after tick, without end."""
        while True:
            yield self.tick()
