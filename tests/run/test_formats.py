"""A stored run of each format reads, verifies, resumes and forks, with the digests noted when it was made."""

from __future__ import annotations

import asyncio
import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import scenario_of
from commonplace.engine.verify import verify
from commonplace.errors import UsageError
from commonplace.run import integrity, schema
from commonplace.run import rows as rows_of
from commonplace.run.file import RunFile
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.stages import by_name
from run.formats.make import COUNTED, FOLDER, continued, counted
from run.small_runs import fork

FORMATS = sorted(int(path.name.split("-")[1].split(".")[0]) for path in FOLDER.glob("format-*.json"))


@dataclass(frozen=True)
class Stored:
    path: Path
    notes: dict[str, Any]

    @property
    def ends(self) -> tuple[int, str, str]:
        return (self.notes["tick"], self.notes["history"], self.notes["state"])


@pytest.fixture(params=FORMATS)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Stored:
    """A copy to write to."""
    path = tmp_path / "stored.run"
    path.write_bytes(lzma.decompress((FOLDER / f"format-{request.param}.run.xz").read_bytes()))
    return Stored(path, json.loads((FOLDER / f"format-{request.param}.json").read_text(encoding="utf-8")))


def ends(reading: Reading, at: int | None = None) -> tuple[int, str, str]:
    tick = reading.tick(at)
    return (tick, reading.digest(tick), reading.digest(tick, state=True))


def test_every_format_that_can_be_brought_up_to_date_has_a_stored_run() -> None:
    assert set(range(schema.OLDEST, schema.FORMAT)) <= set(FORMATS)


def test_it_is_read_as_it_is(stored: Stored) -> None:
    before = stored.path.read_bytes()
    with Reading.open(stored.path) as reading:
        assert reading.format == stored.notes["format"]
        assert ends(reading) == stored.ends
        frames = list(reading.frames())
        assert frames[-1].history == stored.notes["history"]
        for event in reading.events():
            why(reading, event.id)
        for row in reading.answers(used=False):
            assert reading.model_call(row) is not None
        for agent in reading.agent_ids:
            reading.stream_at(agent)
        assert [dict(row.body) for row in reading.queued()] == stored.notes["queued"]
    assert stored.path.read_bytes() == before
    assert [entry.name for entry in stored.path.parent.iterdir()] == [stored.path.name]


def test_its_events_are_written_as_they_were_read(stored: Stored) -> None:
    with Reading.open(stored.path) as reading:
        rows = reading.all(f"SELECT {rows_of.EVENT} FROM event")
        assert [rows_of.event_cells(rows_of.event_from(row)) for row in rows] == list(rows)


def test_it_verifies(stored: Stored) -> None:
    with Reading.open(stored.path) as reading:
        assert integrity.check(reading) == stored.notes["tick"]
        if stored.notes["semantics"] == schema.SEMANTICS:
            stage = by_name(reading.manifest.stage)
            assert asyncio.run(verify(reading, scenario_of(reading.manifest), stage)) == stored.notes["tick"]


def test_opening_it_to_continue_migrates_it_after_a_backup(stored: Stored) -> None:
    RunFile.open(stored.path).close()
    older = stored.notes["format"] < schema.FORMAT
    backup = stored.path.with_name(f"stored.run.format-{stored.notes['format']}")
    assert backup.exists() == older
    for path, number in ((stored.path, schema.FORMAT), *([(backup, stored.notes["format"])] if older else [])):
        with Reading.open(path) as reading:
            assert reading.format == number
            assert ends(reading) == stored.ends
            assert integrity.check(reading) == stored.notes["tick"]
            assert counted(reading, COUNTED) == stored.notes["rows"]


def test_it_resumes_or_says_who_can(stored: Stored) -> None:
    if stored.notes["semantics"] != schema.SEMANTICS:  # its history would go on under other rules
        before = stored.path.read_bytes()
        with pytest.raises(UsageError, match="semantics"):
            continued(stored.path)
        assert stored.path.read_bytes() == before  # the version that can resume it can still read it
        return
    assert continued(stored.path) == stored.notes["continued"]
    with Reading.open(stored.path) as reading:
        assert integrity.check(reading) == reading.last_tick


def test_it_forks(stored: Stored, tmp_path: Path) -> None:
    at = stored.notes["at"]
    with fork(stored.path, at["tick"], tmp_path / "fork.run") as file:
        assert ends(file.reading) == (at["tick"], at["history"], at["state"])
        assert file.reading.format == schema.FORMAT
        assert integrity.check(file.reading) == at["tick"]
    with Reading.open(stored.path) as reading:
        assert reading.format == stored.notes["format"]
