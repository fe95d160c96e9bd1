"""The acceptance criteria of the founding document, D1–D4 and T0–T6, at its scale: 1,000 nodes and 4,000 edges."""

from __future__ import annotations

import inspect
import json
import math
import re
import resource
import runpy
import subprocess
import sys
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import commonplace
from commonplace import querygraph
from commonplace.querygraph import ConversationConfig, ConversationMemory, GraphConfig, QueryGraph, canonical_key
from commonplace.querygraph.embedding import HashedNgrams, cosine, vector_of
from querygraph.samples import Clock, questions

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def clock() -> Clock:
    return Clock()


def filled(clock: Clock, count: int = 900, **settings: object) -> QueryGraph:
    """A graph that was asked more questions than it has room for, answered and rated."""
    graph = QueryGraph(GraphConfig(**{"tau_sim": 0.4, "max_links": 8, **settings}), clock=clock)  # pyright: ignore[reportArgumentType]
    for number, text in enumerate(questions(count)):
        clock.pass_(seconds=20)
        query = graph.upsert_query(text)
        if number % 9 == 0:
            answer = graph.record_answer(query, f"답 {number}")
            graph.record_feedback(query, ("up", "down", "retry")[number % 3], answer=answer)
    return graph


# ── D1: the graph ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_d1_it_works_at_a_thousand_nodes_and_four_thousand_edges_within_its_memory(clock):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    graph = filled(clock)
    stats = graph.stats()
    assert stats.nodes == 1_000
    assert 3_900 < stats.edges <= 4_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64_000  # kB
    assert len(graph.search("도서관에서 기차표는 어떻게 예약하나요?", k=5)) == 5


def test_d1_t2_tau_dup_merges_and_tau_sim_links(clock):
    graph = QueryGraph(GraphConfig(tau_sim=0.55), clock=clock)
    first = graph.upsert_query("회의실 예약은 어떻게 하나요?")
    assert graph.upsert_query("회의실예약은 어떻게 하나요") == first
    assert graph.node(first).repeat == 2
    other = graph.upsert_query("회의실 예약 어떻게 하나요?")
    (edge,) = graph.edges(other)
    assert (edge.id, edge.type) == (f"{other}::similar_to::{first}", "similar_to")
    assert edge.weight == pytest.approx(0.589, abs=0.001)


def test_d1_a_near_duplicate_by_embedding_alone_merges(clock):
    graph = QueryGraph(GraphConfig(tau_dup=0.8, tau_sim=0.5), clock=clock)
    first = graph.upsert_query("이번 주 금요일 회식은 어디에서 하나요?")
    assert graph.upsert_query("이번 주 금요일 회식은 어디에서 해요?") == first
    assert graph.stats().nodes == 1


def test_d1_t2_a_snapshot_gives_the_same_searches(clock, tmp_path):
    graph = filled(clock, 300)
    graph.save(tmp_path / "graph.json")
    loaded = QueryGraph.load(tmp_path / "graph.json", clock=clock)
    for text in questions(30, seed=2):
        assert loaded.search(text, k=7) == graph.search(text, k=7)
    assert loaded.edges() == graph.edges()


def test_d1_t1_a_snapshot_holds_vectors_as_pairs_and_is_json(clock):
    snapshot = filled(clock, 20).to_snapshot()
    assert json.loads(json.dumps(snapshot)) == json.loads(json.dumps(snapshot))
    vector = next(node["embedding"] for node in snapshot["nodes"] if node["type"] == "query")
    assert all(len(pair) == 2 and 0 <= pair[0] < 16_384 and pair[1] >= 1 for pair in vector)
    assert QueryGraph.from_snapshot(json.loads(json.dumps(snapshot)), clock=clock).to_snapshot() == snapshot


def test_d1_the_same_key_is_stored_once_in_session_and_agent(clock, tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=clock)
    for session, text in (("one", "회의실 예약은 어떻게 하나요?"), ("two", "회의실예약은 어떻게하나요")):
        query = memory.upsert_query(session, text)
        memory.record_feedback(session, query, "up", answer=memory.record_answer(session, query, "앱에서 합니다."))
        memory.finalize_session(session)
    (node,) = memory.agent.nodes("query")
    assert node.repeat == 2
    memory.upsert_query("three", "회의실 예약은 어떻게 하나요?")
    assert [hit.source for hit in memory.search("three", "회의실 예약은 어떻게 하나요?")] == ["session"]


def test_d1_an_edge_has_a_fixed_key_and_gains_weight(clock):
    graph = QueryGraph(clock=clock)
    query = graph.upsert_query("왜?")
    answer = graph.record_answer(query, "그러니까.")
    clock.pass_(minutes=3)
    graph.link(query, answer, "responded_with", 1.5)
    (edge,) = graph.edges()
    assert (edge.id, edge.weight) == (f"{query}::responded_with::{answer}", 2.5)
    assert edge.last_access - edge.created_at == 180_000_000
    assert graph.node(query).degree == graph.node(answer).degree == 1


def test_d1_rank_is_the_formula(clock):
    graph = QueryGraph(GraphConfig(half_life_min=240), clock=clock)
    query = graph.upsert_query("왜?")
    graph.adjust_weights(query, feedback_delta=3, repeat_delta=4)
    clock.pass_(minutes=120)
    recency = math.exp(-math.log(2) * 120 / 240)
    assert graph.node(query).rank == pytest.approx(
        0.5 * recency + 0.3 * math.tanh(5 / 5) + 0.2 * math.tanh(3 / 5), abs=1e-12
    )


def test_d1_t5_the_inverted_index_finds_what_the_scan_finds(clock):
    scan = filled(clock, 200)
    indexed = QueryGraph.from_snapshot(
        scan.to_snapshot(), config=GraphConfig(tau_sim=0.4, enable_inverted_index=True), clock=clock
    )
    for text in questions(30, seed=3):
        assert indexed.search(text) == scan.search(text)


# ── D2: embeddings ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_d2_the_same_text_gives_the_same_vector():
    texts = questions(50)
    one, other = HashedNgrams(), HashedNgrams()
    for text in (*texts, *reversed(texts)):
        assert one.embed(text).pairs() == other.embed(text).pairs()
    dims = one.embed("회의실 예약은 어떻게 하나요?").dims.tolist()
    assert dims[:3] == [324, 3510, 3989], "xxh3-128 with seed 0, modulo 16,384"


def test_d2_a_snapshot_of_another_embedder_compares_right(clock):
    old = QueryGraph(embedder=HashedNgrams((2, 3), dim=512, seed=9), clock=clock)
    for text in questions(40):
        old.upsert_query(text)
    kept = QueryGraph.from_snapshot(old.to_snapshot(), clock=clock)
    assert kept.embedder.export_state() == old.embedder.export_state()
    now = QueryGraph.from_snapshot(old.to_snapshot(), embedder=HashedNgrams(), clock=clock)
    fresh = QueryGraph(clock=clock)
    for text in questions(40):
        fresh.upsert_query(text)
    for text in questions(10, seed=2):
        assert kept.search(text) == old.search(text)
        assert now.search(text) == fresh.search(text)


def test_d2_t1_the_state_of_the_embedder_travels(clock):
    state = QueryGraph(clock=clock).to_snapshot()["embedder_state"]
    assert state == {
        "kind": "hashed-ngrams",
        "ngram_range": [3, 5],
        "dim": 16_384,
        "seed": 0,
        "hash_algo": "xxh3-128",
        "norm_version": 1,
    }


def test_d2_a_korean_paraphrase_is_nearer_than_another_question():
    embed = HashedNgrams().embed
    asked = embed("법인카드 영수증은 어디에 제출하면 되나요?")
    for alike in ("법인카드영수증은 어디에제출하면 되나요", "법인카드 영수증을 어디에 제출하면 됩니까?"):
        assert cosine(asked, embed(alike)) > 0.5 > cosine(asked, embed("출입증을 잃어버리면 어디에 신고하나요?"))


# ── D3: sessions and agents ──────────────────────────────────────────────────────────────────────────────────────────


def test_d3_after_promotion_the_agent_scores_the_same_question_no_lower(clock, tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=clock)
    text = "벚꽃 축제는 언제 열려?"
    before = 0.0
    for session in ("one", "two", "three"):
        query = memory.upsert_query(session, text)
        memory.record_feedback(session, query, "up", answer=memory.record_answer(session, query, "4월 4일에."))
        memory.finalize_session(session)
        after = memory.agent.search(text)[0].score
        assert after > before
        before = after


def test_d3_a_checkpoint_gives_back_the_session(clock, tmp_path):
    config = ConversationConfig(session=GraphConfig(tau_sim=0.4), checkpoint_folder=tmp_path)
    memory = ConversationMemory("maria", config, clock=clock)
    for text in questions(25):
        query = memory.upsert_query("one", text)
        memory.record_feedback("one", query, "up", answer=memory.record_answer("one", query, "그래."))
    asked = questions(10, seed=4)
    then = [memory.session("one").search(text) for text in asked]
    edges = {(edge.id, edge.weight) for edge in memory.session("one").edges()}
    path = memory.finalize_session("one", promote=False).checkpoint
    assert path is not None
    later = ConversationMemory("maria", config, clock=clock)  # another process
    assert later.load_checkpoint(path) == "one"
    assert [later.session("one").search(text) for text in asked] == then
    assert {(edge.id, edge.weight) for edge in later.session("one").edges()} == edges


def test_d3_t3_a_checkpoint_says_how_its_keys_and_vectors_were_made(clock, tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=clock)
    for text in questions(40):
        memory.upsert_query("한 번", text)
    path = memory.finalize_session("한 번", checkpoint_name="first").checkpoint
    assert path == tmp_path / "first.json"
    held = json.loads(path.read_text(encoding="utf-8"))
    assert held["canonical_meta"] == {"norm_version": 1, "hash_algo": "xxh3-128", "seed": 0}
    assert held["embedder_state"]["dim"] == 16_384
    assert (held["version"], held["agent_id"], held["session_id"]) == (1, "maria", "한 번")
    assert len(held["top_queries"]) == 30
    assert held["created_at"]
    assert all(re.fullmatch("[0-9a-f]{32}", node["canonical_key"]) for node in held["top_queries"])


# ── D4: tests, a sample, documentation ───────────────────────────────────────────────────────────────────────────────


def test_d4_the_sample_the_settings_and_the_commands_are_documented():
    page = (PROJECT / "docs" / "query-graph.md").read_text(encoding="utf-8")
    for name in (*GraphConfig.__dataclass_fields__, *ConversationConfig.__dataclass_fields__):
        assert f"`{name}`" in page, name
    assert "examples/12_questions.py" in page
    assert "benchmarks/query_graph.py" in page


# ── T0–T6 ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_t0_it_is_a_typed_library_of_its_own_with_a_demonstration():
    code = (
        "import sys, commonplace.querygraph; print(*(name for name in sys.modules if name.startswith('commonplace.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout.split()
    below = {"canon", "errors", "lock", "paths", "sqlite", "text", "whole_file"}
    assert {name.split(".")[1] for name in loaded} == {"querygraph", *below}, "nothing of the town"
    assert (Path(commonplace.__file__).parent / "py.typed").exists()
    assert (PROJECT / "examples" / "12_questions.py").exists()
    for name in querygraph.__all__:
        kind = getattr(querygraph, name)
        public = [one for one in vars(kind).values() if inspect.isfunction(one) and not one.__name__.startswith("_")]
        for function in [*public, *([kind] if inspect.isfunction(kind) else [])]:
            signature = inspect.signature(function)
            untyped = [one.name for one in signature.parameters.values() if one.annotation is one.empty]
            assert untyped in ([], ["self"], ["cls"]), function.__qualname__
            assert signature.return_annotation is not signature.empty, function.__qualname__


def test_t1_a_node_has_all_its_fields_and_a_vector_is_the_same_after_writing_and_reading_it(clock):
    graph = QueryGraph(clock=clock)
    query = graph.upsert_query("회의실 예약은 어떻게 하나요?")
    graph.record_feedback(query, "up", answer=graph.record_answer(query, "앱에서 합니다."))
    graph.upsert_entity("회의실")
    assert {node.type for node in graph.nodes()} == {"query", "answer", "feedback", "entity"}
    node = graph.node(query)
    assert (node.canonical_key, node.repeat, node.feedback, node.pinned) == (canonical_key(node.text), 1, 1, False)
    embedder = HashedNgrams()
    for text, other in pairwise(questions(20)):
        vector = embedder.embed(text)
        written = json.loads(json.dumps(vector.pairs()))
        read = vector_of({int(dim): weight for dim, weight in written}, embedder.dimensions)
        assert read.pairs() == vector.pairs()
        assert cosine(read, embedder.embed(other)) == cosine(vector, embedder.embed(other))


def test_t2_the_node_of_the_lowest_rank_is_evicted_with_its_edges(clock):
    graph = QueryGraph(GraphConfig(max_nodes=3, tau_sim=0.3), clock=clock)
    asked = ["회의실 예약은 어떻게 하나요?", "회의실 예약은 어떻게 해요?", "회의실 예약을 어떻게 바꿔요?"]
    first, second, third = (graph.upsert_query(text) for text in asked)
    graph.adjust_weights(first, feedback_delta=2)
    graph.adjust_weights(third, repeat_delta=2)
    assert graph.node(second).rank < min(graph.node(first).rank, graph.node(third).rank)
    fourth = graph.upsert_query("주차장은 어디에 있어요?")
    assert {node.id for node in graph.nodes()} == {first, third, fourth}
    assert all(second not in (edge.source, edge.target) for edge in graph.edges())


def test_t4_the_demonstration_runs_from_start_to_end_and_what_was_promoted_scores_afterwards(capsys):
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


def test_t3_both_graphs_are_searched_and_the_session_comes_first(clock, tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=clock)
    kept = memory.agent.upsert_query("벚꽃 축제는 언제 열려?")
    own = memory.upsert_query("one", "벚꽃 축제는 어디서 열려?")
    hits = memory.search("one", "벚꽃 축제는 몇 시에 열려?")
    assert [(hit.id, hit.source) for hit in hits] == [(own, "session"), (kept, "agent")]
    (alone,) = memory.session("one").search("벚꽃 축제는 몇 시에 열려?")
    assert hits[0].score == alone.score + 0.05


def test_t5_sessions_that_nobody_uses_end(clock, tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=clock)
    memory.upsert_query("old", "왜?")
    clock.pass_(hours=3)
    memory.upsert_query("new", "왜?")
    clock.pass_(hours=2)
    assert memory.active_sessions() == ["new", "old"]
    assert memory.gc_sessions(older_than=timedelta(hours=4)) == ["old"]
    assert memory.active_sessions() == ["new"]


def test_t6_new_questions_refer_to_the_entities_they_name(clock):
    graph = QueryGraph(clock=clock)
    room = graph.upsert_entity("대회의실", aliases=["3층 회의실", "Blue Room"])
    for text in ("3층 회의실에서 뭐 해?", "대회의실은 비었어?", "is the blue room free?", "대회의실이라고 했어?"):
        assert [edge.target for edge in graph.edges(graph.upsert_query(text)) if edge.type == "refers_to_entity"] == [
            room
        ]
    for text in ("3층 회의실장님은 누구야?", "a dark blue roommate", "소회의실은 어디야?", "13층 회의실은?"):
        assert not [edge for edge in graph.edges(graph.upsert_query(text)) if edge.type == "refers_to_entity"], text


def test_t6_decay_makes_the_passing_of_time_real_and_twice_is_once_later(clock):
    graphs = [filled(Clock(), 40) for _ in range(2)]
    clock.pass_(days=1)
    for graph in graphs:
        graph._clock = clock
    clock.pass_(hours=6)
    graphs[0].decay()
    clock.pass_(hours=6)
    for graph in graphs:
        graph.decay()
    for one, other in zip(graphs[0].nodes(), graphs[1].nodes(), strict=True):
        assert one.repeat == pytest.approx(other.repeat)
        assert one.feedback == pytest.approx(other.feedback)
    age = (clock.now.timestamp() * 1e6 - graphs[1].nodes()[0].last_access) / 60e6
    assert graphs[1].nodes()[0].repeat == pytest.approx(2 ** (-age / 240), rel=1e-6)
    for one, other in zip(graphs[0].edges(), graphs[1].edges(), strict=True):
        assert one.weight == pytest.approx(other.weight)
