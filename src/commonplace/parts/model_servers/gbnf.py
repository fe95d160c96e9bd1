"""A JSON Schema as a grammar of llama.cpp (GBNF) without white space between tokens and without endless texts.

llama.cpp compiles a bounded text at once, where other servers take seconds; there the schema is sent as it is. A small
model that repeats itself then ends its text at the bound, and not at the limit of the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

SHORTEST_BOUND = 160
"""Characters that any text may have, however little an answer may cost."""
MOST_ITEMS = 12
"""Items of a list that a schema does not bound."""
_CHARACTERS_A_TOKEN = 4
_WIDEST_RANGE = 4096
"""Whole numbers that are told apart; a wider range is bounded by its digits."""
_CHAR = r'char ::= [^"\\\x7F\x00-\x1F] | "\\" ["\\nt]'
_PATTERN = re.compile(r"\[[^\]\\]+\]|[()|]|[A-Za-z0-9:_ -]")


class Unwritable(ValueError):
    """A schema that says what no grammar here can."""


def grammar(schema: Mapping[str, Any], max_tokens: int) -> str | None:
    """Returns the grammar of answers of a schema; None if the schema uses a keyword that is not known here.

    The texts of an answer share its tokens: what the answer may cost is what all of them may have together, as long as
    that leaves `SHORTEST_BOUND` for each.
    """
    return _grammar(json.dumps(schema), max_tokens)


def letter_grammar(letters: str) -> str:
    """Returns the grammar of an answer that is one of some letters."""
    return f"root ::= {_either(map(_literal, letters))}\n"


@lru_cache(maxsize=64)
def _grammar(text: str, max_tokens: int) -> str | None:
    schema = json.loads(text)
    longest = max(SHORTEST_BOUND, _CHARACTERS_A_TOKEN * max_tokens // max(1, _texts(schema)))
    rules = _Rules(longest)
    try:
        rules.named(rules.of(schema), "root")
    except Unwritable:
        return None
    lines = [f"{name} ::= {rule}" for rule, name in rules.names.items()]
    return "\n".join((*lines, _CHAR, ""))


def _texts(schema: Mapping[str, Any]) -> int:
    """Texts without a bound of their own in an answer that is as short as the schema allows."""
    if schema.get("type") == "string":
        return int("enum" not in schema and "pattern" not in schema)
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    items = max(1, schema.get("minItems", 1)) * _texts(schema["items"]) if "items" in schema else 0
    return sum(map(_texts, inner)) + items


class _Rules:
    """Named rules, which other rules refer to: a repeated part must be short."""

    def __init__(self, longest: int) -> None:
        self.names: dict[str, str] = {}
        """Rule → its name."""
        self._longest = longest

    def named(self, rule: str, name: str = "") -> str:
        return self.names.setdefault(rule, name or f"r{len(self.names)}")

    def of(self, schema: Mapping[str, Any]) -> str:  # noqa: PLR0911 – one for each type
        if "enum" in schema or "const" in schema:
            return _either(
                _literal(json.dumps(one, ensure_ascii=False)) for one in schema.get("enum", [schema.get("const")])
            )
        if "anyOf" in schema:
            return _either(self.of(one) for one in schema["anyOf"])
        match schema.get("type"):
            case "object" if set(schema.get("required", ())) == set(schema.get("properties", ())):
                named = schema["properties"].items()
                fields = [f"{_literal(json.dumps(name) + ':')} {self.of(one)}" for name, one in named]
                return f" {_literal(',')} ".join(fields).join((f"{_literal('{')} ", f" {_literal('}')}"))
            case "array" if "items" in schema:
                least, most = schema.get("minItems", 0), schema.get("maxItems", MOST_ITEMS)
                return self._list(self.of(schema["items"]), least, most)
            case "string":
                bounded = f"char{{0,{schema.get('maxLength', self._longest)}}}"
                inner = _pattern(schema["pattern"]) if "pattern" in schema else bounded
                return self.named(f'"\\"" {inner} "\\""')
            case "integer":
                return self._integer(schema.get("minimum"), schema.get("maximum"))
            case "boolean":
                return _either(map(_literal, ("true", "false")))
            case "null":
                return _literal("null")
            case _:
                raise Unwritable

    def _list(self, item: str, least: int, most: int) -> str:
        item = self.named(item)
        if most < 1:
            return _literal("[]")
        more = f"({_literal(',')} {item}){{{max(0, least - 1)},{most - 1}}}"
        some = f"{item} {more}" if least else f"({item} {more})?"
        return f"{_literal('[')} {some} {_literal(']')}"

    def _integer(self, low: int | None, high: int | None) -> str:
        if low is None or high is None or high - low > _WIDEST_RANGE:
            sign = '"-"? ' if low is None or low < 0 else ""
            return self.named(f'{sign}("0" | [1-9] [0-9]{{0,8}})')
        return self.named(_any_of([str(number) for number in range(low, high + 1)]))


def _any_of(words: Sequence[str]) -> str:
    """Matches one of the words by their first characters; those with a common beginning share it."""
    ways: dict[str, str] = {}
    for first, rest in groupby(sorted(words), key=lambda word: word[:1]):
        after = [word[1:] for word in rest]
        then = f" {_any_of(after)}" if any(after) else ""
        if first:
            ways[then] = ways.get(then, "") + first
    alone = ['""'] if "" in words else []
    return _either([*alone, *(f"[{firsts}]{then}" for then, firsts in ways.items())])


def _pattern(pattern: str) -> str:
    """Translates a regular expression of letters, classes, groups and alternatives."""
    inner = pattern.removeprefix("^").removesuffix("$")
    found = _PATTERN.findall(inner)
    if "".join(found) != inner:
        raise Unwritable
    return f"({' '.join(one if one[0] in '[()|' else _literal(one) for one in found)})"


def _either(rules: Iterable[str]) -> str:
    return f"({' | '.join(rules)})"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
