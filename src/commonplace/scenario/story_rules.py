"""What must be true of the rest: clock, stage, settings, facts, scripted events, weather."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from commonplace.character.fact import Fact
from commonplace.clock import Clock, iso, parse_iso
from commonplace.errors import WrongUse
from commonplace.memory import policies
from commonplace.scenario.findings import Findings
from commonplace.scenario.mistake import choice, nearest
from commonplace.scenario.model import FactPart, ScriptPart
from commonplace.scenario.plain import Path
from commonplace.scenario.shape import shown
from commonplace.scenario.times import minutes
from commonplace.text import words
from commonplace.world.weather import SKIES

STAGES = ("town", "duet")
LANGUAGES = ("en", "ko")
HEAVIEST = 1_000_000
YEARS = (1000, 9000)
"""Simulated time must not run out of the calendar Python has."""
_ELSEWHERE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


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
    _climate(found)


def facts_of(found: Findings) -> list[Fact]:
    """The facts as far as texts can be matched with them: those whose groups of words are in order."""
    return [
        Fact(fact.id, fact.text, {language: groups})
        for fact in found.part.facts
        for language, groups in fact.groups.items()
        if _usable(groups)
    ]


def _usable(groups: tuple[tuple[str, ...], ...]) -> bool:
    return bool(groups) and all(group and all(words(word) for word in group) for group in groups)


def _settings(found: Findings) -> None:
    stage = found.part.stage
    if stage not in STAGES and not _ELSEWHERE.fullmatch(stage):
        expected = f"{choice(STAGES)}, or package.module:NAME for a stage from elsewhere"
        found.add(("stage",), f"there is no stage {shown(stage)}", expected, nearest(stage, STAGES))
    if stage == "duet" and len(found.part.characters) != 2:
        number = len(found.part.characters)
        found.add(("characters",), f"a duet is between two, and there {'is' if number == 1 else 'are'} {number}", "two")
    own = found.part.policies
    for name, changes in own.items():
        _policy(found, name, changes)
    found.known(("cognition", "policy"), "policy", found.part.cognition.policy, (*policies.NAMES, *own))


def _policy(found: Findings, name: str, changes: Mapping[str, Any]) -> None:
    try:
        policies.from_mapping(name, changes)
    except WrongUse as error:
        found.add(("policies", name), error.what, error.todo)


def _clock(found: Findings) -> Clock | None:
    start = _moment(found, ("clock", "start"), found.part.clock.start)
    return Clock(start, found.part.clock.tick_minutes) if start else None


def _moment(found: Findings, path: Path, text: str) -> datetime | None:
    try:
        moment = parse_iso(text)
        if YEARS[0] <= moment.year <= YEARS[1]:
            return moment
    except (ValueError, OverflowError):
        pass
    found.add(path, f"{shown(text)} is no date and time", "one such as 2031-10-04T06:00:00")
    return None


# ── facts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _fact(found: Findings, path: Path, fact: FactPart, clock: Clock | None) -> None:
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


def _languages(found: Findings, path: Path, fact: FactPart) -> None:
    for key, by_language in (("text", fact.text), ("groups", fact.groups), ("tell", fact.tell)):
        for language in by_language:
            found.known((*path, key, language), "language", language, LANGUAGES)
        if key != "tell" and found.part.language not in by_language:
            what = f"there is nothing for the scenario's language, {shown(found.part.language)}"
            found.add((*path, key), what, f"the key {found.part.language}")


def _groups(found: Findings, path: Path, groups: tuple[tuple[str, ...], ...]) -> None:
    if not groups:
        found.add(path, "without groups of words every text would carry the fact", "one group or more")
    for number, group in enumerate(groups):
        if not group:
            found.add((*path, number), "the group is empty, so no text can carry the fact", "one word or more")
        for index, word in enumerate(group):
            if not words(word):
                found.add((*path, number, index), f"{shown(word)} has no letters to match", "a word")


def _carries_itself(found: Findings, path: Path, fact: FactPart, language: str, text: str) -> None:
    """What is said to tell a fact must hold a word of each of its groups, or nobody is told it."""
    groups = fact.groups.get(language, ())
    if not _usable(groups):
        return
    missing = [group for group in groups if not Fact(fact.id, {}, {language: (group,)}).carried_by(text)]
    for group in missing:
        what = f'{shown(text)} does not carry the fact "{fact.id}"'
        found.add(path, what, f"one of its words {', '.join(map(shown, group))} in it")


def _occasion(found: Findings, path: Path, fact: FactPart, clock: Clock | None) -> None:
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


# ── scripted events ─────────────────────────────────────────────────────────────────────────────────────────────────


def _event(found: Findings, path: Path, event: ScriptPart, clock: Clock | None) -> None:
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
            _way(found, (*path, key, number), pair)
    if clock:
        midnight = clock.start.replace(hour=0, minute=0, second=0, microsecond=0)
        if midnight + timedelta(days=event.day, minutes=minutes(event.at)) <= clock.start:
            what = f"day {event.day} at {event.at} is not after the run begins"
            found.add((*path, "at"), what, f"a moment after {iso(clock.start)}")


def _set(found: Findings, path: Path, thing: str, state: str) -> None:
    if found.node(path, "object", thing):
        kind = found.names.kind_of(thing)
        if kind:
            found.known(path, "state", state, kind.states, f'of "{thing}"')


def _way(found: Findings, path: Path, pair: tuple[str, str]) -> None:
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
        path: Path = ("climate", "weights", sky)
        found.known(path, "sky", sky, SKIES)
        for after, weight in following.items():
            found.known((*path, after), "sky", after, SKIES)
            if not 0 <= weight <= HEAVIEST:
                found.add((*path, after), f"{weight} is no weight", f"0 to {HEAVIEST:,}")
        if sum(following.values()) <= 0:
            found.add(path, "no sky can follow", "a weight above 0")
