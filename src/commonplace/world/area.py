"""One area's tick: what those who stood there did to its objects and to one another.

`fold_area` sees one scene as of the end of the tick before, the deeds of those in it, and who arrives. Nothing else, so
that an area can be folded as soon as its own people have acted, whatever goes on elsewhere.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from msgspec import structs

from commonplace.world.actions import Interact, Say
from commonplace.world.deeds import Deed, TickSetting
from commonplace.world.events import (
    Acted,
    ConversationEnded,
    ConversationStarted,
    Event,
    EventBody,
    Interacted,
    ObjectStateChanged,
    Phase,
)
from commonplace.world.state import AreaScene, Body, Conversation, Line, ThingState

SILENCE = 2
"""Ticks without a word after which a conversation has ended."""

Own = dict[str, list[Event]]
"""Each character's events of the tick, in the order of ordinals."""


@dataclass(frozen=True, slots=True)
class Fold:
    """What a tick made of an area."""

    outcomes: Mapping[str, tuple[Event, ...]]
    """The events of each who stood here, in the order of ordinals."""
    bodies: Mapping[str, Body]
    """Who is here at the end, in the order of ids."""
    changed: Mapping[str, ThingState]
    """The objects that changed, except those that a walker only carried along."""
    conversations: tuple[Conversation, ...]
    happened: tuple[Event, ...]
    """What others could see, canonical order, the moves of those arriving included."""
    heard: Mapping[str, tuple[Event, ...]] = field(default_factory=dict[str, tuple[Event, ...]])
    """What reached those who left during the tick, by who left."""


def fold_area(setting: TickSetting, scene: AreaScene, deeds: Mapping[str, Deed], arrivals: Sequence[Deed] = ()) -> Fold:
    """Applies the deeds of everybody in the scene, in the order of ids. Raises KeyError when one is missing.

    `arrivals` are the deeds of those who step in from other areas; they are seen, and change nothing this tick.
    """
    own: Own = {me: [deeds[me].event, *deeds[me].notes] for me in scene.bodies}
    acting = [deeds[me] for me in scene.bodies]
    staying = {deed.agent_id: deed.body for deed in acting if deed.body.area == scene.area}
    changed = _objects(setting, scene, acting, own)
    talks = _talks(setting, scene, acting, staying, own)
    bodies = staying
    if arrivals:
        bodies = dict(sorted([*staying.items(), *((deed.agent_id, deed.body) for deed in arrivals)]))
    return Fold(
        outcomes={me: tuple(events) for me, events in own.items()},
        bodies=bodies,
        changed=changed,
        conversations=talks.ongoing,
        happened=_record(acting, own, arrivals),
        heard=_heard(acting, staying, talks, own) if len(staying) < len(acting) else {},
    )


def scene_after(scene: AreaScene, fold: Fold, arrivals: Sequence[Deed], setting: TickSetting) -> AreaScene:
    """Returns the area's scene at the end of the tick."""
    things = dict(scene.things)
    for deed in arrivals:
        things |= deed.carried
    things |= {id: replace(things[id], state=state) for id, state in setting.sets.items() if id in things}
    things |= fold.changed
    around = sorted(things.items())
    here = {id: thing for id, thing in around if thing.parent == scene.area or thing.parent in fold.bodies}
    return AreaScene(scene.area, fold.bodies, here, fold.conversations, fold.happened)


def _objects(setting: TickSetting, scene: AreaScene, acting: Iterable[Deed], own: Own) -> dict[str, ThingState]:
    """Returns the objects that change. Every attempt starts from the previous tick's state; if several change the same
    object, the last in order of ids wins."""
    states: dict[str, tuple[str, str]] = {}
    steps: dict[str, int] = {}
    holders: dict[str, str] = {}
    for deed in acting:
        holders |= deed.hands
        tried, action = deed.attempt, deed.action
        if tried is None or not tried.done or not isinstance(action, Interact):
            continue
        if tried.target:
            states[action.object_id] = (tried.target, deed.agent_id)
        if tried.progress:
            steps[action.object_id] = tried.progress
        for other, state in tried.also:
            if other in scene.things and scene.things[other].parent == scene.area:
                states[other] = (state, deed.agent_id)
    if not (states or holders or steps):
        return {}
    _tell_losers(acting, holders, own)
    return _written(setting, scene, states, holders, steps, own)


def _written(
    setting: TickSetting,
    scene: AreaScene,
    states: Mapping[str, tuple[str, str]],
    holders: Mapping[str, str],
    steps: Mapping[str, int],
    own: Own,
) -> dict[str, ThingState]:
    """Returns the things that change. The steps made towards another state count only while the state stays as it
    is."""
    changed: dict[str, ThingState] = {}
    for id in sorted(states.keys() | holders.keys() | steps.keys()):
        thing = scene.things[id]
        before = setting.sets.get(id, thing.state)
        state, by = states.get(id, (before, ""))
        if state != before:
            _consequence(setting, scene, own[by], ObjectStateChanged(object_id=id, old=before, to=state, by=by))
        progress = steps.get(id, thing.progress) if state == thing.state else 0
        changed[id] = ThingState(state, holders.get(id, thing.parent), progress)
    return changed


def _tell_losers(acting: Iterable[Deed], holders: Mapping[str, str], own: Own) -> None:
    """Tells everybody who tried to take an object that somebody else got it: the last in order has it."""
    for deed in acting:
        for thing, holder in deed.hands.items():
            if holder == deed.agent_id != holders[thing] and isinstance(deed.event.body, Interacted):
                told = replace(deed.event, body=structs.replace(deed.event.body, held_by=holders[thing]))
                own[deed.agent_id][0] = told


def _talks(setting: TickSetting, scene: AreaScene, acting: Iterable[Deed], here: Mapping[str, Body], own: Own) -> Talks:
    lines = [
        Line(setting.tick, deed.agent_id, say.to_agent_id, say.utterance, say.speech_act, say.topic)
        for deed in acting
        if isinstance(say := deed.action, Say)
    ]
    if not lines and not scene.conversations:
        return Talks(())
    talks = fold_talks(scene.area, setting.tick, scene.conversations, lines, here)
    for one in talks.started:
        begun = ConversationStarted(conversation_id=one.id, members=one.members)
        _consequence(setting, scene, own[one.starter], begun)
    for one in talks.ended:
        _consequence(setting, scene, own[one.members[0]], ending(one))
    return talks


def ending(talk: Conversation) -> ConversationEnded:
    """Returns the event that ends a talk."""
    lines = tuple((line.speaker, line.to, line.utterance) for line in talk.lines)
    return ConversationEnded(conversation_id=talk.id, members=participants(talk), lines=lines)


def _consequence(setting: TickSetting, scene: AreaScene, events: list[Event], body: EventBody) -> None:
    """Adds a consequence to the events of the character who caused it."""
    by = events[0].agent_id
    events.append(Event(setting.tick, Phase.CONSEQUENCE, by, len(events), scene.area, body))


def _record(acting: Sequence[Deed], own: Own, arrivals: Sequence[Deed]) -> tuple[Event, ...]:
    """Returns the events in canonical order: actions first, then consequences, each in the order of ids."""
    seen = [own[deed.agent_id][0] for deed in acting if deed.seen]
    if arrivals:
        seen = sorted([*seen, *(deed.event for deed in arrivals)], key=lambda event: event.order)
    later = [event for deed in acting for event in own[deed.agent_id][1 + len(deed.notes) :]]
    return (*seen, *later)


def _heard(acting: Iterable[Deed], here: Mapping[str, Body], talks: Talks, own: Own) -> dict[str, tuple[Event, ...]]:
    """Returns what was done to those who were leaving, and the end of their talks unless that is their own event."""
    left = {deed.agent_id for deed in acting if deed.agent_id not in here}
    heard: dict[str, list[Event]] = {}
    for deed in acting:
        if isinstance(did := deed.event.body, Acted) and did.to_agent_id in left:
            heard.setdefault(did.to_agent_id, []).append(deed.event)
    for by in sorted({one.members[0] for one in talks.ended}):
        for event in own[by]:
            if isinstance(event.body, ConversationEnded):
                for me in left.intersection(event.body.members) - {by}:
                    heard.setdefault(me, []).append(event)
    return {me: tuple(events) for me, events in heard.items()}


# ── conversations ────────────────────────────────────────────────────────────────────────────────────────────────────
# Pure rules over the talks of one area and what was said there in one tick. First SAYs that touch (a common speaker or
# addressee) make one conversation. A talk that touches another one through the same tick's SAYs becomes one with it:
# the older goes on, the younger ends. So a character is in one talk at most.


@dataclass(frozen=True, slots=True)
class Talks:
    """What one tick made of the talks of one area."""

    ongoing: tuple[Conversation, ...]
    started: tuple[Conversation, ...] = ()
    """Those that began, their members as they began."""
    ended: tuple[Conversation, ...] = ()
    """Those that ended, with the members they had before anybody left; all of them were here a tick ago."""


def fold_talks(
    area: str, tick: int, talks: Sequence[Conversation], lines: Sequence[Line], here: Container[str]
) -> Talks:
    """Applies one tick to the talks: `lines` in canonical order (by speaker), `here` everybody in the area at its
    end."""
    ongoing: list[Conversation] = []
    started: list[Conversation] = []
    ended: list[Conversation] = []
    for group in _groups(talks, lines):
        elders = sorted(
            (talk for talk in talks if group & set(talk.members)), key=lambda talk: (talk.lines[0].tick, talk.id)
        )
        said = tuple(sorted((line for line in lines if line.speaker in group), key=_asks))
        ended += elders[1:]
        if elders:
            talk = _continued(elders[0], said, group)
        else:
            talk = _begun(area, tick, said, group)
            started.append(talk)
        staying = tuple(member for member in talk.members if member in here)
        if len(staying) < 2 or tick - talk.lines[-1].tick >= SILENCE:
            ended.append(talk)
        else:
            ongoing.append(replace(talk, members=staying) if staying != talk.members else talk)
    return Talks(_by_id(ongoing), _by_id(started), _by_id(ended))


def _asks(line: Line) -> bool:
    """Tells whether a line asks. Of lines said at once it comes last, so that whoever is asked has the floor."""
    return line.speech_act.startswith("ask") or line.utterance.endswith("?")


def participants(talk: Conversation) -> tuple[str, ...]:
    """Returns everybody who took part, sorted: everybody who spoke or was spoken to, still here or not."""
    return tuple(sorted({name for line in talk.lines for name in (line.speaker, line.to)}))


def _begun(area: str, tick: int, said: tuple[Line, ...], group: set[str]) -> Conversation:
    starter = min(line.speaker for line in said)
    return Conversation(f"{area}.{tick}.{starter}", area, starter, tuple(sorted(group)), said, said[-1].to)


def _continued(talk: Conversation, said: tuple[Line, ...], group: set[str]) -> Conversation:
    if not said:
        return talk
    return replace(talk, members=tuple(sorted(group)), lines=(*talk.lines, *said), floor=said[-1].to)


def _groups(talks: Sequence[Conversation], lines: Sequence[Line]) -> list[set[str]]:
    """Returns the connected components of characters who share a talk or a line."""
    groups: list[set[str]] = []
    for circle in [*(set(talk.members) for talk in talks), *({line.speaker, line.to} for line in lines)]:
        touching = [group for group in groups if group & circle]
        groups = [group for group in groups if not group & circle]
        groups.append(circle.union(*touching))
    return groups


def _by_id(talks: list[Conversation]) -> tuple[Conversation, ...]:
    return tuple(sorted(talks, key=lambda talk: talk.id))
