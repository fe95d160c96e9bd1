"""`replay` and `watch`: a recorded run, shown, also while another process lives it."""

from __future__ import annotations

import time
from pathlib import Path

import typer

from commonplace.cli.options import VIEW, View
from commonplace.cli.play import default_view, printer
from commonplace.run.reading import Reading

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
            from commonplace.cli.terminal import watch_recorded  # noqa: PLC0415 – Textual only where it is shown

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
            from commonplace.cli.terminal import watch_recorded  # noqa: PLC0415 – Textual only where it is shown

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
