"""`fork`: a copy of a run up to a tick, which can go another way."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import typer

from commonplace.api import mind_named, resume_run, scenario_of
from commonplace.cli.consent import agreed
from commonplace.cli.lookup import memory_reference, names_in
from commonplace.cli.options import TRUST
from commonplace.engine.god_mode import described
from commonplace.engine.run import queue_input
from commonplace.errors import command
from commonplace.memory import Memory
from commonplace.run.file import RunFile
from commonplace.run.fork import fork as copied
from commonplace.run.manifest import MIND_OBJECT, Manifest
from commonplace.run.reading import Reading
from commonplace.text import clean
from commonplace.trust import mind_named_by_run, named_by_run, remember, settle


def fork(
    run: Path = typer.Argument(help="The run file; it is not changed."),
    at: str = typer.Option(help="The last tick, or ISO simulated time, that both histories share."),
    output: Path = typer.Option(..., "-o", "--output", help="The new run file."),
    force: bool = typer.Option(False, "--force", help="Replace an existing file."),
    inject: str = typer.Option("", "--inject", help="Something that happens at the next tick, as a sentence."),
    forget: list[str] = typer.Option(
        [], "--forget", help="AGENT:ID, a memory to forget at the next tick; repeat for another."
    ),
    mind: str = typer.Option(
        "", "--mind", help="Who answers from then on, as for `run`; the run's own mind if left out."
    ),
    trust: bool = TRUST,
) -> None:
    """Copy a run up to a tick, to continue it differently. The run itself is not changed."""
    with Reading.open(run) as reading:
        lost = [_memory(reading, at, reference) for reference in forget]
        manifest = _with_mind(reading.manifest, mind) if mind else None
        if inject:  # the mind is asked what the sentence means
            named = named_by_run(manifest or reading.manifest, mind)
            trust = agreed(named, run, trust=trust)
            settle(named, run, trust=trust)
    if manifest is not None:
        remember(mind_named_by_run(manifest))
    with copied(run, at, output, force=force, manifest=manifest) as file:
        tick = file.last_tick
    print(f"{output}: the history of {run} up to tick {tick}")
    if inject:
        print(f"at tick {tick + 1} {asyncio.run(_inject(output, inject, mind, trust=trust))}")
    with RunFile.open(output) as file:
        for memory in lost:
            body = {"kind": "forget", "agent_id": memory.agent, "memory_ids": [memory.id]}
            queue_input(file, scenario_of(file.manifest), body)
            print(f"at tick {tick + 1} {memory.agent} forgets: {clean(memory.text)}")
    print(f"continue with: {command('resume', output, '--ticks', 48)}")


def _with_mind(manifest: Manifest, mind: str) -> Manifest:
    """The manifest with another mind; the shape of requests stays. Raises UsageError for an unknown mind."""
    mind_named(mind, scenario_of(manifest))
    settings = {name: value for name, value in (manifest.settings or {}).items() if name != MIND_OBJECT}
    return replace(manifest, mind=mind, settings=settings)


def _memory(reading: Reading, at: str, reference: str) -> Memory:
    """The memory AGENT:ID as it was then. Raises UsageError when the character did not have it."""
    agent, number = memory_reference(reference, names_in(reading), reading.path)
    return reading.stream_at(agent, at).get(number)


async def _inject(path: Path, text: str, mind: str, *, trust: bool) -> str:
    """Queue a god-mode sentence; returns a description of what it will do."""
    with resume_run(path, mind, trust=trust) as run:
        event = await run.preview(text)
        run.submit(event)
        return described(event, run.scenario)
