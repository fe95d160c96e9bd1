"""What the adapters share: a hit as plain metadata, and a conversation as memories of one session."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from commonplace.memory import Memory, MemoryStream, RestatementRules, Retrieval, ScoredMemory
from commonplace.memory.stores.codec import memory_json
from commonplace.text import clean

Clock = Callable[[], datetime]
"""Tells the time of what is remembered and asked."""


def wall_clock() -> datetime:
    """Returns the time of this machine, UTC."""
    return datetime.now(UTC)


def reference(memory: Memory) -> str:
    """Returns AGENT:ID, which names a memory everywhere."""
    return f"{memory.agent}:{memory.id}"


REASONS = ("rank", "score", "relevance", "parts", "repeats", "confidence")
"""Metadata of a hit besides the fields of its memory."""


def metadata(found: Retrieval) -> list[tuple[ScoredMemory, dict[str, Any]]]:
    """Returns each hit with the fields of its memory but the text, as JSON, and with `REASONS`: what each part adds,
    the ids of the memories that only say the same, and how likely it is that any hit is about what is asked."""
    every: list[tuple[ScoredMemory, dict[str, Any]]] = []
    for hit in found:
        fields: dict[str, Any] = {**memory_json(hit.memory)}
        del fields["text"]
        parts = {name: part.weight * part.normalised for name, part in hit.parts.items()}
        reasons = hit.rank, hit.score, hit.relevance, parts, list(hit.repeats), found.confidence
        every.append((hit, fields | dict(zip(REASONS, reasons, strict=True))))
    return every


class StoredConversation:
    """The messages of one session as memories: the words as text, the message itself, exactly, in `details`.

    Any number of threads may use one.
    """

    def __init__(self, stream: MemoryStream, session: str, form: str, clock: Clock) -> None:
        """Makes a conversation. `form` is the key in `details` that says whose messages they are."""
        self._stream = stream
        self._session = session
        self._form = form
        self._clock = clock

    def add(self, messages: Sequence[tuple[str, str, Any]]) -> None:
        """Keeps messages, all or none: (words, who said them, the message as JSON).

        Raises TypeError for a message that is not JSON.
        """
        at = self._clock()
        told = (
            {
                "text": words if clean(words) else f"({source or self._form} without words)",
                "at": at,
                "source": source,
                "session": self._session,
                "details": {self._form: json.loads(json.dumps(message))},
            }
            for words, source, message in messages
        )
        self._stream.add_many(told, restatements=self._stream.restatements or RestatementRules())

    def messages(self, limit: int | None = None) -> list[Any]:
        """Returns the messages in order; the latest `limit` of them, all if it is negative."""
        return [deepcopy(memory.details[self._form]) for memory in self._memories(limit)]

    def pop(self) -> Any | None:
        """Forgets the latest message and returns it; None if there is none."""
        while latest := self._memories(1):
            if latest[0].id in self._forget(latest):  # nobody else has
                return deepcopy(latest[0].details[self._form])
        return None

    def clear(self) -> None:
        """Forgets the messages of this session."""
        self._forget(self._memories(None))

    def _forget(self, messages: Sequence[Memory]) -> tuple[int, ...]:
        """Forgets messages, and the facts that were made of them."""
        ids = [memory.id for memory in messages]
        return self._stream.forget([*ids, *(fact.id for fact in self._stream.facts_of(ids))])

    def _memories(self, limit: int | None) -> list[Memory]:
        found = self._stream.search(session=self._session)
        mine = [memory for memory in found if self._form in memory.details]
        return mine[: None if limit is None or limit < 0 else limit][::-1]
