"""A grammar: named rules, each a list of templates with slots, voices and speech acts, and named word lists.

The data are plain text files, because reading YAML would take longer than everything else together:

```
== bye.back <farewell>       a rule, and the speech act its templates perform
See you, {you}.              a template; usable when every slot it names is filled
[shy dreamy] {~hm} goodbye.  only in these voices; `{~hm}` is a template of the rule `hm`
가세요? | 가?                 at either speech level, where a language has levels and no rule makes one of the other
<ask.well> Are you leaving?  a template that performs another act than the rest of its rule

brave: bold, stubborn        in `words.txt`: a list of words or phrases
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple, Protocol

from commonplace.languages import DEFAULT, file_texts
from commonplace.languages.language import Language, language
from commonplace.minds.offline.dice import Dice

FORMAL = "formal"
WORDS = "words.txt"
"""The file of the word lists; every other one holds rules."""
_OWN_VOICE = 5
"""How much likelier a template in the speaker's own voice is than one for everybody."""


class Slots(Protocol):
    """What fills a template, by the names of its slots."""

    def get(self, name: str, /) -> str | None:
        """Returns the value of a name; empty or None for nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Template:
    """One wording: literal pieces at even indices, slot names at odd ones."""

    voices: frozenset[str]
    act: str
    needs: frozenset[str]
    pieces: tuple[str, ...]


class Wording(NamedTuple):
    """A template filled, and the speech act it performs; both empty where no template fits."""

    text: str = ""
    act: str = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules and word lists of one language."""

    rules: Mapping[str, tuple[Template, ...]]
    lists: Mapping[str, frozenset[str]]
    language: Language
    _by_voice: dict[tuple[str, str], tuple[Template, ...]] = field(
        default_factory=dict[tuple[str, str], tuple[Template, ...]]
    )

    def words(self, name: str) -> frozenset[str]:
        """Returns a word list; empty if the language has none of that name."""
        return self.lists.get(name, frozenset())

    def has(self, name: str, text: str) -> bool:
        """Tells whether the text has a word or phrase of a list in it."""
        return self.language.occurs(self.words(name), text)

    def word(
        self,
        rule: str,
        voice: str,
        slots: Slots,
        dice: Dice,
        accept: Callable[[str], bool] | None = None,
    ) -> Wording:
        """Returns one wording of the rule that `accept` agrees to, if there is one. Empty slots count as missing."""
        usable = [template for template in self._templates(rule, voice) if all(map(slots.get, template.needs))]
        if not usable:
            return Wording()
        first = dice.below(len(usable), rule)
        before: Template | None = None
        for offset in range(len(usable)):
            template = usable[(first + offset) % len(usable)]
            if template is before:  # one that weighs more stands there several times
                continue
            before = template
            text = self._filled(template, voice, slots, dice)
            if accept is None or accept(text):
                return Wording(text, template.act)
        return Wording()

    def say(self, rule: str, slots: Slots, dice: Dice) -> str:
        """Returns one wording of a rule in no particular voice; empty if no template fits."""
        return self.word(rule, "", slots, dice).text

    def first(self, rule: str, slots: Slots) -> str:
        """Returns the first wording of a rule whose slots are all filled; empty if there is none."""
        fitting = next((one for one in self.rules.get(rule, ()) if all(map(slots.get, one.needs))), None)
        pieces = fitting.pieces if fitting else ()
        return self.language.joined("".join(slots.get(one) or "" if odd % 2 else one for odd, one in enumerate(pieces)))

    def every(self, rule: str) -> tuple[str, ...]:
        """Returns all templates of a rule as they are written, in order; slots stand in braces."""
        return tuple(
            "".join(f"{{{piece}}}" if index % 2 else piece for index, piece in enumerate(template.pieces))
            for template in self.rules.get(rule, ())
        )

    def _templates(self, rule: str, voice: str) -> tuple[Template, ...]:
        """Returns the templates of a rule that a voice may use; its own ones are repeated, to weigh more."""
        found = self._by_voice.get((rule, voice))
        if found is None:
            fitting = [one for one in self.rules.get(rule, ()) if not one.voices or voice in one.voices]
            fitting = [self._spelt_out(one) for one in fitting] if voice == FORMAL else fitting
            found = tuple(one for one in fitting for _ in range(_OWN_VOICE if one.voices else 1))
            self._by_voice[rule, voice] = found
        return found

    def _filled(self, template: Template, voice: str, slots: Slots, dice: Dice) -> str:
        out: list[str] = []
        for index, piece in enumerate(template.pieces):
            if index % 2 == 0:
                out.append(piece)
            elif piece[0] == "~":
                out.append(self.word(piece[1:], voice, slots, dice).text)
            else:
                out.append(slots.get(piece) or "")
        return self.language.joined("".join(out))

    def _spelt_out(self, template: Template) -> Template:
        """Returns a formal speaker's wording: the template without contractions; what fills it does not change."""
        spelt_out = self.language.spelt_out
        pieces = tuple(piece if index % 2 else spelt_out(piece) for index, piece in enumerate(template.pieces))
        return replace(template, pieces=pieces)


_HEAD = re.compile(r"(?P<name>\S+)(?: <(?P<act>[a-z._]+)>)?")
_TEMPLATE = re.compile(r"(?:\[(?P<voices>[a-z ]+)\] *)?(?:<(?P<act>[a-z._]+)> *)?(?P<text>.*)")
_SLOT = re.compile(r"\{([~a-z_]+)\}")


def parsed_rules(
    text: str, levelled: Callable[[str], str] = lambda template: template
) -> dict[str, tuple[Template, ...]]:
    """Returns the rules of one file, each template at a speech level. A rule named twice has the templates of both."""
    rules: dict[str, tuple[Template, ...]] = {}
    for block in f"\n{text}".split("\n== ")[1:]:
        head, _, body = block.partition("\n")
        found = _HEAD.match(head)
        assert found is not None, head
        name, act = found["name"], found["act"] or ""
        templates = tuple(
            _parsed(line, act, levelled) for line in body.split("\n") if line and not line.startswith("#")
        )
        rules[name] = rules.get(name, ()) + templates
    return rules


def _parsed(line: str, act: str, levelled: Callable[[str], str]) -> Template:
    found = _TEMPLATE.fullmatch(line.strip())
    assert found is not None, line
    pieces = tuple(_SLOT.split(levelled(found["text"])))
    needs = frozenset(name for name in pieces[1::2] if not name.startswith("~"))
    return Template(frozenset((found["voices"] or "").split()), found["act"] or act, needs, pieces)


def parsed_lists(text: str) -> dict[str, frozenset[str]]:
    """Returns the word lists of one file: `name: word, several words, word`."""
    lists: dict[str, frozenset[str]] = {}
    for row in text.split("\n"):
        if row and not row.startswith("#"):
            name, _, body = row.partition(":")
            fresh = frozenset(word.strip() for word in body.split(",") if word.strip())
            lists[name.strip()] = lists.get(name.strip(), frozenset()) | fresh
    return lists


@lru_cache(maxsize=8)
def grammar(name: str, level: str = "") -> Grammar:
    """Returns the grammar of a language at a speech level, read once; the rules and lists that it lacks are the English
    ones."""
    spoken = language(name)
    rules: dict[str, tuple[Template, ...]] = {}
    lists: dict[str, frozenset[str]] = {}
    for one in dict.fromkeys((DEFAULT, name)):  # what a language says takes the place of the English
        files = file_texts(one, "talk")
        lists |= parsed_lists(files[WORDS])
        for file, text in files.items():
            if file != WORDS:
                rules |= parsed_rules(text, lambda template: spoken.levelled(template, level))
    return Grammar(rules, lists, spoken)


def reason(name: str, rule: str, **slots: str) -> str:
    """Returns why a character decides so, in words for people: the first wording of `reason.…` that fits."""
    return grammar(name).first(f"reason.{rule}", slots)
