"""The agent memory graph in the names of its document, over `commonplace.querygraph`.

Results are mappings with the document's keys, because `from` is no name in Python. Times are milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, NotRequired, Protocol, TypedDict

from commonplace.errors import UsageError
from commonplace.querygraph import (
    ConversationConfig,
    ConversationMemory,
    Embedder,
    Finalized,
    GraphConfig,
    HashedNgrams,
    QueryGraph,
    Upkeep,
    canonical_key,
)
from commonplace.querygraph.embedding import cosine, vector_of
from commonplace.querygraph.graph import Clock, Label, wall_clock

__all__ = [
    "BaseNode",
    "CheckpointConfig",
    "Edge",
    "EdgeType",
    "EmbeddingProvider",
    "GraphConfig",
    "GraphStore",
    "MemoryOrchestrator",
    "NodeType",
    "OrchestratorConfig",
    "PromotionConfig",
    "Scope",
    "SimpleEmbedding",
    "Upkeep",
    "canonical_key",
    "cosine_sparse",
    "deserialize_sparse",
    "serialize_sparse",
]

NodeType = Literal["query", "answer", "feedback", "entity"]
EdgeType = Literal["similar_to", "responded_with", "has_feedback", "refers_to_entity"]
Scope = Literal["session", "agent"]


class Weights(TypedDict):
    repeat: float
    feedback: float


class BaseNode(TypedDict):
    """A node. `embedding`: the vector of a question, from dimension to value; other nodes have none."""

    id: str
    type: NodeType
    text: str
    canonical_key: str
    embedding: NotRequired[dict[int, float]]
    created_at: float
    last_access: float
    weights: Weights
    degree: int
    pinned: bool


Edge = TypedDict(
    "Edge",
    {
        "id": str,
        "from": str,
        "to": str,
        "type": EdgeType,
        "weight": float,
        "created_at": float,
        "last_access": float,
    },
)


class SimilarQuery(TypedDict):
    """A result of `GraphStore.search_similar_queries`. `sim` is the cosine, 0–1."""

    id: str
    score: float
    sim: float
    text: str
    canonical_key: str


FoundQuery = TypedDict(
    "FoundQuery",
    {"id": str, "score": float, "from": Scope, "text": str, "canonical_key": str},
)
"""What `MemoryOrchestrator.search` finds, and in which graph."""


class EmbeddingProvider(Protocol):
    """Anything that turns a text into numbers: a list, or a mapping from dimension to value.

    A provider that gives mappings says how many `dimensions` there are. `export_state` is optional: all that its
    vectors depend on, as JSON. A store that reads a snapshot of another state makes the vectors again, because the
    stores of an agent share one provider. To go back to the old state, import it first, as with
    `SimpleEmbedding.import_state`.
    """

    def embed(self, text: str) -> Sequence[float] | Mapping[int, float]: ...


class SimpleEmbedding(HashedNgrams):
    """Hashed character n-grams, whose configuration can be taken over from a snapshot."""

    def import_state(self, state: Mapping[str, Any]) -> None:
        """Becomes the embedder of an exported state. Raises UsageError for the state of another embedder."""
        given = HashedNgrams.from_state(state)
        self.__init__(given.ngram_range, given.dimensions, given.seed)


class _Provided:
    """A provider as the query graph asks for it."""

    def __init__(self, provider: EmbeddingProvider) -> None:
        self._provider = provider
        probe = provider.embed("a")
        if isinstance(probe, Mapping) and not isinstance(getattr(provider, "dimensions", None), int):
            raise UsageError(
                "the embedding provider gives mappings and does not say how many dimensions there are",
                hint="give it an attribute `dimensions`",
            )
        self.dimensions: int = provider.dimensions if isinstance(probe, Mapping) else len(probe)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    def embed(self, text: str) -> Sequence[float] | Mapping[int, float]:
        return self._provider.embed(text)

    def export_state(self) -> dict[str, Any]:
        export = getattr(self._provider, "export_state", None)
        return export() if export is not None else {"kind": type(self._provider).__qualname__}


def cosine_sparse(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """Returns the cosine of two sparse vectors; 0 where one of them is empty."""
    dimensions = max((*one, *other), default=0) + 1
    return cosine(vector_of(one, dimensions), vector_of(other, dimensions))


def serialize_sparse(vector: Mapping[int, float]) -> list[list[float]]:
    """Returns `[[i, v], …]` by ascending dimension, as snapshots hold a vector."""
    return vector_of(vector, max(vector, default=0) + 1).pairs()


def deserialize_sparse(pairs: Iterable[Sequence[float]]) -> dict[int, float]:
    """Returns the vector of `[[i, v], …]`."""
    return {int(dim): value for dim, value in pairs}


class GraphStore:
    """One graph of questions, answers, feedback and entities. `clock` gives the time, by default the real one."""

    def __init__(
        self, cfg: GraphConfig | None = None, embedder: EmbeddingProvider | None = None, *, clock: Clock | None = None
    ) -> None:
        self.graph = QueryGraph(cfg, embedder=_embedder(embedder), clock=clock or wall_clock)

    @classmethod
    def over(cls, graph: QueryGraph) -> GraphStore:
        """Returns the store of a graph that exists, such as a `StoredGraph` in SQLite."""
        store = cls.__new__(cls)
        store.graph = graph
        return store

    def upsert_query(self, text: str) -> str:
        """See `QueryGraph.upsert_query`."""
        return self.graph.upsert_query(text)

    def record_feedback(self, q_id: str, label: Label, note: str | None = None) -> str:
        """See `QueryGraph.record_feedback`."""
        return self.graph.record_feedback(q_id, label, note=note)

    def adjust_weights(self, id: str, *, feedback_delta: float = 0.0, repeat_delta: float = 0.0) -> None:
        """See `QueryGraph.adjust_weights`."""
        self.graph.adjust_weights(id, feedback_delta=feedback_delta, repeat_delta=repeat_delta)

    def search_similar_queries(self, text: str, k: int = 5) -> list[SimilarQuery]:
        """Returns the `k` questions with the best scores, best first. Changes nothing."""
        return [
            {
                "id": hit.id,
                "score": hit.score,
                "sim": hit.similarity,
                "text": hit.text,
                "canonical_key": hit.canonical_key,
            }
            for hit in self.graph.search(text, k)
        ]

    def link(self, source: str, target: str, type: EdgeType, weight: float) -> None:
        """Links two nodes. An edge that is there gains the weight, and its time is refreshed."""
        self.graph.link(source, target, type, weight)

    def upsert_entity(
        self, user_id: str, canonical_id: str, text: str | None = None, aliases: Iterable[str] = ()
    ) -> str:
        """Returns the id of a user's entity. Questions refer to it when they name its id, its text or an alias."""
        return _entity(self.graph, user_id, canonical_id, text, aliases)

    def node(self, id: str) -> BaseNode:
        """Returns a node by its id."""
        node = self.graph.node(id)
        found: BaseNode = {
            "id": node.id,
            "type": node.type,
            "text": node.text,
            "canonical_key": node.canonical_key,
            "created_at": node.created_at / 1000,
            "last_access": node.last_access / 1000,
            "weights": {"repeat": node.repeat, "feedback": node.feedback},
            "degree": node.degree,
            "pinned": node.pinned,
        }
        if node.type == "query":
            vector = vector_of(self.graph.embedder.embed(node.text), self.graph.embedder.dimensions)
            found["embedding"] = deserialize_sparse(vector.pairs())
        return found

    def edges(self, id: str | None = None) -> list[Edge]:
        """Returns all edges, or those of a node, the oldest first."""
        return [
            {
                "id": edge.id,
                "from": edge.source,
                "to": edge.target,
                "type": edge.type,
                "weight": edge.weight,
                "created_at": edge.created_at / 1000,
                "last_access": edge.last_access / 1000,
            }
            for edge in self.graph.edges(id)
        ]

    def rank(self, id: str) -> float:
        """Returns 0.5·recency + 0.3·tanh(repeat/5) + 0.2·tanh(feedback/5), recency = exp(−ln 2·age/half-life)."""
        return self.graph.node(id).rank

    def decay(self) -> None:
        """Makes the passing of time real; `Upkeep` does it every so often."""
        self.graph.decay()

    def to_snapshot(self) -> dict[str, Any]:
        """Returns everything as JSON: settings, state of the embedder, nodes with vectors as `[[i, v], …]`, edges."""
        return self.graph.to_snapshot()

    def from_snapshot(self, s: dict[str, Any]) -> None:
        """Becomes the graph of a snapshot. Raises CommonplaceError for what is not a whole one."""
        self.graph.restore(s)

    def save_to_file(self, file: str | Path, *, only_if_dirty: bool = False) -> None:
        """Writes a snapshot, whole or not at all. `Upkeep` writes one a while after each change."""
        self.graph.save(file, only_if_dirty=only_if_dirty)

    @staticmethod
    def load_from_file(file: str | Path, store: GraphStore) -> None:
        """Fills a store with what was saved. Raises CommonplaceError for a damaged file."""
        store.from_snapshot(QueryGraph.load(file, embedder=store.graph.embedder).to_snapshot())

    def stats(self) -> dict[Literal["nodes", "edges"], int]:
        """Returns how many nodes and edges there are."""
        stats = self.graph.stats()
        return {"nodes": stats.nodes, "edges": stats.edges}


@dataclass(frozen=True, slots=True)
class PromotionConfig:
    """The conditions under which a session's questions become the agent's."""

    min_rank: float = 0.55
    max_promotions: int = 20
    min_degree: int = 2
    carry_weights: bool = True


@dataclass(frozen=True, slots=True)
class CheckpointConfig:
    """The part of a session that is written when it ends, and where."""

    out_dir: str | Path = "./.agentos/checkpoints"
    top_k: int = 30
    pretty: bool = True


@dataclass(frozen=True, slots=True)
class OrchestratorConfig:
    """All settings; the defaults are those that the document recommends."""

    session_graph: GraphConfig = field(default_factory=GraphConfig)
    agent_graph: GraphConfig = field(default_factory=GraphConfig.agent)
    promotion: PromotionConfig = field(default_factory=PromotionConfig)
    checkpoint: CheckpointConfig = field(default_factory=CheckpointConfig)
    search_bias_session_first: float = 0.05

    def settings(self) -> ConversationConfig:
        """Returns the settings as `ConversationMemory` takes them."""
        return ConversationConfig(
            session=self.session_graph,
            agent=self.agent_graph,
            session_first_bias=self.search_bias_session_first,
            promote_min_rank=self.promotion.min_rank,
            promote_min_degree=self.promotion.min_degree,
            max_promotions=self.promotion.max_promotions,
            carry_weights=self.promotion.carry_weights,
            checkpoint_folder=Path(self.checkpoint.out_dir),
            checkpoint_top=self.checkpoint.top_k,
            checkpoint_pretty=self.checkpoint.pretty,
        )


class MemoryOrchestrator:
    """The sessions and the shared graph of one agent, with one embedder."""

    def __init__(
        self,
        agent_id: str,
        cfg: OrchestratorConfig | None = None,
        *,
        embedder: EmbeddingProvider | None = None,
        agent_graph: QueryGraph | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`agent_graph`: what the agent knows already, such as a `StoredGraph` in SQLite; by default nothing."""
        config = (cfg or OrchestratorConfig()).settings()
        self.memory = ConversationMemory(
            agent_id, config, agent_graph=agent_graph, embedder=_embedder(embedder), clock=clock or wall_clock
        )

    def get_session_store(self, session_id: str) -> GraphStore:
        """Returns the store of a session, and begins the session if necessary."""
        return GraphStore.over(self.memory.session(session_id))

    def get_agent_store(self) -> GraphStore:
        """Returns the store that all sessions of the agent share."""
        return GraphStore.over(self.memory.agent)

    def upsert_query(self, session_id: str, text: str) -> str:
        """See `ConversationMemory.upsert_query`."""
        return self.memory.upsert_query(session_id, text)

    def record_feedback(self, session_id: str, q_id: str, label: Label, note: str | None = None) -> str:
        """See `ConversationMemory.record_feedback`."""
        return self.memory.record_feedback(session_id, q_id, label, note=note)

    def search(self, session_id: str, text: str, k: int = 5) -> list[FoundQuery]:
        """Returns the `k` best of both graphs, each canonical key once, with a bias to the session. Changes nothing."""
        return [
            {
                "id": hit.id,
                "score": hit.score,
                "from": hit.source,
                "text": hit.text,
                "canonical_key": hit.canonical_key,
            }
            for hit in self.memory.search(session_id, text, k)
        ]

    def finalize_session(
        self, session_id: str, *, promote: bool = True, checkpoint: bool = True, checkpoint_name: str | None = None
    ) -> Finalized:
        """Writes the checkpoint, promotes what proved useful, and ends the session."""
        return self.memory.finalize_session(
            session_id, promote=promote, checkpoint=checkpoint, checkpoint_name=checkpoint_name
        )

    def load_checkpoint(self, path: str | Path, session_id: str | None = None) -> str:
        """Begins a session with the content of a checkpoint; returns its id."""
        return self.memory.load_checkpoint(path, session_id)

    def gc_sessions(self, older_than_ms: float) -> list[str]:
        """Ends the sessions that nobody has used for so many milliseconds; returns their ids."""
        return self.memory.gc_sessions(older_than=timedelta(milliseconds=older_than_ms))

    def get_active_sessions(self) -> list[str]:
        """Returns the ids of the sessions that have begun and not ended, sorted."""
        return self.memory.active_sessions()

    def upsert_entity(
        self, user_id: str, canonical_id: str, text: str | None = None, aliases: Iterable[str] = ()
    ) -> str:
        """Returns the id of a user's entity in the agent's graph. Questions of any session that name it refer to it."""
        return _entity(self.memory.agent, user_id, canonical_id, text, aliases)


def _entity(graph: QueryGraph, user_id: str, canonical_id: str, text: str | None, aliases: Iterable[str]) -> str:
    names = (canonical_id, *aliases)
    return graph.upsert_entity(text or canonical_id, aliases=names, key=f"{user_id}\0{canonical_id}")


def _embedder(provider: EmbeddingProvider | None) -> Embedder | None:
    """Returns the provider as an embedder."""
    complete = all(hasattr(provider, name) for name in ("dimensions", "export_state"))
    return provider if provider is None or complete else _Provided(provider)  # pyright: ignore[reportReturnType]
