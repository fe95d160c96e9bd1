"""The server or the writer of a run is killed at any statement: what was committed stays, the history is the same."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, mind_named, open_run, resume_run
from commonplace.errors import UsageError
from commonplace.parts.runs import connection as connections
from commonplace.parts.runs.connection import RunConnection
from commonplace.parts.stores.embedded import joined
from commonplace.parts.stores.postgres import ServerGone
from commonplace.run.integrity import check
from commonplace.run.place import Place, typed
from commonplace.scenario.compiling import load
from commonplace.testing import SlowMind
from e2e.command import environment
from run.databases import Database

TICKS = 12
WRITER = """
import os, signal, sys
from commonplace.api import resume_run
from commonplace.parts.runs.connection import RunConnection
left = int(sys.argv[2])

def dying(plain):
    def statement(self, *given):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return plain(self, *given)
    return statement

RunConnection.execute = dying(RunConnection.execute)
RunConnection.executemany = dying(RunConnection.executemany)
with resume_run(sys.stdin.readline().strip()) as run:
    for tick in run.play_sync(until=int(sys.argv[1])):
        pass
"""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[str, str]]:
    """Tick → both digests, of a run that nothing happens to."""
    path = tmp_path_factory.mktemp("unbroken") / "a.run"
    with create_run(path, "plaza") as run:
        for _ in run.play_sync(TICKS):
            pass
    with open_run(path) as reading:
        return {tick: (reading.digest(tick), reading.digest(tick, state=True)) for tick in range(TICKS + 1)}


@pytest.fixture
def server() -> Iterator[Path]:
    """A folder for a server of its own, that other users can enter: it runs as one of those where this is root."""
    folder = tempfile.mkdtemp(prefix="commonplace-killed-")
    yield Path(folder) / "server"
    shutil.rmtree(folder, ignore_errors=True)


def before_statements(monkeypatch: pytest.MonkeyPatch, numbers: set[int], act: Callable[[], None]) -> None:
    """Acts before the statements of these numbers."""
    done = itertools.count()
    for name in ("execute", "executemany"):
        plain = getattr(RunConnection, name)

        def statement(self: RunConnection, *given: Any, plain: Callable[..., Any] = plain) -> Any:
            if next(done) in numbers:
                act()
            return plain(self, *given)

        monkeypatch.setattr(RunConnection, name, statement)


def kill(folder: Path) -> None:
    """Kills the server without a chance to end what it is doing."""
    os.kill(int((folder / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def same(where: str | Place, unbroken: dict[int, tuple[str, str]], last: int = TICKS) -> None:
    with open_run(where) as reading:
        assert reading.last_tick == last
        assert (reading.digest(), reading.digest(state=True)) == unbroken[last]
        assert check(reading) == last


def test_a_run_goes_on_although_its_server_is_killed(server, unbroken, monkeypatch, caplog):
    server_killed(server, unbroken, monkeypatch, kills=2, seed=1)
    assert any("the server is gone; it is waited for" in record.message for record in caplog.records)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_a_run_goes_on_although_its_server_is_killed_many_times(server, unbroken, monkeypatch, seed):
    server_killed(server, unbroken, monkeypatch, kills=4, seed=seed)


def server_killed(folder: Path, unbroken: Any, monkeypatch: pytest.MonkeyPatch, kills: int, seed: int) -> None:
    where = f"embedded:{folder}#a"
    with create_run(where, "plaza") as run:
        moments = set(random.Random(seed).sample(range(20 * TICKS), kills))
        before_statements(monkeypatch, moments, lambda: kill(folder))
        for _ in run.play_sync(TICKS):
            pass
    monkeypatch.undo()
    same(where, unbroken)


def test_paid_answers_are_kept_although_the_server_is_killed(server, monkeypatch):
    mind, where = SlowMind(mind_named("offline", load("plaza")), salt=3), f"embedded:{server}#a"
    with create_run(where, "plaza", mind=mind) as run:
        before_statements(monkeypatch, {40, 300}, lambda: kill(server))
        for _ in run.play_sync(3):
            pass
    monkeypatch.undo()
    with open_run(where) as reading:
        asked = [(row.agent, row.tick, row.ordinal, row.attempt) for row in reading.answers(used=False)]
        assert len(asked) == len(set(asked)) == reading.usage()[-1]["asked"] > 0
        assert check(reading) == 3


def test_a_commit_whose_answer_was_lost_is_not_made_again(server, unbroken, monkeypatch):
    where = f"embedded:{server}#a"
    plain = RunConnection.execute

    def losing(self: RunConnection, query: str, values: Any = (), /) -> Any:
        found = plain(self, query, values)
        if query == "COMMIT":
            monkeypatch.setattr(RunConnection, "execute", plain)
            self.driver.close()
            raise ServerGone("the connection is gone")
        return found

    with create_run(where, "plaza") as run:
        monkeypatch.setattr(RunConnection, "execute", losing)
        for _ in run.play_sync(TICKS):
            pass
    same(where, unbroken)


def test_a_server_that_does_not_come_back_loses_nothing(server, unbroken, monkeypatch):
    where = f"embedded:{server}#a"
    monkeypatch.setattr(connections, "PATIENCE", 0.0)
    with create_run(where, "plaza") as run:
        played = run.play_sync(TICKS)
        for _ in range(5):
            next(played)
        with monkeypatch.context() as away:
            away.setattr("commonplace.parts.stores.embedded._Joined.revive", lambda self: None)
            kill(server)
            with pytest.raises(ServerGone) as caught:
                list(played)
    assert "did not come back" in caught.value.what
    assert "resume" in caught.value.hint
    same(where, unbroken, last=5)
    with resume_run(where) as run:
        list(run.play_sync(until=TICKS))
    same(where, unbroken)


def test_a_killed_server_whose_parent_has_not_noticed_is_not_stopped(server, monkeypatch):
    psutil: Any = pytest.importorskip("psutil")
    stopped: list[int] = []
    with ExitStack() as stack:
        joining = stack.enter_context(joined(server, create=True))
        monkeypatch.setattr(psutil.Process, "status", lambda self: psutil.STATUS_ZOMBIE)
        monkeypatch.setattr(joining._server, "stop", lambda: stopped.append(1))
    monkeypatch.undo()
    assert not stopped  # pg_ctl would wait a minute for it
    joining._server.stop()


def test_whoever_took_the_run_over_while_the_server_was_away_keeps_it(server, monkeypatch):
    where = f"embedded:{server}#a"
    with create_run(where, "plaza") as run:
        list(run.play_sync(2))
        taken: list[Any] = []

        def take() -> None:
            run.file._connection.driver.close()  # pyright: ignore[reportAttributeAccessIssue] – the server's end of it
            taken.append(resume_run(where))

        before_statements(monkeypatch, {3}, take)
        with pytest.raises(UsageError, match="in use by"):
            list(run.play_sync(2))
        taken[0].close()
    with open_run(where) as reading:
        assert reading.last_tick == 2


@pytest.mark.parametrize("count", [1, 2, 4])
def test_workers_that_die_read_their_characters_from_the_database(count, database, unbroken, clusters):
    with create_run(database / "a", "plaza", workers=count) as run:
        messages = itertools.count(1)
        clusters[0].dies = lambda message: ("", "before", "", "after")[next(messages) % 7 % 4]
        list(run.play_sync(TICKS))
    assert clusters[0].started > count + 5
    same(database / "a", unbroken)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_writer_killed_at_any_statement_is_gone_on_with(seed, database, unbroken):
    writer_killed(database, unbroken, kills=2, seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 13))
def test_a_writer_killed_many_times_is_gone_on_with(seed, database, unbroken):
    writer_killed(database, unbroken, kills=4, seed=seed)


def writer_killed(database: Database, unbroken: Any, kills: int, seed: int) -> None:
    chance, place = random.Random(seed), database / f"killed-{seed}"
    create_run(place, "plaza").close()
    for _ in range(kills):
        done = subprocess.run(
            [sys.executable, "-c", WRITER, str(TICKS), str(chance.randrange(8, 90))],
            input=typed(place), text=True, env=environment(), capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        with open_run(place) as reading:
            assert (reading.digest(), reading.digest(state=True)) == unbroken[reading.last_tick]
            check(reading)
    for _ in range(50):  # the server notices after a moment that the writer is gone
        try:
            run = resume_run(place)
            break
        except UsageError:
            pass
    with run:
        list(run.play_sync(until=TICKS))
    with open_run(place) as reading:
        assert (reading.digest(), reading.digest(state=True)) == unbroken[TICKS]
