"""What is true at a moment: which memories are superseded by later ones, and which are not valid."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from math import inf

import numpy as np

from commonplace.memory.columns import Floats, micros
from commonplace.memory.record import Memory
from commonplace.memory.restatements import said_later
from commonplace.memory.scoring import NOT_NORMALISED, Candidates, Scores, best
from commonplace.memory.table import View

BEST = 20
"""Among how many of the best one may say what is said of the question later."""
PLACE = "current"
"""The part of a score that moves a memory to its place: up to that of what it supersedes or says again, or down."""


class Truth:
    """Which memories of a view are not true at a moment, by what was known then.

    A memory supersedes others from its `valid_from` on. Once it is no longer valid itself and nothing supersedes it,
    they are true again, and so they are once it is forgotten or archived.
    """

    def __init__(self, view: View, at: datetime) -> None:
        table, now = view.table, micros(at)
        linked = table.linked(view.length)
        linked = linked[view.alive[linked] & (table.created[linked] <= now)]
        self._known = {memory.id: memory for memory in table.records_of(linked.tolist())}
        successors = defaultdict[int, list[int]](list)
        for memory in self._known.values():
            if _begun(memory, at):
                for old in memory.supersedes:
                    if old < memory.id:
                        successors[old].append(memory.id)
        invalid = {id for id, memory in self._known.items() if not _begun(memory, at) or _over(memory, at)}
        self.superseded: dict[int, list[int]] = {}
        """Id → ids of the memories that are true in its place, or were until they were superseded themselves; the
        latest memory first."""
        for old in sorted(successors, reverse=True):
            if holding := [id for id in successors[old] if id not in invalid or id in self.superseded]:
                self.superseded[old] = holding
        self.invalid = invalid - self.superseded.keys()
        """Ids of the memories that are no longer valid, or not yet, and that nothing supersedes."""

    def __bool__(self) -> bool:
        """Returns whether anything is not true."""
        return bool(self.superseded or self.invalid)

    def note(self, id: int) -> str:
        """Returns what is not true of a memory, in words; empty for one that is true."""
        if by := self.superseded.get(id):
            since = {one: self._known[one].valid_from or self._known[one].created_at for one in by}
            return f"superseded by {', '.join(f'#{one} on {_day(moment)}' for one, moment in since.items())}"
        if id in self.invalid:
            first, last = self._known[id].valid_from, self._known[id].valid_until
            bounds = (("from", first), ("until", last))
            return "valid " + " ".join(f"{word} {_day(moment)}" for word, moment in bounds if moment)
        return ""

    def inherited(self, of: Candidates, values: Floats) -> Floats:
        """Returns a value per candidate: that of what supersedes others is at least as high as theirs."""
        places = _places(of, chain(self.superseded, *self.superseded.values()))
        highest = {id: float(values[place]) for id, place in places.items()}
        found = values.copy()
        for old in sorted(self.superseded):
            for id in self.superseded[old]:
                highest[id] = max(highest.get(id, -inf), highest.get(old, -inf))
                if id in places and id not in self.superseded:
                    found[places[id]] = highest[id]
        return found

    def successors(self, of: Candidates) -> set[int]:
        """Returns the ids of all memories that supersede one of the candidates, or one that supersedes it."""
        there, found = _places(of, self.superseded), set[int]()
        for old in sorted(self.superseded):
            if old in found or old in there:
                found.update(self.superseded[old])
        return found

    def invalid_among(self, of: Candidates) -> list[int]:
        """Returns the positions of the candidates that are not valid."""
        return [*_places(of, self.invalid).values()]

    def placed(self, scores: Scores, question: str) -> Scores:
        """Returns the scores with each memory in its place.

        What supersedes another takes the place of that one if it is higher. What is superseded twice in a row does not
        come before what superseded it first. What is not valid comes after all that is. If one of the best says
        more recently what the very best says of the question, it comes first. A part of the score says how far each
        memory has moved.
        """
        of, before = scores.of, scores.totals
        after, places = self.inherited(of, before), _places(of, self.superseded)
        lowest: dict[int, float] = {}
        for old in self.superseded:  # the latest first
            own = float(before[places[old]]) if old in places else inf
            lowest[old] = min(own, *(lowest.get(id, inf) for id in self.superseded[old]))
            if old in places:
                after[places[old]] = lowest[old]
        if outside := self.invalid_among(of):
            after[outside] = before[outside] - (1 + float(after.max() - before.min()))
        top: list[int] = best(after, of.view.table.created, BEST, of.rows).tolist() if question else []
        records = of.view.table.records_of([of.row(place) for place in top])
        true = [one for one in records if one.id not in self.superseded and one.id not in self.invalid]
        if len(true) > 1 and true[0] == records[0] and (later := said_later(question, true)):
            after[top[records.index(later)]] = after[top[0]]
        moved = after - before
        if not moved.any():
            return scores
        return scores._replace(
            names=[*scores.names, PLACE],
            weights=[*scores.weights, 1.0],
            counted=[*scores.counted, moved.take],
            totals=after,
            spreads={**scores.spreads, PLACE: NOT_NORMALISED},
        )


def _places(of: Candidates, ids: Iterable[int]) -> dict[int, int]:
    """Returns id → position of those of the memories that are candidates."""
    rows = np.array(sorted({id - 1 for id in ids if id <= of.view.length}), dtype=np.intp)
    positions = rows
    if of.rows is not None:
        positions = of.rows.searchsorted(rows)
        there = positions < len(of.rows)
        there[there] = of.rows[positions[there]] == rows[there]
        rows, positions = rows[there], positions[there]
    return {row + 1: position for row, position in zip(rows.tolist(), positions.tolist(), strict=True)}


def _begun(memory: Memory, at: datetime) -> bool:
    return memory.valid_from is None or memory.valid_from <= at


def _over(memory: Memory, at: datetime) -> bool:
    return memory.valid_until is not None and memory.valid_until <= at


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d}"
