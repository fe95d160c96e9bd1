"""What a speaker has in mind while wording a line: who is who, what was said, what may not be said again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace import rng
from commonplace.minds.notes import FactNote, Person, Recalled, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.temper import temper
from commonplace.minds.tasks import ConverseInput

COLD = -20
"""Warmth below which one says no more than one has to."""
_MASK = (1 << 64) - 1
CLOSE = 30
"""Warmth from which one is glad to meet."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A talk at the moment one has to speak."""

    given: ConverseInput
    dice: Dice
    rules: Grammar
    voice: str
    past: str
    """Everything said between the two today, in lower case: nothing in it is said again."""
    spoken: frozenset[str]
    """The lines of today, mine and theirs."""
    mine: tuple[str, ...]
    """My lines of this talk."""
    last: str
    """The hearer's line that asks for a reply; empty when I open or carry on."""
    present: frozenset[str]
    aired: str
    """What I remember telling anybody: told again with less zest."""
    worn: str
    """What I remember others saying: not echoed."""
    salt: int
    """The request's draw for everything that is weighed per memory."""
    notes: Mapping[str, FactNote] = field(default_factory=dict[str, FactNote])

    @property
    def me(self) -> Who:
        """The speaker."""
        return self.given.who

    @property
    def you(self) -> Person:
        """The hearer."""
        return self.given.hearer

    @property
    def moment(self) -> str:
        """Now, ISO."""
        return self.given.situation.moment

    def spread(self, n: int, memory: int) -> int:
        """A number in 0 … n − 1 for one memory: the request's one draw mixed with the id, far cheaper than many."""
        mixed = ((self.salt ^ (memory * 0x9E3779B97F4A7C15)) * 0xBF58476D1CE4E5B9) & _MASK
        return (mixed * n) >> 64

    def when(self, memory: Recalled) -> str:
        """How one says when a memory was."""
        return english.when(self.moment, memory.minutes_ago)

    def known(self, text: str) -> bool:
        """Whether these words have fallen between the two today."""
        return text.lower() in self.past

    def fresh(self, text: str) -> bool:
        """Whether a line may be said: not said today, and not opened like my last one."""
        if not text or text in self.spoken:
            return False
        return not self.mine or _opening(text) != _opening(self.mine[-1])

    def say(self, rule: str, slots: Mapping[str, str], *key: str | int) -> str:
        """A wording of a rule in my voice, rather one that has not been used in this talk or that I remember using."""
        dice = self.dice.with_(*key)
        return self.rules.say(rule, self.voice, slots, dice, self._is_unworn) or self.rules.say(
            rule, self.voice, slots, dice
        )

    def _is_unworn(self, text: str) -> bool:
        return text not in self.aired and text.lower() not in self.past and text not in self.worn

    def finished(self, text: str) -> str:
        """The line as it is spoken."""
        return english.polished(text)


def _opening(text: str) -> str:
    return " ".join(text.split(" ", 2)[:2]).lower()


def _quotes(given: ConverseInput, what: str) -> str:
    return "\n".join(one.frame.get("quote", "") for one in given.recalled if one.frame.get("what") == what)


def scene_of(given: ConverseInput, dice: Dice) -> Scene:
    """The scene of a request."""
    lines = given.lines
    mine = tuple(line.text for line in lines if line.speaker == given.who.id)
    said = (*given.said, *(line.text for line in lines))
    return Scene(
        given=given,
        dice=dice,
        rules=grammar(given.who.language),
        voice=temper(given.who).voice,
        past="\n".join(said).lower(),
        spoken=frozenset(said),
        mine=mine,
        last=lines[-1].text if lines and lines[-1].speaker != given.who.id else "",
        present=frozenset(person.id for person in given.situation.people),
        aired=_quotes(given, "i_said"),
        worn=_quotes(given, "said"),
        salt=rng.draw(*dice.key, "salt"),
        notes={note.id: note for note in given.facts},
    )
