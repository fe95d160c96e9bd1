"""A fault: one way in which a request to a model goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.testing.server.answering import ChatAnswer, Sound, VectorAnswer
from commonplace.testing.server.http import Response

MARK = "zxqfault"
"""Stands in every text a fault makes up, so that it is found wherever it ends up."""

Cure = Literal["retry", "mend", "judge", "refuse"]
"""`retry` the same request, `mend` the answer that is still in it, `refuse` what there is; or `judge` which of the two,
by where in the answer it stands."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to go wrong."""

    imitates: str
    """What happens out there, in a line."""
    calls_for: Cure
    """What a good client does about it."""
    spoil: Callable[[Sound], Response | None]
    """The response in place of the sound answer; None where that answer gives it nothing to spoil."""


def any_request(imitates: str, response: Response, calls_for: Cure = "retry") -> Fault:
    """A fault that does not look at what was asked."""
    return Fault(imitates, calls_for, lambda _: response)


def chat(imitates: str, calls_for: Cure, spoil: Callable[[ChatAnswer], Response | None]) -> Fault:
    """A fault of chat completions."""
    return Fault(imitates, calls_for, lambda sound: spoil(sound) if isinstance(sound, ChatAnswer) else None)


def vectors(imitates: str, spoil: Callable[[VectorAnswer], Response | None]) -> Fault:
    """A fault of embeddings."""
    return Fault(imitates, "refuse", lambda sound: spoil(sound) if isinstance(sound, VectorAnswer) else None)


def structured(imitates: str, calls_for: Cure, spoil: Callable[[ChatAnswer, dict[str, Any]], Response | None]) -> Fault:
    """A fault of answers that are JSON objects."""
    return chat(imitates, calls_for, lambda answer: spoil(answer, answer.object) if answer.object else None)
