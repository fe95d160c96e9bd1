"""`scenarios` and `check`: the scenarios that ship, and the mistakes in one."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import typer

from commonplace.cli.options import JSON, shipped_like
from commonplace.errors import CommonplaceError, UsageError
from commonplace.scenario.loading import Mistake, find, report, shipped


def scenarios(as_json: bool = JSON) -> None:
    """List the scenarios that ship with Commonplace."""
    if as_json:
        from commonplace.cli.output import print_json  # noqa: PLC0415 – imports Rich

        print_json({"name": name, "title": title, "summary": summary} for name, title, summary in shipped())
        return
    for name, title, summary in shipped():
        print(f"{name:<14} {title}\n{'':<14} {summary}")


def check(
    names: list[str] = typer.Argument(help="Scenario files or shipped names.", autocompletion=shipped_like),
    as_json: bool = JSON,
) -> None:
    """Report every mistake in one or more scenarios at once, with file, line and what was expected."""
    wrong = 0
    for name in names:
        found, said = _mistakes(name)
        wrong += len(found)
        if as_json:
            from commonplace.cli.output import print_json  # noqa: PLC0415 – imports Rich

            print_json([{"scenario": name, "mistakes": [asdict(one) for one in found]}])
        elif found:
            print(said, file=sys.stderr)
        else:
            print(f"{name}: fine")
    if wrong:
        raise UsageError(f"{wrong} mistake{'s' if wrong > 1 else ''} in all", hint="fix them and check again")


def _mistakes(name: str) -> tuple[list[Mistake], str]:
    """Returns all mistakes in a scenario, and in words; where it or its prompts cannot be read, that is the only
    one."""
    from commonplace.minds.prompts.templates import load_overrides  # noqa: PLC0415 – start-up speed of the other
    from commonplace.scenario.compiling import load  # noqa: PLC0415
    from commonplace.scenario.rules import check as mistakes_of  # noqa: PLC0415

    try:
        found = mistakes_of(find(name))
        if not found and (prompts := load(name).part.prompts):
            load_overrides(prompts, beside=Path(name).expanduser().parent)
        return found, report(found)
    except CommonplaceError as error:
        return [Mistake(error.where or name, 0, "", error.what, error.hint)], str(error)
