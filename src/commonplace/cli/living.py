"""A run being lived in a thread of its own, for a view that draws in another."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import aclosing, suppress
from queue import SimpleQueue
from typing import Any

from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import Paused, WrongUse

DEFAULT_RATE = 2.0
"""Ticks per second at the start: five simulated minutes in half a second."""
PATIENCE = 2.0
"""Seconds in which a tick under way may end when the view is left; then it is given up."""
Wish = tuple[Callable[[Run], Awaitable[Any]], "Future[Any]"]


class Living:
    """It owns the run file; everybody else asks through here. What is set from outside takes effect between ticks."""

    def __init__(self, make: Callable[[], Run], last: int, budget: Budget) -> None:
        self.last = last
        self.tick = 0
        self.digest = ""
        self.rate = DEFAULT_RATE
        self.playing = True
        self.failure: BaseException | None = None
        """What ended the run."""
        self.halted: Paused | None = None
        """Why it waits: the mind could not be had. Playing on tries again."""
        self.tell: Callable[[str], None] = lambda _: None
        """Told why no more ticks come, when none come."""
        self._make = make
        self._budget = budget
        self._steps = 0
        self._stopping = False
        self._wishes: SimpleQueue[Wish] = SimpleQueue()
        self._watchers: list[Callable[[int], None]] = []
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._live, name="run", daemon=True)

    def start(self) -> None:
        """Begin; returns when the run can be read. Raises what making it raised."""
        self._thread.start()
        self._ready.wait()
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """End at a tick boundary and give the file up. A tick that takes long is given up: it has not happened."""
        self._stopping = True
        self._wake()
        self._thread.join(PATIENCE)
        while self._thread.is_alive():
            with suppress(RuntimeError):  # it ends by itself just now
                self._loop.call_soon_threadsafe(self._give_up)
            self._thread.join(PATIENCE)

    def raise_failure(self) -> None:
        """Raise what ended or halted the run, if it did not end by itself."""
        error = self.failure or self.halted
        if error is not None:
            raise error

    def wish(self, doing: Callable[[Run], Awaitable[Any]]) -> Any:
        """Do something with the run in its own thread, between two ticks; returns or raises what it does."""
        granted: Future[Any] = Future()
        self._wishes.put((doing, granted))
        self._wake()
        while self._thread.is_alive() and not granted.done():
            wait([granted], timeout=0.2)
        if granted.done():
            return granted.result()
        raise WrongUse("the run has ended", todo="leave the view and resume it")

    def control(self, *, playing: bool | None = None, rate: float | None = None, steps: int = 0) -> None:
        """Pause, play, step, speed: they decide when, never what."""
        self.playing = self.playing if playing is None else playing
        self.rate = self.rate if rate is None else rate
        self._steps += steps
        self._wake()

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Call back after each commit; returns what ends it."""
        self._watchers.append(committed)
        return lambda: self._watchers.remove(committed)

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._changed.set)

    def _give_up(self) -> None:
        if self._playing is not None:
            self._playing.cancel()

    # ── in the thread of the run ────────────────────────────────────────────────────────────────────────────────────

    def _live(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner, self._make() as run:
                self._note(run)
                self._ready.set()
                runner.run(self._play(run))
        except asyncio.CancelledError:
            pass  # given up by `stop`
        except BaseException as error:
            self.failure = error
            self.tell(str(error))
        finally:
            self._ready.set()

    async def _play(self, run: Run) -> None:
        self._playing = asyncio.current_task()
        while not self._stopping:
            try:
                await self._sitting(run)
            except Paused as error:
                if self._budget != Budget():  # what is left of it is not known any more
                    raise
                self.halted, self.playing = error, False
                self.tell(f"{error.what}\n  see to it and play on; nothing committed is lost")

    async def _sitting(self, run: Run) -> None:
        """Ticks for as long as they are wanted and the mind can be had."""
        async with aclosing(run.play(until=self.last, budget=self._budget)) as ticks:
            while await self._wanted(run):
                began = time.monotonic()
                await anext(ticks)
                self.halted = None
                self._note(run)
                for watcher in tuple(self._watchers):
                    watcher(run.tick)
                await self._breathe(began)

    def _note(self, run: Run) -> None:
        self.tick, self.digest = run.tick, run.file.digests.history.hex()

    async def _wanted(self, run: Run) -> bool:
        """Until the next tick is wanted; False when none is."""
        while True:
            self._changed.clear()
            while not self._wishes.empty():
                await _granted(self._wishes.get(), run)
            if self._stopping:
                return False
            if (self._steps or self.playing) and run.tick < self.last:
                self._steps = max(0, self._steps - 1)
                return True
            await self._changed.wait()

    async def _breathe(self, began: float) -> None:
        """Wait for the rest of the tick's share of time, or until something is wanted."""
        left = (1 / self.rate if self.rate else 0) - (time.monotonic() - began)
        if left > 0 and self.playing:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)


async def _granted(wish: Wish, run: Run) -> None:
    doing, granted = wish
    try:
        granted.set_result(await doing(run))
    except Exception as error:
        granted.set_exception(error)
