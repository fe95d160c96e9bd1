"""A stream with a store: what is written when, whose vectors they are, and what a failing store leaves."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Draft, MemoryStream, policies
from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import Archive, load
from commonplace.testing.stores import START, WordCounts, write

LATER = START + timedelta(days=1)


class Other(WordCounts):
    """Another embedder, of another size."""

    name = "other"
    dimensions = 2

    def embed(self, texts):
        return [np.array([len(text), 1], dtype=np.float32) for text in texts]


def opened(where, **parts):
    return MemoryStream.open(where, "maria", **({"embedder": WordCounts(), "policy": policies.PARK} | parts))


def filled(where, count=4):
    with opened(where) as stream:
        for number in range(count):
            stream.remember(f"lantern {number} " + "e" * number, at=START, importance=3)


def test_what_is_remembered_is_there_without_a_close(tmp_path):
    stream = opened(tmp_path / "s.db")
    stream.remember("a lantern", at=START)
    other = opened(tmp_path / "s.db")
    assert list(other) == list(stream)
    other.close()
    stream.close()


def test_accesses_are_written_with_the_next_memory_by_flush_and_by_close(tmp_path):
    path = tmp_path / "s.db"
    filled(path)

    def accesses():
        store = open_store(path)
        found = [memory.accessed_at for memory in load(store, "maria").memories[:3]]
        store.close()
        return found

    writes = (
        lambda stream: stream.remember("another", at=START),
        lambda stream: stream.flush(),
        lambda stream: stream.close(),
        lambda stream: stream.forget([4]),
    )
    for hour, deed in enumerate(writes):
        stream = opened(path)
        before = accesses()
        stream.recall("lantern", at=LATER + timedelta(hours=hour), k=2)
        assert accesses() == before
        deed(stream)
        assert accesses() != before
        stream.close()


def test_a_recall_that_only_looks_writes_nothing(tmp_path):
    filled(tmp_path / "s.db")
    with opened(tmp_path / "s.db") as stream:
        stream.recall("lantern", at=LATER, touch=False)
    with opened(tmp_path / "s.db") as stream:
        assert {memory.accessed_at for memory in stream} == {START}


def test_drafts_are_stored_when_they_are_applied(tmp_path):
    path = tmp_path / "s.db"
    with opened(path) as stream:
        stream.remember("a lantern", at=START)
        dropped = Draft(stream)
        dropped.remember("never", at=START)
        draft = Draft(stream)
        draft.remember("a stove", at=START)
        draft.recall("lantern", at=LATER)
        other = opened(path)
        assert len(other) == 1
        other.close()
        stream.apply(draft.delta)
        wanted = list(stream)
    with opened(path) as stream:
        assert list(stream) == wanted
        assert [memory.text for memory in stream] == ["a lantern", "a stove"]
        assert stream.get(1).accessed_at == LATER


def test_a_stream_whose_store_fails_stays_as_it_was(tmp_path):
    class Failing:
        """A store that takes nothing."""

        def __init__(self, store):
            self._store = store

        def __getattr__(self, name):
            return getattr(self._store, name)

        def _fail(self, *_, **__):
            raise CommonplaceError("the disk is full", hint="free some")

        write = _fail

    filled(tmp_path / "s.db")
    store = open_store(tmp_path / "s.db")
    write(store, "maria", Archive([4]))
    stream = opened(Failing(store))
    before = list(stream)
    for deed in (
        lambda: stream.remember("more", at=START),
        lambda: stream.forget([1]),
        lambda: stream.archive([1]),
        lambda: stream.unarchive([4]),
        lambda: stream.revise(1, importance=9),
    ):
        with pytest.raises(CommonplaceError, match="full"):
            deed()
        assert list(stream) == before
        assert (stream.last_id, len(stream.archived)) == (4, 1)
    store.close()


def test_a_stream_that_is_refused_closes_what_it_opened(tmp_path):
    filled(tmp_path / "s")
    with pytest.raises(UsageError):
        MemoryStream.open(f"jsonl:{tmp_path / 'j'}", "")
    MemoryStream.open(f"jsonl:{tmp_path / 'j'}", "maria").close()


def test_looking_makes_no_character(tmp_path):
    opened(tmp_path / "s.db").close()
    store = open_store(tmp_path / "s.db")
    assert store.agents() == ()
    store.close()


def test_the_language_stays_the_stream_s(tmp_path):
    from commonplace.memory import Analyser

    with MemoryStream.open(tmp_path / "s.db", "maria", analyser=Analyser("ko")) as stream:
        stream.remember("축제 준비", at=START)
    with MemoryStream.open(tmp_path / "s.db", "maria") as stream:
        assert stream.table.analyser.language == "ko"


def test_another_embedder_is_refused_by_both_names(tmp_path):
    filled(tmp_path / "s.db")
    with pytest.raises(UsageError) as caught:
        opened(tmp_path / "s.db", embedder=Other())
    assert "word-counts" in str(caught.value)
    assert "other" in str(caught.value)
    assert "reembed=True" in caught.value.hint


def test_embedding_anew_changes_every_vector_and_nothing_else(tmp_path):
    path, told = tmp_path / "s.db", []
    filled(path, 300)
    with opened(path) as stream:
        stream.forget([7])
        stream.archive([8])
        stream.recall("lantern", at=LATER, k=3)
        wanted = list(stream)
    with opened(path, embedder=Other(), reembed=True, progress=lambda *done: told.append(done)) as stream:
        assert list(stream) == wanted
        assert stream.vector(1).tolist() == [len(stream.get(1).text), 1]
        assert stream.unarchive([8]) == (8,)
        assert stream.vector(8).tolist() == [len(stream.get(8).text), 1]
    assert told == [(256, 299), (299, 299)]
    with opened(path, embedder=Other()) as stream:
        assert stream.vector(300).tolist() == [len(stream.get(300).text), 1]
    with pytest.raises(UsageError, match="made by other"):
        opened(path)


def test_embedding_anew_that_was_interrupted_is_gone_on_with(tmp_path):
    path = tmp_path / "s.db"
    filled(path, 300)

    def stop(done, count):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        opened(path, embedder=Other(), reembed=True, progress=stop)
    with pytest.raises(UsageError, match="interrupted"):
        opened(path, embedder=Other())
    with pytest.raises(UsageError, match="made by other"):
        opened(path)
    with opened(path, embedder=Other(), reembed=True) as stream:
        assert all(stream.vector(memory.id)[0] == len(memory.text) for memory in stream)
    opened(path, embedder=Other()).close()


def test_many_streams_share_a_store_that_is_open(tmp_path):
    store = open_store(tmp_path / "s.db")
    with MemoryStream.open(store, "maria") as maria, MemoryStream.open(store, "klaus") as klaus:
        maria.remember("a lantern", at=START)
        klaus.remember("a stove", at=START)
    assert store.agents() == ("klaus", "maria")
    store.close()


def test_what_may_change_of_a_memory_is_changed(tmp_path):
    whole = "a word of many " * 200
    with opened(tmp_path / "s.db") as stream:
        stream.remember(whole, at=START, importance=3)
        stream.remember("a lantern", at=START, importance=3, details={"rating": 1, "old": True})
        assert stream.importance_since_reflection() == 6
        assert stream.revise(1, importance=99, details={"rating": 2}).importance == 10
        stream.revise(2, details={"rating": 3})
        assert stream.importance_since_reflection() == 13
        wanted = list(stream)
        with pytest.raises(UsageError):
            stream.revise(3, importance=1)
    with opened(tmp_path / "s.db") as stream:
        assert list(stream) == wanted
        assert stream.get(1).details == {"rating": 2, "full_text": whole.strip()}
        assert stream.get(2).details == {"rating": 3}


@pytest.mark.parametrize("count", [3, 20])
def test_the_words_of_what_is_gone_count_no_more(count, tmp_path):
    """However the index came about: kept up, made anew, or made after loading."""
    asked = {"at": LATER, "policy": policies.LEXICAL, "touch": False, "k": 50}
    never = MemoryStream("maria", embedder=WordCounts())
    with opened(tmp_path / "s.db") as stream:
        for number in range(30):
            text = f"lantern {'festival ' * (number % 3)}{number}"
            stream.remember(text, at=START, importance=3)
            if number >= count:
                never.remember(text, at=START, importance=3)
        stream.retrieve("festival", **asked)
        stream.forget(range(1, count))
        stream.archive([count])
        wanted = [(hit.memory.text, hit.score) for hit in never.retrieve("festival 7", **asked)]
        assert [(hit.memory.text, hit.score) for hit in stream.retrieve("festival 7", **asked)] == wanted
    with opened(tmp_path / "s.db") as stream:
        assert [(hit.memory.text, hit.score) for hit in stream.retrieve("festival 7", **asked)] == wanted
        stream.unarchive([count])
        assert stream.retrieve("festival 7", **asked).candidates == 31 - count


def test_what_was_archived_is_as_if_forgotten_until_it_is_back(tmp_path):
    with opened(tmp_path / "s.db") as stream:
        for text in ("a lantern", "a stove", "a lantern festival"):
            stream.remember(text, at=START, importance=3)
        lexical = stream.retrieve("lantern", at=LATER, policy=policies.LEXICAL, touch=False)
        assert stream.archive([1, 1]) == (1,)
        assert stream.archive([1]) == ()
        assert [memory.id for memory in stream.archived] == [1]
        assert stream.retrieve("lantern", at=LATER, policy=policies.LEXICAL, touch=False).ids == (3, 2)
        assert stream.search(text="lantern")[0].id == 3
        with pytest.raises(UsageError):
            stream.get(1)
        with pytest.raises(UsageError):
            stream.unarchive([9])
        assert stream.unarchive([1, 2]) == (1,)
        assert stream.retrieve("lantern", at=LATER, policy=policies.LEXICAL, touch=False) == lexical
        stream.archive([1])
        assert stream.forget([1, 1]) == (1,)
        assert stream.unarchive([1]) == ()
