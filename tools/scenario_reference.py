"""Writes what is made of `scenario/model.py`: the JSON Schema, and the tables of keys in docs/scenarios.md; of
`scenario/telling.py` the tables of docs/lines.md, with what a condition can name; of the circumstances that ship the
table of docs/circumstances.md.

    python tools/scenario_reference.py

A table stands below the docstring of the class that it is made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from commonplace.scenario import model
from commonplace.scenario.telling import Place, Somebody, Telling, Thing
from commonplace.world.circumstances import CircumstanceKind, shipped_kinds

PROJECT = Path(__file__).parents[1]
SCHEMA = PROJECT / "schema" / "scenario.schema.json"
PAGE = PROJECT / "docs" / "scenarios.md"
LINES = PROJECT / "docs" / "lines.md"
KINDS = PROJECT / "docs" / "circumstances.md"
PARTS = model.Part.__subclasses__()
NAMED: tuple[type[Struct], ...] = (Telling, Somebody, Thing, Place)
"""What conditions can name, in the order of docs/lines.md."""
HEAD = "| key | value | if left out | meaning |\n|---|---|---|---|\n"
WORDS = {"number": "number", "boolean": "true or false", "string": "text", "array": "list"}
NAMES_HEAD = "| name | what it is | compare it with |\n|---|---|---|\n"
KINDS_HEAD = "| kind | of | lasts | what follows of itself | what is said of it |\n|---|---|---|---|---|\n"


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


def names(of: type[Struct]) -> str:
    """A row for each name that a condition about this may have."""
    rows = ((name, hint, get_args(hint)) for name, hint in get_type_hints(of, include_extras=True).items())
    return NAMES_HEAD + "".join(
        f"| `{name}` | {next(one.description for one in said if isinstance(one, Meta))} | {_compared(kind)} |\n"
        for name, _, (kind, *said) in rows
    )


def _compared(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(f"`{one}`" for one in get_args(kind))
    return {int: "a whole number", str: "words", bool: "nothing: `NAME` or `not NAME`"}.get(kind, "what is below it")


def page(text: str, head: str, tables: Mapping[str, str]) -> str:
    """A page with its tables made anew, each below its docstring. Raises ValueError where one is missing."""
    pattern = re.compile(re.escape(head) + r"((?:\|.*\n)*)")
    for doc, made in tables.items():
        at = text.find(f"\n{doc}\n\n")
        found = pattern.search(text, at) if at >= 0 else None
        if found is None:
            raise ValueError(f"the page has no table below {doc!r}, the docstring of what it is made of")
        text = text[: found.start()] + made + text[found.end() :]
    return text


def scenarios(text: str) -> str:
    """docs/scenarios.md with its tables made anew."""
    return page(text, HEAD, {str(part.__doc__): table(part) for part in PARTS})


def lines(text: str) -> str:
    """docs/lines.md with its tables made anew."""
    return page(text, NAMES_HEAD, {str(of.__doc__): names(of) for of in NAMED})


def circumstances(text: str) -> str:
    """docs/circumstances.md with its table of kinds made anew."""
    korean = shipped_kinds("ko")
    rows = (
        f"| `{name}` | {kind.of.replace(' ', ', ')} | {_lasts(kind)} "
        f"| {'; '.join(_follows(kind)) or '–'} | {kind.words.now} {korean[name].words.now} |\n"
        for name, kind in shipped_kinds("en").items()
    )
    return page(text, KINDS_HEAD, {"The kinds that every scenario knows.": KINDS_HEAD + "".join(rows)})


def _lasts(kind: CircumstanceKind) -> str:
    return f"{kind.hours} h" if kind.hours else "for good" if kind.gone else "until it is ended"


def _follows(kind: CircumstanceKind) -> Iterator[str]:
    if kind.clears:
        yield "everybody leaves, nobody goes in"
    if kind.shut:
        yield "only those go in who live there"
    if kind.gone:
        yield "not in the world"
    if kind.rests:
        yield "lies down at home" if kind.rests == "home" else "lies where they are"
    if kind.warmth:
        yield f"warmth {kind.warmth:+d} towards who did it"
    yield from (f"then `{name}`, {hours} h" for name, hours in kind.then.items())
    if kind.ends:
        yield f"ends {', '.join(f'`{name}`' for name in kind.ends.split())}"


if __name__ == "__main__":
    SCHEMA.write_text(model.as_text(), encoding="utf-8")
    for path, made in ((PAGE, scenarios), (LINES, lines), (KINDS, circumstances)):
        path.write_text(made(path.read_text(encoding="utf-8")), encoding="utf-8")
