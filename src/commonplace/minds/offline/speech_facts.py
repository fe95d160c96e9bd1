"""The moment at which a character has to say something: what rows of talk are about, and the line that one makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from commonplace.minds.notes import PastNote, Person, Recalled
from commonplace.minds.offline.hear import Heard
from commonplace.minds.offline.moment import Draws
from commonplace.minds.offline.rule_tables import Facts, RuleTable
from commonplace.minds.offline.sayings import Saying, worded
from commonplace.minds.offline.scene import DraftLine, TalkScene
from commonplace.minds.offline.told import Told

Evidence = Recalled | PastNote | Saying | Told | None
"""What words can rest on: memories, and what fills the slots of a template."""


class Speaking(Facts):
    """The character has to say something to the hearer.

    `memory`: that of hearing the line to answer.
    """

    def __init__(self, scene: TalkScene, options: Sequence[Saying] = (), memory: Recalled | None = None) -> None:
        self._scene, self._options, self._memory = scene, options, memory

    def said(self, table: RuleTable[Any]) -> DraftLine | None:
        """Returns the line of the row that decides: its `words`, a template with what fills it, and then the line in
        `then`. None if no row holds, or there is nothing to say."""
        choice = table.decide(self)
        if choice is None:
            return None
        words, then = choice.row.cells["words"], choice.row.cells["then"]
        more = self._following(then) if then else None
        if not words and more is None:
            return None
        line = (self._worded(words) if words else DraftLine("")).then(more)
        return replace(line, rows=(choice, *line.rows))

    def _following(self, cell: str) -> DraftLine | None:
        """Returns a line or saying by its name; if the cell names a rule, after words of it that lead up to the
        line."""
        name, _, rule = cell.partition(" ")
        found: DraftLine | Saying | None = getattr(self, name)
        line = worded(self._scene, found) if isinstance(found, Saying) else found
        if line is None or not rule:
            return line
        return self._scene.aside(line) if rule == "aside" else self._scene.led(line, rule)

    def _worded(self, cell: str) -> DraftLine:
        """Returns the words of a template, `-` for none. `kind=` names what they have to suit, `of=` what else they
        rest on, `about=` their topic; all others fill a slot."""
        rule, *pairs = self.filled(cell).split()
        if rule == "-":
            return DraftLine("", self.ids)
        paths = dict(pair.split("=") for pair in pairs)
        rests = _evidence(getattr(self, paths.pop("of"))) if "of" in paths else ()
        slots = {name: self.get(path) for name, path in paths.items()}
        if "kind" in slots:
            rule = self._scene.suited(rule, slots.pop("kind"))
        return self._scene.line(rule, *self.ids, *rests, **slots)

    @property
    def ids(self) -> tuple[int, ...]:
        """Returns the memories that the words of a template rest on: the one of hearing the line to answer."""
        return (self._memory.id,) if self._memory is not None else ()

    @property
    def draw(self) -> Draws:
        """Returns a number of 0 … 99, anew for each line: `draw.more < 50` holds half of the time."""
        return Draws(self._scene.dice)

    @property
    def hearer(self) -> Person:
        """Returns the hearer."""
        return self._scene.you

    @property
    def stranger(self) -> bool:
        """Tells whether the two have nothing to do with each other yet."""
        return self._scene.with_stranger

    @property
    def purpose(self) -> str:
        """Returns the purpose: `greet`, `tell`, `reply`, `farewell` …"""
        return self._scene.talk.purpose

    @property
    def heard(self) -> Heard:
        """Returns the line to answer: its act (`heard.act`), whether it asks, its topic."""
        return self._scene.heard

    @property
    def my_kind(self) -> str:
        """Returns the kind of my last line in this talk: a sort of what is told, or an act."""
        return self._scene.my_kind

    @property
    def at_event(self) -> bool:
        """Tells whether we are at an event."""
        return self._scene.talk.gathering is not None

    @property
    def begun(self) -> bool:
        """Tells whether I have said something in this talk."""
        return bool(self._scene.mine)

    @property
    def young(self) -> bool:
        """Tells whether the talk is still short enough to bring up something new."""
        return self._scene.is_young

    @cached_property
    def told_so(self) -> bool:
        """Tells whether the line answers my question, and no author wrote a reply to it."""
        lines = self._scene.talk.lines
        return self.my_kind == "ask.more" and self.heard.kind == "tell" and not (lines and lines[-1].replies)


def _evidence(one: Evidence) -> tuple[int | Told, ...]:
    """Returns the ids of memories, and what is told of them."""
    match one:
        case Saying():
            return (*one.ids, *one.of)
        case Recalled():
            return (one.id,)
        case PastNote():
            return one.because
        case Told():
            return (one,)
        case None:
            return ()
