"""A retriever as LlamaIndex wants it.

LlamaIndex takes a second to import: tests import it, so that only the worker that runs them does.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec

import pytest

from commonplace.memory import MemoryStream, policies

pytestmark = pytest.mark.skipif(find_spec("llama_index") is None, reason="llama-index-core is not installed")

NOW = datetime(2025, 10, 4, 12, tzinfo=UTC)


@pytest.fixture
def stream() -> MemoryStream:
    stream = MemoryStream("maria")
    for minute, text in enumerate(("Klaus is reading about gentrification", "The stove is burning", "Maria paints")):
        stream.remember(text, at=NOW - timedelta(minutes=9 - minute), source="klaus", tags=["told"])
    return stream


def test_it_is_a_retriever():
    """What LlamaIndex tests of each of its own integrations."""
    from llama_index.core.base.base_retriever import BaseRetriever

    from commonplace.adapters.llamaindex import MemoryRetriever

    assert BaseRetriever.__name__ in [one.__name__ for one in MemoryRetriever.__mro__]


@pytest.mark.parametrize("bundled", [False, True])
def test_nodes_have_text_score_and_reasons_by_either_way(stream, bundled):
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    from commonplace.adapters.llamaindex import MemoryRetriever

    ask = QueryBundle("what does Klaus read?") if bundled else "what does Klaus read?"
    retriever = MemoryRetriever(stream, k=2, touch=False, clock=lambda: NOW)
    found = retriever.retrieve(ask)
    first, second = found
    assert isinstance(first, NodeWithScore)
    assert isinstance(first.node, TextNode)
    assert (first.node_id, first.text) == ("maria:1", "Klaus is reading about gentrification")
    assert first.score == pytest.approx(sum(first.metadata["parts"].values()))
    assert first.score > second.score
    assert (first.metadata["rank"], first.metadata["tags"]) == (1, ["told"])
    assert asyncio.run(retriever.aretrieve(ask)) == found


def test_a_prompt_gets_when_and_who_but_no_scores(stream):
    from llama_index.core.schema import MetadataMode

    from commonplace.adapters.llamaindex import MemoryRetriever

    (found,) = MemoryRetriever(stream, k=1, policy=policies.LEXICAL, clock=lambda: NOW).retrieve("stove")
    assert found.metadata["parts"].keys() == {"recency", "importance", "relevance"}
    told = found.node.get_content(MetadataMode.LLM)
    assert "created_at: 2025-10-04T11:52:00Z" in told
    assert "source: klaus" in told
    assert "score" not in told
    assert found.node.get_content(MetadataMode.EMBED) == "The stove is burning"


def test_a_node_can_be_stored_and_read_again(stream):
    from llama_index.core.schema import TextNode

    from commonplace.adapters.llamaindex import MemoryRetriever

    (found,) = MemoryRetriever(stream, k=1, clock=lambda: NOW).retrieve("stove")
    assert TextNode.from_json(found.node.to_json()) == found.node


def test_core_blocks_come_first():
    from commonplace.adapters.llamaindex import MemoryRetriever

    stream = MemoryStream("maria")
    stream.remember("the stove is burning", at=NOW)
    stream.blocks.set("user", "Maria, a baker")
    first, second = MemoryRetriever(stream, k=1, clock=lambda: NOW).retrieve("stove")
    assert (first.node.text, first.node.metadata, first.score) == ("Maria, a baker", {"block": "user"}, None)
    assert second.node.id_ == "maria:1"
