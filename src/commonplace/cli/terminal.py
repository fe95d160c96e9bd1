"""The terminal view joined with a run: one being lived in a thread of its own, or a recorded one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from commonplace.cli.living import Living
from commonplace.engine.budget import Budget
from commonplace.engine.intervention import described
from commonplace.engine.run import Run
from commonplace.run.reading import Reading
from commonplace.views.recorded import RecordedSource
from commonplace.views.terminal.app import TownApp

Severity = Literal["warning", "error"]
LONG = 30.0
"""Seconds for which the reason of a pause stays on the screen."""


def watch_recorded(reading: Reading, first: int | None) -> None:
    """Replay in the terminal from a tick; None follows the latest, whoever lives it."""
    TownApp(RecordedSource(reading), start=first, playing=first is not None).run()


def watch_live(make: Callable[[], Run], target: Path, last: int, budget: Budget) -> None:
    """Live a run and watch it. Leaving the view ends the run at a tick boundary. Raises what ended or paused it."""
    living = Living(make, last, budget)
    living.start()
    try:
        with Reading.open(target) as reading:
            app = TownApp(LiveSource(reading, living))
            living.tell = lambda why: _shown(app, why, "error")
            with told_instead(lambda what: _shown(app, what, "warning")):
                app.run()
    finally:
        living.stop()
    living.raise_failure()
    print(f"tick {living.tick}  digest {living.digest}\ngo on with: commonplace resume {target}")


@contextmanager
def told_instead(tell: Callable[[str], None]) -> Generator[None]:
    """What would be told on standard error, such as a server that is waited for, goes elsewhere."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: tell(record.getMessage())
    logger = logging.getLogger("commonplace")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _shown(app: TownApp, why: str, severity: Severity) -> None:
    """Say on the screen why no more ticks come; called from the thread of the run."""
    with suppress(RuntimeError):  # the view is gone
        app.call_from_thread(app.notify, why, severity=severity, timeout=LONG, markup=False)


class LiveSource(RecordedSource):
    """A run being lived, as the terminal view reads it."""

    def __init__(self, reading: Reading, living: Living) -> None:
        super().__init__(reading)
        self._living = living

    @property
    def live(self) -> bool:
        """It is."""
        return True

    @property
    def playing(self) -> bool:
        """Whether ticks are being made."""
        return self._living.playing and self._living.tick < self._living.last

    @property
    def rate(self) -> float:
        """Ticks per second aimed at; 0 for as fast as it goes."""
        return self._living.rate

    @property
    def progress(self) -> str:
        """Why no more ticks come, if none come."""
        if self._living.failure is not None:
            return f"the run has ended: {self._living.failure}"
        if self._living.halted is not None:
            return f"paused: {self._living.halted.what}"
        return f"reached tick {self._living.last}" if self._living.tick >= self._living.last else ""

    def preview(self, text: str) -> str:
        """What a god-mode sentence will do."""

        async def preview(run: Run) -> str:
            return described(await run.foreseen(text), run.scenario)

        return self._living.wish(preview)

    def submit(self, body: Mapping[str, Any]) -> str:
        """Queue a god-mode sentence or an inner voice."""
        return self._living.wish(lambda run: _submitted(run, body))

    def play(self) -> None:
        """Make ticks."""
        self._living.control(playing=True)

    def pause(self) -> None:
        """Stop at the next boundary."""
        self._living.control(playing=False)

    def step(self) -> None:
        """Make one tick."""
        self._living.control(playing=False, steps=1)

    def speed(self, rate: float) -> None:
        """Aim at so many ticks per second."""
        self._living.control(rate=rate)

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Call back after each commit."""
        return self._living.subscribe(committed)


async def _submitted(run: Run, body: Mapping[str, Any]) -> str:
    if body["kind"] == "voice":
        run.submit({"kind": "inner_voice", "agent_id": body["agent_id"], "text": body["text"]})
        return f"{run.scenario.geography.name(body['agent_id'])} will think of it at tick {run.tick + 2}"
    if body["kind"] != "god":
        run.submit(body)
        return f"{run.scenario.geography.name(body['agent_id'])}: from tick {run.tick + 2}"
    event = await run.foreseen(str(body["text"]))
    run.submit(event)
    return f"at tick {run.tick + 1}: {described(event, run.scenario)}"
