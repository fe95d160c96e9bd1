"""Deliver: what deferred cognition came to, taken up before perceiving."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from commonplace.character.relation import WARMTH
from commonplace.clock import parse_iso
from commonplace.cognition.notebook import Notebook
from commonplace.cognition.plan import adopt_day
from commonplace.cognition.remember import REFLECTION, Draftling, remember
from commonplace.cognition.turn import JobResult, TurnView
from commonplace.minds.tasks import Stroke

RETRY_AFTER = timedelta(hours=1)
"""A failed reflection is tried again no sooner."""


async def deliver(view: TurnView, notebook: Notebook) -> None:
    """Take up every job that is due."""
    for result in view.delivered:
        notebook.jobs = tuple(job for job in notebook.jobs if job != result.job)
        view.draft.touch(result.touched, at=view.now)
        job = result.job
        notebook.delivered({"kind": job.kind, "about": job.about, "asked_at": job.asked_at, **(result.trace or {})})
        match job.kind:
            case "plan_day":
                strokes = [Stroke.model_validate(stroke) for stroke in result.outcome["strokes"]]
                await adopt_day(view, notebook, strokes, parse_iso(job.about))
            case "reflect":
                await _reflected(view, notebook, result)
            case _:
                _related(notebook, result)


async def _reflected(view: TurnView, notebook: Notebook, result: JobResult) -> None:
    """Insights become memories that cite what they rest on; those whose evidence was forgotten meanwhile do not."""
    insights = result.outcome["insights"]
    if not insights:
        notebook.reflect_after = view.scenario.clock.tick(view.now + RETRY_AFTER)
        return
    drafts = [
        Draftling(
            insight["text"],
            REFLECTION,
            {"what": "insight", "about": insight["about"], **insight["frame"]},
            view.now,
            view.tick,
            citations=tuple(insight["because"]),
            reason="insight",
            importance=insight["importance"],
        )
        for insight in insights
        if any(memory in view.draft for memory in insight["because"])
    ]
    memories = await remember(view, notebook, drafts, {draft.text for draft in drafts})
    if memories:
        notebook.note("REFLECTED", memory_ids=[memory.id for memory in memories])


def _related(notebook: Notebook, result: JobResult) -> None:
    relation = notebook.relations[result.job.about]
    coldest, warmest = WARMTH
    warmth = min(warmest, max(coldest, relation.warmth + int(result.outcome["warmth_change"])))
    notebook.relations[relation.other] = replace(
        relation,
        warmth=warmth,
        summary=result.outcome["summary"],
        because=tuple(result.outcome["because"]),
    )
