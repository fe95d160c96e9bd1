"""Verify: run every tick again from the journal, without a mind, and compare both digests and all traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.live_state import initial_state, opening_record
from commonplace.engine.lockstep import Lockstep
from commonplace.engine.stage import Stage
from commonplace.errors import CommonplaceError, RunDamaged
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.run.digest import BEGINNING, Digests, digests_of, rows_of
from commonplace.run.integrity import trimmed
from commonplace.run.journal import diverged, kept_input
from commonplace.run.reading import Reading
from commonplace.run.rows import AnswerRow, Rows, is_trace
from commonplace.scenario.scenario import Scenario


async def verify(
    reading: Reading, scenario: Scenario, stage: Stage, *, begins: Callable[[int], object] = lambda _: None
) -> int:
    """Re-executes every committed tick; returns the last. Raises RunDamaged naming the first tick that differs.

    `begins` is called with each tick before it is executed.

    Raises UsageError for a run made under other rules.
    """
    reading.manifest.refuse_other_rules(str(reading.path))
    with reading.snapshot():  # the run may go on meanwhile
        return await _re_executed(reading, scenario, stage, begins)


async def _re_executed(reading: Reading, scenario: Scenario, stage: Stage, begins: Callable[[int], object]) -> int:
    seed = reading.manifest.seed
    live_state, opening = initial_state(scenario, seed)
    driver = Driver(NoMind(), CommittedAnswers(reading), seed, durable=False)
    engine = Lockstep(Characters(live_state, stage, driver))
    traced = trimmed(reading).get("trace", 0) + 1
    digests = _compared(reading, 0, rows_of(opening_record(scenario, opening)), BEGINNING.digests)
    for tick in range(1, reading.last_tick + 1):
        begins(tick)
        proposed = await engine.run_tick(reading.inputs(tick, tick))
        rows = rows_of(proposed.record)
        digests = _compared(reading, tick, rows, digests)
        if tick >= traced:
            _compare_traces(reading, tick, rows)
        engine.apply(proposed)
    return reading.last_tick


def _compared(reading: Reading, tick: int, rows: Rows, previous: Digests) -> Digests:
    digests = digests_of(rows, previous, reading.manifest.embedder)
    for name in ("history", "state"):
        if getattr(digests, name).hex() != reading.digest(tick, state=name == "state"):
            raise RunDamaged(
                f"re-execution gives another {name}",
                where=f"{reading.path}, tick {tick}",
                hint="the journal, the scenario in it or the program's rules are not those of the run",
            )
    return digests


def _compare_traces(reading: Reading, tick: int, rows: Rows) -> None:
    """Raises RunDamaged unless the reasons kept of the tick are those that its turns have now."""
    stored = dict(reading.all("SELECT agent, body FROM trace WHERE tick = ?", tick))
    made = {agent: body for agent, _, body in rows.traces}
    for agent in sorted({*stored, *made}):
        trace = made.get(agent)
        if trace is None or agent not in stored or not is_trace(stored[agent], trace):
            raise RunDamaged(
                f"re-execution gives another trace of {agent}",
                where=f"{reading.path}, tick {tick}",
                hint="why this character did what it did has been changed, or other rules made it",
            )


class CommittedAnswers(NoJournal):
    """The journal of re-execution: the answers that committed ticks used."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._rows: dict[tuple[str, int, int], list[AnswerRow]] = {}
        for row in reading.answers():
            self._rows.setdefault((row.agent, row.tick, row.ordinal), []).append(row)

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Returns every attempt at the question, if it is the same. Raises Diverged."""
        rows = self._rows.get((agent, tick, ordinal), [])
        if rows and rows[0].request != request:
            before = kept_input(self._reading.one, rows[0])
            raise diverged(rows[0], where=str(self._reading.path), task=task, before=before, inputs=inputs())
        return tuple(rows)


class NoMind:
    """Answers nothing: re-execution must find every answer in the journal."""

    name = "journal"
    paid = False
    max_attempts = 1

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """Raises CommonplaceError: this question was not asked when the run was made."""
        raise CommonplaceError(
            f"{request_key.agent} asks {ask.task.name}, and the journal has no answer to it",
            where=f"tick {request_key.tick}, question {request_key.number}",
            hint="the run was made by other rules or has been changed; `verify --integrity-only` tells which",
        )

    async def close(self) -> None:
        """Does nothing."""
