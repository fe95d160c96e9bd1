"""JSON Schema in the few shapes that every server with structured answers understands: no `$ref`, nothing optional."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Schema = dict[str, Any]

FLAG: Schema = {"type": "boolean"}
TIME: Schema = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}


def obj(**properties: Schema) -> Schema:
    """An object with exactly these properties, written in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text(longest: int, shortest: int = 0) -> Schema:
    """Words; lengths in characters."""
    return {"type": "string", "minLength": shortest, "maxLength": longest}


def whole(least: int, most: int) -> Schema:
    """A whole number of a range, both ends included."""
    return {"type": "integer", "minimum": least, "maximum": most}


def one_of(values: Iterable[str]) -> Schema:
    """One of the given words."""
    return {"type": "string", "enum": list(dict.fromkeys(values))}


def several(item: Schema, least: int, most: int) -> Schema:
    """A list."""
    return {"type": "array", "items": item, "minItems": least, "maxItems": most}


def some_of(values: Sequence[int] | Sequence[str]) -> Schema:
    """A list of offered values; the empty list where none are offered."""
    kind = "string" if values and isinstance(values[0], str) else "integer"
    item: Schema = {"type": kind, "enum": list(values)} if values else {"type": kind}
    return several(item, 0, min(len(values), 8))


def maybe(schema: Schema) -> Schema:
    """The schema, or null."""
    return {"anyOf": [schema, {"type": "null"}]}
