"""Looking into plain data: the mappings, lists and scalars a document is made of."""

from __future__ import annotations

from typing import Any, TypeGuard

Path = tuple[str | int, ...]
"""Keys and positions from the top of the document: `("characters", 3, "routine", 1, "place")`."""


def is_mapping(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is a mapping; documents have text keys only."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether it is a list."""
    return isinstance(value, list)


def holds(here: object, key: str | int) -> bool:
    """Whether a mapping has the key, or a list the position."""
    if is_list(here):
        return isinstance(key, int) and 0 <= key < len(here)
    return is_mapping(here) and key in here


def below(here: object, key: str | int) -> Any:
    """What is under the key or at the position; None when nothing is."""
    if is_list(here):
        return here[key] if isinstance(key, int) and 0 <= key < len(here) else None
    return here.get(str(key)) if is_mapping(here) else None
