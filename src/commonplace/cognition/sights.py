"""What there is to see: people at what they do, things as they are, the weather, and what comes from outside."""

from __future__ import annotations

from collections.abc import Iterator

from commonplace.character.belief import Belief, Known
from commonplace.cognition.percept import AMBIENT, ASLEEP, FIRST, PEOPLE, THINGS, Percept, name_of
from commonplace.cognition.sentences import capital, ended, sentence, the
from commonplace.cognition.turn import TurnView
from commonplace.world.events import Event
from commonplace.world.objects import words
from commonplace.world.state import Body


def from_outside(view: TurnView) -> Iterator[Percept]:
    """Inner voices, scripted and god-mode events that reach me."""
    for event in view.world.news:
        if event.type == "INNER_VOICE":
            text = sentence(
                view.scenario.language, "voice", name=view.persona.name, text=ended(str(event.body["text"]))
            )
            frame = {"what": "voice", "text": str(event.body["text"])}
            yield Percept("voice", text, frame, view.persona.id, FIRST, event.id, to_me=True, always_new=True)
        elif event.type in {"GOD_EVENT", "SCRIPTED"} and _reaches_asleep(view, event):
            text = ended(_told(view, event))
            yield Percept("event", text, {"what": "event", "text": text}, "-", FIRST, event.id, always_new=True)


def _reaches_asleep(view: TurnView, event: Event) -> bool:
    """A sleeper notices only what is meant for it by name."""
    return not view.world.body.asleep or view.persona.id in event.body.get("agents", ())


def _told(view: TurnView, event: Event) -> str:
    percepts: list[list[str]] = event.body.get("percepts") or []
    mine = next((text for agent, text in percepts if agent == view.persona.id), None)
    return mine or str(event.body["text"])


def doing(view: TurnView, belief: Belief, other: str, body: Body) -> Iterator[Percept]:
    """Somebody's occupation, when it is not what they were last seen doing."""
    known = belief.nodes.get(other)
    state = ASLEEP if body.asleep else body.doing
    talking = any(other in talk.members for talk in view.world.conversations)
    if not state or talking or (known is not None and known.state == state and known.parent == view.world.area):
        return
    kind = "asleep" if body.asleep else "doing"
    frame = {
        "what": "doing",
        "who": other,
        "doing": "sleeping" if body.asleep else state,
        "place": view.world.area,
    }
    text = sentence(view.scenario.language, kind, name=name_of(view, other), doing=state)
    stays = known is not None and known.parent == view.world.area and known.state != ASLEEP
    yield Percept("doing", text, frame, other, PEOPLE, passing=stays and not body.asleep)


def things(view: TurnView, belief: Belief) -> Iterator[Percept]:
    """Objects that are not as they were last seen."""
    noticed = {str(event.body["object_id"]) for event in view.world.events if event.body.get("seen")}
    for thing_id in sorted(view.world.things):
        thing = view.world.things[thing_id]
        known = belief.nodes.get(thing_id)
        if thing.parent == view.persona.id or thing_id in noticed:
            continue
        if known is not None and known.state == thing.state and known.parent == thing.parent:
            continue
        yield _thing_percept(view, thing_id, thing.state, thing.parent, known)


def _thing_percept(view: TurnView, thing: str, state: str, parent: str, known: Known | None) -> Percept:
    name = the(name_of(view, thing))
    frame = thing_frame(view, thing, state)
    if known is not None and known.parent != parent and known.state == state:
        text = sentence(
            view.scenario.language, "here", The_object=capital(name), place_name=the(name_of(view, view.world.area))
        )
    else:
        text = sentence(view.scenario.language, "thing", The_object=capital(name), words=frame["words"])
    return Percept("thing", text, frame, thing, THINGS)


def thing_frame(view: TurnView, thing: str, state: str) -> dict[str, str]:
    """What is known of the making of a percept of an object."""
    geography = view.scenario.geography
    return {
        "what": "thing",
        "object": thing,
        "state": state,
        "words": words(geography.kinds[geography.nodes[thing].kind], state),
        "place": view.world.area,
    }


def ambient(view: TurnView) -> Iterator[Percept]:
    """Changes of weather and time of day."""
    language, root = view.scenario.language, view.world.path[0]
    for event in view.world.news:
        if event.type == "WEATHER_CHANGED":
            old, sky = str(event.body["from"]), str(event.body["to"])
            over = old in {"rain", "storm"} and sky in {"clear", "cloudy"}
            text = sentence(language, "weather.over" if over else f"weather.{sky}", root=root)
            yield Percept("weather", text, {"what": "weather", "sky": sky, "old": old}, "-", AMBIENT, event.id)
        elif event.type == "TIME_ADVANCED":
            part = str(event.body["part_of_day"])
            text = sentence(language, f"time.{part}", root=root)
            yield Percept("time", text, {"what": "time", "part": part}, "-", AMBIENT, event.id, passing=True)
