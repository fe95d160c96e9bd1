"""What characters know of their own past and mean to do, read back from a run as rows of JSON."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import timedelta
from typing import Any, cast

from commonplace.character.account import AccountRow
from commonplace.character.goal import Goal
from commonplace.clock import hhmm, iso, midnight
from commonplace.memory import Memory
from commonplace.run.explained import GoalRow, PastRow
from commonplace.run.reading import Reading
from commonplace.text import clean, shortened
from commonplace.world.happenings import Befell, happening_of


def account(reading: Reading, agent: str, at: int | str | None = None) -> list[PastRow]:
    """Returns the rows of a character's account at the end of a tick, latest first."""
    return [past_row(reading, agent, entry) for entry in reading.state_at(agent, at).account.all()]


def resting_on(reading: Reading, agent: str, tick: int, memories: Collection[int]) -> list[PastRow]:
    """Returns the rows that cite any of these memories, as they were before a tick."""
    if not memories or tick < 1:
        return []
    entries = reading.state_at(agent, tick - 1).account.all()
    return [past_row(reading, agent, entry) for entry in entries if not set(memories).isdisjoint(entry.because)]


def goals(reading: Reading, agent: str, at: int | str | None = None) -> list[GoalRow]:
    """Returns a character's goals at the end of a tick: open ones first, then those that have ended, latest first."""
    return [goal_row(reading, agent, goal) for goal in reading.goals_at(agent, at).all()]


def meant(reading: Reading, agent: str, tick: int, memories: Collection[int]) -> list[GoalRow]:
    """Returns the goals that were open before a tick and rest on any of these memories."""
    if not memories or tick < 1:
        return []
    goals = reading.goals_at(agent, tick - 1).open()
    return [goal_row(reading, agent, goal) for goal in goals if not set(memories).isdisjoint(goal.because)]


def goal_row(reading: Reading, agent: str, goal: Goal) -> GoalRow:
    """Returns a goal as it is shown."""
    memory = reading.memory(agent, goal.moved_by)
    shown: dict[str, Any] = {name: cell for name, cell in asdict(goal).items() if name not in _UNSHOWN}
    shown |= {
        "hour": hhmm(midnight(reading.time(0)) + timedelta(minutes=goal.hour)) if goal.hour >= 0 else "",
        "opened": iso(reading.time(goal.opened)),
        "changed": iso(reading.time(goal.changed)),
        "due": iso(reading.time(goal.due)) if goal.due >= 0 else "",
        "because": list(goal.because),
        "event": memory.event if memory else "",
        "memory": memory.text if memory else "",
    }
    return cast("GoalRow", shown)


_UNSHOWN = ("act", "topic", "named")
"""Fields of a goal that no view shows."""


def past_row(reading: Reading, agent: str, entry: AccountRow) -> PastRow:
    """Returns a row of an account as it is shown."""
    memory = reading.memory(agent, entry.because[-1]) if entry.because else None
    return {
        "kind": entry.kind,
        "other": entry.other,
        "act": entry.act,
        "topic": entry.named or entry.topic,
        "text": _text(reading, entry, memory),
        "times": entry.times,
        "since": iso(reading.time(entry.since)),
        "time": iso(reading.time(entry.tick)),
        "due": iso(reading.time(entry.due)) if entry.due >= 0 else "",
        "because": list(entry.because),
        "event": memory.event if memory else "",
        "memory": memory.text if memory else "",
    }


def _text(reading: Reading, entry: AccountRow, memory: Memory | None) -> str:
    fact = reading.scenario.fact(entry.topic)
    if fact is not None:
        return fact.said_in(reading.scenario.language)
    if memory is None or entry.kind != "attended":
        return ""
    befell = happening_of(memory.details)
    return befell.text if isinstance(befell, Befell) else ""


# ── as text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


SHOWN = 96
"""Characters of a text in a line."""


def account_text(row: PastRow) -> str:
    """Describes a row of an account: `asked ezekiel (ask.topic) about the cough, 2 times, last on 2031-10-05 09:10`."""
    act = f" ({row['act']})" if row["act"] else ""
    topic = shortened(clean(row["text"] or row["topic"]), SHOWN)
    named = f"“{topic}”" if row["text"] else topic
    about = f" {'about ' if row['other'] else ''}{named}" if topic else ""
    often = f", {row['times']} times, last on" if row["times"] > 1 else ","
    kind = " ".join(filter(None, (row["kind"].replace("_", " "), row["other"])))
    return f"{kind}{act}{about}{often} {_when(row['time'])}"


def goal_text(row: GoalRow) -> str:
    """Describes a goal in a line: `open promise: lend Mira the ladder, by 2031-10-07 21:00`."""
    steps = f", {row['done_steps']} of {row['steps']} steps" if row["steps"] > 1 else ""
    due = f", by {_when(row['due'])}" if row["due"] and row["status"] == "open" else ""
    since = "" if row["status"] == "open" else f", {_when(row['changed'])}"
    status = row["status"].replace("_", " ")
    return f"{status} {row['kind']}: {shortened(clean(row['text']), SHOWN)}{steps}{due}{since}"


def _when(moment: str) -> str:
    return moment[:16].replace("T", " ")
