"""`usage`: what was asked of a run's mind, and what it cost."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from commonplace.cli.table import count, money, share, table
from commonplace.minds.prices import VARIABLE, Price, price_of
from commonplace.run.reading import Reading
from commonplace.views.lines import json_line

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
