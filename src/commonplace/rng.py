"""Chance without a generator: every draw is a keyed hash, so no draw depends on how many were made before it.

A key is (seed, character, tick, purpose …). Python's `random` and NumPy's generators are not used: their methods
change between versions and their streams depend on the order of calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")
Key = str | int


def draw(*key: Key) -> int:
    """Returns a 64-bit number that depends on the key alone. Strings and integers are told apart: `1` is not `"1"`."""
    state = _NOTHING_HASHED.copy()  # half the time of making one
    state.update(b"".join(map(_part, key)))
    return int.from_bytes(state.digest(), "big")


_NOTHING_HASHED = blake2b(digest_size=8)


@lru_cache(maxsize=4096, typed=True)  # the seed, the characters and the purposes recur in every key
def _part(part: Key) -> bytes:
    body = str(part).encode()
    return b"".join((b"s" if isinstance(part, str) else b"i", len(body).to_bytes(4, "big"), body))


def unit(*key: Key) -> float:
    """Returns a number in [0, 1) with 53 bits."""
    return (draw(*key) >> 11) / (1 << 53)


def below(n: int, *key: Key) -> int:
    """Returns an integer in 0 … n − 1. The bias of the multiplication is under 2⁻⁴⁰ for n below 2²⁴."""
    return (draw(*key) * n) >> 64


def choice(items: Sequence[T], *key: Key) -> T:
    """Returns one of the items. Raises IndexError when there are none."""
    return items[below(len(items), *key)]


def weighted(items: Sequence[tuple[T, int]], *key: Key) -> T:
    """Returns one of the items, each with its whole-number weight."""
    left = below(sum(weight for _, weight in items), *key)
    for item, weight in items:
        if left < weight:
            return item
        left -= weight
    raise IndexError("no items to choose from")


def shuffled(items: Sequence[T], *key: Key) -> list[T]:
    """Returns the items in an order that depends on the key alone."""
    order = sorted(range(len(items)), key=lambda index: (draw(*key, index), index))
    return [items[index] for index in order]


class Seeds:
    """The seed of a run. An input may change it; another seed holds from the tick after the input."""

    def __init__(self, first: int, changes: Iterable[tuple[int, int]] = ()) -> None:
        """`changes`: (tick of the input, seed), in order of ticks."""
        self._changes = ((-1, first), *changes)

    def at(self, tick: int) -> int:
        """Returns the seed that draws what happens in a tick, and its weather."""
        return next(seed for changed, seed in reversed(self._changes) if changed < max(tick, 0))

    def changed(self, tick: int, seed: int) -> Seeds:
        """Returns these seeds with another one from the tick after `tick` on."""
        return Seeds(self._changes[0][1], (*self._changes[1:], (tick, seed)))
