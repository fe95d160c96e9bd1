"""How long a model takes."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace import rng
from commonplace.rng import Key


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds until an answer is written."""

    base: float = 0.0
    per_token: float = 0.0
    """For each token of the answer."""
    jitter: float = 0.0
    """At most so much more, drawn by the request's key."""

    def of(self, tokens: int, *key: Key) -> float:
        """Seconds for an answer of so many tokens."""
        return self.base + self.per_token * tokens + (self.jitter * rng.unit(*key, "latency") if self.jitter else 0.0)
