"""Work that is done again and again beside the rest of a program."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from types import TracebackType
from typing import Self


class Repeating:
    """A thread that waits and works in turn until the block ends. An error ends it, and is raised there."""

    def __init__(self, work: Callable[[], object], wait: Callable[[], float], name: str) -> None:
        """`wait`: the seconds before the next time; `name`: of the thread."""
        self._work, self._wait = work, wait
        self._ending = Event()
        self._error: Exception | None = None
        self._thread = Thread(target=self._run, name=name, daemon=True)

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

    def _run(self) -> None:
        try:
            while not self._ending.wait(self._wait()):
                self._work()
        except Exception as error:  # raised where the block ends
            self._error = error
