"""Trees of reflections: what an insight rests on, down to what was seen and done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from commonplace.memory.record import Memory


class Citing(Protocol):
    """A stream, a draft, a snapshot, or anything else that finds memories by id."""

    def get(self, id: int) -> Memory: ...
    def __contains__(self, id: object) -> bool: ...


def tree(stream: Citing, id: int) -> str:
    """The memory and, indented under it, what it cites; each memory is opened where it is first met.

    Raises WrongUse for an id there is none of. What was forgotten is named as such.
    """
    return "\n".join(_lines(stream, id, "", set()))


def _lines(stream: Citing, id: int, indent: str, opened: set[int]) -> Iterator[str]:
    if indent and id not in stream:
        yield f"{indent}#{id} (forgotten)"
        return
    memory = stream.get(id)
    again = " (above)" if id in opened and memory.citations else ""
    yield f"{indent}#{id} {memory.kind} {memory.importance:g}  {memory.text}{again}"
    if id in opened:
        return
    opened.add(id)
    for cited in memory.citations:
        yield from _lines(stream, cited, f"{indent}  ", opened)
