"""`MemoryStore` over folders and other stores: adding, finding, forgetting, bad input."""

from __future__ import annotations

import gc
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.ledger import Ledger, read
from commonplace.memory import MemoryStream
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.memory.stores.store import load
from commonplace.parts.coordinates.document import MemoryCoordinate
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.memory_store import MemoryStore
from commonplace.parts.coordinates.retention import RetentionPolicy
from memory.naive import bm25
from parts.coordinates.documents import DAY, document
from sizes import examples

UNLIMITED = dict.fromkeys(
    ("max_sessions", "max_memories_per_session", "max_total_size_mb", "archive_after_days", "delete_after_days")
)
PLAIN = RetentionPolicy(**UNLIMITED)


@pytest.fixture(params=["folder", "sqlite"])
def store(request, tmp_path):
    """The same behaviour over either."""
    if request.param == "folder":
        with MemoryStore(tmp_path / "m", retention=PLAIN) as made:
            yield made
    else:
        below = SQLiteStore(tmp_path / "m.db")
        with MemoryStore(store=below, retention=PLAIN) as made:
            yield made
        below.close()


def texts(found) -> list[str]:
    return [one.content.response_full for one in found]


def test_what_is_added_comes_back_as_it_was(store):
    given_document = document("text", session="s", tags=["b", "a"], importance=0.123456789, space={"mine": 1})
    name = store.add(given_document).memory_id
    given_document.memory_id = name
    assert store.get_by_id(name) == given_document
    assert store.get_recent(1) == [given_document]
    assert store.get_by_session("s") == [given_document]


def test_the_newest_come_first_and_of_one_moment_the_last_added(store):
    for minutes, text in ((5, "b"), (1, "a"), (5, "c"), (9, "d")):
        store.add(document(text, minutes, session="s"))
    assert texts(store.get_recent()) == ["d", "c", "b", "a"]
    assert texts(store.get_recent(2)) == ["d", "c"]
    assert store.get_recent(0) == []
    with pytest.raises(UsageError, match="n -1"):
        store.get_recent(-1)
    assert texts(store.get_by_session("s")) == ["a", "b", "c", "d"]


def test_children_are_found_by_their_parent(store):
    parent = store.add(document("parent", relations={"child_memory_ids": ["mem_elsewhere"]}))
    child = store.add(document("child", 1, relations={"parent_memory_id": parent.memory_id}))
    assert store.get_by_id(parent.memory_id).relations.child_memory_ids == ["mem_elsewhere", child.memory_id]
    assert store.get_reference_count(parent.memory_id) == 1
    assert store.delete_by_id(child.memory_id) == 1
    assert store.get_by_id(parent.memory_id).relations.child_memory_ids == ["mem_elsewhere"]
    assert store.get_reference_count(parent.memory_id) == 0


def test_deleting_by_id_session_and_query(store):
    kept = store.add(document("kept", session="a", tags=["real"]))
    for number, tags in enumerate((["test"], ["temporary"], ["test", "temporary"], ["x"])):
        store.add(document(f"memory {number}", number, session="b", tags=tags))
    assert store.delete_by_query(tags=["test", "temporary"]) == 3
    assert store.delete_by_session("b") == 1
    assert store.delete_by_session("b") == 0
    assert (store.delete_by_id("mem_nowhere"), len(store)) == (0, 1)
    assert store.delete_by_id(kept.memory_id) == 1
    assert (store.get_by_id(kept.memory_id), store.get_all_session_ids(), store.search()) == (None, [], [])


def test_a_persona_is_deleted_with_its_archive_and_its_name(tmp_path):
    with MemoryStore(tmp_path, retention=RetentionPolicy(archive_after_days=1)) as store:
        for days in (0, 40, 41):
            store.add(document(f"day {days}", days * 1440, persona="maria", importance=0.9))
        kept = store.add(document("mine", persona="klaus"))
        store.apply_retention_policy()
        assert store.delete_by_persona("maria") == 3
        assert store.delete_by_persona("maria") == 0
        assert [one.memory_id for one in (*store.search(), *store.archived())] == [kept.memory_id]
        anew = store.add(document("anew", persona="maria"))
        assert anew.content.response_full == "anew"
    below = JSONLStore(tmp_path)
    assert [one.id for one in load(below, "maria").memories] == [1]
    below.close()


def test_a_query_that_asks_for_nothing_deletes_nothing(store):
    store.add(document("kept"))
    nothing = [{}, {"min_importance": 0.0}, {"tags": None}, {"query": " "}, {"bqi_filters": {}}]
    for filters in (*nothing, {"time_range": (None, None)}):
        with pytest.raises(UsageError, match="forget everything"):
            store.delete_by_query(**filters)
    assert store.delete_by_query(tags=[]) == 0
    assert len(store) == 1


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"query": ""}, 3),
        ({"query": "  CLARITY "}, 2),
        ({"query": "[a"}, 1),
        ({"persona_id": ["thesis", "synthesis"]}, 3),
        ({"persona_id": []}, 0),
        ({"domain": "UI"}, 1),
        ({"domain": ["UI", "AGI"]}, 2),
        ({"tags": "risk"}, 1),
        ({"tags": ["risk", "x"]}, 2),
        ({"tags": []}, 0),
        ({"min_importance": 1.1}, 0),
        ({"min_importance": 0.9}, 1),
        ({"limit": None}, 3),
        ({"limit": 0}, 0),
        ({"time_range": (None, DAY)}, 1),
        ({"bqi_filters": {}}, 3),
        ({"bqi_filters": {"emotion": {"affect": 0.5}}}, 1),
        ({"bqi_filters": {"emotion": "grief"}}, 1),
    ],
    ids=str,
)
def test_each_filter_counts(store, filters, found):
    store.add(document("about clarity", 0, persona="thesis", space={"domain": "AGI"}, tags=["x"], importance=0.9))
    felt = {"sentiment_score": -0.5, "keywords": ["grief"]}
    store.add(document("a [a-z risk", 1, space={"domain": "UI"}, tags=["risk"], emotion=felt, importance=0.5))
    snapshot = {"emotion": {"affect": 0.5}}
    store.add(document("plain", 2, tags=["Clarity!"], bqi_snapshot=snapshot, importance=0.5))
    assert len(store.search(**filters)) == found


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_range": (DAY, DAY - timedelta(days=1))},
        {"time_range": DAY},
        {"min_importance": float("nan")},
    ],
    ids=str,
)
def test_a_search_that_cannot_be_meant_is_refused(store, wrong):
    with pytest.raises(UsageError):
        store.search(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"timestamp": "2025-10-12"},
        {"timestamp": "2025-10-12", "agent": {"persona_id": "a"}, "content": {"response_full": " "}},
        {"timestamp": "2025-10-12", "content": {"response_full": "nobody's"}},
        {"timestamp": "2025-10-12", "agent": {"persona_id": "a"}, "content": {"response_full": "x"}, "extra": {1, 2}},
        {"timestamp": "2025-10-12", "agent": {"persona_id": "a"}, "content": "x"},
        "a string",
        None,
    ],
    ids=str,
)
def test_what_is_no_memory_is_refused_and_nothing_is_kept(store, wrong):
    with pytest.raises(CommonplaceError) as refused:
        store.add(wrong)
    assert refused.value.hint
    assert len(store) == 0
    assert store.add(document("good")).memory_id


def test_a_name_is_taken_once(store):
    store.add(document("one", memory_id="mem_1"))
    with pytest.raises(UsageError, match="mem_1"):
        store.add(document("two", memory_id="mem_1"))
    assert texts(store.get_recent()) == ["one"]
    store.delete_by_id("mem_1")
    store.add(document("three", memory_id="mem_1"))
    assert texts(store.get_recent()) == ["three"]


def test_citations_to_nowhere_are_kept_as_links_of_their_source(store):
    plain = {**document("all is one").to_dict(), "memory": {"id": 40, "kind": "reflection", "citations": [1, 39]}}
    store.add(document("evidence"))
    kept = store.add(plain)
    assert kept.memory["citations"] == [1]
    assert kept.memory["details"]["source_citations"] == [1, 39]
    assert store.get_reference_count(store.get_recent(2)[1].memory_id) == 1


def test_time_may_go_back_and_texts_may_be_huge(store):
    store.add(document("now", 100))
    huge = "lantern 축제 " * 100_000
    store.add(document(huge, 1))
    assert store.search(query="축제 lantern")[0].content.response_full == huge
    assert texts(store.get_recent(1)) == ["now"]


def test_what_is_archived_can_be_brought_back(store):
    for days in (0, 40):
        store.add(document(f"day {days}", days * 24 * 60, session=f"s{days}"))
    store.policy = RetentionPolicy(**{**UNLIMITED, "archive_after_days": 30})
    assert store.plan_retention().lines() == store.apply_retention_policy().lines()
    assert (texts(store.search()), texts(store.archived())) == (["day 40"], ["day 0"])
    assert store.unarchive() == 1
    assert (len(store), store.archived(), store.get_all_session_ids()) == (2, [], ["s0", "s40"])


def test_forgetting_is_in_the_ledger_and_the_ledger_is_not_forgotten(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    with MemoryStore(tmp_path / "m", ledger=ledger, retention=RetentionPolicy(max_sessions=1)) as store:
        first = store.add(document("one", session="a"))
        ledger.log_event("a", "persona_response", "synthesis", first.memory_id, at=DAY + timedelta(hours=1))
        store.add(document("two", 1, session="b"))
        store.delete_by_session("b")
    entries = list(read(ledger.path))
    assert [entry["event_type"] for entry in entries] == ["persona_response", "forgetting", "forgetting"]
    assert entries[1]["memory_refs"] == [first.memory_id]
    assert [entry["plan_adjustment"]["trigger"] for entry in entries[1:]] == ["a new session", "a person"]


def test_the_ledger_knows_the_phase_where_the_memory_does_not(tmp_path):
    ledger = Ledger(tmp_path / "ledger")
    with MemoryStore(tmp_path / "m", ledger=ledger) as store:
        for number, phase in enumerate(("rest", "tension")):
            name = store.add(document(f"memory {number}", number)).memory_id
            ledger.log_event("s", "x", "a", name, {"rhythm_phase": phase, "emotion": {"keywords": ["risk"]}}, at=DAY)
        assert texts(store.search(bqi_filters={"rhythm_phase": "tension"})) == ["memory 1"]
        assert len(store.search(bqi_filters={"emotion": ["risk", "joy"]})) == 2


def test_two_in_one_process_take_turns(tmp_path):
    one, other = MemoryStore(tmp_path), MemoryStore(tmp_path)
    for number in range(4):
        (one, other)[number % 2].add(document(f"memory {number}", number))
    assert len(one) == len(other) == 4
    one.close()
    other.close()


def test_one_that_is_let_go_is_closed(tmp_path):
    MemoryStore(tmp_path).add(document("kept"))
    gc.collect()
    below = JSONLStore(tmp_path)
    assert (below.repairs, len(load(below, "synthesis").memories)) == ((), 1)
    below.close()


def test_a_stream_and_a_memory_store_read_each_other(tmp_path):
    with MemoryStream.open(f"jsonl:{tmp_path}", "maria") as stream:
        stream.remember("Klaus reads", at=DAY, importance=5, tags=["study"], session="run")
    with MemoryStore(tmp_path) as store:
        (found,) = store.search(tags="study")
        assert (found.agent.persona_id, found.content.type, found.metadata.importance) == (
            "maria",
            "observation",
            4 / 9,
        )
        store.add(document("I answer", persona="maria"))
    with MemoryStream.open(f"jsonl:{tmp_path}", "maria") as stream:
        assert [memory.text for memory in stream] == ["Klaus reads", "I answer"]


def test_no_place_or_two_are_refused(tmp_path):
    below = SQLiteStore(tmp_path / "x.db")
    for places in ({}, {"base_path": tmp_path / "y", "store": below}):
        with pytest.raises(UsageError):
            MemoryStore(**places)
    below.close()


@pytest.mark.parametrize("away", ["kept", "reopened", "forgotten"])
def test_a_question_finds_what_it_is_about_in_order(tmp_path, away):
    texts = [
        "The festival had paper lanterns over the river",
        "I cannot decide whether to study gentrification",
        "민수가 도서관에서 책을 빌렸다",
        "Lanterns at the festival were lit by the children and the festival began",
        "The rent rises",
    ]
    with MemoryStore(tmp_path) as store:
        added = [store.add(document(text, minutes, importance=0.8)) for minutes, text in enumerate(texts)]
        store.add(document("festival lanterns", 9, importance=0.1))
        assert len(store.search("lanterns")) == 3
        if away == "forgotten":
            gone = store.add(document("how was the festival with the lanterns?", 8, importance=0.8))
            assert store.delete_by_id(gone.memory_id) == 1
    with MemoryStore(tmp_path) as store:
        if away != "reopened":
            store.rate(added[0].memory_id, 5)
        shots = store.search(
            query="How was the festival with the lanterns?"[:100], min_importance=0.6, limit=2, rank="relevance"
        )
        assert [one.memory_id for one in shots] == [added[3].memory_id, added[0].memory_id]
        assert [one.memory_id for one in store.search("민수는 어느 도서관에서?", rank="relevance")] == [
            added[2].memory_id
        ]
        assert store.search("qwerty zxcv", rank="relevance") == []
        assert store.search("how was the?", rank="relevance")  # nothing but grammar: better than nothing
        assert store.delete_by_query("How was the festival?") == 0


rows = st.lists(
    st.tuples(
        st.integers(0, 50),
        st.sampled_from(("thesis", "synthesis")),
        st.sampled_from(("a b", "B", "c")),
        st.integers(0, 4),
    ),
    max_size=8,
)


@examples(25)
@given(
    rows,
    st.sampled_from((None, "b", "a b")),
    st.none() | st.sampled_from(("thesis", "synthesis")),
    st.integers(0, 4),
    st.integers(0, 9),
    st.sampled_from(("newest", "relevance")),
)
def test_a_search_is_what_its_definition_says(tmp_path_factory, rows, query, persona, weight, limit, rank):
    with MemoryStore(tmp_path_factory.mktemp("m"), retention=PLAIN) as store:
        for minutes, who, text, importance in rows:
            store.add(document(text, minutes, persona=who, importance=importance / 4))
        found = store.search(query=query, persona_id=persona, min_importance=weight / 4, limit=limit, rank=rank)
    numbered = sorted(enumerate(rows), key=lambda one: (one[1][0], one[0]), reverse=True)
    passing = [
        (who, text) for _, (_, who, text, importance) in numbered if persona in (None, who) and importance >= weight
    ]
    if query and rank == "newest":
        passing = [one for one in passing if query in one[1].lower()]
    elif query:
        every = [text.lower().split() for _, _, text, _ in rows]
        scores = dict(zip((text for _, _, text, _ in rows), bm25(query.split(), every), strict=True)) if rows else {}
        passing = [
            one for one in passing if query in one[1].lower() or set(query.split()) & set(one[1].lower().split())
        ]
        passing.sort(key=lambda one: (query not in one[1].lower(), -scores[one[1]]))
    assert [(one.agent.persona_id, one.content.response_full) for one in found] == passing[:limit]
    assert all(isinstance(one, MemoryCoordinate) for one in found)


def test_a_search_looks_at_each_memory_once_at_most(store, monkeypatch):
    """Under 100 ms for 5,000: what takes time is to make documents, so only those found are made."""
    for number in range(300):
        store.add(document(f"memory {number}", number))
    made: list[str] = []
    original = store._document
    monkeypatch.setattr(store, "_document", lambda name: made.append(name) or original(name))
    assert len(store.search(query="memory 7", limit=5)) == 5
    assert len(made) == 5


@pytest.mark.parametrize("apart", [0, 60], ids=["at once", "one after another"])
def test_a_policy_set_afterwards_holds_when_it_is_applied(tmp_path, apart):
    with MemoryStore(base_path=tmp_path) as store:
        for i in range(5):
            for j in range(10):
                store.add(document(f"memory {j}", i * apart, session=f"sess_test_{i}"))
    with MemoryStore(base_path=tmp_path, retention=RetentionPolicy(max_sessions=3)) as store:
        assert len(store.apply_retention_policy().remove) == 20
        assert len(store.get_all_session_ids()) == 3
    with MemoryStore(base_path=tmp_path) as store:
        assert len(store) == 30


def test_few_shot_examples_are_found_by_phase_and_emotion(store):
    """The call that composes a prompt: filters it knows nothing of are None, emotions are a list."""
    for number, phase in enumerate(("integration", "tension", "integration", None)):
        snapshot = {"rhythm_phase": phase, "emotion": {"keywords": ["clarity"] if number else ["risk"]}}
        store.add(document(f"case {number}", number, importance=0.9, bqi_snapshot=snapshot if phase else None))

    def cases(**filters):
        found = store.search(query="case", persona_id="synthesis", min_importance=0.6, bqi_filters=filters, limit=2)
        return [one.content.response_full for one in found]

    assert cases(rhythm_phase="integration", emotion=None) == ["case 2", "case 0"]
    assert cases(rhythm_phase="integration", emotion=["clarity", "joy"]) == ["case 2"]
    assert cases(rhythm_phase=["tension", "integration"], emotion="clarity") == ["case 2", "case 1"]
    assert cases(rhythm_phase=None, emotion=None) == ["case 3", "case 2"]
    assert cases(emotion=[]) == []
    assert cases(unheard_of="x") == []


def test_importance_is_the_sum_of_four(store):
    first = store.add(document("plain", emotion={"sentiment_score": -0.5}))
    assert first.metadata.importance == pytest.approx(0.3 + 0.1)
    rated = store.rate(first.memory_id, 5)
    assert rated.metadata.importance == pytest.approx(0.3 + 0.3 + 0.1)
    for number in range(6):
        store.add(document(f"child {number}", number, relations={"parent_memory_id": first.memory_id}))
    assert store.get_reference_count(first.memory_id) == 6
    assert store.calculate_importance(store.get_by_id(first.memory_id)) == pytest.approx(0.3 + 0.3 + 0.2 + 0.1)
    assert store.get_by_id(first.memory_id).metadata.importance == rated.metadata.importance
    assert store.recompute() == 1
    assert store.get_by_id(first.memory_id).metadata.importance == pytest.approx(0.9)
    assert store.recompute() == 0


def test_an_importance_that_was_given_stays(store):
    kept = store.add(document("weighty", importance=0.95))
    assert store.recompute() == 0
    assert store.get_by_id(kept.memory_id).metadata.importance == 0.95
    assert store.recompute(given=True) == 1
    assert store.get_by_id(kept.memory_id).metadata.importance == pytest.approx(0.3)


def test_names_are_made_of_simulated_time_and_seed(tmp_path):
    def names(seed, folder):
        with MemoryStore(base_path=tmp_path / folder, seed=seed) as store:
            return [store.add(document(f"memory {number}")).memory_id for number in range(300)]

    first = names(7, "a")
    assert first == names(7, "b") != names(8, "c")
    assert len(set(first)) == 300
    assert all(name.startswith("mem_20251012_093022_") and len(name) == 24 for name in first)
    assert DAY.second == 22
