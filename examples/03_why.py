"""Why did she say that? Every number that led to a line, from the committed tick, and the way a piece of news took.

The sum of the three normalised parts is the score a memory was retrieved by. Nothing is computed again: what is shown
is what was used.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

import commonplace
from commonplace.analysis.diffusion import diffusion


async def live(path: Path) -> None:
    """The shipped town `plaza` until seven in the evening."""
    with commonplace.create_run(path, scenario="plaza", seed=7) as run:
        async for _ in run.play(ticks=156):
            pass


def explained(path: Path) -> None:
    """The line that first passed the news on: its query, its memories, its source."""
    with commonplace.open_run(path) as run:
        (news,) = diffusion(run)
        first = news["tree"][0]
        why = run.why(first["event_id"])
        print(f"{first['from']} to {first['to']}: “{why['event']['utterance']}”\n")
        retrieval = next(found for found in why["retrievals"] if found["purpose"] == "talk")
        print(f"asked of {retrieval['candidates']} memories by {retrieval['policy']}")
        for hit in retrieval["hits"][:4]:
            parts = "  ".join(f"{name} {part['normalised']:.2f}" for name, part in sorted(hit["parts"].items()))
            print(f"  {hit['score']:.2f} = {parts}   #{hit['memory']['id']} {hit['memory']['text'][:60]}")

        print(f"\n“{news['text']}”")
        print(f"  known at first to {', '.join(news['originators'])}, now to {', '.join(news['knowers'])}")
        for edge in news["tree"]:
            words = ", ".join(edge["words"])
            print(f"  {run.time(edge['tick']):%H:%M} {edge['from']} told {edge['to']} in the words: {words}")


with TemporaryDirectory() as folder:
    file = Path(folder) / "why.run"
    asyncio.run(live(file))
    explained(file)
