"""The command line: each command is loaded when it is called, and one place makes words of errors.

`commonplace --help` prints the table in `registry.py` and imports none of the commands; that keeps it fast.
"""

from __future__ import annotations

import gc
import os
import signal
import stat
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from keyword import iskeyword
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, cast

import typer
import typer.main
from typer.core import TyperGroup

from commonplace.cli.settings import LOG, runs_folder, use_settings
from commonplace.errors import CommonplaceError, UsageError, command, program
from commonplace.registry import COMMANDS, GROUPS, found
from commonplace.text import PrintableStream

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

INTERRUPTED = 130
"""The exit status after Ctrl-C, as shells have it, and after SIGTERM and SIGHUP."""
interrupts: list[int] = []
"""These signals so far, in this command. The KeyboardInterrupt that one raised may be lost: pydantic takes it for a
mistake in what it checks or builds."""


def expect_many_objects() -> None:
    """Makes Python look for cyclic garbage less often than by itself: a large town is a million objects that stay."""
    gc.set_threshold(50_000, 10, 50)


FIRST = (
    ("run latticeville", "watch ten characters of a neon village live (no model needed)"),
    ("serve latticeville", "the same in the browser"),
    ("scenarios", "list the scenarios that ship with it"),
    ("new my-town.yaml", "write a scenario of your own"),
    ("--help", "list all commands"),
)
NEXT = (
    ("resume", "go on with it"),
    ("replay", "watch it again"),
    ("why", "ask why somebody did or said something"),
    ("agents", "who is where; then `talk RUN NAME`"),
)
BUG = "nothing committed is lost; `commonplace --debug …` shows the traceback, which a bug report needs"


class LazyGroup(TyperGroup):
    """Imports a command's module when the command is called or asked for its help."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 – Typer's signature
        """Returns the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Returns the command of that name; None if it does not exist."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        function = found(f"{entry.module}:{name}")
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(cmd_name, epilog=f"Example: commonplace {entry.example}")(function)
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first word names. Raises UsageError for an unknown one, with the nearest
        names."""
        if args[0] in COMMANDS:
            return super().resolve_command(ctx, args)
        near = get_close_matches(args[0], COMMANDS)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise UsageError(f"there is no command {args[0]!r}", hint=f"{hint}`commonplace --help` lists all commands")

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Writes the table, group by group, without importing a command."""
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in group.items()])


app = typer.Typer(
    cls=LazyGroup,
    name="commonplace",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from commonplace.run.manifest import package_version  # noqa: PLC0415 – start-up speed

        typer.echo(f"commonplace {package_version()}")
        raise typer.Exit


def _use_log_format(wanted: str) -> None:
    if wanted == "json":
        from commonplace.cli.json_logs import use_json  # noqa: PLC0415 – start-up speed

        use_json()
    elif wanted not in ("", "plain"):
        raise UsageError(f"there is no log format {wanted!r}", hint="expected plain or json")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
    log_format: str = typer.Option(
        "",
        "--log-format",
        envvar=LOG,
        callback=_use_log_format,
        is_eager=True,
        help="How everything on standard error is written: plain, or json, an object a line.",
    ),
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Run small societies of characters who remember."""
    del debug, log_format, version  # `main` looks for --debug before Typer parses it; the others act in their callbacks
    if context.invoked_subcommand is None:
        typer.echo(_welcome())


def _welcome() -> str:
    """Returns what to type next: how to begin, and what can be done with the latest run of the folder of runs."""
    steps = [(command(*words.split()), what) for words, what in FIRST]
    runs = [run for run in runs_folder().glob("*.run") if run.is_file()]
    latest = max(runs, key=lambda run: run.stat().st_mtime, default=None)
    more = [(command(name, latest), what) for name, what in NEXT] if latest else []
    width = max(len(typed) for typed, _ in (*steps, *more))
    lines = [f"  {typed:<{width}}   {what}" for typed, what in (*steps, *more)]
    if latest:
        lines[len(steps) : len(steps)] = ["", f"The latest run is {latest}:", ""]
    return "\n".join(["commonplace: small societies of characters who remember.", "", *lines])


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status: 0 fine, 1 failed, 2 wrong use, 3 paused, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    with _printable_output(), _noted_interrupts():
        return _finished(words)


@contextmanager
def handled(handler: Callable[[int, FrameType | None], object], *numbers: int) -> Generator[None]:
    """Handles these signals, and at the end restores what handled them before."""
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def stopping_signals() -> list[signal.Signals]:
    """Returns SIGTERM, and SIGHUP unless it is ignored as under `nohup`; Windows has no SIGHUP."""
    hangup = getattr(signal, "SIGHUP", None)
    heeded = hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN
    return [signal.SIGTERM, hangup] if hangup and heeded else [signal.SIGTERM]


def leave_lost_terminal() -> None:
    """Sends what is still printed nowhere if the terminal it went to has been closed: each line would be an error."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, descriptor)
                os.close(nowhere)


def interrupted(number: int, frame: FrameType | None) -> None:
    """Handles a signal that ends a command: raises KeyboardInterrupt, so that the command tidies up.

    An event loop that is between two steps of its tasks is stopped instead, and `asyncio.run` tidies up. It has taken
    the next step out of its queue: broken off there, that task would never go on, and the tidying up waits for it.

    A second SIGINT or SIGTERM ends the process at once, as a kill does: an exception in the middle of the tidying up
    would be printed. A second SIGHUP does nothing: a closed terminal says so twice, itself and through its shell.
    """
    leave_lost_terminal()
    interrupts.append(number)
    if logging := sys.modules.get("logging"):  # asyncio tells of every task that this breaks off
        logging.getLogger("asyncio").disabled = True
    warnings.simplefilter("ignore")  # Python tells of what is left open or not awaited where it is broken off
    if len(interrupts) == 1:
        if (loop := _running_loop()) and _schedules(loop, frame):
            loop.call_soon_threadsafe(loop.stop)
        else:
            signal.default_int_handler(number, frame)
    elif number in (signal.SIGINT, signal.SIGTERM):
        os._exit(INTERRUPTED)


def _running_loop() -> AbstractEventLoop | None:
    running = getattr(sys.modules.get("asyncio"), "_get_running_loop", None)  # it may be half imported
    return running and running()


def _schedules(loop: AbstractEventLoop, frame: FrameType | None) -> bool:
    """Returns whether the event loop that runs waits or schedules: it is in no task, or in one's call of asyncio."""
    from asyncio import current_task  # noqa: PLC0415 – start-up speed

    in_asyncio = frame is not None and frame.f_globals.get("__name__", "").startswith("asyncio.")
    return in_asyncio or current_task(loop) is None


@contextmanager
def _noted_interrupts() -> Generator[None]:
    """Lets each of the signals that are not ignored interrupt the command. A script ignores SIGINT in its
    background."""
    interrupts.clear()
    heeded = [] if signal.getsignal(signal.SIGINT) is signal.SIG_IGN else [signal.SIGINT]
    printed, sys.unraisablehook = sys.unraisablehook, _unless_interrupted(sys.unraisablehook)
    try:
        with handled(interrupted, *heeded, *stopping_signals()):
            yield
    finally:
        sys.unraisablehook = printed


def _unless_interrupted(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    """Returns the hook for all but KeyboardInterrupt. That was noted, and finalisers, callbacks of weak references and
    compiled code cannot pass it on: an event loop that would go on is stopped."""

    def unless_interrupted(unraisable: Any) -> None:
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            hook(unraisable)
        elif loop := _running_loop():
            loop.call_soon_threadsafe(loop.stop)

    return unless_interrupted


@contextmanager
def _printable_output() -> Generator[None]:
    """Makes whatever is printed printable, whoever wrote it: a file, a model, a person, a library, a warning."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", PrintableStream(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _finished(words: Sequence[str]) -> int:
    try:
        status = _run(words)
        sys.stdout.flush()
    except BaseException as error:
        if interrupts or isinstance(error, KeyboardInterrupt):  # it may be one of a group of errors
            return INTERRUPTED
        if not isinstance(error, Exception):
            raise
        return _failed(error, words)
    if status == 0 and sys.__stdout__ is None:
        _report("standard output is closed: all is done, but what was to be printed is lost", words)
        return 1
    return status


def _failed(error: Exception, words: Sequence[str]) -> int:
    """Says what went wrong; returns the exit status."""
    if isinstance(error, CommonplaceError):
        _report(str(error), words)
        return error.status
    if isinstance(error, OSError):
        _discard_output()
        if not isinstance(error, BrokenPipeError):
            _report(f"{error.filename or 'the output'}: cannot be read or written ({error.strerror or error})", words)
    else:
        _report(f"a bug in Commonplace ({type(error).__name__}: {error})\n  {BUG}", words)
    return 1


def _run(words: Sequence[str]) -> int:
    use_settings()
    streams = sys.stdout, sys.stderr
    try:
        app(list(words), prog_name="commonplace")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Typer took it, and hides it from whoever flushes
            sys.stdout, sys.stderr = streams
            raise end.__context__ from None
        status = end.code if isinstance(end.code, int) else 0
        if status == UsageError.status and words[0] in COMMANDS:  # Typer has said what is wrong
            print(f"Example: commonplace {COMMANDS[words[0]].example}", file=sys.stderr)
        return status
    return 0


def _discard_output() -> None:
    """Drops what is still buffered: an output that cannot be written would fail again when the process ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(message: str, words: Sequence[str]) -> None:
    if "--debug" in words:
        traceback.print_exc()
    text = message.replace("`commonplace ", f"`{program()} ")
    if (as_record := getattr(sys.stderr, "error", None)) is not None:  # a `JsonStream`
        as_record(text)
    else:
        print(f"commonplace: {text}", file=sys.stderr)
