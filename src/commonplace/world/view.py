"""What one character can see: its own area at the end of the previous tick, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from commonplace.clock import Clock
from commonplace.world.actions import Targets, targets
from commonplace.world.circumstances import NO_KINDS, TOWN, Circumstance, Circumstances, Duties, Kinds, duties, holding
from commonplace.world.events import Event, ScriptPlayed
from commonplace.world.geography import Geography
from commonplace.world.script import reaches
from commonplace.world.state import AreaScene, Body, Conversation, ThingState, World, scene
from commonplace.world.weather import Ambient


@dataclass(frozen=True, slots=True)
class WorldView:
    """A frozen view for one character at one tick. The type is the rule: no other part of the world is reachable."""

    tick: int
    """The tick the turn belongs to; everything below is as of the end of `tick - 1`."""
    me: str
    body: Body
    area: str
    path: tuple[str, ...]
    """Names from the root to the area."""
    outdoor: bool
    ambient: Ambient
    bodies: Mapping[str, Body]
    """The others here, in the order of ids."""
    things: Mapping[str, ThingState]
    """Objects here, and those I carry, in the order of ids."""
    ways: Mapping[str, bool]
    """Neighbouring area → whether the way is open."""
    conversations: tuple[Conversation, ...]
    events: tuple[Event, ...]
    """What happened here at `tick - 1`, my own events left out; and what was said to me in the area I was leaving."""
    outcome: tuple[Event, ...]
    """My own events of `tick - 1`, from the simulator's account."""
    circumstances: tuple[Circumstance, ...]
    """What is so of the place, of those and what is here, and of the town."""
    news: tuple[Event, ...]
    """Ambient, scripted and input events of `tick - 1` that reach me."""
    targets: Targets
    """Valid targets as far as the world knows; the belief view narrows `areas` further."""

    @property
    def talk(self) -> Conversation | None:
        """Returns the conversation that `me` is in."""
        return next((talk for talk in self.conversations if self.me in talk.members), None)


def look(
    geography: Geography,
    world: World,
    agent_id: str,
    *,
    clock: Clock,
    ambient: Ambient,
    kinds: Kinds = NO_KINDS,
    home: str = "",
) -> WorldView:
    """Returns what a character who lives in `home` sees at tick `world.tick + 1`; `ambient` is the weather of
    `world.tick`, `kinds` are the kinds of circumstances. Raises KeyError."""
    here = scene(world, world.bodies[agent_id].area)
    obeyed = duties(geography, world.circumstances, kinds)
    moment = clock.time(world.tick)
    return see(
        geography,
        here,
        agent_id,
        tick=world.tick + 1,
        closed=obeyed.closed(here.area, home, geography.closed(moment.hour * 60 + moment.minute, world.barred)),
        circumstances=_seen(geography, world.circumstances, here, obeyed) if world.circumstances else (),
        ambient=ambient,
        outcome=world.outcomes.get(agent_id, ()),
        heard=world.heard.get(agent_id, ()),
        news=(*news(world.ambient, agent_id, here.area), *world.told.get(agent_id, ())),
    )


def see(
    geography: Geography,
    here: AreaScene,
    me: str,
    *,
    tick: int,
    closed: frozenset[str],
    ambient: Ambient,
    circumstances: tuple[Circumstance, ...] = (),
    outcome: tuple[Event, ...] = (),
    heard: tuple[Event, ...] = (),
    news: tuple[Event, ...] = (),
) -> WorldView:
    """Returns the view of `me`, who is in the scene, made only of its own area, the weather and the news that reach
    it."""
    shut = geography.closed_from(here.area, closed)
    others = tuple(event for event in here.happened if event.agent_id != me)
    return WorldView(
        tick=tick,
        me=me,
        body=here.bodies[me],
        area=here.area,
        path=geography.path(here.area),
        outdoor=geography.nodes[here.area].outdoor,
        ambient=ambient,
        bodies={other: body for other, body in here.bodies.items() if other != me},
        things={id: thing for id, thing in here.things.items() if thing.parent in (here.area, me)},
        ways={area: way.id not in shut for area, way in geography.edges[here.area]},
        conversations=here.conversations,
        events=tuple(sorted((*others, *heard), key=lambda event: event.order)) if heard else others,
        outcome=outcome,
        circumstances=circumstances,
        news=news,
        targets=targets(geography, here, me),
    )


def _seen(
    geography: Geography, circumstances: Circumstances, here: AreaScene, obeyed: Duties
) -> tuple[Circumstance, ...]:
    """Returns the circumstances that can be seen: of the area, of the areas that hold it, of the people and things in
    it, of things left there, of the town, and of the next areas that one cannot enter."""
    around = {here.area, *(to for to, _ in geography.edges[here.area] if to in obeyed.cleared or to in obeyed.shut)}
    holders = {holder for area in around for holder in geography.holders(area)}
    left = {one.of for one in circumstances.values() if one.at == here.area}
    return holding(circumstances, {TOWN, *holders, *here.bodies, *here.things, *left})


def news(ambient: Iterable[Event], me: str, area: str) -> tuple[Event, ...]:
    """Returns the ambient and scripted events that reach a character who is in the area at the end of their tick."""
    return tuple(
        event
        for event in ambient
        if not isinstance(said := event.body, ScriptPlayed) or reaches(said, me, area) or area in said.near
    )
