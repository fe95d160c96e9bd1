"""Trim: take reasons or prompts out of the past of a run. Its history and state stay, and so do their digests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from commonplace.canon import canonical
from commonplace.errors import UsageError
from commonplace.run import seals
from commonplace.run.integrity import TRIMMED, trimmed
from commonplace.run.journal import UNUSED_PRIMERS
from commonplace.run.opening import open_store
from commonplace.run.place import Connection, Place, place
from commonplace.run.reading import Reading
from commonplace.run.schema import replacing

REMOVED: Mapping[str, str] = {
    "trace": "DELETE FROM trace WHERE tick < :before",
    "call": """
DELETE FROM model_call WHERE (agent, tick, ordinal, attempt) IN
  (SELECT agent, tick, ordinal, attempt FROM answer WHERE used < :before)""",
}
"""Kind of row → how those of the ticks before one are taken out."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A summary of what was taken out."""

    before: int
    """The first tick of which everything is left."""
    rows: Mapping[str, int]
    """How many, by kind: `trace`, `call`."""
    freed: int | None
    """Bytes by which the file has become smaller; None for a run in a database, which uses the space again."""


def trim(where: str | Place, before: int, kinds: Collection[str] = ("trace",)) -> Trimmed:
    """Takes the traces (`trace`), or what was said to and by a model (`call`), before a tick out of a run.

    What goes is noted in the same transaction, so the run verifies and says what was trimmed. Then the file is made
    smaller. In a database what a fork shares with its parent stays. Raises UsageError for a tick that the run does not
    have, a run that is in use, and one that forks in its database share.
    """
    path = place(where)
    size = path.stat().st_size if isinstance(path, Path) and path.exists() else 0
    with open_store(path) as run:
        run.refuse_shared()
        if not 0 <= before <= run.last_tick + 1:
            hint = f"the run has ticks 0 to {run.last_tick}"
            raise UsageError(f"nothing can be trimmed before tick {before}", where=str(path), hint=hint)
        noted = {**trimmed(run.reading)}
        with run.changing() as connection:
            rows = {kind: connection.execute(REMOVED[kind], {"before": before}).rowcount for kind in sorted(kinds)}
            connection.execute(UNUSED_PRIMERS)
            upto = {kind: max(before - 1, noted.get(kind, -1)) for kind, count in rows.items() if count}
            _note(connection, {**noted, **upto})
        run.vacuum()
    freed = max(0, size - path.stat().st_size) if isinstance(path, Path) else None
    return Trimmed(before, rows, freed)


def _note(connection: Connection, upto: Mapping[str, int]) -> None:
    if upto:
        connection.execute(replacing("meta"), (TRIMMED, canonical(dict(upto)).decode()))
    seals.renew(connection, "meta", "call", "primer")


def first_kept(reading: Reading, before: str | None, keep_days: int | None) -> int:
    """Returns the first tick that is kept whole: a tick, an ISO time, or the beginning of the last simulated days."""
    if (before is None) == (keep_days is None):
        raise UsageError("it is not clear what to trim", hint="give either --before TICK or --keep-days N")
    if keep_days is not None:
        clock = reading.scenario.clock
        return max(0, clock.tick(clock.time(reading.last_tick) - timedelta(days=keep_days)))
    assert before is not None
    return reading.last_tick + 1 if before == str(reading.last_tick + 1) else reading.tick(before)
