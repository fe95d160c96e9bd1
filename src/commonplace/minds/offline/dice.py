"""Chance of one request: keyed draws that depend on who asks, when and what for, and on nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from commonplace import rng
from commonplace.minds.mind import RequestKey
from commonplace.minds.offline.rule_tables import read_numbers
from commonplace.rng import Key

T = TypeVar("T")
CHANCES = read_numbers("chances")
"""Name → how often it happens, in a hundred."""


@dataclass(frozen=True, slots=True)
class Dice:
    """The key of all draws of one answer."""

    key: tuple[Key, ...]

    @staticmethod
    def of(request_key: RequestKey) -> Dice:
        """Returns the draws of one question: another question of the same tick draws anew."""
        return Dice((request_key.seed, request_key.agent, request_key.tick, request_key.number))

    def steady(self) -> Dice:
        """Returns draws that stay the same whenever the character asks: a matter it has made up its mind about."""
        return Dice(self.key[:2])

    def with_(self, *more: Key) -> Dice:
        """Returns draws that also depend on something else, such as the memory a line rests on."""
        return Dice((*self.key, *more))

    def below(self, n: int, *purpose: Key) -> int:
        """Returns an integer in 0 … n − 1."""
        return rng.below(n, *self.key, *purpose)

    def between(self, low: int, high: int, *purpose: Key) -> int:
        """Returns an integer in low … high, both included."""
        return low + rng.below(high - low + 1, *self.key, *purpose)

    def chance(self, percent: int, *purpose: Key) -> bool:
        """Returns true with a probability of `percent` in a hundred."""
        return rng.below(100, *self.key, *purpose) < percent

    def choice(self, items: Sequence[T], *purpose: Key) -> T:
        """Returns one of the items. Raises IndexError if there are none."""
        return items[self.below(len(items), *purpose)]

    def shuffled(self, items: Sequence[T], *purpose: Key) -> list[T]:
        """Returns the items in a drawn order."""
        return rng.shuffled(items, *self.key, *purpose)
