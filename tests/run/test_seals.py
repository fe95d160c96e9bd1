"""Seals: whatever a run does, they are those of its rows; and what was trimmed on purpose is not damage."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.errors import RunDamaged
from commonplace.run import integrity, seals
from commonplace.run.journal import ModelCall
from commonplace.run.opening import create_store, open_store
from commonplace.run.reading import Reading
from commonplace.run.rows import InputRow
from run.databases import Home
from run.small_runs import MANIFEST, Village, answer, fork, make, plot, tampering
from sizes import examples

NUMBERS = count(1)
STEPS = st.lists(
    st.sampled_from(["tick", "input", "keep", "keep again", "call", "note", "queue", "reopen"]), max_size=12
)


@settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_they_follow_every_change(home: Home, steps: list[str]) -> None:
    path, other, life = home / f"{next(NUMBERS)}.run", home / f"{next(NUMBERS)}.run", Village()
    run = create_store(path, MANIFEST)
    run.commit(life.opening())
    for number, step in enumerate(steps):
        tick = run.last_tick + 1
        match step:
            case "tick":
                run.commit(life.tick(plot(tick)))
            case "input":
                seq = run.queue({"kind": "inner_voice"})
                run.commit(life.tick(plot(tick), (InputRow(seq, tick, {"kind": "inner_voice"}),)))
            case "keep":
                run.journal.keep(answer("ann", tick, ordinal=number))
            case "keep again":
                run.journal.keep(answer("ann", tick, body={"again": number}))
            case "call":
                run.journal.keep(answer("bob", tick), ModelCall("words " * (number + 1), f"said {number}"))
            case "note":
                run.note(f"control:{number % 2}", step)
            case "queue":
                run.queue({"kind": "inner_voice", "text": str(number)})
            case _:
                run.close()
                run = open_store(path)
    run.close()
    sealed(path)
    if run.last_tick:
        with fork(path, run.last_tick // 2, other) as forked:
            forked.journal.find("bob", run.last_tick, 0, answer("bob", run.last_tick).request)
        sealed(other)


def sealed(path: Path) -> None:
    with Reading.open(path) as reading:
        for kind, query in seals.SEALED.items():
            (stored,) = reading.one("SELECT digest FROM seal WHERE kind = ?", kind)
            assert stored == seals.summed(reading.all(query)), kind
        assert integrity.check(reading) == reading.last_tick


def test_a_row_can_be_taken_away_again() -> None:
    one, other = ("a", 1), ("b", 2)
    assert seals.summed([one, other]) == seals.summed([other, one]) != seals.summed([one])
    assert seals.summed([]) == seals.EMPTY


def test_the_history_does_not_depend_on_them(home: Home) -> None:
    with Reading.open(make(home / "a.run", 4)) as one:
        with open_store(make(home / "b.run", 4)) as run:
            run.note("control:speed", "fast")
            run.queue({"kind": "inner_voice"})
        with Reading.open(home / "b.run") as other:
            assert one.digests() == other.digests()


# ── trimming ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def trimmed(tmp_path: Path) -> Path:
    """Without the traces of ticks 1 to 3, and a note that says so."""
    path = make(tmp_path / "a.run", 6)
    with tampering(path) as connection:
        connection.execute("DELETE FROM trace WHERE tick <= 3")
        connection.execute("INSERT INTO meta VALUES (?, ?)", (integrity.TRIMMED, json.dumps({"trace": 3})))
        seals.renew(connection)
    return path


def test_what_was_trimmed_is_not_damage_and_is_said(trimmed: Path) -> None:
    with Reading.open(trimmed) as reading:
        assert integrity.check(reading) == 6
        assert integrity.unchecked(reading) == ["traces: trimmed up to tick 3"]


@pytest.mark.parametrize(
    ("change", "tick"),
    [
        ("DELETE FROM trace WHERE tick = 4", 4),
        ("INSERT INTO trace VALUES ('ann', 2, x'00')", 2),
        ("UPDATE trace SET body = x'00' WHERE tick = 5", 5),
    ],
)
def test_anything_else_that_is_missing_or_other_is(trimmed: Path, change: str, tick: int) -> None:
    with tampering(trimmed) as connection:
        connection.execute(change)
    with Reading.open(trimmed) as reading, pytest.raises(RunDamaged, match=f"tick {tick}: a trace"):
        integrity.check(reading)


def test_a_note_that_says_so_by_itself_is_not_enough(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 6)
    with tampering(path) as connection:
        connection.execute("DELETE FROM trace WHERE tick <= 3")
        connection.execute("INSERT INTO meta VALUES (?, ?)", (integrity.TRIMMED, json.dumps({"trace": 3})))
    with Reading.open(path) as reading, pytest.raises(RunDamaged, match="the manifest or a note"):
        integrity.check(reading)
