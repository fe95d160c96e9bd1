"""One memory: what a character keeps of an event, a deed, a plan or a thought."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from numbers import Real
from operator import index
from typing import Any, Literal, TypedDict, cast, get_args

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import utc
from commonplace.errors import UsageError
from commonplace.memory.embedding import Vector
from commonplace.memory.policies import Policy
from commonplace.text import clean

# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────────────
# What a call is given, checked where it comes in: each refusal names the argument and what is accepted.


NOTHING: Mapping[str, Any] = {}
"""What all memories without details share. Not to be changed."""
_SHOWN = ".60"
"""So much of a value that is refused is repeated."""


def checked_string(what: str, value: object) -> str:
    """The string as it is. Raises UsageError for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"{what} {value!r:{_SHOWN}}", hint="give a string")
    return value


def checked_mapping(what: str, value: object) -> Mapping[str, Any]:
    """The mapping, copied; of nothing, one empty mapping that all share. Raises UsageError for anything else."""
    if not value:
        return NOTHING
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} {value!r:{_SHOWN}}", hint="give a mapping with words for keys")
    return dict(cast("Mapping[str, Any]", value))


def checked_count(what: str, value: object, lowest: int) -> int:
    """A whole number, NumPy's included. Raises UsageError for another and for one below `lowest`."""
    try:
        number = int(index(value))  # pyright: ignore[reportArgumentType] - this is the check
    except TypeError:
        number = lowest - 1
    if number < lowest:
        raise UsageError(f"{what} {value!r:{_SHOWN}}", hint=f"give a whole number, at least {lowest}")
    return number


def checked_ids(ids: Iterable[object]) -> tuple[int, ...]:
    """Ids of memories, each once, in the order given. Raises UsageError for what is no whole number."""
    try:
        return tuple(dict.fromkeys(int(index(id)) for id in ids))  # pyright: ignore[reportArgumentType] - as above
    except TypeError as error:
        raise UsageError(f"ids {ids!r:{_SHOWN}}", hint="give a sequence of whole numbers: [1, 2]") from error


def checked_vector(vector: Any) -> Vector | None:
    """Numbers as float32, of any shape. Raises UsageError for what is no sequence of numbers."""
    if vector is None:
        return None
    try:
        numbers = np.asarray(vector)
    except ValueError:
        numbers = np.empty(0, dtype=object)
    if numbers.dtype.kind not in "biuf":
        raise UsageError(f"an embedding {vector!r:{_SHOWN}}", hint="give a sequence of numbers, or None")
    with np.errstate(over="ignore"):  # beyond float32 is infinite, and so no usable vector
        return numbers.astype(np.float32, copy=False)


def checked_policy(policy: Policy) -> Policy:
    """The policy as it is. Raises UsageError for its name, and for anything else."""
    if not isinstance(policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance] - names are passed now and then
        raise UsageError(f"policy {policy!r:{_SHOWN}}", hint='give one such as policies.PARK; policies.by_name("park")')
    return policy


# ── record ───────────────────────────────────────────────────────────────────────────────────────────────────────────


Kind = Literal["observation", "action", "plan", "reflection"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_TEXT = 2000
"""Characters kept in `Memory.text`; of a longer text the whole is in `details["full_text"]`."""

_NO_DETAILS: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Emotion:
    """What was felt. Raises UsageError for a figure outside its range."""

    valence: float
    """−1 (unpleasant) … 1 (pleasant)."""
    arousal: float
    """0 (calm) … 1 (stirred): the affect amplitude of the coordinate document."""
    confidence: float = 1.0
    """0 … 1: how sure whoever named the emotion was."""
    keywords: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, low in (("valence", -1.0), ("arousal", 0.0), ("confidence", 0.0)):
            value = getattr(self, name)
            if not isinstance(value, Real) or not low <= cast(float, value) <= 1.0:
                raise UsageError(f"{name} {value!r:.60} of an emotion", hint=f"give a number from {low:g} to 1")


@dataclass(frozen=True, slots=True)
class Memory:
    """A record of one character's stream. Made by `MemoryStream.remember`, which checks it; never changed.

    The stream alone knows the latest access: a `Memory` got from it carries `accessed_at` as of that moment.
    """

    id: int
    """1, 2, 3 … in the order remembered, per character; never reused."""
    agent: str
    """Whose memory it is."""
    kind: Kind
    text: str
    """1–2,000 characters, cleaned."""
    created_at: datetime
    """Simulated time, UTC."""
    accessed_at: datetime
    """When it was last retrieved; `created_at` until it is."""
    tick: int
    """The tick it was remembered in; 0 outside a run."""
    importance: float
    """1 (mundane) … 10 (life-changing)."""
    citations: tuple[int, ...] = ()
    """Ids of the memories it rests on."""
    place: tuple[str, ...] = ()
    """From the outermost name inwards: `("Town", "House", "Kitchen", "Stove")`."""
    emotion: Emotion | None = None
    source: str = ""
    """Who or what produced it."""
    session: str = ""
    """Run or session it belongs to."""
    tags: tuple[str, ...] = ()
    event: str = ""
    """Id of the event it came from, if it came from one."""
    details: Mapping[str, Any] = field(default_factory=lambda: _NO_DETAILS, hash=False)
    """Whatever a stage adds. Not to be changed."""

    @property
    def full_text(self) -> str:
        """The text before it was cut to 2,000 characters."""
        return self.details.get("full_text", self.text)


class MemoryFields(TypedDict, total=False):
    """The optional arguments of `remember`; see `Memory` for units and ranges."""

    importance: float | None
    kind: str
    place: Sequence[str]
    citations: Sequence[int]
    embedding: Sequence[float] | NDArray[np.float32] | None
    tick: int
    emotion: Emotion | None
    source: str
    session: str
    tags: Sequence[str]
    event: str
    details: Mapping[str, Any] | None


_FIELDS = tuple(
    (getattr(Memory, name).__get__, getattr(Memory, name).__set__) for name in Memory.__slots__ if name != "accessed_at"
)
_set_accessed: Callable[[Memory, datetime], None] = cast(Any, Memory).accessed_at.__set__


def accessed(memory: Memory, at: datetime) -> Memory:
    """The same memory, last accessed then. Five times as fast as `dataclasses.replace`: every hit passes here."""
    if memory.accessed_at == at:
        return memory
    copy = object.__new__(Memory)
    for get, put in _FIELDS:
        put(copy, get(memory))
    _set_accessed(copy, at)
    return copy


def clamped(importance: float) -> float:
    """The importance within 1–10. Raises UsageError for NaN and for what is not a number."""
    try:
        value = float(importance)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if math.isnan(value):
        raise UsageError(f"importance {importance!r:.60}", hint="give a number from 1 to 10, or None to have it rated")
    return min(10.0, max(1.0, value))


def checked_kind(kind: str) -> Kind:
    """The kind, if it is one. Raises UsageError."""
    if kind not in KINDS:
        raise UsageError(f"a memory of kind {kind!r}", hint=f"the kinds are {', '.join(KINDS)}")
    return kind


def checked_text(text: str) -> tuple[str, str]:
    """(the cleaned text up to 2,000 characters, the whole cleaned text). Raises UsageError for none and an empty
    one.
    """
    whole = clean(checked_string("a memory whose text is", text))
    if not whole:
        raise UsageError(f"a memory whose text is {text!r:.60}", hint="give at least one visible character")
    return whole[:MAX_TEXT].rstrip(), whole


def checked_emotion(emotion: object) -> Emotion | None:
    """The emotion, or None. Raises UsageError for anything else."""
    if emotion is None or isinstance(emotion, Emotion):
        return emotion
    raise UsageError(f"emotion {emotion!r:.60}", hint="give an Emotion, or None")


def checked_time(at: datetime) -> datetime:
    """Simulated time in UTC. Raises UsageError for what is not a datetime, or none in UTC."""
    if not isinstance(at, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] - strings are passed all the time
        raise UsageError(f"the time {at!r:.60}", hint="give a datetime; a naive one is taken as UTC")
    try:
        return utc(at)
    except OverflowError as error:
        raise UsageError(f"the time {at}", hint="give one that in UTC lies in the years 1 to 9999") from error


def checked_citations(kind: Kind, citations: Sequence[int], exists: Callable[[int], bool]) -> tuple[int, ...]:
    """The ids cited, each once, in the order given.

    Observations and actions cite nothing, a reflection at least one memory that exists, a plan may. Raises UsageError.
    """
    ids = checked_ids(citations)
    if ids and kind in ("observation", "action"):
        raise UsageError(f"{kind} citing {ids}", hint="only plans and reflections rest on other memories")
    if kind == "reflection" and not ids:
        raise UsageError("a reflection that cites nothing", hint="name the ids of the memories it rests on")
    for cited in ids:
        if not exists(cited):
            raise UsageError(f"a citation of memory {cited}", hint="cite memories that exist when this one is made")
    return ids


def names(what: str, value: Collection[str]) -> tuple[str, ...]:
    """A tuple of names, cleaned. Raises UsageError for a single string, which would be taken letter by letter, and for
    what is no name."""
    if isinstance(value, str):
        raise UsageError(f"{what} {value!r:.60}", hint=f"give a sequence of names: ({value!r:.60},)")
    try:
        return _cleaned(tuple(value))
    except (TypeError, UsageError) as error:
        raise UsageError(f"{what} {value!r:.60}", hint="give a sequence of names, each a string") from error


@lru_cache(maxsize=1024)
def _cleaned(value: tuple[object, ...]) -> tuple[str, ...]:
    """Names recur: a character remembers many things in few places."""
    return tuple(clean(checked_string("a name", name)) for name in value)
