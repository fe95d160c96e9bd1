"""`usage` and `estimate`: what a run asked of its mind and what it cost, or would ask and cost."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer

from commonplace.api import DEFAULT_SEED, book, mind_named, prepared, templates_of
from commonplace.cli.consent import agreed
from commonplace.cli.options import CONCURRENCY, FIDELITY, JSON, RUN, TRUST, Fidelity
from commonplace.cli.output import print_json, print_table
from commonplace.engine.estimate import Asked, Estimate
from commonplace.engine.estimate import estimate as estimated
from commonplace.minds.chat.servers import is_server
from commonplace.minds.prices import VARIABLE, Price, price_of
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.trust import named_by_scenario

USAGE = ("character", "task", "asked", "calls", "kept", "unusable", "fallbacks", "prompt", "cached", "answer", "cost")
ESTIMATE = ("task", "calls", "prompt", "cached", "answer", "cost")


def usage(run: Path = RUN, as_json: bool = JSON) -> None:
    """Show what was asked of the mind, by character and task: tokens, cost, and unusable answers."""
    with Reading.open(run) as reading:
        rows, mind = reading.usage(), reading.manifest.mind
    priced = _with_cost(rows, price_of(mind))
    if as_json:
        print_json(priced)
        return
    print_table(USAGE, map(_usage_cells, priced), words=2)
    total = priced[-1]
    if total["faults"]:
        print("unusable answers: " + ", ".join(f"{kind} {number:,}" for kind, number in total["faults"].items()))
    if total["cost"] is None:
        print(f"the price of {mind} is unknown; {VARIABLE}=FILE adds a price list of your own", file=sys.stderr)


def _with_cost(rows: Iterable[Mapping[str, Any]], price: Price | None) -> list[dict[str, Any]]:
    """The rows with their cost in US dollars, None where the price is unknown; the last row is the total."""
    *named, total = ({**row, "cost": _row_cost(row, price)} for row in rows)
    return [*named, {**total, "cost": None if price is None else math.fsum(row["cost"] or 0 for row in named)}]


def _row_cost(row: Mapping[str, Any], price: Price | None) -> float | None:
    if price is None:
        return None
    return price.cost(row["prompt_tokens"], row["cached_tokens"], row["answer_tokens"])


def _usage_cells(row: Mapping[str, Any]) -> list[str]:
    unusable = sum(row["faults"].values())
    counts = [_count(number) for number in (row["asked"], row["calls"], row["from_cache"], unusable, row["fallbacks"])]
    prompt, cached = row["prompt_tokens"], row["cached_tokens"]
    tokens = [_count(prompt), _share(cached, prompt), _count(row["answer_tokens"])]
    return [row["agent_id"] or "total", row["task"], *counts, *tokens, _money(row["cost"])]


# ── estimate ─────────────────────────────────────────────────────────────────────────────────────────────────────────


DAY = 1440
"""Minutes."""


def estimate(
    scenario: str = typer.Argument(help="A shipped scenario or a file."),
    mind: str = typer.Option("", "--mind", help="Who would answer, as for `run`; it is not contacted."),
    ticks: int = typer.Option(0, "--ticks", min=0, help="The tick the run would go to; 0 for a simulated day."),
    seed: int = typer.Option(DEFAULT_SEED, "--seed", help="The seed of the run."),
    fidelity: Fidelity | None = FIDELITY,
    concurrency: int = CONCURRENCY,
    seconds: float = typer.Option(1.0, "--seconds", min=0.0, help="How long one answer is assumed to take."),
    as_json: bool = JSON,
    trust: bool = TRUST,
) -> None:
    """Estimate what a run would ask of a mind, and what that would cost, without contacting it."""
    from commonplace.engine.estimate import SizedMind, caching  # noqa: PLC0415 – imports Jinja

    read = load(scenario)
    last = ticks or DAY // read.clock.tick_minutes
    trust = agreed(named_by_scenario(read, mind, prompts=True), scenario, trust=trust)
    loaded, manifest = prepared(scenario, seed, mind, fidelity=fidelity or "", ticks=last, trust=trust, prompts=True)
    if not is_server(manifest.mind):
        mind_named(manifest.mind, loaded)  # raises for an unknown name
    price = price_of(manifest.mind)
    sized = SizedMind(book(loaded, templates_of(manifest)), loaded.language, caching(manifest.mind))
    found = asyncio.run(estimated(loaded, manifest, by_name(loaded.part.stage), sized, concurrency))
    rows = (*found.tasks, found.total)
    if as_json:
        print_json({**asdict(row), "cost": _cost_of(row, price)} for row in rows)
        return
    print_table(ESTIMATE, [_estimate_cells(row, price) for row in rows], words=1)
    for line in _remarks(found, manifest.mind, price, seconds):
        print(line)


def _cost_of(row: Asked, price: Price | None) -> float | None:
    return price and price.cost(row.prompt, row.cached, row.answer)


def _estimate_cells(row: Asked, price: Price | None) -> list[str]:
    tokens = [_count(row.prompt), _share(row.cached, row.prompt), _count(row.answer)]
    return [row.task, _count(row.calls), *tokens, _money(_cost_of(row, price))]


def _remarks(found: Estimate, mind: str, price: Price | None, seconds: float) -> list[str]:
    total, days = found.total, found.days * found.characters
    lines = [f"{found.ticks} ticks, {found.characters} characters, with {mind}"]
    if days:
        lines.append(
            f"a character's day: {total.calls / days:,.0f} calls, {total.prompt / days:,.0f} tokens of prompts"
        )
    if is_server(mind):
        takes = timedelta(seconds=round(found.rounds * seconds))
        lines.append(f"about {takes} at {seconds:g} s per answer: {found.rounds:,} answers one after another")
    else:
        lines.append(f"{mind} asks no server: it answers these questions itself")
    if price is None:
        lines.append(f"the price is unknown; {VARIABLE}=FILE adds a price list of your own")
    lines.append("An estimate from the offline mind's answers: tokens are approximate, failed attempts not counted.")
    return lines


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _count(number: int) -> str:
    """`12,345`; empty for 0, so that the other figures stand out."""
    return f"{number:,}" if number else ""


def _share(part: int, whole: int) -> str:
    """`72%`; empty where the whole is 0."""
    return f"{part / whole:.0%}" if whole else ""


def _money(cost: float | None) -> str:
    """`$1.24`, or `$0.0012` below a dollar; a dash where the price is unknown."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
