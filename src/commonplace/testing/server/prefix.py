"""What a server with a prompt cache would have read before."""

from __future__ import annotations

from bisect import bisect_left, insort


class Prompts:
    """All prompts of a server's life, in order: the neighbours of a new one share the longest prefix with it."""

    def __init__(self) -> None:
        self._sorted: list[str] = []

    def add(self, prompt: str) -> int:
        """Remember a prompt; returns how many of its first characters an earlier one began with."""
        place = bisect_left(self._sorted, prompt)
        shared = max((common(prompt, other) for other in self._sorted[max(0, place - 1) : place + 1]), default=0)
        insort(self._sorted, prompt)
        return shared


def common(one: str, other: str) -> int:
    """Length of the longest common prefix."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low
