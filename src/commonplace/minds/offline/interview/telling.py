"""A memory in the character's own words, by what the simulator knows of its making."""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.interview.interview import Interview, Piece
from commonplace.minds.offline.told import ended
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Hour,
    ISaid,
    Left,
    Planned,
    Said,
    Seen,
    Sky,
    Talked,
    Voiced,
    Walked,
)

_RULES: Mapping[type[Happening], tuple[str, ...]] = {
    Talked: (), Hour: (), Planned: (), Said: ("tell.said", "tell.overheard"), ISaid: ("tell.i_said",),
    Did: ("tell.did",), Seen: ("tell.doing",), Walked: ("tell.walked",), Came: ("tell.arrived",), Left: ("tell.left",),
    Befell: ("tell.event",), Voiced: ("tell.voice",), Sky: ("weather.was",), Changed: ("thing",),
    Absent: ("thing.absent",), Failed: ("thing.refused",),
}  # fmt: skip
"""Kind of memory → the rules that word it, the first that can; none for what nobody would mention."""


def tell(talk: Interview, note: Recalled) -> Piece | None:
    """A memory in the character's own words; None for one that nobody would mention, or in another language."""
    it = note.happening
    if not talk.language.speaks(it.quote or " ".join((*note.tell, note.text))):
        return None
    rules = _RULES.get(type(it))
    if rules is not None:
        return next(filter(None, (talk.say(rule, note) for rule in rules)), None)
    if isinstance(it, Concluded):
        # What the simulator worded for saying is in the first person already: `her` in it is somebody else.
        text = it.say or " ".join(talk.language.first_person(talk.given.who, note.text))
        return Piece(ended(text), (note.id,), text.rstrip("."))
    return _text(talk, note)


def _text(talk: Interview, note: Recalled) -> Piece | None:
    """What the author gave to say, else the sentence itself in the first person."""
    if any(
        fact.starts and fact.starts <= talk.given.situation.moment for fact in talk.given.facts if fact.id in note.facts
    ):
        return None  # nobody is invited to what is over
    lines = [line for line in note.tell if line.lower() not in talk.said] or list(note.tell)
    lines = [line for line in lines if any(talk.has(word, line) for word in talk.asked.words)] or lines
    if lines:
        line = lines[talk.dice.with_(note.id).below(len(lines), "tell")]
        return Piece(line, (note.id,), line)
    text = " ".join(talk.language.first_person(talk.given.who, note.text))
    return Piece(text, (note.id,), text) if text else None
