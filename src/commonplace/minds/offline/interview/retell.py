"""A memory in the character's own words, by what the simulator knows of its making."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.interview.interview import Interview, Piece
from commonplace.minds.offline.told import ended
from commonplace.minds.question_rules import rules_of
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
    """Returns a memory in the character's own words; None if nobody would mention it, or if it is in another
    language."""
    it = note.happening
    if not talk.language.speaks(it.quote or " ".join((*note.tell, note.text))):
        return None
    rules = _RULES.get(type(it))
    if rules is not None:
        return next(filter(None, (talk.say(rule, note) for rule in rules)), None)
    if isinstance(it, Concluded):
        # What the simulator worded for saying is in the first person already: `her` in it is somebody else.
        text = dated(talk, note, it.say or " ".join(talk.language.first_person(talk.given.who, note.text)))
        return Piece(ended(text), (note.id,), text.rstrip("."))
    return _text(talk, note)


def dated(talk: Interview, note: Recalled, text: str) -> str:
    """Returns a text of an earlier day with its days as they are called now: its `today` becomes `yesterday`."""
    days, moment = talk.moment(note)[0], talk.given.situation.moment
    for ago, start, end, pattern in rules_of(talk.given.who.language).days if days else ():
        hit = pattern.search(text) if ago is not None else None
        if ago is not None and ago >= 0 and hit and talk.rule("day_words").search(hit.group()):
            day = talk.language.span(days + ago, start, end, moment)
            day = day[:1].upper() + day[1:] if hit.group()[:1].isupper() else day
            after = re.sub("^[은는](?= )", "은(는)", text[hit.end() :])
            return f"{text[: hit.start()]}{day}{after}"
    return text


def _text(talk: Interview, note: Recalled) -> Piece | None:
    """Returns the author's words for a memory, else the sentence itself in the first person."""
    if any(
        fact.starts and fact.starts <= talk.given.situation.moment for fact in talk.given.facts if fact.id in note.facts
    ):
        return None  # nobody is invited to what is over
    lines = [line for line in note.tell if line.lower() not in talk.said] or list(note.tell)
    most_of = max((named(talk, line) for line in lines), default=0)
    lines = [line for line in lines if named(talk, line) == most_of]
    most = any(map(talk.echoes, lines))
    lines = [line for line in lines if talk.echoes(line) == most]
    text = " ".join(talk.language.first_person(talk.given.who, note.text))
    if lines and (talk.echoes(text) <= most or talk.rule("third").search(text)):
        line = lines[talk.dice.with_(note.id).below(len(lines), "tell")]
        line = line if note.kind == "plan" else dated(talk, note, line)
        return Piece(line, (note.id,), line)
    return Piece(text, (note.id,), text) if text else None


def named(talk: Interview, text: str) -> int:
    """Returns how many words of the question a text has."""
    return sum(talk.has(word, text) for word in talk.asked.words)


def some(talk: Interview, notes: Iterable[Recalled], most: int) -> list[Piece]:
    """Returns the first memories that can be told, in the character's own words."""
    return list(islice((piece for note in notes if (piece := tell(talk, note))), most))
