"""A stream that follows its PostgreSQL store: for a character that several processes serve at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from commonplace.errors import UsageError
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.stores.keeper import Keeper
from commonplace.memory.stores.store import Mark, Store
from commonplace.memory.stream import MemoryStream, Result
from commonplace.memory.table import View
from commonplace.memory.threads import locked
from commonplace.parts.stores.postgres import PostgresStore


class DatabaseStream(MemoryStream):
    """One character's memories in PostgreSQL, as all processes that serve the character have left them.

    It is a `MemoryStream` whose every call first brings in what others have written, and that has written what it did,
    accesses included, when it returns. So all streams of a character give the same answers at any time. `open` takes
    the URL of a PostgreSQL store, `embedded:FOLDER`, or the store.
    """

    _follows = True
    """False while the stream changes, which it does from one moment on."""

    def _keep_in(self, store: Store, mark: Mark, settings: Mapping[str, Any], *, own: bool) -> Keeper:
        if not isinstance(store, PostgresStore):
            if own:
                store.close()
            raise UsageError("not a PostgreSQL store", where=store.where, hint="MemoryStream.open opens any store")
        self._store = store
        return super()._keep_in(store, mark, settings, own=own)

    @locked
    def _view(self) -> View:
        """Returns the rows as they are in the store now."""
        keeper = self._keeper
        if keeper is not None and self._follows and self._store.now(self.agent) != keeper.mark:
            self._bring_in()
        return super()._view()

    def _bring_in(self) -> int:
        with self._still():
            return super()._bring_in()

    @locked
    def _again(self, change: Callable[[], Result]) -> Result:
        self._view()
        with self._still():  # else it would write over what it has seen in part only
            return super()._again(change)

    @contextmanager
    def _still(self) -> Generator[None]:
        before, self._follows = self._follows, False
        try:
            yield
        finally:
            self._follows = before

    @locked
    def delete(self) -> int:
        """As of `MemoryStream`."""
        with self._still():
            return super().delete()

    def _touched(self, found: Retrieval) -> None:
        super()._touched(found)
        if self._keeper is not None and self._keeper.accesses:
            self._again(self._keeper.write)

    @property
    @locked
    def unembedded(self) -> tuple[int, ...]:
        """As of `MemoryStream`."""
        self._view()
        return super().unembedded

    @property
    @locked
    def settings(self) -> Mapping[str, Any]:
        """As of `MemoryStream`."""
        self._view()
        return super().settings

    @locked
    def importance_since_reflection(self) -> float:
        """As of `MemoryStream`."""
        self._view()
        return super().importance_since_reflection()

    @locked
    def weights(self) -> dict[str, float]:
        """As of `MemoryStream`."""
        self._view()
        return super().weights()
