"""A newcomer: a character whom the scenario does not know, described in a file of its own or by an input.

The keys are those of an entry under `characters` of a scenario, and mistakes are reported as `check` reports them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from commonplace.canon import canonical, parsed
from commonplace.errors import UsageError
from commonplace.paths import text_of
from commonplace.scenario.findings import Findings
from commonplace.scenario.loading import KeyPath, Mistake, Source, is_list, is_mapping, read, refusal
from commonplace.scenario.model import CharacterPart, ScenarioPart
from commonplace.scenario.rules import newcomer_rules
from commonplace.scenario.scenario import Scenario
from commonplace.scenario.shape import shaped
from commonplace.scenario.telling import Terms, lines_of
from commonplace.text import clean

SUFFIXES = (".yaml", ".yml", ".json")
"""Of files that describe a character."""
LARGEST = 256_000
"""Bytes, of the file and of the character as JSON."""
HERE: KeyPath = ("characters", 0)
"""Where the newcomer is in the document that its rules look at: before everybody else."""


def may_come(scenario: Scenario) -> bool:
    """Returns whether anybody can come into a run: not into a dialogue of two, nor into a panel."""
    return scenario.part.stage not in ("duet", "panel")


def newcomer_from_file(path: str | Path, scenario: Scenario) -> CharacterPart:
    """Reads the character that a YAML or JSON file describes. Raises UsageError with every mistake found in it."""
    path = Path(path).expanduser()
    return _without_mistakes(read(text_of(path, "a character", LARGEST), str(path)), scenario)


def newcomer(given: Mapping[str, Any], scenario: Scenario) -> CharacterPart:
    """Reads the character that an input describes. Raises UsageError with every mistake found in it."""
    try:
        data = _cleaned(parsed(canonical(given)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the character is not JSON: {error}", hint=_HINT) from error
    return _without_mistakes(Source("", "the newcomer", data, {(): 0}), scenario)


def character_json(character: CharacterPart) -> dict[str, Any]:
    """Returns a character as an input holds it, the inverse of `newcomer`: JSON, without what was left out."""
    return character.model_dump(mode="json", by_alias=True, exclude_defaults=True)


_HINT = "a character has the keys of an entry under `characters` (docs/scenarios.md)"


def _cleaned(value: Any) -> Any:
    """Cleans every text of a value, as the reader of files does it."""
    if is_mapping(value):
        return {clean(key): _cleaned(inner) for key, inner in value.items()}
    if is_list(value):
        return [_cleaned(inner) for inner in value]
    return clean(value) if isinstance(value, str) else value


def _without_mistakes(source: Source, scenario: Scenario) -> CharacterPart:
    if scenario.part.stage == "panel":
        raise UsageError("a panel has the personas it began with, so nobody else can come in")
    if scenario.part.stage == "duet":
        what = "the stage duet is a dialogue of two characters, so nobody else can come in"
        raise UsageError(what, where=source.origin, hint="--join with somebody new needs a run of another stage")
    character, mistakes = _examined(source, scenario.part)
    if character is None or mistakes:
        raise refusal(source.origin, mistakes, _HINT)
    if len(canonical(character_json(character))) > LARGEST:
        raise UsageError(f"{source.origin} is larger than {LARGEST // 1000} kB, too large for a character", hint=_HINT)
    return character


def _examined(source: Source, town: ScenarioPart) -> tuple[CharacterPart | None, list[Mistake]]:
    """Returns the character with its mistakes in the order of lines; None instead of it when too little is
    well-formed."""
    if not is_mapping(source.data):
        nothing = source.mistake((), "it does not describe a character", "the keys id, name, age, traits, home …")
        return None, list(source.faults) or [nothing]
    whole = {"name": "town", "world": {"root": {"id": "town", "name": "town"}}, "characters": [source.data]}
    lines = {(): source.line(()), **{(*HERE, *path): line for path, line in source.lines.items()}}
    around = Source(source.text, source.origin, whole, lines)
    part, cut, faults = shaped(whole)
    mistakes = [around.mistake(fault.path, fault.what, fault.expected, fault.nearest) for fault in faults]
    if part is not None:
        everybody = (*part.characters, *town.characters)
        findings = Findings(around, town.model_copy(update={"characters": everybody}), cut, faults)
        newcomer_rules(findings)
        for number, memory in enumerate(part.characters[0].memories):
            for place, _, terms in lines_of(memory.tell, memory.replies):
                if terms != Terms():  # a run keeps the conditions of lines with the scenario it began with
                    what = "the lines of somebody who comes later have no conditions and set no marks"
                    findings.add((*HERE, "memories", number, *place), what, "its words alone")
        mistakes += findings.mistakes
    found = (replace(mistake, where=mistake.where.removeprefix("characters › ")) for mistake in mistakes)
    ordered = sorted(dict.fromkeys((*source.faults, *found)), key=lambda mistake: mistake.line)
    return (part.characters[0] if part is not None else None), ordered
