"""A run made or opened to be continued, in a file or in a database."""

from __future__ import annotations

from commonplace.registry import RUNS, found
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.run.place import Address, Place, place
from commonplace.run.rows import TickRecord
from commonplace.run.store import RunStore
from commonplace.sqlite import Synchronous


def create_store(
    where: str | Place,
    manifest: Manifest,
    first: TickRecord | None = None,
    *,
    force: bool = False,
    synchronous: Synchronous = "NORMAL",
) -> RunStore:
    """Creates a run with tick 0, the `first`, or without ticks. It appears with all of that or not at all.

    Raises UsageError if there is one already, unless `force`.
    """
    target = place(where)
    kind: type[RunFile] = found(RUNS["store"]) if isinstance(target, Address) else RunFile
    return kind.create(target, manifest, first, force=force, synchronous=synchronous)  # pyright: ignore[reportArgumentType] – an address for the other


def open_store(where: str | Place) -> RunStore:
    """Opens a run to continue it, and recovers what a killed process had committed.

    Raises UsageError for a missing run, another kind of file, a newer format, or a run that is in use.
    """
    target = place(where)
    return found(RUNS["store"]).open(target) if isinstance(target, Address) else RunFile.open(target)
