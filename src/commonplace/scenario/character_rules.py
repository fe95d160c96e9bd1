"""What must be true of the characters: where they live, what they do all day, whom they know, what they remember."""

from __future__ import annotations

from commonplace.character.fact import carried
from commonplace.scenario.findings import Findings
from commonplace.scenario.model import CharacterPart, MemoryPart, RoutinePart, StepPart
from commonplace.scenario.plain import Path
from commonplace.scenario.shape import shown
from commonplace.scenario.story_rules import facts_of
from commonplace.scenario.times import is_sleep

STROKES = (5, 8)
"""Fewest and most items of a routine: the broad strokes of a day."""
CARRYING = ("TAKE", "DROP")


def character_rules(found: Findings) -> None:
    """Finds every mistake in `characters`."""
    carriers: list[tuple[str, Path]] = []
    for number, character in enumerate(found.part.characters):
        path: Path = ("characters", number)
        _places(found, path, character)
        _routine(found, path, character)
        _relations(found, path, character)
        for index, memory in enumerate(character.memories):
            _memory(found, (*path, "memories", index), character, memory)
        carriers += [(thing, (*path, "carries", index)) for index, thing in enumerate(character.carries)]
        _carries(found, path, character)
    found.repeated(carriers, "the carried object")


# ── places ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _places(found: Findings, path: Path, character: CharacterPart) -> None:
    found.node((*path, "home"), "area", character.home)
    if character.starts_at:
        found.node((*path, "starts_at"), "area", character.starts_at)
    for number, area in enumerate(character.knows):
        found.node((*path, "knows", number), "area", area)


def _known_place(found: Findings, path: Path, character: CharacterPart, area: str) -> None:
    """An area the character goes to must exist and be known to it."""
    if not found.node(path, "area", area) or character.home not in found.names.areas:
        return
    if not found.names.knows(character, area):
        what = f'{shown(area)} is private and not known to "{character.id}"'
        found.add(path, what, f"a public area, or {area} (or the private area around it) in `knows`")


def _carries(found: Findings, path: Path, character: CharacterPart) -> None:
    for number, thing in enumerate(character.carries):
        here = (*path, "carries", number)
        if found.node(here, "object", thing):
            kind = found.names.kind_of(thing)
            if kind and not kind.portable:
                found.add(here, f"{shown(thing)} cannot be carried", "an object whose kind is `portable: true`")


# ── the day ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _routine(found: Findings, path: Path, character: CharacterPart) -> None:
    routine = character.routine
    here: Path = (*path, "routine")
    if routine or found.part.stage == "town":
        _tiles_a_day(found, here, routine)
    for number, item in enumerate(routine):
        item_path: Path = (*here, number)
        _known_place(found, (*item_path, "place"), character, item.place)
        for phase_number, phase in enumerate(item.phases):
            for step_number, step in enumerate(phase.steps):
                _step(found, (*item_path, "phases", phase_number, "steps", step_number), item, step)


def _tiles_a_day(found: Findings, path: Path, routine: tuple[RoutinePart, ...]) -> None:
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


def _step(found: Findings, path: Path, item: RoutinePart, step: StepPart) -> None:
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


# ── people and the past ─────────────────────────────────────────────────────────────────────────────────────────────


def _relations(found: Findings, path: Path, character: CharacterPart) -> None:
    here: Path = (*path, "relations")
    for number, relation in enumerate(character.relations):
        if found.node((*here, number, "to"), "character", relation.to) and relation.to == character.id:
            found.add((*here, number, "to"), "this is a relation to oneself", "another character")
    others = [(one.to, (*here, number, "to")) for number, one in enumerate(character.relations)]
    found.repeated(others, "the relation to")


def _memory(found: Findings, path: Path, character: CharacterPart, memory: MemoryPart) -> None:
    if memory.about:
        found.node((*path, "about"), "character", memory.about)
    for number, line in enumerate(memory.tell):
        if not line.strip():
            found.add((*path, "tell", number), "the line is empty", "a sentence")
    for fact in carried(facts_of(found), memory.text):
        known_by = next(one for one in found.part.facts if one.id == fact)
        if character.id not in known_by.originators:
            what = f'the words of this memory carry the fact "{fact}", which "{character.id}" does not start with'
            found.add((*path, "text"), what, f"other words, or {character.id} among its originators")
