"""The index that a SQLite store keeps beside its file: the stream is the one that is made of the rows."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from commonplace.memory import Draft, MemoryStream, lattice, policies
from commonplace.memory import segments as segment_files
from commonplace.memory.analyser import Analyser
from commonplace.memory.embedding import GivenVectors
from commonplace.memory.restatements import RestatementRules
from commonplace.memory.stores import keeper, read_store
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.testing.stores import START
from sizes import PROVE

ALL = tuple(policies.by_name(name) for name in policies.NAMES)
WORDS = (
    "festival",
    "stove",
    "Klaus",
    "library",
    "promised",
    "축제에서",
    "민수가",
    "소금빵",
    "café",
    "naïve",
    "banana",
    "?",
)
ASKED = (*WORDS, "festivel", "libary", "bananna", "yesterday", "in October")


class Model:
    """A stand-in for a model."""

    name = "model-8"
    dimensions = 8

    def __init__(self, whole: bool) -> None:
        self._whole = whole

    def embed(self, texts):
        chances = [random.Random(text) for text in texts]
        made = [np.array([chance.gauss(0, 1) for _ in range(8)], dtype=np.float32) for chance in chances]
        return [lattice(vector) if self._whole else vector for vector in made]


class WithoutIndex(SQLiteStore):
    """Makes every stream of its rows."""

    index = lambda self, agent: None  # noqa: E731 - a store that has none
    keep = lambda self, *given: None  # noqa: E731


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Short streams have an index, too."""
    monkeypatch.setattr(keeper, "_LEAST", 4)
    monkeypatch.setattr(keeper, "_CHANGED", 2)


def opened(path, **parts) -> MemoryStream:
    return MemoryStream.open(path, "지우/1", **parts)


def kept_files(path: Path) -> list[Path]:
    return sorted(Path(f"{path}-index").glob("*/*"))


def same(path: Path, one: MemoryStream, chance: random.Random, **parts) -> None:
    """Compares a stream with one that is made of the rows."""
    with closing(WithoutIndex(path)) as store:
        alike(one, opened(store, **parts), chance)


def alike(one: MemoryStream, other: MemoryStream, chance: random.Random) -> None:
    """Compares what two streams are and answer."""
    assert one.last_id == other.last_id
    assert list(one) == list(other)
    assert one.archived == other.archived
    assert one.unembedded == other.unembedded
    assert one.weights() == other.weights()
    assert one.importance_since_reflection() == other.importance_since_reflection()
    for memory in one:
        mine, theirs = one.vector(memory.id), other.vector(memory.id)
        assert (mine is None) == (theirs is None)
        assert mine is None or np.array_equal(mine, theirs)
    for policy in ALL:
        query = " ".join(chance.choice(ASKED) for _ in range(3))
        options = {"at": START + timedelta(hours=chance.randint(0, 200)), "policy": policy, "touch": False}
        options["embedding"] = chance.choice((None, np.arange(one.table.embedder.dimensions, dtype=np.float32)))
        for filters in ({}, {"source": "Klaus"}, {"tags": ["a"]}, {"details": {"n": 3}}, {"text": "sto"}):
            found, expected = (
                replace(stream.retrieve(query, **options, **filters), vector=None) for stream in (one, other)
            )
            assert found == expected, (policy.name, query, filters)
            assert [hit.relevance for hit in found] == [hit.relevance for hit in expected]


def change(stream: MemoryStream, chance: random.Random) -> None:
    """Does something to a stream."""
    there = [memory.id for memory in stream]
    match chance.choice(("add", "add", "add", "add_many", "recall", "revise", "forget", "archive", "unarchive")):
        case "add":
            vector = np.array([chance.gauss(0, 1) for _ in range(stream.table.embedder.dimensions)], dtype=np.float32)
            given = chance.choice((None, None, None, lattice(vector), vector, vector[:3]))
            draft = Draft(stream)  # which takes also vectors that cannot be used
            draft.remember(
                text(chance),
                at=at(chance),
                importance=chance.uniform(1, 10),
                embedding=given,
                source=chance.choice(("", "Klaus")),
                tags=chance.choice(((), ("a",), ("chat",))),
                place=chance.choice(((), ("Town", "Library"))),
                details=chance.choice(({}, {"n": 3}, {"full": ["x", {"y": None}]})),
                event=chance.choice(("", "e12")),
                tick=chance.randint(0, 9),
            )
            stream.apply(draft.delta)
        case "add_many":
            stream.add_many([text(chance) for _ in range(chance.randint(1, 12))], at=at(chance))
        case "recall":
            stream.recall(text(chance), at=at(chance), k=3)
        case "revise" if there:
            given = chance.choice(({"text": text(chance)}, {"importance": 7.5}, {"details": {"n": 3}}, {"tags": ["a"]}))
            stream.revise(chance.choice(there), **given)
        case "forget" if there:
            stream.forget(chance.sample(there, min(2, len(there))))
        case "archive" if there:
            stream.archive([chance.choice(there)])
        case "unarchive" if stream.archived:
            stream.unarchive([chance.choice(stream.archived).id])
        case _:
            pass


def text(chance: random.Random) -> str:
    speaker = chance.choice(("", "", "Maria Lopez: ", "민수: "))
    return speaker + " ".join(chance.choice(WORDS[:-1]) for _ in range(chance.randint(1, 5))) + chance.choice(("", "?"))


def at(chance: random.Random):
    return START + timedelta(minutes=chance.randint(0, 3000))


def lives(path: Path, seed: int, monkeypatch) -> int:
    """A stream is changed, closed and opened again at random; how often it was opened with an index."""
    chance = random.Random(seed)
    monkeypatch.setattr(segment_files, "_MAPPED", chance.choice((1, 1 << 20)))
    monkeypatch.setattr(keeper, "_SEGMENTS", chance.choice((1, 2, 5, 32)))
    made = chance.choice((lambda: None, lambda: Model(True), lambda: Model(False), lambda: GivenVectors("given", 8)))
    parts = {"embedder": made(), "policy": chance.choice(ALL)}
    stream, found = opened(path, **parts), 0
    for _ in range(chance.randint(10, 80)):
        if chance.random() < 0.2:
            (stream.close if chance.random() < 0.8 else stream.flush)()
            stream = opened(path, **parts)  # as after a kill, where it was only flushed
            found += bool(stream._keeper.files)
            if chance.random() < 0.5:
                same(path, stream, chance, **parts)
        elif chance.random() < 0.1:
            with opened(path, **parts) as other:
                change(other, chance)
            stream.refresh()
        else:
            change(stream, chance)
    stream.close()
    with opened(path, **parts) as stream:
        found += bool(stream._keeper.files)
        same(path, stream, chance, **parts)
    return found


def test_streams_are_the_same_with_and_without_their_index(tmp_path, monkeypatch):
    found = sum(lives(tmp_path / f"{seed}.db", seed, monkeypatch) for seed in range(12))
    assert found > 24


@pytest.mark.slow
def test_two_hundred_streams_are_the_same(tmp_path, monkeypatch):
    for seed in range(1000, 1200):
        lives(tmp_path / f"{seed}.db", seed, monkeypatch)


def filled(path: Path, count: int = 40, **parts) -> None:
    chance = random.Random(7)
    with opened(path, **parts) as stream:
        stream.add_many([{"text": text(chance), "at": at(chance), "details": {"n": n}} for n in range(count)])


def test_a_file_that_is_damaged_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(segment_files, "_MAPPED", 1 << 12)
    path, chance = tmp_path / "town.db", random.Random(5)
    filled(path, embedder=Model(True))
    (kept,) = kept_files(path)
    whole = kept.read_bytes()
    for number in range(300):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 8))):
            data[chance.randrange(len(data) if number % 2 else 3000)] = chance.randrange(256)
        kept.write_bytes(data[: chance.randrange(len(data))] if number % 5 == 0 else data)
        with np.errstate(all="ignore"), closing(read_store(path)) as store:
            stream = opened(store, embedder=Model(True))
            for policy in ALL:
                stream.recall("festivel Klaus library", at=START + timedelta(days=9), policy=policy, touch=False)
            assert len(list(stream)) == 40
            stream.search(details={"n": 3})
    kept.write_bytes(b"")
    with opened(path, embedder=Model(True)) as stream:
        assert not stream._keeper.files
        same(path, stream, chance, embedder=Model(True))


@pytest.mark.parametrize("names", ["[]", "{", "[1]", '["../town.db"]', '["0000000000000000"]', '{"a": 1}', "null"])
def test_names_that_lead_elsewhere_are_not_followed(tmp_path, names):
    path = tmp_path / "town.db"
    filled(path)
    with closing(SQLiteStore(path)) as store:
        store._connection.execute("UPDATE kept_index SET files = ?", (names,))
    with opened(path) as stream:
        assert not stream._keeper.files
        same(path, stream, random.Random(1))


def test_what_is_forgotten_leaves_the_index_at_once(tmp_path):
    path = tmp_path / "town.db"
    filled(path)
    with opened(path) as stream:
        secret = stream.remember(
            "Xyzzyplugh: my xyzzyplugh", at=START, details={"a": "xyzzyplugh"}, place=["xyzzyplugh"], event="xyzzyplugh"
        ).id
        stream.remember("nothing", at=START)
        stream.flush()
        assert any(b"xyzzyplugh" in file.read_bytes() for file in kept_files(path))
        stream.forget([secret])
        assert not kept_files(path)
    assert kept_files(path)
    assert not any(b"xyzzyplugh" in file.read_bytes().lower() for file in (path, *kept_files(path)))
    with opened(path) as stream:
        assert stream._keeper.files
        stream.delete()
    assert not kept_files(path)


def test_only_what_is_new_is_written_and_many_become_one(tmp_path, monkeypatch):
    monkeypatch.setattr(keeper, "_SEGMENTS", 3)
    path, counts = tmp_path / "town.db", []
    for _ in range(5):
        filled(path, 10)
        counts.append(len(kept_files(path)))
    assert counts == [1, 2, 3, 1, 2]


def test_another_analyser_makes_its_own_index(tmp_path, monkeypatch):
    path = tmp_path / "town.db"
    filled(path)
    monkeypatch.setattr(Analyser, "kind", "other")
    monkeypatch.setattr("commonplace.memory.stream.analyser_of", lambda settings: Analyser())
    with opened(path) as stream:
        assert not stream._keeper.files
        stream.remember("one more", at=START)
        stream.remember("another one", at=START)
    with opened(path) as stream:
        assert stream._keeper.files


def test_an_older_copy_of_the_file_has_its_own_index(tmp_path):
    path, copy = tmp_path / "town.db", tmp_path / "copy.db"
    filled(path)
    shutil.copy(path, copy)
    filled(path, 10)
    shutil.copy(copy, path)
    with opened(path) as stream:
        assert stream.last_id == 40
        stream.add_many([f"something else {number}" for number in range(10)], at=START)
    with opened(path) as stream:
        same(path, stream, random.Random(1))


def test_without_a_folder_there_is_no_index(tmp_path):
    path = tmp_path / "town.db"
    Path(f"{path}-index").write_text("a file of somebody else's")
    filled(path)
    with opened(path) as stream:
        assert not stream._keeper.files
        assert stream.last_id == 40


def test_a_write_that_breaks_off_leaves_the_index_of_before(tmp_path, monkeypatch):
    path = tmp_path / "town.db"
    filled(path)
    before = kept_files(path)

    def broken(place, segment):
        place.write_bytes(b"commonplace index")
        raise OSError("no space")

    monkeypatch.setattr("commonplace.memory.stores.sqlite.write_segment", broken)
    filled(path, 10)
    assert kept_files(path) == before
    with opened(path) as stream:
        assert stream._keeper.files == before
        same(path, stream, random.Random(1))


def test_a_store_that_is_only_read_keeps_nothing(tmp_path):
    path = tmp_path / "town.db"
    filled(path)
    shutil.rmtree(f"{path}-index")
    with closing(read_store(path)) as store:
        opened(store).close()
    assert not Path(f"{path}-index").exists()


def test_an_open_draft_stays_open(tmp_path):
    path = tmp_path / "town.db"
    with opened(path) as stream:
        stream.add_many(["hello"] * 10, at=START)
        draft = Draft(stream)
        draft.remember("not yet", at=START)
        stream.flush()
        assert not kept_files(path)
        stream.apply(draft.delta)
    assert kept_files(path)


def test_what_a_draft_said_does_not_bring_back_what_was_forgotten(tmp_path):
    path = tmp_path / "town.db"
    filled(path)
    with opened(path) as stream:
        secret = stream.remember("xyzzyplugh", at=START).id
        stream.remember("hello", at=START)
    with opened(path) as stream:
        stream.recall("xyzzyplugh", at=START)
        stream.forget([secret])
        draft = Draft(stream)
        draft.remember("xyzzyplugh again", at=START)
        assert draft.recall("xyzzyplugh", at=START, policy=policies.LEXICAL)[0].memory.id == secret + 2
        draft.discard()
        assert not stream.table.lexical.occurs("xyzzyplugh", stream.last_id)
        same(path, stream, random.Random(1))


def test_two_streams_do_not_mix_their_segments(tmp_path):
    path = tmp_path / "town.db"
    filled(path)
    one, other = opened(path), opened(path)
    one.add_many(["of the first"] * 5, at=START)
    one.flush()
    other.add_many(["of the second"] * 5, at=START)
    other.close()
    one.close()
    with opened(path) as stream:
        same(path, stream, random.Random(1))
    assert {file.name for file in kept_files(path)} >= {file.name for file in stream._keeper.files}


@pytest.mark.parametrize("given", [None, [1.0] * 384])
def test_a_text_that_the_index_has_is_not_kept_twice(tmp_path, given):
    path = tmp_path / "town.db"
    filled(path)
    with opened(path) as stream:
        stream.remember("Klaus waves", at=START, embedding=given)
        stream.remember("Maria waves", at=START, embedding=given)
    with opened(path) as stream:
        count = len(stream.table.sayings)
        stream.remember("Klaus waves", at=START, embedding=given)
        stream.add_many([{"text": "Maria waves", "at": START, "embedding": given}])
        assert len(stream.table.sayings) == count


def test_who_has_not_seen_what_was_forgotten_keeps_no_index(tmp_path):
    path = tmp_path / "town.db"
    filled(path)
    one, other = opened(path), opened(path)
    secret = one.remember("my xyzzyplugh", at=START).id
    other.refresh()
    other.add_many(["hello"] * 5, at=START)
    one.forget([secret])
    other.flush()
    assert not kept_files(path)
    other.close()
    one.close()
    assert kept_files(path)
    assert not any(b"xyzzyplugh" in file.read_bytes() for file in kept_files(path))


KILLED = """
import sys
from datetime import timedelta
from commonplace.memory import MemoryStream
from commonplace.memory.stores import keeper
from commonplace.testing.stores import START
keeper._LEAST = keeper._CHANGED = 2
stream = MemoryStream.open(sys.argv[1], "지우/1")
for number in range(10_000):
    stream.remember(f"Klaus has seen the lantern {stream.last_id} times", at=START + timedelta(minutes=number))
    if number % 3 == 0:
        stream.recall("lantern", at=START + timedelta(days=20, minutes=number))
        stream.flush()
    if number % 50 == 40:
        stream.forget([stream.last_id - 5])
    print(stream.last_id, flush=True)
"""


def test_a_process_that_is_killed_leaves_a_whole_index_or_none(tmp_path):
    path, chance = tmp_path / "town.db", random.Random(3)
    for _ in range(6 if PROVE else 3):
        command = [sys.executable, "-c", KILLED, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as process:
            for _ in range(chance.randint(5, 150)):
                said = process.stdout.readline()
            process.kill()
        with opened(path) as stream:
            assert stream.last_id >= int(said)
            same(path, stream, chance)


def test_the_format_is_raised_when_a_segment_would_be_another(tmp_path):
    """If this fails because subjects, questions or estimates of tokens changed: raise `FORMAT`, and put the new digest
    here. Words are not in it, because the analyser's name says which they are."""
    path, digest = tmp_path / "town.db", hashlib.blake2b(digest_size=8)
    filled(path, analyser=Analyser("en"))
    (segment,) = segment_files.read_segments(kept_files(path), 40)
    for name in ("kind", "tokens", "saying", "subject", "place", "asks", "spoken", "rests", "texts"):
        array = segment.arrays[name]
        digest.update(name.encode() + array.tobytes())
    digest.update(repr(segment.labels).encode())
    assert (segment_files.FORMAT, digest.hexdigest()) == (3, "cff0dad0e330e4b8")


def test_what_was_forgotten_and_is_said_again_is_kept_again(tmp_path):
    path, said = tmp_path / "town.db", {"source": "Klaus", "place": ("Town",), "details": {"n": 3}, "importance": 3}
    with opened(path) as stream:
        stream.add_many(["a stove", "a kite", "a lamp"], at=START)
        stream.remember("Klaus sang", at=START, **said)
        stream.flush()
        stream.forget([4])
        stream.flush()
        again = stream.remember("Klaus sang", at=START, **said)
        stream.remember("a boat", at=START)
        expected = stream.retrieve("what did Klaus sing in Town?", at=START, touch=False)
    with opened(path) as stream:
        assert len(stream._keeper.files) == 2
        assert stream.get(5) == again
        assert stream.retrieve("what did Klaus sing in Town?", at=START, touch=False) == expected


def test_a_stream_that_opens_with_its_index_finds_what_a_new_memory_restates(tmp_path):
    with opened(tmp_path / "store.db") as stream:
        stream.add_many(["I live in Lyon.", *[f"lantern {number}" for number in range(8)]], at=START)
    with opened(tmp_path / "store.db", restatements=RestatementRules()) as stream:
        assert stream._keeper.files
        assert stream.remember("I live in Busan now.", at=START + timedelta(days=1)).supersedes == (1,)
