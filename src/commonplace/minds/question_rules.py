"""The rules by which the questions of a language are read: a file a language in `question_words/`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Literal

from commonplace import languages
from commonplace.languages.language import language as spoken

Wanted = Literal["", "who", "what", "where", "when", "why", "how", "count", "whether"]

HANGUL = re.compile("[가-힣ㄱ-ㅎㅏ-ㅣ]")

_LISTS = frozenset(
    {"stop", "light", "det", "prep", "short", "same", "trades", "pronouns", "numbers", "am", "pm", "it", "and", "ends"}
)

_PATTERNS = frozenset({"hour", "now_is", "own", "bare", "future", "past", "pair", "daybefore"})

_WANTED: tuple[Wanted, ...] = ("count", "who", "where", "when", "why", "how", "what", "whether")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one language."""

    kinds: tuple[tuple[str, re.Pattern[str]], ...]
    days: tuple[tuple[int | None, int, int, re.Pattern[str]], ...]
    lists: Mapping[str, str]
    stop: frozenset[str]
    light: frozenset[str]
    """Words that say little of what a question is about, though they are no grammar."""
    determiners: frozenset[str]
    prepositions: frozenset[str]
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
    wants: tuple[tuple[Wanted, re.Pattern[str]], ...]
    hour: re.Pattern[str]
    now: re.Pattern[str]
    tag: re.Pattern[str]
    second: re.Pattern[str]
    own: re.Pattern[str]
    future: re.Pattern[str]
    past: re.Pattern[str]
    daybefore: re.Pattern[str]
    """The day before the one last spoken of."""
    pair: re.Pattern[str]
    """The one who is asked and the person spoken of: `you two`."""
    bare: re.Pattern[str]
    """Whether the sentence before is so, and nothing else."""
    rewrite: tuple[tuple[re.Pattern[str], str], ...]
    numbers: Mapping[str, int]
    pronouns: tuple[tuple[str, re.Pattern[str]], ...]


@cache
def rules_of(language: str) -> Rules:
    text = languages.file_text(language, "questions.txt")
    rows = [row for row in text.splitlines() if row and not row.startswith("#")]
    heads = [(head.strip(), body.strip()) for head, _, body in (row.partition(": ") for row in rows)]
    lists = {head: body for head, body in heads if head in _LISTS}
    numbers = dict(pair.split("=") for pair in lists["numbers"].split(", "))
    number = "|".join(sorted((*numbers, r"\d{1,2}"), key=len, reverse=True))
    days: list[tuple[int | None, int, int, re.Pattern[str]]] = []
    kinds: list[tuple[str, re.Pattern[str]]] = []
    wants: dict[str, re.Pattern[str]] = {}
    ends: dict[str, re.Pattern[str]] = {}
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
        elif head in {"tag", "second"}:  # they begin with a comma
            ends[head] = re.compile(f"(?:{body})", re.IGNORECASE)
        elif head not in _LISTS and head not in _PATTERNS:
            kinds.append((head, _pattern(_with_rest(body), language)))
    patterns = {
        head: _pattern(body.replace("@n", f"(?:{number})"), language) for head, body in heads if head in _PATTERNS
    }
    return Rules(
        kinds=tuple(kinds),
        days=tuple(days),
        lists=lists,
        stop=frozenset(lists["stop"].split()),
        light=frozenset(lists["light"].split()),
        determiners=frozenset(lists["det"].split()),
        prepositions=frozenset(lists["prep"].split()),
        short=dict(pair.split("=") for pair in lists["short"].split(", ") if pair),
        same=tuple(frozenset(group.split()) for group in lists["same"].split("; ")),
        trades=tuple(
            (frozenset(names.split()), frozenset(uses.split()))
            for names, _, uses in (part.partition("=") for part in lists["trades"].split("; "))
        ),
        ends=tuple(
            (frozenset(doings.split()), frozenset(before.split()))
            for doings, _, before in (part.partition("=") for part in lists["ends"].split("; "))
        ),
        known=frozenset(re.findall("[a-z]+", text.lower())),
        spelt=misspelt({word for _, body in heads for word in re.findall("[a-z]{6,}", body)})
        if not spoken(language).has_particles
        else {},
        wants=tuple((name, wants[name]) for name in _WANTED if name in wants),
        hour=patterns["hour"],
        now=patterns["now_is"],
        tag=ends["tag"],
        second=ends["second"],
        own=patterns["own"],
        future=patterns["future"],
        past=patterns["past"],
        pair=patterns["pair"],
        daybefore=patterns["daybefore"],
        bare=patterns["bare"],
        rewrite=tuple(rewrite),
        numbers={name: int(value) for name, value in numbers.items()},
        pronouns=tuple(
            (name.strip(), _pattern("|".join(forms.split()), language))
            for name, _, forms in (part.partition("=") for part in lists["pronouns"].split("; "))
        ),
    )


def _with_rest(body: str) -> str:
    """Every `.*` named, so that one can tell what a pattern only lets pass."""
    numbers = count()
    return re.sub(r"\.\*", lambda _: f"(?P<rest{next(numbers)}>.*)", body)


def misspelt(words: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Each word with two letters exchanged, one left out or one doubled → the words it may have been.

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
    """English matches whole words; Korean, where particles follow, anywhere."""
    return re.compile(
        rf"(?<![\w@'])(?:{body})(?![\w'])" if not spoken(language).has_particles else rf"(?:{body})", re.IGNORECASE
    )


def spoken_in(text: str) -> str:
    """`ko` for a text with Hangul, else `en`."""
    return "ko" if HANGUL.search(text) else "en"


def alike(word: str, language: str) -> frozenset[str]:
    """The words that mean nearly the same, the word itself among them."""
    return frozenset({word}).union(*(group for group in rules_of(language).same if word in group))


def ends_of(doing: str, language: str) -> tuple[frozenset[str], ...]:
    """What a thing is called that one would do this to: `broken` for `repaired`."""
    return tuple(before for doings, before in rules_of(language).ends if doing in doings)


def light_words(language: str) -> frozenset[str]:
    """Words that say little of what a question is about, though they are no grammar."""
    return rules_of(language).light


def trades_for(words: Iterable[str], language: str) -> frozenset[str]:
    """The names of trades that are good for what the words say: `doctor` for `hurts`."""
    sought = frozenset(words)
    return frozenset[str]().union(*(trade for trade, uses in rules_of(language).trades if uses & sought))
