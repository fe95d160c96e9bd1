"""`usage`: what was asked of a run's mind, and what it cost."""

from __future__ import annotations

import asyncio
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import typer
from rich.cells import cell_len

from commonplace.api import DEFAULT_SEED, book, mind_named, prepared, templates_of
from commonplace.cli.options import CONCURRENCY, Fidelity
from commonplace.engine.estimate import Asked, Estimate
from commonplace.engine.estimate import estimate as estimated
from commonplace.minds.chat.servers import is_server
from commonplace.minds.prices import VARIABLE, Price, price_of
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.text import clean
from commonplace.views.lines import json_line

# ── table ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Tables as aligned text: words to the left, figures to the right, no frame, as wide as they need to be.


GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Lines of text: the head, then the rows. The first `words` columns are words, the others figures."""
    cells = [list(head), *([clean(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(_line(row, widths, words) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int], words: int) -> str:
    padded: list[str] = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - cell_len(cell))
        padded.append(cell + space if column < words else space + cell)
    return GAP.join(padded).rstrip()


def count(number: int) -> str:
    """`12,345`; nothing for 0, so that a table shows what there is."""
    return f"{number:,}" if number else ""


def share(part: int, whole: int) -> str:
    """`72%`; nothing where there is no whole."""
    return f"{part / whole:.0%}" if whole else ""


def money(cost: float | None) -> str:
    """`$1.24`, to a hundredth of a cent where it is less than a dollar; a dash where it is not known."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"


# ── usage ────────────────────────────────────────────────────────────────────────────────────────────────────────────


HEAD = ("character", "task", "asked", "calls", "kept", "unusable", "fallbacks", "prompt", "cached", "answer", "cost")


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("usage", epilog="Example: commonplace usage monday.run --json")(usage)


def usage(
    run: Path = typer.Argument(help="The run file."),
    as_json: bool = typer.Option(False, "--json", help="One JSON value a line."),
) -> None:
    """What was asked of the mind, by character and task: tokens, cost, and answers that could not be used."""
    with Reading.open(run) as reading:
        rows, mind = reading.usage(), reading.manifest.mind
    priced = with_cost(rows, price_of(mind))
    if as_json:
        for row in priced:
            print(json_line(row))
        return
    print(as_table(priced))
    if priced[-1]["cost"] is None:
        print(f"the price of {mind} is not known; {VARIABLE}=FILE gives a list of your own", file=sys.stderr)


def with_cost(rows: Iterable[Mapping[str, Any]], price: Price | None) -> list[dict[str, Any]]:
    """The rows with their cost in US dollars, null where the price is not known; the last one is the total."""
    *named, total = ({**row, "cost": _cost(row, price)} for row in rows)
    return [*named, {**total, "cost": None if price is None else math.fsum(row["cost"] or 0 for row in named)}]


def _cost(row: Mapping[str, Any], price: Price | None) -> float | None:
    if price is None:
        return None
    return price.cost(row["prompt_tokens"], row["cached_tokens"], row["answer_tokens"])


def as_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line per (character, task) and a total; beneath, the kinds of what went wrong."""
    rows = list(rows)
    faults: dict[str, int] = rows[-1]["faults"]
    wrong = ", ".join(f"{kind} {number:,}" for kind, number in sorted(faults.items()))
    return table(HEAD, [_cells(row) for row in rows], words=2) + (f"\nunusable answers: {wrong}" if wrong else "")


def _cells(row: Mapping[str, Any]) -> list[str]:
    unusable = sum(row["faults"].values())
    counts = [count(number) for number in (row["asked"], row["calls"], row["from_cache"], unusable, row["fallbacks"])]
    prompt, cached = row["prompt_tokens"], row["cached_tokens"]
    tokens = [count(prompt), share(cached, prompt), count(row["answer_tokens"])]
    return [row["agent_id"] or "total", row["task"], *counts, *tokens, money(row["cost"])]


# ── estimate ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# `estimate`: calls, tokens, cost and time of a run before it is begun.


HEAD_estimate = ("task", "calls", "prompt", "cached", "answer", "cost")
DAY = 1440
"""Minutes."""


def add_to_estimate(app: typer.Typer) -> None:
    """Add the command."""
    example = "Example: commonplace estimate latticeville --mind openai:gpt-5-mini --ticks 288"
    app.command("estimate", epilog=example)(estimate)


def estimate(
    scenario: str = typer.Argument(help="A shipped scenario or a file."),
    mind: str = typer.Option("", "--mind", help="Who would answer, as for `run`; it is not asked."),
    ticks: int = typer.Option(0, "--ticks", min=0, help="How far the run would go; 0 for a simulated day."),
    seed: int = typer.Option(DEFAULT_SEED, "--seed", help="The seed it would have."),
    fidelity: Fidelity | None = typer.Option(None, "--fidelity", help="Ask for each action, or only when needed."),
    concurrency: int = CONCURRENCY,
    seconds: float = typer.Option(1.0, "--seconds", min=0.0, help="What one answer is taken to last."),
    as_json: bool = typer.Option(False, "--json", help="One JSON value a line."),
) -> None:
    """Tell what a run would ask of a mind, and what that would cost, without asking it anything."""
    from commonplace.engine.estimate import SizedMind, caching  # noqa: PLC0415 – templates only where they are filled in

    last = ticks or DAY // load(scenario).clock.tick_minutes
    loaded, manifest = prepared(scenario, seed, mind, fidelity=fidelity or "", ticks=last)
    if not is_server(manifest.mind):
        mind_named(manifest.mind, loaded)  # says so when there is none
    price = price_of(manifest.mind)
    sized = SizedMind(book(loaded, templates_of(manifest)), loaded.language, caching(manifest.mind))
    found = asyncio.run(estimated(loaded, manifest, by_name(loaded.part.stage), sized, concurrency))
    if as_json:
        for row in (*found.tasks, found.total):
            print(json_line({**asdict(row), "cost": _estimate_cost(row, price)}))
        return
    rows = [_estimate_cells(row, price) for row in (*found.tasks, found.total)]
    print(table(HEAD_estimate, rows))
    for line in _remarks(found, manifest.mind, price, seconds):
        print(line)


def _estimate_cost(row: Asked, price: Price | None) -> float | None:
    return price and price.cost(row.prompt, row.cached, row.answer)


def _estimate_cells(row: Asked, price: Price | None) -> list[str]:
    tokens = [count(row.prompt), share(row.cached, row.prompt), count(row.answer)]
    return [row.task, count(row.calls), *tokens, money(_estimate_cost(row, price))]


def _remarks(found: Estimate, mind: str, price: Price | None, seconds: float) -> list[str]:
    total, days = found.total, found.days * found.characters
    lines = [f"{found.ticks} ticks, {found.characters} characters, with {mind}"]
    if days:
        lines.append(
            f"a character's day: {total.calls / days:,.0f} calls, {total.prompt / days:,.0f} tokens of prompts"
        )
    if is_server(mind):
        takes = timedelta(seconds=round(found.rounds * seconds))
        lines.append(f"about {takes} at {seconds:g} s an answer: {found.rounds:,} answers that wait for one another")
    else:
        lines.append(f"{mind} asks no server: these are the questions it answers itself")
    if price is None:
        lines.append("the price is not known; COMMONPLACE_PRICES=FILE gives a list of your own")
    lines.append("An estimate: from the offline mind's answers, tokens counted roughly, without failed attempts.")
    return lines
