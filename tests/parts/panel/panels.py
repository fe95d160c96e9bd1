"""Panels to test with: the shipped one, played to its end or to a tick, beside the folder it keeps things in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import commonplace
from commonplace.ledger import show
from commonplace.memory import MemoryStore
from commonplace.scenario.compiling import in_session, load
from commonplace.scenario.scenario import Scenario

CARS = "Should cities ban cars?"
TREES = "Should every city street have trees instead of cars?"


def played(
    path: Path, prompt: str = CARS, *, ticks: int = 100, scenario: str | Path = "dialectic", **more: Any
) -> Path:
    """A new panel, up to a tick."""
    asyncio.run(_play(lambda: commonplace.create_run(path, scenario, prompt=prompt, **more), ticks))
    return path


def resumed(path: Path, *, ticks: int = 100, **more: Any) -> Path:
    """An existing one, for so many ticks more."""
    asyncio.run(_play(lambda: commonplace.resume_run(path, **more), ticks))
    return path


async def _play(make: Callable[[], Any], ticks: int) -> None:
    with make() as run:
        async for _ in run.play(ticks=ticks):
            pass


def answers(path: Path) -> dict[int, dict[str, Any]]:
    """Tick → the SAY of that tick."""
    with commonplace.open_run(path) as run:
        said = (event for event in run.events() if event.type == "SAY")
        return {event.tick: {"id": event.id, "who": event.agent_id, **event.body.plain()} for event in said}


def memories(folder: Path) -> list[dict[str, Any]]:
    """What the store in the folder holds, oldest first."""
    with MemoryStore(folder / "memory") as store:
        return [one.to_dict() for one in reversed(store.get_recent(1000))]


def ledger(folder: Path) -> list[dict[str, Any]]:
    """The entries of the ledger in the folder."""
    return list(show(folder / "resonance_ledger"))


def question(prompt: str, *, language: str = "en") -> Scenario:
    """The shipped scenario with a question, for what needs no run."""
    scenario = load("dialectic" if language == "en" else "dialectic-ko")
    return in_session(scenario, {"prompt": prompt, "start": "2031-10-04T09:00:00Z"})


def variant(path: Path, **changes: Any) -> Path:
    """A file with the shipped panel in which top-level keys are changed."""
    part = load("dialectic").part.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    path.write_text(json.dumps({**part, **changes}), encoding="utf-8")
    return path
