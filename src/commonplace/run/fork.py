"""A fork: a new run that shares another's past up to a tick. The past is copied, so the file needs no other."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from commonplace.canon import parsed
from commonplace.errors import UsageError, command
from commonplace.registry import RUNS, found
from commonplace.run import schema, seals
from commonplace.run.copying import write_copy
from commonplace.run.file import written_run
from commonplace.run.integrity import TRIMMED, blame, trimmed
from commonplace.run.journal import UNUSED_PRIMERS
from commonplace.run.manifest import Manifest, asks_the_same
from commonplace.run.place import Address, Place, is_same, place
from commonplace.run.reading import Reading
from commonplace.run.schema import RUN
from commonplace.sqlite import transaction
from commonplace.world.events import NOBODY

UNDONE = """
DELETE FROM event WHERE tick > :at;
DELETE FROM memory WHERE tick > :at;
UPDATE memory SET removed = NULL WHERE removed > :at;
DELETE FROM vector WHERE id NOT IN (SELECT vector FROM memory WHERE vector IS NOT NULL);
DELETE FROM touch WHERE tick > :at;
DELETE FROM version WHERE tick > :at;
DELETE FROM input WHERE tick > :at OR tick IS NULL;
UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(seq), 0) FROM input) WHERE name = 'input';
DELETE FROM trace WHERE tick > :at;
DELETE FROM tick WHERE n > :at;
"""
OFFERED = """
DELETE FROM offered WHERE tick <= :at AND (agent, tick, ordinal) IN
  (SELECT agent, tick, ordinal FROM answer WHERE used <= :at);
INSERT OR REPLACE INTO offered SELECT agent, tick, ordinal, attempt, task, request, outcome, body, usage
  FROM answer WHERE used IS NULL OR used > :at;
"""
FORGOTTEN = "DELETE FROM offered;"
LATER = f"""
DELETE FROM answer WHERE (used IS NULL OR used > :at) AND NOT (agent = '{NOBODY}' AND tick <= :at);
DELETE FROM model_call WHERE (agent, tick, ordinal, attempt) NOT IN
  (SELECT agent, tick, ordinal, attempt FROM answer UNION ALL SELECT agent, tick, ordinal, attempt FROM offered);
{UNUSED_PRIMERS};
"""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a fork begins."""

    tick: int
    """The last tick that it shares."""
    notes: Mapping[str, str]
    """Its manifest and its parents, for `meta`."""
    offering: bool
    """Whether the answers that its parent got later are offered to the same questions."""


@contextmanager
def written_fork(
    source: str | Place,
    at: int | str,
    target: str | Place,
    *,
    manifest: Manifest | None = None,
    force: bool = False,
    fresh: bool = False,
) -> Generator[Place]:
    """Writes a run to `target` that equals `source` up to and including a tick. It appears when the block ends.

    Both digests at that tick are the source's, whatever its path, and stay the same until something differs. The
    caller makes the difference: by the `manifest` (another mind), or by inputs queued in the block, in the run at the
    place that it is given. Answers the source got later are offered to the same questions, unless the mind is another
    or costs nothing, or all is asked anew (`fresh`). Queued inputs are not copied.

    A fork in the same database shares the past with its parent; a fork into a file is a copy.

    Raises UsageError for a tick that the source does not have and, unless `force`, an existing target; and for a
    database that the source is not in.
    """
    source, target = place(source), place(target)
    with Reading.open(source) as parent:
        source = parent.path
        if isinstance(target, Address) and not target.name:
            raise UsageError("a fork needs a name", where=str(target), hint=f"write it as {target}#NAME")
        if is_same(source, target):
            raise UsageError("a fork cannot replace its parent", where=str(target), hint="give another name with -o")
        if isinstance(target, Address) and (not isinstance(source, Address) or source.server != target.server):
            copied = command("copy", source, target.named("NAME"))
            raise UsageError(
                "a fork can be made in the database of its parent or in a file, not in another database",
                where=str(target),
                hint=f"copy the run there first: {copied}",
            )
        origin = _origin(parent, at, manifest, fresh=fresh)
        if isinstance(target, Address):
            with found(RUNS["fork"])(source, target, origin, force=force) as part:
                yield part
            return
        with written_run(target, force=force) as part:
            try:
                write_copy(source, part, writes=part)
                cut(part, origin.tick, origin.notes, offering=origin.offering)
            except Exception as error:
                blame(source, error)
                raise
            yield part


def _origin(parent: Reading, at: int | str, manifest: Manifest | None, *, fresh: bool) -> Origin:
    tick, old = parent.tick(at), parent.manifest
    digests = parent.digests(tick)
    grandparent = parent.meta("parent")
    gone = trimmed(parent)
    origin = {"name": parent.path.name, "tick": tick, "history": digests.history.hex(), "state": digests.state.hex()}
    new = manifest or old
    notes = {
        "manifest": new.to_json(),
        "parent": json.dumps({**origin, "parent": parsed(grandparent) if grandparent else None}),
    }
    if manifest is not None:
        notes["parent_manifest"] = old.to_json()
    if gone:
        notes[TRIMMED] = json.dumps({kind: min(upto, tick) for kind, upto in gone.items()})
    return Origin(tick, notes, asks_the_same(new, old) and not fresh and not new.is_free)


def cut(path: Path, tick: int, notes: Mapping[str, str], *, offering: bool) -> None:
    """Delete what happened after the tick, and store the notes.

    `offering` keeps its answers for the same questions.
    """
    script = UNDONE + (OFFERED if offering else FORGOTTEN) + LATER
    with RUN.errors(str(path)):
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            with transaction(connection):
                schema.migrate(connection, schema.check(connection, str(path)))
                for statement in script.split(";"):
                    connection.execute(statement, {"at": tick} if ":at" in statement else {})
                connection.executemany(schema.replacing("meta"), list(notes.items()))
                seals.renew(connection)
            connection.execute("VACUUM")
        finally:
            connection.close()
