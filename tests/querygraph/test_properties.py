"""What holds whatever is asked, answered, rated and forgotten, in whatever order."""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from typing import Any
from unittest.mock import patch

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.querygraph import ConversationConfig, ConversationMemory, Edge, GraphConfig, Node, QueryGraph, search
from commonplace.querygraph.search import ExactScan, InvertedIndex
from querygraph.samples import Clock, questions
from sizes import examples

TEXTS = questions(30)
LABELS = ("up", "down", "retry")

KINDS = ("ask", "answer", "rate", "link", "entity", "pin", "unpin", "decay", "wait")


def scripts(*kinds: str) -> st.SearchStrategy[list[tuple[str, int, int]]]:
    return st.lists(st.tuples(st.sampled_from(kinds), st.integers(0, 29), st.integers(0, 29)), max_size=40)


steps = scripts(*KINDS)


def do(graph: QueryGraph, clock: Clock, step: tuple[str, int, int]) -> None:
    """One step; one that names a node that is not there, or has no room, changes nothing."""
    what, one, other = step
    ids = [node.id for node in graph.nodes("query")] or ["q-"]
    query = ids[one % len(ids)]
    try:
        match what:
            case "ask":
                graph.upsert_query(TEXTS[one])
            case "answer":
                graph.record_answer(query, f"답 {other % 4}")
            case "rate":
                answers = [None, *(answer.id for answer in graph.answers(query))]
                graph.record_feedback(query, LABELS[other % 3], answer=answers[other % len(answers)])
            case "link":
                graph.link(query, ids[other % len(ids)], "similar_to", 0.1 + other / 10)
            case "entity":
                graph.upsert_entity(("도서관", "회의실", "마리아")[other % 3], aliases=[f"별명 {one}"])
            case "pin" | "unpin":
                every = graph.nodes()
                graph.pin(every[one % len(every)].id if every else "q-", what == "pin")
            case "decay":
                graph.decay()
            case "delete":
                graph.delete_query(query)
            case _:
                clock.pass_(minutes=1 + other)
    except UsageError:
        pass


def refuse_incoherent(graph: QueryGraph) -> None:
    """Raises AssertionError unless edges, degrees, budgets and the vectors agree."""
    nodes, edges = graph.nodes(), graph.edges()
    ids = {node.id for node in nodes}
    assert len(nodes) == graph.stats().nodes <= graph.config.max_nodes
    assert len(edges) == graph.stats().edges <= graph.config.max_edges
    assert len({edge.id for edge in edges}) == len(edges)
    assert {end for edge in edges for end in (edge.source, edge.target)} <= ids
    degrees = Counter(end for edge in edges for end in (edge.source, edge.target))
    assert all(node.degree >= degrees[node.id] for node in nodes)
    found = graph.search("아무 말", k=1000)
    assert sorted(hit.id for hit in found) == sorted(node.id for node in nodes if node.type == "query")


@given(steps, st.integers(1, 12), st.integers(1, 12), st.booleans())
@examples(120)
def test_budgets_hold_after_every_step_and_pinned_nodes_never_go(script, max_nodes, max_edges, indexed):
    clock = Clock()
    config = GraphConfig(max_nodes=max_nodes, max_edges=max_edges, tau_sim=0.3, enable_inverted_index=indexed)
    graph = QueryGraph(config, clock=clock)
    for step in script:
        pinned = {node.id for node in graph.nodes() if node.pinned}
        try:
            do(graph, clock, step)
        except CommonplaceError as error:
            assert "no room" in str(error)
            assert step[0] in ("ask", "answer", "rate", "entity")
        if step[0] != "unpin":
            assert all(id in graph for id in pinned)
        refuse_incoherent(graph)


@given(steps, st.integers(2, 10))
@examples(120)
def test_protected_nodes_go_only_when_no_others_are_left(script, max_nodes):
    clock = Clock()
    config = GraphConfig(max_nodes=max_nodes, max_edges=100, tau_sim=0.3, protect_min_degree=2)
    graph = QueryGraph(config, clock=clock)
    for step in script:
        before = {node.id: node for node in graph.nodes()}
        try:
            do(graph, clock, step)
        except CommonplaceError:
            continue
        gone = [node for id, node in before.items() if id not in graph]
        if any(node.degree >= 2 for node in gone):
            # what is in use by the call itself cannot go: the question that is answered or rated, and its answer
            loose = [node for node in before.values() if node.degree < 2 and not node.pinned and node.id in graph]
            assert step[0] in ("answer", "rate") or not loose
        if gone and step[0] == "ask" and all(node.degree < 2 for node in gone):
            worst = max(node.rank for node in gone)
            lone = [node for node in gone if node.type in ("answer", "feedback") and not node.degree]
            rest = [node for node in before.values() if node.id in graph and node.degree < 2 and not node.pinned]
            assert lone or all(node.rank >= worst - 1e-9 for node in rest)


def test_only_pins_left_is_an_error_that_says_so_and_changes_nothing():
    graph = QueryGraph(GraphConfig(max_nodes=2), clock=Clock())
    for text in TEXTS[:2]:
        graph.pin(graph.upsert_query(text))
    before = graph.to_snapshot()
    with pytest.raises(CommonplaceError, match="all of max_nodes=2 are pinned"):
        graph.upsert_query("자리가 있어?")
    assert graph.to_snapshot() == before


def test_when_only_protected_nodes_are_left_the_lowest_ranked_goes():
    clock = Clock()
    graph = QueryGraph(GraphConfig(max_nodes=3, protect_min_degree=1, tau_sim=1.0, tau_dup=1.0), clock=clock)
    ids = []
    for text in TEXTS[:3]:
        ids.append(graph.upsert_query(text))
        clock.pass_(minutes=10)
    graph.adjust_weights(ids[0], repeat_delta=9)
    for one, other in itertools.pairwise((*ids, ids[0])):
        graph.link(one, other, "similar_to", 0.9)
    graph.upsert_query("또 물어보자")
    assert [id in graph for id in ids] == [True, False, True]


@given(steps)
@examples(80)
def test_a_snapshot_gives_the_same_graph(script):
    clock = Clock()
    graph = QueryGraph(GraphConfig(max_nodes=12, max_edges=30, tau_sim=0.3), clock=clock)
    for step in script:
        do(graph, clock, step)
    loaded = QueryGraph.from_snapshot(graph.to_snapshot(), clock=clock)
    assert loaded.nodes() == graph.nodes()
    assert loaded.edges() == graph.edges()
    assert [loaded.search(text) for text in TEXTS[::7]] == [graph.search(text) for text in TEXTS[::7]]
    for text in TEXTS[:8]:  # and goes on alike
        assert loaded.upsert_query(text) == graph.upsert_query(text)
    assert loaded.nodes() == graph.nodes()


@given(st.permutations([(0, "up"), (0, "down"), (1, "up"), (1, "retry"), (2, "up"), (2, "up"), (0, "retry")]))
@examples(60)
def test_the_order_of_feedback_given_at_one_time_does_not_matter(batch):
    def rated(order: Any) -> dict[str, tuple[float, ...]]:
        graph = QueryGraph(GraphConfig(tau_sim=0.2), clock=Clock())
        ids = [graph.upsert_query(text) for text in TEXTS[:8]]
        for one, other in itertools.combinations(ids, 2):
            graph.link(one, other, "similar_to", 0.3 + int(one[2:6] + other[2:6], 16) % 7 / 10)
        answers = [graph.record_answer(id, "그래.") for id in ids]
        for which, label in order:
            graph.record_feedback(ids[which], label, answer=answers[which])
        return {node.id: (node.feedback, node.repeat, node.rank, node.degree) for node in graph.nodes()}

    assert rated(batch) == rated(sorted(batch))


def test_feedback_spreads_less_with_each_hop_and_each_step_away():
    graph = QueryGraph(GraphConfig(tau_sim=1.0, tau_dup=1.0), clock=Clock())
    one, two, three, four, alone = (graph.upsert_query(text) for text in TEXTS[:5])
    graph.link(one, two, "similar_to", 0.8)
    graph.link(three, two, "similar_to", 0.5)  # either direction
    graph.link(three, four, "similar_to", 0.9)
    graph.record_feedback(one, "up")
    graph.record_feedback(one, "retry")
    got = [graph.node(id).feedback for id in (one, two, three, four, alone)]
    assert got == pytest.approx([0.5, 0.5 * 0.5 * 0.8, 0.5 * 0.25 * 0.8 * 0.5, 0, 0], abs=1e-3)


def test_a_retry_counts_less_than_a_down_and_down_voted_answers_sink():
    clock = Clock()
    graph = QueryGraph(clock=clock)
    query = graph.upsert_query("벚꽃 축제는 언제 열려?")
    answers = {label: graph.record_answer(query, f"답: {label}") for label in ("down", "retry", "up", "none")}
    for label in LABELS:
        graph.record_feedback(query, label, answer=answers[label])
    assert [answer.id for answer in graph.answers(query)] == [answers[of] for of in ("up", "none", "retry", "down")]
    best = graph.best_answers("벚꽃 축제는 언제 열리지?", k=2)
    assert [answer.id for answer in best] == [answers["up"], answers["none"]]


@given(
    st.lists(st.integers(0, 29), min_size=1, max_size=150),
    st.sampled_from(["왜?", "도서관에서 기차표는 어떻게 예약하나요?", "nothing like it", "3", *TEXTS[:3]]),
    st.integers(1, 12),
    st.floats(0, 0.9),
    st.sampled_from([1, 30, 200, 100_000]),
    st.sampled_from([0, 3, 1_000]),
)
@examples(200)
def test_the_index_finds_exactly_what_the_scan_finds(asked, text, k, rank_weight, postings, few):
    """Also where it stops before the most common dimensions, as it does in graphs much larger than these."""
    clock = Clock()
    graphs = []
    for index in (ExactScan, InvertedIndex):
        clock.now = Clock().now
        graph = QueryGraph(GraphConfig(max_nodes=20, rank_weight=rank_weight, tau_sim=0.4), clock=clock, index=index)
        for number, which in enumerate(asked):
            clock.pass_(minutes=which)
            query = graph.upsert_query(TEXTS[which] + ("!" if number % 3 else " 정말?"))
            if which % 4 == 0:
                graph.record_feedback(query, LABELS[which % 3])
        graphs.append(graph)
    with patch.multiple(search, _FIRST_POSTINGS=postings, _FEW=few, _PROBED=k):
        assert graphs[0].search(text, k=k) == graphs[1].search(text, k=k)
        new = "마리아가 도서관에서 기차표 3번 언제 받나요?"
        assert graphs[0].upsert_query(new) == graphs[1].upsert_query(new)
    assert graphs[0].edges() == graphs[1].edges()


class Signed:
    """An embedder with negative numbers, and none for some texts."""

    dimensions = 7

    def embed(self, text: str) -> list[float]:
        return [((ord(text[i % len(text)]) * (i + 3)) % 11 - 5.0) / 3 if "할" not in text else 0.0 for i in range(7)]

    def export_state(self) -> dict[str, Any]:
        return {"kind": "signed"}


def test_the_index_is_exact_for_other_embedders_too():
    found = []
    for indexed in (False, True):
        config = GraphConfig(enable_inverted_index=indexed, tau_dup=1.0, tau_sim=0.99)
        graph = QueryGraph(config, embedder=Signed(), clock=Clock())
        for text in questions(200):
            graph.upsert_query(text)
        found.append([graph.search(text, k=9) for text in questions(30, seed=5)])
        with pytest.raises(UsageError, match="another embedder"):
            QueryGraph.from_snapshot(graph.to_snapshot())
        again = QueryGraph.from_snapshot(graph.to_snapshot(), embedder=Signed(), clock=Clock())
        assert [again.search(text, k=9) for text in questions(30, seed=5)] == found[-1]
    assert found[0] == found[1]


def test_rows_of_evicted_questions_are_used_again_without_mixing_them_up():
    clock = Clock()
    graph = QueryGraph(GraphConfig(max_nodes=40, enable_inverted_index=True), clock=clock)
    texts = questions(700)
    for text in texts:
        clock.pass_(minutes=1)
        graph.upsert_query(text)
    for text in texts[-40:]:
        assert graph.search(text, k=1)[0].text == text
    fresh = QueryGraph(GraphConfig(max_nodes=40), clock=clock)
    for text in texts[-40:]:
        fresh.upsert_query(text)
    assert {hit.id for hit in graph.search("회의실", k=9)} <= {node.id for node in fresh.nodes()}


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([None, *LABELS])), min_size=1, max_size=25),
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([None, *LABELS])), min_size=1, max_size=25),
)
@examples(60)
def test_promotion_never_lowers_the_score_of_a_question_for_itself(first, second):
    clock = Clock()
    config = ConversationConfig(
        session=GraphConfig(tau_sim=0.3), agent=GraphConfig(tau_sim=0.3), promote_min_rank=0.0, promote_min_degree=0
    )
    memory = ConversationMemory("maria", config, clock=clock)
    for session, script in (("one", first), ("two", second)):
        for which, label in script:
            query = memory.upsert_query(session, TEXTS[which])
            answer = memory.record_answer(session, query, f"답 {which % 2}")
            if label is not None:
                memory.record_feedback(session, query, label, answer=answer)
        clock.pass_(minutes=30)
        before = {text: max((hit.score for hit in memory.agent.search(text)), default=-1.0) for text in TEXTS[:10]}
        degrees = {node.id: node.degree for node in memory.session(session).nodes("query")}
        known = {node.id: node.degree for node in memory.agent.nodes("query")}
        promoted = memory.finalize_session(session, checkpoint=False).promoted
        assert promoted
        for text, score in before.items():
            assert max((hit.score for hit in memory.agent.search(text)), default=-1.0) >= score
        for id in set(promoted) & set(degrees):
            assert memory.agent.node(id).degree >= known.get(id, 0) + degrees[id]
        keys = [node.canonical_key for node in memory.agent.nodes("query")]
        assert len(keys) == len(set(keys))
        refuse_incoherent(memory.agent)


def test_bad_thumbs_of_a_session_do_not_lower_what_the_agent_has_learnt():
    clock = Clock()
    memory = ConversationMemory("maria", ConversationConfig(promote_min_degree=0, promote_min_rank=0.0), clock=clock)
    for _ in range(20):
        memory.upsert_query("one", TEXTS[0])
    memory.finalize_session("one", checkpoint=False)
    before = memory.agent.search(TEXTS[0])[0].score
    query = memory.upsert_query("two", TEXTS[0])
    answer = memory.record_answer("two", query, "몰라.")
    for _ in range(3):
        memory.record_feedback("two", query, "down", answer=answer)
    assert memory.finalize_session("two", checkpoint=False).promoted == (query,)
    assert memory.agent.search(TEXTS[0])[0].score >= before
    assert memory.agent.answers(query)[0].feedback == -3


def test_what_an_agent_has_no_room_for_is_not_promoted():
    clock = Clock()
    config = ConversationConfig(agent=GraphConfig(max_nodes=3), promote_min_degree=0)
    memory = ConversationMemory("maria", config, clock=clock)
    memory.agent.pin(memory.agent.upsert_query("늘 있던 질문"))
    ids = []
    for number, text in enumerate(TEXTS[:4]):
        ids.append(memory.upsert_query("one", text))
        memory.record_answer("one", ids[-1], "그래.")
        memory.session("one").adjust_weights(ids[-1], repeat_delta=number)
    assert memory.finalize_session("one", checkpoint=False).promoted == (ids[3], ids[2])
    assert [node.type for node in memory.agent.nodes()] == ["query"] * 3
    assert memory.active_sessions() == []


@given(steps=steps)
def test_an_export_has_every_node_and_edge(steps, tmp_path_factory):
    graph, folder = QueryGraph(clock=(clock := Clock())), tmp_path_factory.mktemp("export")
    for step in steps:
        do(graph, clock, step)
    graph.export(folder / "g.graphml")
    read = networkx.read_graphml(folder / "g.graphml", force_multigraph=True)
    assert {(id, node["text"], node["type"]) for id, node in read.nodes(data=True)} == {
        (node.id, node.text, node.type) for node in graph.nodes()
    }
    edges = sorted((edge.source, edge.type, edge.target, edge.weight) for edge in graph.edges())
    assert sorted((one, edge["type"], other, edge["weight"]) for one, other, edge in read.edges(data=True)) == edges
    graph.export(folder / "g.jsonl")
    rows = [json.loads(line) for line in (folder / "g.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["node"]["id"] for row in rows if "node" in row] == [node.id for node in graph.nodes()]
    assert [row["edge"]["id"] for row in rows if "edge" in row] == [edge.id for edge in graph.edges()]


@given(steps=steps)
def test_networkx_gets_every_node_and_edge(steps):
    graph = QueryGraph(GraphConfig(tau_sim=0.3), clock=(clock := Clock()))
    for step in steps:
        do(graph, clock, step)
    given = graph.to_networkx()
    assert [Node(id=id, **fields) for id, fields in given.nodes(data=True)] == graph.nodes()
    edges = [Edge(source=one, target=other, **fields) for one, other, fields in given.edges(data=True)]
    assert sorted(edges, key=lambda edge: edge.id) == sorted(graph.edges(), key=lambda edge: edge.id)
    assert all(given.has_edge(edge.source, edge.target, edge.type) for edge in graph.edges())


def test_networkx_gets_a_directed_graph_that_its_algorithms_walk():
    graph = QueryGraph(clock=Clock())
    query = graph.upsert_query("왜?")
    answer = graph.record_answer(query, "몰라.")
    graph.record_feedback(query, "up", answer=answer)
    given = graph.to_networkx()
    assert given.is_directed()
    assert given.is_multigraph()
    assert list(given[query][answer]) == ["responded_with"]
    assert networkx.descendants(given, query) == set(given) - {query}


def test_without_networkx_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(UsageError, match="pip install networkx"):
        QueryGraph().to_networkx()


def test_an_export_of_another_ending_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"\.csv is not a form of export"):
        QueryGraph().export(tmp_path / "g.csv")
    assert list(tmp_path.iterdir()) == []
