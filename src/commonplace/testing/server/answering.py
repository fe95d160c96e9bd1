"""Sound answers: the offline mind's, in the form a request asks for, with what they cost."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, cast

import numpy as np

from commonplace.errors import WrongUse
from commonplace.memory import default_embedder, estimate_tokens
from commonplace.memory.embedding import Vector
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.wire import written
from commonplace.testing.server.http import Response, as_json
from commonplace.testing.server.instance import instance
from commonplace.testing.server.question import Chat, Embedding, Typed

MODEL = "offline"
MODELS = {
    "object": "list",
    "data": [
        {"id": MODEL, "object": "model", "created": 0, "owned_by": "commonplace", "commonplace": {"typed": True}},
    ],
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request, estimated as the memories estimate them."""

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
        """The answer's members; none where it is no object."""
        return cast("dict[str, Any]", self.data) if isinstance(self.data, dict) else {}

    def said(self, text: str, finish: str = "stop", marker: str = "") -> Response:
        """The completion with this text where the answer stands: in the content or the tool call's arguments."""
        if self.chat.tool is None:
            return self.completed({"content": text}, finish, marker)
        return self.called(self.chat.tool.name, text, finish, marker)

    def called(self, name: str, arguments: str, finish: str = "stop", marker: str = "") -> Response:
        """The completion with a tool call."""
        call = {"id": "call_0", "type": "function", "function": {"name": name, "arguments": arguments}}
        finish = "tool_calls" if finish == "stop" else finish
        return self.completed({"content": None, "tool_calls": [call]}, finish, marker)

    def completed(self, message: dict[str, Any], finish: str = "stop", marker: str = "") -> Response:
        """The completion with this message."""
        choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
        return as_json(self.body([choice]), marker=marker)

    def body(self, choices: Any) -> dict[str, Any]:
        """A completion's body with these choices."""
        return {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": self.chat.model or MODEL,
            "choices": choices,
            "usage": self.usage.json,
        }

    def sound(self) -> Response:
        """The answer itself."""
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
        """The answer itself."""
        return self.told(self.vectors)


Sound = ChatAnswer | VectorAnswer


def answer_of(chat: Chat) -> Any:
    """What the offline mind answers; for any other question an instance of its schema, or a few words."""
    if chat.commonplace is not None:
        ask, asker = chat.commonplace.asked()
        reply = OfflineMind(_language(chat.commonplace)).answer(ask, asker)
        if reply.value is None:
            raise WrongUse(f"the offline mind has no answer to {ask.task.name}")
        return written(ask, reply.value)
    digest = blake2b(chat.prompt.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return instance(chat.schema_ or {"type": "string"}, digest)


def _language(typed: Typed) -> str:
    return str(typed.input.get("language") or typed.input.get("who", {}).get("language") or "en")


def vectors_of(texts: list[str]) -> tuple[Vector, ...]:
    """The hashed embedder's vectors; zeros for a text without a word."""
    embedder = default_embedder()
    nothing = np.zeros(embedder.dimensions, dtype=np.float32)
    return tuple(nothing if vector is None else vector for vector in embedder.embed(texts))


def usage_of(prompt: str, shared: int, answer: str) -> Usage:
    """Tokens of a prompt of which so many first characters were read before, and of its answer."""
    return Usage(estimate_tokens(prompt), estimate_tokens(prompt[:shared]), estimate_tokens(answer))
