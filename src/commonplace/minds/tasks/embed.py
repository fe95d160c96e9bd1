"""`embed`: vectors of texts. A question like any other, so that its answers are journaled, but never put into words."""

from __future__ import annotations

from commonplace.minds.mind import Task
from commonplace.minds.notes import Given, Value


class EmbedInput(Given):
    """Texts whose vectors a model makes."""

    texts: tuple[str, ...]
    model: str = ""
    """Name of the embedding model; empty: the mind's own."""
    dimensions: int = 384
    """Size of its vectors; others are unusable."""


class EmbedOutput(Value):
    vectors: tuple[str, ...]
    """A lattice vector per text, as base64 of little-endian int16; empty for one that could not be embedded."""


EMBED = Task(
    "embed",
    EmbedInput,
    EmbedOutput,
    lambda inputs: EmbedOutput(vectors=("",) * len(inputs.texts)),
    max_tokens=0,
)
