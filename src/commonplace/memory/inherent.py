"""The parts of a score in which the question plays no part: what each memory has of them, and their weighted sum.

A part is a function here, its line in `PARTS`, and the field `NAME_weight` of `Policy`. All else follows from these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import growth, micros
from commonplace.memory.policies import INHERENT, Policy, refuse_mistakes
from commonplace.memory.scoring import Floats, Indices, Prior, Raw, Spreads, range_of
from commonplace.memory.table import KIND_CODES, Scalar, View

_THOUGHTS = (KIND_CODES["reflection"], KIND_CODES["plan"])


class Candidates(NamedTuple):
    """The memories that compete, at a moment."""

    view: View
    rows: Indices | None
    """None for all rows of the view."""
    at: datetime
    policy: Policy

    def take(self, column: NDArray[Scalar]) -> NDArray[Scalar]:
        """The column's values."""
        return self.view.take(column, self.rows)


def prior_of(of: Candidates, given: Spreads) -> tuple[Prior, list[float]]:
    """The inherent parts, weighted and added, and the factor of each; kept until a memory or an access changes them.

    Under min-max, recency by access does not depend on the present: the factor that carries it cancels. `given`: what
    to normalise over, by part, instead of the candidates' own.
    """
    view, rows, at, policy = of
    now = micros(at)
    whole = policy.normalise == "minmax" and not given and rows is view.present()
    prior = view.prior(policy) if whole else None
    if prior is not None:
        return prior, [part.scale(now) for part in prior.parts]
    weights = {name: weight for name, weight in policy.weights.items() if name in PARTS}
    parts = [PARTS[name](of) for name in weights]
    scales = [part.scale(now) for part in parts]
    each = zip(parts, scales, map(given.get, weights), strict=True)
    ranges = [range_of(part.values, scale, over) for part, scale, over in each]
    prior = Prior(parts, ranges, list(weights.values()), scales, policy)
    if whole and all(part.changes != "moment" for part in parts):
        view.keep_prior(policy, prior)
    return prior, scales


def _recency(of: Candidates) -> Raw:
    policy = of.policy
    if policy.recency == "rank":
        return Raw(_by_rank(of), "access")
    if policy.recency == "creation":
        ages = micros(of.at) - of.take(of.view.table.created)
        mantissas, exponents = growth(policy.decay).of(np.maximum(ages, 0))
        return Raw(np.ldexp(1 / mantissas, -exponents), "moment")
    column = of.view.recency(policy.decay)
    return Raw(of.take(column.values(of.view.accessed)), "access", column.scale)


def _by_rank(of: Candidates) -> Floats:
    """decay ** rank by last access, ascending. Ties are in the order of the published code: events before thoughts,
    the newest first."""
    accessed = of.take(of.view.accessed)
    thoughts = np.isin(of.take(of.view.table.kind), _THOUGHTS)
    order = np.lexsort((-np.arange(len(accessed)), thoughts, accessed))
    values = np.empty(len(accessed))
    values[order] = _powers(of.policy.decay, 1 << max(6, (len(accessed) - 1).bit_length()))[: len(accessed)]
    return values


@lru_cache(maxsize=8)
def _powers(base: float, count: int) -> Floats:
    """base, base², base³ … by multiplication alone, which is the same on every machine."""
    return np.multiply.accumulate(np.full(count, base))


def _importance(of: Candidates) -> Raw:
    values = of.take(of.view.table.importance)
    return Raw((values - 1) / 9 if of.policy.importance == "unit" else values, "memory")


PARTS: Mapping[str, Callable[[Candidates], Raw]] = {
    "recency": _recency,
    "importance": _importance,
}
"""Part → what it is for each candidate. Recency is first: an access changes it in place (`Prior.follow`)."""
refuse_mistakes("inherent.PARTS", PARTS, INHERENT)
