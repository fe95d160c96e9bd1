"""Deferred jobs thought of ahead: asked as soon as there is a snapshot for them, waited for when they are due."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from commonplace.cognition.turn import JobView
from commonplace.engine.driver import JOB_ORDINALS, Drive, Driver, together
from commonplace.engine.stage import Stage
from commonplace.errors import Paused

Key = tuple[str, int, int]
"""Character, the tick the job was asked for in, its number there."""


@dataclass(slots=True)
class _Begun:
    drive: Drive
    task: asyncio.Task[None]


class Ahead:
    """The jobs under way in one sitting. Only minds that cost something are asked ahead of time.

    It decides when a question is put, never what comes of it: a job sees its snapshot and nothing later.
    """

    def __init__(self, driver: Driver, stage: Stage) -> None:
        self._driver = driver
        self._stage = stage
        self._begun: dict[Key, _Begun] = {}

    def begin(self, waiting: Mapping[str, Sequence[JobView]], last: int) -> None:
        """Start those that are due up to a tick, in the background. Needs a running event loop."""
        if not self._driver.mind.costs:
            return
        due = {_key(agent, view): view for agent, views in waiting.items() for view in views if view.job.due <= last}
        self._begun = {key: begun for key, begun in self._begun.items() if key in due or not begun.task.done()}
        for key, view in due.items():
            if key not in self._begun:
                self._start(key, view)

    async def done(self, agent: str, views: Sequence[JobView]) -> tuple[Drive, ...]:
        """The jobs of a character, done. Raises what they raise."""
        if not views:
            return ()
        if not self._driver.mind.costs:
            drives = tuple(thought(self._stage, agent, view) for view in views)
            await self._driver.run(drives)
            return drives
        begun = [self._found(agent, view) for view in views]
        await together(_ended(one.task) for one in begun)
        return tuple(one.drive for one in begun)

    async def drain(self) -> None:
        """Wait for what is in flight, whatever comes of it: when the budget is reached nothing follows it."""
        await asyncio.gather(*(begun.task for begun in self._begun.values()), return_exceptions=True)

    def cancel(self) -> None:
        """Give everything up. Nothing that is still under way writes anything from now on."""
        for begun in self._begun.values():
            begun.task.cancel()

    async def end(self) -> None:
        """Give everything up and wait until it is gone."""
        self.cancel()
        await self.drain()

    def _found(self, agent: str, view: JobView) -> _Begun:
        """The job under way; anew if its mind could not be had when it was begun."""
        key = _key(agent, view)
        begun = self._begun.get(key)
        if begun is None or _paused(begun.task):
            begun = self._start(key, view)
        return begun

    def _start(self, key: Key, view: JobView) -> _Begun:
        drive = thought(self._stage, key[0], view)
        task = asyncio.ensure_future(self._driver.run([drive]))
        task.add_done_callback(partial(_over, drive))
        begun = self._begun[key] = _Begun(drive, task)
        return begun


def thought(stage: Stage, agent: str, view: JobView) -> Drive:
    """A job to be driven: its questions belong to the tick it was asked for in, with ordinals of their own."""
    return Drive(agent, view.job.asked_at, stage.think(view), JOB_ORDINALS * (1 + view.job.number))


def _key(agent: str, view: JobView) -> Key:
    return (agent, view.job.asked_at, view.job.number)


def _paused(task: asyncio.Task[None]) -> bool:
    return task.done() and (task.cancelled() or isinstance(task.exception(), Paused))


def _over(drive: Drive, task: asyncio.Task[None]) -> None:
    """The end of a job, which may have come before its beginning. An error is news only to whoever waits for it."""
    drive.asking.close()
    if not task.cancelled():
        task.exception()


async def _ended(task: asyncio.Task[None]) -> None:
    await task
