"""`replay` and `watch`, and the terminal view joined with a run, recorded or live."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

import typer

from commonplace.cli import INTERRUPTED
from commonplace.cli.leaving import leaving
from commonplace.cli.options import TRUST, VIEW, View
from commonplace.cli.play import default_view, lacking_terminal, printer
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from commonplace.live.live_run import LiveRun, LiveSource
from commonplace.live.talk_thread import Talks
from commonplace.run.reading import Reading
from commonplace.views.lines import is_dumb
from commonplace.views.source import RecordedSource

if TYPE_CHECKING:
    from commonplace.views.terminal.screen import TownApp

LOOK_EVERY = 0.2
"""Seconds between two checks for new ticks."""
NOTICE = 30.0
"""Seconds the reason of a pause stays on the screen."""
MIND = typer.Option("", "--mind", help="Who answers when you ask a character; the run's own mind if left out.")
Severity = Literal["warning", "error"]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("replay", epilog="Example: commonplace replay monday.run --from 144")(replay)
    app.command("watch", epilog="Example: commonplace watch monday.run")(watch)


def replay(
    run: Path = typer.Argument(help="The run file."),
    start: str | None = typer.Option(None, "--from", help="A tick or an ISO simulated time."),
    view: View | None = VIEW,
    mind: str = MIND,
    trust: bool = TRUST,
) -> None:
    """Show a recorded run again, without a mind: any speed, from any tick, both ways."""
    chosen = view or default_view()
    with Reading.open(run) as reading:
        first = reading.tick(start) if start is not None else 0
        if chosen is View.TUI:
            watch_recorded(reading, first, mind, trust=trust)
            return
        show_frame = printer(reading.scenario.part, chosen)
        for tick in range(first, reading.last_tick + 1):
            show_frame(reading, tick)
        if chosen is not View.JSON:
            print(f"tick {reading.last_tick}  digest {reading.digest()}")


def watch(
    run: Path = typer.Argument(help="The run file."),
    view: View | None = VIEW,
    mind: str = MIND,
    trust: bool = TRUST,
) -> None:
    """Show a run that another process continues, from its latest tick; until interrupted."""
    chosen = view or default_view()
    with Reading.open(run) as reading:
        if chosen is View.TUI:
            watch_recorded(reading, None, mind, trust=trust)
            return
        show_frame = printer(reading.scenario.part, chosen)
        shown = reading.last_tick - 1
        while True:
            last = reading.last_tick
            for tick in range(shown + 1, last + 1):
                show_frame(reading, tick)
            shown = last
            time.sleep(LOOK_EVERY)


def watch_recorded(reading: Reading, first: int | None, mind: str = "", *, trust: bool = False) -> None:
    """Play a recording in the terminal from a tick on; None follows the latest tick, whoever makes it.

    `mind`: who answers when a character is asked; the run's own if empty.
    """
    town_app = _town_app()
    with Talks(reading, mind, trust=trust) as talks:
        app = town_app(RecordedSource(reading, talks), start=first, playing=first is not None)
        with redirected_warnings(lambda what: _notify(app, what, "warning")):
            _show(app)


def watch_live(make: Callable[[], Run], target: Path, last: int, budget: Budget) -> None:
    """Run up to a tick and show it. Leaving ends the run at a tick boundary. Raises what ended or paused the run."""
    town_app = _town_app()
    run = LiveRun(make, last, budget)
    run.start()
    try:
        with Reading.open(target) as reading, Talks(reading) as talks:
            app = town_app(LiveSource(reading, run, talks))
            run.on_stop = lambda why: _notify(app, why, "error")
            with redirected_warnings(lambda what: _notify(app, what, "warning")):
                _show(app)
    finally:
        run.stop()
    run.raise_failure()
    print(f"tick {run.tick}  digest {run.digest}\nresume with: commonplace resume {quote(str(target))}")


def _town_app() -> type[TownApp]:
    """The view, imported on use: Textual takes a quarter of a second. Raises UsageError where it cannot be shown."""
    if lacking := lacking_terminal():
        what = f"the terminal view needs a terminal, and {lacking} is not one"
        raise UsageError(what, hint="print lines with --view plain, or start it in a terminal without redirection")
    if is_dumb():
        what = "this terminal cannot show the terminal view (TERM is dumb or not set)"
        raise UsageError(what, hint="set TERM, such as TERM=xterm-256color, or print lines with --view plain")
    from commonplace.views.terminal.screen import TownApp  # noqa: PLC0415

    return TownApp


def _show(app: TownApp) -> None:
    """Run the view until it is left. Raises what it could not read; Exit for a signal, and for a mistake in the view.

    Textual prints the mistake.
    """
    asyncio.run(_shown(app))
    if app.failure is not None:
        raise app.failure
    if app.return_code:
        raise typer.Exit(app.return_code)


async def _shown(app: TownApp) -> None:
    async with leaving(lambda: app.exit(return_code=INTERRUPTED), (0, 1, 2)):
        await app.run_async()


@contextmanager
def redirected_warnings(tell: Callable[[str], None]) -> Generator[None]:
    """Pass warnings such as "waiting for a server" on: on standard error they would be painted over the view."""
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: tell(record.getMessage())
    logger = logging.getLogger("commonplace")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _notify(app: TownApp, message: str, severity: Severity) -> None:
    """Say something on the screen, from the thread of the run."""
    with suppress(RuntimeError):  # the view is closed
        app.call_from_thread(app.notify, message, severity=severity, timeout=NOTICE, markup=False)
