"""`diff`: where two runs part, and what differs afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import typer

from commonplace.cli.output import print_table
from commonplace.parts.workbench.diff import diff as diff_of
from commonplace.run.manifest import minds_of
from commonplace.run.place import Place, place
from commonplace.run.reading import Reading
from commonplace.text import clean, shortened
from commonplace.views.lines import entry_of, json_line
from commonplace.views.town_names import TownNames
from commonplace.world.events import NOBODY, Event, parse_id

MOST = 12
"""Lines of a section; those left out are counted."""
WIDTH = 100
"""Characters of a text that is quoted."""
NONE = "–"
"""What is not there."""


def diff(
    first: Place = typer.Argument(parser=place, metavar="RUN", help="A run; called A."),
    second: Place = typer.Argument(parser=place, metavar="RUN", help="Another run; called B."),
    at: str | None = typer.Option(None, "--at", help="Compare up to this tick; the last that both have, if left out."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON value, with everything that differs."),
) -> None:
    """Show where two runs part, and what differs afterwards: events, places, facts known, beliefs, relations."""
    with Reading.open(first) as one, Reading.open(second) as other:
        found = diff_of(one, other, at)
        if as_json:
            print(json_line(found))
            return
        for line in _summary(found, (one, other)):
            print(line)
        if found["related"]:
            _Sections((one, other)).print(found)


def _summary(found: Mapping[str, Any], runs: Sequence[Reading]) -> Iterator[str]:
    for letter, run, reading in zip("AB", found["runs"], runs, strict=True):
        minds = minds_of(reading.manifest)
        asked = f"{'minds' if minds[1:] else 'mind'} {', '.join(minds)}"
        about = f"{run['scenario']}, seed {run['seed']}, {asked}, up to tick {run['last_tick']}"
        yield clean(f"{letter}  {run['path']}: {about}")
    if not found["related"]:
        yield "The two runs have different scenarios, so there is nothing to compare tick by tick."
        return
    settings = [name for name in found["settings"] if name not in ("seed", "mind")]
    if settings:
        yield f"Made with different settings: {', '.join(settings).replace('scenario_digest', 'scenario text')}."
    parted, state, last = found["parted"], found["state_parted"], found["compared"]
    if parted is None:
        yield f"The same history up to tick {last}, the last one compared."
    elif parted["tick"] == 0:
        yield f"They differ from tick 0 on; compared up to tick {last}."
    else:
        yield f"The same history up to tick {parted['tick'] - 1}."
        yield f"They part at tick {parted['tick']} ({parted['time']})."
        yield f"Compared up to tick {last} ({found['time']})."
    if state is not None and (parted is None or state["tick"] < parted["tick"]):
        yield f"The state differs from tick {state['tick']} on, first in: {', '.join(state['kinds'])}."


class _Sections:
    """The differences, a section each, in the names of the scenario."""

    def __init__(self, runs: tuple[Reading, Reading]) -> None:
        self._runs = runs
        one, other = (TownNames.of(run.scenario.part) for run in runs)
        # somebody may have come in one of them only
        self._town = replace(one, names={**other.names, **one.names}, called={**other.called, **one.called})

    def print(self, found: Mapping[str, Any]) -> None:
        """Prints the sections that have something to say."""
        if found["parted"] is not None:
            for letter, run, rows in zip("AB", self._runs, found["parted"]["events"], strict=True):
                events = [event for row in rows if (event := run.event(*parse_id(row["id"])))]
                title = f"Only in {letter} at tick {found['parted']['tick']}"
                _lines(title, [self._sentence(event) for event in events] or ["nothing"])
        counts = _by(found["events"], "type")
        _table("Events after that", ("type", "only A", "only B", "both"), counts, words=1)
        counts = _by(found["events"], "agent_id", self._who)
        _table("Events by character", ("who", "only A", "only B", "both"), counts, words=1)
        _table("Places", ("who", "ticks apart", "from tick", "then in A", "then in B", "at the end A", "B"),
               [self._place(row) for row in found["places"]], words=1)  # fmt: skip
        _lines("Facts known", [self._fact(row) for row in found["facts"]])
        _table("Beliefs", ("who", "about", "A", "B"), [self._belief(row) for row in found["beliefs"]], words=4)
        head = ("who", "sees", "as A", "as B", "warmth A", "B", "talks A", "B")
        _table("Relations", head, [self._relation(row) for row in found["relations"]], words=4)

    def _sentence(self, event: Event) -> str:
        entry = entry_of(event, self._town)
        to = f" → {self._town.who(entry.to)}:" if entry.to else ""
        who = f"{self._town.who(entry.agent_id)}{to} " if entry.agent_id else ""
        return f"{who}{shortened(entry.text, WIDTH)}  ({event.id})"

    def _place(self, row: Mapping[str, Any]) -> Sequence[str]:
        span = row["spans"][0]
        then, at_end = (tuple(self._where(place) for place in places) for places in (span["places"], row["at_end"]))
        return (self._who(row["agent_id"]), str(row["ticks"]), str(span["from"]), *then, *at_end)

    def _fact(self, row: Mapping[str, Any]) -> str:
        only = [", ".join(map(self._who, agents)) or "nobody" for agents in row["only"]]
        text = shortened(clean(row["text"]), WIDTH)
        return f"{clean(row['fact'])}: only in A {only[0]}; only in B {only[1]}; in both {len(row['both'])}  ({text})"

    def _belief(self, row: Mapping[str, Any]) -> Sequence[str]:
        cells = (self._believed(one) for one in row["believed"])
        return (self._who(row["agent_id"]), self._town.what(row["about"]), *cells)

    def _believed(self, known: Mapping[str, str] | None) -> str:
        if known is None:
            return NONE
        where = self._town.what(known["place"]) if known["place"] else "place unknown"
        return f"{known['state']}, {where}" if known["state"] else where

    def _relation(self, row: Mapping[str, Any]) -> Sequence[str]:
        words = [NONE if cell is None else cell or "met" for cell in row["label"]]
        figures = [NONE if cell is None else str(cell) for name in ("warmth", "talks") for cell in row[name]]
        return (self._who(row["agent_id"]), self._who(row["other"]), *words, *figures)

    def _who(self, agent_id: str) -> str:
        return "the world" if agent_id == NOBODY else self._town.who(agent_id)

    def _where(self, place: str | None) -> str:
        return NONE if place is None else self._town.where(place)


def _by(events: Sequence[Mapping[str, Any]], key: str, name: Any = str) -> list[Sequence[str]]:
    """Counts of events by one of their keys, the most different first."""
    counts: dict[str, Counter[str]] = {}
    for row in events:
        a, b = row["only"]
        counts.setdefault(row[key], Counter()).update({"a": a, "b": b, "both": row["both"]})
    ordered = sorted(counts.items(), key=lambda item: (-item[1]["a"] - item[1]["b"], item[0]))
    return [(name(one), str(count["a"]), str(count["b"]), str(count["both"])) for one, count in ordered]


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, words: int) -> None:
    if rows:
        print(f"\n{title}")
        print_table(head, rows[:MOST], words=words)
        _print_rest(rows)


def _lines(title: str, lines: Sequence[str]) -> None:
    if lines:
        print(f"\n{title}")
        for line in lines[:MOST]:
            print(f"  {line}")
        _print_rest(lines)


def _print_rest(rows: Sequence[object]) -> None:
    if len(rows) > MOST:
        print(f"  … and {len(rows) - MOST} more; --json has them all")
