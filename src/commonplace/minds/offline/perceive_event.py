"""A god-mode sentence: who perceives it, and which things it changes."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.grammar.listed import listed
from commonplace.minds.offline.happenings import event_kind
from commonplace.minds.tasks import PerceiveEventInput, PerceiveEventOutput, ThingHere
from commonplace.text import words

LIGHTS = listed("light lights lamp lamps sign signs neon lantern lanterns radio screen jukebox speaker")


def perceive_event(given: PerceiveEventInput, dice: Dice) -> PerceiveEventOutput:  # noqa: ARG001 – nothing to draw
    """Those in a named area and those named; everybody when the sentence names neither."""
    spoken = f" {' '.join(words(given.text))} "
    areas = _longest({area.id: area.name for area in given.areas}, spoken)
    people = tuple(one.id for one in given.people if _named(one.called, spoken) or _named(one.name, spoken))
    text = given.text.strip()
    percept = text[:1].upper() + text[1:]
    return PerceiveEventOutput(
        percept=percept if percept.endswith((".", "!", "?", "…")) else f"{percept}.",
        everybody=not areas and not people,
        areas=areas,
        people=people,
        sets=tuple(_sets(given, spoken, areas)),
    )


def _named(name: str, spoken: str) -> bool:
    plain = " ".join(words(name.removeprefix("The ").removeprefix("the ")))
    return bool(plain) and f" {plain} " in spoken


def _longest(names: dict[str, str], spoken: str) -> tuple[str, ...]:
    """Named areas; one whose name lies inside another named area's name does not count."""
    found = {area: name for area, name in names.items() if _named(name, spoken)}
    return tuple(
        area for area, name in found.items()
        if not any(name != other and name.lower() in other.lower() for other in found.values())
    )  # fmt: skip


def _sets(given: PerceiveEventInput, spoken: str, areas: tuple[str, ...]) -> Iterable[tuple[str, str]]:
    rules = grammar(given.language)
    kind = event_kind(rules, given.text)
    for thing in given.things:
        states = given.states.get(thing.id, ())
        if _named(thing.name, spoken):
            state = _named_state(states, spoken) or _typical(rules, kind, states)
        elif kind == "dark" and given.located.get(thing.id, "") in areas and areas and _is_lit(thing):
            state = _typical(rules, kind, states)
        else:
            continue
        if state and state != thing.state:
            yield thing.id, state


def _is_lit(thing: ThingHere) -> bool:
    return bool(LIGHTS & set(words(thing.name)))


def _named_state(states: tuple[str, ...], spoken: str) -> str:
    """A state whose word occurs, also as the stem of a verb: `the kettle breaks` → `broken`."""
    for state in states:
        if _named(state.replace("_", " "), spoken):
            return state
    stems = {
        "breaks": "broken",
        "opens": "open",
        "closes": "closed",
        "shuts": "closed",
        "dies": "dead",
        "empties": "empty",
    }
    said = {stems[word] for word in spoken.split() if word in stems}
    return next((state for state in states if state in said), "")


def _typical(rules: Grammar, kind: str, states: tuple[str, ...]) -> str:
    wanted = rules.words(f"{kind}.states")
    return next((state for state in states if state.replace("_", " ") in wanted), "")
