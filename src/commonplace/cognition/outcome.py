"""The outcome of one's own action, from the simulator's account: the first percepts of a tick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from commonplace.character.belief import Belief
from commonplace.cognition.percept import FIRST, Percept, name_of
from commonplace.cognition.sentences import ended, lowered, sentence, the, verb_word
from commonplace.cognition.turn import TurnView
from commonplace.world.events import Event


def outcome(view: TurnView, belief: Belief) -> Iterator[Percept]:
    """What became of what one did in the tick before."""
    for event in view.world.outcome:
        maker = _OWN.get(event.type)
        percept = maker(view, event, belief) if maker else None
        if percept is not None:
            yield percept


def _outcome(view: TurnView, event: Event, kind: str, frame: dict[str, str], **slots: str) -> Percept:
    text = sentence(view.scenario.language, kind, name=view.persona.name, **slots)
    failed = kind in {"refused", "absent", "closed", "rejected", "lost"}
    return Percept(
        "absent" if kind == "absent" else "outcome",
        ended(text),
        {"what": {"closed": "refused", "rejected": "refused", "lost": "refused"}.get(kind, kind), **frame},
        view.persona.id,
        FIRST,
        event.id,
        own=True,
        always_new=failed or kind == "i_said",
    )


def _own_idle(view: TurnView, event: Event, belief: Belief) -> Percept | None:
    doing = str(event.body["doing"])
    known = belief.nodes.get(view.persona.id)
    if not doing or (known is not None and known.state == doing):
        return None
    frame = {"doing": doing, "place": event.place}
    return _outcome(view, event, "did", frame, doing=doing)


def _own_move(view: TurnView, event: Event, belief: Belief) -> Percept | None:
    del belief
    to = str(event.body["to"])
    if to != event.body["goal"]:
        return None
    return _outcome(view, event, "walked", {"place": to}, to_place=the(name_of(view, to)))


def _own_interact(view: TurnView, event: Event, belief: Belief) -> Percept | None:
    del belief
    thing = str(event.body["object_id"])
    name, verb = name_of(view, thing), str(event.body["verb"])
    frame = {"object": thing, "verb": verb, "place": event.place}
    if event.body.get("held_by"):
        other = name_of(view, str(event.body["held_by"]))
        return _outcome(
            view, event, "lost", {**frame, "why": f"{other} has it"}, the_object=the(name), other_name=other
        )
    if event.body["outcome"] == "refused":
        why = str(event.body["why"])
        word = verb_word(view.scenario.language, verb)
        return _outcome(
            view, event, "refused", {**frame, "why": why}, verb_word=word, the_object=the(name), why=lowered(why)
        )
    doing = view.world.body.doing
    return _outcome(view, event, "did", {**frame, "doing": doing}, doing=doing)


def _own_say(view: TurnView, event: Event, belief: Belief) -> Percept | None:
    del belief
    to, quote = str(event.body["to_agent_id"]), str(event.body["utterance"])
    frame = {"to": to, "quote": quote}
    return _outcome(view, event, "i_said", frame, to_name=name_of(view, to), quote=quote)


def _own_rejected(view: TurnView, event: Event, belief: Belief) -> Percept | None:
    del belief
    proposed: Mapping[str, str] = event.body["proposed"]
    thing, goal = proposed.get("object_id", ""), proposed.get("to_location_id", "")
    why = str(event.body["why"])
    if thing and thing not in view.world.things:
        place = name_of(view, event.place)
        frame = {"object": thing, "place": event.place}
        return _outcome(view, event, "absent", frame, the_object=the(name_of(view, thing)), place_name=the(place))
    if goal:
        return _outcome(view, event, "closed", {"why": why}, to_place=the(name_of(view, goal)), why=why)
    return _outcome(view, event, "rejected", {"why": why}, why=why)


_OWN = {
    "IDLE": _own_idle,
    "MOVE": _own_move,
    "INTERACT": _own_interact,
    "SAY": _own_say,
    "ACTION_REJECTED": _own_rejected,
}
