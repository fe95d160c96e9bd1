"""The sitcom simulator, section by section; what holds of long dialogues is measured over 200 turns."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from cognition.hamlet import Town
from commonplace.errors import UsageError
from commonplace.founding import sitcom
from commonplace.founding.sitcom import (
    Agent,
    AgentProfile,
    AgentState,
    Memory,
    MemoryStream,
    ScoredMemory,
    StoreEvent,
    TurnRecord,
    collection_name,
    final_score,
    importance_rule_score,
    recency_score,
)
from commonplace.languages import phrases
from commonplace.memory import default_embedder, policies
from commonplace.minds.offline.mind import OfflineMind
from commonplace.parts.duet.stage import DUET
from commonplace.parts.duet.tasks import DUET_REFLECT, LONGEST_PLAN, LONGEST_REFLECTION, LOST_THREAD
from commonplace.parts.model_servers.prompt_mind import PromptMind
from commonplace.parts.stores.chroma import ChromaStore
from commonplace.scenario.compiling import load
from commonplace.testing.server import Faults, ModelServer

PROJECT = Path(__file__).parents[2]
MODULE, STREAM, STAGE, STORE = (
    "founding/sitcom.py",
    "memory/stream.py",
    "parts/duet/stage.py",
    "parts/duet/store_policy.py",
)
SCORING, RULES, CLIENT = "memory/scoring.py", "memory/importance.py", "parts/model_servers/prompt_mind.py"
LOST = phrases("ko", "lines")[LOST_THREAD]
requirement = pytest.mark.requirement


class Clock:
    """A moment that passes when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2031, 10, 4, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **spans: float) -> None:
        self.now += timedelta(**spans)


@pytest.fixture
def clock() -> Clock:
    return Clock()


CAST = {
    "철수": ("능청스럽고 고집이 세지만 속은 따뜻하다", "떡볶이 가게를 열기", "로제떡볶이 월세 우산 기타 편지 동생"),
    "영희": ("꼼꼼하고 솔직하며 걱정이 많고 잘 웃는다", "요리 대회에서 이기기", "대회 장부 은행 바다 오토바이 생일"),
}


def agent(name: str, clock: Clock, client: object = None, folder: Path | None = None, **settings: Any) -> Agent:
    """One of the two, with six memories."""
    traits, goal, subjects = CAST[name]
    stream = MemoryStream(name, folder, clock=clock)
    for subject in subjects.split():
        stream.add(
            Memory(content=f"{subject} 이야기는 아직 아무도 몰라요.", created_at=clock(), importance=5, tags=[subject])
        )
    return Agent(AgentProfile(name=name, traits=traits, goal=goal), AgentState(), stream, client, **settings)


def pair(clock: Clock, client: object = None, **settings: Any) -> tuple[Agent, Agent]:
    return agent("철수", clock, client, **settings), agent("영희", clock, client, **settings)


def talk(two: tuple[Agent, Agent], turns: int, clock: Clock) -> list[TurnRecord]:
    """So many turns, as the page's §9.2 has them."""
    transcript: list[TurnRecord] = []
    for number in range(turns):
        speaker, listener = two[number % 2], two[1 - number % 2]
        context = " ".join(one.utterance for one in transcript[-3:]) or "비 오는 저녁의 부엌"
        transcript.append(speaker.run_step(context, listener.profile.name, transcript[-6:]))
        clock.pass_(minutes=1)
    return transcript


class Client:
    """Keeps its prompts; answers JSON, or what a function of the prompt gives."""

    def __init__(self, answer: Callable[[str], str] | None = None) -> None:
        self.prompts: list[str] = []
        self._answer = answer

    def generate(self, prompt: str) -> str:
        self.prompts.append(prompt)
        if self._answer is not None:
            return self._answer(prompt)
        said = {"say": f"그 말은 {'참 ' * len(self.prompts)}좋네요.", "plan": "한 걸음 다가간다.", "mood": "편안함"}
        return json.dumps(said | {"text": "영희의 말이 마음에 남는다.", "because": []}, ensure_ascii=False)

    def of(self, words: str) -> list[str]:
        return [one for one in self.prompts if words in one]


REFLECTS = "지금까지의 대화를 돌아봅니다"

# ── 1: goals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("1.1", "A turn retrieves, reflects when it is due, plans, speaks and stores", "Agent.run_step", STAGE)
def test_a_turn_takes_all_five_steps(clock):
    two = pair(clock, reflection_period=1)
    records = talk(two, 4, clock)
    last = records[-1]
    assert len(last.retrieved) == 5
    assert last.reflection
    assert last.plan
    assert last.utterance
    assert any(event.stored and event.memory_type == "reflection" for event in last.store_events)
    assert (last.speaker, last.listener) == ("영희", "철수")


@requirement("1.1", "The same settings and seed give the same dialogue", "Agent(seed=…)", "engine/driver.py")
def test_the_same_settings_and_seed_give_the_same_dialogue():
    def lived(seed: int) -> list[dict[str, Any]]:
        clock = Clock()
        records = [one.model_dump(mode="json") for one in talk(pair(clock, seed=seed), 8, clock)]
        return [one | {"timestamps": one["timestamps"]["at"]} for one in records]

    assert lived(7) == lived(7) != lived(8)


# ── 5: data ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("5.1", "`Memory`: id in the form of a uuid4, and every field with its type", "Memory", MODULE)
def test_a_memory_has_its_fields(clock):
    assert set(Memory.model_fields) == {
        "id", "content", "memory_type", "created_at", "importance", "source", "tags", "embedding",
    }  # fmt: skip
    one = Memory(content="약속했다.", created_at=clock(), source="agent_said", tags=["월세"])
    assert (one.memory_type, one.embedding, UUID(one.id).version) == ("observation", None, 4)
    assert one.id == Memory(content="약속했다.", created_at=clock(), source="agent_said").id
    assert one.id != Memory(content="약속했다!", created_at=clock(), source="agent_said").id
    for kind in ("observation", "reflection", "plan"):
        assert Memory(content="x", memory_type=kind).memory_type == kind
    with pytest.raises(ValidationError):
        Memory(content="x", memory_type="dream")  # pyright: ignore[reportArgumentType]


@requirement("5.1", "`content` has 1–2,000 characters, `importance` is 1–10", "Memory", MODULE)
def test_contents_and_importances_have_their_ranges():
    for wrong in ({"content": ""}, {"content": "x" * 2001}, {"importance": 0}, {"importance": 11}):
        with pytest.raises(ValidationError):
            Memory(**({"content": "x"} | wrong))
    assert len(Memory(content="x" * 2000, importance=10).content) == 2000
    assert Memory(content="x", importance=1).importance == 1


@requirement("5.1", "What a stream remembers comes back with all its fields", "MemoryStream.add, .memories", STREAM)
def test_a_memory_comes_back_as_it_was(clock):
    stream = MemoryStream("철수", clock=clock)
    vector = [0.0] * (default_embedder().dimensions - 1) + [1.0]
    given = [
        Memory(content="관찰", created_at=clock(), importance=6, source="agent_said", tags=["월세"], embedding=vector),
        Memory(content="생각", memory_type="reflection", created_at=clock(), importance=7, source="agent_reflection"),
        Memory(content="계획", memory_type="plan", created_at=clock()),
    ]
    for one in given:
        assert stream.add(one) == one
        stream.add(one)
    blank = {"embedding": None}
    assert [one.model_copy(update=blank) for one in stream.memories] == [one.model_copy(update=blank) for one in given]
    assert all(one.embedding for one in stream.memories)
    assert stream.memories[0].embedding == vector
    first = MemoryStream("영희")
    first.add(Memory(content="생각", memory_type="reflection"))
    assert first.memories[0].memory_type == "reflection", "with nothing to rest on, too"


@requirement("5.2", "`AgentProfile`: name, traits, goal; short traits are pointed out", "AgentProfile", MODULE)
def test_a_profile_has_its_fields_and_short_traits_are_pointed_out(clock, caplog):
    assert set(AgentProfile.model_fields) == {"name", "traits", "goal"}
    with pytest.raises(ValidationError):
        AgentProfile(name="", traits="느긋하다")
    pair(clock)
    assert not caplog.records
    Agent(AgentProfile(name="철수", traits="느긋하다"), AgentState(), MemoryStream("철수"))
    assert "20 characters" in caplog.text


@requirement("5.3", "`AgentState`: turn, context, last plan, last line, mood", "AgentState", MODULE)
def test_the_state_follows_the_turns(clock):
    assert AgentState().model_dump() == {
        "turn_index": 0, "current_context": "", "last_plan": None, "last_utterance": None, "mood_hint": None,
    }  # fmt: skip
    one = agent("철수", clock, Client())
    record = one.run_step("비 오는 저녁", "영희")
    assert one.state.model_dump() == {
        "turn_index": 1,
        "current_context": "비 오는 저녁",
        "last_plan": record.plan,
        "last_utterance": record.utterance,
        "mood_hint": "편안함",
    }


@requirement("5.4", "`TurnRecord`: every field", "TurnRecord", MODULE)
def test_a_turn_record_has_its_fields_and_becomes_json(clock):
    wanted = {
        "turn_id", "speaker", "listener", "context_in", "retrieved", "reflection", "plan", "utterance",
        "store_events", "timestamps",
    }  # fmt: skip
    assert wanted <= set(TurnRecord.model_fields)
    records = talk(pair(clock), 3, clock)
    assert len({one.turn_id for one in records}) == 3
    assert all(one.context_in for one in records)
    assert records[0].timestamps["at"] == "2031-10-04T12:00:00Z"
    assert all(one.timestamps["seconds"] >= 0 for one in records)
    written = json.dumps(records[2].model_dump(mode="json"), ensure_ascii=False)
    assert TurnRecord.model_validate_json(written) == records[2]


@requirement("5.5", "`ScoredMemory` and `StoreEvent`: every field", "ScoredMemory, StoreEvent", MODULE)
def test_scored_memories_and_store_events_have_their_fields():
    assert set(ScoredMemory.model_fields) == {
        "memory", "similarity", "recency_score", "importance_score", "final_score",
    }  # fmt: skip
    assert set(StoreEvent.model_fields) == {"memory_type", "content", "importance", "stored", "reason"}


# ── 6: memory ────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("6.1", "ChromaDB in a folder: a collection `memories_agent_{name}` each, still there later",
             "MemoryStream(name, folder)", "parts/stores/chroma.py")  # fmt: skip
@requirement(
    "6.1", "Metadata: `memory_type created_at importance source`", "MemoryStream.add", "parts/stores/chroma.py"
)
@requirement("13.1", "What is added and retrieved carries its metadata", "MemoryStream", "parts/stores/chroma.py")
def test_chroma_keeps_a_collection_for_each_with_the_metadata(tmp_path, clock):
    pytest.importorskip("chromadb")
    streams = [MemoryStream(name, tmp_path / "chroma", clock=clock) for name in ("max", "영희")]
    for stream in streams:
        stream.add(Memory(content="우산을 샀다.", created_at=clock(), importance=6, source="agent_said"))
        assert stream.notices == []
    (hit,) = streams[1].retrieve("우산")
    assert (hit.memory.importance, hit.memory.source) == (6, "agent_said")
    assert collection_name("max") == "memories_agent_max"
    for stream in streams:
        stream.close()
    store = ChromaStore(tmp_path / "chroma")
    found = {one.name: one for one in store._client.list_collections()}
    assert set(found) == {"memories_agent_max", collection_name("영희")}
    (metadata,) = found["memories_agent_max"].get(include=["metadatas"])["metadatas"]
    kept = {name: metadata[name] for name in ("memory_type", "created_at", "importance", "source")}
    assert kept == {
        "memory_type": "observation", "created_at": int(clock().timestamp()), "importance": 6.0, "source": "agent_said",
    }  # fmt: skip
    store.close()
    again = MemoryStream("max", tmp_path / "chroma")
    assert [one.content for one in again.memories] == ["우산을 샀다."]
    again.reset()
    assert len(again) == 0
    again.close()


EXAMPLES = [
    ("그냥 그래", 3),
    ("결정했어", 5),
    ("약속했어", 5),
    ("실수였어", 5),
    ("고백할 게 있어", 5),
    ("결정했고 실수도 고백했어", 5),
    ("너무 화나", 4),
    ("기쁨이야", 4),
    ("너무 불안해", 4),
    ("연습은 어때", 5),
    ("영희가 왔어", 4),
    ("우리 엄마야", 4),
    ("영희야, 기쁨으로 약속할게, 연습하자", 9),
]


@requirement("6.2", "Base 3; events +2, feelings +1, a word of the goal +2, a name or relation +1; at most 10",
             "importance_rule_score", RULES)  # fmt: skip
@requirement("13.1", "Importance by fixed examples", "importance_rule_score", RULES)
@pytest.mark.parametrize(("text", "importance"), EXAMPLES)
def test_importance_by_fixed_examples(text, importance):
    assert importance_rule_score(text, goal="노래 연습을 끝내기", names=("영희",)) == importance


@requirement("6.2", "Importance is between 1 and 10, whatever the text", "importance_rule_score", RULES)
@given(st.text(max_size=80))
def test_importance_is_between_1_and_10(text: str) -> None:
    assert 1 <= importance_rule_score(text, goal=text, names=(text,)) <= 10


@requirement("6.2", "The mind corrects the rules by request only, at temperature 0, in JSON of a fixed form; cached by "
             "sha256", "Agent(importance='both')", STORE)  # fmt: skip
@requirement("8.4", "The prompt for importance asks for 1–10 in JSON, at temperature 0", "Agent(importance='both')",
             "minds/tasks/rate.py")  # fmt: skip
@requirement("13.1", "A rating is cached", "Agent(importance='both')", STORE)
def test_a_mind_corrects_importance_once_for_each_line(clock):
    from commonplace.minds.tasks import RATE

    def answer(prompt: str) -> str:
        return '{"ratings": [{"importance": 9}, {"importance": 9}]}' if "ratings" in prompt else '{"say": "그래요."}'

    client = Client(answer)
    one = agent("철수", clock, client, importance="both")
    one.run_step("부엌", "영희", [("영희", "음, 가게를 보자.")])
    one.run_step("부엌", "영희", [("영희", "음, 가게를 보자.")])
    rated = client.of("ratings")
    assert len(rated) == 1
    assert RATE.temperature == 0
    assert '"importance"' in rated[0]
    assert '"maximum":10' in rated[0] or "10" in rated[0]
    assert one._character is not None
    keys = one._character.weighed
    assert len(keys) == 2
    assert all(len(key) == len(sha256().hexdigest()) for key in keys)
    plain = agent("철수", clock, client)
    plain.run_step("부엌", "영희", [("영희", "음, 가게를 보자.")])
    assert client.of("ratings") == rated, "rules alone unless it is asked for"


@requirement("6.3", "`recency = exp(−age / τ)`, 0–1; `final = w_sim·sim + w_rec·rec + w_imp·imp`",
             "recency_score, final_score", SCORING)  # fmt: skip
@requirement(
    "13.1", "Recency is between 0 and 1; the final score is the weighted sum", "recency_score, final_score", SCORING
)
@given(st.floats(0, 5_000), st.integers(1, 10), st.floats(1, 500))
def test_scores_are_the_documents_formulas(hours: float, importance: int, tau: float) -> None:
    now = datetime(2031, 10, 4, 12, tzinfo=UTC)
    stream = MemoryStream("철수", w_sim=0.6, w_rec=0.3, w_imp=0.1, tau=tau, clock=lambda: now)
    stream.add(Memory(content="빨간 우산", created_at=now - timedelta(hours=hours), importance=importance))
    (hit,) = stream.retrieve("우산")
    assert 0 <= hit.recency_score <= 1
    assert hit.recency_score == pytest.approx(math.exp(-hours / tau), abs=1e-6)
    assert hit.recency_score == pytest.approx(recency_score(hours, tau), abs=1e-6)
    assert hit.importance_score == pytest.approx((importance - 1) / 9)
    (again,) = stream.retrieve("우산", now=now + timedelta(hours=tau))
    assert again.recency_score == pytest.approx(hit.recency_score / math.e, abs=1e-6), "by age, not by the last access"
    total = final_score(hit.similarity, hit.recency_score, hit.importance_score, w_sim=0.6, w_rec=0.3, w_imp=0.1)
    assert hit.final_score == pytest.approx(total, abs=1e-6)
    assert recency_score(-hours) == 1
    assert final_score(1, 1, 1) == 1


@requirement("6.3", "The `topN` nearest compete, the best `k` are returned", "MemoryStream(top_n=, k=)", SCORING)
def test_the_nearest_compete_and_the_best_are_returned(clock):
    stream = MemoryStream("철수", top_n=3, k=2, clock=clock)
    for number in range(8):
        stream.add(Memory(content=f"아무 관계 없는 {number}번째 일", created_at=clock(), importance=10))
    for text in ("빨간 우산", "빨간 우산 하나", "파란 우산"):
        stream.add(Memory(content=text, created_at=clock(), importance=1))
    found = stream.retrieve("빨간 우산")
    assert {one.memory.content for one in found} == {"빨간 우산", "빨간 우산 하나"}, "not the important ones"
    assert [one.final_score for one in found] == sorted((one.final_score for one in found), reverse=True)
    assert max(one.similarity for one in found) == pytest.approx(1, abs=1e-3), "a cosine, made of Chroma's distance"
    assert len(stream.retrieve("빨간 우산", k=3)) == 3
    assert (MemoryStream("x").policy.nearest, MemoryStream("x").k) == (20, 5)


@requirement("6.3", "Chroma's own search finds the candidates that the exact one finds", "ChromaStore.nearest",
             "parts/stores/chroma.py")  # fmt: skip
def test_chroma_finds_the_same_candidates(tmp_path, clock):
    pytest.importorskip("chromadb")
    one = agent("철수", clock, folder=tmp_path / "chroma")
    store: Any = one.memory_stream.stream._keeper.store  # pyright: ignore[reportOptionalMemberAccess]
    exact = one.memory_stream.stream.recall(
        "우산 이야기", at=clock(), k=3, policy=replace(policies.TWO_STAGE, nearest=3)
    )
    near = dict(store.nearest("철수", default_embedder().embed(["우산 이야기"])[0], 3))
    assert near == {hit.memory.id: pytest.approx(hit.parts["relevance"].raw, abs=1e-3) for hit in exact}
    one.memory_stream.close()


@requirement("6.4", "Not every line is stored: importance 6 or more, a new fact, a promise, a quarrel",
             "TurnRecord.store_events", STORE)  # fmt: skip
@requirement(
    "7.2 F", "One's own line and the other's are decided on, each with its reason", "TurnRecord.store_events", STORE
)
@requirement("14", "Observations are stored on condition, noise is not", "TurnRecord.store_events", STORE)
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("그래요.", ""),
        ("엄마, 약속할게요.", "중요도 6"),
        ("밥은 제가 살게요.", "약속"),
        ("또 변명이네요.", "갈등"),
        ("금요일에 시작해요.", "새로운 사실"),
    ],
)
def test_only_what_matters_is_stored(line, reason, clock):
    record = agent("철수", clock, Client()).run_step("부엌", "영희", [("영희", line)])
    heard, own = sorted(record.store_events, key=lambda event: line not in event.content)
    assert line in heard.content
    assert heard.stored is bool(reason)
    assert reason in heard.reason
    assert record.utterance in own.content
    assert all(event.reason and 1 <= event.importance <= 10 for event in (heard, own))


@requirement(
    "6.4", "Reflections are always stored, in short; plans only if it is asked for", "Agent(store_plans=True)", STAGE
)
def test_reflections_are_stored_and_plans_if_it_is_asked_for(clock):
    for wanted in (False, True):
        one = agent("철수", clock, Client(), store_plans=wanted, reflection_period=1)
        for _ in range(3):
            record = one.run_step("부엌", "영희", [("영희", "그래요.")])
            assert record.plan
        kinds = [memory.memory_type for memory in one.memory_stream.memories]
        assert kinds.count("plan") == (3 if wanted else 0)
        assert kinds.count("reflection") >= 1
        assert DUET_REFLECT.output.model_fields["text"].metadata


# ── 7: the turn ──────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "7.1",
    "An agent is made of profile, state, stream and client",
    "Agent(profile, state, memory_stream, llm_client)",
    MODULE,
)
def test_an_agent_takes_any_client(clock):
    def complete(prompt: str) -> str:
        return '{"say": "좋아요."}'

    class Other:
        def complete(self, prompt: str) -> str:
            return complete(prompt)

    for client in (complete, Other(), Client(complete)):
        assert agent("철수", clock, client).run_step("부엌", "영희").utterance == "좋아요."
    assert agent("철수", clock, "offline").run_step("부엌", "영희").utterance
    for wrong in (7, "nonsense"):
        with pytest.raises(UsageError):
            agent("철수", clock, wrong).run_step("부엌", "영희")
    with pytest.raises(UsageError, match="cannot talk to itself"):
        agent("철수", clock).run_step("부엌", "철수")


@requirement("7.1", "The name or address of a server is a client", "Agent(llm_client='openai:…')",
             "api.py")  # fmt: skip
def test_a_server_is_a_client(clock):
    with ModelServer() as server:
        record = agent("철수", clock, server.url).run_step("부엌", "영희")
    assert record.utterance
    assert record.utterance != LOST


@requirement("7.2 A", "The query is context, partner and goal", "Agent.run_step", STAGE)
@requirement(
    "7.2",
    "`context`, the other's name and the recent dialogue go in, a `TurnRecord` comes out",
    "Agent.run_step",
    MODULE,
)
def test_the_query_is_context_partner_and_goal(clock, caplog):
    one, client = agent("철수", clock, Client()), Client()
    with caplog.at_level(logging.DEBUG, "commonplace.founding.sitcom"):
        record = one.run_step("비가 온다", "영희", [("철수", "왔어요?"), ("영희", "네, 방금요.")])
    assert isinstance(record, TurnRecord)
    assert record.context_in == "비가 온다"
    found = agent("철수", clock).memory_stream.retrieve("비가 온다 상대: 영희 내 목표: 떡볶이 가게를 열기")
    assert [hit.memory.content for hit in record.retrieved] == [hit.memory.content for hit in found]
    one = agent("철수", clock, client)
    one.run_step("비가 온다", "영희", [("철수", "왔어요?"), ("영희", "네, 방금요.")])
    (prompt,) = client.prompts
    assert all(words in prompt for words in ("비가 온다", "왔어요?", "네, 방금요.", "떡볶이 가게를 열기"))


@requirement("7.2 B", "Each turn retrieves", "TurnRecord.retrieved", STAGE)
@requirement("13.2", "Three turns: a transcript of three, `k` memories each", "Agent.run_step", STAGE)
def test_three_turns_with_k_memories_each(clock):
    records = talk(pair(clock), 3, clock)
    assert [len(one.retrieved) for one in records] == [5, 5, 5]


@requirement("7.2 C", "A reflection of one to three sentences whenever `turn_index % reflection_period == 0`, "
             "not on the first turn; stored",
             "Agent(reflection_period=6)", MODULE)  # fmt: skip
@requirement("13.2", "At its period a reflection is made", "TurnRecord.reflection", STAGE)
@requirement("14", "Reflections are made periodically and stored", "TurnRecord.reflection", STAGE)
def test_a_reflection_at_its_period(clock):
    one = agent("철수", clock, Client(), reflection_period=2)
    records = [one.run_step("부엌", "영희", [("영희", f"{'정말 ' * turn}그래요.")]) for turn in range(7)]
    assert [bool(record.reflection) for record in records] == [False, False, True, False, True, False, True]
    (made,) = [
        event
        for record in records
        for event in record.store_events
        if event.stored and event.memory_type == "reflection"
    ]
    assert made.reason == "2턴마다"
    kept = [memory for memory in one.memory_stream.memories if memory.memory_type == "reflection"]
    assert len(kept) == 1, "the same thought is not stored again"
    assert {memory.source for memory in kept} == {"agent_reflection"}
    late = Agent(one.profile, AgentState(turn_index=6), one.memory_stream, Client())
    assert late.run_step("부엌", "영희", [("영희", "그래요.")]).reflection
    never = agent("철수", clock, Client(), reflection_period=0)
    assert not any(never.run_step("부엌", "영희").reflection for _ in range(3))


@requirement(
    "7.2 D", "A plan of one sentence, from profile, context, reflection and memories", "TurnRecord.plan", STAGE
)
@requirement(
    "8.2",
    "The planner asks for one sentence of concrete action, in JSON",
    "Agent(requests=2)",
    "languages/ko/prompts/duet_plan.txt",
)
def test_a_plan_is_one_sentence(clock):
    said = {
        "plan": "먼저 오늘 일을 묻는다. 그리고 나서 함께 웃는다.",
        "say": "어때요?",
        "text": "생각이다.",
        "because": [],
    }
    client = Client(lambda prompt: json.dumps(said))
    one = agent("철수", clock, client, requests=2, reflection_period=1)
    one.run_step("부엌", "영희")
    record = one.run_step("부엌", "영희", [("영희", "그래요.")])
    assert record.plan == "먼저 오늘 일을 묻는다."
    plan = next(prompt for prompt in client.prompts[2:] if "구체적인 행동, 한 문장" in prompt)
    for words in ("철수", "능청스럽고", "부엌", "생각이다.", "로제떡볶이", "떡볶이 가게를 열기", "JSON"):
        assert words in plan, words


@requirement("7.2 E", "A line of one or two sentences; no monologue, no talk of being an AI", "TurnRecord.utterance",
             "minds/prompts/speech_guard.py")  # fmt: skip
@requirement("8.1", "The system prompt: name, traits, goal, one or two sentences, no harm", "Agent.run_step",
             "languages/ko/prompts/duet_turn.txt")  # fmt: skip
def test_a_line_is_one_or_two_sentences_and_in_character(clock):
    long = Client(lambda prompt: json.dumps({"say": "첫째로 문을 엽니다. 둘째로 불을 켭니다. 셋째로 물을 끓입니다."}))
    assert agent("철수", clock, long).run_step("부엌", "영희").utterance == "첫째로 문을 엽니다. 둘째로 불을 켭니다."
    (prompt,) = long.prompts
    system = prompt.split("[user]")[0]
    for words in ("당신은 철수", "능청스럽고", "떡볶이 가게를 열기", "한두 문장", "독백", "혐오", "범죄"):
        assert words in system, words
    assert not re.search("[0-9]+세|room", system), "nothing is made up that the profile does not say"
    for line in ("저는 AI라서 잘 모르겠어요.", "나는 AI라서…", "As an AI I cannot say.", "I'm an AI, 미안해요."):
        meta = Client(lambda prompt, line=line: json.dumps({"say": line}))
        assert agent("철수", clock, meta).run_step("부엌", "영희").utterance == LOST, line
        assert len(meta.prompts) == 2, "it is told what was wrong, and asked once more"


@requirement("8.3", "The reflection prompt: lessons, feelings, relation and progress, in JSON", "Agent.run_step",
             "languages/ko/prompts/duet_reflect.txt")  # fmt: skip
def test_the_reflection_prompt_asks_for_lessons_and_progress(clock):
    client = Client()
    one = agent("철수", clock, client, reflection_period=1)
    for _ in range(2):
        one.run_step("부엌", "영희", [("영희", "월세는 제가 냈어요.")])
    (prompt,) = client.of(REFLECTS)
    for words in ("교훈", "감정과 관계", "목표의 진행", "한 문장에서 세 문장", "월세는 제가 냈어요", "JSON"):
        assert words in prompt, words


@requirement(
    "7.2 F", "What the other says is heard once, however much of the dialogue is given again", "Agent.run_step", MODULE
)
def test_the_dialogue_may_be_given_again(clock):
    one = agent("철수", clock, Client())
    first = one.run_step("부엌", "영희", [("영희", "금요일에 시작해요.")])
    said = [("영희", "금요일에 시작해요."), ("철수", first.utterance), ("영희", "토요일에 끝나요.")]
    second = one.run_step("부엌", "영희", said)
    assert [line.utterance for line in one._lines] == [*(text for _, text in said), second.utterance]
    facts = [event.content for event in (*first.store_events, *second.store_events) if event.stored]
    assert [("금요일" in text, "토요일" in text) for text in facts] == [(True, False), (False, True)]


@requirement("7.2 E", "Every turn has its line: also without a memory, and after everything has been said",
             "TurnRecord.utterance", "parts/duet/talk.py")  # fmt: skip
def test_every_turn_has_its_line(clock):
    two = [
        Agent(AgentProfile(name=name, traits=traits, goal=goal), AgentState(), MemoryStream(name, clock=clock))
        for name, (traits, goal, _) in CAST.items()
    ]
    lines = [one.utterance for one in talk((two[0], two[1]), 160, clock)]
    assert all(lines)
    assert len(set(lines)) < len(lines), "long enough that something had to be said again"
    assert not any(line in lines[max(0, at - 20) : at] for at, line in enumerate(lines))


# ── 10: logging ──────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("10.1", "INFO: beginning and end of a turn, what was stored, tokens and time", "logging", MODULE)
@requirement("10.1", "DEBUG: the `topN` as found and as ranked again", "logging", MODULE)
@requirement("10.1", "ERROR: what failed", "logging", MODULE)
def test_turns_are_logged(clock, caplog):
    with caplog.at_level(logging.DEBUG, "commonplace.founding.sitcom"):
        record = agent("철수", clock, Client(lambda _: "{")).run_step("부엌", "영희")
    said = [(one.levelname, one.getMessage()) for one in caplog.records if one.name == "commonplace.founding.sitcom"]
    assert [(level, text.split(":")[0]) for level, text in said] == [
        ("INFO", "turn 1 of 철수 begins"),
        ("DEBUG", "turn 1 top 6"),
        ("DEBUG", "turn 1 re-ranked"),
        ("INFO", "turn 1 ends"),
        ("ERROR", "turn 1"),
    ]
    assert re.search(r"0 of 1 stored, [1-9][0-9]* tokens, ", said[3][1])
    assert record.problems == [said[4][1].removeprefix("turn 1: ")]


# ── 11: what goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "11.1", "A failing client is called up to two times more, with waits that double", "Agent.run_step", CLIENT
)
@requirement(
    "11.1", "Then a placeholder is said, the fault is named, and the dialogue goes on", "TurnRecord.problems", STAGE
)
def test_a_client_that_fails_costs_a_line(clock, monkeypatch, caplog):
    waits: list[float] = []
    calls: list[str] = []

    def fails(prompt: str) -> str:
        calls.append(prompt)
        raise ConnectionError("429 rate limit")

    async def waited(seconds: float) -> None:
        waits.append(seconds)

    defaults = {**PromptMind.__init__.__kwdefaults__, "sleep": waited}
    monkeypatch.setattr(PromptMind.__init__, "__kwdefaults__", defaults)
    one = agent("철수", clock, fails)
    record = one.run_step("부엌", "영희")
    assert record.utterance == LOST
    assert (len(calls), waits) == (3, [0.5, 1.0])
    assert record.problems == ["duet_turn: client"]
    assert "429 rate limit" in caplog.text
    assert not any(event.stored for event in record.store_events)
    one._mind, one._client = None, Client()
    assert one.run_step("부엌", "영희", [record]).utterance != LOST


@requirement(
    "11.1",
    "A server whose answers cannot be used costs the line",
    "Agent(llm_client=URL)",
    "parts/model_servers/chat_mind.py",
)
def test_a_server_that_answers_nonsense_costs_a_line(clock):
    with ModelServer(faults=Faults(1.0, kinds=("wrong_schema",))) as server:
        record = agent("철수", clock, server.url).run_step("부엌", "영희")
    assert (record.utterance, record.problems) == (LOST, ["duet_turn: schema"])


@requirement(
    "11.2",
    "Where Chroma cannot be used, memories are kept in RAM and the dialogue goes on",
    "MemoryStream.notices",
    MODULE,
)
def test_without_chroma_the_dialogue_goes_on(tmp_path, clock, monkeypatch):
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "chroma.sqlite3").write_bytes(b"not a database" * 100)
    one = agent("철수", clock, folder=damaged)
    assert one.memory_stream.notices
    assert len(one.run_step("부엌", "영희").retrieved) == 5
    monkeypatch.setitem(sys.modules, "chromadb", None)
    missing = agent("철수", clock, folder=tmp_path / "missing")
    assert "chroma" in missing.memory_stream.notices[0]
    assert missing.run_step("부엌", "영희").utterance


@requirement("11.2", "A memory that cannot be stored does not end the dialogue", "MemoryStream.notices", MODULE)
def test_storing_may_fail(tmp_path, clock, monkeypatch):
    pytest.importorskip("chromadb")
    one = agent("철수", clock, folder=tmp_path / "chroma")
    assert one.memory_stream.notices == []

    def fails(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(ChromaStore, "write", fails)
    record = one.run_step("부엌", "영희", [("영희", "금요일에 시작해요.")])
    assert any(event.stored for event in record.store_events)
    assert one.memory_stream.notices == ["Chroma: disk full"]
    assert "금요일" in one.memory_stream.memories[-1].content
    assert len(one.memory_stream) == 7


@requirement("11.3", "Plain words instead of JSON are the line, the plan or the reflection; each has its length",
             "Agent.run_step", CLIENT)  # fmt: skip
def test_plain_words_are_taken_as_they_are(clock):
    client = Client(lambda prompt: "그냥 하는 말이에요. " * 60)
    one = agent("철수", clock, client, reflection_period=1, requests=2)
    one.run_step("부엌", "영희", [("영희", "그래요.")])
    record = one.run_step("부엌", "영희", [("영희", "정말요.")])
    assert record.utterance == "그냥 하는 말이에요. 그냥 하는 말이에요."
    assert record.plan == "그냥 하는 말이에요."
    assert len(record.plan) <= LONGEST_PLAN
    assert record.reflection is not None
    assert record.reflection.startswith("그냥 하는 말이에요.")
    assert len(record.reflection) <= LONGEST_REFLECTION


# ── 12: keys, cost, speed ────────────────────────────────────────────────────────────────────────────────────────────


@requirement("12.1", "The key is read from the environment alone", "OPENAI_API_KEY", "parts/model_servers/http.py")
def test_the_key_comes_from_the_environment(clock, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        agent("철수", clock, "openai:gpt-5-mini").run_step("부엌", "영희")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    one = agent("철수", clock, "openai:gpt-5-mini")
    mind = one._asked(one._scenario("영희"))
    assert mind.name == "openai:gpt-5-mini"
    assert "sk-secret" not in repr(vars(one))


@requirement(
    "12.2", "One request a turn with the plan in it, or two; a reflection now and then", "Agent(requests=1)", STAGE
)
def test_a_turn_is_one_request(clock):
    counts: list[int] = []
    for requests in (1, 2):
        client = Client()
        one = agent("철수", clock, client, requests=requests, reflection_period=2)
        for _ in range(3):
            one.run_step("부엌", "영희", [("영희", "그래요.")])
        assert len(client.of(REFLECTS)) == 1
        counts.append(len(client.prompts))
    assert counts == [4, 7]


@requirement("12.2", "Texts are embedded when they are stored, and the query", "MemoryStream", STREAM)
def test_what_is_not_stored_is_not_embedded(clock):
    one = agent("철수", clock)
    table, made = one.memory_stream.stream.table, []
    embedder = table.embedder

    class Counting:
        name, spelling, dimensions = embedder.name, True, embedder.dimensions

        def embed(self, texts: Any) -> Any:
            made.extend(texts)
            return embedder.embed(texts)

    table.embedder = Counting()  # pyright: ignore[reportAttributeAccessIssue]
    record = one.run_step("부엌", "영희", [("영희", "그래요.")])
    assert not any(event.stored for event in record.store_events)
    assert len(made) == 1


@requirement("12.3", "A turn without a model takes far less than two seconds", "TurnRecord.timestamps", STAGE)
def test_a_turn_is_quick(clock):
    records = talk(pair(clock), 6, clock)
    assert sum(one.timestamps["seconds"] for one in records) / 6 < 2


# ── 4 and 15: the parts ──────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "4.1", "Everything of the modules `models memory_stream agent scoring`", "commonplace.founding.sitcom", MODULE
)
def test_every_name_of_the_document_is_there():
    assert {
        "Memory", "AgentProfile", "AgentState", "TurnRecord", "ScoredMemory", "StoreEvent", "MemoryStream", "Agent",
        "importance_rule_score", "recency_score", "final_score",
    } <= set(sitcom.__all__)  # fmt: skip
    assert all(hasattr(sitcom, name) for name in sitcom.__all__)


# ── 3, 9, 10.2: the page ─────────────────────────────────────────────────────────────────────────────────────────────

PAGE, SESSION = "parts/duet/sitcom/app.py", "parts/duet/sitcom/dialogue.py"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """The page of `app.py` after ten turns, in a folder of its own."""
    pytest.importorskip("streamlit")
    pytest.importorskip("chromadb")
    from streamlit.testing.v1 import AppTest

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        patch.setattr(sys, "argv", ["app.py"])
        found = AppTest.from_file(PROJECT / "app.py", default_timeout=60).run()
        found.button(key="run_many").click().run()
        assert not found.exception
        yield found


@requirement("3.1", "Sidebar: name, traits, goal of both; model, temperature; `k`, `topN`, weights, reflection period",
             "streamlit run app.py", PAGE)  # fmt: skip
@requirement("3.1", "Buttons: Reset, Run 1 Turn, Run N Turns, Export", "streamlit run app.py", PAGE)
def test_the_sidebar_has_every_setting_and_button(page):
    keys = {
        one.key for kind in ("text_input", "text_area", "slider", "number_input") for one in getattr(page.sidebar, kind)
    }
    people = {f"sitcom.{one}.{part}" for one in ("cheolsu", "younghee") for part in ("name", "traits", "goal")}
    settings = ("mind", "temperature", "seed", "k", "top_n", "w_sim", "w_rec", "w_imp", "reflection_period")
    assert people | {f"sitcom.{one}" for one in settings} <= keys
    assert {"reset", "run_one", "run_many", "export"} <= {one.key for one in page.button}


@requirement("12.1", "The page asks for no key", "streamlit run app.py", PAGE)
def test_the_page_asks_for_no_key(page):
    assert not any(one.proto.type for one in page.text_input), "a password"
    assert not any("key" in one.label.lower() for one in page.text_input)


@requirement(
    "3.1", "The transcript in bubbles, left and right; a Debug Expander under each", "streamlit run app.py", PAGE
)
@requirement("2.2", "Profiles, Run 1 Turn, the expander, Export", "streamlit run app.py", PAGE)
@requirement(
    "14", "Ten turns add up; each has its Debug Expander with the score breakdown", "streamlit run app.py", PAGE
)
@requirement("14", "Why a line was said can be followed on the page", "streamlit run app.py", PAGE)
@requirement(
    "16", "Open reasons, thoughts, plans and a ranking of memories under every line", "streamlit run app.py", PAGE
)
def test_ten_turns_each_open_into_their_reasons(page):
    state = page.session_state
    assert (len(state.transcript), len(page.chat_message), len(page.expander)) == (10, 10, 10)
    config = state.config
    for record, expander in zip(state.transcript, page.expander, strict=True):
        assert len(record.retrieved) == config.k == 5
        for one in record.retrieved:
            weights = {"w_sim": config.w_sim, "w_rec": config.w_rec, "w_imp": config.w_imp}
            total = final_score(one.similarity, one.recency_score, one.importance_score, **weights)
            assert one.final_score == pytest.approx(total, abs=1e-6)
        shown = [cells(one.value) for one in expander.markdown if one.value.startswith("|")]
        assert [row[-1] for row in shown[0][2:]] == [f"{one.final_score:.3f}" for one in record.retrieved]


def cells(table: str) -> list[list[str]]:
    """A table in Markdown by rows, its head and the line below it first."""
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in table.splitlines()]


@requirement("10.2", "Retrieved memories: content (120 characters), type, importance, age, sim, rec, imp, final",
             "streamlit run app.py", PAGE)  # fmt: skip
@requirement("10.2", "Reflection, plan, and what was stored or not with its reason", "streamlit run app.py", PAGE)
def test_the_expander_shows_everything(page):
    for expander, record in zip(page.expander, page.session_state.transcript, strict=True):
        memories, decisions = (cells(one.value) for one in expander.markdown if one.value.startswith("|"))
        assert memories[0] == ["내용", "종류", "중요도", "나이 (시간)", "sim", "rec", "imp", "final"]
        assert all(len(row[0].replace("\\", "")) <= 120 for row in memories[2:])
        assert decisions[0] == ["결정", "종류", "중요도", "내용", "이유"]
        assert len(decisions[2:]) == len(record.store_events)
        assert all(row[-1] for row in decisions[2:])
        text = " ".join(one.value for one in expander.markdown)
        assert "**계획** " in text
        assert record.plan.split()[0] in text
        assert "**반성** " in text
        if record.reflection:
            assert record.reflection.split()[0] in text
    assert [record.turn for record in page.session_state.transcript if record.reflection] == [7, 8]


@requirement(
    "3.2", "All state is in `st.session_state`: `agents transcript turn_idx config db_paths`", "st.session_state", PAGE
)
@requirement("9.1", "The keys of the state", "st.session_state", PAGE)
@requirement("9.2", "Run 1 Turn: the even turns are A's, the odd ones B's", "streamlit run app.py", PAGE)
def test_the_state_of_the_page(page):
    state = page.session_state
    assert all(key in state for key in ("agents", "transcript", "turn_idx", "config", "db_paths"))
    assert set(state.agents) == {"김철수", "이영희"}
    assert state.turn_idx == 10
    assert [record.speaker for record in state.transcript] == ["cheolsu", "younghee"] * 5
    assert all(Path(path).exists() for path in state.db_paths.values())
    one = state.agents["김철수"]
    assert (one.turn_index, one.last_plan) == (5, state.transcript[8].plan)


@requirement(
    "9.2",
    "Export: transcript and a snapshot of the memories as JSON, in `exports/sessions`",
    "streamlit run app.py",
    SESSION,
)
def test_export_writes_transcript_and_memories(page):
    page.button(key="export").click().run()
    (path,) = Path("exports/sessions").iterdir()
    found = json.loads(path.read_text(encoding="utf-8"))
    assert [record["turn"] for record in found["transcript"]] == list(range(1, 11))
    assert {"content", "stored", "reason"} <= set(found["transcript"][2]["store_events"][0])
    assert len(found["memories"]["cheolsu"]) >= 16
    assert path.name in page.success[0].value.replace("\\", "")


@requirement("9.2", "Reset: an empty transcript, new collections, turn 0", "streamlit run app.py", SESSION)
def test_reset_begins_anew(page):
    before = dict(page.session_state.db_paths)
    page.button(key="reset").click().run()
    state = page.session_state
    assert (state.transcript, state.turn_idx) == ([], 0)
    assert state.db_paths["chroma"] != before["chroma"]
    store = ChromaStore(before["chroma"])
    assert store.agents() == ()
    store.close()
    page.button(key="run_one").click().run()
    assert page.session_state.turn_idx == 1


@requirement(
    "11.1", "The page shows the fault under the placeholder, and the dialogue goes on", "streamlit run app.py", PAGE
)
def test_the_page_shows_what_failed(page):
    with ModelServer(faults=Faults(1.0, kinds=("wrong_schema",))) as server:
        page.text_input(key="sitcom.mind").set_value(server.url).run()
        page.button(key="reset").click().run()
        for turn in (1, 2):
            page.button(key="run_one").click().run()
            assert page.session_state.transcript[-1].utterance == LOST
            assert len(page.error) == turn
            assert "duet" in page.error[-1].value
    assert not page.exception


@requirement("7.2", "A turn may be taken where a loop of asyncio runs", "Agent.run_step", MODULE)
def test_a_turn_in_a_notebook(clock):
    async def cell() -> TurnRecord:
        return agent("철수", clock, Client()).run_step("부엌", "영희")

    assert asyncio.run(cell()).utterance


@requirement("14", "The app runs by `streamlit run app.py`, for this machine alone", "streamlit run app.py", "app.py")
@requirement("4.1", "`app.py` at the root of the project", "streamlit run app.py", "app.py")
def test_streamlit_runs_the_app(tmp_path):
    pytest.importorskip("streamlit")
    own = PROJECT / "src" / "commonplace" / "parts" / "duet" / "sitcom" / ".streamlit" / "config.toml"
    assert (PROJECT / ".streamlit" / "config.toml").read_text() == own.read_text(), (
        "streamlit reads it beside the script"
    )
    line = [sys.executable, "-m", "streamlit", "run", str(PROJECT / "app.py"), "--server.headless", "true"]
    with (tmp_path / "log").open("w+") as out:
        process = subprocess.Popen([*line, "--server.port", "0"], cwd=tmp_path, stdout=out, stderr=out)
        try:
            ends = time.monotonic() + 30
            while "URL: http://127.0.0.1:" not in (tmp_path / "log").read_text() and time.monotonic() < ends:
                assert process.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.05)
            (url,) = re.findall(r"http://127\.0\.0\.1:\d+", (tmp_path / "log").read_text())
            assert httpx2.get(f"{url}/_stcore/health").text == "ok"
            assert "streamlit" in httpx2.get(url).text.lower()
        finally:
            process.terminate()
            process.wait(timeout=20)


# ── 14: two hundred turns ────────────────────────────────────────────────────────────────────────────────────────────

LONG, SETTLED = 200, 60
"""Turns, and those after which a dialogue has memories of its own."""
PARTS = ("relevance", "recency", "importance")


class Dialogue:
    """A shipped scenario over 200 turns, and what competed on each turn."""

    def __init__(self, scenario: str) -> None:
        self.scenario = load(scenario)
        self.town = Town(self.scenario, OfflineMind(self.scenario.language), stage=DUET)
        self.competed: dict[str, list[NDArray[np.float64]]] = {}
        self.recalled: dict[str, list[str]] = {}
        for turn in range(1, LONG + 1):
            self.town.live()
            if turn > SETTLED:
                self._note(turn)

    def _note(self, turn: int) -> None:
        ((agent, lived),) = self.town.ticks[-1].turns.items()
        (found,) = lived.trace["retrievals"]
        stream = self.town.engine.live_state.streams[agent]
        policy = self.scenario.policy
        past = stream.snapshot(lived.delta.base)
        competing = past.retrieve(found["query"], at=self.scenario.clock.time(turn), k=policy.nearest, policy=policy)
        weighted = [[one.parts[part].normalised * one.parts[part].weight for part in PARTS] for one in competing.hits]
        self.competed.setdefault(agent, []).append(np.array(weighted))
        self.recalled.setdefault(agent, []).extend(stream.get(id).kind for id, *_ in found["hits"])

    def own(self, agent: str, kind: str = "") -> list[Any]:
        """What a character has come to remember."""
        return [one for one in self.town.memories(agent, kind) if one.source != "scenario"]


@pytest.fixture(scope="module", params=["sitcom", "sitcom-en"])
def long(request: pytest.FixtureRequest) -> Dialogue:
    return Dialogue(request.param)


def shares(competed: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """How much of the variance of scores among those that compete each part makes up, in the order of `PARTS`."""
    apart = np.vstack([turn - turn.mean(0) for turn in competed])
    scores = apart.sum(1)
    return (apart * scores[:, None]).sum(0) / (scores**2).sum()


@requirement("14", "Over 200 turns retrieval is not random: similarity decides, thoughts are 40 % of it at most",
             "TurnRecord.retrieved", "parts/duet/thought.py")  # fmt: skip
@requirement("16", "Memory does not collapse as it grows", "TurnRecord.retrieved", STORE)
def test_retrieval_is_not_random_after_many_turns(long):
    for agent, kinds in long.recalled.items():
        assert kinds.count("reflection") <= 0.4 * len(kinds), agent
        assert kinds.count("reflection") >= 0.03 * len(kinds), "they are recalled, too"
        similarity, *_ = shares(long.competed[agent])
        assert similarity >= 0.35, agent
        assert len(long.recalled[agent]) == 5 * (LONG - SETTLED) // 2


@requirement("14", "Over 200 turns observations do not pile up", "TurnRecord.store_events", STORE)
def test_memory_does_not_pile_up(long):
    for agent in long.recalled:
        lines = [one for one in long.own(agent) if one.kind != "reflection"]
        assert 10 <= len(lines) <= 0.45 * LONG, "of the two hundred lines that each of them says or hears"
        assert sum(one.tick > LONG // 2 for one in lines) <= 0.6 * len(lines)
        said = [one.details["frame"]["quote"] for one in lines]
        assert len(said) == len(set(said))


@requirement("14", "Over 200 turns a reflection every sixth turn, each about another line, none twice",
             "TurnRecord.reflection", "parts/duet/thought.py")  # fmt: skip
@requirement("16", "Reflections show how somebody changes", "TurnRecord.reflection", "parts/duet/thought.py")
def test_reflections_name_what_was_said_and_none_comes_twice(long):
    said = {
        agent: [one.body.utterance for one in long.town.events("SAY") if one.agent_id != agent]
        for agent in long.recalled
    }
    for agent in long.recalled:
        thoughts = long.own(agent, "reflection")
        assert len(thoughts) >= 0.9 * (LONG // 6 - 1)
        texts = [one.text for one in thoughts]
        assert len(set(texts)) == len(texts)
        quotes = [text[text.index("“") + 1 : text.rindex("”")] for text in texts]
        assert len(set(quotes)) == len(quotes)
        assert all(any(quote in line for line in said[agent]) for quote in quotes)
        made_of_it = [text.replace(f"“{quote}”", "…") for text, quote in zip(texts, quotes, strict=True)]
        assert max(made_of_it.count(one) for one in made_of_it) <= 3
        assert all(one.citations and 1 <= one.importance <= 10 for one in thoughts)


@requirement("14", "The importance of a line is always the same", "TurnRecord.store_events", STORE)
def test_importance_does_not_waver(long):
    rated: dict[tuple[str, str], set[float]] = {}
    for tick in long.town.ticks:
        for agent, turn in tick.turns.items():
            for text, _, importance, _ in turn.trace.get("dropped", ()):
                rated.setdefault((agent, text), set()).add(importance)
    for agent in long.recalled:
        for one in long.own(agent):
            rated.setdefault((agent, one.text), set()).add(one.importance)
    assert len(rated) > LONG
    assert all(len(found) == 1 for found in rated.values())


@requirement("14", "Over 200 turns every line has its plan, its memories and its decisions", "TurnRecord", STAGE)
def test_every_line_can_be_explained(long):
    events = long.town.events("SAY")
    assert len(events) == LONG
    assert len({one.body.utterance for one in events}) == LONG
    assert all(one.body.emoji for one in events)
    assert len({one.body.emoji for one in events}) >= 4
    for number, tick in enumerate(long.town.ticks):
        (turn,) = tick.turns.values()
        assert turn.trace["reaction"]["reason"]
        assert len(turn.trace["retrievals"][0]["hits"]) == 5
        decided = len(turn.trace.get("dropped", ())) + len(turn.trace.get("stored", ()))
        assert decided >= (2 if number else 1)
