"""An embedder without a model: its vectors come with each memory and each question."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.memory.embedding import Vector


class GivenVectors:
    """Stands for vectors made elsewhere: pass them as `embedding` to `remember` and `recall`.

    `name` is the configuration they were made by; vectors of different names are never compared.
    """

    def __init__(self, name: str, dimensions: int) -> None:
        self.name = name
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> list[Vector | None]:
        """No vector for any text: what was not given is not there."""
        return [None] * len(texts)
