"""The world's only mutator: everybody's intents of a tick, applied at its end.

Everybody acts on the state at the end of the tick before; whoever comes later in canonical order (character id) writes
last. The order of `intents` cannot matter, and neither can anything outside an area to what happens in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from commonplace.clock import Clock
from commonplace.world.actions import resolve
from commonplace.world.area import Fold, fold_area
from commonplace.world.circumstances import FREE, Duties, duties, turns
from commonplace.world.deeds import Deed, HouseRules, Intent, TickSetting
from commonplace.world.events import Event
from commonplace.world.geography import Geography
from commonplace.world.inputs import Input, Turning, Weather, apply_inputs, with_moves, with_states
from commonplace.world.messages import delivered, sent
from commonplace.world.script import Scripted, barred_after, scripted_events
from commonplace.world.state import Body, ThingState, World, recorded, scene

PLAIN = HouseRules()


def step(
    geography: Geography,
    world: World,
    intents: Mapping[str, Intent],
    *,
    clock: Clock,
    rules: HouseRules = PLAIN,
    ambient: Sequence[Event] = (),
    scripted: Sequence[Scripted] = (),
    inputs: Sequence[Input] = (),
    weather: Weather | None = None,
) -> tuple[World, tuple[Event, ...]]:
    """Returns the world one tick later, and the tick's events in canonical order.

    `intents` has one for every body in the world (else KeyError); `ambient`, `scripted` and `inputs` belong to the new
    tick, and `weather` gives its weather under an imposed sky or none. `world` itself does not change.
    """
    if intents.keys() != world.bodies.keys():
        raise KeyError(f"intents and bodies differ: {sorted(intents.keys() ^ world.bodies.keys())}")
    obeyed = duties(geography, world.circumstances, rules.kinds)
    now = setting(geography, world.tick, world.barred, clock=clock, rules=rules, scripted=scripted, obeyed=obeyed)
    scenes = {area: scene(world, area) for area in world.occupants}
    deeds = {me: resolve(now, here, me, intents[me]) for here in scenes.values() for me in here.bodies}
    arrivals = _arrivals(deeds, world)
    # One area at a time, each from its own scene, deeds and arrivals: what happens in a room cannot depend on other
    # rooms, and a scheduler may fold a room before the others have acted.
    folds = {
        area: fold_area(now, scenes.get(area) or scene(world, area), deeds, arrivals.get(area, ()))
        for area in sorted(scenes.keys() | arrivals.keys())
    }
    outside = (*ambient, *scripted_events(scripted, now.tick, len(ambient)))
    events = [*outside, *(event for fold in folds.values() for own in fold.outcomes.values() for event in own)]
    after = _assembled(world, now, folds=folds, deeds=deeds, outside=outside, scripted=scripted)
    inputs = (*_turning(world, now.tick, scripted, rules, clock), *inputs)
    if inputs:
        # Last of all: everybody has acted on the state before, so that an input that comes while turns are being made
        # cannot reach some of them and miss others. It is perceived at the next tick.
        after, more = apply_inputs(geography, after, inputs, events, clock=clock, rules=rules, weather=weather)
        events += more
    new = sent(events)
    if world.messages or new:
        after, more = delivered(geography, after, new, events, clock=clock, rules=rules)
        events += more
    if inputs or world.messages:
        after = recorded(after, events)
    events.sort(key=lambda event: event.order)
    return after, tuple(events)


def setting(
    geography: Geography,
    last_tick: int,
    barred: frozenset[str],
    *,
    clock: Clock,
    rules: HouseRules = PLAIN,
    scripted: Iterable[Scripted] = (),
    obeyed: Duties = FREE,
) -> TickSetting:
    """Returns what holds everywhere in the tick after `last_tick`: `barred` and `obeyed` as at its end, `scripted` of
    the new tick."""
    moment = clock.time(last_tick)
    closed = geography.closed(moment.hour * 60 + moment.minute, barred)
    sets = {id: state for one in scripted for id, state in one.sets}
    return TickSetting(geography, last_tick + 1, closed, rules, sets, obeyed)


def _turning(
    world: World, tick: int, scripted: Sequence[Scripted], rules: HouseRules, clock: Clock
) -> tuple[Input, ...]:
    """Returns what the script raises and ends, and what runs out, as the first of the inputs; nothing if there is
    none."""
    raises = tuple(raised for one in scripted for raised in one.raises)
    ends = tuple(key for one in scripted for key in one.ends)
    turned = turns(world.circumstances, rules.kinds, clock, tick)
    return (Turning(-1, raises, ends),) if raises or ends or turned else ()


def _arrivals(deeds: Mapping[str, Deed], world: World) -> dict[str, list[Deed]]:
    arrivals: dict[str, list[Deed]] = {}
    for me, deed in deeds.items():
        if deed.body.area != world.bodies[me].area:
            arrivals.setdefault(deed.body.area, []).append(deed)
    return arrivals


def _assembled(
    world: World,
    now: TickSetting,
    *,
    folds: Mapping[str, Fold],
    deeds: Mapping[str, Deed],
    outside: tuple[Event, ...],
    scripted: Sequence[Scripted],
) -> World:
    """Returns the areas put together again. Mappings in which nothing changed are passed on as they are."""
    bodies: Mapping[str, Body] = world.bodies
    if any(deed.body is not bodies[me] for me, deed in deeds.items()):
        bodies = {me: deeds[me].body for me in bodies}
    things: Mapping[str, ThingState] = with_states(world.things, now.sets)
    changed = {id: thing for fold in folds.values() for id, thing in fold.changed.items()}
    barred = world.barred
    moves = {id: area for one in scripted for id, area in one.moves}
    occasions = {one.id: now.tick for one in scripted if one.recurs}
    for one in scripted:
        barred = barred_after(barred, one.opens, one.closes)
    return World(
        tick=now.tick,
        bodies=bodies,
        things=with_moves({**things, **changed} if changed else things, moves),
        conversations={area: fold.conversations for area, fold in folds.items() if fold.conversations},
        barred=barred,
        occasions={**world.occasions, **occasions} if occasions else world.occasions,
        imposed=world.imposed,
        circumstances=world.circumstances,
        messages=world.messages,
        happened={area: fold.happened for area, fold in folds.items() if fold.happened},
        outcomes={me: own for fold in folds.values() for me, own in fold.outcomes.items()},
        heard={me: events for fold in folds.values() for me, events in fold.heard.items()},
        ambient=outside,
    )
