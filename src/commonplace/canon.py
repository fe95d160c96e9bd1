"""Canonical bytes: the one way a value becomes the bytes that are stored and hashed."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

DIGEST_SIZE = 16
"""Bytes of a BLAKE2b digest everywhere in Commonplace (printed as 32 hexadecimal digits)."""

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical(value: Any) -> bytes:
    """UTF-8 JSON with sorted keys and no spaces. Raises ValueError for NaN, TypeError for what JSON cannot hold."""
    return _encode(value).encode()


def digest(*parts: bytes) -> bytes:
    """BLAKE2b over length-prefixed parts, so that moving a byte from one part to the next changes the digest."""
    prefixed = b"".join([piece for part in parts for piece in (len(part).to_bytes(8, "big"), part)])
    return blake2b(prefixed, digest_size=DIGEST_SIZE).digest()
