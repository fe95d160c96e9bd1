"""A stage from outside the package: three take turns to think aloud, and mull over what they heard.

Named `echo_stage:ECHO` in a scenario. It uses the tools of the town's turn, asks a question of its own making, and asks
for deferred cognition; `by_accident` raises when it comes to a certain tick.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.turn import JobResult, JobView, Notebook, Turn, TurnView
from commonplace.engine.stage import Stage
from commonplace.minds.mind import Task, ask
from commonplace.minds.notes import Given, Value
from commonplace.scenario.scenario import Scenario
from commonplace.world.actions import Idle
from commonplace.world.events import Foreign

ACCIDENT = 7
"""The tick at which `by_accident` fails."""


class Subject(Given):
    """What there is to think of."""

    text: str


class Thought(Value):
    """What was thought."""

    text: str


MUSE = Task("muse", Subject, Thought, lambda given: Thought(text=f"nothing about {given.text}"))


def in_rota(scenario: Scenario, tick: int) -> Sequence[str]:
    """One after the other."""
    names = sorted(scenario.personas)
    return (names[tick % len(names)],)


async def think_aloud(view: TurnView) -> Turn:
    """Take up what was mulled over, think of something, remember it."""
    notebook = Notebook(view.state)
    for result in view.delivered:
        notebook.jobs = tuple(job for job in notebook.jobs if job != result.job)
        view.draft.touch(result.touched, at=view.now)
        notebook.delivered({"kind": result.job.kind, "about": "", "asked_at": result.job.asked_at})
        notebook.notes.append(Foreign(name="MULLED", content={"text": result.outcome["text"]}))
    found = await retrieve(view, notebook, "muse", (view.persona.goals[0], "the clock"))
    answer = await notebook.ask(MUSE, Subject(text=found[0].text if found else "the weather"))
    text = f"{view.persona.name} thought {answer.value.text} at tick {view.tick}"
    memory = view.draft.remember(text, at=view.now, tick=view.tick, importance=4)
    notebook.stored(memory.id, "a thought")
    notebook.request("mull", view.tick, view.tick + 2)
    return Turn(
        tick=view.tick,
        agent=view.persona.id,
        action=Idle(doing="thinking aloud", because=tuple(note.id for note in found[:1])),
        notes=tuple(notebook.notes),
        delta=view.draft.delta,
        state=notebook.state(),
        trace=notebook.trace,
    )


async def mull(view: JobView) -> JobResult:
    """Deferred cognition, on the past as it was."""
    found = view.past.retrieve("thought", at=view.now, k=3, purpose="mull")
    answer = await ask(MUSE, Subject(text=f"{len(view.past)} memories"))
    return JobResult(view.job, {"text": answer.value.text}, tuple(sorted(hit.memory.id for hit in found.hits)))


async def by_accident(view: TurnView) -> Turn:
    """The same, with a mistake in it."""
    if view.tick == ACCIDENT:
        raise ZeroDivisionError("a mistake in a stage")
    return await think_aloud(view)


ECHO = Stage("echo", in_rota, think_aloud, mull)
ACCIDENTAL = Stage("accidental", lambda scenario, tick: sorted(scenario.personas), by_accident, mull)
