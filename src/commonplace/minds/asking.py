"""Asking: a task is one kind of question, an `Ask` one question on its way, an `Answer` what came back."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from commonplace.minds.notes import Value

I = TypeVar("I", bound=Value)  # noqa: E741 – the input's type
O = TypeVar("O", bound=Value)  # noqa: E741 – the output's type


@dataclass(frozen=True, slots=True)
class Task(Generic[I, O]):
    """One kind of question. `fallback` makes the answer used when no usable one came; it may not fail."""

    name: str
    input: type[I]
    output: type[O]
    fallback: Callable[[I], O]
    max_tokens: int = 400
    """Length limit of an answer."""


@dataclass(frozen=True, slots=True)
class Answer(Generic[O]):
    """What came back: always a usable value, and how it came about."""

    value: O
    outcome: str
    """`value`, `malformed` or `fault`; the last two mean that `value` is the fallback."""
    number: int
    """The question's ordinal in its tick."""


@dataclass(frozen=True, slots=True)
class Ask(Generic[I, O]):
    """A question on its way to whoever drives the turn."""

    task: Task[I, O]
    input: I

    def __await__(self) -> Generator[Ask[I, O], Answer[O], Answer[O]]:
        return (yield self)


def ask(task: Task[I, O], value: I) -> Ask[I, O]:
    """`await ask(TASK, input)`: the only thing a turn may await."""
    return Ask(task, value)
