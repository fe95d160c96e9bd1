"""Runs in a database: made, opened, read, forked, deleted."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from commonplace.clock import parse_iso
from commonplace.errors import CommonplaceError, UsageError, command, refuse_newer
from commonplace.memory.stores.opening import is_postgres
from commonplace.parts.runs import tables
from commonplace.parts.runs.connection import RunConnection, errors_of
from commonplace.parts.runs.statements import Ancestor, Statements
from commonplace.parts.stores.embedded import joined
from commonplace.parts.stores.postgres import ServerGone, connected
from commonplace.run import seals
from commonplace.run.copying import copy_rows
from commonplace.run.digest import Digests, chained, rows_of
from commonplace.run.fork import Origin
from commonplace.run.journal import Journal, ModelCall
from commonplace.run.listing import Listed
from commonplace.run.manifest import Manifest, package_version
from commonplace.run.place import Address, Place
from commonplace.run.rows import AnswerRow, TickRecord
from commonplace.run.schema import FORMAT, replacing
from commonplace.run.store import RunStore, last_tick, lay_out
from commonplace.run.tables import Tables
from commonplace.scenario.loading import read
from commonplace.scenario.model import ClockPart
from commonplace.sqlite import Readers, Synchronous
from commonplace.whole_file import UNFINISHED
from commonplace.world.events import NOBODY

T = TypeVar("T")

SIGNED = "commonplace "
"""Begins the name under which a writer is connected."""
PASSING = 1.0
"""Seconds in which a run may still be held by a writer that is gone."""
MOST_NAMED = 12
"""Runs that a message lists."""


class Row(NamedTuple):
    """A run, as the table of runs has it."""

    id: int
    name: str


class Database:
    """A database with runs in it. Its server is started if it is an embedded one and nobody has started it yet."""

    def __init__(self, address: Address, *, create: bool = False) -> None:
        """Raises CommonplaceError for a server that cannot be reached, UsageError for a database without runs unless
        they are to be made."""
        self.address = address
        self.where = str(replace(address, name=""))
        self._undo = ExitStack()
        try:
            self._server = None
            if address.is_embedded:
                if not create and not is_postgres(Path(address.server.partition(":")[2])):
                    raise self._nothing()
                self._server = self._undo.enter_context(joined(address.server.partition(":")[2], create=create))
            self.driver = self._undo.enter_context(closing(self.connected()))
            with errors_of(self.driver, self.where):
                if create:
                    tables.make(self.driver, self.where)
                number = tables.number(self.driver)
            if not number:
                raise self._nothing()
            refuse_newer("a database of runs", number, tables.FORMAT, self.where)
        except BaseException:
            self._undo.close()
            raise

    def _nothing(self) -> UsageError:
        hint = f"`commonplace run SCENARIO -o {self.where}` makes one"
        return UsageError("there are no runs in the database", where=self.where, hint=hint)

    def connected(self) -> Any:
        """Returns another connection to the database. Starts an embedded server again that was killed."""
        if self._server is None:
            driver = connected(self.address.server, self.where)
        else:
            try:
                driver = connected(self._server.url, self.where)
            except CommonplaceError:
                self._server.revive()
                driver = connected(self._server.url, self.where)
        driver.prepare_threshold = 2  # a run asks the same few hundred questions all the time
        return driver

    def close(self) -> None:
        """Closes the first connection, and leaves an embedded server, which ends with its last user."""
        self._undo.close()

    def names(self) -> list[str]:
        """Returns the names of the runs, sorted; those that are not whole are left out."""
        with errors_of(self.driver, self.where):
            query = "SELECT name FROM commonplace.run WHERE right(name, %s) != %s ORDER BY name"
            return [name for (name,) in self.driver.execute(query, (len(UNFINISHED), UNFINISHED))]

    def named(self, name: str) -> Row | None:
        """Returns the run of a name, also one that is not whole; None if there is none."""
        with errors_of(self.driver, self.where):
            row = self.driver.execute("SELECT id, name FROM commonplace.run WHERE name = %s", (name,)).fetchone()
        return row and Row(*row)

    def found(self, name: str) -> Row:
        """Returns the run of a name, or the only one for an empty name. Raises UsageError if there is none."""
        known = [] if name else self.names()
        row = self.named(known[0] if len(known) == 1 else name)
        if row is not None:
            return row
        known = known or self.names()
        hint = f"name one: {self.where}#RUN; there {'is' if len(known) == 1 else 'are'} {listed(known) or 'none'}"
        what = f"there is no run {name!r}" if name else f"the database has {len(known)} runs"
        raise UsageError(what, where=self.where, hint=hint)

    def ancestors(self, run: int) -> list[Ancestor]:
        """Returns the runs whose past a run shares, the nearest first."""
        query = "SELECT parent, at, vectors, primers FROM commonplace.run WHERE id = %s AND parent IS NOT NULL"
        found: list[Ancestor] = []
        with errors_of(self.driver, self.where):
            while row := self.driver.execute(query, (found[-1].run if found else run,)).fetchone():
                bounds = (min(pair) for pair in zip(row[1:], found[-1][1:] if found else row[1:], strict=True))
                found.append(Ancestor(row[0], *bounds))
        return found

    def writer(self, run: Row) -> Any:
        """Returns a connection whose session is the run's one writer. Raises UsageError for a run in use."""
        driver = self.connected()
        try:
            self.lock(driver, run)
        except BaseException:
            driver.close()
            raise
        return driver

    def lock(self, driver: Any, run: Row) -> None:
        """Makes the session of a connection the run's one writer, until it ends. Raises UsageError for a run in use.

        The server takes a moment to notice that a writer has been killed, so it is asked for `PASSING` seconds.
        """
        key = (tables.MAKING, run.id)
        deadline = time.monotonic() + PASSING
        with errors_of(driver, self.where):
            while not driver.execute("SELECT pg_try_advisory_lock(%s, %s)", key).fetchone()[0]:
                if time.monotonic() > deadline:
                    raise self._in_use(driver, run)
                time.sleep(0.02)
            driver.execute("SELECT set_config('application_name', %s, false)", (_signature(run.name),))

    def _in_use(self, driver: Any, run: Row) -> UsageError:
        """Returns the error that names the holder of a run."""
        query = f"SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE {tables.HELD}"
        holder = driver.execute(query, {"run": run.id}).fetchone()
        where = str(self.address.named(run.name))
        who = holder[0].removeprefix(SIGNED) if holder and holder[0].startswith(SIGNED) else "another program"
        hint = f"follow it with: {command('watch', where)}, or end that process"
        return UsageError(f"in use by {who}", where=where, hint=hint)

    def delete(self, run: Row) -> None:
        """Deletes a run. Raises UsageError for one that forks share, and for one in use."""
        with closing(self.connected()) as driver, errors_of(driver, self.where), driver.transaction():
            self.clear(driver, run)

    def clear(self, driver: Any, run: Row) -> None:
        """Deletes a run in the caller's transaction. Raises UsageError for one that forks share, and for one in use."""
        self.lock(driver, run)
        for fork in self.refuse_shared(run):  # of processes that were killed
            self.clear(driver, fork)
        for table in (*tables.columns(), "removal"):
            driver.execute(f"DELETE FROM commonplace.{table} WHERE run = %s", (run.id,))
        driver.execute("DELETE FROM commonplace.run WHERE id = %s", (run.id,))

    def refuse_shared(self, run: Row) -> list[Row]:
        """Raises UsageError for a run whose past forks share. Returns the forks that are not whole."""
        with errors_of(self.driver, self.where):
            query = "SELECT id, name FROM commonplace.run WHERE parent = %s ORDER BY name"
            forks = [Row(*row) for row in self.driver.execute(query, (run.id,))]
        whole = [fork.name for fork in forks if not fork.name.endswith(UNFINISHED)]
        if whole:
            what, where = f"its past is also that of {listed(whole)}", str(self.address.named(run.name))
            raise UsageError(what, where=where, hint="delete the forks first, or work on a copy: `commonplace copy`")
        return forks

    def made(self, driver: Any, name: str, ancestor: Ancestor | None = None) -> Row:
        """Adds a run without rows. Runs in the caller's transaction. Raises UsageError for a name that is taken."""
        query = (
            "INSERT INTO commonplace.run(name, parent, at, vectors, primers) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING RETURNING id"
        )
        row = driver.execute(query, (name, *(ancestor or (None,) * 4))).fetchone()
        if row is None:
            raise exists(self.address.named(name))
        if ancestor is not None:
            clock = "SELECT start, tick_minutes FROM commonplace.run WHERE id = %s"
            query = f"UPDATE commonplace.run SET (start, tick_minutes) = ({clock}) WHERE id = %s"
            driver.execute(query, (ancestor.run, row[0]))
        return Row(row[0], name)


def listed(names: Sequence[str]) -> str:
    """Returns the first of the names, and how many more there are."""
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if names[MOST_NAMED:] else "")


def exists(address: Address) -> UsageError:
    """Returns the error for a name that is taken."""
    hint = f"resume it with: {command('resume', address)}, give another name with -o, or replace it with --force"
    return UsageError("the run already exists", where=str(address), hint=hint)


def _signature(name: str) -> str:
    """Returns what the server shows of a writer: who holds which run."""
    return f"{SIGNED}process {os.getpid()} on {socket.gethostname()}: {name}".encode()[:63].decode(errors="ignore")


class RunSource(Readers[RunConnection]):
    """A run in a database, read."""

    def __init__(self, address: Address) -> None:
        self._database = Database(address)
        self.number = FORMAT
        try:
            run = self._database.found(address.name)
            self.place: Place = address.named(run.name)
            statements = Statements(run.id, self._database.ancestors(run.id))
            super().__init__(lambda: RunConnection(self._database.connected, str(self.place), statements))
        except BaseException:
            self._database.close()
            raise

    def each(self, query: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yields the rows of a query without holding them all."""
        with self.lent() as connection:
            yield from connection.each(query, values)

    def held(self) -> bool:
        """Tells whether some process goes on with the run."""
        with self.lent() as connection, connection.errors():
            query = f"SELECT count(*) FROM pg_locks WHERE {tables.HELD}"
            return connection.driver.execute(query, {"run": connection.statements.run}).fetchone() != (0,)

    def written(self) -> datetime:
        """Returns when a tick of the run was last written, in whole seconds."""
        with self.lent() as connection, connection.errors():
            query = (
                "SELECT coalesce((SELECT max(written) FROM commonplace.tick WHERE run = run.id), created)"
                " FROM commonplace.run run WHERE id = %s"
            )
            (found,) = connection.driver.execute(query, (connection.statements.run,)).fetchone()
        return found.astimezone(UTC).replace(microsecond=0)

    def is_there(self) -> bool:
        """Tells whether the run has not been deleted."""
        with self.lent() as connection, connection.errors():
            query = "SELECT FROM commonplace.run WHERE id = %s"
            return connection.driver.execute(query, (connection.statements.run,)).rowcount == 1

    def close(self) -> None:
        """Closes all connections. May be called twice."""
        super().close()
        self._database.close()


def _clock(manifest: Manifest) -> tuple[datetime, int]:
    """Returns when tick 0 is, and the minutes of a tick, for people who read the tables."""
    scenario: Any = read(manifest.text, "").data
    part = ClockPart.model_validate(scenario.get("clock") or {})
    return parse_iso(part.start), part.tick_minutes


def _make(database: Database, name: str, fill: Callable[[RunConnection], None], *, force: bool) -> None:
    """Makes a run, which appears with all that `fill` writes or not at all.

    Raises UsageError if there is a run of that name, unless `force`.
    """
    where = str(database.address.named(name))
    with closing(database.connected()) as driver, errors_of(driver, where), driver.transaction():
        if force and (there := database.named(name)):
            database.clear(driver, there)
        run = database.made(driver, name)
        fill(RunConnection(lambda: driver, where, Statements(run.id)))
        query = "SELECT value FROM commonplace.meta WHERE run = %s AND key = 'manifest'"
        (text,) = driver.execute(query, (run.id,)).fetchone()
        query = "UPDATE commonplace.run SET start = %s, tick_minutes = %s WHERE id = %s"
        driver.execute(query, (*_clock(Manifest.from_json(text, where)), run.id))


class DatabaseRun(RunStore):
    """A run in a database, of which the session of its connection is the one writer."""

    def __init__(self, database: Database, run: Row, connection: RunConnection, manifest: Manifest) -> None:
        """Internal: use `create` or `open`."""
        super().__init__(database.address.named(run.name), connection, manifest)
        self.journal = _Journal(connection, str(self.path))
        self._database = database
        self._session = connection

    def commit(self, record: TickRecord) -> Digests:
        """Add the next tick in one transaction, once the server is there; returns both chains up to it."""

        def write() -> Digests:
            last, chains = last_tick(self._connection)
            if last == self.last_tick:
                return RunStore.commit(self, record)
            if last != record.tick or chains != chained(rows_of(record), self._chains, self.manifest.embedder)[0]:
                what = f"somebody else went on with the run, up to tick {last}, while the server was away"
                raise UsageError(what, where=str(self.path), hint=command("resume", self.path))
            self._last, self._chains = last, chains  # the commit had succeeded, and only its answer was lost
            return chains.digests

        return _insisted(self._session, write, lambda: RunStore.commit(self, record))

    @classmethod
    def create(
        cls, address: Address, manifest: Manifest, first: TickRecord | None = None, *, force: bool = False,
        synchronous: Synchronous = "NORMAL",
    ) -> DatabaseRun:  # fmt: skip
        """Creates a run with tick 0, the `first`, or without ticks. It appears with all of that or not at all.

        Raises UsageError if there is a run of that name, unless `force`.
        """
        if not address.name:
            address = address.named(f"{manifest.scenario}-{manifest.seed}")
        if not manifest.version:
            manifest = replace(manifest, version=package_version())
        with closing(Database(address, create=True)) as database:  # an embedded server runs on until the run is open
            _make(database, address.name, lambda made: lay_out(made, manifest, first, synchronous), force=force)
            return cls.open(address)

    @classmethod
    def open(cls, address: Address) -> DatabaseRun:
        """Opens a run to continue it. Raises UsageError for a run that does not exist or is in use."""
        with ExitStack() as undo:
            database = Database(address, create=True)  # older tables are brought up to date
            undo.callback(database.close)
            run = database.found(address.name)
            where, statements = str(address.named(run.name)), Statements(run.id, database.ancestors(run.id))
            with errors_of(database.driver, where):
                tables.refuse_reader(database.driver, where)
            connection = RunConnection(partial(database.writer, run), where, statements)
            undo.callback(connection.close)
            (text,) = connection.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()
            manifest = Manifest.from_json(text, str(address.named(run.name)))
            opened = cls(database, run, connection, manifest)
            undo.pop_all()
        return opened

    def refuse_shared(self) -> None:
        """Raises UsageError for a run whose past forks share, before something of it is deleted."""
        self._database.refuse_shared(self._database.found(self.path.name))

    def close(self) -> None:
        """Release the run. May be called twice."""
        super().close()
        with suppress(CommonplaceError):  # the server is gone, and the lock with it
            self._session.release()
        self._connection.close()
        self._database.close()


class _Journal(Journal):
    """A journal whose server may be away for a while."""

    def keep(self, row: AnswerRow, call: ModelCall | None = None) -> None:
        """Writes an attempt down; again, if it is not known whether it was."""
        keep = partial(super().keep, row, call)
        connection = self._connection
        assert isinstance(connection, RunConnection)
        _insisted(connection, keep, keep)


def _insisted(connection: RunConnection, again: Callable[[], T], first: Callable[[], T]) -> T:
    """Does what writes in a transaction; again, once a server is back that was gone."""
    act = first
    while True:
        try:
            return act()
        except ServerGone:
            connection.reconnect()
            act = again


# ── copies and lists ────────────────────────────────────────────────────────────────────────────────────────────────


def copy(source: Tables, address: Address, *, force: bool) -> None:
    """Makes a run of the rows of another one. It appears whole or not at all."""
    with closing(Database(address, create=True)) as database:
        _make(database, address.name, partial(copy_rows, source), force=force)


def runs_of(address: Address) -> list[Listed]:
    """Lists the runs of a database, by name."""
    sizes = " UNION ALL ".join(
        f"SELECT run, sum({' + '.join(f'coalesce(pg_column_size({one}), 0)' for one in columns)}) AS bytes"
        f" FROM commonplace.{name} GROUP BY run"
        for name, columns in tables.stored().items()
    )
    query = f"""
    SELECT r.name, r.scenario, r.seed, coalesce(r.last_tick, -1),
      coalesce(r.parent, regexp_replace(origin ->> 'name', '[.]run$', ''), ''), (origin ->> 'tick')::bigint,
      coalesce((SELECT sum(bytes) FROM size WHERE size.run = run.id), 0)::bigint,
      EXISTS (SELECT 1 FROM pg_locks WHERE {tables.HELD.replace("%(run)s", "run.id::oid")})
    FROM commonplace.runs r JOIN commonplace.run run USING (name)
      LEFT JOIN commonplace.meta m ON m.run = run.id AND m.key = 'parent', commonplace.parsed(m.value) AS origin
    ORDER BY r.name"""
    with closing(Database(address)) as database, errors_of(database.driver, database.where):
        return [Listed(*row) for row in database.driver.execute(f"WITH size AS ({sizes}) {query}")]


def names(address: Address) -> list[str]:
    """Returns the names of the runs of a database, the one written last first."""
    latest = "SELECT written FROM commonplace.tick WHERE tick.run = run.id ORDER BY n DESC LIMIT 1"
    query = (
        f"SELECT name FROM commonplace.run run WHERE right(name, {len(UNFINISHED)}) != '{UNFINISHED}'"
        f" ORDER BY coalesce(({latest}), created) DESC, name"
    )
    with closing(Database(address)) as database, errors_of(database.driver, database.where):
        return [name for (name,) in database.driver.execute(query)]


def only_runs(address: Address) -> bool:
    """Tells whether a database has runs, and no store of memories; False for one that cannot be reached."""
    try:
        database = Database(address)
    except CommonplaceError:  # it may be a store that the role may use, and runs that it may not
        return False
    with closing(database), errors_of(database.driver, database.where):
        return database.driver.execute("SELECT to_regclass('commonplace_format') IS NULL").fetchone()[0]


def delete(address: Address) -> None:
    """Deletes a run. Raises UsageError for one that forks share, and for one in use."""
    with closing(Database(address)) as database:
        database.delete(database.found(address.name))


# ── forks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_ANSWER = "agent, tick, ordinal, attempt, task, request, outcome, body, usage"
_COPIED = (
    "INSERT INTO commonplace.meta(run, key, value) SELECT {run}, key, value FROM ({meta}) meta",
    # what the mind was asked by nobody, and no tick has used
    f"""INSERT INTO commonplace.answer(run, {_ANSWER}, used) SELECT {{run}}, {_ANSWER}, used FROM ({{answer}}) answer
    WHERE agent = '{NOBODY}' AND tick <= %(at)s AND (used IS NULL OR used > %(at)s)""",
    f"""INSERT INTO commonplace.{tables.COUNTER}(run, name, seq)
    SELECT {{run}}, 'input', coalesce(max(seq), 0) FROM ({{input}}) input WHERE tick <= %(at)s
    HAVING EXISTS (SELECT 1 FROM ({{{tables.COUNTER}}}) counter)""",
)
"""What a fork has of its own, from the beginning."""
_OFFERED = (
    f"""INSERT INTO commonplace.offered(run, {_ANSWER}) SELECT {{run}}, {_ANSWER} FROM ({{offered}}) offered
    WHERE NOT (tick <= %(at)s AND (agent, tick, ordinal) IN
      (SELECT agent, tick, ordinal FROM ({{answer}}) answer WHERE used <= %(at)s))""",
    f"""INSERT INTO commonplace.offered(run, {_ANSWER}) SELECT {{run}}, {_ANSWER} FROM ({{answer}}) answer
    WHERE used IS NULL OR used > %(at)s
    ON CONFLICT (run, agent, tick, ordinal, attempt) DO UPDATE SET task = excluded.task,
      request = excluded.request, outcome = excluded.outcome, body = excluded.body, usage = excluded.usage""",
)
_CALLS = """
INSERT INTO commonplace.model_call(run, agent, tick, ordinal, attempt, primer, body)
  SELECT {run}, agent, tick, ordinal, attempt, primer, body FROM ({model_call}) model_call
  WHERE (agent, tick, ordinal, attempt) IN
    (SELECT agent, tick, ordinal, attempt FROM commonplace.answer WHERE run = {run}
     UNION ALL SELECT agent, tick, ordinal, attempt FROM commonplace.offered WHERE run = {run})
"""


@contextmanager
def fork(source: Address, target: Address, origin: Origin, *, force: bool) -> Generator[Address]:
    """Makes a run that shares the past of another one in its database. Gives the address of the fork inside the block;
    it has its name when the block ends.

    Only what came after the fork is copied: the answers that are offered to the same questions.
    """
    part = target.named(f"{target.name}{UNFINISHED}")
    with closing(Database(source)) as database:
        parent = database.found(source.name)
        if not force and database.named(target.name):
            raise exists(target)
        if left := database.named(part.name):
            database.delete(left)
        with closing(database.connected()) as driver, errors_of(driver, str(target)):
            with driver.transaction():
                driver.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                run = _begin(database, driver, parent, part, origin)
            try:
                yield part
                with driver.transaction():
                    _make_room(database, driver, target, force=force)
                    query = "UPDATE commonplace.run SET name = %s WHERE id = %s"
                    if driver.execute(query, (target.name, run.id)).rowcount == 0:
                        what = "another process has begun to make the same fork"
                        raise UsageError(what, where=str(target), hint="give another name with -o")
            except BaseException:
                with suppress(CommonplaceError):
                    database.delete(run)
                raise


def _make_room(database: Database, driver: Any, target: Address, *, force: bool) -> None:
    """Deletes the run that a fork replaces, in the caller's transaction. Raises UsageError unless `force`."""
    if there := database.named(target.name):
        if not force:
            raise exists(target)
        database.clear(driver, there)


def _begin(database: Database, driver: Any, parent: Row, part: Address, origin: Origin) -> Row:
    """Adds and returns the fork, with what it does not share."""
    seen, at = Statements(parent.id, database.ancestors(parent.id)), {"at": origin.tick}
    (vectors,) = driver.execute(
        f"SELECT coalesce(max(vector), 0) FROM ({seen.visible('memory')}) memory WHERE tick <= %(at)s", at
    ).fetchone()
    (primers,) = driver.execute(f"SELECT coalesce(max(id), 0) FROM ({seen.visible('primer')}) primer").fetchone()
    ancestor = Ancestor(parent.id, origin.tick, vectors, primers)
    run = database.made(driver, part.name, ancestor)
    shown = {name: seen.visible(name) for name in ("meta", "answer", "offered", "input", "model_call", tables.COUNTER)}
    for statement in (*_COPIED, *(_OFFERED if origin.offering else ()), _CALLS):
        query = statement.format(run=run.id, **shown)
        driver.execute(query, at if "%(at)s" in query else None)
    older = (one._replace(at=min(one.at, origin.tick)) for one in database.ancestors(parent.id))
    connection = RunConnection(lambda: driver, str(part), Statements(run.id, [ancestor, *older]))
    connection.executemany(replacing("meta"), list(origin.notes.items()))
    seals.renew(connection)
    return run
