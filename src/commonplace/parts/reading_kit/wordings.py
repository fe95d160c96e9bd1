"""Which written wording a sentence is: the grammar of the offline mind read backwards, and phrases for other minds.

A run keeps what a line does (`speech_act`) but not which rule worded it. The rule is found from the words, since every
wording is known; so a template that is added to the grammar is recognised without a change here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from commonplace.languages import file_text
from commonplace.minds.offline.template_grammar import Template, grammar, parsed_rules
from commonplace.text import sentences

__all__ = ["KINDS", "LinePart", "SentenceKind", "Wordings", "wordings"]

SPOKEN = ("open", "share", "reply", "bye", "goals")
"""The files of the grammar whose templates are lines of a town's talk."""
MOST_SENTENCES = 4
FEWEST_LETTERS = 4
"""Letters that a template with slots must have of its own, to be told from other words."""


@dataclass(frozen=True, slots=True)
class SentenceKind:
    """A kind of sentence, however it is worded."""

    rules: tuple[str, ...] = ()
    """Names of the rules whose wordings say it; `cold` stands for `cold.topic`, too."""
    phrases: str = ""
    """A regular expression for words of other minds, searched for in the sentence in lower case. Without rules it is
    searched for in every sentence."""

    def is_said(self, rules: frozenset[str], sentence: str) -> bool:
        """Tells whether a sentence is of the kind: by its rules, or by its words where no rule words it."""
        if rules and self.rules:
            return any(rule == name or rule.startswith(f"{name}.") for rule in rules for name in self.rules)
        return bool(self.phrases) and re.search(self.phrases, sentence.lower().replace("’", "'")) is not None


KINDS: Mapping[str, SentenceKind] = {
    "greeting": SentenceKind(
        ("greet", "react.greet", "react.greet_stranger", "bye.back", "bye.night", "answer.fine"),
        r"^(good )?(morning|afternoon|evening|night|bye|goodbye|hello|hi|hey|take care|see you|go well)\b[^?]{0,24}$",
    ),
    # an answer that tells nothing of what was asked
    "evasion": SentenceKind(
        (
            "answer.plain", "answer.why", "answer.more_none", "answer.topic_none", "answer.event", "answer.then",
            "answer.since", "answer.what", "answer.think", "cold", "lost",
        ),
        r"\b(hard to say|(couldn't|can't|could not) (say|tell you)|no idea|i wish i knew|ask (somebody|someone|the "
        r"others)|another story|(not much|nothing|little) (more )?to (tell|add)|you know all i know|one thing led to "
        r"another|it's only a feeling|(rather|prefer) not (to )?(say|talk|discuss)|none of your business)",
    ),
    "absent": SentenceKind(
        ("answer.event",),
        r"\b(i (wasn't|was not) there|i didn't go|i missed (it|the|that)|only heard (it|about it|of it)|you tell me)",
    ),
    "present": SentenceKind(
        ("answer.event_went", "core.was", "core.went"),
        r"\b(i was there|i was at the|i went (along )?to the|i've been (to|at) the)\b",
    ),
    "unheard": SentenceKind(
        phrases=r"\b(i (hadn't|haven't|had not|have not|never) heard|first i('ve| have)? hear|news to me|i had no idea|"
        r"nobody told me|i hear of it last|i (didn't know|never knew|was not aware of|wasn't aware of) that)",
    ),
    "first": SentenceKind(
        ("answer.else",),
        r"\b(you're the first|you are the first|only you, so far|(haven't|have not|never) told (anybody|anyone|a soul)|"
        r"told nobody|nobody (else )?(knows|yet))",
    ),
    "told": SentenceKind(("answer.else_told",), r"\bi('ve| have) (already )?told (everybody|everyone|a few|some)"),
    "told_by": SentenceKind(
        ("answer.who", "core.heard", "react.known"),
        r"\b(told me|said so, too|i heard (it|that) from|i have it from)\b"
    ),
    "saw": SentenceKind(("core.saw", "answer.seen"), r"\bi saw \w+"),
    "unseen": SentenceKind(("answer.unseen",), r"\bi (haven't|have not|didn't) (seen?)\b"),
    "did": SentenceKind(("core.did",), r"\bi (spent|was busy)\b"),
}  # fmt: skip
"""Kind → how it is recognised. What sentences claim about the speaker's past is checked in `analysis.claims`."""


@dataclass(frozen=True, slots=True)
class LinePart:
    """One or more sentences of a line, and where they come from."""

    text: str
    rules: frozenset[str] = frozenset()
    """The rules that word it so; empty for the words of an author, a person or a model."""
    template: str = ""
    """The template as it is written; empty without one."""
    slots: Mapping[str, str] = field(default_factory=dict[str, str])
    is_authors: bool = False
    """Whether an author wrote it for the scenario: it tells what was before the run, so it is of no kind."""

    def is_a(self, kind: str) -> bool:
        """Tells whether it is of one of the `KINDS`."""
        return not self.is_authors and KINDS[kind].is_said(self.rules, self.text)


@dataclass(frozen=True, slots=True)
class _Pattern:
    rule: str
    template: str
    pattern: re.Pattern[str]
    names: tuple[str, ...]
    letters: int


class Wordings:
    """The wordings of one language."""

    def __init__(self, language: str) -> None:
        """Internal: use `wordings`, which reads each language once."""
        rules = grammar(language)
        self._language = rules.language
        self._whole: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._open: dict[int, dict[str, list[_Pattern]]] = defaultdict(lambda: defaultdict(list))
        self._found: dict[str, tuple[LinePart, ...]] = {}
        names = [name for file in SPOKEN for name in parsed_rules(file_text(language, f"talk/{file}.txt"))]
        self.written: frozenset[str] = frozenset(
            text for name in names for one in rules.rules[name] if _can_be_told(one) and (text := _as_written(one))
        )
        """Every template of talk that can be told from other words."""
        for name in names:
            for template in rules.rules[name]:
                self._add(name, template)

    def _add(self, rule: str, template: Template) -> None:
        written = _as_written(template)
        for pieces in dict.fromkeys((template.pieces, self._spelt_out(template))):
            if len(pieces) == 1:
                self._whole[_key(pieces[0])].append((rule, written))
            elif _can_be_told(template):
                pattern = "".join("(.+?)" if odd % 2 else _escaped(piece) for odd, piece in enumerate(pieces))
                example = "".join("x" if odd % 2 else piece for odd, piece in enumerate(pieces))
                first = _first_word(pieces[0])
                self._open[len(sentences(example))][first].append(
                    _Pattern(rule, written, re.compile(pattern, re.IGNORECASE), pieces[1::2], _letters(template))
                )

    def _spelt_out(self, template: Template) -> tuple[str, ...]:
        spelt = self._language.spelt_out
        return tuple(piece if odd % 2 else spelt(piece) for odd, piece in enumerate(template.pieces))

    def of(self, text: str) -> tuple[LinePart, ...]:
        """Returns the wordings of a line in their order. Sentences that no rule words stand alone, without rules."""
        found = self._found.get(text)
        if found is None:
            found = self._found[text] = tuple(self._split(sentences(text)))
        return found

    def _split(self, parts: tuple[str, ...]) -> list[LinePart]:
        out: list[LinePart] = []
        at = 0
        while at < len(parts):
            for count in range(min(MOST_SENTENCES, len(parts) - at), 0, -1):
                wording = self._one(" ".join(parts[at : at + count]), count)
                if wording is not None:
                    break
            else:
                wording, count = LinePart(parts[at]), 1
            out.append(wording)
            at += count
        return out

    def _one(self, text: str, count: int) -> LinePart | None:
        whole = self._whole.get(_key(text))
        if whole:
            return LinePart(text, frozenset(rule for rule, _ in whole), whole[0][1])
        by_word = self._open[count]
        best: tuple[int, _Pattern, re.Match[str]] | None = None
        for one in (*by_word.get(_first_word(text), ()), *by_word.get("", ())):
            if best is None or one.letters > best[0]:
                match = one.pattern.fullmatch(text)
                if match is not None:
                    best = (one.letters, one, match)
        if best is None:
            return None
        _, one, match = best
        return LinePart(text, frozenset({one.rule}), one.template, dict(zip(one.names, match.groups(), strict=True)))


@lru_cache(maxsize=4)
def wordings(language: str) -> Wordings:
    """Returns the wordings of a language, read once."""
    return Wordings(language)


def _as_written(template: Template) -> str:
    return "".join(f"{{{piece}}}" if odd % 2 else piece for odd, piece in enumerate(template.pieces))


def _letters(template: Template) -> int:
    return sum(letter.isalpha() for piece in template.pieces[::2] for letter in piece)


def _can_be_told(template: Template) -> bool:
    return len(template.pieces) == 1 or _letters(template) >= FEWEST_LETTERS


def _key(text: str) -> str:
    return text.strip().lower()


def _first_word(text: str) -> str:
    """Returns the first word of literal text, if it is complete; empty when a slot may be part of it."""
    word, blank, _ = text.lower().partition(" ")
    return word if blank else ""


def _escaped(piece: str) -> str:
    # articles follow the word that fills a slot: `a {thing}` → `an awning`
    return re.sub(r"\ba\\ $", r"an?\\ ", re.escape(piece))
