from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, RunDamaged, UsageError
from commonplace.run import integrity
from commonplace.run.file import RunFile
from commonplace.run.reading import Reading
from commonplace.run.schema import FORMAT
from run.small_runs import MANIFEST, Village, make, plot, tampering


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


def test_it_goes_on_where_it_was_left(tmp_path: Path) -> None:
    make(tmp_path / "whole.run", 5)
    live_state = Village()
    with RunFile.create(tmp_path / "halves.run", MANIFEST) as run:
        run.commit(live_state.opening())
        run.commit(live_state.tick(plot(1)))
    for number in range(2, 6):
        with RunFile.open(tmp_path / "halves.run") as run:
            assert run.last_tick == number - 1
            run.commit(live_state.tick(plot(number)))
    with Reading.open(tmp_path / "whole.run") as one, Reading.open(tmp_path / "halves.run") as other:
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
    with pytest.raises(UsageError, match=f"format {FORMAT + 1}.*(\n.*)?upgrade"):
        Reading.open(path)


def test_ticks_come_in_order_and_all_or_nothing(tmp_path: Path) -> None:
    live_state = Village()
    with RunFile.create(tmp_path / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        first = live_state.tick(plot(1))
        with pytest.raises(ValueError, match="cannot follow"):
            run.commit(replace(first, tick=2))
        broken = replace(first, traces={"ann": {"x": object()}})
        with pytest.raises(TypeError):
            run.commit(broken)
        assert run.last_tick == 0
        assert run.reading.events() == ()
        assert run.commit(first) == run.digests
        assert integrity.check(run.reading) == 1


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
        assert "resume" in caught.value.hint
        last = run.last_tick
        assert run.reading.last_tick == last
    with Reading.open(path) as reading:
        assert integrity.check(reading) == last


def test_a_really_full_disk(tmp_path: Path) -> None:
    """A file system of 2 MB, where one can be mounted."""
    small = tmp_path / "disk"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.decode().strip()}")
    try:
        live_state = Village()
        with RunFile.create(small / "a.run", MANIFEST) as run:
            run.commit(live_state.opening())
            with pytest.raises(CommonplaceError, match="disk"):
                for number in range(1, 3000):
                    run.commit(live_state.tick(plot(number)))
            last = run.last_tick
        with Reading.open(small / "a.run") as reading:
            assert integrity.check(reading) == last
    finally:
        subprocess.run(["umount", small], check=True)


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


def test_a_reader_never_keeps_the_writer_waiting_and_sees_whole_ticks(tmp_path: Path) -> None:
    live_state = Village()
    with RunFile.create(tmp_path / "a.run", MANIFEST) as run, Reading.open(tmp_path / "a.run") as reading:
        assert reading.last_tick == -1
        run.commit(live_state.opening())
        for number in range(1, 20):
            run.commit(live_state.tick(plot(number)))
            assert reading.last_tick == number
            assert reading.world_at() == live_state.world
    with Reading.open(tmp_path / "a.run") as again:
        assert again.last_tick == 19
