"""Where what was said came from: from a line back over memories and earlier lines to who knew it first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from commonplace.character.fact import Fact
from commonplace.memory.record import Memory
from commonplace.world.events import Event, parse_id

if TYPE_CHECKING:
    from commonplace.run.reading import Reading


def heard_from(reading: Reading, said: Event) -> list[dict[str, Any]]:
    """For each seed fact in a SAY: `{fact, memory, from, event_id, tick, chain}`.

    `memory` is what the speaker spoke from (null: made up), `from` and `event_id` who told it to the speaker and when
    (empty for one that knew it from the start). `chain` goes on from there, link by link, to the origin.
    """
    facts = {fact.id: fact for fact in reading.scenario.facts}
    carriers = said.body.get("carriers", ())
    rows: list[dict[str, Any]] = []
    for number, fact_id in enumerate(said.body.get("facts", ())):
        carrier = carriers[number] if number < len(carriers) else 0
        links = chain(reading, facts.get(fact_id), said.agent_id, carrier)
        nearest: dict[str, Any] = links[0] if links else {"memory": None, "from": "", "event_id": "", "tick": None}
        rows.append({"fact": fact_id, **nearest, "chain": links[1:]})
    return rows


def chain(reading: Reading, fact: Fact | None, agent: str, memory_id: int) -> list[dict[str, Any]]:
    """`{agent, memory, from, event_id, tick}` for each who passed it on, the nearest first, the origin last.

    Memories only rest on earlier ones and are made of earlier events, so this ends.
    """
    links: list[dict[str, Any]] = []
    while memory_id:
        memory = _carrying(reading, fact, agent, memory_id)
        if memory is None:
            break
        event = _event(reading, memory)
        link = {"agent": agent, "memory": memory.id, "from": "", "event_id": memory.event, "tick": memory.tick}
        links.append(link)
        if event is None or event.type != "SAY" or event.agent_id == agent:
            break
        link |= {"from": event.agent_id, "tick": event.tick}
        memory_id = spoken_from(event, fact.id if fact else "")
        agent = event.agent_id
    return links


def spoken_from(said: Event, fact_id: str) -> int:
    """The speaker's memory that a fact in a SAY was spoken from; 0 for none."""
    pairs = zip(said.body.get("facts", ()), said.body.get("carriers", ()), strict=False)
    return next((carrier for spoken, carrier in pairs if spoken == fact_id), 0)


def _carrying(reading: Reading, fact: Fact | None, agent: str, memory_id: int) -> Memory | None:
    """The memory, or the earliest one under it that carries the fact: a thought is followed to what it rests on."""
    memory = reading.memory(agent, memory_id)
    if memory is None or memory.event or fact is None:
        return memory
    under = [_carrying(reading, fact, agent, cited) for cited in memory.citations]
    found = [one for one in under if one is not None and fact.carried_by(one.text)]
    return min(found, key=lambda one: one.id, default=memory)


def _event(reading: Reading, memory: Memory) -> Event | None:
    return reading.event(*parse_id(memory.event)) if memory.event else None
