"""What a run holds, as tables: columns of equal length, which data frames and spreadsheets take as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.memory.stores.codec import memory_json
from commonplace.run.reading import Reading
from commonplace.run.rows import event_json
from commonplace.text import html_table

SHOWN = 20
"""Rows of a table that a notebook shows."""


class Table(dict[str, list[Any]]):
    """Column → its values. A value is a text, a number, a boolean or None; what is a list or more stands as JSON.

    `pandas.DataFrame(table)`, `polars.DataFrame(table)` and `pyarrow.table(table)` make a data frame of it.
    """

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Returns the values row by row, in the order of the columns."""
        return zip(*self.values(), strict=True)

    def _repr_html_(self) -> str:
        rows = list(self.rows())
        return html_table(self, rows[:SHOWN], f"{len(rows):,} rows" if len(rows) > SHOWN else "")


def table(reading: Reading, name: str) -> Table:
    """Returns one of `TABLES`. Raises UsageError for another name."""
    if name not in TABLES:
        raise UsageError(f"there is no table {name!r}", hint=f"there are {', '.join(TABLES)}")
    return _columns(TABLES[name](reading))


def _columns(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Returns a column for every key that a row has; None where a row lacks it."""
    columns = Table()
    for number, row in enumerate(rows):
        for key, value in row.items():
            columns.setdefault(key, [None] * number).append(_cell(value))
        for column in columns.values():
            if len(column) == number:
                column.append(None)
    return columns


def _cell(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float) else json.dumps(value, ensure_ascii=False)


def _agents(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yields where every character was and what it did, tick by tick."""
    for frame in reading.frames():
        for me, agent in frame.agents.items():
            at = {"tick": frame.tick, "time": iso(frame.time), "agent_id": me, "place": agent.position}
            yield {**at, "doing": agent.doing, "plan_item": agent.plan_item}


def _ticks(reading: Reading) -> Iterator[dict[str, Any]]:
    for frame in reading.frames():
        sky = {"part_of_day": frame.part_of_day, "sky": frame.sky, "wind": frame.wind, "temperature": frame.temperature}
        yield {"tick": frame.tick, "time": iso(frame.time), **sky, "events": len(frame.events), "digest": frame.history}


def _usage(reading: Reading) -> Iterator[dict[str, Any]]:
    *rows, _ = reading.usage()  # the last one is their sum
    return iter(rows)


TABLES: Mapping[str, Callable[[Reading], Iterator[Mapping[str, Any]]]] = {
    "events": lambda reading: (event_json(event, reading.time(event.tick)) for event in reading.events()),
    "memories": lambda reading: (
        memory_json(memory) for agent in reading.agent_ids for memory in reading.memories(agent)
    ),
    "agents": _agents,
    "ticks": _ticks,
    "usage": _usage,
}
"""Name → its rows."""
