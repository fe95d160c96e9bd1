"""What a graph needs now and then while it is in use: to be written to its file, and to let old weights fade."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from time import monotonic
from types import TracebackType

from commonplace.errors import UsageError
from commonplace.querygraph.graph import QueryGraph
from commonplace.repeating import Repeating

_NEVER = float("inf")


class Upkeep(Repeating):
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
        self._decay_every = _NEVER if decay_every is None else decay_every.total_seconds()
        self._decayed = monotonic()
        wait = min(save_after.total_seconds(), self._decay_every)
        super().__init__(self._tend, lambda: wait, "upkeep of a query graph")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._save()

    def _tend(self) -> None:
        if monotonic() - self._decayed >= self._decay_every:
            self.graph.decay()
            self._decayed = monotonic()
        self._save()

    def _save(self) -> None:
        if self.path is not None:
            self.graph.save(self.path, only_if_dirty=True)
