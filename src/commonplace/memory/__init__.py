"""Memory: one stream per character, one way to retrieve, every score explained. Works without the rest of the package.

from commonplace.memory import MemoryStream, policies
stream = MemoryStream(agent="maria", policy=policies.LEXICAL)
stream.remember("Klaus is reading about gentrification", at=when)
print(stream.explain(stream.recall("what does Klaus study?", at=later)))
"""

from typing import TYPE_CHECKING, Any

from commonplace.memory import policies
from commonplace.memory.analyser import Analyser
from commonplace.memory.blocks import Blocks
from commonplace.memory.draft import Delta, Draft
from commonplace.memory.embedding import (
    Embedder,
    FunctionEmbedder,
    HashedEmbedder,
    default_embedder,
    lattice,
    packed,
    unpacked,
)
from commonplace.memory.explain import WhyNot
from commonplace.memory.facts import Extracted, Fact
from commonplace.memory.importance import Rating, RuleRater
from commonplace.memory.policies import Policy
from commonplace.memory.pool import Memories
from commonplace.memory.reader import Snapshot
from commonplace.memory.record import KINDS, MAX_TEXT, Emotion, Memory, Quote
from commonplace.memory.reflection import ReflectionTrigger, TurnTrigger
from commonplace.memory.restatements import RestatementRules
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.scoring import Part, ScoredMemory
from commonplace.memory.search import Feeling
from commonplace.memory.stream import Change, MemoryStream
from commonplace.memory.table import estimate_tokens
from commonplace.registry import MEMORY, found

if TYPE_CHECKING:
    from commonplace.parts.coordinates.document import MemoryCoordinate
    from commonplace.parts.coordinates.memory_store import MemoryStore
    from commonplace.parts.model_servers.embedders import SentenceEmbedder, ServerEmbedder
    from commonplace.parts.model_servers.facts import FactsByMind
    from commonplace.parts.model_servers.nano_e5 import E5Embedder
    from commonplace.parts.stores.postgres_stream import DatabaseStream

__all__ = [
    "KINDS",
    "MAX_TEXT",
    "Analyser",
    "Blocks",
    "Change",
    "DatabaseStream",
    "Delta",
    "Draft",
    "E5Embedder",
    "Embedder",
    "Emotion",
    "Extracted",
    "Fact",
    "FactsByMind",
    "Feeling",
    "FunctionEmbedder",
    "HashedEmbedder",
    "Memories",
    "Memory",
    "MemoryCoordinate",
    "MemoryStore",
    "MemoryStream",
    "Part",
    "Policy",
    "Quote",
    "Rating",
    "ReflectionTrigger",
    "RestatementRules",
    "Retrieval",
    "RuleRater",
    "ScoredMemory",
    "SentenceEmbedder",
    "ServerEmbedder",
    "Snapshot",
    "TurnTrigger",
    "WhyNot",
    "default_embedder",
    "estimate_tokens",
    "lattice",
    "packed",
    "policies",
    "unpacked",
]


def __getattr__(name: str) -> Any:
    if name in MEMORY:
        return found(MEMORY[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
