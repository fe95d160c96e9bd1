"""`run` and `resume`: living a scenario, in a terminal or as lines."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path

import typer

from commonplace.api import DEFAULT_SEED, create_run, resume_run
from commonplace.cli.options import (
    CONCURRENCY,
    MAX_CALLS,
    MAX_COST,
    MAX_TOKENS,
    ON_OUTAGE,
    TIMEOUT,
    VIEW,
    Durability,
    Fidelity,
    OnOutage,
    View,
)
from commonplace.clock import parse_iso
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from commonplace.minds.chat.servers import is_server
from commonplace.minds.prices import known_price
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.scenario.model import ScenarioPart

INTERRUPTED = 130
PIPE_TICKS = 48
"""How far a run goes when neither `--ticks` nor a person says."""
ENDLESS = 1_000_000
MANY = 0.1
"""Share of questions without a usable answer from which on it is told."""
ENDING = "ending after the tick under way; once more ends at once\n"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("run", epilog="Example: commonplace run latticeville --ticks 288 --seed 7 -o monday.run")(run)
    app.command("resume", epilog="Example: commonplace resume monday.run --until 2031-10-05T12:00:00")(resume)


def run(
    scenario: str = typer.Argument(help="A shipped scenario or a file."),
    output: Path | None = typer.Option(
        None, "-o", "--output", help="The run file; runs/<scenario>-<seed>.run if left out."
    ),
    force: bool = typer.Option(False, "--force", help="Replace an existing file."),
    ticks: int | None = typer.Option(None, "--ticks", min=0, help="Live up to this tick."),
    seed: int = typer.Option(DEFAULT_SEED, "--seed", help="Another seed, another history."),
    mind: str = typer.Option(
        "", "--mind", help="Who answers for the characters: offline, SERVER:MODEL, a URL, or journal:RUN."
    ),
    fidelity: Fidelity | None = typer.Option(None, "--fidelity", help="Ask for each action, or only when needed."),
    concurrency: int = CONCURRENCY,
    on_outage: OnOutage = ON_OUTAGE,
    timeout: float = TIMEOUT,
    max_calls: int = MAX_CALLS,
    max_tokens: int = MAX_TOKENS,
    max_cost: float = MAX_COST,
    view: View | None = VIEW,
    durability: Durability = typer.Option(
        Durability.NORMAL, "--synchronous", help="NORMAL survives kill -9, FULL a power cut as well."
    ),
) -> None:
    """Live a scenario and keep everything that happens in one file."""
    chosen = view or default_view()
    target = output or Path("runs") / f"{load(scenario).part.name}-{seed}.run"
    last = ticks if ticks is not None else (ENDLESS if chosen is View.TUI else PIPE_TICKS)
    budget = budget_of(mind or load(scenario).part.mind, max_calls, max_tokens, max_cost)

    def make() -> Run:
        return create_run(
            target,
            scenario,
            seed,
            mind,
            fidelity=fidelity or "",
            ticks=0 if last == ENDLESS else last,
            force=force,
            synchronous=durability.value,
            concurrency=concurrency,
            timeout=timeout,
            on_outage=on_outage.value,
        )

    show(make, target, last, chosen, budget)


def resume(
    run: Path = typer.Argument(help="The run file."),
    ticks: int | None = typer.Option(None, "--ticks", min=0, help="So many ticks more."),
    until: str | None = typer.Option(None, "--until", help="Up to a tick or an ISO simulated time."),
    concurrency: int = CONCURRENCY,
    on_outage: OnOutage = ON_OUTAGE,
    timeout: float = TIMEOUT,
    max_calls: int = MAX_CALLS,
    max_tokens: int = MAX_TOKENS,
    max_cost: float = MAX_COST,
    view: View | None = VIEW,
) -> None:
    """Go on with a run where it was left, however it ended."""
    if ticks is not None and until is not None:
        raise UsageError("--ticks and --until exclude each other", hint="give one of them")
    chosen = view or default_view()

    def make() -> Run:
        return resume_run(run, concurrency=concurrency, timeout=timeout, on_outage=on_outage.value)

    with make() as lived:
        last = _end(lived, ticks, until, chosen)
        budget = budget_of(lived.file.manifest.mind, max_calls, max_tokens, max_cost)
    show(make, run, last, chosen, budget)


def budget_of(mind: str, calls: int, tokens: int, cost: float) -> Budget:
    """What a sitting may spend. Raises UsageError for a limit of money with a mind whose price is not known."""
    return Budget(calls, tokens, cost, known_price(mind) if cost else None)


def _end(lived: Run, ticks: int | None, until: str | None, view: View) -> int:
    """The tick to go to: the one first asked for when nothing is said."""
    if until is not None:
        last = tick_named(until, lived)
        if last < lived.tick:
            raise UsageError(
                f"--until {until} is tick {last}, and the run is at tick {lived.tick} already",
                where=str(lived.file.path),
                hint=f"to live it differently from there: commonplace fork {lived.file.path} --at {last} -o NEW",
            )
        return last
    if ticks is not None:
        return lived.tick + ticks
    if view is View.TUI and not lived.file.manifest.ticks:
        return ENDLESS
    return max(lived.tick, lived.file.manifest.ticks)


def tick_named(text: str, lived: Run) -> int:
    """A tick given as a number or an ISO simulated time."""
    if text.isdecimal():
        return int(text)
    try:
        return lived.scenario.clock.tick(parse_iso(text))
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is neither a tick nor an ISO time", hint="give a number, or a time like 2031-10-04T19:00:00"
        ) from None


def default_view() -> View:
    """The terminal view where there is a terminal that can show it, plain lines elsewhere."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()):
        return View.PLAIN
    from commonplace.views.lines import is_dumb  # noqa: PLC0415 – imports Rich

    if is_dumb():
        print("commonplace: plain lines, because TERM is dumb or not set", file=sys.stderr)
        return View.PLAIN
    return View.TUI


def show(make: Callable[[], Run], target: Path, last: int, view: View, budget: Budget) -> None:
    """Live up to a tick under a view. An interruption ends at a tick boundary and loses nothing."""
    if view is View.TUI:
        from commonplace.cli.watch import watch_live  # noqa: PLC0415 – Textual only where it is shown

        watch_live(make, target, last, budget)
        _warn_of_fallbacks(target)
        return
    with stopped_by_signal() as stopping:  # before asyncio takes the signal for itself
        asyncio.run(_lines(make, last, view, stopping, budget))
    _warn_of_fallbacks(target)
    if stopping:
        print(f"interrupted; go on with: commonplace resume {target}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


async def _lines(make: Callable[[], Run], last: int, view: View, stopping: Sequence[int], budget: Budget) -> None:
    with make() as lived:
        show_frame = printer(lived.scenario.part, view)
        show_frame(lived.reading, lived.tick)
        async with aclosing(lived.play(until=lived.tick if stopping else last, budget=budget)) as ticks:
            async for tick in ticks:
                show_frame(lived.reading, tick.number)
                if stopping:
                    break
        history, number = lived.file.digests.history.hex(), lived.tick
    if view is not View.JSON:
        print(f"tick {number}  digest {history}", flush=True)


def _warn_of_fallbacks(target: Path) -> None:
    """Say so when a model's answers often could not be used: its characters then live by fallbacks."""
    with Reading.open(target) as reading:
        if not is_server(reading.manifest.mind):
            return
        *_, total = reading.usage()
    if total["fallbacks"] > MANY * total["asked"]:
        what = f"{total['fallbacks']:,} of {total['asked']:,} questions had no usable answer and met their fallback"
        print(f"{what}; commonplace usage {target} tells why", file=sys.stderr)


def printer(scenario: ScenarioPart, view: View) -> Callable[[Reading, int], None]:
    """What shows a tick as lines; nothing at all for `none`."""
    if view is View.NONE:
        return lambda _reading, _tick: None
    from commonplace.views.lines import LineView  # noqa: PLC0415 – rich only where something is shown

    lines = LineView(scenario, view.value)
    return lambda reading, tick: lines.show(reading.frame(tick))


@contextmanager
def stopped_by_signal() -> Generator[list[int]]:
    """A list that is filled by SIGINT or SIGTERM; a second one ends the process at once."""
    received: list[int] = []

    def note(number: int, _: object) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)
        os.write(2, ENDING.encode())  # not `print`, which may be interrupted by this very signal

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
