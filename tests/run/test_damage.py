"""What stands in a row and cannot be read is damage, named by table and row, wherever it is read."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace import ledger
from commonplace.errors import CommonplaceError, RunDamaged, UsageError
from commonplace.memory.stores.codec import LONGEST, inflated, packed_text, room, unpacked_text
from commonplace.parts.coordinates.jsonl_files import read_lines
from commonplace.run import integrity, why
from commonplace.run.reading import Reading
from commonplace.run.rows import deflated, packed_ids, unpacked_ids
from run.small_runs import make, tampering

TICKS = 6


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make(tmp_path / "a.run", TICKS)


READS: dict[str, tuple[str, Callable[[Reading], Any], str]] = {
    "a frame": ("UPDATE version SET value = '{' WHERE tick = 3", lambda it: list(it.frames()), "table version, row 3"),
    "a frame's event": ("UPDATE event SET body = '[' WHERE tick = 4", lambda it: it.frame(4), "table event, row 4,"),
    "events": ("UPDATE event SET body = '[1e999]' WHERE tick = 4", lambda it: it.events(), "table event, row 4,"),
    "a phase": ("UPDATE event SET phase = 9 WHERE tick = 4", lambda it: it.events(), "table event, row 4, 9"),
    "the world": ("UPDATE version SET value = '[]' WHERE kind = 'body'", lambda it: it.world_at(2), "the world at"),
    "a state": ("UPDATE version SET value = '7' WHERE kind = 'relation'", lambda it: it.state_at("ann"), "state of"),
    "a memory": ("UPDATE memory SET details = x'00' WHERE id = 3", lambda it: it.memories("ann"), "memory 3 of ann"),
    "a weight": ("UPDATE memory SET importance = 9e999", lambda it: it.memories("ann"), "memory 1 of ann"),
    "citations": ("UPDATE memory SET citations = '[[1]]'", lambda it: it.memories("ann"), "memory 1 of ann"),
    "a stream": ("UPDATE vector SET value = x'0100ff'", lambda it: it.stream_at("ann"), "vector"),
    "accesses": ("UPDATE touch SET ids = x'ffffffffffffffffffffff'", lambda it: it.accesses("ann", 5), "accesses"),
    "a trace": ("UPDATE trace SET body = x'78' WHERE tick = 2", lambda it: it.trace("ann", 2), "the trace of ann"),
    "what was spent": ("UPDATE answer SET usage = '{\"calls\":NaN}'", lambda it: it.usage(), "table answer, row 'ann'"),
    "a digest": ("UPDATE tick SET state = 'x' WHERE n = 3", lambda it: it.digest(3, state=True), "table tick, row 3"),
    "what was said": (
        "UPDATE event SET body = replace(body, 'utterance', 'utterances')", lambda it: it.events(), "`utterance`",
    ),
    "the last tick": (f"UPDATE tick SET n = {1 << 60} WHERE n = 6", lambda it: it.last_tick, "ticks are missing"),
}  # fmt: skip


@pytest.mark.parametrize("change", READS.values(), ids=READS)
def test_it_is_named(run: Path, change: tuple[str, Callable[[Reading], Any], str]) -> None:
    statement, read, what = change
    with tampering(run) as connection:
        assert connection.execute(statement).rowcount
    reading = Reading.open(run)
    try:
        with pytest.raises(RunDamaged, match="damaged") as raised:
            read(reading)
        assert what in str(raised.value)
        assert str(run) in str(raised.value)
    finally:
        reading.close()


def test_an_error_further_on_is_blamed_on_the_damage_that_led_to_it(run: Path) -> None:
    with tampering(run) as connection:
        connection.execute("UPDATE version SET value = '[3]' WHERE tick = 1 AND kind = 'body'")
    with pytest.raises(RunDamaged, match="tick 1: a plan, place"), Reading.open(run) as reading:
        list(reading.frames())


def test_a_tick_that_no_calendar_has_is_damage(run: Path) -> None:
    with Reading.open(run) as reading, pytest.raises(RunDamaged, match="tick 9999999999999"):
        reading.time(9_999_999_999_999)


def test_an_error_of_our_own_is_not(run: Path) -> None:
    with pytest.raises(KeyError, match="ours"), Reading.open(run):
        raise KeyError("ours")


def test_a_run_whose_ticks_have_a_gap_can_be_read_before_it(run: Path) -> None:
    with tampering(run) as connection:
        connection.execute("DELETE FROM tick WHERE n = 4")
    with Reading.open(run) as reading:
        assert reading.tick(3) == 3
        with pytest.raises(RunDamaged, match="missing"):
            reading.tick()
        with pytest.raises((UsageError, RunDamaged)):
            reading.tick(4)
        with pytest.raises(RunDamaged, match="tick 4: the tick is missing"):
            integrity.check(reading)


def test_a_circle_of_memories_ends(run: Path) -> None:
    """Memories that rest on each other, all of them on all: without a limit this takes for ever."""
    everything = "[" + ",".join(map(str, range(1, TICKS + 2))) + "]"
    with tampering(run) as connection:
        connection.execute("UPDATE memory SET citations = ?, event = ''", (everything,))
    with Reading.open(run) as reading:
        assert len(why.chain(reading, None, "ann", TICKS)) == 1


# ── compressed values ───────────────────────────────────────────────────────────────────────────────────────────────


def test_inflating_stops_at_its_limit() -> None:
    assert inflated(deflated(bytes(5000)), most=5000) == bytes(5000)
    with pytest.raises(ValueError, match="more than 4999"):
        inflated(deflated(bytes(5000)), most=4999)
    with pytest.raises(ValueError, match=str(LONGEST)):
        inflated(deflated(bytes(LONGEST + 1)))


def test_whatever_is_packed_fits_its_room() -> None:
    text = "again " * 100_000
    packed = packed_text(text, "")
    assert unpacked_text(packed) == (text, "")
    assert len(text) < room(packed)


def test_ids_have_64_bits() -> None:
    assert unpacked_ids(packed_ids([1, 1 << 40])) == (1, 1 << 40)
    with pytest.raises(ValueError, match="64 bits"):
        unpacked_ids(b"\xff" * 1000)


def test_a_packed_file_that_grows_without_bound_is_damaged(tmp_path: Path) -> None:
    lines = b'{"a":"' + b"x" * (1 << 25) + b'"}\n'
    path = tmp_path / "ledger-20310401.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert "not an entry: the line was damaged" in [finding.what for finding in ledger.verify(tmp_path).findings]
    with pytest.raises(CommonplaceError, match="inflates to more than"):
        read_lines(path)
