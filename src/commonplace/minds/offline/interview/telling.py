"""A memory in the character's own words, by what the simulator knows of its making."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.interview.interview import Interview, Piece, ended, names_place


def tell(talk: Interview, note: Recalled) -> Piece | None:
    """A memory in the character's own words; None for one that nobody would mention, or in another language."""
    if not talk.tongue.speaks(note.frame.get("quote", "") or " ".join((*note.tell, note.text))):
        return None
    maker = _TELLERS.get(note.frame.get("what", ""), _tell_text)
    return maker(talk, note)


def _tell_text(talk: Interview, note: Recalled) -> Piece | None:
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
    text = " ".join(talk.tongue.own(talk.given.who, note.text))
    return Piece(text, (note.id,), text) if text else None


def _tell_insight(talk: Interview, note: Recalled) -> Piece | None:
    # What the simulator worded for saying is in the first person already: `her` in it is somebody else.
    text = note.frame.get("say", "") or " ".join(talk.tongue.own(talk.given.who, note.text))
    return Piece(ended(text), (note.id,), text.rstrip("."))


def _tell_said(talk: Interview, note: Recalled) -> Piece | None:
    slots = talk.slots(note)
    rule = "tell.said" if note.frame.get("to_me") else "tell.overheard"
    return talk.say(rule, note.id, mark=slots["quote"], **slots) if slots["quote"] else None


def _tell_i_said(talk: Interview, note: Recalled) -> Piece | None:
    slots = talk.slots(note)
    slots["x"] = slots["to"]
    return talk.say("tell.i_said", note.id, mark=slots["quote"], **slots) if slots["quote"] else None


def _tell_did(talk: Interview, note: Recalled) -> Piece | None:
    slots = talk.slots(note)
    rule = "tell.did.plain" if names_place(slots["doing"], note.frame.get("place_name", "")) else "tell.did"
    return talk.first(talk.say(rule, note.id, mark=slots["doing"], **slots),
                      talk.say("tell.did.plain", note.id, mark=slots["doing"], **slots))  # fmt: skip


def _tell_walked(talk: Interview, note: Recalled) -> Piece | None:
    return talk.say("tell.walked", note.id, **talk.slots(note))


def _tell_doing(talk: Interview, note: Recalled) -> Piece | None:
    slots = talk.slots(note)
    return talk.first(talk.say("tell.doing", note.id, mark=slots["doing"], **slots),
                      talk.say("tell.doing.plain", note.id, mark=slots["doing"], **slots))  # fmt: skip


def _tell_came(talk: Interview, note: Recalled) -> Piece | None:
    return talk.say("tell.arrived" if note.frame["what"] == "arrived" else "tell.left", note.id, **talk.slots(note))


def _tell_event(talk: Interview, note: Recalled) -> Piece | None:
    text = note.frame.get("text", "") or note.text
    past = talk.tongue.past(text)
    if past:
        return talk.say("tell.event", note.id, mark=past, past=past, when=talk.when(note))
    return talk.say("tell.event.plain", note.id, mark=text, text=ended(text), when=talk.when(note))


def _tell_voice(talk: Interview, note: Recalled) -> Piece | None:
    text = note.frame.get("text", "")
    return talk.say("tell.voice", note.id, mark=text, text=ended(text), when=talk.when(note))


def _tell_weather(talk: Interview, note: Recalled) -> Piece | None:
    past = talk.tongue.past(note.text) or ended(note.text)
    return talk.say("weather.was", note.id, mark=past, past=past.rstrip("."), when=talk.when(note))


def _tell_thing(talk: Interview, note: Recalled) -> Piece | None:
    slots = talk.slots(note)
    thing = talk.tongue.place(talk.given.who, note.frame.get("object_name", ""))
    return talk.say("thing", note.id, mark=f"{thing} {note.frame.get('words', '')}", thing=thing,
                    words=note.frame.get("words", ""), **slots)  # fmt: skip


def _tell_failed(talk: Interview, note: Recalled) -> Piece | None:
    slots = talk.slots(note)
    thing = talk.tongue.place(talk.given.who, note.frame.get("object_name", ""))
    if note.frame["what"] == "absent":
        return talk.say("thing.absent", note.id, thing=thing, **slots)
    why = note.frame.get("why", "").strip().rstrip(".")
    return talk.say("thing.refused", note.id, thing=thing, why=why[:1].lower() + why[1:], **slots)


def _tell_nothing(talk: Interview, note: Recalled) -> Piece | None:
    """Nobody would mention it."""
    del talk, note


_TELLERS: Mapping[str, Callable[[Interview, Recalled], Piece | None]] = {
    "insight": _tell_insight,
    "said": _tell_said,
    "i_said": _tell_i_said,
    "did": _tell_did,
    "walked": _tell_walked,
    "doing": _tell_doing,
    "arrived": _tell_came,
    "left": _tell_came,
    "event": _tell_event,
    "voice": _tell_voice,
    "weather": _tell_weather,
    "thing": _tell_thing,
    "absent": _tell_failed,
    "refused": _tell_failed,
    "talk": _tell_nothing,
    "time": _tell_nothing,
    "plan": _tell_nothing,
}
