"""The rules of the grammar and the code that names them: none is named that does not exist, none exists unnamed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from commonplace.languages.en.wording import spelt_out
from commonplace.minds.offline.template_grammar import grammar
from commonplace.parts.reading_kit.wordings import KINDS

OFFLINE, DUET = (Path(str(files(f"commonplace.{name}"))) for name in ("minds.offline", "parts.duet"))
WORDING = {"line": 0, "say": 0, "led": 1, "suited": 0, "word": 0, "first": 0, "every": 0}
"""Methods that word a rule → which of their arguments names it."""
OPTIONAL = {"aside", "react"}
"""Rules that a language may do without, or that have words only with a kind after them."""
FAMILIES = ("part.", "hours.", "promise.", "refuse.", "stage.banter.")
"""Beginnings of names of which the code has the ends only."""


@cache
def _trees() -> tuple[ast.Module, ...]:
    modules = (*sorted(OFFLINE.glob("*.py")), *sorted(DUET.glob("*.py")))
    return tuple(ast.parse(path.read_text(encoding="utf-8")) for path in modules)


def _in_tables() -> Iterator[str]:
    """The rules that a row of a table words, in full or with an end that is filled in."""
    for path in sorted((OFFLINE / "rules").glob("*.txt")):
        rows = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
        columns = [cell.strip() for cell in rows[0]]
        for row in rows[1:]:
            cells = dict(zip(columns, (cell.strip() for cell in row), strict=True))
            _, _, led = cells.get("then", "").partition(" ")
            yield from (one for one in (cells.get("words", "").partition(" ")[0], led) if one.strip("-"))


def _worded() -> Iterator[str]:
    """The rules that a row or a call names in full."""
    yield from (rule for rule in _in_tables() if "{" not in rule)
    for node in (node for tree in _trees() for node in ast.walk(tree)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        place = WORDING.get(node.func.attr)
        rule = node.args[place] if place is not None and len(node.args) > place else None
        if isinstance(rule, ast.Constant) and isinstance(rule.value, str):
            yield rule.value


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_rule_that_the_code_words_exists(language: str) -> None:
    named = set(_worded()) - OPTIONAL
    assert len(named) > 50
    assert not named - set(grammar(language).rules)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_rule_is_named_by_the_code_or_by_another_rule(language: str) -> None:
    nodes = [node for tree in _trees() for node in ast.walk(tree)]
    names = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    heads = [node.values[0] for node in nodes if isinstance(node, ast.JoinedStr) and len(node.values) > 1]
    begins = {head.value for head in heads if isinstance(head, ast.Constant) and isinstance(head.value, str)}
    begins |= {rule.partition("{")[0] for rule in _in_tables() if "{" in rule}
    names |= set(_in_tables())
    begun = (*FAMILIES, *(head for head in begins if head.endswith(".")))
    rules = grammar(language).rules
    every = (*rules.values(), *grammar("en").rules.values())  # which a language falls back on, with what they insert
    inserted = {piece[1:] for one in every for template in one for piece in template.pieces[1::2]}
    unnamed = {
        name
        for name in rules
        if name not in names | inserted and not name.startswith(begun)
        and not any(name.startswith(f"{rule}.") for rule in names)
    }  # fmt: skip
    assert not unnamed


def test_every_rule_of_a_kind_of_words_exists() -> None:
    assert not {name for kind in KINDS.values() for name in kind.rules if name != "greet"} - set(grammar("en").rules)


@pytest.mark.parametrize(
    ("said", "formally"),
    [
        ("A better answer than I'd hoped for.", "A better answer than I had hoped for."),
        ("I'd already begun when I'd seen it.", "I had already begun when I had seen it."),
        ("I'd like a word, but I'd need a chair.", "I would like a word, but I would need a chair."),
        ("Don't, I'd better go. It's late.", "Do not, I had better go. It is late."),
    ],
)
def test_a_formal_speaker_contracts_nothing(said: str, formally: str) -> None:
    assert spelt_out(said) == formally
