from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.lock import ProcessLock
from commonplace.whole_file import tidy, written_whole


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "on" / "the-way" / "a.bundle"
    with written_whole(target) as part:
        part.write_text("half")
        assert part.parent == target.parent
        assert not target.exists()
        part.write_text("whole")
    assert target.read_text() == "whole"
    assert names(target.parent) == ["a.bundle"]


def test_an_existing_file_is_refused_unless_forced_and_kept_until_the_end(tmp_path: Path) -> None:
    target = tmp_path / "a.bundle"
    target.write_text("old")
    with pytest.raises(UsageError, match="already"), written_whole(target):
        pass
    with written_whole(target, force=True) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    with pytest.raises(UsageError, match="folder"), written_whole(tmp_path, force=True):
        pass


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_whatever_fails_the_old_file_stays_and_the_unfinished_goes(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "a.bundle"
    target.write_text("old")
    with pytest.raises((type(error), CommonplaceError)), written_whole(target, force=True) as part:
        part.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.bundle"]


def test_a_full_disk_is_named_with_the_file_and_what_to_do(tmp_path: Path) -> None:
    target = tmp_path / "a.bundle"
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            with written_whole(target) as part:
                part.write_bytes(b"x" * 2000)
        except CommonplaceError as error:
            os._exit(42 if error.where == str(target) and "disk is full" in error.what else 43)
        os._exit(44)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 42
    assert names(tmp_path) == []


def test_what_a_killed_process_left_is_replaced_by_the_next_attempt(tmp_path: Path) -> None:
    target = tmp_path / "a.run"
    pid = os.fork()
    if pid == 0:
        with written_whole(target) as part, closing(sqlite3.connect(part)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE half(x)")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not target.exists()
    assert len(names(tmp_path)) > 1
    with written_whole(target) as part:
        assert not part.exists()
        with closing(sqlite3.connect(part)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE whole(x)")
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("whole",)]
    assert names(tmp_path) == ["a.run"]


def killed_copy(folder: Path, mode: str) -> Path:
    """A SQLite file as a killed process leaves it: table `kept` committed in its journal, or `half` not committed."""
    (folder / "living").mkdir()
    with closing(sqlite3.connect(folder / "living" / "a.run", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("CREATE TABLE kept(x)")
        if mode == "DELETE":
            connection.execute("BEGIN")
            connection.execute("CREATE TABLE half AS SELECT zeroblob(50000) x")
        for file in (folder / "living").iterdir():
            shutil.copy(file, folder)
    return folder / "a.run"


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_journal_of_the_old_file_never_reaches_the_new_one_and_is_not_lost_before(tmp_path: Path, mode: str) -> None:
    target = killed_copy(tmp_path, mode)
    assert len([name for name in names(tmp_path) if name.startswith("a.run-")]) > 0
    before = Path.replace
    looked: list[list[tuple[str]]] = []

    def look(source: Path, place: Path) -> Path:
        shutil.copy(place, tmp_path / "old.run")  # as it is if the process is killed here
        with closing(sqlite3.connect(tmp_path / "old.run")) as connection:
            looked.append(connection.execute("SELECT name FROM sqlite_schema").fetchall())
        return before(source, place)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", look)
        with written_whole(target, force=True) as part, closing(sqlite3.connect(part)) as connection:
            connection.execute("CREATE TABLE new(x)")
    assert looked == [[("kept",)]]
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("new",)]
    assert names(tmp_path) == ["a.run", "living", "old.run"]


def test_journals_of_a_file_that_is_gone_are_dropped(tmp_path: Path) -> None:
    killed_copy(tmp_path, "WAL").unlink()
    with written_whole(tmp_path / "a.run") as part:
        part.write_text("new")
    assert names(tmp_path) == ["a.run", "living"]


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk" / "a.bundle").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "a.bundle")
    with written_whole(tmp_path / "link", force=True) as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "disk" / "a.bundle").read_text() == "new"
    assert names(tmp_path) == ["disk", "link"]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    held = ProcessLock(tmp_path / "a.run.lock", "a.run")
    with pytest.raises(UsageError, match="open"), written_whole(tmp_path / "a.run"):
        pass
    held.release()
    with written_whole(tmp_path / "a.run") as part:
        part.write_text("new")
        with pytest.raises(UsageError, match="open"), written_whole(tmp_path / "a.run"):
            pass
    assert names(tmp_path) == ["a.run"]


def killed_when_whole(target: Path) -> None:
    """Write a file in a process that is killed before it lets go of the lock."""
    pid = os.fork()
    if pid == 0:
        ProcessLock.release = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # pyright: ignore[reportAttributeAccessIssue]
        with written_whole(target) as part:
            part.write_text("whole")
    os.waitpid(pid, 0)


def test_the_lock_of_a_process_that_was_killed_when_its_file_was_whole_goes_with_the_next_attempt(
    tmp_path: Path,
) -> None:
    target = tmp_path / "a.bundle"
    killed_when_whole(target)
    assert names(tmp_path) == ["a.bundle", "a.bundle.lock"]
    with pytest.raises(UsageError, match="already exists"), written_whole(target):
        pass
    assert names(tmp_path) == ["a.bundle"]
    assert target.read_text() == "whole"


def test_a_file_of_another_program_that_has_the_name_of_the_lock_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "yarn.lock").write_text("# yarn lockfile v1\n")
    with pytest.raises(UsageError, match="is another file"), written_whole(tmp_path / "yarn"):
        pass
    (tmp_path / "yarn").write_text("a program")
    with pytest.raises(UsageError, match="already exists"), written_whole(tmp_path / "yarn"):
        pass
    assert (tmp_path / "yarn.lock").read_text() == "# yarn lockfile v1\n"


def test_a_folder_is_tidied_of_what_nobody_writes_any_more(tmp_path: Path) -> None:
    for name in ("a.run.unfinished", "a.run.unfinished-wal", "a.run.lock", "b.run.unfinished", "c.zip.unfinished"):
        (tmp_path / name).touch()
    held = ProcessLock(tmp_path / "b.run.lock", "b.run")
    tidy(tmp_path, ".run")
    assert names(tmp_path) == ["b.run.lock", "b.run.unfinished", "c.zip.unfinished"]
    held.release()


def test_errors_about_the_unfinished_file_name_the_target(tmp_path: Path) -> None:
    target = tmp_path / "a.run"
    with pytest.raises(CommonplaceError) as caught, written_whole(target) as part:
        raise CommonplaceError("the disk is full", where=str(part), hint=f"free some space, then try {part} again")
    assert str(caught.value) == f"{target}: the disk is full\n  free some space, then try {target} again"
