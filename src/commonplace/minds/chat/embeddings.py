"""Embeddings: texts to lattice vectors by a server's `/embeddings`."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, cast

from commonplace.memory import lattice, packed
from commonplace.minds.chat.client import Errand
from commonplace.minds.chat.page import Page, usage_of
from commonplace.minds.chat.reply import refuse
from commonplace.minds.chat.request import typed_field
from commonplace.minds.chat.session import Session
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.tasks import EmbedInput, EmbedOutput

_AT_ONCE = 64
"""Texts of one request."""
_LONGEST = 8192
"""Dimensions a vector may have."""
_LARGEST = 1e30
"""No component of a vector is as large; a NaN is not below it either."""


async def embedded(
    session: Session, ask: Ask[EmbedInput, EmbedOutput], request_key: RequestKey, errand: Errand
) -> Reply:
    """The vectors of the texts; that of an empty text is empty. Raises Unusable for vectors that cannot be used."""
    can = await session.capabilities(errand)
    body: dict[str, Any] = {"model": can.model, "encoding_format": "float"}
    if can.typed:
        body |= typed_field(ask, request_key)
    texts = [text for text in ask.input.texts if text.strip()]
    vectors: list[str] = []
    tokens = 0
    for start in range(0, len(texts), _AT_ONCE):
        part = texts[start : start + _AT_ONCE]
        page = await session.transport.post("/embeddings", body | {"input": part}, errand)
        await _accepted(page, session, errand)
        vectors += [_packed(vector) for vector in _vectors(page, len(part), session)]
        tokens += usage_of(page, " ".join(part), "")[0]
    left = iter(vectors)
    value = EmbedOutput(vectors=tuple(next(left) if text.strip() else "" for text in ask.input.texts))
    return Reply(value, prompt_tokens=tokens)


async def _accepted(page: Page, session: Session, errand: Errand) -> None:
    if page.status != 200:
        await refuse(page, session.server, session.transport, errand)
        raise Unusable(f"the server refused to embed: {page.status} {page.said()}", "refused_request")


def _vectors(page: Page, count: int, session: Session) -> list[list[float]]:
    """As many vectors as texts, in order, all of the size the server's vectors have."""
    data = page.get("data")
    if not isinstance(data, list):
        raise Unusable("the server's page holds no vectors", "page")
    entries = [page.get("data", place) for place in range(len(cast("list[object]", data)))]
    if len(entries) != count:
        raise Unusable(f"{len(entries)} vectors for {count} texts", "vectors")
    placed = sorted(enumerate(entries), key=lambda entry: _index(entry[1], entry[0]))
    vectors = [_numbers(entry) for _, entry in placed]
    wanted = session.knowledge.dimensions or len(vectors[0])
    if any(len(vector) != wanted for vector in vectors):
        raise Unusable(f"a vector that has not {wanted} dimensions", "vectors")
    session.knowledge.dimensions = wanted
    return vectors


def _index(entry: object, place: int) -> int:
    told = cast("dict[str, object]", entry).get("index") if isinstance(entry, dict) else None
    return told if isinstance(told, int) else place


def _numbers(entry: object) -> list[float]:
    vector = cast("dict[str, object]", entry).get("embedding") if isinstance(entry, dict) else None
    if not isinstance(vector, list) or not 0 < len(cast("list[object]", vector)) <= _LONGEST:
        raise Unusable("a vector that is no list of numbers", "vectors")
    numbers = cast("Sequence[object]", vector)
    if not all(isinstance(number, (int, float)) and abs(number) < _LARGEST for number in numbers):
        raise Unusable("a vector that is no list of numbers", "vectors")
    return cast("list[float]", vector)


def _packed(vector: list[float]) -> str:
    """A lattice vector as base64 of int16; empty for a zero vector."""
    found = lattice(vector)
    return "" if found is None else b64encode(packed(found)).decode()
