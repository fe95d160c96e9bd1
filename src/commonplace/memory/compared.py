"""What all memories of a view have in common with one question: their words, or the direction of their vectors."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from commonplace.memory.columns import WIDE, Scratch, blocks
from commonplace.memory.embedding import Vector, embed_query, norm_of, usable
from commonplace.memory.policies import Policy
from commonplace.memory.relative_dates import dated
from commonplace.memory.scoring import UNIT, Floats, Indices, Spread, round_to_units
from commonplace.memory.table import View

Singles = NDArray[np.float32]

EPSILON = 2.0**-24
"""The largest relative error of rounding to float32."""

_COSINES = Scratch()
_TAME = 1e-15, 1e15
"""Norms between which float32 neither overflows nor loses digits when it divides by them."""


class Compared(Protocol):
    """One raw part of the score of each candidate."""

    def units(self, positions: Indices | None, out: Floats) -> None:
        """Fills `out` with the part, in units of 2⁻³⁰, of the candidates at these positions; None for all."""
        ...

    def spread(self) -> Spread | None:
        """The exact lowest and highest of all, in units; None if estimates would be of no use."""
        ...

    def estimate(self, some: slice, factor: float, out: Singles) -> None:
        """Fills `out` with the part · factor, nearly, for a slice of the candidates. After `spread`."""
        ...

    def error(self, over: Spread) -> float:
        """How far an estimate may be from the truth, as a share of high − low."""
        ...


class ByWords:
    """BM25."""

    def __init__(self, view: View, rows: Indices | None, text: str, at: datetime, policy: Policy, room: Floats) -> None:
        """`room`: an array of the shape of the candidates."""
        index = view.lexical()
        terms = view.table.analyser.weighted(text, policy.grammar)
        if policy.respell:
            terms = index.respelt(terms, view.length)
        if days := days_named(view, text, at, policy)[0]:
            terms = {**terms, **days}
        scores = index.scores(terms, view.length, policy.k1, policy.b, room if rows is None else None)
        self._scores = view.take(scores, rows)

    def units(self, positions: Indices | None, out: Floats) -> None:
        round_to_units(self._scores if positions is None else self._scores[positions], out)

    def spread(self) -> Spread:
        low, high = np.minimum.reduce(self._scores), np.maximum.reduce(self._scores)
        return Spread(round(float(low) / UNIT), round(float(high) / UNIT))

    def estimate(self, some: slice, factor: float, out: Singles) -> None:
        np.multiply(self._scores[some], factor / UNIT, out=out, casting="same_kind")

    def error(self, over: Spread) -> float:
        return 8 * EPSILON * over.high / (over.high - over.low) + 1 / (over.high - over.low)


def days_named(view: View, text: str, at: datetime, policy: Policy) -> tuple[dict[str, float], str]:
    """(the words for the days that a blend's question names from where it stands, of those on which there is
    something, with their weights; the rest of the question)."""
    if policy.relevance == "blend":
        found, index = dated(text, at), view.lexical()
        days = {day: 1.0 for day in map(date.isoformat, found.days) if index.occurs(day, view.length)}
        if days := days or index.as_one(map(date.isoformat, found.longer), view.length):
            return days, found.rest
    return {}, text


class ByVectors:
    """The cosine of a question's vector and those of the memories."""

    def __init__(self, view: View, rows: Indices | None, text: str, given: Vector | None, room: Floats) -> None:
        """`given`: the question's, None to have the embedder make it; `room`: an array as long as the candidates."""
        table = view.table
        self._sayings = table.sayings
        self._sayings.make()
        self._room = room
        self.unusable = table.unusable(slice(view.length) if rows is None else rows)
        """What could not be compared."""
        _, vector = usable(embed_query(table.embedder, text) if given is None else given, table.embedder.dimensions)
        self._norm = 0.0 if vector is None else norm_of(vector)
        self._products: Singles | None = None
        # each text is compared once, however many memories say it
        same = rows is None and table.distinct >= view.length
        self._known = view.length if same else len(self._sayings)
        self._numbers = None if same else view.take(table.saying, rows)
        if vector is None or not self._norm:
            self.unusable = {**self.unusable, "query": 1}
        else:
            self._products = self._sayings.products(vector, self._norm, self._known)

    def units(self, positions: Indices | None, out: Floats) -> None:
        if self._products is None:
            out[:] = 0
        elif positions is not None:
            numbers = positions if self._numbers is None else self._numbers[positions]
            self._sayings.cosines(self._products[numbers], self._norm, numbers, out)
        else:
            cosines = out if self._numbers is None else _COSINES.matrix(1, self._known)[0]
            self._sayings.cosines(self._products, self._norm, None, cosines)
            if self._numbers is not None:
                cosines.take(self._numbers, out=out, mode="clip")  # `raise` would copy

    def spread(self) -> Spread | None:
        if self._products is None or not _TAME[0] < self._norm < _TAME[1]:
            return None
        inverse = self._sayings.inverse_norms(self._known, *_TAME)
        if inverse is None:
            return None
        self._near = near = self._room.view(np.float32)[: len(self._room)]
        each = self._products
        if self._numbers is not None:
            each = _COSINES.matrix(1, self._known)[0].view(np.float32)[: self._known]
            np.multiply(self._products, inverse, out=each)
        lows, highs = list[float](), list[float]()
        for some in blocks(len(near), WIDE):
            if self._numbers is None:
                np.multiply(self._products[some], inverse[some], out=near[some])
            else:
                each.take(self._numbers[some], out=near[some], mode="clip")
            lows.append(float(np.minimum.reduce(near[some])))
            highs.append(float(np.maximum.reduce(near[some])))
        low, high = min(lows), max(highs)
        if not math.isfinite(sum(lows) + sum(highs)):
            return None
        margin = 16 * EPSILON * max(abs(low), abs(high))
        extremes = [
            ((near[some] <= low + margin) | (near[some] >= high - margin)).nonzero()[0] + some.start
            for some, lowest, highest in zip(blocks(len(near), WIDE), lows, highs, strict=True)
            if lowest <= low + margin or highest >= high - margin
        ]
        positions = np.concatenate(extremes)
        units = np.empty(len(positions))
        self.units(positions, units)
        return Spread(float(np.minimum.reduce(units)), float(np.maximum.reduce(units)))

    def estimate(self, some: slice, factor: float, out: Singles) -> None:
        np.multiply(self._near[some], np.float32(factor / (self._norm * UNIT)), out=out)

    def error(self, over: Spread) -> float:
        return (16 * EPSILON * max(abs(over.low), abs(over.high)) + 1) / (over.high - over.low)
