"""The sitcom simulator in the names of its document, over `commonplace.parts.duet` and `commonplace.memory`.

An `Agent` takes one turn of the stage `duet` at a time, without a run: whoever calls it keeps the dialogue. Ids look
like `uuid4` and are hashes, so that the same dialogue has the same ids. Above 600 lines, because it is one document:
its fields and rules, its stream, its agent.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Self, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from commonplace import memory as core
from commonplace.api import mind_named
from commonplace.character.state import CharacterState
from commonplace.clock import Clock, iso, parse_iso, utc
from commonplace.cognition.turn import Turn, hits
from commonplace.engine.driver import Drive, Driver, NoJournal
from commonplace.engine.live_state import LiveState
from commonplace.errors import UsageError
from commonplace.languages import phrases
from commonplace.memory import policies
from commonplace.memory.importance import RuleRater
from commonplace.minds.mind import Mind
from commonplace.minds.question_rules import spoken_in
from commonplace.parts.duet.sitcom.casting import TRAITS, short_name
from commonplace.parts.duet.stage import converse_about
from commonplace.parts.model_servers.prompt_mind import PromptMind
from commonplace.parts.model_servers.request import as_text
from commonplace.parts.stores.chroma import ChromaStore, collection_name
from commonplace.rng import Seeds
from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.scenario import Scenario
from commonplace.text import clean
from commonplace.world.actions import Say
from commonplace.world.events import Event, Phase, Spoke
from commonplace.world.state import Conversation, Line, World

__all__ = [
    "Agent",
    "AgentProfile",
    "AgentState",
    "Memory",
    "MemoryStream",
    "ScoredMemory",
    "StoreEvent",
    "TurnRecord",
    "collection_name",
    "final_score",
    "importance_rule_score",
    "recency_score",
]

MemoryType = Literal["observation", "reflection", "plan"]
TAU = 24.0
"""Hours after which recency is 1/e."""
SOURCES = {"action": "agent_said", "observation": "other_said", "reflection": "agent_reflection", "plan": "agent_plan"}
"""Kind of a memory that a turn adds → its `source`."""
TOKENS = ("prompt_tokens", "answer_tokens")
ROOM = "room"
log = logging.getLogger(__name__)


# ── §5: what there is ────────────────────────────────────────────────────────────────────────────────────────────────


class Memory(BaseModel):
    """One memory. Raises ValidationError, a ValueError, for a content or an importance out of range."""

    model_config = ConfigDict(frozen=True)

    id: str = ""
    """In the form of a uuid4; a hash of the other fields unless it is given."""
    content: str = Field(min_length=1, max_length=core.MAX_TEXT)
    """1–2,000 characters."""
    memory_type: MemoryType = "observation"
    created_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    """UTC; a moment without a zone is taken as UTC."""
    importance: int = Field(3, ge=1, le=10)
    """1 (mundane) … 10."""
    source: str | None = None
    """Where it comes from, such as `agent_said` or `agent_reflection`."""
    tags: list[str] = Field(default_factory=list[str])
    """The first one is what it is about."""
    embedding: list[float] | None = None
    """None: made by the stream."""

    @field_validator("created_at")
    @classmethod
    def _in_utc(cls, moment: datetime) -> datetime:
        return utc(moment)

    @model_validator(mode="after")
    def _with_id(self) -> Self:
        if not self.id:
            made_of = (self.content, self.memory_type, iso(self.created_at), self.source or "")
            object.__setattr__(self, "id", _id(*made_of))
        return self


class AgentProfile(BaseModel):
    """Who an agent is. `traits` of 20 characters or more and a `goal` of one sentence work best."""

    name: str = Field(min_length=1, max_length=80)
    traits: str = Field(min_length=1)
    goal: str = ""


class AgentState(BaseModel):
    """The place of an agent in the dialogue; `run_step` keeps it up to date."""

    turn_index: int = Field(0, ge=0)
    """Turns it has taken."""
    current_context: str = ""
    last_plan: str | None = None
    last_utterance: str | None = None
    mood_hint: str | None = None


class ScoredMemory(BaseModel):
    """A retrieved memory with its scores, 0–1 each, or below 0 for a similarity; see `final_score`."""

    memory: Memory
    similarity: float
    recency_score: float
    importance_score: float
    final_score: float


class StoreEvent(BaseModel):
    """A decision whether something became a memory, with its reason."""

    memory_type: MemoryType
    content: str
    importance: int
    stored: bool
    reason: str


class TurnRecord(BaseModel):
    """One turn, with everything that explains it. `model_dump(mode="json")` gives it as JSON."""

    turn_id: str
    speaker: str
    listener: str
    context_in: str
    retrieved: list[ScoredMemory]
    """Best first."""
    reflection: str | None
    """None on a turn without one."""
    plan: str
    utterance: str
    store_events: list[StoreEvent]
    timestamps: dict[str, Any]
    """`at`: moment of the turn, ISO 8601; `seconds` it took."""
    speech_act: str = ""
    """What the line does, such as `tell`, and its topic, for the answer to it; empty where the mind did not say so."""
    topic: str = ""
    problems: list[str] = Field(default_factory=list[str])
    """Questions without a usable answer; the task's fallback took its place."""


def _id(*parts: object) -> str:
    """Returns a hash in the form of a uuid4."""
    hashed = blake2b("\0".join(map(str, parts)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return str(UUID(bytes=hashed, version=4))


# ── §6: scores ───────────────────────────────────────────────────────────────────────────────────────────────────────


def importance_rule_score(text: str, goal: str = "", names: Sequence[str] = ()) -> int:
    """Rates 1–10 by rules: base 3, eventful words +2, feelings +1, a word of the goal +2, a name or a relation +1."""
    return RuleRater(goal=goal, names=names)(text)


def recency_score(age_hours: float, tau: float = TAU) -> float:
    """Returns exp(−age/τ), 0–1; 1 for the future. `age_hours`, `tau`: hours. Raises UsageError unless τ > 0."""
    return _decay(tau) ** max(0.0, age_hours)


def final_score(
    similarity: float,
    recency: float,
    importance: float,
    *,
    w_sim: float = 0.5,
    w_rec: float = 0.25,
    w_imp: float = 0.25,
) -> float:
    """Returns w_sim · similarity + w_rec · recency + w_imp · importance: a cosine, 0–1, and (i − 1) / 9."""
    return w_sim * similarity + w_rec * recency + w_imp * importance


def _decay(tau: float) -> float:
    if not tau > 0:
        raise UsageError(f"tau {tau!r} is not a number of hours above 0", hint="give hours, such as 24")
    return math.exp(-1 / tau)


# ── §6: the memory stream ────────────────────────────────────────────────────────────────────────────────────────────


class MemoryStream:
    """One agent's memories: in RAM or, with a `folder`, in a Chroma collection `memories_agent_{name}`.

    Where the folder cannot be used, or Chroma fails later, the stream goes on in RAM, and `notices` says why.
    """

    def __init__(
        self,
        name: str,
        folder: str | Path | None = None,
        *,
        k: int = 5,
        top_n: int = 20,
        w_sim: float = 0.5,
        w_rec: float = 0.25,
        w_imp: float = 0.25,
        tau: float = TAU,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """`top_n` nearest by cosine compete, `k` are returned; `tau` in hours; `clock`: the real one by default."""
        self.name, self.k = name, k
        self.clock = clock or partial(datetime.now, UTC)
        self.notices: list[str] = []
        self.policy = replace(
            policies.TWO_STAGE,
            nearest=top_n,
            relevance_weight=w_sim,
            recency_weight=w_rec,
            importance_weight=w_imp,
            decay=_decay(tau),
        )
        self._folder = Path(folder).resolve() if folder is not None else None
        self.stream = self._opened()

    def _opened(self) -> core.MemoryStream:
        if self._folder is None:
            return core.MemoryStream(self.name, self.policy)
        try:
            return core.MemoryStream.open(_store(self._folder), self.name, self.policy)
        except Exception as error:  # of Chroma's, which has no family of errors
            self._go_on_in_ram(error)
            return core.MemoryStream(self.name, self.policy)

    def _go_on_in_ram(self, error: Exception) -> None:
        log.error("chroma: %s", error)
        self.notices.append(f"Chroma: {error}")
        self.close()

    def add(self, memory: Memory | str) -> Memory:
        """Adds a memory; a text is an observation of now, rated by rule. An existing memory is not added."""
        if isinstance(memory, str):
            memory = Memory(content=memory, created_at=self.clock(), importance=importance_rule_score(memory))
        if any(memory.id == known.details.get("id") for known in self.stream):
            return memory
        rests_on = [one.id for one in list(self.stream)[-self.k :]] if memory.memory_type == "reflection" else []
        details: dict[str, Any] = {"id": memory.id, "memory_type": memory.memory_type}
        if memory.memory_type == "observation":
            details["frame"] = {"what": "seed", "about": "", "topic": next(iter(memory.tags), "")}
            if short_name(self.name) not in memory.content:  # in the first person, it can be said as it is
                details["tell"] = [memory.content]
        self._kept(
            lambda: self.stream.remember(
                memory.content,
                at=memory.created_at,
                importance=memory.importance,
                kind=memory.memory_type if rests_on or memory.memory_type == "plan" else "observation",
                source=memory.source or "",
                tags=memory.tags,
                embedding=memory.embedding,
                citations=rests_on,
                details=details,
            )
        )
        return memory

    def retrieve(self, query: str, *, k: int = 0, now: datetime | None = None) -> list[ScoredMemory]:
        """Returns the `k` best (by default the stream's) of the `top_n` nearest, best first; they count as accessed."""
        found = self.stream.retrieve(query, at=now or self.clock(), k=k or self.k, policy=self.policy)
        return [_scored(hit.memory, {name: part.normalised for name, part in hit.parts.items()}, hit.score)
                for hit in found.hits]  # fmt: skip

    @property
    def memories(self) -> list[Memory]:
        """All memories, oldest first, with their embeddings."""
        return [_memory(one, self.stream.vector(one.id)) for one in self.stream]

    def __len__(self) -> int:
        return len(self.stream)

    def apply(self, delta: core.Delta) -> None:
        """Keeps what a turn adds."""
        self._kept(lambda: self.stream.apply(delta))

    def _kept(self, change: Callable[[], object]) -> None:
        """Makes a change, in RAM where it cannot be stored."""
        try:
            change()
        except UsageError:
            raise
        except Exception as error:
            before = list(self.stream)
            vectors = [self.stream.vector(one.id) for one in before]
            self.stream = core.MemoryStream.restore(self.name, before, vectors, policy=self.policy)
            self._go_on_in_ram(error)
            change()

    def reset(self) -> None:
        """Forgets everything and empties the collection."""
        self.stream.delete()

    def close(self) -> None:
        """Writes what is left; the last stream of a folder closes it. May be called twice."""
        if self._folder is not None:
            try:
                if hasattr(self, "stream"):
                    self.stream.close()
            finally:
                _leave(self._folder)
                self._folder = None


_STORES: dict[Path, list[Any]] = {}
"""Open folders: the store and how many streams use it. A folder belongs to one store at a time."""


def _store(folder: Path) -> ChromaStore:
    opened = _STORES.setdefault(folder, [None, 0])
    opened[1] += 1
    if opened[0] is None:
        opened[0] = ChromaStore(folder)
    return opened[0]


def _leave(folder: Path) -> None:
    store, users = _STORES.get(folder, (None, 0))
    if users > 1:
        _STORES[folder][1] -= 1
    else:
        _STORES.pop(folder, None)
        if store is not None:
            store.close()


def _memory(one: core.Memory, vector: Any = None) -> Memory:
    return Memory(
        id=one.details.get("id") or _id(one.agent, one.id, one.text),
        content=one.text,
        memory_type=one.details.get("memory_type") or _type(one.kind),
        created_at=one.created_at,
        importance=round(one.importance),
        source=one.source or None,
        tags=list(one.tags),
        embedding=None if vector is None else [float(value) for value in vector],
    )


def _scored(memory: core.Memory, parts: Mapping[str, float], score: float) -> ScoredMemory:
    return ScoredMemory(
        memory=_memory(memory),
        similarity=parts["relevance"],
        recency_score=parts["recency"],
        importance_score=parts["importance"],
        final_score=score,
    )


# ── §7: the agent ────────────────────────────────────────────────────────────────────────────────────────────────────


class Agent:
    """One of the two: retrieves, reflects now and then, plans, speaks, stores what matters.

    `llm_client`: None for the offline mind; the name of a mind (`openai:gpt-5-mini`, a URL), whose key is read from the
    environment alone; a `Mind`; a function from a prompt to text, or an object with `generate` or `complete` as one.
    """

    def __init__(
        self,
        profile: AgentProfile,
        state: AgentState,
        memory_stream: MemoryStream,
        llm_client: object = None,
        *,
        reflection_period: int = 6,
        importance: Literal["rules", "both"] = "rules",
        requests: Literal[1, 2] = 1,
        store_plans: bool = False,
        temperature: float = 0.9,
        seed: int = 7,
        language: str = "",
    ) -> None:
        """`reflection_period`: its own turns from one reflection to the next, 0 for none. `importance`: `both` lets the
        mind correct the rules, at temperature 0 and cached. `requests`: 2 for a plan that is asked for by itself.
        `language`: `ko` or `en`; that of the profile if empty. Raises UsageError for a mind that cannot be used."""
        self.profile, self.state, self.memory_stream = profile, state, memory_stream
        self.reflection_period = reflection_period
        self.language = language or spoken_in(f"{profile.name} {profile.traits} {profile.goal}")
        self.me = _slug(profile.name)
        self._client, self._seeds = llm_client, Seeds(seed)
        self._settings = {
            "importance": importance, "k": memory_stream.k, "reflection": {"every_turns": reflection_period},
        }  # fmt: skip
        self._duet = {"requests": requests, "store_plans": store_plans, "temperature": temperature}
        self._mind: Mind | None = None
        self._scenarios: dict[str, Scenario] = {}
        self._character: CharacterState | None = None
        self._lines: list[Line] = []
        self._owes_reflection = False
        if len(profile.traits.strip()) < TRAITS:
            log.warning("the traits of %s are short; %d characters or more give it a voice", profile.name, TRAITS)

    def run_step(
        self, context: str, other_agent_name: str, recent_dialogue: Sequence[TurnRecord | tuple[str, str]] = ()
    ) -> TurnRecord:
        """Takes one turn. `recent_dialogue`: the latest turns, oldest first, as records or as (speaker's name, line).

        A mind without a usable answer costs the line, for which a placeholder stands. Raises UsageError for a key or a
        model that a server refuses.
        """
        began, moment = time.monotonic(), utc(self.memory_stream.clock())
        log.info("turn %d of %s begins", self.state.turn_index + 1, self.profile.name)
        scenario = self._scenario(other_agent_name)
        self._hear(recent_dialogue, _slug(other_agent_name))
        drive = self._driven(scenario, _slug(other_agent_name), context or self.state.current_context, moment)
        turn: Turn = drive.result
        self._keep(turn)
        last = {row.ordinal: row for row in drive.rows}.values()
        problems = [f"{row.task}: {row.usage.get('kind') or row.outcome}" for row in last if row.outcome != "value"]
        seconds = round(time.monotonic() - began, 3)
        record = self._record(turn, other_agent_name, {"at": iso(moment), "seconds": seconds}, problems)
        self._log(record, turn, sum(row.usage.get(name, 0) for row in drive.rows for name in TOKENS))
        self._owes_reflection = self._reflects() and turn.state.reflected != turn.tick
        self._advance(record, turn.state)
        return record

    # the turn

    def _driven(self, scenario: Scenario, other: str, context: str, moment: datetime) -> Drive:
        """Takes one turn of the stage, in a room with nothing but the dialogue."""
        tick, stream = 2 * self.state.turn_index + 2, self.memory_stream.stream
        scenario = replace(scenario, clock=Clock(moment - timedelta(minutes=tick), 1))
        character = replace(self._character or scenario.states[self.me], mood=self.state.mood_hint or "")
        live = LiveState(
            scenario,
            self._seeds,
            self._room(scenario, other, tick),
            {self.me: character},
            {self.me: stream},
            {self.me: stream.weights()},
        )
        mind = self._asked(scenario)
        driver = Driver(mind, NoJournal(), self._seeds, durable=False)
        drive = Drive(self.me, tick, converse_about(live.view(self.me), context, reflects=self._reflects()))
        with ThreadPoolExecutor(1) as thread:  # a notebook's thread has a loop already
            thread.submit(asyncio.run, _driven(driver, drive, mind)).result()
        return drive

    def _reflects(self) -> bool:
        index, period = self.state.turn_index, self.reflection_period
        return bool(period) and (self._owes_reflection or (index > 0 and index % period == 0))

    def _room(self, scenario: Scenario, other: str, tick: int) -> World:
        """Returns the world as the stage has it at the end of the tick before."""
        if not self._lines:
            return replace(scenario.opening, tick=tick - 1)
        last, members = self._lines[-1], tuple(sorted((self.me, other)))
        talk = Conversation(f"{ROOM}.1.{last.speaker}", ROOM, last.speaker, members, tuple(self._lines), self.me)
        said = Spoke(
            to_agent_id=self.me, utterance=last.utterance, facts=(), claimed=(), carriers=(),
            speech_act=last.speech_act, topic=last.topic,
        )  # fmt: skip
        heard = (Event(tick - 1, Phase.ACTION, other, 0, ROOM, said),) if last.speaker == other else ()
        return replace(scenario.opening, tick=tick - 1, conversations={ROOM: (talk,)}, happened={ROOM: heard})

    def _hear(self, dialogue: Sequence[TurnRecord | tuple[str, str]], other: str) -> None:
        """Takes in the new part of the dialogue: what follows the longest known part."""
        given = [_line(one, self.profile.name, self.me, other, 2 * self.state.turn_index + 1) for one in dialogue]
        said, known = [one.utterance for one in given], [one.utterance for one in self._lines]
        most = min(len(said), len(known))
        overlap = next((size for size in range(most, 0, -1) if known[-size:] == said[:size]), 0)
        self._lines += [one for one in given[overlap:] if one.utterance]

    def _keep(self, turn: Turn) -> None:
        """Adds what the turn adds, under the document's names for where it comes from."""
        delta = turn.delta
        named = tuple(replace(one, source=SOURCES[one.kind]) for one in delta.memories)
        self.memory_stream.apply(replace(delta, memories=named))
        self._character = turn.state
        if isinstance(turn.action, Say):
            said = turn.action
            line = Line(turn.tick, self.me, said.to_agent_id, said.utterance, said.speech_act, said.topic)
            self._lines.append(line)

    # what it is made of

    def _scenario(self, other: str) -> Scenario:
        if other not in self._scenarios:
            if _slug(other) == self.me:
                raise UsageError(f"{other} cannot talk to itself", hint="give the name of the other one")
            self._scenarios[other] = compiled_from_text(self._document(other), "agent")
        return self._scenarios[other]

    def _document(self, other: str) -> str:
        """Returns the scenario of the two: this one as its profile has it, the other by name."""
        policy = self.memory_stream.policy
        person = {"age": 0, "home": ROOM}  # of no known age
        cast = [
            person
            | {"id": self.me, "name": self.profile.name, "called": short_name(self.profile.name)}
            | {"traits": [self.profile.traits], "goals": [self.profile.goal] if self.profile.goal else []},
            person | {"id": _slug(other), "name": other, "called": short_name(other), "traits": ["-"]},
        ]
        own = {
            "base": "two_stage", "nearest": policy.nearest, "decay": policy.decay,
            "relevance_weight": policy.relevance_weight, "recency_weight": policy.recency_weight,
            "importance_weight": policy.importance_weight,
        }  # fmt: skip
        document = {
            "name": "agent", "language": self.language, "stage": "duet",
            "clock": {"start": "2031-10-04T12:00:00", "tick_minutes": 1}, "duet": self._duet,
            "world": {"root": {"id": ROOM, "name": phrases(self.language, "duet")["stage"]}}, "characters": cast,
            "policies": {"own": own}, "cognition": self._settings | {"policy": "own"},
        }  # fmt: skip
        return json.dumps(document, ensure_ascii=False)

    def _asked(self, scenario: Scenario) -> Mind:
        """Returns the mind of the client."""
        client = self._client
        if self._mind is None:
            write = next((call for name in ("generate", "complete") if (call := getattr(client, name, None))), client)
            if client is None or isinstance(client, str):
                self._mind = mind_named(client or "offline", scenario, on_outage="fallback")
            elif hasattr(client, "answer") and hasattr(client, "paid"):
                self._mind = cast("Mind", client)
            elif callable(write):
                self._mind = PromptMind(
                    lambda messages, schema: str(write(as_text(messages, schema))),
                    scenario,
                    name=type(client).__qualname__,
                )
            else:
                raise UsageError(
                    f"an llm_client of type {type(client).__qualname__} cannot be asked",
                    hint="give None, the name of a mind, a Mind, or a function from a prompt to text",
                )
        return self._mind

    # what comes out

    def _record(self, turn: Turn, other: str, timestamps: dict[str, Any], problems: list[str]) -> TurnRecord:
        trace, said = turn.trace, turn.action if isinstance(turn.action, Say) else None
        stream = self.memory_stream.stream
        kept = [(stream.get(id), reason) for id, reason in trace.get("stored", ())]
        events = [
            *(_decision(memory.text, reason, memory.importance, memory.kind, stored=True) for memory, reason in kept),
            *(_decision(*entry, stored=False) for entry in trace.get("dropped", ())),
        ]
        return TurnRecord(
            turn_id=f"t{turn.tick}.{self.me}.0",
            speaker=self.profile.name,
            listener=other,
            context_in=trace["context"],
            retrieved=[
                _scored(stream.get(id), {name: part["normalised"] for name, part in parts.items()}, score)
                for found in trace["retrievals"][:1]
                for id, score, parts in hits(found)
            ],
            reflection=next((event.content for event in events if event.memory_type == "reflection"), None),
            plan=trace["reaction"]["reason"],
            utterance=said.utterance if said else "",
            store_events=events,
            timestamps=timestamps,
            speech_act=said.speech_act if said else "",
            topic=said.topic if said else "",
            problems=problems,
        )

    def _advance(self, record: TurnRecord, character: CharacterState) -> None:
        state = self.state
        state.turn_index += 1
        state.current_context = record.context_in
        state.last_plan, state.last_utterance = record.plan or None, record.utterance or None
        state.mood_hint = character.mood or None

    def _log(self, record: TurnRecord, turn: Turn, tokens: int) -> None:
        events, seconds = record.store_events, record.timestamps["seconds"]
        number, stored = self.state.turn_index + 1, sum(event.stored for event in events)
        if log.isEnabledFor(logging.DEBUG):
            query, stream = turn.trace["retrievals"][0]["query"], self.memory_stream
            past = stream.stream.snapshot(turn.delta.base)
            found = past.retrieve(
                query, at=parse_iso(record.timestamps["at"]), k=stream.policy.nearest, policy=stream.policy
            )
            raw = sorted(found.hits, key=lambda hit: (-hit.parts["relevance"].raw, -hit.memory.id))
            log.debug(
                "turn %d top %d: %s", number, len(raw), [(one.memory.id, one.parts["relevance"].raw) for one in raw]
            )
            log.debug("turn %d re-ranked: %s", number, [(one.memory.id, one.score) for one in found.hits])
        log.info("turn %d ends: %d of %d stored, %d tokens, %.2f s", number, stored, len(events), tokens, seconds)
        for problem in record.problems:
            log.error("turn %d: %s", number, problem)


async def _driven(driver: Driver, drive: Drive, mind: Mind) -> None:
    """Drives a turn to its end in a loop of its own, which leaves no connection open."""
    try:
        await driver.run([drive])
    finally:
        await mind.close()


def _slug(name: str) -> str:
    """Returns the id of an agent: its name in small letters, of another script a hash of it."""
    plain = name.strip().lower().replace(" ", "-")
    if len(plain) <= 60 and re.fullmatch("[a-z0-9_-]+", plain) and plain != ROOM:
        return plain
    return f"agent-{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"


def _line(one: TurnRecord | tuple[str, str], name: str, me: str, other: str, tick: int) -> Line:
    speaker, text, act, topic = (
        (one.speaker, one.utterance, one.speech_act, one.topic) if isinstance(one, TurnRecord) else (*one, "", "")
    )
    mine = speaker == name
    return Line(tick, me if mine else other, other if mine else me, clean(text), act, topic)


def _decision(text: str, reason: str, importance: float = 1, kind: str = "observation", *, stored: bool) -> StoreEvent:
    return StoreEvent(
        memory_type=_type(kind), content=text, importance=round(importance) or 1, stored=stored, reason=reason
    )


def _type(kind: str) -> MemoryType:
    """Returns the document's type of a memory. A line the agent said itself is an observation, too."""
    return cast("MemoryType", "observation" if kind == "action" else kind)
