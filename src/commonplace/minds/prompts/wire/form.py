"""A task's wire form: the shape asked for, how an answer in it is read, and how a typed one is written in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.fields import Fields
from commonplace.minds.prompts.wire.shapes import Schema


@dataclass(frozen=True, slots=True)
class Form:
    """`read` undoes `written`. `schema` asks for exactly what the input offers."""

    schema: Callable[[Any], Schema]
    read: Callable[[Any, Fields, Ear], Any]
    written: Callable[[Any, Any], dict[str, Any]]
