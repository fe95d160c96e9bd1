"""A stream as a long-term store of LangGraph. Needs the extra `langgraph`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from datetime import datetime, timedelta
from operator import ge, gt, le, lt
from threading import RLock
from typing import Any, cast

from commonplace.adapters.parts import Clock, wall_clock
from commonplace.clock import iso, parse_iso
from commonplace.errors import UsageError, install
from commonplace.memory import Memory, MemoryStream
from commonplace.text import clean

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise UsageError("the LangGraph store needs the package langgraph-checkpoint", hint=install("langgraph")) from error

__all__ = ["StreamStore"]

FORM = "langgraph"
"""The detail that has the item: namespace, key, value, when it was made, and how many minutes it lasts."""
INDEXED = "indexed"
"""The tag of items that questions find."""
_Key = tuple[tuple[str, ...], str]


class StreamStore(BaseStore):
    """Keeps the items of LangGraph's agents as memories of one stream: `place` is the namespace.

    `search` with a query ranks as `MemoryStream.recall` does; an item's `score` is the `relevance` of its memory, 0–1.
    A question finds the strings of a value, or those at the paths of `fields` or of `index`. Without one the items put
    last come first. What has outlived its `ttl` is neither found nor listed; `sweep_ttl` removes it. All operations of
    a `batch` read what was there before any of them wrote. A search reads every item. Any number of threads may use it.
    """

    supports_ttl = True

    def __init__(
        self,
        stream: MemoryStream,
        *,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
        clock: Clock = wall_clock,
    ) -> None:
        """Makes a store of a stream, whose other memories it leaves alone. `ttl`: LangGraph's configuration, of which
        `default_ttl` and `refresh_on_read` are used."""
        self.ttl_config = ttl
        self._stream = stream
        self._fields = fields
        self._clock = clock
        self._guard = RLock()
        self._ids: dict[_Key, list[int]] = {}
        """Those of the memories that have been put under a key, the last of which counts."""
        self._seen = 0

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Does the operations and returns a result for each. Raises UsageError for a value that JSON cannot hold."""
        every = list(ops)
        for op in every:
            validate_op_namespace(op)
        with self._guard:
            now = self._clock()
            self._follow()
            results = [self._read(op, now) for op in every]
            self._put({(op.namespace, op.key): op for op in every if isinstance(op, PutOp)}, now)
            return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As `batch`, in another thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Forgets the items that have outlived their time; returns how many there were."""
        with self._guard:
            self._follow()
            gone = [memory.id for memory in self._stream.search(expired_by=self._clock()) if FORM in memory.details]
            return len(self._stream.forget(gone))

    def _follow(self) -> None:
        """Brings in what other streams have put."""
        self._stream.refresh()
        if self._stream.last_id < self._seen:  # somebody has deleted the stream
            self._ids, self._seen = {}, 0
        for id in range(self._seen + 1, self._stream.last_id + 1):
            if id in self._stream and FORM in (memory := self._stream.get(id)).details:
                self._ids.setdefault(_key(memory), []).append(id)
        self._seen = self._stream.last_id

    def _there(self, now: datetime) -> Iterator[Memory]:
        """Yields the memory of each item that is there, the one put last first."""
        for id in sorted((ids[-1] for ids in self._ids.values()), reverse=True):
            if id in self._stream and _lasts(memory := self._stream.get(id), now):
                yield memory

    def _read(self, op: Op, now: datetime) -> Result:
        match op:
            case GetOp(namespace, key):
                id = self._ids.get((namespace, key), [0])[-1]
                memory = self._stream.get(id) if id in self._stream else None
                found = [memory] if memory and _lasts(memory, now) else []
                self._refresh(found if op.refresh_ttl else (), now)
                return Item(**_fields(found[0])) if found else None
            case SearchOp():
                hits = self._searched(op, now)[op.offset : op.offset + op.limit]
                self._refresh([memory for memory, _ in hits] if op.refresh_ttl else (), now)
                return [SearchItem(**_fields(memory), score=score) for memory, score in hits]
            case ListNamespacesOp(conditions, depth, limit, offset):
                every = {_key(memory)[0] for memory in self._there(now)}
                passed = {one[:depth] for one in every if all(_matches(each, one) for each in conditions or ())}
                return sorted(passed)[offset : offset + limit]
            case PutOp():
                return None
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _searched(self, op: SearchOp, now: datetime) -> list[tuple[Memory, float | None]]:
        """Returns the items that a search finds, best first, with their scores; those that no question finds last."""
        prefix = op.namespace_prefix
        passed = {
            memory.id: memory
            for memory in self._there(now)
            if _key(memory)[0][: len(prefix)] == prefix and _equals(_item(memory)["value"], op.filter or {})
        }
        if not op.query or not clean(op.query) or not passed:
            return [(memory, None) for memory in passed.values()]
        every = self._stream.last_id
        hits = self._stream.recall(op.query, at=now, k=every, touch=False, place=prefix, tags=[INDEXED])
        found: list[tuple[Memory, float | None]] = [
            (passed.pop(hit.memory.id), hit.relevance) for hit in hits if hit.memory.id in passed
        ]
        return found + [(memory, None) for memory in passed.values() if INDEXED not in memory.tags]

    def _put(self, puts: Mapping[_Key, PutOp], now: datetime) -> None:
        """Adds the new values, all or none, and then forgets those of before."""
        before = {key: [id for id in self._ids.get(key, ()) if id in self._stream] for key in puts}
        items = [self._memory(op, before[key], now) for key, op in puts.items() if op.value is not None]
        if items:
            self._stream.add_many(items)
        self._stream.forget([id for ids in before.values() for id in ids])
        for key in puts:
            self._ids.pop(key, None)
        self._follow()

    def _memory(self, op: PutOp, before: Sequence[int], now: datetime) -> dict[str, Any]:
        """Returns a value as an item of `add_many`. `before`: ids of what it takes the place of."""
        value, fields = dict(op.value or {}), self._fields if op.index is None else op.index or ()
        texts = list(_strings(value)) if fields is None else _texts_at(value, fields)
        text = "\n".join(text for text in texts if clean(text))
        alive = [memory for memory in map(self._stream.get, before) if _lasts(memory, now)]
        item = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": value,
            "created_at": _item(alive[-1])["created_at"] if alive else iso(now),
            "minutes": op.ttl,
        }
        return {
            "text": text or f"({op.key})",
            "at": now,
            "place": op.namespace,
            "tags": [INDEXED] if text else [],
            "details": {FORM: item},
            "expires_at": None if op.ttl is None else now + timedelta(minutes=op.ttl),
        }

    def _refresh(self, read: Iterable[Memory], now: datetime) -> None:
        """Lets items that were read last as long as if they had just been put."""
        for memory in read:
            minutes = _item(memory)["minutes"]
            if minutes is not None:
                self._stream.revise(memory.id, expires_at=now + timedelta(minutes=minutes))


def _item(memory: Memory) -> Mapping[str, Any]:
    return memory.details[FORM]


def _key(memory: Memory) -> _Key:
    return tuple(_item(memory)["namespace"]), _item(memory)["key"]


def _lasts(memory: Memory, now: datetime) -> bool:
    return memory.expires_at is None or memory.expires_at > now


def _fields(memory: Memory) -> dict[str, Any]:
    """Returns the arguments of an `Item`."""
    namespace, key = _key(memory)
    made, value = parse_iso(_item(memory)["created_at"]), deepcopy(_item(memory)["value"])
    return {"namespace": namespace, "key": key, "value": value, "created_at": made, "updated_at": memory.created_at}


def _strings(value: Any) -> Iterator[str]:
    """Yields every string in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in cast("Mapping[str, Any]", value).values():
            yield from _strings(one)
    elif isinstance(value, list | tuple):
        for one in cast("Sequence[Any]", value):
            yield from _strings(one)


def _texts_at(value: Mapping[str, Any], paths: Iterable[str]) -> list[str]:
    return [text for path in paths for text in get_text_at_path(value, path if path == "$" else tokenize_path(path))]


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", one) for wanted, one in zip(path, part, strict=True))


_COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def _equals(value: Any, wanted: Any) -> bool:
    """Returns whether a value passes a filter of LangGraph: a value, a mapping of some of its keys, or operators."""
    if isinstance(wanted, Mapping):
        given = cast("Mapping[str, Any]", wanted)
        if any(key.startswith("$") for key in given):
            return all(_compared(value, operator, one) for operator, one in given.items())
        return isinstance(value, Mapping) and all(
            _equals(cast("Mapping[str, Any]", value).get(key), one) for key, one in given.items()
        )
    if isinstance(wanted, list | tuple):
        some, others = cast("Sequence[Any]", wanted), cast("Sequence[Any]", value)
        return isinstance(value, list | tuple) and len(others) == len(some) and all(map(_equals, others, some))
    return value == wanted


def _compared(value: Any, operator: str, wanted: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == wanted) == (operator == "$eq")
    if operator not in _COMPARED:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return _COMPARED[operator](float(value), float(wanted))
    except (TypeError, ValueError):  # what is no number is neither more nor less
        return False
