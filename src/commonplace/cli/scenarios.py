"""Commands about scenarios: scenarios, check, new."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from commonplace.errors import CommonplaceError, UsageError
from commonplace.scenario.loading import find, report, shipped
from commonplace.scenario.rules import check as mistakes_of
from commonplace.scenario.scaffold import new as write_new


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("scenarios", epilog="Example: commonplace scenarios")(scenarios)
    app.command("check", epilog="Example: commonplace check my-town.yaml")(check)
    app.command("new", epilog="Example: commonplace new my-town.yaml --size 5")(new)


def scenarios() -> None:
    """What ships with Commonplace."""
    for name, title, summary in shipped():
        print(f"{name:<14} {title}\n{'':<14} {summary}")


def check(names: list[str] = typer.Argument(help="Scenario files or shipped names.")) -> None:
    """Report every mistake of a scenario at once, with file, line and what was expected."""
    wrong = 0
    for name in names:
        try:
            found = mistakes_of(find(name))
        except CommonplaceError as error:
            print(error, file=sys.stderr)
            wrong += 1
            continue
        if found:
            print(report(found), file=sys.stderr)
            wrong += len(found)
        else:
            print(f"{name}: fine")
    if wrong:
        raise UsageError(f"{wrong} mistake{'s' if wrong > 1 else ''}", hint="mend them and check again")


def new(
    path: Path = typer.Argument(help="The file to write."),
    size: int = typer.Option(2, "--size", min=1, max=50, help="How many characters."),
) -> None:
    """Write a small scenario that lives, to be changed into one's own."""
    write_new(path, size)
    print(f"wrote {path}; live it with: commonplace run {path}")
