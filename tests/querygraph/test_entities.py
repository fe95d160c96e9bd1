"""Which questions name an entity, and an approximate index in the place of the exact one."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.querygraph import ConversationMemory, GraphConfig, QueryGraph, StoredGraph, canonical_key
from commonplace.querygraph.ann import UsearchIndex
from querygraph.samples import Clock, questions
from querygraph.test_properties import refuse_incoherent
from sizes import examples


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("손", "손이 아파?", True),
        ("손", "손님이 왔어?", False),
        ("마리아", "마리아한테서는 소식 있어?", True),
        ("마리아", "안나마리아는 누구야?", False),
        ("Maria", "Maria는 어디야?", True),
        ("Maria", "Did MARIA'S cat come?", False),
        ("Maria", "has maria come?", True),
        ("Mari", "has Maria come?", False),
        ("벚꽃 축제", "벚꽃축제에서 봐?", True),
        ("벚꽃축제", "벚꽃 축제는 언제?", True),
        ("3층", "13층은 어디야?", False),
        ("3층", "3층에 있어?", True),
    ],
)
def test_a_name_counts_where_a_word_begins_and_ends_with_it_or_a_particle(name, text, named):
    graph = QueryGraph(clock=Clock())
    graph.upsert_entity(name)
    assert bool(graph.edges(graph.upsert_query(text))) is named


def test_an_entity_gains_aliases_and_loses_all_when_it_is_evicted():
    clock = Clock()
    graph = QueryGraph(GraphConfig(max_nodes=4), clock=clock)
    room = graph.upsert_entity("대회의실")
    assert graph.upsert_entity("대회의실", aliases=["큰 방"]) == room
    assert [edge.target for edge in graph.edges(graph.upsert_query("큰 방은 비었어?"))] == [room]
    clock.pass_(days=2)
    for text in questions(5):
        graph.upsert_query(text)
    assert room not in graph
    assert graph.edges(graph.upsert_query("큰 방은 지금 비었어?")) == []


NAMED = (
    ("도서관", ["책방"]),
    ("마리아", []),
    ("3번", []),
    ("Blue Room", ["회의실"]),
    ("강남역", ["기차표", "체육관", "민수"]),
)


@given(st.lists(st.integers(0, 39), min_size=1, max_size=40), st.permutations(NAMED), st.booleans())
@examples(60)
def test_an_entity_that_is_added_later_has_the_edges_it_would_have_had(asked, named, apart):
    """Also where its aliases come one by one, and where its questions are asked again."""
    texts, edges = questions(40), []
    for late in (False, True):
        clock = Clock()
        graph = QueryGraph(GraphConfig(tau_sim=0.4), clock=clock)

        def name(graph: QueryGraph = graph) -> None:
            for one, aliases in named:
                graph.upsert_entity(one, aliases=[] if apart else aliases)
                for alias in aliases:
                    graph.upsert_entity(one, aliases=[alias])

        if not late:
            name()
        for which in asked:
            clock.pass_(minutes=1 + which)
            graph.upsert_query(texts[which])
        if late:
            name()
        times = [(edge.id, edge.weight, edge.created_at, edge.last_access) for edge in graph.edges()]
        edges.append((sorted(times), [(node.id, node.degree, node.rank) for node in graph.nodes("query")]))
        refuse_incoherent(graph)
    assert edges[0] == edges[1]


def test_an_entity_that_is_added_later_is_linked_in_the_file_and_in_its_budget(tmp_path):
    config = GraphConfig(max_edges=3, tau_sim=1.0, tau_dup=1.0)
    with StoredGraph(tmp_path / "g.db", config, clock=Clock()) as one, StoredGraph(tmp_path / "g.db") as other:
        asked = [one.upsert_query(f"{number}번 도서관은 어디야?") for number in range(5)]
        library = one.upsert_entity("도서관")
        assert one.stats().edges == 3
        assert {edge.target for edge in other.edges()} == {library}
        assert {edge.source for edge in other.edges()} <= set(asked)
        assert other.to_snapshot() == one.to_snapshot()


def test_a_session_links_what_it_was_asked_before_the_agent_knew_the_entity():
    memory = ConversationMemory("maria", clock=Clock())
    before = memory.upsert_query("s", "대회의실은 비었어?")
    room = memory.agent.upsert_entity("대회의실")
    after = memory.upsert_query("s", "대회의실에는 누가 있어?")
    assert {edge.source for edge in memory.session("s").edges(room)} == {before, after}


def test_an_entity_that_went_with_its_last_question_comes_back_with_the_others():
    graph = QueryGraph(clock=Clock())
    room = graph.upsert_entity("대회의실")
    query = graph.upsert_query("대회의실은 비었어?")
    kept = graph.upsert_query("본관에서는 누가 일해?")
    assert room in {node.id for node in graph.delete_query(query).nodes}
    assert graph.upsert_entity("대회의실", aliases=["본관"]) == room
    assert [edge.source for edge in graph.edges(room)] == [kept]


def test_an_approximate_index_finds_what_the_exact_one_finds_and_forgets_what_is_evicted():
    pytest.importorskip("usearch")
    clock = Clock()
    config = GraphConfig(max_nodes=300, tau_sim=0.6)
    exact = QueryGraph(config, clock=clock)
    close = QueryGraph(config, clock=clock, index=UsearchIndex)
    for text in questions(420):
        clock.pass_(minutes=1)
        assert close.upsert_query(text) == exact.upsert_query(text)
    asked = questions(40, seed=2)
    same = sum(close.search(text) == exact.search(text) for text in asked)
    assert same >= 38
    assert [edge.id for edge in close.edges()] == [edge.id for edge in exact.edges()]
    loaded = QueryGraph.from_snapshot(exact.to_snapshot(), clock=clock, index=UsearchIndex)
    assert sum(loaded.search(text) == exact.search(text) for text in asked) >= 38


def test_without_usearch_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    with pytest.raises(UsageError, match=r"commonplace-society\[ann\]"):
        QueryGraph(index=UsearchIndex)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda graph: graph.upsert_query("  "), "empty"),
        (lambda graph: graph.record_answer("q-1", "그래"), "no query 'q-1'"),
        (lambda graph: graph.record_feedback(graph.upsert_query("왜?"), "good"), "one of up, down, retry"),
        (lambda graph: graph.record_feedback(graph.upsert_query("왜?"), "up", answer="a-1"), "no answer 'a-1'"),
        (lambda graph: graph.link(graph.upsert_query("왜?"), graph.upsert_query("뭐?"), "likes"), "one of similar_to"),
        (lambda graph: graph.link(graph.upsert_query("왜?"), graph.upsert_query("왜?"), "similar_to"), "itself"),
        (lambda graph: graph.link(*map(graph.upsert_query, ("왜?", "뭐?")), "responded_with"), "a query; expected"),
        (lambda graph: graph.link(graph.upsert_query("왜?"), graph.upsert_query("뭐?"), "similar_to", -1), "above 0"),
        (lambda graph: graph.adjust_weights(graph.upsert_query("왜?"), feedback_delta=float("nan")), "finite"),
        (lambda graph: graph.search("왜?", k=0), "at least 1"),
        (lambda graph: GraphConfig(tau_dup=0.5), "at most tau_dup"),
        (lambda graph: GraphConfig(max_nodes=0), "max_nodes is 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_a_usage_error_that_names_it(wrong, said):
    with pytest.raises(UsageError, match=said):
        wrong(QueryGraph(clock=Clock()))


@pytest.mark.parametrize("given", [None, 5, b"q-1", ["q-1"], {}, object()])
def test_what_is_no_string_is_refused_in_words_and_changes_nothing(given):
    graph, memory = QueryGraph(clock=Clock()), ConversationMemory("maria", clock=Clock())
    query = graph.upsert_query("왜?")
    answer = graph.record_answer(query, "몰라.")
    memory.upsert_query("s", "왜?")
    before, session = graph.to_snapshot(), memory.session("s").to_snapshot()
    for call in (
        lambda: graph.upsert_query(given),
        lambda: graph.record_answer(given, "그래."),
        lambda: graph.record_answer(query, given),
        lambda: graph.record_feedback(given, "up"),
        lambda: graph.record_feedback(query, given),
        lambda: graph.record_feedback(query, "up", answer=given or 1),
        lambda: graph.record_feedback(query, "up", note=5 if given is None else given),
        lambda: graph.link(given, query, "similar_to"),
        lambda: graph.link(query, answer, given),
        lambda: graph.upsert_entity(given),
        lambda: graph.upsert_entity("방", aliases=[given]),
        lambda: graph.upsert_entity("방", key=5 if given is None else given),
        lambda: graph.entities_in(given),
        lambda: graph.pin(given),
        lambda: graph.adjust_weights(given),
        lambda: graph.delete_query(given),
        lambda: graph.search(given),
        lambda: graph.best_answers(given),
        lambda: graph.answers(given),
        lambda: graph.node(given),
        lambda: graph.edges(5 if given is None else given),
        lambda: canonical_key(given),
        lambda: memory.upsert_query(given, "왜?"),
        lambda: memory.upsert_query("s", given),
        lambda: memory.record_answer("s", given, "그래."),
        lambda: memory.record_feedback("s", given, "up"),
        lambda: memory.record_feedback("s", query, "up", answer=given or 1),
        lambda: memory.search(given, "왜?"),
        lambda: memory.search("s", given),
        lambda: memory.best_answers("s", given),
        lambda: memory.finalize_session(given),
        lambda: ConversationMemory(given),
    ):
        with pytest.raises(UsageError, match="expected a string"):
            call()
    assert graph.to_snapshot() == before
    assert memory.session("s").to_snapshot() == session
    assert memory.active_sessions() == ["s"]


@pytest.mark.parametrize("given", [None, "5", [5], 2.5, 0])
def test_what_is_no_number_of_results_is_refused_in_words(given):
    graph, memory = QueryGraph(clock=Clock()), ConversationMemory("maria", clock=Clock())
    for find in (graph.search, graph.best_answers, lambda text, k: memory.search("s", text, k)):
        with pytest.raises(UsageError, match="a whole number of at least 1"):
            find("왜?", given)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda graph: graph.upsert_entity("방", aliases="큰 방"), "expected a list of strings"),
        (lambda graph: graph.upsert_entity("방", aliases=None), "expected a list of strings"),
        (lambda graph: graph.upsert_entity(" "), "the name is empty"),
        (lambda graph: graph.link("q-1", "q-2", "similar_to", None), "the weight is None"),
        (lambda graph: graph.adjust_weights("q-1", repeat_delta="1"), "repeat_delta is '1'"),
        (lambda graph: graph.decay(5), "expected a timedelta"),
        (lambda graph: graph.nodes("queries"), "one of query, answer"),
    ],
)
def test_other_arguments_of_a_wrong_type_are_refused_in_words(wrong, said):
    with pytest.raises(UsageError, match=said):
        wrong(QueryGraph(clock=Clock()))
