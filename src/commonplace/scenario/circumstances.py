"""Circumstances in a scenario: the kinds that it knows, and what is so as news that characters carry and tell.

What is so in a run is a fact like the seed facts of the file: a memory or a line carries it by its words, so that it
travels, is measured and is known like any news. As long as it is so it is told in one way, and afterwards in another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from types import MappingProxyType

import msgspec

from commonplace.character.fact import Fact
from commonplace.errors import UsageError
from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.scenario.model import ScenarioPart
from commonplace.scenario.scenario import Scenario, Tell, derived
from commonplace.text import name_forms
from commonplace.world.circumstances import (
    TOWN,
    Circumstance,
    CircumstanceKind,
    Circumstances,
    Kinds,
    Raise,
    Subject,
    shipped_kinds,
    subject_of,
)


def kinds_of(part: ScenarioPart) -> Kinds:
    """Returns the kinds that every scenario knows, and those of its own."""
    own = {name: msgspec.convert(one.model_dump(), CircumstanceKind) for name, one in part.circumstances.items()}
    return MappingProxyType({**shipped_kinds(part.language), **own})


def subject(scenario: Scenario, of: str) -> Subject | None:
    """Returns what sort of thing an id names; None where it names nothing."""
    if of == TOWN:
        return "town"
    if of in scenario.personas:
        return "person"
    if scenario.fact(of) is not None and not subject_of(of)[0]:
        return "fact"
    node = scenario.geography.nodes.get(of)
    return None if node is None else "place" if node.type == "area" else "thing"


@derived
def possible(scenario: Scenario) -> Mapping[str, str]:
    """Returns the key of each kind of each subject, that is all that may be so, with the name of the subject."""
    geography = scenario.geography
    subjects: Mapping[Subject, Iterable[str]] = {
        "person": scenario.personas,
        "place": [area for area in geography.destinations if area != geography.root],
        "thing": sorted(scenario.opening.things),
        "fact": [fact.id for fact in scenario.facts if fact.starts],
        "town": (TOWN,),
    }
    return {
        f"{name}.{of}": _plain_name(scenario, of)
        for name, kind in scenario.kinds.items()
        for subject, found in subjects.items()
        if kind.may_be_of(subject)
        for of in found
    }


def _plain_name(scenario: Scenario, of: str) -> str:
    """Returns the name of a subject without article, by which a sentence or a mind may call it."""
    known = of in scenario.personas or scenario.fact(of) is not None
    return (
        subject_name(scenario, of) if known else scenario.geography.name(scenario.geography.root if of == TOWN else of)
    )


def now_sentence(scenario: Scenario, kind: str, of: str, by: str = "") -> str:
    """Says that something is so: `Mira's Noodle Bar is on fire.`"""
    return _said(scenario, scenario.kinds[kind].words.now, of, by)


def carrying(text: str, raises: Iterable[Raise], scenario: Scenario, tick: int) -> str:
    """Returns a sentence, and after it in plain words what it raises and does not say itself."""
    facts = [(one, fact_of(scenario, Circumstance(one.kind, one.of, tick, by=one.by))) for one in raises]
    more = [now_sentence(scenario, one.kind, one.of, one.by) for one, fact in facts if not fact.carried_by(text)]
    return " ".join((text, *more))


def over_sentence(scenario: Scenario, key: str) -> str:
    """Says that something is no longer so."""
    kind, of = subject_of(key)
    return _said(scenario, scenario.kinds[kind].words.over, of, "")


def refuse_unknown(scenario: Scenario, key: str, by: str = "") -> None:
    """Raises UsageError for a key of what cannot be so: an unknown kind or subject, or one of another sort; and for
    somebody unknown who did it."""
    kind, of = subject_of(key)
    if kind not in scenario.kinds:
        near = get_close_matches(kind, sorted(scenario.kinds), n=1)
        guess = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(
            f"there is no kind of circumstance {kind!r}", hint=f"{guess}kinds are {', '.join(scenario.kinds)}"
        )
    found = subject(scenario, of)
    if found is None or not scenario.kinds[kind].may_be_of(found):
        wanted = scenario.kinds[kind].of.replace(" ", " or a ")
        raise UsageError(f"{of!r} cannot be {kind!r}", hint=f"give the id of a {wanted}")
    if by and by not in scenario.personas:
        near = get_close_matches(by, sorted(scenario.personas), n=1, cutoff=0)[0]
        raise UsageError(f"there is no character {by!r}", hint=f"the nearest is {near!r}")


def with_circumstances(scenario: Scenario, circumstances: Circumstances) -> Scenario:
    """Returns the scenario with what is so, and what was lately, as facts; without those that it had before."""
    if not circumstances and not any(subject_of(fact.id)[0] for fact in scenario.facts):
        return scenario
    facts = tuple(fact for fact in scenario.facts if not subject_of(fact.id)[0])
    tells = {id: tell for id, tell in scenario.tells.items() if not subject_of(id)[0]}
    spent = {
        line
        for id, tell in scenario.tells.items()
        if subject_of(id)[0]
        for line in (*tell.lines, *tell.at_once, *tell.mine)
    }
    replies = {line: said for line, said in scenario.replies.items() if line not in spent}
    plain = replace(scenario, facts=facts)
    for one in circumstances.values():
        fact, tell = fact_of(plain, one), _tell(plain, one)
        facts, tells = (*facts, fact), {**tells, one.key: tell}
        words = scenario.kinds[one.kind].words
        replies |= dict.fromkeys((*tell.lines, *tell.at_once), words.replies)
        replies |= dict.fromkeys(tell.mine, tuple(said for said in words.replies if "{x}" not in said))
    return replace(scenario, facts=facts, tells=tells, replies=replies, circumstances=circumstances)


def fact_of(scenario: Scenario, one: Circumstance) -> Fact:
    """Returns what is so as news."""
    words, lines = scenario.kinds[one.kind].words, _tell(scenario, one).lines
    text = _said(scenario, words.now if one.holds else words.was or words.over, one.of, one.by)
    groups = (*_names(scenario, one.of), words.carrying)
    spoken = scenario.language
    return Fact(id=one.key, text={spoken: text}, groups={spoken: groups}, tell={spoken: lines})


def _tell(scenario: Scenario, one: Circumstance) -> Tell:
    kind = scenario.kinds[one.kind]
    words = kind.words
    plain, more = (words.now, words.tell) if one.holds else (words.was or words.over, words.told)
    spoken = language(scenario.language).uttered(_said(scenario, plain, one.of, one.by))
    said = tuple(dict.fromkeys((spoken, *(_said(scenario, line, one.of, one.by) for line in more))))
    at_once = tuple(_said(scenario, line, one.of, one.by) for line in words.at_once)
    mine = tuple(_said(scenario, line, one.of, one.by) for line in words.mine if one.holds)
    name = subject_name(scenario, one.of)
    return Tell(said, topic=name, sort=kind.sort, at_once=at_once if one.holds else (), mine=mine)


def _said(scenario: Scenario, template: str, of: str, by: str) -> str:
    return said(template, scenario.language, subject_name(scenario, of), subject_name(scenario, by) if by else "")


def said(template: str, spoken: str, name: str, other: str) -> str:
    """Fills a text of `KindWords` with the names of its subject and of who did it; nobody is `somebody`."""
    text = template.format(x=name, X=name[:1].upper() + name[1:], y=other or phrases(spoken, "views")["somebody"])
    return language(spoken).joined(text)


def subject_name(scenario: Scenario, of: str) -> str:
    """Returns what a subject is called inside a sentence: `Suki`, `Mira's Noodle Bar`, `the lantern festival`."""
    spoken = language(scenario.language)
    if of in scenario.personas:
        return scenario.personas[of].called
    fact = scenario.fact(of)
    if fact is not None:
        return spoken.noun_phrase(fact.said_in(scenario.language)) or fact.id
    return spoken.the(scenario.geography.name(scenario.geography.root if of == TOWN else of))


def subject_names(scenario: Scenario, of: str) -> tuple[str, ...]:
    """Returns the words that name a subject, in lower case; one or more of them occur where it is spoken of."""
    return tuple(name.lower() for group in _names(scenario, of)[:1] for name in group)


def _names(scenario: Scenario, of: str) -> tuple[tuple[str, ...], ...]:
    """Returns the words that name a subject, as groups of which a text has one each; none for the town."""
    if of == TOWN:
        return ()
    fact, persona = scenario.fact(of), scenario.personas.get(of)
    if fact is not None:
        spoken, name = scenario.language, subject_name(scenario, of)
        groups = fact.groups.get(spoken) or next(iter(fact.groups.values()), ())
        named = tuple(group for group in groups if Fact(of, {}, {spoken: (group,)}).carried_by(name))
        return named or ((name,),)  # where and when it was to be is not said of what does not take place
    if persona is not None:
        return (tuple(dict.fromkeys((persona.called, persona.name))),)
    name, nodes = scenario.geography.name(of), scenario.geography.nodes.values()
    others = dict.fromkeys(next(iter(name_forms(node.name)), "") for node in nodes if node.id != of)
    forms = tuple(form for form in name_forms(name) if not any(f" {other}".endswith(f" {form}") for other in others))
    return (forms or (name,),)
