"""What is done to run files as files: `export`, `import`, `trim`, `rescue`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

import typer

from commonplace.cli.options import FORCE, RUN
from commonplace.errors import command
from commonplace.run.bundle import Bundled, export_bundle, import_bundle
from commonplace.run.reading import Reading
from commonplace.run.rescue import rescue as saved
from commonplace.run.trim import first_kept
from commonplace.run.trim import trim as trimmed
from commonplace.text import clean


class Form(StrEnum):
    """What a run can be exported as and imported from."""

    BUNDLE = "bundle"


class Kind(StrEnum):
    """What can be trimmed."""

    TRACES = "traces"
    PROMPTS = "prompts"


ROWS = {Kind.TRACES: "trace", Kind.PROMPTS: "call"}


def export(
    run: Path = RUN,
    form: Form = typer.Argument(help="The form: `bundle`, a zip file with all that the run needs."),
    output: Path | None = typer.Option(None, "-o", "--output", help="The file; RUN with the ending .zip if left out."),
    force: bool = FORCE,
) -> None:
    """Write a run to another form. A bundle is one zip file with a digest of each part, to send or to keep."""
    del form  # there is only one
    target = output or run.with_suffix(".zip")
    _print(target, export_bundle(run, target, force=force))


def import_(
    form: Form = typer.Argument(help="The form: `bundle`, as `export` writes it."),
    source: Path = typer.Argument(metavar="PATH", help="The file to import."),
    output: Path = typer.Option(..., "-o", "--output", help="The new run file."),
    force: bool = FORCE,
) -> None:
    """Make a run of what was exported. All of it is checked before the run appears."""
    del form
    _print(output, import_bundle(source, output, force=force))
    print(f"run it again to compare: {command('verify', output)}", file=sys.stderr)


def _print(target: Path, bundled: Bundled) -> None:
    for need in bundled.needs:
        print(f"to be resumed, the run also needs what its mind reads: {clean(need)}", file=sys.stderr)
    print(f"{target}: {clean(bundled.scenario)}, tick {bundled.tick}  digest {clean(bundled.history)}")


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


def rescue(
    run: Path = RUN,
    output: Path = typer.Option(..., "-o", "--output", help="The new run file."),
    scenario: str = typer.Option(
        "",
        "--scenario",
        help="What it was made from, if the scenario in it is damaged; a shipped one is found.",
    ),
    force: bool = FORCE,
) -> None:
    """Save what is intact of a damaged run: the longest past that is as it was committed, in a new file."""
    done = saved(run, output, scenario=scenario, force=force)
    print(f"{output}: ticks 0 to {done.tick} of {done.last} are as they were committed")
    for lost in done.lost:
        print(f"lost: {clean(lost)}")
    if not done.lost:
        print("nothing is lost")
    print(f"continue with: {command('resume', output)}")
