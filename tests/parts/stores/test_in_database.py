"""A stream that follows its database is the stream in RAM, for all processes that serve a character."""

from __future__ import annotations

import asyncio
import inspect
import random
import tempfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Draft, Emotion, Memories, MemoryStream, lattice, policies
from commonplace.memory.embedding import EmbeddingWarning
from commonplace.memory.stores import DatabaseStream, keeper
from commonplace.memory.stores.store import Add, Archive, Forget, Restore, Revise, Touch
from commonplace.testing.stores import START, WordCounts, before_each, memory, write
from parts.stores.test_postgres import opened
from processes import context

WORDS = ("festival", "stove", "Klaus", "library", "a promise", "축제에서", "민수가", "!!")
MIXED = replace(policies.PARK, name="mixed", recency_weight=-0.5, importance="unit", relevance_weight=3.0)
AGED = replace(policies.TWO_STAGE, name="aged", nearest=0, normalise="minmax", all_equal=0.0)
RAW = replace(policies.PARK, name="raw", normalise="none", importance="unit")
FLAT = replace(policies.PARK, name="flat", decay=1.0)
ASKED = (*map(policies.by_name, policies.NAMES), MIXED, AGED, RAW, FLAT)


def vector(chance: random.Random, exact: bool):
    """None, one of few (so that there are ties), or any."""
    if chance.random() < 0.2:
        return None
    if chance.random() < 0.1:
        return np.array([[1, 2], [np.nan, 1, 1, 1], [0, 0, 0, 0]][chance.randrange(3)][:4], dtype=np.float32)
    raw = [chance.randint(-2, 2) or 1 for _ in range(4)] if chance.random() < 0.5 else [chance.gauss(0, 1)] * 4
    return lattice(raw) if exact else np.array(raw, dtype=np.float32)


SOURCES = ("", "Klaus", "민수", 'a "quoted" \\ name', "\ud800 broken", "Klaus M", '"source":"Klaus"')
TAGS = ("light", "축제", "50 % off")
PLACES = ((), ("Town",), ("Town", "House"), ("Town", "House 2"), ("마을",), ('a "b"', "Town"))
DETAILS = (
    {},
    {"user": "k"},
    {"source": "Klaus", "place": ["Town"], "nul": "\0"},
    {"user": "m", "frame": {"what": "talk", "n": 1}},
    {"user": ["k", "m"], "n": 1.0},
)


def kept(chance: random.Random) -> dict[str, object]:
    """What filters look at, in what `remember` takes."""
    return {
        "kind": chance.choice(("observation", "action", "plan")),
        "source": chance.choice(SOURCES),
        "session": chance.choice(("", "s1")),
        "place": chance.choice(PLACES),
        "tags": chance.sample(TAGS, chance.randint(0, 2)),
        "metadata": chance.choice(DETAILS),
        "emotion": chance.choice((None, Emotion(0.5, 0.2, keywords=("joy",)))),
    }


FILTERS = {
    "kinds": lambda chance: chance.choice((["action"], "plan", ["observation", "action"], [])),
    "source": lambda chance: chance.choice(SOURCES),
    "session": lambda chance: chance.choice(("s1", "")),
    "place": lambda chance: chance.choice(PLACES),
    "tags": lambda chance: chance.sample(TAGS, chance.randint(0, 2)),
    "agent": lambda chance: chance.choice(("지우", None)),
    "min_importance": lambda chance: chance.choice((1, 3, 7.5, 8)),
    "metadata": lambda chance: chance.choice(
        ({"user": "k"}, {"frame.what": ["talk", "x"]}, {"n": 1}, {"user": []}, {})
    ),
    "emotion": lambda chance: chance.choice(({"keywords": ["JOY"]}, {"valence": (0.6, None)})),
    "text": lambda chance: chance.choice(("KLAUS", "축제", "light", "")),
    "time_range": lambda chance: chance.choice(
        ((START, None), (None, START + timedelta(hours=1)), (START, START + timedelta(seconds=9)))
    ),
}


def some_filters(chance: random.Random) -> dict[str, object]:
    """None as often as not, else a few."""
    names = chance.sample(sorted(FILTERS), chance.choice((0, 0, 1, 1, 2, 3)))
    return {name: FILTERS[name](chance) for name in names}


def filled(stream: MemoryStream, chance: random.Random, exact: bool) -> None:
    """Many alike in time, importance and vector, some forgotten, some retrieved."""
    close = chance.choice((1, 60, 3600 * 24))
    for _ in range(chance.randint(1, 150)):
        text = " ".join(chance.choice(WORDS) for _ in range(3))
        at = START + timedelta(seconds=close * chance.randint(0, 50), microseconds=chance.randint(0, 1))
        draft = Draft(stream)  # which takes also vectors that cannot be used
        draft.remember(
            text, at=at, importance=chance.choice((1, 3, 3, 7.5)), embedding=vector(chance, exact), **kept(chance)
        )
        stream.apply(draft.delta)
    later = START + timedelta(days=60)
    stream.recall("festival", at=later, k=3, policy=policies.PARK)
    stream.forget([id for id in range(1, stream.last_id + 1) if chance.random() < 0.1])
    stream.archive([id for id in range(1, stream.last_id + 1) if chance.random() < 0.1])


def compare(url: str, where, seed: int) -> None:
    chance = random.Random(seed)
    store = opened(url, where)
    name = f"지우 {seed}"
    parts = {"embedder": WordCounts(), "policy": policies.PARK}
    with MemoryStream.open(store, name, **parts) as ram:
        filled(ram, chance, exact=chance.random() < 0.7)
    ram = MemoryStream.open(store, name, **parts)
    base = DatabaseStream.open(store, name, **parts)
    for policy in ASKED:
        for _ in range(3):
            query = (
                " ".join(chance.choice(WORDS) for _ in range(2)) if chance.random() < 0.9 else chance.choice(("", "?"))
            )
            options = {
                "at": START + timedelta(hours=chance.randint(0, 3000)),
                "policy": policy,
                "k": chance.choice((1, 3, 10, 500)),
                "max_tokens": chance.choice((None, None, 12)),
                "exclude": frozenset(id for id in range(1, ram.last_id + 1) if chance.random() < 0.05),
                "min_relevance": chance.choice((None, None, 0.2, 0.9)),
                "touch": False,
                "current": chance.random() < 0.2,
                "collapse": chance.random() < 0.2,
                **some_filters(chance),
            }
            found, expected = (stream.retrieve(query, **options) for stream in (base, ram))
            assert found == expected, (seed, policy.name, query, options)
            assert [hit.relevance for hit in found] == [hit.relevance for hit in expected]
            assert base.explain(found) == ram.explain(expected)
            some = chance.randint(1, ram.last_id)
            assert base.why_not(some, found) == ram.why_not(some, expected)
    for _ in range(6):
        wanted = some_filters(chance)
        assert base.search(**wanted, limit=5) == ram.search(**wanted, limit=5), (seed, wanted)
    at = START + timedelta(days=100)
    assert base.recall("Klaus", at=at, k=3) == ram.recall("Klaus", at=at, k=3)
    assert told(base) == told(ram)
    store.close()


def told(stream: MemoryStream) -> dict[str, object]:
    """All that a stream tells without a question."""
    memories = list(stream)
    return {
        "memories": memories,
        "archived": stream.archived,
        "count": len(stream),
        "last_id": stream.last_id,
        "latest": stream.recent(3),
        "first": [memory.id for memory in stream.first(3)],
        "backwards": [memory.id for memory in stream.backwards()],
        "unembedded": stream.unembedded,
        "weights": stream.weights(),
        "since": pytest.approx(stream.importance_since_reflection()),
        "vectors": [None if (one := stream.vector(memory.id)) is None else one.tolist() for memory in memories],
        "histories": [stream.history(memory.id) for memory in memories],
    }


@pytest.mark.parametrize("seed", range(12))
def test_the_lists_are_those_of_a_stream_in_ram(seed, postgres_url, tmp_path):
    compare(postgres_url, tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1500, 50))
def test_the_lists_of_hundreds_of_streams(first, postgres_url, tmp_path):
    for seed in range(first, first + 50):
        compare(postgres_url, tmp_path, seed)


def test_it_reads_and_writes_as_a_stream_in_ram(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    base = DatabaseStream.open(store, "maria", embedder=WordCounts())
    ram = MemoryStream("maria", policies.PARK, embedder=WordCounts())
    for stream in (base, ram):
        for minute in range(6):
            at = START + timedelta(minutes=minute)
            stream.remember(f"a lantern {minute}", at=at, importance=minute + 1, place=("Town",), tags=("light",))
        stream.remember("lanterns matter", at=START, kind="reflection", citations=[2], importance=5)
        stream.remember("a stove", at=START, importance=2)
        assert stream.forget(where={"text": "no such words"}) == ()
        assert stream.forget([1, 7], dry_run=True) == (1, 7)
        assert stream.forget(where={"source": ""}, dry_run=True) == tuple(sorted(one.id for one in stream))
        assert stream.forget([1, 7]) == (1, 7)
        assert stream.archive([1, 2]) == (2,)
        assert stream.archive([3, 4]) == (3, 4)
        assert stream.unarchive([4, 5]) == (4,)
        with pytest.raises(UsageError):
            stream.remember("x", at=START, kind="reflection", citations=[1])
        with pytest.raises(UsageError):
            stream.forget([99])
        with pytest.raises(UsageError):
            stream.get(2)
    assert list(base) == list(ram)
    assert (len(base), base.last_id, base.recent(2), list(base.backwards())) == (
        len(ram),
        ram.last_id,
        ram.recent(2),
        list(ram.backwards()),
    )
    assert base.search(tags=("light",), min_importance=5) == ram.search(tags=("light",), min_importance=5)
    assert (4 in base, 2 in base, base.get(4)) == (True, False, ram.get(4))
    assert base.vector(4).tolist() == ram.vector(4).tolist()
    assert base.importance_since_reflection() == ram.importance_since_reflection() == 2
    store.close()


@pytest.mark.parametrize("wrong", [{"kinds": ["dream"]}, {"tags": "a"}, {"min_relevance": 2}, {"metadata": 3}])
def test_a_filter_that_is_none_is_refused(wrong, postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    base = DatabaseStream.open(store, "maria", embedder=WordCounts())
    with pytest.raises(UsageError):
        base.recall("stove", at=START, **wrong)
    store.close()


def test_two_streams_and_two_connections_add_under_the_next_ids(postgres_url, tmp_path):
    stores = [opened(postgres_url, tmp_path) for _ in range(2)]
    streams = [DatabaseStream.open(store, "joint", embedder=WordCounts()) for store in stores]
    with ThreadPoolExecutor(4) as threads:
        made = list(
            threads.map(
                lambda number: streams[number % 2].remember(f"stove {number}", at=START, importance=1), range(24)
            )
        )
    assert sorted(memory.id for memory in made) == list(range(1, 25))
    assert {memory.id: memory for memory in streams[0]} == {memory.id: memory for memory in made}
    for store in stores:
        store.close()


def without_vectors(store, name: str, *texts: str) -> None:
    """Memories whose embedder has failed."""
    given = {"details": {"embedding_error": "no answer"}}
    write(
        store,
        name,
        Add([memory(id, name, text=text, **given) for id, text in enumerate(texts, 1)], [None] * len(texts)),
    )


def test_what_another_forgets_at_the_last_moment_is_left_out(postgres_url, tmp_path):
    store, second = (opened(postgres_url, tmp_path) for _ in range(2))
    deeds = {
        Touch: lambda stream: [hit.memory.id for hit in stream.recall("", at=START + timedelta(days=1), k=4)],
        Forget: lambda stream: stream.forget([1, 2, 3]),
        Archive: lambda stream: stream.archive([1, 2, 3]),
        Restore: lambda stream: stream.unarchive([1, 2, 3]),
        Revise: lambda stream: stream.reembed(),
    }
    for kind, deed in deeds.items():
        name = kind.__name__
        one, other = (DatabaseStream.open(each, name, embedder=WordCounts()) for each in (store, second))
        without_vectors(store, name, *["a stove"] * 4)
        if kind is Restore:
            one.archive([1, 2, 3])
        victims = [1, 2]
        with before_each(store, kind, lambda other=other, victims=victims: other.forget([victims.pop(0)])):
            done = deed(one)
        assert done == {Touch: [4, 3, 2, 1], Revise: 2}.get(kind, (3,))
        assert victims == []
        assert 1 not in one
    for each in (store, second):
        each.close()


def test_what_another_revises_while_it_is_embedded_stays_revised(postgres_url, tmp_path):
    store, second = (opened(postgres_url, tmp_path) for _ in range(2))
    one, other = (DatabaseStream.open(each, "maria", embedder=WordCounts()) for each in (store, second))
    without_vectors(store, "maria", "a stove", "a kite")
    words = ["e"]
    with before_each(store, Revise, lambda: other.revise(1, text=words.pop())):
        assert one.reembed() == 1
    for stream in (one, other):
        assert (stream.get(1).text, stream.vector(1).tolist(), stream.unembedded) == ("e", [1, 0, 0, 0], ())
        assert [past["text"] for past in stream.history(1)] == ["a stove"]
    for each in (store, second):
        each.close()


def test_a_change_is_made_of_one_moment(postgres_url, tmp_path, monkeypatch):
    store, second = (opened(postgres_url, tmp_path) for _ in range(2))
    one, other = (DatabaseStream.open(each, "maria", embedder=WordCounts()) for each in (store, second))
    without_vectors(store, "maria", "a stove", "a kite")
    words, get = ["e"], one.get

    def read(id: int):
        found = get(id)
        if words:  # what is read next is of a later moment, if it is not held back
            other.revise(1, text=words.pop())
        return found

    monkeypatch.setattr(one, "get", read)
    one.reembed()
    assert [memory.text for memory in one] == ["e", "a kite"]
    assert [past["text"] for past in one.history(1)] == ["a stove"]
    for each in (store, second):
        each.close()


class Moody(WordCounts):
    down = False

    def embed(self, texts):
        if self.down:
            raise CommonplaceError("no answer")
        return super().embed(texts)


def test_an_embedder_that_fails_costs_the_vector_and_neither_the_memory_nor_the_answer(postgres_url, tmp_path):
    store, embedder = opened(postgres_url, tmp_path), Moody()
    base = DatabaseStream.open(store, "moody", embedder=embedder)
    base.remember("a stove", at=START, importance=2)
    embedder.down = True
    festival = base.remember("a festival", at=START, importance=2)
    assert "no answer" in festival.details["embedding_error"]
    with pytest.warns(EmbeddingWarning, match="no answer"):
        found = base.retrieve("festival", at=START)
    assert ("no answer" in found.query_error, found.unusable["query"], len(found)) == (True, 1, 2)
    assert base.unembedded == (2,)
    embedder.down = False
    assert base.reembed() == 1
    assert (base.unembedded, dict(base.get(2).details)) == ((), {})
    assert base.recall("festival", at=START)[0].memory.id == 2
    store.close()


def test_more_than_a_batch_can_be_read_while_it_is_changed(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    with MemoryStream.open(store, "maria", embedder=WordCounts()) as stream:
        made = [stream.remember("stove", at=START, importance=1).id for _ in range(3)]
        memories = [replace(stream.get(1), id=id) for id in range(4, 1104)]
        write(store, "maria", Add(memories, [None] * len(memories)))
        made += [memory.id for memory in memories]
    base = DatabaseStream.open(store, "maria", embedder=WordCounts())
    read = []
    for one in base:
        read.append(one.id)
        if one.id % 100 == 0:
            base.forget([one.id])
    assert read == made
    assert len(base) == len(made) - 11
    store.close()


def test_memories_stored_without_the_vectors_that_follow_from_their_texts_are_compared(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    ram = MemoryStream("lazy", policies.LEXICAL)
    memories = [ram.remember(text, at=START) for text in ("a stove", "a lantern", "?!")]
    write(store, "lazy", Add(memories, [None] * 3))  # as copied from a store of files
    expected = ram.recall("lantern", at=START, policy=policies.PARK, touch=False)
    base = DatabaseStream.open(store, "lazy", policy=policies.PARK)
    assert base.recall("lantern", at=START, touch=False) == expected
    store.close()


# ── parity ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_it_has_every_public_name_of_a_stream_in_ram_with_its_signature():
    names = {name for part in MemoryStream.__mro__ for name in vars(part) if not name.startswith("_")}
    for name in sorted(names):
        one, other = getattr(MemoryStream, name), getattr(DatabaseStream, name)
        assert callable(one) == callable(other)
        if callable(one):
            assert inspect.signature(one) == inspect.signature(other), name
    assert inspect.signature(MemoryStream) == inspect.signature(DatabaseStream)


def deed(chance: random.Random):
    """Something that changes a stream, the same for every stream it is done to."""
    text = " ".join(chance.choice(WORDS[:-1]) for _ in range(3))
    at = START + timedelta(minutes=chance.randint(0, 3000))
    importance, number, count = chance.choice((1, 3, 7.5)), chance.random(), chance.randint(1, 4)

    def some(stream: MemoryStream, among) -> list[int]:
        ids = sorted(memory.id for memory in among)
        return [ids[int(number * len(ids))]] if ids else []

    def revise(stream: MemoryStream) -> object:
        given = {"text": text, "tags": ["light"], "importance": importance, "at": at}
        return [stream.revise(id, **given) for id in some(stream, stream)]

    return chance.choice(
        (
            lambda stream: stream.remember(text, at=at, importance=importance),
            lambda stream: stream.remember(text, at=at, source="Klaus", details={"n": count}),
            lambda stream: stream.add_many([{"role": "user", "content": text}] * count, at=at),
            lambda stream: asyncio.run(stream.aremember(text, at=at)),
            lambda stream: stream.remember(text, at=START + timedelta(days=9), supersedes=some(stream, stream)),
            lambda stream: [hit.memory.id for hit in stream.recall(text, at=at, k=count)],
            lambda stream: [hit.memory.id for hit in asyncio.run(stream.arecall(text, at=at, policy=policies.PARK))],
            revise,
            lambda stream: stream.forget(some(stream, stream)),
            lambda stream: stream.forget(where={"source": "Klaus", "min_importance": 7}),
            lambda stream: stream.archive(some(stream, stream)),
            lambda stream: stream.unarchive(some(stream, stream.archived)),
            lambda stream: stream.reembed(),
            lambda stream: stream.flush(),
            lambda stream: stream.delete() if number < 0.1 else len(stream),
        )
    )


@pytest.mark.parametrize("seed", range(8))
def test_what_several_streams_do_in_turn_is_what_one_in_ram_does(seed, postgres_url, tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "_LEAST", 4)  # short streams have an index, too
    monkeypatch.setattr(keeper, "_CHANGED", 2)
    chance = random.Random(seed)
    stores = [opened(postgres_url, tmp_path) for _ in range(3)]
    streams = [DatabaseStream.open(store, "지우", embedder=WordCounts()) for store in stores]
    ram = MemoryStream("지우", embedder=WordCounts())
    of_index = 0
    for number in range(60):
        change, which = deed(chance), chance.randrange(3)
        if chance.random() < 0.15:
            streams[which].close()
            streams[which] = DatabaseStream.open(stores[which], "지우", embedder=WordCounts())
            of_index += bool(streams[which]._keeper.files)
        assert change(streams[which]) == change(ram), (seed, number)
        at = START + timedelta(days=chance.choice((3, 12)))
        query, policy = f"{chance.choice(WORDS)} {chance.choice(WORDS)}", chance.choice(ASKED)
        asked, expected = (
            stream.retrieve(query, at=at, touch=False, k=3, policy=policy, current=number % 2 == 0)
            for stream in (chance.choice(streams), ram)
        )
        assert asked == expected, (seed, number, policy.name)
    for stream in streams:
        assert told(stream) == told(ram)
    assert of_index
    for store in stores:
        store.close()


def test_nothing_is_left_of_an_index_that_has_what_is_forgotten(postgres_url, tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "_LEAST", 1)
    monkeypatch.setattr(keeper, "_CHANGED", 1)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = opened(postgres_url, tmp_path)

    def kept() -> int:
        return store.connection.execute("SELECT count(*) FROM commonplace_index").fetchone()[0]

    with DatabaseStream.open(store, "maria", embedder=WordCounts()) as one:
        one.add_many(["a stove", "a kite"], at=START)
    assert kept() == 1
    one = DatabaseStream.open(store, "maria", embedder=WordCounts())
    assert one._keeper.files
    assert not list(tmp_path.glob("commonplace-index-*"))
    one.remember("a lantern", at=START)
    one.flush()
    assert kept() == 2
    one.forget([1])
    assert kept() == 0
    one.flush()
    assert kept() == 1
    one.delete()
    assert kept() == 0
    store.close()


def test_exported_memories_are_imported_again(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    one, other = (DatabaseStream.open(store, name, embedder=WordCounts()) for name in ("one", "other"))
    one.add_many(["a stove", "a lantern", "a kite"], at=START)
    one.archive([2])
    assert one.export(tmp_path / "memories.jsonl") == 3
    other.import_(tmp_path / "memories.jsonl")
    assert [memory.text for memory in other] == ["a stove", "a kite"]
    assert [memory.text for memory in other.archived] == ["a lantern"]
    store.close()


def test_drafts_and_snapshots_are_those_of_a_stream_in_ram(postgres_url, tmp_path):
    store, second = (opened(postgres_url, tmp_path) for _ in range(2))
    one, other = (DatabaseStream.open(each, "maria", embedder=WordCounts()) for each in (store, second))
    other.remember("a stove", at=START, importance=4)
    draft = Draft(one)
    draft.remember("a lantern", at=START, importance=2)
    assert [memory.text for memory in draft] == ["a stove", "a lantern"]
    assert draft.importance_since_reflection() == 6
    one.apply(draft.delta)
    snapshot = other.snapshot()
    one.remember("a kite", at=START)
    assert ([memory.id for memory in snapshot], [memory.id for memory in other]) == ([1, 2], [1, 2, 3])
    draft = Draft(other)
    one.remember("a boat", at=START)
    with pytest.raises(UsageError, match="at memory 3"):
        other.apply(draft.delta)
    for each in (store, second):
        each.close()


def test_a_pool_opens_streams_that_follow(postgres_url, tmp_path):
    store, second = (opened(postgres_url, tmp_path) for _ in range(2))
    other = DatabaseStream.open(second, "maria", embedder=WordCounts())
    with Memories(store, embedder=WordCounts(), opens=DatabaseStream) as memories, memories.stream("maria") as stream:
        other.remember("a stove", at=START)
        assert [memory.text for memory in stream] == ["a stove"]
    for each in (store, second):
        each.close()


def test_only_a_postgresql_store_is_followed(tmp_path):
    with pytest.raises(UsageError, match="not a PostgreSQL store"):
        DatabaseStream.open(tmp_path / "town.db", "maria")


# ── several processes ────────────────────────────────────────────────────────────────────────────────────────────────


def serve(url: str, folder, worker: int, count: int) -> list[int]:
    """One of several processes that serve one user; returns the ids of the memories that it has added."""
    store = opened(url, folder)
    stream = DatabaseStream.open(store, "user", embedder=WordCounts())
    made = []
    for number in range(count):
        made.append(stream.remember(f"stove {worker} {number}", at=START, importance=3).id)
        made += [memory.id for memory in stream.add_many([f"kite {worker} {number} {i}" for i in range(2)], at=START)]
        assert {hit.memory.id for hit in stream.recall(f"stove {worker} {number}", at=START, k=3)}
        stream.revise(1, text=f"{stream.get(1).text} x")  # what it says depends on what is seen
        stream.revise(2, tags=[f"{worker}-{number}"])
        stream.archive([made[-1]])
        if number % 2:
            stream.unarchive([made[-1]])
        else:
            stream.forget([made[-2]])
    store.close()
    return made


@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_processes_that_serve_one_user_lose_nothing(workers, postgres_url, tmp_path):
    count, store = 8, opened(postgres_url, tmp_path)
    base = DatabaseStream.open(store, "user", embedder=WordCounts())
    base.add_many(["the first", "the second"], at=START)
    with ProcessPoolExecutor(workers, context()) as pool:
        serving = [pool.submit(serve, postgres_url, tmp_path, worker, count) for worker in range(workers)]
        made = [one.result() for one in serving]
    ids = [id for some in made for id in some]
    assert sorted(ids) == list(range(3, 3 + 3 * workers * count))
    assert all(some == sorted(some) for some in made)
    there, away = {memory.id: memory for memory in base}, {memory.id for memory in base.archived}
    for worker, some in enumerate(made):
        for number in range(count):
            first, second, third = some[3 * number : 3 * number + 3]
            assert there[first].text == f"stove {worker} {number}"
            left = number % 2 == 1
            assert (second in there, third in there, third in away) == (left, left, not left)
    assert len(base.history(2)) == workers * count
    assert {tuple(past["tags"]) for past in base.history(2)} | {base.get(2).tags} == {
        (),
        *((f"{worker}-{number}",) for worker in range(workers) for number in range(count)),
    }
    with MemoryStream.open(store, "user", embedder=WordCounts()) as ram:
        assert told(base) == told(ram)
    store.close()


def test_what_has_expired_is_not_recalled_and_found_by_a_filter(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    stream = DatabaseStream.open(store, "maria")
    until = START + timedelta(hours=5)
    stream.remember("the car is in the garage", at=START, expires_at=until)
    stream.remember("the car is blue", at=START, details={"frame": {"expires_at": "2001-01-01T00:00:00Z"}})
    for at, wanted in ((until - timedelta(seconds=1), [1, 2]), (until, [2])):
        hits = stream.retrieve("where is the car?", at=at, touch=False)
        assert sorted(hits.ids) == wanted and hits.candidates == len(wanted) and hits.excluded == ()
    assert [memory.id for memory in stream.search(expired_by=until)] == [1]
    assert stream.forget(where={"expired_by": until}) == (1,)
    assert [memory.id for memory in stream] == [2]
    store.close()
    store.close()


def test_core_blocks_follow_the_database(postgres_url, tmp_path):
    store = opened(postgres_url, tmp_path)
    one, other = (DatabaseStream.open(store, "blocks", embedder=WordCounts()) for _ in range(2))
    one.blocks.set("user", "Maria", at=START)
    other.blocks.set("tone", "brief", at=START)
    assert dict(one.blocks) == dict(other.blocks) == {"user": "Maria", "tone": "brief"}
    store.close()
