"""What is true at a moment: memories that supersede others, and those that are valid for a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream, policies
from memory.naive import hours
from sizes import examples

LATER = hours(100)
HOME = "Where does Anna live?"
POLICIES = [policies.RECALL, policies.PARK, policies.LEXICAL, policies.TWO_STAGE, policies.REPO2023]


def homes(stream: MemoryStream | None = None, *, k: int = 3) -> MemoryStream:
    """#1 Seoul, superseded by #2 Busan in hour 10, superseded by #3 Daegu in hour 20; as far as `k`."""
    stream = MemoryStream("anna") if stream is None else stream
    told = (("Anna lives in Seoul", 0, []), ("moved to Busan", 10, [1]), ("Daegu it is", 20, [2]))
    for text, hour, gone in told[:k]:
        stream.remember(text, at=hours(hour), supersedes=gone)
    for number in range(5):
        stream.remember(f"Anna and her friends sing well, {number}", at=hours(30 + number))
    return stream


def ids(stream, question=HOME, at=LATER, **options):
    return list(stream.retrieve(question, at=at, touch=False, current=True, **options).ids)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_what_supersedes_a_memory_has_at_least_its_place(policy):
    stream = homes(k=2)
    before = [hit.memory.id for hit in stream.recall(HOME, at=LATER, policy=policy, touch=False, k=20)]
    after = ids(stream, policy=policy, k=20)
    assert after.index(2) == min(before.index(1), before.index(2))
    assert after.index(2) < after.index(1)
    assert [id for id in after if id > 2] == [id for id in before if id > 2]


def test_the_last_of_a_chain_is_true():
    assert ids(homes(), k=1) == [3]
    order = ids(homes(), k=20)
    assert order.index(3) < order.index(2) < order.index(1)


def test_two_may_supersede_one_and_one_may_supersede_two():
    stream = MemoryStream("anna")
    stream.remember("Anna has a job at the mill in Ulm", at=hours(0))
    stream.remember("nurse", at=hours(1), supersedes=[1])
    stream.remember("singer", at=hours(2), supersedes=[1])
    assert ids(stream, "Anna's job", k=2) == [3, 2]
    stream.remember("nothing at all", at=hours(3), supersedes=[2, 3])
    assert ids(stream, "Anna's job", k=1) == [4]
    assert ids(stream, "singer")[:2] == [4, 3]


def test_a_question_of_the_past_is_answered_as_of_then():
    assert ids(homes(), at=hours(5), k=1) == [1]
    assert ids(homes(), at=hours(15), k=1) == [2]
    assert ids(homes(), at=hours(20), k=1) == [3]


def test_what_was_forgotten_or_archived_supersedes_nothing():
    stream = homes()
    stream.archive([3])
    assert ids(stream, k=1) == [2]
    stream.unarchive([3])
    assert ids(stream, k=1) == [3]
    stream.forget([3])
    assert ids(stream, k=1) == [2]
    stream.forget([2])
    assert ids(stream, k=1) == [1]


def test_forgetting_one_within_a_chain_makes_the_first_true_again():
    stream = homes()
    stream.forget([2])
    assert ids(stream, k=20).index(1) < ids(stream, k=20).index(3)


def test_what_is_not_valid_comes_after_all_that_is():
    stream = MemoryStream("anna")
    stream.remember("The pool is open", at=hours(0), valid_from=hours(10), valid_until=hours(20))
    stream.remember("The bakery sells bread", at=hours(1))
    assert ids(stream, "Is the pool open?", at=hours(5)) == [2, 1]
    assert ids(stream, "Is the pool open?", at=hours(10)) == [1, 2]
    assert ids(stream, "Is the pool open?", at=hours(20)) == [2, 1]
    assert ids(stream, "", at=hours(30)) == [2, 1]
    assert "valid from 2031-10-04 until 2031-10-05" in str(stream.explain(stream.recall("pool", at=hours(90))))


def test_a_memory_supersedes_from_when_it_is_valid_and_no_longer_than_that():
    stream = homes(k=1)
    trip = stream.remember("at the sea", at=hours(40), supersedes=[1], valid_from=hours(50), valid_until=hours(60))
    assert [ids(stream, at=hours(hour), k=1) for hour in (45, 50, 60)] == [[1], [trip.id], [1]]
    stream.remember("in the hills", at=hours(70), supersedes=[trip.id])
    order = ids(stream, at=LATER, k=20)
    assert order[0] == trip.id + 1
    assert order.index(trip.id) < order.index(1), "what superseded it is superseded itself, not over"


def test_revising_keeps_and_changes_what_is_said_of_the_truth():
    stream = homes(k=2)
    assert stream.revise(2, text="Busan", details={"mood": "good"}).supersedes == (1,)
    assert stream.revise(2, supersedes=[]).supersedes == ()
    assert ids(stream, k=1) != [2]
    assert stream.revise(1, valid_until=hours(9)).valid_until == hours(9)
    assert ids(stream, k=20)[-1] == 1
    with pytest.raises(UsageError, match="before valid_from"):
        stream.revise(1, valid_from=hours(10))
    with pytest.raises(UsageError, match="superseded memory 2 does not exist"):
        stream.revise(2, supersedes=[2])


def test_relevance_is_passed_on_with_the_place():
    stream = homes(k=2)
    assert 2 not in [hit.memory.id for hit in stream.recall(HOME, at=LATER, min_relevance=0.3, touch=False)]
    assert ids(stream, min_relevance=0.3)[0] == 2


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_the_score_is_the_sum_of_its_parts(policy):
    stream = homes()
    stream.remember("Anna is at home", at=hours(50), importance=9)
    for hit in stream.recall(HOME, at=LATER, policy=policy, current=True):
        assert hit.score == pytest.approx(sum(part.weight * part.normalised for part in hit.parts.values()), abs=1e-8)


def test_explanations_name_what_supersedes_a_memory():
    stream = homes(k=2)
    found = stream.retrieve(HOME, at=LATER, k=1, current=True, touch=False)
    assert found.notes == {}
    assert "superseded by #2 on 2031-10-04" in str(stream.why_not(1, found))
    assert "superseded by #2 on 2031-10-04" in str(stream.explain(stream.recall(HOME, at=LATER)))
    assert "superseded" not in str(stream.explain(stream.retrieve(HOME, at=hours(5))))
    assert stream.retrieve(HOME, at=LATER, k=20, current=True).notes == {1: "superseded by #2 on 2031-10-04"}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"supersedes": [99]}, "superseded memory 99 does not exist"),
        ({"supersedes": [9]}, "superseded memory 9 does not exist"),
        ({"supersedes": "x"}, "not whole numbers"),
        ({"supersedes": [1], "at": hours(-1)}, "superseded memory 1 is of .*, later than"),
        ({"valid_from": hours(2), "valid_until": hours(1)}, "is before valid_from"),
        ({"valid_until": "tomorrow"}, "is not a datetime"),
    ],
)
def test_mistakes_are_told(options, error):
    stream = homes()
    assert len(stream) == 8
    for add in (stream.remember, Draft(homes()).remember):
        with pytest.raises(UsageError, match=error):
            add("x", **{"at": LATER, **options})
    if "x" not in options.values() and "tomorrow" not in options.values():
        with pytest.raises(UsageError, match=f"item 1: .*{error}"):
            stream.add_many(["fine", {"text": "x", "at": LATER, **options}], at=LATER)
    assert len(stream) == 8


def test_details_of_others_mean_nothing():
    stream = MemoryStream("anna")
    stream.remember("a", at=hours(0), details={"supersedes": "all", "valid_from": "spring", "valid_until": 3})
    stream.remember("b", at=hours(1), details={"supersedes": [2, 77, "1"]})
    stream.remember("c", at=hours(1), details={"supersedes": [3, 77]})
    assert [(one.supersedes, one.valid_from, one.valid_until) for one in stream][:2] == [((), None, None)] * 2
    assert ids(stream, "a b c") == [hit.memory.id for hit in stream.recall("a b c", at=LATER)]


def test_items_of_a_list_have_them_too():
    stream = MemoryStream("anna")
    stream.add_many(["Anna lives in Seoul"], at=hours(0))
    said = [
        {"text": "moved", "supersedes": [1], "valid_from": "2031-10-05T00:00:00Z"},
        {"role": "user", "content": "for good", "supersedes": [1], "valid_until": "2032-10-05"},
    ]
    one, other = stream.add_many(said, at=hours(1))
    assert (one.supersedes, other.supersedes) == ((1,), (1,))
    assert (str(one.valid_from), str(other.valid_until)) == ("2031-10-05 00:00:00+00:00", "2032-10-05 00:00:00+00:00")


@pytest.mark.parametrize("where", ["a.db", "jsonl/"])
def test_stores_keep_them(tmp_path, where):
    place = f"{tmp_path}/{where}"
    with MemoryStream.open(place, "anna") as stream:
        homes(stream)
        stream.revise(1, valid_until=hours(10))
        before = list(stream)
    with MemoryStream.open(place, "anna") as again:
        assert [one.details for one in again] == [one.details for one in before]
        assert again.get(1).valid_until == hours(10)
        assert ids(again, k=20) == ids(homes(), k=20)


def test_an_import_gives_them_their_new_ids(tmp_path):
    homes().export(tmp_path / "anna.jsonl")
    stream = MemoryStream("anna")
    stream.remember("before", at=hours(0))
    memories = stream.import_(tmp_path / "anna.jsonl")
    assert [one.supersedes for one in memories[:3]] == [(), (2,), (3,)]
    assert ids(stream, k=1) == [4]


def test_a_draft_and_a_snapshot_know_what_is_current():
    stream = homes(k=1)
    before = stream.snapshot()
    draft = Draft(stream)
    new = draft.remember("Ulm", at=hours(50), supersedes=[1])
    assert ids(draft, k=1) == [new.id]
    draft.discard()
    assert ids(stream, k=1) != [new.id]
    stream.remember("Ulm", at=hours(50), supersedes=[1])
    assert (ids(before, k=1), ids(stream, k=1)) == ([1], [new.id])


WORDS = ("anna lives in seoul", "moved to busan", "daegu", "anna likes tea", "bread", "where anna sleeps")


@st.composite
def streams(draw):
    stream = MemoryStream("anna")
    for id in range(1, draw(st.integers(1, 12)) + 1):
        gone = draw(st.lists(st.integers(1, id - 1), max_size=2, unique=True)) if id > 1 else []
        valid = {}
        if draw(st.booleans()):
            valid = {"valid_from": hours(draw(st.integers(0, 20))), "valid_until": hours(draw(st.integers(20, 60)))}
        importance = draw(st.integers(1, 10))
        stream.remember(draw(st.sampled_from(WORDS)), at=hours(id), importance=importance, supersedes=gone, **valid)
    return stream


@examples(60)
@given(streams(), st.sampled_from(POLICIES), st.integers(0, 70), st.sampled_from(["where does anna live", "tea", ""]))
def test_nothing_superseded_comes_before_what_supersedes_it(stream, policy, hour, question):
    policy = policies.from_mapping("all", {"base": policy.name, "nearest": 3}) if policy.nearest else policy
    found = stream.retrieve(question, at=hours(hour), k=50, policy=policy, touch=False, current=True)
    place = {id: rank for rank, id in enumerate(found.ids)}
    for id, note in found.notes.items():
        for other in (int(word.strip("#")) for word in note.split() if word.startswith("#")):
            assert other not in place or place[other] < place[id]
    plain = stream.retrieve(question, at=hours(hour), k=50, policy=policy, touch=False)
    assert {*plain.ids} <= {*found.ids}
    if not found.notes:
        assert found.ids[1:] == tuple(id for id in plain.ids if id not in found.ids[:1])


@examples(30)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.sampled_from(POLICIES))
def test_without_links_one_may_come_first_and_nothing_else_changes(texts, policy):
    stream = MemoryStream("anna")
    for number, text in enumerate(texts):
        stream.remember(text, at=hours(number))
    for question in ("where does anna live", "where did anna live", ""):
        plain = stream.retrieve(question, at=LATER, policy=policy, touch=False)
        current = stream.retrieve(question, at=LATER, policy=policy, touch=False, current=True)
        assert current.ids[1:] == tuple(id for id in plain.ids if id != current.ids[0])
        assert plain.hits == current.hits or "does" in question
        assert all(plain.spreads[part] == current.spreads[part] for part in plain.spreads)
