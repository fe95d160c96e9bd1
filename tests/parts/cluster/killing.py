"""A run whose workers are killed: `killing.py RUN TICKS KILLS`. Prints what was seen of its processes as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from commonplace.api import create_run
from parts.cluster.processes import kill, ports, started_by, until, workers_of


async def main(path: str, ticks: int, kills: int) -> None:
    """A worker dies after every so many ticks, as it takes over what was committed."""
    random, me, heard = Random(5), os.getpid(), set[str]()
    with create_run(path, "plaza", ticks=ticks, workers=2) as run:
        async for tick in run.play(ticks):
            if tick.number % (ticks // (kills + 1)) == 0 and tick.number < ticks:
                until(lambda: len(workers_of(me)) == 2)
                heard |= set[str]().union(*map(ports, (me, *started_by(me))))
                kill(random.choice(workers_of(me)))
        others = started_by(me)
    print(json.dumps({"ports": sorted(heard), "processes": others}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
