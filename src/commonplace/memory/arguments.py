"""What a call is given, checked where it comes in: each refusal names the argument and what is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any, cast

import numpy as np

from commonplace.errors import WrongUse
from commonplace.memory.embedding import Vector
from commonplace.memory.policy import Policy

NOTHING: Mapping[str, Any] = {}
"""What all memories without details share. Not to be changed."""
_SHOWN = ".60"
"""So much of a value that is refused is repeated."""


def checked_string(what: str, value: object) -> str:
    """The string as it is. Raises WrongUse for anything else."""
    if not isinstance(value, str):
        raise WrongUse(f"{what} {value!r:{_SHOWN}}", todo="give a string")
    return value


def checked_mapping(what: str, value: object) -> Mapping[str, Any]:
    """The mapping, copied; of nothing, one empty mapping that all share. Raises WrongUse for anything else."""
    if not value:
        return NOTHING
    if not isinstance(value, Mapping):
        raise WrongUse(f"{what} {value!r:{_SHOWN}}", todo="give a mapping with words for keys")
    return dict(cast("Mapping[str, Any]", value))


def checked_count(what: str, value: object, lowest: int) -> int:
    """A whole number, NumPy's included. Raises WrongUse for another and for one below `lowest`."""
    try:
        number = int(index(value))  # pyright: ignore[reportArgumentType] - this is the check
    except TypeError:
        number = lowest - 1
    if number < lowest:
        raise WrongUse(f"{what} {value!r:{_SHOWN}}", todo=f"give a whole number, at least {lowest}")
    return number


def checked_ids(ids: Iterable[object]) -> tuple[int, ...]:
    """Ids of memories, each once, in the order given. Raises WrongUse for what is no whole number."""
    try:
        return tuple(dict.fromkeys(int(index(id)) for id in ids))  # pyright: ignore[reportArgumentType] - as above
    except TypeError as error:
        raise WrongUse(f"ids {ids!r:{_SHOWN}}", todo="give a sequence of whole numbers: [1, 2]") from error


def checked_vector(vector: Any) -> Vector | None:
    """Numbers as float32, of any shape. Raises WrongUse for what is no sequence of numbers."""
    if vector is None:
        return None
    try:
        numbers = np.asarray(vector)
    except ValueError:
        numbers = np.empty(0, dtype=object)
    if numbers.dtype.kind not in "biuf":
        raise WrongUse(f"an embedding {vector!r:{_SHOWN}}", todo="give a sequence of numbers, or None")
    with np.errstate(over="ignore"):  # beyond float32 is infinite, and so no usable vector
        return numbers.astype(np.float32, copy=False)


def checked_policy(policy: Policy) -> Policy:
    """The policy as it is. Raises WrongUse for its name, and for anything else."""
    if not isinstance(policy, Policy):  # pyright: ignore[reportUnnecessaryIsInstance] - names are passed now and then
        raise WrongUse(f"policy {policy!r:{_SHOWN}}", todo='give one such as policies.PARK; policies.by_name("park")')
    return policy
