"""A god-mode sentence: who perceives it, and which things it changes."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.minds.notes import ThingHere
from commonplace.minds.offline.called import meant, named_fully, places_meant, spoken_words
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.grammar.listed import listed
from commonplace.minds.offline.happenings import event_kind
from commonplace.minds.tasks import PerceiveEventInput, PerceiveEventOutput
from commonplace.text import words

LIGHTS = listed("light lights lamp lamps sign signs neon radio screen jukebox speaker transmitter machine stall")
"""Words of names that tell a thing which goes dark with the power."""
POWER = listed("power electricity blackout outage lights")


def perceive_event(given: PerceiveEventInput, dice: Dice) -> PerceiveEventOutput:  # noqa: ARG001 – nothing to draw
    """Those in a named area and those named; everybody when the sentence names neither."""
    spoken = spoken_words(given.text)
    people = tuple(one.id for one in given.people if named_fully(one.called, spoken) or named_fully(one.name, spoken))
    things = meant({thing.id: thing.name for thing in given.things}, spoken)
    areas = _areas(given, spoken, things)
    text = given.text.strip()
    percept = text[:1].upper() + text[1:]
    return PerceiveEventOutput(
        percept=percept if percept.endswith((".", "!", "?", "…")) else f"{percept}.",
        everybody=not areas and not people,
        areas=areas,
        people=people,
        sets=tuple(_sets(given, spoken, areas, things)),
    )


def _areas(given: PerceiveEventInput, spoken: str, things: tuple[str, ...]) -> tuple[str, ...]:
    """The areas named; where none is, the one that holds the only thing named."""
    named = places_meant({area.id: area.name for area in given.areas}, spoken)
    if named or len(things) != 1:
        return named
    place = given.located.get(things[0], "")
    return (place,) if any(area.id == place for area in given.areas) else ()


def _sets(
    given: PerceiveEventInput, spoken: str, areas: tuple[str, ...], things: tuple[str, ...]
) -> Iterable[tuple[str, str]]:
    rules = grammar(given.language)
    kind = event_kind(rules, given.text)
    for thing in given.things:
        states = given.states.get(thing.id, ())
        place = given.located.get(thing.id, "")
        if thing.id in things and (not areas or place in areas):
            state = _named_state(states, spoken) or _typical(rules, kind, states)
        elif kind == "dark" and _is_lit(thing) and _is_powerless(place, spoken, areas):
            state = _typical(rules, kind, states)
        else:
            continue
        if state and state != thing.state:
            yield thing.id, state


def _is_powerless(place: str, spoken: str, areas: tuple[str, ...]) -> bool:
    """Whether the power is gone where a thing is; everywhere, when no area is named."""
    return bool(POWER & set(spoken.split())) and (place in areas or not areas)


def _is_lit(thing: ThingHere) -> bool:
    return bool(LIGHTS & set(words(thing.name)))


def _named_state(states: tuple[str, ...], spoken: str) -> str:
    """A state whose word occurs, also as the stem of a verb: `the kettle breaks` → `broken`."""
    for state in states:
        if named_fully(state.replace("_", " "), spoken):
            return state
    stems = {
        "breaks": "broken",
        "opens": "open",
        "closes": "closed",
        "shuts": "closed",
        "dies": "dead",
        "empties": "empty",
        "jams": "jammed",
        "tears": "torn",
        "dries": "dry",
    }
    said = {stems[word] for word in spoken.split() if word in stems}
    return next((state for state in states if state in said), "")


def _typical(rules: Grammar, kind: str, states: tuple[str, ...]) -> str:
    wanted = rules.words(f"{kind}.states")
    return next((state for state in states if state.replace("_", " ") in wanted), "")
