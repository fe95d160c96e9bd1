"""Judge: what comes of a deed. It is told of the doer and read like a sentence of god mode.

`deeds.toml` of a language says which of its clauses are not possible, and what a deed is to somebody who is there.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from commonplace.languages import file_text
from commonplace.languages.language import said
from commonplace.minds.notes import Spot, fields_of
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.perceive_event import perceive_event
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import JudgeInput, JudgeOutput, PerceiveEventInput
from commonplace.text import name_forms
from commonplace.world.circumstances import subject_of

HEARD = ("cry", "loud", "music")
"""Kinds of event that are heard in the next rooms."""


class Deeds(Struct, frozen=True, forbid_unknown_fields=True):
    """`deeds.toml`: patterns, in which NAME stands for whoever or whatever is named."""

    clauses: str
    """What stands between two clauses; empty where they cannot be taken apart."""
    impossible: str
    elsewhere: str
    """A place that is named as where it is done."""
    announced: str
    """What makes it understood next door, word for word."""
    begins: Mapping[str, tuple[str, ...]]
    """Kind of circumstance → ways to do it to somebody."""


@cache
def _deeds(language: str) -> Deeds:
    return msgspec.convert(tomllib.loads(file_text(language, "deeds.toml")), Deeds)


def judge(given: JudgeInput, dice: Dice) -> JudgeOutput:
    """Returns what the sentence changes, without what is not possible here; loud things are heard next door."""
    rules, deeds = grammar(given.language), _deeds(given.language)
    told = rules.language.deed(given.text, given.doer)
    clauses = re.split(deeds.clauses, told) if deeds.clauses else [told]
    refused = {clause: why for clause in clauses if (why := _refusal(clause, given, deeds))}
    why = " ".join(dict.fromkeys(refused.values()))
    if len(refused) == len(clauses):
        name = given.doer.called
        return JudgeOutput(percept=said(given.language, "attempt", "vain", name=name, text=given.text), why=why)
    text = told if not refused else " and ".join(clause for clause in clauses if clause not in refused)
    read = perceive_event(_sentence(given, text), dice)
    kind = next((kind for kind in HEARD if rules.has(f"event.{kind}", text)), "")
    place = rules.language.named(next(area.name for area in given.areas if area.id == given.place))
    far = rules.first(f"far.{kind}", {"place": place}) if kind else ""
    return JudgeOutput(
        percept=read.percept,
        sets=read.sets,
        locked=read.locked,
        unlocked=read.unlocked,
        far=read.percept if re.search(deeds.announced, text) else far,
        begins=tuple(
            dict.fromkeys((*read.begins, *_done_to(text, given, deeds, {subject_of(key)[1] for key in read.begins})))
        ),
        ends=read.ends,
        hours=read.hours,
        by=read.by,
        why=why,
    )


def _sentence(given: JudgeInput, text: str) -> PerceiveEventInput:
    told: dict[str, Any] = {**dict(fields_of(given)), "text": text}
    kept: dict[str, Any] = {name: told[name] for name in PerceiveEventInput.__struct_fields__}
    return PerceiveEventInput(**kept)


def _refusal(clause: str, given: JudgeInput, deeds: Deeds) -> str:
    """Returns why a clause is not possible; empty if it is possible, as far as rules know."""
    if re.search(deeds.impossible, clause, re.IGNORECASE):
        return said(given.language, "attempt", "impossible")
    places = (area for area in given.areas if area.id != given.place and _is_named(deeds.elsewhere, area, clause))
    return next((said(given.language, "attempt", "absent", name=area.name) for area in places), "")


def _is_named(pattern: str, area: Spot, text: str) -> bool:
    owned = "'s " in area.name
    forms = (*name_forms(area.name), *(() if owned else (area.name.removeprefix("The ").partition(" ")[0],)))
    return any(_says(pattern, form, text) for form in forms)


def _says(pattern: str, name: str, text: str) -> bool:
    if name.lower() not in text.lower():  # a town has thousands of names, and each would be a pattern to compile
        return False
    return re.search(pattern.replace("NAME", re.escape(name)), text, re.IGNORECASE) is not None


def _done_to(text: str, given: JudgeInput, deeds: Deeds, taken: Iterable[str]) -> Iterator[str]:
    """Yields the keys of what the deed does to people present, unless the sentence says something else about them."""
    others = [one for one in given.people if one.id in given.here and one.id not in (given.doer.id, *taken)]
    for kind, patterns in deeds.begins.items():
        for one in others:
            if any(_says(pattern, name, text) for pattern in patterns for name in (one.name, one.called)):
                yield f"{kind}.{one.id}"
