"""The terminal view joined with a run, recorded or live."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal

import typer

from commonplace.cli import INTERRUPTED
from commonplace.cli.leaving import leaving
from commonplace.cli.play import lacking_terminal
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import UsageError, command
from commonplace.parts.live.live_run import LiveRun, LiveSource
from commonplace.parts.live.source import RecordedSource
from commonplace.parts.live.talk_thread import Talks
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.views.lines import is_dumb

if TYPE_CHECKING:
    from commonplace.parts.terminal.screen import TownApp

NOTICE = 30.0
"""Seconds the reason of a pause stays on the screen."""
Severity = Literal["warning", "error"]


def watch_recorded(reading: Reading, first: int | None, mind: str = "", *, trust: bool = False) -> None:
    """Plays a recording in the terminal from a tick on; None follows the latest tick, whoever makes it.

    `mind`: who answers when a character is asked; the run's own if empty.
    """
    town_app = _town_app()
    with Talks(reading, mind, trust=trust) as talks:
        app = town_app(RecordedSource(reading, talks), start=first, playing=first is not None)
        with redirected_warnings(lambda what: _notify(app, what, "warning")):
            _show(app)


def watch_live(make: Callable[[], Run], target: Place, last: int, budget: Budget) -> None:
    """Runs up to a tick and shows it. Leaving ends the run at a tick boundary. Raises what ended or paused the run."""
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
    print(f"tick {run.tick}  digest {run.digest}\nresume with: {command('resume', target)}")


def _town_app() -> type[TownApp]:
    """Imports the view on use: Textual takes a quarter of a second. Raises UsageError where it cannot be shown."""
    if lacking := lacking_terminal():
        what = f"the terminal view needs a terminal, and {lacking} is not one"
        raise UsageError(what, hint="print lines with --view plain, or start it in a terminal without redirection")
    if is_dumb():
        what = "this terminal cannot show the terminal view (TERM is dumb or not set)"
        raise UsageError(what, hint="set TERM, such as TERM=xterm-256color, or print lines with --view plain")
    from commonplace.parts.terminal.screen import TownApp  # noqa: PLC0415

    return TownApp


def _show(app: TownApp) -> None:
    """Runs the view until it is left. Raises what it could not read; Exit for a signal, and for a mistake in the view.

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
    """Shows a message on the screen, from the thread of the run."""
    with suppress(RuntimeError):  # the view is closed
        app.call_from_thread(app.notify, message, severity=severity, timeout=NOTICE, markup=False)
