"""The command line: one module per group of commands; errors say what, where and what to do."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import typer

from commonplace.cli import costs, doctor, forget, fork, inspect, ledger, memories, play, scenarios, watch
from commonplace.cli.play import INTERRUPTED
from commonplace.errors import CommonplaceError

REPORT = "nothing committed is lost; `commonplace --debug …` shows where it is, which is what a report needs"

app = typer.Typer(
    name="commonplace",
    help="Small societies of characters who remember.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
play.add_to(app)
inspect.add_to(app)
inspect.add_to_why(app)
costs.add_to(app)
memories.add_to(app)
forget.add_to(app)
ledger.add_to(app)
watch.add_to(app)
fork.add_to(app)
scenarios.add_to(app)
costs.add_to_estimate(app)
doctor.add_to(app)

WELCOME = """\
commonplace: small societies of characters who remember.

  commonplace run latticeville          watch ten characters of a neon village live (no model needed)
  commonplace scenarios                 what else there is
  commonplace new my-town.yaml          write a scenario of your own
  commonplace --help                    all commands
"""


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Small societies of characters who remember."""
    context.obj = debug
    if context.invoked_subcommand is None:
        typer.echo(WELCOME, nl=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit status: 0 fine, 1 failed, 2 wrong use, 3 paused, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        status = _status(given)
        sys.stdout.flush()
    except CommonplaceError as error:
        _say(str(error), given)
        return error.status
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _mute()
        if not isinstance(error, BrokenPipeError):
            _say(f"{error.filename or 'the output'}: cannot be read or written ({error.strerror or error})", given)
        return 1
    except Exception as error:
        _say(f"a mistake in the program ({type(error).__name__}: {error})\n  {REPORT}", given)
        return 1
    return status


def _status(given: Sequence[str]) -> int:
    try:
        app(list(given))
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def _mute() -> None:
    """What is left in the buffer of an output that cannot be written would fail again when the process ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, given: Sequence[str]) -> None:
    if "--debug" in given:
        traceback.print_exc()
    print(f"commonplace: {message}", file=sys.stderr)
