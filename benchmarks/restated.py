"""Facts that are said again later: how often what is said now is recalled before what was said.

    python benchmarks/restated.py [--json]

The sets are `benchmarks/data/restated`: a line is what was said, what is said later, and a question. All of a set are
remembered in one stream, the first column before the second. Nothing was chosen by the sets that are held out. In
`different` the second column restates nothing: how many are found to supersede anything, each alone, is what counts.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from commonplace.memory import MemoryStream, RestatementRules

DATA = Path(__file__).parent / "data" / "restated"
START = datetime(2031, 10, 4, 8, tzinfo=UTC)


class Figure(NamedTuple):
    """One line of output."""

    of: str
    what: str
    count: int
    among: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    options = parser.parse_args()
    for file in sorted(DATA.glob("*.txt")):
        rows = [line.split(" | ") for line in file.read_text(encoding="utf-8").splitlines()]
        for figure in different(file.stem, rows) if "different" in file.stem else restated(file.stem, rows):
            line = f"{figure.of:<14}{figure.what:<40}{figure.count:>4} of {figure.among}"
            print(json.dumps(figure._asdict()) if options.json else line, flush=True)


def restated(of: str, rows: list[list[str]]) -> list[Figure]:
    """How often the new is above the old: as it is, and with what is true first."""
    stream = MemoryStream("me", restatements=RestatementRules())
    old, new = (
        [
            stream.remember(row[column], at=START + timedelta(days=99 * column, hours=at)).id
            for at, row in enumerate(rows)
        ]
        for column in (0, 1)
    )
    figures: list[Figure] = []
    for what, current in (("new above old", False), ("new above old, current=True", True)):
        found = [
            stream.retrieve(row[2], at=START + timedelta(days=200), k=500, touch=False, current=current).ids
            for row in rows
        ]
        above = sum(ids.index(b) < ids.index(a) for ids, a, b in zip(found, old, new, strict=True))
        figures.append(Figure(of, what, above, len(rows)))
    return figures


def different(of: str, rows: list[list[str]]) -> list[Figure]:
    """How often something is superseded that is not restated."""
    wrong = 0
    for before, after in rows:
        stream = MemoryStream("me", restatements=RestatementRules())
        stream.remember(before, at=START)
        wrong += bool(stream.remember(after, at=START + timedelta(days=1)).supersedes)
    return [Figure(of, "superseded wrongly", wrong, len(rows))]


if __name__ == "__main__":
    main()
