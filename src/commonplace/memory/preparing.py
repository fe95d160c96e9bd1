"""From a text, its fields or a message of a chat to a memory, checked, rated and embedded.

A part that fails costs its result and never the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import get_close_matches
from logging import getLogger
from typing import Any, NamedTuple, cast

from commonplace.clock import parse_iso
from commonplace.errors import UsageError
from commonplace.memory.embedding import Embedder, Vector
from commonplace.memory.importance import shared_rater
from commonplace.memory.record import (
    EXPIRES,
    QUOTES,
    TRUTH,
    VALID_FROM,
    VALID_UNTIL,
    Memory,
    MemoryFields,
    Rater,
    checked_embedding,
    checked_vector,
    new_memory,
)
from commonplace.text import clean

FIELDS = frozenset(MemoryFields.__optional_keys__) | {"text", "at"}
"""Keys of an item that has the arguments of `remember`."""
MESSAGE = frozenset({"role", "content", "name", "created_at", "timestamp"})
"""Keys of a message that become fields; any others are kept in its details."""
FULL, HISTORY, EMBEDDING_ERROR, RATING_ERROR = "full_text", "history", "embedding_error", "rating_error"
FACTS_ERROR, FACTS_DROPPED = "facts_error", "facts_dropped"
"""Why a memory has no facts yet; how many of those that were found in it quote words that it does not have."""
KEPT_DETAILS = (FULL, HISTORY, EMBEDDING_ERROR, RATING_ERROR, QUOTES, FACTS_ERROR, FACTS_DROPPED, *sorted(TRUTH))
"""Details that the stream itself keeps."""


class Item(NamedTuple):
    """One memory to add."""

    text: str
    at: datetime
    fields: MemoryFields


class Prepared(NamedTuple):
    """A memory that is checked and rated, and its vector if it was given."""

    memory: Memory
    vector: Vector | None
    cites: tuple[int, ...] | None = None
    """Of an imported one: the places, among those that are added with it, of what it cites."""
    supersedes: tuple[int, ...] = ()
    """The places, among those that are added with it, of what it supersedes."""
    quotes: int | None = None
    """Of an imported fact: the place, among those that are added with it, of what it quotes."""


def prepared(
    item: Item,
    *,
    id: int,
    agent: str,
    embedder: Embedder,
    rater: Rater,
    language: str,
    found: Callable[[int], Memory | None],
) -> Prepared:
    """Returns the memory of an item. A rater that raises leaves the rating to the rules. Raises UsageError as
    `remember`."""
    text, at, fields = item
    vector = checked_embedding(fields.get("embedding"), embedder)
    failed: dict[str, str] = {}

    def rate(text: str) -> float:
        try:
            return rater(text)
        except Exception as error:
            failed[RATING_ERROR] = failure(agent, "rater", error)
            return shared_rater(language)(text)

    memory = new_memory(text, at, fields, id=id, agent=agent, rater=rate, found=found)
    return Prepared(flagged(memory, failed) if failed else memory, vector)


def embedded(agent: str, embedder: Embedder, texts: Sequence[str]) -> tuple[list[Vector | None], str]:
    """Returns (a vector per text, "") or, where the embedder fails, (None for each, how it failed)."""
    try:
        return vectors_of(embedder, texts), ""
    except Exception as error:
        return [None] * len(texts), failure(agent, "embedder", error)


def vectors_of(embedder: Embedder, texts: Sequence[str]) -> list[Vector | None]:
    """Returns a vector per text. Raises whatever the embedder raises, and ValueError for another number of vectors."""
    if not texts:
        return []
    made = [checked_vector(vector) for vector in embedder.embed(texts)]
    if len(made) != len(texts):
        raise ValueError(f"{len(made)} vectors for {len(texts)} texts")
    return made


def flagged(memory: Memory, details: Mapping[str, Any]) -> Memory:
    """Returns the memory with more details."""
    return replace(memory, details={**memory.details, **details})


def replaced(before: Mapping[str, Any], details: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns new details of a memory, with what the stream keeps in the old ones, and when it expires."""
    kept = {name: before[name] for name in KEPT_DETAILS if name in before}
    lasts = {EXPIRES: before[EXPIRES]} if EXPIRES in before else {}
    return {**lasts, **details, **kept}


def mended(memory: Memory) -> Memory:
    """Returns the memory without the detail that its embedder failed."""
    return replace(memory, details={name: one for name, one in memory.details.items() if name != EMBEDDING_ERROR})


def failure(agent: str, what: str, error: Exception) -> str:
    """Returns what went wrong, in a line, which is logged as well."""
    said = f"{type(error).__name__}: {error}"[:200]
    getLogger("commonplace.memory").warning("the %s of %s failed (%s); the memory is kept", what, agent, said)
    return said


# ── what `MemoryStream.add_many` accepts ─────────────────────────────────────────────────────────────────────────────


def items_of(given: Iterable[Any], at: datetime | None, *, system: bool) -> list[Item]:
    """Returns the items, checked for their form. Raises UsageError that names the position of the first that is wrong.

    `at`: the time of those that have none. `system`: whether messages of the role `system` count. Items without
    content are skipped.
    """
    if isinstance(given, str | Mapping):
        raise UsageError("the items are not a list", hint='give a list: ["…", …] or [{"role": "user", "content": "…"}]')
    found: list[Item] = []
    for position, one in enumerate(given):
        try:
            item = _item(one, at, system=system)
        except UsageError as error:
            raise located(error, position) from error
        if item is not None:
            found.append(item)
    return found


def located(error: UsageError, position: int) -> UsageError:
    """Returns the error, with the position of the item (0 is the first)."""
    return UsageError(f"item {position}: {error.what}", hint=error.hint)


def _item(one: Any, at: datetime | None, *, system: bool) -> Item | None:
    if isinstance(one, str):
        return _made(one, at, {})
    if not isinstance(one, Mapping) or not all(isinstance(key, str) for key in cast("Mapping[Any, Any]", one)):
        raise UsageError(f"{one!r:.60} is not an item", hint="give a text, a mapping with `text`, or a chat message")
    item = dict(cast("Mapping[str, Any]", one))
    if "role" in item or "content" in item:
        if item.get("role") in ("system", "developer") and not system:
            return None
        return _message(item, at)
    if unknown := item.keys() - FIELDS:
        raise UsageError(f"unknown field {min(unknown)!r}", hint=f"the fields are {', '.join(sorted(FIELDS))}")
    if "text" not in item:
        raise UsageError("it has no text", hint="give `text`, or `role` and `content`")
    return _made(item.pop("text"), item.pop("at", None) or at, item)


def _message(message: dict[str, Any], at: datetime | None) -> Item | None:
    role, name = message.get("role", ""), message.get("name") or ""
    for what, value in (("role", role), ("name", name)):
        if not isinstance(value, str):
            raise UsageError(f"{what} {value!r:.60} is not a string", hint="give a string")
    wrong = [key for key in ("text", *get_close_matches("content", message)) if key in message]
    if wrong and "content" not in message:
        raise UsageError(f"a message has no {wrong[0]!r}", hint="what was said is its `content`")
    moment = next((message[key] for key in ("created_at", "timestamp") if message.get(key) is not None), None)
    details = {key: value for key, value in message.items() if key not in MESSAGE and key not in TRUTH}
    fields: dict[str, Any] = {"source": name or role, "details": {"role": role, **details}}
    fields |= {key: message[key] for key in TRUTH if key in message}
    return _made(_content(message.get("content")), at if moment is None else _moment(moment), fields)


def _content(content: Any) -> str:
    """Returns the text of a message; of a list of parts, the text of those that have one."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, Sequence):
        raise UsageError(f"content {content!r:.60} is not a text", hint="give a string or a list of parts")
    texts: list[str] = []
    for part in cast("Sequence[Any]", content):
        text: Any = cast("Mapping[str, Any]", part).get("text") if isinstance(part, Mapping) else part
        if text is None:  # an image, a file, the call of a tool
            continue
        if not isinstance(text, str):
            raise UsageError(f"content has a part {part!r:.60}", hint="give strings or mappings with a `text`")
        texts.append(text)
    return "\n".join(text for text in texts if text)


def _made(text: Any, at: datetime | None, fields: Any) -> Item | None:
    if not isinstance(text, str):
        raise UsageError(f"text {text!r:.60} is not a string", hint="give a string")
    if not clean(text):
        return None
    if at is None:
        raise UsageError("it has no time", hint="give `at` for all of them, or a time in each")
    fields |= {name: _moment(fields[name]) for name in (VALID_FROM, VALID_UNTIL) if fields.get(name) is not None}
    return Item(text, _moment(at), fields)


def _moment(value: Any) -> datetime:
    """Returns a datetime, ISO text, or seconds since 1970."""
    if isinstance(value, datetime):
        return value
    try:
        if isinstance(value, str):
            return parse_iso(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise UsageError(f"time {value!r:.60} is not a time", hint="give a datetime, ISO text or seconds since 1970")
