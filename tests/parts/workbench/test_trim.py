"""Trimming takes reasons or prompts out of the past; history, state and everything else stay, and verify says so."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commonplace.api import open_run, resume_run
from commonplace.errors import RunDamaged, UsageError
from commonplace.parts.workbench.trim import trim
from commonplace.run import integrity
from commonplace.run.file import RunFile
from commonplace.run.integrity import trimmed, unchecked
from commonplace.run.reading import Reading
from e2e.command import command, copied, ends, tables
from engine.paid_minds import PaidMind, lived, offline
from run.small_runs import fork


@pytest.fixture
def run(plaza: Path, tmp_path: Path) -> Path:
    """A copy to write to."""
    return copied(plaza, tmp_path)


@pytest.fixture(scope="module")
def paid_for(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with prompts. Not to be written to."""
    path = tmp_path_factory.mktemp("trim") / "paid.run"
    lived(path, PaidMind(offline("plaza")), 40, "plaza")
    return path


def test_the_traces_before_a_tick_are_gone_and_nothing_else(run: Path, plaza: Path) -> None:
    done = trim(run, 30)
    assert (done.before, done.freed > 0) == (30, True)
    with open_run(run) as reading, open_run(plaza) as whole:
        assert reading.one("SELECT min(tick) FROM trace")[0] == 30
        assert done.rows == {"trace": whole.one("SELECT count(*) FROM trace WHERE tick < 30")[0]}
        for table in ("event", "memory", "vector", "touch", "version", "answer", "input", "tick"):
            assert reading.all(f"SELECT * FROM {table}") == whole.all(f"SELECT * FROM {table}")
        assert list(reading.frames()) == list(whole.frames())
        assert trimmed(reading) == {"trace": 29}
    assert ends(run) == ends(plaza)


def test_verify_says_what_was_trimmed(run: Path) -> None:
    trim(run, 30)
    done = command("verify", run)
    assert "traces: trimmed up to tick 29" in done.err
    assert "the same history" in done.err


def test_why_says_that_the_reasons_were_trimmed(run: Path) -> None:
    with open_run(run) as reading:
        early, late = (next(event for event in reading.events(tick, tick) if event.phase == 1) for tick in (20, 40))
        before = reading.why(late.id)
    trim(run, 30)
    with open_run(run) as reading:
        assert reading.why(early.id)["explanation"] == "The reasons of the ticks up to 29 were trimmed."
        assert reading.why(late.id) == before
    assert "were trimmed" in command("why", run, early.id).out


def test_it_can_be_resumed_forked_and_trimmed_again(run: Path, plaza: Path, tmp_path: Path) -> None:
    trim(run, 30)
    trim(run, 10)
    with open_run(run) as reading:
        assert trimmed(reading) == {"trace": 29}
    for at in (20, 50):
        with fork(run, at, tmp_path / f"{at}.run") as file:
            assert integrity.check(file.reading) == at
            assert trimmed(file.reading) == {"trace": min(29, at)}
        assert ends(tmp_path / f"{at}.run") == ends(plaza, at)
    command("resume", run, "--ticks", 2, "--view", "none")
    assert trim(run, 63).before == 63
    command("verify", run)


def test_prompts_can_be_trimmed_too(paid_for: Path, tmp_path: Path) -> None:
    path = copied(paid_for, tmp_path)
    with open_run(path) as reading:
        asked = reading.answers()
        late = {(row.agent, row.tick, row.ordinal, row.attempt): reading.model_call(row) for row in asked}
    done = trim(path, 30, ("call",))
    assert done.rows["call"] > 0
    with open_run(path) as reading:
        kept = {(row.agent, row.tick, row.ordinal, row.attempt): reading.model_call(row) for row in reading.answers()}
        used = dict(reading.all("SELECT agent || tick || ':' || ordinal || attempt, used FROM answer"))
        for key, call in kept.items():
            gone = used[f"{key[0]}{key[1]}:{key[2]}{key[3]}"] < 30
            assert call == (None if gone else late[key])
        assert integrity.check(reading) == 40
        assert unchecked(reading) == ["prompts: trimmed up to tick 29"]
    assert ends(path) == ends(paid_for)
    with resume_run(path) as again:
        assert again.tick == 40
    trim(path, 41, ("call", "trace"))
    command("verify", path)


def test_traces_that_vanish_without_a_note_are_damage(run: Path) -> None:
    trim(run, 30)
    with tables(run) as connection:
        connection.execute("DELETE FROM trace WHERE tick = 40")
    with Reading.open(run) as reading, pytest.raises(RunDamaged, match="tick 40"):
        integrity.check(reading)


def test_the_note_cannot_be_changed_to_hide_it(run: Path) -> None:
    trim(run, 30)
    with tables(run) as connection:
        connection.execute("DELETE FROM trace WHERE tick <= 40")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'trimmed'", (json.dumps({"trace": 40}),))
    with Reading.open(run) as reading, pytest.raises(RunDamaged):
        integrity.check(reading)


def test_space_that_a_killed_trim_did_not_give_back_is_given_back_by_the_next(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(RunFile, "vacuum", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            trim(run, 30)
    assert trim(run, 30).freed > 0


def test_nothing_to_trim_leaves_no_note(run: Path) -> None:
    assert trim(run, 0).rows == {"trace": 0}
    with open_run(run) as reading:
        assert unchecked(reading) == []


@pytest.mark.parametrize("before", [-1, 62, 10**9])
def test_a_tick_that_is_not_there_is_refused(run: Path, before: int) -> None:
    with pytest.raises(UsageError, match="ticks 0 to 60"):
        trim(run, before)


def test_a_run_that_is_being_lived_is_refused(run: Path) -> None:
    with resume_run(run), pytest.raises(UsageError):
        trim(run, 30)


# ── as a command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_by_tick_time_or_days(run: Path, tmp_path: Path) -> None:
    with open_run(run) as reading:
        time = reading.time(30).isoformat()
    for number, given in enumerate((("--before", 30), ("--before", time), ("--keep-days", 0), ("--before", 61))):
        copy = Path(shutil.copy(run, tmp_path / f"{number}.run"))
        out = command("trim", copy, *given).out
        assert f"of the ticks before {(30, 30, 60, 61)[number]};" in out
        with open_run(copy) as reading:
            assert trimmed(reading)["trace"] == (29, 29, 59, 60)[number]
    assert command("trim", run, "--keep-days", 9).out.startswith(f"{run}: trimmed 0 traces")


def test_it_must_be_said_what_to_trim(run: Path) -> None:
    assert "either --before TICK or --keep-days N" in command("trim", run, status=2).err
    assert "either" in command("trim", run, "--before", 3, "--keep-days", 1, status=2).err
    assert "there is no tick 500" in command("trim", run, "--before", 500, status=2).err
