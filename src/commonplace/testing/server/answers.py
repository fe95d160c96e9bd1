"""Sound answers: the offline mind's, in the form a request asks for, with what they cost."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, floor
from typing import Any, Literal, cast

import numpy as np
from pydantic import BaseModel, Field

from commonplace import rng
from commonplace.errors import UsageError
from commonplace.memory import default_embedder
from commonplace.memory.embedding import Vector
from commonplace.minds.mind import Ask, RequestKey, estimated_tokens
from commonplace.minds.notes import from_data
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import TASKS
from commonplace.minds.tasks.wire import schema, written
from commonplace.parts.model_servers.request import prompt_text
from commonplace.rng import Key

_JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True, slots=True)
class Response:
    """One response, or the way the connection fails instead."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = _JSON
    cut: Literal["", "reset", "hang", "half"] = ""
    """`reset` the connection, `hang` until the client gives up, or close after `half` of the body."""
    marker: str = ""
    """A text in it that a character must never say or remember."""
    pieces: tuple[bytes, ...] = ()
    """The body in the pieces in which it is sent, one after the other; empty for a body that is sent at once."""
    broken: Callable[[tuple[bytes, ...], str], tuple[bytes, ...]] | None = None
    """What becomes of the events of its stream, in a protocol; None: they are sent as they are."""


def as_json(value: Any, status: int = 200, headers: tuple[tuple[str, str], ...] = (), marker: str = "") -> Response:
    """Returns a JSON response in ASCII; lone surrogates stay what they are."""
    return Response(status, json.dumps(value).encode(), (*_JSON, *headers), marker=marker)


def failure(status: int, message: str, kind: str, **more: Any) -> Response:
    """Returns an error as OpenAI-compatible servers word it."""
    return as_json({"error": {"message": message, "type": kind, "code": status, **more}}, status)


# A small valid instance of a JSON Schema, drawn by key: an answer for questions that came as words alone.


_WORDS = ("amber", "bridge", "canal", "dusk", "ember", "ferry", "garden", "harbour", "island", "juniper")
_DEEPEST = 12

Schema = Mapping[str, Any]


def instance(schema: Schema, *key: Key) -> Any:
    """Returns a value of the schema, the same for the same key.

    Known are `type`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`, local `$ref`, `properties`, `required`, `items`,
    `prefixItems` and the bounds of numbers, texts and lists; other keywords, `pattern` among them, are ignored.
    """
    return _value(schema, schema, key)


def _value(schema: Schema | bool, root: Schema, key: tuple[Key, ...]) -> Any:
    if isinstance(schema, bool):
        return None
    schema = _plain(schema, root, key)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"], *key, "enum")
    return _typed(schema, _kind(schema, key), root, key)


def _kind(schema: Schema, key: tuple[Key, ...]) -> str:
    named: str | list[str] = schema.get("type") or ("object" if "properties" in schema else "string")
    return named if isinstance(named, str) else rng.choice(named, *key, "type")


def _typed(schema: Schema, kind: str, root: Schema, key: tuple[Key, ...]) -> Any:
    match kind:
        case "object":
            return _object(schema, root, key)
        case "array":
            return _list(schema, root, key)
        case "integer" | "number":
            return _number(schema, kind, key)
        case "boolean":
            return bool(rng.below(2, *key, "bool"))
        case "null":
            return None
        case _:
            return _text(schema, key)


def _plain(schema: Schema, root: Schema, key: tuple[Key, ...]) -> Schema:
    """Returns the schema with references followed and one of its alternatives taken."""
    for depth in range(_DEEPEST):
        if "$ref" in schema:
            schema = _found(schema["$ref"], root)
            continue
        branch = next((name for name in ("anyOf", "oneOf") if schema.get(name)), "")
        if not branch and not schema.get("allOf"):
            break
        # an alternative that refers to nothing ends a recursion
        chosen = schema.get("allOf") or [_alternative(schema[branch], len(key) + depth, key)]
        rest = {name: part for name, part in schema.items() if name not in {"anyOf", "oneOf", "allOf"}}
        schema = rest
        for part in chosen:
            schema = {**schema, **_plain(part, root, key)}
    return schema


def _alternative(options: list[Schema], depth: int, key: tuple[Key, ...]) -> Schema:
    ends = [option for option in options if "$ref" not in option]
    return rng.choice(ends if ends and depth > _DEEPEST else options, *key, "any")


def _found(reference: str, root: Schema) -> Schema:
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found[name.replace("~1", "/").replace("~0", "~")] if name else found
    return found


def _object(schema: Schema, root: Schema, key: tuple[Key, ...]) -> dict[str, Any]:
    required = set(schema.get("required", ()))
    named = {
        name: part for name, part in schema.get("properties", {}).items() if name in required or len(key) < _DEEPEST
    }
    return {name: _value(part, root, (*key, name)) for name, part in named.items()}


def _list(schema: Schema, root: Schema, key: tuple[Key, ...]) -> list[Any]:
    first: list[Schema] = schema.get("prefixItems", [])
    least = max(schema.get("minItems", 0), len(first))
    most = max(least, min(schema.get("maxItems", least + 1), least + 1))
    count = least if len(key) >= _DEEPEST else least + rng.below(most - least + 1, *key, "length")
    items = [*first, *[schema.get("items", {"type": "string"})] * (count - len(first))]
    return [_value(part, root, (*key, index)) for index, part in enumerate(items)]


def _number(schema: Schema, kind: str, key: tuple[Key, ...]) -> int | float:
    step = schema.get("multipleOf", 1 if kind == "integer" else 0)
    past = step or 0.001
    low = schema.get("minimum", schema.get("exclusiveMinimum", -past) + past)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 10 + past) - past)
    if not step:
        return low + (high - low) * rng.unit(*key, "number")
    first = ceil(low / step)
    return step * (first + rng.below(max(1, floor(high / step) - first + 1), *key, "number"))


def _text(schema: Schema, key: tuple[Key, ...]) -> str:
    text = " ".join(rng.choice(_WORDS, *key, "word", index) for index in range(3))
    while len(text) < schema.get("minLength", 0):
        text = f"{text} {text}"
    return text[: schema.get("maxLength", len(text))]


# Requests as they come over the wire, and what is asked in them.


class Wanted(BaseModel):
    """Whose question it is."""

    seed: int
    agent: str
    tick: int
    number: int
    attempt: int = 0


class Typed(BaseModel):
    """The question before it was put into words: what the offline mind answers from."""

    task: str
    input: dict[str, Any]
    request_key: Wanted

    @property
    def key(self) -> tuple[Key, ...]:
        """(seed, agent, tick, task, number, attempt)."""
        by = self.request_key
        return (by.seed, by.agent, by.tick, self.task, by.number, by.attempt)

    def asked(self) -> tuple[Ask[Any, Any], RequestKey]:
        """Returns the ask and its request_key.

        Raises KeyError for an unknown task, ValidationError for another input.
        """
        task, by = TASKS[self.task], self.request_key
        return Ask(task, from_data(task.input, self.input)), RequestKey(
            by.seed, by.agent, by.tick, by.number, by.attempt
        )


class Message(BaseModel):
    """One message. Content is a text, a list of parts (only texts are read), or null."""

    role: str
    content: str | list[dict[str, Any]] | None = None

    @property
    def text(self) -> str:
        """Its text."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part.get("text", "")) for part in self.content or ())


class Function(BaseModel):
    """A function a tool call may name."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)


class Tool(BaseModel):
    function: Function


class Chat(BaseModel):
    """The body of a chat completion; other fields are ignored."""

    model: str = ""
    messages: list[Message] = Field(min_length=1)
    response_format: dict[str, Any] | None = None
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: Literal["none", "auto", "required"] | Tool | None = None
    stream: bool | None = None
    commonplace: Typed | None = None

    @property
    def prompt(self) -> str:
        """The messages' text, joined."""
        return "\n".join(message.text for message in self.messages)

    @property
    def counted(self) -> str:
        """What counts as the prompt: messages and the shape of the answer."""
        return prompt_text(self.model_dump(include={"messages", "response_format", "tools"}))

    @property
    def tool(self) -> Function | None:
        """The function whose call is forced."""
        if not self.tools or self.tool_choice in (None, "none", "auto"):
            return None
        if isinstance(self.tool_choice, Tool):
            named = self.tool_choice.function.name
            return next((tool.function for tool in self.tools if tool.function.name == named), None)
        return self.tools[0].function

    @property
    def schema_(self) -> Mapping[str, Any] | None:
        """The JSON Schema the answer must have; None when any text will do."""
        if self.tool is not None:
            return self.tool.parameters
        wanted = self.response_format or {}
        if wanted.get("type") == "json_schema":
            return wanted.get("json_schema", {}).get("schema", {})
        if wanted.get("type") == "json_object":
            return wanted.get("schema", {"type": "object"})
        return None


class Embedding(BaseModel):
    """The body of a request for vectors."""

    model: str = ""
    input: str | list[str]
    encoding_format: Literal["float", "base64"] = "float"
    commonplace: Typed | None = None

    @property
    def texts(self) -> list[str]:
        """The texts to embed."""
        return [self.input] if isinstance(self.input, str) else self.input


MODEL = "offline"
MODELS = {
    "object": "list",
    "data": [
        {"id": MODEL, "object": "model", "created": 0, "owned_by": "commonplace", "commonplace": {"typed": True}},
    ],
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request, estimated."""

    prompt: int
    cached: int = 0
    """Of the prompt, in the longest prefix that an earlier one had."""
    answer: int = 0

    @property
    def json(self) -> dict[str, Any]:
        """As the protocol writes it."""
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.answer,
            "total_tokens": self.prompt + self.answer,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


NOTHING = Usage(0)


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a chat completion would be if nothing went wrong."""

    chat: Chat
    data: Any
    """The JSON of the answer; a text where none was asked for."""
    usage: Usage

    @property
    def text(self) -> str:
        """The answer as it is written."""
        return self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)

    @property
    def object(self) -> dict[str, Any]:
        """The answer's members; empty if it is not an object."""
        return cast("dict[str, Any]", self.data) if isinstance(self.data, dict) else {}

    def said(self, text: str, finish: str = "stop", marker: str = "") -> Response:
        """Returns the completion with this text as the answer: in the content or in the tool call's arguments."""
        if self.chat.tool is None:
            return self.completed({"content": text}, finish, marker)
        return self.called(self.chat.tool.name, text, finish, marker)

    def called(self, name: str, arguments: str, finish: str = "stop", marker: str = "") -> Response:
        """Returns the completion with a tool call."""
        call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": arguments}}
        finish = "tool_calls" if finish == "stop" else finish
        return self.completed({"content": None, "tool_calls": [call]}, finish, marker)

    def completed(self, message: dict[str, Any], finish: str = "stop", marker: str = "") -> Response:
        """Returns the completion with this message."""
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        return as_json(self.body([choice]), marker=marker)

    def body(self, choices: Any) -> dict[str, Any]:
        """Returns a completion's body with these choices."""
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": self.chat.model or MODEL,
            "choices": choices,
            "usage": self.usage.json,
        }

    def sound(self) -> Response:
        """Returns the answer itself."""
        return self.said(self.text)


@dataclass(frozen=True, slots=True)
class VectorAnswer:
    """What a request for vectors would be answered with."""

    asked: Embedding
    vectors: tuple[Vector, ...]
    usage: Usage

    def told(self, vectors: tuple[Vector, ...]) -> Response:
        """These vectors."""
        data = [
            {"object": "embedding", "index": index, "embedding": self._encoded(vector)}
            for index, vector in enumerate(vectors)
        ]
        return as_json({"object": "list", "data": data, "model": self.asked.model or MODEL, "usage": self.usage.json})

    def _encoded(self, vector: Vector) -> str | list[float]:
        if self.asked.encoding_format == "base64":
            return b64encode(vector.astype("<f4").tobytes()).decode()
        return [float(part) for part in vector]

    def sound(self) -> Response:
        """Returns the answer itself."""
        return self.told(self.vectors)


Sound = ChatAnswer | VectorAnswer


def answer_of(chat: Chat) -> Any:
    """Returns what the offline mind answers; for any other question, an instance of its schema or a few words."""
    if chat.commonplace is not None:
        ask, request_key = chat.commonplace.asked()
        reply = OfflineMind(_language(chat.commonplace)).answer(ask, request_key)
        if reply.value is None:
            raise UsageError(f"the offline mind has no answer to {ask.task.name}")
        return written(ask, reply.value, tool=chat.schema_ == schema(ask.task, tool=True))
    digest = blake2b(chat.prompt.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return instance(chat.schema_ or {"type": "string"}, digest)


def _language(typed: Typed) -> str:
    return str(typed.input.get("language") or typed.input.get("who", {}).get("language") or "en")


def vectors_of(texts: list[str]) -> tuple[Vector, ...]:
    """Returns the hashed embedder's vectors; zeros for a text without a word."""
    embedder = default_embedder()
    nothing = np.zeros(embedder.dimensions, dtype=np.float32)
    return tuple(nothing if vector is None else vector for vector in embedder.embed(texts))


def usage_of(prompt: str, shared: int, answer: str) -> Usage:
    """Tokens of a prompt, whose first `shared` characters were read before, and of its answer."""
    return Usage(estimated_tokens(prompt), estimated_tokens(prompt[:shared]), estimated_tokens(answer))
