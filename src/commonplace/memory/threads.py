"""Sharing an object between threads, and calling it from an event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar


class Guarded(Protocol):
    """An object with a lock of its own."""

    @property
    def guard(self) -> Any:
        """A `threading.RLock`."""
        ...


Self = TypeVar("Self", bound=Guarded)
Owner = TypeVar("Owner")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def locked(method: Callable[Concatenate[Self, Arguments], Result]) -> Callable[Concatenate[Self, Arguments], Result]:
    """Makes a method that one thread at a time runs: it holds `self.guard`, a `threading.RLock`, meanwhile."""

    @wraps(method)
    def guarded(self: Self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with self.guard:
            return method(self, *args, **kwargs)

    return guarded


def in_thread(
    method: Callable[Concatenate[Owner, Arguments], Result],
) -> Callable[Concatenate[Owner, Arguments], Coroutine[Any, Any, Result]]:
    """Returns the twin of a method for `async` callers: the same call, in another thread, so that the event loop goes
    on.

    A call that is cancelled is not undone.
    """
    name = method.__name__

    @wraps(method)
    async def twin(self: Owner, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        from asyncio import to_thread  # noqa: PLC0415 - most programs do without

        return await to_thread(getattr(self, name), *args, **kwargs)

    twin.__name__ = f"a{name}"
    twin.__qualname__ = f"{method.__qualname__.removesuffix(name)}a{name}"
    twin.__doc__ = f"`{name}` for `async` callers: the same call, in another thread."
    return twin
