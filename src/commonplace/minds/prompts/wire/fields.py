"""Reading an answer's fields: what is nearly right is taken; what is wrong is said, to be asked for again."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar, cast

from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.wire.choices import Choices
from commonplace.text import HANGUL, LATIN, OTHER_LETTERS, clean, shortened

T = TypeVar("T")

_NUMBER = re.compile(r"\[?\s*([+-]?[0-9]{1,12})(?:\.0+)?\s*\]?")
_WORDS = re.compile(f"[{LATIN}{HANGUL}{OTHER_LETTERS}]", re.IGNORECASE)
_TIME = re.compile(r"([0-9]{1,2}):([0-5][0-9])")


class Fields:
    """The properties of one JSON object. All errors are `Unusable`, naming the property."""

    def __init__(self, data: object, what: str = "the answer") -> None:
        if not isinstance(data, dict):
            raise Unusable(f"{what} must be a JSON object", "schema")
        self._data = cast(dict[str, object], data)
        self._what = what

    def __contains__(self, key: str) -> bool:
        """Whether a property is there, if only as null."""
        return key in self._data

    def get(self, key: str) -> object:
        """A property as it came; None when it is missing."""
        return self._data.get(key)

    def words(self, key: str, longest: int) -> str:
        """A text, cleaned and cut; empty when it is missing or null."""
        value = self._data.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise Unusable(f"{key!r} must be a text", "schema")
        return shortened(clean(value), longest)

    def emoji(self, key: str) -> str:
        """A sign or two; empty where words stand instead."""
        sign = self.words(key, 16)
        return "" if _WORDS.search(sign) else sign

    def needed(self, key: str, longest: int) -> str:
        """A text that may not be empty."""
        text = self.words(key, longest)
        if not text:
            raise Unusable(f"{key!r} must not be empty", "empty")
        return text

    def choice(self, key: str, values: Collection[str]) -> str:
        """One of a few words, upper and lower case alike."""
        text = self.words(key, 200)
        found = {value.casefold(): value for value in values}.get(text.casefold())
        if found is None:
            raise Unusable(f"{key!r} must be one of {', '.join(values)}; it was {text!r}", "schema")
        return found

    def whole(self, key: str, least: int, most: int) -> int:
        """A whole number of a range."""
        value = number(self._data.get(key))
        if value is None:
            raise Unusable(f"{key!r} must be a whole number", "schema")
        if not least <= value <= most:
            raise Unusable(f"{key!r} must lie between {least} and {most}; it was {value}", "range")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false when it is missing."""
        return self._data.get(key) in (True, "true", "True")

    def time(self, key: str) -> str:
        """A time of day, `HH:MM`."""
        found = _TIME.fullmatch(self.words(key, 20))
        if found is None or int(found[1]) > 23:
            raise Unusable(f"{key!r} must be a time such as 07:30", "range")
        return f"{int(found[1]):02}:{found[2]}"

    def ids(self, key: str, offered: Collection[int]) -> tuple[int, ...]:
        """The offered ones among the memory ids named, each once, in the order named."""
        named = (number(value) for value in self.items(key))
        return tuple(dict.fromkeys(value for value in named if value is not None and value in offered))

    def chosen(self, key: str, choices: Choices) -> str | None:
        """The id of what was chosen: empty for nothing, None for what was not offered."""
        text = self.words(key, 200)
        return choices.id(text) if text else ""

    def offered(self, key: str, choices: Choices) -> str:
        """The id of what was chosen; it must have been offered."""
        found = self.chosen(key, choices)
        if not found:
            named = ", ".join(choices.labels)
            raise Unusable(f"{key!r} must be one of: {named}; it was {self.words(key, 80)!r}", "unknown_id")
        return found

    def some(self, key: str, choices: Choices) -> tuple[str, ...]:
        """The ids of the offered ones among what was chosen, each once."""
        found = (choices.id(value) for value in self.items(key) if isinstance(value, str))
        return tuple(dict.fromkeys(id for id in found if id))

    def items(self, key: str) -> tuple[object, ...]:
        """A list; empty when it is missing or null."""
        value = self._data.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise Unusable(f"{key!r} must be a list", "schema")
        return tuple(cast(list[object], value))

    def each(self, key: str, least: int, most: int, read: Callable[[Fields], T]) -> tuple[T, ...]:
        """A list of objects, each read; what is over the most is left out."""
        items = self.items(key)
        if len(items) < least:
            raise Unusable(f"{key!r} must have at least {least} entries; it has {len(items)}", "range")
        return tuple(read(Fields(item, f"each of {key!r}")) for item in items[:most])

    def inner(self, key: str) -> Fields | None:
        """An object inside; None when it is missing or null."""
        value = self._data.get(key)
        return None if value is None else Fields(value, repr(key))


def number(value: object) -> int | None:
    """7, 7.0, "7" and "[7]" are 7; anything else is None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def present(**values: Any) -> dict[str, Any]:
    """The values that are not empty."""
    return {key: value for key, value in values.items() if value}


def listed(values: Iterable[Any]) -> list[Any]:
    """As JSON has it."""
    return list(values)
