"""Embed: vectors of a model are answers like any other, asked for before they are used."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from commonplace.memory.embedding import Vector, unpacked
from commonplace.minds.asking import Task
from commonplace.minds.notes import Value
from commonplace.minds.tasks import EMBED, EmbedInput
from commonplace.scenario.scenario import Scenario

Asking = Callable[[Task[Any, Any], Value], Awaitable[Any]]
"""Puts a question and notes it: a notebook's or a job's."""


async def embedded(scenario: Scenario, ask: Asking, texts: Sequence[str]) -> dict[str, Vector | None]:
    """Text → vector, asked of the scenario's embedding model; nothing where the built-in embedder serves."""
    model = scenario.cognition.embedder
    if model is None or not texts:
        return {}
    wanted = tuple(dict.fromkeys(texts))
    answer = await ask(EMBED, EmbedInput(texts=wanted, model=model.model, dimensions=model.dimensions))
    vectors = answer.value.vectors
    return dict(zip(wanted, map(_vector, vectors), strict=True)) if len(vectors) == len(wanted) else {}


def _vector(written: str) -> Vector | None:
    return unpacked(b64decode(written)) if written else None
