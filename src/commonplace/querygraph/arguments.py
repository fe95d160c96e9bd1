"""What callers may pass: a value of another type is refused with its name, before it changes anything."""

from __future__ import annotations

import math
from numbers import Integral, Real

from commonplace.errors import UsageError


def string(value: object, name: str) -> str:
    """Returns a string. Raises UsageError for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"{name} is {value!r}; expected a string")
    return value


def finite(value: object, name: str) -> float:
    """Returns a finite number. Raises UsageError for anything else."""
    if not isinstance(value, Real) or not math.isfinite(value):
        raise UsageError(f"{name} is {value!r}; expected a finite number")
    return float(value)


def count(value: object, name: str) -> int:
    """Returns a whole number of at least 1. Raises UsageError for anything else."""
    if not isinstance(value, Integral) or value < 1:
        raise UsageError(f"{name} is {value!r}; expected a whole number of at least 1")
    return int(value)
