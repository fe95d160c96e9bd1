"""The policies there are. `policies.PARK` is one; `policies.by_name("park")` finds it from a scenario's word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, cast

from commonplace.errors import WrongUse
from commonplace.memory.policy import BLENDED, TYPES, Policy

PARK = Policy("park")
"""Generative Agents (Park et al. 2023, §4.1): 1/1/1, cosine, all equal → 0.5."""

LEXICAL = Policy("lexical", importance="unit", relevance="bm25", all_equal=0.0)
"""As `park`, with BM25 instead of vectors and importance as (i − 1) / 9; all equal → 0."""

TWO_STAGE = Policy(
    "two_stage",
    recency="creation",
    decay=0.9591894571091382,
    importance="unit",
    normalise="none",
    recency_weight=0.25,
    importance_weight=0.25,
    relevance_weight=0.5,
    nearest=20,
    k=5,
)
"""The 20 nearest by cosine, ranked again by 0.5 similarity + 0.25 exp(−age / 24 h) + 0.25 (i − 1) / 9, all raw."""

REPO2023 = Policy(
    "repo2023",
    recency="rank",
    decay=0.99,
    recency_weight=0.5,
    importance_weight=2.0,
    relevance_weight=3.0,
    without_tags=("chat",),
    without_words=("idle",),
    k=30,
)
"""What the code published with Generative Agents does: recency by rank, the longest unused first; no chats, nothing
idle. Some of its characters have a decay of 0.995."""

RECALL = Policy(
    "recall",
    relevance="blend",
    recency_weight=0.02,
    importance_weight=0.02,
    grammar=0.3,
    respell=True,
)
"""For questions about anything long ago: words, meaning where it is known, neighbours, who and where is named."""

_ALL = {policy.name: policy for policy in (PARK, LEXICAL, TWO_STAGE, REPO2023, RECALL)}
NAMES = tuple(_ALL)
_BLEND_ONLY = {*(f"{part}_weight" for part in BLENDED), "neighbour_minutes"}
_LIST_OF_WORDS = tuple[str, ...]


def by_name(name: str) -> Policy:
    """The policy of that name. Raises WrongUse with the nearest one there is."""
    policy = _ALL.get(name)
    if policy is None:
        raise WrongUse(f"there is no policy {name!r}", todo=f"{_near(name, NAMES)}the policies are {', '.join(NAMES)}")
    return policy


def from_mapping(name: str, changes: Mapping[str, Any]) -> Policy:
    """A policy of one's own: `base`, the name of one there is, and the fields that differ from it.

    `from_mapping("gossip", {"base": "recall", "named_weight": 0.6})`. Raises WrongUse for a name that is taken, a base
    or field there is none of, a value of another type or out of range, and a field that changes nothing there.
    """
    if name in _ALL:
        raise WrongUse(f"a policy called {name!r}", todo=f"choose another name; taken are {', '.join(NAMES)}")
    given = dict(changes)
    base = given.pop("base", None)
    if not isinstance(base, str):
        raise WrongUse(f"policy {name} without a base", todo=f"add `base:`, one of {', '.join(NAMES)}")
    start = by_name(base)
    policy = replace(start, name=name, **{field: _value(name, field, value) for field, value in given.items()})
    idle = sorted(_BLEND_ONLY & given.keys()) if policy.relevance != "blend" else []
    if idle:
        raise WrongUse(
            f"{idle[0]} in policy {name}, whose relevance is {policy.relevance}", todo="it belongs to relevance: blend"
        )
    return policy


def _value(policy: str, field: str, value: Any) -> Any:
    """The value as the field holds it; ranges are the policy's own to check. Raises WrongUse."""
    wanted = TYPES.get(field)
    if wanted is None:
        raise WrongUse(
            f"field {field!r} of policy {policy}", todo=f"{_near(field, TYPES)}the fields are {', '.join(TYPES)}"
        )
    if wanted == _LIST_OF_WORDS:
        entries = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None
        if entries is not None and all(isinstance(entry, str) for entry in entries):
            return tuple(entries)
        raise WrongUse(f"{field} {value!r} of policy {policy}", todo="give a list of words")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted in (float, int, bool) and type(value) is not wanted:
        kind = {float: "a number", int: "a whole number", bool: "true or false"}[wanted]
        raise WrongUse(f"{field} {value!r} of policy {policy}", todo=f"give {kind}")
    return value


def _near(name: str, names: Mapping[str, Any] | tuple[str, ...]) -> str:
    near = get_close_matches(name, list(names), n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}? " if near else ""
