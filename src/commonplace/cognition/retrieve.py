"""Retrieve: the situation as query, the scenario's policy and k."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Sequence
from dataclasses import replace

from commonplace.cognition.situation import recalled
from commonplace.cognition.turn import Tracer, View
from commonplace.memory.embedding import Vector, unpacked
from commonplace.minds.notes import Recalled
from commonplace.minds.tasks import EMBED, EmbedInput
from commonplace.scenario.scenario import Scenario


async def retrieve(
    view: View, notebook: Tracer, purpose: str, parts: Iterable[str], *, k: int = 0
) -> tuple[Recalled, ...]:
    """Returns the k memories (default: the scenario's) that score highest for the parts of a query, best first, and
    notes them in the trace. If the policy lets none compete, the newest k."""
    scenario = view.scenario
    query = " ".join(dict.fromkeys(part for part in parts if part))
    vectors = await embedded(scenario, notebook, [query])
    found = view.memories.retrieve(
        query,
        at=view.now,
        k=k or scenario.cognition.k,
        policy=scenario.policy,
        purpose=purpose,
        embedding=vectors.get(query),
    )
    if not found.candidates and len(view.memories):
        everything = replace(scenario.policy, without_tags=(), without_words=())
        found = view.memories.retrieve("", at=view.now, k=found.k, policy=everything, purpose=purpose)
    notebook.retrieved(found)
    return recalled(scenario, found.found, view.now)


async def embedded(scenario: Scenario, notebook: Tracer, texts: Sequence[str]) -> dict[str, Vector | None]:
    """Returns text → vector of the scenario's embedding model; empty if the built-in embedder makes the vectors.

    A model's vectors are answers like any other: journaled, so that a replay retrieves the same memories.
    """
    model = scenario.cognition.embedder
    if model is None or not texts:
        return {}
    wanted = tuple(dict.fromkeys(texts))
    answer = await notebook.ask(EMBED, EmbedInput(texts=wanted, model=model.model, dimensions=model.dimensions))
    vectors = answer.value.vectors
    return dict(zip(wanted, map(_vector, vectors), strict=True)) if len(vectors) == len(wanted) else {}


def _vector(written: str) -> Vector | None:
    return unpacked(b64decode(written)) if written else None
