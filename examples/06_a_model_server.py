"""A town on a model server, over real HTTP: what it asked, what a fault does, and what the run has kept.

The server here is the one for tests: it answers from the offline mind, a third of its answers in a wrong form. With
`mind="ollama:qwen3:8b"` the same program would live by that model.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace import create_run, open_run
from commonplace.testing.server import Faults, ModelServer

TICKS = 36


async def lived(path: Path, mind: str) -> None:
    """Some hours of `plaza`."""
    with create_run(path, "plaza", seed=7, mind=mind) as run:
        async for _ in run.play(ticks=TICKS):
            pass


with (
    TemporaryDirectory() as folder,
    ModelServer(faults=Faults(rate=0.3, kinds=("fenced", "wrong_schema"), seed=3)) as server,
):
    path = Path(folder) / "plaza.run"
    asyncio.run(lived(path, server.url))
    with open_run(path) as run:
        total = next(row for row in run.usage() if not row["agent_id"])
        print(f"{total['asked']} questions, {total['fallbacks']} of them answered by a fallback")
        said = [event for event in run.events() if event.type == "SAY"]
        print(f"{said[0].agent_id}: {said[0].body.utterance}")
        asked = run.why(said[0].id)["asked"][-1]
        print(f"that was a `{asked['task']}` with the outcome {asked['outcome']}; its prompt ends:")
        print("  " + "\n  ".join(asked["prompt"].strip().splitlines()[-3:]))
        print(f"faults: {total['faults']}")
