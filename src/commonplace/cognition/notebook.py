"""What a turn writes down while it is being made: its working copy of state, and the trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from commonplace.character.belief import Belief
from commonplace.character.plan import Plan, PlanItem
from commonplace.character.relation import Relation
from commonplace.character.state import CharacterState, Job
from commonplace.clock import iso
from commonplace.memory.retrieval import Retrieval
from commonplace.minds.tasks import Answer, Task, Value, ask
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
        self.notes: list[Note] = []
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

    def stored(self, *, kind: str, text: str, importance: float, memory: int, reason: str) -> None:
        """Note that something was remembered, or was not (memory 0), and why."""
        self._append(
            "stored",
            {
                "kind": kind,
                "text": text,
                "importance": importance,
                "stored": memory > 0,
                "reason": reason,
                "memory": memory,
            },
        )

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
        return CharacterState(self.plan, self.belief, relations, self.jobs, self.reflect_after)

    def _append(self, key: str, entry: Mapping[str, Any]) -> None:
        self.trace.setdefault(key, []).append(entry)


def asked(task: Task[I, O], value: I, answer: Answer[O]) -> dict[str, Any]:
    """A question as the trace keeps it; the answer itself stands in the journal."""
    return {
        "ordinal": answer.number,
        "task": task.name,
        "outcome": answer.outcome,
        "input": value.model_dump_json(exclude_defaults=True),
    }


def shown(retrieval: Retrieval) -> dict[str, Any]:
    """A retrieval as the trace keeps it."""
    weights = {name: part.weight for name, part in retrieval.hits[0].parts.items()} if retrieval.hits else {}
    return {
        "purpose": retrieval.purpose,
        "query": retrieval.query,
        "policy": retrieval.policy.name,
        "k": retrieval.k,
        "candidates": retrieval.candidates,
        "weights": weights,
        "hits": [
            [hit.memory.id, hit.score, {name: [part.raw, part.normalised] for name, part in hit.parts.items()}]
            for hit in retrieval.hits
        ],
    }


def item_shown(item: PlanItem) -> dict[str, Any]:
    """A plan item as JSON."""
    return {
        "id": item.id,
        "level": item.level,
        "parent": item.parent,
        "start_time": iso(item.start_time),
        "duration_minutes": item.duration_minutes,
        "location": item.location,
        "action_description": item.action_description,
        "object_id": item.object_id,
        "verb": item.verb,
        "emoji": item.emoji,
        "because": list(item.because),
    }
