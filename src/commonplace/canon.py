"""Canonical bytes: the one way a value becomes the bytes that are stored and hashed, and the way back."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import blake2b
from math import isfinite
from typing import Any

DIGEST_SIZE = 16
"""Bytes of a BLAKE2b digest everywhere in Commonplace (printed as 32 hexadecimal digits)."""


def encoding(encoder: json.JSONEncoder) -> Callable[[Any], str]:
    """Returns `encoder.encode` for values without cycles and an encoder without indents.

    `JSONEncoder.encode` makes its encoder below Python anew at each call: half of the time of a small value.
    """
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:  # not CPython
        return encoder.encode
    text = json.encoder.encode_basestring_ascii if encoder.ensure_ascii else json.encoder.encode_basestring
    between = encoder.key_separator, encoder.item_separator
    made = make(None, encoder.default, text, None, *between, encoder.sort_keys, encoder.skipkeys, encoder.allow_nan)
    return lambda value: "".join(made(value, 0))


_encode = encoding(json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False))


def canonical(value: Any) -> bytes:
    """Encodes UTF-8 JSON, keys sorted, no spaces. Raises ValueError for NaN, TypeError for what JSON cannot hold."""
    return _encode(value).encode()


def parsed(text: str | bytes) -> Any:
    """Returns the value of JSON that was read from a file, whoever wrote it.

    Raises ValueError for anything but JSON in UTF-8, and for NaN, infinity, numbers of thousands of digits and
    nesting deeper than Python can follow.
    """
    try:
        return _decode(text if isinstance(text, str) else text.decode())
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{type(text).__name__} instead of text") from error


def most_inflated(size: int) -> int:
    """Bytes that a compressed file of so many bytes may have when it is inflated; JSON lines never need as many."""
    return max(1 << 24, 200 * size)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


_decode = json.JSONDecoder(parse_float=_finite, parse_constant=_finite).decode


def digest(*parts: bytes) -> bytes:
    """Returns BLAKE2b over length-prefixed parts, so that moving a byte to the next part changes the digest."""
    state = _NOTHING_HASHED.copy()  # a third of the time of making one
    for part in parts:
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


_NOTHING_HASHED = blake2b(digest_size=DIGEST_SIZE)
