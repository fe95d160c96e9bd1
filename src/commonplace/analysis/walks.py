"""Whole walks: a run has an event for each edge that is walked, and here one for each walk that reached its goal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from commonplace.clock import iso
from commonplace.run.reading import Reading
from commonplace.world.events import Moved, of_kind


def walks(
    reading: Reading, first: int = 0, last: int | None = None, agent: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yields a row for each walk that ends in the ticks first … last, in canonical order.

    `{id, tick, time, type, agent_id, place, from_location, to_location, edges}`: `id` and `tick` are those of the last
    edge, `place` is where it began, `from_location` and `to_location` are the ends of the whole walk, `edges` the ticks
    that it took. A walk that is turned to another goal goes on; one that is broken off has no row.
    """
    upto = reading.last_tick if last is None else last
    begun: dict[str, tuple[str, int, int]] = {}  # character → where from, edges so far, tick of the latest
    for event, moved in of_kind(reading.events(0, upto, type="MOVE", agent=agent), Moved):
        start, edges, latest = begun.get(event.agent_id, ("", 0, 0))
        if not start or latest < event.tick - 1:
            start, edges = moved.left, 0
        begun[event.agent_id] = start, edges + 1, event.tick
        if moved.to != moved.goal:
            continue
        del begun[event.agent_id]
        if event.tick >= first:
            yield {
                "id": event.id,
                "tick": event.tick,
                "time": iso(reading.time(event.tick)),
                "type": event.type,
                "agent_id": event.agent_id,
                "place": event.place,
                "from_location": start,
                "to_location": moved.to,
                "edges": edges + 1,
            }
