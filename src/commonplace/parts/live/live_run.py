"""A run in a thread of its own, and the source that lets a view watch and control it.

Textual needs the main thread for its signals, and a tick may take long; so the run gets the other thread, with an event
loop of its own. The view reads the run file like any other reader and asks through `LiveRun` for everything else.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import aclosing, suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import Paused, UsageError
from commonplace.minds.mind import listening
from commonplace.parts.live.source import Conversation, RecordedSource
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import character_json, newcomer_from_file

DEFAULT_RATE = 2.0
"""Ticks per second at the start."""
PATIENCE = 2.0
"""Seconds a running tick may take to finish when the view is closed; then it is cancelled."""

Call = tuple[Callable[[Run], Awaitable[Any]], "Future[Any]"]


class LiveRun:
    """The owner of the run and its file.

    Other threads reach both only through here, and changes wait for a tick boundary.
    """

    def __init__(self, make: Callable[[], Run], last: int, budget: Budget) -> None:
        self.last = last
        """The tick to run up to."""
        self.tick = 0
        """The last committed tick."""
        self.digest = ""
        self.rate = DEFAULT_RATE
        """Ticks per second aimed at; 0 for as fast as possible."""
        self.playing = True
        self.failure: BaseException | None = None
        """What ended the run."""
        self.paused: Paused | None = None
        """Why it waits: the mind could not be reached. `control(playing=True)` tries again."""
        self.speaking: Mapping[str, str] = {}
        """Character → what it is saying, as far as a model has written it; empty between ticks."""
        self.on_speech: Callable[[], None] = lambda: None
        """Called from the run's thread when `speaking` has changed within a tick."""
        self.on_stop: Callable[[str], None] = lambda _: None
        """Called with the reason when no more ticks come."""
        self._make = make
        self._budget = budget
        self._steps = 0
        self._stopping = False
        self._calls: SimpleQueue[Call] = SimpleQueue()
        self._subscribers: list[Callable[[int], None]] = []
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._changed = asyncio.Event()
        self._playing: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), name="run", daemon=True)

    def start(self) -> None:
        """Starts the thread and waits until the run can be read. Raises the error if the run cannot be created."""
        self._thread.start()
        self._ready.wait()
        if self.failure is not None:
            raise self.failure

    def stop(self) -> None:
        """Ends at a tick boundary and closes the file. A tick that takes too long is cancelled without a trace."""
        self._stopping = True
        self._wake()
        self._thread.join(PATIENCE)
        while self._thread.is_alive():
            with suppress(RuntimeError):  # the loop has just closed by itself
                self._loop.call_soon_threadsafe(self._cancel)
            self._thread.join(PATIENCE)

    def raise_failure(self) -> None:
        """Raises what ended or paused the run, if anything did."""
        error = self.failure or self.paused
        if error is not None:
            raise error

    def call(self, function: Callable[[Run], Awaitable[Any]]) -> Any:
        """Calls a function with the run in the run's thread, between two ticks.

        Returns or raises what the function does.
        """
        result: Future[Any] = Future()
        self._calls.put((function, result))
        self._wake()
        while self._thread.is_alive() and not result.done():
            wait([result], timeout=0.2)
        if result.done():
            return result.result()
        raise UsageError("the run has ended", hint="leave the view and resume it")

    def control(self, *, playing: bool | None = None, rate: float | None = None, steps: int = 0) -> None:
        """Pauses, plays, steps or sets the speed. This decides when a tick is made, never what happens in it."""
        self.playing = self.playing if playing is None else playing
        self.rate = self.rate if rate is None else rate
        self._steps += steps
        self._wake()

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Calls `committed(tick)` after each commit, from the run's thread. Returns a function that ends the calls."""
        self._subscribers.append(committed)
        return lambda: self._subscribers.remove(committed)

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._changed.set)

    def _cancel(self) -> None:
        if self._playing is not None:
            self._playing.cancel()

    # ── in the thread of the run ────────────────────────────────────────────────────────────────────────────────────

    def _run(self) -> None:
        try:
            with (
                listening(self._heard),
                asyncio.Runner(loop_factory=lambda: self._loop) as runner,
                self._make() as run,
            ):
                self.last = min(self.last, run.length or self.last)
                self._note_position(run)
                self._ready.set()
                runner.run(self._play(run))
        except asyncio.CancelledError:
            pass  # by `stop`
        except BaseException as error:
            self.failure, self.speaking = error, {}
            self.on_stop(str(error))
        finally:
            self._ready.set()

    async def _play(self, run: Run) -> None:
        self._playing = asyncio.current_task()
        while not self._stopping:
            try:
                await self._play_until_paused(run)
            except Paused as error:
                if self._budget != Budget():  # how much of it is left is no longer known
                    raise
                self.paused, self.playing, self.speaking = error, False, {}
                self.on_stop(f"{error.what}\n  nothing committed is lost; play to try again")

    async def _play_until_paused(self, run: Run) -> None:
        async with aclosing(run.play(until=self.last, budget=self._budget)) as ticks:
            while await self._next_is_wanted(run):
                began = time.monotonic()
                await anext(ticks)
                self.paused = None
                self._note_position(run)
                for committed in tuple(self._subscribers):
                    committed(run.tick)
                await self._keep_rate(began)

    def _heard(self, agent: str, words: str) -> None:
        """Keeps what is being said in a new mapping each time, because other threads read it."""
        if words != self.speaking.get(agent, ""):
            now = {**self.speaking, agent: words}  # each keeps its place
            self.speaking = {one: said for one, said in now.items() if said}
            self.on_speech()

    def _note_position(self, run: Run) -> None:
        self.tick, self.digest, self.speaking = run.tick, run.file.digests.history.hex(), {}

    async def _next_is_wanted(self, run: Run) -> bool:
        """Waits until the next tick is wanted, answering calls meanwhile. Returns False when the view is left."""
        while True:
            self._changed.clear()
            while not self._calls.empty():
                await _answer(self._calls.get(), run)
            if self._stopping:
                return False
            if (self._steps or self.playing) and run.tick < self.last:
                self._steps = max(0, self._steps - 1)
                return True
            await self._changed.wait()

    async def _keep_rate(self, began: float) -> None:
        """Waits for the rest of the tick's share of time, or until something changes."""
        left = (1 / self.rate if self.rate else 0) - (time.monotonic() - began)
        if left > 0 and self.playing:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)


async def _answer(call: Call, run: Run) -> None:
    function, result = call
    try:
        result.set_result(await function(run))
    except Exception as error:
        result.set_exception(error)


class LiveSource(RecordedSource):
    """A live run as the terminal view reads and controls it."""

    def __init__(
        self, reading: Reading, run: LiveRun, converse: Callable[[str, int], Conversation] | None = None
    ) -> None:
        super().__init__(reading, converse)
        self._run = run

    @property
    def live(self) -> bool:
        """Always True."""
        return True

    @property
    def playing(self) -> bool:
        """Tells whether ticks are being made."""
        return self._run.playing and self._run.tick < self._run.last

    @property
    def rate(self) -> float:
        """The target in ticks per second; 0 for as fast as possible."""
        return self._run.rate

    @property
    def last_tick(self) -> int:
        """The latest committed tick, known without a query."""
        return self._run.tick

    @property
    def progress(self) -> str:
        """The reason why no more ticks come; empty while they do."""
        if self._run.failure is not None:
            return f"the run has ended: {self._run.failure}"
        if self._run.paused is not None:
            return f"paused: {self._run.paused.what}"
        return f"reached tick {self._run.last}" if self._run.tick >= self._run.last else ""

    @property
    def speaking(self) -> Mapping[str, str]:
        """The words that the characters are saying in the tick that is being made."""
        return self._run.speaking

    def preview(self, text: str, agent: str = "") -> str:
        """Tells what a god-mode sentence will do, or what a character attempts."""

        async def preview(run: Run) -> str:
            return run.described(await run.preview(text, agent))

        return self._run.call(preview)

    def submit(self, body: Mapping[str, Any]) -> str:
        """Queues a god-mode sentence, an inner voice or another input."""
        return self._run.call(lambda run: _submit(run, body))

    def play(self) -> None:
        """Makes ticks."""
        self._run.control(playing=True)

    def pause(self) -> None:
        """Stops at the next boundary."""
        self._run.control(playing=False)

    def step(self) -> None:
        """Makes one tick."""
        self._run.control(playing=False, steps=1)

    def speed(self, rate: float) -> None:
        """Sets the ticks per second to aim at."""
        self._run.control(rate=rate)

    def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
        """Calls back after each commit."""
        return self._run.subscribe(committed)


async def _submit(run: Run, body: Mapping[str, Any]) -> str:
    """Queues an input and returns when it takes effect. What somebody perceives or does follows an input by a tick."""
    if body["kind"] == "god":
        event = await run.preview(str(body["text"]))
        run.submit(event)
        return f"at tick {run.tick + 1}: {run.described(event)}"
    if body.get("newcomer"):
        character = newcomer_from_file(str(body["newcomer"]), run.scenario)
        run.submit(
            {**{key: body[key] for key in ("kind", "area") if body.get(key)}, "character": character_json(character)}
        )
        return f"{character.name} comes in at tick {run.tick + 1}"
    agent = body["agent_id"]
    who = run.scenario.geography.name(agent)
    if body["kind"] == "voice":
        run.submit({"kind": "inner_voice", "agent_id": agent, "text": body["text"]})
        return f"{who} will think of it at tick {run.tick + 2}"
    queued = (row.body for row in run.file.queued())
    waiting = sum(one["kind"] in ("take_over", "attempt") and one["agent_id"] == agent for one in queued)
    if body["kind"] == "attempt":
        attempt = await run.preview(str(body["text"]), agent)
        if not run.plays(agent):  # or it would do something of its own at the same time
            run.submit({"kind": "take_over", "agent_id": agent})
            waiting += 1
        run.submit(attempt)
        return f"at tick {run.tick + 1 + waiting}: {run.described(attempt)}"
    run.submit(body)
    return f"{who}: from tick {run.tick + 2 + waiting}"
