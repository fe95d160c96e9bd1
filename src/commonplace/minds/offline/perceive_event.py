"""Perceive an event: who perceives a god-mode sentence, and what it changes: things, doors, the weather, people.

What a person means by a few words is found by name: `the noodle bar` is Mira's Noodle Bar, `the kettle` the only one
there is. What becomes of it is found by the word lists `becomes.…`, `sky.…`, `door.…` and `befall.…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from commonplace.minds.notes import Spot
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.happens import found_facts, happens, newcomer, respelled
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.minds.tasks import PerceiveEventInput, PerceiveEventOutput
from commonplace.minds.tasks.perceive_event import GONE
from commonplace.text import name_forms, plain_name, words
from commonplace.world.circumstances import TOWN, subject_of

EVENTS = ("fire", "cry", "dark", "water", "loud", "wonder")
"""Kinds of event, the more urgent first."""
FAR = ("fire", "cry", "loud", "music", "dark", "bright")
"""Kinds of event that are noticed in the next rooms, the more urgent first."""
BECOMES: Mapping[str, tuple[str, ...]] = {
    "broken": ("고장", "broken", "cracked", "smashed", "jammed", "stopped", "torn", "dead", "out", "off", "dark"),
    "mended": ("mended", "repaired", "whole", "working", "ready", "going", "running", "humming", "tuned", "lit", "on"),
    "going": ("감", "회전", "going", "running"),
    "open": ("열림", "open", "unlocked", "up"),
    "closed": ("닫힘", "closed", "shut", "locked", "down"),
    "locked": ("locked", "closed", "shut"),
    "unlocked": ("unlocked", "open"),
    "lit": ("켜짐", "lit", "on", "burning", "glowing", "playing"),
    "dark": ("꺼짐", "dark", "off", "out", "unlit", "dead", "silent", "cold"),
    "burning": ("burning", "burnt", "ablaze", "smoking", "lit"),
    "empty": ("비었음", "빔", "empty", "bare", "dry", "picked-over"),
    "full": ("가득함", "full", "stocked", "filled"),
    "dry": ("마름", "dry", "empty"),
    "wet": ("wet", "flooded", "leaking", "overflowing", "soaked"),
    "torn": ("torn", "broken"),
    "stuck": ("jammed", "stuck", "broken"),
    "playing": ("playing", "on", "going"),
    "silent": ("조용함", "silent", "off", "stopped"),
}  # fmt: skip
"""What a sentence says happens to a thing → the states that may mean it, the nearest first."""
BEFALLS = ("sleep", "wake", "ill", "hurt", "cry", "laugh", "sing", "dance")
"""What may befall somebody: word lists `befall.…`, and the doing it leads to as the rule of the same name."""
SKIES = ("over", "storm", "snow", "rain", "fog", "cloudy", "clear")
"""Word lists `sky.…`, what ends the rain first."""
_STARTS = re.compile(r"\b(?:starts|begins|is|are|keeps)(?: to)? ([a-z]+(?:ing)?\b[^.,;!?]{0,80})")


def perceive_event(given: PerceiveEventInput, dice: Dice) -> PerceiveEventOutput:  # noqa: ARG001 – nothing to draw
    """Returns the people in a named area and the people named; everybody if the sentence names neither, or says so."""
    text, given = given.text.strip(), respelled(given)
    rules, spoken = grammar(given.language), spoken_words(given.text)
    people = tuple(one.id for one in given.people if named_fully(one.called, spoken) or named_fully(one.name, spoken))
    found = happens(given)
    begun = [subject_of(key)[1] for key in (*found.begins, *found.ends)]
    people = tuple(one.id for one in given.people if one.id in people or one.id in begun)
    facts = any(of in found_facts(given) for of in begun)
    things = () if facts else _things(given, rules, spoken)  # no lantern is meant by a lantern festival
    everywhere = rules.has("event.everywhere", given.text) and not rules.has("event.present", given.text)
    comes = newcomer(given)
    people = () if comes and found.areas else people  # those who are asked for are elsewhere
    areas = found.areas if begun or comes else _areas(given, spoken, () if everywhere else things)
    areas = () if TOWN in begun else areas or _where(given, begun)
    text = given.text.strip()
    percept = text[:1].upper() + text[1:]
    percept = percept if percept.endswith((".", "!", "?", "…")) else f"{percept}."
    sky = _sky(rules, given.text)
    locked, unlocked = (
        tuple(area for area in doors if area not in begun) for doors in _doors(rules, given.text, areas, things)
    )
    return PerceiveEventOutput(
        percept=percept,
        everybody=bool(sky) or TOWN in begun or not (areas or people) or (everywhere and not areas),
        areas=areas,
        people=people,
        sets=tuple({**dict(_sets(given, rules, spoken, areas, things)), **dict(_lost(given, found.begins))}.items()),
        sky=sky,
        locked=locked,
        unlocked=unlocked,
        does=tuple(_does(given, rules, [one for one in people if one not in begun])),
        far=percept if locked or unlocked else _far(given, rules, areas, things),
        begins=found.begins,
        ends=found.ends,
        hours=found.hours,
        by=found.by,
        newcomer=comes,
        unclear=found.unclear,
    )


def _areas(given: PerceiveEventInput, spoken: str, things: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the areas named; if there is none, the area of the only thing named."""
    named = places_meant({area.id: area.name for area in given.areas}, spoken)
    if named or len(things) != 1:
        return named
    place = given.located.get(things[0], "")
    return (place,) if any(area.id == place for area in given.areas) else ()


def _where(given: PerceiveEventInput, of: Iterable[str]) -> tuple[str, ...]:
    """Returns the areas among some subjects, and the areas of the things among them."""
    known = {area.id for area in given.areas}
    found = (one if one in known else given.located.get(one, "") for one in of)
    return tuple(area for area in dict.fromkeys(found) if area in known)


def _far(given: PerceiveEventInput, rules: Grammar, areas: Sequence[str], things: tuple[str, ...]) -> str:
    """Returns what the next rooms notice of something loud or bright; empty if it is neither, such as a lamp that
    breaks."""
    kinds = [kind for kind in FAR if not (things and kind in ("cry", "music", "dark", "bright"))]
    kind = next((kind for kind in kinds if rules.has(f"event.{kind}", given.text)), "")
    place = next((area.name for area in given.areas if area.id in areas), "")
    return rules.first(f"far.{kind}", {"place": rules.language.named(place)}) if kind and place else ""


# ── things ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _things(given: PerceiveEventInput, rules: Grammar, spoken: str) -> tuple[str, ...]:
    """Returns the things named. A word that fits several means the first that can become what the sentence says."""
    named = meant({thing.id: thing.name for thing in given.things}, spoken)
    if named:
        return named
    places = places_meant({area.id: area.name for area in given.areas}, spoken)
    fitting = [
        thing.id for thing in given.things
        if any(f" {form} " in spoken for form in name_forms(thing.name))
        and (not places or given.located.get(thing.id) in places)
        and _state(rules, given.text, spoken, given.states.get(thing.id, ())) not in ("", thing.state)
    ]  # fmt: skip
    return tuple(fitting[:1])


def _sets(
    given: PerceiveEventInput, rules: Grammar, spoken: str, areas: tuple[str, ...], things: tuple[str, ...]
) -> Iterable[tuple[str, str]]:
    kind = event_kind(rules, given.text)
    is_cut = kind == "dark" and rules.has("power", given.text)
    for thing in given.things:
        states = given.states.get(thing.id, ())
        place = given.located.get(thing.id, "")
        if thing.id in things and (not areas or place in areas or not place):
            state = _state(rules, given.text, spoken, states) or _typical(rules, kind, states)
        elif is_cut and (place in areas or not areas) and rules.has("electric", thing.name):
            state = _typical(rules, kind, states)
        else:
            continue
        if state and state != thing.state:
            yield thing.id, state


def _lost(given: PerceiveEventInput, begins: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields the things that are stolen or missing, which are not in the world."""
    known = {thing.id for thing in given.things}
    yield from ((of, GONE) for kind, of in map(subject_of, begins) if kind in ("stolen", "missing") and of in known)


def _state(rules: Grammar, text: str, spoken: str, states: tuple[str, ...]) -> str:
    """Returns the state that a sentence names, or that its verb leads to: `the kettle breaks` → `broken`; GONE for a
    theft."""
    for state in states:
        if named_fully(state.replace("_", " ").replace("-", " "), spoken):
            return state
    for become, leads_to in BECOMES.items():
        if rules.has(f"becomes.{become}", text):
            found = next((state for state in leads_to if state in states), "")
            if found:
                return found
    return GONE if rules.has("becomes.gone", text) else ""


def _typical(rules: Grammar, kind: str, states: tuple[str, ...]) -> str:
    wanted = rules.words(f"{kind}.states")
    return next((state for state in states if state.replace("_", " ") in wanted), "")


# ── weather, doors, people ───────────────────────────────────────────────────────────────────────────────────────────


def _sky(rules: Grammar, text: str) -> str:
    """Returns the sky that a sentence brings; empty if it is not about the weather."""
    found = next((sky for sky in SKIES if rules.has(f"sky.{sky}", text)), "")
    if found == "over":
        return "clear" if rules.has("sky.clear", text) else "cloudy"
    return found


def _doors(
    rules: Grammar, text: str, areas: tuple[str, ...], things: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the places whose doors close and open. A sentence about a thing is not about a door."""
    if not areas or things:
        return (), ()
    is_door = rules.has("door", text)
    if rules.has("door.opens", text) and (is_door or not rules.has("door.closes", text)):
        return (), areas
    return (areas, ()) if rules.has("door.closes", text) else ((), ())


def _does(given: PerceiveEventInput, rules: Grammar, people: Sequence[str]) -> Iterator[str]:
    """Yields what the people named do from now on, as `NAME: doing`; nothing if the sentence does not say."""
    kind = next((kind for kind in BEFALLS if rules.has(f"befall.{kind}", given.text)), "")
    doing = rules.first(f"befall.{kind}", {}) if kind else _begun(rules, given.text)
    for one in given.people:
        if one.id in people and doing:
            yield f"{one.called}: {doing}"


def _begun(rules: Grammar, text: str) -> str:
    """Returns the doing that begins: `Bruno starts to sing` → `singing`; empty if nothing is begun."""
    found = _STARTS.search(text)
    if found is None:
        return ""
    phrase = found[1].strip()
    doing = phrase if rules.language.is_doing(phrase) else ""
    if not doing and " to " in found[0]:
        doing = rules.language.gerund(phrase)
    return doing[:110]


def event_kind(rules: Grammar, text: str, kinds: Sequence[str] = EVENTS) -> str:
    """Returns the first of the kinds whose words are in the text; `other` for none."""
    return next((kind for kind in kinds if rules.has(f"event.{kind}", text)), "other")


# ── what a few words mean ─────────────────────────────────────────────────────────────────────────────────────────────


_PARTICLES = re.compile(
    r"([가-힣]{2,}?)(?:에서는|에서|에게|한테|까지|부터|으로|이|가|은|는|을|를|의|에|로|와|과|도|만)"
)


def spoken_words(text: str) -> str:
    """Returns the words of a text between spaces, for whole-word search; a Korean word also without its particle,
    before the word itself."""
    found: list[str] = []
    for word in words(text.replace("’", chr(39))):
        bare = _PARTICLES.fullmatch(word)
        found += [bare[1], word] if bare else [word]
    return f" {' '.join(found)} "


def named_fully(name: str, spoken: str) -> bool:
    """Tells whether the whole name occurs, apart from its article."""
    plain = " ".join(words(name.removeprefix("The ").removeprefix("the ")))
    return bool(plain) and f" {plain} " in spoken


def meant(names: Mapping[str, str], spoken: str) -> tuple[str, ...]:
    """Returns the ids of what is named: in full, or without its owner, or by its last words if these fit only one
    thing.

    A name inside another one that was named does not count.
    """
    found = {key: form for key, name in names.items() for form in (_matched(names, name, spoken),) if form}
    return tuple(
        key for key, form in found.items()
        if not any(form != other and f" {form} " in f" {other} " for other in found.values())
    )  # fmt: skip


def places_meant(names: Mapping[str, str], spoken: str) -> tuple[str, ...]:
    """Returns the ids of the areas named, like `meant`; if nothing else fits, by the first word of a name: `the canal`
    for Canal Walk."""
    return meant(names, spoken) or tuple(
        key for key, name in names.items()
        if "'s " not in name and f" {plain_name(name).partition(' ')[0]} " in spoken
        and sum(1 for other in names.values() if plain_name(other).startswith(plain_name(name).partition(" ")[0])) == 1
    )  # fmt: skip


def named_place(places: Sequence[Spot], text: str) -> Spot | None:
    """Returns the known place that a text names; if several match, the one with the longest name."""
    named = places_meant({spot.id: spot.name for spot in places}, spoken_words(text))
    found = [spot for spot in places if spot.id in named]
    return max(found, key=lambda spot: (len(spot.name), spot.id)) if found else None


def _matched(names: Mapping[str, str], name: str, spoken: str) -> str:
    """Returns the longest form of a name that was used; empty if there is none."""
    for form in name_forms(name):
        if f" {form} " in spoken and (form == plain_name(name) or _is_the_only(names, form)):
            return form
    return ""


def _is_the_only(names: Mapping[str, str], form: str) -> bool:
    return sum(1 for name in names.values() if f" {plain_name(name)}".endswith(f" {form}")) == 1
