"""From a text to a memory, checked, rated and embedded; a part that fails costs its result and never the memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from logging import getLogger
from typing import NamedTuple

from commonplace.memory.embedding import Embedder, Vector
from commonplace.memory.importance import RuleRater
from commonplace.memory.messages import Item
from commonplace.memory.record import Memory, Rater, checked_vector, new_memory

FULL, HISTORY, EMBEDDING_ERROR, RATING_ERROR = "full_text", "history", "embedding_error", "rating_error"
KEPT_DETAILS = (FULL, HISTORY, EMBEDDING_ERROR, RATING_ERROR)
"""Details that the stream itself keeps."""


class Prepared(NamedTuple):
    """A memory that is checked and rated, and its vector if it was given."""

    memory: Memory
    vector: Vector | None
    cites: tuple[int, ...] | None = None
    """Of an imported one: the places, among those that are added with it, of what it cites."""


def prepared(
    item: Item, *, id: int, agent: str, rater: Rater, language: str, exists: Callable[[int], bool]
) -> Prepared:
    """The memory of an item. A rater that raises leaves the rating to the rules. Raises UsageError as `remember`."""
    text, at, fields = item
    vector = checked_vector(fields.get("embedding"))
    failed: dict[str, str] = {}

    def rate(text: str) -> float:
        try:
            return rater(text)
        except Exception as error:
            failed[RATING_ERROR] = failure(agent, "rater", error)
            return RuleRater(language)(text)

    memory = new_memory(text, at, fields, id=id, agent=agent, rater=rate, exists=exists)
    return Prepared(flagged(memory, failed) if failed else memory, vector)


def embedded(agent: str, embedder: Embedder, texts: Sequence[str]) -> tuple[list[Vector | None], str]:
    """(a vector per text, "") or, where the embedder fails, (None for each, how it failed)."""
    try:
        return vectors_of(embedder, texts), ""
    except Exception as error:
        return [None] * len(texts), failure(agent, "embedder", error)


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """A vector per text. Raises whatever the embedder raises, and ValueError for another number of vectors."""
    if not texts:
        return []
    made = [checked_vector(vector) for vector in embedder.embed(texts)]
    if len(made) != len(texts):
        raise ValueError(f"{len(made)} vectors for {len(texts)} texts")
    return made


def flagged(memory: Memory, details: dict[str, str]) -> Memory:
    """The memory with more details."""
    return replace(memory, details={**memory.details, **details})


def mended(memory: Memory) -> Memory:
    """The memory without the detail that its embedder failed."""
    return replace(memory, details={name: one for name, one in memory.details.items() if name != EMBEDDING_ERROR})


def failure(agent: str, what: str, error: Exception) -> str:
    """What went wrong, in a line, which is logged as well."""
    said = f"{type(error).__name__}: {error}"[:200]
    getLogger("commonplace.memory").warning("the %s of %s failed (%s); the memory is kept", what, agent, said)
    return said
