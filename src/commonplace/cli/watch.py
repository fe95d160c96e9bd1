"""`replay` and `watch`: a recorded run shown again, and one that another process makes."""

from __future__ import annotations

import time

import typer

from commonplace.cli.options import RUN, TRUST, VIEW, View
from commonplace.cli.play import default_view, printer
from commonplace.registry import VIEWS, found
from commonplace.run.place import Place
from commonplace.run.reading import Reading

LOOK_EVERY = 0.2
"""Seconds between two checks for new ticks."""
MIND = typer.Option("", "--mind", help="Who answers when you ask a character; the run's own mind if left out.")


def replay(
    run: Place = RUN,
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
            found(VIEWS["recorded"])(reading, first, mind, trust=trust)
            return
        show_frame = printer(reading.scenario.part, chosen)
        for tick in range(first, reading.last_tick + 1):
            show_frame(reading, tick)
        if chosen is not View.JSON:
            print(f"tick {reading.last_tick}  digest {reading.digest()}")


def watch(
    run: Place = RUN,
    view: View | None = VIEW,
    mind: str = MIND,
    trust: bool = TRUST,
) -> None:
    """Show a run that another process continues, from its latest tick; until interrupted."""
    chosen = view or default_view()
    with Reading.open(run) as reading:
        if chosen is View.TUI:
            found(VIEWS["recorded"])(reading, None, mind, trust=trust)
            return
        show_frame = printer(reading.scenario.part, chosen)
        shown = reading.last_tick - 1
        while True:
            last = reading.last_tick
            for tick in range(shown + 1, last + 1):
                show_frame(reading, tick)
            shown = last
            time.sleep(LOOK_EVERY)
