"""Agent Crossing, section by section."""

from __future__ import annotations

import asyncio
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognition.hamlet import BASE, festival, person, same_past, talking
from commonplace import open_run
from commonplace.character.plan import ACTION_MINUTES, Plan
from commonplace.cli import main
from commonplace.cognition import plan, react, town_turn
from commonplace.cognition.deferred import LATEST
from commonplace.errors import UsageError
from commonplace.founding.agent_crossing import (
    AgentBrain,
    MemoryObject,
    MemoryRepository,
    NodeType,
    World,
    network_density,
    parse_importance,
    retrieve,
)
from commonplace.memory import HashedEmbedder, MemoryStream, ReflectionTrigger, policies
from commonplace.minds.mind import Mind
from commonplace.minds.tasks import (
    ActOutput,
    Insight,
    InsightsOutput,
    QuestionsOutput,
    RateOutput,
    ReactOutput,
    Stroke,
)
from commonplace.testing import ScriptedMind
from commonplace.views.lines import PlainLines

PROJECT = Path(__file__).parents[2]
HERE, TURN, DEFERRED = "founding/agent_crossing.py", "cognition/town_turn.py", "cognition/deferred.py"
POLICIES, SCORING = "memory/policies.py", "memory/scoring.py"
requirement = pytest.mark.requirement
NOON = datetime(2031, 10, 4, 12, tzinfo=UTC)
FIELDS = ("agent_id", "position", "current_action", "current_plan_item", "dialogue", "emoji", "timestamp")


# ── a society of three, with minds that say what a test wants; and half a day of two ─────────────────────────────────


@pytest.fixture(scope="module")
def day() -> Iterator[World]:
    """Ines and Bruno on their square, from six in the morning to six in the evening."""
    with World("plaza") as world:
        world.advance(world.now + timedelta(hours=12))
        yield world


Society = Callable[..., World]


@pytest.fixture
def society(tmp_path) -> Iterator[Society]:
    """Makes worlds of Anna, Ben and Cora; `change` changes the document."""
    worlds: list[World] = []

    def make(mind: Mind | str = "offline", change: Callable[[dict[str, Any]], object] = id, **cognition: Any) -> World:
        document = json.loads(json.dumps(BASE))
        document["cognition"] |= cognition
        change(document)
        path = tmp_path / f"hamlet-{len(worlds)}.yaml"
        path.write_text(json.dumps(document), encoding="utf-8")
        worlds.append(World(path, mind=mind))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


def memory(
    id: int, hours_ago: float = 0.0, importance: int = 5, vector: Any = (1.0, 0.0), **fields: Any
) -> MemoryObject:
    moment = NOON - timedelta(hours=hours_ago)
    given = {"node_type": NodeType.OBSERVATION, "citations": None, "description": f"memory {id}"} | fields
    return MemoryObject(
        id=id,
        creation_timestamp=given.pop("creation_timestamp", moment),
        last_accessed=moment,
        importance=importance,
        embedding=np.array(vector),
        **given,
    )


# ── §1–2: goals and architecture ─────────────────────────────────────────────────────────────────────────────────────


@requirement("1", "Characters plan and act without a script", "World.tick", TURN)
@requirement(
    "1", "What is remembered is used for later decisions and talk", "TickResult.retrieved", "cognition/retrieve.py"
)
@requirement(
    "1", "What is known and who knows whom spread by talk", "World.diffusion, .density", "analysis/diffusion.py"
)
def test_a_day_goes_on_by_itself(day):
    reading = day.run.reading
    moved = {event.agent_id for event in reading.events(type="MOVE")}
    assert moved == set(day.brains), "nobody told them to"
    talk = reading.events(type="SAY")
    assert any(event.body.because for event in talk), "lines rest on memories"
    assert day.density() == 1.0
    assert day.diffusion() == {"clock_strikes": 1.0}, "Bruno has it from Ines"
    assert day.run.reading.scenario.facts[0].originators == ("ines",)


@requirement(
    "2", "Frontend: React 19 and Phaser 3 – map, inspector, interventions", "commonplace serve", "web/package.json"
)
def test_the_page_is_react_and_phaser():
    wanted = json.loads((PROJECT / "web" / "package.json").read_text(encoding="utf-8"))["dependencies"]
    assert wanted["react"].startswith("^19.")
    assert wanted["phaser"].startswith("^3.")
    for part in ("scene/phaser.ts", "panels/AgentCard.tsx", "panels/Act.tsx"):
        assert (PROJECT / "web" / "src" / part).exists(), part


@requirement("2", "API: FastAPI, WebSocket broadcasts", "WS /api/runs/{run}/live", "parts/web/app.py")
@requirement(
    "9", "A WebSocket message has these fields of each character", "WS /api/runs/{run}/live", "parts/web/model.py"
)
def test_the_socket_of_a_run_says_what_happens(tmp_path):
    fastapi = pytest.importorskip("fastapi", reason="fastapi is not installed")
    from commonplace.parts.web.app import make_app
    from commonplace.parts.web.library import Library
    from parts.web.serving import client, live

    with World("plaza", path=tmp_path / "plaza.run") as world:
        app = make_app(Library(tmp_path))
        assert isinstance(app, fastapi.FastAPI)
        with client(app) as http, live(http, "plaza") as one, live(http, "plaza") as other:
            before = [one("snapshot"), other("snapshot")]
            assert [len(message["agents"]) for message in before] == [2, 2]
            while not any(event["dialogue"] for event in world.events()):
                world.tick()
            for told in (one, other):
                while (message := told("delta"))["tick"] < world.run.tick:
                    pass
                said = {row["agent_id"]: {name: row[name] for name in FIELDS} for row in message["agents"]}
                speaker = next(event for event in world.events() if event["dialogue"])
                assert said[speaker["agent_id"]] == speaker


@requirement("2", "World clock and scheduler", "World.advance", "engine/lockstep.py")
@requirement("2", "`AgentBrain`, a tick loop", "AgentBrain.tick, iter(brain)", HERE)
def test_time_passes_for_everybody_at_once(society):
    world = society()
    start = world.now
    anna, ben = AgentBrain("anna", world), AgentBrain("ben", world)
    first = anna.tick(start + timedelta(minutes=5))
    assert first.now == start + timedelta(minutes=5)
    assert ben.tick(first.now).now == world.now == first.now, "the same tick, already made"
    assert ben.tick().now == start + timedelta(minutes=10)
    assert anna.tick(start + timedelta(minutes=31)).now == start + timedelta(minutes=35), "whole ticks"
    with pytest.raises(UsageError, match="is over"):
        anna.tick(start)
    with pytest.raises(UsageError, match="no character 'zoe'"):
        AgentBrain("zoe", world)
    loop = iter(anna)
    assert [next(loop).now, next(loop).now] == [start + timedelta(minutes=40), start + timedelta(minutes=45)]


@requirement("2", "Who leaves has no tick, and who comes has one", "World.tick", HERE)
def test_who_leaves_and_comes_back_has_ticks_again(society):
    world = society()
    world.run.submit({"kind": "leave", "agent_id": "cora"})
    assert set(world.tick()) == {"anna", "ben"}, "she has gone at its end"
    with pytest.raises(UsageError, match="cora did nothing"):
        world.brains["cora"].tick()
    world.run.submit({"kind": "join", "agent_id": "cora", "area": "barn"})
    assert set(world.tick()) == {"anna", "ben"}
    assert not any(result.retrieved.fallback for result in world.tick().values())
    assert set(world.tick()) == {"anna", "ben", "cora"}


@requirement("2", "Inside an event loop as well, such as a notebook's", "AgentBrain.tick", HERE)
def test_a_world_can_be_used_inside_an_event_loop(society):
    world = society()

    async def ticked() -> datetime:
        world.inject("A bell rings.")
        return world.brains["anna"].tick().now

    assert asyncio.run(ticked()) == world.now == NOON.replace(hour=10, minute=5)


@requirement("2", "The world lasts in a file, and goes on from there", "World(path=…)", "run/file.py")
def test_a_world_goes_on_where_it_stopped(tmp_path):
    with World("plaza", path=tmp_path / "a.run") as world:
        world.advance(world.now + timedelta(hours=1))
        memories = [one.description for one in world.brains["ines"].memories]
    with World(path=tmp_path / "a.run") as world:
        assert world.run.tick == 12
        assert [one.description for one in world.brains["ines"].memories] == memories
        world.tick()
    with open_run(tmp_path / "a.run") as run:
        assert run.last_tick == 13


# ── §3: the loop ─────────────────────────────────────────────────────────────────────────────────────────────────────

NAMES = ("perceive", "store", "retrieve", "plan", "act", "reflect")


@requirement(
    "3", "Each tick: perceive, store, retrieve, plan, act, check for reflection, in this order", "AgentBrain.tick", TURN
)
def test_the_steps_come_in_the_documents_order(society, monkeypatch):
    done: list[str] = []

    def watched(name: str, module: Any, function: str) -> None:
        original = getattr(module, function)

        def noted(view: Any, *given: Any, **named: Any) -> Any:
            if view.persona.id == "anna":
                done.append(name)
            return original(view, *given, **named)

        monkeypatch.setattr(module, function, noted)

    watched("perceive", town_turn, "perceive")
    watched("store", town_turn, "store_percepts")
    watched("retrieve", react, "retrieve")
    watched("plan", plan, "add_stroke")
    watched("act", town_turn, "act")
    watched("reflect", town_turn, "request_reflection")
    news = ReactOutput(
        decision="go", reason="new", stroke=Stroke(start="10:20", minutes=20, location="green", do="looking")
    )
    world = society(ScriptedMind({"react": lambda given, _: news}))
    anna = world.brains["anna"]
    anna.tick(NOON.replace(hour=10, minute=10))
    world.brains["anna"].inject("The green is on fire.")
    anna.tick()
    done.clear()
    result = anna.tick()
    assert tuple(done) == NAMES
    assert tuple(step.name for step in result.steps) == NAMES
    assert "The green is on fire." in result.steps[0].text


@requirement(
    "3",
    "Perceive: place and surroundings become observations in words",
    "TickResult.perceived",
    "cognition/perceive.py",
)
@requirement("3", "Store: observations are rated and kept", "TickResult.stored", "cognition/remember.py")
@requirement(
    "3", "Retrieve: the top k for the decision, at every tick", "TickResult.retrieved", "cognition/retrieve.py"
)
@requirement(
    "3", "Plan: what to do in the next minutes is planned when its time comes", "TickResult.plan", "cognition/plan.py"
)
@requirement("3", "Act: moving, talking or doing something", "TickResult.action", "cognition/act.py")
@requirement("3", "Reflect trigger check: the accumulated importance", "TickResult.reflection", "memory/reflection.py")
def test_a_tick_says_what_each_step_did(society):
    world = society()
    world.advance(world.now + timedelta(minutes=30))
    for _ in range(12):
        for result in world.tick().values():
            assert result.event["agent_id"] == result.agent_id
            assert {one.description for one in result.stored if one.node_type is NodeType.OBSERVATION} <= {
                *result.perceived
            }
            assert all(1 <= one.importance <= 10 for one in result.stored)
            assert result.retrieved or not world.brains[result.agent_id].memories
            assert all(one.last_accessed == result.now for one in result.retrieved)
            assert result.plan.item is not None
            assert result.plan.item.covers(result.now)
            assert result.action["type"] in ("IDLE", "MOVE", "INTERACT", "SAY", "ACTION_REJECTED")
            assert result.reflection.threshold == 150
    assert any(one.node_type is NodeType.OBSERVATION for one in world.brains["ben"].memories)


@requirement("3", "An importance that cannot be read is 3", "parse_importance", "memory/importance.py")
def test_an_unreadable_importance_is_three(society):
    assert [parse_importance(one) for one in ("8", "[7]", 9.0, "very", "", None, math.nan, True)] == [
        8,
        7,
        9,
        3,
        3,
        3,
        3,
        3,
    ]
    assert memory(1, importance="?").importance == 3
    mind = ScriptedMind({"rate": lambda given, _: None})
    world = society(mind, importance="mind")
    world.advance(world.now + timedelta(minutes=15))
    rated = [one for one in world.brains["anna"].memories if one.location_path]
    assert rated
    assert {one.importance for one in rated} == {3}


@requirement("3", "A missing or wrong embedding has relevance 0; the loop goes on", "retrieve", "memory/retrieval.py")
def test_a_memory_with_another_embedding_has_no_relevance():
    memories = [
        memory(1, vector=[0.6, 0.8]),
        memory(2, vector=[1, 0, 0]),
        memory(3, vector=[]),
        memory(4, vector=[math.nan, 1]),
    ]
    found = retrieve(memories, [1.0, 0.0], NOON, 4, alpha=0, beta=0)
    assert found[0].id == 1
    assert not found.fallback
    opposite = retrieve([*memories, memory(5, vector=[-1, 0])], [1.0, 0.0], NOON, 5, alpha=0, beta=0)
    assert [one.id for one in opposite] == [1, 4, 3, 2, 5], "0 is between 0.6 and −1"
    assert [one.id for one in retrieve(memories, [math.nan], NOON, 4)] == [4, 3, 2, 1], "no relevance at all"


@requirement(
    "3", "Where the embedder fails, the memory is kept, with relevance 0", "MemoryRepository.add", "memory/preparing.py"
)
@pytest.mark.parametrize("vectors", [None, [None], [[1.0, 2.0]]])
def test_an_embedder_that_fails_ends_nothing(vectors, tmp_path):
    class Failing:
        name, dimensions = "failing", 3

        def embed(self, texts: Any) -> Any:
            if vectors is None:
                raise ConnectionError("the model is down")
            return vectors

    with MemoryRepository(tmp_path / "memories.db", "maria", embedder=Failing()) as repository:
        stored = repository.add(memory(1, vector=[], description="the stove is hot"))
        repository.add(memory(2, vector=[1.0, 0.0, 0.0], description="the stove is cold"))
        assert len(stored.embedding) == 0
        assert [one.id for one in repository.retrieve([1.0, 0.0, 0.0], NOON, 2)] == [2, 1]


@requirement(
    "3", "Without candidates the most recent memories are the answer, flagged", "retrieve(among=…).fallback", HERE
)
def test_without_candidates_the_most_recent_are_the_answer():
    memories = [memory(id, hours_ago=10 - id) for id in range(1, 9)]
    found = retrieve(memories, [1.0, 0.0], NOON, 3, among=lambda one: one.node_type is NodeType.PLAN)
    assert found.fallback
    assert [one.id for one in found] == [8, 7, 6]
    assert {one.last_accessed for one in found} == {NOON}
    assert not retrieve(memories, [1.0, 0.0], NOON, 3, among=lambda one: one.id == 2).fallback
    assert retrieve([], [1.0, 0.0], NOON, 3) == []


@requirement("3", "In the loop, too, where the policy lets no memory compete", "TickResult.retrieved.fallback",
             "cognition/retrieve.py")  # fmt: skip
def test_the_loop_goes_on_without_candidates(society):
    def none_competes(document: dict[str, Any]) -> None:
        document["policies"] = {"none": {"base": "park", "without_words": ["a", "e", "i", "o", "u"]}}
        document["cognition"]["policy"] = "none"

    for change, expected in ((id, False), (none_competes, True)):
        world = society(change=change)
        world.advance(world.now + timedelta(minutes=30))
        anna = world.brains["anna"]
        found = anna.tick().retrieved
        assert found
        assert found.fallback is expected
        newest = {one.id for one in anna.memories[-len(found) :]}
        assert ({one.id for one in found} <= newest) is expected
        assert main(["verify", str(world.run.file.path)]) == 0


# ── §4: the memory stream ────────────────────────────────────────────────────────────────────────────────────────────


@requirement("4.1", "`MemoryObject` with its nine fields", "MemoryObject", HERE)
@requirement(
    "4.1", "`location_path`: `Town > House > Kitchen > Stove`", "MemoryObject.location_path", "memory/record.py"
)
def test_a_memory_object_has_the_documents_fields(day):
    assert list(MemoryObject.__dataclass_fields__) == [
        "id", "node_type", "citations", "description", "creation_timestamp", "last_accessed", "importance", "embedding",
        "location_path",
    ]  # fmt: skip
    assert [one.value for one in NodeType] == ["OBSERVATION", "REFLECTION", "PLAN"]
    memories = day.brains["ines"].memories
    assert {one.node_type for one in memories} == set(NodeType)
    assert [one.id for one in memories] == list(range(1, len(memories) + 1))
    for one in memories:
        assert isinstance(one.embedding, np.ndarray)
        assert one.embedding.shape == (384,)
        assert isinstance(one.importance, int)
        assert one.creation_timestamp <= one.last_accessed
    assert {one.location_path for one in memories} >= {"Linden Square", "Linden Square > Watch Workshop"}


@requirement("4.1", "Importance is clamped to 1–10 when it is stored", "MemoryObject.importance", "memory/record.py")
def test_importance_is_clamped():
    assert [memory(1, importance=given).importance for given in (-4, 0, 1, 7, 10, 99)] == [1, 1, 1, 7, 10, 10]


@requirement(
    "4.1", "An OBSERVATION has no citations, a REFLECTION or a PLAN may", "MemoryObject.citations", "memory/record.py"
)
def test_observations_cite_nothing(day):
    with pytest.raises(UsageError, match=r"OBSERVATION 1 has citations \[2\]"):
        memory(1, citations=[2])
    assert memory(1, citations=[]).citations is None
    with pytest.raises(UsageError, match="'DREAM' is unknown"):
        memory(1, node_type="DREAM")
    for kind in (NodeType.REFLECTION, NodeType.PLAN):
        assert memory(3, node_type=kind, citations=[1, 2]).citations == [1, 2]
    assert all(one.citations is None for one in day.brains["ines"].memories if one.node_type is NodeType.OBSERVATION)


@requirement("4.2", "PostgreSQL with pgvector", "MemoryRepository('postgresql://…')", "parts/stores/postgres.py")
def test_memories_last_in_postgresql(postgres_url):
    kept(postgres_url, f"maria-{np.random.default_rng().integers(1 << 40)}")


@requirement(
    "4.2",
    "By default memories are ordered by score, of equal ones the newest first",
    "MemoryRepository.retrieve",
    SCORING,
)
def test_memories_last_in_any_store(tmp_path):
    kept(tmp_path / "memories.db", "maria")


def kept(where: str | Path, agent: str) -> None:
    vectors = {
        text: HashedEmbedder().embed_one(text) for text in ("the stove is hot", "a kite flies", "the stove is cold")
    }
    with MemoryRepository(where, agent) as repository:
        first = repository.add(
            memory(
                9,
                3,
                4,
                vectors["the stove is hot"],
                description="the stove is hot",
                location_path="Town > House > Kitchen",
            )
        )
        repository.add(memory(9, 2, 4, vectors["a kite flies"], description="a kite flies"))
        third = repository.add(
            memory(9, 1, 8, [], description="the stove is cold", node_type=NodeType.PLAN, citations=[first.id])
        )
        assert (first.id, third.id, third.citations) == (1, 3, [1])
        assert np.array_equal(third.embedding, vectors["the stove is cold"]), "made where there was none"
        found = repository.retrieve(vectors["the stove is cold"], NOON, 2)
        assert [one.id for one in found] == [3, 1]
    with MemoryRepository(where, agent) as repository:
        again = repository.all()
        assert [one.description for one in again] == list(vectors)
        assert again[0].location_path == "Town > House > Kitchen"
        assert [one.last_accessed == NOON for one in again] == [True, False, True]
        assert [one.node_type for one in again] == ["OBSERVATION", "OBSERVATION", "PLAN"]


# ── §5: retrieval ────────────────────────────────────────────────────────────────────────────────────────────────────


def naive(memories: list[MemoryObject], query: np.ndarray, now: datetime, weights=(1.0, 1.0, 1.0)) -> list[float]:
    """The document's formula, as it stands there."""
    hours = [(now - one.last_accessed).total_seconds() / 3600 for one in memories]
    cosine = [
        float(one.embedding @ query / (np.linalg.norm(one.embedding) * np.linalg.norm(query))) for one in memories
    ]
    parts = [[0.995**each for each in hours], [float(one.importance) for one in memories], cosine]
    total = [0.0] * len(memories)
    for part, weight in zip(parts, weights, strict=True):
        low, high = min(part), max(part)
        for index, value in enumerate(part):
            total[index] += weight * (0.5 if high == low else (value - low) / (high - low))
    return total


def random_memories(count: int, seed: int) -> tuple[list[MemoryObject], np.ndarray]:
    dice = np.random.default_rng(seed)
    memories = [
        memory(id, float(dice.uniform(0, 400)), int(dice.integers(1, 11)), dice.normal(size=8).astype(np.float32))
        for id in range(1, count + 1)
    ]
    return memories, dice.normal(size=8).astype(np.float32)


@requirement(
    "5.1",
    "score = alpha·recency + beta·importance + gamma·relevance, each 1.0 by default",
    "retrieve(alpha=1, beta=1, gamma=1)",
    POLICIES,
)
@requirement(
    "5.2",
    "recency = 0.995 ** hours since the last access; importance as stored; relevance = cosine",
    "retrieve",
    POLICIES,
)
@requirement("5.3", "Each part is min-max normalised to 0–1 before it is added", "retrieve", SCORING)
@requirement("10", "Formula, constants and normalisation", "retrieve", SCORING)
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.2, 3.0, 1.5)])
def test_the_score_is_the_documents_formula(weights):
    for seed in range(20):
        memories, query = random_memories(30, seed)
        expected = naive(memories, query, NOON, weights)
        order = sorted(range(30), key=lambda index: -expected[index])
        found = retrieve(memories, query, NOON, 30, **dict(zip(("alpha", "beta", "gamma"), weights, strict=True)))
        assert [one.id for one in found] == [index + 1 for index in order]
    defaults = retrieve.__kwdefaults__
    assert (defaults["alpha"], defaults["beta"], defaults["gamma"]) == (1.0, 1.0, 1.0)


@requirement("5.3", "Where all are equal, the part is 0.5", "policies.PARK.all_equal", POLICIES)
def test_equal_parts_count_half():
    memories = [memory(1, 2, 5, [1, 0]), memory(2, 2, 5, [0, 1])]
    assert naive(memories, np.array([1.0, 0.0]), NOON) == [2.0, 1.0]
    assert [one.id for one in retrieve(memories, [1.0, 0.0], NOON, 2)] == [1, 2]
    stream = MemoryStream("maria", policies.PARK)
    stream.remember("The stove is hot.", at=NOON, importance=7)
    (only,) = stream.recall("stove", at=NOON)
    assert [part.normalised for part in only.parts.values()] == [0.5, 0.5, 0.5]


@requirement("5.4", "`query_embedding`, `current_time`, `top_k` → at most `top_k` memories", "retrieve", HERE)
@requirement("5.4", "Those returned are last accessed at `current_time`; the others are not", "retrieve", HERE)
def test_retrieval_gives_at_most_k_and_touches_them():
    memories, query = random_memories(12, 1)
    before = {one.id: one.last_accessed for one in memories}
    found = retrieve(memories, query, NOON, 4)
    assert len(found) == 4
    assert isinstance(found, list)
    assert {one.last_accessed for one in found} == {NOON}
    rest = [one for one in memories if one not in found]
    assert {one.id: one.last_accessed for one in rest} == {one.id: before[one.id] for one in rest}
    assert len(retrieve([*memories, memory(13, hours_ago=-1)], query, NOON, 100)) == 12, "none of the future"
    with pytest.raises(UsageError, match="top_k 0"):
        retrieve(memories, query, NOON, 0)


@requirement("4.2", "Of equal scores the newest first", "retrieve", SCORING)
def test_of_equal_scores_the_newest_comes_first():
    memories = [
        memory(id, creation_timestamp=NOON - timedelta(minutes=minutes)) for id, minutes in ((1, 5), (2, 1), (3, 9))
    ]
    for one in memories:
        one.last_accessed = NOON - timedelta(hours=1)
    assert [one.id for one in retrieve(memories, [1.0, 0.0], NOON, 3)] == [2, 1, 3]


@requirement("10", "The same query gives the same top k", "retrieve", SCORING)
def test_the_same_query_gives_the_same_memories():
    answers = set()
    for _ in range(3):
        memories, query = random_memories(200, 7)
        answers.add(tuple(one.id for one in retrieve(memories, query, NOON, 10)))
        memories, query = random_memories(200, 7)
        answers.add(tuple(one.id for one in retrieve(reversed(memories), query, NOON, 10)))
    assert len(answers) == 1


@requirement("10", "What is important comes first", "retrieve", SCORING)
def test_what_is_important_comes_first():
    memories = [memory(id, 1, 9 if id == 5 else 2) for id in range(1, 11)]
    assert retrieve(memories, [1.0, 0.0], NOON, 3)[0].id == 5


# ── §6: reflection ───────────────────────────────────────────────────────────────────────────────────────────────────


class Thinker(ScriptedMind):
    """Rates everything 10, asks three questions and draws five conclusions from what it is shown."""

    def __init__(self) -> None:
        super().__init__({"rate": self.rate, "questions": self.questions, "insights": self.insights})

    def rate(self, given: Any, _: Any) -> RateOutput:
        return RateOutput(ratings=tuple({"importance": 10} for _ in given.texts))  # pyright: ignore[reportArgumentType]

    def questions(self, given: Any, _: Any) -> QuestionsOutput:
        return QuestionsOutput(questions=("What of bread?", "What of Ben?", "What of the kettle?"))

    def insights(self, given: Any, _: Any) -> InsightsOutput:
        shown = [note.id for entry in given.evidence for note in entry.recalled]
        return InsightsOutput(
            insights=tuple(
                Insight(
                    text=f"Conclusion {number} about life and loaves.", because=(shown[number], shown[-1]), importance=8
                )
                for number in range(5)
            )
        )

    def inputs(self, task: str) -> list[Any]:
        return [ask.input for _, ask in self.asked if ask.task.name == task]


def reflected(world: World, agent: str, most: int = 100) -> tuple[list[Any], Any]:
    """(the results before a reflection ends, that in which it does)."""
    before: list[Any] = []
    for _ in range(most):
        result = world.brains[agent].tick()
        if result.reflection.insights:
            return before, result
        before.append(result)
    raise AssertionError("no reflection")


@requirement(
    "6", "It begins when the accumulated importance is 150 or more", "ReflectionCheck.due", "memory/reflection.py"
)
@requirement("6", "The latest 100 memories are looked at", "ReflectionCheck", DEFERRED)
@requirement("6", "Three questions, each with a retrieval of its own", "ReflectionCheck.questions", DEFERRED)
@requirement(
    "6", "Five insights, each kept as a REFLECTION that cites what it rests on", "ReflectionCheck.insights", DEFERRED
)
@requirement("6", "The counter begins anew", "ReflectionCheck.accumulated", "memory/reflection.py")
@requirement(
    "10", "The trigger at 150, three questions, five insights and their citations", "ReflectionCheck", DEFERRED
)
def test_a_reflection_goes_through_the_documents_steps(society):
    mind = Thinker()
    past = [
        {"text": f"Anna Berg baked loaf number {number}.", "importance": 10 if number >= 90 else 1}
        for number in range(95)
    ]
    world = society(mind, lambda it: person(it, "anna")["memories"].extend(past), importance="mind")
    world.tick()
    world.brains["anna"].inject("What if I opened a shop?")
    before, result = reflected(world, "anna")
    due = [one.reflection.accumulated for one in before if one.reflection.due]
    assert due
    assert min(due) >= 150
    assert before[0].reflection.accumulated == 149, "90 + 5 · 10 + 5 + 4, which is not enough"
    assert all(one.reflection.accumulated < 150 for one in before if not one.reflection.due)
    asked = mind.inputs("questions")[0]
    assert len(asked.recent) == LATEST == 100
    assert len(world.brains["anna"].memories) > 100
    assert result.reflection.questions == ("What of bread?", "What of Ben?", "What of the kettle?")
    evidence = mind.inputs("insights")[0].evidence
    assert [one.question for one in evidence] == [*result.reflection.questions]
    assert all(one.recalled for one in evidence)
    insights = result.reflection.insights
    assert len(insights) == 5
    assert result.reflection.flag == ""
    shown = {note.id for one in evidence for note in one.recalled}
    assert all(one.node_type is NodeType.REFLECTION and one.citations and {*one.citations} <= shown for one in insights)
    assert result.reflection.accumulated < 150
    assert not result.reflection.due
    assert ReflectionTrigger().reached(150)
    assert not ReflectionTrigger().reached(149.9)


@requirement(
    "6", "What the evidence does not carry is not made up: fewer insights are flagged", "ReflectionCheck.flag", DEFERRED
)
def test_fewer_insights_are_flagged():
    with World("plaza") as world:
        _, result = reflected(world, "ines")
    check = result.reflection
    assert 0 < len(check.insights) < 5
    assert check.flag.startswith(f"{len(check.insights)} of 5 insights")
    assert all(one.citations for one in check.insights)


@requirement("6", "Reflections compete in later retrievals", "TickResult.retrieved", "cognition/retrieve.py")
@requirement("6", "The ids an insight rests on stay with it", "MemoryObject.citations", "memory/record.py")
def test_reflections_are_retrieved_and_keep_their_citations(day):
    reflections = [one for one in day.brains["ines"].memories if one.node_type is NodeType.REFLECTION]
    assert reflections
    assert all(one.citations and max(one.citations) < one.id for one in reflections)
    everything = day.brains["ines"].memories
    found = retrieve(everything, reflections[0].embedding, day.now, 10, alpha=0, beta=0)
    assert found[0].id == reflections[0].id
    assert any(one.last_accessed > one.creation_timestamp for one in reflections), "the day has used them"


# ── §7: planning ─────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("7", "Day plan: 5–8 broad strokes", "AgentBrain.plan.level('day')", "cognition/plan.py")
@requirement("7", "Hourly plan", "AgentBrain.plan.level('hour')", "cognition/plan.py")
@requirement("7", "Minute plan: actions of 5–15 minutes", "AgentBrain.plan.level('action')", "character/plan.py")
@requirement(
    "7", "`start_time`, `duration_minutes`, `location`, `action_description`", "PlannedAction", "character/plan.py"
)
@requirement("10", "Day, hours and minutes are made", "AgentBrain.plan", "cognition/plan.py")
def test_a_plan_has_three_levels(day):
    places = day.run.scenario.geography.nodes
    for brain in day.brains.values():
        made = brain.plan
        adopted = day.run.reading.state_at(brain.agent_id, 6).plan
        assert 5 <= len(adopted.level("day")) <= 8
        assert made.level("hour")
        actions = [one for one in made.level("action") if one.end_time <= day.now]
        assert len(actions) > 20
        assert ACTION_MINUTES == (5, 15)
        lengths = [one.duration_minutes for one in actions]
        assert all(1 <= one <= 15 for one in lengths), "one that a reaction broke off is shorter"
        assert sum(one >= 5 for one in lengths) > 0.9 * len(lengths)
        for one in made.items:
            assert one.start_time.tzinfo is UTC
            assert one.location in places
            assert one.action_description
        for level in ("day", "hour", "action"):
            assert all(a.end_time <= b.start_time for a, b in pairwise(made.level(level))), level


@requirement("7", "At every tick: keep the plan, or react", "PlanUpdate.decision", "cognition/react.py")
@requirement("7", "A reaction plans anew only from now on", "PlanUpdate.updated", "cognition/plan.py")
@requirement("10", "A reaction changes nothing before now", "AgentBrain.plan", "character/plan.py")
def test_a_reaction_changes_the_plan_only_from_now_on(society):
    fire = Stroke(start="11:00", minutes=40, location="green", do="putting out the fire")
    heard = ReactOutput(decision="go", reason="the green is on fire", stroke=fire)
    mind = ScriptedMind({"react": lambda given, _: heard if any("fire" in one.text for one in given.news) else None})
    world = society(mind)
    anna = world.brains["anna"]
    anna.tick(NOON.replace(hour=10, minute=50))
    world.inject("The green is on fire.")
    anna.tick()
    before: Plan = anna.plan
    decisions = [anna.tick().plan]
    while not decisions[-1].updated:
        before = anna.plan
        decisions.append(anna.tick().plan)
    changed = decisions[-1]
    assert (changed.decision, changed.reason) == ("go", "the green is on fire")
    assert same_past(before, anna.plan, world.now)
    assert anna.plan.at(NOON.replace(hour=11, minute=10), "day").action_description == "putting out the fire"
    assert anna.plan.at(NOON.replace(hour=14), "day") == before.at(NOON.replace(hour=14), "day"), (
        "the rest of the day stays"
    )
    quiet = anna.tick().plan
    assert (quiet.decision, quiet.updated) == ("keep", False)


# ── §8: places and people ────────────────────────────────────────────────────────────────────────────────────────────


@requirement("8", "Places are a tree: town, building, room, object", "MemoryObject.location_path", "world/geography.py")
def test_places_are_a_tree(day):
    geography = day.run.scenario.geography
    assert geography.path("workbench") == ("Linden Square", "Watch Workshop", geography.name("workbench"))
    kinds = [geography.nodes[id].type for id in (geography.root, "workshop", "workbench")]
    assert kinds == ["area", "area", "object"]


@requirement("8", "Who meets somebody passes by or talks", "PlanUpdate.decision", "cognition/react.py")
@pytest.mark.parametrize("decision", ["keep", "talk"])
def test_who_meets_somebody_passes_by_or_talks(decision, society):
    answer = talking("ben") if decision == "talk" else ReactOutput(decision="keep", reason="in a hurry")
    mind = ScriptedMind(
        {"react": lambda given, key: answer if key.agent == "anna" and given.situation.people else None}
    )
    world = society(mind, lambda it: person(it, "anna").update(starts_at="barn"))
    results = [world.brains["anna"].tick() for _ in range(4)]
    assert decision in {one.plan.decision for one in results}
    said = [one.event["dialogue"] for one in results if one.event["dialogue"]]
    assert bool(said) == (decision == "talk")
    assert any(one.action["type"] == "SAY" for one in results) == (decision == "talk")


@requirement("8", "What matters is passed on in talk, into the other's memory", "World.diffusion", "world/area.py")
@requirement(
    "8", "Diffusion: the share of the characters who know a seed fact", "World.diffusion", "analysis/diffusion.py"
)
def test_what_is_said_becomes_the_others_memory(society):
    world = society("offline", festival)
    assert world.diffusion() == {"buns": pytest.approx(1 / 3)}
    shares = [world.diffusion()["buns"]]
    for _ in range(8):
        world.tick()
        shares.append(world.diffusion()["buns"])
    assert shares == sorted(shares)
    assert shares[-1] > 1 / 3
    line = next(event for event in world.run.reading.events(type="SAY") if event.body.facts == ("buns",))
    heard = [one for one in world.brains[line.body.to_agent_id].memories if "bun" in one.description.lower()]
    assert heard, "the hearer remembers it"


@requirement("8", "η = 2|E| / (|V|(|V| − 1))", "network_density", "analysis/network.py")
def test_density_is_the_share_of_linked_pairs(day):
    people = ["anna", "ben", "cora", "dan"]
    assert network_density(people, []) == 0
    assert network_density(people, [("anna", "ben"), ("ben", "anna"), ("cora", "dan")]) == pytest.approx(
        2 * 2 / (4 * 3)
    )
    assert network_density(4, [("anna", "ben")]) == pytest.approx(1 / 6)
    assert network_density(people, [("anna", "anna"), ("anna", "zoe")]) == 0
    assert network_density(people, [(a, b) for a in people for b in people]) == 1
    assert network_density(["anna"], []) == 0
    assert day.density() == 1.0


@requirement("8", "η and diffusion as curves over time", "commonplace metrics RUN", "analysis/network.py")
def test_density_and_diffusion_are_shown_hour_by_hour(day, capsys):
    path = str(day.run.file.path)
    assert main(["metrics", path, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["tick"] for row in rows] == list(range(0, 145, 12))
    assert [row["density"] for row in rows] == sorted(row["density"] for row in rows)
    assert (rows[0]["density"], rows[-1]["density"]) == (0.0, day.density())
    assert rows[0]["known"] == {"clock_strikes": 0.5}
    assert rows[-1]["known"] == day.diffusion()
    assert rows[-1]["lines"] == len(day.run.reading.events(type="SAY"))
    assert main(["metrics", path, "--every", "72"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["day", "time", "density", "pairs", "lines", "clock_strikes"]
    assert [line.split()[1:3] for line in lines] == [["06:00", "0.00"], ["12:00", "1.00"], ["18:00", "1.00"]]


# ── §9: events and god mode ──────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "9",
    "`agent_id position current_action current_plan_item dialogue emoji timestamp`",
    "World.events, TickResult.event",
    HERE,
)
def test_an_event_has_the_documents_fields(day, society):
    for event in day.events():
        assert set(event) == {*FIELDS}
        assert event["position"] in day.run.scenario.geography.edges
        assert event["current_action"]
        assert event["timestamp"] == day.now.isoformat().replace("+00:00", "Z")
    baking = ActOutput(kind="IDLE", doing="kneading dough", emoji="🥖")
    event = society(ScriptedMind({"act": lambda given, _: baking})).tick()["anna"].event
    assert (event["current_action"], event["emoji"]) == ("kneading dough", "🥖")


@requirement(
    "9",
    "God mode: a sentence becomes a perception and is put into the loop of those it is for",
    "World.inject, AgentBrain.inject",
    "engine/god_mode.py",
)
@requirement("11", "A person can intervene", "World.inject", "world/inputs.py")
def test_a_sentence_from_outside_is_perceived(society):
    world = society()
    world.tick()
    assert "will perceive" in world.inject("A balloon lands in the bakery.")
    world.brains["ben"].inject("I should call my sister.")
    at_once = world.tick()
    assert not any("balloon" in text for one in at_once.values() for text in one.perceived)
    later = world.tick()
    assert any("balloon" in text for text in later["anna"].perceived), "she is in the bakery"
    assert not any("balloon" in text for text in later["cora"].perceived), "she is in the barn"
    assert any("sister" in text for text in later["ben"].perceived)
    assert any("balloon" in one.description for one in world.brains["anna"].memories)


@requirement("9", "Of a sentence that reaches nobody the person is told", "World.inject", "engine/god_mode.py")
def test_a_sentence_that_reaches_nobody_says_so(society):
    world = society()
    world.tick()
    assert "nobody will perceive it" in world.inject("A plate falls in the loft.")
    assert "nobody" not in world.inject("A plate falls in the barn.")
    world.tick()
    lines = PlainLines(world.run.scenario.part).lines(world.run.reading.frame())
    told = [line.plain for line in lines if "plate" in line.plain]
    assert ["nobody is there to perceive it" in line for line in told] == [True, False]


# ── §10–11: done, and the least of it ────────────────────────────────────────────────────────────────────────────────


@requirement("10", "`uv run pytest`: the tests of the backend", "uv run pytest", "pyproject.toml")
@requirement("10", "`pnpm -r build`: the page", "npm run build", "web/package.json")
def test_tests_and_builds_are_commands():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["pytest"]["ini_options"]["testpaths"] == ["tests"]
    scripts = json.loads((PROJECT / "web" / "package.json").read_text(encoding="utf-8"))["scripts"]
    assert "vite build" in scripts["build"]
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert "\ntest:" in makefile
    (extras,) = re.findall(r"^EXTRAS := (.*)$", makefile, re.MULTILINE)
    assert project["dependency-groups"]["dev"] == [f"commonplace-society[{extras}]", {"include-group": "test"}]


@requirement("11", "Two characters of different personas", "World('plaza')", "scenarios/plaza.yaml")
@requirement("11", "Storing, retrieving, reflecting and planning anew", "World.tick", TURN)
@requirement("11", "They walk and talk by themselves on the map of a square", "World.tick", "engine/lockstep.py")
@requirement("11", "A person can watch", "commonplace watch RUN, commonplace serve RUN", "cli/watch.py")
def test_the_mvp_lives_through_half_a_day(day):
    personas = day.run.scenario.personas
    assert len(personas) == 2
    assert len({(one.traits, one.goals, one.background) for one in personas.values()}) == 2
    reading = day.run.reading
    for type in ("MOVE", "SAY", "INTERACT", "REFLECTED", "PLAN_CHANGED", "CONVERSATION_STARTED"):
        assert reading.events(type=type), type
    assert {one.agent_id for one in day.run.reading.events(type="REFLECTED")} == set(personas)
    assert len(list(reading.frames())) == 145
