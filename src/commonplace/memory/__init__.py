"""Memory: one stream per character, one way to retrieve, every reason kept. Works with nothing else around it.

from commonplace.memory import MemoryStream, policies
stream = MemoryStream(agent="maria", policy=policies.LEXICAL)
stream.remember("Klaus is reading about gentrification", at=when)
print(stream.explain(stream.recall("what does Klaus study?", at=later)))
"""

from . import policies
from .analysis import Analyser
from .columns import estimate_tokens
from .delta import Delta
from .draft import Draft
from .embedding import Embedder, HashedEmbedder, default_embedder, lattice, packed, unpacked
from .explain import WhyNot
from .importance import Rating, RatingCache, RuleRater, cache_key
from .policy import Policy
from .record import KINDS, MAX_TEXT, Emotion, Memory
from .reflection import ReflectionTrigger
from .retrieval import Retrieval
from .scoring import Part, ScoredMemory
from .snapshot import Snapshot
from .stream import MemoryStream

__all__ = [
    "KINDS",
    "MAX_TEXT",
    "Analyser",
    "Delta",
    "Draft",
    "Embedder",
    "Emotion",
    "HashedEmbedder",
    "Memory",
    "MemoryStream",
    "Part",
    "Policy",
    "Rating",
    "RatingCache",
    "ReflectionTrigger",
    "Retrieval",
    "RuleRater",
    "ScoredMemory",
    "Snapshot",
    "WhyNot",
    "cache_key",
    "default_embedder",
    "estimate_tokens",
    "lattice",
    "packed",
    "policies",
    "unpacked",
]
