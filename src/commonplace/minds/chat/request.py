"""A request: a prompt as the body a server takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from commonplace.minds.asking import Ask
from commonplace.minds.chat.capabilities import SWITCHES, Capabilities, Structure
from commonplace.minds.mind import Asker
from commonplace.minds.prompts.prompt import Prompt
from commonplace.rng import draw

THINKING_ROOM = 2000
"""Tokens an answer may have on top when a model cannot be kept from thinking."""
_BOUNDS = frozenset({"minLength", "maxLength"})
"""Keywords some servers refuse; what they say is checked when the answer is read."""


def chat_body(prompt: Prompt, can: Capabilities, structure: Structure, seed: int) -> dict[str, Any]:
    """The body of `/chat/completions`."""
    body: dict[str, Any] = {
        "model": can.model,
        "messages": _messages(prompt, structure, slash=can.switch == "slash"),
        can.length: prompt.max_tokens + (THINKING_ROOM if can.thinks else 0),
        **SWITCHES[can.switch],
        **_form(prompt, structure, bounds=can.bounds),
    }
    if can.temperature:
        body["temperature"] = prompt.temperature
    if can.seed:
        body["seed"] = seed
    return body


def seed_of(ask: Ask[Any, Any], asker: Asker) -> int:
    """The sampling seed of a question, 31 bits: all servers take them."""
    return draw(asker.seed, asker.agent, asker.tick, ask.task.name, asker.number, asker.attempt, "seed") >> 33


def typed_field(ask: Ask[Any, Any], asker: Asker) -> dict[str, Any]:
    """What a test server is told besides, so that it can answer by rules. No other server gets it."""
    key = {name: getattr(asker, name) for name in ("seed", "agent", "tick", "number", "attempt")}
    return {"commonplace": {"task": ask.task.name, "input": ask.input.model_dump(mode="json"), "asker": key}}


def _messages(prompt: Prompt, structure: Structure, *, slash: bool) -> list[dict[str, str]]:
    messages = [{"role": message.role, "content": message.text} for message in prompt.messages]
    if structure == "text" and prompt.schema:
        schema = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
        messages[-1]["content"] += f"\n\nAnswer with one JSON object of this JSON Schema and nothing else:\n{schema}"
    if slash:
        messages[-1]["content"] += " /no_think"
    return messages


def _form(prompt: Prompt, structure: Structure, *, bounds: bool) -> dict[str, Any]:
    """The fields that ask for an answer of the prompt's shape."""
    schema = prompt.schema if bounds else _unbounded(prompt.schema)
    match structure:
        case "json_schema":
            named = {"name": prompt.task, "strict": True, "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": "json_object", "schema": schema}}
        case "tool":
            function = {"name": prompt.task, "description": "The answer.", "parameters": schema}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": prompt.task}},
            }
        case "text":
            return {}


def _unbounded(schema: Any) -> Any:
    """A schema without bounds of length; a property that happens to have such a name stays."""
    if isinstance(schema, Mapping):
        named = cast("Mapping[str, Any]", schema)
        return {name: _unbounded(value) for name, value in named.items() if not _is_bound(name, value)}
    if isinstance(schema, (list, tuple)):
        return [_unbounded(item) for item in cast("list[Any]", schema)]
    return schema


def _is_bound(name: str, value: object) -> bool:
    return name in _BOUNDS and isinstance(value, int)
