"""Every mistake of a scenario at once, each with its line: of writing, of shape, of meaning.

A list of rules: `check` runs them part by part, and each `_rule(found, …)` adds what it finds wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from commonplace.character.fact import Fact, carried
from commonplace.clock import Clock, iso, parse_iso
from commonplace.errors import UsageError
from commonplace.memory import policies
from commonplace.openai_http import request_faults
from commonplace.scenario.findings import Findings, hours, is_sleep, minutes, walked
from commonplace.scenario.loading import KeyPath, Mistake, Source, choice, is_mapping, nearest
from commonplace.scenario.model import (
    CharacterPart,
    FactPart,
    KindPart,
    MemoryPart,
    OccasionPart,
    RoutinePart,
    ScenarioPart,
    ScriptPart,
    StepPart,
    TransitionPart,
    WayPart,
)
from commonplace.scenario.shape import shaped, shown
from commonplace.text import words
from commonplace.world.actions import CARRYING, VERBS
from commonplace.world.tree import ANY
from commonplace.world.weather import SKIES

STAGES = ("town", "duet", "panel")
_ELSEWHERE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""A stage from elsewhere, `package.module:NAME`."""
LANGUAGES = ("en", "ko")
YEARS = (1000, 9000)
"""Simulated time must not run out of the calendar Python has."""
HEAVIEST = 1_000_000
"""Largest weight of a sky."""
STROKES = (5, 8)
"""Fewest and most items of a routine: the broad strokes of a day."""
GRID = 1000
"""Columns and rows of the largest map."""


def check(source: Source) -> list[Mistake]:
    """All mistakes in the order of lines; empty when the scenario can be run."""
    return examined(source)[1]


def examined(source: Source) -> tuple[ScenarioPart | None, list[Mistake]]:
    """The scenario with what `check` says about it; None instead of it when too little is well-formed."""
    if source.data is None:
        nothing = source.mistake((), "the file is empty", "a scenario; `commonplace new PATH` writes one")
        return None, list(source.faults) or [nothing]
    if not is_mapping(source.data):
        return None, [source.mistake((), "the file holds no keys at its top", "name, world, characters …")]
    part, cut, faults = shaped(source.data)
    mistakes = [*source.faults]
    mistakes += [source.mistake(fault.path, fault.what, fault.expected, fault.nearest) for fault in faults]
    if part is not None:
        findings = Findings(source, part, cut, faults)
        for rules in (world_rules, character_rules, story_rules):
            rules(findings)
        mistakes += findings.mistakes
    return part, sorted(dict.fromkeys(mistakes), key=lambda mistake: mistake.line)


# ── world and map ────────────────────────────────────────────────────────────────────────────────────────────────────


def world_rules(found: Findings) -> None:
    """Finds every mistake in `world` and `layout`."""
    _ids(found)
    _objects(found)
    for kind_id, kind in found.part.world.kinds.items():
        _kind(found, kind_id, kind)
    _ways(found)
    _reachable(found)
    _layout(found)


def _ids(found: Findings) -> None:
    found.repeated(found.names.defined, "the id")
    for node_id, path in found.names.defined:
        _possible_id(found, path, node_id)


def _possible_id(found: Findings, path: KeyPath, node_id: str) -> None:
    if node_id == "-" or "--" in node_id:
        found.add(path, f"the id {shown(node_id)} is taken by the simulator", "single hyphens between letters")


def _objects(found: Findings) -> None:
    for area, _, path in walked(found.part.world.root):
        for number, thing in enumerate(area.objects):
            here: KeyPath = (*path, "objects", number)
            if found.known((*here, "kind"), "kind", thing.kind, found.names.kinds) and thing.state:
                kind = found.names.kinds[thing.kind]
                found.known((*here, "state"), "state", thing.state, kind.states, f'of the kind "{thing.kind}"')


def _kind(found: Findings, kind_id: str, kind: KindPart) -> None:
    path: KeyPath = ("world", "kinds", kind_id)
    found.repeated(((state, (*path, "states", number)) for number, state in enumerate(kind.states)), "the state")
    for number, state in enumerate(kind.states):
        if not state.strip() or state == ANY:
            found.add((*path, "states", number), f"{shown(state)} cannot be a state", "a word or two")
    for verb, transitions in kind.verbs.items():
        for number, transition in enumerate(transitions):
            _transition(found, (*path, "verbs", verb, number), kind_id, kind, transition)
        _doubled(found, (*path, "verbs", verb), transitions)
    for key in kind.refusals:
        _refusal(found, (*path, "refusals", key), kind, key)
    for state in kind.words:
        found.known((*path, "words", state), "state", state, kind.states)
    silent = [state for state in kind.states if state not in kind.words]
    if found.part.language == "ko" and silent:
        found.add(path, f"the state {shown(silent[0])} has no words", "a predicate for every state, such as 열려 있다")


def _transition(found: Findings, path: KeyPath, kind_id: str, kind: KindPart, transition: TransitionPart) -> None:
    found.known((*path, "from"), "state", transition.source, (*kind.states, ANY))
    found.known((*path, "to"), "state", transition.target, kind.states)
    for other, state in transition.also.items():
        here = (*path, "also", other)
        if not found.node(here, "object", other):
            continue
        other_kind = found.names.kind_of(other)
        if other_kind:
            found.known(here, "state", state, other_kind.states, f'of "{other}"')
        _near(found, here, kind_id, other)
    for thing, state in transition.needs.items():
        needed = found.names.kind_of(thing) if found.node((*path, "needs", thing), "object", thing) else None
        if needed:
            found.known((*path, "needs", thing), "state", state, (*needed.states, ANY), f'of "{thing}"')
    if len(transition.steps) >= transition.times:
        steps, times = len(transition.steps), transition.times
        what = f"there are {steps} steps before the last of {times} attempts"
        found.add((*path, "steps"), what, f"`times: {steps + 1}`, one more than the steps, or more")


def _near(found: Findings, path: KeyPath, kind_id: str, other: str) -> None:
    """A transition sets objects of its own area only: an object of the kind must be in the other's area."""
    of_kind = [id for id, thing in found.names.objects.items() if thing.kind == kind_id]
    area = found.names.parents[other]
    if of_kind and all(found.names.parents[id] != area for id in of_kind):
        what = f'"{other}" is in "{area}", which has no object of the kind "{kind_id}"'
        found.add(path, what, "an object of the same area")


def _doubled(found: Findings, path: KeyPath, transitions: tuple[TransitionPart, ...]) -> None:
    seen: set[str] = set()
    for number, transition in enumerate(transitions):
        if transition.source in seen:
            what = f"an earlier transition already starts from {shown(transition.source)}; this one never happens"
            found.add((*path, number), what)
        seen.add(transition.source)


def _refusal(found: Findings, path: KeyPath, kind: KindPart, key: str) -> None:
    verb, _, state = key.partition(" ")
    if found.known(path, "verb", verb, VERBS) and state.strip():
        found.known(path, "state", state.strip(), (*kind.states, ANY))


def _ways(found: Findings) -> None:
    seen: set[frozenset[str]] = set()
    for number, way in enumerate(found.part.world.ways):
        path: KeyPath = ("world", "ways", number)
        _way(found, path, way)
        pair = frozenset(way.between)
        if pair in seen:
            what = f"there is already a way between {' and '.join(map(shown, way.between))}"
            found.add(path, what, "one way for two areas")
        seen.add(pair)


def _way(found: Findings, path: KeyPath, way: WayPart) -> None:
    known = [found.node((*path, "between", number), "area", area) for number, area in enumerate(way.between)]
    if all(known) and way.between[0] == way.between[1]:
        found.add((*path, "between"), f"the way leads from {shown(way.between[0])} to itself", "two areas")
    try:
        stretch = hours(way.open)
    except ValueError:
        found.add((*path, "open"), f"{shown(way.open)} is not a stretch of a day", "hours such as 08:00-22:00")
        return
    if stretch and stretch[0] == stretch[1]:
        found.add((*path, "open"), f"{shown(way.open)} is an empty stretch", "hours such as 08:00-22:00")


def _reachable(found: Findings) -> None:
    """Every area must be within reach of the root by ways that are not closed for good."""
    opened = {frozenset(pair) for one in (*found.part.script, *found.part.occasions) for pair in one.opens}
    shut = {frozenset(way.between) for way in found.part.world.ways if way.closed} - opened
    neighbours: dict[str, set[str]] = {area: set() for area in found.names.areas}
    for a, b in _pairs(found):
        if frozenset((a, b)) not in shut and a in neighbours and b in neighbours:
            neighbours[a].add(b)
            neighbours[b].add(a)
    reached = _within_reach(found.part.world.root.id, neighbours)
    for area, _, path in walked(found.part.world.root):
        if area.id not in reached:
            what = f"nobody can reach {shown(area.id)}: every way to it is closed and no scripted event opens one"
            found.add((*path, "id"), what, scope=("world",))


def _pairs(found: Findings) -> Iterator[tuple[str, str]]:
    yield from ((area.id, parent) for area, parent, _ in walked(found.part.world.root) if parent)
    yield from (way.between for way in found.part.world.ways)


def _within_reach(start: str, neighbours: dict[str, set[str]]) -> set[str]:
    reached = {start}
    waiting = [start]
    while waiting:
        fresh = neighbours[waiting.pop()] - reached
        reached |= fresh
        waiting.extend(fresh)
    return reached


def _layout(found: Findings) -> None:
    layout = found.part.layout.map
    good: list[str] = []
    for area, (column, row, width, height) in layout.items():
        path: KeyPath = ("layout", "map", area)
        if not found.node(path, "area", area):
            continue
        if min(column, row) < 0 or min(width, height) < 1 or max(column + width, row + height) > GRID:
            expected = f"column and row of 0 or more, width and height of 1 or more, ends of {GRID} or less"
            found.add(path, "the rectangle is not on the map", expected)
            continue
        for other in good:
            _overlap(found, area, other)
        good.append(area)
    for character in found.part.layout.looks:
        found.node(("layout", "looks", character), "character", character)


def _overlap(found: Findings, area: str, other: str) -> None:
    """Two areas may overlap only if one is inside the other, in the world and on the map."""
    a, b = found.part.layout.map[area], found.part.layout.map[other]
    if not _meet(a, b):
        return
    names = found.names
    if other in names.ancestry(area):
        inner, outer, fits = area, other, _inside(a, b)
    elif area in names.ancestry(other):
        inner, outer, fits = other, area, _inside(b, a)
    else:
        found.add(("layout", "map", area), f"it overlaps {shown(other)}", "rectangles with no cell in common")
        return
    if not fits:
        what = f"it is not completely inside {shown(outer)}, the area it belongs to"
        found.add(("layout", "map", inner), what, "all of it inside")


Box = tuple[int, int, int, int]
"""Column, row, width, height."""


def _meet(a: Box, b: Box) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _inside(inner: Box, outer: Box) -> bool:
    return (
        outer[0] <= inner[0]
        and outer[1] <= inner[1]
        and inner[0] + inner[2] <= outer[0] + outer[2]
        and inner[1] + inner[3] <= outer[1] + outer[3]
    )


# ── characters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def character_rules(found: Findings) -> None:
    """Finds every mistake in `characters`."""
    carriers: list[tuple[str, KeyPath]] = []
    facts = _facts(found)
    for number, character in enumerate(found.part.characters):
        path: KeyPath = ("characters", number)
        _character(found, path, character, facts)
        carriers += [(thing, (*path, "carries", index)) for index, thing in enumerate(character.carries)]
        _carries(found, path, character)
    found.repeated(carriers, "the carried object")


def newcomer_rules(found: Findings) -> None:
    """Finds every mistake in the first of `characters`, who comes later than all others (see `scenario.newcomer`).

    Its memories may carry seed facts: it is then one more from whom they spread.
    """
    path: KeyPath = ("characters", 0)
    character, *others = found.part.characters
    taken = dict.fromkeys((*found.names.areas, *found.names.objects), "an area or object")
    taken |= {other.id: f"the id of {other.name}" for other in others}
    if character.id in taken:
        found.add((*path, "id"), f"the id {shown(character.id)} is {taken[character.id]} already", "an id of its own")
    _possible_id(found, (*path, "id"), character.id)
    _own_names(found, path, character, others)
    _character(found, path, character, ())
    if character.carries:
        found.add((*path, "carries"), "somebody who comes later brings no objects", "no such key")


def _own_names(found: Findings, path: KeyPath, character: CharacterPart, others: Sequence[CharacterPart]) -> None:
    """Two characters of one name could not be told apart in anybody's memories."""
    taken = {name.casefold(): other.id for other in others for name in (other.id, other.name, other.short_name)}
    for key, name in (("name", character.name), ("called", character.short_name)):
        if name.casefold() in taken:
            place = (*path, key if key == "called" and character.called else "name")
            found.add(place, f"the name {shown(name)} is that of {shown(taken[name.casefold()])}", "another name")


def _character(found: Findings, path: KeyPath, character: CharacterPart, facts: Sequence[Fact]) -> None:
    _places(found, path, character)
    _routine(found, path, character)
    _relations(found, path, character)
    for index, memory in enumerate(character.memories):
        _memory(found, (*path, "memories", index), character, memory, facts)


def _places(found: Findings, path: KeyPath, character: CharacterPart) -> None:
    found.node((*path, "home"), "area", character.home)
    if character.starts_at:
        found.node((*path, "starts_at"), "area", character.starts_at)
    for number, area in enumerate(character.knows):
        found.node((*path, "knows", number), "area", area)


def _known_place(found: Findings, path: KeyPath, character: CharacterPart, area: str) -> None:
    """An area the character goes to must exist and be known to it."""
    if not found.node(path, "area", area) or character.home not in found.names.areas:
        return
    if not found.names.knows(character, area):
        what = f'{shown(area)} is private and not known to "{character.id}"'
        found.add(path, what, f"a public area, or {area} (or the private area around it) in `knows`")


def _carries(found: Findings, path: KeyPath, character: CharacterPart) -> None:
    for number, thing in enumerate(character.carries):
        here = (*path, "carries", number)
        if found.node(here, "object", thing):
            kind = found.names.kind_of(thing)
            if kind and not kind.portable:
                found.add(here, f"{shown(thing)} cannot be carried", "an object whose kind is `portable: true`")


def _routine(found: Findings, path: KeyPath, character: CharacterPart) -> None:
    routine = character.routine
    here: KeyPath = (*path, "routine")
    if routine or found.part.stage == "town":
        _tiles_a_day(found, here, routine)
    for number, item in enumerate(routine):
        item_path: KeyPath = (*here, number)
        _known_place(found, (*item_path, "place"), character, item.place)
        for phase_number, phase in enumerate(item.phases):
            for step_number, step in enumerate(phase.steps):
                _step(found, (*item_path, "phases", phase_number, "steps", step_number), item, step)


def _tiles_a_day(found: Findings, path: KeyPath, routine: tuple[RoutinePart, ...]) -> None:
    fewest, most = STROKES
    if not fewest <= len(routine) <= most:
        found.add(path, f"the day has {len(routine)} items", f"{fewest} to {most}, the last of them sleep")
    for number in range(1, len(routine)):
        before, at = routine[number - 1].at, routine[number].at
        if at <= before:
            what = f"{at} does not come after {before}, when the item before begins"
            found.add((*path, number, "at"), what, "items in order of time, from waking to sleep", scope=path)
    if routine and not is_sleep(routine[-1].do, found.part.language):
        word = "잠" if found.part.language == "ko" else "sleep"
        what = f"the last item of the day is not sleep but {shown(routine[-1].do)}"
        found.add((*path, len(routine) - 1, "do"), what, f'words with "{word}" in them', scope=path)


def _step(found: Findings, path: KeyPath, item: RoutinePart, step: StepPart) -> None:
    if not step.object:
        if step.verb:
            found.add(path, f"{step.verb} needs an object", "`object:` beside `verb:`")
        return
    if not found.node((*path, "object"), "object", step.object):
        return
    kind = found.names.kind_of(step.object)
    if kind is None:
        return
    if step.verb in CARRYING and not kind.portable and step.verb not in kind.verbs:
        found.add((*path, "verb"), f"{shown(step.object)} can be neither taken nor put down", "a `portable: true` kind")
    elif step.verb and step.verb not in CARRYING:
        where = f'of the kind of "{step.object}"'
        found.known((*path, "verb"), "verb", step.verb, [verb for verb, moves in kind.verbs.items() if moves], where)
    area = found.names.parents[step.object]
    if not kind.portable and area != item.place and item.place in found.names.areas:
        what = f"{shown(step.object)} is in {shown(area)}, not in {shown(item.place)} where this is done"
        found.add((*path, "object"), what, f"an object in {item.place}")


def _relations(found: Findings, path: KeyPath, character: CharacterPart) -> None:
    here: KeyPath = (*path, "relations")
    for number, relation in enumerate(character.relations):
        if found.node((*here, number, "to"), "character", relation.to) and relation.to == character.id:
            found.add((*here, number, "to"), "this is a relation to oneself", "another character")
    others = [(one.to, (*here, number, "to")) for number, one in enumerate(character.relations)]
    found.repeated(others, "the relation to")


def _memory(
    found: Findings, path: KeyPath, character: CharacterPart, memory: MemoryPart, facts: Sequence[Fact]
) -> None:
    if memory.about:
        found.node((*path, "about"), "character", memory.about)
    for key, lines in (("tell", memory.tell), ("replies", memory.replies)):
        for number, line in enumerate(lines):
            if not line.strip():
                found.add((*path, key, number), "the line is empty", "a sentence")
    for fact in carried(facts, memory.text):
        known_by = next(one for one in found.part.facts if one.id == fact)
        if character.id not in known_by.originators:
            what = f'the words of this memory carry the fact "{fact}", which "{character.id}" does not start with'
            found.add((*path, "text"), what, f"other words, or {character.id} among its originators")


def _facts(found: Findings) -> list[Fact]:
    """The facts as far as texts can be matched with them: those whose groups of words are in order."""
    return [
        Fact(fact.id, fact.text, {language: groups})
        for fact in found.part.facts
        for language, groups in fact.groups.items()
        if _usable(groups)
    ]


# ── clock, stage, settings, facts, scripted events, weather ──────────────────────────────────────────────────────────


def story_rules(found: Findings) -> None:
    """Finds every mistake outside `world`, `layout` and `characters`."""
    _settings(found)
    clock = _clock(found)
    found.repeated(((one.id, ("facts", number, "id")) for number, one in enumerate(found.part.facts)), "the fact")
    found.repeated(((one.id, ("script", number, "id")) for number, one in enumerate(found.part.script)), "the event")
    for number, fact in enumerate(found.part.facts):
        _fact(found, ("facts", number), fact, clock)
    for number, event in enumerate(found.part.script):
        _event(found, ("script", number), event, clock)
    names = [one.id for one in found.part.occasions]
    found.repeated(((name, ("occasions", number, "id")) for number, name in enumerate(names)), "the occasion")
    for number, occasion in enumerate(found.part.occasions):
        _happening(found, ("occasions", number), occasion, names)
    _climate(found)


def _usable(groups: tuple[tuple[str, ...], ...]) -> bool:
    return bool(groups) and all(group and all(words(word) for word in group) for group in groups)


def _settings(found: Findings) -> None:
    stage = found.part.stage
    if stage not in STAGES and not _ELSEWHERE.fullmatch(stage):
        expected = f"{choice(STAGES)}, or package.module:NAME for a stage from elsewhere"
        found.add(("stage",), f"there is no stage {shown(stage)}", expected, nearest(stage, STAGES))
    if stage == "duet" and len(found.part.characters) != 2:
        number = len(found.part.characters)
        found.add(("characters",), f"the stage duet needs two characters; the scenario has {number}", "two")
    if stage == "town" and found.part.cognition.reflection.every_turns:
        what = "every_turns has no effect on the stage town"
        found.add(("cognition", "reflection", "every_turns"), what, "`threshold`; it counts turns of the stage duet")
    if stage == "panel":
        _panel(found)
    _minds(found)
    own = found.part.policies
    for name, changes in own.items():
        _policy(found, name, changes)
    found.known(("cognition", "policy"), "policy", found.part.cognition.policy, (*policies.NAMES, *own))


def _minds(found: Findings) -> None:
    part = found.part
    if "default" in part.minds and part.minds["default"].mind and "mind" in part.model_fields_set:
        found.add(("minds", "default"), "the common mind is named twice, here and by `mind`", "only one of them")
    for name, one in part.minds.items():
        for key in ("headers", "body"):
            if getattr(one, key) and not one.mind:
                what = f"{key} belong to a mind, and none is named beside them"
                found.add(("minds", name, key), what, "`mind` in the same part")
        for fault in request_faults(one.headers, one.body):
            found.add(("minds", name, *fault.where), fault.what, fault.expected)


def _panel(found: Findings) -> None:
    panel, characters = found.part.panel, {character.id: character for character in found.part.characters}
    cycle = panel.cycle or tuple(characters)
    if len(cycle) < 2:
        found.add(("characters",), "a panel needs two personas or more", "two or more")
    for number, persona in enumerate(cycle):
        path: KeyPath = ("panel", "cycle", number)
        found.known(path, "character", persona, tuple(characters))
        if persona in cycle[:number]:
            found.add(path, f"{shown(persona)} is in the cycle twice", "each persona once")
    if panel.calm >= panel.tense:
        found.add(("panel", "calm"), f"calm is {panel.calm:g} and tense {panel.tense:g}", "a calm below tense")
    places = {one.starts_at or one.home for one in characters.values() if one.id in cycle and not one.absent}
    if len(places) > 1:
        found.add(("characters",), "the personas of a panel start in different places", "one place for all")


def _policy(found: Findings, name: str, changes: Mapping[str, Any]) -> None:
    try:
        policies.from_mapping(name, changes)
    except UsageError as error:
        found.add(("policies", name), error.what, error.hint)


def _clock(found: Findings) -> Clock | None:
    start = _moment(found, ("clock", "start"), found.part.clock.start)
    return Clock(start, found.part.clock.tick_minutes) if start else None


def _moment(found: Findings, path: KeyPath, text: str) -> datetime | None:
    try:
        moment = parse_iso(text)
        if YEARS[0] <= moment.year <= YEARS[1]:
            return moment
    except (ValueError, OverflowError):
        pass
    found.add(path, f"{shown(text)} is not a date and time", "one such as 2031-10-04T06:00:00")
    return None


def _fact(found: Findings, path: KeyPath, fact: FactPart, clock: Clock | None) -> None:
    _languages(found, path, fact)
    for language, groups in fact.groups.items():
        _groups(found, (*path, "groups", language), groups)
    for language, text in fact.text.items():
        _carries_itself(found, (*path, "text", language), fact, language, text)
    for language, lines in fact.tell.items():
        for number, line in enumerate(lines):
            _carries_itself(found, (*path, "tell", language, number), fact, language, line)
    for number, character in enumerate(fact.originators):
        found.node((*path, "originators", number), "character", character)
    _occasion(found, path, fact, clock)


def _languages(found: Findings, path: KeyPath, fact: FactPart) -> None:
    for key, by_language in (("text", fact.text), ("groups", fact.groups), ("tell", fact.tell)):
        for language in by_language:
            found.known((*path, key, language), "language", language, LANGUAGES)
        if key != "tell" and found.part.language not in by_language:
            what = f"there is nothing for the scenario's language, {shown(found.part.language)}"
            found.add((*path, key), what, f"the key {found.part.language}")


def _groups(found: Findings, path: KeyPath, groups: tuple[tuple[str, ...], ...]) -> None:
    if not groups:
        found.add(path, "without groups of words every text would carry the fact", "one group or more")
    for number, group in enumerate(groups):
        if not group:
            found.add((*path, number), "the group is empty, so no text can carry the fact", "one word or more")
        for index, word in enumerate(group):
            if not words(word):
                found.add((*path, number, index), f"{shown(word)} has no letters to match", "a word")


def _carries_itself(found: Findings, path: KeyPath, fact: FactPart, language: str, text: str) -> None:
    """Ways to tell a fact must hold a word of each of its groups; otherwise the hearer does not learn the fact."""
    groups = fact.groups.get(language, ())
    if not _usable(groups):
        return
    missing = [group for group in groups if not Fact(fact.id, {}, {language: (group,)}).carried_by(text)]
    for group in missing:
        what = f'{shown(text)} does not carry the fact "{fact.id}"'
        found.add(path, what, f"one of its words {', '.join(map(shown, group))} in it")


def _occasion(found: Findings, path: KeyPath, fact: FactPart, clock: Clock | None) -> None:
    """A place, a beginning and a length make something one can go to; each alone does not."""
    if fact.place:
        found.node((*path, "place"), "area", fact.place)
    starts = _moment(found, (*path, "starts"), fact.starts) if fact.starts else None
    if fact.starts and not fact.place:
        found.add(path, "it has a beginning but no place", "`place:` with `starts:`")
    if fact.starts and not fact.minutes:
        found.add(path, "it has a beginning but no length", "`minutes:` with `starts:`")
    if fact.minutes and not fact.starts:
        found.add((*path, "minutes"), "it has a length but no beginning", "`starts:` with `minutes:`")
    if starts and clock and starts <= clock.start:
        found.add((*path, "starts"), "it begins before the run does", f"a moment after {iso(clock.start)}")


GONE = "gone"
"""The place of what an occasion takes out of the world."""


def _happening(found: Findings, path: KeyPath, occasion: OccasionPart, names: Sequence[str]) -> None:
    """An occasion's consequences, and its conditions."""
    _consequences(found, path, occasion)
    for thing, area in occasion.moves.items():
        known = found.node((*path, "moves", thing), "object", thing)
        if known and area != GONE:
            found.node((*path, "moves", thing), "area", area)
    if occasion.far and not occasion.to.areas:
        found.add((*path, "far"), "there is no area next to which one notices it", "`areas:` in `to`")
    _conditions(found, (*path, "when"), occasion, names)


def _conditions(found: Findings, path: KeyPath, occasion: OccasionPart, names: Sequence[str]) -> None:
    when = occasion.when
    first, _, last = when.at.partition("-")
    if last and last < first:
        found.add((*path, "at"), f"{when.at} ends before it begins", "hours such as 08:00-12:00")
    for number, day in enumerate(when.season):
        _day_of_year(found, (*path, "season", number), day)
    for thing, state in when.states.items():
        _set(found, (*path, "states", thing), thing, state)
    for number, agent in enumerate(when.present):
        found.node((*path, "present", number), "character", agent)
    if (when.present or when.witnessed) and not occasion.to.areas:
        found.add(path, "there is no area in which somebody could be", "`areas:` in `to`")
    if when.after:
        others = [name for name in names if name != occasion.id]
        found.known((*path, "after"), "occasion", when.after, others)
    elif when.days_after or when.minutes_after:
        found.add(path, "it follows nothing", "`after:` with the id of an occasion")


def _day_of_year(found: Findings, path: KeyPath, day: str) -> None:
    try:
        datetime.fromisoformat(f"2032-{day}")  # a leap year
    except ValueError:
        found.add(path, f"{shown(day)} is not a day of the year", "month and day, such as 10-15")


def _consequences(found: Findings, path: KeyPath, event: ScriptPart | OccasionPart) -> None:
    for number, area in enumerate(event.to.areas):
        found.node((*path, "to", "areas", number), "area", area)
    for number, character in enumerate(event.to.agents):
        found.node((*path, "to", "agents", number), "character", character)
    if not (event.to.everybody or event.to.areas or event.to.agents):
        found.add((*path, "to"), "it reaches nobody", "`everybody: true`, `areas:` or `agents:`")
    for thing, state in event.sets.items():
        _set(found, (*path, "sets", thing), thing, state)
    for key, pairs in (("opens", event.opens), ("closes", event.closes)):
        for number, pair in enumerate(pairs):
            _scripted_way(found, (*path, key, number), pair)


def _event(found: Findings, path: KeyPath, event: ScriptPart, clock: Clock | None) -> None:
    _consequences(found, path, event)
    if clock:
        midnight = clock.start.replace(hour=0, minute=0, second=0, microsecond=0)
        if midnight + timedelta(days=event.day, minutes=minutes(event.at)) <= clock.start:
            what = f"day {event.day} at {event.at} is not after the run begins"
            found.add((*path, "at"), what, f"a moment after {iso(clock.start)}")


def _set(found: Findings, path: KeyPath, thing: str, state: str) -> None:
    if found.node(path, "object", thing):
        kind = found.names.kind_of(thing)
        if kind:
            found.known(path, "state", state, kind.states, f'of "{thing}"')


def _scripted_way(found: Findings, path: KeyPath, pair: tuple[str, str]) -> None:
    known = [found.node((*path, number), "area", area) for number, area in enumerate(pair)]
    if not all(known):
        return
    a, b = pair
    parents = found.names.parents
    declared = {frozenset(way.between) for way in found.part.world.ways}
    if frozenset(pair) not in declared and parents.get(a) != b and parents.get(b) != a:
        what = f"there is no way between {shown(a)} and {shown(b)}"
        found.add(path, what, "areas of a way, or an area and the one around it", scope=("world", "ways"))


def _climate(found: Findings) -> None:
    for sky, following in found.part.climate.weights.items():
        path: KeyPath = ("climate", "weights", sky)
        found.known(path, "sky", sky, SKIES)
        for after, weight in following.items():
            found.known((*path, after), "sky", after, SKIES)
            if not 0 <= weight <= HEAVIEST:
                found.add((*path, after), f"{weight} is not a weight", f"0 to {HEAVIEST:,}")
        if sum(following.values()) <= 0:
            found.add(path, "no sky can follow", "a weight above 0")
