"""A mind that gives the answers of another run (`--mind journal:OTHER.run`), and nothing else."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from commonplace.engine.driver import request_digest
from commonplace.errors import CommonplaceError, RunDamaged
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.run.reading import Reading
from commonplace.run.tick_record import AnswerRow

Key = tuple[str, int, int]
"""Character, tick, ordinal."""


class RecordedMind:
    """Gives the answer that the same character got to the same question.

    It looks at the same tick and ordinal first, then at the last place before, then at the first one after. A question
    that led to a fallback does so again.
    """

    paid = False
    max_attempts = 1

    def __init__(self, name: str, source: str, answers: Iterable[AnswerRow]) -> None:
        """Takes the `source`, the run with the answers, for messages, and all `answers`, in their order."""
        self.name = name
        self._source = source
        # Of several attempts at a question the last one counts.
        self._rows: Mapping[Key, AnswerRow] = {(row.agent, row.tick, row.ordinal): row for row in answers}
        self._last = max((tick for _, tick, _ in self._rows), default=0)
        self._places: dict[tuple[str, bytes], list[Key]] = {}
        for key, row in sorted(self._rows.items()):
            self._places.setdefault((row.agent, row.request), []).append(key)

    @classmethod
    def of(cls, name: str, path: str | Path) -> RecordedMind:
        """Reads the mind of a run file. Raises what `Reading.open` raises."""
        with Reading.open(path) as reading:
            return cls(name, str(path), reading.answers(used=False))

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Returns the recorded reply. Raises CommonplaceError for a question that was never answered."""
        row = self._kept((request_key.agent, request_key.tick, request_key.number), request_digest(ask))
        if row is None:
            hint = "scenario, seed, settings and inputs must be those of that run; what is committed stays"
            if request_key.tick > self._last:
                hint = f"its last answer is of tick {self._last}; fork there with another mind"
            raise CommonplaceError(
                f"{self._source} has no answer for {request_key.agent} to this question ({ask.task.name})",
                where=f"tick {request_key.tick}, question {request_key.number}",
                hint=hint,
            )
        if row.outcome != "value":
            return Reply(None, row.outcome, error=f"as in {self._source}", kind=row.usage.get("kind", ""))
        try:
            return Reply(ask.task.output.model_validate_json(row.body), flaws=row.usage.get("flaws", {}))
        except ValueError as error:
            where = f"tick {row.tick}, question {row.ordinal}"
            raise RunDamaged(f"the answer of {row.agent} in {self._source} is not valid", where=where) from error

    async def close(self) -> None:
        """Does nothing."""

    def _kept(self, here: Key, request: bytes) -> AnswerRow | None:
        row = self._rows.get(here)
        if row is not None and row.request == request:
            return row
        places = self._places.get((here[0], request), [])
        return self._rows[places[max(0, bisect_right(places, here) - 1)]] if places else None
