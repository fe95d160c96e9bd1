"""Reflection matters: hide one conclusion from a character, and a later decision changes.

The town is lived twice with the same seed. The second time the mind is the same but for one thing: a single reflection
of one character is left out of whatever that character recalls. Up to the plan that rested on it both days are the
same, event by event; from there on one of them goes another way.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import structs

from commonplace import Ask, Event, Mind, OfflineMind, Reply, RequestKey, create_run, open_run

SEED, TICKS = 5, 480
"""Until ten in the evening of the second day."""


@dataclass
class Forgetful:
    """Another mind, to which one character never mentions one of its memories."""

    mind: Mind
    agent: str
    memory: int
    name: str = "forgetful"
    paid: bool = False
    max_attempts: int = 1

    def answer(self, ask: Ask, request_key: RequestKey) -> Reply:
        """The other mind's answer to the question without that memory."""
        if request_key.agent == self.agent and hasattr(ask.input, "recalled"):
            kept = tuple(memory for memory in ask.input.recalled if memory.id != self.memory)
            ask = Ask(ask.task, structs.replace(ask.input, recalled=kept))
        return self.mind.answer(ask, request_key)

    async def close(self) -> None:
        """It holds nothing."""


async def lived(path: Path, mind: Mind) -> list[Event]:
    """Everything that happens in `plaza` with a mind of one's own."""
    with create_run(path, "plaza", seed=SEED, mind=mind) as run:
        return [event async for tick in run.play(TICKS) for event in tick.events]


def shown(event: Event) -> str:
    """What somebody does, in a few words."""
    match event.type:
        case "MOVE":
            return f"goes to {event.body.to}"
        case "SAY":
            return f"says “{event.body.utterance}”"
        case _:
            return event.body.doing


def an_hour(events: list[Event], agent: str, tick: int) -> str:
    """What a character does in the hour from a tick on."""
    actions = [e for e in events if e.agent_id == agent and e.type in {"IDLE", "MOVE", "INTERACT", "SAY"}]
    return "; ".join(dict.fromkeys(shown(e) for e in actions if tick <= e.tick < tick + 12))


def compare(folder: Path) -> None:
    """Find something done because of a reflection, then live without that reflection."""
    before = asyncio.run(lived(folder / "with.run", OfflineMind()))
    with open_run(folder / "with.run") as run:
        decision, thought = next(
            (event, memory)
            for event in before
            for memory in (run.memory(event.agent_id, number) for number in event.body.because)
            if memory is not None and memory.kind == "reflection"
        )
        who = decision.agent_id
        print(f"On {thought.created_at:%A} {who} concluded (#{thought.id}): {thought.text}")
        for cited in thought.citations:
            print(f"    from #{cited} {run.memory(who, cited).text}")
        when = f"{run.time(decision.tick):%A %H:%M}"

    after = asyncio.run(lived(folder / "without.run", Forgetful(OfflineMind(), who, thought.id)))
    same = next(n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other)
    print(f"\nThe first {same} events are the same with and without it.")
    print(f"\n{when}, with it:\n    {who} {an_hour(before, who, decision.tick)}")
    print(f"{when}, without it:\n    {who} {an_hour(after, who, decision.tick)}")


with TemporaryDirectory() as folder:
    compare(Path(folder))
