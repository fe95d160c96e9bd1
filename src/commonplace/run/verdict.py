"""The verdict on the minds of a run: for which tasks a model was too small, by what became of its answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from commonplace.languages import phrases
from commonplace.minds.mind import LOST
from commonplace.run.manifest import OFFLINE

LEAST = 5
"""Questions of a task from which on it is judged by itself; the other tasks of a mind are judged together."""
LEVELS = (("unfit", 0.5), ("weak", 0.1))
"""Verdict → share of the answers that were replaced, or lost their words or their action, from which on it holds."""
SERVERS = frozenset({"timeout", "outage", "page", "choices", "overflow", "refused_request", "client", "vectors"})
"""Kinds of fault that say nothing about the model."""
MOST_KINDS = 3


class Judged(NamedTuple):
    """What became of the questions of one task that one mind was asked, or of all its rare tasks."""

    mind: str
    tasks: str
    asked: int
    bad: int
    """Fallbacks, and answers that lost their words or their action."""
    kinds: Mapping[str, int]
    """What was wrong, by kind: faults of attempts and flaws of answers that were used."""

    @property
    def level(self) -> str:
        """`unfit` or `weak`; `away` where the server is to blame; empty where there is nothing to say."""
        share = self.bad / self.asked if self.asked else 0.0
        level = next((name for name, least in LEVELS if share >= least), "")
        servers = sum(count for kind, count in self.kinds.items() if kind in SERVERS)
        return "away" if level and servers * 2 > sum(self.kinds.values()) else level


def verdicts(rows: Iterable[Mapping[str, Any]], language: str) -> list[str]:
    """A sentence for each task that a mind did badly, the worst first; none for the offline mind.

    `rows`: those of `Reading.usage`, with or without the total.
    """
    told = phrases(language, "verdicts")
    found = sorted(_judged(rows), key=lambda one: (-one.bad / max(1, one.asked), one.tasks, one.mind))
    return [
        told[one.level].format(mind=one.mind, tasks=one.tasks, bad=one.bad, asked=one.asked, kinds=_most(one.kinds))
        for one in found
        if one.level
    ]


def _judged(rows: Iterable[Mapping[str, Any]]) -> list[Judged]:
    rows = [row for row in rows if row["mind"] not in {"", OFFLINE}]
    asked = Counter[tuple[str, str]]()
    for row in rows:
        asked[row["mind"], row["task"]] += row["asked"]
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        mind, task = row["mind"], row["task"]
        groups.setdefault((mind, task if asked[mind, task] >= LEAST else ""), []).append(row)
    return [_summed(mind, group) for (mind, _), group in groups.items()]


def _summed(mind: str, rows: Iterable[Mapping[str, Any]]) -> Judged:
    tasks, asked, bad, kinds = set[str](), 0, 0, Counter[str]()
    for row in rows:
        tasks.add(row["task"])
        asked += row["asked"]
        bad += row["fallbacks"] + row["lost"]
        kinds.update(row["faults"])
        kinds.update({flaw: count for flaw, count in row["flaws"].items() if flaw in LOST})
    return Judged(mind, ", ".join(sorted(tasks)), asked, bad, kinds)


def _most(kinds: Mapping[str, int]) -> str:
    """`dropped 38, json 5`."""
    most = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))[:MOST_KINDS]
    return ", ".join(f"{kind} {count}" for kind, count in most)
