"""Embeddings by a sentence-transformers model on this machine: the `[embeddings]` extra."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import PurePath
from threading import Lock
from typing import Any

from commonplace.errors import WrongUse
from commonplace.memory.embedding import Vector, lattice
from commonplace.text import clean

_KEPT = 4096
"""Texts whose vectors are kept."""


class SentenceEmbedder:
    """Vectors that know what words mean, from a model that is on this machine already. Nothing is downloaded.

    `model`: a folder, or the name of a model in the local cache. Vectors are on the lattice. Each text is embedded by
    itself, because a batch changes last digits; another machine may still round a digit differently, so keep vectors
    with their memories instead of making them again. Raises WrongUse without the extra and for a model that is not
    there.
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
        os.environ.setdefault(
            variable, "1"
        )  # read when the library is imported; without it a missing hub costs minutes
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError as missing:
        raise WrongUse(
            "embeddings by a sentence model need sentence-transformers",
            todo='type: pip install "commonplace[embeddings]"',
        ) from missing
    try:
        return library.SentenceTransformer(model, device="cpu", local_files_only=True)
    except (OSError, ValueError) as absent:
        raise WrongUse(
            f"the sentence model {model!r} is not on this machine",
            todo="give the folder of a model, or fetch it first: hf download NAME",
        ) from absent


def _digest(model: Any) -> str:
    """Eight hexadecimal digits of a digest of all parameters, whatever files they came from."""
    state = blake2b(digest_size=4)
    for name, tensor in sorted(model.state_dict().items()):
        state.update(name.encode())
        state.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return state.hexdigest()
