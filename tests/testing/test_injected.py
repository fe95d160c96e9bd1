"""A society on a server that fails in every way: it lives on, faults are flagged, nothing of one is said or kept."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import book, open_run, prepared
from commonplace.cli import main
from commonplace.engine.run import Run
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.parts.model_servers.client import Sleep
from commonplace.run.rows import AnswerRow
from commonplace.stages import by_name
from commonplace.testing.server import FAULTS, Entry, Faults, ModelServer
from e2e.command import ends
from sizes import PROVE

OF_VECTORS = {"short_vector", "missing_vector", "nan_vectors"}
TICKS, SEED = (130, 6) if PROVE else (84, 1)
ALL = tuple(kind for kind in FAULTS if kind not in OF_VECTORS)


@dataclass(frozen=True)
class LoggedRun:
    """A run and what its server saw of questions."""

    path: Path
    asked: list[Entry]

    @property
    def faults(self) -> Counter[str]:
        return Counter(entry.fault for entry in self.asked if entry.fault)

    def rows(self) -> dict[tuple[str, int, int, int], AnswerRow]:
        """(character, tick, number, attempt) → what the journal has of it."""
        with open_run(self.path) as run:
            return {(row.agent, row.tick, row.ordinal, row.attempt): row for row in run.answers(used=False)}

    def attempts(self) -> Iterator[tuple[list[Entry], AnswerRow]]:
        """For every attempt in the journal the requests made for it; its reply was made from one of them.

        Usually from the last. A client that is kept waiting by a busy machine asks again, and two requests for one
        attempt may overtake one another.
        """
        rows = self.rows()
        requests: dict[tuple[Any, ...], list[Entry]] = {}
        for entry in self.asked:
            requests.setdefault((entry.key[1], entry.key[2], entry.key[4], entry.key[5]), []).append(entry)
        for key, entries in requests.items():
            if key in rows:
                yield entries, rows[key]


async def _at_once(_: float) -> None:
    await asyncio.sleep(0)


def live(path: Path, scenario: str, ticks: int, faults: Faults, sleep: Sleep = _at_once) -> LoggedRun:
    """A run on the test server; waiting between tries takes no time."""
    threads = threading.active_count()
    with ModelServer(faults=faults) as server:
        loaded, manifest = prepared(scenario, 7, server.url, ticks=ticks)
        mind = ChatMind(server.url, book(loaded), timeout=0.5, on_outage="fallback", sleep=sleep)
        with Run.start(path, manifest, loaded, stage=by_name(loaded.part.stage), mind=mind) as run:
            asyncio.run(_play(run, ticks))
    assert server.log.in_flight == 0 and threading.active_count() == threads
    return LoggedRun(path, sorted(server.log.asked, key=lambda entry: entry.repeats))


async def _play(run: Run, ticks: int) -> None:
    async for _ in run.play(ticks):
        pass
    assert asyncio.all_tasks() == {asyncio.current_task()}


def sound(lived: LoggedRun, ticks: int) -> None:
    """The run is whole, and says of every fault what it was: by kind, and in the trace of the turn it fell into."""
    assert main(["verify", str(lived.path)]) == 0
    rows = list(lived.rows().values())
    with open_run(lived.path) as run:
        assert run.last_tick == ticks
        total = run.usage()[-1]
        for row in rows:
            for asked in run.trace(row.agent, row.tick).get("asked", ()):
                if asked["ordinal"] == row.ordinal and row.outcome == "value":
                    assert asked["outcome"] == "value"
    assert total["faults"] == Counter(row.usage["kind"] for row in rows if row.outcome != "value")
    assert total["calls"] >= len(lived.asked)


def unflagged(lived: LoggedRun) -> Counter[str]:
    """Faults that should have been refused, and whose attempt the journal takes for a good one."""
    wrong: Counter[str] = Counter()
    for entries, row in lived.attempts():
        refused = all(
            entry.fault and FAULTS[entry.fault].calls_for in {"refuse", "retry", "pause"} for entry in entries
        )
        if refused and (row.outcome == "value" or not row.usage.get("kind")):
            wrong[f"{entries[-1].fault} {row.task}"] += 1
        # a busy machine may be late by itself, and a line of the author may have been said before
        if (
            not any(entry.fault for entry in entries)
            and row.outcome != "value"
            and row.usage["kind"] not in {"timeout", "outage", "repeated"}
        ):
            wrong[f"sound {row.task} {row.usage}"] += 1
    return wrong


def found(lived: LoggedRun) -> set[str]:
    """The markers of faults that history holds: in events, in memories, in plans and views of others.

    What an insight is about may be any word.
    """
    markers = {entry.marker for entry in lived.asked if entry.marker}
    with open_run(lived.path) as run:
        texts = [json.dumps(event.body.plain(), ensure_ascii=False, default=str) for event in run.events()]
        for agent in run.agent_ids:
            for memory in run.memories(agent):
                frame = {} if memory.kind == "reflection" else memory.details.get("frame")
                texts.append(f"{memory.text} {dict(memory.details) | {'frame': frame}} {memory.tags}")
            texts.append(repr(run.state_at(agent)))
    everything = "\n".join(texts)
    return {marker for marker in markers if marker in everything}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> LoggedRun:
    """A morning of a village in which seven requests of ten fail."""
    return live(tmp_path_factory.mktemp("injected") / "faulty.run", "latticeville", TICKS, Faults(0.7, ALL, seed=SEED))


def test_hundreds_of_faults_of_every_kind_end_no_run(lived: LoggedRun) -> None:
    sound(lived, TICKS)
    assert lived.faults.total() > (150 if PROVE else 100)
    assert set(lived.faults) == set(ALL)


def test_every_fault_is_flagged_in_the_journal(lived: LoggedRun) -> None:
    assert not unflagged(lived)


def test_nothing_of_a_fault_is_said_or_remembered(lived: LoggedRun) -> None:
    assert not found(lived)


@pytest.mark.parametrize("kind", ["server_error", "unavailable", "reset"] if PROVE else ["server_error"])
def test_a_server_that_fails_at_three_requests_of_ten_is_hardly_waited_for(kind: str, tmp_path: Path) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await asyncio.sleep(0)

    ticks = 144 if PROVE else 24
    sound = live(tmp_path / "sound.run", "latticeville", ticks, Faults(0.0))
    faulty = live(tmp_path / "faulty.run", "latticeville", ticks, Faults(0.3, (kind,)), sleep)
    assert faulty.faults[kind] > len(sound.asked) / 4
    assert sum(waits) < len(sound.asked) / 40, "each that fails waiting for itself would wait 50 times as long"
    assert ends(faulty.path) == ends(sound.path)


@pytest.mark.slow
def test_ten_thousand_faults_end_no_run(tmp_path: Path) -> None:
    total: Counter[str] = Counter()
    while total.total() < 10_000:
        number = total.total()
        village = live(tmp_path / f"{number}.run", "latticeville", 288, Faults(0.6, ALL, seed=number))
        sound(village, 288)
        assert not unflagged(village)
        assert not found(village)
        total += village.faults
    assert set(total) == set(ALL)
