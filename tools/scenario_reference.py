"""Writes what is made of `scenario/model.py`: the JSON Schema, and the tables of keys in docs/scenarios.md.

    python tools/scenario_reference.py

A part's table stands below the part's docstring, which the page repeats under the part's heading.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from commonplace.scenario import model

PROJECT = Path(__file__).parents[1]
SCHEMA = PROJECT / "schema" / "scenario.schema.json"
PAGE = PROJECT / "docs" / "scenarios.md"
PARTS = model.Part.__subclasses__()
HEAD = "| key | value | if left out | meaning |\n|---|---|---|---|\n"
WORDS = {"number": "number", "boolean": "true or false", "string": "text", "array": "list"}
TABLE = re.compile(re.escape(HEAD) + r"((?:\|.*\n)*)")


def table(part: type[model.Part]) -> str:
    """A row for each key of a part."""
    schema = part.model_json_schema(by_alias=True)
    schema = schema.get("$defs", {}).get(part.__name__, schema)  # a part that may contain itself stands there
    required = schema.get("required", ())
    return HEAD + "".join(
        f"| `{key}` | {_value(given)} | {_left_out(given, key in required)} | {given['description']} |\n"
        for key, given in schema["properties"].items()
    )


def _value(given: dict[str, Any]) -> str:
    choices = [one for inner in (given, *given.get("anyOf", ())) for one in inner.get("enum", ()) if one]
    if choices:
        return ", ".join(f"`{one}`" for one in choices)
    set_to = [inner for inner in given.get("anyOf", ()) if inner.get("type") != "null"]
    if len(set_to) == 1:  # it may be left out
        return _value(set_to[0])
    if given.get("type") == "integer":
        return f"whole number, {given['minimum']} to {given['maximum']}"
    return WORDS.get(given.get("type", "object"), "mapping")


def _left_out(given: dict[str, Any], required: bool) -> str:
    default = given.get("default")
    if required:
        return "required"
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, str):
        return f"`{default}`" if default else "–"
    return f"{default:g}" if isinstance(default, int | float) else "–"


def page(text: str) -> str:
    """docs/scenarios.md with its tables made anew. Raises ValueError where a part's is missing."""
    for part in PARTS:
        assert part.__doc__ is not None
        at = text.find(f"\n{part.__doc__}\n\n")
        found = TABLE.search(text, at) if at >= 0 else None
        if found is None:
            raise ValueError(f"docs/scenarios.md has no table below {part.__doc__!r}, the docstring of {part.__name__}")
        text = text[: found.start()] + table(part) + text[found.end() :]
    return text


if __name__ == "__main__":
    SCHEMA.write_text(model.as_text(), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
