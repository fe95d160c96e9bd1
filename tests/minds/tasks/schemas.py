"""A validator for the few words of JSON Schema that prompts use, so that tests need no package for it."""

from __future__ import annotations

import re
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None),
}  # fmt: skip
WORDS = {
    "type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "enum", "minimum",
    "maximum", "pattern", "anyOf",
}  # fmt: skip


def faults(schema: dict[str, Any], data: Any, at: str = "$") -> list[str]:
    """Where data does not fit, in words; empty when it does."""
    assert set(schema) <= WORDS, set(schema) - WORDS
    if "anyOf" in schema:
        return [] if any(not faults(one, data, at) for one in schema["anyOf"]) else [f"{at}: none of several"]
    kind = schema["type"]
    if not isinstance(data, TYPES[kind]) or (kind == "integer" and isinstance(data, bool)):
        return [f"{at}: not {kind}"]
    found = [f"{at}: {data!r} not offered"] if data not in schema.get("enum", [data]) else []
    if kind == "object":
        found += [f"{at}: {key} missing" for key in schema["required"] if key not in data]
        found += [f"{at}: {key} unknown" for key in data if key not in schema["properties"]]
        for key, inner in schema["properties"].items():
            found += faults(inner, data[key], f"{at}.{key}") if key in data else []
    elif kind == "array":
        fits = schema.get("minItems", 0) <= len(data) <= schema.get("maxItems", len(data))
        found += [] if fits else [f"{at}: {len(data)} items"]
        for index, item in enumerate(data):
            found += faults(schema["items"], item, f"{at}[{index}]")
    elif kind == "integer":
        found += [f"{at}: {data}"] if not schema.get("minimum", data) <= data <= schema.get("maximum", data) else []
    elif kind == "string" and "enum" not in schema:
        found += [] if re.search(schema.get("pattern", ""), data) else [f"{at}: {data!r}"]
    return found
