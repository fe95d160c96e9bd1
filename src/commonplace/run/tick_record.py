"""What one committed tick consists of: the value that the engine hands to the run file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from commonplace.memory.draft import Delta
from commonplace.world.events import Event


@dataclass(frozen=True, slots=True)
class Version:
    """A state as of a tick. The state at t is the last version ≤ t; a value of None means it is gone."""

    owner: str
    """Character, object or area id; `-` for the world."""
    kind: str
    """One of `BY_NAME` in `versions.py`; `setting` for those of the run."""
    key: str
    """Plan item, believed node, acquaintance, row of an account, sentence or field; empty where the owner has one value
    of the kind."""
    value: Any
    """JSON without floats."""


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One attempt to have a question answered."""

    agent: str
    tick: int
    ordinal: int
    attempt: int
    task: str
    request: bytes
    """Digest of task and typed input: the key under which a replay finds the answer."""
    outcome: str
    """`value`, `malformed` or `fault`."""
    body: bytes
    """The validated answer as canonical JSON; empty unless the outcome is `value`."""
    usage: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """prompt_tokens, cached_tokens, answer_tokens, model; what a mind reports. Not part of any digest."""


@dataclass(frozen=True, slots=True)
class InputRow:
    """An outside influence and the tick it was applied at."""

    seq: int
    tick: int
    """−1 until it gets a tick."""
    body: Mapping[str, Any]

    def stamped(self, tick: int) -> InputRow:
        """The same influence, taking effect at the end of a tick."""
        return InputRow(self.seq, tick, self.body)


@dataclass(frozen=True, slots=True)
class TickRecord:
    """Everything one tick adds to a run. All tuples are in canonical order (character, then ordinal or id)."""

    tick: int
    events: tuple[Event, ...]
    deltas: Mapping[str, Delta]
    """Memories added and accesses, by character (sorted); characters with none are left out."""
    versions: tuple[Version, ...]
    answers: tuple[AnswerRow, ...]
    """The answers used in this tick, journaled already or not."""
    inputs: tuple[InputRow, ...] = ()
    traces: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    removed: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    """Ids of the memories forgotten in this tick, by character."""
