"""Memory: one stream per character, one way to retrieve, every score explained. Works without the rest of the package.

from commonplace.memory import MemoryStream, policies
stream = MemoryStream(agent="maria", policy=policies.LEXICAL)
stream.remember("Klaus is reading about gentrification", at=when)
print(stream.explain(stream.recall("what does Klaus study?", at=later)))
"""

from commonplace.memory import policies
from commonplace.memory.bm25 import Analyser
from commonplace.memory.coordinates import MemoryCoordinate
from commonplace.memory.embedding import Embedder, HashedEmbedder, default_embedder, lattice, packed, unpacked
from commonplace.memory.explain import WhyNot
from commonplace.memory.importance import Rating, RuleRater
from commonplace.memory.memory_store import MemoryStore
from commonplace.memory.policies import Policy
from commonplace.memory.reader import Snapshot
from commonplace.memory.record import KINDS, MAX_TEXT, Emotion, Memory
from commonplace.memory.reflection import ReflectionTrigger, TurnTrigger
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.scoring import Part, ScoredMemory
from commonplace.memory.search import Feeling
from commonplace.memory.stream import Delta, Draft, MemoryStream
from commonplace.memory.table import estimate_tokens

__all__ = [
    "KINDS",
    "MAX_TEXT",
    "Analyser",
    "Delta",
    "Draft",
    "Embedder",
    "Emotion",
    "Feeling",
    "HashedEmbedder",
    "Memory",
    "MemoryCoordinate",
    "MemoryStore",
    "MemoryStream",
    "Part",
    "Policy",
    "Rating",
    "ReflectionTrigger",
    "Retrieval",
    "RuleRater",
    "ScoredMemory",
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
