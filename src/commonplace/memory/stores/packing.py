"""Archived memories, made small."""

from __future__ import annotations

import json
import zlib


def packed_text(text: str, rest: str) -> bytes:
    """A memory's text and rarer fields, deflated."""
    return zlib.compress(json.dumps([text, rest]).encode())


def unpacked_text(packed: bytes) -> tuple[str, str]:
    """The inverse of `packed_text`. Raises zlib.error or ValueError for bytes that are none."""
    text, rest = json.loads(zlib.decompress(packed))
    return text, rest
