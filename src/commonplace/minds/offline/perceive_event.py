"""Perceive an event: who perceives a god-mode sentence, and which things it changes.

What a person means by a few words is found by name: `the noodle bar` is Mira's Noodle Bar, `the kettle` the only one
there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from commonplace.minds.notes import ThingHere
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.tasks import PerceiveEventInput, PerceiveEventOutput
from commonplace.text import words

EVENTS = ("fire", "cry", "dark", "water", "loud", "wonder")
"""Kinds of event, the more urgent first."""
SHORTEST = 3
"""Letters of a word that may stand for a whole name."""
STATES = {
    "breaks": "broken", "opens": "open", "closes": "closed", "shuts": "closed", "dies": "dead", "empties": "empty",
    "jams": "jammed", "tears": "torn", "dries": "dry",
}  # fmt: skip
"""Verb → the state it leads to."""


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
        elif kind == "dark" and _is_electric(rules, thing) and _is_powerless(rules, given.text, place, areas):
            state = _typical(rules, kind, states)
        else:
            continue
        if state and state != thing.state:
            yield thing.id, state


def _is_powerless(rules: Grammar, text: str, place: str, areas: tuple[str, ...]) -> bool:
    """Whether the power is gone where a thing is; everywhere, when no area is named."""
    return rules.has("power", text) and (place in areas or not areas)


def _is_electric(rules: Grammar, thing: ThingHere) -> bool:
    """Whether a thing goes dark with the power, by a word of its name."""
    return rules.has("electric", thing.name)


def _named_state(states: tuple[str, ...], spoken: str) -> str:
    """A state whose word occurs, also as the stem of a verb: `the kettle breaks` → `broken`."""
    for state in states:
        if named_fully(state.replace("_", " "), spoken):
            return state
    said = {STATES[word] for word in spoken.split() if word in STATES}
    return next((state for state in states if state in said), "")


def _typical(rules: Grammar, kind: str, states: tuple[str, ...]) -> str:
    wanted = rules.words(f"{kind}.states")
    return next((state for state in states if state.replace("_", " ") in wanted), "")


def event_kind(rules: Grammar, text: str) -> str:
    """dark, fire, cry, water, loud, wonder or other."""
    return next((kind for kind in EVENTS if rules.has(f"event.{kind}", text)), "other")


# ── what a few words mean ─────────────────────────────────────────────────────────────────────────────────────────────


def spoken_words(text: str) -> str:
    """The words of a text between spaces, for whole-word search."""
    return f" {' '.join(words(text.replace('’', chr(39))))} "


def named_fully(name: str, spoken: str) -> bool:
    """Whether the name occurs as it stands, its article aside."""
    plain = " ".join(words(name.removeprefix("The ").removeprefix("the ")))
    return bool(plain) and f" {plain} " in spoken


def meant(names: Mapping[str, str], spoken: str) -> tuple[str, ...]:
    """Ids of what is named: fully, or else without its owner, or by its last words where these fit one thing only.

    A name inside another one that was named does not count.
    """
    found = {key: form for key, name in names.items() for form in (_matched(names, name, spoken),) if form}
    return tuple(
        key for key, form in found.items()
        if not any(form != other and f" {form} " in f" {other} " for other in found.values())
    )  # fmt: skip


def places_meant(names: Mapping[str, str], spoken: str) -> tuple[str, ...]:
    """As `meant`, for areas: where nothing else fits, the first word of a name will do, `the canal` for Canal Walk."""
    return meant(names, spoken) or tuple(
        key for key, name in names.items()
        if "'s " not in name and f" {_plain(name).partition(' ')[0]} " in spoken
        and sum(1 for other in names.values() if _plain(other).startswith(_plain(name).partition(" ")[0])) == 1
    )  # fmt: skip


def _matched(names: Mapping[str, str], name: str, spoken: str) -> str:
    """The longest form of a name that was used; empty for none."""
    for form in _forms(name):
        if f" {form} " in spoken and (form == _plain(name) or _is_the_only(names, form)):
            return form
    return ""


def _plain(name: str) -> str:
    return " ".join(words(name.removeprefix("The ").removeprefix("the ")))


def _forms(name: str) -> Iterator[str]:
    """`Mira's Noodle Bar` → itself, `noodle bar`, `bar`."""
    yield _plain(name)
    _, owner, rest = name.partition("'s ")
    parts = words(rest if owner else name)
    for first in range(len(parts)):
        form = " ".join(parts[first:])
        if len(form) >= SHORTEST:
            yield form


def _is_the_only(names: Mapping[str, str], form: str) -> bool:
    return sum(1 for name in names.values() if f" {_plain(name)}".endswith(f" {form}")) == 1
