"""Answers of models kept across runs (`--cache FILE`): the very same request gets the very same answer, unpaid.

Only answers that could be used are kept. The key is a digest of all that is sent: model, messages, schema, sampling.
"""

from __future__ import annotations

import json
from pathlib import Path
from sqlite3 import Connection
from threading import Lock
from typing import Any

from commonplace.canon import digest
from commonplace.parts.model_servers.http import Page, loads
from commonplace.sqlite import FileKind, connect, transaction, write_ahead

CACHE = FileKind(
    name="a cache of answers",
    application_id=0x434D5043,  # CMPC
    format=1,
    expected="--cache names a file of its own; if it does not exist, it is made",
    again="run the command again",
    inspect="delete {where}: it only saves requests",
)
LARGEST = 256 * 2**20
"""Bytes of answers that are kept; then those go that were used longest ago, a tenth of all."""
TABLE = """
CREATE TABLE IF NOT EXISTS answer (request BLOB PRIMARY KEY, page TEXT NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID
"""
FIND = "SELECT page FROM answer WHERE request = ?"
NEXT = "(SELECT coalesce(max(used), 0) + 1 FROM answer)"
USE = f"UPDATE answer SET used = {NEXT} WHERE request = ?"
KEEP = f"INSERT OR REPLACE INTO answer VALUES (?, ?, {NEXT})"
ORDERED = "CREATE INDEX IF NOT EXISTS answer_used ON answer (used)"
SIZE = "SELECT coalesce(sum(length(CAST(page AS BLOB))), 0), count(*) FROM answer"
FORGET = "DELETE FROM answer WHERE used <= (SELECT used FROM answer ORDER BY used LIMIT 1 OFFSET ?)"


class AnswerCache:
    """A file of answers by request. Several processes and threads may use it at once."""

    def __init__(self, path: str | Path, largest: int = LARGEST) -> None:
        """Raises UsageError for a file of another kind. `largest`: bytes of answers that are kept."""
        self.path = Path(path).expanduser()
        self._largest = largest
        self._lock = Lock()  # event loops may run in several threads
        self._open: Connection | None = None
        with CACHE.errors(str(self.path)):
            self._connection()

    def page(self, body: dict[str, Any]) -> Page | None:
        """Returns the page that answered this request before; None if none did."""
        key = _key(body)
        with self._lock, CACHE.errors(str(self.path)):
            connection = self._connection()
            found = connection.execute(FIND, (key,)).fetchone()
            if found is None:
                return None
            with transaction(connection):
                connection.execute(USE, (key,))
        return Page(200, found[0], loads(found[0]))

    def keep(self, body: dict[str, Any], page: Page) -> None:
        """Keeps the page that answered a request."""
        text = json.dumps(page.data, ensure_ascii=False)
        with self._lock, CACHE.errors(str(self.path)), transaction(self._connection()):
            connection = self._connection()
            connection.execute(KEEP, (_key(body), text))
            names = ("page_count", "freelist_count", "page_size")
            pages, free, page_size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
            if (pages - free) * page_size > self._largest:  # only then are the answers worth counting
                size, count = connection.execute(SIZE).fetchone()
                if size > self._largest:
                    connection.execute(FORGET, (count // 10,))

    def close(self) -> None:
        """Closes the file; the next request opens it again."""
        with self._lock:
            connection, self._open = self._open, None
            if connection is not None:
                connection.close()

    def _connection(self) -> Connection:
        self._open = self._open or self._opened()
        return self._open

    def _opened(self) -> Connection:
        new = not self.path.exists() or self.path.stat().st_size == 0
        connection = connect(self.path)
        try:
            if not new:
                CACHE.format_of(connection, str(self.path))
            write_ahead(connection, "NORMAL")
            with transaction(connection):
                for statement in (TABLE, ORDERED):
                    connection.execute(statement)
                CACHE.mark(connection)
        except BaseException:
            connection.close()
            raise
        return connection


def _key(body: dict[str, Any]) -> bytes:
    return digest(json.dumps(body, ensure_ascii=False, sort_keys=True).encode(errors="surrogatepass"))
