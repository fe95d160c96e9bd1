"""`replay` and `watch`: a recorded run, shown, also while another process lives it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Mapping
from concurrent.futures import Future, wait
from contextlib import aclosing, contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

import typer

from commonplace.cli.options import VIEW, View
from commonplace.cli.play import default_view, printer
from commonplace.engine.budget import Budget
from commonplace.engine.god_mode import described
from commonplace.engine.run import Run
from commonplace.errors import Paused, UsageError
from commonplace.run.reading import Reading
from commonplace.views.source import RecordedSource
from commonplace.views.terminal.screen import TownApp

# ── living ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# A run being lived in a thread of its own, for a view that draws in another.


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
        raise UsageError("the run has ended", hint="leave the view and resume it")

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
                await self._session(run)
            except Paused as error:
                if self._budget != Budget():  # what is left of it is not known any more
                    raise
                self.halted, self.playing = error, False
                self.tell(f"{error.what}\n  see to it and play on; nothing committed is lost")

    async def _session(self, run: Run) -> None:
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


# ── terminal ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# The terminal view joined with a run: one being lived in a thread of its own, or a recorded one.


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
            return described(await run.preview(text), run.scenario)

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
    event = await run.preview(str(body["text"]))
    run.submit(event)
    return f"at tick {run.tick + 1}: {described(event, run.scenario)}"


# ── look ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


LOOK_EVERY = 0.2
"""Seconds between two looks at whether the run has gone on."""


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("replay", epilog="Example: commonplace replay monday.run --from 144")(replay)
    app.command("watch", epilog="Example: commonplace watch monday.run")(watch)


def replay(
    run: Path = typer.Argument(help="The run file."),
    start: str | None = typer.Option(None, "--from", help="A tick or an ISO simulated time."),
    view: View | None = VIEW,
) -> None:
    """Show a recorded run again, without a mind: any speed, from any tick, both ways."""
    chosen = view or default_view()
    with Reading.open(run) as reading:
        first = reading.tick(start) if start is not None else 0
        if chosen is View.TUI:
            watch_recorded(reading, first)
            return
        show_frame = printer(reading.scenario.part, chosen)
        for tick in range(first, reading.last_tick + 1):
            show_frame(reading, tick)
        if chosen is not View.JSON:
            print(f"tick {reading.last_tick}  digest {reading.digest()}")


def watch(
    run: Path = typer.Argument(help="The run file."),
    view: View | None = VIEW,
) -> None:
    """Look on while another process lives a run, from its latest tick; until interrupted."""
    chosen = view or default_view()
    with Reading.open(run) as reading:
        if chosen is View.TUI:
            watch_recorded(reading, None)
            return
        show_frame = printer(reading.scenario.part, chosen)
        shown = reading.last_tick - 1
        while True:
            last = reading.last_tick
            for tick in range(shown + 1, last + 1):
                show_frame(reading, tick)
            shown = last
            time.sleep(LOOK_EVERY)
