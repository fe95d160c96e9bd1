"""Retrieve: the situation as query, the scenario's policy and k."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.cognition.embed import embedded
from commonplace.cognition.notebook import Notebook
from commonplace.cognition.situation import recalled
from commonplace.cognition.turn import TurnView
from commonplace.minds.notes import Recalled


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
