"""The policies there are. `policies.PARK` is one; `policies.by_name("park")` finds it from a scenario's word."""

from __future__ import annotations

from difflib import get_close_matches

from commonplace.errors import WrongUse
from commonplace.memory.policy import Policy

PARK = Policy("park")
"""Generative Agents (Park et al. 2023, §4.1): 1/1/1, cosine, all equal → 0.5."""

LEXICAL = Policy("lexical", importance="unit", relevance="bm25", all_equal=0.0)
"""As `park`, with BM25 instead of vectors and importance as (i − 1) / 9; all equal → 0."""

_ALL = {policy.name: policy for policy in (PARK, LEXICAL)}
NAMES = tuple(_ALL)


def by_name(name: str) -> Policy:
    """The policy of that name. Raises WrongUse with the nearest one there is."""
    policy = _ALL.get(name)
    if policy is None:
        near = get_close_matches(name, NAMES, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise WrongUse(f"there is no policy {name!r}", todo=f"{hint}the policies are {', '.join(NAMES)}")
    return policy
