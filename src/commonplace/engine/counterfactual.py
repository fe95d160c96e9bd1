"""What a character would have done without a memory: one turn lived again from the state before it, and thrown away.

Nothing is written. Questions that come out as they were then are answered as they were then; the others are put to the
mind. What others did because of the memory stays done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from commonplace.character.plan import Plan, PlanItem, stroke_id
from commonplace.character.state import Known, Relation
from commonplace.cognition.perceive import ASLEEP
from commonplace.cognition.turn import JobView, Turn
from commonplace.engine.driver import Drive, Driver, Journal, NoJournal, NoMind
from commonplace.engine.live_state import LiveState, restored
from commonplace.engine.lockstep import thought
from commonplace.engine.other_journal import Key, final
from commonplace.engine.stage import Stage
from commonplace.engine.verify import Recorded
from commonplace.errors import UsageError
from commonplace.memory.record import Memory
from commonplace.minds.mind import Mind
from commonplace.rng import below
from commonplace.run.reading import Reading
from commonplace.run.tick_record import AnswerRow
from commonplace.scenario.scenario import Scenario
from commonplace.world.actions import Idle, Interact, Move, Say
from commonplace.world.events import NOBODY, Event, Phase, parse_id
from commonplace.world.state import Conversation
from commonplace.world.view import WorldView

# ── without ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# A life without some of a character's memories: they, and what rests on them, taken away from it in RAM.
#
# What was seen or heard in the turn itself becomes a memory only in it. An event is then taken out of what is seen; a
# sight counts as known already, so that it is no news.


SEEN = ("events", "outcome", "news")
"""What of a view of the world is events."""
SIGHTS = {"doing": "who", "thing": "object"}
"""What a frame says of a sight: its kind, and where the id of what was seen stands."""


def resting_on(reading: Reading, agent: str, tick: int, memory_id: int) -> tuple[Memory, ...]:
    """A memory and all that rested on it, over any number of citations, when a tick was lived; by id.

    Raises UsageError for a memory the character did not have then, or that it made up its mind to in that very tick.
    """
    memories = reading.memories(agent, tick)
    found = next((memory for memory in memories if memory.id == memory_id), None)
    if found is None or (found.tick == tick and not found.event and not _sight(found)):
        why = "it was thought in that very turn" if found else f"it had none of that number before tick {tick + 1}"
        raise UsageError(
            f"memory {memory_id} cannot be taken away from {agent}: {why}",
            where=str(reading.path),
            hint=f"what can is listed by: commonplace memories {reading.path} {agent} --at {max(0, tick - 1)}",
        )
    hidden = {memory_id}
    for memory in memories:  # memories only rest on earlier ones
        if memory.tick < tick and not hidden.isdisjoint(memory.citations):
            hidden.add(memory.id)
    return tuple(memory for memory in memories if memory.id in hidden)


def bereave(live_state: LiveState, reading: Reading, agent: str, hidden: Sequence[Memory]) -> None:
    """Take the memories away from a restored life: from the stream, the plan, the views of others, pending thoughts."""
    ids = {memory.id for memory in hidden}
    stream, state = live_state.streams[agent], live_state.states[agent]
    stream.forget(memory for memory in ids if memory <= stream.last_id)
    relations = {other: _unconcluded(relation, ids) for other, relation in state.relations.items()}
    known = {
        node: seen for memory in hidden if memory.tick > live_state.tick for node, seen in _as_it_is(live_state, memory)
    }
    plan, belief = plan_without(state.plan, ids), state.belief.updated(known)
    live_state.states[agent] = replace(state, plan=plan, belief=belief, relations=relations)
    waiting = live_state.waiting.get(agent, ())
    live_state.waiting[agent] = tuple(_unaware(view, reading, agent, ids) for view in waiting)


def _sight(memory: Memory) -> str:
    """Id of the character or object that was seen; empty for any other memory."""
    frame = memory.details.get("frame", {})
    return frame[SIGHTS[frame["what"]]] if frame.get("what") in SIGHTS else ""


def _as_it_is(live_state: LiveState, memory: Memory) -> Iterator[tuple[str, Known]]:
    """What was seen, as the belief view would have it."""
    node = _sight(memory)
    if node in live_state.world.bodies:
        body = live_state.world.bodies[node]
        yield node, Known(body.area, ASLEEP if body.asleep else body.doing, live_state.tick)
    elif node in live_state.world.things:
        thing = live_state.world.things[node]
        yield node, Known(thing.parent, thing.state, live_state.tick)


def unseen(world: WorldView, hidden: Sequence[Memory]) -> WorldView:
    """What a character sees, without the events its hidden memories came from; their lines are missing in a talk."""
    ids = {memory.event for memory in hidden if memory.event}
    talks = (_unheard(talk, ids) for talk in world.conversations)
    return replace(
        world,
        conversations=tuple(talk for talk in talks if talk.lines),
        **{name: tuple(event for event in getattr(world, name) if event.id not in ids) for name in SEEN},
    )


def _unheard(talk: Conversation, ids: AbstractSet[str]) -> Conversation:
    said = {(tick, speaker) for tick, speaker, _ in map(parse_id, ids)}
    lines = tuple(line for line in talk.lines if (line.tick, line.speaker) not in said)
    return replace(talk, lines=lines, floor=lines[-1].to if lines else "")


def strokes_on(plan: Plan, hidden: AbstractSet[int]) -> tuple[PlanItem, ...]:
    """The strokes that rest on hidden memories."""
    return tuple(stroke for stroke in plan.level("day") if not hidden.isdisjoint(stroke.because))


def plan_without(plan: Plan, hidden: AbstractSet[int]) -> Plan:
    """The plan without those strokes: what stands before one goes on in its place, the first left begins the day."""
    whole = plan.level("day")
    gone = {stroke.id for stroke in strokes_on(plan, hidden)}
    left = [stroke for stroke in whole if stroke.id not in gone]
    if not gone:
        return plan
    starts = [whole[0].start_time, *(stroke.start_time for stroke in left[1:])]
    stretched: Mapping[str, PlanItem] = {
        stroke.id: replace(stroke, start_time=start, duration_minutes=int((end - start).total_seconds() // 60))
        for stroke, start, end in zip(left, starts, [*starts[1:], whole[-1].end_time], strict=False)
    }
    kept = [item for item in plan.items if stroke_id(item) not in gone]
    return replace(plan, items=tuple(stretched.get(item.id, item) for item in kept))


def _unconcluded(relation: Relation, hidden: AbstractSet[int]) -> Relation:
    """Without what was concluded from hidden memories; the warmth felt stays."""
    return replace(relation, summary="", because=()) if not hidden.isdisjoint(relation.because) else relation


def _unaware(view: JobView, reading: Reading, agent: str, hidden: AbstractSet[int]) -> JobView:
    """A deferred thought whose past lacks the hidden memories."""
    past = reading.stream_at(agent, view.job.asked_at)
    past.forget(memory for memory in hidden if memory <= past.last_id)
    return replace(view, past=past.snapshot())


# ── counterfactual ───────────────────────────────────────────────────────────────────────────────────────────────────


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
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """The attempts of then, if this is the question of then."""
        del task, inputs
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
    UsageError for an event that came from no turn, and for a memory that was not there before it.
    """
    _refuse_turnless(event, scenario, stage, reading)
    agent, tick = event.agent_id, event.tick
    hidden = resting_on(reading, agent, tick, memory_id)
    times = times or (SAMPLES if mind.paid else 1)
    answers = reading.answers(agent=agent)
    arms = Arms(reading, scenario, stage, mind, agent, tick)
    try:
        then = await replace(arms, mind=NoMind()).relive(Recorded(reading))
        journal = Unchanged(answers)
        without = [await arms.relive(journal, hidden, sample) for sample in range(times)]
        same = Unchanged(answers, journal.asked)
        again = [await arms.relive(same, sample=sample) for sample in range(times)] if times > 1 else []
    finally:
        await mind.close()
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
        live_state = restored(self.reading, self.scenario, self.tick - 1)
        if hidden:
            bereave(live_state, self.reading, self.agent, hidden)
        seed = below(1 << 31, live_state.seed, "counterfactual", sample) if sample else live_state.seed
        driver = Driver(self.mind, journal, seed, durable=False)
        thoughts = [thought(self.stage, self.agent, view) for view in live_state.due(self.agent)]
        await driver.run(thoughts)
        view = live_state.view(self.agent, tuple(drive.result for drive in thoughts))
        view = replace(view, world=unseen(view.world, hidden)) if hidden else view
        turn = Drive(self.agent, self.tick, self.stage.turn(view))
        await driver.run([turn])
        rows = final(row for drive in (*thoughts, turn) for row in drive.rows)
        return Relived(turn.result, tuple(rows.values()))


def _refuse_turnless(event: Event, scenario: Scenario, stage: Stage, reading: Reading) -> None:
    outside = event.agent_id == NOBODY or event.phase == Phase.INPUT or event.tick == 0
    if outside or event.agent_id not in stage.acts(scenario, event.tick):
        raise UsageError(
            f"{event.id} came from no turn of a character",
            where=str(reading.path),
            hint="choose something a character did or said; `commonplace events` lists all",
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
