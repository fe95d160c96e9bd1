"""Facts that are said again later: how often what is said now is recalled before what was said.

    python benchmarks/restated.py [--locomo F] [--realtalk F] [--json]

The sets are `benchmarks/data/restated`: a line is what was said, what is said later, and a question. Sixteen lines are
remembered in one stream, the first column before the second. The `independent` sets were written without knowledge of
the rules, and their held-out ones were only counted. In `different` the second column restates nothing: how many are
found to supersede anything, each alone, is what counts. Published conversations, read as recall_table.py does, restate
little: with `current=True` as much of the evidence should come back as without.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from _conversations import Dialogue, share
from _published import LOCOMO, REALTALK

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
    parser.add_argument("--locomo", type=Path, metavar="F", help="LoCoMo, a folder or file")
    parser.add_argument("--realtalk", type=Path, metavar="F", help="REALTALK, a folder or file")
    options = parser.parse_args()

    def show(figure: Figure) -> None:
        line = f"{figure.of:<36}{figure.what:<48}{figure.count:>5} of {figure.among}"
        print(json.dumps(figure._asdict()) if options.json else line, flush=True)

    for file in sorted(DATA.glob("*.txt")):
        rows = [line.split(" | ") for line in file.read_text(encoding="utf-8").splitlines()]
        for figure in different(file.stem, rows) if "different" in file.stem else restated(file.stem, rows):
            show(figure)
    for published, path in ((LOCOMO, options.locomo), (REALTALK, options.realtalk)):
        for figure in chatted(published.name, published.dialogues(path)) if path else ():
            show(figure)


def restated(of: str, rows: list[list[str]]) -> list[Figure]:
    """How often the new is above the old, as it is and with what is true first; and, where every other fact is
    restated, how often `current` moves one of the rest that came first."""
    above = {"new above old": 0, "new above old, current=True": 0}
    first = moved = 0
    for some in (rows[start : start + AT_ONCE] for start in range(0, len(rows), AT_ONCE)):
        stream = remembered(some, some)
        for old, row in enumerate(some, start=1):
            for what in above:
                ids = asked(stream, row[2], current="current" in what)
                above[what] += ids.index(old + len(some)) < ids.index(old)
        for half in (0, 1):
            stream = remembered(some, some[half::2])
            for old in range(2 - half, len(some) + 1, 2):
                if asked(stream, some[old - 1][2])[0] == old:
                    first += 1
                    moved += asked(stream, some[old - 1][2], current=True)[0] != old
    figures = [Figure(of, what, count, len(rows)) for what, count in above.items()]
    return [*figures, Figure(of, "not restated, no longer first with current=True", moved, first)]


def remembered(some: list[list[str]], again: list[list[str]]) -> MemoryStream:
    """A stream with what was said, and what was said again 99 days later."""
    stream = MemoryStream("me", restatements=RestatementRules())
    for day, column, each in ((0, 0, some), (99, 1, again)):
        for hour, row in enumerate(each):
            stream.remember(row[column], at=START + timedelta(days=day, hours=hour))
    return stream


def asked(stream: MemoryStream, question: str, *, current: bool = False) -> tuple[int, ...]:
    return stream.retrieve(question, at=START + timedelta(days=200), k=2 * AT_ONCE, touch=False, current=current).ids


def different(of: str, rows: list[list[str]]) -> list[Figure]:
    """How often something is superseded that is not restated."""
    wrong = 0
    for before, after in rows:
        stream = MemoryStream("me", restatements=RestatementRules())
        stream.remember(before, at=START)
        wrong += bool(stream.remember(after, at=START + timedelta(days=1)).supersedes)
    return [Figure(of, "superseded wrongly", wrong, len(rows))]


def chatted(of: str, dialogues: list[Dialogue]) -> list[Figure]:
    """How much of the evidence in conversations comes back in five memories, in thousandths, and what is superseded."""
    plain = current = questions = superseded = turns = 0
    for dialogue in dialogues:
        stream = MemoryStream("listener", restatements=RestatementRules())
        for text, at in zip(dialogue.texts, dialogue.times, strict=True):
            superseded += len(stream.remember(text, at=at).supersedes)
        turns, questions = turns + len(dialogue.texts), questions + len(dialogue.asked)
        for entry in dialogue.asked:
            at = dialogue.times[-1] + timedelta(days=1)
            found, true = (
                stream.retrieve(entry.question, at=at, k=5, touch=False, current=current).ids
                for current in (False, True)
            )
            plain += share(entry.evidence, [id - 1 for id in found])
            current += share(entry.evidence, [id - 1 for id in true])
    return [
        Figure(of, "R@5", round(1000 * plain / questions), 1000),
        Figure(of, "R@5, current=True", round(1000 * current / questions), 1000),
        Figure(of, "superseded", superseded, turns),
    ]


if __name__ == "__main__":
    main()
