"""Every mistake of a scenario at once, each with its line: of writing, of shape, of meaning.

A list of rules: `check` runs them part by part, and each `_rule(found, …)` adds what it finds wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.character.fact import Fact, carried
from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.scenario.findings import Findings, hours, is_sleep, shaped, shown, walked
from commonplace.scenario.loading import RULES, KeyPath, Mistake, Source, is_mapping
from commonplace.scenario.model import (
    CharacterPart,
    KindPart,
    MemoryPart,
    RoutinePart,
    ScenarioPart,
    StepPart,
    TransitionPart,
    WayPart,
)
from commonplace.scenario.story_rules import conditions, said_elsewhere, story_rules, told, usable
from commonplace.scenario.telling import Moment
from commonplace.world.tree import ANY, CARRYING, VERBS

STROKES = (5, 8)
"""Fewest and most items of a routine: the broad strokes of a day."""
GRID = 1000
"""Columns and rows of the largest map."""


def check(source: Source) -> list[Mistake]:
    """Returns all mistakes in the order of lines; none when the scenario can be run."""
    return examined(source)[1]


def examined(source: Source) -> tuple[ScenarioPart | None, list[Mistake]]:
    """Returns the scenario with what `check` says about it; None instead of it when too little is well-formed."""
    if source.data is None:
        nothing = source.mistake((), "the file is empty", "a scenario; `commonplace new PATH` writes one")
        return None, list(source.faults) or [nothing]
    if not is_mapping(source.data):
        are_rules = source.origin.endswith(RULES)
        named = "a scenario; rules are checked with the scenario that names their file"
        expected = named if are_rules else "name, world, characters …"
        return None, [source.mistake((), "the file holds no keys at its top", expected)]
    part, cut, faults = shaped(source.data)
    mistakes = [*source.faults]
    mistakes += [source.mistake(fault.path, fault.what, fault.expected, fault.nearest) for fault in faults]
    if part is not None:
        findings = Findings(source, part, cut, faults)
        for rules in (whole_rules, world_rules, character_rules, story_rules):
            rules(findings)
        mistakes += findings.mistakes
    return part, sorted(
        dict.fromkeys(mistakes), key=lambda mistake: (mistake.file != source.origin, mistake.file, mistake.line)
    )


# ── the file ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def whole_rules(found: Findings) -> None:
    """Finds that a file which says how many people it holds was cut off, or holds another number of them."""
    said, there = found.part.people, len(found.part.characters)
    if not said:
        return
    if not found.part.whole:
        what = "the end of the file, `whole: true`, is missing, so it may have been cut off"
        found.add(("people",), what, "the whole file; `whole: true` as its last line if nothing is missing")
    if said != there:
        what = f"the file says that it holds {said} people, and it holds {there}"
        found.add(("people",), what, f"`people: {there}` if nobody is missing", scope=("characters",))


# ── world and map ────────────────────────────────────────────────────────────────────────────────────────────────────


def world_rules(found: Findings) -> None:
    """Finds every mistake in `world` and `layout`."""
    found.repeated(found.names.defined, "the id")
    for node_id, path in found.names.defined:
        _possible_id(found, path, node_id)
    for area, _, path in walked(found.part.world.root):
        for number, thing in enumerate(area.objects):
            here: KeyPath = (*path, "objects", number)
            if found.known((*here, "kind"), "kind", thing.kind, found.names.kinds) and thing.state:
                kind = found.names.kinds[thing.kind]
                found.known((*here, "state"), "state", thing.state, kind.states, f'of the kind "{thing.kind}"')
    for kind_id, kind in found.part.world.kinds.items():
        _kind(found, kind_id, kind)
    _ways(found)
    _reachable(found)
    _layout(found)


def _possible_id(found: Findings, path: KeyPath, node_id: str) -> None:
    if node_id == "-" or "--" in node_id:
        found.add(path, f"the id {shown(node_id)} is taken by the simulator", "single hyphens between letters")


def _kind(found: Findings, kind_id: str, kind: KindPart) -> None:
    path: KeyPath = ("world", "kinds", kind_id)
    found.repeated(((state, (*path, "states", number)) for number, state in enumerate(kind.states)), "the state")
    for number, state in enumerate(kind.states):
        if not state.strip() or state == ANY:
            found.add((*path, "states", number), f"{shown(state)} cannot be a state", "a word or two")
    for verb, transitions in kind.verbs.items():
        sources = set[str]()
        for number, transition in enumerate(transitions):
            _transition(found, (*path, "verbs", verb, number), kind_id, kind, transition)
            if transition.source in sources:
                what = f"an earlier transition already starts from {shown(transition.source)}; this one never happens"
                found.add((*path, "verbs", verb, number), what)
            sources.add(transition.source)
    for key in kind.refusals:
        verb, _, state = key.partition(" ")
        if found.known((*path, "refusals", key), "verb", verb, VERBS) and state.strip():
            found.known((*path, "refusals", key), "state", state.strip(), (*kind.states, ANY))
    for state in kind.words:
        found.known((*path, "words", state), "state", state, kind.states)
    silent = [state for state in kind.states if state not in kind.words]
    if silent and language(found.part.language).has_particles:
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
    """Requires an object of the kind in the other's area: a transition sets objects of its own area only."""
    of_kind = [id for id, thing in found.names.objects.items() if thing.kind == kind_id]
    area = found.names.parents[other]
    if of_kind and all(found.names.parents[id] != area for id in of_kind):
        what = f'"{other}" is in "{area}", which has no object of the kind "{kind_id}"'
        found.add(path, what, "an object of the same area")


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
    """Requires every area to be within reach of the root by ways that are not closed for good."""
    opened = {frozenset(pair) for one in (*found.part.script, *found.part.occasions) for pair in one.opens}
    shut = {frozenset(way.between) for way in found.part.world.ways if way.closed} - opened
    neighbours: dict[str, set[str]] = {area: set() for area in found.names.areas}
    inside = ((area.id, parent) for area, parent, _ in walked(found.part.world.root) if parent)
    for a, b in (*inside, *(way.between for way in found.part.world.ways)):
        if frozenset((a, b)) not in shut and a in neighbours and b in neighbours:
            neighbours[a].add(b)
            neighbours[b].add(a)
    waiting = [found.part.world.root.id]
    reached = {*waiting}
    while waiting:
        fresh = neighbours[waiting.pop()] - reached
        reached |= fresh
        waiting.extend(fresh)
    for area, _, path in walked(found.part.world.root):
        if area.id not in reached:
            what = f"nobody can reach {shown(area.id)}: every way to it is closed and no scripted event opens one"
            found.add((*path, "id"), what, scope=("world",))


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
    """Lets two areas overlap only if one is inside the other, in the world and on the map."""
    a, b = found.part.layout.map[area], found.part.layout.map[other]
    if not (a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]):
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
    facts = [
        Fact(fact.id, fact.text, {language: groups})
        for fact in found.part.facts
        for language, groups in fact.groups.items()
        if usable(groups)
    ]
    for number, character in enumerate(found.part.characters):
        path: KeyPath = ("characters", number)
        _character(found, path, character, facts)
        for index, thing in enumerate(character.carries):
            here: KeyPath = (*path, "carries", index)
            carriers.append((thing, here))
            kind = found.names.kind_of(thing) if found.node(here, "object", thing) else None
            if kind and not kind.portable:
                found.add(here, f"{shown(thing)} cannot be carried", "an object whose kind is `portable: true`")
    found.repeated(carriers, "the carried object")


def newcomer_rules(found: Findings) -> None:
    """Finds every mistake in the first of `characters`, who comes later than all others (see `compiling.newcomer`).

    Its memories may carry seed facts: it is then one more from whom they spread.
    """
    path: KeyPath = ("characters", 0)
    character, *others = found.part.characters
    taken = dict.fromkeys((*found.names.areas, *found.names.objects), "an area or object")
    taken |= {other.id: f"the id of {other.name}" for other in others}
    if character.id in taken:
        found.add((*path, "id"), f"the id {shown(character.id)} is {taken[character.id]} already", "an id of its own")
    _possible_id(found, (*path, "id"), character.id)
    names = {name.casefold(): other.id for other in others for name in (other.id, other.name, other.short_name)}
    for key, name in (("name", character.name), ("called", character.short_name)):
        if name.casefold() in names:  # two of one name could not be told apart in anybody's memories
            place = (*path, key if key == "called" and character.called else "name")
            found.add(place, f"the name {shown(name)} is that of {shown(names[name.casefold()])}", "another name")
    _character(found, path, character, ())
    said_elsewhere(found)
    if character.carries:
        found.add((*path, "carries"), "somebody who comes later brings no objects", "no such key")


def _character(found: Findings, path: KeyPath, character: CharacterPart, facts: Sequence[Fact]) -> None:
    found.node((*path, "home"), "area", character.home)
    if character.starts_at:
        found.node((*path, "starts_at"), "area", character.starts_at)
    for number, area in enumerate(character.knows):
        found.node((*path, "knows", number), "area", area)
    _routine(found, path, character)
    others = [(one.to, (*path, "relations", number, "to")) for number, one in enumerate(character.relations)]
    for other, here in others:
        if found.node(here, "character", other) and other == character.id:
            found.add(here, "this is a relation to oneself", "another character")
    found.repeated(others, "the relation to")
    for index, goal in enumerate(character.goals):
        conditions(found, (*path, "goals", index), goal.when, Moment, "the goal never counts")
    for index, memory in enumerate(character.memories):
        _memory(found, (*path, "memories", index), character, memory, facts)


def _routine(found: Findings, path: KeyPath, character: CharacterPart) -> None:
    routine = character.routine
    here: KeyPath = (*path, "routine")
    if routine or found.part.stage == "town":
        _tiles_a_day(found, here, routine)
    for number, item in enumerate(routine):
        item_path: KeyPath = (*here, number)
        is_known = found.node((*item_path, "place"), "area", area := item.place) and character.home in found.names.areas
        if is_known and not found.names.knows(character, area):
            what = f'{shown(area)} is private and not known to "{character.id}"'
            expected = f"a public area, or {area} (or the private area around it) in `knows`"
            found.add((*item_path, "place"), what, expected)
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
        word = phrases(found.part.language, "patterns")["sleep"]
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


def _memory(
    found: Findings, path: KeyPath, character: CharacterPart, memory: MemoryPart, facts: Sequence[Fact]
) -> None:
    if memory.about:
        found.node((*path, "about"), "character", memory.about)
    told(found, path, memory.tell, memory.replies)
    for fact in carried(facts, memory.text):
        known_by = next(one for one in found.part.facts if one.id == fact)
        if character.id not in known_by.originators:
            what = f'the words of this memory carry the fact "{fact}", which "{character.id}" does not start with'
            found.add((*path, "text"), what, f"other words, or {character.id} among its originators")
