"""Importance by rules and a mind together: the mind adjusts what the rules say, within limits, once per sentence."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

from commonplace.memory.importance import RatingCache, RuleRater, cache_key, usable_rating

Adjuster = Callable[[str, int], object]
"""(text, what the rules say) → importance 1–10. An answer that is no such number leaves the rules' standing."""
FURTHEST = 3
"""How far a mind may move a rating."""


class AdjustedRater:
    """A rater of both kinds. Ratings are kept by text, rules, language, goal and names, so that none is asked twice."""

    def __init__(
        self, rules: RuleRater, adjust: Adjuster, cache: RatingCache | None = None, version: str = "1"
    ) -> None:
        """`version`: of the mind and its question; another one is asked anew."""
        self.rules = rules
        self.adjust = adjust
        self.cache = cache or RatingCache()
        self.version = f"both-{version}({rules.version})"

    def __call__(self, text: str) -> float:
        """The rating, 1–10."""
        rules = self.rules
        key = cache_key(text, self.version, rules.language, rules.goal, rules.names)
        known = self.cache.get(key)
        return self.cache.put(key, self._adjusted(text)) if known is None else known

    def _adjusted(self, text: str) -> float:
        base = self.rules(text)
        asked = self.adjust(text, base)
        if isinstance(asked, bool) or not isinstance(asked, int | float) or not isfinite(asked):
            return base
        return min(base + FURTHEST, max(base - FURTHEST, usable_rating(asked)))
