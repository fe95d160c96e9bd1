"""`usage` and `estimate`: what a run asked of its mind and what it cost, or would ask and cost."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import typer

from commonplace.api import DEFAULT_SEED, book_of, mind_named, named_minds, prepared
from commonplace.cli.consent import agreed
from commonplace.cli.options import CONCURRENCY, FIDELITY, JSON, RUN, SCENARIO, TRUST, Fidelity, minds_given
from commonplace.cli.output import print_json, print_table
from commonplace.cli.settings import MIND
from commonplace.languages import DEFAULT
from commonplace.parts.model_servers.prices import VARIABLE, price_of
from commonplace.parts.workbench.estimate import Estimate, TaskEstimate
from commonplace.parts.workbench.estimate import estimate as estimated
from commonplace.run.manifest import minds_of
from commonplace.run.minds import mind_by_question, verdicts
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.servers import is_server
from commonplace.stages import by_name
from commonplace.trust import named_by_scenario

USAGE = (
    "character", "task", "asked", "needless", "calls", "kept", "reused", "unusable", "fallbacks", "lost", "prompt",
    "cached", "answer", "cost",
)  # fmt: skip
ESTIMATE = ("task", "calls", "prompt", "cached", "answer", "cost")


def usage(run: Place = RUN, as_json: bool = JSON) -> None:
    """Show what was asked of the mind, by character and task: tokens, cost, and how good its answers were."""
    with Reading.open(run) as reading:
        rows = reading.usage()
    priced = _with_cost(rows)
    if as_json:
        print_json(priced)
        return
    print_table(USAGE, map(_usage_cells, priced), words=2)
    total = priced[-1]
    if total["faults"]:
        print(f"unusable answers: {_kinds(total['faults'])}")
    if total["flaws"]:
        print(f"used, but not as they came: {_kinds(total['flaws'])}")
    for verdict in verdicts(rows, DEFAULT):
        print(verdict)
    if total["cost"] is None:
        unknown = ", ".join(dict.fromkeys(row["mind"] for row in priced[:-1] if row["cost"] is None))
        print(f"the price of {unknown} is unknown; {VARIABLE}=FILE adds a price list of your own", file=sys.stderr)


def _kinds(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {number:,}" for kind, number in counts.items())


def _with_cost(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows with their cost in US dollars, None if the mind's price is unknown.

    The last row is the total.
    """
    *named, total = (
        {**row, "cost": _cost(row["mind"], row["prompt_tokens"], row["cached_tokens"], row["answer_tokens"])}
        for row in rows
    )
    costs = [row["cost"] for row in named if row["cost"] is not None]
    return [*named, {**total, "cost": math.fsum(costs) if len(costs) == len(named) else None}]


def _cost(mind: str, prompt: int, cached: int, answer: int) -> float | None:
    """Returns US dollars; None where there is no mind, or its price is not known."""
    price = price_of(mind) if mind else None
    return price and price.cost(prompt, cached, answer)


def _usage_cells(row: Mapping[str, Any]) -> list[str]:
    unusable = sum(row["faults"].values())
    counted = (row[name] for name in ("asked", "needless", "calls", "from_cache", "reused"))
    counts = [_count(number) for number in (*counted, unusable, row["fallbacks"], row["lost"])]
    prompt, cached = row["prompt_tokens"], row["cached_tokens"]
    tokens = [_count(prompt), _share(cached, prompt), _count(row["answer_tokens"])]
    return [row["agent_id"] or "total", row["task"], *counts, *tokens, _money(row["cost"])]


# ── estimate ─────────────────────────────────────────────────────────────────────────────────────────────────────────


DAY = 1440
"""Minutes."""


def estimate(
    scenario: str = SCENARIO,
    mind: list[str] = typer.Option(
        [], "--mind", envvar=MIND, help="Who would answer, as for `run`; it is not contacted."
    ),
    ticks: int = typer.Option(0, "--ticks", min=0, help="The tick the run would go to; 0 for a simulated day."),
    seed: int = typer.Option(DEFAULT_SEED, "--seed", help="The seed of the run."),
    fidelity: Fidelity | None = FIDELITY,
    concurrency: int = CONCURRENCY,
    seconds: float = typer.Option(1.0, "--seconds", min=0.0, help="How long one answer is assumed to take."),
    as_json: bool = JSON,
    trust: bool = TRUST,
) -> None:
    """Estimate what a run would ask of a mind, and what that would cost, without contacting it."""
    from commonplace.parts.workbench.estimate import SizedMind  # noqa: PLC0415 – imports Jinja

    read = load(scenario)
    last = ticks or DAY // read.clock.tick_minutes
    minds = minds_given(mind)
    trust = agreed(named_by_scenario(read, named_minds(minds), prompts=True), scenario, trust=trust)
    loaded, manifest = prepared(scenario, seed, minds, fidelity=fidelity or "", ticks=last, trust=trust, prompts=True)
    for name in minds_of(manifest):
        if not is_server(name):
            mind_named(name, loaded)  # raises for an unknown name
    asked = mind_by_question(manifest)
    sized = SizedMind(book_of(manifest, loaded), loaded.language, asked)
    found = asyncio.run(estimated(loaded, manifest, by_name(loaded.part.stage), sized, concurrency))
    rows = [(row, _cost(asked("", row.task), row.prompt, row.cached, row.answer)) for row in found.tasks]
    unknown = [name for name in minds_of(manifest) if price_of(name) is None]
    rows.append((found.total, None if unknown else math.fsum(cost or 0 for _, cost in rows)))
    if as_json:
        print_json({**asdict(row), "cost": cost} for row, cost in rows)
        return
    print_table(ESTIMATE, [_estimate_cells(row, cost) for row, cost in rows], words=1)
    for line in _remarks(found, minds_of(manifest), unknown, seconds):
        print(line)


def _estimate_cells(row: TaskEstimate, cost: float | None) -> list[str]:
    tokens = [_count(row.prompt), _share(row.cached, row.prompt), _count(row.answer)]
    return [row.task, _count(row.calls), *tokens, _money(cost)]


def _remarks(found: Estimate, minds: Sequence[str], unknown: Sequence[str], seconds: float) -> list[str]:
    total, days, mind = found.total, found.days * found.characters, ", ".join(minds)
    lines = [f"{found.ticks} ticks, {found.characters} characters, with {mind}"]
    if days:
        lines.append(
            f"a character's day: {total.calls / days:,.0f} calls, {total.prompt / days:,.0f} tokens of prompts"
        )
    if any(map(is_server, minds)):
        takes = timedelta(seconds=round(found.rounds * seconds))
        lines.append(f"about {takes} at {seconds:g} s per answer: {found.rounds:,} answers one after another")
    else:
        lines.append(f"{mind} asks no server: it answers these questions itself")
    if unknown:
        names = ", ".join(unknown)
        lines.append(f"the price of {names} is unknown; {VARIABLE}=FILE adds a price list of your own")
    lines.append("An estimate from the offline mind's answers: tokens are approximate, failed attempts not counted.")
    return lines


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _count(number: int) -> str:
    """Formats a number as `12,345`; empty for 0, so that the other figures stand out."""
    return f"{number:,}" if number else ""


def _share(part: int, whole: int) -> str:
    """Formats a share as `72%`; empty where the whole is 0."""
    return f"{part / whole:.0%}" if whole else ""


def _money(cost: float | None) -> str:
    """Formats dollars as `$1.24`, or `$0.0012` below a dollar; a dash where the price is unknown."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
