"""When a memory expires: judged by the time of the question, in every kind of stream."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from commonplace.errors import UsageError
from commonplace.memory import Draft, MemoryStream, policies, table
from memory.naive import hours

THERE, GONE = hours(4), hours(5)


def parking(stream: MemoryStream) -> MemoryStream:
    stream.remember("The car is parked in the library garage", at=hours(1), expires_at=GONE, session="s1")
    stream.remember("The car is blue", at=hours(2))
    return stream


def found(stream, at: datetime, **options) -> list[int]:
    return sorted(hit.memory.id for hit in stream.recall("where is the car?", at=at, touch=False, **options))


@pytest.mark.parametrize("policy", [policies.RECALL, policies.PARK, policies.LEXICAL, policies.TWO_STAGE])
def test_an_expired_memory_is_not_recalled_and_still_listed(policy):
    stream = parking(MemoryStream("maria", policy))
    assert found(stream, GONE - timedelta(microseconds=1)) == [1, 2]
    assert found(stream, GONE) == [2]
    assert [hit.memory.id for hit in stream.recall("", at=GONE, touch=False)] == [2]
    assert found(stream, THERE) == [1, 2], "the time of the question decides, not what was asked before"
    assert [memory.id for memory in stream.search()] == [2, 1]
    missing = stream.why_not(1, stream.retrieve("the car", at=GONE, touch=False))
    assert str(missing) == "Memory 1 had expired at the time of the question."


def test_a_memory_says_when_it_expires():
    stream = parking(MemoryStream("maria"))
    assert stream.get(1).expires_at == GONE
    assert stream.get(1).details == {"expires_at": "2031-10-04T11:00:00Z"}
    assert stream.get(2).expires_at is None
    told = stream.remember("Tickets are sold", at=hours(1), metadata={"expires_at": "2031-10-04T13:00:00+02:00"})
    assert told.expires_at == datetime(2031, 10, 4, 11, tzinfo=UTC)
    assert stream.remember("Doors", at=hours(1), details={"expires_at": None}).expires_at is None
    (added,) = stream.add_many([{"text": "Queue", "expires_at": GONE}], at=hours(1))
    assert added.expires_at == GONE


@pytest.mark.parametrize(
    "given", [{"details": {"expires_at": "soon"}}, {"expires_at": 5}, {"expires_at": "2031-10-04"}]
)
def test_what_is_no_time_is_refused(given):
    stream = MemoryStream("maria")
    with pytest.raises(UsageError, match="time"):
        stream.remember("The car is blue", at=hours(1), **given)
    assert not len(stream)


def test_a_revised_memory_expires_when_it_says_now():
    stream = parking(MemoryStream("maria"))
    stream.revise(1, details={"floor": 3})
    assert stream.get(1).expires_at == GONE
    stream.revise(1, expires_at=hours(9))
    assert found(stream, GONE) == [1, 2]
    assert found(stream, hours(9)) == [2]
    stream.revise(1, details={"expires_at": None})
    assert found(stream, hours(99)) == [1, 2]
    stream.revise(2, expires_at=THERE)
    assert found(stream, THERE) == [1]


@pytest.mark.parametrize("packed", [False, True])
def test_what_has_expired_is_found_and_forgotten_by_a_filter(packed, monkeypatch):
    if packed:
        monkeypatch.setattr(table, "_LATEST", 0)
    stream = parking(MemoryStream("maria"))
    assert stream.search(expired_by=THERE) == []
    assert [memory.id for memory in stream.search(expired_by=GONE)] == [1]
    assert stream.forget(where={"expired_by": GONE}, dry_run=True) == (1,)
    assert stream.forget(where={"expired_by": GONE}) == (1,)
    assert found(stream, THERE) == [2]
    with pytest.raises(UsageError, match="not a datetime"):
        stream.search(expired_by="now")  # pyright: ignore[reportArgumentType]


def test_a_draft_and_a_snapshot_judge_by_the_time_of_their_question():
    stream = parking(MemoryStream("maria"))
    draft = Draft(stream)
    draft.remember("The car is in the yard", at=hours(3), expires_at=hours(6))
    assert found(draft, THERE) == [1, 2, 3]
    assert found(draft, hours(6)) == [2]
    snapshot = stream.snapshot()
    assert found(snapshot, GONE) == [2]
    draft.discard()
    stream.remember("The car is at the station", at=hours(3))
    assert found(stream, hours(6)) == [2, 3], "the row of the draft that was dropped has left nothing"


def test_a_stream_that_is_opened_again_knows(tmp_path):
    path = tmp_path / "store.db"
    with MemoryStream.open(path, "maria") as stream:
        parking(stream)
    with MemoryStream.open(path, "maria") as stream:
        assert found(stream, THERE) == [1, 2]
        assert found(stream, GONE) == [2]
        exported = tmp_path / "all.jsonl"
        stream.export(exported)
    other = MemoryStream("klaus")
    other.import_(exported)
    assert found(other, GONE) == [2]


def test_the_index_beside_a_store_keeps_when_memories_expire(tmp_path):
    path = tmp_path / "store.db"
    with MemoryStream.open(path, "maria") as stream:
        stream.add_many(
            [
                {"text": f"note {number} of the car", "expires_at": GONE if number % 2 else None}
                for number in range(1500)
            ],
            at=hours(1),
        )
        stream.flush()
        assert stream._keeper and stream._keeper.files
    with MemoryStream.open(path, "maria") as stream:
        assert stream._keeper and stream._keeper.files, "it was opened by its index"
        assert stream.retrieve("car", at=THERE, k=3).candidates == 1500
        assert stream.retrieve("car", at=GONE, k=3).candidates == 750
