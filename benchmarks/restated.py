"""Facts that are said again later: how often what is said now is recalled before what was said.

    python benchmarks/restated.py [--json]

The sets are `benchmarks/data/restated`: a line is what was said, what is said later, and a question. Sixteen lines are
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
AT_ONCE = 16
"""Facts in one stream: more would contradict each other."""
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
    above = {"new above old": 0, "new above old, current=True": 0}
    for some in (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)):
        stream = MemoryStream("me", restatements=RestatementRules())
        for day, column in enumerate((0, 1)):
            for hour, row in enumerate(some):
                stream.remember(row[column], at=START + timedelta(days=99 * day, hours=hour))
        for old, row in enumerate(some, start=1):
            for what in above:
                options = {"k": 2 * AT_ONCE, "touch": False, "current": "current" in what}
                ids = stream.retrieve(row[2], at=START + timedelta(days=200), **options).ids
                above[what] += ids.index(old + len(some)) < ids.index(old)
    return [Figure(of, what, count, len(rows)) for what, count in above.items()]


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
