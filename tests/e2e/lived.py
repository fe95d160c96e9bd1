"""Runs that many tests only read: lived once for all workers of a test session."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from commonplace.api import create_run
from e2e.command import command

__all__ = ["eventful", "plaza", "plaza_lines", "town"]

PLAZA_TICKS = 60
TOWN_TICKS = 108


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A file every worker finds and the first one makes."""
    base = factory.getbasetemp()
    folder = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    target = folder / name
    with (folder / f"{name}.making").open("w") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        if not target.exists():
            draft = folder / f"draft-{name}"
            make(draft)
            draft.rename(target)
    return target


@pytest.fixture(scope="session")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty ticks of the plaza. Not to be written to."""
    return once(tmp_path_factory, "plaza.run", lambda run: _lived(run, "plaza", PLAZA_TICKS))


@pytest.fixture(scope="session")
def plaza_lines(plaza: Path) -> list[str]:
    """What living it printed."""
    return plaza.with_name("plaza.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Latticeville until three in the afternoon. Not to be written to."""
    return once(tmp_path_factory, "town.run", lambda run: _lived(run, "latticeville", TOWN_TICKS))


@pytest.fixture(scope="session")
def eventful(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plaza with somebody outside putting in every kind of input. Not to be written to."""
    return once(tmp_path_factory, "eventful.run", lambda run: asyncio.run(_interfered(run)))


def _lived(run: Path, scenario: str, ticks: int) -> None:
    done = command("run", scenario, "--ticks", ticks, "-o", run, "--view", "plain")
    run.with_name(run.name.removeprefix("draft-")).with_suffix(".txt").write_text(done.out, encoding="utf-8")


async def _interfered(run: Path) -> None:
    everybody = {"everybody": True, "areas": [], "agents": []}
    fog = {"kind": "god_event", "text": "A thick fog rolls in.", "to": everybody}
    spoilt = {**fog, "text": "The fountain runs dry.", "sets": [["fountain", "dry"]]}
    voice = {"kind": "inner_voice", "agent_id": "ines", "text": "Somebody should oil the café door."}
    fire = {**fog, "text": "The café is on fire.", "raises": [{"kind": "burning", "of": "cafe", "hours": 1}]}
    ill = {**fog, "text": "Ines is ill.", "raises": [{"kind": "ill", "of": "ines", "hours": 2}]}
    gone = {**fog, "text": "Bruno leaves for an hour.", "raises": [{"kind": "away", "of": "bruno", "hours": 1}]}
    wishes = {
        3: [fog],
        5: [voice, spoilt],
        8: [{"kind": "leave", "agent_id": "bruno"}],
        12: [{"kind": "join", "agent_id": "bruno", "area": "cafe"}],
        42: [fire, ill],
        44: [gone],
        57: [{**fog, "text": "It is over.", "ends": ["closed.cafe"]}],
    }
    with create_run(run, "plaza", ticks=PLAZA_TICKS) as lived:
        async for tick in lived.play(PLAZA_TICKS):
            for body in wishes.get(tick.number, ()):
                lived.submit(body)
