"""A memory in the character's own words, by what the simulator knows of its making."""

from __future__ import annotations

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.interview.interview import Interview, Piece, ended, names_place
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
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


def tell(talk: Interview, note: Recalled) -> Piece | None:  # noqa: PLR0911, PLR0912 – a kind after another
    """A memory in the character's own words; None for one that nobody would mention, or in another language."""
    it, id = note.happening, note.id
    if not talk.language.speaks(it.quote or " ".join((*note.tell, note.text))):
        return None
    slots = talk.slots(note)
    quote, when, thing = slots["quote"], slots["when"], talk.language.place(it.object_name, talk.given.who)
    match it:
        case Talked() | Hour() | Planned():
            return None
        case Said():
            return talk.say("tell.said" if it.to_me else "tell.overheard", id, mark=quote, **slots) if quote else None
        case ISaid():
            return talk.say("tell.i_said", id, mark=quote, **slots | {"x": slots["to"]}) if quote else None
        case Did():
            return _doing(talk, id, "tell.did", slots, is_placed=names_place(slots["doing"], it.place_name))
        case Seen():
            return _doing(talk, id, "tell.doing", slots)
        case Walked():
            return talk.say("tell.walked", id, **slots)
        case Came():
            return talk.say("tell.arrived", id, **slots)
        case Left():
            return talk.say("tell.left", id, **slots)
        case Befell():
            text = it.text or note.text
            if past := talk.language.past(text):
                return talk.say("tell.event", id, mark=past, past=past, when=when)
            return talk.say("tell.event.plain", id, mark=text, text=ended(text), when=when)
        case Voiced():
            return talk.say("tell.voice", id, mark=it.text, text=ended(it.text), when=when)
        case Sky():
            past = talk.language.past(note.text) or ended(note.text)
            return talk.say("weather.was", id, mark=past, past=past.rstrip("."), when=when)
        case Changed():
            return talk.say("thing", id, mark=f"{thing} {it.words}", thing=thing, words=it.words, **slots)
        case Absent():
            return talk.say("thing.absent", id, thing=thing, **slots)
        case Failed():
            why = it.why.strip().rstrip(".")
            return talk.say("thing.refused", id, thing=thing, why=why[:1].lower() + why[1:], **slots)
        case Concluded():
            # What the simulator worded for saying is in the first person already: `her` in it is somebody else.
            text = it.say or " ".join(talk.language.first_person(talk.given.who, note.text))
            return Piece(ended(text), (id,), text.rstrip("."))
        case _:
            return _text(talk, note)


def _doing(talk: Interview, id: int, rule: str, slots: dict[str, str], *, is_placed: bool = False) -> Piece | None:
    """What was done and where, or without the place: where the doing names it, or there is none."""
    plain = talk.say(f"{rule}.plain", id, mark=slots["doing"], **slots)
    return plain if is_placed else talk.first(talk.say(rule, id, mark=slots["doing"], **slots), plain)


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
