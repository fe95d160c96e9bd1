"""Frozen values of the domain as JSON and back, whatever fields they have: a new field is kept without a word here."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from commonplace.clock import iso, parse_iso

T = TypeVar("T")


def plain(value: Any, *left_out: str) -> dict[str, Any]:
    """The fields of a dataclass that are not at their default: tuples as lists, moments as ISO text."""
    found: dict[str, Any] = {}
    for name, default in _defaults(value.__class__):
        cell = getattr(value, name)
        if name not in left_out and cell != default:
            found[name] = _plain(cell)
    return found


def valued(cls: type[T], given: dict[str, Any], **known: Any) -> T:
    """The inverse of `plain`; `known` gives the fields that were left out."""
    moments = _moments(cls)
    cells = {name: parse_iso(cell) if name in moments else _valued(cell) for name, cell in given.items()}
    return cls(**cells, **known)


def _plain(cell: Any) -> Any:
    if isinstance(cell, tuple):
        return [_plain(part) for part in cell]  # pyright: ignore[reportUnknownVariableType] - any tuple
    return iso(cell) if isinstance(cell, datetime) else cell


def _valued(cell: Any) -> Any:
    return tuple(_valued(part) for part in cell) if isinstance(cell, list) else cell  # pyright: ignore[reportUnknownVariableType]


@cache
def _defaults(cls: type[Any]) -> tuple[tuple[str, Any], ...]:
    parts: tuple[Field[Any], ...] = fields(cls)
    return tuple((part.name, part.default) for part in parts if part.init and part.default_factory is MISSING)


@cache
def _moments(cls: type[Any]) -> frozenset[str]:
    parts: tuple[Field[Any], ...] = fields(cls)
    return frozenset(part.name for part in parts if part.type in ("datetime", datetime))
