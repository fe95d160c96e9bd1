"""Deferred cognition: day plans, reflections and views of others, made on the snapshot of an earlier tick.

A turn requests a job; the engine runs it (`run_job`) at any time until it is due; the turn at the due tick delivers the
result before it perceives. So a slow answer never holds up the tick in which it was requested.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import Any

from commonplace.character.persona import Persona
from commonplace.clock import hhmm, midnight, parse_iso
from commonplace.cognition.goals import goal_notes, wish_for
from commonplace.cognition.known_circumstances import known, off
from commonplace.cognition.past import own_past, whole_past
from commonplace.cognition.plan import adopt_day
from commonplace.cognition.react import SMALL
from commonplace.cognition.relations import warmed
from commonplace.cognition.remember import REFLECTION, NewMemory, remember
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.situation import acquaintances, fact_notes, person, places, recalled, situation, who
from commonplace.cognition.turn import JobNotebook, JobResult, JobView, Notebook, TurnView
from commonplace.memory.record import Memory
from commonplace.memory.reflection import ReflectionTrigger
from commonplace.minds.mind import Unless
from commonplace.minds.notes import Spoken, changed
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
from commonplace.minds.tasks.offers import memory_ids
from commonplace.minds.tasks.reflect import INSIGHTS_ASKED
from commonplace.text import words
from commonplace.world.area import SILENCE
from commonplace.world.events import Reflected
from commonplace.world.happenings import ISaid, Said, Speech, happening_of

LATEST = 100
"""Memories a reflection looks at."""
MOST_OF_TALK = 60
"""Memories among which the lines of a talk are looked for."""
EARLIER = timedelta(days=3)
"""How long a thought is not had again: for good, and a character that knows its town would soon conclude nothing."""
MOST_EARLIER = 20
RESTATED = 0.7
"""Share of its words that an insight may have from one memory it cites."""

Outcome = dict[str, Any]
"""The result of a job as JSON: `strokes`, `insights` and `dropped`, or the change of a relation."""


async def run_job(view: JobView) -> JobResult:
    """Does one deferred job."""
    notebook = JobNotebook()
    outcome = await JOBS[view.job.kind].think(view, notebook)
    return JobResult(view.job, outcome, tuple(sorted(notebook.touched)), notebook.trace)


async def deliver(view: TurnView, notebook: Notebook) -> None:
    """Applies the result of every job that is due."""
    for result in view.delivered:
        notebook.jobs = tuple(job for job in notebook.jobs if job != result.job)
        view.draft.touch(result.touched, at=view.now)
        job = result.job
        entry = {"kind": job.kind, "about": job.about, "asked_at": job.asked_at}
        notebook.delivered({**entry, **(result.trace or {})})
        await JOBS[job.kind].take_up(view, notebook, result)


# ── day plans (requested by `plan.request_day`, adopted by `plan.adopt_day`) ─────────────────────────────────────────


async def _plan_day(view: JobView, notebook: JobNotebook) -> Outcome:
    wakes = parse_iso(view.job.about)
    found = await retrieve(view, notebook, "plan_day", [_day_query(view)])
    so = known(view)
    inputs = PlanDayInput(
        who=who(view.persona),
        situation=changed(situation(view), moment=view.job.about, time=hhmm(wakes)),
        wakes=hhmm(wakes),
        routine=usual_day(view),
        recalled=found,
        facts=fact_notes(view.scenario, found, off(so, view.persona.id)),
        places=places(view.scenario, view.state.belief),
        known=acquaintances(view),
        yesterday=tuple(f"{hhmm(item.start_time)} {item.action_description}" for item in view.state.plan.level("day")),
        past=own_past(view, view.state.account),
        goals=goal_notes(view, view.state.goals.open(), seek=True),
        so=so,
    )
    if not view.scenario.cognition.plan:
        strokes: tuple[Stroke, ...] = inputs.routine
    else:
        strokes = (await notebook.ask(PLAN_DAY, inputs)).value.strokes
    return {"strokes": [stroke.model_dump(mode="json") for stroke in strokes]}


async def _deliver_day(view: TurnView, notebook: Notebook, result: JobResult) -> None:
    strokes = [Stroke.model_validate(stroke) for stroke in result.outcome["strokes"]]
    await adopt_day(view, notebook, strokes, parse_iso(result.job.about))


def _day_query(view: JobView) -> str:
    """Returns the query for a day: goals, the closest acquaintances, and facts about that day."""
    known = sorted(view.state.relations.values(), key=lambda relation: (-relation.warmth, relation.other))[:3]
    called = [view.scenario.personas[relation.other].called for relation in known]
    coming = [
        text
        for fact in view.scenario.facts
        if fact.starts is not None and fact.starts.date() == parse_iso(view.job.about).date()
        for text in [fact.text.get(view.scenario.language, "")]
        if view.past.earliest(fact.carried_by)
    ]
    return " ".join([*coming, *view.persona.goals, *called, "today plans"])


def usual_day(view: JobView) -> tuple[Stroke, ...]:
    """Returns the routine as strokes: a day is planned from it, and falls back to it."""
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


# ── reflection ───────────────────────────────────────────────────────────────────────────────────────────────────────


def request_reflection(view: TurnView, notebook: Notebook) -> None:
    """Requests a reflection if enough of importance has happened since the last one.

    The last one counts whatever it yielded: a character that found nothing new waits until more has happened.
    """
    settings = view.scenario.cognition
    if not settings.reflect or view.world.body.asleep:
        return
    if any(job.kind == "reflect" for job in notebook.jobs):
        return
    if _due(view, notebook.reflected):
        delay = max(1, view.scenario.clock.ticks(settings.deferred_minutes))
        notebook.request("reflect", view.tick, view.tick + delay)


def _due(view: TurnView, reflected: int) -> bool:
    reflection = view.scenario.cognition.reflection
    trigger = ReflectionTrigger(reflection.threshold, reflection.strict)
    if not trigger.due(view.draft):
        return False
    return not reflected or trigger.reached(view.draft.importance_since(view.scenario.clock.time(reflected)))


async def _reflect(view: JobView, notebook: JobNotebook) -> Outcome:
    """Returns insights into the questions that the latest memories raise."""
    recent = recalled(view.scenario, reversed([*islice(view.past.backwards(), LATEST)]), view.now)
    here = situation(view)
    about_recent = QuestionsInput(who=who(view.persona), situation=here, recent=recent)
    questions = (await notebook.ask(QUESTIONS, about_recent)).value.questions
    evidence = [
        Evidence(question=question, recalled=await retrieve(view, notebook, "reflect", [question]))
        for question in questions
    ]
    inputs = InsightsInput(
        who=who(view.persona),
        situation=here,
        evidence=tuple(evidence),
        recent=recent,
        earlier=_thought_lately(view),
        known=acquaintances(view),
        past=whole_past(view, view.state.account),
    )
    answer = await notebook.ask(INSIGHTS, inputs)
    texts = {id_: view.past.get(id_).text for one in answer.value.insights for id_ in one.because if id_ in view.past}
    kept = accepted(answer.value.insights, frozenset(memory_ids(inputs)), texts)
    dropped = len(answer.value.insights) - len(kept)
    return {"insights": [insight.model_dump(mode="json") for insight in kept], "dropped": dropped}


def _thought_lately(view: JobView) -> tuple[str, ...]:
    """Returns the thoughts that are too recent to be thought again. Older ones may come again, from what has happened
    since."""
    thoughts = view.past.search(kinds={REFLECTION}, limit=MOST_EARLIER)
    return tuple(memory.text for memory in thoughts if memory.created_at > view.now - EARLIER)


def accepted(insights: Sequence[Insight], shown_ids: Collection[int], texts: Mapping[int, str]) -> tuple[Insight, ...]:
    """Returns the insights that cite something, cite only memories that were shown, and restate none of them."""
    return tuple(
        insight
        for insight in insights
        if insight.because
        and all(memory in shown_ids for memory in insight.because)
        and not any(_restates(insight.text, texts.get(memory, "")) for memory in insight.because)
    )


def _restates(text: str, cited: str) -> bool:
    """Tells whether most words of a thought stand in one memory, such as one of hearing a similar thought."""
    own = frozenset(words(text))
    return len(own.intersection(words(cited))) > RESTATED * len(own)


async def _deliver_insights(view: TurnView, notebook: Notebook, result: JobResult) -> None:
    """Turns insights into memories that cite what they rest on, unless all of that was forgotten meanwhile."""
    notebook.reflected = view.tick
    drafts = [
        NewMemory(
            insight["text"],
            REFLECTION,
            happening_of({"frame": {"what": "insight", "about": insight["about"], **insight["frame"]}}),
            view.now,
            citations=tuple(insight["because"]),
            reason="insight",
            importance=insight["importance"],
        )
        for insight in result.outcome["insights"]
        if any(memory in view.draft for memory in insight["because"])
    ]
    # where requests are merged, the answer holds the ratings: one that it leaves out is the rules'
    unrated = () if view.scenario.cognition.requests == "merged" else {draft.text for draft in drafts}
    memories = await remember(view, notebook, drafts, unrated)
    wish_for(view, notebook, memories)
    made = tuple(memory.id for memory in memories)
    notebook.notes.append(Reflected(memory_ids=made, lacking=INSIGHTS_ASKED - len(made)))


# ── views of others ──────────────────────────────────────────────────────────────────────────────────────────────────


def request_relate(view: TurnView, notebook: Notebook) -> None:
    """Requests a new view of the others of a talk when it is over."""
    talk = view.world.talk
    delay = max(1, view.scenario.clock.ticks(view.scenario.cognition.deferred_minutes))
    for other, relation in sorted(notebook.relations.items()):  # as they are after a resume
        if relation.last_talk <= relation.weighed or view.tick - relation.last_talk <= SILENCE:
            continue
        if talk is not None and other in talk.members:
            continue
        notebook.relations[other] = replace(relation, weighed=view.tick, talks=relation.talks + 1)
        notebook.request("relate", view.tick, view.tick + delay, other)


async def _relate(view: JobView, notebook: JobNotebook) -> Outcome:
    other = view.job.about
    found = await retrieve(view, notebook, "relate", [view.scenario.personas[other].called])
    talk = _last_talk(view, other)
    inputs = RelateInput(
        who=who(view.persona),
        situation=situation(view),
        other=person(view, other),
        lines=tuple(line for _, line in talk),
        recalled=found,
    )
    output = (await notebook.ask(RELATE, inputs, _gate(view, talk))).value
    because = [memory for memory in output.because if memory in {note.id for note in found}]
    return {"warmth_change": output.warmth_change, "summary": output.summary, "because": because}


def _gate(view: JobView, talk: Iterable[tuple[Memory, Spoken]]) -> Unless[RelateInput] | None:
    """Returns the rules that may answer in place of the mind; None if a line weighs more than a little or was news to
    the character."""
    heavy = any(memory.importance > SMALL for memory, _ in talk)
    if heavy or not view.scenario.cognition.has_gate:
        return None
    learned = {view.past.earliest(fact.carried_by) for fact in view.scenario.facts}
    if any(memory.id in learned for memory, _ in talk):
        return None
    from commonplace.minds.offline.gate import only_small_talk  # noqa: PLC0415 – start-up speed

    return only_small_talk


def _last_talk(view: JobView, other: str) -> list[tuple[Memory, Spoken]]:
    """Returns the lines that the two exchanged in the last simulated hour, oldest first."""
    lines: list[tuple[Memory, Spoken]] = []
    for memory in reversed([*islice(view.past.backwards(), MOST_OF_TALK)]):
        if view.now - memory.created_at > timedelta(hours=1):
            continue
        match happening_of(memory.details):
            case ISaid(to=to) as said if to == other:
                lines.append((memory, _spoken(view.persona, said)))
            case Said(who=speaker, to_me="1") as said if speaker == other:
                lines.append((memory, _spoken(view.scenario.personas[other], said)))
            case _:
                pass
    return lines


def _spoken(speaker: Persona, line: Speech) -> Spoken:
    return Spoken(
        speaker=speaker.id, called=speaker.called, text=line.quote, speech_act=line.speech_act, topic=line.topic
    )


async def _deliver_relation(view: TurnView, notebook: Notebook, result: JobResult) -> None:  # noqa: ARG001 – one signature
    relation = notebook.relations[result.job.about]
    notebook.relations[relation.other] = replace(
        warmed(relation, int(result.outcome["warmth_change"])),
        summary=result.outcome["summary"],
        because=tuple(result.outcome["because"]),
    )


# ── the jobs there are ───────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of job."""

    think: Callable[[JobView, JobNotebook], Awaitable[Outcome]]
    """On the snapshot."""
    take_up: Callable[[TurnView, Notebook, JobResult], Awaitable[None]]
    """In the turn at which it is due."""


JOBS: Mapping[str, _Kind] = {
    "plan_day": _Kind(_plan_day, _deliver_day),
    "reflect": _Kind(_reflect, _deliver_insights),
    "relate": _Kind(_relate, _deliver_relation),
}
"""By `Job.kind`; a new one needs a line here and a `request_…` that `town_turn` calls."""
