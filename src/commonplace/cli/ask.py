"""Commands that read a run: events, agents, diffusion, digest, verify."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from commonplace.analysis.diffusion import diffusion as diffusion_of
from commonplace.api import scenario_of
from commonplace.engine.verify import verify as verify_run
from commonplace.run.integrity import check as check_integrity
from commonplace.run.reading import Reading
from commonplace.run.shown import event_json
from commonplace.stages import by_name
from commonplace.views.lines import json_line

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
