"""The coordinate document: one memory by time, space, agent, emotion and content, and its conversion to a record.

`MemoryCoordinate` is the nested document that people and other programs read and write; `Memory` is the record a stream
works with. `to_memory` and `from_memory` convert in both directions and lose nothing, unknown fields included.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, ClassVar, NamedTuple, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    InstanceOf,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from commonplace.clock import iso, parse_iso, utc
from commonplace.errors import UsageError
from commonplace.memory.importance import scaled, unscaled
from commonplace.memory.record import KINDS, Emotion, Kind, Memory, checked_text
from commonplace.rng import Key, draw
from commonplace.text import clean, shortened

# ── The document ─────────────────────────────────────────────────────────────────────────────────────────────────────


class CheckedModel(BaseModel):
    """A Pydantic model that raises UsageError, naming the field, for a value that does not fit."""

    model_config = ConfigDict(defer_build=True, strict=True)
    path: ClassVar[str] = ""
    """Where the model stands in its document, for messages."""

    @model_validator(mode="wrap")
    @classmethod
    def _name_the_field(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(data)
        except ValidationError as error:
            raise cls._explained(error) from error

    @classmethod
    def _explained(cls, error: ValidationError) -> UsageError:
        findings = error.errors(include_url=False)
        name, value = next(iter(findings[0]["loc"]), ""), findings[0]["input"]
        field = ".".join(str(part) for part in (cls.path, name) if part != "") or "the document"
        if findings[0]["type"] == "extra_forbidden":
            return UsageError(f"{field} is not a known key", hint=f"expected one of {', '.join(cls.model_fields)}")
        about_field = [one["msg"] for one in findings if one["loc"][:1] == findings[0]["loc"][:1]]
        expected = dict.fromkeys(message.removeprefix("Input should be ") for message in about_field)
        return UsageError(f"{field} is {value!r:.80}", hint=f"expected {' or '.join(expected)}")


def _listed(value: Any) -> Any:
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def _timestamp(value: Any) -> Any:
    return iso(value) if isinstance(value, datetime) else value


def _parsable(value: str) -> str:
    try:
        parse_iso(value)
    except (ValueError, OverflowError) as error:
        raise PydanticCustomError("timestamp", "ISO 8601, such as 2025-10-12T09:30:22Z") from error
    return value


# Pydantic's own `str` refuses lone surrogates, which another program's files may hold.
Text = InstanceOf[str]
Names = Annotated[list[Text], BeforeValidator(_listed)]
# A union keeps 1 and 1.0 apart, so that a document is written back as it was read.
Number = int | FiniteFloat
Share = Annotated[Number, Field(ge=0, le=1)]
Timestamp = Annotated[Text, BeforeValidator(_timestamp), AfterValidator(_parsable)]
Object = dict[Text, Any]


class Section(CheckedModel):
    """A group of coordinates. Fields the schema does not have are kept, and can be read from `model_extra`."""

    model_config = ConfigDict(defer_build=True, extra="allow")

    def to_dict(self) -> dict[str, Any]:
        """Returns the section as it is written in a document."""
        return {**self.__dict__, **(self.__pydantic_extra__ or {})}  # several times as fast as `dict(self)`


class TimeCoordinate(Section):
    """When the memory was made, within its session."""

    path = "time"
    session_id: Text = ""
    sequence: Number = 0
    """Position in the session."""
    relative_time_minutes: Number = 0.0
    """Minutes since the session began."""


class SpaceCoordinate(Section):
    """What the memory is about."""

    path = "space"
    project: Text = ""
    domain: Text = ""
    file_context: Names = Field(default_factory=list)
    depth_index: Number = 1
    """Depth of recursion."""


class AgentCoordinate(Section):
    """Who remembers."""

    path = "agent"
    persona_id: Text = ""
    persona_name: Text = ""
    role: Text = ""
    backend: Text = ""
    """The model or service that answered for the persona."""
    user_id: Text = ""
    """Whose session it was, where several people use a store; left out of the document while empty."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the section as it is written in a document."""
        section = super().to_dict()
        return section if self.user_id else {name: value for name, value in section.items() if name != "user_id"}


class EmotionCoordinate(Section):
    """What was felt; all zero if unknown."""

    path = "emotion"
    affect_amplitude: Share = 0.0
    """0 (calm) to 1 (aroused)."""
    sentiment_score: Annotated[Number, Field(ge=-1, le=1)] = 0.0
    """−1 (unpleasant) to 1 (pleasant)."""
    confidence: Share = 0.0
    keywords: Names = Field(default_factory=list)


LONGEST_DIGEST = 500
"""Characters of `content.prompt_digest`."""


class Content(Section):
    """What is remembered."""

    path = "content"
    type: Text = "persona_response"
    """`user_input`, `persona_response`, `system_event`, or a record's kind."""
    prompt_digest: Annotated[Text, AfterValidator(lambda text: shortened(text, LONGEST_DIGEST))] = ""
    """What was asked; cut at LONGEST_DIGEST characters."""
    response_full: Text = ""
    response_summary: Text | None = None
    token_count: Number = 0


class Metadata(Section):
    """How the memory is rated and labelled."""

    path = "metadata"
    importance: Share | None = None
    """0 to 1; None to have `MemoryStore` compute it."""
    tags: Names = Field(default_factory=list)
    user_rating: Annotated[Number, Field(ge=1, le=5)] | None = None
    """1 to 5 stars."""
    phase_injection_applied: bool = False
    error_occurred: bool = False
    bqi_snapshot: Object | None = None


class Relations(Section):
    """Other memories, by `memory_id`."""

    path = "relations"
    parent_memory_id: Text | None = None
    child_memory_ids: Names = Field(default_factory=list)
    related_memory_ids: Names = Field(default_factory=list)


class MemoryCoordinate(Section):
    """A memory by its coordinates. Sections may be given as mappings, the timestamp as a datetime.

    Raises UsageError for a value that does not fit its field.
    """

    memory_id: Text = ""
    """`mem_20251012_093022_a4f3`; empty to have the store choose one."""
    timestamp: Timestamp
    """ISO 8601, kept as written; UTC if it names no zone."""
    time: TimeCoordinate = Field(default_factory=TimeCoordinate)
    space: SpaceCoordinate = Field(default_factory=SpaceCoordinate)
    agent: AgentCoordinate = Field(default_factory=AgentCoordinate)
    emotion: EmotionCoordinate = Field(default_factory=EmotionCoordinate)
    content: Content = Field(default_factory=Content)
    metadata: Metadata = Field(default_factory=Metadata)
    relations: Relations = Field(default_factory=Relations)
    memory: Object = Field(default_factory=dict)
    """The fields that only a record has: its number, kind, place, citations …"""

    @property
    def at(self) -> datetime:
        """The timestamp as a moment, UTC."""
        return parse_iso(self.timestamp)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> MemoryCoordinate:
        """Reads the document in a JSON object. Raises UsageError for a value that does not fit its field."""
        return cls.model_validate(document)

    def to_dict(self) -> dict[str, Any]:
        """Returns the nested document, keys in the order of the schema; `memory` only if it holds something."""
        document = super().to_dict()
        for kind in SECTIONS:
            document[kind.path] = document[kind.path].to_dict()
        if not self.memory:
            del document["memory"]
        return document


SECTIONS: tuple[type[Section], ...] = (
    TimeCoordinate,
    SpaceCoordinate,
    AgentCoordinate,
    EmotionCoordinate,
    Content,
    Metadata,
    Relations,
)
_SECTION_NAMES = frozenset(kind.path for kind in SECTIONS)


# ── Ids ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


_SHORT_ATTEMPTS = 64
"""Ids of four digits to try before the id becomes longer."""


def new_memory_id(at: datetime, *key: Key, digits: int = 4) -> str:
    """Makes an id such as `mem_20251012_093022_a4f3` from simulated time and a key; the same key gives the same id."""
    moment = utc(at)
    date = f"{moment.year:04d}{moment.month:02d}{moment.day:02d}"
    time = f"{moment.hour:02d}{moment.minute:02d}{moment.second:02d}"
    return f"mem_{date}_{time}_{draw(*key) & (16**digits - 1):0{digits}x}"


def unused_id(at: datetime, taken: Container[str], *key: Key) -> str:
    """Returns the first new id that is not taken: four digits, or twelve if one second holds very many memories."""
    attempt = 0
    while (name := new_memory_id(at, *key, attempt, digits=4 if attempt < _SHORT_ATTEMPTS else 12)) in taken:
        attempt += 1
    return name


# ── Document and record ──────────────────────────────────────────────────────────────────────────────────────────────
#
# A table pairs each field of the document with its place in the record. Two additions make the conversion lossless:
# the document's `memory` holds what the table cannot say of a record, and the record's `details["coordinate"]` holds
# what the document says differently from the table. Both hold only differences, so a plain document stays plain.


def _importance(share: float | None) -> float:
    return scaled(0.5 if share is None else share)


def _tags(tags: list[str]) -> tuple[str, ...]:
    return tuple(clean(tag) for tag in tags)


def _unchanged(value: Any) -> Any:
    return value


class _Row(NamedTuple):
    section: str
    field: str
    group: str
    """`details` or `emotion`; empty for an attribute of the record."""
    name: str
    to_document: Callable[[Any], Any]
    to_record: Callable[[Any], Any]


def _row(
    document: str,
    record: str,
    to_document: Callable[[Any], Any] = _unchanged,
    to_record: Callable[[Any], Any] = _unchanged,
) -> _Row:
    """Makes a row of a field from its path in the document and its path in the record."""
    section, _, field = document.partition(".")
    group, _, name = record.rpartition(".")
    return _Row(section, field, group, name, to_document, to_record)


# `content.type` and `content.response_full` are handled apart: each depends on several fields of the record.
_TABLE = (
    _row("time.session_id", "session"),
    _row("agent.persona_id", "agent"),
    _row("emotion.affect_amplitude", "emotion.arousal"),
    _row("emotion.sentiment_score", "emotion.valence"),
    _row("emotion.confidence", "emotion.confidence"),
    _row("emotion.keywords", "emotion.keywords", list, tuple),
    _row("metadata.importance", "importance", unscaled, _importance),
    _row("metadata.tags", "tags", list, _tags),
    *(
        _row(f"{section}.{field}", f"details.{field}")
        for section, fields in {
            "time": ("sequence", "relative_time_minutes"),
            "space": ("project", "domain", "file_context", "depth_index"),
            "agent": ("persona_name", "role", "backend", "user_id"),
            "content": ("prompt_digest", "response_summary", "token_count"),
            "metadata": ("user_rating", "phase_injection_applied", "error_occurred", "bqi_snapshot"),
            "relations": ("parent_memory_id", "child_memory_ids", "related_memory_ids"),
        }.items()
        for field in fields
    ),
)
_DEFAULTS = {(kind.path, name): value for kind in SECTIONS for name, value in kind()}
_KINDS: Mapping[str, Kind] = {
    "user_input": "observation",
    "persona_response": "action",
    "system_event": "observation",
    **{kind: kind for kind in KINDS},
}
_IN_MEMORY: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    **dict.fromkeys(("tick", "source", "event", "text", "kind", "session", "agent"), (_unchanged, _unchanged)),
    **dict.fromkeys(("citations", "place", "tags"), (list, tuple)),
    "importance": (_unchanged, _unchanged),
    "accessed_at": (iso, parse_iso),
}
"""Attributes of a record that `memory` holds where the table gives another value: (to JSON, from JSON)."""
_ABSENT = "without"
"""The key of `memory` that lists details which the table gives and the record does not have."""
_COORDINATE = "coordinate"
"""The key of a record's `details` for what its document says differently from the table."""


def to_memory(document: MemoryCoordinate, id: int = 0) -> Memory:
    """Returns the record of a document. `id`: its number in its character's stream, if the document does not say.

    Raises UsageError for a document without text, and for one whose `memory` cannot be read.
    """
    memory = _read(document, id)
    different = _differences(_written(memory, document.memory_id).to_dict(), document.to_dict())
    return replace(memory, details={**memory.details, _COORDINATE: different}) if different else memory


def from_memory(memory: Memory, memory_id: str = "") -> MemoryCoordinate:
    """Returns the document of a record. `memory_id`: its id if its details name none; made from its time if empty."""
    different: Any = memory.details.get(_COORDINATE)
    if isinstance(different, dict):
        plain = replace(memory, details=_without(memory.details, _COORDINATE))
        document = _with_differences(_written(plain, memory_id).to_dict(), cast("dict[str, Any]", different))
        # Where the record has changed since its document was read, its present values count.
        if document is not None and to_memory(document) == memory:
            return document
    return _written(memory, memory_id)


def with_importance(memory: Memory, importance: float) -> Memory:
    """Returns the record with another importance (1–10), which replaces the one in the document it came from."""
    different: Any = memory.details.get(_COORDINATE)
    metadata: Any = cast("dict[str, Any]", different).get("metadata") if isinstance(different, dict) else None
    if isinstance(metadata, dict) and "importance" in metadata:
        rest = _without(cast("dict[str, Any]", metadata), "importance")
        different = _without(cast("dict[str, Any]", different), "metadata") | ({"metadata": rest} if rest else {})
        details = _without(memory.details, _COORDINATE) | ({_COORDINATE: different} if different else {})
        memory = replace(memory, details=details)
    return replace(memory, importance=importance)


def _written(memory: Memory, memory_id: str) -> MemoryCoordinate:
    """Makes the document by the table, and puts into its `memory` what the table does not say."""
    named = memory.details.get("memory_id")
    if isinstance(named, str) and named:
        memory_id = named
    values: dict[str, dict[str, Any]] = {kind.path: {} for kind in SECTIONS}
    for row in _TABLE:
        value = _value(memory, row)
        if value is not ...:
            values[row.section][row.field] = row.to_document(value)
    values["content"] |= {"type": _type_of(memory), "response_full": _response_of(memory)}
    document = MemoryCoordinate(
        memory_id=memory_id or new_memory_id(memory.created_at, memory.agent, memory.id),
        timestamp=iso(memory.created_at),
        **cast(Any, {kind.path: _fitting(kind, values[kind.path]) for kind in SECTIONS}),
    )
    document.memory = _remainder(memory, document)
    return document


def _value(memory: Memory, row: _Row) -> Any:
    """Returns the value of a field in the record; `...` if the record has none."""
    if row.group == "details":
        return memory.details.get(row.name, ...)
    return getattr(memory.emotion if row.group == "emotion" else memory, row.name, ...)


def _fitting(kind: type[Section], values: dict[str, Any]) -> Section:
    """Makes the section. Details are free: one that does not fit the schema is left out, and stays in `memory`."""
    try:
        return kind(**values)
    except UsageError as error:
        unfit = {one["loc"][0] for one in cast(ValidationError, error.__cause__).errors()}
        return kind(**{name: value for name, value in values.items() if name not in unfit})


def _type_of(memory: Memory) -> str:
    kind = memory.details.get("content_type")
    return kind if isinstance(kind, str) and _KINDS.get(kind, "observation") == memory.kind else memory.kind


def _response_of(memory: Memory) -> str:
    original = memory.details.get("response_full")
    whole = memory.full_text
    return original if isinstance(original, str) and clean(original) == whole else str(whole)


def _read(document: MemoryCoordinate, id: int = 0) -> Memory:
    """Makes the record by the table and the document's `memory`."""
    record, content = document.memory, document.content
    values: dict[str, dict[str, Any]] = {"": {}, "emotion": {}, "details": {}}
    details = values["details"]
    for row in _TABLE:
        value = getattr(getattr(document, row.section), row.field)
        if row.group != "details" or not _same(value, _DEFAULTS[row.section, row.field]):
            values[row.group][row.name] = row.to_record(value)
    text, whole = (record["text"], "") if "text" in record else checked_text(content.response_full)
    if document.memory_id:
        details["memory_id"] = document.memory_id
    if content.type not in KINDS:
        details["content_type"] = content.type
    if len(whole) > len(text):
        details["full_text"] = whole
    if whole and whole != content.response_full:
        details["response_full"] = content.response_full
    memory = Memory(
        id=record.get("id", id),
        kind=_KINDS.get(content.type, "observation"),
        text=text,
        created_at=document.at,
        accessed_at=document.at,
        tick=0,
        emotion=Emotion(**values["emotion"]) if record.get("felt") or any(values["emotion"].values()) else None,
        details=details,
        **values[""],
    )
    try:
        changes = {name: decode(record[name]) for name, (_, decode) in _IN_MEMORY.items() if name in record}
        if "details" in record or _ABSENT in record:
            absent = record.get(_ABSENT, ())
            kept = {key: value for key, value in details.items() if key not in absent}
            changes["details"] = kept | record.get("details", {})
    except (TypeError, ValueError) as error:
        hint = "expected `memory` as it was written; leave it out to do without it"
        raise UsageError(f"memory is {record!r:.200}", hint=hint) from error
    return replace(memory, **changes) if changes else memory


def _remainder(memory: Memory, document: MemoryCoordinate) -> dict[str, Any]:
    """Returns the part of the record that would be lost on reading the document."""
    rest: dict[str, Any] = {"id": memory.id} if memory.id else {}
    if not clean(document.content.response_full):  # no text could be read from it
        rest["text"] = memory.text
    document.memory = rest
    usual = _read(document)
    for name, (encode, _) in _IN_MEMORY.items():
        value = getattr(memory, name)
        if getattr(usual, name) != value:
            rest[name] = encode(value)
    if memory.emotion is not None and usual.emotion is None:
        rest["felt"] = True  # an emotion whose figures are all zero
    more = {key: value for key, value in memory.details.items() if not _same(usual.details.get(key, ...), value)}
    surplus = [key for key in usual.details if key not in memory.details]
    return rest | ({"details": more} if more else {}) | ({_ABSENT: surplus} if surplus else {})


def _differences(usual: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of a document that differs from the usual one or adds to it."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        if key in _SECTION_NAMES:
            if within := {name: one for name, one in value.items() if not _same(usual[key].get(name, ...), one)}:
                found[key] = within
        elif key not in ("memory_id", "memory") and not _same(usual.get(key, ...), value):
            found[key] = value
    return found


def _with_differences(document: dict[str, Any], different: Mapping[str, Any]) -> MemoryCoordinate | None:
    """Puts what `_differences` has found into the usual document; returns None if the result is not a document."""
    for key, value in different.items():
        within = key in _SECTION_NAMES and isinstance(value, dict)
        document[key] = {**document[key], **value} if within else value
    try:
        return MemoryCoordinate.from_dict(document)
    except UsageError:
        return None


def _same(one: Any, other: Any) -> bool:
    """Equal and of one type: 1, 1.0 and True are written differently."""
    return one is other or (type(one) is type(other) and one == other)


def _without(mapping: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name != key}
