"""A connection to one run in PostgreSQL that takes the statements of `commonplace.run`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from commonplace.errors import CommonplaceError, UsageError, command
from commonplace.parts.runs.statements import Statements
from commonplace.parts.stores.postgres import ServerGone, explained
from commonplace.run.rows import unpacked_vector
from commonplace.run.schema import inserting
from commonplace.run.store import FORGETTING

TOGETHER = 2_000
"""Rows of a large result that are held at once."""
_numbers = count(1)
PATIENCE = 60.0
"""Seconds that a server which is gone is waited for."""
_log = logging.getLogger(__name__)
_ADDED = {inserting(table): table for table in ("event", "memory", "vector", "touch", "version", "trace")}
"""Statements whose rows are streamed: a tick has many of them."""
_FORGOTTEN = "INSERT INTO commonplace.removal(run, tick, agent, id) VALUES ({run}, %s, %s, %s)"


class RunConnection:
    """One run in a database. The driver's errors are raised as CommonplaceErrors. Not for two threads at once."""

    def __init__(self, connected: Callable[[], Any], where: str, statements: Statements) -> None:
        """`connected` gives a connection of psycopg in autocommit, and another one when the server was gone."""
        self.driver = connected()
        self.statements = statements
        self._connected = connected
        self._where = where

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        from psycopg.pq import TransactionStatus  # noqa: PLC0415 - an optional package

        status = self.driver.info.transaction_status
        return status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)

    def execute(self, query: str, values: Any = (), /) -> Any:
        """Runs a statement with `?` or `:name` in the places of values."""
        statement = self.statements.of(query)
        alone = not self.in_transaction
        try:
            with self.errors():
                return self.driver.execute(statement, values or None, binary=True)
        except ServerGone:
            if not alone:  # what came before in the transaction is lost
                raise
            self.reconnect()
            return self.execute(query, values)

    def each(self, query: str, values: Any, /) -> Iterator[Any]:
        """Yields the rows of a statement, `TOGETHER` of which are fetched at once. Needs an open transaction."""
        with self.errors(), self.driver.cursor(f"each_{next(_numbers)}") as cursor:
            cursor.itersize = TOGETHER
            yield from cursor.execute(self.statements.of(query), values or None, binary=True)

    def executemany(self, query: str, rows: Iterable[Any], /) -> None:
        """Runs a statement for each of many rows."""
        rows = list(rows)
        if not rows:
            return
        with self.errors():
            if query in _ADDED:
                self._stream(_ADDED[query], rows)
                if _ADDED[query] == "memory" and (gone := [(row[-1], *row[:2]) for row in rows if row[-1] is not None]):
                    self.executemany(FORGETTING, gone)
            elif query == FORGETTING:
                self.driver.cursor().executemany(_FORGOTTEN.format(run=self.statements.run), rows)
            else:
                self.driver.cursor().executemany(self.statements.of(query), rows)

    def reconnect(self) -> None:
        """Waits for a server that is gone. Raises ServerGone when it does not come back within `PATIENCE` seconds."""
        _log.warning("%s: the server is gone; it is waited for", self._where)
        self.driver.close()
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.driver = self._connected()
                return
            except UsageError:  # somebody else has the run now
                raise
            except CommonplaceError as error:
                if time.monotonic() > deadline:
                    hint = f"everything committed is safe; {command('resume', self._where)} once the server runs again"
                    what = f"the server is gone, and did not come back for {PATIENCE:.0f} s ({error.what})"
                    raise ServerGone(what, where=self._where, hint=hint) from error
                time.sleep(0.2)

    def release(self) -> None:
        """Lets another session be the writer at once; the server takes a moment to notice that this one has ended."""
        if not self.driver.closed:
            with self.errors():
                self.driver.execute("SELECT pg_advisory_unlock_all()")

    def rollback(self) -> None:
        """Ends the transaction; nothing of it remains."""
        with self.errors():
            self.driver.rollback()

    def close(self) -> None:
        """Closes the connection."""
        self.driver.close()

    @contextmanager
    def errors(self) -> Generator[None]:
        """Turns the driver's errors into CommonplaceErrors. Other errors pass unchanged."""
        with errors_of(self.driver, self._where):
            yield

    def _stream(self, table: str, rows: list[Any]) -> None:
        run = self.statements.run
        with self.driver.cursor() as cursor, cursor.copy(self.statements.copied(table)) as copy:
            for row in rows:
                if table == "memory":
                    copy.write_row((run, *row[:-1]))
                elif table == "vector":
                    copy.write_row((run, *row, _comparable(row[-1])))
                else:
                    copy.write_row((run, *row))


def _comparable(value: bytes) -> str:
    """Returns a vector as pgvector reads it."""
    return f"[{','.join(map(str, np.frombuffer(unpacked_vector(value), dtype='<i2').tolist()))}]"


@contextmanager
def errors_of(driver: Any, where: str) -> Generator[None]:
    """Turns the driver's errors into CommonplaceErrors."""
    import psycopg  # noqa: PLC0415 - an optional package

    try:
        yield
    except psycopg.IntegrityError:
        raise
    except psycopg.Error as error:
        raise explained(error, where, gone=driver.closed or driver.broken) from error
