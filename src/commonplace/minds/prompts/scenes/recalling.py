"""What most scenes share: retrieved memories, the lines of a talk, facts that a memory carries, known places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.minds.notes import Recalled, Spoken, Spot
from commonplace.minds.prompts.prompt import Setting
from commonplace.minds.prompts.telling import kept, plain, speech, teller_of
from commonplace.minds.prompts.wire.choices import places
from commonplace.minds.tasks import ConverseInput, ReactInput
from commonplace.text import shortened

Values = dict[str, Any]

TALKING = 6
"""Memories shown when only words are asked for."""
MOST_SAID = 3
"""Earlier lines of the day shown so that they are not said again."""
LONGEST_LINE = 400


def recalling(given: Any, setting: Setting, drop: int, most: int = TALKING) -> Values:
    """A task with retrieved memories and perhaps a talk."""
    told = teller_of(given, setting).memories(given.recalled)
    lines = getattr(given, "lines", ())
    return {"memories": kept(told, most, drop), "lines": spoken_lines(lines)}


def spoken_lines(lines: Sequence[Spoken], longest: int = LONGEST_LINE) -> list[Values]:
    return [{"called": plain(line.called), "text": shortened(speech(line.text), longest)} for line in lines]


def unsaid(notes: Sequence[Recalled], lines: Sequence[Spoken]) -> list[Recalled]:
    """Memories that are no lines of the talk, which stands in the prompt."""
    said = {line.text for line in lines if line.text}
    return [note for note in notes if note.frame.get("quote", "") not in said]


def said_before(mine: Sequence[str], lines: Sequence[Spoken]) -> list[str]:
    """The latest of the day's lines that do not stand in the talk."""
    shown = {line.text for line in lines}
    return [speech(line) for line in mine if line not in shown][-MOST_SAID:]


def facts(given: ReactInput | ConverseInput, shown: set[int]) -> list[Values]:
    """Facts that a memory in the prompt carries, with those in sight who have heard them."""
    carried = {fact: note.id for note in given.recalled for fact in note.facts if note.id in shown}
    if isinstance(given, ReactInput):
        carried |= {fact: entry.memory_id for entry in given.news for fact in entry.facts}
        called = {person.id: plain(person.called) for person in given.situation.people}
        heard = {
            fact: [called[who] for who, known in given.told.items() if fact in known and who in called]
            for fact in carried
        }
    else:
        heard = {fact: [plain(given.hearer.called)] for fact in given.told}
    return [
        {
            "id": fact.id,
            "memory": carried[fact.id],
            "heard": heard.get(fact.id, []),
            "place": plain(fact.place_name),
            "starts": fact.starts[11:16],
        }
        for fact in given.facts
        if fact.id in carried
    ]


def own_places(known: Sequence[Spot], setting: Setting) -> list[str]:
    """Places this character knows and not everybody."""
    public = {id for id, _ in setting.places}
    choices = places(known)
    return [choices.label(spot.id) for spot in known if spot.id not in public]
