"""`rate`: stars for an answer of a panel, or for a memory of a store."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import typer

from commonplace.api import open_run, ratings_of
from commonplace.cli.options import MEMORY, RUN_OR_STORE
from commonplace.errors import UsageError
from commonplace.ledger import Ledger
from commonplace.lookup import is_run
from commonplace.memory.stores import open_store
from commonplace.paths import checked_folder


def rate(
    where: str = RUN_OR_STORE,
    event: str = typer.Argument(help="The answer: the id of its event, such as t3.synthesis.0, or of its memory."),
    stars: int = typer.Argument(help="1 to 5.", min=1, max=5),
    memory: str = MEMORY,
    ledger: Path | None = typer.Option(None, "--ledger", help="Record it in the ledger in this folder; stores only."),
) -> None:
    """Rate an answer of a panel, or a memory. Better rated ones are more important, and later panels prefer them."""
    from commonplace.memory import MemoryStore  # noqa: PLC0415 – start-up speed
    from commonplace.parts.panel.store import note_rating  # noqa: PLC0415

    if is_run(where):
        if ledger is not None:
            raise UsageError("--ledger is for a store", hint="name the folder of a panel with --memory DIR")
        with open_run(where) as reading:
            rated = ratings_of(reading, memory).rate(event, stars)
            name, importance = rated.memory_id, rated.importance
    else:
        if ledger is not None:
            checked_folder(ledger)
        with closing(open_store(where, create=False)) as store, MemoryStore(store=store) as memories:
            record = Ledger(ledger) if ledger is not None else None  # before anything is rated: it may fail
            document = memories.rate(event, stars)
            if record is not None:
                note_rating(record, document)
            name, importance = document.memory_id, document.metadata.importance or 0.0
    print(f"{name}  {stars} of 5 stars  importance {importance:.2f}")
