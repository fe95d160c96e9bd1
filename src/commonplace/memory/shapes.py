"""The shapes that memories and scores have as JSON. Only what describes them to others imports this when it runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict  # before Python 3.12, Pydantic reads no other


class EmotionJSON(TypedDict):
    """An emotion as the public contract has it."""

    valence: float
    arousal: float
    confidence: float
    keywords: Sequence[str]


class MemoryJSON(TypedDict):
    """A memory as the public contract has it: every field of the record but the vector."""

    id: int
    agent: str
    kind: str
    text: str
    created_at: str
    accessed_at: str
    tick: int
    importance: float
    citations: Sequence[int]
    place: Sequence[str]
    emotion: EmotionJSON | None
    source: str
    session: str
    tags: Sequence[str]
    event: str
    details: Mapping[str, Any]


class PartJSON(TypedDict):
    """A part of a score, to which it adds weight × normalised."""

    raw: float
    normalised: float
    weight: float
