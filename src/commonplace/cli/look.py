"""`replay` and `watch`: a recorded run, shown."""

from __future__ import annotations

from pathlib import Path

import typer

from commonplace.cli.play import View, default_view, printer
from commonplace.run.reading import Reading


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("replay", epilog="Example: commonplace replay monday.run --from 144")(replay)


def replay(
    run: Path = typer.Argument(help="The run file."),
    start: str | None = typer.Option(None, "--from", help="A tick or an ISO simulated time."),
    view: View | None = typer.Option(None, "--view", help="tui in a terminal and plain elsewhere, if left out."),
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
