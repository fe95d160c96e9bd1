"""The trace: how the reasons of a turn are stored compactly and restored in full.

Scores are whole multiples of 2⁻³⁰, so each normalised part is kept as an integer; raw parts follow from it and the
range it was normalised over, totals from the weights. Texts of memories are not repeated: their ids stand for them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

import msgspec
import msgspec.structs

from commonplace.memory import Retrieval
from commonplace.memory.scoring import UNIT, PartJSON
from commonplace.minds.mind import Answer, Task
from commonplace.minds.notes import Given, News, Recalled, Value, fields_of

ELSEWHERE = {
    "who", "situation", "facts", "places", "names", "routine", "hints", "things",
    "texts", "said", "now", "later", "lines", "yesterday", "company", "known", "told", "past", "pasts",
    "goals", "happenings", "unrated_happenings",
}  # fmt: skip
"""Fields of typed inputs that are left out: scenario, state and memories of the tick hold them. Memories that stay
(`Recalled`, `News`) are written as their ids, whatever their field is called.
"""


def retrieval_entry(retrieval: Retrieval) -> dict[str, Any]:
    """Returns a retrieval as an entry: per part its weight and range, per hit the memory's id and its normalised parts
    in units of 2⁻³⁰."""
    scored = retrieval.breakdown if retrieval.found else None
    weights = dict(sorted(zip(scored.names, scored.weights, strict=True))) if scored else {}
    units = scored.units() if scored else {}
    return {
        "purpose": retrieval.purpose,
        "query": retrieval.query,
        "policy": retrieval.policy.name,
        "k": retrieval.k,
        "candidates": retrieval.candidates,
        "parts": {name: [weight, *retrieval.spreads[name]] for name, weight in weights.items()},
        "hits": [[*row] for row in zip(retrieval.ids, *(units[name] for name in weights), strict=True)],
    }


def chosen_entry(purpose: str, memories: Sequence[int], candidates: int) -> dict[str, Any]:
    """Returns memories that were chosen by their subject, written like a retrieval without scores."""
    return {
        "purpose": purpose,
        "query": "",
        "policy": CHOSEN,
        "k": len(memories),
        "candidates": candidates,
        "parts": {},
        "hits": [[memory] for memory in memories],
    }


def hits(entry: Mapping[str, Any]) -> Iterable[tuple[int, float, dict[str, PartJSON]]]:
    """Yields (memory id, total, parts) of each hit of a written retrieval, best first."""
    ranges: Mapping[str, list[float]] = entry["parts"]
    for memory, *units in entry["hits"]:
        parts = {
            name: _part(count * UNIT, *range_) for (name, range_), count in zip(ranges.items(), units, strict=True)
        }
        total = sum(part["weight"] * part["normalised"] for part in parts.values())
        yield memory, round(total / UNIT) * UNIT, parts


def _part(normalised: float, weight: float, low: float, high: float) -> PartJSON:
    """Returns a part's score with min-max undone; a policy that does not normalise is written with the range 0 … 1."""
    raw = round((low + normalised * (high - low)) / UNIT) * UNIT
    return {"raw": raw, "normalised": normalised, "weight": weight}


def question_entry(task: Task[Any, Any], value: Given, answer: Answer[Any]) -> dict[str, Any]:
    """Returns a question without what is stored elsewhere; its answer is in the journal."""
    inputs = _fields(value, ELSEWHERE)
    if "hearer" in inputs:
        inputs["hearer"] = inputs["hearer"]["id"]
    return {"ordinal": answer.number, "task": task.name, "outcome": answer.outcome, "input": inputs}


def _fields(value: Given | Value, left_out: Container[str] = ()) -> dict[str, Any]:
    """Returns the fields that are not at their default, as JSON has them."""
    standard = _defaults(type(value))
    return {
        name: _written(cell)
        for name, cell in fields_of(value)
        if name not in left_out and (name not in standard or cell != standard[name])
    }


def _written(cell: object) -> Any:
    """Returns a part of a typed input as JSON; memories, anywhere in it, by their ids."""
    match cell:
        case Recalled():
            return cell.id
        case News():
            return cell.memory_id
        case Given() | Value():
            return _fields(cell)
        case tuple():
            return [_written(part) for part in cast(tuple[object, ...], cell)]
        case Mapping():
            return {key: _written(part) for key, part in cast(Mapping[str, object], cell).items()}
        case _:
            return cell


CHOSEN = "chosen"
"""Stands for a policy where nothing was scored."""


@cache
def _defaults(kind: type[Given | Value]) -> dict[str, Any]:
    if issubclass(kind, Given):
        fields = msgspec.structs.fields(kind)
        made = {one.name: one.default_factory() for one in fields if one.default_factory is not msgspec.NODEFAULT}
        return made | {one.name: one.default for one in fields if one.default is not msgspec.NODEFAULT}
    return {
        name: info.get_default(call_default_factory=True)
        for name, info in kind.model_fields.items()
        if not info.is_required()
    }
