"""`estimate`: calls, tokens, cost and time of a run before it is begun."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import timedelta

import typer

from commonplace.api import DEFAULT_SEED, book, mind_named, prepared, templates_of
from commonplace.cli.options import CONCURRENCY, Fidelity
from commonplace.cli.table import count, money, share, table
from commonplace.engine.estimate import Asked, Estimate
from commonplace.engine.estimate import estimate as estimated
from commonplace.minds.chat.servers import is_server
from commonplace.minds.prices import Price, price_of
from commonplace.scenario.compiling import load
from commonplace.stages import by_name
from commonplace.views.lines import json_line

HEAD = ("task", "calls", "prompt", "cached", "answer", "cost")
DAY = 1440
"""Minutes."""


def add_to(app: typer.Typer) -> None:
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
    from commonplace.minds.sized import SizedMind, caching  # noqa: PLC0415 – templates only where they are filled in

    last = ticks or DAY // load(scenario).clock.tick_minutes
    loaded, manifest = prepared(scenario, seed, mind, fidelity=fidelity or "", ticks=last)
    if not is_server(manifest.mind):
        mind_named(manifest.mind, loaded)  # says so when there is none
    price = price_of(manifest.mind)
    sized = SizedMind(book(loaded, templates_of(manifest)), loaded.language, caching(manifest.mind))
    found = asyncio.run(estimated(loaded, manifest, by_name(loaded.part.stage), sized, concurrency))
    if as_json:
        for row in (*found.tasks, found.total):
            print(json_line({**asdict(row), "cost": _cost(row, price)}))
        return
    rows = [_cells(row, price) for row in (*found.tasks, found.total)]
    print(table(HEAD, rows))
    for line in _remarks(found, manifest.mind, price, seconds):
        print(line)


def _cost(row: Asked, price: Price | None) -> float | None:
    return price and price.cost(row.prompt, row.cached, row.answer)


def _cells(row: Asked, price: Price | None) -> list[str]:
    tokens = [count(row.prompt), share(row.cached, row.prompt), count(row.answer)]
    return [row.task, count(row.calls), *tokens, money(_cost(row, price))]


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
