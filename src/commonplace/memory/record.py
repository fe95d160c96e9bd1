"""The record of one memory, and the checks every argument of this package passes before it becomes part of one."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import repeat
from numbers import Real
from operator import attrgetter, call, index
from typing import Any, Literal, NamedTuple, TypedDict, cast, get_args

import numpy as np
from numpy.typing import NDArray

from commonplace.clock import iso, parse_iso, utc
from commonplace.errors import UsageError
from commonplace.memory.embedding import NON_FINITE, WRONG_SIZE, Embedder, Vector, usable
from commonplace.memory.importance import usable_rating
from commonplace.memory.policies import Policy
from commonplace.text import clean

Kind = Literal["observation", "action", "plan", "reflection"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_TEXT = 2000
"""Characters kept in `Memory.text`; a longer text is kept whole in `details["full_text"]`."""
EXPIRES = "expires_at"
"""The detail that says when a memory expires, an ISO time."""
DEEPEST = 64
"""Levels that details may have."""
_BITS = 64
_LONGEST_PLACE = 80
"""Characters in which a message names a place in details."""
NO_DETAILS: Mapping[str, Any] = {}
"""Shared by all memories without details, to save memory. Never change it."""

SUPERSEDES, VALID_FROM, VALID_UNTIL = "supersedes", "valid_from", "valid_until"
"""The keys of `details` that say when a memory was true, and what it is true in place of."""
TRUTH = frozenset({SUPERSEDES, VALID_FROM, VALID_UNTIL})

QUOTES = "quotes"
"""The key of `details` that says which words of which memory a fact was made of."""

Rater = Callable[[str], float]
"""Text → importance 1–10. An answer that is not a finite number counts as 3."""


@dataclass(frozen=True, slots=True)
class Emotion:
    """What was felt. Raises UsageError for a value outside its range."""

    valence: float
    """−1 (unpleasant) … 1 (pleasant)."""
    arousal: float
    """0 (calm) … 1 (excited): the affect amplitude of the coordinate document."""
    confidence: float = 1.0
    """0 … 1: how sure the source of the label was."""
    keywords: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, low in (("valence", -1.0), ("arousal", 0.0), ("confidence", 0.0)):
            value = getattr(self, name)
            if not isinstance(value, Real) or not low <= cast(float, value) <= 1.0:
                raise UsageError(
                    f"{name} {_shown(value)} of an emotion is not a number from {low:g} to 1",
                    hint=f"give a number from {low:g} to 1",
                )


class Quote(NamedTuple):
    """The words of another memory that a fact was made of."""

    id: int
    """Of the memory that says them; 0 if that is not in the stream."""
    start: int
    end: int
    """Where they stood in its `full_text`."""
    words: str


@dataclass(frozen=True, slots=True)
class Memory:
    """A record of one character's stream. Made and checked by `MemoryStream.remember`; immutable.

    Only the stream knows the latest access: `accessed_at` is as of the moment the `Memory` was read from it.
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
    """Id of the event it came from; empty if it came from none."""
    details: Mapping[str, Any] = field(default_factory=lambda: NO_DETAILS, hash=False)
    """Additional fields of a stage. Do not change it."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The same as `details`, under the name that other libraries use."""
        return self.details

    @property
    def full_text(self) -> str:
        """The text before it was cut to 2,000 characters."""
        return self.details.get("full_text", self.text)

    @property
    def supersedes(self) -> tuple[int, ...]:
        """Ids of the earlier memories that are no longer true since this one is."""
        return superseded(self.details)

    @property
    def valid_from(self) -> datetime | None:
        """When it became true, UTC; None if that is not known."""
        return _moment(self.details.get(VALID_FROM))

    @property
    def valid_until(self) -> datetime | None:
        """The first moment at which it is no longer true, UTC; None without an end."""
        return _moment(self.details.get(VALID_UNTIL))

    @property
    def quotes(self) -> Quote | None:
        """The words that it was made of, if it is a fact; else None."""
        return quoted(self.details)

    @property
    def expires_at(self) -> datetime | None:
        """The time from which on it is not recalled; None for one that never expires."""
        return expiry_of(self.details)


def superseded(details: Mapping[str, Any]) -> tuple[int, ...]:
    """Returns the ids that details name as superseded; none for anything else, which details of others may hold."""
    ids = details.get(SUPERSEDES)
    known = isinstance(ids, list) and all(isinstance(id, int) for id in cast("list[Any]", ids))
    return tuple(cast("list[int]", ids)) if known else ()


def quoted(details: Mapping[str, Any]) -> Quote | None:
    """Returns the words that details quote; None for anything else, which details of others may hold."""
    found = details.get(QUOTES)
    if not isinstance(found, Mapping):
        return None
    given = cast("Mapping[str, Any]", found)
    if [type(given.get(name)) for name in Quote._fields] != [int, int, int, str]:
        return None
    return Quote(*(given[name] for name in Quote._fields))


def _moment(value: object) -> datetime | None:
    """Returns the time that ISO text means; None for anything else, which details of others may hold."""
    try:
        return parse_iso(value) if isinstance(value, str) else None
    except (ValueError, OverflowError):
        return None


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
    metadata: Mapping[str, Any] | None
    supersedes: Sequence[int]
    valid_from: datetime | None
    valid_until: datetime | None
    expires_at: datetime | None


def new_memory(
    text: str,
    at: datetime,
    fields: MemoryFields,
    *,
    id: int,
    agent: str,
    rater: Rater,
    found: Callable[[int], Memory | None],
) -> Memory:
    """Returns a memory from the arguments of `remember`, checked and, without an importance, rated. Raises
    UsageError."""
    shown, whole = checked_text(text)
    kind = checked_kind(fields.get("kind", "observation"))
    created = checked_time(at)
    details = checked_mapping("details", fields.get("details"))
    if fields.get("metadata"):
        details = {**details, **checked_mapping("metadata", fields.get("metadata"))}
    details = with_expiry(details, fields.get("expires_at"))
    if len(whole) > len(shown):
        details = {**details, "full_text": whole}
    if truth := checked_truth(created, fields, found):
        details = {**details, **truth}
    importance = fields.get("importance")
    return Memory(
        id=id,
        agent=agent,
        kind=kind,
        text=shown,
        created_at=created,
        accessed_at=created,
        tick=checked_count("tick", fields.get("tick", 0), 0),
        importance=usable_rating(rater(whole)) if importance is None else checked_importance(importance),
        citations=checked_citations(kind, fields.get("citations", ()), lambda id: found(id) is not None),
        place=checked_names("place", fields.get("place", ())),
        emotion=checked_emotion(fields.get("emotion")),
        source=checked_string("source", fields.get("source", "")),
        session=checked_string("session", fields.get("session", "")),
        tags=checked_names("tags", fields.get("tags", ())),
        event=checked_string("event", fields.get("event", "")),
        details=details,
    )


def with_expiry(details: Mapping[str, Any], expires_at: object) -> Mapping[str, Any]:
    """Returns checked details that say when the memory expires: at a time, or, if it is None, when they say already.

    Raises UsageError for anything but a datetime; in details it may be ISO text, or None for never.
    """
    given = details.get(EXPIRES) if expires_at is None else expires_at
    if given is None:
        return details
    if isinstance(given, str) and expires_at is None:
        try:
            given = parse_iso(given)
        except ValueError as error:
            hint = "give a datetime as expires_at, or ISO text in details"
            raise UsageError(f"expires_at {_shown(given)} is not a time", hint=hint) from error
    return {**details, EXPIRES: iso(checked_time(given))}


def expiry_of(details: Mapping[str, Any]) -> datetime | None:
    """Returns when a memory with these details expires; None for never, and where they do not say it as ISO text."""
    return _moment(details.get(EXPIRES))


_KEPT = [name for name in Memory.__slots__ if name != "accessed_at"]
_kept: Callable[[Memory], tuple[Any, ...]] = attrgetter(*_KEPT)
_SETTERS = [getattr(Memory, name).__set__ for name in _KEPT]
_call: Callable[..., Any] = call
_through: Callable[[Iterable[Any]], None] = deque[Any](maxlen=0).extend
"""Does what an iterator does, and keeps nothing; a third faster than a loop."""
_set_accessed: Callable[[Memory, datetime], None] = cast(Any, Memory).accessed_at.__set__
_set_importance: Callable[[Memory, float], None] = cast(Any, Memory).importance.__set__
_set_emotion: Callable[[Memory, Emotion | None], None] = cast(Any, Memory).emotion.__set__


def accessed(memory: Memory, at: datetime) -> Memory:
    """Returns the same memory, last accessed at `at`. Five times as fast as `dataclasses.replace`: every hit passes
    here."""
    if memory.accessed_at == at:
        return memory
    copy = _copied(memory)
    _set_accessed(copy, at)
    return copy


def weighed(memory: Memory, importance: float, emotion: Emotion | None) -> Memory:
    """Returns the same memory with another rating, just as fast. Raises UsageError as `checked_importance`."""
    copy = _copied(memory)
    _set_accessed(copy, memory.accessed_at)
    _set_importance(copy, checked_importance(importance))
    _set_emotion(copy, emotion)
    return copy


def _copied(memory: Memory) -> Memory:
    """Copies all fields but the last access, which must be set."""
    copy = object.__new__(Memory)
    _through(map(_call, _SETTERS, repeat(copy), _kept(memory)))
    return copy


def same_but_access(one: Memory, other: Memory) -> bool:
    """Returns whether two memories differ in their last access at most."""
    return _kept(one) == _kept(other)


# ── argument checks: each names the argument, the value and what is expected ─────────────────────────────────────────


def checked_string(what: str, value: object) -> str:
    """Returns the string unchanged. Raises UsageError for another type."""
    if not isinstance(value, str):
        raise UsageError(f"{what} {_shown(value)} is not a string", hint="give a string")
    return value


def checked_mapping(what: str, value: object) -> Mapping[str, Any]:
    """Returns a copy of the mapping as any store gives it back; `NO_DETAILS` for an empty value.

    Tuples become lists. Raises UsageError for another type, and for what JSON cannot hold, wherever it is inside.
    """
    if not value:
        return NO_DETAILS
    if not isinstance(value, Mapping):
        raise UsageError(f"{what} {_shown(value)} is not a mapping", hint="give a mapping with strings as keys")
    return _as_stored(what, cast("Mapping[object, object]", value), DEEPEST)


def _as_stored(where: str, value: object, depth: int) -> Any:
    """Returns a copy of a value of details. `depth`: how many levels it may have."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float):
        if value.bit_length() > _BITS if isinstance(value, int) else not math.isfinite(value):
            raise UsageError(f"{where} {_shown(value)} is not a finite number of 64 bits", hint="keep it as a string")
        return value
    if depth and isinstance(value, Mapping):
        found = dict(cast("Mapping[object, object]", value))
        for key in found:
            if not isinstance(key, str):
                raise UsageError(f"{where} has the key {_shown(key)}", hint="give strings as keys")
        return {key: _as_stored(f"{where}.{key}"[:_LONGEST_PLACE], one, depth - 1) for key, one in found.items()}
    if depth and isinstance(value, list | tuple):
        return [_as_stored(where, one, depth - 1) for one in cast("Sequence[object]", value)]
    if isinstance(value, Mapping | list | tuple):
        raise UsageError(f"{where} has more than {DEEPEST} levels", hint="keep it as a string, such as its JSON")
    hint = "keep strings, numbers, true, false, null, lists and mappings: of a moment its `isoformat()`"
    raise UsageError(f"{where} {_shown(value)} cannot be stored", hint=hint)


def checked_count(what: str, value: object, lowest: int) -> int:
    """Returns a whole number (NumPy's included) of at least `lowest`. Raises UsageError."""
    try:
        number = int(index(value))  # pyright: ignore[reportArgumentType] - this is the check
    except TypeError:
        number = lowest - 1
    if number < lowest:
        raise UsageError(
            f"{what} {_shown(value)} is not a whole number of at least {lowest}",
            hint=f"give a whole number, at least {lowest}",
        )
    return number


def checked_number(what: str, value: object, hint: str) -> float:
    """Returns a real number other than NaN. Raises UsageError."""
    if not isinstance(value, Real) or math.isnan(value):
        raise UsageError(f"{what} {_shown(value)} is not a number", hint=hint)
    return cast(float, value)


def checked_share(what: str, value: object) -> float:
    """Returns a number from 0 to 1. Raises UsageError."""
    share = checked_number(what, value, hint := "give a number from 0 to 1")
    if not 0 <= share <= 1:
        raise UsageError(f"{what} {_shown(value)} is not from 0 to 1", hint=hint)
    return share


def checked_ids(ids: Iterable[object]) -> tuple[int, ...]:
    """Ids of memories, each once, in the order given. Raises UsageError for anything but whole numbers."""
    try:
        return tuple(dict.fromkeys(int(index(id)) for id in ids))  # pyright: ignore[reportArgumentType] - as above
    except TypeError as error:
        raise UsageError(f"ids {_shown(ids)} are not whole numbers", hint="give a sequence such as [1, 2]") from error


def checked_embedding(vector: Any, embedder: Embedder) -> Vector | None:
    """Returns a vector that a caller gives, as float32; None stays None.

    Raises UsageError as `checked_vector`, for another size than the embedder's, and for NaN and infinity.
    """
    found = checked_vector(vector)
    if found is None:
        return None
    reason, _ = usable(found, embedder.dimensions)
    if reason == WRONG_SIZE:
        size = str(len(found)) if found.ndim == 1 else f"the shape {found.shape}"
        hint = f"give a vector of the stream's embedder, {embedder.name}; to bring vectors of your own, open the stream"
        raise UsageError(
            f"an embedding has {size}, expected {embedder.dimensions} numbers",
            hint=f"{hint} with GivenVectors(name, dimensions)",
        )
    if reason == NON_FINITE:
        hint = "give finite numbers within float32, or None for a memory without a vector"
        raise UsageError("an embedding has NaN or infinity in it", hint=hint)
    return found


def checked_vector(vector: Any) -> Vector | None:
    """Numbers as float32, of any shape; None stays None. Raises UsageError for anything but a sequence of numbers."""
    if vector is None:
        return None
    try:
        numbers = np.asarray(vector)
    except ValueError:  # a ragged sequence
        numbers = np.empty(0, dtype=object)
    if numbers.dtype.kind not in "biuf":
        raise UsageError(
            f"embedding {_shown(vector)} is not a sequence of numbers", hint="give a sequence of numbers, or None"
        )
    with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and so counts as no usable vector
        return numbers.astype(np.float32, copy=False)


def checked_policy(policy: Policy) -> Policy:
    """Returns the policy unchanged. Raises UsageError for anything else, a policy's name included."""
    if not isinstance(policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance] - callers do pass names
        raise UsageError(
            f"policy {_shown(policy)} is not a Policy", hint='give policies.PARK, or policies.by_name("park")'
        )
    return policy


def checked_importance(importance: float) -> float:
    """Returns the importance, clamped to 1–10. Raises UsageError for NaN and for what is not a number."""
    try:
        value = float(importance)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if math.isnan(value):
        raise UsageError(
            f"importance {_shown(importance)} is not a number", hint="give 1 to 10, or None to have it rated"
        )
    return min(10.0, max(1.0, value))


def checked_kind(kind: str) -> Kind:
    """Returns the kind unchanged. Raises UsageError for an unknown one."""
    if kind not in KINDS:
        raise UsageError(f"kind {_shown(kind)} is unknown", hint=f"the kinds are {', '.join(KINDS)}")
    return kind


def checked_text(text: str) -> tuple[str, str]:
    """Returns (the cleaned text, cut to 2,000 characters; the whole cleaned text). Raises UsageError for an empty
    text."""
    whole = clean(checked_string("text", text))
    if not whole:
        raise UsageError(f"text {_shown(text)} is empty", hint="give at least one visible character")
    return whole[:MAX_TEXT].rstrip(), whole


def checked_emotion(emotion: object) -> Emotion | None:
    """Returns the emotion, or None. Raises UsageError for anything else."""
    if emotion is None or isinstance(emotion, Emotion):
        return emotion
    raise UsageError(f"emotion {_shown(emotion)} is not an Emotion", hint="give an Emotion, or None")


def checked_time(at: object) -> datetime:
    """Returns simulated time in UTC. Raises UsageError for anything but a datetime, and for one that UTC cannot
    express."""
    if not isinstance(at, datetime):
        raise UsageError(f"time {_shown(at)} is not a datetime", hint="give a datetime; a naive one is taken as UTC")
    try:
        return utc(at)
    except OverflowError as error:
        raise UsageError(f"time {at} is out of range", hint="give a time in the years 1 to 9999 of UTC") from error


def checked_citations(kind: Kind, citations: Sequence[int], exists: Callable[[int], bool]) -> tuple[int, ...]:
    """Returns the ids cited, each once, in the order given. Raises UsageError.

    Observations and actions cite nothing, a reflection cites at least one existing memory, a plan may.
    """
    if isinstance(citations, tuple) and not citations and kind != "reflection":
        return ()  # as most
    ids = checked_ids(citations)
    if ids and kind in ("observation", "action"):
        raise UsageError(f"{kind} has citations {ids}", hint="only plans and reflections cite other memories")
    if kind == "reflection" and not ids:
        raise UsageError("reflection has no citations", hint="give the ids of the memories it rests on")
    for cited in ids:
        if not exists(cited):
            raise UsageError(f"cited memory {cited} does not exist", hint="cite memories that exist at this moment")
    return ids


def checked_truth(
    created: datetime,
    fields: MemoryFields,
    found: Callable[[int], Memory | None],
    before: Mapping[str, Any] = NO_DETAILS,
) -> dict[str, Any]:
    """Returns `supersedes`, `valid_from` and `valid_until` as details have them; only what was given.

    `created`: when the memory was made. `found` returns an earlier memory. `before`: the details of now, which count
    where a time is not given. Raises UsageError for what is superseded and does not exist or is not older, and for a
    memory that ends before it begins.
    """
    given = fields.get("supersedes")
    if not (before or given) and fields.get(VALID_FROM) is None and fields.get(VALID_UNTIL) is None:
        return {}  # most memories
    truth: dict[str, Any] = {}
    if given is not None and (before or given):
        for id in (ids := checked_ids(given)):
            if (old := found(id)) is None:
                raise UsageError(f"superseded memory {id} does not exist", hint="give ids of earlier memories")
            if old.created_at > created:
                what = f"superseded memory {id} is of {iso(old.created_at)}, later than {iso(created)}"
                raise UsageError(what, hint="the later one supersedes the earlier one")
        truth[SUPERSEDES] = list(ids)
    for name in (VALID_FROM, VALID_UNTIL):
        if (moment := fields.get(name)) is not None:
            truth[name] = iso(checked_time(moment))
    first, last = (_moment(truth.get(name, before.get(name))) for name in (VALID_FROM, VALID_UNTIL))
    if first and last and first > last:
        hint = "give the earlier time as valid_from"
        raise UsageError(f"valid_until {iso(last)} is before valid_from {iso(first)}", hint=hint)
    return truth


def checked_names(what: str, value: Collection[str]) -> tuple[str, ...]:
    """Returns a tuple of cleaned names. Raises UsageError for anything but a collection of strings.

    A single string is refused too: it would be taken letter by letter.
    """
    if isinstance(value, str):
        raise UsageError(f"{what} {_shown(value)} is a single string", hint=f"give a sequence: ({_shown(value)},)")
    try:
        return _cleaned(tuple(value))
    except (TypeError, UsageError) as error:
        raise UsageError(f"{what} {_shown(value)} is not a sequence of strings", hint="give a list of names") from error


@lru_cache(maxsize=1024)  # names recur: a character remembers many things in few places
def _cleaned(value: tuple[object, ...]) -> tuple[str, ...]:
    return tuple(clean(checked_string("name", name)) for name in value)


def _shown(value: object) -> str:
    """Returns the value as an error repeats it, cut short."""
    return f"{value!r:.60}"
