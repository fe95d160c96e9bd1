"""The live feed of one run: every tick as a message, made once for all who watch.

Someone who watches is a position in the run, not a queue: a connection that takes messages slowly falls behind, and is
given a fresh snapshot when it is more than `BEHIND` ticks late. So it costs nothing but itself, whatever it does.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from functools import partial

from commonplace.errors import CommonplaceError
from commonplace.parts.web import model as wire
from commonplace.parts.web.picture import Picture
from commonplace.text import clean

BEHIND = 60
"""Ticks that are caught up delta by delta; somebody later than that, or new, gets a snapshot."""
PACE = 20.0
"""Messages a second that somebody gets at most. A run that is faster is shown in leaps."""
LOOK_EVERY = 0.3
"""Seconds between two looks for ticks that another process has committed; only while somebody watches."""


class Feed:
    """The messages for everybody who watches a run. Belongs to one event loop."""

    def __init__(
        self, picture: Picture, status: Callable[[], wire.Status], speaking: Callable[[], Mapping[str, str]]
    ) -> None:
        """`status`: how the run is doing; the feed knows its last tick. `speaking`: what is being said."""
        self.last = -1
        """The latest tick known to be committed."""
        self.watching = 0
        """How many watch."""
        self._picture = picture
        self._status = status
        self._speaking = speaking
        self._sent: OrderedDict[tuple[str, int], asyncio.Task[str]] = OrderedDict()
        self._news = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    def changed(self, tick: int = -1) -> None:
        """Wakes the followers: a tick was committed, or the status has changed."""
        self.last = max(self.last, tick)
        self._news.set()
        self._news = asyncio.Event()

    def dated(self, status: wire.Status) -> wire.Status:
        """Returns the status with the last tick."""
        last = max(0, self.last)
        return status.model_copy(update={"last_tick": last, "final_tick": max(last, status.final_tick)})

    async def follow(self, after: int | None = None) -> AsyncGenerator[str]:
        """Yields the messages for somebody who has tick `after`, without end. Each is made when it is asked for."""
        self.watching += 1
        try:
            if self._looking is None:
                self._looking = asyncio.create_task(self._look())
            await self._look_once()
            loop = asyncio.get_running_loop()
            next_at = 0.0
            at, told, heard = -1 if after is None or after > self.last else after, None, dict[str, str]()
            while True:
                news = self._news
                status = self._status()
                if status != told:
                    told = status
                    yield self.dated(status).model_dump_json()
                speaking = {agent: clean(words) for agent, words in self._speaking().items()}
                if at < self.last:
                    await asyncio.sleep(next_at - loop.time())
                    next_at = loop.time() + 1 / PACE
                    late = at < 0 or self.last - at > BEHIND
                    at = self.last if late else at + 1
                    yield await self._message("snapshot" if late else "delta", at)
                    heard = {}  # a tick ends what was being said
                elif speaking != heard:
                    heard = speaking
                    yield wire.Speaking(type="speaking", lines=speaking).model_dump_json()
                else:
                    await news.wait()
        finally:
            self.watching -= 1
            if not self.watching and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def _message(self, kind: str, tick: int) -> str:
        """Returns the message; the first who needs it has it made."""
        task = self._sent.get((kind, tick))
        if task is None:
            task = self._sent[kind, tick] = asyncio.create_task(asyncio.to_thread(self._made, kind, tick))
            task.add_done_callback(partial(self._forget_failed, kind, tick))
            while len(self._sent) > 2 * BEHIND:
                self._sent.popitem(last=False)
        return await asyncio.shield(task)

    def _forget_failed(self, kind: str, tick: int, task: asyncio.Task[str]) -> None:
        """Forgets a failed message, so that it is made again for the next reader.

        Somebody must look at the error, and nobody may be waiting.
        """
        if task.cancelled() or task.exception() is not None:
            self._sent.pop((kind, tick), None)

    def _made(self, kind: str, tick: int) -> str:
        picture = self._picture
        made = picture.snapshot(tick) if kind == "snapshot" else next(picture.deltas(tick, tick))
        return made.model_dump_json()

    async def _look_once(self) -> None:
        last = await asyncio.to_thread(lambda: self._picture.reading.last_tick)
        if last > self.last:
            self.changed(last)

    async def _look(self) -> None:
        known = self._status()
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if (now := self._status()) != known:  # another process has begun or ended
                known = now
                self.changed()
            with suppress(CommonplaceError):  # who asks for the tick is told
                await self._look_once()
