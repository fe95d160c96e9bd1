"""Vectors of texts: the built-in embedder's, written as a model server's are."""

from __future__ import annotations

from base64 import b64encode

from commonplace.memory.embedding import default_embedder, packed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import EmbedInput, EmbedOutput


def embed(given: EmbedInput, dice: Dice) -> EmbedOutput:  # noqa: ARG001 – one signature for all tasks
    """A vector per text; empty for one without a word."""
    vectors = default_embedder().embed(given.texts)
    return EmbedOutput(vectors=tuple(b64encode(packed(one)).decode() if one is not None else "" for one in vectors))
