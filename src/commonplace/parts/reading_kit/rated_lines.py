"""Lines of talk drawn for a person to rate, as a Markdown table, and the ratings read back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from commonplace import rng
from commonplace.clock import hhmm
from commonplace.errors import UsageError
from commonplace.parts.reading_kit.chronicle import Chronicle, SpokenLine
from commonplace.text import one_line

__all__ = ["RATINGS", "as_table", "drawn", "ratings"]

RATINGS = ("good", "weak", "bad")
"""What a line may be rated: `good` is specific, fits the moment, and a person would say it; `bad` is false, evasive
without a reason, repeated or out of place; `weak` is neither."""
COLUMNS = ("no.", "run", "line", "when", "where", "who", "line before", "said", "why", "rating")
_ROW = re.compile(r"^\|(.*)\|\s*$")
_RULED = re.compile(r"^[\s:|-]*$")


def drawn(
    chronicles: Sequence[Chronicle], count: int, seed: int, days: Iterable[int]
) -> list[tuple[int, Chronicle, SpokenLine]]:
    """Returns (number of the run from 1 on, run, line) for lines of these days, drawn from all runs by the seed."""
    wanted = frozenset(days)
    lines = [
        (number, chronicle, line)
        for number, chronicle in enumerate(chronicles, start=1)
        for line in chronicle.lines
        if line.day in wanted
    ]
    return rng.shuffled(lines, "rated lines", seed)[:count]


def as_table(lines: Iterable[tuple[int, Chronicle, SpokenLine]]) -> str:
    """Returns a Markdown table with an empty column for the ratings."""
    rows = [_cells(number, *entry) for number, entry in enumerate(lines, start=1)]
    ruled = ["---"] * len(COLUMNS)
    return "\n".join(f"| {' | '.join(row)} |" for row in (COLUMNS, ruled, *rows)) + "\n"


def _cells(number: int, run: int, chronicle: Chronicle, line: SpokenLine) -> list[str]:
    personas, nodes = chronicle.scenario.personas, chronicle.scenario.geography.nodes
    before = f"{personas[line.before.speaker].called}: {line.before.text}" if line.before else "(begins the talk)"
    reason = chronicle.reaction(line.speaker, line.tick).get("reason", "")
    place = nodes[line.event.place].name if line.event.place in nodes else line.event.place
    cells = (
        str(number),
        str(run),
        line.event.id,
        f"day {line.day}, {hhmm(chronicle.reading.time(line.tick))}",
        place,
        f"{personas[line.speaker].called} to {personas[line.hearer].called}",
        before,
        line.text,
        str(reason),
        "",
    )
    return [one_line(cell).replace("|", "/") for cell in cells]


def ratings(table: str) -> Counter[str]:
    """Counts how many lines of a table were given each of the `RATINGS`; a first letter is enough.

    Raises UsageError for a line that is not rated, or with another word.
    """
    counts: Counter[str] = Counter()
    for row in filter(None, map(_ROW.match, table.splitlines())):
        cells = [cell.strip() for cell in row[1].split("|")]
        if cells[0] == COLUMNS[0] or _RULED.match(row[1]):
            continue
        rating = next((one for one in RATINGS if cells[-1] and one.startswith(cells[-1].lower())), "")
        if not rating or len(cells) != len(COLUMNS):
            raise UsageError(
                f"the rating of line {cells[0]} is {cells[-1]!r}", hint=f"expected one of {', '.join(RATINGS)}"
            )
        counts[rating] += 1
    return counts
