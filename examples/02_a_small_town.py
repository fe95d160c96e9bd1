"""A town of two, from breakfast to noon, in one file; then the reasons of one sentence.

The file holds everything that happened: close it, copy it, and `open_run` tells the same story anywhere.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import commonplace


async def live(path: Path) -> None:
    """Six hours of the shipped town `plaza`, with the built-in offline mind; prints what is said."""
    with commonplace.create_run(path, scenario="plaza", seed=7) as run:
        async for tick in run.play(ticks=72):
            for event in tick.events:
                if event.type == "SAY":
                    print(f"{tick.time:%H:%M}  {event.agent_id}: {event.body.utterance}")


def why_the_first_line(path: Path) -> None:
    """The memories it rests on, and what was on the speaker's mind."""
    with commonplace.open_run(path) as run:
        said = run.events(type="SAY")[0]
        why = run.why(said.id)
        print(f"\nWhy did {said.agent_id} say that at tick {said.tick}?")
        print(f"  {why['reaction']['decision']} to {why['reaction']['target']}: {why['reaction']['reason']}")
        for number in said.body.because:
            print(f"  because #{number} {run.memory(said.agent_id, number).text}")
        print(f"\ntick {run.last_tick}, digest {run.digest()[:16]}")


with TemporaryDirectory() as folder:
    file = Path(folder) / "town.run"
    asyncio.run(live(file))
    why_the_first_line(file)
