"""`MemoryCoordinate`: a memory as a nested document, every field of the founding schema, unknown ones kept."""

# ruff: noqa: RUF009 - what is called here makes a dataclass field

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self, TypeGuard, cast

from commonplace.clock import iso, parse_iso
from commonplace.errors import WrongUse

Fits = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """A string."""
    return isinstance(value, str)


def is_number(value: Any) -> TypeGuard[float]:
    """A finite number, not a truth value."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def is_flag(value: Any) -> bool:
    """True or false."""
    return isinstance(value, bool)


def is_names(value: Any) -> bool:
    """A list of strings."""
    return isinstance(value, list) and all(isinstance(one, str) for one in cast(list[Any], value))


def is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    """A mapping with string keys."""
    return isinstance(value, dict) and all(isinstance(key, str) for key in cast(dict[Any, Any], value))


def between(low: float, high: float) -> Fits:
    """A number of a range, both ends included."""
    return lambda value: is_number(value) and low <= value <= high


def _or_none(fits: Fits) -> Fits:
    return lambda value: value is None or fits(value)


def _of(fits: Fits, wanted: str, default: Any = None, factory: Any = None) -> Any:
    about: dict[str, Any] = {"fits": fits, "wanted": wanted}
    return field(default_factory=factory, metadata=about) if factory else field(default=default, metadata=about)


def _text() -> Any:
    return _of(is_text, "a string", "")


def _number(default: float) -> Any:
    return _of(is_number, "a finite number", default)


def _share(low: float = 0.0) -> Any:
    return _of(between(low, 1), f"a number from {low:g} to 1", 0.0)


def _flag() -> Any:
    return _of(is_flag, "true or false", False)


def _names() -> Any:
    return _of(is_names, "a list of strings", factory=list)


def _extra() -> Any:
    return _of(is_mapping, "a mapping", factory=dict)


class Field(NamedTuple):
    """A field of a section, and what its value has to be."""

    name: str
    fits: Fits
    wanted: str


@cache
def fields_of(section: type[Section]) -> tuple[Field, ...]:
    """The fields of a section, `extra` last."""
    return tuple(Field(one.name, one.metadata["fits"], one.metadata["wanted"]) for one in fields(section))


@cache
def _names_of(section: type[Section]) -> frozenset[str]:
    return frozenset(one.name for one in fields_of(section)) - {"extra"}


@dataclass(slots=True)
class Section:
    """One of the coordinates. Raises WrongUse for a value of another shape or outside its range."""

    section: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name, fits, wanted in fields_of(type(self)):
            value = getattr(self, name)
            if isinstance(value, tuple):
                value = list(cast(tuple[Any, ...], value))
                setattr(self, name, value)
            if not fits(value):
                raise WrongUse(f"{self.section}.{name} is {value!r}", todo=f"give {wanted}")

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """The section of a document; keys the schema does not have go into `extra`."""
        if not is_mapping(given):
            raise WrongUse(f"{cls.section} is {given!r}", todo="give a mapping")
        known = _names_of(cls)
        extra = {key: value for key, value in given.items() if key not in known}
        return cls(**{key: value for key, value in given.items() if key in known}, extra=extra)  # pyright: ignore[reportCallIssue] - every section has `extra`

    def to_dict(self) -> dict[str, Any]:
        """The section as it stands in a document."""
        plain = {one.name: getattr(self, one.name) for one in fields_of(type(self))}
        extra = plain.pop("extra")
        return plain | extra


@dataclass(slots=True)
class TimeCoordinate(Section):
    """When, within its session."""

    section: ClassVar[str] = "time"
    session_id: str = _text()
    sequence: int = _number(0)
    """Place in the session."""
    relative_time_minutes: float = _number(0.0)
    """Minutes since the session began."""
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class SpaceCoordinate(Section):
    """What it was about."""

    section: ClassVar[str] = "space"
    project: str = _text()
    domain: str = _text()
    file_context: list[str] = _names()
    depth_index: int = _number(1)
    """Depth of recursion."""
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class AgentCoordinate(Section):
    """Who remembers."""

    section: ClassVar[str] = "agent"
    persona_id: str = _text()
    persona_name: str = _text()
    role: str = _text()
    backend: str = _text()
    """What answered for the persona."""
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class EmotionCoordinate(Section):
    """What was felt; all zero where nothing is known."""

    section: ClassVar[str] = "emotion"
    affect_amplitude: float = _share()
    """0 (calm) … 1 (stirred)."""
    sentiment_score: float = _share(-1.0)
    """−1 (unpleasant) … 1 (pleasant)."""
    confidence: float = _share()
    keywords: list[str] = _names()
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class Content(Section):
    """What is remembered."""

    section: ClassVar[str] = "content"
    type: str = _of(is_text, "a string", "persona_response")
    """`user_input`, `persona_response`, `system_event`, or a kind of record."""
    prompt_digest: str = _text()
    response_full: str = _text()
    response_summary: str | None = _of(_or_none(is_text), "a string or null")
    token_count: int = _number(0)
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class Metadata(Section):
    """What is thought of it."""

    section: ClassVar[str] = "metadata"
    importance: float | None = _of(_or_none(between(0, 1)), "a number from 0 to 1, or null to have it computed")
    tags: list[str] = _names()
    user_rating: float | None = _of(_or_none(between(0, 5)), "1 to 5 stars, or null")
    phase_injection_applied: bool = _flag()
    error_occurred: bool = _flag()
    bqi_snapshot: dict[str, Any] | None = _of(_or_none(is_mapping), "a mapping or null")
    extra: dict[str, Any] = _extra()


@dataclass(slots=True)
class Relations(Section):
    """What it belongs with, by `memory_id`."""

    section: ClassVar[str] = "relations"
    parent_memory_id: str | None = _of(_or_none(is_text), "a memory id or null")
    child_memory_ids: list[str] = _names()
    related_memory_ids: list[str] = _names()
    extra: dict[str, Any] = _extra()


SECTIONS: tuple[type[Section], ...] = (
    TimeCoordinate,
    SpaceCoordinate,
    AgentCoordinate,
    EmotionCoordinate,
    Content,
    Metadata,
    Relations,
)


@dataclass(slots=True)
class MemoryCoordinate:
    """A memory by its coordinates. Sections may be given as mappings, the timestamp as a datetime.

    Raises WrongUse for a timestamp that is none and for sections of another shape.
    """

    memory_id: str = ""
    """`mem_20251012_093022_a4f3`; empty to have the store name it."""
    timestamp: str = ""
    """ISO 8601; one without a zone is UTC. Kept as it was written."""
    time: TimeCoordinate = field(default_factory=TimeCoordinate)
    space: SpaceCoordinate = field(default_factory=SpaceCoordinate)
    agent: AgentCoordinate = field(default_factory=AgentCoordinate)
    emotion: EmotionCoordinate = field(default_factory=EmotionCoordinate)
    content: Content = field(default_factory=Content)
    metadata: Metadata = field(default_factory=Metadata)
    relations: Relations = field(default_factory=Relations)
    memory: dict[str, Any] = field(default_factory=dict[str, Any])
    """What a record has and a coordinate has no place for: its number, kind, place, citations …"""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        given: Any = self.timestamp
        if isinstance(given, datetime):
            self.timestamp = iso(given)
        for kind in SECTIONS:
            value = getattr(self, kind.section)
            if not isinstance(value, kind):
                setattr(self, kind.section, kind.from_dict(value))
        if not is_text(self.memory_id) or not is_mapping(self.memory):
            raise WrongUse(f"memory_id {self.memory_id!r}, memory {self.memory!r}", todo="give a string and a mapping")
        _ = self.at

    @property
    def at(self) -> datetime:
        """The timestamp as a moment, UTC."""
        try:
            return parse_iso(self.timestamp)
        except (TypeError, ValueError, OverflowError) as error:
            todo = "give ISO 8601, such as 2025-10-12T09:30:22Z"
            raise WrongUse(f"timestamp {self.timestamp!r}", todo=todo) from error

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> MemoryCoordinate:
        """A document as JSON gives it. Raises WrongUse for one of another shape."""
        if not is_mapping(given):
            raise WrongUse(f"a document that is {given!r:.80}", todo="give a mapping")
        extra = {key: value for key, value in given.items() if key not in _DOCUMENT}
        return cls(**{key: value for key, value in given.items() if key in _DOCUMENT}, extra=extra)

    def to_dict(self) -> dict[str, Any]:
        """The nested document, keys in the order of the schema."""
        plain: dict[str, Any] = {"memory_id": self.memory_id, "timestamp": self.timestamp}
        for kind in SECTIONS:
            plain[kind.section] = getattr(self, kind.section).to_dict()
        if self.memory:
            plain["memory"] = self.memory
        return {**plain, **self.extra}


_DOCUMENT = frozenset(one.name for one in fields(MemoryCoordinate)) - {"extra"}
