"""The criteria of the sitcom document, §13 and §14, under their names; the page itself is in `test_page.py`."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import MemoryStream, policies
from commonplace.memory.importance import RuleRater
from commonplace.parts.stores.chroma import ChromaStore
from parts.duet.pair import PAIR, Actors, dropped, memories, pair, played

NOW = datetime(2031, 10, 4, 12, tzinfo=UTC)


def _stream(hours: float = 1.0, importance: float = 6.0) -> MemoryStream:
    stream = MemoryStream("철수", policies.TWO_STAGE)
    stream.remember(
        "영희가 빨간 우산을 샀다.", at=NOW - timedelta(hours=hours), importance=importance, source="agent_said"
    )
    return stream


# ── §13.1 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.floats(0, 10_000), st.integers(1, 10))
def test_13_1_recency_is_between_0_and_1_and_final_is_the_weighted_sum(hours: float, importance: int) -> None:
    (hit,) = _stream(hours, importance).recall("우산", at=NOW)
    recency, weight = hit.parts["recency"].normalised, hit.parts["importance"].normalised
    assert 0 <= recency <= 1
    assert recency == pytest.approx(math.exp(-hours / 24), abs=1e-6)
    assert weight == pytest.approx((importance - 1) / 9)
    assert hit.score == pytest.approx(
        0.5 * hit.parts["relevance"].normalised + 0.25 * recency + 0.25 * weight, abs=1e-6
    )


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("그냥 그래", 3),
        ("약속했어", 5),
        ("결정했고 실수도 고백했어", 5),
        ("너무 불안해", 4),
        ("연습은 어때", 5),
        ("영희가 왔어", 4),
        ("영희야, 기쁨으로 약속할게, 연습하자", 9),
    ],
)
def test_13_1_importance_by_fixed_examples(text: str, importance: int) -> None:
    assert RuleRater("ko", goal="노래 연습을 끝내기", names=("영희",))(text) == importance


def test_13_1_importance_is_cached() -> None:
    mind = Actors(("음, 연을 보자.", "그래.", "음, 연을 보자."), rating=9)
    town = played(3, pair("ko", importance="both"), mind)
    asked = [text for one in mind.inputs("rate") if one.who.id == "ada" for text in one.texts]
    assert sorted(asked) == ["그래.", "음, 연을 보자."]
    assert all(len(key) == 64 for key in town.state("ada").weighed)


def test_13_1_what_is_added_and_retrieved_carries_its_metadata(tmp_path: Path) -> None:
    pytest.importorskip("chromadb")
    store = ChromaStore(tmp_path / "chroma")
    stream = _stream()
    store.append("철수", list(stream), [stream.vector(1)])
    (found,) = store._client.list_collections()
    (metadata,) = found.get(include=["metadatas"])["metadatas"]
    kept = {name: metadata[name] for name in ("memory_type", "created_at", "importance", "source")}
    moment = int(_stream().get(1).created_at.timestamp())
    assert kept == {"memory_type": "observation", "created_at": moment, "importance": 6.0, "source": "agent_said"}
    assert [id for id, _ in store.nearest("철수", stream.vector(1), 20)] == [1]
    store.close()


# ── §13.2 ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_13_2_three_turns_transcript_k_memories_and_the_reflection_at_its_period() -> None:
    town = played(8)
    assert len(town.events("SAY")[:3]) == 3
    retrieved = [turn.trace["retrievals"][0]["hits"] for tick in town.ticks for turn in tick.turns.values()]
    assert {len(hits) for hits in retrieved} == {3}
    assert [len(memories(town, agent, "reflection")) for agent in PAIR] == [1, 1]


# ── §14 ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_14_observations_are_stored_on_condition_and_noise_is_not() -> None:
    town = played(12, lines=["그래.", "응."] * 5, scenario=pair("ko"))
    assert [len(memories(town, agent, "observation")) for agent in PAIR] == [0, 0]
    assert all(reason for tick in range(2, 11) for _, reason, *_ in dropped(town, tick))


def test_14_every_promise_can_be_found() -> None:
    lines = ("내일 우산을 사 올게.", "정말?", "저녁도 내가 살게.", "약속한 거야.")
    town = played(5, pair("ko"), lines=lines)
    for agent in PAIR:
        found = " ".join(memory.text for memory in town.engine.live_state.streams[agent].search(text="게."))
        assert lines[0] in found
        assert lines[2] in found
