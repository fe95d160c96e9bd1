"""A life without some of a character's memories: they, and what rests on them, taken away from it in RAM.

What was seen or heard in the turn itself becomes a memory only in it. An event is then taken out of what is seen; a
sight counts as known already, so that it is no news.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from commonplace.character.belief import Known
from commonplace.character.plan import Plan, PlanItem, stroke_id
from commonplace.character.relation import Relation
from commonplace.cognition.percept import ASLEEP
from commonplace.cognition.turn import JobView
from commonplace.engine.life import Life
from commonplace.errors import WrongUse
from commonplace.memory.record import Memory
from commonplace.run.reading import Reading
from commonplace.world.events import parse_id
from commonplace.world.state import Conversation
from commonplace.world.view import WorldView

SEEN = ("events", "outcome", "news")
"""What of a view of the world is events."""
SIGHTS = {"doing": "who", "thing": "object"}
"""What a frame says of a sight: its kind, and where the id of what was seen stands."""


def resting_on(reading: Reading, agent: str, tick: int, memory_id: int) -> tuple[Memory, ...]:
    """A memory and all that rested on it, over any number of citations, when a tick was lived; by id.

    Raises WrongUse for a memory the character did not have then, or that it made up its mind to in that very tick.
    """
    memories = reading.memories(agent, tick)
    found = next((memory for memory in memories if memory.id == memory_id), None)
    if found is None or (found.tick == tick and not found.event and not _sight(found)):
        why = "it was thought in that very turn" if found else f"it had none of that number before tick {tick + 1}"
        raise WrongUse(
            f"memory {memory_id} cannot be taken away from {agent}: {why}",
            where=str(reading.path),
            todo=f"what can is listed by: commonplace memories {reading.path} {agent} --at {max(0, tick - 1)}",
        )
    hidden = {memory_id}
    for memory in memories:  # memories only rest on earlier ones
        if memory.tick < tick and not hidden.isdisjoint(memory.citations):
            hidden.add(memory.id)
    return tuple(memory for memory in memories if memory.id in hidden)


def bereave(life: Life, reading: Reading, agent: str, hidden: Sequence[Memory]) -> None:
    """Take the memories away from a restored life: from the stream, the plan, the views of others, pending thoughts."""
    ids = {memory.id for memory in hidden}
    stream, state = life.streams[agent], life.states[agent]
    stream.forget(memory for memory in ids if memory <= stream.last_id)
    relations = {other: _unconcluded(relation, ids) for other, relation in state.relations.items()}
    known = {node: seen for memory in hidden if memory.tick > life.tick for node, seen in _as_it_is(life, memory)}
    plan, belief = plan_without(state.plan, ids), state.belief.updated(known)
    life.states[agent] = replace(state, plan=plan, belief=belief, relations=relations)
    waiting = life.waiting.get(agent, ())
    life.waiting[agent] = tuple(_unaware(view, reading, agent, ids) for view in waiting)


def _sight(memory: Memory) -> str:
    """Id of the character or object that was seen; empty for any other memory."""
    frame = memory.details.get("frame", {})
    return frame[SIGHTS[frame["what"]]] if frame.get("what") in SIGHTS else ""


def _as_it_is(life: Life, memory: Memory) -> Iterator[tuple[str, Known]]:
    """What was seen, as the belief view would have it."""
    node = _sight(memory)
    if node in life.world.bodies:
        body = life.world.bodies[node]
        yield node, Known(body.area, ASLEEP if body.asleep else body.doing, life.tick)
    elif node in life.world.things:
        thing = life.world.things[node]
        yield node, Known(thing.parent, thing.state, life.tick)


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
