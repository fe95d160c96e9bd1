"""A schema as a grammar of llama.cpp: bounded texts, no white space, whole numbers of a range and no others."""

from __future__ import annotations

import re

import pytest

from commonplace.minds.tasks.wire import schema
from commonplace.parts.model_servers.gbnf import SHORTEST_BOUND, grammar
from commonplace.registry import TASKS, found

WORDED = [task for task in (found(row.task) for row in TASKS.values()) if task.scene is not None]


@pytest.mark.parametrize("task", WORDED, ids=lambda task: task.name)
def test_every_task_has_a_grammar_that_bounds_its_texts(task) -> None:
    rules = grammar(schema(task), task.max_tokens)
    assert rules is not None
    names = re.findall(r"^(\w+) ::=", rules, re.M)
    assert len(names) == len(set(names)) and {"root", "char"} <= set(names)
    assert set(re.findall(r"\br\d+\b", re.sub(r'"(?:\\.|[^"\\])*"', "", rules))) <= set(names)
    assert not re.search(r"char[*+]", rules)
    assert all(int(most) >= SHORTEST_BOUND for most in re.findall(r"char\{0,(\d+)\}", rules))


@pytest.mark.parametrize(("low", "high"), [(1, 10), (-100, 100), (0, 5), (5, 1440), (-1, 99)])
def test_a_range_holds_its_numbers_and_no_others(low: int, high: int) -> None:
    one = {"type": "integer", "minimum": low, "maximum": high}
    rules = grammar({"type": "object", "properties": {"n": one}, "required": ["n"]}, 40)
    assert rules is not None
    (rule,) = re.findall(r"^r0 ::= (.*)$", rules, re.M)
    pattern = re.compile(rule.replace('""', "").replace(" ", ""))
    wanted = {number for number in range(-2000, 2001) if pattern.fullmatch(str(number))}
    assert wanted == set(range(low, high + 1))
    assert not pattern.fullmatch("01")


def test_a_schema_that_no_grammar_here_can_say_is_sent_as_it_is() -> None:
    assert grammar({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}, 40) is None
    assert grammar({"type": "object", "properties": {"n": {"type": "integer"}}, "required": []}, 40) is None
