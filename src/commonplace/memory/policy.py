"""A retrieval policy: every choice of a scoring, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from commonplace.errors import WrongUse

Relevance = Literal["cosine", "bm25"]
PARTS = ("recency", "importance", "relevance")


@dataclass(frozen=True, slots=True)
class Policy:
    """`score = Σ weight · normalised part`. Make a variant with `dataclasses.replace`. Raises WrongUse."""

    name: str
    decay: float = 0.995
    """Recency left after one simulated hour since the last access, in (0, 1]."""
    importance: Literal["scale", "unit"] = "scale"
    """`scale`: 1–10 as stored; `unit`: (importance − 1) / 9."""
    relevance: Relevance = "cosine"
    normalise: Literal["minmax", "none"] = "minmax"
    """`minmax`: each part over all candidates to 0–1; `none`: the raw part."""
    all_equal: float = 0.5
    """What min-max gives when every candidate has the same value."""
    recency_weight: float = 1.0
    importance_weight: float = 1.0
    relevance_weight: float = 1.0
    k: int = 10
    """Memories returned when the caller names no number."""

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise WrongUse(f"decay {self.decay!r} of policy {self.name}", todo="give a number above 0 and up to 1")
        for part, weight in self.weights.items():
            if not abs(weight) <= 1e6:
                raise WrongUse(f"weight {weight!r} of {part} in policy {self.name}", todo="give a finite number")
        if self.k < 1:
            raise WrongUse(f"k {self.k!r} of policy {self.name}", todo="give at least 1")

    @property
    def weights(self) -> dict[str, float]:
        """Part → weight, in the order parts are added and shown."""
        return {
            "recency": self.recency_weight,
            "importance": self.importance_weight,
            "relevance": self.relevance_weight,
        }
