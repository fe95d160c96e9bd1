"""The policies there are. `policies.PARK` is one; `policies.by_name("park")` finds it from a scenario's word."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from functools import lru_cache
from numbers import Real
from typing import Any, Literal, cast, get_args, get_type_hints

from commonplace.errors import UsageError

# ── policy ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# A retrieval policy: every choice of a scoring, as data.


Recency = Literal["access", "creation", "rank"]
Importance = Literal["scale", "unit"]
Relevance = Literal["cosine", "bm25", "blend"]
Normalise = Literal["minmax", "none"]

_HEAVIEST = 1e6


@dataclass(frozen=True, slots=True)
class Policy:
    """`score = Σ weight · normalised part`. Make a variant with `dataclasses.replace`. Raises UsageError."""

    name: str
    recency: Recency = "access"
    """`access`: decay ** hours since the last access; `creation`: since it was made, 0 for what is made later; `rank`:
    decay ** rank by last access, the longest unused being 1, so that the oldest scores highest."""
    decay: float = 0.995
    """Recency left after one simulated hour (`rank`: one rank), in (0, 1]. For exp(−hours / τ) give exp(−1 / τ)."""
    importance: Importance = "scale"
    """`scale`: 1–10 as stored; `unit`: (importance − 1) / 9."""
    relevance: Relevance = "cosine"
    """`cosine` of the vectors; `bm25` of the words; `blend`: the parts below in place of the one called relevance."""
    normalise: Normalise = "minmax"
    """`minmax`: each part over all candidates to 0–1; `none`: the raw part."""
    all_equal: float = 0.5
    """What min-max gives when every candidate has the same value."""
    recency_weight: float = 1.0
    importance_weight: float = 1.0
    relevance_weight: float = 1.0
    """Of `cosine` and `bm25`; a blend has the weights below."""
    lexical_weight: float = 1.0
    """Blend: BM25 of the words. A part of a blend whose weight is 0 is neither computed nor shown."""
    cosine_weight: float = 0.5
    """Blend: cosine of the vectors, where the embedder knows more than spelling, which BM25 sees better."""
    neighbours_weight: float = 0.4
    """Blend: relevance lent by what was remembered just before and after; not normalised again."""
    named_weight: float = 0.25
    """Blend: 1 for a memory whose speaker or subject the question names, 1 for its place; not normalised."""
    statement_weight: float = 0.15
    """Blend: 1 for a memory that does not end in a question; not normalised."""
    neighbour_minutes: float = 30.0
    """Blend: neighbours are no further apart than this, in simulated minutes, at least 0."""
    k1: float = 0.9
    """BM25: how soon more occurrences of a word stop adding, at least 0."""
    b: float = 0.4
    """BM25: how much a longer memory is held against it, in [0, 1]."""
    grammar: float = 1.0
    """BM25: what a word of the question that only carries grammar counts, in [0, 1]; 1 = as any other."""
    respell: bool = False
    """BM25: whether a word of the question that no memory has stands for those spelt like it."""
    nearest: int = 0
    """Only so many compete, those of the highest cosine; 0 = all. Needs `cosine`."""
    without_tags: tuple[str, ...] = ()
    """Memories with one of these tags do not compete."""
    without_words: tuple[str, ...] = ()
    """Memories whose text contains one of these do not compete."""
    k: int = 10
    """Memories returned when the caller names no number."""

    def __post_init__(self) -> None:
        self._check_types()
        for name, accepted in CHOICES.items():
            if getattr(self, name) not in accepted:
                raise self._wrong(name, f"it is one of {', '.join(accepted)}")
        for name, low, high in _RANGES:
            if not low <= getattr(self, name) <= high:
                raise self._wrong(name, f"give a number from {low:g} to {high:g}")
        for name in WEIGHTS:
            if not abs(getattr(self, name)) <= _HEAVIEST:
                raise self._wrong(name, "give a finite number")
        if not 0 < self.decay <= 1:
            raise self._wrong("decay", "give a number above 0 and up to 1")
        if not 0 <= self.neighbour_minutes < math.inf:
            raise self._wrong("neighbour_minutes", "give at least 0")
        if self.nearest < 0 or (self.nearest and self.relevance != "cosine"):
            raise self._wrong("nearest", "give at least 0, and 0 unless relevance is cosine")
        if self.k < 1:
            raise self._wrong("k", "give at least 1")

    def _check_types(self) -> None:
        for name, wanted in TYPES.items():
            if wanted is float and not isinstance(getattr(self, name), Real):
                raise self._wrong(name, "give a number")
            if wanted is int and not isinstance(getattr(self, name), int):
                raise self._wrong(name, "give a whole number")

    @property
    def weights(self) -> dict[str, float]:
        """Part → weight, in the order parts are added and shown."""
        return _weights(self)

    def _wrong(self, field: str, hint: str) -> UsageError:
        return UsageError(f"{field} {getattr(self, field)!r} of policy {self.name}", hint=hint)


@lru_cache(maxsize=64)
def _weights(policy: Policy) -> dict[str, float]:
    """As `Policy.weights`; every retrieval asks."""
    weights = {"recency": policy.recency_weight, "importance": policy.importance_weight}
    if policy.relevance != "blend":
        return {**weights, "relevance": policy.relevance_weight}
    return {**weights, **{part: weight for part in BLENDED if (weight := getattr(policy, f"{part}_weight"))}}


BLENDED = ("lexical", "cosine", "neighbours", "named", "statement")
"""The parts of a blend, in the order they are added and shown."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "recency": get_args(Recency),
    "importance": get_args(Importance),
    "relevance": get_args(Relevance),
    "normalise": get_args(Normalise),
}
"""Field → the words it accepts."""
TYPES: Mapping[str, Any] = {name: hint for name, hint in get_type_hints(Policy).items() if name != "name"}
"""Field → its type."""
WEIGHTS = tuple(field.name for field in fields(Policy) if field.name.endswith("_weight"))
_RANGES = (("all_equal", 0.0, 1.0), ("k1", 0.0, 1000.0), ("b", 0.0, 1.0), ("grammar", 0.0, 1.0))


# ── policies ─────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    """The policy of that name. Raises UsageError with the nearest one there is."""
    policy = _ALL.get(name)
    if policy is None:
        raise UsageError(
            f"there is no policy {name!r}", hint=f"{_near(name, NAMES)}the policies are {', '.join(NAMES)}"
        )
    return policy


def from_mapping(name: str, changes: Mapping[str, Any]) -> Policy:
    """A policy of one's own: `base`, the name of one there is, and the fields that differ from it.

    `from_mapping("gossip", {"base": "recall", "named_weight": 0.6})`. Raises UsageError for a name that is taken, a
    base or field there is none of, a value of another type or out of range, and a field that changes nothing there.
    """
    if name in _ALL:
        raise UsageError(f"a policy called {name!r}", hint=f"choose another name; taken are {', '.join(NAMES)}")
    given = dict(changes)
    base = given.pop("base", None)
    if not isinstance(base, str):
        raise UsageError(f"policy {name} without a base", hint=f"add `base:`, one of {', '.join(NAMES)}")
    start = by_name(base)
    policy = replace(start, name=name, **{field: _value(name, field, value) for field, value in given.items()})
    idle = sorted(_BLEND_ONLY & given.keys()) if policy.relevance != "blend" else []
    if idle:
        raise UsageError(
            f"{idle[0]} in policy {name}, whose relevance is {policy.relevance}", hint="it belongs to relevance: blend"
        )
    return policy


def _value(policy: str, field: str, value: Any) -> Any:
    """The value as the field holds it; ranges are the policy's own to check. Raises UsageError."""
    wanted = TYPES.get(field)
    if wanted is None:
        raise UsageError(
            f"field {field!r} of policy {policy}", hint=f"{_near(field, TYPES)}the fields are {', '.join(TYPES)}"
        )
    if wanted == _LIST_OF_WORDS:
        entries = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None
        if entries is not None and all(isinstance(entry, str) for entry in entries):
            return tuple(entries)
        raise UsageError(f"{field} {value!r} of policy {policy}", hint="give a list of words")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted in (float, int, bool) and type(value) is not wanted:
        kind = {float: "a number", int: "a whole number", bool: "true or false"}[wanted]
        raise UsageError(f"{field} {value!r} of policy {policy}", hint=f"give {kind}")
    return value


def _near(name: str, names: Mapping[str, Any] | tuple[str, ...]) -> str:
    near = get_close_matches(name, list(names), n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}? " if near else ""
