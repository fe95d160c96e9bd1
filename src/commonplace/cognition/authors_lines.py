"""Which lines of an author may be said now: their conditions, looked at as the speaker sees the moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar, cast

from msgspec.structs import asdict

from commonplace.character.account import MARKED, Account, as_topic, digests_of
from commonplace.character.persona import Persona
from commonplace.cognition.situation import person
from commonplace.cognition.turn import JobView, Notebook, TalkView, TurnView, View
from commonplace.conditions import condition
from commonplace.languages.language import language
from commonplace.minds.notes import FactNote, Person, Recalled, Spoken, changed
from commonplace.scenario.model import Pronoun, Sky, Temperature
from commonplace.scenario.scenario import Scenario
from commonplace.scenario.telling import WEEKDAYS, Moment, Place, Somebody, Telling, Terms, Thing
from commonplace.text import words

V = TypeVar("V", TurnView, JobView, TalkView)
Told = TypeVar("Told", Recalled, FactNote)
LEVELS = ("", "polite", "plain")
"""Speech levels at which a sentence may have been said; the first is the author's own."""


class AuthorsLines:
    """The author's lines for one hearer; what was held back is noted in the trace, with the condition that fails."""

    def __init__(
        self, view: TurnView, notebook: Notebook, hearer: Person, people: Sequence[Person], latest: Spoken | None
    ) -> None:
        self._view, self._notebook, self._hearer, self._people, self._latest = view, notebook, hearer, people, latest
        self._noted = set[str]()

    def told(self, found: Iterable[Recalled]) -> tuple[Recalled, ...]:
        """Returns the memories, each with the lines that may be told of it."""
        return tuple(self._with_kept(one, one.minutes_ago) for one in found)

    def news(self, facts: Iterable[FactNote], found: Sequence[Recalled]) -> tuple[FactNote, ...]:
        """Returns the facts that these memories carry, each with the lines for it that may be used."""
        known = {one.id: [note.minutes_ago for note in found if one.id in note.facts] for one in facts}
        return tuple(self._with_kept(one, max(known[one.id])) for one in facts)

    def _with_kept(self, one: Told, minutes_ago: int) -> Told:
        terms = self._view.scenario.terms
        return changed(one, tell=self._kept(one.tell, minutes_ago // 60)) if any(map(terms.get, one.tell)) else one

    def answered(self, lines: tuple[Spoken, ...]) -> tuple[Spoken, ...]:
        """Returns the lines of a talk, the latest with the lines that may answer it."""
        scenario = self._view.scenario
        if not lines or lines[-1].speaker == self._view.persona.id:
            return lines
        last = lines[-1]
        if any(map(scenario.terms.get, last.replies)):
            last = changed(last, replies=self._kept(last.replies, 0))
        if scenario.rules and (rules := self._kept(scenario.rules, 0)):
            last = changed(last, rules=rules)
        return lines if last is lines[-1] else (*lines[:-1], last)

    def _kept(self, lines: Sequence[str], hours_ago: int) -> tuple[str, ...]:
        moment = self._moment(hours_ago)
        return tuple(line for line in lines if self._may_be_said(line, moment))

    def _may_be_said(self, line: str, moment: Telling) -> bool:
        terms = self._view.scenario.terms.get(line)
        if terms is None:
            return True
        unmet = (one.explained(moment) for one in terms.conditions if not one.is_met(moment))
        failed = self._outward(line, terms) or next(unmet, "")
        is_rule = line in self._view.scenario.rules  # most are not about most lines
        if line not in self._noted and not (failed and is_rule):
            self._noted.add(line)
            self._notebook.line(line, [one.explained(moment) for one in terms.conditions], failed)
        return not failed

    def _outward(self, line: str, terms: Terms) -> str:
        """Returns the condition on speaker, hearer and earlier lines that fails; empty if all hold."""
        account, heard = self._notebook.account, self._notebook.account.lines.get(self._hearer.id, {})
        if terms.speakers and self._view.persona.id not in terms.speakers:
            return "who"
        if terms.hearers and self._hearer.id not in terms.hearers:
            return "only_to"
        if not all(digests_of(one) <= heard.keys() for one in terms.after):
            return "after"
        return "once" if terms.once == "ever" and all(map(account.has_said, digests_of(line))) else ""

    def _moment(self, hours_ago: int) -> Telling:
        latest = self._latest
        return Telling(
            **asdict(moment(self._view, self._notebook.account, self._people, alone=len(self._people) <= 1)),
            hearer=_somebody(self._view, self._hearer),
            hours_ago=hours_ago,
            act=latest.speech_act if latest else "",
            topic=as_topic(latest.topic).rpartition(" ")[2] if latest else "",
        )


def moment(view: View, account: Account, people: Sequence[Person], alone: bool) -> Moment:
    """Returns the moment, which conditions are tested on."""
    world, now = view.world, view.now
    area = view.scenario.geography.nodes[world.area]
    return Moment(
        people={one.id: _somebody(view, one) for one in people},
        things={
            id: Thing(state=seen.state, carried=seen.parent == view.persona.id) for id, seen in world.things.items()
        },
        place=Place(id=area.id, outdoor=area.outdoor),
        home=area.id == view.persona.home,
        alone=alone,
        sky=cast("Sky", world.ambient.sky),
        temperature=cast("Temperature", world.ambient.temperature),
        weekday=WEEKDAYS[now.weekday()],
        day=view.scenario.clock.day(world.tick),
        hour=now.hour,
        marks={row.topic: True for row in account.rows(MARKED)},
    )


def _somebody(view: View, one: Person) -> Somebody:
    persona = view.scenario.personas[one.id]
    return Somebody(
        id=one.id, called=one.called, warmth=one.warmth, talks=one.talks, age=persona.age,
        label=one.label.rpartition(" ")[2], pronoun=cast("Pronoun", persona.pronoun),
    )  # fmt: skip


def with_goals(view: V) -> V:
    """Returns the view of somebody, with only those goals whose conditions hold."""
    persona = view.persona
    if not persona.goals_when:
        return view
    people = [person(view, other) for other in sorted(view.world.bodies)]
    now = moment(view, view.state.account, people, alone=not people)
    wanted = (
        goal for goal in persona.goals
        if all(condition(one, Moment).is_met(now) for one in persona.goals_when.get(goal, ()))
    )  # fmt: skip
    return replace(view, persona=_wanting(persona, tuple(wanted)))


@lru_cache(maxsize=1 << 14)  # what is made of a persona is kept by it
def _wanting(persona: Persona, goals: tuple[str, ...]) -> Persona:
    return replace(persona, goals=goals)


def lines_in(utterance: str, scenario: Scenario) -> tuple[str, ...]:
    """Returns the lines with conditions or marks, and those that others come after, that an utterance contains.

    Each is found at any speech level and after any words that lead up to it, and is returned as its author wrote it.
    """
    if not scenario.terms:
        return ()
    said, known = _as_words(utterance), dict.fromkeys(scenario.terms)
    known |= {line: None for terms in scenario.terms.values() for line in terms.after}
    return tuple(line for line in known if any(one in said for one in _at_levels(line, scenario.language)))


def marks_in(utterance: str, scenario: Scenario) -> tuple[str, ...]:
    """Returns the marks that the lines in an utterance set, sorted."""
    found = (scenario.terms.get(line, Terms()).sets for line in lines_in(utterance, scenario))
    return tuple(sorted({mark for marks in found for mark in marks}))


@lru_cache(maxsize=4096)
def _at_levels(line: str, spoken_in: str) -> tuple[str, ...]:
    return tuple(_as_words(language(spoken_in).said(line, level)) for level in LEVELS)


def _as_words(text: str) -> str:
    return f" {' '.join(words(text))} "


def unconditional(scenario: Scenario, found: Iterable[Told]) -> tuple[Told, ...]:
    """Returns memories or facts without the lines that have conditions: no character is known to whom they would be
    said."""
    bound = {line for line, terms in scenario.terms.items() if not terms.is_free}
    return tuple(
        changed(one, tell=tuple(line for line in one.tell if line not in bound))
        if not bound.isdisjoint(one.tell)
        else one
        for one in found
    )
