"""`why`: the reasons of an event, and what would have been done without a memory."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from commonplace.api import mind_of, scenario_of
from commonplace.cli.kept import memory_named
from commonplace.engine.counterfactual import Counterfactual, counterfactual
from commonplace.errors import WrongUse
from commonplace.run.reading import Reading
from commonplace.run.why import as_text, event_named
from commonplace.run.why import why as why_of
from commonplace.stages import by_name
from commonplace.views.lines import json_line
from commonplace.world.events import Event


def add_to(app: typer.Typer) -> None:
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
        raise WrongUse("--times is for --without", todo="give both, or neither")
    with Reading.open(run) as reading:
        if without:
            _tell_without(reading, event_named(reading, event_id), without, times, as_json=as_json)
            return
        reasons = why_of(reading, event_id)
    print(json_line(reasons) if as_json else as_text(reasons, prompts=prompts))


def _tell_without(reading: Reading, event: Event, named: str, times: int, *, as_json: bool) -> None:
    from commonplace.cli import without  # noqa: PLC0415 – rich only where something is shown

    found = asyncio.run(_without(reading, event, _memory(named, event, reading.path), times))
    print(json_line(without.as_json(found)) if as_json else without.as_text(found))


def _memory(named: str, event: Event, run: Path) -> int:
    """The number of a memory of the event's character. Raises WrongUse for anything else."""
    agent, number = memory_named(named)
    if agent != event.agent_id:
        raise WrongUse(
            f"{event.id} rests on what {event.agent_id} remembers, not on {agent}",
            where=str(run),
            todo=f"give {event.agent_id}:ID; a turn knows its own character's memories only",
        )
    return number


async def _without(reading: Reading, event: Event, memory: int, times: int) -> Counterfactual:
    scenario = scenario_of(reading.manifest)
    mind, stage = mind_of(reading.manifest, scenario), by_name(reading.manifest.stage)
    return await counterfactual(reading, event, memory, scenario=scenario, stage=stage, mind=mind, times=times)
