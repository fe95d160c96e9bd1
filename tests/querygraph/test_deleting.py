"""A question is deleted with all that hangs on it, and with nothing that something else has."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.querygraph import ConversationMemory, GraphConfig, QueryGraph, StoredGraph
from querygraph.samples import Clock, questions
from querygraph.test_properties import refuse_incoherent


def filled(graph: QueryGraph) -> list[str]:
    """Asks, answers and rates six questions, and returns their ids."""
    graph.upsert_entity("도서관")
    graph.upsert_entity("온실")
    asked = [graph.upsert_query(text) for text in (*questions(4), "도서관은 언제 열어?", "도서관 온실은 어디야?")]
    for query in asked:
        answer = graph.record_answer(query, "그래.")
        graph.record_feedback(query, "up", answer=answer, note="좋아")
        graph.record_feedback(query, "down")
    graph.link(asked[0], asked[-1], "similar_to", 0.5)
    return asked


def graph_of(stored: bool, folder: Path) -> QueryGraph:
    config = GraphConfig(tau_sim=0.2)
    return StoredGraph(folder / "g.db", config, clock=Clock()) if stored else QueryGraph(config, clock=Clock())


@pytest.mark.parametrize("stored", [False, True])
def test_a_question_goes_with_its_answers_feedback_edges_and_lone_entity(stored, tmp_path):
    graph = graph_of(stored, tmp_path)
    *_, library, greenhouse = filled(graph)
    nodes, edges = graph.nodes(), graph.edges()
    removed = graph.delete_query(greenhouse)
    assert [node.type for node in removed.nodes] == ["query", "answer", "feedback", "feedback", "entity"]
    assert removed.nodes[-1].text == "온실"
    gone = {node.id for node in removed.nodes}
    assert list(removed.edges) == [edge for edge in edges if {edge.source, edge.target} & gone]
    assert {edge.type for edge in removed.edges} >= {"similar_to", "responded_with", "has_feedback"}
    assert [node.id for node in graph.nodes()] == [node.id for node in nodes if node.id not in gone]
    assert graph.edges() == [edge for edge in edges if edge not in removed.edges]
    assert [node.text for node in graph.nodes("entity")] == ["도서관"]
    assert greenhouse not in [hit.id for hit in graph.search("도서관 온실은 어디야?", k=20)]
    assert graph.answers(library)
    refuse_incoherent(graph)
    if isinstance(graph, StoredGraph):
        with StoredGraph(tmp_path / "g.db", clock=Clock()) as other:
            assert other.nodes() == graph.nodes()
            assert other.edges() == graph.edges()
        graph.close()


def test_another_handle_of_the_file_sees_it_go(tmp_path):
    with StoredGraph(tmp_path / "g.db", clock=Clock()) as one, StoredGraph(tmp_path / "g.db", clock=Clock()) as other:
        query = filled(one)[0]
        assert query in other
        one.delete_query(query)
        assert query not in other
        assert other.to_snapshot() == one.to_snapshot()


def test_what_another_question_has_stays():
    graph = QueryGraph(clock=Clock())
    one, two = map(graph.upsert_query, ("왜?", "누가 그래?"))
    shared = graph.record_answer(one, "몰라.")
    rated = graph.record_feedback(one, "up", answer=shared)
    graph.link(two, shared, "responded_with")
    graph.delete_query(one)
    assert shared in graph
    assert rated in graph
    assert [node.id for node in graph.delete_query(two).nodes] == [two, shared, rated]
    assert graph.stats().nodes == graph.stats().edges == 0


def test_a_pin_keeps_an_entity_and_no_question():
    graph = QueryGraph(clock=Clock())
    room = graph.upsert_entity("대회의실")
    query = graph.upsert_query("대회의실은 비었어?")
    for id in (room, query):
        graph.pin(id)
    assert [node.id for node in graph.delete_query(query).nodes] == [query]
    assert graph.edges(graph.upsert_query("대회의실은 넓어?"))[0].target == room


def test_a_deleted_question_is_new_when_it_is_asked_again(tmp_path):
    graph = QueryGraph(clock=Clock())
    query = graph.upsert_query("왜?")
    graph.upsert_query("왜?")
    graph.save(tmp_path / "g.json")
    graph.delete_query(query)
    assert graph.save(tmp_path / "g.json")
    assert query not in QueryGraph.load(tmp_path / "g.json")
    assert graph.upsert_query("왜?") == query
    assert graph.node(query).repeat == 1


def test_what_is_no_question_is_refused_and_changes_nothing():
    graph = QueryGraph(clock=Clock())
    answer = graph.record_answer(graph.upsert_query("왜?"), "몰라.")
    before = graph.to_snapshot()
    for id, said in (("q-1", "no query 'q-1'"), (answer, "is an answer; expected a query")):
        with pytest.raises(UsageError, match=said):
            graph.delete_query(id)
    assert graph.to_snapshot() == before


def test_a_conversation_deletes_a_question_wherever_it_is():
    memory = ConversationMemory("maria")
    query = memory.upsert_query("monday", "where is the greenhouse?")
    assert memory.upsert_query("tuesday", "where is the greenhouse?") == memory.agent.upsert_query(
        "Where is the greenhouse?"
    )
    memory.record_answer("monday", query, "behind the mill")
    memory.upsert_query("sunday", "who has the key?")
    gone = memory.delete_query(query)
    assert {id: [node.type for node in one.nodes] for id, one in gone.items()} == {
        "": ["query"],
        "monday": ["query", "answer"],
        "tuesday": ["query"],
    }
    assert memory.best_answers("monday", "where is the greenhouse?") == []
    assert len(memory.search("sunday", "who has the key?")) == 1
    with pytest.raises(UsageError, match="neither the agent nor an active session"):
        memory.delete_query(query)
