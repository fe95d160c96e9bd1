"""Talks of the terminal view, in a thread of their own: an answer may take long, and the picture does not wait."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from commonplace.api import OpenedRun, open_run
from commonplace.parts.live.source import Thumb
from commonplace.run.minds import mind_by_question
from commonplace.run.reading import Reading

if TYPE_CHECKING:
    from commonplace.talk import Reply, Talk

Result = TypeVar("Result")


class Talks:
    """A factory of talks about a run: `talks(agent, tick)`. Leaving the `with` statement closes the open ones.

    The thread has an event loop and a reading of the run, and does one thing at a time.
    """

    def __init__(self, seen: Reading, mind: str = "", *, trust: bool = False) -> None:
        """`seen`: the run, read by the view. `mind`: who answers, the run's own if empty.

        `trust`: use the mind and prompts that the file names.
        """
        self._asked = mind_by_question(seen.manifest)
        self._path, self._named, self._trust = seen.path, mind, trust
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="talks", daemon=True)
        self._turn = asyncio.Lock()
        self._reading: OpenedRun | None = None
        self._open: list[ThreadTalk] = []

    def __call__(self, agent: str, tick: int) -> ThreadTalk:
        """Begins a talk with a character as it was at the tick. Nothing is read before the first question."""
        return ThreadTalk(self, agent, tick)

    def __enter__(self) -> Talks:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            asyncio.run_coroutine_threadsafe(self._finish(), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def mind(self, agent: str) -> str:
        """Returns the name of the mind that answers for a character."""
        return self._named or self._asked(agent, "answer")

    async def in_thread(self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Awaits something in the thread, after all earlier requests. Cancelling this cancels it there."""

        async def in_turn() -> Result:
            async with self._turn:
                return await work()

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(in_turn(), self._loop))

    def opened(self, talk: ThreadTalk) -> Talk:
        """Opens in the thread what the talk reads and writes."""
        if self._reading is None:
            self._reading = open_run(self._path)
        opened = self._reading.talk(talk.agent, at=talk.tick, mind=self._named, trust=self._trust)
        self._open.append(talk)
        return opened

    def forget(self, talk: ThreadTalk) -> None:
        """Removes a talk that is closed."""
        self._open.remove(talk)

    async def _finish(self) -> None:
        """Gives up the questions that are not answered yet and closes what is open."""
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        try:
            for talk in tuple(self._open):
                talk.finish()
        finally:
            if self._reading is not None:
                self._reading.close()


class ThreadTalk:
    """One talk; its calls come from the view's event loop and are carried out in the thread."""

    def __init__(self, talks: Talks, agent: str, tick: int) -> None:
        self.agent, self.tick, self.mind = agent, tick, talks.mind(agent)
        self._talks = talks
        self._talk: Talk | None = None

    async def ask(self, question: str) -> Reply:
        """Returns the character's answer. Raises CommonplaceError."""
        return await self._talks.in_thread(lambda: self._opened().ask(question))

    async def retry(self) -> Reply:
        """Returns another answer to the last question. Raises CommonplaceError."""
        return await self._talks.in_thread(lambda: self._opened().retry())

    async def rate(self, label: Thumb, note: str = "") -> None:
        """Notes how the last answer was received. Raises CommonplaceError."""

        async def rate() -> None:
            self._opened().rate(label, note)

        await asyncio.shield(self._talks.in_thread(rate))

    async def close(self) -> None:
        """Learns what proved useful."""

        async def close() -> None:
            self.finish()

        await asyncio.shield(self._talks.in_thread(close))

    def _opened(self) -> Talk:
        if self._talk is None:
            self._talk = self._talks.opened(self)
        return self._talk

    def finish(self) -> None:
        """Does the same as `close`, in the thread."""
        if self._talk is not None:
            talk, self._talk = self._talk, None
            self._talks.forget(self)
            talk.close()
