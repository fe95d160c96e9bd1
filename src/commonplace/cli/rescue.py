"""`rescue`: save what is intact of a damaged run."""

from __future__ import annotations

from pathlib import Path

import typer

from commonplace.cli.options import RUN
from commonplace.errors import command
from commonplace.run.rescue import rescue as saved
from commonplace.text import clean


def rescue(
    run: Path = RUN,
    output: Path = typer.Option(..., "-o", "--output", help="The new run file."),
    scenario: str = typer.Option(
        "",
        "--scenario",
        help="What it was made from, if the scenario in it is damaged; a shipped one is found.",
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing file."),
) -> None:
    """Save what is intact of a damaged run: the longest past that is as it was committed, in a new file."""
    done = saved(run, output, scenario=scenario, force=force)
    print(f"{output}: ticks 0 to {done.tick} of {done.last} are as they were committed")
    for lost in done.lost:
        print(f"lost: {clean(lost)}")
    if not done.lost:
        print("nothing is lost")
    print(f"continue with: {command('resume', output)}")
