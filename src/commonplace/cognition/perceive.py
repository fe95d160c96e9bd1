"""Perceive: the area as of the previous tick becomes sentences, most worth noticing first.

Each percept carries its *happening*: how it came about, typed (`world/happenings.py`).
Only what is new against the belief view is a percept at all; the attention limit then decides what is taken in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from commonplace.character.plan import PlanItem
from commonplace.character.state import UNKNOWN, Belief, KnownNode
from commonplace.cognition.sentences import capital, ended, lowered, sentence
from commonplace.cognition.turn import TurnView
from commonplace.languages.language import language
from commonplace.minds.notes import NewsKind, changed
from commonplace.scenario.circumstances import now_sentence, over_sentence
from commonplace.world.circumstances import Circumstance, subject_of
from commonplace.world.deeds import SLOTS
from commonplace.world.events import (
    Acted,
    ActionRejected,
    Began,
    ConversationStarted,
    Departed,
    Ended,
    Event,
    GodSpoke,
    Idled,
    Interacted,
    Intervened,
    Joined,
    Moved,
    Received,
    ScriptPlayed,
    Spoke,
    TimeAdvanced,
    WeatherChanged,
    Whispered,
)
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
    Read,
    Said,
    Seen,
    Sky,
    Talked,
    Tried,
    Voiced,
    Walked,
)
from commonplace.world.script import reaches
from commonplace.world.state import Body
from commonplace.world.tree import action_words, verb_words, words

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
    """Returns the outcome of the character's own action first, then what is new here, at most `attention` percepts."""
    own = tuple(percept for event in view.world.outcome if (percept := _own(view, event)) is not None)
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
    """Returns the percepts without those that only pass and are too many to follow: in a crowd somebody always turns to
    something else."""
    passing = [percept for percept in others if percept.passing and percept.kind == "doing"]
    if len(passing) <= MOST_PASSING:
        return others
    missed = set(map(id, passing[MOST_PASSING:]))
    return [percept for percept in others if id(percept) not in missed]


def _order(view: TurnView, percept: Percept, item: PlanItem | None) -> tuple[int, int, str]:
    """Returns the sort key: people before things; those in the plan (`item`) or known before strangers; then by id."""
    relation = view.state.relations.get(percept.subject)
    planned = item is not None and percept.subject == item.object_id
    return (FIRST if percept.to_me else percept.rank, 0 if relation or planned else 1, percept.subject)


def _around(view: TurnView) -> Iterator[Percept]:
    seen = {event.agent_id for event in view.world.events if isinstance(event.body, Moved)}
    for event in view.world.events:
        percept = witnessed(view, event)
        if percept is not None:
            yield percept
            seen.update([percept.subject] if percept.kind == "doing" else ())
    for other in sorted(view.world.bodies):
        if other not in seen:
            yield from occupation(view, other, view.world.bodies[other])
    yield from what_is_so(view)
    yield from changed_things(view)
    yield from missing_things(view)
    yield from weather_and_time(view)


# ── the outcome of one's own action, from the simulator's account ────────────────────────────────────────────────────


def _own(view: TurnView, event: Event) -> Percept | None:  # noqa: PLR0911 – a case per type
    match event.body:
        case Idled() as idled:
            return _own_idle(view, event, idled)
        case Moved(to=to, goal=goal):
            arrived = to == goal
            return _outcome(view, event, "walked", Walked(place=to), to_place=the_name(view, to)) if arrived else None
        case Interacted() as tried:
            return _own_interact(view, event, tried)
        case Spoke() as spoke:
            return _own_say(view, event, spoke)
        case ActionRejected() as rejected:
            return _own_rejected(view, event, rejected)
        case Acted() as acted:
            doing = _doing(view, acted)
            did = Did(doing=doing, object=acted.object_id, to=acted.to_agent_id, place=event.place)
            return _outcome(view, event, "did", did, doing=doing)
        case _:
            return None


def _doing(view: TurnView, acted: Acted) -> str:
    """Returns the words for an action in progress."""
    names = {slot: name_of(view, id) for name, slot in SLOTS.items() if (id := getattr(acted, name, ""))}
    return action_words(view.scenario.language, acted.kind, "doing", **names)


def _outcome(view: TurnView, event: Event, words: str, happening: Happening, **slots: str) -> Percept:
    """Returns the percept of an event of one's own; `words` is the name of its sentence."""
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


def _own_idle(view: TurnView, event: Event, idled: Idled) -> Percept | None:
    doing = idled.doing
    known = view.state.belief.nodes.get(view.persona.id)
    if not doing or (known is not None and known.state == doing):
        return None
    return _outcome(view, event, "did", Did(doing=doing, place=event.place), doing=doing)


def _own_interact(view: TurnView, event: Event, tried: Interacted) -> Percept:
    thing, verb, why = tried.object_id, tried.verb, tried.why
    name = name_of(view, thing)
    if tried.held_by:
        other = name_of(view, tried.held_by)
        lost = Failed(object=thing, verb=verb, place=event.place, why=f"{other} has it")
        return _outcome(view, event, "lost", lost, the_object=the(view, name), other_name=other)
    if tried.outcome == "refused":
        failed = Failed(object=thing, verb=verb, place=event.place, why=why)
        word = verb_words(view.scenario.language, verb, name).attempt
        return _outcome(view, event, "refused", failed, verb_word=word, the_object=the(view, name), why=lowered(why))
    did = Did(object=thing, verb=verb, place=event.place, doing=view.world.body.doing)
    if tried.progress is None or not tried.seen:
        return _outcome(view, event, "did", did, doing=did.doing)
    did = changed(did, step=tried.seen, progress="/".join(map(str, tried.progress)))
    return _outcome(view, event, "progress", did, doing=did.doing, step=ended(capital(tried.seen)))


def _own_say(view: TurnView, event: Event, spoke: Spoke) -> Percept:
    to, quote = spoke.to_agent_id, spoke.utterance
    said = ISaid(to=to, quote=quote, speech_act=spoke.speech_act, topic=spoke.topic)
    return _outcome(view, event, "i_said", said, to_name=name_of(view, to), quote=quote)


def _own_rejected(view: TurnView, event: Event, rejected: ActionRejected) -> Percept:
    thing, goal, why = rejected.proposed.object_id, rejected.proposed.to_location_id, rejected.why
    if thing and thing not in view.world.things:
        place = name_of(view, event.place)
        absent = Absent(object=thing, place=event.place)
        return _outcome(view, event, "absent", absent, the_object=the_name(view, thing), place_name=the(view, place))
    if goal:
        door = goal if goal in view.world.targets.areas else ""  # else there is no way that is known
        return _outcome(view, event, "closed", Failed(place=door, why=why), to_place=the_name(view, goal), why=why)
    return _outcome(view, event, "rejected", Failed(why=why), why=why)


# ── what there is to see, and what comes from outside ────────────────────────────────────────────────────────────────


def from_outside(view: TurnView) -> Iterator[Percept]:
    """Yields the inner voices, scripted and god-mode events that reach the character."""
    raised = _told_of(view)
    for event in view.world.news:
        match event.body:
            case Whispered(text=thought):
                text = sentence(view.scenario.language, "voice", name=view.persona.name, text=ended(thought))
                voiced = Voiced(text=thought)
                yield Percept("voice", text, voiced, view.persona.id, FIRST, event.id, to_me=True, always_new=True)
            case GodSpoke() as spoke if _notices(view, spoke):
                text = _carrying(view, ended(_told(view, spoke)), next(iter(spoke.raises), ""))
                if spoke.sky:
                    sky = Sky(sky=view.world.ambient.sky, old=_sky_before(view))
                    yield Percept("weather", text, sky, "-", AMBIENT, event.id, always_new=True)
                else:
                    befell, struck = _spoken_of(view, spoke, text), bool(_strikes(view, event))
                    yield Percept("event", text, befell, "-", FIRST, event.id, always_new=True, passing=struck)
            case Began(circumstance=key, by=by) if key not in raised:
                kind, of = subject_of(key)
                yield _circumstance(view, key, now_sentence(view.scenario, kind, of, by), event.id)
            case Ended(circumstance=key):
                yield _circumstance(view, key, over_sentence(view.scenario, key), event.id)
            case Received() as received:
                yield _received(view, event, received)
            case ScriptPlayed() as played if played.text and _notices(view, played):
                befell = _befell(view, played)
                yield Percept("event", befell.text, befell, "-", FIRST, event.id, always_new=True)
            case _:
                pass


def _received(view: TurnView, event: Event, received: Received) -> Percept:
    """Returns words of somebody who is not here, or was not here when they were read."""
    writer = view.scenario.personas.get(received.by)
    plain = "_plain" if received.form == "letter" and not received.by else ""
    text = sentence(
        view.scenario.language, f"{received.form}{plain}", other_name=writer.name if writer else received.by,
        quote=received.words,
    )  # fmt: skip
    read = Read(who=writer.id if writer else "", quote=received.words, form=received.form, place=event.place)
    subject = read.who or "-"
    return Percept("read", text, read, subject, FIRST, event.id, to_me=received.form == "letter", always_new=True)


def _sky_before(view: TurnView) -> str:
    """Returns the sky of two ticks ago if it has changed since, else the present one."""
    before = (event.body.old for event in view.world.news if isinstance(event.body, WeatherChanged))
    return next(before, view.world.ambient.sky)


def befalls(view: TurnView) -> str:
    """Returns what a sentence from outside makes the character do from now on; empty if there is none."""
    return next((doing for event in view.world.news if (doing := _strikes(view, event))), "")


def _strikes(view: TurnView, event: Event) -> str:
    pairs = event.body.befalls if isinstance(event.body, GodSpoke) else ()
    return next((doing for agent, doing in pairs if agent == view.persona.id), "")


def _befell(view: TurnView, played: ScriptPlayed) -> Befell:
    """Returns a scripted event with its id, its place and the others there; if it is noticed from the next area, only
    its place."""
    areas = " ".join(played.areas)
    if played.far and not reaches(played, view.persona.id, view.world.area):
        return Befell(text=ended(played.far), far=areas)
    raised = played.raises[0] if played.raises else played.script
    return Befell(text=_carrying(view, ended(played.text), raised), event=raised, areas=areas, there=_awake(view))


def _carrying(view: TurnView, text: str, key: str) -> str:
    """Returns a text that also says what it raises: the character remembers and passes on these words."""
    fact, one = view.scenario.fact(key), view.scenario.circumstances.get(key)
    if fact is None or one is None or fact.carried_by(text):
        return text
    return f"{text} {now_sentence(view.scenario, one.kind, one.of, one.by)}"


def _spoken_of(view: TurnView, spoke: GodSpoke, text: str) -> Befell:
    """Returns what a sentence from outside brings about; its id is the circumstance that it raises."""
    raised, by = next((key for key in spoke.raises), ""), spoke.by if spoke.by != view.persona.id else ""
    return Befell(text=text, event=raised, areas=_areas_of(view, raised), there=_awake(view), who=by)


def _areas_of(view: TurnView, key: str) -> str:
    of = subject_of(key)[1]
    return of if of in view.scenario.geography.edges else ""


def what_is_so(view: TurnView) -> Iterator[Percept]:
    """Yields the circumstances here that the character has not noticed or heard of yet; somebody who comes later
    notices them, too."""
    told = _told_of(view)
    for one in view.world.circumstances:
        fact = view.scenario.fact(one.key)
        kind, mine = view.scenario.kinds[one.kind], one.of == view.persona.id
        is_late = view.tick > one.since + 1 and not mine
        unseen = kind.unseen == "all" or (kind.unseen == "self" and mine) or (kind.inward and is_late)
        if fact is None or unseen or one.key in told or any(map(fact.carried_by, _lately(view, one))):
            continue
        yield _circumstance(view, one.key, now_sentence(view.scenario, one.kind, one.of, one.by))


def _told_of(view: TurnView) -> set[str]:
    """Returns the keys of the circumstances that begin with a sentence that reaches me."""
    return {key for event in view.world.news if isinstance(event.body, Intervened) for key in event.body.raises}


def _lately(view: TurnView, one: Circumstance) -> Iterator[str]:
    """Yields the texts remembered since a circumstance began."""
    since = view.scenario.clock.time(one.since)
    return (memory.text for memory in takewhile(lambda memory: memory.created_at >= since, view.draft.backwards()))


def _circumstance(view: TurnView, key: str, text: str, event: str = "") -> Percept:
    befell = Befell(text=text, event=key, areas=_areas_of(view, key), there=_awake(view))
    return Percept("event", text, befell, "-", FIRST, event, always_new=True)


def _awake(view: TurnView) -> str:
    return " ".join(other for other, body in view.world.bodies.items() if not body.asleep)


def _notices(view: TurnView, what: Intervened) -> bool:
    """Tells whether the character notices something. A sleeper notices only what names it, and what it cannot stay in;
    nobody notices what is unseen."""
    kinds, raised = view.scenario.kinds, map(subject_of, what.raises)
    if any(of == view.persona.id and kinds[kind].unseen for kind, of in raised):
        return False
    if not view.world.body.asleep or view.persona.id in what.agents:
        return True
    return any(view.scenario.kinds[subject_of(key)[0]].clears for key in what.raises)


def _told(view: TurnView, spoke: GodSpoke) -> str:
    return next((text for agent, text in spoke.percepts if agent == view.persona.id and text), spoke.text)


def occupation(view: TurnView, other: str, body: Body) -> Iterator[Percept]:
    """Yields somebody's occupation if it differs from what they were last seen doing."""
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
    """Yields the objects that are not as they were last seen."""
    noticed = {
        event.body.object_id for event in view.world.events if isinstance(event.body, Interacted) and event.body.seen
    }
    for thing_id in sorted(view.world.things):
        thing = view.world.things[thing_id]
        known = view.state.belief.nodes.get(thing_id)
        if thing.parent == view.persona.id or thing_id in noticed:
            continue
        if known is not None and known.state == thing.state and known.parent == thing.parent:
            continue
        yield _thing_percept(view, thing_id, thing.state, thing.parent, known)


def missing_things(view: TurnView) -> Iterator[Percept]:
    """Yields the objects that were believed to be here and are gone."""
    for thing_id in missing(view):
        gone = Missing(object=thing_id, place=view.world.area)
        slots = {"The_object": capital(the_name(view, thing_id)), "place_name": the_name(view, view.world.area)}
        yield Percept("thing", sentence(view.scenario.language, "missing", **slots), gone, thing_id, THINGS)


def missing(view: TurnView) -> list[str]:
    """Returns objects believed to be here that somebody outside has taken away. Whoever comes later finds out by
    looking for them."""
    world, believed = view.world, view.state.belief.nodes
    outside = (event.body for event in world.news if isinstance(event.body, Intervened))
    looked = [one for event in outside for one, _ in event.moves]
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


def _thing_percept(view: TurnView, thing: str, state: str, parent: str, known: KnownNode | None) -> Percept:
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
    """Yields changes of weather and time of day."""
    language, root = view.scenario.language, view.world.path[0]
    told = any(isinstance(event.body, GodSpoke) and event.body.sky for event in view.world.news)
    for event in view.world.news:
        match event.body:
            case WeatherChanged(old=old, to=sky) if not told:
                over = old in {"rain", "storm"} and sky in {"clear", "cloudy"}
                text = sentence(language, "weather.over" if over else f"weather.{sky}", root=root)
                yield Percept("weather", text, Sky(sky=sky, old=old), "-", AMBIENT, event.id)
            case TimeAdvanced(part_of_day=part):
                text = sentence(language, f"time.{part}", root=root)
                yield Percept("time", text, Hour(part=part), "-", AMBIENT, event.id, passing=True)
            case _:
                pass


# ── what others did here in the tick before ──────────────────────────────────────────────────────────────────────────


def witnessed(view: TurnView, event: Event) -> Percept | None:  # noqa: PLR0911 – a case per type
    """Returns what others notice of an event here; None if its effects show it already."""
    match event.body:
        case Spoke() as spoke:
            return _said(view, event, spoke)
        case Moved() as walked:
            return _moved(view, event, walked)
        case Joined(held=""):
            return _joined(view, event, "arrived", Came, "joined")
        case Departed(held=""):
            return _joined(view, event, "left", Left, "gone")
        case Interacted(outcome="done") as used:
            return _noticed(view, event, used)
        case Interacted() as tried:
            return _acted(view, event, tried)
        case ConversationStarted(members=members):
            return _talk_begun(view, event, members)
        case Acted() as acted if not isinstance(acted, Idled):
            return _seen(view, event, acted)
        case _:
            return None


def _said(view: TurnView, event: Event, spoke: Spoke) -> Percept:
    to, quote = spoke.to_agent_id, spoke.utterance
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
        speech_act=spoke.speech_act,
        topic=spoke.topic,
    )
    return Percept("said", text, said, event.agent_id, PEOPLE, event.id, to_me=to_me, always_new=True)


def _moved(view: TurnView, event: Event, walked: Moved) -> Percept | None:
    came = walked.to == view.world.area
    other = walked.left if came else walked.to
    if came and event.agent_id not in view.world.bodies:
        return None
    kind, moved = ("arrived", Came) if came else ("left", Left)
    text = sentence(view.scenario.language, kind, name=name_of(view, event.agent_id), other_name=the_name(view, other))
    happening = moved(who=event.agent_id, place=view.world.area, other=other)
    return Percept(kind, text, happening, event.agent_id, PEOPLE, event.id, passing=not came)


def _joined(view: TurnView, event: Event, kind: NewsKind, moved: type[Came | Left], wording: str) -> Percept:
    place = the_name(view, view.world.area)
    text = sentence(view.scenario.language, wording, name=name_of(view, event.agent_id), place_name=place)
    happening = moved(who=event.agent_id, place=view.world.area)
    return Percept(kind, text, happening, event.agent_id, PEOPLE, event.id)


def _acted(view: TurnView, event: Event, tried: Interacted) -> Percept:
    thing, verb, why = tried.object_id, tried.verb, tried.why
    text = sentence(
        view.scenario.language,
        "acted",
        name=name_of(view, event.agent_id),
        verb_word=verb_words(view.scenario.language, verb, name_of(view, thing)).attempt,
        the_object=the_name(view, thing),
        why=lowered(why),
    )
    in_vain = Tried(who=event.agent_id, verb=verb, object=thing, outcome="refused", why=why)
    return Percept("did", ended(text), in_vain, event.agent_id, PEOPLE, event.id)


def _seen(view: TurnView, event: Event, acted: Acted) -> Percept:
    doing, to_me = _doing(view, acted), acted.to_agent_id == view.persona.id
    text = sentence(view.scenario.language, "doing", name=name_of(view, event.agent_id), doing=doing)
    seen = Seen(who=event.agent_id, to=acted.to_agent_id, object=acted.object_id, doing=doing, place=event.place)
    return Percept("doing", text, seen, event.agent_id, PEOPLE, event.id, to_me=to_me, passing=not to_me)


def _talk_begun(view: TurnView, event: Event, members: Sequence[str]) -> Percept | None:
    if view.persona.id in members or len(members) < 2:
        return None
    first = event.agent_id if event.agent_id in members else members[0]
    second = next(member for member in members if member != first)
    text = sentence(view.scenario.language, "talk", name=name_of(view, first), to_name=name_of(view, second))
    return Percept("did", text, Talked(who=first, to=second), first, PEOPLE, event.id)


def _noticed(view: TurnView, event: Event, used: Interacted) -> Percept | None:
    """Returns what people in the room notice of a transition; the rest is seen as somebody's doing and a new state."""
    thing = used.object_id
    if not used.seen or thing not in view.world.things:
        return None
    text = ended(capital(used.seen))
    made = "/".join(map(str, used.progress or ()))
    changed_so = changed(_seen_thing(view, thing, view.world.things[thing].state), seen=text, progress=made)
    return Percept("thing", text, changed_so, thing, THINGS, event.id)


# ── what perceiving changes: beliefs ─────────────────────────────────────────────────────────────────────────────────


def after_own(view: TurnView, own: Iterable[Percept]) -> Belief:
    """Returns the belief after the character's own action: a missing object is no longer believed there, and its own
    doing is known."""
    changes = {
        percept.happening.object: KnownNode(UNKNOWN, "", view.tick)
        for percept in own
        if isinstance(percept.happening, Absent) and percept.happening.object not in view.world.things
    }
    doing = view.world.body.doing
    known = view.state.belief.nodes.get(view.persona.id)
    if known is None or known.state != doing:
        changes[view.persona.id] = KnownNode(view.world.area, doing, view.tick)
    return view.state.belief.updated(changes)


def after_seeing(view: TurnView, belief: Belief) -> Belief:
    """Returns the belief with everything here as it is now.

    An object counts as seen whenever its area is. So an object's entry is renewed only if the object changes, and the
    area's entry on arriving and after leaving.
    """
    world, nodes = view.world, view.scenario.geography.nodes
    changes = {thing: KnownNode(UNKNOWN, "", view.tick) for thing in missing(view)}
    if world.body.came_from != world.area or world.area not in belief.nodes:
        changes[world.area] = KnownNode(nodes[world.area].parent_id, "open", view.tick)
        changes[world.body.came_from] = KnownNode(nodes[world.body.came_from].parent_id, "open", view.tick - 1)
    here = [(thing, seen.parent, seen.state) for thing, seen in world.things.items()]
    here += [(other, world.area, ASLEEP if body.asleep else body.doing) for other, body in world.bodies.items()]
    for node, parent, state in here:
        known = belief.nodes.get(node)
        if known is None or known.parent != parent or known.state != state:
            changes[node] = KnownNode(parent, state, view.tick)
    for neighbour in world.ways:
        if neighbour not in belief.nodes:
            changes[neighbour] = KnownNode(nodes[neighbour].parent_id, "open", view.tick)
    return belief.updated(changes, _closed(view, belief))


def _closed(view: TurnView, belief: Belief) -> frozenset[tuple[str, str]]:
    """Returns the ways believed closed: those that lead from here as they are, the rest as last seen."""
    here = {(view.world.area, neighbour) for neighbour, is_open in view.world.ways.items() if not is_open}
    elsewhere = {way for way in belief.closed if way[0] != view.world.area}
    return frozenset(here | elsewhere) if here or belief.closed else belief.closed


def name_of(view: TurnView, node: str) -> str:
    """Returns the name of an area, object or character."""
    return view.scenario.geography.name(node)


def the_name(view: TurnView, node: str) -> str:
    """Returns the name with its article, as it stands in a sentence."""
    return the(view, name_of(view, node))


def the(view: TurnView, name: str) -> str:
    """Returns a name with its article."""
    return language(view.scenario.language).the(name)
