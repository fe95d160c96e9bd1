"""The minds of a run: who answers which questions, what that cost, and which models were too small for their tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from commonplace.languages import phrases
from commonplace.minds.mind import LOST
from commonplace.minds.several import by_task
from commonplace.run.manifest import OFFLINE, Manifest, own_minds, task_settings
from commonplace.run.rows import AnswerRow
from commonplace.scenario.model import MindPart


def task_minds(manifest: Manifest) -> dict[str, MindPart]:
    """Returns who answers the questions of some tasks or groups, and how, by their names."""
    return {name: MindPart.model_validate(part) for name, part in task_settings(manifest).items()}


def mind_by_question(manifest: Manifest) -> Callable[[str, str], str]:
    """Returns the function (character, task) → name of the mind that is asked."""
    own, tasks = own_minds(manifest), by_task(task_minds(manifest))

    def mind(agent: str, task: str) -> str:
        return own.get(agent) or (tasks[task].mind if task in tasks else "") or manifest.mind

    return mind


# ── what was asked, and what it cost ─────────────────────────────────────────────────────────────────────────────────


SPENT = ("calls", "reused", "needless", "prompt_tokens", "cached_tokens", "answer_tokens", "cost")
COUNTS = ("asked", "from_cache", "fallbacks", "lost", *SPENT)
COUNTED = ("faults", "flaws")


class Usage:
    """What was asked of a mind, added up by (character, task). A question asked again counts once.

    `from_cache` counts questions whose answer was found in the journal, `reused` those that a cache of answers had,
    `fallbacks` those that ended without a usable answer; calls, tokens and cost (in the mind's currency) are those of
    all attempts, and `faults` counts by kind the attempts that failed. `flaws` counts by kind what was wrong with the
    answers that were used (`minds.mind.Flaw`), and `lost` those that lost their words or their action by it.
    `needless` are questions besides those asked, which were not put to the mind because there was nothing to decide.
    """

    def __init__(self, decided: int) -> None:
        """`decided`: the last committed tick. A question of a later one without a usable answer may still get one."""
        self._decided = decided
        self._rows: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, answers: Iterable[AnswerRow]) -> None:
        """Count attempts; those at one question together, in order."""
        for (agent, _, _), group in groupby(answers, key=lambda row: (row.agent, row.tick, row.ordinal)):
            attempts = list(group)
            row = self._rows.setdefault((agent, attempts[0].task), _nothing())
            _add(row, self._counted(attempts))

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row per (character, task), in that order."""
        return [{"agent_id": agent, "task": task, **_listed(row)} for (agent, task), row in sorted(self._rows.items())]

    def total(self) -> dict[str, Any]:
        """Returns the sum of all rows, with empty ids."""
        total = _nothing()
        for row in self._rows.values():
            _add(total, row)
        return {"agent_id": "", "task": "", **_listed(total)}

    def _counted(self, attempts: list[AnswerRow]) -> dict[str, Any]:
        failed = [row for row in attempts if row.outcome != "value"]
        flaws: Mapping[str, int] = attempts[-1].usage.get("flaws", {})
        return {
            "asked": int(not attempts[0].usage.get("needless")),
            "from_cache": int(any(row.usage.get("from_cache") for row in attempts)),
            "fallbacks": int(len(failed) == len(attempts) and attempts[0].tick <= self._decided),
            "lost": int(not LOST.isdisjoint(flaws)),
            **{name: sum(row.usage.get(name, 0) for row in attempts) for name in SPENT},
            "faults": Counter(row.usage.get("kind") or row.outcome for row in failed),
            "flaws": Counter(flaws),
        }


def _nothing() -> dict[str, Any]:
    return {**dict.fromkeys(COUNTS, 0), **{name: Counter[str]() for name in COUNTED}}


def _add(row: dict[str, Any], counts: Mapping[str, Any]) -> None:
    for name in (*COUNTS, *COUNTED):
        row[name] += counts[name]


def _listed(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, **{name: dict(sorted(row[name].items())) for name in COUNTED}}


# ── the verdict ───────────────────────────────────────────────────────────────────────────────────────────────────────


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
    """Returns a sentence for each task that a mind did badly, the worst first; none for the offline mind.

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
    """Lists the most frequent kinds: `dropped 38, json 5`."""
    most = sorted(kinds.items(), key=lambda one: (-one[1], one[0]))[:MOST_KINDS]
    return ", ".join(f"{kind} {count}" for kind, count in most)
