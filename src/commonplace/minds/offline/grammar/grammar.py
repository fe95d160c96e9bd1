"""A grammar: named rules, each a list of lines with slots and voices, and named word lists.

The data are plain text files, because a YAML reader would take longer than everything else together:

```
== greet.morning            a rule
Morning, {you}.             a line; usable when every slot it names is filled
[shy dreamy] {~hm} hello.   only in these voices; `{~hm}` is a line of the rule `hm`

brave: bold, stubborn       in `words.txt`: a list of words or phrases
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files

from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.english import spelt_out

_SLOT = re.compile(r"\{([~a-z_]+)\}")
FORMAL = "formal"
_OWN_VOICE = 5
"""How much likelier a line in the speaker's own voice is than one for everybody."""


@dataclass(frozen=True, slots=True)
class Line:
    """One wording: literal pieces at even indices, slot names at odd ones."""

    voices: frozenset[str]
    needs: frozenset[str]
    pieces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules and word lists of one language."""

    rules: Mapping[str, tuple[Line, ...]]
    lists: Mapping[str, frozenset[str]]
    _by_voice: dict[tuple[str, str], tuple[Line, ...]] = field(default_factory=dict[tuple[str, str], tuple[Line, ...]])

    def words(self, name: str) -> frozenset[str]:
        """A word list; empty when the language has none of that name."""
        return self.lists.get(name, frozenset())

    def lines(self, rule: str, voice: str) -> tuple[Line, ...]:
        """The lines of a rule that a voice may use, its own ones repeated to weigh more."""
        found = self._by_voice.get((rule, voice))
        if found is None:
            fitting = [line for line in self.rules.get(rule, ()) if not line.voices or voice in line.voices]
            fitting = [_spelt_out(line) for line in fitting] if voice == FORMAL else fitting
            found = tuple(line for line in fitting for _ in range(_OWN_VOICE if line.voices else 1))
            self._by_voice[rule, voice] = found
        return found

    def say(
        self,
        rule: str,
        voice: str,
        slots: Mapping[str, str],
        dice: Dice,
        accept: Callable[[str], bool] | None = None,
    ) -> str:
        """One wording of the rule that `accept` agrees to; empty when there is none. Empty slots count as missing."""
        have = {name for name, value in slots.items() if value}
        usable = [line for line in self.lines(rule, voice) if line.needs <= have]
        if not usable:
            return ""
        first = dice.below(len(usable), rule)
        for offset in range(len(usable)):
            text = self._filled(usable[(first + offset) % len(usable)], voice, slots, dice)
            if accept is None or accept(text):
                return text
        return ""

    def pick(self, rule: str, dice: Dice, voice: str = "") -> str:
        """One line of a rule without slots; empty when there is none."""
        return self.say(rule, voice, {}, dice)

    def every(self, rule: str) -> tuple[str, ...]:
        """All lines of a rule without slots, in order."""
        return tuple("".join(line.pieces) for line in self.rules.get(rule, ()))

    def _filled(self, line: Line, voice: str, slots: Mapping[str, str], dice: Dice) -> str:
        out: list[str] = []
        for index, piece in enumerate(line.pieces):
            if index % 2 == 0:
                out.append(piece)
            elif piece[0] == "~":
                out.append(self.say(piece[1:], voice, slots, dice))
            else:
                out.append(slots[piece])
        return "".join(out)


def _spelt_out(line: Line) -> Line:
    """A formal speaker's wording: the template without contractions, what fills it as it is."""
    pieces = tuple(piece if index % 2 else spelt_out(piece) for index, piece in enumerate(line.pieces))
    return Line(line.voices, line.needs, pieces)


def parsed_rules(text: str) -> dict[str, tuple[Line, ...]]:
    """The rules of one file. A rule named twice has the lines of both."""
    rules: dict[str, tuple[Line, ...]] = {}
    for block in text.split("\n== ")[1:]:
        name, _, body = block.partition("\n")
        lines = tuple(_parsed(line) for line in body.split("\n") if line and not line.startswith("#"))
        rules[name.strip()] = rules.get(name.strip(), ()) + lines
    return rules


def _parsed(line: str) -> Line:
    voices: Iterable[str] = ()
    if line.startswith("["):
        head, _, line = line[1:].partition("]")
        voices = head.split()
    pieces = tuple(_SLOT.split(line.strip()))
    needs = frozenset(name for name in pieces[1::2] if not name.startswith("~"))
    return Line(frozenset(voices), needs, pieces)


def parsed_lists(text: str) -> dict[str, frozenset[str]]:
    """The word lists of one file: `name: word, several words, word`."""
    lists: dict[str, frozenset[str]] = {}
    for row in text.split("\n"):
        if row and not row.startswith("#"):
            name, _, body = row.partition(":")
            fresh = frozenset(word.strip() for word in body.split(",") if word.strip())
            lists[name.strip()] = lists.get(name.strip(), frozenset()) | fresh
    return lists


@lru_cache(maxsize=4)
def grammar(language: str) -> Grammar:
    """The grammar of a language, read once; English for a language that has none."""
    folder = files("commonplace.minds.offline.grammar") / language
    if not folder.is_dir():
        folder = files("commonplace.minds.offline.grammar") / "en"
    rules: dict[str, tuple[Line, ...]] = {}
    lists: dict[str, frozenset[str]] = {}
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name == "words.txt":
            lists = parsed_lists(entry.read_text("utf-8"))
        elif entry.name.endswith(".txt"):
            rules.update(parsed_rules("\n" + entry.read_text("utf-8")))
    return Grammar(rules, lists)
