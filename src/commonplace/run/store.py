"""One run, extended by one tick at a time: what its file and a database share. `reading.Reading` reads it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from commonplace.canon import digest
from commonplace.run import seals
from commonplace.run.digest import BEGINNING, Chains, Digests, chained, rows_of
from commonplace.run.integrity import blame
from commonplace.run.journal import Journal, put_answers
from commonplace.run.manifest import Manifest
from commonplace.run.place import Connection, Place
from commonplace.run.reading import Reading
from commonplace.run.rows import (
    InputRow,
    Rows,
    TickRecord,
    packed_vector,
    text_of,
    unpacked_vector,
    vector_digest,
)
from commonplace.run.schema import inserting, replacing
from commonplace.sqlite import Synchronous, transaction

MOST_VECTORS = 2048
"""Vectors of which a commit knows the rows."""
TOGETHER = 256
"""Vectors looked up at once."""
FORGETTING = "UPDATE memory SET removed = ? WHERE agent = ? AND id = ?"
LAST_TICK = "SELECT n, history, state, record FROM tick ORDER BY n DESC LIMIT 1"
LAST_INPUT = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'input'"


class RunStore:
    """One run, owned by this process. A context manager.

    All methods raise CommonplaceError (a full disk, a read-only file, a server that is gone) or RunDamaged (rows that
    have changed). Whatever is raised, every tick committed before is still there.
    """

    def __init__(self, path: Place, connection: Connection, manifest: Manifest) -> None:
        """Internal: use `opening.open_run` or `opening.create_run`."""
        self.path: Place = path
        self.manifest = manifest
        self.journal = Journal(connection, str(path))
        self._connection = connection
        self._vectors = _Vectors(connection, manifest.embedder)
        self._reading: Reading | None = None
        self._last: int
        self._chains: Chains
        self._last, self._chains = last_tick(connection)

    @property
    def last_tick(self) -> int:
        """The last committed tick; −1 for none."""
        return self._last

    @property
    def digests(self) -> Digests:
        """Both chains up to the last tick."""
        return self._chains.digests

    @property
    def reading(self) -> Reading:
        """Reads the committed ticks, through a connection of its own; closed with the run."""
        if self._reading is None:
            self._reading = Reading.open(self.path)
        return self._reading

    @contextmanager
    def changing(self) -> Generator[Connection]:
        """Opens a transaction. A caller that changes what is outside the history renews its seals in it."""
        with transaction(self._connection):
            yield self._connection

    def commit(self, record: TickRecord) -> Digests:
        """Add the next tick in one transaction; returns both chains up to it. Nothing is written when it raises."""
        if record.tick != self._last + 1:
            raise ValueError(f"tick {record.tick} cannot follow tick {self._last}")
        try:
            with self.changing() as connection:
                chains = write(connection, record, self._chains, self._vectors)
        except BaseException:
            self._vectors.forget()
            raise
        self._last, self._chains = record.tick, chains
        return chains.digests

    def queue(self, *bodies: Mapping[str, Any]) -> int:
        """Queue inputs until ticks apply them, all or none; returns the number of the last, which is never reused."""
        with self.changing() as connection:
            (last,) = connection.execute(LAST_INPUT).fetchone()
            rows = [(number, None, text_of(dict(body))) for number, body in enumerate(bodies, start=last + 1)]
            connection.executemany(inserting("input"), rows)
            seals.renew(connection, "queued")
        return last + len(rows)

    def queued(self) -> tuple[InputRow, ...]:
        """Returns the inputs that have no tick yet, in order; their `tick` is −1."""
        return self.reading.queued()

    def note(self, key: str, value: str) -> None:
        """Store a note outside the history (`control:…`, `parent` …)."""
        with self.changing() as connection:
            connection.execute(replacing("meta"), (key, value))
            seals.renew(connection, "meta")

    def refuse_shared(self) -> None:
        """Raises UsageError for a run whose past forks share, before something of it is deleted."""

    def vacuum(self) -> None:
        """Give back the space of what was deleted, where that is not done by itself."""

    def close(self) -> None:
        """Release the run. May be called twice."""
        if self._reading is not None:
            self._reading.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        blame(self.path, error)


def last_tick(connection: Connection) -> tuple[int, Chains]:
    """Returns the last committed tick and the chains at it."""
    row: tuple[int, bytes, bytes, bytes] | None = connection.execute(LAST_TICK).fetchone()
    if row is None:
        return -1, BEGINNING
    number, history, state, record = row
    return number, Chains(history, state, record)


# ── writing rows ────────────────────────────────────────────────────────────────────────────────────────────────────


def lay_out(
    connection: Connection, manifest: Manifest, first: TickRecord | None, synchronous: Synchronous = "NORMAL"
) -> None:
    """Write the notes of a new run and its opening state. Runs in the caller's transaction, in empty tables."""
    notes = {"manifest": manifest.to_json(), "synchronous": synchronous, "semantics": str(manifest.semantics)}
    connection.executemany(inserting("meta"), list(notes.items()))
    if first is not None:
        write(connection, first, BEGINNING, _Vectors(connection, manifest.embedder))
    seals.renew(connection)


def write(connection: Connection, record: TickRecord, previous: Chains, vectors: _Vectors) -> Chains:
    """Insert the tick's rows and return the chains after them. Runs in the caller's transaction."""
    rows = rows_of(record)
    chains, parts = chained(rows, previous, vectors.embedder)
    connection.executemany(inserting("event"), rows.events)
    connection.executemany(inserting("memory"), _memory_rows(rows, vectors))
    connection.executemany(FORGETTING, [(record.tick, *pair) for pair in rows.removals])
    connection.executemany(inserting("touch"), rows.touches)
    connection.executemany(inserting("version"), rows.versions)
    answers = [(*cells, usage[-1]) for cells, usage in zip(rows.answers, rows.usages, strict=True)]
    put_answers(connection, answers, record.tick)
    if rows.inputs:
        connection.executemany(replacing("input"), rows.inputs)
        seals.renew(connection, "queued")
    connection.executemany(inserting("trace"), rows.traces)
    connection.execute(inserting("tick"), (record.tick, *chains, parts))
    return chains


def _memory_rows(rows: Rows, vectors: _Vectors) -> list[tuple[Any, ...]]:
    """Returns the rows of new memories, after adding the rows of their vectors."""
    numbers = vectors.numbers([(cells[5], raw) for cells, _, raw in rows.memories])
    found: list[tuple[Any, ...]] = []
    for (cells, details, _), number in zip(rows.memories, numbers, strict=True):
        *start, citations, event, _ = cells
        found.append((*start, number, citations, event, details, None))
    return found


class _Vectors:
    """Finds and adds the rows of vectors. The latest are kept: two memories of three repeat an earlier text."""

    def __init__(self, connection: Connection, embedder: str) -> None:
        self.embedder = embedder
        self._connection = connection
        self._known: dict[str, tuple[bytes, int]] = {}
        """Text → its vector and the number of its row."""

    def numbers(self, wanted: Sequence[tuple[str, bytes]]) -> list[int | None]:
        """Returns the row number of each (text, vector); None where there is no vector.

        A text has one vector per embedder; one that differs gets its own key.
        """
        if len(self._known) >= MOST_VECTORS:
            self._known.clear()
        keys = {
            text: vector_digest(self.embedder, text)
            for text, raw in wanted
            if raw and self._known.get(text, (b"",))[0] != raw
        }
        stored = self._stored(list(keys.values()))
        added: list[tuple[int, bytes, bytes]] = []
        if keys:
            (last,) = self._connection.execute("SELECT coalesce(max(id), 0) FROM vector").fetchone()
        numbers: list[int | None] = []
        for text, raw in wanted:
            known = self._known.get(text)
            if not raw:
                numbers.append(None)
                continue
            if known is None or known[0] != raw:
                key = keys.get(text) or vector_digest(self.embedder, text)
                if stored.get(key, (0, raw))[1] != raw:
                    key = digest(key, raw)
                    stored = self._stored([key]) | stored
                if key not in stored:
                    stored[key] = last + len(added) + 1, raw  # pyright: ignore[reportPossiblyUnboundVariable]
                    added.append((stored[key][0], key, packed_vector(raw)))
                known = self._known[text] = raw, stored[key][0]
            numbers.append(known[1])
        self._connection.executemany(inserting("vector"), added)
        return numbers

    def forget(self) -> None:
        """Call this after a rolled-back transaction: the rows it added were not stored."""
        self._known.clear()

    def _stored(self, keys: Sequence[bytes]) -> dict[bytes, tuple[int, bytes]]:
        """Returns key → number and vector of those that are stored."""
        found: dict[bytes, tuple[int, bytes]] = {}
        for begin in range(0, len(keys), TOGETHER):
            some = keys[begin : begin + TOGETHER]
            query = f"SELECT digest, id, value FROM vector WHERE digest IN ({', '.join('?' * len(some))})"
            rows = self._connection.execute(query, some).fetchall()
            found |= {key: (number, unpacked_vector(value)) for key, number, value in rows}
        return found
