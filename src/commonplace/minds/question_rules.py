"""The rules by which the questions of a language are read: `questions.txt` of the language, and `question_kinds.txt`.

The latter has a row for each kind of question, with what is so of the kind wherever questions are read.

Besides its row, a kind has patterns and examples (`eg KIND: …`) in `questions.txt` of English and of each language that
tells it, and a function in `minds/offline/interview/answer.py`. Where one of them is missing, the program does not
start. The examples are tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Literal, cast, get_args

from commonplace import languages
from commonplace.languages import DEFAULT, LANGUAGES, listed
from commonplace.languages.language import language as spoken

Trait = Literal[
    "follows",  # asks on about the question before
    "small",  # asks nothing
    "general",  # told by its form alone: decides where no other kind does
    "oneself",  # asks about the character; in Korean such a question names nobody
    "of",  # asks about something, which the talk so far names where the question does not
    "named",  # has the thing itself as its topic in Korean as well, where a pattern takes in more or less
    "topical",  # is answered by the words of the question, whatever they are
    "spans",  # has an answer that goes on to what comes next
    "daily",  # has an answer that is alike from day to day: only the same sentence is a repetition
    "tells",  # names nothing: its answer brings up what the talk is about from then on
    "own",  # nobody could know better than the one who is asked
    "yes",  # has a first piece that says yes or no
    "heard",  # may be answered by lines heard from anybody
    "lived",  # may be answered by what was seen on a day
]


def _parsed(text: str) -> Mapping[str, frozenset[Trait]]:
    kinds = dict[str, frozenset[Trait]]()
    for row in (row for row in text.splitlines() if not row.startswith("#")):
        kind, traits, _ = (part.strip() for part in row.split(" | "))
        if kind in kinds or not set(traits.split()) <= set(get_args(Trait)):
            raise ValueError(f"question_kinds.txt: a second row of {kind}, or an unknown word in {traits!r}")
        kinds[kind] = frozenset(cast("list[Trait]", traits.split()))
    return kinds


KINDS = _parsed(files("commonplace.minds").joinpath("question_kinds.txt").read_text(encoding="utf-8"))
EXAMPLE = "eg "
"""What a line of examples begins with."""


def has(kind: str, trait: Trait) -> bool:
    """Tells whether a kind has a trait; an unknown kind has none."""
    return trait in KINDS.get(kind, ())


def rows_of(language: str) -> list[tuple[str, str]]:
    """Returns (head, body) of each line of the rules of a language; the English ones for a language without rules."""
    rows = (row for row in languages.file_text(language, "questions.txt").splitlines() if row and row[0] != "#")
    return [(head.strip(), body.strip()) for head, _, body in (row.partition(": ") for row in rows)]


def examples_of(language: str) -> list[tuple[str, str]]:
    """Returns (kind, question) of every example; `@p` stands for somebody, `@l` for a place."""
    rows = [(head[len(EXAMPLE) :], body) for head, body in rows_of(language) if head.startswith(EXAMPLE)]
    return [(kind, question) for kind, body in rows for question in body.split(" | ")]


def _check() -> None:
    for language in LANGUAGES:
        heads = {head for head, _ in rows_of(language)}
        told, shown = heads & KINDS.keys(), {head[len(EXAMPLE) :] for head in heads if head.startswith(EXAMPLE)}
        missing = KINDS.keys() - told if language == DEFAULT else set[str]()
        if wrong := sorted((told ^ shown) | missing):
            raise ValueError(f"{language}/questions.txt: expected patterns and examples of {', '.join(wrong)}")


_check()


Wanted = Literal["", "who", "what", "where", "when", "why", "how", "count", "whether"]

HANGUL = re.compile("[가-힣ㄱ-ㅎㅏ-ㅣ]")

_SETS = listed("stop light det prep kin titles asks verbs")
"""Lists of words that are looked up one by one."""
_LISTS = _SETS | listed("short same trades pronouns numbers pm it and ends")
_PATTERNS = listed("hour now_is own bare future past pair daybefore tag second lasts guests nothing day_words third")
_WANTED: tuple[Wanted, ...] = ("count", "who", "where", "when", "why", "how", "what", "whether")


@dataclass(frozen=True, slots=True)
class QuestionRules:
    """The rules of one language."""

    kinds: tuple[tuple[str, re.Pattern[str]], ...]
    days: tuple[tuple[int | None, int, int, re.Pattern[str]], ...]
    lists: Mapping[str, str]
    words: Mapping[str, frozenset[str]]
    """Lists of words: `stop` is grammar, `light` says little of what a question is about, `det` and `prep` begin a
    phrase, `kin` calls one person by several names, `titles` follow a
    name, `asks` stands before a subject, `verbs` before a verb."""
    patterns: Mapping[str, re.Pattern[str]]
    """What is sought besides kinds: the hour, whether it is of what always is, was or will be, tags, a second question,
    a length of time, what no thing is called, the name of a day, oneself in the third person."""
    wants: tuple[tuple[Wanted, re.Pattern[str]], ...]
    short: Mapping[str, str]
    same: tuple[frozenset[str], ...]
    """Words that mean nearly the same."""
    trades: tuple[tuple[frozenset[str], frozenset[str]], ...]
    """(names of a trade, what it is good for)."""
    ends: tuple[tuple[frozenset[str], frozenset[str]], ...]
    """(doings, what a thing is called before they are done)."""
    known: frozenset[str]
    """All words of the rules."""
    spelt: Mapping[str, frozenset[str]]
    """How a word that the rules know is often misspelt → the words; see `misspelt`."""
    rewrite: tuple[tuple[re.Pattern[str], str], ...]
    numbers: Mapping[str, int]
    pronouns: tuple[tuple[str, re.Pattern[str]], ...]


@cache
def rules_of(language: str) -> QuestionRules:
    """Returns the rules of a language; the English ones if it has none."""
    heads = [(head, body) for head, body in rows_of(language) if not head.startswith(EXAMPLE)]
    lists = {head: body for head, body in heads if head in _LISTS}
    numbers = dict(pair.split("=") for pair in lists["numbers"].split(", "))
    number = "|".join(sorted((*numbers, r"\d{1,2}"), key=len, reverse=True))
    days: list[tuple[int | None, int, int, re.Pattern[str]]] = []
    wants: dict[str, re.Pattern[str]] = {}
    rewrite: list[tuple[re.Pattern[str], str]] = []
    for head, body in heads:
        if head.startswith("@"):
            _, ago, start, end = head.split()
            days.append((None if ago == "?" else int(ago), int(start) * 60, int(end) * 60, _pattern(body, language)))
        elif head.startswith("?"):
            wants[head[1:]] = _pattern(body, language)
        elif head == "rewrite":
            pattern, _, replacement = body.partition(" =>")
            rewrite.append((_pattern(pattern, language), replacement.strip()))
    bodies = {head: body.replace("@n", f"(?:{number})") for head, body in heads if head in _PATTERNS}
    return QuestionRules(
        kinds=tuple((head, _pattern(_with_rest(body), language)) for head, body in heads if head in KINDS),
        days=tuple(days),
        lists=lists,
        words={name: frozenset(lists.get(name, "").split()) for name in _SETS},
        patterns={
            # A tag and a second question begin with a comma.
            head: re.compile(f"(?:{body})", re.IGNORECASE) if head in {"tag", "second"} else _pattern(body, language)
            for head, body in bodies.items()
        },
        wants=tuple((name, wants[name]) for name in _WANTED if name in wants),
        short=dict(pair.split("=") for pair in lists["short"].split(", ") if pair),
        same=tuple(frozenset(group.split()) for group in lists["same"].split("; ")),
        trades=_pairs(lists["trades"]),
        ends=_pairs(lists["ends"]),
        known=frozenset(re.findall("[a-z]+", languages.file_text(language, "questions.txt").lower())),
        spelt=misspelt({word for _, body in heads for word in re.findall("[a-z]{6,}", body)})
        if not spoken(language).has_particles
        else {},
        rewrite=tuple(rewrite),
        numbers={name: int(value) for name, value in numbers.items()},
        pronouns=tuple(
            (name.strip(), _pattern("|".join(forms.split()), language))
            for name, _, forms in (part.partition("=") for part in lists["pronouns"].split("; "))
        ),
    )


def _pairs(text: str) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Returns the words on both sides of each part: `doctor nurse=ill sick; cook=eat`."""
    parts = (part.partition("=") for part in text.split("; "))
    return tuple((frozenset(left.split()), frozenset(right.split())) for left, _, right in parts)


_WILD = re.compile(r"(?:(?<!\\)\.|\\S|\\w)(?:\*|\+|\{\d+,\d*\})\??")


def _with_rest(body: str) -> str:
    """Returns a pattern with names for its wildcards: `rest…` for what it only lets pass, `any…` for a word that it
    needs."""
    numbers = count()
    return _WILD.sub(lambda hit: f"(?P<{'rest' if hit.group() == '.*' else 'any'}{next(numbers)}>{hit.group()})", body)


_ANYTHING = "rest", "any", "topic"


def literal(hit: re.Match[str]) -> set[int]:
    """Returns the positions of the pattern's own words in the text, without those that it only lets pass."""
    passed = (hit.span(name) for name, value in hit.groupdict().items() if value and name.startswith(_ANYTHING))
    return set(range(*hit.span())) - {at for span in passed for at in range(*span)}


def misspelt(words: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Returns each word with two letters exchanged, one left out or one doubled → the words it may have been.

    The first and the last letter are mostly right, and a missing last one is often another form of the word.
    """
    found: dict[str, set[str]] = {}
    for word in words:
        for at in range(1, len(word) - 1):
            swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            for wrong in (swapped, word[:at] + word[at + 1 :], word[:at] + word[at - 1] + word[at:]):
                found.setdefault(wrong, set()).add(word)
    return {wrong: frozenset(right) for wrong, right in found.items() if wrong not in words}


def _pattern(body: str, language: str) -> re.Pattern[str]:
    """Returns a pattern: English matches whole words, Korean, where particles follow, matches anywhere."""
    return re.compile(
        rf"(?<![\w@'])(?:{body})(?![\w'])" if not spoken(language).has_particles else rf"(?:{body})", re.IGNORECASE
    )


def spoken_in(text: str) -> str:
    """Returns `ko` for a text with Hangul, else `en`."""
    return "ko" if HANGUL.search(text) else "en"


def alike(word: str, language: str) -> frozenset[str]:
    """Returns the words of nearly the same meaning, including the word itself."""
    return frozenset({word}).union(*(group for group in rules_of(language).same if word in group))


def ends_of(doing: str, language: str) -> tuple[frozenset[str], ...]:
    """Returns the states to which one would do this: `broken` for `repaired`."""
    return tuple(before for doings, before in rules_of(language).ends if doing in doings)


def light_words(language: str) -> frozenset[str]:
    """Returns words that say little about the subject of a question, although they are no grammar."""
    return rules_of(language).words["light"]


def trades_for(words: Iterable[str], language: str) -> frozenset[str]:
    """Returns the names of trades that help with what the words say: `doctor` for `hurts`."""
    sought = frozenset(words)
    return frozenset[str]().union(*(trade for trade, uses in rules_of(language).trades if uses & sought))
