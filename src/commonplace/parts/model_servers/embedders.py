"""Embedders on models: a server's `/embeddings`, or a sentence-transformers model on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import PurePath
from threading import Lock
from typing import Any, NamedTuple

import httpx2

from commonplace.errors import CommonplaceError, UsageError, install
from commonplace.memory.embedding import Vector, lattice
from commonplace.parts.model_servers.http import (
    LONGEST_BODY,
    TEXTS_PER_REQUEST,
    Key,
    Page,
    Unreachable,
    WrongPage,
    client_options,
    url_of,
    vectors_in,
)
from commonplace.servers import base_url, key_variable
from commonplace.text import clean


class Prefixes(NamedTuple):
    """The prefixes that a model wants to read in front of a text."""

    query: str = ""
    passage: str = ""

    @property
    def mark(self) -> str:
        """The end of an embedder's name where its vectors depend on a prompt."""
        return "-prompted" if self.passage else ""


def known_prompts(model: str) -> Prefixes:
    """Returns the prompts of a model that is known to need some: the E5 family without the instruction-tuned ones."""
    name = PurePath(model).name.lower()
    return Prefixes("query: ", "passage: ") if _E5.search(name) and "instruct" not in name else Prefixes()


_E5 = re.compile(r"(?<![a-z0-9])e5(?![a-z0-9])")


class ServerEmbedder:
    """Vectors from `URL/embeddings`, made lattice vectors. No text goes anywhere but to that server.

    `url`: up to and including `/v1`; `timeout`: seconds of one request. The size of the vectors is asked once, when
    the embedder is made. Raises UsageError for an invalid address or key, CommonplaceError if the server does not
    answer as it should.
    """

    def __init__(self, url: str, model: str, *, timeout: float = 60.0) -> None:
        self._url = base_url(url)
        self._model = model
        self._timeout = timeout
        self._prompts = known_prompts(model)
        self.dimensions = len(self._vectors(["size"])[0])
        self.name = f"{model}-{self.dimensions}-served{self._prompts.mark}"

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Returns a lattice vector of shape (dimensions,) per text; `None` for an empty text and a vector of zeros."""
        return self._embed(self._prompts.passage, texts)

    def embed_query(self, texts: Sequence[str]) -> list[Vector | None]:
        """Embeds questions, which some models tell apart from what is to be found."""
        return self._embed(self._prompts.query, texts)

    def _embed(self, prompt: str, texts: Sequence[str]) -> list[Vector | None]:
        wanted = list(dict.fromkeys(text for text in map(clean, texts) if text))
        vectors: dict[str, Vector | None] = {}
        for start in range(0, len(wanted), TEXTS_PER_REQUEST):
            part = wanted[start : start + TEXTS_PER_REQUEST]
            for text, vector in zip(part, self._vectors([prompt + text for text in part]), strict=True):
                if len(vector) != self.dimensions:
                    raise self._error(f"sent a vector of {len(vector)} dimensions; expected {self.dimensions}")
                vectors[text] = lattice(vector)
        return [vectors.get(clean(text)) for text in texts]

    def _vectors(self, texts: list[str]) -> list[list[float]]:
        key = Key.from_environment(key_variable(self._url))  # read anew: it may be set or changed at any time
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        try:
            page = self._page(body, key)
            if page.status != 200:
                raise self._error(f"answered {page.status} {page.said()}".rstrip())
            return vectors_in(page, len(texts))
        except (httpx2.TransportError, Unreachable) as error:
            raise self._error(f"does not answer: {key.scrub(str(error))}") from None
        except WrongPage as error:
            raise self._error(f"sent an answer that cannot be used: {error}") from None

    def _page(self, body: dict[str, Any], key: Key) -> Page:
        content = bytearray()
        with (
            httpx2.Client(**client_options(self._url, key, self._timeout)) as client,
            client.stream("POST", url_of(self._url, "/embeddings"), json=body) as response,
        ):
            for chunk in response.iter_raw():
                content += chunk[: LONGEST_BODY - len(content)]
                if len(content) >= LONGEST_BODY:
                    break
            return Page.of(response.status_code, response.headers, bytes(content), key)

    def _error(self, said: str) -> CommonplaceError:
        return CommonplaceError(
            f"the embedding server {said}",
            where=self._url,
            hint=f"check that it serves {self._model!r}; its key comes from {key_variable(self._url)}",
        )


_KEPT = 4096
"""Texts whose vectors are kept."""


class SentenceEmbedder:
    """Lattice vectors from a sentence-transformers model on this machine (extra `[embeddings]`); downloads nothing.

    `model`: a folder, or the name of a model in the local cache. Each text is embedded by itself, because a batch
    changes last digits; another machine may still round a digit differently, so keep vectors with their memories
    instead of making them again. Raises UsageError without the extra and for a missing model.
    """

    def __init__(self, model: str | PurePath) -> None:
        self._model = _loaded(str(model))
        self._prompts = _prompts_of(self._model) or known_prompts(str(model))
        self.dimensions = len(self._model.encode(["size"], show_progress_bar=False)[0])
        self.name = f"{PurePath(model).name}-{self.dimensions}-{_digest(self._model)}{self._prompts.mark}"
        """The model's name, size and a digest of its parameters: another version has another name."""
        self._vectors: dict[tuple[str, str], Vector | None] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Returns a read-only lattice vector of shape (dimensions,) per text; `None` for an empty one."""
        return [self._embed(self._prompts.passage, clean(text)) for text in texts]

    def embed_query(self, texts: Sequence[str]) -> list[Vector | None]:
        """Embeds questions, which some models tell apart from what is to be found."""
        return [self._embed(self._prompts.query, clean(text)) for text in texts]

    def _embed(self, prompt: str, text: str) -> Vector | None:
        with self._lock:
            key = prompt, text
            if key not in self._vectors:
                if len(self._vectors) >= _KEPT:
                    del self._vectors[next(iter(self._vectors))]
                self._vectors[key] = self._made(prompt, text) if text else None
            return self._vectors[key]

    def _made(self, prompt: str, text: str) -> Vector | None:
        prompted = {"prompt": prompt} if prompt else {}
        vector = lattice(self._model.encode([text], show_progress_bar=False, **prompted)[0])
        if vector is not None:
            vector.setflags(write=False)
        return vector


def _prompts_of(model: Any) -> Prefixes | None:
    """Returns the prompts in the configuration of a model; None without any."""
    found: dict[str, str] = getattr(model, "prompts", None) or {}
    passage = next((found[name] for name in ("document", "passage") if found.get(name)), "")
    return Prefixes(found.get("query", ""), passage) if found.get("query") or passage else None


def _loaded(model: str) -> Any:
    for variable in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(variable, "1")  # read on import; without it an unreachable hub costs minutes
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as missing:
        raise UsageError("SentenceEmbedder needs sentence-transformers", hint=install("embeddings")) from missing
    try:
        return library.SentenceTransformer(model, device="cpu", local_files_only=True)
    except (OSError, ValueError) as absent:
        raise UsageError(
            f"sentence model {model!r} is not on this machine",
            hint="give the folder of a model, or download it first: hf download NAME",
        ) from absent


def _digest(model: Any) -> str:
    """Returns eight hexadecimal digits that depend on all parameters, but not on the files they came from."""
    state = blake2b(digest_size=4)
    for name, tensor in sorted(model.state_dict().items()):
        state.update(name.encode())
        state.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return state.hexdigest()
