"""Tables about a run: who is where, and what was asked of the mind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from commonplace.memory.record import Emotion
from commonplace.run.record import AnswerRow

if TYPE_CHECKING:
    from commonplace.run.reading import Reading

MOOD_MEMORIES = 10
"""How many of the latest felt memories a mood is made of."""
SPENT = ("calls", "prompt_tokens", "cached_tokens", "answer_tokens", "cost")
COUNTS = ("asked", "from_cache", "fallbacks", *SPENT)


def agents(reading: Reading, tick: int) -> list[dict[str, str]]:
    """`{id, name, place, doing, plan_item, mood}` of everybody in the world, by id."""
    return [
        {
            "id": me,
            "name": agent.name,
            "place": agent.position,
            "doing": agent.doing,
            "plan_item": agent.plan_item,
            "mood": mood(memory.emotion for memory in reading.memories(me, tick)),
        }
        for me, agent in reading.frame(tick).agents.items()
    ]


def mood(emotions: Iterable[Emotion | None]) -> str:
    """A word for the mean of the latest emotions: calm, or by valence and arousal glad, thrilled, low, upset."""
    felt = [emotion for emotion in emotions if emotion is not None][-MOOD_MEMORIES:]
    if not felt:
        return "calm"
    valence = sum(emotion.valence for emotion in felt) / len(felt)
    stirred = sum(emotion.arousal for emotion in felt) / len(felt) > 0.5
    if valence > 0.2:
        return "thrilled" if stirred else "glad"
    if valence < -0.2:
        return "upset" if stirred else "low"
    return "tense" if stirred else "calm"


def usage(answers: Iterable[AnswerRow]) -> list[dict[str, Any]]:
    """A row per (character, task) and a total line with empty ids. A question asked again counts once.

    `from_cache` counts questions whose answer was found in the journal, `fallbacks` those without a usable answer;
    calls, tokens and cost (in the mind's currency) are those of all attempts, and `faults` counts by kind the attempts
    that failed.
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for (agent, _, _), group in groupby(answers, key=lambda row: (row.agent, row.tick, row.ordinal)):
        attempts = list(group)
        row = rows.setdefault((agent, attempts[0].task), {**dict.fromkeys(COUNTS, 0), "faults": Counter[str]()})
        _add(row, _counted(attempts))
    total: dict[str, Any] = {**dict.fromkeys(COUNTS, 0), "faults": Counter[str]()}
    for row in rows.values():
        _add(total, row)
    named = [{"agent_id": agent, "task": task, **row} for (agent, task), row in sorted(rows.items())]
    return [_plain(row) for row in (*named, {"agent_id": "", "task": "", **total})]


def _counted(attempts: list[AnswerRow]) -> dict[str, Any]:
    failed = [row for row in attempts if row.outcome != "value"]
    return {
        "asked": 1,
        "from_cache": int(any(row.usage.get("from_cache") for row in attempts)),
        "fallbacks": int(len(failed) == len(attempts)),
        **{name: sum(row.usage.get(name, 0) for row in attempts) for name in SPENT},
        "faults": Counter(row.usage.get("kind") or row.outcome for row in failed),
    }


def _add(row: dict[str, Any], counts: Mapping[str, Any]) -> None:
    for name in (*COUNTS, "faults"):
        row[name] += counts[name]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "faults": dict(sorted(row["faults"].items()))}
