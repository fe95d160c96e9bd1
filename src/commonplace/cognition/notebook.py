"""What a turn writes down while it is being made: its working copy of state, and the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from commonplace.character.belief import Belief
from commonplace.character.plan import Plan
from commonplace.character.relation import Relation
from commonplace.character.state import CharacterState, Job
from commonplace.cognition.trace import asked, shown
from commonplace.memory import Retrieval
from commonplace.minds.asking import Answer, Task, ask
from commonplace.minds.notes import Value
from commonplace.world.executor import Note

I = TypeVar("I", bound=Value)  # noqa: E741
O = TypeVar("O", bound=Value)  # noqa: E741


class Notebook:
    """Lives for one turn and is thrown away; what it holds ends up in the Turn."""

    def __init__(self, state: CharacterState) -> None:
        self.belief: Belief = state.belief
        self.plan: Plan = state.plan
        self.relations: dict[str, Relation] = dict(state.relations)
        self.jobs: tuple[Job, ...] = state.jobs
        self.reflect_after = state.reflect_after
        self.played = state.played
        self.notes: list[Note] = []
        self.unrated: dict[str, list[int]] = {}
        """What waits for the mind's rating: text → the memories that say it."""
        self.trace: dict[str, Any] = {}
        self._before = state

    async def ask(self, task: Task[I, O], value: I) -> Answer[O]:
        """Put a question and note it in the trace. An unusable answer is the task's fallback, flagged."""
        answer = await ask(task, value)
        self._append("asked", asked(task, value, answer))
        return answer

    def retrieved(self, retrieval: Retrieval) -> Retrieval:
        """Note a retrieval with every part of every score."""
        self._append("retrievals", shown(retrieval))
        return retrieval

    def stored(self, memory: int, reason: str) -> None:
        """Note that something was remembered, and why."""
        self._append("stored", [memory, reason])

    def not_stored(self, text: str, reason: str) -> None:
        """Note that something was not remembered, and why."""
        self._append("dropped", [text, reason])

    def delivered(self, entry: Mapping[str, Any]) -> None:
        """Note a deferred job that arrived."""
        self._append("delivered", entry)

    def note(self, type_: str, **body: Any) -> None:
        """An event of the mind."""
        self.notes.append(Note(type_, body))

    def request(self, kind: str, tick: int, due: int, about: str = "") -> None:
        """Ask for deferred cognition."""
        number = sum(1 for job in self.jobs if job.asked_at == tick)
        self.jobs = (*self.jobs, Job(kind, tick, due, about, number))

    def state(self) -> CharacterState:
        """State at the end of the turn; the same object parts where nothing changed."""
        relations = self._before.relations if self.relations == self._before.relations else self.relations
        return CharacterState(self.plan, self.belief, relations, self.jobs, self.reflect_after, self.played)

    def _append(self, key: str, entry: Any) -> None:
        self.trace.setdefault(key, []).append(entry)
