"""A retrieval policy: every choice of a scoring, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from numbers import Real
from typing import Any, Literal, get_args, get_type_hints

from commonplace.errors import WrongUse

Recency = Literal["access", "creation", "rank"]
Importance = Literal["scale", "unit"]
Relevance = Literal["cosine", "bm25", "blend"]
Normalise = Literal["minmax", "none"]

_HEAVIEST = 1e6


@dataclass(frozen=True, slots=True)
class Policy:
    """`score = Σ weight · normalised part`. Make a variant with `dataclasses.replace`. Raises WrongUse."""

    name: str
    recency: Recency = "access"
    """`access`: decay ** hours since the last access; `creation`: since it was made, 0 for what is made later; `rank`:
    decay ** rank by last access, the longest unused being 1, so that the oldest scores highest."""
    decay: float = 0.995
    """Recency left after one simulated hour (`rank`: one rank), in (0, 1]. For exp(−hours / τ) give exp(−1 / τ)."""
    importance: Importance = "scale"
    """`scale`: 1–10 as stored; `unit`: (importance − 1) / 9."""
    relevance: Relevance = "cosine"
    """`cosine` of the vectors; `bm25` of the words; `blend`: the parts below in place of the one called relevance."""
    normalise: Normalise = "minmax"
    """`minmax`: each part over all candidates to 0–1; `none`: the raw part."""
    all_equal: float = 0.5
    """What min-max gives when every candidate has the same value."""
    recency_weight: float = 1.0
    importance_weight: float = 1.0
    relevance_weight: float = 1.0
    """Of `cosine` and `bm25`; a blend has the weights below."""
    lexical_weight: float = 1.0
    """Blend: BM25 of the words. A part of a blend whose weight is 0 is neither computed nor shown."""
    cosine_weight: float = 0.5
    """Blend: cosine of the vectors, where the embedder knows more than spelling, which BM25 sees better."""
    neighbours_weight: float = 0.4
    """Blend: relevance lent by what was remembered just before and after; not normalised again."""
    named_weight: float = 0.25
    """Blend: 1 for a memory whose speaker or subject the question names, 1 for its place; not normalised."""
    statement_weight: float = 0.15
    """Blend: 1 for a memory that does not end in a question; not normalised."""
    neighbour_minutes: float = 30.0
    """Blend: neighbours are no further apart than this, in simulated minutes, at least 0."""
    k1: float = 0.9
    """BM25: how soon more occurrences of a word stop adding, at least 0."""
    b: float = 0.4
    """BM25: how much a longer memory is held against it, in [0, 1]."""
    grammar: float = 1.0
    """BM25: what a word of the question that only carries grammar counts, in [0, 1]; 1 = as any other."""
    respell: bool = False
    """BM25: whether a word of the question that no memory has stands for those spelt like it."""
    nearest: int = 0
    """Only so many compete, those of the highest cosine; 0 = all. Needs `cosine`."""
    without_tags: tuple[str, ...] = ()
    """Memories with one of these tags do not compete."""
    without_words: tuple[str, ...] = ()
    """Memories whose text contains one of these do not compete."""
    k: int = 10
    """Memories returned when the caller names no number."""

    def __post_init__(self) -> None:
        self._check_types()
        for name, accepted in CHOICES.items():
            if getattr(self, name) not in accepted:
                raise self._wrong(name, f"it is one of {', '.join(accepted)}")
        for name, low, high in _RANGES:
            if not low <= getattr(self, name) <= high:
                raise self._wrong(name, f"give a number from {low:g} to {high:g}")
        for name in WEIGHTS:
            if not abs(getattr(self, name)) <= _HEAVIEST:
                raise self._wrong(name, "give a finite number")
        if not 0 < self.decay <= 1:
            raise self._wrong("decay", "give a number above 0 and up to 1")
        if not 0 <= self.neighbour_minutes < math.inf:
            raise self._wrong("neighbour_minutes", "give at least 0")
        if self.nearest < 0 or (self.nearest and self.relevance != "cosine"):
            raise self._wrong("nearest", "give at least 0, and 0 unless relevance is cosine")
        if self.k < 1:
            raise self._wrong("k", "give at least 1")

    def _check_types(self) -> None:
        for name, wanted in TYPES.items():
            if wanted is float and not isinstance(getattr(self, name), Real):
                raise self._wrong(name, "give a number")
            if wanted is int and not isinstance(getattr(self, name), int):
                raise self._wrong(name, "give a whole number")

    @property
    def weights(self) -> dict[str, float]:
        """Part → weight, in the order parts are added and shown."""
        return _weights(self)

    def _wrong(self, field: str, todo: str) -> WrongUse:
        return WrongUse(f"{field} {getattr(self, field)!r} of policy {self.name}", todo=todo)


@lru_cache(maxsize=64)
def _weights(policy: Policy) -> dict[str, float]:
    """As `Policy.weights`; every retrieval asks."""
    weights = {"recency": policy.recency_weight, "importance": policy.importance_weight}
    if policy.relevance != "blend":
        return {**weights, "relevance": policy.relevance_weight}
    return {**weights, **{part: weight for part in BLENDED if (weight := getattr(policy, f"{part}_weight"))}}


BLENDED = ("lexical", "cosine", "neighbours", "named", "statement")
"""The parts of a blend, in the order they are added and shown."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "recency": get_args(Recency),
    "importance": get_args(Importance),
    "relevance": get_args(Relevance),
    "normalise": get_args(Normalise),
}
"""Field → the words it accepts."""
TYPES: Mapping[str, Any] = {name: hint for name, hint in get_type_hints(Policy).items() if name != "name"}
"""Field → its type."""
WEIGHTS = tuple(field.name for field in fields(Policy) if field.name.endswith("_weight"))
_RANGES = (("all_equal", 0.0, 1.0), ("k1", 0.0, 1000.0), ("b", 0.0, 1.0), ("grammar", 0.0, 1.0))
