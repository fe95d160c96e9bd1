"""The streams of many characters over one store, few of them in RAM at a time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self, Unpack

from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.memory.analyser import Analyser
from commonplace.memory.embedding import Embedder, Embeds
from commonplace.memory.facts import FindsFacts
from commonplace.memory.policies import Policy
from commonplace.memory.record import Rater, checked_count, checked_names
from commonplace.memory.retrieval import Options
from commonplace.memory.scoring import ScoredMemory
from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.store import Store
from commonplace.memory.stream import MemoryStream, OnChange
from commonplace.memory.threads import in_thread


@dataclass(slots=True)
class _Entry:
    """The stream of one character."""

    stream: MemoryStream | None = None
    users: int = 0
    """Who must not find it closed."""
    guard: Lock = field(default_factory=Lock)
    """Held while it is opened and closed."""


class Memories:
    """The streams of many characters in one store: at most `max_open` are open, besides those in use.

    The one used longest ago is flushed and closed first. Any number of threads may use it, and all who use a character
    at the same time have the same stream. Close it, or use it in a `with` statement. `where` is as of
    `MemoryStream.open`, and so are the other arguments, which all streams share.
    """

    def __init__(
        self,
        where: str | Path | Store,
        policy: Policy = policies.RECALL,
        *,
        max_open: int = 256,
        embedder: Embedder | Embeds | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
        opens: type[MemoryStream] = MemoryStream,
        facts: FindsFacts | None = None,
        on_change: OnChange | None = None,
    ) -> None:
        """`opens`: the class of the streams, `DatabaseStream` where several processes serve a character.

        Raises UsageError for `max_open` below 1, and as `open_store`.
        """
        self.max_open = checked_count("max_open", max_open, 1)
        self.store = open_store(where) if isinstance(where, str | Path) else where
        self._own = self.store is not where
        self._policy = policy
        self._embedder = embedder
        self._rater = rater
        self._analyser = analyser
        self._opens = opens
        self._facts = facts
        self._on_change = on_change
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        """The one used longest ago is the first."""
        self._guard = Lock()
        self._closed = False

    def __len__(self) -> int:
        """How many streams are open."""
        with self._guard:
            return sum(entry.stream is not None for entry in self._entries.values())

    @contextmanager
    def stream(self, agent: str) -> Generator[MemoryStream]:
        """Gives the stream of a character, which stays open at least until the block ends.

        Raises what `MemoryStream.open` raises, and UsageError after `close`.
        """
        with self._guard:
            if self._closed:
                raise UsageError("these memories are closed", where=self.store.where, hint="open them again")
            entry = self._entries.setdefault(agent, _Entry())
            entry.users += 1
            self._entries.move_to_end(agent)
        try:
            with entry.guard:
                if entry.stream is None:
                    entry.stream = self._opens.open(
                        self.store,
                        agent,
                        self._policy,
                        embedder=self._embedder,
                        rater=self._rater,
                        analyser=self._analyser,
                        facts=self._facts,
                        on_change=self._on_change,
                    )
            yield entry.stream
        finally:
            self._release(agent, entry)
            self._close_all_but(self.max_open)

    def agents(self, prefix: str = "") -> tuple[str, ...]:
        """Returns the characters of the store whose names begin so, sorted; all of them without a prefix."""
        return tuple(agent for agent in self.store.agents() if agent.startswith(prefix))

    def recall(
        self,
        query: str,
        agents: Collection[str],
        *,
        at: datetime | None = None,
        **options: Unpack[Options],
    ) -> list[ScoredMemory]:
        """Returns the best `k` hits of several characters, best first; `memory.agent` tells whose each is.

        Between streams `ScoredMemory.relevance` decides, because scores compare only the candidates of one stream. Hits
        of one stream keep their order: each counts at least as much as those behind it. Without a question the newest
        come first. `rank` is the place among all. Nothing counts as an access. The other arguments are as of
        `MemoryStream.recall`, and hold for each stream. Raises UsageError as it does.
        """
        at, k = datetime.now(UTC) if at is None else at, options.get("k")
        found = list[tuple[float, ScoredMemory]]()
        for agent in dict.fromkeys(checked_names("agents", agents)):
            with self.stream(agent) as stream:
                given: Options = {**options, "touch": False}
                hits = stream.recall(query, at=at, **given)
                found += zip(_standing(hits), hits, strict=True)
                k = stream.policy.k if k is None else k
        found.sort(key=lambda one: one[0], reverse=True)
        return [hit._replace(rank=rank) for rank, (_, hit) in enumerate(found[:k], start=1)]

    arecall = in_thread(recall)

    def flush(self) -> None:
        """Writes the latest accesses of all streams to the store."""
        with self._guard:
            streams = [entry.stream for entry in self._entries.values()]
        for stream in streams:
            if stream is not None:
                stream.flush()

    def close(self) -> None:
        """Closes the streams, and the store if this has opened it. May be called twice.

        A stream in use is flushed; what its user still does is written at once, but for accesses.
        """
        with self._guard:
            self._closed = True
        try:
            self._close_all_but(0)
            self.flush()
        finally:
            if self._own:
                self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _close_all_but(self, most: int) -> None:
        """Closes streams that nobody uses until there are no more than so many, the one used longest ago first."""
        while True:
            with self._guard:
                idle = (agent for agent, entry in self._entries.items() if not entry.users)
                agent = next(idle, None) if len(self._entries) > most else None
                if agent is None:
                    return
                entry = self._entries[agent]
                entry.users += 1  # nobody else closes it; who wants it meanwhile opens it again
            try:
                with entry.guard:
                    if entry.stream is not None:
                        entry.stream.close()
                        entry.stream = None
            finally:
                self._release(agent, entry)

    def _release(self, agent: str, entry: _Entry) -> None:
        with self._guard:
            entry.users -= 1
            if not entry.users and entry.stream is None:
                del self._entries[agent]


def _standing(hits: Sequence[ScoredMemory]) -> list[float]:
    """Returns the relevance of each hit, or the highest of those behind it; without a question when it was made."""
    each = [hit.memory.created_at.timestamp() if hit.relevance is None else hit.relevance for hit in reversed(hits)]
    return list(accumulate(each, max))[::-1]
