"""What a character would have done without a memory: one turn run again from the state before it, and thrown away.

Nothing is written. A question that is the same as in the run gets the run's answer; the others are put to the mind.
What others did because of the memory stays done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from commonplace.character.plan import Plan, PlanItem, stroke_id
from commonplace.character.state import KnownNode, Relation
from commonplace.cognition.perceive import ASLEEP
from commonplace.cognition.turn import JobView, Turn
from commonplace.engine.characters import job_drive
from commonplace.engine.driver import Drive, Driver, Journal, NoJournal
from commonplace.engine.live_state import LiveState, restored_state
from commonplace.engine.stage import Stage
from commonplace.engine.verify import CommittedAnswers, NoMind
from commonplace.errors import UsageError, command
from commonplace.memory.record import Memory
from commonplace.minds.mind import Mind
from commonplace.rng import below
from commonplace.run.reading import Reading
from commonplace.run.rows import AnswerRow
from commonplace.scenario.scenario import Scenario
from commonplace.world.actions import Say, proposed
from commonplace.world.events import NOBODY, Event, Phase, parse_id
from commonplace.world.happenings import Came, Changed, Seen, happening_of
from commonplace.world.state import Conversation
from commonplace.world.view import WorldView

SAMPLES = 5
"""How often each arm asks a mind that may answer differently each time."""
EVENT_FIELDS = ("events", "outcome", "news")
"""The fields of a view of the world that hold events."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """One turn that ran again."""

    turn: Turn
    answers: tuple[AnswerRow, ...]
    """Those used, deferred jobs first."""

    @property
    def deed(self) -> str:
        """The action without its words: `SAY to klaus (festival)`, `MOVE to plaza`, `IDLE`."""
        action = self.turn.action
        done = proposed(action)
        to = done.to_location_id or done.to_agent_id
        facts = ", ".join(action.facts) if isinstance(action, Say) else ""
        words = (done.kind, done.verb, done.object_id, f"to {to}" if to else "", f"({facts})" if facts else "")
        return " ".join(filter(None, words))


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """A turn as it was, and as it would be without a memory."""

    event: Event
    hidden: tuple[Memory, ...]
    """The memory and those that rest on it, by id."""
    strokes: tuple[PlanItem, ...]
    """Strokes of the plan that rest on them, taken out of it."""
    then: Rerun
    """As it was, from the journal."""
    without: tuple[Rerun, ...]
    again: tuple[Rerun, ...]
    """With the memory, asked again as often; empty when each arm is asked once."""


async def counterfactual(
    reading: Reading, event: Event, memory_id: int, *, scenario: Scenario, stage: Stage, mind: Mind, times: int = 0
) -> Counterfactual:
    """Runs the turn an event came from without one of its character's memories.

    `times`: how often each arm is asked; 0 for once, or `SAMPLES` times of a mind whose answers cost something. When it
    is more than once, what the memory changes is asked again in both arms, so that two rates can be compared. Raises
    UsageError for an event that came from no turn, for a memory that was not there before it, and for a run made under
    other rules.
    """
    reading.manifest.refuse_other_rules(str(reading.path))
    _require_turn(event, stage, reading)
    agent, tick = event.agent_id, event.tick
    hidden = resting_on(reading, agent, tick, memory_id)
    times = times or (SAMPLES if mind.paid else 1)
    answers = reading.answers(agent=agent)
    rerun = _Reruns(reading, scenario, stage, mind, agent, tick)
    try:
        then = await replace(rerun, mind=NoMind()).once(CommittedAnswers(reading))
        journal = SameQuestions(answers)
        without = [await rerun.once(journal, hidden, sample) for sample in range(times)]
        # What the memory changes is asked anew in this arm too: a mind that samples answers differently each time, and
        # only rates from two samples can be compared.
        control = SameQuestions(answers, journal.asked)
        again = [await rerun.once(control, sample=sample) for sample in range(times)] if times > 1 else []
    finally:
        await mind.close()
    strokes = strokes_on(reading.state_at(agent, tick - 1).plan, {memory.id for memory in hidden})
    return Counterfactual(event, hidden, strokes, then, tuple(without), tuple(again))


def tally(arm: Iterable[Rerun]) -> dict[str, int]:
    """Counts the deeds."""
    counts: dict[str, int] = {}
    for rerun in arm:
        counts[rerun.deed] = counts.get(rerun.deed, 0) + 1
    return counts


def changed_answers(then: Rerun, now: Rerun) -> list[tuple[str, AnswerRow | None, AnswerRow | None]]:
    """Returns (task, answer then, answer now) where the n-th answers of a task differ; None for one not asked."""
    pairs: dict[tuple[str, int], list[AnswerRow | None]] = {}
    for side, rerun in enumerate((then, now)):
        counts: dict[str, int] = {}
        for row in rerun.answers:
            counts[row.task] = counts.get(row.task, 0) + 1
            pairs.setdefault((row.task, counts[row.task]), [None, None])[side] = row
    return [(task, one, other) for (task, _), (one, other) in pairs.items() if _said(one) != _said(other)]


def _said(row: AnswerRow | None) -> Any:
    return row and (row.outcome, row.body)


def _require_turn(event: Event, stage: Stage, reading: Reading) -> None:
    outside = event.agent_id == NOBODY or event.phase == Phase.INPUT or event.tick == 0
    if outside or event.agent_id not in stage.acts(reading.scenario_at(event.tick - 1), event.tick):
        raise UsageError(
            f"{event.id} came from no turn of a character",
            where=str(reading.path),
            hint="choose something a character did or said; `commonplace events` lists all",
        )


@dataclass(frozen=True, slots=True)
class _Reruns:
    """A runner that repeats one turn, as often as wanted."""

    reading: Reading
    scenario: Scenario
    stage: Stage
    mind: Mind
    agent: str
    tick: int

    async def once(self, journal: Journal, hidden: Sequence[Memory] = (), sample: int = 0) -> Rerun:
        """Runs the turn once. The first sample draws as the run did, the others draw anew."""
        live_state = restored_state(self.reading, self.scenario, self.tick - 1)
        if hidden:
            hide_memories(live_state, self.reading, self.agent, hidden)
        seed = below(1 << 31, live_state.seed, "counterfactual", sample) if sample else live_state.seed
        driver = Driver(self.mind, journal, seed, durable=False)
        jobs = [job_drive(self.stage, self.agent, view) for view in live_state.due(self.agent)]
        await driver.run(jobs)
        view = live_state.view(self.agent, tuple(drive.result for drive in jobs))
        view = replace(view, world=without_events(view.world, hidden)) if hidden else view
        turn = Drive(self.agent, self.tick, self.stage.turn(view))
        await driver.run([turn])
        # Of several attempts at a question the last one counts.
        last = {(row.tick, row.ordinal): row for drive in (*jobs, turn) for row in drive.rows}
        return Rerun(turn.result, tuple(last.values()))


class SameQuestions(NoJournal):
    """A journal that answers only what was asked in the run: the same question in the same place."""

    def __init__(self, answers: Iterable[AnswerRow], among: AbstractSet[bytes] | None = None) -> None:
        """`among`: the requests it answers; None for all."""
        self.asked: set[bytes] = set()
        """Every request it was looked up for."""
        self._among = among
        self._rows: dict[tuple[str, int, int], list[AnswerRow]] = {}
        for row in answers:
            self._rows.setdefault((row.agent, row.tick, row.ordinal), []).append(row)

    def find(
        self, agent: str, tick: int, ordinal: int, request: bytes, *, task: str, inputs: Callable[[], str]
    ) -> tuple[AnswerRow, ...]:
        """Returns the attempts made in the run, if the question is the same."""
        del task, inputs
        self.asked.add(request)
        rows = self._rows.get((agent, tick, ordinal), [])
        same = bool(rows) and rows[0].request == request and (self._among is None or request in self._among)
        return tuple(rows) if same else ()


def resting_on(reading: Reading, agent: str, tick: int, memory_id: int) -> tuple[Memory, ...]:
    """Returns a memory and all that rest on it, directly or through others, as of a tick; by id.

    Raises UsageError for a memory the character did not have then, or that was made in the same turn.
    """
    memories = reading.memories(agent, tick)
    found = next((memory for memory in memories if memory.id == memory_id), None)
    if found is None or (found.tick == tick and not found.event and not _sight(found)):
        why = "it was made in the same turn" if found else f"no memory had this number before tick {tick + 1}"
        raise UsageError(
            f"memory {memory_id} of {agent} cannot be left out: {why}",
            where=str(reading.path),
            hint=f"list the candidates with: {command('memories', reading.path, agent, '--at', max(0, tick - 1))}",
        )
    hidden = {memory_id}
    for memory in memories:  # memories only rest on earlier ones
        if memory.tick < tick and not hidden.isdisjoint(memory.citations):
            hidden.add(memory.id)
    return tuple(memory for memory in memories if memory.id in hidden)


def hide_memories(live_state: LiveState, reading: Reading, agent: str, hidden: Sequence[Memory]) -> None:
    """Takes the memories out of a restored state: stream, plan, beliefs, views of others, deferred jobs."""
    ids = {memory.id for memory in hidden}
    stream, state = live_state.streams[agent], live_state.states[agent]
    stream.forget(memory for memory in ids if memory <= stream.last_id)
    relations = {other: _without_summary(relation, ids) for other, relation in state.relations.items()}
    known = {
        node: seen for memory in hidden if memory.tick > live_state.tick for node, seen in _as_seen(live_state, memory)
    }
    plan, belief = plan_without(state.plan, ids), state.belief.updated(known)
    left = replace(state, account=state.account.without(ids), goals=state.goals.without(ids))
    live_state.states[agent] = replace(left, plan=plan, belief=belief, relations=relations)
    waiting = live_state.waiting.get(agent, ())
    live_state.waiting[agent] = tuple(_job_without(view, reading, agent, ids) for view in waiting)


def without_events(world: WorldView, hidden: Sequence[Memory]) -> WorldView:
    """Removes the events that hidden memories came from, and their lines in talks, from a character's view.

    What was seen or heard in the turn itself is not a memory yet, so there is nothing to take out of the stream.
    """
    ids = {memory.event for memory in hidden if memory.event}
    talks = (_talk_without(talk, ids) for talk in world.conversations)
    return replace(
        world,
        conversations=tuple(talk for talk in talks if talk.lines),
        **{name: tuple(event for event in getattr(world, name) if event.id not in ids) for name in EVENT_FIELDS},
    )


def _talk_without(talk: Conversation, ids: AbstractSet[str]) -> Conversation:
    said = {(tick, speaker) for tick, speaker, _ in map(parse_id, ids)}
    lines = tuple(line for line in talk.lines if (line.tick, line.speaker) not in said)
    return replace(talk, lines=lines, floor=lines[-1].to if lines else "")


def strokes_on(plan: Plan, hidden: AbstractSet[int]) -> tuple[PlanItem, ...]:
    """Returns the strokes that rest on hidden memories."""
    return tuple(stroke for stroke in plan.level("day") if not hidden.isdisjoint(stroke.because))


def plan_without(plan: Plan, hidden: AbstractSet[int]) -> Plan:
    """Returns the plan without those strokes.

    The stroke before one lasts longer; the first that is left begins the day.
    """
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


def _sight(memory: Memory) -> str:
    """Returns the id of the seen character or object; empty for any other memory.

    Somebody whose arrival goes unnoticed is not noticed standing there either.
    """
    match happening_of(memory.details):
        case Seen(who=seen) | Came(who=seen) | Changed(object=seen):
            return seen
        case _:
            return ""


def _as_seen(live_state: LiveState, memory: Memory) -> Iterator[tuple[str, KnownNode]]:
    """Yields what was seen as an entry of the belief view: a sight that is known already is not news."""
    node = _sight(memory)
    if node in live_state.world.bodies:
        body = live_state.world.bodies[node]
        yield node, KnownNode(body.area, ASLEEP if body.asleep else body.doing, live_state.tick)
    elif node in live_state.world.things:
        thing = live_state.world.things[node]
        yield node, KnownNode(thing.parent, thing.state, live_state.tick)


def _without_summary(relation: Relation, hidden: AbstractSet[int]) -> Relation:
    """Removes the summary when it rests on hidden memories; the warmth stays."""
    return replace(relation, summary="", because=()) if not hidden.isdisjoint(relation.because) else relation


def _job_without(view: JobView, reading: Reading, agent: str, hidden: AbstractSet[int]) -> JobView:
    """Returns a deferred job whose past lacks the hidden memories."""
    past = reading.stream_at(agent, view.job.asked_at)
    past.forget(memory for memory in hidden if memory <= past.last_id)
    return replace(view, past=past.snapshot())
