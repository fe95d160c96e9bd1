"""How a town's talk and life read after days, in figures; and lines of it for a person to rate.

    python benchmarks/town_reading.py [RUN …] [--days 14] [--seeds 7,11,23] [--keep FOLDER] [--each] [--json]
    python benchmarks/town_reading.py --json > before.json, and with another version:
    python benchmarks/town_reading.py --compare before.json --days 1,7,14
    python benchmarks/town_reading.py --wrong [--days 7]
    python benchmarks/town_reading.py --sample 200 --seed 5 --days 4-7 > lines.md
    python benchmarks/town_reading.py --rated lines.md

Without runs, `latticeville` is run with the offline mind once for each seed. What each figure means, and what it was
for earlier versions, is in docs/studies/town-reading.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from commonplace import create_run
from commonplace.errors import CommonplaceError
from commonplace.parts.reading_kit.chronicle import Chronicle, SpokenLine
from commonplace.parts.reading_kit.claims import claims, questions
from commonplace.parts.reading_kit.rated_lines import RATINGS, as_table, drawn, ratings
from commonplace.parts.reading_kit.town_days import FIGURES, Day, Figure, added_up, town_days
from commonplace.run.reading import Reading
from commonplace.text import one_line


class Measured(NamedTuple):
    """The counts of several runs added up, by day."""

    days: Mapping[int, Day]
    runs: int


def earlier(path: Path) -> Measured:
    """What `--json` printed."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return Measured(
        added_up({line["day"]: Day(line["counts"])} for line in lines), len({line["seed"] for line in lines})
    )


def lived(path: Path, scenario: str, seed: int, days: int) -> None:
    """Run a scenario up to the midnight that ends a day; a run that is there already is used as it is."""
    if path.exists():
        return
    print(f"running {scenario} with seed {seed}", file=sys.stderr)
    draft = path.with_suffix(".draft")

    async def live() -> None:
        with create_run(draft, scenario, seed=seed, force=True) as run:
            clock = run.scenario.clock
            begun = clock.start.hour * 60 + clock.start.minute
            async for _ in run.play(clock.ticks(days * 24 * 60 - begun)):
                pass

    asyncio.run(live())
    draft.rename(path)


def runs_of(given: argparse.Namespace, folder: Path) -> list[Path]:
    """The runs to read, made where none is given."""
    if given.runs:
        return given.runs
    paths: list[Path] = []
    for seed in given.seeds:
        paths.append(folder / f"{Path(given.scenario).stem}-{seed}-{given.days[-1]}d.run")
        lived(paths[-1], given.scenario, seed, given.days[-1])
    return paths


def table(days: Mapping[int, Day], runs: int, before: Measured | None = None) -> Iterator[str]:
    """A line per figure, a column per day; with an earlier measurement two, what it was and what it is."""
    width = max(len(figure.name) for figure in FIGURES)
    columns = [(f"{day}", counts, runs) for day, counts in days.items()]
    if before is not None:
        columns = [
            column
            for day, counts in days.items()
            for column in ((f"{day} was", before.days.get(day, Day()), before.runs), (f"{day} is", counts, runs))
        ]
    yield f"{'day':<{width}}" + "".join(f"{name:>7}" for name, _, _ in columns)
    for figure in FIGURES:
        yield f"{figure.name:<{width}}" + "".join(f"{shown(figure, *column[1:]):>7}" for column in columns)


def shown(figure: Figure, counts: Day, runs: int) -> str:
    """One cell."""
    value = figure.value(counts, runs) if counts else None
    if value is None:
        return "–"
    return f"{value:.2f}" if figure.whole and figure.times == 1 else f"{value:.0f}"


def as_json(chronicle: Chronicle, days: Mapping[int, Day]) -> Iterator[str]:
    """A line per day: its figures and the counts they are made of."""
    for day, counts in days.items():
        figures = {figure.name: figure.value(counts) for figure in FIGURES}
        figures = {name: value if value is None else round(value, 3) for name, value in figures.items()}
        about = {"scenario": chronicle.scenario.part.name, "seed": chronicle.reading.manifest.seed, "day": day}
        yield json.dumps({**about, "figures": figures, "counts": dict(sorted(counts.items()))}, ensure_ascii=False)


def measured(chronicles: Sequence[Chronicle], given: argparse.Namespace) -> Iterator[str]:
    """The lines to print."""
    runs = [
        {day: counts for day, counts in town_days(chronicle).items() if day in given.days} for chronicle in chronicles
    ]
    for chronicle, days in zip(chronicles, runs, strict=True):
        if given.json:
            yield from as_json(chronicle, days)
        elif given.each:
            yield from (f"\nseed {chronicle.reading.manifest.seed}", *table(days, 1))
    if not given.json:
        yield f"\nmean of {len(runs)} runs"
        yield from table(added_up(runs), len(runs), earlier(given.compare) if given.compare else None)


def wrong(chronicle: Chronicle, days: Sequence[int]) -> Iterator[str]:
    """The false statements of a run, and the questions not answered although the answer is known."""
    for claim in claims(chronicle):
        if claim.is_true is False and claim.line.day in days:
            yield told(chronicle, f"false: {claim.kind}", claim.line.before, claim.line)
    for question in questions(chronicle):
        if question.is_known and question.outcome in {"evaded", "turned"} and question.line.day in days:
            yield told(chronicle, f"{question.outcome}: {question.kind}", question.line, question.reply)


def told(chronicle: Chronicle, what: str, *lines: SpokenLine | None) -> str:
    """What is wrong with the last of these lines, and the lines."""
    there = [line for line in lines if line is not None]
    words = " → ".join(f"{line.speaker}: {line.text}" for line in there)
    return f"{chronicle.reading.manifest.seed} {there[-1].event.id} day {there[-1].day} {what} | {one_line(words)}"


def rated(path: Path) -> str:
    """The shares of a table that somebody has rated."""
    counts = ratings(path.read_text(encoding="utf-8"))
    total = max(1, counts.total())
    return ", ".join(f"{name} {counts[name]} ({100 * counts[name] / total:.0f} %)" for name in RATINGS)


def days_of(text: str) -> list[int]:
    """`14` → 1 … 14, `4-7` → 4 … 7, `1,7-9` → 1, 7, 8, 9."""
    try:
        spans = [part.partition("-") for part in (f"1-{text}" if text.isdecimal() else text).split(",")]
        days = sorted({day for first, _, last in spans for day in range(int(first), int(last or first) + 1)})
    except ValueError:
        days = []
    if not days or days[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} names no days; expected 14, or 4-7, or 1,7,14")
    return days


def main() -> None:
    """Print a table, JSON lines, lines to rate, or what was rated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="read these runs instead of making some")
    parser.add_argument("--scenario", default="latticeville", help="what to run (default: latticeville)")
    parser.add_argument("--days", type=days_of, default=days_of("14"), help="14, or 4-7, or 1,7,14 (default: 14)")
    parser.add_argument("--seeds", type=lambda text: [int(one) for one in text.split(",")], default=[7, 11, 23])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the runs here, and use those that are here")
    parser.add_argument("--each", action="store_true", help="a table for each run, too")
    parser.add_argument("--json", action="store_true", help="a line per run and day")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="show what an earlier --json has next to it")
    parser.add_argument("--wrong", action="store_true", help="list false statements and known answers not given")
    parser.add_argument("--sample", type=int, metavar="N", help="print N lines of the days for rating, as Markdown")
    parser.add_argument("--seed", type=int, default=1, help="which lines are drawn (default: 1)")
    parser.add_argument("--rated", type=Path, metavar="FILE", help="read the ratings of such a table")
    given = parser.parse_args()
    try:
        if given.rated:
            print(rated(given.rated))
            return
        with ExitStack() as stack:
            folder = given.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
            folder.mkdir(parents=True, exist_ok=True)
            chronicles = [Chronicle(stack.enter_context(Reading.open(path))) for path in runs_of(given, folder)]
            if given.wrong:
                print("\n".join(line for one in chronicles for line in wrong(one, given.days)))
            elif given.sample:
                print(as_table(drawn(chronicles, given.sample, given.seed, given.days)), end="")
            else:
                print("\n".join(measured(chronicles, given)))
    except CommonplaceError as error:
        sys.exit(f"town_reading: {error}")


if __name__ == "__main__":
    main()
