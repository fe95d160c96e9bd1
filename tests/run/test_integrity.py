from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import RunDamaged
from commonplace.run import integrity
from commonplace.run.file import RunFile
from commonplace.run.opening import create_store
from commonplace.run.reading import Reading
from commonplace.run.rows import InputRow
from run.databases import Home
from run.small_runs import MANIFEST, Village, make, plot, tampering

TAMPERED = {
    "event body": ("UPDATE event SET body = replace(body, 'rung', 'sung') WHERE tick = 5", 5, "event"),
    "event type": ("UPDATE event SET type = 'MOVE' WHERE tick = 4 AND type = 'IDLE'", 4, "event"),
    "event no text": ("UPDATE event SET body = CAST(CAST(body AS BLOB) || x'ff' AS TEXT) WHERE tick = 2", 2, "event"),
    "memory no text": ("UPDATE memory SET text = CAST(x'ff' AS TEXT) WHERE tick = 2 AND agent = 'bob'", 2, "memory"),
    "event gone": ("DELETE FROM event WHERE tick = 3 AND agent = 'bob'", 3, "event"),
    "event to come": ("INSERT INTO event VALUES (99, 1, 'ann', 0, 'IDLE', '{}')", 99, "event"),
    "memory text": ("UPDATE memory SET text = text || '.' WHERE tick = 6 AND agent = 'cyd'", 6, "memory"),
    "memory importance": (
        "UPDATE memory SET importance = importance + 1e-9 WHERE tick = 2 AND agent = 'dee'",
        2,
        "memory",
    ),
    "vector": (
        "UPDATE vector SET value = CAST(substr(value, 1, 9) || x'00' || substr(value, 11) AS BLOB) WHERE id = 1",
        0,
        "memory",
    ),
    "vector taken": ("UPDATE memory SET vector = NULL WHERE tick = 7", 7, "memory"),
    "forgotten": ("UPDATE memory SET removed = 8 WHERE tick = 1 AND agent = 'ann'", 8, "forgotten"),
    "access": ("UPDATE touch SET ids = x'01' WHERE tick = 9 AND agent = 'ann'", 9, "access"),
    "plan": ("UPDATE version SET value = replace(value, 'bell', 'ball') WHERE tick = 4 AND kind = 'plan'", 4, "plan"),
    "place": ("DELETE FROM version WHERE kind = 'body' AND tick = 0 AND owner = 'ann'", 0, "place"),
    "answer": ("UPDATE answer SET body = replace(body, 'keep', 'talk') WHERE tick = 3 AND agent = 'bob'", 3, "answer"),
    "answer's outcome": ("UPDATE answer SET outcome = 'fault' WHERE tick = 6 AND agent = 'bob'", 6, "answer"),
    "input": ("UPDATE input SET body = '{}' WHERE tick = 2", 2, "input"),
    "history": ("UPDATE tick SET history = x'00' WHERE n = 5", 5, "event"),
    "state": ("UPDATE tick SET state = x'00' WHERE n = 5", 5, "state"),
    "tick": ("DELETE FROM tick WHERE n = 5", 5, "missing"),
    "trace": ("UPDATE trace SET body = CAST(substr(body, 1, 9) AS BLOB) WHERE tick = 5 AND agent = 'dee'", 5, "trace"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, live_state = tmp_path_factory.mktemp("sound") / "a.run", Village()
    with RunFile.create(path, MANIFEST) as run:
        run.commit(live_state.opening())
        for number in range(1, 11):
            inputs = (InputRow(1, 2, {"kind": "inner_voice"}),) if number == 2 else ()
            run.commit(live_state.tick(plot(number), inputs))
    return path


def test_a_sound_run_passes(sound: Path) -> None:
    with Reading.open(sound) as reading:
        assert integrity.check(reading) == 10


@pytest.mark.parametrize("what", TAMPERED)
def test_a_changed_byte_is_found_and_its_tick_named(sound: Path, tmp_path: Path, what: str) -> None:
    statement, tick, kind = TAMPERED[what]
    path = tmp_path / "b.run"
    shutil.copy(sound, path)
    with tampering(path) as connection:
        assert connection.execute(statement).rowcount
    with Reading.open(path) as reading, pytest.raises(RunDamaged, match=f"tick {tick}: .*{kind}"):
        integrity.check(reading)


def test_the_scenario_is_sealed(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "b.run"
    shutil.copy(sound, path)
    with tampering(path) as connection:
        connection.execute("UPDATE meta SET value = replace(value, 'name: village', 'name: villain')")
    with Reading.open(path) as reading, pytest.raises(RunDamaged, match="scenario"):
        integrity.check(reading)


def test_more_ticks_than_are_looked_at_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path / "a.run", 10)
    monkeypatch.setattr(integrity, "CHUNK", 3)
    with tampering(path) as connection:
        connection.execute("UPDATE event SET body = replace(body, 'reading', 'writing') WHERE tick = 8")
    with Reading.open(path) as reading, pytest.raises(RunDamaged, match="tick 8"):
        integrity.check(reading)


def test_a_run_that_goes_on_meanwhile_is_sound(home: Home) -> None:
    live_state, numbers = Village(), count(1)
    with create_store(home / "a.run", MANIFEST, live_state.opening()) as run:

        class Overtaken(Reading):
            """The run goes on before every query."""

            def all(self, query: str, *values: Any) -> list[Any]:
                run.commit(live_state.tick(plot(next(numbers))))
                return super().all(query, *values)

        with Overtaken.open(home / "a.run") as reading:
            for _ in range(3):
                integrity.check(reading)
        assert run.last_tick > 20
