"""Read what a town says: `python tests/minds/offline/rehearse.py [SCENARIO] [TICKS] [SEED]` lives one in RAM.

Prints the talks with the memories each line rests on, what was planned and why, and who came to which event.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Iterator

from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.live_state import initial_state
from commonplace.engine.lockstep import Lockstep, Tick
from commonplace.minds.offline import OfflineMind
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.stages.town import TOWN


def lived(name: str, ticks: int, seed: int) -> Iterator[tuple[Tick, Lockstep]]:
    """The ticks of a town, one after another, and the engine that lives them."""
    scenario = compiled_from_text(load(name).text.replace("T06:00:00", "T05:30:00"))
    live_state, _ = initial_state(scenario, seed)
    engine = Lockstep(
        Characters(live_state, TOWN, Driver(OfflineMind(scenario.language), NoJournal(), seed, durable=False))
    )
    loop = asyncio.new_event_loop()
    try:
        for _ in range(ticks):
            one = loop.run_until_complete(engine.run_tick())
            engine.apply(one)
            yield one.tick, engine
    finally:
        loop.close()


def shown(tick: Tick, engine: Lockstep, *, cite: bool) -> Iterator[str]:
    """A tick's talk and changes of plan as lines to read."""
    clock = f"{tick.time:%a %H:%M}"
    for event in tick.events:
        body, place = event.body, event.place
        if event.type == "SAY":
            yield f"{clock} [{place}] {event.agent_id} → {body.to_agent_id}: {body.utterance}"
            if cite:
                stream = {memory.id: memory for memory in engine.live_state.streams[event.agent_id]}
                for one in body.because:
                    memory = stream.get(one) or next(
                        (new for new in tick.turns[event.agent_id].delta.memories if new.id == one), None
                    )
                    yield f"            ({one}: {memory.text if memory else '?'})"
        elif event.type in {"PLAN_CHANGED", "WEATHER_CHANGED", "SCRIPTED", "ACTION_REJECTED", "REFLECTED"}:
            yield f"{clock} *{event.type} {event.agent_id} {body.plain()}"


def main(arguments: list[str]) -> None:
    """Print a town's talk."""
    name, ticks, seed = (*arguments, *("latticeville", "180", "7")[len(arguments) :])[:3]
    cite = "cite" in arguments
    begun, counts = time.perf_counter(), Counter[str]()
    engine = None
    for tick, engine in lived(name, int(ticks), int(seed)):
        begun = time.perf_counter() if tick.number == 1 else begun
        counts.update(event.type for event in tick.events)
        for line in shown(tick, engine, cite=cite):
            sys.stdout.write(line + "\n")
    assert engine is not None
    seconds = time.perf_counter() - begun
    people = len(engine.live_state.scenario.personas)
    sys.stdout.write(f"{dict(counts)}\n{int(ticks) * people / seconds:.0f} agent-ticks per second\n")
    for agent, stream in engine.live_state.streams.items():
        memories = list(stream)
        total = sum(memory.importance for memory in memories if memory.kind != "reflection")
        sys.stdout.write(f"{agent}: {len(memories)} memories, importance {total:.0f}\n")
        for memory in memories:
            if memory.kind == "reflection":
                sys.stdout.write(f"    insight {memory.importance:.0f}: {memory.text} {memory.citations}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
