"""The agent memory graph, section by section, at its scale: 1,000 nodes and 4,000 edges."""

from __future__ import annotations

import json
import math
import os
import re
import resource
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep

import pytest

import commonplace
from commonplace.errors import UsageError
from commonplace.founding import memory_graph
from commonplace.founding.memory_graph import (
    CheckpointConfig,
    GraphConfig,
    GraphStore,
    MemoryOrchestrator,
    OrchestratorConfig,
    PromotionConfig,
    SimpleEmbedding,
    Upkeep,
    canonical_key,
    cosine_sparse,
    deserialize_sparse,
    serialize_sparse,
)
from commonplace.querygraph import QueryGraph, StoredGraph
from commonplace.querygraph.embedding import HashedNgrams, cosine, vector_of
from commonplace.querygraph.search import ExactScan
from querygraph.samples import Clock, questions

PROJECT = Path(__file__).parents[2]
GRAPH, ORCHESTRATOR = "querygraph/graph.py", "querygraph/conversation.py"
requirement = pytest.mark.requirement


@pytest.fixture
def clock() -> Clock:
    return Clock()


def filled(clock: Clock, count: int = 900, **settings: object) -> GraphStore:
    """A store that was asked more questions than it has room for, answered and rated."""
    store = GraphStore(GraphConfig(**{"tau_sim": 0.4, **settings}), clock=clock)  # pyright: ignore[reportArgumentType]
    for number, text in enumerate(questions(count)):
        clock.pass_(seconds=20)
        query = store.upsert_query(text)
        if number % 9 == 0:
            answer = store.graph.record_answer(query, f"답 {number}")
            store.graph.record_feedback(query, ("up", "down", "retry")[number % 3], answer=answer)
    return store


def orchestrated(folder: Path, clock: Clock, **settings: object) -> MemoryOrchestrator:
    given: dict[str, object] = {"checkpoint": CheckpointConfig(out_dir=folder), **settings}
    return MemoryOrchestrator("maria", OrchestratorConfig(**given), clock=clock)  # pyright: ignore[reportArgumentType]


def wait_until(done: Callable[[], bool]) -> None:
    """Half a minute at most."""
    ends = monotonic() + 30
    while not done():
        assert monotonic() < ends
        sleep(0.001)


def liked(memory: MemoryOrchestrator, session: str, text: str) -> str:
    """A question with an answer that was rated up."""
    query = memory.upsert_query(session, text)
    answer = memory.memory.record_answer(session, query, "4월 4일에.")
    memory.memory.record_feedback(session, query, "up", answer=answer)
    return query


# ── D1: the graph ────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("D1", "Nodes and edges of four types each, with the fields of §3", "GraphStore.node, .edges", GRAPH)
def test_nodes_and_edges_have_their_types_and_fields(clock):
    store = GraphStore(clock=clock)
    query = store.upsert_query("회의실 예약은 어떻게 하나요?")
    answer = store.graph.record_answer(query, "앱에서 합니다.")
    store.record_feedback(query, "up")
    store.upsert_entity("u1", "room", "회의실")
    other = store.upsert_query("회의실 예약은 어떻게 해요?")
    store.link(other, query, "similar_to", 0.9)
    assert {store.node(node.id)["type"] for node in store.graph.nodes()} == set(memory_graph.NodeType.__args__)
    assert {edge["type"] for edge in store.edges()} == set(memory_graph.EdgeType.__args__)
    now = clock.now.timestamp() * 1000
    assert store.node(answer) == {
        "id": answer,
        "type": "answer",
        "text": "앱에서 합니다.",
        "canonical_key": store.node(answer)["canonical_key"],
        "created_at": now,
        "last_access": now,
        "weights": {"repeat": 1, "feedback": 0},
        "degree": 1,
        "pinned": False,
    }
    asked = store.node(query)
    assert set(asked) == {*store.node(answer), "embedding"}
    assert cosine_sparse(asked["embedding"], store.node(other)["embedding"]) == pytest.approx(
        store.search_similar_queries(asked["text"])[1]["sim"]
    )
    assert set(store.edges()[0]) == {"id", "from", "to", "type", "weight", "created_at", "last_access"}


@requirement("D1", "The same text by its canonical key is one node", "GraphStore.upsert_query", "querygraph/keys.py")
def test_the_same_key_is_the_same_node(clock):
    store = GraphStore(clock=clock)
    first = store.upsert_query("회의실 예약은 어떻게 하나요?")
    assert store.upsert_query("회의실예약은 어떻게 하나요") == first
    assert store.node(first)["weights"]["repeat"] == 2
    assert store.node(first)["canonical_key"] == canonical_key("회의실 예약은 어떻게 하나요?")


@requirement("D1", "`tau_dup` merges questions alike, `tau_sim` links them", "GraphStore.upsert_query", GRAPH)
def test_tau_dup_merges_and_tau_sim_links(clock):
    store = GraphStore(GraphConfig(tau_dup=0.8, tau_sim=0.5), clock=clock)
    first = store.upsert_query("이번 주 금요일 회식은 어디에서 하나요?")
    assert store.upsert_query("이번 주 금요일 회식은 어디에서 해요?") == first
    room = store.upsert_query("회의실 예약은 어떻게 하나요?")
    other = store.upsert_query("회의실 예약 어떻게 하나요?")
    (edge,) = store.edges(other)
    assert (edge["from"], edge["type"], edge["to"]) == (other, "similar_to", room)
    assert edge["weight"] == pytest.approx(0.589, abs=0.001)


@requirement(
    "D1",
    "Feedback `up`, `down` and `retry`, and weights adjusted by hand",
    "GraphStore.record_feedback, .adjust_weights",
    GRAPH,
)
def test_feedback_and_adjusted_weights(clock):
    store = GraphStore(clock=clock)
    query = store.upsert_query("왜?")
    sums: list[float] = []
    for label in ("up", "down", "retry"):
        store.record_feedback(query, label, "그래서")
        sums.append(store.node(query)["weights"]["feedback"])
    assert sums == [1, 0, -0.5]
    store.adjust_weights(query, feedback_delta=2, repeat_delta=3)
    assert store.node(query)["weights"] == {"repeat": 4, "feedback": 1.5}


@requirement("1", "Feedback reaches similar questions, less by each step", "GraphConfig.spread_damping", GRAPH)
def test_feedback_spreads_and_fades(clock):
    store = GraphStore(GraphConfig(spread_damping=0.5, spread_hops=2), clock=clock)
    near, far, farther, alone = (store.upsert_query(text) for text in ("왜?", "어디서 만나?", "누가 와?", "몇 시야?"))
    rated = store.upsert_query("주차장은 어떻게 가?")
    for one, other, weight in ((rated, near, 0.8), (near, far, 1.0), (far, farther, 1.0)):
        store.link(one, other, "similar_to", weight)
    store.record_feedback(rated, "up")
    reached = [store.node(id)["weights"]["feedback"] for id in (rated, near, far, farther, alone)]
    assert reached == pytest.approx([1, 0.5 * 0.8, 0.25 * 0.8, 0, 0], abs=1 / 4096)


@requirement("D1", "An edge has the key `from::type::to`; linking again adds weight", "GraphStore.link", GRAPH)
def test_an_edge_has_a_fixed_key_and_gains_weight(clock):
    store = GraphStore(clock=clock)
    query = store.upsert_query("왜?")
    answer = store.graph.record_answer(query, "그러니까.")
    clock.pass_(minutes=3)
    store.link(query, answer, "responded_with", 1.5)
    (edge,) = store.edges()
    assert (edge["id"], edge["weight"]) == (f"{query}::responded_with::{answer}", 2.5)
    assert edge["last_access"] - edge["created_at"] == 180_000
    assert store.node(query)["degree"] == store.node(answer)["degree"] == 1


@requirement("D1", "Eviction by value: recency, repeats and feedback", "GraphConfig.max_nodes", "querygraph/budgets.py")
def test_the_node_of_the_lowest_rank_is_evicted_with_its_edges(clock):
    store = GraphStore(GraphConfig(max_nodes=3, tau_sim=0.3), clock=clock)
    asked = ["회의실 예약은 어떻게 하나요?", "회의실 예약은 어떻게 해요?", "회의실 예약을 어떻게 바꿔요?"]
    first, second, third = (store.upsert_query(text) for text in asked)
    store.adjust_weights(first, feedback_delta=2)
    store.adjust_weights(third, repeat_delta=2)
    assert store.rank(second) < min(store.rank(first), store.rank(third))
    fourth = store.upsert_query("주차장은 어디에 있어요?")
    assert {node.id for node in store.graph.nodes()} == {first, third, fourth}
    assert all(second not in (edge["from"], edge["to"]) for edge in store.edges())


@requirement("D1", "The `k` most similar questions", "GraphStore.search_similar_queries", GRAPH)
def test_search_gives_mappings_best_first(clock):
    store = GraphStore(clock=clock)
    query = store.upsert_query("회의실 예약은 어떻게 하나요?")
    store.upsert_query("주차장은 어디에 있어요?")
    found = store.search_similar_queries("회의실 예약은 어떻게 해요?", 2)
    assert set(found[0]) == {"id", "score", "sim", "text", "canonical_key"}
    assert found[0]["id"] == query
    assert found[0]["sim"] > 0.5 > found[1]["sim"]
    assert len(store.search_similar_queries("회의실", 1)) == 1


@requirement(
    "D1",
    "A snapshot is JSON; vectors are `[[i, v], …]`",
    "GraphStore.to_snapshot, .from_snapshot",
    "querygraph/snapshots.py",
)
def test_a_snapshot_holds_vectors_as_pairs_and_is_json(clock):
    store = filled(clock, 20)
    snapshot = store.to_snapshot()
    vector = next(node["embedding"] for node in snapshot["nodes"] if node["type"] == "query")
    assert all(len(pair) == 2 and 0 <= pair[0] < 16_384 and pair[1] >= 1 for pair in vector)
    other = GraphStore(GraphConfig(tau_sim=0.4), clock=clock)
    other.from_snapshot(json.loads(json.dumps(snapshot)))
    assert other.to_snapshot() == snapshot


@requirement(
    "D1",
    "An inverted index of n-grams names candidates",
    "GraphConfig(enable_inverted_index=True)",
    "querygraph/search.py",
)
def test_the_inverted_index_finds_what_the_scan_finds(clock):
    scan = filled(clock, 200)
    indexed = GraphStore(GraphConfig(tau_sim=0.4, enable_inverted_index=True), clock=clock)
    indexed.from_snapshot(scan.to_snapshot())
    for text in questions(30, seed=3):
        assert indexed.search_similar_queries(text) == scan.search_similar_queries(text)


@requirement("D1 AC", "1,000 nodes and 4,000 edges within a memory budget", "GraphStore", "querygraph/budgets.py")
def test_it_works_at_a_thousand_nodes_and_four_thousand_edges_within_its_memory(clock):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    store = filled(clock)
    stats = store.stats()
    assert stats["nodes"] == 1_000
    assert 3_900 < stats["edges"] <= 4_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000  # kB
    assert len(store.search_similar_queries("도서관에서 기차표는 어떻게 예약하나요?")) == 5


@requirement(
    "D1 AC",
    "After saving and loading, searches give the same",
    "GraphStore.save_to_file, .load_from_file",
    "querygraph/snapshots.py",
)
def test_a_saved_store_gives_the_same_searches(clock, tmp_path):
    store = filled(clock, 300)
    store.save_to_file(tmp_path / "graph.json")
    loaded = GraphStore(GraphConfig(tau_sim=0.4), clock=clock)
    GraphStore.load_from_file(tmp_path / "graph.json", loaded)
    for text in questions(30, seed=2):
        assert loaded.search_similar_queries(text, 7) == store.search_similar_queries(text, 7)
    assert loaded.edges() == store.edges()


@requirement(
    "D1 AC",
    "What an agent has learnt is saved and loaded: its store, and every other holder of it, has it then",
    "GraphStore.load_from_file(file, memory.get_agent_store())",
    GRAPH,
)
@pytest.mark.parametrize("stored", [False, True], ids=["in RAM", "in SQLite"])
def test_the_store_of_an_orchestrator_is_loaded_in_place(clock, tmp_path, stored):
    memory = orchestrated(tmp_path, clock)
    for session in ("one", "two"):
        query = liked(memory, session, "벚꽃 축제는 언제 열려?")
        memory.finalize_session(session)
    memory.get_agent_store().save_to_file(tmp_path / "agent.json")
    kept = StoredGraph(tmp_path / "agent.db", GraphConfig.agent(), clock=clock) if stored else None
    later = MemoryOrchestrator("maria", agent_graph=kept, clock=clock)
    held = later.get_agent_store()
    held.upsert_query("낡은 질문")
    GraphStore.load_from_file(tmp_path / "agent.json", later.get_agent_store())
    assert [hit["from"] for hit in later.search("three", "벚꽃 축제는 언제 열려?", 9)] == ["agent"]
    assert held.node(query)["degree"] == 4, "of two sessions"
    learnt = memory.get_agent_store()
    assert (held.to_snapshot()["nodes"], held.edges()) == (learnt.to_snapshot()["nodes"], learnt.edges())
    if kept is not None:
        kept.close()
        with StoredGraph(tmp_path / "agent.db", clock=clock) as reopened:
            assert GraphStore.over(reopened).search_similar_queries("낡은", 9) == learnt.search_similar_queries(
                "낡은", 9
            )


@requirement("D1 AC", "A key is stored once in session and agent", "MemoryOrchestrator.finalize_session", ORCHESTRATOR)
def test_the_same_key_is_stored_once_in_session_and_agent(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    for session, text in (("one", "회의실 예약은 어떻게 하나요?"), ("two", "회의실예약은 어떻게하나요")):
        liked(memory, session, text)
        memory.finalize_session(session)
    (node,) = memory.memory.agent.nodes("query")
    assert node.repeat == 2
    memory.upsert_query("three", "회의실 예약은 어떻게 하나요?")
    assert [hit["from"] for hit in memory.search("three", "회의실 예약은 어떻게 하나요?")] == ["session"]


# ── D2: embeddings ───────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "D2",
    "Character n-grams 3–5, hashed by xxh3-128 with a fixed seed into 16,384 dimensions; cosine",
    "SimpleEmbedding",
    "querygraph/embedding.py",
)
def test_n_grams_are_hashed_into_fixed_dimensions():
    dims = SimpleEmbedding().embed("회의실 예약은 어떻게 하나요?").dims.tolist()
    assert dims[:3] == [324, 3510, 3989], "xxh3-128 with seed 0, modulo 16,384"
    embed = SimpleEmbedding().embed
    asked = embed("법인카드 영수증은 어디에 제출하면 되나요?")
    for alike in ("법인카드영수증은 어디에제출하면 되나요", "법인카드 영수증을 어디에 제출하면 됩니까?"):
        assert cosine(asked, embed(alike)) > 0.5 > cosine(asked, embed("출입증을 잃어버리면 어디에 신고하나요?"))
    assert cosine(asked, asked) == pytest.approx(1)


class Words:
    """A sparse bag of words as a provider."""

    dimensions = 1_000

    def embed(self, text: str) -> dict[int, float]:
        return {len(word): 1.0 for word in text.split()}


@requirement("D2", "Another embedder, sparse or dense, in its place", "EmbeddingProvider", "founding/memory_graph.py")
def test_any_provider_of_numbers_can_be_used(clock):
    sparse = GraphStore(embedder=Words(), clock=clock)
    query = sparse.upsert_query("ab cde")
    assert sparse.search_similar_queries("de fgh")[0] == {**sparse.search_similar_queries("xy zzz")[0]}
    assert (sparse.search_similar_queries("de fgh")[0]["id"], sparse.search_similar_queries("de")[0]["sim"]) == (
        query,
        pytest.approx(math.sqrt(0.5)),
    )

    class Dense:
        def embed(self, text: str) -> list[float]:
            return [float(text.count("a")), float(text.count("b"))]

    dense = GraphStore(embedder=Dense(), clock=clock)
    dense.upsert_query("aab")
    assert dense.search_similar_queries("aaaabb")[0]["sim"] == pytest.approx(1)
    Words.dimensions, kept = None, Words.dimensions  # pyright: ignore[reportAttributeAccessIssue]
    try:
        with pytest.raises(UsageError, match="how many dimensions"):
            GraphStore(embedder=Words())
    finally:
        Words.dimensions = kept


@requirement(
    "D2",
    "Configuration and state of the embedder are stored and taken over",
    "SimpleEmbedding.export_state, .import_state",
    "querygraph/embedding.py",
)
def test_the_state_of_the_embedder_travels(clock):
    store = GraphStore(embedder=SimpleEmbedding((2, 3), dim=512, seed=9), clock=clock)
    state = store.to_snapshot()["embedder_state"]
    assert state == {
        "kind": "hashed-ngrams",
        "ngram_range": [2, 3],
        "dim": 512,
        "seed": 9,
        "hash_algo": "xxh3-128",
        "norm_version": 1,
    }
    query = store.upsert_query("왜 그래?")
    other = SimpleEmbedding()
    other.import_state(json.loads(json.dumps(store.to_snapshot()))["embedder_state"])
    assert other.export_state() == state
    later = GraphStore(embedder=other, clock=clock)
    later.from_snapshot(store.to_snapshot())
    assert later.to_snapshot() == store.to_snapshot()
    assert later.node(query)["embedding"] == store.node(query)["embedding"] != SimpleEmbedding().embed("왜 그래?")


@requirement("D2 AC", "The same text gives the same vector", "SimpleEmbedding.embed", "querygraph/embedding.py")
def test_the_same_text_gives_the_same_vector():
    texts = questions(50)
    one, other = SimpleEmbedding(), SimpleEmbedding()
    for text in (*texts, *reversed(texts)):
        assert one.embed(text).pairs() == other.embed(text).pairs()


@requirement(
    "D2 AC", "A snapshot of another configuration compares right", "GraphStore.from_snapshot", "querygraph/snapshots.py"
)
def test_a_snapshot_of_another_embedder_compares_right(clock):
    old = GraphStore(embedder=SimpleEmbedding((2, 3), dim=512, seed=9), clock=clock)
    fresh = GraphStore(clock=clock)
    for text in questions(40):
        old.upsert_query(text)
        fresh.upsert_query(text)
    kept, now = GraphStore(embedder=SimpleEmbedding((2, 3), dim=512, seed=9), clock=clock), GraphStore(clock=clock)
    kept.from_snapshot(old.to_snapshot())
    now.from_snapshot(old.to_snapshot())
    for text in questions(10, seed=2):
        assert kept.search_similar_queries(text) == old.search_similar_queries(text)
        assert now.search_similar_queries(text) == fresh.search_similar_queries(text)


# ── D3: sessions and agents ──────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "D3",
    "One embedder for all graphs; the agent's is shared by users and sessions",
    "MemoryOrchestrator.get_session_store, .get_agent_store",
    ORCHESTRATOR,
)
def test_all_stores_share_one_embedder(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    one, two, agent = memory.get_session_store("one"), memory.get_session_store("two"), memory.get_agent_store()
    assert one.graph.embedder is two.graph.embedder is agent.graph.embedder
    assert one.graph is not two.graph
    assert memory.get_agent_store().graph is agent.graph


@requirement("D3", "Questions and feedback are written to the session", "MemoryOrchestrator.upsert_query", ORCHESTRATOR)
def test_the_session_is_written_first(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    query = memory.upsert_query("one", "왜?")
    memory.record_feedback("one", query, "up", "좋아요")
    assert memory.get_session_store("one").stats() == {"nodes": 2, "edges": 1}
    assert memory.get_agent_store().stats() == {"nodes": 0, "edges": 0}


@requirement(
    "D3", "Search asks both graphs, each key once, the session preferred", "MemoryOrchestrator.search", ORCHESTRATOR
)
def test_both_graphs_are_searched_and_the_session_comes_first(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    kept = memory.get_agent_store().upsert_query("벚꽃 축제는 언제 열려?")
    own = memory.upsert_query("one", "벚꽃 축제는 어디서 열려?")
    hits = memory.search("one", "벚꽃 축제는 몇 시에 열려?")
    assert [(hit["id"], hit["from"]) for hit in hits] == [(own, "session"), (kept, "agent")]
    (alone,) = memory.get_session_store("one").search_similar_queries("벚꽃 축제는 몇 시에 열려?")
    assert hits[0]["score"] == alone["score"] + 0.05
    memory.upsert_query("one", "벚꽃 축제는 언제 열려?")
    assert [hit["from"] for hit in memory.search("one", "벚꽃 축제는 언제 열려?")] == ["session", "session"]


@requirement("D3", "Promotion by least rank, least degree and number", "PromotionConfig", ORCHESTRATOR)
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [2, 3, 0, 1]),
        ({"max_promotions": 1}, [2]),
        ({"min_rank": 0.6}, [2, 3]),
        ({"min_degree": 0}, [2, 3, 0, 1, 4]),
    ],
    ids=["as recommended", "number", "rank", "degree"],
)
def test_promotion_takes_what_proved_useful(clock, tmp_path, settings, expected):
    memory = orchestrated(tmp_path, clock, promotion=PromotionConfig(**settings))
    asked = [liked(memory, "one", text) for text in questions(4)]
    asked.append(memory.upsert_query("one", "주차장은 어디에 있어요?"))
    memory.get_session_store("one").adjust_weights(asked[2], feedback_delta=3)
    memory.get_session_store("one").adjust_weights(asked[3], feedback_delta=2)
    assert memory.finalize_session("one").promoted == tuple(asked[number] for number in expected)


@requirement("D3", "Weights are carried over, if wanted", "PromotionConfig.carry_weights", GRAPH)
@pytest.mark.parametrize(("carry_weights", "expected"), [(True, (4, 3.0)), (False, (1, 0.0))])
def test_weights_are_carried_over_or_not(clock, tmp_path, carry_weights, expected):
    memory = orchestrated(tmp_path, clock, promotion=PromotionConfig(carry_weights=carry_weights))
    query = liked(memory, "one", "벚꽃 축제는 언제 열려?")
    memory.get_session_store("one").adjust_weights(query, feedback_delta=2, repeat_delta=3)
    memory.finalize_session("one")
    weights = memory.get_agent_store().node(query)["weights"]
    assert (weights["repeat"], weights["feedback"]) == expected


@requirement(
    "D3 AC", "After promotion the agent scores the same question no lower", "MemoryOrchestrator.finalize_session", GRAPH
)
def test_after_promotion_the_agent_scores_the_same_question_no_lower(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    text, before = "벚꽃 축제는 언제 열려?", 0.0
    for session in ("one", "two", "three"):
        liked(memory, session, text)
        memory.finalize_session(session)
        after = memory.get_agent_store().search_similar_queries(text)[0]["score"]
        assert after > before
        before = after


@requirement("D3 AC", "A checkpoint gives back the session", "MemoryOrchestrator.load_checkpoint", ORCHESTRATOR)
def test_a_checkpoint_gives_back_the_session(clock, tmp_path):
    memory = orchestrated(tmp_path, clock, session_graph=GraphConfig(tau_sim=0.4))
    for text in questions(25):
        liked(memory, "one", text)
    asked = questions(10, seed=4)
    then = [memory.search("one", text) for text in asked]
    edges = {(edge["id"], edge["weight"]) for edge in memory.get_session_store("one").edges()}
    path = memory.finalize_session("one", promote=False).checkpoint
    assert path is not None
    later = orchestrated(tmp_path, clock, session_graph=GraphConfig(tau_sim=0.4))  # another process
    assert later.load_checkpoint(path) == "one"
    assert [later.search("one", text) for text in asked] == then
    assert {(edge["id"], edge["weight"]) for edge in later.get_session_store("one").edges()} == edges


@requirement("D3 AC", "A checkpoint says how its keys and vectors were made", "CheckpointConfig", ORCHESTRATOR)
@pytest.mark.parametrize("pretty", [True, False])
def test_a_checkpoint_says_how_its_keys_and_vectors_were_made(clock, tmp_path, pretty):
    memory = orchestrated(tmp_path, clock, checkpoint=CheckpointConfig(out_dir=tmp_path, pretty=pretty))
    for text in questions(40):
        memory.upsert_query("한 번", text)
    path = memory.finalize_session("한 번", checkpoint_name="first").checkpoint
    assert path == tmp_path / "first.json"
    written = path.read_text(encoding="utf-8")
    assert (len(written.splitlines()) > 40) is pretty
    held = json.loads(written)
    assert held["canonical_meta"] == {"norm_version": 1, "hash_algo": "xxh3-128", "seed": 0}
    assert held["embedder_state"]["dim"] == 16_384
    assert (held["version"], held["agent_id"], held["session_id"]) == (1, "maria", "한 번")
    assert len(held["top_queries"]) == 30
    assert held["created_at"]
    assert all(re.fullmatch("[0-9a-f]{32}", node["canonical_key"]) for node in held["top_queries"])


# ── D4: commands, a sample, documentation ────────────────────────────────────────────────────────────────────────────


@requirement("D4", "`pnpm test`: unit and integration tests", "make test", "Makefile")
def test_the_command_of_the_tests_runs_these():
    made = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r'^test: .*\n\t\$\(BIN\)/python -m pytest .*-m "not slow"$', made, re.MULTILINE)
    assert tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["testpaths"] == [
        "tests"
    ]


@requirement(
    "D4",
    "`pnpm dev`: a sample from first question to the end of a session",
    "python examples/12_questions.py",
    "examples/12_questions.py",
)
def test_the_sample_runs_from_start_to_end_and_what_was_promoted_scores_afterwards(capsys):
    runpy.run_path(str(PROJECT / "examples" / "12_questions.py"), run_name="__main__")
    asked, session, before, done_and_after, later = capsys.readouterr().out.split("\n\n")
    assert len(asked.splitlines()) == 6
    assert "asked 2 times" in asked
    assert "like another one" in asked
    assert {"up", "down"} <= set(re.findall(r"; (\w+) for: ", asked))
    done, *after = done_and_after.splitlines()
    assert re.search(r"promoted: [1-9].* checkpoint: .+\.json; active: \[\]", done)
    assert (scores(before), scores(session)[0] > 0) == ([], True)
    assert scores("\n".join(after))[0] > 0, "in another session, only after the first one has ended"
    assert scores(later) == scores(session), "from the checkpoint"


def scores(printed: str) -> list[float]:
    """Of the questions found, best first."""
    return [float(score) for score in re.findall(r"^  (\d\.\d+) ", printed, re.MULTILINE)]


@requirement("D4", "A guide to all settings and environment variables", "docs/query-graph.md", "docs/query-graph.md")
def test_the_settings_and_the_commands_are_documented():
    page = (PROJECT / "docs" / "query-graph.md").read_text(encoding="utf-8")
    for name in (*GraphConfig.__dataclass_fields__, *OrchestratorConfig().settings().__dataclass_fields__):
        assert f"`{name}`" in page, name
    assert "No environment variables are read" in page
    assert "examples/12_questions.py" in page
    assert "benchmarks/query_graph.py" in page


@requirement("D4 AC", "Coverage of 60 % and more", "make coverage", "Makefile")
def test_too_low_a_coverage_fails():
    made = (PROJECT / "Makefile").read_text(encoding="utf-8")
    (least,) = re.findall(r"^coverage: .*\n\t.*--cov .*--cov-fail-under=(\d+)", made, re.MULTILINE)
    assert int(least) >= 60


@requirement("D4 AC", "The README says how to run it here, and where it is explained", "README.md", "README.md")
def test_the_readme_leads_to_it():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert 'pip install "' in readme
    assert "`make test` runs the tests" in readme
    assert "[query graph](docs/query-graph.md) works alone" in readme


# ── 3: the sketch of the interface ───────────────────────────────────────────────────────────────────────────────────


@requirement(
    "3", "Every class and method of the sketch", "commonplace.founding.memory_graph", "founding/memory_graph.py"
)
def test_the_sketch_is_there():
    sketched = {
        "GraphStore": "upsert_query record_feedback adjust_weights search_similar_queries link to_snapshot "
        "from_snapshot save_to_file load_from_file stats",
        "MemoryOrchestrator": "get_session_store get_agent_store upsert_query record_feedback search "
        "finalize_session gc_sessions get_active_sessions",
        "EmbeddingProvider": "embed",
        "SimpleEmbedding": "embed export_state import_state",
    }
    for name, methods in sketched.items():
        for method in methods.split():
            assert callable(getattr(getattr(memory_graph, name), method)), f"{name}.{method}"
    fields = "max_nodes max_edges half_life_min tau_dup tau_sim protect_min_degree enable_inverted_index"
    assert set(fields.split()) <= set(GraphConfig.__dataclass_fields__)


@requirement(
    "3", "Nothing is written again that has not changed", "save_to_file(only_if_dirty=True)", "querygraph/snapshots.py"
)
def test_only_what_has_changed_is_written_if_wanted(clock, tmp_path):
    store, file = filled(clock, 10), tmp_path / "graph.json"
    store.save_to_file(file)
    first = file.stat().st_ino
    store.save_to_file(file, only_if_dirty=True)
    assert file.stat().st_ino == first
    store.save_to_file(file)
    second = file.stat().st_ino
    assert second != first
    store.upsert_query("왜?")
    store.save_to_file(file, only_if_dirty=True)
    assert file.stat().st_ino != second


# ── 4: the implementation ────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "4.1",
    "rank = 0.5·recency + 0.3·tanh(repeat/5) + 0.2·tanh(feedback/5); recency = exp(−ln 2·age/h)",
    "GraphStore.rank",
    "querygraph/tables.py",
)
def test_rank_is_the_formula(clock):
    store = GraphStore(GraphConfig(half_life_min=240), clock=clock)
    query = store.upsert_query("왜?")
    store.adjust_weights(query, feedback_delta=3, repeat_delta=4)
    clock.pass_(minutes=120)
    recency = math.exp(-math.log(2) * 120 / 240)
    assert store.rank(query) == pytest.approx(0.5 * recency + 0.3 * math.tanh(1) + 0.2 * math.tanh(3 / 5), abs=1e-12)


@requirement(
    "4.1",
    "Pinned nodes and those of `protect_min_degree` edges stay",
    "GraphConfig.protect_min_degree",
    "querygraph/budgets.py",
)
def test_pinned_and_well_linked_nodes_stay(clock):
    store = GraphStore(GraphConfig(max_nodes=5, protect_min_degree=2), clock=clock)
    linked = store.upsert_query("왜?")
    pinned = [store.graph.record_answer(linked, text) for text in ("그냥.", "몰라.")]
    for answer in pinned:
        store.graph.pin(answer)
    clock.pass_(days=30)
    for text in questions(8):
        store.upsert_query(text)
    assert all(id in store.graph for id in (linked, *pinned))


@requirement(
    "4.1", "Edges go by lowest weight, then the longest unused", "GraphConfig.max_edges", "querygraph/budgets.py"
)
def test_edges_go_by_weight_and_then_by_age(clock):
    store = GraphStore(GraphConfig(max_edges=2), clock=clock)
    query = store.upsert_query("왜?")
    first, light = (store.graph.record_answer(query, text) for text in ("가", "나"))
    store.link(query, first, "responded_with", 1)
    clock.pass_(minutes=1)
    third = store.graph.record_answer(query, "다")
    assert [edge["to"] for edge in store.edges()] == [first, third], light
    store.link(query, third, "responded_with", 1.5)
    clock.pass_(minutes=1)
    store.link(query, first, "responded_with", 0.5)
    fourth = store.graph.record_answer(query, "라")
    assert [edge["to"] for edge in store.edges()] == [first, fourth], "of two as heavy, the other was used later"
    clock.pass_(minutes=1)
    store.link(query, fourth, "responded_with", 1.5)
    fifth = store.graph.record_answer(query, "마")
    assert [edge["to"] for edge in store.edges()] == [fourth, fifth]


@requirement(
    "4.1",
    "A periodic task makes the decay of weights real",
    "Upkeep(store.graph, decay_every=…)",
    "querygraph/upkeep.py",
)
def test_upkeep_decays_the_weights(clock):
    store = filled(clock, 20)
    before = store.graph.nodes("query")[0].repeat
    clock.pass_(days=1)
    with Upkeep(store.graph, decay_every=timedelta(milliseconds=1)):
        wait_until(lambda: store.graph.nodes("query")[0].repeat < before)
    assert store.graph.nodes("query")[0].repeat < before


@requirement(
    "4.4",
    "Promoted: the best of `rank ≥ min_rank` and `degree ≥ min_degree`; degrees add up",
    "MemoryOrchestrator.finalize_session",
    GRAPH,
)
def test_degrees_add_up(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    query = liked(memory, "one", "벚꽃 축제는 언제 열려?")
    once = memory.get_session_store("one").node(query)["degree"]
    memory.finalize_session("one")
    assert memory.get_agent_store().node(query)["degree"] == once
    liked(memory, "two", "벚꽃 축제는 언제 열려?")
    memory.finalize_session("two")
    assert memory.get_agent_store().node(query)["degree"] == 2 * once
    lone = memory.upsert_query("three", "주차장은 어디에 있어요?")
    memory.finalize_session("three")
    assert lone not in memory.memory.agent


@requirement("4.5", "Writers in one process wait for each other, for snapshots and for promotion", "GraphStore", GRAPH)
def test_threads_write_to_one_store_while_it_is_saved_and_promoted_from(clock, tmp_path):
    memory = orchestrated(tmp_path, clock, promotion=PromotionConfig(min_degree=1))
    store, file, texts = memory.get_agent_store(), tmp_path / "graph.json", questions(40)
    liked(memory, "one", texts[0])

    promoted = Event()

    def write() -> None:
        for _ in range(2):
            for text in texts:
                store.link(store.upsert_query(text), store.upsert_query("왜?"), "similar_to", 1)
            promoted.wait()  # so that they still write when it is saved, however slow this machine is

    threads = [Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        while any(thread.is_alive() for thread in threads):
            store.save_to_file(file)
            GraphStore.load_from_file(file, GraphStore(clock=clock))  # whole, or it would be refused
            if not promoted.is_set():
                memory.finalize_session("one")
                promoted.set()
    finally:
        promoted.set()
        for thread in threads:
            thread.join()
    asked = {node.text: node.repeat for node in store.graph.nodes("query")}
    assert asked["왜?"] == 4 * 80
    assert asked[texts[0]] == 4 * 2 + 1
    assert sum(edge["weight"] >= 8 for edge in store.edges() if edge["type"] == "similar_to") == len(set(texts))


@requirement(
    "4.5",
    "Writing waits a while, and many changes are one write",
    "Upkeep(store.graph, file, save_after=…)",
    "querygraph/upkeep.py",
)
def test_upkeep_saves_what_has_changed(clock, tmp_path):
    store, file = filled(clock, 10), tmp_path / "graph.json"
    with Upkeep(store.graph, file, save_after=timedelta(milliseconds=5)):
        wait_until(file.exists)
    with Upkeep(store.graph, file, save_after=timedelta(hours=1)):
        for text in questions(30, seed=5):
            store.upsert_query(text)
        written = file.stat().st_ino
    assert file.stat().st_ino != written, "at the end, once"
    loaded = GraphStore(GraphConfig(tau_sim=0.4), clock=clock)
    GraphStore.load_from_file(file, loaded)
    assert loaded.to_snapshot() == store.to_snapshot()
    with pytest.raises(UsageError, match="save_after"):
        Upkeep(store.graph, save_after=timedelta())


# ── 5: the tasks ─────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("T0", "A typed package of its own", "commonplace.querygraph", "querygraph/__init__.py")
def test_it_is_a_library_of_its_own():
    code = (
        "import sys, commonplace.querygraph; print(*(name for name in sys.modules if name.startswith('commonplace.')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True, env=os.environ
    ).stdout.split()
    below = {"canon", "errors", "graphml", "lock", "log", "paths", "repeating", "sqlite", "text", "whole_file"}
    assert {name.split(".")[1] for name in loaded} == {"querygraph", *below}, "nothing of the town"
    assert (Path(commonplace.__file__).parent / "py.typed").exists()


@requirement("T0", "Scripts `build`, `test`, `demo`, and a linter", "make wheel, make test, make lint", "Makefile")
def test_there_are_scripts_to_build_test_and_check():
    made = (PROJECT / "Makefile").read_text(encoding="utf-8")
    for target, runs in (("wheel", "check_wheel.py"), ("test", "pytest"), ("lint", "pyright")):
        assert re.search(rf"^{target}: .*\n(\t.*\n)*\t.*{runs}", made, re.MULTILINE), target


@requirement(
    "T1",
    "`canonicalKey`, `cosineSparse(Map, Map)`, sparse vectors written and read",
    "canonical_key, cosine_sparse, serialize_sparse, deserialize_sparse",
    "founding/memory_graph.py",
)
def test_the_utilities_have_their_names():
    assert canonical_key("회의실 예약!") == canonical_key("회의실예약") != canonical_key("회의실 예매")
    one, other = {7: 3.0, 2: 4.0}, {2: 2.0, 9: 1.0}
    assert cosine_sparse(one, other) == pytest.approx(8 / (5 * math.sqrt(5)))
    assert (cosine_sparse(one, one), cosine_sparse(one, {}), cosine_sparse({}, {})) == (1, 0, 0)
    assert serialize_sparse(one) == [[2, 4], [7, 3]]
    assert deserialize_sparse(json.loads(json.dumps(serialize_sparse(one)))) == one
    assert (serialize_sparse({}), deserialize_sparse([])) == ([], {})


@requirement(
    "T1", "A sparse vector is the same after writing and reading it", "Vector.pairs", "querygraph/embedding.py"
)
def test_a_vector_is_the_same_after_writing_and_reading_it():
    embedder = HashedNgrams()
    for text, other in pairwise(questions(20)):
        vector = embedder.embed(text)
        written = json.loads(json.dumps(vector.pairs()))
        read = vector_of({int(dim): weight for dim, weight in written}, embedder.dimensions)
        assert read.pairs() == vector.pairs()
        assert cosine(read, embedder.embed(other)) == cosine(vector, embedder.embed(other))


@requirement(
    "T5", "Sessions that nobody uses end", "MemoryOrchestrator.gc_sessions, .get_active_sessions", ORCHESTRATOR
)
def test_sessions_that_nobody_uses_end(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    memory.upsert_query("old", "왜?")
    clock.pass_(hours=3)
    memory.upsert_query("new", "왜?")
    clock.pass_(hours=2)
    assert memory.get_active_sessions() == ["new", "old"]
    assert memory.gc_sessions(4 * 3600 * 1000) == ["old"]
    assert memory.get_active_sessions() == ["new"]
    held = memory.get_session_store("new")
    clock.pass_(hours=5)
    held.upsert_query("또 왜?")
    assert memory.gc_sessions(4 * 3600 * 1000) == [], "it is in use by its store"
    clock.pass_(hours=5)
    assert memory.gc_sessions(4 * 3600 * 1000) == ["new"]


@requirement(
    "T6",
    "`upsert_entity`; new questions refer to what they name, by rule",
    "GraphStore.upsert_entity",
    "querygraph/entities.py",
)
def test_new_questions_refer_to_the_entities_they_name(clock):
    store = GraphStore(clock=clock)
    room = store.upsert_entity("u1", "room-3", "대회의실", ["3층 회의실", "Blue Room"])
    for text in ("3층 회의실에서 뭐 해?", "대회의실은 비었어?", "is the blue room free?", "대회의실이라고 했어?"):
        assert referred(store, text) == [room]
    for text in ("3층 회의실장님은 누구야?", "a dark blue roommate", "소회의실은 어디야?", "13층 회의실은?"):
        assert referred(store, text) == [], text
    assert store.upsert_entity("u1", "room-3", "본회의실") == room, "the same entity by another name"
    assert referred(store, "본회의실은 넓어?") == [room]
    assert store.upsert_entity("u2", "room-3", "대회의실") != room, "another user's"


def referred(store: GraphStore, text: str) -> list[str]:
    return [edge["to"] for edge in store.edges(store.upsert_query(text)) if edge["type"] == "refers_to_entity"]


@requirement(
    "T6", "Questions of every session refer to the agent's entities", "MemoryOrchestrator.upsert_entity", ORCHESTRATOR
)
def test_a_session_knows_the_entities_of_the_agent(clock, tmp_path):
    memory = orchestrated(tmp_path, clock)
    memory.get_session_store("one")
    room = memory.upsert_entity("u1", "room-3", "대회의실", ["Blue Room"])
    for session, text in (("one", "대회의실은 비었어?"), ("two", "is the blue room free?")):
        query = memory.upsert_query(session, text)
        assert [edge["to"] for edge in memory.get_session_store(session).edges(query)] == [room]
    memory.upsert_query("one", "주차장은 어디에 있어요?")
    assert memory.get_session_store("one").node(room)["degree"] == 1


@requirement(
    "T6",
    "Where SQLite and an approximate index are plugged in",
    "MemoryOrchestrator(agent_graph=StoredGraph(…)), QueryGraph(index=…)",
    "querygraph/sqlite_store.py",
)
def test_sqlite_and_another_index_are_plugged_in(clock, tmp_path):
    looked_up: list[int] = []

    class Index(ExactScan):
        def candidates(self, query, count, needed):
            looked_up.append(count)
            return super().candidates(query, count, needed)

    for session in ("one", "two"):  # each as another process
        with StoredGraph(tmp_path / "maria.db", GraphConfig.agent(), clock=clock, index=Index) as agent:
            config = OrchestratorConfig(checkpoint=CheckpointConfig(out_dir=tmp_path))
            memory = MemoryOrchestrator("maria", config, agent_graph=agent, clock=clock)
            found = memory.search(session, "벚꽃 축제는 언제 열려?")
            assert [hit["from"] for hit in found] == (["agent"] if session == "two" else [])
            liked(memory, session, "벚꽃 축제는 언제 열려?")
            memory.finalize_session(session)
    assert looked_up
    plain = GraphStore.over(QueryGraph(index=Index, clock=clock))
    plain.upsert_query("왜?")
    looked_up.clear()
    assert plain.search_similar_queries("왜?", 3)
    assert looked_up == [3]


@requirement("T6", "Decayed twice is decayed once, later", "GraphStore.decay", GRAPH)
def test_decay_makes_the_passing_of_time_real_and_twice_is_once_later(clock):
    stores = [filled(Clock(), 40) for _ in range(2)]
    clock.pass_(days=1)
    for store in stores:
        store.graph._clock = clock
    clock.pass_(hours=6)
    stores[0].decay()
    clock.pass_(hours=6)
    for store in stores:
        store.decay()
    first, second = (store.graph for store in stores)
    for one, other in zip(first.nodes(), second.nodes(), strict=True):
        assert one.repeat == pytest.approx(other.repeat)
        assert one.feedback == pytest.approx(other.feedback)
    age = (clock.now.timestamp() * 1e6 - second.nodes()[0].last_access) / 60e6
    assert second.nodes()[0].repeat == pytest.approx(2 ** (-age / 240), rel=1e-6)
    fresh = filled(Clock(), 40).graph.edges()
    for one, other, whole in zip(first.edges(), second.edges(), fresh, strict=True):
        assert one.weight == pytest.approx(other.weight)
        unused = (clock.now.timestamp() * 1e6 - whole.last_access) / 60e6
        assert one.weight == pytest.approx(whole.weight * 2 ** (-unused / 240), rel=1e-6)


@requirement("Settings", "The recommended settings are the defaults", "OrchestratorConfig()", "querygraph/config.py")
def test_the_recommended_settings_are_the_defaults():
    config = OrchestratorConfig()
    session, agent = config.session_graph, config.agent_graph
    assert (session.max_nodes, session.max_edges, session.half_life_min) == (1_000, 4_000, 240)
    assert (session.tau_dup, session.tau_sim, session.protect_min_degree) == (0.96, 0.75, 3)
    assert (agent.max_nodes, agent.max_edges, agent.half_life_min) == (1_000, 12_000, 1440)
    assert (agent.tau_dup, agent.tau_sim, agent.protect_min_degree) == (0.96, 0.78, 4)
    assert (session.enable_inverted_index, agent.enable_inverted_index) == (False, True)
    promotion, checkpoint = config.promotion, config.checkpoint
    assert (promotion.min_rank, promotion.max_promotions, promotion.min_degree) == (0.55, 20, 2)
    assert (checkpoint.out_dir, checkpoint.top_k, checkpoint.pretty) == ("./.agentos/checkpoints", 30, True)
    assert config.search_bias_session_first == 0.05
