"""Talks with the characters of a run in a database, kept beside it, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from typing import Any

from commonplace.canon import canonical, parsed
from commonplace.errors import CommonplaceError
from commonplace.parts.runs.connection import errors_of
from commonplace.parts.runs.store import Database
from commonplace.parts.runs.tables import may_write
from commonplace.run.place import Address
from commonplace.run.talks import KeptTalk
from commonplace.talk import Line

_ROWS = "SELECT agent, number, line FROM commonplace.talk WHERE run = %s AND %s IN ('', agent) ORDER BY 1, 2, ordinal"
_BEGIN = (
    "INSERT INTO commonplace.talk(run, agent, number, ordinal, line)"
    " SELECT %(run)s, %(agent)s, coalesce(max(number), 0) + 1, 0, %(line)s FROM commonplace.talk"
    " WHERE run = %(run)s AND agent = %(agent)s ON CONFLICT DO NOTHING RETURNING number"
)
_ADD = "INSERT INTO commonplace.talk(run, agent, number, ordinal, line) VALUES (%s, %s, %s, %s, %s)"


def talks(address: Address) -> list[KeptTalk]:
    """Returns the talks about a run, by character and number."""
    with closing(Database(address)) as database:
        return _kept(database, database.found(address.name).id)


def put_talks(address: Address, talks: Iterable[KeptTalk]) -> None:
    """Keeps the talks of another run about one that has none."""
    with closing(Database(address)) as database, errors_of(database.driver, str(address)):
        run = database.found(address.name).id
        rows = [
            (run, talk.agent, talk.number, ordinal, line.decode())
            for talk in talks
            for ordinal, line in enumerate(talk.lines)
        ]
        with database.driver.transaction():
            database.driver.cursor().executemany(_ADD, rows)


class DatabaseLog:
    """The talks with a character, of which one begins. What was useful in earlier ones is learnt from their lines."""

    def __init__(self, address: Address, agent: str) -> None:
        """Raises CommonplaceError where nothing may be written."""
        self._database = Database(address)
        self._where, self._agent = str(address), agent
        self._number = self._count = 0
        try:
            self._run = self._database.found(address.name).id
            with errors_of(self._database.driver, self._where):
                if not may_write(self._database.driver, "talk"):
                    hint = "commonplace talk --no-keep keeps nothing; or use a role that may write to the database"
                    raise CommonplaceError("talks cannot be kept", where=self._where, hint=hint)
        except BaseException:
            self._database.close()
            raise

    def earlier(self) -> Iterator[tuple[str, list[Line]]]:
        """Yields name and lines of each talk so far."""
        for talk in _kept(self._database, self._run, self._agent):
            yield f"{talk.number:04}", [Line.model_validate(parsed(line)) for line in talk.lines]

    def write(self, line: Line) -> None:
        """Adds a line; it is committed when this returns."""
        text = canonical(line.model_dump(mode="json", exclude_defaults=True)).decode()
        driver = self._database.driver
        with errors_of(driver, self._where):
            if self._number:
                driver.execute(_ADD, (self._run, self._agent, self._number, self._count, text))
            begun: Any = self._number and (self._number,)
            while not begun:  # somebody else began one at the same moment
                begun = driver.execute(_BEGIN, {"run": self._run, "agent": self._agent, "line": text}).fetchone()
        self._number = begun[0]
        self._count += 1

    def close(self) -> None:
        """Closes the connection. May be called twice."""
        self._database.close()


def _kept(database: Database, run: int, agent: str = "") -> list[KeptTalk]:
    with errors_of(database.driver, database.where):
        rows = database.driver.execute(_ROWS, (run, agent)).fetchall()
    return [
        KeptTalk(agent, number, tuple(line.encode() for *_, line in lines))
        for (agent, number), lines in groupby(rows, lambda row: row[:2])
    ]
