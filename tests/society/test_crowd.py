"""Towns as `new` writes them, of several sizes: nobody is left out, people talk everywhere, the run verifies."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from commonplace import create_run, open_run
from commonplace.engine.verify import verify
from commonplace.parts.new_town.census import settled
from commonplace.parts.new_town.scaffold import new
from commonplace.stages import by_name
from sizes import PROVE

TOWNS = [(10, 288), (50, 288), (100, 288)] if PROVE else [(20, 72)]
"""People and ticks."""


async def _lived(path: Path, scenario: Path, ticks: int) -> None:
    with create_run(path, str(scenario), seed=7, synchronous="OFF") as run:
        async for _ in run.play(ticks):
            pass


async def _verified(path: Path) -> int:
    with open_run(path) as run:
        return await verify(run, run.scenario, by_name(run.manifest.stage))


@pytest.mark.parametrize(("people", "ticks"), TOWNS)
def test_a_town_of_any_size_talks(tmp_path: Path, people: int, ticks: int) -> None:
    path = tmp_path / "town.run"
    asyncio.run(_lived(path, new(tmp_path / "town", people), ticks))
    town = settled(people)
    districts = {
        place: district.id
        for district in town.districts
        for place in (district.id, *(one.id for one in (*district.places, *district.homes)))
    }
    with open_run(path) as run:
        said, talks = run.events(type="SAY"), run.events(type="CONVERSATION_ENDED")
        places = {event.place for event in run.events(type="CONVERSATION_STARTED")}
        changed = run.events(type="PLAN_CHANGED")
        persuaded = {event.agent_id for event in changed if "to be out in this" not in event.body.reason}
    silent = people - len({event.agent_id for event in said})
    assert silent <= max(1, people // (20 if ticks >= 288 else 2))
    begun = {districts[place] for place in places if place in districts}
    assert len(begun) >= len(town.districts) * 2 / 3
    assert len(persuaded) <= people * 3 // 4
    assert ticks < 288 or any(len(event.body.members) > 2 for event in talks)
    if PROVE:
        assert asyncio.run(_verified(path)) == ticks
