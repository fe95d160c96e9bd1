"""Scenes in which the past is weighed: ratings, questions, insights, the view of an acquaintance."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.minds.notes import Recalled
from commonplace.minds.prompts.prompt import Setting
from commonplace.minds.prompts.scenes.recalling import Values, spoken_lines, unsaid
from commonplace.minds.prompts.telling import LONGEST_LISTED, Told, kept, plain, teller_of
from commonplace.minds.tasks import InsightsInput, QuestionsInput, RateInput, RelateInput

MOST_EARLIER = 5
"""Earlier reflections shown so that they are not thought again."""
LONGEST_EVIDENCE = 90
"""Characters of a memory that is evidence and was not listed before."""
RELATING = 4
"""Memories shown besides the talk itself."""
ROUND = 100
"""Lists of a hundred memories begin at ids that this divides: once in each list."""
LONGEST_TALKED = 120
"""Characters of a line of a talk that is over."""


Shown = list[tuple[Told, Recalled]]


def rate(given: RateInput, setting: Setting, drop: int) -> Values:
    del drop
    teller = teller_of(given, setting)
    return {"texts": [teller.bare(text) for text in given.texts]}


def questions(given: QuestionsInput, setting: Setting, drop: int) -> Values:
    """All recent memories; `drop` leaves out the oldest."""
    latest, before = _listed(given, setting, drop)
    return {"hours": by_hour(latest), "before": by_hour(before), "memories": [told for told, _ in (*latest, *before)]}


def _listed(given: QuestionsInput | InsightsInput, setting: Setting, drop: int) -> tuple[Shown, Shown]:
    """The memories from a round number on, then those before it, oldest first.

    So the next reflection, of a window that has moved on, often begins with the same lines, which a server knows. Of
    memories that say the same the first is shown, and no beginning of a talk whose words follow.
    """
    teller = teller_of(given, setting)
    recent = given.recent[drop:]
    spoken = {(note.frame.get("who"), note.frame.get("to")) for note in recent if note.frame.get("what") == "said"}
    turn = next((index for index, note in enumerate(recent) if note.id % ROUND == 0), 0)
    shown: dict[str, tuple[Told, Recalled]] = {}
    for note in (*recent[turn:], *recent[:turn]):
        if note.frame.get("what") != "talk" or (note.frame.get("who"), note.frame.get("to")) not in spoken:
            told = teller.memory(note, LONGEST_LISTED)
            shown.setdefault(told.text, (told, note))
    older = {note.id for note in recent[:turn]}
    return (
        [pair for pair in shown.values() if pair[1].id not in older],
        [pair for pair in shown.values() if pair[1].id in older],
    )


def by_hour(shown: Sequence[tuple[Told, Recalled]]) -> list[Values]:
    """Memories under the hour they are of; comings and goings shrink to a list of names."""
    hours: dict[str, Values] = {}
    for told, note in shown:
        when = told.when[:-3]
        hour = hours.setdefault(when, {"when": when, "memories": [], "came": [], "left": []})
        what = {"arrived": "came", "left": "left"}.get(note.frame.get("what", ""), "")
        if what:
            hour[what].append({"id": told.id, "called": plain(note.frame.get("called", ""))})
        else:
            hour["memories"].append(told)
    return list(hours.values())


def insights(given: InsightsInput, setting: Setting, drop: int) -> Values:
    """The evidence by question; only memories that have not been listed are told in words."""
    teller = teller_of(given, setting)
    listed = {told.id for part in _listed(given, setting, drop) for told, _ in part}
    evidence: list[Values] = []
    for entry in given.evidence:
        new = [note for note in entry.recalled if note.id not in listed]
        listed |= {note.id for note in new}
        evidence.append(
            {
                "question": plain(entry.question),
                "ids": [note.id for note in entry.recalled],
                "new": [teller.memory(note, LONGEST_EVIDENCE) for note in new],
            }
        )
    return {
        "evidence": evidence,
        "earlier": [teller.bare(text, LONGEST_LISTED) for text in given.earlier[:MOST_EARLIER]],
        "memories": [note for entry in evidence for note in entry["new"]],
    }


def relate(given: RelateInput, setting: Setting, drop: int) -> Values:
    """The talk, and what is remembered besides its lines."""
    told = teller_of(given, setting).memories(unsaid(given.recalled, given.lines), LONGEST_EVIDENCE)
    return {"memories": kept(told, RELATING, drop), "lines": spoken_lines(given.lines, LONGEST_TALKED)}
