"""A request: a prompt as the body a server takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from commonplace.minds.chat.page import Page
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.prompts.prompt import Prompt
from commonplace.rng import draw

# ── capabilities ─────────────────────────────────────────────────────────────────────────────────────────────────────
# Capabilities: what a server and model were found to take.


Structure = Literal["json_schema", "json_object", "tool", "text"]

STRUCTURES: tuple[Structure, ...] = ("json_schema", "json_object", "tool", "text")
"""Ways to get a structured answer, the best first: a JSON Schema as response format; the same as llama-cpp-python
takes it; a forced tool call; a schema in the prompt."""

SWITCHES: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "effort": {"reasoning_effort": "none"},
    "minimal": {"reasoning_effort": "minimal"},
    "low": {"reasoning_effort": "low"},
    "template": {"chat_template_kwargs": {"enable_thinking": False}},
    "slash": {},
}
"""Ways to switch thinking off, as fields of a request; `slash` writes `/no_think` into the prompt instead."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a probe found, and what requests are therefore made like."""

    server: str
    """Base URLs."""
    model: str
    models: tuple[str, ...] = ()
    """All the server lists; empty when it lists none."""
    structured: Structure = "json_schema"
    seed: bool = True
    """Whether it takes a seed."""
    temperature: bool = True
    """Whether it takes a temperature."""
    bounds: bool = True
    """Whether a schema may bound the length of texts; OpenAI's may not."""
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The field that limits an answer."""
    switch: str = "none"
    """How thinking is switched off: a key of `SWITCHES`."""
    thinks: bool = False
    """Whether it thinks all the same; answers are then given more room."""
    embeddings: int = 0
    """Dimensions of its vectors; 0: it makes none."""
    context: int = 0
    """Tokens of its context window; 0: not told."""
    typed: bool = False
    """Whether it is a test server that answers from the typed input."""

    def less(self, page: Page) -> Capabilities | None:
        """The capabilities without the field that a refusal blames; None when it blames none that is sent."""
        told = f"{page.get('error', 'param') or ''} {page.said()}".lower()
        if self.length == "max_tokens" and "max_completion_tokens" in told:
            return replace(self, length="max_completion_tokens")
        if self.bounds and ("maxlength" in told or "minlength" in told):
            return replace(self, bounds=False)
        if self.temperature and "temperature" in told:
            return replace(self, temperature=False)
        if self.seed and "seed" in told:
            return replace(self, seed=False)
        if any(field in told for field in SWITCHES[self.switch]):
            return replace(self, switch="none", thinks=True)
        return None


# ── request ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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


def seed_of(ask: Ask[Any, Any], request_key: RequestKey) -> int:
    """The sampling seed of a question, 31 bits: all servers take them."""
    return (
        draw(
            request_key.seed,
            request_key.agent,
            request_key.tick,
            ask.task.name,
            request_key.number,
            request_key.attempt,
            "seed",
        )
        >> 33
    )


def typed_field(ask: Ask[Any, Any], request_key: RequestKey) -> dict[str, Any]:
    """What a test server is told besides, so that it can answer by rules. No other server gets it."""
    key = {name: getattr(request_key, name) for name in ("seed", "agent", "tick", "number", "attempt")}
    return {"commonplace": {"task": ask.task.name, "input": ask.input.model_dump(mode="json"), "request_key": key}}


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
