"""The body of a request for a chat completion, what it depends on, and what of it counts as the prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.notes import as_data
from commonplace.minds.prompts.prompt import Prompt
from commonplace.parts.model_servers.gbnf import grammar, letter_grammar
from commonplace.rng import draw
from commonplace.scenario.model import MindPart

if TYPE_CHECKING:
    from commonplace.parts.model_servers.http import Page

Structure = Literal["json_schema", "json_object", "tool", "json_mode", "text"]

STRUCTURES: tuple[Structure, ...] = ("json_schema", "json_object", "tool", "json_mode", "text")
"""Ways to get a structured answer, the best first: a JSON Schema as response format; the same as llama-cpp-python
takes it; a forced tool call; any JSON object, with the schema in the prompt; a schema in the prompt alone."""

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
    """The results of a probe; requests are built from them."""

    server: str
    """Base URLs."""
    model: str
    models: tuple[str, ...] = ()
    """The models the server lists; may be empty."""
    structured: Structure = "json_schema"
    seed: bool = True
    """Whether it takes a seed."""
    temperature: bool = True
    """Whether it takes a temperature."""
    length: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The field that limits an answer."""
    switch: str = "none"
    """How thinking is switched off: a key of `SWITCHES`."""
    thinks: bool = False
    """Whether it thinks although asked not to; its answers then get more tokens."""
    embeddings: int = 0
    """Dimensions of its vectors; 0 when it makes none."""
    context: int = 0
    """Tokens of its context window; 0 when unknown."""
    effort: bool = True
    """Whether it takes a `reasoning_effort` that the settings of a task name."""
    grammar: bool = False
    """Whether it is a llama.cpp server, which gets a schema as a grammar of its own."""
    stream: Literal["usage", "plain", "no"] = "usage"
    """Whether its answers come as they are written, with the usage at the end where it is asked for."""
    typed: bool = False
    """Whether it is a test server that answers from the typed input."""

    def less(self, page: Page) -> Capabilities | None:  # noqa: PLR0911 – one for each field
        """Returns the capabilities without the field that a refusal names; None when it names no field that is sent."""
        told = f"{page.get('error', 'param') or ''} {page.said()}".lower()
        if self.length == "max_tokens" and "max_completion_tokens" in told:
            return replace(self, length="max_completion_tokens")
        if self.temperature and "temperature" in told:
            return replace(self, temperature=False)
        if self.seed and "seed" in told:
            return replace(self, seed=False)
        if any(field in told for field in SWITCHES[self.switch]):
            return replace(self, switch="none", thinks=True)
        if self.grammar and "grammar" in told:
            return replace(self, grammar=False)
        if self.effort and "reasoning_effort" in told:
            return replace(self, effort=False)
        return self._less_live(told)

    def _less_live(self, told: str) -> Capabilities | None:
        if self.stream == "no" or not re.search(r"\bstream", told):
            return None
        return replace(self, stream="plain" if self.stream == "usage" and "stream_options" in told else "no")


THINKING_ROOM = 2000
"""Tokens added to an answer's limit when a model cannot be kept from thinking, or may think and no limit is given."""
PLAIN = MindPart()
"""The settings of a task without any."""


def chat_body(
    prompt: Prompt, can: Capabilities, structure: Structure, seed: int, settings: MindPart = PLAIN
) -> dict[str, Any]:
    """Returns the body of `/chat/completions`, with the settings of the task."""
    thinks = bool(settings.thinking or (settings.effort and settings.thinking is None))
    switch = "none" if thinks else can.switch
    room = settings.thinking or (THINKING_ROOM if thinks or can.thinks else 0)
    body: dict[str, Any] = {
        "model": can.model,
        "messages": chat_messages(prompt, structure, slash=switch == "slash"),
        can.length: prompt.max_tokens + room,
        **SWITCHES[switch],
        **_form(prompt, structure, compact=can.grammar and not room),
    }
    if settings.effort and can.effort:
        body["reasoning_effort"] = settings.effort
    if can.temperature:
        body["temperature"] = prompt.temperature if settings.temperature is None else settings.temperature
    if can.seed:
        body["seed"] = seed
    return body | settings.body


def seed_of(ask: Ask[Any, Any], key: RequestKey, settings: MindPart = PLAIN) -> int:
    """Returns the sampling seed of a question, 31 bits: all servers take them."""
    base = key.seed if settings.seed is None else settings.seed
    return draw(base, key.agent, key.tick, ask.task.name, key.number, key.attempt, "seed") >> 33


def typed_field(ask: Ask[Any, Any], request_key: RequestKey) -> dict[str, Any]:
    """Returns the typed input, for a test server that answers by rules. No other server gets it."""
    key = {name: getattr(request_key, name) for name in ("seed", "agent", "tick", "number", "attempt")}
    return {"commonplace": {"task": ask.task.name, "input": as_data(ask.input), "request_key": key}}


def chat_messages(prompt: Prompt, structure: Structure, *, slash: bool = False) -> list[dict[str, str]]:
    """Returns the messages of a chat, with the form of the answer in words where no field holds it."""
    messages = [{"role": message.role, "content": message.text} for message in prompt.messages]
    if structure in ("json_mode", "text") and prompt.schema:
        messages[-1]["content"] += _in_words(prompt.schema)
    if slash:
        messages[-1]["content"] += " /no_think"
    return messages


def as_text(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
    """Messages and the form of the answer as one text, for a model that is given no more."""
    return "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in messages) + _in_words(schema)


def _in_words(schema: Mapping[str, Any]) -> str:
    return f"\n\nAnswer with one JSON object of this JSON Schema and nothing else:\n{_compact(schema)}"


def _form(prompt: Prompt, structure: Structure, *, compact: bool) -> dict[str, Any]:
    """Returns the fields that ask for an answer of the prompt's shape.

    `compact`: as a grammar, which forbids thinking.
    """
    if compact and (rules := _rules(prompt, structure)):
        return {"grammar": rules}
    match "text" if prompt.small else structure:
        case "json_schema":
            named = {"name": "answer", "strict": True, "schema": prompt.schema}  # the same for tasks of one form
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case "json_object":
            return {"response_format": {"type": "json_object", "schema": prompt.schema}}
        case "tool":
            function = {"name": prompt.task, "description": "The answer.", "parameters": prompt.schema}
            return {
                "tools": [{"type": "function", "function": function}],
                "tool_choice": {"type": "function", "function": {"name": prompt.task}},
            }
        case "json_mode":
            return {"response_format": {"type": "json_object"}}
        case "text":
            return {}


def _rules(prompt: Prompt, structure: Structure) -> str | None:
    """Returns the grammar of a letter, or of the schema where the model is asked with one; else None."""
    if prompt.small:
        return letter_grammar(prompt.letters) if prompt.letters else None
    return grammar(prompt.schema, prompt.max_tokens) if structure == "json_schema" else None


def prompt_text(body: Mapping[str, Any]) -> str:
    """Returns what a provider counts as the prompt of a request, whatever its shape.

    It is the schema or tool of the answer, then the messages, or the texts to embed.

    The schema comes first, as OpenAI and others place it, and so belongs to the prefix that requests share.
    """
    form: Mapping[str, Any] = body.get("response_format") or {}
    tools: Sequence[Mapping[str, Any]] = body.get("tools") or ()
    shapes: list[Any] = [form.get("json_schema") or form.get("schema"), *(tool.get("function") for tool in tools)]
    texts = [_compact(shape) for shape in shapes if shape]
    texts += [text for message in body.get("messages") or () for text in _texts(message.get("content"))]
    return "\n".join((*texts, *_texts(body.get("input"))))


def _texts(content: Any) -> Iterator[str]:
    """Yields the texts of a content: one text, a list of texts or of parts with a text, or nothing."""
    parts = [content] if isinstance(content, str) else content or ()
    for part in parts:
        yield part if isinstance(part, str) else str(part.get("text", ""))


def _compact(schema: Any) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
