"""Parts of the test server: shared prefixes, instances of schemas."""

from __future__ import annotations

from itertools import takewhile
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from commonplace.minds.notes import from_data
from commonplace.minds.tasks import TASKS
from commonplace.testing.server.answers import instance
from commonplace.testing.server.server import Prompts, common

TEXTS = st.text("ab", max_size=12)


class Node(BaseModel):
    """A schema that refers to itself."""

    name: str = Field(min_length=4, max_length=9)
    weight: float = Field(gt=0.25, lt=0.5)
    share: int = Field(ge=-20, le=20, multiple_of=5)
    children: list[Node] = Field(min_length=0, max_length=3)
    other: Node | None


def shared(one: str, other: str) -> int:
    """Characters two texts begin with, counted one by one."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@given(TEXTS, TEXTS)
def test_the_common_prefix_is_the_longest(one: str, other: str) -> None:
    assert common(one, other) == shared(one, other)


@given(st.lists(TEXTS))
def test_a_prompts_prefix_is_sought_among_all_before(prompts: list[str]) -> None:
    known = Prompts()
    for number, prompt in enumerate(prompts):
        expected = max((shared(prompt, other) for other in prompts[:number]), default=0)
        assert known.add(prompt) == expected


@pytest.mark.parametrize("task", [name for name in TASKS if name != "embed"])
def test_an_instance_of_every_tasks_input_is_one(task: str) -> None:
    kind = TASKS[task].input
    schema = msgspec.json.schema(kind, schema_hook=lambda inner: inner.model_json_schema())
    for seed in range(30):
        from_data(kind, instance(schema, seed))


def test_an_instance_ends_where_a_schema_refers_to_itself() -> None:
    for seed in range(200):
        Node.model_validate(instance(Node.model_json_schema(), seed))


def test_an_instance_depends_on_its_key_alone() -> None:
    schema: dict[str, Any] = {"type": "array", "items": {"type": "integer"}, "minItems": 4}
    assert instance(schema, 1) == instance(schema, 1) != instance(schema, 2)
