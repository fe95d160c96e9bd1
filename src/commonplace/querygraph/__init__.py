"""A memory of what was asked, how it was answered and how that was received; a library of its own."""

from commonplace.querygraph.config import ConversationConfig, GraphConfig
from commonplace.querygraph.conversation import ConversationMemory, Finalized, Found, FoundAnswer
from commonplace.querygraph.embedding import Embedder, HashedNgrams
from commonplace.querygraph.graph import Answer, Hit, QueryGraph, Removed, Stats
from commonplace.querygraph.keys import canonical_key
from commonplace.querygraph.sqlite_store import StoredGraph
from commonplace.querygraph.tables import Edge, Node
from commonplace.querygraph.upkeep import Upkeep

__all__ = [
    "Answer",
    "ConversationConfig",
    "ConversationMemory",
    "Edge",
    "Embedder",
    "Finalized",
    "Found",
    "FoundAnswer",
    "GraphConfig",
    "HashedNgrams",
    "Hit",
    "Node",
    "QueryGraph",
    "Removed",
    "Stats",
    "StoredGraph",
    "Upkeep",
    "canonical_key",
]
