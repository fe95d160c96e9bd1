"""What a character would have done without a memory: one turn lived again from the state before it, and thrown away.

Nothing is written. Questions that come out as they were then are answered as they were then; the others are put to the
mind. What others did because of the memory stays done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from commonplace.character.plan import PlanItem
from commonplace.cognition.turn import Turn
from commonplace.engine.ahead import thought
from commonplace.engine.driver import Drive, Driver, Journal, NoJournal, NoMind
from commonplace.engine.life import restored
from commonplace.engine.recorded import Key, final
from commonplace.engine.stage import Stage
from commonplace.engine.verify import Recorded
from commonplace.engine.without import bereave, resting_on, strokes_on, unseen
from commonplace.errors import WrongUse
from commonplace.memory.record import Memory
from commonplace.minds.mind import Mind
from commonplace.rng import below
from commonplace.run.reading import Reading
from commonplace.run.record import AnswerRow
from commonplace.scenario.scenario import Scenario
from commonplace.world.actions import Idle, Interact, Move, Say
from commonplace.world.events import NOBODY, Event, Phase

SAMPLES = 5
"""How often a mind that may answer differently each time is asked in each arm."""


@dataclass(frozen=True, slots=True)
class Relived:
    """One turn lived again."""

    turn: Turn
    answers: tuple[AnswerRow, ...]
    """Those used, deferred thoughts first."""

    @property
    def deed(self) -> str:
        """What it comes to, without its words: `SAY to klaus (festival)`, `MOVE to plaza`, `IDLE`."""
        match self.turn.action:
            case Idle():
                return "IDLE"
            case Move(to_location_id=area):
                return f"MOVE to {area}"
            case Interact(object_id=thing, verb=verb):
                return f"INTERACT {verb} {thing}"
            case Say(to_agent_id=other, facts=facts):
                return f"SAY to {other}" + (f" ({', '.join(facts)})" if facts else "")


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A turn as it was, and as it would be without a memory."""

    event: Event
    hidden: tuple[Memory, ...]
    """The memory and those that rest on it, by id."""
    strokes: tuple[PlanItem, ...]
    """Strokes of the plan that rest on them, taken out of it."""
    then: Relived
    """As it was, from the journal."""
    without: tuple[Relived, ...]
    again: tuple[Relived, ...]
    """With the memory, asked again as often; empty when each arm is asked once."""


class Unchanged(NoJournal):
    """A journal that answers only what was asked then: the same question in the same place."""

    def __init__(self, answers: Iterable[AnswerRow], among: AbstractSet[bytes] | None = None) -> None:
        """`among`: requests that it answers at all; None for every one."""
        self.asked: set[bytes] = set()
        """Every request it was looked up for."""
        self._among = among
        self._rows: dict[Key, list[AnswerRow]] = {}
        for row in answers:
            self._rows.setdefault((row.agent, row.tick, row.ordinal), []).append(row)

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, given: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """The attempts of then, if this is the question of then."""
        del task, given
        self.asked.add(request)
        rows = self._rows.get((agent, tick, ordinal), [])
        same = bool(rows) and rows[0].request == request and (self._among is None or request in self._among)
        return tuple(rows) if same else ()


async def counterfactual(
    reading: Reading, event: Event, memory_id: int, *, scenario: Scenario, stage: Stage, mind: Mind, times: int = 0
) -> Counterfactual:
    """The turn an event came from, without one of its character's memories.

    `times`: how often each arm is asked; 0 for once, or `SAMPLES` times of a mind whose answers cost something. When it
    is more than once, what the memory changes is asked again in both arms, so that two rates can be compared. Raises
    WrongUse for an event that came from no turn, and for a memory that was not there before it.
    """
    _refuse_turnless(event, scenario, stage, reading)
    agent, tick = event.agent_id, event.tick
    hidden = resting_on(reading, agent, tick, memory_id)
    times = times or (SAMPLES if mind.costs else 1)
    answers = reading.answers(agent=agent)
    arms = Arms(reading, scenario, stage, mind, agent, tick)
    try:
        then = await replace(arms, mind=NoMind()).relive(Recorded(reading))
        journal = Unchanged(answers)
        without = [await arms.relive(journal, hidden, sample) for sample in range(times)]
        same = Unchanged(answers, journal.asked)
        again = [await arms.relive(same, sample=sample) for sample in range(times)] if times > 1 else []
    finally:
        await mind.rest()
    strokes = strokes_on(reading.state_at(agent, tick - 1).plan, {memory.id for memory in hidden})
    return Counterfactual(event, hidden, strokes, then, tuple(without), tuple(again))


@dataclass(frozen=True, slots=True)
class Arms:
    """Where a turn is lived again, as often as wanted."""

    reading: Reading
    scenario: Scenario
    stage: Stage
    mind: Mind
    agent: str
    tick: int

    async def relive(self, journal: Journal, hidden: Sequence[Memory] = (), sample: int = 0) -> Relived:
        """The turn once. The first sample draws as the run did, the others draw anew."""
        life = restored(self.reading, self.scenario, self.tick - 1)
        if hidden:
            bereave(life, self.reading, self.agent, hidden)
        seed = below(1 << 31, life.seed, "counterfactual", sample) if sample else life.seed
        driver = Driver(self.mind, journal, seed, durable=False)
        thoughts = [thought(self.stage, self.agent, view) for view in life.due(self.agent)]
        await driver.run(thoughts)
        view = life.view(self.agent, tuple(drive.result for drive in thoughts))
        view = replace(view, world=unseen(view.world, hidden)) if hidden else view
        turn = Drive(self.agent, self.tick, self.stage.turn(view))
        await driver.run([turn])
        rows = final(row for drive in (*thoughts, turn) for row in drive.rows)
        return Relived(turn.result, tuple(rows.values()))


def _refuse_turnless(event: Event, scenario: Scenario, stage: Stage, reading: Reading) -> None:
    outside = event.agent_id == NOBODY or event.phase == Phase.INPUT or event.tick == 0
    if outside or event.agent_id not in stage.acts(scenario, event.tick):
        raise WrongUse(
            f"{event.id} came from no turn of a character",
            where=str(reading.path),
            todo="choose something a character did or said; `commonplace events` lists all",
        )


def tally(arm: Iterable[Relived]) -> dict[str, int]:
    """Deed → how often."""
    counts: dict[str, int] = {}
    for relived in arm:
        counts[relived.deed] = counts.get(relived.deed, 0) + 1
    return counts


def changed_answers(then: Relived, now: Relived) -> list[tuple[str, AnswerRow | None, AnswerRow | None]]:
    """(task, answer then, answer now) where they differ, the n-th of a task beside its n-th; None for one not asked."""
    pairs: dict[tuple[str, int], list[AnswerRow | None]] = {}
    for side, relived in enumerate((then, now)):
        counts: dict[str, int] = {}
        for row in relived.answers:
            counts[row.task] = counts.get(row.task, 0) + 1
            pairs.setdefault((row.task, counts[row.task]), [None, None])[side] = row
    return [(task, one, other) for (task, _), (one, other) in pairs.items() if _said(one) != _said(other)]


def _said(row: AnswerRow | None) -> Any:
    return row and (row.outcome, row.body)
