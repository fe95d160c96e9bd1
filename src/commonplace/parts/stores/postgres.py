"""Memories in PostgreSQL, with pgvector: for many characters, many readers, and many machines."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import numpy as np

from commonplace.errors import CommonplaceError, UsageError, install, refuse_newer
from commonplace.memory.columns import micros
from commonplace.memory.embedding import Vector, encoded, gathered, norm_of
from commonplace.memory.segments import Segment, write_segment
from commonplace.memory.stores.codec import (
    COLUMNS,
    UNREADABLE,
    MemoryRow,
    StoredRow,
    as_json,
    cells_of,
    kept_of,
    operations_in,
)
from commonplace.memory.stores.store import (
    FORGOTTEN,
    Access,
    Index,
    Kept,
    Log,
    Operation,
    Rows,
    Touch,
    checked_agent,
    damaged,
    fold,
    no_store,
    overtaken,
)
from commonplace.memory.threads import locked
from commonplace.parts.stores.embedded import joined
from commonplace.text import without_password, without_secrets

# A PostgreSQL server as a store: how it is reached, its tables, and its errors in words a person can use.


_ALIVE: dict[str, Any] = {
    "keepalives_idle": 20,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""How a connection finds out that the other machine is gone: seconds, a number, and milliseconds."""
_TEMPORARY = "commonplace-index-"
INSTALL = install("postgres")
NO_PGVECTOR = "install pgvector on the server, or use embedded:FOLDER, which brings it along"
FORMAT = 2
"""Number of the table layout. A newer one is refused."""

# state: 0 there, 1 archived (text and rest in packed), 2 forgotten; times: microseconds since the year 1; exact: the
# vector's values, of width bytes a dimension; embedding: the same where the database can compare it, else NULL;
# changed: a stamp that grows with each change of the character's memories, as a rule the transaction; 0 while it is
# what was inserted
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
_ONE_AT_A_TIME = "SELECT pg_advisory_xact_lock(67108877)"
"""So that processes that start together make tables once."""


class ServerGone(CommonplaceError):
    """A connection that has ended: the server was stopped or killed, or cannot be reached any more."""


def explained(error: Exception, where: str, *, gone: bool) -> CommonplaceError:
    """Puts the driver's error into words: what is wrong, where, what to do."""
    from psycopg import errors  # noqa: PLC0415 - an optional package

    said = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if gone or isinstance(error, errors.AdminShutdown):
        hint = "what was acknowledged is safe: check that the server runs, and try again"
        return ServerGone(f"the connection to the server is gone ({said})", where=where, hint=hint)
    if isinstance(error, errors.UndefinedFile | errors.FeatureNotSupported) and "vector" in said:
        return CommonplaceError("the server has no pgvector extension", where=where, hint=NO_PGVECTOR)
    missing = errors.UndefinedTable | errors.UndefinedColumn | errors.UndefinedFunction
    meanings: list[tuple[Any, str, str]] = [
        (errors.DiskFull, "the server's disk is full", "nothing acknowledged is lost: free some space"),
        (
            errors.ReadOnlySqlTransaction,
            f"it cannot be written ({said})",
            "ask for a role that may create and write tables there, on a server that is no standby",
        ),
        (
            errors.InsufficientPrivilege,
            f"the role may not do that ({said})",
            "ask whoever runs the database for the rights, or use another role",
        ),
        (missing, f"its tables are not those of this version ({said})", "check the database: somebody has changed it"),
        (Exception, f"PostgreSQL says: {said}", "check the database; nothing was changed"),
    ]
    what, hint = next((what, hint) for kind, what, hint in meanings if isinstance(error, kind))
    return CommonplaceError(what, where=where, hint=hint)


def connected(url: str, where: str) -> Any:
    """Opens a connection in autocommit.

    Raises UsageError for an invalid address, CommonplaceError if connecting fails.
    """
    try:
        import psycopg  # noqa: PLC0415 - an optional package
    except ImportError as error:
        raise UsageError("PostgreSQL needs the package psycopg", where=where, hint=INSTALL) from error
    try:
        return psycopg.connect(url, autocommit=True, connect_timeout=10, **_ALIVE)
    except psycopg.ProgrammingError as error:
        hint = "write it as postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for @ and %23 for # in a password"
        said = without_secrets(str(error).strip(), url)
        raise UsageError(f"not the address of a database ({said})", where=where, hint=hint) from None
    except psycopg.Error as error:
        said = (str(error).strip() or type(error).__name__).splitlines()[0].removeprefix("connection failed: ")
        said = without_secrets(said.partition("FATAL: ")[2].strip() or said, url)
        raise CommonplaceError(f"the server cannot be reached ({said})", where=where, hint=_what_to_do(said)) from None


_REMEDIES = {
    "authentication|no password supplied|does not exist.*role|role .* does not exist|pg_hba": "check user and password:"
    " they stand in the address, or in PGUSER, PGPASSWORD and ~/.pgpass",
    "database .* does not exist": "make it with `createdb`, or check the name",
    "Servname|invalid port": "check the port",
    "resolve|translate host": "check the name of the host",
    "refused|No such file|timeout|unreachable|No route": "check that the server runs, and that host and port are right",
    "too many clients|too many connections|remaining connection slots": "wait, or raise max_connections of the server",
    "starting up|shutting down": "try again in a moment",
}
"""What is said of a connection that failed → what to do."""


def _what_to_do(said: str) -> str:
    found = (hint for pattern, hint in _REMEDIES.items() if re.search(pattern, said))
    return next(found, "check that the server runs, and that user, password and database are right")


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
            connection.execute(_ONE_AT_A_TIME)
            for statement in TABLES:
                connection.execute(statement)


STORED = f"{COLUMNS}, state, packed, width, exact"
"""What `stored_rows` and `stored_vectors` read."""
_CELLS = ("state", *MemoryRow._fields, "packed", "width", "exact", "dimensions", "norm", "embedding", "changed")
_PUT = (
    f"INSERT INTO commonplace_memory(agent, {', '.join(_CELLS)}) VALUES (%s{', %s' * len(_CELLS)})"
    f" ON CONFLICT (agent, id) DO UPDATE SET {', '.join(f'{cell} = excluded.{cell}' for cell in _CELLS)}"
)


# an index is some segments, in the order of their places, each in parts; the values of the last one hold. The table is
# made when the first index is kept
_INDEX = (
    "CREATE TABLE IF NOT EXISTS commonplace_index("
    " agent int NOT NULL REFERENCES commonplace_agent ON DELETE CASCADE, place int NOT NULL, part int NOT NULL,"
    " file uuid NOT NULL, made_with text NOT NULL, changed bigint NOT NULL, last_id int NOT NULL, data bytea NOT NULL,"
    " PRIMARY KEY(agent, place, part))",
    "ALTER TABLE commonplace_index ALTER COLUMN data SET STORAGE EXTERNAL",  # it does not become much shorter
)
_PART = 1 << 23
"""Bytes of a segment in one row."""


class Mark(NamedTuple):
    """A moment in the history of a character."""

    number: int = 0
    """Of the character; 0, which is nobody's, for an unknown one."""
    changed: int = 0
    """Stamp of the latest change of a memory."""
    last_id: int = 0
    settings: str = "{}"


_NOW = (
    "SELECT number, coalesce((SELECT changed FROM commonplace_memory WHERE agent = number"
    " ORDER BY changed DESC LIMIT 1), '0')::text::bigint,"
    " coalesce((SELECT max(id) FROM commonplace_memory WHERE agent = number), 0), settings"
    " FROM commonplace_agent WHERE name = %s"
)


class PostgresStore:
    """A store in a PostgreSQL database that has the pgvector extension. Makes its tables on first use.

    Any number of processes may use it at once. Each write is a transaction, which waits for the others
    of its character.
    """

    compares = True
    """Its readers compare vectors, so it keeps also those that follow from the text."""

    def __init__(self, url: str, *, access: Access = "create") -> None:
        """`url`: postgresql://USER:PASSWORD@HOST/DATABASE. Raises CommonplaceError if the server cannot be reached,
        UsageError for a database without a store unless it is made."""
        self.guard = RLock()
        self.where = without_password(url)
        self.repairs: tuple[str, ...] = ()
        self._copies: dict[str, TemporaryDirectory[str]] = {}
        """Character → the files of its index, until they are mapped."""
        self.connection = connected(url, self.where)
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
    def read(self, agent: str, since: Mark | None = None) -> Log:
        """Returns what has changed in a character since a mark."""
        self._remove_copies(agent)
        with self.moment():
            mark = self.now(agent)
            known = since if since is not None and since.number == mark.number else Mark(changed=-1)
            query = (
                f"SELECT {STORED} FROM commonplace_memory WHERE agent = %s AND (id > %s OR changed > %s::text::xid8)"
                " ORDER BY id"
            )
            if known is not since:
                query = f"SELECT {STORED} FROM commonplace_memory WHERE agent = %s ORDER BY id"
            values = (mark.number, known.last_id, known.changed)[: query.count("%s")]
            rows = self.connection.execute(query, values, binary=True).fetchall()
        try:
            settings = json.loads(mark.settings)
            operations = operations_in(agent, stored_rows(rows), stored_vectors(rows), settings, known.last_id)
            return Log(operations, mark, whole=known is not since)
        except UNREADABLE as error:
            raise damaged(f"{agent}: {error}", self.where) from error

    @locked
    def now(self, agent: str, *, lock: bool = False) -> Mark:
        """Returns the latest mark of a character. `lock`: nobody else writes to it until the end of the transaction."""
        checked_agent(agent)
        with self.mended():
            if lock:  # by itself: a statement sees what there was when it began to wait
                self.connection.execute("SELECT FROM commonplace_agent WHERE name = %s FOR UPDATE", (agent,))
            found = self.connection.execute(_NOW, (agent,)).fetchone()
        return Mark(*found) if found else Mark()

    @locked
    def write(self, agent: str, operations: Sequence[Operation], mark: Mark) -> Mark:
        """Makes the operations, unless anybody has written since the mark."""
        with self._transaction():
            if self.now(agent, lock=True) != mark:
                raise overtaken(agent, self.where)
            touches = [one for one in operations if isinstance(one, Touch)]
            if len(touches) == len(operations):  # as after each question: nothing needs to be read
                return self._touch({id: at for one in touches for id, at in one.accesses.items()}, mark)
            target = Rows(agent, mark.last_id, partial(self._kept, agent, mark.number))
            try:
                fold(operations, target)
            except UNREADABLE as error:
                raise damaged(f"{agent}: {error}", self.where) from error
            if not target.changes:
                return mark
            return self._put(agent, target, mark)

    def _touch(self, accesses: Mapping[int, datetime], mark: Mark) -> Mark:
        query = (
            "UPDATE commonplace_memory AS memory SET accessed = touched.at,"
            " changed = greatest(pg_current_xact_id()::text::bigint, %s)::text::xid8"
            " FROM unnest(%s::bigint[], %s::bigint[]) AS touched(id, at)"
            f" WHERE memory.agent = %s AND memory.id = touched.id AND state != {FORGOTTEN}"
            " RETURNING changed::text::bigint"
        )
        times = list(map(micros, accesses.values()))
        found = self.connection.execute(query, (mark.changed + 1, list(accesses), times, mark.number)).fetchone()
        return mark._replace(changed=found[0]) if found else mark

    def _kept(self, agent: str, number: int, ids: Sequence[int]) -> list[Kept]:
        query = f"SELECT {STORED} FROM commonplace_memory WHERE agent = %s AND id = ANY(%s) ORDER BY id"
        rows = self.connection.execute(query, (number, list(ids)), binary=True).fetchall()
        return kept_of(agent, stored_rows(rows), stored_vectors(rows))

    def _put(self, agent: str, target: Rows, mark: Mark) -> Mark:
        """Writes rows and settings; the new mark."""
        execute, number, changed, settings = self.connection.execute, mark.number, mark.changed, mark.settings
        if not number:
            query = "INSERT INTO commonplace_agent(name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING number"
            made = execute(query, (agent,)).fetchone()
            if made is None:
                raise overtaken(agent, self.where)
            (number,) = made
        if target.settings is not None:
            settings = as_json(dict(target.settings))
            execute("UPDATE commonplace_agent SET settings = %s WHERE number = %s", (settings, number))
        if any(kept.state == FORGOTTEN for kept in target.rows.values()) and self._has_index():
            execute("DELETE FROM commonplace_index WHERE agent = %s", (number,))  # it has their texts
        if any(id <= mark.last_id for id in target.rows):
            # later than those before, whose transactions may have begun after this one
            query = "SELECT greatest(pg_current_xact_id()::text::bigint, %s)"
            (changed,) = execute(query, (changed + 1,)).fetchone()
        rows: list[tuple[Any, ...]] = []
        for id, kept in target.rows.items():
            row, packed = cells_of(kept)
            stamp = str(changed) if id <= mark.last_id else "0"
            rows.append((number, kept.state, *row, packed, *_vector_cells(kept.vector), stamp))
        self.connection.cursor().executemany(_PUT, rows)
        return Mark(number, changed, target.last_id, settings)

    @locked
    def delete(self, agent: str) -> int:
        """Deletes everything of a character."""
        with self._transaction():
            found = (self.now(agent, lock=True).number,)
            query = f"SELECT count(*) FROM commonplace_memory WHERE agent = %s AND state != {FORGOTTEN}"
            (count,) = self.connection.execute(query, found).fetchone()
            self.connection.execute("DELETE FROM commonplace_memory WHERE agent = %s", found)
            self.connection.execute("DELETE FROM commonplace_agent WHERE number = %s", found)
        return count

    @locked
    def index(self, agent: str) -> Index | None:
        """Returns the index of a character, in files that are there until the character is read; None if there is
        none."""
        self._remove_copies(agent)
        with self.moment():
            mark = self.now(agent)
            kept = self._segments(mark.number)
            if not kept:
                return None
            _, _, made_with, changed, last_id = kept[-1]
            folder = self._copies[agent] = TemporaryDirectory(prefix=_TEMPORARY, ignore_cleanup_errors=True)
            files = tuple(Path(folder.name, str(file)) for _, file, *_ in kept)
            query = "SELECT data FROM commonplace_index WHERE agent = %s AND place = %s AND part = %s"
            for (place, *_), path in zip(kept, files, strict=True):
                with path.open("xb") as file:
                    for part in count():
                        found = self.connection.execute(query, (mark.number, place, part), binary=True).fetchone()
                        if found is None:
                            break
                        file.write(found[0])
        at = mark._replace(changed=changed, last_id=last_id)
        return Index(made_with, files, at, last_id, json.loads(mark.settings))

    def keep(self, agent: str, mark: Mark, made_with: str, before: Sequence[Path], segment: Segment) -> Path | None:
        """Keeps an index in the database, unless anybody has written to the character or kept one meanwhile."""
        name = str(uuid4())
        try:
            with TemporaryDirectory(prefix=_TEMPORARY) as folder:
                write_segment(Path(folder, name), segment)
                with Path(folder, name).open("rb") as file, self.guard, self._transaction():
                    if self.now(agent, lock=True) != mark:
                        return None
                    if not self._has_index():
                        self.connection.execute(_ONE_AT_A_TIME)
                        for statement in _INDEX:
                            self.connection.execute(statement)
                    if not before:
                        self.connection.execute("DELETE FROM commonplace_index WHERE agent = %s", (mark.number,))
                    kept = self._segments(mark.number)
                    if [str(file) for _, file, *_ in kept] != [path.name for path in before]:
                        return None
                    query = "INSERT INTO commonplace_index VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
                    for part, data in enumerate(iter(partial(file.read, _PART), b"")):
                        whole = (made_with, mark.changed, mark.last_id, data)
                        self.connection.execute(query, (mark.number, len(kept), part, name, *whole))
        except (OSError, CommonplaceError):
            return None
        return Path(name)

    def _has_index(self) -> bool:
        return self.connection.execute("SELECT to_regclass('commonplace_index')").fetchone() != (None,)

    def _segments(self, number: int) -> list[tuple[int, UUID, str, int, int]]:
        """Returns place, file, and the values of each segment of a character."""
        query = (
            "SELECT place, file, made_with, changed, last_id FROM commonplace_index"
            " WHERE agent = %s AND part = 0 ORDER BY place"
        )
        return self.connection.execute(query, (number,)).fetchall() if self._has_index() else []

    def _remove_copies(self, agent: str) -> None:
        if agent in self._copies:
            self._copies.pop(agent).cleanup()

    @locked
    def close(self) -> None:
        """Close the connection. May be called twice."""
        for agent in [*self._copies]:
            self._remove_copies(agent)
        self.connection.close()

    @contextmanager
    def moment(self) -> Generator[None]:
        """Opens a transaction in which everything is read as of one moment."""
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


def stored_rows(rows: Sequence[tuple[Any, ...]]) -> list[StoredRow]:
    """Returns what `stored_memory` takes, from rows that begin with columns, state and packed."""
    return [(row[:8], row[8], row[9]) for row in rows]


def stored_vectors(rows: Sequence[tuple[Any, ...]]) -> Sequence[Vector | None]:
    """Returns a vector or None per row, from rows that end with width and exact."""
    return gathered(len(rows), [(place, *row[-2:]) for place, row in enumerate(rows) if row[-1] is not None])


def _vector_cells(vector: Vector | None) -> tuple[int, bytes | None, int, float, Vector | None]:
    """width, exact, dimensions, norm, embedding; the last is what the database can compare."""
    width, exact = encoded(vector)
    if vector is None or not np.isfinite(vector).all():
        return width, exact, 0, 0.0, None
    return width, exact, len(vector), norm_of(vector), vector


class EmbeddedStore(PostgresStore):
    """A PostgreSQL store whose server runs from a folder: one package to install, nothing to set up, no network.

    The server is started with the first use, and stopped with the last one. It listens on a Unix socket only (on
    Windows, on 127.0.0.1). After a process was killed its server runs on until the store is opened and closed again.
    """

    def __init__(self, folder: str | Path, *, access: Access = "create") -> None:
        """Starts the server (about a second) in the folder. Raises UsageError without the package, and for a missing
        folder unless it is made."""
        where = f"embedded:{folder}"
        self._undo = ExitStack()
        try:
            server = self._undo.enter_context(joined(folder, create=access == "create"))
            self.url: str = server.url
            super().__init__(self.url, access=access)
        except BaseException:
            self._undo.close()
            raise
        self.where = where
        if server.left:
            what = "the process before had not closed it; what it had acknowledged was taken over from the server's log"
            self.repairs: tuple[str, ...] = (what,)

    @locked
    def close(self) -> None:
        """Close the connection and leave the server; runs at the latest when Python ends. May be called twice."""
        super().close()
        self._undo.close()
