"""What was asked of a mind, and what it cost, added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from commonplace.minds.mind import LOST
from commonplace.run.tick_record import AnswerRow

SPENT = ("calls", "reused", "needless", "prompt_tokens", "cached_tokens", "answer_tokens", "cost")
COUNTS = ("asked", "from_cache", "fallbacks", "lost", *SPENT)
KINDS = ("faults", "flaws")


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
        """A row per (character, task), in that order."""
        return [{"agent_id": agent, "task": task, **_plain(row)} for (agent, task), row in sorted(self._rows.items())]

    def total(self) -> dict[str, Any]:
        """The sum of all rows, with empty ids."""
        total = _nothing()
        for row in self._rows.values():
            _add(total, row)
        return {"agent_id": "", "task": "", **_plain(total)}

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
    return {**dict.fromkeys(COUNTS, 0), **{name: Counter[str]() for name in KINDS}}


def _add(row: dict[str, Any], counts: Mapping[str, Any]) -> None:
    for name in (*COUNTS, *KINDS):
        row[name] += counts[name]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, **{name: dict(sorted(row[name].items())) for name in KINDS}}
