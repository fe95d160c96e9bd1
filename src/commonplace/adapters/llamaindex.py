"""A stream as a retriever of LlamaIndex. Needs the extra `llamaindex`."""

from __future__ import annotations

from typing import Any

from commonplace.adapters.parts import REASONS, Clock, metadata, reference, wall_clock
from commonplace.errors import UsageError, install
from commonplace.memory import MemoryStream, Retrieval, ScoredMemory

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise UsageError("the LlamaIndex adapter needs the package llama-index-core", hint=install("llamaindex")) from error

__all__ = ["MemoryRetriever"]

FOR_PEOPLE = ["id", "agent", "tick", "event", "accessed_at", "importance", "details", "citations", *REASONS]
"""Metadata that a prompt does not get."""


class MemoryRetriever(BaseRetriever):
    """Recalls memories as nodes, with the scores of `recall`.

    A node's text is the memory's, its metadata the other fields with `rank`, `score` and `parts`; a prompt gets kind,
    time, place, source and tags of them. The core blocks of the stream come first, without a score, besides the `k`.
    """

    def __init__(self, stream: MemoryStream, k: int = 10, *, clock: Clock = wall_clock, **options: Any) -> None:
        """Makes a retriever of `k` nodes. `options` are those of `MemoryStream.recall`, such as `policy`; without
        others, `collapse` and `current` are True."""
        super().__init__()
        self._stream = stream
        self._options: dict[str, Any] = {"k": k, "collapse": True, "current": True, **options}
        self._clock = clock

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [*self._blocks(), *_nodes(self._stream.retrieve(query_bundle.query_str, **self._asked()))]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [*self._blocks(), *_nodes(await self._stream.aretrieve(query_bundle.query_str, **self._asked()))]

    def _blocks(self) -> list[NodeWithScore]:
        agent = self._stream.agent
        return [
            NodeWithScore(node=TextNode(id_=f"{agent}:{name}", text=text, metadata={"block": name}))
            for name, text in self._stream.blocks.items()
            if text
        ]

    def _asked(self) -> dict[str, Any]:
        return {"at": self._clock(), **self._options}


def _nodes(found: Retrieval) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(hit, fields), score=hit.score) for hit, fields in metadata(found)]


def _node(hit: ScoredMemory, fields: dict[str, Any]) -> TextNode:
    return TextNode(
        id_=reference(hit.memory),
        text=hit.memory.full_text,
        metadata=fields,
        excluded_llm_metadata_keys=FOR_PEOPLE,
        excluded_embed_metadata_keys=list(fields),
    )
