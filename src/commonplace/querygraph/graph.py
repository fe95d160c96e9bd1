"""The graph of questions: asked, answered, rated, linked and, where there is no more room, forgotten.

How a question travels: `keys` says whether it is known, `embedding` makes its vector, an index of `search` names the
questions that may be near, and the columns of `tables` hold what is kept. All else is arithmetic on those columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np

from commonplace.canon import canonical
from commonplace.errors import UsageError
from commonplace.graphml import graphml
from commonplace.querygraph import snapshots
from commonplace.querygraph.arguments import count, finite, string
from commonplace.querygraph.budgets import Budgeted, NoRoom
from commonplace.querygraph.config import GraphConfig
from commonplace.querygraph.embedding import Embedder, HashedNgrams, Vector, vector_of
from commonplace.querygraph.entities import AliasIndex
from commonplace.querygraph.keys import canonical_key, hashed, normalised
from commonplace.querygraph.search import ExactScan, Index, InvertedIndex, Needed, Slots, Vectors
from commonplace.querygraph.tables import (
    ANSWER,
    EDGE_TYPES,
    ENDS,
    ENTITY,
    FEEDBACK,
    HAS_FEEDBACK,
    NODE_TYPES,
    QUERY,
    REFERS,
    RESPONDED,
    SIMILAR,
    Edge,
    EdgeType,
    Node,
    NodeType,
    Tables,
)
from commonplace.text import clean
from commonplace.whole_file import written_whole

Label = Literal["up", "down", "retry"]
LABELS: dict[Label, float] = {"up": 1.0, "down": -1.0, "retry": -0.5}
"""Label → what it adds to the feedback weight."""

Clock = Callable[[], datetime]

_STEPS = 4096
"""Feedback is kept in such parts of 1, so that the order in which it comes cannot change a sum."""
_REACHED = 64
"""Similar questions that feedback spreads to with each hop, the nearest first."""
_START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Hit:
    """A question that was found."""

    id: str
    score: float
    """(1 − rank_weight)·similarity + rank_weight·rank."""
    similarity: float
    """The cosine with what was asked, 0–1."""
    rank: float
    text: str
    canonical_key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that was found."""

    id: str
    query: str
    """The id of the question it was given to."""
    text: str
    score: float
    similarity: float
    """Of its question with what was asked; 1 where the answers of one question were asked for."""
    feedback: float
    """How it was received: ups minus downs minus half the retries."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The nodes and edges that went with a question."""

    nodes: tuple[Node, ...]
    """The question, then its answers, feedback and entities."""
    edges: tuple[Edge, ...]
    """All that led from or to one of the nodes, the oldest first."""


@dataclass(frozen=True, slots=True)
class Stats:
    """The size of a graph."""

    nodes: int
    edges: int
    by_type: dict[NodeType, int]


def wall_clock() -> datetime:
    """Returns the current time."""
    return datetime.now(UTC)


class QueryGraph(Budgeted):
    """Questions, their answers, how those were received, and the entities they name.

    Safe to use from several threads. What is read is never changed by reading: only asking, answering, rating and
    linking count as use. Where a node is named that is not there, because it was never made, was deleted or evicted,
    UsageError is raised.
    """

    def __init__(
        self,
        config: GraphConfig | None = None,
        *,
        embedder: Embedder | None = None,
        clock: Clock = wall_clock,
        index: Callable[[Vectors], Index] | None = None,
    ) -> None:
        """`clock` gives the time (naive: UTC). `index` replaces the index that the settings choose."""
        config = config or GraphConfig()
        self.embedder: Embedder = embedder or HashedNgrams()
        self._clock = clock
        self._lock = RLock()
        self._saved: tuple[int, Path] | None = None
        chosen = InvertedIndex if config.enable_inverted_index else ExactScan
        super().__init__(config, self.embedder.dimensions, index or chosen)

    # ── asking and answering ─────────────────────────────────────────────────────────────────────────────────────

    def upsert_query(self, text: str) -> str:
        """Returns the id of the question's node: a known one if the key is the same or the cosine at least `tau_dup`.

        A known question is counted once more. A new one is linked to the `max_links` nearest with a cosine of at
        least `tau_sim`, and to the entities it names.
        """
        text = _checked(text)
        key = canonical_key(text)
        id = query_id(key)
        with self._writing():
            now = self._now()
            if id in self._nodes.rows:
                return self._ask_again(self._nodes.rows[id], now)
            vector = self._embed(text)
            near = self._near(vector, self.config.tau_sim)
            if near and near[0][1] >= self.config.tau_dup:
                return self._ask_again(near[0][0], now)
            return self._nodes.ids[self._ask_first(text, key, vector, near, now)]

    def record_answer(self, query: str, text: str) -> str:
        """Returns the id of the answer's node, linked `responded_with`.

        The same answer to the same question is one node.
        """
        text = _checked(text)
        with self._writing():
            now = self._now()
            asked = self._row(query, "query")
            key = hashed(query, normalised(text))
            id = "a-" + key
            row = self._nodes.rows.get(id)
            if row is None:
                row = self._add(id, ANSWER, text, key, now, keep=(asked,))
            else:
                self._ask_again(row, now)
            self._use(asked, now)
            self._link(asked, RESPONDED, row, 1.0, now)
            return id

    def record_feedback(self, query: str, label: Label, *, answer: str | None = None, note: str | None = None) -> str:
        """Returns the id of the feedback's node. `up` adds 1 to the question's feedback, `down` −1, `retry` −0.5.

        The same goes to the answer where one is named, and, damped by similarity and with each hop, to similar
        questions. The same label with the same note on the same node is one feedback node, counted again.
        """
        if string(label, "the label") not in LABELS:
            raise UsageError(f"the label is {label!r}; expected one of {', '.join(LABELS)}")
        note = "" if note is None else string(note, "the note")
        with self._writing():
            now = self._now()
            asked = self._row(query, "query")
            target = asked if answer is None else self._answer_of(asked, answer)
            key = hashed(self._nodes.ids[target], label, note)
            id = "f-" + key
            row = self._nodes.rows.get(id)
            if row is None:
                row = self._add(id, FEEDBACK, clean(note), key, now, keep=(asked, target), extras=(label,))
            else:
                self._ask_again(row, now)
            self._link(target, HAS_FEEDBACK, row, 1.0, now)
            self._use(asked, now)
            if target != asked:
                self._link(asked, HAS_FEEDBACK, row, 1.0, now)
                self._use(target, now)
                self._weigh(target, feedback=LABELS[label])
            for reached, share in self._reached(asked):
                self._weigh(reached, feedback=round(LABELS[label] * share * _STEPS) / _STEPS)
            return id

    def adjust_weights(self, id: str, *, feedback_delta: float = 0.0, repeat_delta: float = 0.0) -> None:
        """Adds to a node's weights without spreading: for weights that were earned elsewhere."""
        feedback, repeat = finite(feedback_delta, "feedback_delta"), finite(repeat_delta, "repeat_delta")
        with self._writing():
            self._weigh(self._row(id), feedback=feedback, repeat=repeat)

    def link(self, source: str, target: str, type: EdgeType, weight: float = 1.0) -> None:
        """Links two nodes. An edge that is there gains the weight, and its time is refreshed."""
        if string(type, "the type of the edge") not in ENDS:
            raise UsageError(f"the type of the edge is {type!r}; expected one of {', '.join(EDGE_TYPES)}")
        if finite(weight, "the weight") <= 0:
            raise UsageError(f"the weight is {weight}; expected a finite number above 0")
        with self._writing():
            froms, to = ENDS[type]
            rows = self._row(source, *froms), self._row(target, to)
            if rows[0] == rows[1]:
                raise UsageError("an edge from a node to itself", where=source)
            self._link(rows[0], EDGE_TYPES.index(type), rows[1], weight, self._now())

    def upsert_entity(self, name: str, *, aliases: Iterable[str] = (), key: str | None = None) -> str:
        """Returns the id of the entity's node. Questions that name it, or an alias, refer to it.

        Those asked before are linked as if it had been known then. An entity that is known gains the aliases. A name
        counts where a word begins, with or without a particle. `key` says which entity it is, where names are ambiguous
        or change; by default the name does.
        """
        name = _checked(name, "the name")
        if isinstance(aliases, str) or not isinstance(aliases, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"the aliases are {aliases!r}; expected a list of strings")
        names = (name, *(clean(string(alias, "an alias")) for alias in aliases))
        id = "e-" + (canonical_key(name) if key is None else hashed(string(key, "the key")))
        with self._writing():
            now = self._now()
            row = self._nodes.rows.get(id)
            if row is None:
                row = self._add(id, ENTITY, name, id[2:], now)
            else:
                self._ask_again(row, now)
            self._call(row, names)
            return id

    def entities_in(self, text: str) -> dict[str, tuple[str, ...]]:
        """Maps the id of each entity that the text names to its names, as a question would refer to them."""
        with self._reading():
            found = self._entities.named_in(string(text, "the text"))
            return {id: self._nodes.extras[self._nodes.rows[id]] for id in found}

    def know(self, entities: Mapping[str, tuple[str, ...]]) -> None:
        """Takes in entities of another graph, as its `entities_in` gives them."""
        if entities:
            with self._writing():
                now = self._now()
                for id, names in entities.items():
                    row = self._nodes.rows.get(id)
                    self._call(self._add(id, ENTITY, names[0], id[2:], now) if row is None else row, names)

    def pin(self, id: str, pinned: bool = True) -> None:
        """Pins a node, which is then never evicted."""
        with self._writing():
            row = self._row(id)
            self._nodes.pinned[row] = pinned
            self._changed(row)

    def delete_query(self, query: str) -> Removed:
        """Deletes a question with all that nothing else has: its answers, feedback, entities and edges.

        An answer that another question has, an entity that another question names, and a pinned entity stay, and so
        does the feedback that has spread to similar questions. Pinned or not, the question goes.
        """
        with self._writing():
            now = self._now()
            nodes, edges = self._nodes, self._edges
            asked = self._row(query, "query")
            gone = [asked]
            for row in sorted(self._around([asked]), key=lambda row: (nodes.type[row], nodes.serial[row])):
                holders = {int(edges.source[slot]) for slot in nodes.incident[row]} - {row}
                if row != asked and holders.issubset(gone) and not (nodes.type[row] == ENTITY and nodes.pinned[row]):
                    gone.append(row)
            slots = {slot for row in gone for slot in nodes.incident[row]}
            removed = Removed(
                tuple(self._node(row, now) for row in gone),
                tuple(map(self._edge, sorted(slots, key=edges.serial.__getitem__))),
            )
            for row in gone:
                self._remove(row)
            return removed

    # ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────

    def search(self, text: str, k: int = 5) -> list[Hit]:
        """Returns the `k` questions with the best scores, best first; of equals, the oldest.

        There is no minimum similarity.

        Changes nothing.
        """
        k, vector = count(k, "k"), self._embed(_checked(text))
        with self._reading():
            return self._search(vector, k)

    def answers(self, query: str) -> list[Answer]:
        """Returns the answers of a question, the best received first; of equals, the one of higher rank."""
        with self._reading():
            now = self._now()
            rows = self._answers_of(self._row(query, "query"))
            ranks = dict(zip(rows, self._ranks(rows, now), strict=True))
            rows.sort(key=lambda row: (-self._nodes.feedback[row], -ranks[row], self._nodes.serial[row]))
            return [self._answer(row, query, ranks[row], 1.0) for row in rows]

    def best_answers(self, text: str, k: int = 5, *, min_similarity: float = 0.0) -> list[Answer]:
        """Answers that were given to questions like this one, best first.

        An answer's score is similarity·(1 + 0.5·tanh(feedback/5)) of one of the `4·k` nearest questions: how alike the
        questions are, raised or lowered by half at most as the answer was received.
        """
        k, vector = count(k, "k"), self._embed(_checked(text))
        with self._reading():
            found: list[Answer] = []
            for hit in self._search(vector, 4 * k):
                if hit.similarity >= min_similarity:
                    for row in self._answers_of(self._nodes.rows[hit.id]):
                        received = 1 + 0.5 * math.tanh(self._nodes.feedback[row] / 5)
                        found.append(self._answer(row, hit.id, hit.similarity * received, hit.similarity))
            return sorted(found, key=lambda one: -one.score)[:k]

    def node(self, id: str) -> Node:
        """Returns a node by its id."""
        with self._reading():
            return self._node(self._row(id), self._now())

    def nodes(self, type: NodeType | None = None) -> list[Node]:
        """Returns all nodes, or those of a type, the oldest first."""
        if type is not None and type not in NODE_TYPES:
            raise UsageError(f"the type of the nodes is {type!r}; expected one of {', '.join(NODE_TYPES)}")
        with self._reading():
            now = self._now()
            kind = None if type is None else NODE_TYPES.index(type)
            return [self._node(row, now) for row in self._nodes.rows.values() if kind in (None, self._nodes.type[row])]

    def edges(self, id: str | None = None) -> list[Edge]:
        """Returns all edges, or those of a node, the oldest first."""
        with self._reading():
            slots = (
                self._edges.slots().tolist()
                if id is None
                else sorted(self._nodes.incident[self._row(id)], key=self._edges.serial.__getitem__)
            )
            return [self._edge(slot) for slot in slots]

    def __contains__(self, id: object) -> bool:
        with self._reading():
            return id in self._nodes.rows

    def stats(self) -> Stats:
        """Nodes and edges there are."""
        with self._reading():
            counts = np.bincount(self._nodes.type[self._nodes.alive], minlength=len(NODE_TYPES)).tolist()
            by_type = dict(zip(NODE_TYPES, counts, strict=True))
            return Stats(len(self._nodes.rows), self._edges.count, by_type)

    @property
    def last_access(self) -> int:
        """The last use of any node, in microseconds since 1970; 0 for a graph that was never used."""
        with self._reading():
            return int(self._nodes.accessed.max(initial=0))

    # ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def decay(self, half_life: timedelta | None = None) -> None:
        """Makes the passing of time real: halves all weights for every `half_life` since the last use or decay.

        `half_life`: of the weights; by default that of recency. To be called as often as you like: twice is the
        same as once, later.
        """
        if not isinstance(half_life, timedelta | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"half_life is {half_life!r}; expected a timedelta", hint="timedelta(hours=4)")
        life = half_life / timedelta(microseconds=1) if half_life is not None else self._half_life
        if life <= 0:
            raise UsageError(f"half_life is {half_life}; expected more than none")
        with self._writing():
            now = self._now()
            nodes, edges = self._nodes, self._edges
            since = np.maximum(nodes.accessed, self._tables.decayed)
            left = np.exp2(np.maximum(now - since, 0) / -life)
            for row in nodes.rows.values():
                factor = left[row]
                nodes.weigh(row, nodes.repeat[row] * factor, nodes.feedback[row] * factor)
                self._changed(row)
            slots = edges.slots()
            since = np.maximum(edges.accessed[slots], self._tables.decayed)
            edges.weight[slots] *= np.exp2(np.maximum(now - since, 0) / -life)
            for slot in slots.tolist():
                self._linked(slot)
            self._tables.decayed = max(now, self._tables.decayed)

    # ── keeping ──────────────────────────────────────────────────────────────────────────────────────────────────

    def to_snapshot(self, ids: Iterable[str] | None = None) -> dict[str, Any]:
        """Returns the graph as JSON: settings, embedder, nodes with their vectors, edges.

        `ids`: of the questions to take with their answers, their feedback, their entities and the edges among those;
        by default all there is.
        """
        with self._reading():
            rows = None if ids is None else self._around([self._row(id, "query") for id in ids])
            return snapshots.taken(self._tables, self.config, self.embedder, rows)

    @classmethod
    def from_snapshot(
        cls,
        snapshot: dict[str, Any],
        *,
        config: GraphConfig | None = None,
        embedder: Embedder | None = None,
        clock: Clock = wall_clock,
        index: Callable[[Vectors], Index] | None = None,
    ) -> QueryGraph:
        """Returns the graph of a snapshot, with its own settings and embedder unless others are given.

        Vectors of another embedder, and keys of another version, are made again from the texts. Raises
        CommonplaceError for what is not a whole snapshot.
        """
        with snapshots.explained():
            parts = snapshots.read(snapshot)
            graph = QueryGraph(config or parts.config, embedder=embedder or parts.embedder(), clock=clock, index=index)
            graph._hold(snapshots.restored(parts, graph.embedder), graph._now())
            return graph

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Becomes the graph of a snapshot, with the settings, embedder and index of this one; see `from_snapshot`."""
        with snapshots.explained():
            given = snapshots.restored(snapshots.read(snapshot), self.embedder)
        with self._writing():
            for row in list(self._nodes.rows.values()):
                self._remove(row)
            self._hold(given, self._now())
            for row in self._nodes.rows.values():
                self._changed(row)
            for slot in self._edges.slots().tolist():
                self._linked(slot)

    def absorb(self, snapshot: dict[str, Any], *, carry_weights: bool = True) -> list[str]:
        """Takes in the questions of a snapshot with all that belongs to them. Returns their ids here, the best first.

        A question whose key is known, or whose cosine with a known one is at least `tau_dup`, becomes one with it:
        askings, answers, feedback, entities and degrees add up. A negative sum of feedback on a question stays with
        its answers, so that no question that is known here comes to rank lower.
        What there is no room for, because the rest is pinned or was just taken in, is left out. Without
        `carry_weights` each node counts as asked once, and not as rated.
        """
        with snapshots.explained():
            given = snapshots.restored(snapshots.read(snapshot), self.embedder)
        with self._writing():
            now = self._now()
            asked = [row for row in given.nodes.rows.values() if given.nodes.type[row] == QUERY]
            ranks = dict(
                zip(asked, given.nodes.ranks(np.array(asked, dtype=np.intp), now, self._half_life), strict=True)
            )
            asked.sort(key=lambda row: -ranks[row])
            if not carry_weights:
                given.nodes.repeat[:], given.nodes.feedback[:] = 1.0, 0.0
            degrees: dict[int, int] = {}
            found: dict[int, int] = {}
            for row in asked:
                try:
                    found[row] = self._absorb_query(given, row, now, tuple(found.values()), degrees)
                except NoRoom:
                    break
            for kind in (ENTITY, ANSWER, FEEDBACK):
                for slot in given.edges.slots().tolist():
                    if given.nodes.type[given.edges.target[slot]] == kind:
                        self._absorb_end(given, slot, found, now)
            for slot in given.edges.slots().tolist():
                self._absorb_edge(given, slot, found)
            for row, degree in degrees.items():  # what it had there and has not gained here
                missing = max(0, degree - int(self._nodes.degree[row]))
                self._nodes.degree[row] += missing
                self._nodes.carried[row] += missing
                self._changed(row)
            return [self._nodes.ids[found[row]] for row in asked if row in found]

    def save(self, path: str | Path, *, only_if_dirty: bool = True) -> bool:
        """Writes a snapshot file, whole or not at all. Returns whether one was written.

        Nothing is written where the graph is as it was when it was last saved there. The good snapshot that was
        there before stays beside it, as `NAME.previous`.
        """
        target = Path(path)
        with self._reading():
            state = (self._version, target.absolute())
            if only_if_dirty and self._saved == state and target.exists():
                return False
            snapshots.write(snapshots.lines(self._tables, self.config, self.embedder), target)
            self._saved = state
            return True

    def export(self, path: str | Path) -> None:
        """Writes the nodes and edges for other programs, by the ending of the name. Replaces an existing file.

        `.graphml`: for graph editors and networkx. `.jsonl`: a line `{"node": …}` or `{"edge": …}` each, with the
        fields of `Node` and `Edge`. Vectors are left out; `save` keeps everything. Raises UsageError for other endings.
        """
        target = Path(path)
        if target.suffix not in (".graphml", ".jsonl"):
            hint = "end the name in .graphml or .jsonl"
            raise UsageError(f"{target.suffix or 'no ending'} is not a form of export", where=str(path), hint=hint)
        with self._reading():
            nodes, edges = self.nodes(), self.edges()
        with written_whole(target, force=True) as part:
            if target.suffix == ".jsonl":
                rows = [*({"node": asdict(node)} for node in nodes), *({"edge": asdict(edge)} for edge in edges)]
                part.write_bytes(b"".join(canonical(row) + b"\n" for row in rows))
            else:
                part.write_bytes(
                    graphml(
                        ((node.id, _without(asdict(node), "id")) for node in nodes),
                        ((e.source, e.target, _without(asdict(e), "source", "target")) for e in edges),
                        directed=True,
                    )
                )

    def to_networkx(self) -> Any:
        """Returns a `networkx.MultiDiGraph` of the nodes and edges, with the fields of `Node` and `Edge`.

        The key of an edge is its type. Vectors are left out. Raises UsageError if networkx is not installed.
        """
        try:
            graph: Any = import_module("networkx").MultiDiGraph()
        except ImportError as error:
            raise UsageError("networkx is not installed", hint="pip install networkx") from error
        with self._reading():
            nodes, edges = self.nodes(), self.edges()
        graph.add_nodes_from((node.id, _without(asdict(node), "id")) for node in nodes)
        graph.add_edges_from((e.source, e.target, e.type, _without(asdict(e), "source", "target")) for e in edges)
        return graph

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        config: GraphConfig | None = None,
        embedder: Embedder | None = None,
        clock: Clock = wall_clock,
        index: Callable[[Vectors], Index] | None = None,
    ) -> QueryGraph:
        """Returns the graph of a snapshot file; see `from_snapshot`.

        A damaged file is refused; the message says what is wrong and names the good one before it.
        """
        target = Path(path)
        with snapshots.explained(target):
            parts = snapshots.loaded(target)
            graph = QueryGraph(config or parts.config, embedder=embedder or parts.embedder(), clock=clock, index=index)
            graph._hold(snapshots.restored(parts, graph.embedder), graph._now())
        graph._saved = graph._version, target.absolute()
        return graph

    # ── inside: nothing below takes the lock ─────────────────────────────────────────────────────────────────────

    @contextmanager
    def _reading(self) -> Generator[None]:
        with self._lock:
            yield

    @contextmanager
    def _writing(self) -> Generator[None]:
        with self._lock:
            yield

    def _now(self) -> int:
        return micros(self._clock())

    def _embed(self, text: str) -> Vector:
        return vector_of(self.embedder.embed(text), self.embedder.dimensions)

    def _row(self, id: str, *types: NodeType) -> int:
        row = self._nodes.rows.get(string(id, "the id"))
        expected = " or ".join(types) or "node"
        if row is None:
            hint = "it was never made, was deleted, or has been evicted to make room"
            raise UsageError(f"no {expected} {id!r}", hint=hint)
        found = NODE_TYPES[int(self._nodes.type[row])]
        if types and found not in types:
            raise UsageError(f"{id!r} is {_article(found)}; expected {_article(expected)}")
        return row

    def _answer_of(self, asked: int, answer: str) -> int:
        row = self._row(answer, "answer")
        if self._edge_slot(asked, RESPONDED, row) is None:
            raise UsageError(f"{answer!r} is not an answer to {self._nodes.ids[asked]!r}")
        return row

    def _ranks(self, rows: Sequence[int], now: int) -> list[float]:
        return self._nodes.ranks(np.array(rows, dtype=np.intp), now, self._half_life).tolist()

    def _ask_first(
        self, text: str, key: str, vector: Vector, near: list[tuple[int, float]], now: int, *, keep: Sequence[int] = ()
    ) -> int:
        """Adds a new question, links it to what is near it and to the entities it names, and returns its row."""
        serial = self._tables.serial
        row = self._add(query_id(key), QUERY, text, key, now, keep=keep)
        slot = self._tables.vectors.add(row, vector)
        self._nodes.slot[row] = slot
        self._index.add(slot, vector)
        there = [one for one in near if self._nodes.alive[one[0]] and self._nodes.serial[one[0]] <= serial]
        for other, similarity in there[: self.config.max_links]:
            self._link(row, SIMILAR, other, similarity, now)
        for entity in self._entities.named_in(text):
            self._link(row, REFERS, self._nodes.rows[entity], 1.0, now)
        return row

    def _call(self, entity: int, names: tuple[str, ...]) -> None:
        """Adds names to an entity, and links the questions that name it since before."""
        known = self._nodes.extras[entity]
        if added := tuple(dict.fromkeys(name for name in names if name and name not in known)):
            self._nodes.extras[entity] = known + added
            self._entities.add(self._nodes.ids[entity], added)
            self._changed(entity)
            new = AliasIndex()
            new.add(self._nodes.ids[entity], added)
            for row in [row for row in self._nodes.rows.values() if self._nodes.type[row] == QUERY]:
                if new.named_in(self._nodes.texts[row]) and self._edge_slot(row, REFERS, entity) is None:
                    self._link(row, REFERS, entity, 1.0, int(self._nodes.created[row]))

    def _reached(self, row: int) -> list[tuple[int, float]]:
        """Returns (question, share of the feedback) for itself and what `similar_to` leads to, by the best paths."""
        shares = {row: 1.0}
        border = {row: 1.0}
        edges = self._edges
        for _ in range(self.config.spread_hops):
            beyond: dict[int, float] = {}
            for here, share in border.items():
                for slot in self._nodes.incident[here]:
                    if edges.type[slot] == SIMILAR:
                        other = int(edges.source[slot]) + int(edges.target[slot]) - here
                        part = share * self.config.spread_damping * min(1.0, float(edges.weight[slot]))
                        if part > max(shares.get(other, 0.0), beyond.get(other, 0.0)):
                            beyond[other] = part
            nearest = sorted(beyond.items(), key=lambda one: (-one[1], self._nodes.serial[one[0]]))[:_REACHED]
            border = dict(nearest)
            shares.update(border)
        return list(shares.items())

    def _near(self, vector: Vector, floor: float) -> list[tuple[int, float]]:
        """Returns (row, cosine) of all questions with a cosine of `floor` or more, nearest first, then oldest."""
        slots = self._index.candidates(vector, self.config.max_links, lambda _, __: floor)
        cosines = self._tables.vectors.cosines(slots, vector)
        near = cosines >= floor
        rows, cosines = self._tables.vectors.rows(slots[near]), cosines[near]
        order = np.lexsort((self._nodes.serial[rows], -cosines))
        return list(zip(rows[order].tolist(), cosines[order].tolist(), strict=True))

    def _search(self, vector: Vector, k: int) -> list[Hit]:
        nodes, now = self._nodes, self._now()
        share = self.config.rank_weight

        def scored(slots: Slots, cosines: Any) -> tuple[Any, Any, Any]:
            rows = self._tables.vectors.rows(slots)
            ranks = nodes.ranks(rows, now, self._half_life)
            return rows, ranks, (1 - share) * cosines + share * ranks

        slots = self._index.candidates(
            vector, k, self._needed(k, share, lambda slots, cosines: scored(slots, cosines)[2])
        )
        cosines = self._tables.vectors.cosines(slots, vector)
        rows, ranks, scores = scored(slots, cosines)
        if len(scores) > 4 * k:  # sort only those that reach the k-th best
            some = np.flatnonzero(scores >= np.partition(scores, len(scores) - k)[len(scores) - k])
            rows, ranks, scores, cosines = rows[some], ranks[some], scores[some], cosines[some]
        order = np.lexsort((nodes.serial[rows], -scores))[:k]
        columns = (rows[order], scores[order], cosines[order], ranks[order])
        best: list[tuple[int, float, float, float]] = list(zip(*(one.tolist() for one in columns), strict=True))
        return [
            Hit(nodes.ids[row], score, similarity, rank, nodes.texts[row], nodes.keys[row])
            for row, score, similarity, rank in best
        ]

    def _needed(self, k: int, share: float, score: Callable[[Slots, Any], Any]) -> Needed:
        """Returns the cosine with which a question of the highest possible rank beats the k-th best so far."""
        highest = 0.5 + float(self._nodes.earned.max(initial=0.0))

        def needed(slots: Slots, cosines: Any) -> float:
            if len(slots) < k or share == 1:
                return -math.inf
            scores = score(slots, cosines)
            worst = float(np.partition(scores, len(scores) - k)[len(scores) - k])
            return (worst - share * highest) / (1 - share)

        return needed

    def _absorb_query(self, given: Tables, row: int, now: int, keep: tuple[int, ...], degrees: dict[int, int]) -> int:
        """Returns the row here of another graph's question; `degrees` notes the degree it is to have in the end."""
        text, key = given.nodes.texts[row], given.nodes.keys[row]
        repeat, feedback = float(given.nodes.repeat[row]), float(given.nodes.feedback[row])
        here = self._nodes.rows.get(query_id(key))
        vector = given.vectors.vector(int(given.nodes.slot[row]))
        near = [] if here is not None else self._near(vector, self.config.tau_sim)
        if near and near[0][1] >= self.config.tau_dup:
            here = near[0][0]
        if here is None:
            here = self._ask_first(text, key, vector, near, now, keep=keep)
            self._nodes.weigh(here, repeat, feedback)
            self._nodes.created[here] = given.nodes.created[row]
            self._nodes.accessed[here] = given.nodes.accessed[row]
            degrees[here] = int(given.nodes.degree[row])
        else:
            self._weigh(here, repeat=max(0.0, repeat), feedback=max(0.0, feedback))
            degrees[here] = degrees.get(here, int(self._nodes.degree[here])) + int(given.nodes.degree[row])
        self._use(here, int(given.nodes.accessed[row]))
        return here

    def _absorb_end(self, given: Tables, slot: int, found: dict[int, int], now: int) -> None:
        """Finds or makes the entity, answer or feedback that an edge of another graph leads to."""
        source, row = int(given.edges.source[slot]), int(given.edges.target[slot])
        if source not in found or row in found:
            return
        theirs, kind = given.nodes, int(given.nodes.type[row])
        if kind == ENTITY:
            key = theirs.ids[row].removeprefix("e-")
        else:
            said = normalised(theirs.texts[row]) if kind == ANSWER else theirs.texts[row]
            key = hashed(self._nodes.ids[found[source]], *theirs.extras[row], said)
        id = f"{NODE_TYPES[kind][0]}-{key}"
        here = self._nodes.rows.get(id)
        if here is None:
            keep = tuple(found.values())
            try:
                extras = () if kind == ENTITY else theirs.extras[row]
                here = self._add(id, kind, theirs.texts[row], key, now, keep=keep, extras=extras)
            except NoRoom:
                return
            self._nodes.weigh(here, float(theirs.repeat[row]), float(theirs.feedback[row]))
            self._nodes.created[here], self._nodes.accessed[here] = theirs.created[row], theirs.accessed[row]
        else:
            self._weigh(here, repeat=float(theirs.repeat[row]), feedback=float(theirs.feedback[row]))
            self._use(here, int(theirs.accessed[row]))
        if kind == ENTITY:
            self._call(here, theirs.extras[row])
        found[row] = here

    def _absorb_edge(self, given: Tables, slot: int, found: dict[int, int]) -> None:
        source, target = found.get(int(given.edges.source[slot])), found.get(int(given.edges.target[slot]))
        if source is None or target is None or source == target:
            return
        if self._nodes.alive[source] and self._nodes.alive[target]:
            kind, weight = int(given.edges.type[slot]), float(given.edges.weight[slot])
            self._link(source, kind, target, weight, int(given.edges.accessed[slot]))

    def _around(self, queries: list[int]) -> list[int]:
        """Returns the questions, and the answers, feedback and entities that their edges lead to, the oldest first."""
        edges = self._edges
        found = set(queries)
        for kinds in ((RESPONDED, REFERS), (HAS_FEEDBACK,)):
            for row in list(found):
                found |= {int(edges.target[slot]) for slot in self._nodes.incident[row] if edges.type[slot] in kinds}
        return sorted(found, key=self._nodes.serial.__getitem__)

    def _answers_of(self, asked: int) -> list[int]:
        edges = self._edges
        return [int(edges.target[slot]) for slot in self._nodes.incident[asked] if edges.type[slot] == RESPONDED]

    def _answer(self, row: int, query: str, score: float, similarity: float) -> Answer:
        nodes = self._nodes
        return Answer(nodes.ids[row], query, nodes.texts[row], score, similarity, float(nodes.feedback[row]))

    def _node(self, row: int, now: int) -> Node:
        nodes = self._nodes
        return Node(
            id=nodes.ids[row],
            type=NODE_TYPES[int(nodes.type[row])],
            text=nodes.texts[row],
            canonical_key=nodes.keys[row],
            created_at=int(nodes.created[row]),
            last_access=int(nodes.accessed[row]),
            repeat=float(nodes.repeat[row]),
            feedback=float(nodes.feedback[row]),
            degree=int(nodes.degree[row]),
            pinned=bool(nodes.pinned[row]),
            rank=self._ranks([row], now)[0],
        )

    def _edge(self, slot: int) -> Edge:
        edges, ids = self._edges, self._nodes.ids
        source, target = ids[int(edges.source[slot])], ids[int(edges.target[slot])]
        kind = EDGE_TYPES[int(edges.type[slot])]
        return Edge(
            id=f"{source}::{kind}::{target}",
            source=source,
            type=kind,
            target=target,
            weight=float(edges.weight[slot]),
            created_at=int(edges.created[slot]),
            last_access=int(edges.accessed[slot]),
        )


def query_id(key: str) -> str:
    """Returns the id of the question with this canonical key, the same in every graph."""
    return "q-" + key


def micros(moment: datetime) -> int:
    """Microseconds since 1970; a moment without a time zone is one of UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _START) // timedelta(microseconds=1)


def _checked(text: str, name: str = "the text") -> str:
    cleaned = clean(string(text, name))
    if not cleaned:
        raise UsageError(f"{name} is empty", hint="give at least one character")
    return cleaned


def _without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
