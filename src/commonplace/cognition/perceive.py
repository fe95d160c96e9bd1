"""Perceive: the area as of the previous tick becomes sentences, most worth noticing first.

Each percept carries its *happening*: how it came about, typed (`world/happenings.py`).
Only what is new against the belief view is a percept at all; the attention limit then decides what is taken in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from commonplace.character.plan import PlanItem
from commonplace.character.state import UNKNOWN, Belief, Known
from commonplace.cognition.sentences import capital, ended, lowered, sentence, verb_word
from commonplace.cognition.turn import TurnView
from commonplace.languages.language import language
from commonplace.minds.notes import NewsKind, changed
from commonplace.world.events import Event
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Did,
    Failed,
    Happening,
    Hour,
    ISaid,
    Left,
    Missing,
    Said,
    Seen,
    Sky,
    Talked,
    Tried,
    Voiced,
    Walked,
)
from commonplace.world.script import audience
from commonplace.world.state import Body
from commonplace.world.tree import words

FIRST, PEOPLE, THINGS, AMBIENT = range(4)
"""What is noticed first."""
ASLEEP = "asleep"
"""How the belief view has somebody who sleeps."""


@dataclass(frozen=True, slots=True)
class Percept:
    """One thing noticed."""

    kind: NewsKind
    """What it is to a reaction, coarser than the happening: `did` is any deed of somebody else."""
    text: str
    happening: Happening
    subject: str
    """Id of the character, object or `-` it is about."""
    rank: int
    """FIRST … AMBIENT: lower is noticed first."""
    event: str = ""
    to_me: bool = False
    own: bool = False
    """The outcome of one's own action: always taken in, and remembered as an action."""
    always_new: bool = False
    """Speech and inputs: never dropped as already remembered."""
    passing: bool = False
    """Remembered, but no reason to react: somebody who is here anyway turns to something else."""


@dataclass(frozen=True, slots=True)
class Perception:
    """What a turn starts from."""

    percepts: tuple[Percept, ...]
    missed: int
    """Percepts beyond the attention limit."""
    belief: Belief


def perceive(view: TurnView) -> Perception:
    """The outcome of one's own action first, then what is new here, at most `attention` of it."""
    own = tuple(own_outcomes(view))
    if view.world.body.asleep:
        return Perception((*own, *from_outside(view)), 0, after_own(view, own))
    others = [*from_outside(view), *_around(view)]
    if len(others) > 1:
        item = view.state.plan.current(view.now)
        others.sort(key=lambda percept: _order(view, percept, item))
    limit = view.scenario.cognition.attention
    believed = after_seeing(view, after_own(view, own))
    taken = taken_in(others)[:limit]
    return Perception((*own, *taken), len(others) - len(taken), believed)


MOST_PASSING = 2
"""Of the people who are here anyway and turn to something else, how many are noticed in a tick."""


def taken_in(others: list[Percept]) -> list[Percept]:
    """Without what is only passing and too much to follow: in a crowd somebody always turns to something else."""
    passing = [percept for percept in others if percept.passing and percept.kind == "doing"]
    if len(passing) <= MOST_PASSING:
        return others
    missed = set(map(id, passing[MOST_PASSING:]))
    return [percept for percept in others if id(percept) not in missed]


def _order(view: TurnView, percept: Percept, item: PlanItem | None) -> tuple[int, int, str]:
    """People before things; those in the plan (`item`) or known before strangers; then by id."""
    relation = view.state.relations.get(percept.subject)
    planned = item is not None and percept.subject == item.object_id
    return (FIRST if percept.to_me else percept.rank, 0 if relation or planned else 1, percept.subject)


def _around(view: TurnView) -> Iterator[Percept]:
    for event in view.world.events:
        percept = witnessed(view, event)
        if percept is not None:
            yield percept
    moved = {event.agent_id for event in view.world.events if event.type == "MOVE"}
    for other in sorted(view.world.bodies):
        if other not in moved:
            yield from occupation(view, other, view.world.bodies[other])
    yield from changed_things(view)
    yield from missing_things(view)
    yield from weather_and_time(view)


# ── the outcome of one's own action, from the simulator's account ────────────────────────────────────────────────────


def own_outcomes(view: TurnView) -> Iterator[Percept]:
    """The outcome of one's own action of the tick before. An event without a maker in `_OWN` is not remembered."""
    for event in view.world.outcome:
        maker = _OWN.get(event.type)
        percept = maker(view, event) if maker else None
        if percept is not None:
            yield percept


def _outcome(view: TurnView, event: Event, words: str, happening: Happening, **slots: str) -> Percept:
    """`words`: the name of its sentence."""
    text = sentence(view.scenario.language, words, name=view.persona.name, **slots)
    return Percept(
        "absent" if isinstance(happening, Absent) else "outcome",
        ended(text),
        happening,
        view.persona.id,
        FIRST,
        event.id,
        own=True,
        always_new=isinstance(happening, Failed | Absent | ISaid),
    )


def _own_idle(view: TurnView, event: Event) -> Percept | None:
    doing = str(event.body["doing"])
    known = view.state.belief.nodes.get(view.persona.id)
    if not doing or (known is not None and known.state == doing):
        return None
    return _outcome(view, event, "did", Did(doing=doing, place=event.place), doing=doing)


def _own_move(view: TurnView, event: Event) -> Percept | None:
    to = str(event.body["to"])
    if to != event.body["goal"]:
        return None
    return _outcome(view, event, "walked", Walked(place=to), to_place=the_name(view, to))


def _own_interact(view: TurnView, event: Event) -> Percept | None:
    thing = str(event.body["object_id"])
    name, verb = name_of(view, thing), str(event.body["verb"])
    if event.body.get("held_by"):
        other = name_of(view, str(event.body["held_by"]))
        lost = Failed(object=thing, verb=verb, place=event.place, why=f"{other} has it")
        return _outcome(view, event, "lost", lost, the_object=the(view, name), other_name=other)
    if event.body["outcome"] == "refused":
        why = str(event.body["why"])
        failed = Failed(object=thing, verb=verb, place=event.place, why=why)
        word = verb_word(view.scenario.language, verb)
        return _outcome(view, event, "refused", failed, verb_word=word, the_object=the(view, name), why=lowered(why))
    did = Did(object=thing, verb=verb, place=event.place, doing=view.world.body.doing)
    step = str(event.body.get("seen", "")) if event.body.get("progress") else ""
    if not step:
        return _outcome(view, event, "did", did, doing=did.doing)
    count, times = event.body["progress"]
    did = changed(did, step=step, progress=f"{count}/{times}")
    return _outcome(view, event, "progress", did, doing=did.doing, step=ended(capital(step)))


def _own_say(view: TurnView, event: Event) -> Percept | None:
    to, quote = str(event.body["to_agent_id"]), str(event.body["utterance"])
    return _outcome(
        view,
        event,
        "i_said",
        ISaid(to=to, quote=quote, speech_act=_text(event, "speech_act"), topic=_text(event, "topic")),
        to_name=name_of(view, to),
        quote=quote,
    )


def _text(event: Event, key: str) -> str:
    """What a speaker's mind said of the line; empty where it did not."""
    return str(event.body.get(key) or "")


def _own_rejected(view: TurnView, event: Event) -> Percept | None:
    proposed: Mapping[str, str] = event.body["proposed"]
    thing, goal = proposed.get("object_id", ""), proposed.get("to_location_id", "")
    why = str(event.body["why"])
    if thing and thing not in view.world.things:
        place = name_of(view, event.place)
        absent = Absent(object=thing, place=event.place)
        return _outcome(view, event, "absent", absent, the_object=the_name(view, thing), place_name=the(view, place))
    if goal:
        door = goal if goal in view.world.targets.areas else ""  # else there is no way that is known
        return _outcome(view, event, "closed", Failed(place=door, why=why), to_place=the_name(view, goal), why=why)
    return _outcome(view, event, "rejected", Failed(why=why), why=why)


_OWN = {
    "IDLE": _own_idle,
    "MOVE": _own_move,
    "INTERACT": _own_interact,
    "SAY": _own_say,
    "ACTION_REJECTED": _own_rejected,
}


# ── what there is to see, and what comes from outside ────────────────────────────────────────────────────────────────


def from_outside(view: TurnView) -> Iterator[Percept]:
    """Inner voices, scripted and god-mode events that reach me."""
    for event in view.world.news:
        if event.type == "INNER_VOICE":
            text = sentence(
                view.scenario.language, "voice", name=view.persona.name, text=ended(str(event.body["text"]))
            )
            voiced = Voiced(text=str(event.body["text"]))
            yield Percept("voice", text, voiced, view.persona.id, FIRST, event.id, to_me=True, always_new=True)
        elif event.type in {"GOD_EVENT", "SCRIPTED"} and _reaches_asleep(view, event):
            text, struck = ended(_told(view, event)), _strikes(view, event)
            if event.body.get("sky"):
                sky = Sky(sky=view.world.ambient.sky, old=_sky_before(view))
                yield Percept("weather", text, sky, "-", AMBIENT, event.id, always_new=True)
                continue
            befell = _befell(view, event, text)
            yield Percept("event", text, befell, "-", FIRST, event.id, always_new=True, passing=bool(struck))


def _sky_before(view: TurnView) -> str:
    """The sky of two ticks ago, where it has changed since; that of now otherwise."""
    changes = [event for event in view.world.news if event.type == "WEATHER_CHANGED"]
    return str(changes[0].body["from"]) if changes else view.world.ambient.sky


def befalls(view: TurnView) -> str:
    """What a sentence from outside makes the character do from now on; empty for nothing."""
    return next((doing for event in view.world.news if (doing := _strikes(view, event))), "")


def _strikes(view: TurnView, event: Event) -> str:
    pairs: list[list[str]] = event.body.get("befalls") or []
    return next((doing for agent, doing in pairs if agent == view.persona.id), "")


def _befell(view: TurnView, event: Event, text: str) -> Befell:
    """The id of a scripted event, where it takes place and who else is there; of one noticed from afar only where."""
    areas = " ".join(event.body.get("areas", ()))
    if _is_far(view, event):
        return Befell(text=text, far=areas)
    awake = " ".join(other for other, body in view.world.bodies.items() if not body.asleep)
    return Befell(text=text, event=str(event.body.get("script", "")), areas=areas, there=awake)


def _reaches_asleep(view: TurnView, event: Event) -> bool:
    """A sleeper notices only what is meant for it by name."""
    return not view.world.body.asleep or view.persona.id in event.body.get("agents", ())


def _told(view: TurnView, event: Event) -> str:
    percepts: list[list[str]] = event.body.get("percepts") or []
    mine = next((text for agent, text in percepts if agent == view.persona.id), None)
    return mine or str(event.body["far" if _is_far(view, event) else "text"])


def _is_far(view: TurnView, event: Event) -> bool:
    """Whether a scripted event is noticed from the next area only."""
    if event.type != "SCRIPTED" or not event.body.get("far"):
        return False
    return not audience(event.body).reaches(view.persona.id, view.world.area)


def occupation(view: TurnView, other: str, body: Body) -> Iterator[Percept]:
    """Somebody's occupation, when it is not what they were last seen doing."""
    known = view.state.belief.nodes.get(other)
    state = ASLEEP if body.asleep else body.doing
    talking = any(other in talk.members for talk in view.world.conversations)
    if not state or talking or (known is not None and known.state == state and known.parent == view.world.area):
        return
    kind = "asleep" if body.asleep else "doing"
    seen = Seen(who=other, doing="sleeping" if body.asleep else state, place=view.world.area)
    text = sentence(view.scenario.language, kind, name=name_of(view, other), doing=state)
    stays = known is not None and known.parent == view.world.area and known.state != ASLEEP
    yield Percept("doing", text, seen, other, PEOPLE, passing=stays and not body.asleep)


def changed_things(view: TurnView) -> Iterator[Percept]:
    """Objects that are not as they were last seen."""
    noticed = {str(event.body["object_id"]) for event in view.world.events if event.body.get("seen")}
    for thing_id in sorted(view.world.things):
        thing = view.world.things[thing_id]
        known = view.state.belief.nodes.get(thing_id)
        if thing.parent == view.persona.id or thing_id in noticed:
            continue
        if known is not None and known.state == thing.state and known.parent == thing.parent:
            continue
        yield _thing_percept(view, thing_id, thing.state, thing.parent, known)


def missing_things(view: TurnView) -> Iterator[Percept]:
    """Objects that were believed here and have gone."""
    for thing_id in missing(view):
        gone = Missing(object=thing_id, place=view.world.area)
        slots = {"The_object": capital(the_name(view, thing_id)), "place_name": the_name(view, view.world.area)}
        yield Percept("thing", sentence(view.scenario.language, "missing", **slots), gone, thing_id, THINGS)


def missing(view: TurnView) -> list[str]:
    """Objects believed here that somebody outside has taken away. Whoever comes later finds out by looking for them."""
    world, believed = view.world, view.state.belief.nodes
    looked = [str(one) for event in world.news for one, _ in event.body.get("moves", ())]
    if not looked:
        return []
    nodes = view.scenario.geography.nodes
    return sorted(
        thing
        for thing in looked
        if thing not in world.things
        and (known := believed.get(thing)) is not None
        and known.parent == world.area
        and (node := nodes.get(thing)) is not None
        and node.type == "object"
    )


def _thing_percept(view: TurnView, thing: str, state: str, parent: str, known: Known | None) -> Percept:
    name = the_name(view, thing)
    seen = _seen_thing(view, thing, state)
    if known is not None and known.parent != parent and known.state == state:
        text = sentence(
            view.scenario.language, "here", The_object=capital(name), place_name=the_name(view, view.world.area)
        )
    else:
        text = sentence(view.scenario.language, "thing", The_object=capital(name), words=seen.words)
    return Percept("thing", text, seen, thing, THINGS)


def _seen_thing(view: TurnView, thing: str, state: str) -> Changed:
    geography = view.scenario.geography
    said = words(geography.kinds[geography.nodes[thing].kind], state)
    return Changed(object=thing, state=state, words=said, place=view.world.area)


def weather_and_time(view: TurnView) -> Iterator[Percept]:
    """Changes of weather and time of day."""
    language, root = view.scenario.language, view.world.path[0]
    told = any(event.type == "GOD_EVENT" and event.body.get("sky") for event in view.world.news)
    for event in view.world.news:
        if event.type == "WEATHER_CHANGED" and not told:
            old, sky = str(event.body["from"]), str(event.body["to"])
            over = old in {"rain", "storm"} and sky in {"clear", "cloudy"}
            text = sentence(language, "weather.over" if over else f"weather.{sky}", root=root)
            yield Percept("weather", text, Sky(sky=sky, old=old), "-", AMBIENT, event.id)
        elif event.type == "TIME_ADVANCED":
            part = str(event.body["part_of_day"])
            text = sentence(language, f"time.{part}", root=root)
            yield Percept("time", text, Hour(part=part), "-", AMBIENT, event.id, passing=True)


# ── what others did here in the tick before ──────────────────────────────────────────────────────────────────────────


def witnessed(view: TurnView, event: Event) -> Percept | None:
    """What others notice of an event here; None where its effects show it already."""
    maker = _DEEDS.get(event.type)
    return maker(view, event) if maker else None


def _said(view: TurnView, event: Event) -> Percept:
    to, quote = str(event.body["to_agent_id"]), str(event.body["utterance"])
    to_me = to == view.persona.id
    text = sentence(
        view.scenario.language, "said", name=name_of(view, event.agent_id), to_name=name_of(view, to), quote=quote
    )
    said = Said(
        who=event.agent_id,
        to=to,
        quote=quote,
        to_me="1" if to_me else "",
        place=event.place,
        speech_act=_text(event, "speech_act"),
        topic=_text(event, "topic"),
    )
    return Percept("said", text, said, event.agent_id, PEOPLE, event.id, to_me=to_me, always_new=True)


def _moved(view: TurnView, event: Event) -> Percept | None:
    came = event.body["to"] == view.world.area
    other = str(event.body["from"] if came else event.body["to"])
    if came and event.agent_id not in view.world.bodies:
        return None
    kind, moved = ("arrived", Came) if came else ("left", Left)
    text = sentence(view.scenario.language, kind, name=name_of(view, event.agent_id), other_name=the_name(view, other))
    happening = moved(who=event.agent_id, place=view.world.area, other=other)
    return Percept(kind, text, happening, event.agent_id, PEOPLE, event.id, passing=not came)


def _joined(view: TurnView, event: Event) -> Percept:
    kind, moved, wording = ("arrived", Came, "joined") if event.type == "JOINED" else ("left", Left, "gone")
    place = the_name(view, view.world.area)
    text = sentence(view.scenario.language, wording, name=name_of(view, event.agent_id), place_name=place)
    happening = moved(who=event.agent_id, place=view.world.area)
    return Percept(kind, text, happening, event.agent_id, PEOPLE, event.id)


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
        the_object=the(view, name),
        why=lowered(why),
    )
    tried = Tried(who=event.agent_id, verb=verb, object=thing, outcome="refused", why=why)
    return Percept("did", ended(text), tried, event.agent_id, PEOPLE, event.id)


def _talk_begun(view: TurnView, event: Event) -> Percept | None:
    members = [str(member) for member in event.body["members"]]
    if view.persona.id in members or len(members) < 2:
        return None
    first = event.agent_id if event.agent_id in members else members[0]
    second = next(member for member in members if member != first)
    text = sentence(view.scenario.language, "talk", name=name_of(view, first), to_name=name_of(view, second))
    return Percept("did", text, Talked(who=first, to=second), first, PEOPLE, event.id)


def _noticed(view: TurnView, event: Event) -> Percept | None:
    seen, thing = str(event.body.get("seen", "")), str(event.body["object_id"])
    if not seen or thing not in view.world.things:
        return None
    text = ended(capital(seen))
    changed_so = changed(_seen_thing(view, thing, view.world.things[thing].state), seen=text)
    return Percept("thing", text, changed_so, thing, THINGS, event.id)


_DEEDS = {
    "SAY": _said,
    "MOVE": _moved,
    "JOINED": _joined,
    "LEFT": _joined,
    "INTERACT": _acted,
    "CONVERSATION_STARTED": _talk_begun,
}


# ── what perceiving changes: beliefs ─────────────────────────────────────────────────────────────────────────────────


def after_own(view: TurnView, own: Iterable[Percept]) -> Belief:
    """The belief after one's own action: a missing object is no longer believed there, one's own doing is known."""
    changes = {
        percept.happening.object: Known(UNKNOWN, "", view.tick)
        for percept in own
        if isinstance(percept.happening, Absent) and percept.happening.object not in view.world.things
    }
    doing = view.world.body.doing
    known = view.state.belief.nodes.get(view.persona.id)
    if known is None or known.state != doing:
        changes[view.persona.id] = Known(view.world.area, doing, view.tick)
    return view.state.belief.updated(changes)


def after_seeing(view: TurnView, belief: Belief) -> Belief:
    """The belief with everything here as it is now.

    An object counts as seen whenever its area is. So an object's entry is renewed only when the object changes, the
    area's entry on arriving and after leaving.
    """
    world, nodes = view.world, view.scenario.geography.nodes
    changes = {thing: Known(UNKNOWN, "", view.tick) for thing in missing(view)}
    if world.body.came_from != world.area or world.area not in belief.nodes:
        changes[world.area] = Known(nodes[world.area].parent_id, "open", view.tick)
        changes[world.body.came_from] = Known(nodes[world.body.came_from].parent_id, "open", view.tick - 1)
    here = [(thing, seen.parent, seen.state) for thing, seen in world.things.items()]
    here += [(other, world.area, ASLEEP if body.asleep else body.doing) for other, body in world.bodies.items()]
    for node, parent, state in here:
        known = belief.nodes.get(node)
        if known is None or known.parent != parent or known.state != state:
            changes[node] = Known(parent, state, view.tick)
    for neighbour in world.ways:
        if neighbour not in belief.nodes:
            changes[neighbour] = Known(nodes[neighbour].parent_id, "open", view.tick)
    return belief.updated(changes, _closed(view, belief))


def _closed(view: TurnView, belief: Belief) -> frozenset[tuple[str, str]]:
    """The ways believed closed: those that lead from here as they are, the rest as last seen."""
    here = {(view.world.area, neighbour) for neighbour, is_open in view.world.ways.items() if not is_open}
    elsewhere = {way for way in belief.closed if way[0] != view.world.area}
    return frozenset(here | elsewhere) if here or belief.closed else belief.closed


def name_of(view: TurnView, node: str) -> str:
    """The name of an area, object or character."""
    return view.scenario.geography.name(node)


def the_name(view: TurnView, node: str) -> str:
    """The name with its article, as a sentence has it."""
    return the(view, name_of(view, node))


def the(view: TurnView, name: str) -> str:
    """A name with its article."""
    return language(view.scenario.language).the(name)
