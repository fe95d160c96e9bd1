"""`export` and `import`: a run as one file to send or keep, and back."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

import typer

from commonplace.cli.options import RUN
from commonplace.errors import command
from commonplace.run.bundle import Bundled, export_bundle, import_bundle
from commonplace.text import clean


class Exported(StrEnum):
    """What a run can be exported as."""

    BUNDLE = "bundle"


class Imported(StrEnum):
    """What a run can be imported from."""

    BUNDLE = "bundle"


FORCE = typer.Option(False, "--force", help="Replace an existing file.")


def export(
    run: Path = RUN,
    form: Exported = typer.Argument(help="The form: `bundle`, a zip file with all that the run needs."),
    output: Path | None = typer.Option(None, "-o", "--output", help="The file; RUN with the ending .zip if left out."),
    force: bool = FORCE,
) -> None:
    """Write a run to another form. A bundle is one zip file with a digest of each part, to send or to keep."""
    del form  # there is only one
    target = output or run.with_suffix(".zip")
    _print(target, export_bundle(run, target, force=force))


def import_(
    form: Imported = typer.Argument(help="The form: `bundle`, as `export` writes it."),
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
