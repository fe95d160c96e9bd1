"""What a graph needs now and then while it is in use: to be written to its file, and to let old weights fade."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from types import TracebackType
from typing import Self

from commonplace.errors import UsageError
from commonplace.querygraph.graph import QueryGraph

_NEVER = float("inf")


class Upkeep:
    """A thread that saves a graph a while after it has changed and makes its decay real, until the block ends.

    ```python
    with Upkeep(graph, "questions.json", save_after=timedelta(seconds=2), decay_every=timedelta(hours=1)):
        ...
    ```

    All changes within `save_after` are one write. What has changed when the block ends is written then. An error of
    the thread ends it and is raised at the end of the block.
    """

    def __init__(
        self,
        graph: QueryGraph,
        path: str | Path | None = None,
        *,
        save_after: timedelta = timedelta(seconds=1),
        decay_every: timedelta | None = None,
    ) -> None:
        """`path`: where to save; None for a graph that keeps itself. `decay_every`: None leaves weights as they are."""
        for name, given in (("save_after", save_after), ("decay_every", decay_every)):
            if given is not None and given <= timedelta():
                raise UsageError(f"{name} is {given}; expected more than none")
        self.graph = graph
        self.path = None if path is None else Path(path)
        self._save_after = save_after.total_seconds()
        self._decay_every = _NEVER if decay_every is None else decay_every.total_seconds()
        self._ending = Event()
        self._error: Exception | None = None
        self._thread = Thread(target=self._run, name="upkeep of a query graph", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()
        if self._error is not None and error is None:
            raise self._error
        self._save()

    def _run(self) -> None:
        decayed = monotonic()
        try:
            while not self._ending.wait(min(self._save_after, self._decay_every)):
                if monotonic() - decayed >= self._decay_every:
                    self.graph.decay()
                    decayed = monotonic()
                self._save()
        except Exception as error:  # raised where the block ends
            self._error = error

    def _save(self) -> None:
        if self.path is not None:
            self.graph.save(self.path, only_if_dirty=True)
