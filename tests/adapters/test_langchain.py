"""LangChain's own contract for retrievers, and a chat history that loses nothing.

LangChain takes a second to import: tests import it, so that only the worker that runs them does.
"""

from __future__ import annotations

import asyncio
import inspect
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from commonplace.memory import MemoryStream, policies

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

MISSING = [name for name in ("langchain_core", "langchain_tests") if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")

NOW = datetime(2025, 10, 4, 12, tzinfo=UTC)
TOLD = ("Klaus is reading about gentrification", "The stove is burning", "축제에서 민수를 만났다", "Maria paints")


@pytest.fixture
def stream() -> MemoryStream:
    return filled()


def filled() -> MemoryStream:
    stream = MemoryStream("maria")
    for minute, text in enumerate(TOLD):
        stream.remember(text, at=NOW - timedelta(minutes=9 - minute), tags=["told"], place=("Town", "Library"))
    return stream


def test_what_langchain_asks_of_every_retriever_holds():
    from langchain_core.retrievers import BaseRetriever
    from langchain_tests.integration_tests.retrievers import RetrieversIntegrationTests

    from commonplace.adapters.langchain import MemoryRetriever

    class Contract(RetrieversIntegrationTests):
        @property
        def retriever_constructor(self) -> type[BaseRetriever]:
            return MemoryRetriever

        @property
        def retriever_constructor_params(self):
            return {"memories": filled()}

        @property
        def retriever_query_example(self) -> str:
            return "what does Klaus read?"

    names = [name for name in dir(Contract) if name.startswith("test_")]
    assert len(names) >= 5
    for name in names:
        contract = Contract()
        check = getattr(contract, name)
        given = inspect.signature(check).parameters
        assert given.keys() <= {"retriever"}
        outcome = check(*(MemoryRetriever(memories=filled()) for _ in given))
        if inspect.iscoroutine(outcome):
            asyncio.run(outcome)


def test_a_document_is_the_memory_with_its_reasons(stream):
    from commonplace.adapters.langchain import MemoryRetriever

    retriever = MemoryRetriever(memories=stream, k=2, clock=lambda: NOW)
    first, second = retriever.invoke("what does Klaus read?")
    assert (first.page_content, first.id) == (TOLD[0], "maria:1")
    assert (first.metadata["rank"], first.metadata["tags"]) == (1, ["told"])
    assert first.metadata["place"] == ["Town", "Library"]
    assert first.metadata["created_at"] == "2025-10-04T11:51:00Z"
    assert first.metadata["score"] == pytest.approx(sum(first.metadata["parts"].values()))
    assert first.metadata["score"] > second.metadata["score"]


def test_documents_say_the_same_once_and_how_likely_they_fit(stream):
    from commonplace.adapters.langchain import MemoryRetriever

    stream.remember(f"{TOLD[0]}!", at=NOW)
    retriever = MemoryRetriever(memories=stream, clock=lambda: NOW)
    found = retriever.invoke("what does Klaus read?")
    assert sum(one.page_content.startswith(TOLD[0]) for one in found) == 1
    assert found[0].metadata["repeats"]
    assert found[0].metadata["confidence"] > 0.5
    assert sum(one.page_content.startswith(TOLD[0]) for one in retriever.invoke("Klaus", collapse=False)) == 2
    assert retriever.invoke("zeppelin quartz")[0].metadata["confidence"] < 0.5


def test_what_was_said_again_is_retrieved_before_what_was_said():
    from langchain_core.messages import AIMessage, HumanMessage

    from commonplace.adapters.langchain import MemoryRetriever, StreamChatHistory

    stream = MemoryStream("maria")
    history = StreamChatHistory(stream, "monday", clock=lambda: NOW)
    history.add_messages([HumanMessage("I live in Seoul"), AIMessage("How is it?"), HumanMessage("I moved to Busan")])
    retriever = MemoryRetriever(memories=stream, k=1, clock=lambda: NOW)
    assert [one.page_content for one in retriever.invoke("where do I live?")] == ["I moved to Busan"]
    assert [one.page_content for one in retriever.invoke("where do I live?", current=False)] == ["I live in Seoul"]


def test_options_of_recall_pass_through(stream):
    from commonplace.adapters.langchain import MemoryRetriever

    retriever = MemoryRetriever(memories=stream, policy=policies.LEXICAL, options={"touch": False}, clock=lambda: NOW)
    assert [one.id for one in retriever.invoke("stove", k=1)] == ["maria:2"]
    assert stream.get(2).accessed_at == stream.get(2).created_at, "touch=False"
    assert set(retriever.invoke("stove")[0].metadata["parts"]) == {"recency", "importance", "relevance"}
    found = retriever.invoke("stove", policy=policies.RECALL, exclude={2})
    assert "maria:2" not in [one.id for one in found]
    assert [one.id for one in asyncio.run(retriever.ainvoke("stove", k=1))] == ["maria:2"]


@pytest.fixture
def messages() -> list[BaseMessage]:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

    return [
        SystemMessage("Be kind."),
        HumanMessage(
            [{"type": "text", "text": "빵은?"}, {"type": "image_url", "image_url": {"url": "data:,"}}], name="지우"
        ),
        AIMessage("", tool_calls=[{"name": "bakery", "args": {"kind": "rye"}, "id": "c1", "type": "tool_call"}]),
        ToolMessage("open until nine", tool_call_id="c1"),
        AIMessage("The bakery is open until nine.", id="m4", response_metadata={"model": "offline"}),
    ]


@pytest.mark.parametrize("in_file", [False, True])
def test_a_chat_history_comes_back_as_it_was(tmp_path, messages, in_file):
    from commonplace.adapters.langchain import StreamChatHistory

    def opened() -> MemoryStream:
        return MemoryStream.open(tmp_path / "chats.db", "bot") if in_file else stream

    stream = MemoryStream("bot")
    with opened() as first:
        StreamChatHistory(first, "monday", clock=lambda: NOW).add_messages(messages[:3])
        StreamChatHistory(first, "tuesday", clock=lambda: NOW).add_user_message("Another talk")
        StreamChatHistory(first, "monday", clock=lambda: NOW).add_messages(messages[3:])
    with opened() as second:
        monday = StreamChatHistory(second, "monday")
        assert monday.messages == messages
        (hit,) = second.recall("when is the bakery open?", at=NOW, k=1)
        assert hit.memory.text == "The bakery is open until nine.", "what was said is remembered"
        assert [one.source for one in second.search(session="monday")] == ["ai", "tool", "ai", "지우", "system"]
        monday.clear()
        assert monday.messages == []
        assert [one.content for one in StreamChatHistory(second, "tuesday").messages] == ["Another talk"]


def test_a_chat_history_works_with_await(stream, messages):
    from commonplace.adapters.langchain import StreamChatHistory

    history = StreamChatHistory(stream, "monday", clock=lambda: NOW)

    async def talk() -> list[BaseMessage]:
        await history.aadd_messages(messages)
        found = await history.aget_messages()
        await history.aclear()
        return found

    assert asyncio.run(talk()) == messages
    assert len(stream) == len(TOLD), "what else the character remembers stays"


def test_core_blocks_come_first():
    from commonplace.adapters.langchain import MemoryRetriever

    stream = MemoryStream("maria")
    stream.remember(TOLD[0], at=NOW)
    stream.blocks.set("user", "Maria, a baker")
    stream.blocks.set("empty", "")
    first, second = MemoryRetriever(memories=stream, k=1, clock=lambda: NOW).invoke("what does Klaus read?")
    assert (first.page_content, first.id, first.metadata["block"]) == ("Maria, a baker", "maria:user", "user")
    assert second.id == "maria:1"
