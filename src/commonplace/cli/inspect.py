"""Commands that read a run: events, agents, diffusion, digest, verify."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, cast

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from commonplace.analysis.diffusion import diffusion as diffusion_of
from commonplace.api import mind_of, scenario_of
from commonplace.cli.memories import memory_named
from commonplace.clock import hhmm
from commonplace.engine.counterfactual import Counterfactual, Relived, changed_answers, counterfactual, tally
from commonplace.engine.verify import verify as verify_run
from commonplace.errors import UsageError
from commonplace.memory.record import Memory
from commonplace.run.integrity import check as check_integrity
from commonplace.run.reading import Reading
from commonplace.run.rows import event_json, item_json
from commonplace.run.tick_record import AnswerRow
from commonplace.run.why import as_text, event_named
from commonplace.run.why import why as why_of
from commonplace.stages import by_name
from commonplace.text import clean, shortened
from commonplace.views.lines import json_line
from commonplace.world.actions import Idle, Interact, Say, as_dict
from commonplace.world.events import Event

# ── ask ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


RUN = typer.Argument(help="The run file.")
JSON = typer.Option(False, "--json", help="One JSON value a line.")
AT = typer.Option(None, "--at", help="A tick or an ISO simulated time; the last tick if left out.")


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("events", epilog="Example: commonplace events monday.run --json")(events)
    app.command("agents", epilog="Example: commonplace agents monday.run --json")(agents)
    app.command("diffusion", epilog="Example: commonplace diffusion monday.run --json")(diffusion)
    app.command("digest", epilog="Example: commonplace digest monday.run --at 144")(digest)
    app.command("verify", epilog="Example: commonplace verify monday.run")(verify)


def events(run: Path = RUN, as_json: bool = JSON) -> None:
    """Everything that happened, in canonical order."""
    with Reading.open(run) as reading:
        clock = scenario_of(reading.manifest).clock
        for event in reading.events():
            plain = event_json(event, clock.time(event.tick))
            print(json_line(plain) if as_json else _event_line(plain))


def _event_line(plain: Mapping[str, Any]) -> str:
    head = ("id", "tick", "time", "type", "agent_id", "place")
    rest = " ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in plain.items() if key not in head)
    return f"{plain['time'][11:16]}  {plain['id']:<18} {plain['type']:<20} {plain['place'] or '-':<16} {rest}"


def agents(run: Path = RUN, as_json: bool = JSON, at: str | None = AT) -> None:
    """Who is where and does what."""
    with Reading.open(run) as reading:
        rows = reading.agents(reading.tick(at))
    _print(rows, as_json, _agent_text)


def _agent_text(row: Mapping[str, Any]) -> str:
    return f"{row['name']:<20} {row['place']:<20} {row['doing']}"


def diffusion(run: Path = RUN, as_json: bool = JSON) -> None:
    """How far each seed fact has come, and who told whom."""
    with Reading.open(run) as reading:
        rows = diffusion_of(reading)
    _print(rows, as_json, _diffusion_text)


def _diffusion_text(row: Mapping[str, Any]) -> str:
    share = f"{row['share']:.0%} know it: {', '.join(row['knowers'])}"
    tree = "".join(
        f"\n    {edge['from']} → {edge['to']}  ({edge['event_id']}: {' … '.join(edge['words'])})"
        for edge in row["tree"]
    )
    return f"{row['fact']}: {row['text']}\n  {share}{tree}\n  made up {row['made_up']}, claimed {row['claimed']}"


def digest(
    run: Path = RUN,
    at: str | None = AT,
    state: bool = typer.Option(False, "--state", help="The digest of state instead of history."),
) -> None:
    """The chained digest of everything that happened up to a tick."""
    with Reading.open(run) as reading:
        print(reading.digest(at, state=state))


def verify(
    run: Path = RUN,
    integrity_only: bool = typer.Option(False, "--integrity-only", help="Check the bytes, without living it again."),
) -> None:
    """Check the file, then live it again from its journal: the same history, bit for bit."""
    with Reading.open(run) as reading:
        last = check_integrity(reading)
        print(f"integrity: {last + 1} ticks, both chains sound", file=sys.stderr)
        if not integrity_only:
            scenario = scenario_of(reading.manifest)
            asyncio.run(verify_run(reading, scenario, by_name(reading.manifest.stage)))
            print(f"re-executed {last} ticks: the same history", file=sys.stderr)
        print(f"tick {last}  digest {reading.digest(last)}")


def _print(rows: Iterable[Mapping[str, Any]], as_json: bool, text: Callable[[Mapping[str, Any]], str]) -> None:
    for row in rows:
        print(json_line(row) if as_json else text(row))


# ── without ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# A counterfactual for people and as JSON: what was done, and what would be done without a memory, side by side.


SHOWN = 160
"""Characters of a field of an answer."""
WIDTH = 110
"""Columns where the output is no terminal."""


def counterfactual_json(found: Counterfactual) -> dict[str, Any]:
    """`{event, hidden, strokes, then, without, answers, times, rates}`; no `rates` where each arm was asked once."""
    now = found.without[0]
    answers = changed_answers(found.then, now)
    return {
        "event": found.event.id,
        "hidden": [{"id": one.id, "kind": one.kind, "text": one.text} for one in found.hidden],
        "strokes": [item_json(stroke) for stroke in found.strokes],
        "then": _action(found.then),
        "without": _action(now),
        "answers": [{"task": task, "then": value(one), "without": value(other)} for task, one, other in answers],
        "times": len(found.without),
        "rates": rates(found),
    }


def rates(found: Counterfactual) -> list[dict[str, Any]]:
    """`{does, with, without}`: how often each deed came out in each arm, what was done most with the memory first."""
    if not found.again:
        return []
    kept, lost = tally(found.again), tally(found.without)
    deeds = sorted({*kept, *lost}, key=lambda deed: (-kept.get(deed, 0), -lost.get(deed, 0), deed))
    return [{"does": deed, "with": kept.get(deed, 0), "without": lost.get(deed, 0)} for deed in deeds]


def value(row: AnswerRow | None) -> Any:
    """The answer as JSON; null where the question was not asked or the fallback was used."""
    return json.loads(row.body) if row is not None and row.body else None


def _action(relived: Relived) -> dict[str, Any]:
    action = relived.turn.action
    return {"does": relived.deed, **as_dict(action), "because": list(action.because)}


def counterfactual_text(found: Counterfactual) -> str:
    """What is taken away, both turns side by side, the answers that changed, and the rates."""
    console = Console(highlight=False, width=get_terminal_size((WIDTH, 0)).columns, file=StringIO(), color_system=None)
    console.print(Text(f"{found.event.id}, and the same turn without"))
    for memory in found.hidden:
        console.print(Text(f"  {_without_memory(memory)}"))
    for stroke in found.strokes:
        console.print(Text(f"  planned {hhmm(stroke.start_time)} {clean(stroke.action_description)}"))
    console.print(_sides(found))
    for line in _rates(found):
        console.print(Text(line))
    written = cast(StringIO, console.file).getvalue()
    return "\n".join(line.rstrip() for line in written.splitlines())


def _without_memory(memory: Memory) -> str:
    return f"#{memory.id} {memory.kind}  {shortened(clean(memory.text), SHOWN)}"


def _sides(found: Counterfactual) -> Table:
    now = found.without[0]
    sides = Table(box=None, padding=(0, 2, 0, 0), expand=True, show_edge=False)
    sides.add_column("", no_wrap=True)
    sides.add_column("then", ratio=1)
    sides.add_column("without", ratio=1)
    sides.add_row(Text("does"), Text(_deed(found.then)), Text(_deed(now)))
    answers = changed_answers(found.then, now)
    for task, one, other in answers:
        sides.add_row(Text(task), Text(_answer(one)), Text(_answer(other)))
    if not answers:
        sides.add_row(Text("asked"), Text("the same questions, with the same answers"), Text(""))
    return sides


def _deed(relived: Relived) -> str:
    match relived.turn.action:
        case Say(utterance=utterance):
            return f"{relived.deed}\n“{clean(utterance)}”"
        case Idle(doing=doing) | Interact(doing=doing):
            return f"{relived.deed}\n{clean(doing)}".rstrip()
        case _:
            return relived.deed


def _answer(row: AnswerRow | None) -> str:
    if row is None:
        return "not asked"
    if row.outcome != "value":
        return f"no usable answer ({row.outcome})"
    return "\n".join(_fields(value(row)))


def _fields(answer: Mapping[str, Any]) -> Iterator[str]:
    for name, content in answer.items():
        if content not in ("", None, []):
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            yield f"{name}: {shortened(clean(text), SHOWN)}"


def _rates(found: Counterfactual) -> Iterator[str]:
    for row in rates(found):
        times = len(found.without)
        yield f"{row['with']:>4} of {times} with it, {row['without']:>4} of {times} without: {row['does']}"


# ── why ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
# `why`: the reasons of an event, and what would have been done without a memory.


def add_to_why(app: typer.Typer) -> None:
    """Add the command."""
    app.command("why", epilog="Example: commonplace why monday.run t31.mira.0")(why)


def why(
    run: Path = typer.Argument(help="The run file."),
    event_id: str = typer.Argument(help="An event id such as t31.mira.0."),
    as_json: bool = typer.Option(False, "--json", help="One JSON value."),
    prompts: bool = typer.Option(False, "--prompts", help="Show what was asked in full, not only the answers."),
    without: str = typer.Option("", "--without", help="AGENT:ID of a memory: what would be done if it were not there."),
    times: int = typer.Option(0, "--times", min=0, max=1000, help="How often to ask, with --without; 0 fits the mind."),
) -> None:
    """Why something was done or said: memories and scores, plan, reaction, questions and answers."""
    if times and not without:
        raise UsageError("--times is for --without", hint="give both, or neither")
    with Reading.open(run) as reading:
        if without:
            _tell_without(reading, event_named(reading, event_id), without, times, as_json=as_json)
            return
        reasons = why_of(reading, event_id)
    print(json_line(reasons) if as_json else as_text(reasons, prompts=prompts))


def _tell_without(reading: Reading, event: Event, named: str, times: int, *, as_json: bool) -> None:
    found = asyncio.run(_without(reading, event, _memory(named, event, reading.path), times))
    print(json_line(counterfactual_json(found)) if as_json else counterfactual_text(found))


def _memory(named: str, event: Event, run: Path) -> int:
    """The number of a memory of the event's character. Raises UsageError for anything else."""
    agent, number = memory_named(named)
    if agent != event.agent_id:
        raise UsageError(
            f"{event.id} rests on what {event.agent_id} remembers, not on {agent}",
            where=str(run),
            hint=f"give {event.agent_id}:ID; a turn knows its own character's memories only",
        )
    return number


async def _without(reading: Reading, event: Event, memory: int, times: int) -> Counterfactual:
    scenario = scenario_of(reading.manifest)
    mind, stage = mind_of(reading.manifest, scenario), by_name(reading.manifest.stage)
    return await counterfactual(reading, event, memory, scenario=scenario, stage=stage, mind=mind, times=times)
