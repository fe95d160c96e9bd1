"""The kinds of questions: a row each in `question_kinds.txt`, with what is so of a kind wherever questions are read.

Besides its row, a kind has patterns and examples (`eg KIND: …`) in `questions.txt` of English and of each language that
tells it, and a function in `minds/offline/interview/answer.py`. Where one of them is missing, the program does not
start. The examples are tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Literal, cast, get_args

from commonplace import languages
from commonplace.languages import DEFAULT, LANGUAGES

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
