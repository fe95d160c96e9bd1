"""Verify: live a run again from its journal, without a mind, and compare both digests tick by tick."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.engine.driver import Driver, NoMind
from commonplace.engine.life import opening
from commonplace.engine.lockstep import Lockstep
from commonplace.engine.stage import Stage
from commonplace.errors import RunDamaged
from commonplace.run.commit import Digests, digests_of
from commonplace.run.digest import START
from commonplace.run.reading import Reading
from commonplace.run.record import AnswerRow, TickRecord
from commonplace.scenario.scenario import Scenario


@dataclass(slots=True)
class Recorded:
    """The answers of a run, by key."""

    rows: dict[tuple[str, int, int], AnswerRow]

    @classmethod
    def of(cls, answers: Iterable[AnswerRow]) -> Recorded:
        """Of each question the attempt that brought a value, else the last one made, as `Journal.find` has it."""
        rows: dict[tuple[str, int, int], AnswerRow] = {}
        for row in answers:
            key = (row.agent, row.tick, row.ordinal)
            if key not in rows or rows[key].outcome != "value":
                rows[key] = row
        return cls(rows)

    def find(self, agent: str, tick: int, ordinal: int, request: bytes) -> AnswerRow | None:
        """The answer, if the question is the same."""
        row = self.rows.get((agent, tick, ordinal))
        if row is not None and row.request != request:
            raise RunDamaged(
                f"{agent} was asked something else ({row.task})",
                where=f"tick {tick}, question {ordinal}",
                todo="the run was made by other rules, or something before this tick has been changed",
            )
        return row

    def keep(self, row: AnswerRow) -> None:
        """Re-execution adds nothing."""
        raise AssertionError(row)


async def verify(reading: Reading, scenario: Scenario, stage: Stage) -> int:
    """Re-execute every tick; returns the last. Raises RunDamaged naming the first tick that comes out differently."""
    seed = reading.manifest.seed
    life, first = opening(scenario, seed)
    engine = Lockstep(life, stage, Driver(NoMind(), Recorded.of(reading.answers()), seed, durable=False))
    digests = _compared(reading, first, Digests(START, START))
    for tick in range(1, reading.last_tick + 1):
        lived = await engine.live(reading.inputs(tick, tick))
        digests = _compared(reading, lived.record, digests)
        engine.take_up(lived)
    return reading.last_tick


def _compared(reading: Reading, record: TickRecord, previous: Digests) -> Digests:
    digests = digests_of(record, previous, reading.manifest.embedder)
    for name in ("history", "state"):
        if getattr(digests, name).hex() != reading.digest(record.tick, state=name == "state"):
            raise RunDamaged(
                f"re-execution gives another {name}",
                where=f"tick {record.tick}",
                todo="the journal, the scenario in the file or the program's rules are not those of the run",
            )
    return digests
