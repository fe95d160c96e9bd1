"""`scenarios` and `check`: the scenarios that ship, and the mistakes in one."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from commonplace.cli.options import shipped_like
from commonplace.errors import CommonplaceError, UsageError
from commonplace.scenario.loading import find, report, shipped


def scenarios() -> None:
    """List the scenarios that ship with Commonplace."""
    for name, title, summary in shipped():
        print(f"{name:<14} {title}\n{'':<14} {summary}")


def check(
    names: list[str] = typer.Argument(help="Scenario files or shipped names.", autocompletion=shipped_like),
) -> None:
    """Report every mistake in one or more scenarios at once, with file, line and what was expected."""
    from commonplace.scenario.rules import check as mistakes_of  # noqa: PLC0415 – start-up speed of the other

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
    from commonplace.minds.prompts.templates import load_overrides  # noqa: PLC0415 – start-up speed of the other
    from commonplace.scenario.compiling import load  # noqa: PLC0415

    prompts = load(name).part.prompts
    if prompts:
        load_overrides(prompts, beside=Path(name).expanduser().parent)
