"""Retrieve: the situation as query, the scenario's policy and k."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from commonplace.cognition.situation import recalled
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.memory.embedding import Vector, unpacked
from commonplace.minds.mind import Task
from commonplace.minds.notes import Recalled, Value
from commonplace.minds.tasks import EMBED, EmbedInput
from commonplace.scenario.scenario import Scenario

# ── embed ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Embed: vectors of a model are answers like any other, asked for before they are used.


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


# ── retrieve ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def retrieve(view: TurnView, notebook: Notebook, purpose: str, parts: Iterable[str]) -> tuple[Recalled, ...]:
    """The k memories that score highest for the parts of a query, best first; noted in the trace."""
    settings = view.scenario.cognition
    query = " ".join(dict.fromkeys(part for part in parts if part))
    vectors = await embedded(view.scenario, notebook.ask, [query])
    retrieval = view.draft.retrieve(
        query, at=view.now, k=settings.k, policy=view.scenario.policy, purpose=purpose, embedding=vectors.get(query)
    )
    notebook.retrieved(retrieval)
    return recalled(view.scenario, (hit.memory for hit in retrieval.hits), view.now)
