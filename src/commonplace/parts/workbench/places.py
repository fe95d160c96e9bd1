"""Where runs are kept: `runs` lists them, `copy` copies them between files and databases."""

from __future__ import annotations

import sys
from dataclasses import asdict

import typer

from commonplace.cli.consent import YES
from commonplace.cli.options import FORCE, JSON
from commonplace.cli.output import print_json, print_table, working
from commonplace.cli.settings import runs_folder
from commonplace.errors import UsageError
from commonplace.run.copying import copy_run
from commonplace.run.listing import ENDING, Listed, delete_run, runs_in
from commonplace.run.place import Address, Place, place
from commonplace.run.reading import Reading


def copy(
    source: Place = typer.Argument(parser=place, metavar="FROM", help="The run: a file or an address."),
    target: Place = typer.Argument(
        parser=place, metavar="TO", help="A file, postgresql://…#NAME or embedded:FOLDER#NAME; made if missing."
    ),
    force: bool = FORCE,
) -> None:
    """Copy a run, as it is now, to a file or a database. Its digests stay the same, and talks about it go along.

    A fork in a database shares its parent's past; a copy of it needs no other run.
    """
    with working(lambda: "the run is checked and copied"):
        made = copy_run(source, target, force=force)
        with Reading.open(made) as run:
            last, digest = run.last_tick, run.digest()
    print(f"{made}: tick {last}  digest {digest}")


def runs(
    where: Place | None = typer.Argument(
        None, parser=place, metavar="[FOLDER|URL]", help="A folder or a database; the runs folder if left out."
    ),
    as_json: bool = JSON,
    delete: str = typer.Option("", "--delete", metavar="NAME", help="Delete this run, and the talks about it."),
    yes: bool = typer.Option(False, "--yes", help="Delete without asking."),
) -> None:
    """List the runs of a folder or a database: scenario, ticks, what each was forked from, how large it is."""
    home = where or runs_folder()
    if delete:
        one = home.named(delete) if isinstance(home, Address) else home / f"{delete.removesuffix(ENDING)}{ENDING}"
        _agree(one, yes=yes)
        delete_run(one)
        print(f"{one}: deleted", file=sys.stderr)
        return
    listed = runs_in(home)
    if as_json:
        print_json(asdict(one) for one in listed)
        return
    head = ["run", "scenario", "forked from", "", "seed", "ticks", "size"]
    print_table(head, map(_row, listed), words=4)


def _row(one: Listed) -> list[str]:
    origin = f"{one.parent} at tick {one.parent_tick}" if one.parent else ""
    state = one.problem or ("live" if one.live else "")
    figures = ["", ""] if one.problem else [str(one.seed), str(one.ticks)]
    return [one.run, one.scenario, origin, state, *figures, f"{one.size / 1e6:.1f} MB"]


def _agree(run: Place, *, yes: bool) -> None:
    """Asks whether a run is to be deleted. Raises UsageError for a no, and where nobody is there to ask."""
    if yes:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(f"Delete {run} for good? [y/N] ", end="", file=sys.stderr, flush=True)
        if sys.stdin.readline().strip().casefold() in YES:
            return
        raise UsageError("nothing was deleted", where=str(run))
    raise UsageError("a run is deleted only after a yes", where=str(run), hint="add --yes")
