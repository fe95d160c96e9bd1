"""A stream as a retriever and as a chat history of LangChain. Needs the extra `langchain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from commonplace.adapters.parts import Clock, StoredConversation, metadata, reference, wall_clock
from commonplace.errors import UsageError, install
from commonplace.memory import MemoryStream, Policy, Retrieval

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise UsageError("the LangChain adapters need the package langchain-core", hint=install("langchain")) from error

__all__ = ["MemoryRetriever", "StreamChatHistory"]


class MemoryRetriever(BaseRetriever):
    """Recalls memories as documents.

    A document's text is the memory's, its metadata the other fields with `rank`, `score` and `parts`. What is
    superseded comes after what is true in its place, unless an option is `current=False`; of memories that say the same
    the best is returned, unless `collapse` is False. The core blocks of the stream come first, besides the `k`; their
    metadata have `block`, the name. `invoke` takes the options of `MemoryStream.recall`, such as `k`, `at` and
    `policy`, which override those given here.
    """

    memories: MemoryStream
    k: int = 10
    """Documents returned."""
    policy: Policy | None = None
    """How to retrieve; the stream's own if None."""
    options: Mapping[str, Any] = Field(default_factory=dict[str, Any])
    """More options of `MemoryStream.recall`."""
    clock: Clock = wall_clock

    def _get_relevant_documents(self, query: str, *, run_manager: object, **options: Any) -> list[Document]:  # noqa: ARG002 – LangChain's signature
        return [*self._blocks(), *_documents(self.memories.retrieve(query, **self._options(options)))]

    async def _aget_relevant_documents(self, query: str, *, run_manager: object, **options: Any) -> list[Document]:  # noqa: ARG002
        return [*self._blocks(), *_documents(await self.memories.aretrieve(query, **self._options(options)))]

    def _blocks(self) -> list[Document]:
        return [
            Document(text, id=f"{self.memories.agent}:{name}", metadata={"agent": self.memories.agent, "block": name})
            for name, text in self.memories.blocks.items()
            if text
        ]

    def _options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        own = {"at": self.clock(), "k": self.k, "policy": self.policy, "collapse": True, "current": True}
        return {**own, **self.options, **given}


def _documents(found: Retrieval) -> list[Document]:
    return [Document(hit.memory.full_text, id=reference(hit.memory), metadata=more) for hit, more in metadata(found)]


class StreamChatHistory(BaseChatMessageHistory):
    """The messages of one session, kept in a stream, where `recall` finds them in later sessions, too."""

    def __init__(self, stream: MemoryStream, session_id: str, *, clock: Clock = wall_clock) -> None:
        self._conversation = StoredConversation(stream, session_id, "langchain", clock)

    @property
    def messages(self) -> list[BaseMessage]:  # pyright: ignore[reportIncompatibleVariableOverride] – as LangChain does
        """Returns the messages in order, as they were added."""
        return messages_from_dict(self._conversation.messages())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Remembers messages."""
        self._conversation.add(
            [(message.text, message.name or message.type, _as_json(message)) for message in messages]
        )

    def clear(self) -> None:
        """Forgets the messages of this session."""
        self._conversation.clear()


def _as_json(message: BaseMessage) -> dict[str, Any]:
    return {**message_to_dict(message), "data": message.model_dump(mode="json")}
