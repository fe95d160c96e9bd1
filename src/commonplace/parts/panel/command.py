"""`rate`: stars for an answer of a panel."""

from __future__ import annotations

from pathlib import Path

import typer

from commonplace.api import folder_of, open_run
from commonplace.cli.options import MEMORY, RUN


def rate(
    run: Path = RUN,
    event: str = typer.Argument(help="The answer: the id of its event, such as t3.synthesis.0."),
    stars: int = typer.Argument(help="1 to 5.", min=1, max=5),
    memory: str = MEMORY,
) -> None:
    """Rate an answer of a panel. A better rated answer is more important, and preferred by the panels that follow."""
    from commonplace.parts.panel.store import rate as store_rating  # noqa: PLC0415 – start-up speed

    with open_run(run) as reading:
        rated = store_rating(reading, event, stars, folder_of(reading.manifest, run, memory))
    importance = rated.metadata.importance or 0.0
    print(f"{rated.memory_id}  {stars} of 5 stars  importance {importance:.2f}")
