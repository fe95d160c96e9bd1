"""All memories of one character, as records and as the columns and indexes that scoring reads.

Row r belongs to memory r + 1. The first `committed` rows are the stream's; the rows behind them are the draft of the
one `writer`, until they are committed or cut off. Rows are only added and cut off at the end, so everything can be read
as of any earlier length: a `View` is a length and the access times of that moment.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.analyser import Analyser
from commonplace.memory.blend import BlendColumns, Lending
from commonplace.memory.bm25 import LexicalIndex
from commonplace.memory.columns import FlagColumn, Indices, RecencyColumn, grown, micros, moment
from commonplace.memory.embedding import UNUSABLE, Embedder, Vector, is_pure
from commonplace.memory.policies import Policy
from commonplace.memory.record import (
    EXPIRES,
    KINDS,
    TRUTH,
    Memory,
    MemoryFields,
    Rater,
    accessed,
    checked_vector,
    new_memory,
    same_but_access,
)
from commonplace.memory.records import PackedRecords, StoredRows
from commonplace.memory.sayings import Sayings
from commonplace.memory.segments import COUNTED, Counts, Segment, apart, in_one_piece, joined
from commonplace.memory.stores.store import ARCHIVED, FORGOTTEN, THERE

if TYPE_CHECKING:
    from commonplace.memory.scoring import Prior

KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}

COLUMNS = ("importance", "kind", "tokens", "created", "accessed", "alive", "saying")
"""The arrays of a `MemoryTable` with a row per memory."""
_NEVER = np.iinfo(np.int64).max
_CHUNK = 2048
"""Memories indexed at once."""
_LATEST = 256
"""Memories that stay objects at least: a reflection reads 100, and for a talk those of a day are looked through."""
_READ = 1024
"""Packed memories that are kept as objects after they were read: the same few are retrieved again and again."""

Priors = dict[Policy, tuple[tuple[int, int], "Prior"]]
"""Policy → (version and length of the table, prior of all that is there)."""


class MemoryTable:
    """The rows of one character and the three parts that turn a text into one: embedder, rater, analyser.

    Columns are valid up to `length`; the room behind is uninitialised. `alive` is replaced, never written in place,
    when a memory is removed: an older reader keeps the array it has.
    """

    def __init__(
        self,
        agent: str,
        embedder: Embedder,
        rater: Rater,
        analyser: Analyser,
        eager: bool = True,
        guard: RLock | None = None,
    ) -> None:
        self.guard = guard or RLock()
        """Held by every method of a stream, draft or snapshot that reads or writes the table."""
        self.agent, self.embedder, self.rater, self.analyser = agent, embedder, rater, analyser
        self.eager = eager
        """Whether a memory is embedded when it is remembered; if not, when its vector is first read."""
        self.committed = 0
        self.latest = 0
        """No memory was created after this, in `micros`."""
        self.writer: object = None
        self._packed = PackedRecords()
        self._latest: list[Memory] = []
        """The rows behind the packed ones."""
        self._read: dict[int, Memory] = {}
        self.importance: NDArray[np.float64] = np.empty(16, dtype=np.float64)
        self.created: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        """In `micros`, as all times here."""
        self.accessed: NDArray[np.int64] = np.empty(16, dtype=np.int64)
        self.kind: NDArray[np.uint8] = np.empty(16, dtype=np.uint8)
        self.alive: NDArray[np.bool_] = np.empty(16, dtype=np.bool_)
        """False for what is forgotten or archived."""
        self.archived: set[int] = set()
        """Ids."""
        self.tokens: NDArray[np.int32] = np.empty(16, dtype=np.int32)
        """Estimated length in a model's prompt."""
        self.expires: NDArray[np.int64] | None = None
        """From when on a memory is not recalled; None while none of them expires."""
        self.saying: NDArray[np.intp] = np.empty(16, dtype=np.intp)
        """Which of `sayings` it is: its text and vector."""
        self.sayings = Sayings(embedder.dimensions, embedder.embed if is_pure(embedder) else None)
        self._sayings_committed = 0
        self.lexical = LexicalIndex()
        """May be shorter than the table until a lexical question is asked: read it through `View.lexical`."""
        self._reworded: dict[int, list[str]] = {}
        """Rows whose text was revised → the terms that the lexical index still has for them."""
        self.recency: dict[float, RecencyColumn] = {}
        self.blend = BlendColumns()
        """May be shorter than the table, too."""
        self.version = 0
        """Changes with every row, access and importance."""
        self.priors: Priors = {}
        self.known_present: tuple[int, Any, Indices | None] | None = None
        """Length and `alive` of the latest view that asked for its rows that are `present`, and these."""
        self._competing: dict[tuple[tuple[str, ...], tuple[str, ...]], FlagColumn] = {}
        self._linked = FlagColumn()
        self._saying: dict[Callable[[str], bool], FlagColumn] = {}
        """By sayings, not by rows."""
        self.kept: Counts | None = None
        """How much of it segments keep; None if a row that they have has changed otherwise than by an access."""

    @property
    def length(self) -> int:
        """How many rows there are, those of an open draft included."""
        return self._packed.size + len(self._latest)

    def __contains__(self, id: int) -> bool:
        """Returns whether there is a memory of this id, neither forgotten nor archived."""
        return 1 <= id <= self.length and bool(self.alive[id - 1])

    def found(self, id: int) -> Memory | None:
        """Returns the memory of this id, as `record` does; None if it does not exist, is forgotten or archived."""
        return self.record(id - 1) if id in self else None

    def record(self, row: int) -> Memory:
        """Returns a memory as it was added or last revised; its last access is in the column `accessed`."""
        if row >= self._packed.size:
            return self._latest[row - self._packed.size]
        memory = self._packed.whole.get(row)
        if memory is not None:
            return memory
        memory = self._read.pop(row, None)
        if memory is None:
            memory = self._unpacked(row)
            if len(self._read) >= _READ:
                del self._read[next(iter(self._read))]
        self._read[row] = memory  # the last, so that those read longest ago go first
        return memory

    def _unpacked(self, row: int) -> Memory:
        tick, event, rare = self._packed.fields(row)
        created = moment(self.created.item(row))
        return Memory(
            row + 1,
            self.agent,
            KINDS[self.kind.item(row)],
            self.sayings.texts[self.saying.item(row)],
            created,
            created,
            tick,
            self.importance.item(row),
            event=event,
            **rare,
        )

    def records_of(self, rows: Sequence[int]) -> list[Memory]:
        """Returns the memories of some rows, as `record` gives them."""
        packed, latest = self._packed.size, self._latest
        return [latest[row - packed] if row >= packed else self.record(row) for row in rows]

    def records(self, start: int = 0) -> list[Memory]:
        """Returns the memories from a row on."""
        if start >= self._packed.size:  # as whatever a draft has added
            return self._latest[start - self._packed.size :]
        return [self.record(row) for row in range(start, self.length)]

    def remember(self, text: str, at: datetime, **fields: Unpack[MemoryFields]) -> Memory:
        """Checks, rates and embeds a memory and adds it as the next row. Raises UsageError and then adds nothing."""
        id = self.length + 1
        vector = checked_vector(fields.get("embedding"))
        memory = new_memory(text, at, fields, id=id, agent=self.agent, rater=self.rater, found=self.found)
        if vector is None and self.eager:
            vector = self.embedder.embed([memory.text])[0]
        self.append(memory, vector)
        return memory

    def append(self, memory: Memory, vector: Vector | None) -> None:
        """Adds a checked memory, whose id must be the next one."""
        row = self.length
        if row == len(self.importance):
            self._reserve(row + 1)
        self._fill(row, memory)
        self.created[row] = created = micros(memory.created_at)
        self.latest = max(self.latest, created)
        same = memory.accessed_at is memory.created_at
        self.accessed[row] = created if same else micros(memory.accessed_at)
        self.alive[row] = True
        self.saying[row] = self.sayings.add(memory.text, vector)
        self.version += 1
        self._latest.append(memory)

    def extend(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> None:
        """Adds many checked memories and commits them: the same as `append` for each, at a tenth of the cost."""
        start, end = self.length, self.length + len(memories)
        if end > len(self.importance):
            self._reserve(end)
        self.importance[start:end] = [memory.importance for memory in memories]
        self.kind[start:end] = [KIND_CODES[memory.kind] for memory in memories]
        self.tokens[start:end] = [estimate_tokens(memory.text) for memory in memories]
        created = [micros(memory.created_at) for memory in memories]
        self.created[start:end] = created
        self.latest = max(self.latest, *created, 0)
        self.accessed[start:end] = [
            since if memory.accessed_at is memory.created_at else micros(memory.accessed_at)
            for memory, since in zip(memories, created, strict=True)
        ]
        self.alive[start:end] = True
        if self.expires is not None or any(EXPIRES in memory.details for memory in memories):
            for row, memory in enumerate(memories, start):
                self._set_expiry(row, memory)
        self.saying[start:end] = self.sayings.extend([memory.text for memory in memories], vectors)
        self.version += 1
        self._latest.extend(memories)
        self.commit()

    def load(self, rows: StoredRows) -> None:
        """Becomes what was stored; there must be no rows before. None of them becomes an object until it is read."""
        end = len(rows.saying)
        self.kind, self.importance, self.created, self.accessed = (
            rows.kinds,
            rows.importance,
            rows.created,
            rows.accessed,
        )
        self.latest = int(self.created.max(initial=0))
        self.alive = np.ones(end, dtype=np.bool_)
        self.saying = self.sayings.extend(rows.texts, rows.vectors)[rows.saying].astype(np.intp)
        tokens = np.array([estimate_tokens(text) for text in rows.texts], dtype=np.int32)
        self.tokens = tokens[rows.saying]
        self._packed.load(rows)
        self.commit()

    def adopt(self, segments: Sequence[Segment]) -> None:
        """Becomes what segments keep; there must be no rows before. Raises ValueError if it cannot."""
        last = segments[-1].arrays
        self.kind, self.tokens, self.created = (joined(segments, name) for name in ("kind", "tokens", "created"))
        self.saying = joined(segments, "saying", np.intp)
        self.accessed, self.importance = last["accessed"].copy(), last["importance"].copy()
        self.alive = last["alive"].astype(np.bool_)
        self.archived = set(last["archived"].tolist())
        if len(last["expires"]):
            self.expires = last["expires"].copy()
        self.latest = int(self.created.max(initial=0))
        exactly = self.sayings.adopt(segments)
        self._packed.adopt(segments)
        if len(last["starts"]):
            self.lexical.adopt(segments)
            self.blend.adopt(segments)
        self.commit()
        self.kept = segments[-1].counts if exactly else None

    def segment(self, failed: Sequence[int]) -> Segment:
        """Returns what is to be kept: what is new since the segments before, or all. There must be no draft.

        `failed`: ids of the memories whose embedder failed.
        """
        since = self.kept or dict.fromkeys(COUNTED, 0)
        arrays, there = self._arrays(since)
        view = View(self, self.committed)
        view.lending()
        columns, labels = view.blend().kept(since, there)
        arrays = {"failed": np.array(failed, dtype=np.int32), **self.lexical.kept(since), **columns, **arrays}
        counts = {
            "rows": self.committed,
            "sayings": len(self.sayings),
            "rests": self._packed.rests,
            "vectors": self.sayings.vectors_ready(),
            "shapes": self.lexical.shapes,
            **{name: since[name] + len(labels[name]) for name in labels},
        }
        return Segment(arrays, since, counts, labels)

    def packed(self) -> PackedTable | None:
        """Returns the table in a tenth of the room, without what can be made again; None if it would not be the same.
        There must be no draft."""
        self._pack(0)
        if self.kept or not (self.sayings.lasts and self._packed.lasts):
            return None
        arrays, _ = self._arrays(dict.fromkeys(COUNTED, 0))
        parts = self.agent, self.embedder, self.rater, self.analyser, self.eager, self.guard
        return PackedTable(parts, in_one_piece(arrays))

    def _arrays(self, since: Counts) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """Returns (the arrays of a segment but for those of words and of a blend; which new rows are not forgotten)."""
        self._pack(0)
        first, size = since["rows"], self.committed
        there = self.alive[first:size].copy()  # or forgotten, and then nothing that it said is kept
        there[[id - 1 - first for id in self.archived if id > first]] = True
        arrays: dict[str, NDArray[Any]] = {
            "kind": self.kind[first:size],
            "tokens": self.tokens[first:size],
            "created": self.created[first:size],
            "saying": self.saying[first:size].astype(np.int32),
            "accessed": self.accessed[:size],
            "importance": self.importance[:size],
            "alive": self.alive[:size].view(np.uint8),
            "expires": np.empty(0, dtype=np.int64) if self.expires is None else self.expires[:size],
            "archived": np.array(sorted(self.archived), dtype=np.int32),
            **self._packed.kept(since, there),
            **self.sayings.kept(since, self.saying[first:size][there]),  # vectors last
        }
        return arrays, there

    def replace(self, memory: Memory) -> None:
        """Replaces the memory of the same id; importance, emotion and details may differ; the text if `say` follows."""
        row = memory.id - 1
        if row < self.lexical.size and row not in self._reworded:
            before = self.record(row)
            if (before.full_text, before.source) != (memory.full_text, memory.source):
                self._reworded[row] = self._terms(row)
        self.version += 1
        self.kept = None
        if row < self._packed.size:
            self._packed.whole[row] = memory
        else:
            self._latest[row - self._packed.size] = memory
        self._linked.put(row, not TRUTH.isdisjoint(memory.details))
        self._fill(row, memory)

    def say(self, memory: Memory, vector: Vector | None) -> None:
        """Gives a committed memory another text or vector, after `replace` has given it its record."""
        row, self.kept = memory.id - 1, None
        self.saying[row] = self.sayings.add(memory.text, vector)
        self.blend.replace(row, memory)
        for policy, flags in self._competing.items():
            flags.put(row, _competes(memory, *policy))
        self.commit()

    def commit(self) -> None:
        """Makes all rows the stream's. No draft is open any more."""
        self.committed = self.length
        self._sayings_committed = len(self.sayings)
        self.writer = None
        if len(self._latest) >= 2 * _LATEST:
            self._pack(_LATEST)

    def _pack(self, left: int) -> None:
        """Packs all memories but so many of the latest."""
        count = len(self._latest) - left
        for memory in self._latest[:count]:
            self._packed.append(memory)
        del self._latest[:count]

    def cut(self, writer: object = None) -> None:
        """Removes the rows that are not committed, without a trace; from now on only `writer` may add."""
        self.writer = writer
        length = self.committed
        if self.length == length:
            return
        while self.lexical.size > length:
            self.lexical.pop(self._terms(self.lexical.size - 1))
        del self._latest[length - self._packed.size :]
        self.version += 1
        self.sayings.truncate(self._sayings_committed)
        for flags in self._saying.values():
            flags.truncate(self._sayings_committed)
        for column in (self.blend, self._linked, *self._competing.values(), *self.recency.values()):
            column.truncate(length)

    def touch(self, ids: Sequence[int], at: datetime) -> None:
        """Sets the last access of the memories to `at` (UTC)."""
        if not ids:
            return
        rows, last = np.array(ids, dtype=np.intp) - 1, max(ids)
        since = micros(at)
        kept = [
            (policy, prior, prior.raw[0][rows])
            for policy, ((version, length), prior) in self.priors.items()
            if version == self.version and last <= length == len(prior.raw[0])
        ]
        self.accessed[rows] = since
        self.version += 1
        for column in self.recency.values():
            column.touch(rows, since)
        for policy, prior, before in kept:
            if any(column.holds(prior.raw[0]) for column in self.recency.values()) and prior.follow(rows, before):
                self.priors[policy] = (self.version, len(prior.raw[0])), prior

    # ── Operations are folded into it (see `commonplace.memory.stores.store`) ────────────────────────────────────────

    @property
    def last_id(self) -> int:
        """The id of the latest memory of the stream."""
        return self.committed

    def states(self, ids: Sequence[int]) -> dict[int, int]:
        """Returns id → state of those that were ever added to the stream."""
        return {
            id: THERE if self.alive[id - 1] else ARCHIVED if id in self.archived else FORGOTTEN
            for id in ids
            if 1 <= id <= self.committed
        }

    def access(self, accesses: Mapping[int, datetime]) -> None:
        """Sets the last accesses of memories."""
        by_moment = defaultdict[datetime, list[int]](list)
        for id, at in accesses.items():
            by_moment[at].append(id)
        for at, ids in by_moment.items():
            self.touch(ids, at)

    def revise(self, memories: Sequence[Memory], vectors: Sequence[Vector | None] | None) -> None:
        """Replaces memories; without vectors, these and the texts are as they were."""
        for place, memory in enumerate(memories):
            now = self.record(memory.id - 1)
            if not same_but_access(memory, now):
                self.replace(memory)
                self.blend.replace(memory.id - 1, memory)
            if vectors is None:
                continue
            vector = vectors[place]
            is_new = vector is not None and not self.has_vector(memory.id - 1)
            if is_new or (memory.text, memory.details) != (now.text, now.details):
                self.say(memory, vector)

    def move(self, ids: Sequence[int], state: int) -> None:
        """Forgets or archives memories, or brings them back; BM25 counts as if what is gone had never existed."""
        back = state == THERE
        changed = [id for id in ids if (id in self) != back]
        self._index_all()
        self.version, self.kept = self.version + 1, None
        self.alive = self.alive.copy()
        self.alive[[id - 1 for id in changed]] = back
        documents = {id - 1: self._terms(id - 1) for id in changed if id <= self.lexical.size}
        self.lexical = (self.lexical.with_again if back else self.lexical.without)(documents)
        (self.archived.update if state == ARCHIVED else self.archived.difference_update)(ids)

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Does nothing: a table has no settings."""

    def words(self) -> LexicalIndex:
        """Returns the lexical index, with the texts as they have been revised since."""
        if self._reworded:
            self._index_all()
        return self.lexical

    def _index_all(self) -> None:
        """Fills the lexical index if there is one: readers of before keep it, and only its copy grows."""
        if self.lexical.size:
            self.index(self.lexical, self.committed, self.alive)
            before, self._reworded = self._reworded, {}
            before = {row: terms for row, terms in before.items() if self.alive[row]}
            if before:
                self.lexical = self.lexical.without(before).with_again({row: self._terms(row) for row in before})

    def vector(self, row: int) -> Vector | None:
        """Returns a copy of the row's vector, None if it has no usable one."""
        return self.sayings.vector(int(self.saying[row]))

    def has_vector(self, row: int) -> bool:
        """Returns whether the memory has a usable vector, or one follows from its text."""
        return self.sayings.state[self.saying[row]] not in UNUSABLE

    def without_vectors(self) -> set[int]:
        """Returns the ids of the memories that have no usable vector, and none that follows from the text."""
        unusable = np.isin(self.sayings.state, [*UNUSABLE])
        return {row + 1 for row in np.flatnonzero(unusable[self.saying[: self.committed]]).tolist()}

    def given_vector(self, row: int) -> Vector | None:
        """Returns the vector to be stored: None for one that follows from the text."""
        return self.sayings.given(int(self.saying[row]))

    def that_say(self, test: Callable[[str], bool], length: int) -> NDArray[np.bool_]:
        """Returns which of the first `length` memories have a text that passes. A text is tested once, whoever asks
        again."""
        flags = self._saying.setdefault(test, FlagColumn())
        for number in range(flags.size, len(self.sayings)):
            flags.append(test(self.sayings.texts[number]))
        return flags.values.take(self.saying[:length])

    def labelled(self, test: Callable[[Any], bool], length: int) -> NDArray[np.bool_]:
        """Returns which of the first `length` memories have labels that pass; the test gets the attributes of
        `Labels`."""
        latest = np.fromiter(map(test, self._latest), dtype=np.bool_, count=len(self._latest))
        return np.concatenate((self._packed.labelled(test), latest))[:length]

    def having(self, name: str, test: Callable[[Any], bool], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Returns which of the first memories, those of `among`, have a rare field of this name that passes.

        The test gets something that has the field as an attribute.
        """
        packed, length = self._packed.size, len(among)
        if length < packed:
            among = np.concatenate((among, np.zeros(packed - length, dtype=np.bool_)))
        each = zip(among[packed:].tolist(), self._latest, strict=False)
        latest = np.array([there and test(memory) for there, memory in each], dtype=np.bool_)
        return np.concatenate((self._packed.having(name, test, among[:packed]), latest))[:length]

    def competing(self, policy: Policy, length: int) -> NDArray[np.bool_]:
        """Returns which of the first `length` memories the policy does not leave out for their tags or words."""
        tags, texts = policy.without_tags, policy.without_words
        flags = self._competing.setdefault((tags, texts), FlagColumn())
        for row in range(flags.size, length):
            flags.append(_competes(self.record(row), tags, texts))
        return flags.values[:length]

    def linked(self, length: int) -> Indices:
        """Returns those of the first `length` rows that may supersede others, or be valid for a time only."""
        for row in range(self._linked.size, length):
            rare = self._packed.rare(row)
            details = self.record(row).details if rare is None else rare.get("details", {})
            self._linked.append(not TRUTH.isdisjoint(details))
        return self._linked.where(length)

    def index(self, lexical: LexicalIndex, length: int, alive: NDArray[np.bool_]) -> None:
        """Adds the rows that `lexical` lacks up to `length`, skipping those that are not alive."""
        if length - lexical.size == 1 and alive[length - 1]:
            lexical.append(self._terms(length - 1))
            return
        while lexical.size < length:
            some = range(lexical.size, min(lexical.size + _CHUNK, length))
            lexical.extend([self._terms(row) if alive[row] else None for row in some])

    def _terms(self, row: int) -> list[str]:
        rare = self._packed.rare(row)  # an object would cost more than all the rest
        if rare is None:
            memory = self.record(row)
            text, source = memory.full_text, memory.source
        else:
            details: Mapping[str, Any] = rare.get("details", {})
            text = details.get("full_text") or self.sayings.texts[int(self.saying[row])]
            source = rare.get("source", "")
        if source and not text.startswith(source):
            text = f"{source} {text}"  # questions name the speaker as often as what was said
        return self.analyser.document(text, moment(int(self.created[row])))

    def _fill(self, row: int, memory: Memory) -> None:
        self.importance[row] = memory.importance
        self.kind[row] = KIND_CODES[memory.kind]
        self.tokens[row] = estimate_tokens(memory.text)
        self._set_expiry(row, memory)

    def _set_expiry(self, row: int, memory: Memory) -> None:
        expires = memory.expires_at
        if expires is not None and self.expires is None:
            self.expires = np.full(len(self.importance), _NEVER)
        if self.expires is not None:
            self.expires[row] = _NEVER if expires is None else micros(expires)

    def _reserve(self, rows: int) -> None:
        for name in COLUMNS:
            setattr(self, name, grown(getattr(self, name), rows))
        if self.expires is not None:
            self.expires = grown(self.expires, rows)


class PackedTable(NamedTuple):
    """A short table that nobody asks, in one piece."""

    parts: tuple[str, Embedder, Rater, Analyser, bool, RLock]
    """The arguments of `MemoryTable`."""
    rows: bytes

    def unpacked(self) -> MemoryTable:
        """Returns the table."""
        table = MemoryTable(*self.parts)
        table.adopt([apart(self.rows)])
        table.kept = None
        return table


class View:
    """The first `length` rows of a table. `accessed` is live for a stream's own view and a copy for a snapshot."""

    __slots__ = ("_lexical", "_recency", "accessed", "alive", "length", "priors", "table")

    def __init__(self, table: MemoryTable, length: int, accessed: NDArray[np.int64] | None = None) -> None:
        self.table = table
        self.length = length
        self.accessed = table.accessed[:length] if accessed is None else accessed
        self.alive = table.alive[:length]
        self._recency = table.recency if accessed is None else dict[float, RecencyColumn]()
        self.priors = table.priors if accessed is None else Priors()
        """Those of the rows that are `present`, and for which version and length."""
        # what is forgotten later is still in this one; a stream's own view asks before anything can be
        self._lexical = None if accessed is None else table.words()

    def recency(self, rate: float) -> RecencyColumn:
        """Returns the recency column of this rate per hour, made when first asked for."""
        column = self._recency.get(rate)
        if column is None:
            column = self._recency[rate] = RecencyColumn(rate)
        return column

    def present(self) -> Indices | None:
        """Returns the rows that are neither forgotten nor archived; None for all. The same array until that changes."""
        known = self.table.known_present
        if known is None or known[0] != self.length or known[1] is not self.alive.base:
            found = None if self.alive.all() else np.flatnonzero(self.alive)
            known = self.table.known_present = self.length, self.alive.base, found
        return known[2]

    def lasting(self, at: int) -> NDArray[np.bool_] | None:
        """Returns which rows have not expired at a time; None for all."""
        if self.table.expires is None:
            return None
        found = self.table.expires[: self.length] > at
        return None if found.all() else found

    def lexical(self) -> LexicalIndex:
        """Returns an index of at least the rows of this view, without those that were forgotten when it was made."""
        if self._lexical is None:
            self._lexical = self.table.words()
        if self._lexical.size < self.length:
            self.table.index(self._lexical, self.length, self.alive)
        return self._lexical

    def blend(self) -> BlendColumns:
        """Returns the columns a blend reads, filled at least for the rows of this view."""
        if self.table.blend.questions.size < self.length:
            self.table.blend.fill(self.table.record, self.length)
        return self.table.blend

    def lending(self) -> Lending:
        """Returns how much neighbours lend, by the texts of this view."""
        return Lending.of(self.lexical(), self.length, self.table.analyser.is_of_date)

    def memory(self, row: int) -> Memory:
        """Returns the memory of a row, `accessed_at` as of this view."""
        memory, since = self.table.record(row), int(self.accessed[row])
        if since == self.table.created[row] and memory.accessed_at is memory.created_at:
            return memory  # never accessed, as most: nothing to copy
        return accessed(memory, moment(since))


def _competes(memory: Memory, without_tags: tuple[str, ...], without_words: tuple[str, ...]) -> bool:
    barred = any(tag in memory.tags for tag in without_tags) or any(text in memory.text for text in without_words)
    return not barred


def estimate_tokens(text: str) -> int:
    """Tokens a language model will see, an upper estimate: one per 4 ASCII characters, one per other character.

    Current tokenisers need 0.5–0.9 for a syllable of Hangul.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    plain = len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + len(text) - plain
