"""All servers and all minds of a run share one budget."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from commonplace import create_run
from commonplace.engine.budget import Budget
from commonplace.errors import Paused
from commonplace.testing.server import Entry, ModelServer

AT_ONCE = 2


def _asked(path: Path, budget: Budget) -> list[list[Entry]]:
    """The requests to each of three servers until the budget was reached: two share the work, one plans."""
    with ExitStack() as stack:
        servers = [stack.enter_context(ModelServer()) for _ in range(3)]
        minds = {"default": ",".join(server.url for server in servers[:2]), "plan": servers[2].url}

        async def play() -> None:
            with create_run(path, "latticeville", mind=minds, concurrency=AT_ONCE) as run:
                async for _ in run.play(40, budget=budget):
                    pass

        with pytest.raises(Paused, match="the budget of"):
            asyncio.run(play())
        return [server.log.entries for server in servers]


def test_calls_to_all_of_them_are_counted_together(tmp_path: Path) -> None:
    asked = _asked(tmp_path / "a.run", Budget(calls=60))
    assert all(asked), "each of them was asked"
    assert sum(map(len, asked)) == 60


def test_tokens_of_all_of_them_are_counted_together(tmp_path: Path) -> None:
    asked = _asked(tmp_path / "a.run", Budget(tokens=90_000))
    assert all(asked)
    spent = [entry.usage.prompt + entry.usage.answer for entries in asked for entry in entries]
    assert 90_000 <= sum(spent) < 90_000 + AT_ONCE * max(spent), "what was in flight comes on top"
