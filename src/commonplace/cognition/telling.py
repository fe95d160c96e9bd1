"""Which lines of an author may be said now: their conditions, looked at as the speaker sees the moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from commonplace.character.account import digests_of
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages.language import language
from commonplace.minds.notes import Person, Recalled, Spoken, changed
from commonplace.scenario.model import Pronoun, Sky, Temperature
from commonplace.scenario.telling import WEEKDAYS, Place, Somebody, Telling, Terms, Thing

LEVELS = ("", "polite", "plain")


class Lines:
    """The author's lines for one hearer; what was held back is noted in the trace, with the condition that fails."""

    def __init__(self, view: TurnView, notebook: Notebook, hearer: Person, people: Sequence[Person], act: str) -> None:
        self._view, self._notebook, self._hearer, self._people, self._act = view, notebook, hearer, people, act

    def told(self, found: Iterable[Recalled]) -> tuple[Recalled, ...]:
        """The memories, each with what of it may be told."""
        terms = self._view.scenario.terms
        return tuple(
            changed(one, tell=self._kept(one.tell, one.minutes_ago // 60)) if any(map(terms.get, one.tell)) else one
            for one in found
        )

    def answered(self, lines: tuple[Spoken, ...]) -> tuple[Spoken, ...]:
        """The lines of a talk, the latest with what may be said to it."""
        if not lines or not any(map(self._view.scenario.terms.get, lines[-1].replies)):
            return lines
        return (*lines[:-1], changed(lines[-1], replies=self._kept(lines[-1].replies, 0)))

    def _kept(self, lines: Sequence[str], hours_ago: int) -> tuple[str, ...]:
        return tuple(line for line in lines if self._may_be_said(line, hours_ago))

    def _may_be_said(self, line: str, hours_ago: int) -> bool:
        terms = self._view.scenario.terms.get(line)
        if terms is None:
            return True
        moment = self._moment(hours_ago)
        unmet = (one.explained(moment) for one in terms.when if not one.is_met(moment))
        failed = self._outward(line, terms) or next(unmet, "")
        self._notebook.line(line, [one.explained(moment) for one in terms.when], failed)
        return not failed

    def _outward(self, line: str, terms: Terms) -> str:
        """What of who says it to whom, and of what was said before, does not fit; empty where all does."""
        hearer, account = self._hearer.id, self._notebook.account
        if terms.speakers and self._view.persona.id not in terms.speakers:
            return "who"
        if terms.hearers and hearer not in terms.hearers:
            return "only_to"
        heard = account.lines.get(hearer, {})
        if any(self._digests(one).isdisjoint(heard) for one in terms.after):
            return "after"
        return "once" if terms.once == "ever" and any(map(account.has_said, self._digests(line))) else ""

    def _digests(self, line: str) -> frozenset[str]:
        """What stands for the sentences of a line, at whichever speech level they were said."""
        said = language(self._view.scenario.language).said
        return frozenset(one for level in LEVELS for one in digests_of(said(line, level)))

    def _moment(self, hours_ago: int) -> Telling:
        view, world, now = self._view, self._view.world, self._view.now
        area = view.scenario.geography.nodes[world.area]
        return Telling(
            hearer=self._somebody(self._hearer),
            people={one.id: self._somebody(one) for one in self._people},
            things={
                id: Thing(state=seen.state, carried=seen.parent == view.persona.id) for id, seen in world.things.items()
            },
            place=Place(id=area.id, outdoor=area.outdoor),
            home=area.id == view.persona.home,
            alone=len(self._people) <= 1,
            sky=cast("Sky", world.ambient.sky),
            temperature=cast("Temperature", world.ambient.temperature),
            weekday=WEEKDAYS[now.weekday()],
            day=view.scenario.clock.day(world.tick),
            hour=now.hour,
            hours_ago=hours_ago,
            act=self._act,
        )

    def _somebody(self, one: Person) -> Somebody:
        persona = self._view.scenario.personas[one.id]
        return Somebody(
            id=one.id, called=one.called, warmth=one.warmth, talks=one.talks, age=persona.age,
            label=one.label.rpartition(" ")[2], pronoun=cast("Pronoun", persona.pronoun),
        )  # fmt: skip


def unconditional(view: TurnView, found: Iterable[Recalled]) -> tuple[Recalled, ...]:
    """The memories without the lines that have conditions: for whom they are to be said is not known yet."""
    terms = view.scenario.terms
    return tuple(
        changed(one, tell=tuple(line for line in one.tell if line not in terms))
        if any(map(terms.get, one.tell))
        else one
        for one in found
    )
