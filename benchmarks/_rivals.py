"""What recall is compared with: the limit of NumPy, the published algorithm, and libraries. Used by recall_speed.py and
recall_table.py."""

from __future__ import annotations

import importlib.util
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from _conversations import Asked, Dialogue, K, Recalled, Way, lower_words

from commonplace.memory import Embedder
from commonplace.memory.embedding import Vector

Ask = Callable[[int], object]
"""Answers the question of this number with ten memories."""
NEAREST = 100
"""How many neighbours LangChain's retriever, as it comes, fetches and ranks again."""


def limit(vectors: Vector, questions: Sequence[Vector]) -> Ask:
    """One thread's matrix-vector product (BLAS's or NumPy's own, whichever is faster here), min-max, a prior that is
    ready, argpartition: no rounding, no ties, no reasons, no records."""
    prior = np.linspace(0, 1, len(vectors))

    def ask(number: int, product: Callable[..., Any]) -> object:
        relevance = product(vectors, questions[number])
        low, high = relevance.min(), relevance.max()
        scores = (relevance - low) / (high - low) + prior
        return np.argpartition(scores, len(scores) - 10)[-10:]

    def spent(product: Callable[..., Any]) -> float:
        return min(fastest(lambda: product(vectors, questions[0])) for _ in range(9))

    faster = min((np.matmul, np.vecdot), key=spent)
    return lambda number: ask(number, faster)


@dataclass
class Node:
    """A memory as the published code has it: an object in a list."""

    name: str
    text: str
    importance: float
    accessed: datetime


def published(vectors: Vector, questions: Sequence[Vector], texts: Sequence[str], importance: Sequence[float]) -> Ask:
    """Retrieval as the code published with Generative Agents does it: memories are objects, those that are not idle are
    sorted by their last access; a loop over them for each part, vectors as lists found by their text, parts in
    dictionaries that are normalised one value at a time; what is found is accessed."""
    start = datetime.now(UTC) - timedelta(minutes=5 * len(texts))
    nodes = [
        Node(f"node_{number}", text, weight, start + timedelta(minutes=5 * number))
        for number, (text, weight) in enumerate(zip(texts, importance, strict=True))
    ]
    by_name = {node.name: node for node in nodes}
    by_text = {text: vector.tolist() for text, vector in zip(texts, vectors, strict=True)}
    asked = [vector.tolist() for vector in questions]

    def normal(parts: dict[str, float]) -> dict[str, float]:
        low, high = min(parts.values()), max(parts.values())
        for name, value in parts.items():
            parts[name] = (value - low) / (high - low) if high > low else 0.5
        return parts

    def cosine(one: list[float], other: list[float]) -> float:
        return np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other))

    def ask(number: int) -> object:
        query = asked[number]
        awake = [(node.accessed, node) for node in nodes if "idle" not in node.text]
        chosen = [node for _, node in sorted(awake, key=lambda entry: entry[0])]
        recency = normal({node.name: 0.99**place for place, node in enumerate(chosen, start=1)})
        weights = normal({node.name: node.importance for node in chosen})
        relevance = normal({node.name: cosine(by_text[node.text], query) for node in chosen})
        total = {name: 0.5 * recency[name] + 2 * weights[name] + 3 * relevance[name] for name in recency}
        best = sorted(total.items(), key=lambda entry: entry[1], reverse=True)[:10]
        found = [by_name[name] for name, _ in best]
        for node in found:
            node.accessed = datetime.now(UTC)
        return found

    return ask


def langchain(vectors: Vector, questions: Sequence[Vector], fetched: int = NEAREST) -> Ask:
    """LangChain's time-weighted retriever over FAISS; vectors are looked up, not computed."""
    import faiss  # noqa: PLC0415 - optional
    from langchain_classic.retrievers import TimeWeightedVectorStoreRetriever  # noqa: PLC0415
    from langchain_community.docstore import InMemoryDocstore  # noqa: PLC0415
    from langchain_community.vectorstores import FAISS  # noqa: PLC0415
    from langchain_core.documents import Document  # noqa: PLC0415
    from langchain_core.embeddings import Embeddings  # noqa: PLC0415

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    class Known(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [unit[int(text)].tolist() for text in texts]

        def embed_query(self, text: str) -> list[float]:
            vector = questions[int(text)]
            return (vector / np.linalg.norm(vector)).tolist()

    faiss.omp_set_num_threads(1)
    # squared distances of unit vectors are at most 4, and it warns at length about a relevance outside 0–1
    store = FAISS(
        Known(),
        faiss.IndexFlatL2(vectors.shape[1]),
        InMemoryDocstore(),
        {},
        relevance_score_fn=lambda distance: 1 - distance / 4.001,
    )
    retriever = TimeWeightedVectorStoreRetriever(
        vectorstore=store, k=10, decay_rate=0.005, other_score_keys=["importance"], search_kwargs={"k": fetched}
    )
    start = datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=5 * len(vectors))
    for first in range(0, len(vectors), 1000):
        numbers = range(first, min(first + 1000, len(vectors)))
        times = [start + timedelta(minutes=5 * number) for number in numbers]
        retriever.add_documents(
            [
                Document(str(number), metadata={"importance": 0.5, "last_accessed_at": at, "created_at": at})
                for number, at in zip(numbers, times, strict=True)
            ]
        )
    return lambda number: retriever.invoke(str(number))


def chroma(vectors: Vector, questions: Sequence[Vector]) -> Ask:
    """Chroma's nearest neighbours alone, approximate: no other part of a score."""
    import chromadb  # noqa: PLC0415 - optional
    from chromadb.config import Settings  # noqa: PLC0415

    client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
    name = f"memories-{len(vectors)}"
    collection = client.create_collection(name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    for first in range(0, len(vectors), 1000):
        batch = vectors[first : first + 1000]
        collection.add(ids=[str(first + place) for place in range(len(batch))], embeddings=batch)
    return lambda number: collection.query(query_embeddings=questions[number], n_results=NEAREST)


def langchain_all(vectors: Vector, questions: Sequence[Vector]) -> Ask:
    """The same, ranking every memory: what comes back is then the best of all."""
    return langchain(vectors, questions, len(vectors))


_LANGCHAIN = ("langchain_classic", "langchain_community", "faiss")
LIBRARIES: dict[str, tuple[tuple[str, ...], Callable[[Vector, Sequence[Vector]], Ask]]] = {
    "LangChain and FAISS, 100": (_LANGCHAIN, langchain),
    "LangChain and FAISS, all": (_LANGCHAIN, langchain_all),
    "Chroma, nearest 100": (("chromadb",), chroma),
}
"""Name → (the packages it needs, how it is set up)."""


# ── what comes back, with settings that need no network ──────────────────────────────────────────────────────────────


def rank_bm25(_: Embedder) -> Way:
    """rank-bm25's Okapi with its defaults, over lower-case words."""
    from rank_bm25 import BM25Okapi  # noqa: PLC0415 - optional

    def way(dialogue: Dialogue) -> Recalled:
        index = BM25Okapi([lower_words(text) for text in dialogue.texts])
        return lambda entry: np.argsort(-index.get_scores(lower_words(entry.question)), kind="stable")[:K].tolist()

    return way


def bm25s(_: Embedder) -> Way:
    """bm25s with its defaults: its own words, without English stop words."""
    import bm25s  # noqa: PLC0415 - optional

    def way(dialogue: Dialogue) -> Recalled:
        index = bm25s.BM25()
        index.index(bm25s.tokenize(dialogue.texts, show_progress=False), show_progress=False)
        most = min(K, len(dialogue.texts))

        def recalled(entry: Asked) -> list[int]:
            words = bm25s.tokenize([entry.question], return_ids=False, show_progress=False)
            return index.retrieve(words, k=most, show_progress=False)[0][0].tolist()

        return recalled

    return way


def _langchain_embeddings(embedder: Embedder) -> Any:
    from langchain_core.embeddings import Embeddings  # noqa: PLC0415 - optional

    questions = getattr(embedder, "embed_query", embedder.embed)

    class Ours(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [vector.tolist() for vector in embedder.embed(texts) if vector is not None]

        def embed_query(self, text: str) -> list[float]:
            return questions([text])[0].tolist()

    return Ours()


def mem0(embedder: Embedder) -> Way:
    """mem0 with each turn added as it is (`infer=False`, without a model) and its search as it comes."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ.setdefault("MEM0_DIR", tempfile.mkdtemp())
    from mem0 import Memory  # noqa: PLC0415 - optional
    from qdrant_client import QdrantClient  # noqa: PLC0415 - optional

    def way(dialogue: Dialogue) -> Recalled:
        store = {"client": QdrantClient(":memory:"), "embedding_model_dims": embedder.dimensions}
        memory = Memory.from_config(
            {
                "embedder": {"provider": "langchain", "config": {"model": _langchain_embeddings(embedder)}},
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", "config": {"api_key": "never asked"}},
                "history_db_path": ":memory:",
            }
        )
        for place, text in enumerate(dialogue.texts):
            memory.add(text, user_id="listener", metadata={"place": place}, infer=False)

        def recalled(entry: Asked) -> list[int]:
            found = memory.search(entry.question, filters={"user_id": "listener"}, top_k=K)
            return [one["metadata"]["place"] for one in found["results"]]

        return recalled

    return way


def langmem(embedder: Embedder) -> Way:
    """LangMem's two tools over LangGraph's store in RAM."""
    from langgraph.store.memory import InMemoryStore  # noqa: PLC0415 - optional
    from langmem import create_manage_memory_tool, create_search_memory_tool  # noqa: PLC0415 - optional

    def way(dialogue: Dialogue) -> Recalled:
        index: Any = {"dims": embedder.dimensions, "embed": _langchain_embeddings(embedder), "fields": ["content"]}
        store = InMemoryStore(index=index)
        manage = create_manage_memory_tool("memories", store=store)
        search = create_search_memory_tool("memories", store=store)
        # the tool answers "created memory" and the key
        made = [manage.invoke({"content": text, "action": "create"}).split()[-1] for text in dialogue.texts]
        places = {key: place for place, key in enumerate(made)}

        def recalled(entry: Asked) -> list[int]:
            return [places[one["key"]] for one in json.loads(search.invoke({"query": entry.question, "limit": K}))]

        return recalled

    return way


WAYS: dict[str, tuple[tuple[str, ...], Callable[[Embedder], Way]]] = {
    "rank-bm25": (("rank_bm25",), rank_bm25),
    "bm25s": (("bm25s",), bm25s),
    "mem0": (("mem0", "qdrant_client", "langchain"), mem0),
    "LangMem": (("langmem", "langgraph"), langmem),
}
"""Name → (the packages it needs, how it recalls with an embedder)."""


def missing(packages: Sequence[str]) -> list[str]:
    """Those of the packages that are not installed."""
    return [package for package in packages if importlib.util.find_spec(package) is None]


def fastest(work: Callable[[], object]) -> float:
    """Microseconds."""
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e6
