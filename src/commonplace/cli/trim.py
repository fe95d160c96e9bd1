"""`trim`: take reasons or prompts out of the past of a run, to make its file smaller."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

from commonplace.cli.options import RUN
from commonplace.run.reading import Reading
from commonplace.run.trim import first_kept
from commonplace.run.trim import trim as trimmed


class Kind(StrEnum):
    """What can be taken out."""

    TRACES = "traces"
    PROMPTS = "prompts"


ROWS = {Kind.TRACES: "trace", Kind.PROMPTS: "call"}


def trim(
    run: Path = RUN,
    before: str | None = typer.Option(
        None, "--before", metavar="TICK", help="Trim what is older than this tick or ISO simulated time."
    ),
    keep_days: int | None = typer.Option(
        None, "--keep-days", min=0, help="Trim what is older than the last so many simulated days."
    ),
    kind: list[Kind] = typer.Option(
        [Kind.TRACES], "--kind", help="Why everybody did what they did, or what was sent to a model; repeat for both."
    ),
) -> None:
    """Drop old traces, the reasons that `why` shows, to make the file smaller. History and memories stay."""
    with Reading.open(run) as reading:
        first = first_kept(reading, before, keep_days)
    done = trimmed(run, first, [ROWS[one] for one in kind])
    counts = ", ".join(f"{done.rows[ROWS[one]]} {one}" for one in dict.fromkeys(kind))
    print(f"{run}: trimmed {counts} of the ticks before {done.before}; the file is {done.freed / 1e6:.1f} MB smaller")
