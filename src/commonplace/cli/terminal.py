"""The terminal view joined with a run: one being lived in a thread of its own, or a recorded one."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from commonplace.engine.intervention import described
from commonplace.engine.run import Run
from commonplace.errors import CommonplaceError, WrongUse
from commonplace.run.reading import Reading
from commonplace.views.recorded import RecordedSource
from commonplace.views.terminal.app import TownApp

DEFAULT_RATE = 2.0
"""Ticks per second at the start: five simulated minutes in half a second."""


def watch_recorded(reading: Reading, first: int | None) -> None:
    """Replay in the terminal from a tick; None follows the latest, whoever lives it."""
    TownApp(RecordedSource(reading), start=first, playing=first is not None).run()


def watch_live(make: Callable[[], Run], target: Path, last: int) -> None:
    """Live a run and watch it. Leaving the view ends the run at a tick boundary."""
    living = Living(make, last)
    living.start()
    try:
        with Reading.open(target) as reading:
            TownApp(LiveSource(reading, living)).run()
    finally:
        living.stop()
    living.raise_failure()
    print(f"tick {living.tick}  digest {living.digest}\ngo on with: commonplace resume {target}")


class Living:
    """A run being lived in a thread: it owns the run file; everybody else asks through here."""

    def __init__(self, make: Callable[[], Run], last: int) -> None:
        self.last = last
        self.tick = 0
        self.digest = ""
        self.rate = DEFAULT_RATE
        self.playing = True
        self._make = make
        self._steps = 0
        self._wishes: list[Callable[[Run], Awaitable[None]]] = []
        self._watchers: list[Callable[[int], None]] = []
        self.failure: BaseException | None = None
        self._stopping = False
        self._changed = threading.Condition()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._live, name="run", daemon=True)

    def start(self) -> None:
        """Begin; returns when the run can be read. Raises what making it raised."""
        self._thread.start()
        self._ready.wait()
        self.raise_failure()

    def stop(self) -> None:
        """End at the next tick boundary and give the file up."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()

    def raise_failure(self) -> None:
        """Raise what ended the run, if it did not end by itself."""
        if self.failure is not None:
            raise self.failure

    def wish(self, doing: Callable[[Run], Awaitable[Any]]) -> Any:
        """Do something with the run in its own thread, between two ticks; returns or raises what it does."""
        answer: list[Any] = []
        done = threading.Event()

        async def granted(run: Run) -> None:
            try:
                answer.append(await doing(run))
            except CommonplaceError as error:
                answer.append(error)
            finally:
                done.set()

        with self._changed:
            self._wishes.append(granted)
            self._changed.notify_all()
        if not done.wait(30):
            raise WrongUse("the run does not answer", todo="it may have ended; leave the view and resume it")
        if isinstance(answer[0], CommonplaceError):
            raise answer[0]
        return answer[0]

    def control(self, *, playing: bool | None = None, rate: float | None = None, steps: int = 0) -> None:
        """Pause, play, step, speed: they decide when, never what."""
        with self._changed:
            self.playing = self.playing if playing is None else playing
            self.rate = self.rate if rate is None else rate
            self._steps += steps
            self._changed.notify_all()

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Call back after each commit; returns what ends it."""
        self._watchers.append(committed)
        return lambda: self._watchers.remove(committed)

    def _live(self) -> None:
        try:
            with self._make() as run:
                self._note(run)
                self._ready.set()
                asyncio.run(self._play(run))
        except BaseException as error:
            self.failure = error
        finally:
            self._ready.set()

    async def _play(self, run: Run) -> None:
        while await self._wait(run):
            began = time.monotonic()
            async for _ in run.play(1):
                self._note(run)
            for watcher in tuple(self._watchers):
                watcher(run.tick)
            self._breathe(began)

    def _note(self, run: Run) -> None:
        self.tick, self.digest = run.tick, run.file.digests.history.hex()

    async def _wait(self, run: Run) -> bool:
        """Until the next tick is wanted; False when none is."""
        while True:
            with self._changed:
                wishes, self._wishes = self._wishes, []
                wanted = self._steps > 0 or self.playing
                if not wishes and not self._stopping and (not wanted or run.tick >= self.last):
                    self._changed.wait()
                    continue
                if self._stopping:
                    return False
                if not wishes:
                    self._steps = max(0, self._steps - 1)
            for wish in wishes:
                await wish(run)
            if not wishes:
                return True

    def _breathe(self, began: float) -> None:
        with self._changed:
            left = (1 / self.rate if self.rate else 0) - (time.monotonic() - began)
            if left > 0 and self.playing and not (self._stopping or self._steps or self._wishes):
                self._changed.wait(left)


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
