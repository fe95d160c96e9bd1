"""How towns of different sizes live: speed, silent people, talks, acquaintance.

    python benchmarks/crowds.py [--people 10 50 100 200] [--days 1] [--seed 7] [--json]

Each is a scenario as `commonplace new --size N` makes it, played by the offline mind as `commonplace run` plays it.
Speed is agent-ticks a second of processor time on one core, the run file included. For each day: the share of people
who do not say a word, of districts with a conversation, of conversations with three people or more, and of pairs that
know each other (they do at the start, or have talked).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commonplace import create_run, open_run
from commonplace.cli import expect_many_objects
from commonplace.parts.new_town.census import settled
from commonplace.parts.new_town.scaffold import CITY, TOWN, new

DAY = 288


async def lived(path: Path, scenario: Path, ticks: int, seed: int) -> float:
    """Processor seconds."""
    with create_run(path, str(scenario), seed=seed) as run:
        began = time.process_time()
        async for _ in run.play(ticks):
            pass
        return time.process_time() - began


def days(path: Path, people: int, count: int) -> Iterator[dict[str, Any]]:
    """The figures of each day."""
    town = settled(people)
    district_of = {area.id: district.id for district in town.districts for area in (*district.places, *district.homes)}
    district_of |= {district.id: district.id for district in town.districts}
    known = {frozenset((one.id, other)) for one in town.people for other in one.ties}
    with open_run(path) as run:
        for day in range(count):
            said = run.events(1 + day * DAY, (day + 1) * DAY, type="SAY")
            talks = run.events(1 + day * DAY, (day + 1) * DAY, type="CONVERSATION_ENDED")
            known |= {frozenset((event.agent_id, event.body.to_agent_id)) for event in said}
            talked = {district_of[event.place] for event in talks if event.place in district_of}
            yield {
                "day": day + 1,
                "lines": len(said),
                "conversations": len(talks),
                "silent": 1 - len({event.agent_id for event in said}) / people,
                "districts with a talk": len(talked) / len(town.districts),
                "talks of three or more": sum(len(event.body.members) > 2 for event in talks) / max(1, len(talks)),
                "pairs acquainted": len(known) / (people * (people - 1) / 2),
            }


def main() -> None:
    """Print a line for each town and day, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", default=[10, 50, 100, 200])
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if wrong := [people for people in given.people if not TOWN <= people < CITY]:
        parser.error(f"--people: {wrong[0]} people are not a town; expected {TOWN} to {CITY - 1}")
    if given.days < 1:
        parser.error(f"--days: {given.days} is no number of days; expected 1 or more")
    expect_many_objects()
    for people in given.people:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "town.run"
            scenario = new(Path(folder) / "town", people)
            seconds = asyncio.run(lived(path, scenario, given.days * DAY, given.seed))
            speed = people * given.days * DAY / seconds
            for figures in days(path, people, given.days):
                row = {"people": people, "agent-ticks per second": round(speed), **figures}
                if given.json:
                    print(json.dumps(row))
                else:
                    values = {key: f"{value:.1%}" if isinstance(value, float) else value for key, value in row.items()}
                    shown = (f"{key} {value}" for key, value in values.items())
                    print(" · ".join(shown), flush=True)


if __name__ == "__main__":
    main()
