from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commonplace.errors import CommonplaceError, DiskFull, RunDamaged, UsageError
from commonplace.run import integrity
from commonplace.run.file import RunFile
from commonplace.run.opening import create_store, open_store
from commonplace.run.reading import Reading
from commonplace.run.schema import FORMAT
from e2e.command import small_disk
from run.databases import Home
from run.small_runs import MANIFEST, Village, fork, make, plot, tampering


def test_a_closed_run_is_one_file_that_can_be_copied(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 6)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.run"]
    copy = tmp_path / "b.run"
    shutil.copy(path, copy)
    with Reading.open(path) as one, Reading.open(copy) as other:
        assert one.last_tick == 6
        assert one.digests() == other.digests()
    with tampering(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_it_goes_on_where_it_was_left(home: Home) -> None:
    make(home / "whole.run", 5)
    live_state = Village()
    with create_store(home / "halves.run", MANIFEST) as run:
        run.commit(live_state.opening())
        run.commit(live_state.tick(plot(1)))
    for number in range(2, 6):
        with open_store(home / "halves.run") as run:
            assert run.last_tick == number - 1
            run.commit(live_state.tick(plot(number)))
    with Reading.open(home / "whole.run") as one, Reading.open(home / "halves.run") as other:
        assert one.digests() == other.digests()


def test_an_existing_file_is_refused_unless_forced(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 2)
    with pytest.raises(UsageError, match="already"):
        RunFile.create(path, MANIFEST)
    with RunFile.create(path, MANIFEST, force=True) as run:
        assert run.last_tick == -1
    assert not path.with_name("a.run.lock").exists()


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    with RunFile.create(tmp_path / "runs" / "new" / "a.run", MANIFEST):
        pass
    assert (tmp_path / "runs" / "new" / "a.run").exists()


@pytest.mark.parametrize("opens", [Reading.open, RunFile.open])
def test_what_is_no_run_is_refused_by_name(tmp_path: Path, opens) -> None:
    (tmp_path / "poem.txt").write_text("Nobody heard him, the dead man,\n" * 200)
    (tmp_path / "empty.run").write_bytes(b"")
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE meta(key, value)")
    other.close()
    for name in ("poem.txt", "empty.run", "other.db"):
        with pytest.raises(UsageError, match="not a Commonplace run"):
            opens(tmp_path / name)
    with pytest.raises(UsageError, match="no such run"):
        opens(tmp_path / "missing.run")
    with pytest.raises(UsageError, match="a folder"):
        opens(tmp_path)
    assert (tmp_path / "poem.txt").read_text().startswith("Nobody heard him")
    assert (tmp_path / "empty.run").read_bytes() == b""
    assert not list(tmp_path.glob("*.lock"))


def test_a_newer_format_says_what_to_do(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1)
    with tampering(path) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(UsageError, match=f"format {FORMAT + 1}.*(\n.*)?use a newer"):
        Reading.open(path)


def test_ticks_come_in_order_and_all_or_nothing(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        first = live_state.tick(plot(1))
        with pytest.raises(ValueError, match="cannot follow"):
            run.commit(replace(first, tick=2))
        broken = replace(first, traces={"ann": {"x": object()}})
        with pytest.raises(ValueError, match="serialize"):
            run.commit(broken)
        assert run.last_tick == 0
        assert run.reading.events() == ()
        assert run.commit(first) == run.digests
        assert integrity.check(run.reading) == 1


def test_vectors_of_a_commit_that_failed_are_written_with_the_next_one(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        first = live_state.tick(plot(1))
        assert any(delta.memories for delta in first.deltas.values())
        with monkeypatch.context() as patched:
            patched.setattr("commonplace.run.store.put_answers", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                run.commit(first)
        run.commit(first)
        assert integrity.check(run.reading) == 1
        for agent, delta in first.deltas.items():
            stream = run.reading.stream_at(agent, 1)
            for memory, vector in zip(delta.memories, delta.vectors, strict=True):
                assert np.array_equal(stream.vector(memory.id), vector)


def test_a_full_disk_loses_nothing_committed(tmp_path: Path) -> None:
    live_state, path = Village(), tmp_path / "a.run"
    with RunFile.create(path, MANIFEST) as run:
        run.commit(live_state.opening())
        pages = run._connection.execute("PRAGMA page_count").fetchone()[0]
        run._connection.execute(f"PRAGMA max_page_count = {pages + 12}")
        with pytest.raises(CommonplaceError, match="disk is full") as caught:
            for number in range(1, 200):
                run.commit(live_state.tick(plot(number)))
        assert caught.value.status == 1
        assert "try again; everything committed is safe" in caught.value.hint
        last = run.last_tick
        assert run.reading.last_tick == last
    with Reading.open(path) as reading:
        assert integrity.check(reading) == last


def test_a_really_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2048) as small:
        live_state = Village()
        with RunFile.create(small / "a.run", MANIFEST, live_state.opening()) as run:
            with pytest.raises(DiskFull, match=f"free some space in {small}, then try again"):
                for number in range(1, 3000):
                    run.commit(live_state.tick(plot(number)))
            last = run.last_tick
        with Reading.open(small / "a.run") as reading:
            assert integrity.check(reading) == last
        before = {entry.name: entry.read_bytes() for entry in small.iterdir()}
        for attempt in (
            lambda: RunFile.create(small / "a.run", MANIFEST, Village().opening(), force=True),
            lambda: fork(small / "a.run", last, small / "b.run"),
        ):
            with pytest.raises(DiskFull, match=f"free some space in {small}, then try again"):
                attempt()
            assert {entry.name: entry.read_bytes() for entry in small.iterdir()} == before


SORT_IT = """
import sys
from commonplace.run.reading import Reading
from commonplace.errors import DiskFull
with Reading.open(sys.argv[1]) as reading:
    try: reading.one("SELECT count(DISTINCT randomblob(90000)) FROM event a, event b")
    except DiskFull as error: print(error)
"""


def test_a_full_disk_of_temporary_files_is_named(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 6)
    with small_disk(tmp_path / "temporary", 1024) as small:
        env = {**_environment(), "SQLITE_TMPDIR": str(small)}  # which SQLite reads only when it is loaded
        done = subprocess.run(
            [sys.executable, "-c", SORT_IT, path], capture_output=True, text=True, check=True, env=env
        )
    # it may have been given back by then, so both may be named
    assert re.search(rf"{path}: the disk is full\n  free some space in .*{small}.*, then", done.stdout)


READ_IT = """
import os, sys
from commonplace.run.reading import Reading
from commonplace.run.file import RunFile
from commonplace.errors import CommonplaceError
if os.getuid() == 0: os.setgid(65534); os.setuid(65534)
with Reading.open(sys.argv[1]) as reading: print(reading.last_tick, len(reading.events()), reading.digest())
try: RunFile.open(sys.argv[1])
except CommonplaceError as error: print(error.status, error)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_it_is_read_from_a_read_only_folder(tmp_path_factory: pytest.TempPathFactory, killed: bool) -> None:
    folder = Path(os.path.realpath("/tmp")) / f"commonplace-{os.getpid()}-{killed}"
    folder.mkdir()
    try:
        path = make(folder / "a.run", 4)
        if killed:
            with RunFile.open(path) as run:  # a copy of the files as they are while it is open
                live_state = Village()
                live_state.opening()
                run.commit([live_state.tick(plot(number)) for number in range(1, 6)][-1])
                crashed = folder / "crashed"
                crashed.mkdir()
                for ending in ("", "-wal", "-shm"):
                    shutil.copy(folder / f"a.run{ending}", crashed / f"a.run{ending}")
            path = crashed / "a.run"
        path.chmod(0o444)
        path.parent.chmod(0o555)
        folder.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_IT, path],
            capture_output=True,
            text=True,
            check=False,
            cwd="/",
            env=_environment(),
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("5 " if killed else "4 ")
        assert "cannot be written" in done.stdout
    finally:
        for one in (folder, *folder.glob("*")):
            one.chmod(0o755)
        shutil.rmtree(folder)


def _environment() -> dict[str, str]:
    source = Path(__file__).parents[2] / "src"
    return {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}


# ── journals of killed processes ────────────────────────────────────────────────────────────────────────────────────


def half_committed(folder: Path) -> tuple[Path, str]:
    """A run as a process leaves it that is killed in a commit in DELETE mode, and its digest before that commit."""
    path = make(folder / "a.run", 6)
    (folder / "killed").mkdir()
    with Reading.open(path) as reading:
        digest = reading.digest()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 1")  # so that pages are written before the commit
        connection.execute("BEGIN")
        connection.execute("UPDATE tick SET history = zeroblob(16)")
        connection.execute("CREATE TABLE filler AS SELECT zeroblob(50000)")
        for file in folder.glob("a.run*"):
            shutil.copy(file, folder / "killed")
    assert (folder / "killed" / "a.run-journal").exists()
    return folder / "killed" / "a.run", digest


@pytest.mark.parametrize("opens", [Reading.open, RunFile.open])
def test_what_was_not_committed_is_not_seen(tmp_path: Path, opens) -> None:
    path, digest = half_committed(tmp_path)
    with opens(path) as opened:
        reading = opened if isinstance(opened, Reading) else opened.reading
        assert reading.digest() == digest
        assert integrity.check(reading) == 6
    assert [entry.name for entry in path.parent.iterdir()] == ["a.run"]


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs another user")
@pytest.mark.parametrize("mode", ["rollback", "wal"])
def test_in_a_read_only_folder_a_journal_that_cannot_be_used_is_refused(mode: str) -> None:
    with tempfile.TemporaryDirectory(dir=os.path.realpath("/tmp")) as name:
        folder = Path(name)
        if mode == "rollback":
            path, _ = half_committed(folder)
        else:
            (folder / "killed").mkdir()
            path = folder / "killed" / "a.run"
            with RunFile.create(folder / "a.run", MANIFEST, Village().opening()) as run:
                run.note("control:x", "y")
                for ending in ("", "-wal"):
                    shutil.copy(folder / f"a.run{ending}", path.with_name(f"a.run{ending}"))
        for one in (folder, path.parent):
            one.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READ_IT, path], capture_output=True, text=True, check=False, env=_environment()
        )
        for one in (folder, path.parent):
            one.chmod(0o755)
        assert "killed left a journal" in done.stderr
        assert "to a folder that can be written" in done.stderr
        assert done.stdout == ""


# ── a file that is deleted, moved, linked ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["deleted", "moved", "replaced", "its folder deleted"])
@pytest.mark.parametrize("when", ["in a commit", "at the end"])
def test_a_file_taken_away_under_a_run_is_noticed_and_nothing_is_lost(tmp_path: Path, how: str, when: str) -> None:
    path, live_state = tmp_path / "runs" / "a.run", Village()
    make(tmp_path / "other.run", 3)
    run = RunFile.create(path, MANIFEST, live_state.opening())
    run.commit(live_state.tick(plot(1)))
    if how == "deleted":
        path.unlink()
    elif how == "moved":
        path.rename(tmp_path / "elsewhere.run")
    elif how == "replaced":
        (tmp_path / "other.run").rename(path)
    else:
        shutil.rmtree(path.parent)
    with pytest.raises(CommonplaceError, match="moved, deleted or replaced") as caught:
        if when == "in a commit":
            run.commit(live_state.tick(plot(2)))
        else:
            run.close()
    saved = path.with_name("a.run.saved")
    assert f"resume {saved}" in caught.value.hint
    assert caught.value.status == 1
    run.close()
    with RunFile.open(saved) as again:
        assert again.last_tick == 1
        assert again.digests == run.digests
        assert integrity.check(again.reading) == 1
    there = ["a.run", "a.run.saved"] if how == "replaced" else ["a.run.saved"]
    assert sorted(entry.name for entry in path.parent.iterdir()) == there
    if how == "replaced":
        with Reading.open(path) as reading:  # the journal of the other one was not applied to it
            assert integrity.check(reading) == 3


def test_a_link_that_is_led_elsewhere_stops_the_run_which_stays_where_it_is(tmp_path: Path) -> None:
    link, live_state = tmp_path / "link.run", Village()
    make(tmp_path / "a.run", 0)
    make(tmp_path / "b.run", 2)
    link.symlink_to(tmp_path / "a.run")
    live_state.opening()
    with pytest.raises(CommonplaceError, match="another file") as caught, RunFile.open(link) as run:
        run.commit(live_state.tick(plot(1)))
        link.unlink()
        link.symlink_to(tmp_path / "b.run")
        run.commit(live_state.tick(plot(2)))
    assert f"resume {tmp_path / 'a.run'}" in caught.value.hint
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.run", "b.run", "link.run"]
    with Reading.open(tmp_path / "a.run") as reading:
        assert integrity.check(reading) == 1
    with Reading.open(tmp_path / "b.run") as reading:
        assert integrity.check(reading) == 2


def test_a_run_has_one_lock_whatever_path_leads_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    path = make(tmp_path / "runs" / "a.run", 1)
    (tmp_path / "link.run").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    monkeypatch.chdir(path.parent)
    with RunFile.open(path):
        for other in (tmp_path / "link.run", tmp_path / "folder" / "a.run", Path("a.run"), Path("../runs/a.run")):
            with pytest.raises(UsageError, match="has it open"):
                RunFile.open(other)
            with pytest.raises(UsageError, match="has it open"):
                RunFile.create(other, MANIFEST, force=True)


def test_a_file_with_two_names_is_read_but_not_continued(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1)
    (tmp_path / "b.run").hardlink_to(path)
    for one in (path, tmp_path / "b.run"):
        with pytest.raises(UsageError, match=r"2 names.*(\n.*)?cp "):
            RunFile.open(one)
        with Reading.open(one) as reading:
            assert integrity.check(reading) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.run", "b.run"]
    RunFile.create(path, MANIFEST, Village().opening(), force=True).close()  # the other name keeps the old run
    with Reading.open(tmp_path / "b.run") as reading:
        assert integrity.check(reading) == 1


def test_an_end_that_cannot_bring_the_journal_into_the_file_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path, live_state = tmp_path / "a.run", Village()
    run = RunFile.create(path, MANIFEST, live_state.opening())
    with Reading.open(path) as reading, reading.snapshot():
        assert reading.last_tick == 0
        run.commit(live_state.tick(plot(1)))
        run.close()
    assert "a.run-wal (somebody is reading it); keep the two files together" in caplog.text
    caplog.clear()
    RunFile.open(path).close()
    assert caplog.text == ""
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.run"]


def test_a_damaged_page_is_named(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 30)
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(2, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 64)
    with pytest.raises(RunDamaged), Reading.open(path) as reading:
        integrity.check(reading)


def test_the_choice_of_synchronous_is_kept(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 1, synchronous="FULL")
    with RunFile.open(path) as run:
        assert run._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    with RunFile.open(path, synchronous="NORMAL") as run:
        assert run._connection.execute("PRAGMA synchronous").fetchone() == (1,)


def test_a_reader_never_keeps_the_writer_waiting_and_sees_whole_ticks(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run, Reading.open(home / "a.run") as reading:
        assert reading.last_tick == -1
        run.commit(live_state.opening())
        for number in range(1, 20):
            run.commit(live_state.tick(plot(number)))
            assert reading.last_tick == number
            assert reading.world_at() == live_state.world
    with Reading.open(home / "a.run") as again:
        assert again.last_tick == 19
