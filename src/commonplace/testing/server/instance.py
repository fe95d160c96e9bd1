"""A small valid instance of a JSON Schema, drawn by key: an answer for questions that came as words alone."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor
from typing import Any

from commonplace import rng
from commonplace.rng import Key

_WORDS = ("amber", "bridge", "canal", "dusk", "ember", "ferry", "garden", "harbour", "island", "juniper")
_DEEPEST = 12

Schema = Mapping[str, Any]


def instance(schema: Schema, *key: Key) -> Any:
    """A value of the schema, the same for the same key.

    Known are `type`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`, local `$ref`, `properties`, `required`, `items`,
    `prefixItems` and the bounds of numbers, texts and lists; other keywords, `pattern` among them, are not looked at.
    """
    return _value(schema, schema, key)


def _value(schema: Schema | bool, root: Schema, key: tuple[Key, ...]) -> Any:
    if isinstance(schema, bool):
        return None
    schema = _plain(schema, root, key)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"], *key, "enum")
    return _typed(schema, _kind(schema, key), root, key)


def _kind(schema: Schema, key: tuple[Key, ...]) -> str:
    named: str | list[str] = schema.get("type") or ("object" if "properties" in schema else "string")
    return named if isinstance(named, str) else rng.choice(named, *key, "type")


def _typed(schema: Schema, kind: str, root: Schema, key: tuple[Key, ...]) -> Any:
    match kind:
        case "object":
            return _object(schema, root, key)
        case "array":
            return _list(schema, root, key)
        case "integer" | "number":
            return _number(schema, kind, key)
        case "boolean":
            return bool(rng.below(2, *key, "bool"))
        case "null":
            return None
        case _:
            return _text(schema, key)


def _plain(schema: Schema, root: Schema, key: tuple[Key, ...]) -> Schema:
    """The schema with references followed and one of its alternatives taken."""
    for depth in range(_DEEPEST):
        if "$ref" in schema:
            schema = _found(schema["$ref"], root)
            continue
        branch = next((name for name in ("anyOf", "oneOf") if schema.get(name)), "")
        if not branch and not schema.get("allOf"):
            break
        # an alternative that refers to nothing ends a recursion
        chosen = schema.get("allOf") or [_alternative(schema[branch], len(key) + depth, key)]
        rest = {name: part for name, part in schema.items() if name not in {"anyOf", "oneOf", "allOf"}}
        schema = rest
        for part in chosen:
            schema = {**schema, **_plain(part, root, key)}
    return schema


def _alternative(options: list[Schema], depth: int, key: tuple[Key, ...]) -> Schema:
    ends = [option for option in options if "$ref" not in option]
    return rng.choice(ends if ends and depth > _DEEPEST else options, *key, "any")


def _found(reference: str, root: Schema) -> Schema:
    found: Any = root
    for name in reference.removeprefix("#").strip("/").split("/"):
        found = found[name.replace("~1", "/").replace("~0", "~")] if name else found
    return found


def _object(schema: Schema, root: Schema, key: tuple[Key, ...]) -> dict[str, Any]:
    required = set(schema.get("required", ()))
    named = {
        name: part for name, part in schema.get("properties", {}).items() if name in required or len(key) < _DEEPEST
    }
    return {name: _value(part, root, (*key, name)) for name, part in named.items()}


def _list(schema: Schema, root: Schema, key: tuple[Key, ...]) -> list[Any]:
    first: list[Schema] = schema.get("prefixItems", [])
    least = max(schema.get("minItems", 0), len(first))
    most = max(least, min(schema.get("maxItems", least + 1), least + 1))
    count = least if len(key) >= _DEEPEST else least + rng.below(most - least + 1, *key, "length")
    items = [*first, *[schema.get("items", {"type": "string"})] * (count - len(first))]
    return [_value(part, root, (*key, index)) for index, part in enumerate(items)]


def _number(schema: Schema, kind: str, key: tuple[Key, ...]) -> int | float:
    step = schema.get("multipleOf", 1 if kind == "integer" else 0)
    past = step or 0.001
    low = schema.get("minimum", schema.get("exclusiveMinimum", -past) + past)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 10 + past) - past)
    if not step:
        return low + (high - low) * rng.unit(*key, "number")
    first = ceil(low / step)
    return step * (first + rng.below(max(1, floor(high / step) - first + 1), *key, "number"))


def _text(schema: Schema, key: tuple[Key, ...]) -> str:
    text = " ".join(rng.choice(_WORDS, *key, "word", index) for index in range(3))
    while len(text) < schema.get("minLength", 0):
        text = f"{text} {text}"
    return text[: schema.get("maxLength", len(text))]
