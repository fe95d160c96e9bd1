"""What a prompt says of a character's own past and of what it means to do: what passed with whom it talks, in names
of subjects.

Rows of the talk that is shown are left out, so that the sentence stays the same while the talk goes on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from commonplace.character.account import as_topic
from commonplace.minds.notes import GoalNote, Past, PastNote
from commonplace.minds.prompts.teller import plain
from commonplace.minds.tasks.offers import Choices, title_of
from commonplace.text import shortened

Values = Mapping[str, Any]

BETWEEN = (
    "told", "heard", "asked", "was_asked", "promised", "agreed", "declined", "refused", "kept", "broke",
    "hurt", "pleased",
)  # fmt: skip
"""Kinds in the order in which they are told."""
MOST_TOPICS, MOST_ELSEWHERE, MOST_NAMES, MOST_ATTENDED, MOST_PROMISES = 2, 1, 2, 2, 4
TALK = 60
"""Minutes: what happened since belongs to the talk that is shown, if there is one."""
LATELY = 2 * 24 * 60
MOST_GOALS = 4
LONGEST_TOPIC, LONGEST_EVENT, LONGEST_GOAL = 40, 70, 120


def between(past: Past, other: str, called: str, language: str, *, talking: bool) -> Values:
    """Returns what passed between the character and another, by kind: `rows` of `{kind, topics}`."""
    earlier = [note for note in past.notes if not talking or note.minutes_ago > TALK or note.times > 1]
    return {"called": called, "rows": _by_kind((note for note in earlier if note.other == other), language)}


def spoken_of(past: Past, present: Collection[str], language: str) -> Values:
    """Returns what the character knows about the subjects of the talk: `elsewhere`, from whom it has heard of them and
    whom it told, besides those who are `present`; `seen`, where it last saw the people named; `did`, its own deeds."""
    return {
        "elsewhere": _elsewhere(past, present, language),
        "seen": [
            {"called": plain(note.called), "place": plain(note.text), "minutes": note.minutes_ago}
            for note in past.notes
            if note.kind == "saw"
        ],
        "did": [plain(note.named) for note in past.notes if note.kind == "did" and not note.topic],
    }


def lately_values(past: Past, language: str) -> Values:
    """Returns promises, and the character's deeds of the last two days: what a plan has to know."""
    promises = [note for note in past.notes if note.kind in ("promised", "broke") and note.topic]
    attended = [note for note in past.notes if note.kind == "attended" and note.minutes_ago <= LATELY]
    return {
        "promises": [
            {"kind": note.kind, "called": plain(note.called), "topic": _topic(note, language)}
            for note in promises[:MOST_PROMISES]
        ],
        "attended": [
            shortened(plain(note.text), LONGEST_EVENT) if note.text else _topic(note, language)
            for note in attended[:MOST_ATTENDED]
        ],
    }


def goal_values(goals: Iterable[GoalNote], places: Choices | None = None) -> list[Values]:
    """Returns the first goals: their progress and the day they are due; with `places`, also where and when, and what
    they lack."""
    return [
        {
            "text": shortened(plain(goal.text), LONGEST_GOAL),
            "day": plain(goal.day),
            "steps": goal.steps,
            "done_steps": goal.done_steps,
            "at": [plain(one) for one in (places.label(goal.place, ""), goal.time) if one] if places else [],
            "lacks": plain(goal.lacks) if places else "",
        }
        for goal in list(goals)[:MOST_GOALS]
    ]


def _by_kind(notes: Iterable[PastNote], language: str) -> list[Values]:
    topics: dict[str, dict[str, str]] = {kind: {} for kind in BETWEEN}
    # by the first memory: a subject keeps its place when it comes up again
    for note in sorted(notes, key=lambda note: -note.because[0] if note.because else 0):
        name = plain(note.act) if note.kind in ("hurt", "pleased") else _topic(note, language)
        if name and note.kind in topics and len(topics[note.kind]) < MOST_TOPICS:
            topics[note.kind].setdefault(as_topic(name), name)
    return [{"kind": kind, "topics": list(found.values())} for kind, found in topics.items() if found]


def _elsewhere(past: Past, present: Collection[str], language: str) -> Sequence[Values]:
    found: dict[str, dict[str, Any]] = {}
    for note in past.notes:
        if note.kind in ("told", "heard") and note.other and note.other not in present:
            topic = _topic(note, language)
            row = found.setdefault(as_topic(topic), {"topic": topic, "told": [], "heard": []})
            names: list[str] = row[note.kind]
            if (name := plain(note.called)) not in names and len(names) < MOST_NAMES:
                names.append(name)
    return list(found.values())[:MOST_ELSEWHERE]


def _topic(note: PastNote, language: str) -> str:
    """Returns the subject in words; for news, its title."""
    return shortened(plain(note.named or (title_of(note.text, language) if note.text else note.topic)), LONGEST_TOPIC)
