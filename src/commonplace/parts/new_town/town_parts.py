"""What the parts of a generated town's scenario share: values as YAML, and the objects of its places."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from commonplace.parts.new_town.census import District, Place

_PLAIN = re.compile(r"[A-Za-z][\w' ().!;éè-]*[\w.!)]|[A-Za-z]")  # older readers stop at `?` in a list on one line
_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})


def quoted(text: str) -> str:
    """Returns a string as YAML writes it, in quotes where it must be."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def flow(fields: Mapping[str, Any]) -> str:
    """Returns a mapping on one line, without what is empty."""
    shown = (f"{key}: {value if isinstance(value, int) else quoted(value)}" for key, value in fields.items() if value)
    return f"{{{', '.join(shown)}}}"


def listed(values: Iterable[str]) -> str:
    """Returns a list on one line."""
    return f"[{', '.join(map(quoted, values))}]"


def replies(given: Sequence[Mapping[str, Any]], indent: str) -> Iterator[str]:
    """Yields what may be said to the lines of a memory or an occasion; nothing without any."""
    if given:
        yield f"{indent}replies:"
    for reply in given:
        answer = f", answer: {quoted(reply['answer'])}" if "answer" in reply else ""
        yield f"{indent}  - {{say: {quoted(reply['say'])}, to: {reply['to']}{answer}}}"


def things_outside(district: District) -> list[tuple[str, str, str]]:
    """Returns id, name and kind of what stands on the open place of a district."""
    return [
        (f"{district.id}-seat", "bench", "seat"),
        (
            f"{district.id}-{district.kind}" if district.kind != "seat" else f"{district.id}-swing",
            district.thing,
            district.kind,
        ),
    ]


def things_at_work(place: Place) -> list[tuple[str, str, str]]:
    """Returns id, name and kind of what stands in a place of work."""
    return [(f"{place.id}-{kind.replace('_', '-')}", name, kind) for kind, name in place.trade["objects"].items()]
