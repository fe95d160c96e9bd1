"""What a request is met with: the sound answer or a fault, after so many seconds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from commonplace.errors import CommonplaceError
from commonplace.rng import Key
from commonplace.testing.server.answering import (
    MODELS,
    NOTHING,
    ChatAnswer,
    Usage,
    VectorAnswer,
    answer_of,
    usage_of,
    vectors_of,
)
from commonplace.testing.server.faults import Faults
from commonplace.testing.server.http import Request, Response, as_json, failure
from commonplace.testing.server.latency import Latency
from commonplace.testing.server.prefix import Prompts
from commonplace.testing.server.question import Chat, Embedding

_BODIES: Mapping[str, type[Chat] | type[Embedding]] = {"/v1/chat/completions": Chat, "/v1/embeddings": Embedding}


@dataclass(frozen=True, slots=True)
class Met:
    """How a request is met."""

    response: Response
    key: tuple[Key, ...] = ()
    """(seed, agent, tick, task, number, attempt); empty for a request that does not tell it."""
    tries: int = 0
    """How often the same was requested before."""
    fault: str = ""
    usage: Usage = NOTHING
    seconds: float = 0.0
    """Until the response is written."""


class Desk:
    """Answers requests one after the other, and remembers prompts and what it was asked before."""

    def __init__(self, latency: Latency, faults: Faults) -> None:
        self._latency = latency
        self._faults = faults
        self._prompts = Prompts()
        self._tries: Counter[tuple[Key, ...]] = Counter()

    def meet(self, request: Request) -> Met:
        """The response to a request, whatever it is."""
        if request.path == "/v1/models" and request.method == "GET":
            return Met(as_json(MODELS))
        body = _BODIES.get(request.path)
        if body is None:
            return Met(failure(404, f"there is nothing at {request.path}", "not_found_error"))
        if request.method != "POST":
            return Met(failure(405, f"{request.path} takes POST, not {request.method}", "invalid_request_error"))
        try:
            return self._answered(body.model_validate_json(request.body))
        except (ValidationError, KeyError, CommonplaceError) as error:
            return Met(failure(400, f"{type(error).__name__}: {error}", "invalid_request_error"))

    def _answered(self, asked: Chat | Embedding) -> Met:
        sound = self._chat(asked) if isinstance(asked, Chat) else self._vectors(asked)
        key = asked.commonplace.key if asked.commonplace else ()
        tries = self._tries[key]
        fault, response = self._faults.met(sound, *key, tries) if key else ("", sound.sound())
        self._tries[key] += 1
        seconds = self._latency.of(sound.usage.answer, *key, tries)
        return Met(response, key, tries, fault, sound.usage, seconds)

    def _chat(self, chat: Chat) -> ChatAnswer:
        shared = self._prompts.add(chat.prompt)
        plain = ChatAnswer(chat, answer_of(chat), NOTHING)
        return ChatAnswer(chat, plain.data, usage_of(chat.prompt, shared, plain.text))

    def _vectors(self, asked: Embedding) -> VectorAnswer:
        return VectorAnswer(asked, vectors_of(asked.texts), usage_of("\n".join(asked.texts), 0, ""))
