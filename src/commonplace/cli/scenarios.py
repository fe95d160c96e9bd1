"""`scenarios`, `check` and `new`: the scenarios that ship, mistakes in one, a new one."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from commonplace.cli.options import FORCE
from commonplace.errors import CommonplaceError, UsageError, command
from commonplace.scenario.loading import find, report, shipped
from commonplace.scenario.scaffold import new as write_new


def scenarios() -> None:
    """List the scenarios that ship with Commonplace."""
    for name, title, summary in shipped():
        print(f"{name:<14} {title}\n{'':<14} {summary}")


def check(names: list[str] = typer.Argument(help="Scenario files or shipped names.")) -> None:
    """Report every mistake in one or more scenarios at once, with file, line and what was expected."""
    from commonplace.scenario.rules import check as mistakes_of  # noqa: PLC0415 – start-up speed of the other two

    wrong = 0
    for name in names:
        try:
            found = mistakes_of(find(name))
            if not found:
                _check_prompts(name)
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
        raise UsageError(f"{wrong} mistake{'s' if wrong > 1 else ''} in all", hint="fix them and check again")


def _check_prompts(name: str) -> None:
    """Raises UsageError for a mistake in a scenario's own prompts, and for a folder of them that lies elsewhere."""
    from commonplace.minds.prompts.templates import load_overrides  # noqa: PLC0415 – start-up speed of the other two
    from commonplace.scenario.compiling import load  # noqa: PLC0415

    prompts = load(name).part.prompts
    if prompts:
        load_overrides(prompts, beside=Path(name).expanduser().parent)


def new(
    path: Path = typer.Argument(help="The file to write."),
    size: int = typer.Option(2, "--size", min=1, max=200, help="How many characters."),
    force: bool = FORCE,
) -> None:
    """Write a small scenario that runs as it is, to start your own from."""
    path = write_new(path, size, force=force)
    print(f"wrote {path}; run it with: {command('run', path)}")
