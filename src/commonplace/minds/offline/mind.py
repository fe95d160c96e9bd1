"""The offline mind: a task's name leads to one pure function of the request and its key."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.languages import DEFAULT
from commonplace.memory.embedding import default_embedder, packed
from commonplace.minds.mind import Ask, Decided, Reply, RequestKey
from commonplace.minds.notes import Value
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.template_grammar import grammar
from commonplace.minds.tasks import EmbedInput, EmbedOutput
from commonplace.registry import Registered


class OfflineMind:
    """Answers every task by rules and a grammar: no model, no network, the same request always the same answer."""

    name = "offline"
    paid = False
    max_attempts = 1

    def __init__(self, language: str = DEFAULT) -> None:
        self.language = language
        grammar(language)

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the reply to one question; a task it does not know is a `fault`."""
        function = FUNCTIONS.get(ask.task.name)
        if function is None:
            return Reply(None, "fault", raw=f"the offline mind has no answer to {ask.task.name}")
        answer = function(ask.input, Dice.of(request_key))
        return Reply(answer.value, row=answer.row) if isinstance(answer, Decided) else Reply(answer)

    async def close(self) -> None:
        """Does nothing: there is nothing to close."""


def embed(given: EmbedInput, dice: Dice) -> EmbedOutput:  # noqa: ARG001 – one signature for all tasks
    """Returns a vector per text from the built-in embedder, written like a model server's; empty for a text without a
    word."""
    vectors = default_embedder().embed(given.texts)
    return EmbedOutput(vectors=tuple(b64encode(packed(one)).decode() if one is not None else "" for one in vectors))


FUNCTIONS: Mapping[str, Callable[[Any, Dice], Value | Decided]] = Registered("answer")
