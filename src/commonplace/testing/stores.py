"""What every store of memories must do: inherit `StoreContract` in a pytest class and say how yours is opened.

    class TestMyStore(StoreContract):
        def open(self, where: Path) -> Store:
            return MyStore(where)

`where` is a path where nothing exists yet, the same for all that one test opens. The comparison with a stream in RAM
needs hypothesis.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from threading import Barrier
from typing import Any

import numpy as np

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Emotion, Memory, MemoryStream
from commonplace.memory.embedding import Vector
from commonplace.memory.stores.opening import copy
from commonplace.memory.stores.store import (
    Add,
    Archive,
    Configure,
    Forget,
    Mark,
    Operation,
    Overtaken,
    Restore,
    Revise,
    Store,
    Stored,
    Touch,
    Writer,
    fold,
    load,
)

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
NAMES = (
    "maria",
    "Maria.Lopez",
    "maria/../etc",
    "a 'b' \"c\" \\ %s ? ; DROP TABLE memory; --",
    "지우",
    "🦊",
    "  maria ",
    "MARIA",
    "x" * 300,
)
TEXTS = (
    "Klaus is reading",
    "축제에서 민수를 만났다",
    "🏮🏮 lanterns, 'quotes', \"more\", back\\slash, % and _ and \x7e",
    "'); DELETE FROM memory; --",
    "line one\u2028line two, \ufffd",
)
DETAILS: dict[str, Any] = {
    "frame": {"what": "talk", "누구": ["민수", {"deep": [1, 2.5, None, True, "🦊"]}]},
    "surrogate": "\ud83d",
    "nul": "a\0b",
    "number": 0.1 + 0.2,
    "big": 2**60,
    "empty": {},
}


class WordCounts:
    """An embedder of four dimensions, fast and exact, whose vectors people can work out."""

    name = "word-counts"
    dimensions = 4

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Counts of e, a, i and of Hangul syllables; `None` for a text with none of them."""
        counts = [[text.count("e"), text.count("a"), text.count("i"), _hangul(text)] for text in texts]
        return [np.array(row, dtype=np.float32) if any(row) else None for row in counts]


def _hangul(text: str) -> int:
    return sum("가" <= letter <= "힣" for letter in text)


def memory(id: int, agent: str = "maria", **fields: Any) -> Memory:
    """Makes a plain memory of that id."""
    at = START + timedelta(minutes=id)
    given: dict[str, Any] = {"kind": "observation", "text": f"memory {id}", "tick": id, "importance": 3.0, **fields}
    return Memory(id=id, agent=agent, created_at=at, accessed_at=given.pop("accessed_at", at), **given)


def full(id: int, agent: str = "maria") -> Memory:
    """Makes a memory with every field set, to values that are hard to keep."""
    return memory(
        id,
        agent,
        kind="reflection",
        text=TEXTS[id % len(TEXTS)],
        accessed_at=START + timedelta(days=400, microseconds=id),
        importance=1.0189544801599961,
        citations=(1,),
        place=("Town", "House > Attic", "다락"),
        emotion=Emotion(-0.1, 0.30000000000000004, 0.9, ("calm", "외로움")),
        source="Klaus / 민수",
        session="s.1/../2",
        tags=("a,b", "축제", ""),
        event="t4.klaus.0",
        details=DETAILS,
    )


def _change(stream: MemoryStream, chance: Random, step: int) -> None:
    """Changes a stream in one way or another, after it has seen what others did."""
    stream.refresh()
    ids, moment = [memory.id for memory in stream], START + timedelta(hours=step)
    some = chance.sample(ids, min(2, len(ids)))
    deeds: list[Callable[[], Any]] = [
        lambda: stream.remember(f"a kite {step}", at=moment),
        lambda: stream.recall("a kite", at=moment, k=2),
        lambda: stream.forget(some[:1]),
        lambda: stream.archive(some),
        lambda: stream.unarchive([memory.id for memory in stream.archived]),
        lambda: [stream.revise(id, text=f"a stove {step}", tags=("hot",)) for id in some],
        lambda: [stream.revise(id, importance=7) for id in some],
    ]
    chance.choice(deeds)()


def together(*deeds: Callable[[], Any]) -> None:
    """Runs each in a thread of its own, all at once, and raises the first error of any."""
    ready = Barrier(len(deeds))

    def run(deed: Callable[[], Any]) -> None:
        ready.wait()
        deed()

    with ThreadPoolExecutor(len(deeds)) as pool:
        for done in [pool.submit(run, deed) for deed in deeds]:
            done.result()


@contextmanager
def switching_often() -> Generator[None]:
    """Threads take turns as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def before_each(store: Store, kind: type[Operation], deed: Callable[[], Any]) -> Generator[None]:
    """Does something else before each time such an operation is written to the store."""
    write, busy = store.write, False

    def call(agent: str, operations: Sequence[Operation], mark: Mark) -> Mark:
        nonlocal busy
        if not busy and any(isinstance(one, kind) for one in operations):
            busy = True
            with suppress(IndexError):  # there is nothing left to be done
                deed()
            busy = False
        return write(agent, operations, mark)

    store.write = call
    try:
        yield
    finally:
        store.write = write


SHARED = ("a lantern", "a stove", "a kite", "a boat", "a river", "a bridge")
"""What everybody who makes a `Share` revises (the first two), or archives and forgets (the others)."""


@dataclass(frozen=True)
class Share:
    """What one of many did to a character that all used at once."""

    kept: dict[int, str]
    """Id → text of what it remembered and did not forget."""
    revised: int
    """How often it revised one of the first two of `SHARED`."""

    @classmethod
    def of(cls, stream: MemoryStream, number: int, each: int) -> Share:
        """Uses a stream in `each` ways drawn by a number, and checks what it sees of itself and of the others."""
        chance, mine, batches, revised = Random(number), dict[int, str](), dict[int, str](), 0
        stream.refresh()
        for step in range(each):
            at, text = START + timedelta(days=1, minutes=chance.randint(0, 99)), f"lantern {number} {step}"
            some = chance.sample(range(3, len(SHARED) + 1), 2)
            match chance.randint(0, 9):
                case 0 | 1:
                    memory = stream.remember(text, at=at, importance=3)
                    mine[memory.id] = memory.text
                case 2:
                    batch = stream.add_many([{"text": text, "session": text}] * 3, at=at)
                    batches |= {memory.id: memory.text for memory in batch}
                case 3 | 4:
                    assert stream.recall("a lantern", at=at, k=4)
                case 5:
                    stream.revise(chance.randint(1, 2), tags=(text,), at=at)
                    revised += 1
                case 6:
                    chance.choice((stream.archive, stream.unarchive))(some)
                case 7:
                    stream.forget(some[:1])
                case 8 if mine:
                    assert stream.forget([gone := mine.popitem()[0]]) == (gone,)
                case _:
                    stream.refresh()
                    sessions = Counter(memory.session for memory in stream.search(text="lantern") if memory.session)
                    assert set(sessions.values()) <= {3}, "half of what was added together"
                    assert all(stream.get(id).text == text for id, text in (mine | batches).items())
        return cls(mine | batches, revised)


def agree(stream: MemoryStream, fresh: MemoryStream, shares: Sequence[Share]) -> None:
    """Asserts that a stream, which is refreshed, shows what one that was just opened does, and all that was kept."""
    assert (list(stream), stream.archived, stream.last_id) == (list(fresh), fresh.archived, fresh.last_id)
    kept = {id: text for share in shares for id, text in share.kept.items()}
    assert {memory.id: memory.text for memory in stream if memory.id > len(SHARED)} == kept
    assert sum(len(stream.history(id)) for id in (1, 2)) == sum(share.revised for share in shares)


def vectors_of(count: int) -> list[Vector | None]:
    """None, whole numbers, fractions, extremes; in turn."""
    kinds: list[Vector | None] = [
        None,
        np.array([1, -2, 4096, 0], dtype=np.float32),
        np.array([0.1, -1e-38, 3e38, 0.5], dtype=np.float32),
        np.array([1 / 3, 2 / 3, 40_000, -1], dtype=np.float32),
    ]
    return [kinds[number % 4] for number in range(count)]


def same(found: Stored, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None = None) -> None:
    """Asserts that this is what was stored, without those forgotten."""
    alive = [memory for memory in found.memories if memory.id not in found.forgotten]
    assert alive == list(memories)
    assert len(found.vectors) == len(found.memories)
    if vectors is not None:
        pairs = [(found.vectors[memory.id - 1], vector) for memory, vector in zip(alive, vectors, strict=True)]
        for got, wanted in pairs:
            assert (got is None) == (wanted is None)
            if got is not None and wanted is not None:
                assert got.dtype == np.float32
                assert got.tolist() == wanted.tolist()


@contextmanager
def refused(kind: type[CommonplaceError] = CommonplaceError) -> Generator[None]:
    """Asserts that what is done is refused, with a next step."""
    try:
        yield
    except kind as error:
        assert error.hint, f"{error} names no next step"
        return
    raise AssertionError(f"no {kind.__name__} was raised")


def write(store: Store, agent: str, *operations: Operation) -> None:
    """Writes for somebody who has just read the character."""
    Writer(store, agent).write(*operations)


def close_all(*stores: Store) -> None:
    """Closes stores, of which several may be the same: a store may be closed twice."""
    for store in stores:
        store.close()


def nothing(_: Store) -> None:
    """Leaves a store as it is."""


class StoreContract:
    """The tests. Each opens its own store in a fresh folder."""

    examples = 20
    threads = 16
    """That use one store at once."""
    each = 4
    """What each of them remembers."""
    """Sequences of deeds that are drawn for the comparison with a stream in RAM."""

    def open(self, where: Path) -> Store:
        """Opens the store at this path and makes it if there is none; called again, opens the same store."""
        raise NotImplementedError

    def reopened(self, store: Store, where: Path) -> Store:
        """Closed and opened again."""
        store.close()
        return self.open(where)

    def twice(self, where: Path, deeds: Callable[[Store], None]) -> Iterator[Store]:
        """Yields the store after the deeds, and again after it was closed and opened."""
        store = self.open(where)
        try:
            deeds(store)
            yield store
            store = self.reopened(store, where)
            assert store.repairs == ()
            yield store
        finally:
            store.close()

    def test_every_field_comes_back(self, tmp_path: Path) -> None:
        memories = [memory(1), *(full(id) for id in range(2, 10))]
        vectors = vectors_of(9)
        for store in self.twice(tmp_path / "s", lambda store: write(store, "maria", Add(memories, vectors))):
            same(load(store, "maria"), memories, vectors)

    def test_vectors_of_other_sizes_and_without_a_direction_come_back(self, tmp_path: Path) -> None:
        vectors: list[Vector | None] = [
            np.zeros(4, dtype=np.float32),
            np.array([1.5, 2], dtype=np.float32),
            np.array([np.inf, 1, 1, 1], dtype=np.float32),
            None,
        ]
        memories = [memory(id) for id in range(1, 5)]
        for store in self.twice(tmp_path / "s", lambda store: write(store, "maria", Add(memories, vectors))):
            same(load(store, "maria"), memories, vectors)

    def test_names_of_characters_may_be_anything(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            for count, name in enumerate(NAMES, start=1):
                write(store, name, Add([memory(id, name) for id in range(1, count + 1)], [None] * count))

        for store in self.twice(tmp_path / "s", deeds):
            assert store.agents() == tuple(sorted(NAMES))
            for count, name in enumerate(NAMES, start=1):
                same(load(store, name), [memory(id, name) for id in range(1, count + 1)])

    def test_a_name_that_is_no_text_is_refused(self, tmp_path: Path) -> None:
        store = self.open(tmp_path / "s")
        for name in ("", "a\0b", "\ud83d"):
            with refused(UsageError):
                write(store, name, Add([memory(1, name)], [None]))
        assert store.agents() == ()
        store.close()

    def test_of_an_unknown_character_there_is_nothing(self, tmp_path: Path) -> None:
        for store in self.twice(tmp_path / "s", nothing):
            found = load(store, "nobody")
            assert (list(found.memories), list(found.vectors), dict(found.settings)) == ([], [], {})
            assert store.agents() == ()

    def test_ids_count_up_and_nothing_else_is_taken(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(1), memory(2)], [None, None]))
            for wrong in ([memory(2)], [memory(4)], [memory(3), memory(5)], [memory(1)]):
                with refused(UsageError):
                    write(store, "maria", Add(wrong, [None] * len(wrong)))
            write(store, "maria", Add([memory(3)], [None]))

        for store in self.twice(tmp_path / "s", deeds):
            same(load(store, "maria"), [memory(1), memory(2), memory(3)])

    def test_of_what_cannot_be_stored_nothing_is(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            wrong = memory(2, details={"when": START})
            with refused(UsageError):
                write(store, "maria", Add([memory(1), wrong], [None, None]))
            write(store, "maria", Add([memory(1)], [None]))

        for store in self.twice(tmp_path / "s", deeds):
            same(load(store, "maria"), [memory(1)])

    def test_a_stream_refuses_what_a_store_would_change(self, tmp_path: Path) -> None:
        deep: Any = "deep"
        for _ in range(65):
            deep = [deep]
        wrong: list[dict[str, Any]] = [
            *({"details": {"here": {"there": [value]}}} for value in (START, float("nan"), {1, 2}, b"x", 1 << 65)),
            {"details": {1: "a number as a key"}},
            {"metadata": {"inside": {None: 1}}},
            {"details": {"deep": deep}},
            *({"embedding": vector} for vector in ([1, 2, 3], [[1, 2, 3, 4]], [], [1, 2, float("nan"), 4], [1e39] * 4)),
        ]
        given: dict[str, Any] = {"pair": (1, ("a", None)), "deep": {"list": [{"x": (True, 0.1)}]}, **DETAILS}
        kept = {**given, "pair": [1, ["a", None]], "deep": {"list": [{"x": [True, 0.1]}]}}
        store = self.open(tmp_path / "s")
        for stream in (
            MemoryStream("maria", embedder=WordCounts()),
            MemoryStream.open(store, "maria", embedder=WordCounts()),
        ):
            stream.remember("a lantern", at=START, details=given, embedding=[1, 0, 0, 0])
            for fields in wrong:
                with refused(UsageError):
                    stream.remember("a stove", at=START, **fields)
                with refused(UsageError):
                    stream.add_many(["a kite", {"text": "a stove", **fields}], at=START)
                with refused(UsageError):
                    if "embedding" in fields:
                        stream.recall("a stove", at=START, **fields)
                    else:
                        stream.revise(1, details={**fields.get("details", {}), **fields.get("metadata", {})})
            assert (len(stream), stream.get(1).details) == (1, kept)
        store = self.reopened(store, tmp_path / "s")
        assert MemoryStream.open(store, "maria", embedder=WordCounts()).get(1).details == kept
        store.close()

    def test_accesses_are_kept(self, tmp_path: Path) -> None:
        later = START + timedelta(days=3, microseconds=7)
        latest = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)

        def deeds(store: Store) -> None:
            write(store, "maria", Add([full(1), memory(2), memory(3)], vectors_of(3)))
            write(store, "maria", Touch({1: later, 3: latest}))
            write(store, "maria", Touch({}))

        for store in self.twice(tmp_path / "s", deeds):
            wanted = [replace(full(1), accessed_at=later), memory(2), memory(3, accessed_at=latest)]
            same(load(store, "maria"), wanted, vectors_of(3))

    def test_texts_and_tags_can_be_replaced(self, tmp_path: Path) -> None:
        new = [replace(full(1), text="다른 text", tags=("new",)), memory(2, text="other", tags=("a", "b"))]

        def deeds(store: Store) -> None:
            write(store, "maria", Add([full(1), memory(2), memory(3)], vectors_of(3)))
            write(store, "maria", Archive([2]))
            write(store, "maria", Revise(new, [None, vectors_of(2)[1]]))

        for store in self.twice(tmp_path / "s", deeds):
            assert load(store, "maria").archived == {2}
            same(load(store, "maria"), [*new, memory(3)], [None, vectors_of(2)[1], vectors_of(3)[2]])

    def test_importance_details_and_vectors_can_be_replaced(self, tmp_path: Path) -> None:
        new = [replace(full(1), importance=9.25, details={"rating": 5}), memory(3, importance=1.0)]
        vector = np.array([9, 9, 9, 9], dtype=np.float32)

        def deeds(store: Store) -> None:
            write(store, "maria", Add([full(1), memory(2), memory(3)], vectors_of(3)))
            write(store, "maria", Revise([new[0]]))
            write(store, "maria", Revise([new[1]], [vector]))

        for store in self.twice(tmp_path / "s", deeds):
            wanted = [None, vectors_of(3)[1], vector]
            same(load(store, "maria"), [new[0], memory(2), new[1]], wanted)

    def test_forgotten_means_gone_and_the_id_stays_used(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(1), memory(2, text="a secret"), memory(3)], vectors_of(3)))
            write(store, "maria", Forget([2, 3]))
            with refused(UsageError):
                write(store, "maria", Add([memory(3)], [None]))
            write(store, "maria", Add([memory(4)], [None]))

        for store in self.twice(tmp_path / "s", deeds):
            found = load(store, "maria")
            assert found.forgotten == {2, 3}
            assert "secret" not in repr(found.memories)
            assert found.vectors[1] is None
            same(found, [memory(1), memory(4)], [None, None])

    def test_what_is_archived_can_be_brought_back(self, tmp_path: Path) -> None:
        memories = [memory(1), full(2), memory(3)]

        def deeds(store: Store) -> None:
            write(store, "maria", Add(memories, vectors_of(3)))
            write(store, "maria", Archive([2, 3]))
            write(store, "maria", Archive([3]))
            write(store, "maria", Restore([3]))
            write(store, "maria", Restore([3, 1]))

        for store in self.twice(tmp_path / "s", deeds):
            found = load(store, "maria")
            assert (found.archived, found.forgotten) == ({2}, frozenset())
            same(found, memories, vectors_of(3))
            write(store, "maria", Restore([2]))
            assert load(store, "maria").archived == frozenset()
            same(load(store, "maria"), memories, vectors_of(3))
            write(store, "maria", Archive([2]))

    def test_what_is_archived_can_be_changed_and_forgotten(self, tmp_path: Path) -> None:
        later = START + timedelta(days=3)

        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(1), full(2), memory(3)], vectors_of(3)))
            write(store, "maria", Archive([1, 2]))
            write(store, "maria", Revise([replace(full(2), importance=2.0)]))
            write(store, "maria", Touch({2: later}))
            write(store, "maria", Forget([1]))

        for store in self.twice(tmp_path / "s", deeds):
            found = load(store, "maria")
            assert (found.archived, found.forgotten) == ({2}, {1})
            wanted = [replace(full(2), importance=2.0, accessed_at=later), memory(3)]
            same(found, wanted, vectors_of(3)[1:])

    def test_what_was_never_there_is_refused_and_nothing_is_changed(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(1), memory(2), memory(3)], vectors_of(3)))
            write(store, "maria", Forget([3]))
            for missing in (4, 0, -1):
                revised = Revise([memory(1, importance=9.0), memory(missing)])
                for wrong in (revised, *(kind([1, missing]) for kind in (Forget, Archive, Restore))):
                    with refused(UsageError):
                        write(store, "maria", Archive([2]), wrong)
            with refused(UsageError):
                write(store, "nobody", Forget([1]))

        for store in self.twice(tmp_path / "s", deeds):
            found = load(store, "maria")
            assert found.archived == frozenset()
            same(found, [memory(1), memory(2)], vectors_of(2))
            assert store.agents() == ("maria",)

    def test_what_is_forgotten_stays_forgotten(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(1), memory(2)], vectors_of(2)), Archive([2]), Forget([2]))
            for operation in (Revise([memory(2, text="a secret")], [None]), Restore([2]), Archive([2]), Forget([2])):
                write(store, "maria", operation)

        for store in self.twice(tmp_path / "s", deeds):
            found = load(store, "maria")
            assert (found.forgotten, found.archived) == ({2}, frozenset())
            assert "secret" not in repr(found.memories)
            same(found, [memory(1)], vectors_of(1))

    def test_a_reader_is_told_what_has_happened_since(self, tmp_path: Path) -> None:
        store = self.open(tmp_path / "s")
        held, mark = Stored(agent="maria"), store.read("maria").mark
        later = START + timedelta(days=3)
        for number, operations in enumerate(
            (
                [Configure({"embedder": "x"}), Add([memory(1), full(2), full(3), memory(4)], vectors_of(4))],
                [Touch({1: later, 2: later})],
                [Archive([2, 3]), Forget([1])],
                [Add([memory(5)], vectors_of(1)), Revise([memory(4, text="a kite")], vectors_of(2)[1:])],
                [Restore([3]), Add([memory(6), memory(7)], vectors_of(2)), Forget([6])],
                [],
            )
        ):
            mine = store.read("maria").mark
            new = store.write("maria", operations, mine)
            if number % 2:  # of the others it is told together with the next
                log = store.read("maria", mark)
                if log.whole:
                    held = Stored(agent="maria")
                fold(log.operations, held)
                mark, wanted = log.mark, load(store, "maria")
                assert mark == new == store.read("maria", mark).mark
                same(held, [one for one in wanted.memories if one.id not in wanted.forgotten])
                assert (held.forgotten, held.archived, held.settings) == (
                    wanted.forgotten,
                    wanted.archived,
                    wanted.settings,
                )
                assert repr(list(held.vectors)) == repr(list(wanted.vectors))
        store.delete("maria")
        assert store.read("maria", mark).whole
        store.close()

    def test_accesses_of_what_is_not_there_are_left_out(self, tmp_path: Path) -> None:
        later = START + timedelta(days=3)
        operations = (
            Add([memory(1), memory(2), memory(3)], vectors_of(3)),
            Forget([2]),
            Touch(dict.fromkeys((1, 2, 3, 4, 0), later)),
        )
        for store in self.twice(tmp_path / "s", lambda store: write(store, "maria", *operations)):
            found = load(store, "maria")
            assert found.forgotten == {2}
            same(found, [memory(1, accessed_at=later), memory(3, accessed_at=later)])

    def test_what_has_been_written_meanwhile_is_not_overwritten(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(1), memory(2)], vectors_of(2)))
            for meanwhile in (
                Add([memory(3)], [None]),
                Touch({1: START + timedelta(days=3)}),
                Revise([memory(2, text="a kite")]),
                Archive([2]),
                Restore([2]),
                Forget([3]),
                Configure({"embedder": "x"}),
            ):
                late, new = store.read("maria").mark, len(load(store, "maria").memories) + 1
                write(store, "maria", meanwhile)
                for operation in (Revise([memory(1, text="late")], [None]), Add([memory(new, text="late")], [None])):
                    with refused(Overtaken):
                        store.write("maria", [operation], late)
            late = store.read("maria").mark
            write(store, "klaus", Add([memory(1, "klaus")], [None]))
            store.write("maria", [Touch({2: START})], late)  # only what is written to the same character counts

        for store in self.twice(tmp_path / "s", deeds):
            kept = [memory(1, accessed_at=START + timedelta(days=3)), memory(2, text="a kite", accessed_at=START)]
            same(load(store, "maria"), kept, vectors_of(2))

    def test_ids_given_twice_count_once(self, tmp_path: Path) -> None:
        vector = np.array([9, 9, 9, 9], dtype=np.float32)

        def deeds(store: Store) -> None:
            write(store, "maria", Add([memory(id) for id in range(1, 5)], vectors_of(4)))
            write(store, "maria", Revise([memory(1, text="x"), memory(1, text="a kite")], [vectors_of(2)[1], vector]))
            write(store, "maria", Forget([2, 2]))
            write(store, "maria", Archive([3, 4, 3]))
            write(store, "maria", Restore([4, 4]))

        for store in self.twice(tmp_path / "s", deeds):
            found = load(store, "maria")
            assert (found.forgotten, found.archived) == ({2}, {3})
            wanted = [vector, vectors_of(4)[2], vectors_of(4)[3]]
            same(found, [memory(1, text="a kite"), memory(3), memory(4)], wanted)

    def test_characters_are_kept_apart(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            for agent in ("klaus", "maria"):
                write(store, agent, Add([memory(1, agent), memory(2, agent)], vectors_of(2)))
            write(store, "klaus", Forget([1]))
            write(store, "klaus", Archive([2]))
            write(store, "maria", Touch({2: START + timedelta(days=1)}))

        for store in self.twice(tmp_path / "s", deeds):
            klaus, maria = load(store, "klaus"), load(store, "maria")
            assert (klaus.forgotten, klaus.archived) == ({1}, {2})
            assert (maria.forgotten, maria.archived) == (frozenset(), frozenset())
            same(maria, [memory(1), memory(2, accessed_at=START + timedelta(days=1))], vectors_of(2))

    def test_settings_are_kept(self, tmp_path: Path) -> None:
        settings = {"embedder": "이름 'x'", "dimensions": 4, "language": "ko", "unfinished": True}

        def deeds(store: Store) -> None:
            write(store, "maria", Configure({"embedder": "old", "extra": 1}))
            write(store, "maria", Add([memory(1)], [None]))
            write(store, "maria", Configure(settings))
            write(store, "klaus", Add([memory(1, "klaus")], [None]))

        for store in self.twice(tmp_path / "s", deeds):
            assert dict(load(store, "maria").settings) == settings
            assert dict(load(store, "klaus").settings) == {}

    def test_a_huge_text_comes_back_whole(self, tmp_path: Path) -> None:
        whole = "축제 🏮 lantern " * 60_000
        big = memory(1, text=whole[:2000].rstrip(), details={"full_text": whole})
        for store in self.twice(tmp_path / "s", lambda store: write(store, "maria", Add([big], [None]))):
            same(load(store, "maria"), [big])

    def test_many_at_once_are_many_one_by_one(self, tmp_path: Path) -> None:
        memories = [memory(id) for id in range(1, 1201)]
        vectors = vectors_of(1200)

        def deeds(store: Store) -> None:
            write(store, "maria", Add(memories, vectors))
            for one in memories[:20]:
                moved = memory(one.id, "klaus")
                write(store, "klaus", Add([moved], [vectors[one.id - 1]]))

        for store in self.twice(tmp_path / "s", deeds):
            same(load(store, "maria"), memories, vectors)
            same(load(store, "klaus"), [memory(id, "klaus") for id in range(1, 21)], vectors[:20])

    def test_a_closed_store_says_so(self, tmp_path: Path) -> None:
        store = self.open(tmp_path / "s")
        write(store, "maria", Add([memory(1)], [None]))
        store.close()
        store.close()
        for deed in (
            lambda: write(store, "maria", Add([memory(2)], [None])),
            lambda: load(store, "maria"),
            store.agents,
            lambda: write(store, "maria", Touch({1: START})),
        ):
            with refused():
                deed()

    def test_two_at_once_lose_nothing_of_each_others(self, tmp_path: Path) -> None:
        first = self.open(tmp_path / "s")
        write(first, "maria", Add([memory(1)], [None]))
        try:
            second = self.open(tmp_path / "s")
        except CommonplaceError as error:  # one of the two ways to do it right
            assert error.hint
            first.close()
            return
        same(load(second, "maria"), [memory(1)])
        write(second, "klaus", Add([memory(1, "klaus")], [None]))
        write(first, "maria", Add([memory(2)], [None]))
        with refused():
            write(second, "maria", Add([memory(2, text="another")], [None]))
        second.close()
        same(load(first, "maria"), [memory(1), memory(2)])
        same(load(first, "klaus"), [memory(1, "klaus")])
        first.close()

    def test_threads_that_share_it_lose_nothing(self, tmp_path: Path) -> None:
        store = self.open(tmp_path / "s")
        names = ("maria", "지우 / x")
        streams = {name: MemoryStream.open(store, name, embedder=WordCounts()) for name in names}
        kept: dict[str, list[Memory]] = {name: [] for name in names}

        def use(number: int) -> None:
            name = names[number % len(names)]
            stream, mine = streams[name], list[Memory]()
            for count in range(self.each):
                text = f"lantern {number} {count}"
                mine.append(stream.remember(text, at=START + timedelta(minutes=count), importance=3))
                assert stream.recall("lantern", at=START + timedelta(days=1), k=2)
                if count % 4 == 3:
                    assert stream.forget([mine.pop(0).id])
                    stream.flush()
                if count % 5 == 4:
                    assert load(store, name).memories
            kept[name] += mine

        together(*[lambda number=number: use(number) for number in range(self.threads)])
        wanted = {name: list(stream) for name, stream in streams.items()}
        for name in names:
            assert sorted(memory.id for memory in kept[name]) == [memory.id for memory in wanted[name]]
            texts = {memory.id: memory.text for memory in wanted[name]}
            assert all(texts[memory.id] == memory.text for memory in kept[name])
            streams[name].close()
        store = self.reopened(store, tmp_path / "s")
        for name in names:
            assert list(MemoryStream.open(store, name, embedder=WordCounts())) == wanted[name]
        store.close()

    def test_a_stream_that_is_refreshed_is_one_that_is_opened(self, tmp_path: Path) -> None:
        first, second = self.two(tmp_path / "s")
        for seed in range(3):
            chance, name = Random(seed), f"maria {seed}"
            one, other = (MemoryStream.open(store, name, embedder=WordCounts()) for store in (first, second))
            one.add_many([f"lantern {number}" for number in range(9)], at=START)
            for step in range(12):
                for _ in range(chance.randint(0, 3)):
                    _change(chance.choice((one, other)), chance, step)
                for stream in (one, other):
                    stream.flush()
                one.refresh()
                wanted = MemoryStream.open(first, name, embedder=WordCounts())
                assert (list(one), one.archived, one.last_id) == (list(wanted), wanted.archived, wanted.last_id)
                assert [str(one.vector(here.id)) for here in one] == [str(wanted.vector(here.id)) for here in one]
                later = START + timedelta(days=9)
                assert one.recall("a lantern", at=later, touch=False) == wanted.recall(
                    "a lantern", at=later, touch=False
                )
        close_all(first, second)

    def test_streams_of_one_character_bring_in_what_the_others_did(self, tmp_path: Path) -> None:
        first, second = self.two(tmp_path / "s")
        one, other = (MemoryStream.open(store, "maria", embedder=WordCounts()) for store in (first, second))
        one.add_many([f"lantern {number}" for number in range(6)], at=START)
        assert (other.refresh(), other.refresh()) == (6, 0)
        other.recall("lantern", at=START + timedelta(hours=1), k=6)
        one.forget([1])
        one.archive([2, 3])
        one.unarchive([3])
        one.revise(4, text="a stove", tags=("hot",))
        assert other.remember("their stove", at=START).id == 7
        assert one.remember("a kite", at=START).id == 8
        assert (one.refresh(), other.refresh()) == (0, 1)
        for stream in (one, other):
            assert [memory.id for memory in stream] == [3, 4, 5, 6, 7, 8]
            assert [memory.id for memory in stream.archived] == [2]
            assert (stream.get(4).text, stream.history(4)[0]["text"]) == ("a stove", "lantern 3")
            assert [memory.id for memory in stream.search(text="stove")] == [7, 4]
        other.unarchive([2])
        assert one.refresh() == 0
        assert list(one) == list(other)
        hits = [stream.recall("a stove", at=START + timedelta(hours=2), touch=False) for stream in (one, other)]
        assert hits[0] == hits[1]
        close_all(first, second)

    def test_streams_that_add_to_one_character_at_once_take_other_ids(self, tmp_path: Path) -> None:
        stores = self.two(tmp_path / "s")
        streams = [MemoryStream.open(store, "maria", embedder=WordCounts()) for store in stores for _ in range(2)]
        kept: list[Memory] = []

        def use(stream: MemoryStream, number: int) -> None:
            for count in range(self.each):
                kept.append(stream.remember(f"lantern {number} {count}", at=START, importance=3))

        together(*[lambda stream=stream, n=n: use(stream, n) for n, stream in enumerate(streams)])
        assert sorted(memory.id for memory in kept) == list(range(1, len(streams) * self.each + 1))
        texts = {memory.id: memory.text for memory in kept}
        for stream in streams:
            stream.refresh()
            assert {memory.id: memory.text for memory in stream} == texts
        close_all(*stores)

    def test_what_another_forgets_at_the_last_moment_is_left_out(self, tmp_path: Path) -> None:
        first, second = self.two(tmp_path / "s")
        deeds: dict[type[Operation], Callable[[MemoryStream], Any]] = {
            Touch: lambda stream: stream.flush(),
            Forget: lambda stream: stream.forget([1, 2, 3]),
            Archive: lambda stream: stream.archive([1, 2, 3]),
            Restore: lambda stream: stream.unarchive([1, 2, 3]),
        }
        for kind, deed in deeds.items():
            name = kind.__name__
            one, other = (MemoryStream.open(store, name, embedder=WordCounts()) for store in (first, second))
            one.add_many([f"lantern {number}" for number in range(4)], at=START)
            if kind is Restore:
                one.archive([1, 2, 3])
            other.refresh()
            assert len(one.recall("a lantern", at=START + timedelta(days=1), k=4)) == (1 if kind is Restore else 4)
            victims = [1, 2]
            with before_each(first, kind, lambda other=other, victims=victims: other.forget([victims.pop(0)])):
                assert deed(one) in (None, (3,))
            assert victims == []
            one.forget([2])
            one.refresh()
            fresh = MemoryStream.open(second, name, embedder=WordCounts())
            assert (list(one), one.archived) == (list(fresh), fresh.archived)
            assert fresh.get(4).accessed_at == START + timedelta(days=1)
        close_all(first, second)

    def test_those_who_revise_one_memory_lose_nothing_of_each_others(self, tmp_path: Path) -> None:
        first, second = self.two(tmp_path / "s")
        one, other = (MemoryStream.open(store, "maria", embedder=WordCounts()) for store in (first, second))
        one.add_many(["a lantern", "a stove"], at=START)
        other.refresh()
        one.recall("a lantern", at=START + timedelta(days=9), k=1)
        one.revise(1, text="a red lantern", at=START + timedelta(days=1))
        memory = other.revise(1, tags=("toy",), at=START + timedelta(days=2))
        assert (memory.text, memory.tags) == ("a red lantern", ("toy",))
        assert one.revise(1, importance=9).tags == ("toy",)
        other.refresh()
        for stream in (one, other, MemoryStream.open(second, "maria", embedder=WordCounts())):
            memory = stream.get(1)
            assert (memory.text, memory.tags, memory.importance) == ("a red lantern", ("toy",), 9)
            assert [before["text"] for before in stream.history(1)] == ["a lantern", "a red lantern"]
            assert memory.accessed_at == START + timedelta(days=9)
            assert str(stream.vector(1)) == str(WordCounts().embed(["a red lantern"])[0])
        with before_each(first, Revise, lambda: other.forget([1])), refused(UsageError):
            one.revise(1, text="a green lantern")
        assert [memory.text for memory in one] == ["a stove"]
        close_all(first, second)

    def test_what_is_revised_counts_everywhere(self, tmp_path: Path) -> None:
        store = self.open(tmp_path / "s")
        stream = MemoryStream.open(store, "maria", embedder=WordCounts())
        stream.add_many([{"text": "the lantern is lit", "source": name} for name in ("Ana", "Klaus")], at=START)
        later: dict[str, Any] = {"at": START + timedelta(days=1), "touch": False}
        assert stream.recall("what did Ana say?", **later)[0].memory.id == 1
        felt = Emotion(0.5, 0.2, keywords=("joy",))
        changed = stream.revise(1, kind="plan", place=("Town", "다락"), source="Klaus", emotion=felt)
        stream.revise(2, source="Ana")
        with refused(UsageError):
            stream.revise(1, kind="reflection")
        wrong: list[dict[str, Any]] = [{"place": "Town"}, {"source": 1}, {"emotion": "joy"}, {"kind": "thought"}]
        for fields in wrong:
            with refused(UsageError):
                stream.revise(1, **fields)
        for reader in (stream, MemoryStream.open(store, "maria", embedder=WordCounts())):
            assert (
                reader.get(1)
                == changed
                == replace(
                    changed,
                    kind="plan",
                    place=("Town", "다락"),
                    source="Klaus",
                    emotion=felt,
                    text="the lantern is lit",
                )
            )
            assert [one.id for one in reader.search(kinds="plan", place=("Town",), emotion={"keywords": ["joy"]})] == [
                1
            ]
            assert [one.id for one in reader.search(source="Ana")] == [2]
            assert reader.recall("what did Ana say?", **later)[0].memory.id == 2
        store.close()

    def test_a_character_begun_anew_behind_ones_back_is_the_new_one(self, tmp_path: Path) -> None:
        for again in (1, 3, 5):
            first, second = self.two(tmp_path / f"s {again}")
            one, other = (MemoryStream.open(store, "maria", embedder=WordCounts()) for store in (first, second))
            one.add_many(["lantern", "stove", "kite"], at=START + timedelta(days=9))
            one.archive([2])
            other.refresh()
            one.recall("a kite", at=START + timedelta(days=10))
            assert other.delete() == 3
            other.add_many([f"river {number}" for number in range(again)], at=START)
            assert one.refresh() == again
            assert one.remember("a boat", at=START).id == again + 1
            fresh = MemoryStream.open(second, "maria", embedder=WordCounts())
            assert (list(one), one.archived) == (list(fresh), ())
            asked: Any = {"at": START + timedelta(days=11), "touch": False}
            assert one.recall("a river", **asked) == fresh.recall("a river", **asked)
            assert load(second, "maria").settings["embedder"] == "word-counts"
            other.refresh()
            other.delete()
            assert one.remember("a bridge", at=START).id == 1
            assert load(second, "maria").settings["embedder"] == "word-counts"
            close_all(first, second)

    def test_many_who_use_one_character_at_once_agree(self, tmp_path: Path) -> None:
        stores = self.two(tmp_path / "s")
        streams = [MemoryStream.open(store, "maria", embedder=WordCounts()) for store in stores for _ in range(2)]
        streams[0].add_many(SHARED, at=START)
        shares: list[Share] = []

        def use(stream: MemoryStream, number: int) -> None:
            shares.append(Share.of(stream, number, self.each))

        with switching_often():
            together(*[lambda n=n: use(streams[n % len(streams)], n) for n in range(self.threads)])
        for stream in streams:
            stream.flush()
        for stream in streams:
            stream.refresh()
            agree(stream, MemoryStream.open(stores[0], "maria", embedder=WordCounts()), shares)
        close_all(*stores)

    def two(self, where: Path) -> tuple[Store, Store]:
        """Two handles of one store; the same one twice if it allows one only."""
        store = self.open(where)
        try:
            return store, self.open(where)
        except CommonplaceError:
            return store, store

    def test_a_character_that_is_deleted_leaves_nothing(self, tmp_path: Path) -> None:
        def deeds(store: Store) -> None:
            for agent in ("klaus", "maria"):
                write(store, agent, Configure({"embedder": "word-counts"}))
                write(
                    store,
                    agent,
                    Add([memory(id, agent, text=f"a secret of {agent}") for id in range(1, 6)], vectors_of(5)),
                )
                write(store, agent, Forget([1]))
                write(store, agent, Archive([2]))
            assert (store.delete("maria"), store.delete("maria"), store.delete("nobody")) == (4, 0, 0)

        for store in self.twice(tmp_path / "s", deeds):
            assert store.agents() == ("klaus",)
            assert (load(store, "maria").memories, dict(load(store, "maria").settings)) in (((), {}), ([], {}))
            assert len(load(store, "klaus").memories) == 5
            assert load(store, "klaus").archived == {2}
            write(store, "maria", Add([memory(1, text="anew")], [None]))
            same(load(store, "maria"), [memory(1, text="anew")])
            assert store.delete("maria") == 1

    def test_a_stream_whose_character_is_deleted_begins_anew(self, tmp_path: Path) -> None:
        first, second = self.two(tmp_path / "s")
        one, other = (MemoryStream.open(store, "maria", embedder=WordCounts()) for store in (first, second))
        one.add_many(["lantern", "stove", "kite"], at=START)
        other.refresh()
        assert one.delete() == 3
        assert (len(one), one.last_id, first.agents()) == (0, 0, ())
        someone = MemoryStream.open(first, "klaus", embedder=WordCounts())
        someone.remember("a boat", at=START)
        assert other.remember("a river", at=START).id == 1
        assert one.refresh() == 1
        for stream in (one, other):
            assert [memory.text for memory in stream] == ["a river"]
        assert [memory.text for memory in MemoryStream.open(second, "klaus", embedder=WordCounts())] == ["a boat"]
        close_all(first, second)

    def test_a_copy_is_the_same(self, tmp_path: Path) -> None:
        source = self.open(tmp_path / "from")
        write(source, "지우/.", Configure({"embedder": "word-counts"}))
        write(source, "지우/.", Add([memory(1, "지우/."), *(full(id, "지우/.") for id in range(2, 9))], vectors_of(8)))
        write(source, "지우/.", Forget([3]))
        write(source, "지우/.", Archive([4, 5]))
        wanted = load(source, "지우/.")
        source.close()
        target = self.open(tmp_path / "to")
        assert copy({"지우/.": wanted}, target) == 7
        assert copy({"지우/.": wanted}, target) == 7  # again: nothing to do
        with refused(UsageError):
            copy({"지우/.": replace(wanted, memories=[full(id, "지우/.") for id in range(9, 17)])}, target)
        found = load(target, "지우/.")
        target.close()
        assert (found.settings, found.forgotten, found.archived) == (wanted.settings, {3}, {4, 5})
        alive = [memory for memory in wanted.memories if memory.id != 3]
        same(found, alive, [wanted.vectors[memory.id - 1] for memory in alive])

    def test_a_copy_that_was_interrupted_goes_on(self, tmp_path: Path) -> None:
        source = self.open(tmp_path / "from")
        write(source, "maria", Configure({"embedder": "word-counts"}))
        write(source, "maria", Add([full(id) for id in range(1, 9)], vectors_of(8)))
        write(source, "maria", Forget([2, 3]))
        write(source, "maria", Archive([4, 5]))
        wanted = load(source, "maria")
        source.close()
        target = self.open(tmp_path / "to")
        write(target, "maria", Configure(wanted.settings))
        write(target, "maria", Add(wanted.memories[:6], wanted.vectors[:6]))
        write(target, "maria", Forget([2]))
        write(target, "maria", Archive([4]))
        assert copy({"maria": wanted}, target) == 6
        found = load(target, "maria")
        target.close()
        assert (found.settings, found.forgotten, found.archived) == (wanted.settings, {2, 3}, {4, 5})
        alive = [memory for memory in wanted.memories if memory.id not in (2, 3)]
        same(found, alive, [wanted.vectors[memory.id - 1] for memory in alive])

    def test_a_stream_goes_on_where_it_was(self, tmp_path: Path) -> None:
        store = self.open(tmp_path / "s")
        with MemoryStream.open(store, "maria", embedder=WordCounts()) as stream:
            for id in range(1, 6):
                stream.remember(f"lantern {id}", at=START + timedelta(minutes=id), importance=id)
            stream.recall("lantern", at=START + timedelta(hours=1), k=2)
            stream.forget([1])
            stream.archive([2])
            stream.revise(3, importance=8, details={"rating": 1})
            stream.revise(4, text="리본 and a kite", tags=("toy",), at=START + timedelta(hours=2))
            stream.add_many([{"role": "user", "name": "Klaus", "content": "a kite?"}, "an ape"], at=START)
            wanted = list(stream)
        store = self.reopened(store, tmp_path / "s")
        with MemoryStream.open(store, "maria", embedder=WordCounts()) as stream:
            assert list(stream) == wanted
            assert (stream.last_id, [memory.id for memory in stream.archived]) == (7, [2])
            assert stream.history(4)[0]["text"] == "lantern 4"
            assert stream.vector(4) is not None
            assert stream.unarchive([2]) == (2,)
            assert stream.remember("another", at=START, kind="reflection", citations=[4]).id == 8
        store.close()

    def test_it_does_what_a_stream_in_ram_does(self, tmp_path: Path) -> None:
        from commonplace.testing.store_machine import compare_with_ram  # noqa: PLC0415 - hypothesis is a test's package

        compare_with_ram(self.open, tmp_path, examples=self.examples)
