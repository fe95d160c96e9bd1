"""What is asked of a recorded village again and again: who was where, what was said, who could have known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from commonplace.memory import Memory
from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
from commonplace.run.reading import Reading
from commonplace.world.events import Event

DAY = 288
"""Ticks of five minutes."""
FESTIVAL = "lantern_festival"
CARRIES = re.compile(r"^(?=.*\blanterns?\b)(?=.*\bfestival\b)", re.IGNORECASE | re.DOTALL)
"""The English words that carry the festival, matched in another way than the program does."""


@dataclass(frozen=True)
class Moment:
    """One character at the end of one tick."""

    time: datetime
    place: str
    doing: str
    asleep: bool


@lru_cache(maxsize=16)
def days(run: Reading) -> Mapping[str, list[Moment]]:
    """Every tick of everybody, from tick 1 on."""
    moments: dict[str, list[Moment]] = {agent: [] for agent in run.agent_ids}
    for frame in run.frames(1):
        for agent, seen in frame.agents.items():
            moments[agent].append(Moment(frame.time, seen.position, seen.doing, seen.asleep))
    return moments


def at(run: Reading, agent: str, day: int, minutes: int) -> Moment:
    """A character on a day of the run at so many minutes after midnight."""
    start = run.scenario.clock.start
    moment = start.replace(hour=0, minute=0) + timedelta(days=day, minutes=minutes)
    return days(run)[agent][run.scenario.clock.tick(moment) - 1]


@lru_cache(maxsize=16)
def says(run: Reading) -> tuple[Event, ...]:
    return run.events(type="SAY")


@lru_cache(maxsize=64)
def memories(run: Reading, agent: str) -> Mapping[int, Memory]:
    return {memory.id: memory for memory in run.memories(agent, forgotten=True)}


def content_words(text: str) -> set[str]:
    """Words of four letters and more: what a sentence is about, roughly."""
    return {word for word in re.findall(r"[a-z']+", text.lower()) if len(word) > 3}


class Recording:
    """A mind that keeps what it was asked and what it answered."""

    paid = False
    max_attempts = 1

    def __init__(self, mind: Mind) -> None:
        self.name = mind.name
        self._mind = mind
        self.kept: list[tuple[Ask[Any, Any], RequestKey, Reply]] = []

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        reply = self._mind.answer(ask, request_key)
        assert isinstance(reply, Reply)
        self.kept.append((ask, request_key, reply))
        return reply

    async def close(self) -> None:
        """It holds nothing."""

    def of(self, task: str) -> Iterable[tuple[Ask[Any, Any], RequestKey, Any]]:
        """Questions of a task, by whom, and the answers."""
        return [(ask, request_key, reply.value) for ask, request_key, reply in self.kept if ask.task.name == task]
