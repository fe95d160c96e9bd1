"""A memory of what was asked, how it was answered and how that was received. Usable alone; imports nothing of the town."""

from commonplace.querygraph.config import ConversationConfig, GraphConfig
from commonplace.querygraph.embedding import Embedder, HashedNgrams
from commonplace.querygraph.graph import Answer, Hit, QueryGraph, Stats
from commonplace.querygraph.keys import canonical_key
from commonplace.querygraph.tables import Edge, Node

__all__ = [
    "Answer",
    "ConversationConfig",
    "Edge",
    "Embedder",
    "GraphConfig",
    "HashedNgrams",
    "Hit",
    "Node",
    "QueryGraph",
    "Stats",
    "canonical_key",
]
