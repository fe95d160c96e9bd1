"""`fork`: another history from any tick of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from commonplace.api import mind_named, resume_run, scenario_of
from commonplace.cli.memories import memory_named
from commonplace.engine.god_mode import described
from commonplace.memory import Memory
from commonplace.run.fork import fork as copied
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "fork", epilog='Example: commonplace fork monday.run --at 60 -o dark.run --inject "The lights go out."'
    )(fork)


def fork(
    run: Path = typer.Argument(help="The run file; it is left as it is."),
    at: str = typer.Option(help="The last tick, or ISO simulated time, that the two histories share."),
    output: Path = typer.Option(..., "-o", "--output", help="The new run file."),
    force: bool = typer.Option(False, "--force", help="Replace an existing file."),
    inject: str = typer.Option("", "--inject", help="Something that happens at the next tick, as a sentence."),
    forget: list[str] = typer.Option([], "--forget", help="AGENT:ID, a memory forgotten at the next tick."),
    mind: str = typer.Option("", "--mind", help="Who answers from then on, as for `run`; the run's own if left out."),
) -> None:
    """Copy a run up to a tick, to live on differently."""
    lost = _lost(run, at, forget)
    file = copied(run, at, output, force=force, manifest=_with_mind(run, mind) if mind else None)
    tick = file.last_tick
    file.close()
    print(f"{output}: the history of {run} up to tick {tick}")
    if inject:
        print(f"at tick {tick + 1} {asyncio.run(_injected(output, inject))}")
    for memory in lost:
        _forget(output, memory)
        print(f"at tick {tick + 1} {memory.agent} forgets: {memory.text}")
    print(f"go on with: commonplace resume {output} --ticks 48")


def _with_mind(run: Path, mind: str) -> Manifest:
    """The run's manifest with another mind; how it is asked stays. Raises UsageError for one there is not."""
    with Reading.open(run) as reading:
        manifest = reading.manifest
    mind_named(mind, scenario_of(manifest))
    return replace(manifest, mind=mind)


def _lost(run: Path, at: str, named: Sequence[str]) -> list[Memory]:
    """The memories named, as they were then. Raises UsageError for one that was not there."""
    with Reading.open(run) as reading:
        return [reading.stream_at(agent, at).get(number) for agent, number in map(memory_named, named)]


def _forget(path: Path, memory: Memory) -> None:
    """Queue the forgetting of a memory."""
    with resume_run(path) as lived:
        lived.submit({"kind": "forget", "agent_id": memory.agent, "memory_ids": [memory.id]})


async def _injected(path: Path, text: str) -> str:
    """Queue a god-mode sentence; returns what it will do."""
    with resume_run(path) as lived:
        event = await lived.preview(text)
        lived.submit(event)
        return described(event, lived.scenario)
