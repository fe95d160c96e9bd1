"""What a panel does differently because of how people rated its earlier answers.

From the latest MOST ratings of each persona: an answer of POOR stars or fewer is no example any more, who has less than
FAIR stars on average is told so in its prompt, and those who answer before the last one do so in the order of their
averages, the best first; who has no ratings counts as FAIR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.memory import MemoryStore
from commonplace.scenario.scenario import RatingChange

MOST = 20
POOR, FAIR = 2.0, 3.0
"""Stars."""
_DIGITS = 2
Rated = Mapping[str, Sequence[tuple[str, float]]]
"""Persona → (memory, stars), the newest first."""


def rated(store: MemoryStore, personas: Sequence[str]) -> Rated:
    """Returns the latest ratings of each persona."""
    return {persona: store.ratings(persona, MOST) for persona in personas}


def changes(order: Sequence[str], ratings: Rated) -> tuple[RatingChange, ...]:
    """Returns what ratings change, for personas in this order."""
    means = {who: round(sum(stars for _, stars in own) / len(own), _DIGITS) for who, own in ratings.items() if own}
    found: list[RatingChange] = []
    for who in order:
        if poor := tuple(name for name, stars in ratings.get(who, ()) if stars <= POOR):
            found.append(RatingChange(action="leave_out_examples", persona=who, memories=poor, mean=means[who]))
        if means.get(who, FAIR) < FAIR:
            found.append(RatingChange(action="revise_prompt", persona=who, mean=means[who]))
    wanted = (*sorted(order[:-1], key=lambda who: -means.get(who, FAIR)), *order[-1:])
    if wanted != tuple(order):
        found.append(
            RatingChange(
                action="reorder_persona_cycle", persona=wanted[0], order=wanted, mean=means.get(wanted[0], FAIR)
            )
        )
    return tuple(found)
