"""`run` and `resume`: run a scenario, in the terminal view or as lines."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from functools import partial
from pathlib import Path

import typer

from commonplace.api import (
    DEFAULT_SEED,
    NO_WORKERS,
    Minds,
    chosen_minds,
    create_run,
    named_minds,
    own_named,
    resume_run,
)
from commonplace.cli import INTERRUPTED, expect_many_objects
from commonplace.cli.consent import agreed
from commonplace.cli.leaving import stopped_by_signal
from commonplace.cli.options import (
    CACHE,
    CONCURRENCY,
    FIDELITY,
    FORCE,
    MAX_CALLS,
    MAX_COST,
    MAX_TOKENS,
    MEMORY,
    METRICS,
    ON_OUTAGE,
    RUN,
    SCENARIO,
    TIMEOUT,
    TRUST,
    VIEW,
    WORKERS,
    Durability,
    Fidelity,
    Form,
    OnOutage,
    View,
    minds_given,
)
from commonplace.cli.settings import MIND, runs_folder
from commonplace.clock import iso, parse_iso
from commonplace.engine.budget import Budget
from commonplace.engine.run import Run
from commonplace.errors import UsageError, command, install
from commonplace.languages import DEFAULT
from commonplace.minds.several import DEFAULT as EVERY_QUESTION
from commonplace.registry import MINDS, TOOLS, VIEWS, found
from commonplace.run.file import full_disk_resumed
from commonplace.run.manifest import minds_of
from commonplace.run.minds import verdicts
from commonplace.run.place import Address, Place, place
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.scenario.model import MindPart, ScenarioPart
from commonplace.servers import is_server
from commonplace.trust import named_by_run, named_by_scenario

PIPE_TICKS = 48
"""The default last tick without the terminal view."""
ENDLESS = 1_000_000
"""The default last tick in the terminal view: the run goes on until the view is closed."""


def run(
    scenario: str = SCENARIO,
    output: Place | None = typer.Option(
        None,
        "-o",
        "--output",
        parser=place,
        metavar="RUN",
        help="The run: a file, postgresql://… or embedded:FOLDER; runs/<scenario>-<seed>.run if left out.",
    ),
    force: bool = FORCE,
    ticks: int | None = typer.Option(
        None, "--ticks", min=0, help="Run up to this tick; 48 if left out, without end in the terminal view."
    ),
    seed: int = typer.Option(DEFAULT_SEED, "--seed", help="A different seed gives a different history."),
    mind: list[str] = typer.Option(
        [],
        "--mind",
        envvar=MIND,
        help="Who answers for the characters: offline, SERVER:MODEL, a URL, or journal:RUN; TASK=… for some questions.",
    ),
    form: Form | None = typer.Option(
        None, "--form", help="How models are asked: full, or small for a small one; what doctor found if left out."
    ),
    fidelity: Fidelity | None = FIDELITY,
    policy: str = typer.Option("", "--policy", help="How memories are retrieved, such as lexical; the scenario's."),
    concurrency: int = CONCURRENCY,
    workers: str = WORKERS,
    on_outage: OnOutage = ON_OUTAGE,
    timeout: float = TIMEOUT,
    max_calls: int = MAX_CALLS,
    max_tokens: int = MAX_TOKENS,
    max_cost: float = MAX_COST,
    view: View | None = VIEW,
    durability: Durability = typer.Option(
        Durability.NORMAL, "--synchronous", help="NORMAL survives kill -9; FULL also a power cut."
    ),
    prompt: str = typer.Option("", "--prompt", help="What a panel is asked; the scenario's question if left out."),
    memory: str = MEMORY,
    cache: Path | None = CACHE,
    metrics: int | None = METRICS,
    trust: bool = TRUST,
) -> None:
    """Run a scenario and keep everything that happens in one file. Tick 0 is the opening state."""
    chosen = view or default_view()
    loaded = load(scenario)
    part = loaded.part
    minds: Minds = minds_given(mind)
    if form:
        minds = {**minds, EVERY_QUESTION: MindPart(mind=str(minds.get(EVERY_QUESTION, "")), form=form.value)}
    named = named_minds(minds)
    trust = agreed(named_by_scenario(loaded, named), scenario, trust=trust)
    target = output or runs_folder() / f"{part.name}-{seed}.run"
    if isinstance(target, Address) and not target.name:
        target = target.named(f"{part.name}-{seed}")
    last = ticks if ticks is not None else (ENDLESS if chosen is View.TUI else PIPE_TICKS)
    common, tasks = chosen_minds(loaded, named)
    asked = [common, *own_named(loaded, common, named).values(), *(one.mind for one in tasks.values())]
    budget = _budget(asked, max_calls, max_tokens, max_cost)

    make = partial(
        create_run,
        target,
        scenario,
        seed,
        minds,
        fidelity=fidelity or "",
        policy=policy,
        ticks=0 if last == ENDLESS else last,
        force=force,
        synchronous=durability.value,
        concurrency=concurrency,
        timeout=timeout,
        on_outage=on_outage.value,
        trust=trust,
        prompt=prompt,
        memory=memory,
        cache=cache or "",
        workers=workers,
    )
    _announce(workers)
    with _exposed(metrics, target):
        show(make, target, last, chosen, budget)


def resume(
    run: Place = RUN,
    ticks: int | None = typer.Option(None, "--ticks", min=0, help="This many more ticks."),
    until: str | None = typer.Option(None, "--until", help="Up to a tick or an ISO simulated time."),
    mind: list[str] = typer.Option(
        [], "--mind", help="The run's own mind, named again: its server may get your key; TASK=… for that of a task."
    ),
    concurrency: int = CONCURRENCY,
    workers: str = WORKERS,
    on_outage: OnOutage = ON_OUTAGE,
    timeout: float = TIMEOUT,
    max_calls: int = MAX_CALLS,
    max_tokens: int = MAX_TOKENS,
    max_cost: float = MAX_COST,
    view: View | None = VIEW,
    memory: str = MEMORY,
    cache: Path | None = CACHE,
    metrics: int | None = METRICS,
    trust: bool = TRUST,
) -> None:
    """Continue a run after its last tick, however it ended; without options, to the tick first asked for."""
    if ticks is not None and until is not None:
        raise UsageError("--ticks and --until exclude each other", hint="give only one of them")
    chosen = view or default_view()
    minds = minds_given(mind)
    with Reading.open(run) as reading:  # the state of a long run is large, and restored once: by `show`
        trust = agreed(named_by_run(reading.manifest, set(minds.values())), run, trust=trust)
        last = _last_tick(reading, ticks, until, chosen)
        budget = _budget(minds_of(reading.manifest), max_calls, max_tokens, max_cost)
        at_end = ticks is None and until is None and last == reading.last_tick
    if at_end:
        longer = command("resume", run, "--ticks", 48)
        print(f"tick {last} is the last one that was asked for; for more: {longer}", file=sys.stderr)
    make = partial(
        resume_run,
        run,
        minds,
        concurrency=concurrency,
        timeout=timeout,
        on_outage=on_outage.value,
        trust=trust,
        memory=memory,
        cache=cache or "",
        workers=workers,
    )
    _announce(workers)
    with _exposed(metrics, run):
        show(make, run, last, chosen, budget)


def _exposed(port: int | None, target: Place) -> AbstractContextManager[None]:
    """Shows metrics of what happens within the block at a port, if one is given."""
    if port is None:
        return nullcontext()
    try:
        return found(TOOLS["metrics"])(port, target)
    except ModuleNotFoundError as error:
        raise UsageError(f"--metrics needs {error.name}, which is not installed", hint=install("web")) from error


def _announce(workers: str) -> None:
    """Says what takes some seconds now."""
    if workers.isdecimal() and workers not in NO_WORKERS:
        print(f"starting {workers} worker{'s' * (workers != '1')} …", file=sys.stderr)


def _budget(minds: Sequence[str], calls: int, tokens: int, cost: float) -> Budget:
    """Returns what this command may spend; the common mind is first. Raises UsageError for a cost limit with a mind
    whose price is unknown."""
    prices = {mind: found(MINDS["price"])(mind) for mind in minds if mind} if cost else {}
    return Budget(calls, tokens, cost, prices.get(minds[0]), prices)


def _last_tick(reading: Reading, ticks: int | None, until: str | None, view: View) -> int:
    """Returns the tick to go to: the one first asked for when neither option is given."""
    at = max(0, reading.last_tick)  # a run killed before its opening was committed begins with it
    if until is not None:
        last = _tick(until, reading)
        if last < 0:
            what = f"--until {until} is before the run begins ({iso(reading.time(0))})"
            raise UsageError(what, where=str(reading.path), hint=f"give a time after {iso(reading.time(at))}")
        if last < at:
            raise UsageError(
                f"--until {until} is tick {last}, but the run is already at tick {at}",
                where=str(reading.path),
                hint=f"to continue it differently from there: {command('fork', reading.path, '--at', last)} -o NEW",
            )
        return last
    if ticks is not None:
        return at + ticks
    if view is View.TUI and reading.manifest.ticks <= at:  # who watches may let it go on
        return ENDLESS
    return max(at, reading.manifest.ticks)


def _tick(text: str, reading: Reading) -> int:
    """Reads a tick given as a number or an ISO simulated time. It may lie ahead."""
    if text.isdecimal():
        return int(text)
    try:
        return reading.scenario.clock.tick(parse_iso(text))
    except (ValueError, OverflowError):
        what = f"--until {text!r} is neither a tick nor an ISO time"
        raise UsageError(what, hint="expected a number, or a time like 2031-10-04T19:00:00") from None


def lacking_terminal() -> str:
    """Returns the first standard stream that is no terminal, by name; empty if all are. The view is drawn on the last
    one."""
    streams = {"standard input": sys.stdin, "standard output": sys.stdout, "standard error": sys.stderr}
    return next((name for name, stream in streams.items() if not stream.isatty()), "")


def default_view() -> View:
    """Returns the terminal view where there is a terminal that can show it, plain lines elsewhere."""
    if lacking_terminal():
        return View.PLAIN
    from commonplace.views.lines import is_dumb  # noqa: PLC0415 – imports Rich

    if is_dumb():
        print("commonplace: plain lines, because TERM is dumb or not set", file=sys.stderr)
        return View.PLAIN
    return View.TUI


def show(make: Callable[[], Run], target: Place, last: int, view: View, budget: Budget) -> None:
    """Runs up to a tick under a view. An interruption ends the run at a tick boundary and loses nothing."""
    expect_many_objects()
    if view is View.TUI:
        found(VIEWS["live"])(make, target, last, budget)
        _print_verdicts(target)
        return
    with stopped_by_signal() as stopping:  # before asyncio takes the signal for itself
        try:
            asyncio.run(_lines(make, last, view, stopping, budget))
        except BrokenPipeError:
            print(f"the output was closed; continue with: {command('resume', target)}", file=sys.stderr)
            raise
    _print_verdicts(target)
    if stopping:
        print(f"interrupted; continue with: {command('resume', target)}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED)


async def _lines(make: Callable[[], Run], last: int, view: View, stopping: Sequence[int], budget: Budget) -> None:
    from commonplace.cli.output import working  # noqa: PLC0415 – imports Rich

    with make() as run, full_disk_resumed(run.file.path):
        show_frame = printer(run.scenario.part, view)
        show_frame(run.reading, run.tick)
        progress = working(lambda: f"tick {run.tick:,} of {last:,}") if view is View.NONE else nullcontext()
        with progress:
            async with aclosing(run.play(until=run.tick if stopping else last, budget=budget)) as ticks:
                async for tick in ticks:
                    show_frame(run.reading, tick.number)
                    if stopping:
                        break
        history, number, length = run.file.digests.history.hex(), run.tick, run.length
    if number == length:
        print(f"the {run.stage} ends here", file=sys.stderr)
    if view is not View.JSON:
        print(f"tick {number}  digest {history}", flush=True)


def _print_verdicts(target: Place) -> None:
    """Says for which tasks a model was too small: its characters act by fallbacks then, or their words are left out."""
    with full_disk_resumed(target), Reading.open(target) as reading:
        if not any(map(is_server, minds_of(reading.manifest))):
            return
        found = verdicts(reading.usage(), DEFAULT)
    for verdict in found:
        print(verdict, file=sys.stderr)
    if found:
        print(f"see what was wrong: {command('usage', target)}", file=sys.stderr)


def printer(scenario: ScenarioPart, view: View) -> Callable[[Reading, int], None]:
    """Returns a function that prints a tick as lines, or nothing for `none`."""
    if view is View.NONE:
        return lambda _reading, _tick: None
    if view is View.STATE:
        from commonplace.views.state_lines import print_state  # noqa: PLC0415 – start-up speed

        return print_state
    from commonplace.views.lines import LineView  # noqa: PLC0415 – imports Rich

    lines = LineView(scenario, view.value)
    return lambda reading, tick: lines.show(reading.frame(tick), reading.scenario.part)
