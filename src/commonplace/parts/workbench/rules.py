"""`rules`: which rows of the offline mind's tables and which lines of the scenario's author decided, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from commonplace.cli.options import JSON, RUN
from commonplace.cli.output import print_json, print_table
from commonplace.cognition.authors_lines import lines_in
from commonplace.minds.offline.answers import ANSWERS
from commonplace.minds.offline.at_event import AT_EVENT
from commonplace.minds.offline.converse import TALK
from commonplace.minds.offline.favours import FAVOURS
from commonplace.minds.offline.openings import OPENINGS
from commonplace.minds.offline.react import PLANS, REACTIONS, WISHES
from commonplace.minds.offline.replies import REPLIES
from commonplace.minds.offline.rule_tables import JOINED, RuleTable
from commonplace.minds.offline.sayings import WEIGHTS
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.scenario.scenario import Scenario
from commonplace.scenario.telling import Terms
from commonplace.text import shortened
from commonplace.world.events import Spoke

TABLES: Mapping[str, tuple[RuleTable[Any], ...]] = {
    "react": (REACTIONS, PLANS), "converse": (TALK, OPENINGS, REPLIES, ANSWERS, FAVOURS, AT_EVENT),
}  # fmt: skip
"""Task → what decides its answers, besides the wishes that a meeting goes on from."""
WIDE, BRIEF = 70, 24
"""Characters of a line that a table shows; of one that has to be heard before it."""


def rules(run: Place = RUN, as_json: bool = JSON) -> None:
    """Show which rows decided what the characters did, which lines with conditions they said, and which never."""
    with Reading.open(run) as reading:
        rows, lines = list(_rows(reading)), list(_lines(reading))
    if as_json:
        print_json([*rows, *lines])
        return
    print_table(("times", "task", "row", "when"), (_row_cells(row) for row in rows if row["times"]), words=4)
    if never := [f"{row['task']} {row['row']}" for row in rows if not row["times"]]:
        print(f"never: {', '.join(never)}")
    if lines:
        print()
        print_table(("said", "allowed", "held back", "line", "when"), map(_line_cells, lines), words=5)


def _rows(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yields the rows by task, the most frequent first, with their conditions; also rows that only the run has."""
    answers = ((row.task, row.usage["row"]) for row in reading.answers() if "row" in row.usage)
    times = Counter((task, one) for task, row in answers for one in row.split(JOINED))
    for task, name in sorted({*_KNOWN, *times}, key=lambda key: (-times[key], key)):
        yield {"task": task, "row": name, "times": times[task, name], "when": _KNOWN.get((task, name), [])}


def _known() -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Yields (task, row) and its conditions, of all that can decide."""
    meeting = next(row for row in REACTIONS.rows if row.name == "meeting")
    for row in WISHES.rows:
        if row.cells["purpose"]:
            yield ("react", f"{meeting.name}.{row.name}"), [one.written for one in (*meeting.when, *row.when)]
    for task, tables in TABLES.items():
        rows = (row for table in tables for row in table.rows if row is not meeting)
        yield from (((task, row.name), [one.written for one in row.when]) for row in rows)
    yield from ((("converse", kind), []) for kind in WEIGHTS)


_KNOWN = dict(_known())


def _lines(reading: Reading) -> Iterator[dict[str, Any]]:
    """Yields the lines with conditions, with how often each was said.

    It also counts how often a line was allowed when its memory came to mind in a talk, and how often it was then
    held back, by what.
    """
    terms = reading.scenario.terms
    if not terms:
        return
    bodies = (event.body for event in reading.events(type="SAY"))
    spoken = Counter(
        line for body in bodies if isinstance(body, Spoke) for line in lines_in(body.utterance, reading.scenario)
    )
    looked_at: dict[str, Counter[str]] = {line: Counter() for line in terms}
    for agent, tick in sorted({(row.agent, row.tick) for row in reading.answers() if row.task == "converse"}):
        for entry in reading.trace(agent, tick).get("lines", ()):
            if entry["say"] in looked_at:
                looked_at[entry["say"]][entry["failed"].partition(" (")[0]] += 1
    for line, of in terms.items():
        held = looked_at[line]
        allowed = held.pop("", 0)
        when = _conditions(of, reading.scenario)
        yield {"line": line, "when": when, "said": spoken[line], "allowed": allowed, "held_back": dict(held)}


def _conditions(terms: Terms, scenario: Scenario) -> list[str]:
    """Returns the conditions as they are written in the file."""
    people = {"who": terms.speakers, "only_to": terms.hearers}
    named = [
        f"{key} {' '.join(scenario.personas[one].called for one in sorted(of))}" for key, of in people.items() if of
    ]
    once = ["once ever"] if terms.once == "ever" else []
    return [*terms.when, *named, *(f"after “{shortened(one, BRIEF)}”" for one in terms.after), *once]


def _row_cells(row: Mapping[str, Any]) -> list[str]:
    return [f"{row['times']:,}", row["task"], row["row"], ", ".join(row["when"]) or "–"]


def _line_cells(row: Mapping[str, Any]) -> list[str]:
    held = ", ".join(f"{count} {failed}" for failed, count in sorted(row["held_back"].items(), key=lambda one: -one[1]))
    return [
        f"{row['said']:,}",
        f"{row['allowed']:,}",
        held or "0",
        shortened(row["line"], WIDE),
        ", ".join(row["when"]),
    ]
