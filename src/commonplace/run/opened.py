"""A run file opened for reading: what it was resolved to, and which ticks it has."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from functools import cached_property, lru_cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from commonplace.clock import parse_iso
from commonplace.errors import WrongUse
from commonplace.run import schema
from commonplace.run.commit import Digests
from commonplace.run.connection import damaged, mended, reader
from commonplace.run.digest import START
from commonplace.run.manifest import Manifest
from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.scenario import Scenario


class Opened:
    """The part of `reading.Reading` that is about the file and its ticks."""

    def __init__(self, path: Path, connection: sqlite3.Connection, number: int) -> None:
        """Not for use from outside: `open`."""
        self.path = path
        self.format = number
        self._connection = connection

    @classmethod
    def open(cls, path: str | Path, *, lenient: bool = False) -> Self:
        """Raises WrongUse for a missing file, another kind of file or a newer format. Needs no writable folder.

        `lenient` reads text that is no UTF-8 as surrogates instead of raising RunDamaged.
        """
        path = Path(path)
        connection = reader(path)
        if lenient:
            connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        try:
            with mended(str(path)):
                number = schema.check(connection, str(path))
        except BaseException:
            connection.close()
            raise
        return cls(path, connection, number)

    def close(self) -> None:
        """May be called twice."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @cached_property
    def manifest(self) -> Manifest:
        """Everything the run was resolved to when it was made."""
        text = self.meta("manifest")
        if text is None:
            raise damaged(str(self.path), "it has no manifest")
        return Manifest.from_json(text, str(self.path))

    @cached_property
    def scenario(self) -> Scenario:
        """Compiled from the text in the manifest, which takes some tenths of a second the first time."""
        return _compiled(self.manifest.text, f"the scenario in {self.path}")

    def meta(self, key: str) -> str | None:
        """A remark kept beside the history; None when there is none of that name."""
        row = self.one("SELECT value FROM meta WHERE key = ?", key)
        return None if row is None else row[0]

    @property
    def last_tick(self) -> int:
        """The last committed tick; −1 for none."""
        last: int | None = self.one("SELECT max(n) FROM tick")[0]
        return -1 if last is None else last

    def tick(self, wanted: str | int | None = None) -> int:
        """A lived tick from a number, an ISO simulated time (the first tick not before it) or None, the last.

        None gives −1 for a run without ticks. Raises WrongUse for a tick that has not been lived.
        """
        last = self.last_tick
        if wanted is None:
            return last
        found = self._tick_of(wanted) if isinstance(wanted, str) else wanted
        if not 0 <= found <= last:
            todo = f"the run has ticks 0 to {last}" if last >= 0 else "the run has no ticks yet"
            raise WrongUse(f"there is no tick {wanted}", where=str(self.path), todo=todo)
        return found

    def time(self, tick: int) -> datetime:
        """The simulated moment at which a tick ends."""
        return self.scenario.clock.time(tick)

    def digests(self, at: int | str | None = None) -> Digests:
        """Both chains up to a tick."""
        row = self.one("SELECT history, state FROM tick WHERE n = ?", self.tick(at))
        return Digests(START, START) if row is None else Digests(*row)

    def digest(self, at: int | str | None = None, *, state: bool = False) -> str:
        """The chained digest up to a tick, hexadecimal: of the history, or of everybody's state."""
        digests = self.digests(at)
        return (digests.state if state else digests.history).hex()

    def histories(self, first: int, last: int) -> list[tuple[int, bytes]]:
        """(tick, history digest) of the ticks first … last."""
        return self.all("SELECT n, history FROM tick WHERE n BETWEEN ? AND ? ORDER BY n", first, last)

    def one(self, query: str, *values: Any) -> Any:
        """The first row of a query of this package; None when there is none."""
        with mended(str(self.path)):
            return self._connection.execute(query, values).fetchone()

    def all(self, query: str, *values: Any) -> list[Any]:
        """The rows of a query of this package, all at once: a cursor left half-read would hold a transaction open."""
        with mended(str(self.path)):
            return self._connection.execute(query, values).fetchall()

    def _tick_of(self, text: str) -> int:
        if text.isdecimal():
            return int(text)
        try:
            return self.scenario.clock.tick(parse_iso(text))
        except ValueError:
            todo = "give a tick such as 48, or a simulated time such as 2031-10-04T10:00"
            raise WrongUse(f"{text!r} is neither", where=str(self.path), todo=todo) from None


@lru_cache(maxsize=8)
def _compiled(text: str, origin: str) -> Scenario:
    return compiled_from_text(text, origin)
