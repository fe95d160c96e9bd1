"""Memory ids: those a typed input offers for citing, and those of them a prompt shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from commonplace.minds.notes import Item, News, Recalled
from commonplace.minds.prompts.wire.shapes import Schema, some_of


def ids_of(
    recalled: Iterable[Recalled] = (), news: Iterable[News] = (), items: Iterable[Item | None] = ()
) -> tuple[int, ...]:
    """All ids in them, in order, each once: retrieved memories, what the news became, what plans rest on."""
    found = [note.id for note in recalled]
    found += [entry.memory_id for entry in news if entry.memory_id]
    found += [memory for item in items if item is not None for memory in item.because]
    return tuple(dict.fromkeys(found))


def narrowed(schema: Schema, shown: Collection[int]) -> Schema:
    """The schema with ids for citing only where a prompt shows them: nobody cites what it has not read."""
    items = schema.get("items")
    if isinstance(items, dict) and "enum" in items and cast(Schema, items)["type"] == "integer":
        return some_of([id for id in cast(Schema, items)["enum"] if id in shown])
    return {key: _narrowed(value, shown) for key, value in schema.items()}


def _narrowed(value: Any, shown: Collection[int]) -> Any:
    if isinstance(value, dict):
        return narrowed(cast(Schema, value), shown)
    return [_narrowed(one, shown) for one in cast(list[Any], value)] if isinstance(value, list) else value
