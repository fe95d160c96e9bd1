"""Deferred cognition: day plans, reflection and views of others, thought on the snapshot of an earlier tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from commonplace.character.persona import Persona
from commonplace.character.state import WARMTH
from commonplace.clock import hhmm, midnight, parse_iso
from commonplace.cognition.converse import my_talk
from commonplace.cognition.plan import adopt_day
from commonplace.cognition.remember import REFLECTION, Draftling, remember
from commonplace.cognition.retrieve import embedded
from commonplace.cognition.situation import acquaintances, fact_notes, person, places, recalled, situation, who
from commonplace.cognition.trace import asked, shown
from commonplace.cognition.turn import JobResult, JobView, Notebook, TurnView
from commonplace.memory.reflection import ReflectionTrigger, TurnTrigger
from commonplace.minds.mind import Task, ask
from commonplace.minds.notes import Recalled, Spoken, Value
from commonplace.minds.tasks import (
    INSIGHTS,
    PLAN_DAY,
    QUESTIONS,
    RELATE,
    Evidence,
    Insight,
    InsightsInput,
    PlanDayInput,
    QuestionsInput,
    RelateInput,
    Stroke,
)

# ── think ────────────────────────────────────────────────────────────────────────────────────────────────────────────


LATEST = 100
"""Memories a reflection looks at."""
FEWEST_INSIGHTS = 3
LATEST_LINES = 6
"""Memories a reflection on a talk starts from."""
OF_A_TALK = 7
"""Importance of a reflection on a talk: the sitcom document's §7.2."""


@dataclass(slots=True)
class Working:
    """What a job touches and how it came about."""

    view: JobView
    touched: set[int] = field(default_factory=set[int])
    trace: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])

    async def retrieve(self, purpose: str, query: str) -> tuple[Recalled, ...]:
        """As `cognition.retrieve`, on the snapshot."""
        scenario, now = self.view.scenario, self.view.now
        vectors = await embedded(scenario, self.ask, [query])
        found = self.view.past.retrieve(
            query, at=now, k=scenario.cognition.k, policy=scenario.policy, purpose=purpose, embedding=vectors.get(query)
        )
        self.touched.update(hit.memory.id for hit in found.hits)
        self.trace.setdefault("retrievals", []).append(shown(found))
        return recalled(self.view.scenario, (hit.memory for hit in found.hits), self.view.now)

    async def ask(self, task: Task[Any, Any], value: Value) -> Any:
        """Put a question and note it."""
        answer = await ask(task, value)
        self.trace.setdefault("asked", []).append(asked(task, value, answer))
        return answer

    def result(self, outcome: Mapping[str, Any]) -> JobResult:
        """The job's end."""
        return JobResult(self.view.job, outcome, tuple(sorted(self.touched)), self.trace)


async def think(view: JobView) -> JobResult:
    """Do one deferred job."""
    match view.job.kind:
        case "plan_day":
            return await _plan_day(Working(view))
        case "reflect" if view.scenario.cognition.reflection.every_turns:
            return await _reflect_on_talk(Working(view))
        case "reflect":
            return await _reflect(Working(view))
        case _:
            return await _relate(Working(view))


async def _plan_day(work: Working) -> JobResult:
    view = work.view
    wakes = parse_iso(view.job.about)
    found = await work.retrieve("plan_day", _day_query(view))
    given = PlanDayInput(
        who=who(view.persona),
        situation=situation(view).model_copy(update={"moment": view.job.about, "time": hhmm(wakes)}),
        wakes=hhmm(wakes),
        routine=usual_day(view),
        recalled=found,
        facts=fact_notes(view.scenario, found),
        places=places(view.scenario, view.state.belief),
        known=acquaintances(view),
        yesterday=tuple(f"{hhmm(item.start_time)} {item.action_description}" for item in view.state.plan.level("day")),
    )
    if not view.scenario.cognition.plan:
        strokes: tuple[Stroke, ...] = given.routine
    else:
        strokes = (await work.ask(PLAN_DAY, given)).value.strokes
    return work.result({"strokes": [stroke.model_dump(mode="json") for stroke in strokes]})


def _day_query(view: JobView) -> str:
    """What one means to do, whom one knows, and what is coming up."""
    known = sorted(view.state.relations.values(), key=lambda relation: (-relation.warmth, relation.other))[:3]
    called = [view.scenario.personas[relation.other].called for relation in known]
    coming = [
        text
        for fact in view.scenario.facts
        if fact.starts is not None and fact.starts.date() == parse_iso(view.job.about).date()
        for text in [fact.text.get(view.scenario.language, "")]
        if any(fact.carried_by(memory.text) for memory in view.past)
    ]
    return " ".join([*coming, *view.persona.goals, *called, "today plans"])


def usual_day(view: JobView) -> tuple[Stroke, ...]:
    """The routine as strokes: what a day is planned from, and what it falls back to."""
    routine = view.persona.routine
    last = len(routine) - 1
    strokes: list[Stroke] = []
    for index, item in enumerate(routine):
        ends = routine[index + 1].at if index < last else routine[0].at + 1440
        start = midnight(view.now) + timedelta(minutes=item.at)
        minutes = (ends - item.at) % 1440 or 1440
        strokes.append(
            Stroke(
                start=hhmm(start),
                minutes=minutes,
                location=item.place,
                do=item.do,
                routine=index,
                asleep=index == last,
                emoji=item.emoji,
            )
        )
    return tuple(strokes)


async def _reflect(work: Working) -> JobResult:
    view = work.view
    recent = recalled(view.scenario, reversed(view.past.recent(LATEST)), view.now)
    here = situation(view)
    questions = (await work.ask(QUESTIONS, QuestionsInput(who=who(view.persona), situation=here, recent=recent))).value
    evidence = [
        Evidence(question=question, recalled=await work.retrieve("reflect", question))
        for question in questions.questions[:3]
    ]
    earlier = tuple(memory.text for memory in view.past.search(kinds={"reflection"}, limit=20))
    given = InsightsInput(
        who=who(view.persona),
        situation=here,
        evidence=tuple(evidence),
        recent=recent,
        earlier=earlier,
        known=acquaintances(view),
    )
    answer = await work.ask(INSIGHTS, given)
    ids = {note.id for entry in evidence for note in entry.recalled}
    kept = accepted(answer.value.insights, ids)
    if len(kept) < FEWEST_INSIGHTS:
        kept = ()
    dropped = len(answer.value.insights) - len(kept)
    return work.result({"insights": [insight.model_dump(mode="json") for insight in kept], "dropped": dropped})


async def _reflect_on_talk(work: Working) -> JobResult:
    """One to three sentences on a dialogue, from what it brings back."""
    view = work.view
    goals = view.persona.goals
    latest = tuple(memory.text for memory in view.past.recent(LATEST_LINES))
    found = await work.retrieve("reflect", " ".join((*goals, *latest)))
    given = InsightsInput(
        who=who(view.persona),
        situation=situation(view),
        evidence=(Evidence(question=" ".join(goals), recalled=found),),
        earlier=tuple(memory.text for memory in view.past.search(kinds={"reflection"}, limit=20)),
        known=acquaintances(view),
        most=1,
    )
    answer = await work.ask(INSIGHTS, given)
    kept = accepted(answer.value.insights, {note.id for note in found})[:1]
    weighed = [insight.model_copy(update={"importance": OF_A_TALK}) for insight in kept]
    dropped = len(answer.value.insights) - len(kept)
    return work.result({"insights": [insight.model_dump(mode="json") for insight in weighed], "dropped": dropped})


def accepted(insights: Sequence[Insight], shown_ids: set[int]) -> tuple[Insight, ...]:
    """Insights that cite something, and only what was shown."""
    return tuple(insight for insight in insights if insight.because and set(insight.because) <= shown_ids)


async def _relate(work: Working) -> JobResult:
    view, other = work.view, work.view.job.about
    found = await work.retrieve("relate", view.scenario.personas[other].called)
    given = RelateInput(
        who=who(view.persona),
        situation=situation(view),
        other=person(view, other),
        lines=last_talk(view, other),
        recalled=found,
    )
    output = (await work.ask(RELATE, given)).value
    because = [memory for memory in output.because if memory in {note.id for note in found}]
    return work.result({"warmth_change": output.warmth_change, "summary": output.summary, "because": because})


def last_talk(view: JobView, other: str) -> tuple[Spoken, ...]:
    """What the two said to each other in the last simulated hour, oldest first."""
    lines: list[Spoken] = []
    for memory in reversed(view.past.recent(60)):
        frame = memory.details.get("frame", {})
        if view.now - memory.created_at > timedelta(hours=1):
            continue
        if frame.get("what") == "i_said" and frame.get("to") == other:
            lines.append(_spoken(view.persona, frame))
        elif frame.get("what") == "said" and frame.get("who") == other and frame.get("to_me"):
            lines.append(_spoken(view.scenario.personas[other], frame))
    return tuple(lines)


def _spoken(speaker: Persona, frame: Mapping[str, str]) -> Spoken:
    return Spoken(
        speaker=speaker.id, called=speaker.called, text=frame["quote"],
        speech_act=frame.get("speech_act", ""), topic=frame.get("topic", ""),
    )  # fmt: skip


# ── deliver ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Deliver: what deferred cognition came to, taken up before perceiving.


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


# ── reflect ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Reflect: ask for it when enough of importance has happened since the last time, or enough has been said.


def request_reflection(view: TurnView, notebook: Notebook) -> None:
    """A deferred job, once it is due by the scenario's trigger."""
    settings = view.scenario.cognition
    if not settings.reflect or view.world.body.asleep or view.tick < notebook.reflect_after:
        return
    if any(job.kind == "reflect" for job in notebook.jobs):
        return
    if _due(view):
        delay = max(1, view.scenario.clock.ticks(settings.deferred_minutes))
        notebook.request("reflect", view.tick, view.tick + delay)


def _due(view: TurnView) -> bool:
    reflection = view.scenario.cognition.reflection
    if reflection.every_turns:
        return TurnTrigger(reflection.every_turns).due(_turns_since_reflection(view))
    return ReflectionTrigger(reflection.threshold, reflection.strict).due(view.draft)


def _turns_since_reflection(view: TurnView) -> int:
    """Lines of the talk the character is in that fell after it last reflected."""
    talk = my_talk(view)
    last = next((memory.tick for memory in view.draft.backwards() if memory.kind == REFLECTION), -1)
    return sum(line.tick > last for line in talk.lines) if talk else 0
