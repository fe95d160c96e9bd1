"""A session: the connections of a mind within one event loop. What it has learnt of its server outlives them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from commonplace.minds.chat.client import Errand, Health, Transport
from commonplace.minds.chat.probe import Probe
from commonplace.minds.chat.request import Capabilities, Structure
from commonplace.minds.chat.servers import Server

# ── once ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Something found out once for many who wait for it at the same time.


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


# ── session ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Knowledge:
    """What a mind has learnt of its server."""

    can: Capabilities | None = None
    """None before the probe."""
    fallen: dict[str, Structure] = field(default_factory=dict[str, Structure])
    """Tasks for which the server took a lesser form than usual."""
    dimensions: int = 0
    """Of its vectors; 0 before one was seen."""
    health: Health = field(default_factory=Health)


class Session:
    """What a mind holds while a loop runs."""

    def __init__(self, server: Server, transport: Transport, knowledge: Knowledge) -> None:
        self.server = server
        self.transport = transport
        self.knowledge = knowledge
        self._probe: Once[Capabilities] = Once()

    async def capabilities(self, errand: Errand) -> Capabilities:
        """What the server takes, probed once for all who ask. Raises what `Probe` raises."""
        if self.knowledge.can is None:
            self.knowledge.can = await self._probe.get(Probe(self.server, self.transport, errand).capabilities)
            self.knowledge.dimensions = self.knowledge.dimensions or self.knowledge.can.embeddings
        return self.knowledge.can

    async def close(self) -> None:
        """End all connections."""
        await self.transport.pool.close()
