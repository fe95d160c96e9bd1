"""Retrieval policies: every choice of a scoring, as data.

`policies.PARK` is one of the shipped ones; `policies.by_name("park")` finds it by the name a scenario uses.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from numbers import Real
from typing import Any, Literal, cast, get_args, get_type_hints

from commonplace.errors import CommonplaceError, UsageError

Recency = Literal["access", "creation", "rank"]
Importance = Literal["scale", "unit"]
Relevance = Literal["cosine", "bm25", "blend"]
Normalise = Literal["minmax", "none"]
CosineFrom = Literal["lowest", "mean"]
Lending = Literal["full", "measured"]

_HEAVIEST = 1e6
_KINDS: Mapping[Any, str] = {float: "a number", int: "a whole number", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Policy:
    """`score = Σ weight · normalised part`. Make a variant with `dataclasses.replace`.

    Raises UsageError for a value of the wrong type or out of range.
    """

    name: str
    recency: Recency = "access"
    """`access`: decay ** hours since the last access; `creation`: decay ** hours since it was made, at least 0 hours;
    `rank`: decay ** rank by last access, where rank 1 is the longest unused, so that the oldest scores highest."""
    decay: float = 0.995
    """Recency left after one simulated hour (`rank`: one rank), in (0, 1]. For exp(−hours / τ) give exp(−1 / τ)."""
    importance: Importance = "scale"
    """`scale`: 1–10 as stored; `unit`: (importance − 1) / 9."""
    relevance: Relevance = "cosine"
    """`cosine` of the vectors; `bm25` of the words; `blend`: the parts below instead of one called relevance."""
    normalise: Normalise = "minmax"
    """`minmax`: each part scaled to 0–1 over all candidates; `none`: the raw part."""
    all_equal: float = 0.5
    """The result of min-max when all candidates have the same value."""
    # the weights before that of relevance are those of `INHERENT`, the weights after it those of `BLENDED`
    recency_weight: float = 1.0
    importance_weight: float = 1.0
    relevance_weight: float = 1.0
    """For `cosine` and `bm25`; a blend uses the weights below."""
    lexical_weight: float = 1.0
    """Blend: BM25 of the words. A part of a blend whose weight is 0 is neither computed nor shown."""
    cosine_weight: float = 0.5
    """Blend: cosine of the vectors. Left out if the embedder only compares spelling, which BM25 does better."""
    neighbours_weight: float = 0.4
    """Blend: relevance lent by the memories just before and after; not normalised again."""
    named_weight: float = 0.25
    """Blend: 1 if the question names the memory's speaker or subject, plus 1 if its place; not normalised."""
    statement_weight: float = 0.15
    """Blend: 1 for a memory that does not end in a question; not normalised."""
    neighbour_minutes: float = 30.0
    """Blend: how far apart neighbours may be, in simulated minutes, at least 0."""
    conversation_minutes: float = 480.0
    """Blend: the same for two memories that somebody says: people answer hours later, and a night ends a subject."""
    lending: Lending = "full"
    """Blend: `full`: every neighbour lends its relevance; `measured`: a memory that is longer than the average lends
    less in proportion, and all lend as much as the stream's own texts show that neighbours have to do with each
    other."""
    k1: float = 0.9
    """BM25: how soon further occurrences of a word stop adding to the score, at least 0."""
    b: float = 0.4
    """BM25: how much a longer memory is penalised, in [0, 1]."""
    grammar: float = 1.0
    """BM25: weight of a word of the question that only carries grammar, in [0, 1]; 1 = as any other."""
    respell: bool = False
    """BM25: whether a word of the question that no memory has is replaced by words of similar spelling."""
    full_at: float = 0.0
    """Blend: words count from 0 and not from the weakest match up, and beside an embedder that knows meaning the best
    match counts in full only if its relevance by words is as high as this, in [0, 1], and as the square of its share
    if it is lower. 0: min-max as for other parts."""
    cosine_from: CosineFrom = "lowest"
    """Blend: the cosine that min-max counts as 0: the lowest of the candidates, or their mean (of more than 8,191, that
    of evenly spread ones), and all below. With `mean` memories lend their neighbours the square: a slight likeness says
    nothing of the next memory."""
    nearest: int = 0
    """Only this many compete, those with the highest cosine; 0 = all. Needs `cosine`."""
    without_tags: tuple[str, ...] = ()
    """Memories with one of these tags do not compete."""
    without_words: tuple[str, ...] = ()
    """Memories whose text contains one of these do not compete."""
    k: int = 10
    """Memories returned if the call gives no `k`."""
    weights: Mapping[str, float] = field(init=False, repr=False, compare=False)
    """Part → weight, in the order parts are added and shown. Derived from the fields above."""

    def __post_init__(self) -> None:
        self._check()
        given = {part: getattr(self, f"{part}_weight") for part in self._parts()}
        weights = {part: weight for part, weight in given.items() if weight or part in ALWAYS}
        object.__setattr__(self, "weights", weights)  # frozen, and every retrieval reads it

    def __hash__(self) -> int:
        return hash(self.name)  # of all fields it would cost a hundredth of a retrieval

    def _parts(self) -> tuple[str, ...]:
        return (*INHERENT, *(BLENDED if self.relevance == "blend" else ("relevance",)))

    def _check(self) -> None:
        for name, wanted in TYPES.items():
            if not isinstance(getattr(self, name), {float: Real, int: int}.get(wanted, object)):
                raise self._wrong(name, f"give {_KINDS[wanted]}")
        for name, accepted in CHOICES.items():
            if getattr(self, name) not in accepted:
                raise self._wrong(name, f"it is one of {', '.join(accepted)}")
        for name, low, high in _RANGES:
            if not low <= getattr(self, name) <= high:
                raise self._wrong(name, f"give a number from {low:g} to {high:g}")
        for name in WEIGHTS:
            if not abs(getattr(self, name)) <= _HEAVIEST:
                raise self._wrong(name, f"give a number from {-_HEAVIEST:,.0f} to {_HEAVIEST:,.0f}")
        if not 0 < self.decay <= 1:
            raise self._wrong("decay", "give a number above 0 and up to 1")
        minutes = [name for name in _MINUTES if not 0 <= getattr(self, name) < math.inf]
        if minutes:
            raise self._wrong(minutes[0], "give at least 0")
        if self.nearest < 0 or (self.nearest and self.relevance != "cosine"):
            raise self._wrong("nearest", "give at least 0, and 0 unless relevance is cosine")
        if self.k < 1:
            raise self._wrong("k", "give at least 1")

    def _wrong(self, name: str, hint: str) -> UsageError:
        return UsageError(f"{name} {getattr(self, name)!r} of policy {self.name} is not accepted", hint=hint)


ALWAYS = ("recency", "importance", "relevance")
"""The parts that are computed and shown even with a weight of 0."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "recency": get_args(Recency),
    "importance": get_args(Importance),
    "relevance": get_args(Relevance),
    "normalise": get_args(Normalise),
    "cosine_from": get_args(CosineFrom),
    "lending": get_args(Lending),
}
"""Field → the words it accepts."""
TYPES: Mapping[str, Any] = {
    name: hint for name, hint in get_type_hints(Policy).items() if name not in ("name", "weights")
}
"""Field → its type."""
WEIGHTS = tuple(one.name for one in fields(Policy) if one.name.endswith("_weight"))
_PARTS = tuple(name.removesuffix("_weight") for name in WEIGHTS)
INHERENT = _PARTS[: _PARTS.index("relevance")]
"""The parts in which the question plays no part, in the order they are added and shown, before the others."""
BLENDED = _PARTS[_PARTS.index("relevance") + 1 :]
"""The parts of a blend, in the order they are added and shown."""
_MINUTES = ("neighbour_minutes", "conversation_minutes")
_RANGES = (("all_equal", 0.0, 1.0), ("k1", 0.0, 1000.0), ("b", 0.0, 1.0), ("grammar", 0.0, 1.0), ("full_at", 0.0, 1.0))


def compares_vectors(policy: Policy, embedder: object) -> bool:
    """Returns whether retrieval reads the embedder's vectors. A blend does without those that compare spelling only:
    BM25 does that better."""
    return policy.relevance == "cosine" or ("cosine" in policy.weights and not getattr(embedder, "spelling", False))


def refuse_mistakes(table: str, functions: Collection[str], parts: Collection[str]) -> None:
    """Raises CommonplaceError unless `table` has a function for each of the parts, and none for others."""
    for name in sorted({*functions} ^ {*parts}):
        if name in parts:
            wrong, hint = "has a weight and no function", f"give it a line in {table}"
        elif name in _PARTS:
            wrong, hint = f"is in {table} and has its weight among other parts", "give it another name, or move either"
        else:
            wrong, hint = "has a function and no weight", f"give Policy the field {name}_weight"
        raise CommonplaceError(f"the part {name!r} of a score {wrong}", hint=hint)


# ── the shipped policies ─────────────────────────────────────────────────────────────────────────────────────────────

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
"""What the code published with Generative Agents does: recency by rank, the longest unused first; without chats and
idle events. Some of its characters have a decay of 0.995."""

RECALL = Policy(
    "recall",
    relevance="blend",
    all_equal=0.0,
    recency_weight=0.02,
    importance_weight=0.02,
    neighbours_weight=0.45,
    lending="measured",
    grammar=0.3,
    respell=True,
    full_at=0.35,
    cosine_from="mean",
)
"""For questions about the past: words, meaning where the embedder knows it, neighbours, people and places named."""

SHIPPED: Mapping[str, Policy] = {policy.name: policy for policy in (PARK, LEXICAL, TWO_STAGE, REPO2023, RECALL)}
NAMES = tuple(SHIPPED)
IN_RUNS: Mapping[str, Policy] = {
    **SHIPPED,
    "recall": replace(RECALL, all_equal=0.5, full_at=0.0, cosine_from="lowest", neighbours_weight=0.4, lending="full"),
}
"""The policies as runs have them: what `recall` has learned since may not change what a run retrieved."""
_BLEND_ONLY = {*(f"{part}_weight" for part in BLENDED), *_MINUTES, "full_at", "cosine_from", "lending"}
_LIST_OF_WORDS = tuple[str, ...]


def by_name(name: str, known: Mapping[str, Policy] = SHIPPED) -> Policy:
    """Returns the shipped policy of that name, or that of a run if `known` is `IN_RUNS`. Raises UsageError with the
    most similar name."""
    policy = known.get(name)
    if policy is None:
        raise UsageError(
            f"there is no policy {name!r}", hint=f"{_near(name, NAMES)}the policies are {', '.join(NAMES)}"
        )
    return policy


def from_mapping(name: str, changes: Mapping[str, Any], known: Mapping[str, Policy] = SHIPPED) -> Policy:
    """Returns a custom policy: `base`, the name of a shipped one, and the fields that differ from it.

    `from_mapping("gossip", {"base": "recall", "named_weight": 0.6})`. Raises UsageError for a name that is taken, an
    unknown base or field, a value of the wrong type or out of range, and a field that has no effect on the policy.
    """
    if name in SHIPPED:
        raise UsageError(f"policy name {name!r} is taken", hint=f"choose another name; taken are {', '.join(NAMES)}")
    base = changes.get("base")
    if not isinstance(base, str):
        raise UsageError(f"policy {name} has no base", hint=f"add `base:`, one of {', '.join(NAMES)}")
    values = {key: _value(name, key, value) for key, value in changes.items() if key != "base"}
    policy = replace(by_name(base, known), name=name, **values)
    idle = sorted(_BLEND_ONLY & values.keys()) if policy.relevance != "blend" else []
    if idle:
        raise UsageError(
            f"{idle[0]} has no effect in policy {name}, whose relevance is {policy.relevance}",
            hint="it belongs to relevance: blend",
        )
    return policy


def _value(policy: str, name: str, value: Any) -> Any:
    """Returns the value in the field's type; `Policy` checks its range. Raises UsageError."""
    wanted = TYPES.get(name)
    if wanted is None:
        raise UsageError(
            f"policy {policy} has an unknown field {name!r}",
            hint=f"{_near(name, TYPES)}the fields are {', '.join(TYPES)}",
        )
    if wanted == _LIST_OF_WORDS:
        entries = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else None
        if entries is not None and all(isinstance(entry, str) for entry in entries):
            return tuple(entries)
        raise UsageError(f"{name} {value!r} of policy {policy} is not a list of words", hint="give a list of words")
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if wanted in (float, int, bool) and type(value) is not wanted:
        raise UsageError(f"{name} {value!r} of policy {policy} is not {_KINDS[wanted]}", hint=f"give {_KINDS[wanted]}")
    return value


def _near(name: str, names: Mapping[str, Any] | tuple[str, ...]) -> str:
    near = get_close_matches(name, list(names), n=1, cutoff=0.4)
    return f"did you mean {near[0]!r}? " if near else ""
