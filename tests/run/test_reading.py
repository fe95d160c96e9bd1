from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory import Draft, Emotion
from commonplace.run import integrity
from commonplace.run.opening import create_store, open_store
from commonplace.run.reading import Reading, mood
from commonplace.run.rows import InputRow, from_unix_micros, memory_cells, memory_from, unix_micros
from commonplace.sqlite import KEPT
from run.databases import Home
from run.small_runs import MANIFEST, Village, at, make, plot, worlds

TICKS = 24


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("run") / "a.run", TICKS)


def test_every_tick_is_restored_as_it_was_lived(path: Path) -> None:
    with Reading.open(path) as reading:
        for tick, (world, states, _) in enumerate(worlds(TICKS)):
            assert reading.world_at(tick) == world
            assert {me: reading.state_at(me, tick) for me in states if tick} == (states if tick else {})
            for me, state in states.items() if tick else ():
                for item in state.plan.items:
                    strokes = reading.strokes_at(me, tick, item.id)
                    assert (strokes.level("day"), strokes.item(item.id)) == (state.plan.level("day"), item)


def test_a_stream_is_restored_with_its_accesses(path: Path) -> None:
    with Reading.open(path) as reading:
        for tick, (_, _, live_state) in enumerate(worlds(TICKS)):
            if tick % 7 == 0:
                live, again = live_state.streams["bob"], reading.stream_at("bob", tick)
                assert list(again) == list(live)
                assert again.importance_since_reflection() == live.importance_since_reflection()
                found = [
                    [(hit.memory.id, hit.score) for hit in one.recall("bell number 3", at=at(tick), k=5, touch=False)]
                    for one in (live, again)
                ]
                assert found[0] == found[1]


def test_forgotten_memories_stay_forgotten_from_their_tick_on(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        run.commit(live_state.tick(plot(1)))
        run.commit(replace(live_state.tick(plot(2)), removed={"ann": (1, 2)}))
        reading = run.reading
        assert [memory.id for memory in reading.memories("ann", 1)] == [1, 2]
        assert [memory.id for memory in reading.memories("ann", 2)] == [3]
        assert [memory.id for memory in reading.memories("ann", 2, forgotten=True)] == [1, 2, 3]
        assert [memory.id for memory in reading.stream_at("ann", 2)] == [3]
        assert reading.stream_at("ann", 2).last_id == 3
        assert len(reading.stream_at("ann", 1)) == 2
        assert integrity.check(reading) == 2


def test_a_memory_with_every_field_round_trips() -> None:
    live_state = Village()
    draft = Draft(live_state.streams["ann"])
    draft.remember("a beginning", at=at(0))
    memory = draft.remember(
        "a reflection on bells " * 200,
        at=at(3).replace(microsecond=5),
        kind="reflection",
        importance=7.25,
        citations=(1,),
        place=("Town", "Café"),
        emotion=Emotion(-0.5, 0.75, 0.3, ("glum",)),
        source="scenario",
        session="s",
        tags=("bell", "종"),
        tick=3,
        event="t3.-.0",
        details={"frame": {"what": "insight"}, "ratio": 0.1},
    )
    assert memory_from(memory_cells(memory)) == memory
    touched = replace(memory, accessed_at=at(9))
    assert memory_from(memory_cells(touched)) == touched
    assert memory_from(memory_cells(memory), unix_micros(at(9))) == touched
    assert from_unix_micros(unix_micros(at(9))) == at(9)


def test_events_by_tick_type_and_character(path: Path) -> None:
    with Reading.open(path) as reading:
        said = reading.events(type="SAY")
        assert said and {event.type for event in said} == {"SAY"}
        assert {event.tick for event in reading.events(3, 5)} == {3, 4, 5}
        assert {event.agent_id for event in reading.events(agent="bob")} == {"bob"}
        assert list(reading.events()) == sorted(reading.events(), key=lambda event: event.order)
        assert reading.event(said[0].tick, said[0].agent_id, said[0].ordinal) == said[0]


def test_ticks_that_were_not_lived_are_refused(path: Path) -> None:
    with Reading.open(path) as reading:
        assert reading.tick() == TICKS
        assert reading.tick("7") == 7
        for wrong in (TICKS + 1, -1, "99"):
            with pytest.raises(UsageError, match=f"0 to {TICKS}"):
                reading.world_at(wrong)


def test_inputs_wait_until_they_are_stamped(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        first, second = run.queue({"kind": "inner_voice", "text": "go"}), run.queue({"kind": "leave"})
        assert (first, second) == (1, 2)
        assert [row.seq for row in run.queued()] == [1, 2]
        assert run.queued()[0].tick == -1
        stamped = InputRow(first, 1, run.queued()[0].body)
        run.commit(live_state.tick({}, inputs=(stamped,)))
        assert run.reading.inputs() == (stamped,)
        assert [row.seq for row in run.queued()] == [second]
    with open_store(home / "a.run") as run:
        assert [row.seq for row in run.queued()] == [second]


def test_a_mood_is_the_mean_of_what_was_felt() -> None:
    assert mood([]) == "calm"
    assert mood([Emotion(0.9, 0.1)]) == "glad"
    assert mood([Emotion(0.9, 0.9)]) == "thrilled"
    assert mood([None, Emotion(-0.9, 0.1)]) == "low"
    assert mood([Emotion(-0.9, 0.9)] * 2 + [None]) == "upset"


def test_threads_that_ask_for_the_last_tick_at_once_find_no_gap(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Reading.open(path) as reading:
        one = reading.one

        def met_by_another(query: str, *values: Any) -> Any:
            if "count" in query:
                monkeypatch.setattr(reading, "one", one)
                assert reading.last_tick == TICKS  # another thread, in between
            return one(query, *values)

        monkeypatch.setattr(reading, "one", met_by_another)
        assert reading.last_tick == TICKS


# ── threads ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def half_read(reading: Reading) -> Iterator[Future[list[int]]]:
    """While another thread has read one of the ticks; it reads the rest when this ends, and gives all it saw."""
    begun, go_on = threading.Event(), threading.Event()

    def ticks() -> list[int]:
        with reading.snapshot():
            rows = reading.each("SELECT n FROM tick ORDER BY n")
            found = [next(rows)[0]]
            begun.set()
            go_on.wait()
            return [*found, *(n for (n,) in rows)]

    with ThreadPoolExecutor() as threads:
        seen = threads.submit(ticks)
        seen.add_done_callback(lambda _: begun.set())
        try:
            begun.wait()
            yield seen
        finally:
            go_on.set()


def test_what_one_thread_has_half_read_hides_no_tick_from_another(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        with Reading.open(home / "a.run") as reading:
            with half_read(reading) as seen:
                for tick in (1, 2):
                    run.commit(live_state.tick(plot(tick)))
                    assert reading.last_tick == reading.tick(tick) == reading.frame(tick).tick == tick
                with reading.snapshot():
                    assert reading.last_tick == 2
                    run.commit(live_state.tick(plot(3)))
                    assert reading.last_tick == 2
                assert reading.last_tick == 3
            assert seen.result() == [0]


def test_a_reading_may_be_closed_while_a_thread_reads(path: Path) -> None:
    reading = Reading.open(path)
    with half_read(reading) as seen:
        reading.close()
        with pytest.raises(UsageError, match="closed"):
            reading.tick(1)
    assert seen.result() == list(range(TICKS + 1))
    with pytest.raises(UsageError, match="closed"):
        reading.tick(1)
    reading.close()


def test_a_thread_is_never_given_another_file(path: Path, tmp_path: Path) -> None:
    run, other = Path(shutil.copy(path, tmp_path / "a.run")), make(tmp_path / "other.run", 3)
    with Reading.open(run) as reading:
        with half_read(reading) as seen:
            other.replace(run)
            with pytest.raises(CommonplaceError, match="another file"):
                assert reading.last_tick
        assert len(seen.result()) == TICKS + 1
        assert reading.last_tick == TICKS


def test_many_threads_leave_few_connections(path: Path) -> None:
    with Reading.open(path) as reading:
        all_read = threading.Barrier(3 * KEPT, timeout=60.0)

        def last_tick() -> int:
            with reading.snapshot():
                all_read.wait()
                return reading.last_tick

        with ThreadPoolExecutor(3 * KEPT) as threads:
            found = [threads.submit(last_tick) for _ in range(3 * KEPT)]
        assert {one.result() for one in found} == {TICKS}
        assert len(reading._source._free) == KEPT


def test_frames_are_the_same_for_many_threads(path: Path) -> None:
    with Reading.open(path) as alone, Reading.open(path) as shared, ThreadPoolExecutor(8) as threads:
        ticks = [tick * 7 % (TICKS + 1) for tick in range(4 * TICKS)]
        assert list(threads.map(shared.frame, ticks)) == [alone.frame(tick) for tick in ticks]
