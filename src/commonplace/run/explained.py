"""The shapes of what a run explains, as JSON has them: why something happened, and what a character knows and means.

The terminal, the page, MCP, `why` and `agents` show these values; the types of the page are generated from them.
Moments are in ISO format. A run is a file that may come from a stranger: `why.reasons` checks what it reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter, with_config
from typing_extensions import TypedDict  # before Python 3.12, Pydantic reads no other

from commonplace.memory.shapes import MemoryJSON, PartJSON

_OPEN = ConfigDict(extra="allow")
"""What has further fields, by its kind."""


GoalStatus = Literal["open", "done", "given_up", "overtaken"]


class GoalRow(TypedDict):
    """Something a character means to do, or meant to."""

    id: str
    kind: str
    """`repair`, `promise`, `matter` or `visit`."""
    text: str
    """`bring Suki the ladder`."""
    person: str
    """Character id of whom it takes; empty for nobody else."""
    object: str
    place: str
    hour: str
    """`HH:MM`; empty for any time."""
    steps: int
    done_steps: int
    opened: str
    changed: str
    due: str
    """By when it is to be done; empty for no time."""
    tries: int
    """Attempts that failed."""
    status: GoalStatus
    because: Sequence[int]
    moved_by: int
    """The memory that caused the last change."""
    event: str
    """Event id of that memory; empty where it came from none."""
    memory: str
    """Its text; empty where it is no longer there."""


class PastRow(TypedDict):
    """Something a character knows of its own past."""

    kind: str
    """`attended`, `did`, `promised`, `kept`, `broke`; with another `told`, `heard`, `asked`, `answered` …"""
    other: str
    """Character id; empty where nobody else is concerned."""
    act: str
    """The speech act of a question."""
    topic: str
    text: str
    """What a seed fact says, or what was seen of an occasion; empty for any other topic."""
    times: int
    since: str
    time: str
    due: str
    """By when a promise is to be kept; empty for no time."""
    because: Sequence[int]
    event: str
    """Event id of the latest memory it rests on; empty where that came from none."""
    memory: str
    """The text of that memory; empty where it is no longer there."""


class Hit(TypedDict):
    """A memory that was retrieved."""

    memory: MemoryJSON | None
    """None for one that is no longer there."""
    rank: int
    score: float
    parts: Mapping[str, PartJSON]
    """Empty where memories were chosen by what they are about."""


class Retrieved(TypedDict):
    """Memories that were retrieved for a purpose, best first."""

    purpose: str
    query: str
    policy: str
    k: int
    candidates: int | None
    """Among how many; None in an old run, which does not say."""
    hits: Sequence[Hit]


@with_config(_OPEN)
class EventRow(TypedDict):
    """An event, with the further fields of its type."""

    id: str
    tick: int
    time: str
    type: str
    agent_id: str
    place: str
    doing: NotRequired[str]
    to_agent_id: NotRequired[str]
    utterance: NotRequired[str]
    because: NotRequired[Sequence[int]]
    memory_ids: NotRequired[Sequence[int]]


@with_config(_OPEN)
class PlannedItem(TypedDict):
    """An item of a plan."""

    id: str
    start_time: str
    duration_minutes: int
    location: str
    action_description: str
    object_id: str
    verb: str
    emoji: str
    because: Sequence[int]


class Planned(TypedDict):
    """The item that was followed, and the strokes of the day."""

    item: PlannedItem | None
    day: Sequence[PlannedItem]


@with_config(_OPEN)
class Reacted(TypedDict):
    """What a character decided about what is new."""

    decision: str
    reason: str
    target: NotRequired[str]
    purpose: NotRequired[str]
    because: NotRequired[Sequence[int]]


class Attempt(TypedDict):
    """One attempt to get an answer."""

    outcome: str
    kind: str
    error: str
    prompt: str
    raw: str
    seconds: float


class DecidingRow(TypedDict):
    """The row of a table of rules that decided."""

    row: str
    when: Sequence[str]
    """Its conditions with their values."""
    nearly: Sequence[tuple[str, str]]
    """Rows that would have come first, each with the first condition that failed."""


class AskedRow(TypedDict):
    """A question to the mind."""

    task: str
    prompt: str
    """What was sent to a model; the typed input where nothing was sent, or where that was trimmed."""
    answer: Any
    """JSON of the typed answer; None without a usable one."""
    outcome: str
    kind: str
    """The fault of an answer that could not be used; else empty."""
    ordinal: int
    reused: bool
    """Whether the answer came from a cache."""
    needless: bool
    """Whether it was not put to the mind, because rules could answer it."""
    flaws: Mapping[str, int]
    """Kind → how often this was wrong with an answer that was used."""
    row: DecidingRow | None
    attempts: Sequence[Attempt]
    """All of them where there was more than one, else none."""


class AuthorLine(TypedDict):
    """A line of the scenario's author that was weighed."""

    say: str
    when: Sequence[str]
    failed: str
    """The condition that kept it back; empty for one that could be said."""


class StoredRow(TypedDict):
    """What was perceived or thought, and whether it was remembered."""

    kind: str
    text: str
    importance: float
    stored: bool
    reason: str
    memory: int
    """Its id; 0 where it was not remembered."""


Link = TypedDict(
    "Link",
    {"agent": str, "memory": int | None, "from": str, "event_id": str, "tick": int | None, "read": NotRequired[str]},
)  # fmt: skip
"""How `agent` came to know: `from` whom, empty where nobody told it; `read`, in what, where it was read. `memory` is
None for what was made up."""


class Heard(Link):
    """A seed fact in what was said, how its speaker came to know it, and from there link by link to the origin."""

    fact: str
    chain: Sequence[Link]


class Delivered(TypedDict):
    """A deferred thought that arrived in the turn."""

    kind: str | None
    about: str | None
    asked_at: int | None


class Reasons(TypedDict):
    """Why an event happened."""

    event: EventRow
    explanation: str
    """A sentence for what no character did; else empty."""
    retrievals: Sequence[Retrieved]
    """The turn's own, then those of deferred thoughts that arrived in it."""
    plan: Planned
    reaction: Reacted | None
    asked: Sequence[AskedRow]
    account: Sequence[PastRow]
    """The rows of the past that what was said rests on, as they were before."""
    goals: Sequence[GoalRow]
    """The goals that it rests on, as they were before."""
    lines: Sequence[AuthorLine]
    stored: Sequence[StoredRow]
    heard_from: Sequence[Heard]
    delivered: Sequence[Delivered]
    panel: NotRequired[Mapping[str, Any]]
    """The state in which an answer of a panel was asked for."""


@cache
def checker() -> TypeAdapter[Reasons]:
    """Returns what checks that reasons have this shape; made when it is needed, which takes some milliseconds."""
    return TypeAdapter(Reasons)
