"""Embeddings by a server that speaks OpenAI's `/embeddings`, for programs that use the memory by itself."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import blake2b
from http.client import HTTPException
from importlib import import_module
from ipaddress import ip_address
from pathlib import PurePath
from threading import Lock
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.embedding import Vector, lattice
from commonplace.text import clean

# ── served ───────────────────────────────────────────────────────────────────────────────────────────────────────────


VARIABLE = "COMMONPLACE_API_KEY"
"""The environment variable whose key is sent, if there is one; `OPENAI_API_KEY` goes to OpenAI's own server alone."""
_OPENAI = "api.openai.com"
_AT_ONCE = 64
"""Texts of one request."""
_LONGEST_PAGE = 64_000_000
"""Bytes of an answer that are read."""


class ServerEmbedder:
    """Vectors from `URL/embeddings`, made lattice vectors. No text goes anywhere but to that server.

    `url`: up to and including `/v1`; `timeout`: seconds for one request. The size of the vectors is asked once, when
    the embedder is made. Raises UsageError for an address or key that cannot be one, CommonplaceError when the server
    does not answer as it should.
    """

    def __init__(self, url: str, model: str, *, timeout: float = 60.0) -> None:
        self._url = _checked(url)
        self._model = model
        self._timeout = timeout
        self._opener = _opener(self._url)
        self.dimensions = len(self._asked(["size"])[0])
        self.name = f"{model}-{self.dimensions}-served"

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """A lattice vector of shape (dimensions,) per text; `None` for an empty text and a vector of zeros."""
        wanted = list(dict.fromkeys(text for text in map(clean, texts) if text))
        vectors: dict[str, Vector | None] = {}
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            for text, vector in zip(part, self._asked(part), strict=True):
                if len(vector) != self.dimensions:
                    raise self._wrong(f"sent a vector of {len(vector)} dimensions after one of {self.dimensions}")
                vectors[text] = lattice(vector)
        return [vectors.get(clean(text)) for text in texts]

    def _asked(self, texts: list[str]) -> list[list[float]]:
        body = json.dumps({"model": self._model, "input": texts, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json", **_authorization(self._url)}
        request = Request(f"{self._url}/embeddings", body, headers)
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                page: Any = json.loads(answer.read(_LONGEST_PAGE))
        except HTTPError as refused:
            with refused:
                raise self._wrong(f"answered {refused.code} {refused.reason}") from None
        except (OSError, HTTPException) as away:
            raise self._wrong(f"does not answer: {getattr(away, 'reason', away)}") from None
        except ValueError:
            raise self._wrong("sent what is no JSON") from None
        return self._vectors(page, len(texts))

    def _vectors(self, page: Any, count: int) -> list[list[float]]:
        try:
            ordered: list[Any] = sorted(page["data"], key=lambda entry: entry["index"])
            vectors = [[float(number) for number in entry["embedding"]] for entry in ordered]
        except (TypeError, ValueError, KeyError):
            raise self._wrong("sent no vectors") from None
        if len(vectors) != count or not all(vectors):
            raise self._wrong(f"sent {len(vectors)} vectors for {count} texts")
        return vectors

    def _wrong(self, said: str) -> CommonplaceError:
        return CommonplaceError(
            f"the embedding server {said}",
            where=self._url,
            hint=f"check that it serves {self._model!r}; a key is taken from {_variable(self._url)}",
        )


class _NoRedirect(HTTPRedirectHandler):
    """A redirect is refused: it would take texts and key to another address."""

    def redirect_request(
        self,
        req: object,  # noqa: ARG002
        fp: object,  # noqa: ARG002
        code: object,  # noqa: ARG002
        msg: object,  # noqa: ARG002
        headers: object,  # noqa: ARG002
        newurl: object,  # noqa: ARG002
    ) -> None:
        return None


def _opener(url: str) -> OpenerDirector:
    """Through the proxy of the environment, unless the address is this machine's own."""
    return build_opener(_NoRedirect, *([ProxyHandler({})] if _is_loopback(url) else []))


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError(f"the server {url!r}", hint="give an address such as http://127.0.0.1:8080/v1, without a key")
    return url.rstrip("/")


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _variable(url: str) -> str:
    return "OPENAI_API_KEY" if urlsplit(url).hostname == _OPENAI else VARIABLE


def _authorization(url: str) -> dict[str, str]:
    variable = _variable(url)
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(f"{variable} holds characters that no key has", hint="set it again, without them")
    return {"Authorization": f"Bearer {key}"} if key else {}


# ── sentence ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Embeddings by a sentence-transformers model on this machine: the `[embeddings]` extra.


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
        self.dimensions = len(self._model.encode(["size"], show_progress_bar=False)[0])
        self.name = f"{PurePath(model).name}-{self.dimensions}-{_digest(self._model)}"
        """The model's name, size and a digest of its parameters: another version has another name."""
        self._vectors: dict[str, Vector | None] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """A read-only lattice vector of shape (dimensions,) per text; `None` for an empty one."""
        return [self._embed(clean(text)) for text in texts]

    def _embed(self, text: str) -> Vector | None:
        with self._lock:
            if text not in self._vectors:
                if len(self._vectors) >= _KEPT:
                    del self._vectors[next(iter(self._vectors))]
                self._vectors[text] = self._made(text) if text else None
            return self._vectors[text]

    def _made(self, text: str) -> Vector | None:
        vector = lattice(self._model.encode([text], show_progress_bar=False)[0])
        if vector is not None:
            vector.setflags(write=False)
        return vector


def _loaded(model: str) -> Any:
    for variable in ("HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(variable, "1")  # read on import; without it an unreachable hub costs minutes
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as missing:
        raise UsageError(
            "SentenceEmbedder needs sentence-transformers", hint='pip install "commonplace[embeddings]"'
        ) from missing
    try:
        return library.SentenceTransformer(model, device="cpu", local_files_only=True)
    except (OSError, ValueError) as absent:
        raise UsageError(
            f"sentence model {model!r} is not on this machine",
            hint="give the folder of a model, or download it first: hf download NAME",
        ) from absent


def _digest(model: Any) -> str:
    """Eight hexadecimal digits that depend on all parameters, but not on the files they came from."""
    state = blake2b(digest_size=4)
    for name, tensor in sorted(model.state_dict().items()):
        state.update(name.encode())
        state.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return state.hexdigest()
