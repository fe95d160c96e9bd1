"""Sharing an object between threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Guarded(Protocol):
    """An object with a lock of its own."""

    @property
    def guard(self) -> Any:
        """A `threading.RLock`."""
        ...


Self = TypeVar("Self", bound=Guarded)
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def locked(method: Callable[Concatenate[Self, Arguments], Result]) -> Callable[Concatenate[Self, Arguments], Result]:
    """The method, run by one thread at a time: it holds `self.guard`, a `threading.RLock`, meanwhile."""

    @wraps(method)
    def guarded(self: Self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with self.guard:
            return method(self, *args, **kwargs)

    return guarded
