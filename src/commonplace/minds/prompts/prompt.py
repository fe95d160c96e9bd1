"""A prompt: a question put into words, with the shape its answer must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a model. What changes least stands first, so that servers can reuse what they have read."""

    task: str
    messages: tuple[Message, ...]
    schema: Mapping[str, Any]
    """JSON Schema of the answer, an object without `$ref`; ids and targets are enumerated."""
    max_tokens: int
    temperature: float
    memories: int = 0
    """How many retrieved memories it shows: the prompt can be shortened by so many."""

    @property
    def text(self) -> str:
        """The whole of it, for people."""
        return "\n\n".join(f"[{message.role}]\n{message.text}" for message in self.messages)


class Unusable(ValueError):
    """An answer that cannot be used. The message says what is wrong, to be quoted when it is asked for again."""

    def __init__(self, what: str, kind: str) -> None:
        """`kind`: one word to count it by: `json`, `schema`, `range`, `unknown_id`, `empty`, `language`, `leak` …"""
        super().__init__(what)
        self.kind = kind
