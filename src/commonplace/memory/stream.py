"""The memory stream of one character."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from logging import getLogger
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self, TypeVar, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.memory.analyser import Analyser, analyser_of, shared_analyser
from commonplace.memory.blocks import Blocks
from commonplace.memory.columns import micros
from commonplace.memory.columns import moment as utc_of
from commonplace.memory.draft import Delta
from commonplace.memory.embedding import (
    NOT_EMBEDDED,
    UNNAMED,
    Embedder,
    Embeds,
    Vector,
    as_embedder,
    default_embedder,
    is_pure,
    warned,
)
from commonplace.memory.explain import explain
from commonplace.memory.facts import (
    BEFORE,
    CHANGED,
    FACT,
    NEAR,
    NOT_YET,
    Extracted,
    FindsFacts,
    fact_items,
    flagged_again,
    flags_of,
    grouped,
)
from commonplace.memory.importance import shared_rater
from commonplace.memory.policies import Policy, compares_vectors
from commonplace.memory.preparing import (
    EMBEDDING_ERROR,
    FACTS_ERROR,
    FULL,
    HISTORY,
    Item,
    Prepared,
    embedded,
    failure,
    flagged,
    items_of,
    located,
    mended,
    prepared,
    replaced,
    vectors_of,
)
from commonplace.memory.reader import Reader, Snapshot
from commonplace.memory.record import (
    QUOTES,
    SUPERSEDES,
    Emotion,
    Memory,
    MemoryFields,
    Rater,
    checked_citations,
    checked_count,
    checked_embedding,
    checked_emotion,
    checked_ids,
    checked_importance,
    checked_kind,
    checked_mapping,
    checked_names,
    checked_policy,
    checked_string,
    checked_text,
    checked_time,
    checked_truth,
    with_expiry,
)
from commonplace.memory.records import StoredRows
from commonplace.memory.reflection import after, since_reflection
from commonplace.memory.restatements import Restatements, linked, topic_words
from commonplace.memory.retrieval import Retrieval, RetrievalQuery, retrieve
from commonplace.memory.scoring import ScoredMemory
from commonplace.memory.search import Filters
from commonplace.memory.segments import read_segments
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.memory.stores.keeper import (
    Keeper,
    Progress,
    index_made_with,
    make_vectors,
    refuse_other_embedder,
    settings_of,
)
from commonplace.memory.stores.opening import open_store
from commonplace.memory.stores.store import (
    ARCHIVED,
    FORGOTTEN,
    Add,
    Archive,
    Configure,
    Forget,
    Indexed,
    Mark,
    Overtaken,
    Restore,
    Revise,
    Store,
    Stored,
    Touch,
    Writer,
    checked_agent,
    fold,
)
from commonplace.memory.table import MemoryTable, PackedTable, View
from commonplace.memory.threads import in_thread, locked
from commonplace.memory.truth import Truth
from commonplace.text import NotebookText

Result = TypeVar("Result")


class Change(NamedTuple):
    """What was done to memories of a stream, and is in its store."""

    agent: str
    what: Literal["added", "revised", "forgotten", "archived", "restored"]
    memories: tuple[Memory, ...]
    """As they are now; those forgotten as they were."""


OnChange = Callable[[Change], object]
_MOVED: Mapping[type, Literal["forgotten", "archived", "restored"]] = {
    Forget: "forgotten",
    Archive: "archived",
    Restore: "restored",
}

UNMADE = "unmade"
"""The setting of a character some of whose memories a model has not embedded, because no policy has read vectors."""

_AWAKE: deque[ref[MemoryStream]] = deque()
"""The streams of stores whose tables are not packed, the one woken first in front. A short stream that nobody uses thus
takes a twentieth of the RAM; its next question makes the indexes again, which takes a millisecond or two."""
_MOST_AWAKE, _SHORT = 32, 64
"""How many short streams stay awake, and how many memories they have at most."""

_AKIN = replace(policies.LEXICAL, name="akin", recency_weight=0.0, importance_weight=0.0, k=200)
"""How memories are found that a new one may supersede."""
_LEAST = 1e-6
"""How relevant these are at least: they have a word in common."""


def _named(embedder: Embedder | Embeds, where: str) -> Embedder:
    """Returns an embedder for a store. Raises UsageError for a plain function, whose vectors nobody could tell from
    others."""
    found = as_embedder(embedder)
    if found.name == UNNAMED:
        hint = 'give FunctionEmbedder(function, "the name of its model"), from commonplace.memory'
        raise UsageError("a plain function has no name to store with its vectors", where=where, hint=hint)
    return found


_PLAIN: Mapping[str, Callable[[Any], Any]] = {
    "tags": partial(checked_names, "tags"),
    "importance": checked_importance,
    "kind": checked_kind,
    "place": partial(checked_names, "place"),
    "source": partial(checked_string, "source"),
    "emotion": checked_emotion,
}
"""Fields that `revise` replaces, and how a new value is checked."""


class MemoryStream(Reader):
    """Everything one character remembers, in RAM; `open` adds a store that keeps it.

    `embedder` is an `Embedder`, or a function from texts to vectors. `rater` is any callable from a text to an
    importance of 1–10. `restatements` finds the earlier memories that a new one supersedes, such as
    `RestatementRules()`; None for only those that a call names. `facts` finds facts in what is remembered, such as
    `FactsByMind("ollama:qwen3:4b")`; None for no facts. Any number of threads may use a stream.
    """

    live = True

    def __init__(
        self,
        agent: str,
        policy: Policy = policies.RECALL,
        *,
        embedder: Embedder | Embeds | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
        restatements: Restatements | None = None,
        facts: FindsFacts | None = None,
        on_change: OnChange | None = None,
    ) -> None:
        analyser = analyser or shared_analyser()
        self.agent = agent
        self.restatements = restatements
        self.facts = facts
        self.policy = checked_policy(policy)
        embedder = as_embedder(embedder or default_embedder())
        parts = embedder, rater or shared_rater(analyser.language), analyser
        self._table: MemoryTable | PackedTable = MemoryTable(agent, *parts, compares_vectors(policy, embedder))
        self.guard = self._table.guard
        self._since = 0.0  # importance since the last reflection
        self._missing: dict[int, bool] = {}
        """Those without a vector: True where the embedder failed, False where a model has not made it yet, because no
        policy has read it."""
        self._keeper: Keeper | None = None
        self.on_change = on_change
        """Called after a change is stored, or None. See docs/memory.md."""
        self._untold: list[Change] = []
        self._settings: Mapping[str, Any] = {}
        """Those that a store would keep, of a stream without one."""

    @property
    def blocks(self) -> Blocks:
        """Small texts that an assistant is always shown."""
        return Blocks(self)

    @property
    def table(self) -> MemoryTable:
        """For this package: what the stream, its draft and its snapshots share."""
        table = self._table
        return table if isinstance(table, MemoryTable) else self._woken()

    @locked
    def _woken(self) -> MemoryTable:
        table = self._table
        if isinstance(table, PackedTable):
            table = self._table = table.unpacked()
            self._stay_awake()
        return table

    def _stay_awake(self) -> None:
        """Packs the table of the stream that was woken first, if there are too many awake."""
        _AWAKE.append(ref(self))
        if len(_AWAKE) > _MOST_AWAKE:
            first = _AWAKE.popleft()
            other = first()
            if other is self or (other is not None and not other._packs()):
                _AWAKE.append(first)

    def _packs(self) -> bool:
        """Packs the table until the next call, if it is short; returns False while somebody uses it."""
        if not self.guard.acquire(blocking=False):
            return False
        try:
            if isinstance(table := self._table, MemoryTable) and table.length <= _SHORT:
                if table.writer is not None:
                    return False
                self._table = table.packed() or table
            return True
        finally:
            self.guard.release()

    @classmethod
    def open(
        cls,
        where: str | Path | Store,
        agent: str,
        policy: Policy = policies.RECALL,
        *,
        embedder: Embedder | Embeds | None = None,
        rater: Rater | None = None,
        analyser: Analyser | None = None,
        restatements: Restatements | None = None,
        facts: FindsFacts | None = None,
        reembed: bool = False,
        progress: Progress | None = None,
        on_change: OnChange | None = None,
    ) -> Self:
        """Opens a character's stream in a store: a path or URL that `open_store` accepts, or an open store.

        When `remember`, `forget`, `archive`, `unarchive`, `revise` or `apply` returns, the store has the change;
        accesses are written with the next of them, by `flush` and by `close`. Close the stream, or use it in a `with`
        statement; a store that was given open stays open. `analyser`: None for the one the stream was made with.
        `facts` and `restatements` are as of `MemoryStream`. `on_change` is called with each `Change` of memories once
        it is stored. `reembed`: if another embedder made the vectors, make them again, reporting to `progress`.
        Raises UsageError if another embedder made them and `reembed` is False, and for a store that cannot be used;
        CommonplaceError for a damaged one.
        """
        store = open_store(where) if isinstance(where, str | Path) else where
        own = store is not where
        try:
            embedder = _named(embedder or default_embedder(), store.where)
            parts: dict[str, Any] = {"policy": policy, "embedder": embedder, "rater": rater, "analyser": analyser}
            parts |= {"restatements": restatements, "facts": facts}
            stream = None if reembed else cls._of_index(store, agent, parts, own=own)
            if stream is None:
                writer = Writer(store, agent)
                stored = writer.stored
                parts["analyser"] = analyser = analyser or analyser_of(stored.settings)
                if reembed and stored.memories:
                    make_vectors(writer, embedder, analyser, progress)
                refuse_other_embedder(stored.settings, embedder, store.where)
                gone: dict[str, Any] = {"forgotten": stored.forgotten, "archived": stored.archived}
                stream = cls.restore(agent, stored.memories, stored.vectors, **gone, **parts)
                keeper = stream._keep_in(store, writer.mark, stored.settings, own=own)
                if keeper.made_with.get(UNMADE):
                    stream._note_missing(stored.memories)
                keeper.changed = len(stored.memories)
        except BaseException:
            if own:
                store.close()
            raise
        stream.on_change = on_change
        return stream

    @classmethod
    def _of_index(cls, store: Store, agent: str, parts: dict[str, Any], *, own: bool) -> Self | None:
        """Opens a stream with the index that a store keeps beside its rows; None if that is of no use."""
        if not hasattr(store, "index") or (index := cast(Indexed, store).index(checked_agent(agent))) is None:
            return None
        refuse_other_embedder(index.settings, parts["embedder"], store.where)
        parts["analyser"] = parts["analyser"] or analyser_of(index.settings)
        stream = cls(agent, **parts)
        if index.made_with != index_made_with(stream.table):
            return None
        try:
            segments = read_segments(index.files, index.last_id)
            stream.table.adopt(segments)
        except (OSError, MemoryError, *UNREADABLE):
            return None
        keeper = stream._keep_in(store, index.mark, index.settings, own=own)
        keeper.files = list(index.files)
        if keeper.made_with.get(UNMADE) and not is_pure(stream.table.embedder):
            stream._missing = dict.fromkeys(stream.table.without_vectors(), False)
        stream._missing |= dict.fromkeys(segments[-1].arrays["failed"].tolist(), True)
        stream._since = since_reflection(stream._view())
        stream._bring_in()
        return stream

    def _keep_in(self, store: Store, mark: Mark, settings: Mapping[str, Any], *, own: bool) -> Keeper:
        """Links a stream that has what the store held at a mark with it."""
        self.table.eager = self.table.eager or getattr(store, "compares", False)
        made_with = settings_of(self.table.embedder, self.table.analyser)
        if settings.get(UNMADE) or self._skips:
            made_with = {**made_with, UNMADE: True}
        self._keeper = Keeper(store, self.agent, mark, settings, made_with, own=own)
        self._stay_awake()
        return self._keeper

    @classmethod
    def restore(
        cls,
        agent: str,
        memories: Sequence[Memory],
        vectors: Sequence[Vector | None],
        *,
        accesses: Mapping[int, datetime] | None = None,
        forgotten: Iterable[int] = (),
        archived: Iterable[int] = (),
        **parts: Any,
    ) -> Self:
        """Makes a stream from stored memories: all of them in the order of their ids, forgotten ones included.

        `vectors`: one per memory, as `vector` returned it. `accesses`: id → last access, where `accessed_at` is older.
        `forgotten`, `archived`: ids. `parts`: the arguments of `MemoryStream`. Raises UsageError unless ids are
        1, 2, 3 …
        """
        stream = cls(agent, **parts)
        for expected, memory in enumerate(memories, start=1):
            if memory.id != expected:
                what = f"memory {memory.id} is out of place; expected memory {expected}"
                raise UsageError(what, hint="give all memories, ordered by id")
        if len(vectors) != len(memories):
            what = f"there are {len(vectors)} vectors for {len(memories)} memories"
            raise UsageError(what, hint="give a vector or None for each")
        stream.table.extend(memories, vectors)
        stream._missing = {memory.id: True for memory in memories if EMBEDDING_ERROR in memory.details}
        for id, at in (accesses or {}).items():
            stream.table.touch([id], at)
        return stream._without(forgotten, archived)

    @classmethod
    def load(cls, agent: str, rows: StoredRows, *, forgotten: Iterable[int] = (), **parts: Any) -> Self:
        """Makes a stream from stored columns, as `restore` does from memories. None becomes an object until it is read.

        `forgotten`, `parts`: as of `restore`.
        """
        stream = cls(agent, **parts)
        stream.table.load(rows)
        return stream._without(forgotten)

    def _without(self, forgotten: Iterable[int], archived: Iterable[int] = ()) -> Self:
        """Returns the stream that was just filled, without what is gone."""
        for ids, state in ((forgotten, FORGOTTEN), (archived, ARCHIVED)):
            if gone := self._known(ids):
                self.table.move(gone, state)
        self._since = since_reflection(self._view())
        return self

    def remember(
        self,
        text: str,
        *,
        at: datetime | None = None,
        importance: float | None = None,
        kind: str = "observation",
        place: Sequence[str] = (),
        citations: Sequence[int] = (),
        embedding: Sequence[float] | Vector | None = None,
        tick: int = 0,
        emotion: Emotion | None = None,
        source: str = "",
        session: str = "",
        tags: Sequence[str] = (),
        event: str = "",
        details: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        supersedes: Sequence[int] = (),
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        expires_at: datetime | None = None,
    ) -> Memory:
        """Adds a memory and returns it with its id; it can be retrieved at once.

        `text` is cleaned; one longer than 2,000 characters is cut, and kept whole in `details["full_text"]`. `at`: now,
        by the clock of this machine, if None. `metadata` becomes part of `details`, in which tuples become lists.
        `importance` is clamped to 1–10, or rated if None. `supersedes`: ids of earlier memories that are no longer true
        since this one is; without any, those that the stream's `restatements` find. `valid_from`, `valid_until`: when
        it is true, if that is not from now on for good. `expires_at`: questions of this time and later do not recall
        the memory; it is kept in `details["expires_at"]`. Raises UsageError for an empty text, an importance that is
        not a number, an embedding of another size than the embedder's or with NaN or infinity in it, details that JSON
        cannot hold, an unknown kind, an observation or action with citations, a reflection without citations,
        citations of memories that do not exist, superseded ones that do not exist or are not older, and a `valid_until`
        before `valid_from`.

        An embedder that raises an exception costs the vector and not the memory, whose details then have an
        `embedding_error`: see `unembedded` and `reembed`. One whose rater raises is rated by the rules, and has a
        `rating_error`. Both are logged as warnings of `commonplace.memory`.
        """
        fields = MemoryFields(
            importance=importance,
            kind=kind,
            place=place,
            citations=citations,
            embedding=embedding,
            tick=tick,
            emotion=emotion,
            source=source,
            session=session,
            tags=tags,
            event=event,
            details=details,
            metadata=metadata,
            supersedes=supersedes,
            valid_from=valid_from,
            valid_until=valid_until,
            expires_at=expires_at,
        )
        return self._remembered([self._made(Item(text, self._moment(at), fields))], self.restatements)[0]

    def add_many(
        self,
        items: Iterable[str | Mapping[str, Any]],
        *,
        at: datetime | None = None,
        system: bool = False,
        restatements: Restatements | None = None,
    ) -> list[Memory]:
        """Adds a conversation or another list and returns its memories; all of it is stored or nothing.

        An item is a text, a mapping of `text` and the arguments of `remember`, or a chat message:
        `{"role", "content", "name"?, "created_at" or "timestamp"?}`, whose `content` may be a list of parts. `at`: the
        time of items that have none. A message's `source` is its name or role. Messages of the role `system` are left
        out unless `system` is True, and so are items without content. All are embedded at once. `restatements`: None
        for the stream's. Raises UsageError that names the position (0 is the first) of the first item that is wrong,
        before anything is added.
        """
        made: list[Prepared] = []
        for position, item in enumerate(items_of(items, at, system=system)):
            try:
                made.append(self._made(item))
            except UsageError as error:
                raise located(error, position) from error
        return self._remembered(made, restatements or self.restatements) if made else []

    def _remembered(self, made: list[Prepared], restatements: Restatements | None) -> list[Memory]:
        """Adds the memories, and then the facts in them, if somebody finds any."""
        if self.facts is None:
            return self._add(made, restatements)
        asked = [one.memory.kind == "observation" and QUOTES not in one.memory.details for one in made]
        memories = self._add(
            [
                one._replace(memory=flagged(one.memory, {FACTS_ERROR: NOT_YET})) if wanted else one
                for one, wanted in zip(made, asked, strict=True)
            ],
            restatements,
        )
        asking = [memory for memory, wanted in zip(memories, asked, strict=True) if wanted]
        self._extract(self.facts, asking, restatements)
        return [self._found_by_id(memory.id) or memory for memory in memories]

    @property
    @locked
    def unextracted(self) -> tuple[int, ...]:
        """Ids of the memories in which facts could not be looked for, or whose text has changed since. `extract` asks
        again."""
        return tuple(memory.id for memory in self if FACTS_ERROR in memory.details)

    def facts_of(self, ids: Iterable[int]) -> list[Memory]:
        """Returns the facts that were made of these memories, oldest first."""
        return self.search(tags=(FACT,), details={f"{QUOTES}.id": list(checked_ids(ids))})[::-1]

    def extract(self, ids: Iterable[int] | None = None) -> Extracted:
        """Makes the facts of memories: of those in `unextracted`, or of those given. What was made of them before is
        forgotten.

        What `facts` raises costs the facts and nothing else, and is logged. Raises UsageError for a stream without
        `facts`, and as `get`.
        """
        if self.facts is None:
            raise UsageError(f"the stream of {self.agent} finds no facts", hint='give it facts=FactsByMind("…")')
        wanted = self.unextracted if ids is None else sorted(checked_ids(ids))
        before = self.facts_of(wanted)
        found = self._extract(self.facts, [self.get(id) for id in wanted], self.restatements)
        self.forget([fact.id for fact in before if fact.quotes and fact.quotes.id not in found.failed])
        return found

    def _extract(self, finds: FindsFacts, sources: Sequence[Memory], restatements: Restatements | None) -> Extracted:
        """Adds the facts of these memories. Only the adding is under the lock: a mind may take seconds."""
        added, lost, failed = list[Memory](), 0, list[int]()
        for some in grouped(sources):
            ids = [memory.id for memory in some]
            try:
                items, dropped = fact_items(finds(some, self._before(some[0])), some)
                made = [self._made(item) for item in items]
            except Exception as error:
                flags = {FACTS_ERROR: failure(self.agent, "facts", error)}
                self._again(partial(self._flag, dict.fromkeys(ids, flags)))
                failed += ids
                continue
            facts = self._add(made, restatements) if made else []
            texts = {memory.id: memory.full_text for memory in some}
            gone = list[int]()
            for fact in facts:  # somebody may have forgotten or revised its source meanwhile
                source = self._found_by_id(fact.quotes.id) if fact.quotes else None
                if source is None or source.full_text != texts[source.id]:
                    gone.append(fact.id)
            self.forget(gone)
            self._again(partial(self._flag, {id: flags_of(dropped[id]) for id in ids}))
            added += [fact for fact in facts if fact.id not in gone]
            lost += dropped.total()
        return Extracted(added, lost, tuple(failed))

    def _before(self, first: Memory) -> list[Memory]:
        """Returns what was said shortly before a memory, to those who find facts in it."""
        near = (self._found_by_id(id) for id in range(max(1, first.id - 8 * BEFORE), first.id))
        return [
            one
            for one in near
            if one is not None
            and one.quotes is None
            and one.session == first.session
            and timedelta() <= first.created_at - one.created_at <= NEAR
        ][-BEFORE:]

    def _flag(self, flags: Mapping[int, Mapping[str, Any]]) -> None:
        """Says of memories what has become of their facts."""
        there = [memory for id in flags if (memory := self._found_by_id(id)) is not None]
        told = [replace(memory, details=flagged_again(memory, flags[memory.id])) for memory in there]
        if changed := [memory for memory, before in zip(told, there, strict=True) if memory != before]:
            self._write(Revise(changed, None))

    @locked
    def _akin(self, memory: Memory) -> list[Memory]:
        """Returns memories that may be about the same and are still true, the most similar first, and the latest. For
        a fact, what its source supersedes is still true: the fact may supersede it, too."""
        view, text = self._view(), f"{memory.text} {topic_words(memory.text)}"
        latest = next(self._latest(), None)
        source = memory.quotes.id if memory.quotes else 0
        superseded = Truth(view, memory.created_at).superseded
        exclude = frozenset(old for old, by in superseded.items() if by != [source])
        query = RetrievalQuery(text, memory.created_at, _AKIN, _AKIN.k, "", None, exclude, None, _LEAST, Filters())
        found = list(retrieve(view, query).found)
        if latest and latest.created_at <= memory.created_at and latest.id not in exclude:
            found.append(latest)
        return found

    @property
    @locked
    def unembedded(self) -> tuple[int, ...]:
        """Ids of the memories whose embedder failed, and of those that a model has not embedded yet because no policy
        has read their vectors. `reembed` makes them."""
        return tuple(id for id in sorted(self._missing) if id in self.table)

    def reembed(self, batch: int = 256) -> int:
        """Makes the vectors that are missing, `batch` texts at a time, and returns how many it made.

        These are those of the memories in `unembedded`. Raises what the embedder raises; what it made before stays.
        """
        return self._embed(self.unembedded, batch)

    def _embed(self, wanted: Sequence[int], batch: int = 256) -> int:
        """Embeds these memories, as `reembed`. Only what is quick is under the lock."""
        count = 0
        for first in range(0, len(wanted), checked_count("batch", batch, 1)):
            some = wanted[first : first + batch]
            memories = [memory for id in some if (memory := self._found_by_id(id)) is not None]
            vectors = vectors_of(self.table.embedder, [memory.text for memory in memories])
            count += self._again(partial(self._say, memories, vectors))
        return count

    def _say(self, memories: Sequence[Memory], vectors: Sequence[Vector | None]) -> int:
        """Gives those of the memories that still say the same their vectors; how many there are."""
        there = [
            (before, vector)
            for memory, vector in zip(memories, vectors, strict=True)
            if memory.id in self and (before := self.get(memory.id)).text == memory.text
        ]
        before = [memory for memory, _ in there]
        self._write(Revise([mended(memory) for memory in before], [vector for _, vector in there]))
        for memory in before:
            self._missing.pop(memory.id, None)
        return sum(vector is not None for _, vector in there)

    def _embedded(self, texts: Sequence[str], policy: Policy) -> Mapping[str, tuple[Vector | None, str]]:
        if self._missing and any(texts) and compares_vectors(policy, self.table.embedder):
            try:
                self._embed(sorted(id for id, failed in self._missing.copy().items() if not failed))
            except Exception as error:
                return dict.fromkeys(texts, (NOT_EMBEDDED, warned(error)))
        return super()._embedded(texts, policy)

    @property
    def _skips(self) -> bool:
        """Whether memories are added without the vectors that a model would make."""
        return not self.table.eager and not is_pure(self.table.embedder)

    def _note_missing(self, memories: Iterable[Memory]) -> None:
        """Notes which of these memories have no vector yet."""
        table = self.table
        waits = not is_pure(table.embedder) and (self._skips or UNMADE in self.settings)
        for memory in memories:
            failed = EMBEDDING_ERROR in memory.details
            if failed or (waits and not table.has_vector(memory.id - 1)):
                self._missing[memory.id] = failed
            else:
                self._missing.pop(memory.id, None)

    def _made(self, item: Item) -> Prepared:
        """Returns the memory, checked and rated. Outside the lock: a rater may take seconds."""
        table = self.table
        return prepared(
            item,
            id=table.committed + 1,
            agent=self.agent,
            embedder=table.embedder,
            rater=table.rater,
            language=table.analyser.language,
            found=self._found_by_id,
        )

    def _add(self, made: list[Prepared], restatements: Restatements | None = None) -> list[Memory]:
        """Links the memories with what they restate, embeds them and adds them, all or none. Only the adding is under
        the lock: a model may take seconds."""
        if restatements is not None:
            made = linked(made, self.last_id + 1, restatements, self._akin)
        vectors: list[Vector | None] = [one.vector for one in made]
        missing = [place for place, vector in enumerate(vectors) if vector is None and self.table.eager]
        texts = [made[place].memory.text for place in missing]
        found, failed = embedded(self.agent, self.table.embedder, texts)
        for place, vector in zip(missing, found, strict=True):
            vectors[place] = vector
            if failed:
                made[place] = made[place]._replace(memory=flagged(made[place].memory, {EMBEDDING_ERROR: failed}))
        return self._again(lambda: self._append(made, vectors))

    def _again(self, change: Callable[[], Result]) -> Result:
        """Returns what `change` returns, which changes the store and then the stream, and tells `on_change`. Where
        another stream of this character was quicker, what that one did is brought in before the change is made
        again."""
        with self.guard:
            while True:
                try:
                    result = change()
                    break
                except Overtaken:
                    self._bring_in()
            untold, self._untold = self._untold, []
        for one in untold:
            try:
                if self.on_change is not None:
                    self.on_change(one)
            except Exception:
                getLogger("commonplace.memory").exception("on_change of %s failed; the change is stored", self.agent)
        return result

    def _note(self, what: Literal["added", "revised", "forgotten", "archived", "restored"], ids: Iterable[int]) -> None:
        """Notes a change for `on_change`, which is told when the lock is free."""
        if self.on_change is not None:
            self._untold.append(Change(self.agent, what, tuple(self._view().memory(id - 1) for id in ids)))

    def _append(self, made: Sequence[Prepared], vectors: Sequence[Vector | None]) -> list[Memory]:
        """Adds memories under the next ids."""
        self.table.cut()
        first = self.table.committed + 1
        memories = [self._numbered(one, first, place) for place, one in enumerate(made)]
        for memory, vector in zip(memories, vectors, strict=True):
            self.table.append(memory, vector)
        self._commit(memories)
        return memories

    def _numbered(self, one: Prepared, first: int, place: int) -> Memory:
        """Returns the memory under the id that is the next by now, and what it cites still there. Raises UsageError."""
        memory, id = one.memory, first + place
        if one.supersedes:
            ids = sorted({*memory.supersedes, *(first + other for other in one.supersedes)})
            memory = flagged(memory, {SUPERSEDES: ids})
        if one.quotes is not None:
            memory = flagged(memory, {QUOTES: {**memory.details[QUOTES], "id": first + one.quotes}})
        if one.cites is not None:
            return replace(memory, id=id, citations=tuple(first + other for other in one.cites))
        checked_citations(memory.kind, memory.citations, self.table.__contains__)
        return memory if memory.id == id else replace(memory, id=id)

    def _write(self, operation: Revise | Forget | Archive | Restore) -> None:
        """Does it in the store and here, which closes an open draft."""
        self.table.cut()
        if self._keeper is not None:
            self._keeper.write(operation)
        fold((operation,), self.table)
        self._since = since_reflection(self._view())

    def forget(
        self, ids: Iterable[int] | None = None, *, where: Filters | None = None, dry_run: bool = False
    ) -> tuple[int, ...]:
        """Removes memories for good; returns the ids that were still there. Ids are never used again.

        `where`: filters of `search` instead of ids; what is archived does not pass them. `dry_run`: returns the ids and
        removes nothing.

        From then on the stream scores as if the memories had never existed. A Chroma store keeps their text in a log of
        its own for a while (docs/stores.md). Raises UsageError for an id that was never used, and unless there are
        either ids or at least one filter.
        """
        wanted = None if ids is None else checked_ids(ids)
        return self._again(lambda: self._moved(self._meant(wanted, where), Forget, dry_run=dry_run))

    def archive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Archives memories until `unarchive`; returns the ids that existed.

        An archived memory is neither retrieved nor found. Raises UsageError for an id that was never used.
        """
        wanted = checked_ids(ids)
        return self._again(lambda: self._moved(wanted, Archive))

    def unarchive(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Restores archived memories; returns the ids that were archived. Raises UsageError as `archive`."""
        wanted = checked_ids(ids)
        return self._again(lambda: self._moved(wanted, Restore))

    def _meant(self, ids: Iterable[int] | None, where: Filters | None) -> tuple[int, ...]:
        """Returns the ids that a call gives, or those that `search` finds by its filters. Raises UsageError unless it
        gives one of the two, and for no filter at all, which would mean everything."""
        if (ids is None) == (where is None):
            raise UsageError("it is not clear which memories are meant", hint="give either ids or where")
        if where is None:
            return checked_ids(ids or ())
        if not any(value is not None for value in where.values()):
            raise UsageError("where has no filter", hint="give a filter of `search`; `delete` removes everything")
        return tuple(memory.id for memory in self.search(**where))

    def _moved(
        self, ids: Iterable[int], how: type[Forget | Archive | Restore], *, dry_run: bool = False
    ) -> tuple[int, ...]:
        """Moves those of the memories that can be moved so, in the store and here; their ids, ascending."""
        table, wanted = self.table, self._known(ids)
        there = tuple(
            id for id in wanted if (how is not Restore and id in table) or (how is not Archive and id in table.archived)
        )
        if there and not dry_run:
            self._write(how(there))
            self._note(_MOVED[how], there)
        return there

    @property
    @locked
    def archived(self) -> tuple[Memory, ...]:
        """The archived memories, oldest first."""
        view = self._view()
        return tuple(view.memory(id - 1) for id in sorted(self.table.archived))

    def revise(
        self,
        id: int,
        *,
        text: str | None = None,
        tags: Sequence[str] | None = None,
        importance: float | None = None,
        details: Mapping[str, Any] | None = None,
        kind: str | None = None,
        place: Sequence[str] | None = None,
        source: str | None = None,
        emotion: Emotion | None = None,
        expires_at: datetime | None = None,
        at: datetime | None = None,
        supersedes: Sequence[int] | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
    ) -> Memory:
        """Changes fields of a memory, also what it supersedes and when it is true, and returns it. Its time, session,
        event and citations stay.

        None leaves a field unchanged; `details` replace the old ones, but a memory still expires unless they have an
        `expires_at`, which may be None. The text and tags of before are kept: see
        `history`. `at`: when they changed; None for the time of the latest memory. A new text is embedded, as in
        `remember`. Raises UsageError as `get` and `remember`.
        """
        given: dict[str, Any] = {
            "tags": tags, "importance": importance, "kind": kind, "place": place, "source": source, "emotion": emotion
        }  # fmt: skip
        plain = {name: _PLAIN[name](value) for name, value in given.items() if value is not None}
        links = MemoryFields(valid_from=valid_from, valid_until=valid_until)
        if supersedes is not None:
            links["supersedes"] = supersedes
        shown, whole = (None, "") if text is None else checked_text(text)
        vector, failed = None, ""
        if shown is not None and self.table.eager:
            (vector,), failed = embedded(self.agent, self.table.embedder, [shown])

        def older(other: int) -> Memory | None:
            return self._found_by_id(other) if other < id else None

        def change() -> Memory:
            before = self.get(id)
            memory = replace(before, **plain)
            checked_citations(memory.kind, memory.citations, lambda _: True)
            if details is not None:
                memory = replace(memory, details=replaced(memory.details, checked_mapping("details", details)))
            if expires_at is not None:
                memory = replace(memory, details=with_expiry(memory.details, expires_at))
            if truth := checked_truth(memory.created_at, links, older, memory.details):
                memory = replace(memory, details={**memory.details, **truth})
            if shown is not None:
                found = {name: value for name, value in memory.details.items() if name not in (FULL, EMBEDDING_ERROR)}
                if self.facts is not None and memory.kind == "observation" and memory.quotes is None:
                    found[FACTS_ERROR] = CHANGED
                if len(whole) > len(shown):
                    found[FULL] = whole
                if failed:
                    found[EMBEDDING_ERROR] = failed
                memory = replace(memory, text=shown, details=found)
            if memory.full_text != before.full_text or memory.tags != before.tags:
                moment = iso(utc_of(self.table.latest) if at is None else checked_time(at))
                past = {"text": before.full_text, "tags": list(before.tags), "until": moment}
                memory = replace(memory, details={**memory.details, HISTORY: [*before.details.get(HISTORY, ()), past]})
            self._write(Revise([memory], None if shown is None else [vector]))
            if shown is not None:
                self._note_missing([memory])
            self._note("revised", [id])
            return memory

        return self._again(change)

    @property
    @locked
    def settings(self) -> Mapping[str, Any]:
        """For this package: what is kept of the stream besides its memories."""
        return self._settings if self._keeper is None else self._keeper.settings

    def configure(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """For this package: replaces the settings by what `change` makes of them."""

        def write() -> None:
            if self._keeper is None:
                self._settings = change(self._settings)
            else:
                self._keeper.configure(change(self._keeper.settings))

        self._again(write)

    @locked
    def refresh(self) -> int:
        """Brings in what other streams and processes have added, changed and forgotten in the store since.

        Returns how many memories are new. Closes an open draft. Raises UsageError if another embedder has made the
        vectors since.
        """
        if self._keeper is None:
            return 0
        new = self._bring_in()
        while self._keeper.accesses:
            try:
                self._keeper.write()
            except Overtaken:
                new += self._bring_in()
        return new

    def _bring_in(self) -> int:
        """Follows what others have done in the store; returns how many memories are new."""
        keeper, table = self._keeper, self.table
        assert keeper is not None
        table.cut()
        log = keeper.news()
        configured = [one.settings for one in log.operations if isinstance(one, Configure)]
        settings = [{} if log.whole else keeper.settings, *configured][-1]
        refuse_other_embedder(settings, table.embedder, keeper.store.where)
        keeper.mark, keeper.settings = log.mark, settings
        if log.whole:
            stored = Stored(agent=self.agent)
            fold(log.operations, stored)
            return self._become(stored)
        before = table.committed
        fold(log.operations, table)
        told = [memory for one in log.operations if isinstance(one, Add | Revise) for memory in one.memories]
        self._note_missing(told)
        if told:
            self._since = since_reflection(self._view())
        fold((Touch(keeper.accesses),), table)  # they are written later than what others have written
        return sum(id in table or id in table.archived for id in range(before + 1, table.committed + 1))

    def history(self, id: int) -> list[Mapping[str, Any]]:
        """Returns what the memory said before it was revised, oldest first: mappings of `text`, `tags` and `until` (ISO
        time).

        It is `details["history"]`. Raises UsageError as `get`.
        """
        return list(self.get(id).details.get(HISTORY, ()))

    def apply(self, delta: Delta) -> None:
        """Adds what a draft added, and touches what it touched. Raises UsageError if the stream has changed since."""
        self._again(lambda: self._apply(delta))

    def _apply(self, delta: Delta) -> None:
        table = self.table
        if delta.base != table.committed:
            raise UsageError(
                f"the delta was made at memory {delta.base}, but the stream of {self.agent} is at {table.committed}",
                hint="apply deltas in the order their drafts were made",
            )
        # the rows of the draft are still there, unless another reader or process applies its delta
        pending = table.records(delta.base)
        if len(pending) != len(delta.memories) or any(a is not b for a, b in zip(pending, delta.memories, strict=True)):
            table.cut()
            for memory, vector in zip(delta.memories, delta.vectors, strict=True):
                table.append(memory, vector)
        self._commit(delta.memories)
        if delta.touched and delta.touched_at is not None:
            self._touch(delta.touched, delta.touched_at)

    @locked
    def explain(self, hits: Iterable[ScoredMemory]) -> NotebookText:
        """Returns a table of the hits with every part of every score, and which of them are superseded by now."""
        hits = hits if isinstance(hits, Retrieval) else list(hits)
        truth = Truth(self._view(), hits.at if isinstance(hits, Retrieval) else utc_of(self.table.latest))
        return explain(hits, {hit.memory.id: note for hit in hits if (note := truth.note(hit.memory.id))})

    @locked
    def snapshot(
        self, length: int | None = None, accessed: Sequence[datetime] | NDArray[np.int64] | None = None
    ) -> Snapshot:
        """Returns the stream as it is now, or as it was with `length` memories, last accessed at these times.

        `accessed`: moments, or microseconds since the year 1. Raises UsageError for more memories than there are, and
        unless each has an access time.
        """
        length = self.last_id if length is None else length
        if accessed is None:
            times = self.table.accessed[:length].copy()
        elif isinstance(accessed, np.ndarray):
            times = accessed
        else:
            times = np.array([micros(checked_time(at)) for at in accessed], dtype=np.int64)
        if not 0 <= length == len(times) <= self.last_id:
            raise UsageError(
                f"a snapshot cannot have {length} memories and {len(times)} access times",
                hint=f"give up to {self.last_id} memories and an access time for each",
            )
        return Snapshot(self.table, length, times, self.policy)

    @locked
    def importance_since_reflection(self) -> float:
        """Returns the sum of the importance of observations and actions after the last reflection."""
        return self._since

    @locked
    def weights(self) -> dict[str, float]:
        """Returns every text remembered, with the importance it was first given."""
        table, found = self.table, dict[str, float]()
        alive = np.flatnonzero(table.alive[: table.committed])
        _, first = np.unique(table.saying[alive], return_index=True)
        for row in np.sort(alive[first]).tolist():
            found.setdefault(table.sayings.texts[int(table.saying[row])], float(table.importance[row]))
        return found

    @locked
    def flush(self) -> None:
        """Writes the latest accesses to the store, which keeps the index of a long stream beside it."""
        if self._keeper is not None:
            if self._keeper.accesses:
                self._again(self._keeper.write)
            table = self._table
            if isinstance(table, MemoryTable) and table.length == table.committed:  # and no draft is open
                self._keeper.keep(table, sorted(id for id, failed in self._missing.items() if failed))

    @locked
    def close(self) -> None:
        """Flushes, and closes the store if the stream opened it. May be called twice."""
        if self._keeper is not None:
            try:
                self.flush()
            finally:
                self._keeper.close()

    def _commit(self, memories: Sequence[Memory]) -> None:
        """Makes the rows behind the committed ones, which hold these memories, part of the store and the stream."""
        if self._keeper is not None and memories:
            vectors = [self.table.given_vector(memory.id - 1) for memory in memories]
            try:
                self._keeper.write(Add(memories, vectors))
            except BaseException:
                self.table.cut()
                raise
        self.table.commit()
        for memory in memories:
            self._since = after(self._since, memory)
        self._note("added", [memory.id for memory in memories])
        self._note_missing(memories)

    def _known(self, ids: Iterable[int]) -> list[int]:
        """Returns the ids in ascending order, each once. Raises UsageError for one that was never used."""
        wanted = sorted(checked_ids(ids))
        for id in wanted:
            if not 1 <= id <= self.last_id:
                raise UsageError(f"there is no memory {id}", hint=f"ids go from 1 to {self.last_id}")
        return wanted

    def _touch(self, ids: Sequence[int], at: datetime) -> None:
        self.table.touch(ids, at)
        if self._keeper is not None:
            self._keeper.touch(ids, at)

    def _touched(self, found: Retrieval) -> None:
        self.table.cut()
        self._touch(found.ids, found.at)

    @locked
    def export(self, path: str | Path, *, vectors: bool = True) -> int:
        """Writes all memories, archived ones included, and the core blocks to a file of JSON lines; returns how many
        memories.

        A line has the fields of `Memory`, `archived` if it is, and with `vectors` its `embedding` and the name of its
        `embedder`; the first one has the core blocks, too. An existing file is replaced, whole or not at all.
        """
        from commonplace.memory import portable  # noqa: PLC0415 - start-up: it needs more than a stream does

        return portable.write(path, self._view(), self.blocks.kept(), vectors=vectors)

    def import_(self, path: str | Path) -> list[Memory]:
        """Adds the memories of a file that `export` has written, or one like it, and returns them.

        They get new ids, and their citations follow; what they cite that is not in the file before them is kept in
        `details["source_citations"]`. Vectors of another embedder are made again. Of core blocks, those are added whose
        names the stream does not have. All memories are added or none: raises
        UsageError that names the first line that is not a memory, CommonplaceError for a file that cannot be read.
        """
        from commonplace.memory import portable  # noqa: PLC0415 - as in `export`

        made, archived, blocks = portable.read(path, self.table.embedder.name, self._made)
        memories = self._add(made) if made else []
        self.archive([memories[place].id for place in archived])
        self.blocks.take(blocks)
        return memories

    def delete(self) -> int:
        """Deletes everything of the character from the store, its name too; returns how many memories it had.

        The stream is empty then, and begins with memory 1 again.
        """
        return self._again(self._delete)

    def _delete(self) -> int:
        ids = sorted({memory.id for memory in self} | self.table.archived)
        self._note("forgotten", ids)
        count, self._settings = len(ids) if self._keeper is None else self._keeper.delete(), {}
        self._become(Stored())
        return count

    def _become(self, stored: Stored) -> int:
        """Takes all that a store holds in the place of what was here; returns how many memories are new."""
        table, keeper = self.table, self._keeper
        table.cut()
        known = {(memory.id, memory.created_at) for some in (self, self.archived) for memory in some}
        parts: dict[str, Any] = {"embedder": table.embedder, "rater": table.rater, "analyser": table.analyser}
        self._table = MemoryTable(self.agent, **parts, eager=table.eager, guard=self.guard)
        self.table.extend(stored.memories, stored.vectors)
        self._missing = {}
        self._note_missing(stored.memories)
        self._without(stored.forgotten, stored.archived)
        now = {(memory.id, memory.created_at) for some in (self, self.archived) for memory in some}
        if keeper is not None:
            same = {id for id, _ in known & now}
            keeper.accesses = {id: at for id, at in keeper.accesses.items() if id in same}
            fold((Touch(keeper.accesses),), self.table)
        return len(now - known)

    aremember = in_thread(remember)
    aadd_many = in_thread(add_many)
    aforget = in_thread(forget)
    aextract = in_thread(extract)

    def _view(self) -> View:
        table = self.table
        return View(table, table.committed)

    def _moment(self, at: datetime | None) -> datetime:
        """Returns the time of a call: now, if there is none. Runs ask drafts and snapshots, which refuse that: no
        clock reaches a history."""
        return datetime.now(UTC) if at is None else checked_time(at)

    def _vector(self, given: Vector | None) -> Vector | None:
        return given if given is NOT_EMBEDDED else checked_embedding(given, self.table.embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
