"""The runs of a folder or a database: listed, deleted."""

from __future__ import annotations

import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from commonplace.canon import parsed
from commonplace.errors import CommonplaceError, UsageError
from commonplace.lock import LOCK, ProcessLock
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.registry import RUNS, found
from commonplace.run.file import in_use
from commonplace.run.place import Address, Place
from commonplace.run.reading import Reading
from commonplace.run.tables import refuse_missing
from commonplace.run.talks import talks_of
from commonplace.sqlite import JOURNALS, beside

ENDING = ".run"


@dataclass(frozen=True, slots=True)
class Listed:
    """A run in a list."""

    run: str
    """Its name."""
    scenario: str = ""
    seed: int = 0
    ticks: int = 0
    """The last one."""
    parent: str = ""
    """What it was forked from; empty if it was not."""
    parent_tick: int | None = None
    """The last tick that both have."""
    size: int = 0
    """Bytes, of a fork in a database without what it shares."""
    live: bool = False
    """Whether a process goes on with it."""
    problem: str = ""
    """Why it cannot be opened."""


def runs_in(where: Place) -> list[Listed]:
    """Lists the runs of a folder or a database, by name. Raises UsageError for a folder that does not exist."""
    if isinstance(where, Address):
        return found(RUNS["list"])(where)
    if not where.is_dir():
        raise UsageError(
            "no such folder",
            where=str(where),
            hint="give another one, or a database; `commonplace run SCENARIO` makes a run",
        )
    return [_listed(path) for path in sorted(where.glob(f"*{ENDING}")) if path.is_file()]


def delete_run(where: Place) -> None:
    """Deletes a run and the talks about it. Raises UsageError for one in use, and for one that forks in its database
    share."""
    if isinstance(where, Address):
        found(RUNS["delete"])(where)
        return
    refuse_missing(where)
    lock = ProcessLock(beside(where, LOCK), str(where), hint=in_use(where))
    try:
        for ending in (*JOURNALS, ""):  # a journal that is left would be applied to a new file of that name
            beside(where, ending).unlink(missing_ok=True)
        shutil.rmtree(talks_of(where), ignore_errors=True)
    finally:
        lock.release()


def _listed(path: Path) -> Listed:
    size = path.stat().st_size
    try:
        with closing(Reading.open(path)) as run:
            manifest, origin = run.manifest, parsed(run.meta("parent") or "{}")
            return Listed(
                path.stem, manifest.scenario, manifest.seed, run.last_tick,
                Path(str(origin.get("name", ""))).stem, origin.get("tick"), size, run.held(),
            )  # fmt: skip
    except (CommonplaceError, *UNREADABLE) as error:
        return Listed(path.stem, size=size, problem=error.what if isinstance(error, CommonplaceError) else str(error))
