"""A stream as it was, for a job that is asked now and delivered later."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.policy import Policy
from commonplace.memory.reader import Reader
from commonplace.memory.rows import Rows
from commonplace.memory.view import View


class Snapshot(Reader):
    """The memories and access times of a moment; the stream may grow on, be touched and forget. Nothing touches it.

    Made by `MemoryStream.snapshot`. It costs a copy of the access times; the rest is shared.
    """

    def __init__(self, rows: Rows, length: int, accessed: NDArray[np.int64], policy: Policy) -> None:
        self.policy = policy
        self._fixed = View(rows, length, accessed)

    def _view(self) -> View:
        return self._fixed
