"""What others did here in the tick before, as one who stood by."""

from __future__ import annotations

from commonplace.cognition.percept import PEOPLE, THINGS, Percept, name_of
from commonplace.cognition.sentences import capital, ended, lowered, sentence, the, verb_word
from commonplace.cognition.sights import thing_frame
from commonplace.cognition.turn import TurnView
from commonplace.world.events import Event


def witnessed(view: TurnView, event: Event) -> Percept | None:
    """What there was to notice of somebody's deed; None where its effects say it all."""
    maker = _DEEDS.get(event.type)
    return maker(view, event) if maker else None


def _said(view: TurnView, event: Event) -> Percept:
    to, quote = str(event.body["to_agent_id"]), str(event.body["utterance"])
    to_me = to == view.persona.id
    text = sentence(
        view.scenario.language, "said", name=name_of(view, event.agent_id), to_name=name_of(view, to), quote=quote
    )
    frame = {
        "what": "said",
        "who": event.agent_id,
        "to": to,
        "quote": quote,
        "to_me": "1" if to_me else "",
        "place": event.place,
    }
    return Percept("said", text, frame, event.agent_id, PEOPLE, event.id, to_me=to_me, always_new=True)


def _moved(view: TurnView, event: Event) -> Percept | None:
    came = event.body["to"] == view.world.area
    other = str(event.body["from"] if came else event.body["to"])
    if came and event.agent_id not in view.world.bodies:
        return None
    kind = "arrived" if came else "left"
    frame = {
        "what": kind,
        "who": event.agent_id,
        "place": view.world.area,
        "other": other,
    }
    text = sentence(
        view.scenario.language, kind, name=name_of(view, event.agent_id), other_name=the(name_of(view, other))
    )
    return Percept(kind, text, frame, event.agent_id, PEOPLE, event.id, passing=not came)


def _joined(view: TurnView, event: Event) -> Percept:
    kind, wording = ("arrived", "joined") if event.type == "JOINED" else ("left", "gone")
    frame = {
        "what": kind,
        "who": event.agent_id,
        "place": view.world.area,
    }
    place = the(name_of(view, view.world.area))
    text = sentence(view.scenario.language, wording, name=name_of(view, event.agent_id), place_name=place)
    return Percept(kind, text, frame, event.agent_id, PEOPLE, event.id)


def _acted(view: TurnView, event: Event) -> Percept | None:
    """What failed, or what a transition lets the room notice; the rest is seen as somebody's doing and a new state."""
    if event.body["outcome"] == "done":
        return _noticed(view, event)
    thing, verb = str(event.body["object_id"]), str(event.body["verb"])
    name, why = name_of(view, thing), str(event.body["why"])
    text = sentence(
        view.scenario.language,
        "acted",
        name=name_of(view, event.agent_id),
        verb_word=verb_word(view.scenario.language, verb),
        the_object=the(name),
        why=lowered(why),
    )
    frame = {
        "what": "acted",
        "who": event.agent_id,
        "verb": verb,
        "object": thing,
        "outcome": "refused",
    }
    return Percept("did", ended(text), frame, event.agent_id, PEOPLE, event.id)


def _talk_begun(view: TurnView, event: Event) -> Percept | None:
    members = [str(member) for member in event.body["members"]]
    if view.persona.id in members or len(members) < 2:
        return None
    first = event.agent_id if event.agent_id in members else members[0]
    second = next(member for member in members if member != first)
    text = sentence(view.scenario.language, "talk", name=name_of(view, first), to_name=name_of(view, second))
    frame = {
        "what": "talk",
        "who": first,
        "to": second,
    }
    return Percept("did", text, frame, first, PEOPLE, event.id)


def _noticed(view: TurnView, event: Event) -> Percept | None:
    seen, thing = str(event.body.get("seen", "")), str(event.body["object_id"])
    if not seen or thing not in view.world.things:
        return None
    frame = thing_frame(view, thing, view.world.things[thing].state)
    return Percept("thing", ended(capital(seen)), frame, thing, THINGS, event.id)


_DEEDS = {
    "SAY": _said,
    "MOVE": _moved,
    "JOINED": _joined,
    "LEFT": _joined,
    "INTERACT": _acted,
    "CONVERSATION_STARTED": _talk_begun,
}
