"""Something found out once for many who wait for it at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """The first who asks finds out; whoever asks meanwhile waits and gets the same result, or the same error.

    When the one who finds out is cancelled, one of those who wait takes over. No task of its own is started. After an
    error the next who asks tries again.
    """

    def __init__(self) -> None:
        self._running: asyncio.Future[T] | None = None

    async def get(self, find: Callable[[], Awaitable[T]]) -> T:
        """The result of `find`, called by one asker at a time."""
        while self._running is not None:
            running = self._running
            await asyncio.wait([running])
            if not running.cancelled():
                return running.result()
        return await self._found(find)

    async def _found(self, find: Callable[[], Awaitable[T]]) -> T:
        running = self._running = asyncio.get_running_loop().create_future()
        try:
            found = await find()
        except Exception as error:
            running.set_exception(error)
            running.exception()  # nobody need be waiting for it
            raise
        except BaseException:
            running.cancel()
            raise
        else:
            running.set_result(found)
            return found
        finally:
            self._running = None
