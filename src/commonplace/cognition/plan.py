"""Plan: a day in broad strokes, opened into hours and actions only when their time comes.

Only a reaction changes an existing plan, and it never changes the part that is past.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from commonplace.character.plan import (
    Plan,
    PlanItem,
    PlanPart,
    next_number,
    opened,
    reopened,
    rest_of,
    tiled,
    with_stroke,
)
from commonplace.character.state import Belief
from commonplace.clock import hhmm, iso, midnight
from commonplace.cognition.goals import goal_notes
from commonplace.cognition.known_circumstances import known
from commonplace.cognition.perceive import befalls
from commonplace.cognition.remember import PLAN, NewMemory, remember
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import sentence
from commonplace.cognition.situation import item_note, situation, things_believed, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages import weekdays
from commonplace.languages.language import language
from commonplace.minds.notes import Hint
from commonplace.minds.tasks import PLAN_HOURS, PLAN_MINUTES, PartOut, PlanPartsInput, Stroke
from commonplace.scenario.findings import is_sleep
from commonplace.world.events import PlanChanged
from commonplace.world.happenings import Planned

HOUR = 60
LONGEST_DAY = timedelta(hours=30)


async def current_item(view: TurnView, notebook: Notebook) -> PlanItem | None:
    """Returns the plan item for now, its hour and actions opened if their time has come."""
    stroke = notebook.plan.at(view.now, "day")
    if stroke is None or stroke.asleep:
        return stroke
    hour = notebook.plan.at(view.now, "hour") or await _open_hours(view, notebook, stroke)
    return notebook.plan.at(view.now, "action") or await _open_minutes(view, notebook, hour)


async def _open_hours(view: TurnView, notebook: Notebook, stroke: PlanItem) -> PlanItem:
    parts: list[PlanPart] = []
    if stroke.duration_minutes > HOUR:
        hints = _hour_hints(view, stroke)
        proposed = await _parts(view, notebook, stroke, hints, hours=True)
        parts = [_part(view, part, stroke.duration_minutes) for part in proposed]
    children = _inside(view, notebook, stroke, parts)
    notebook.plan = opened(notebook.plan, children)
    if len(children) > 1:
        await remember(view, notebook, [plan_memory(view, child, "hour") for child in children])
    return next(child for child in children if child.covers(view.now))


async def _open_minutes(view: TurnView, notebook: Notebook, hour: PlanItem) -> PlanItem:
    proposed = await _parts(view, notebook, hour, _minute_hints(view, hour), hours=False)
    children = _inside(view, notebook, hour, [_part(view, part, 15) for part in proposed])
    notebook.plan = opened(notebook.plan, children)
    return next(child for child in children if child.covers(view.now))


def _inside(view: TurnView, notebook: Notebook, item: PlanItem, parts: Sequence[PlanPart]) -> tuple[PlanItem, ...]:
    """Returns an item's children; if it is opened again, those from now on, numbered after the earlier ones."""
    again = bool(notebook.plan.children(item.id))
    rest, first = rest_of(notebook.plan, item, view.now) if again else (item, 0)
    return tiled(rest, parts, view.scenario.clock.tick_minutes, first)


async def _parts(
    view: TurnView, notebook: Notebook, item: PlanItem, hints: tuple[Hint, ...], *, hours: bool
) -> tuple[PartOut, ...]:
    """Returns the mind's parts of an item. If requests are merged, a routine that nothing has upset is used as it
    is."""
    merged = view.scenario.cognition.requests == "merged"
    reused = merged and bool(hints) and not notebook.plan.children(item.id)
    task = PLAN_HOURS if hours else PLAN_MINUTES
    node = view.scenario.geography.nodes[item.location]
    found = () if reused else await retrieve(view, notebook, "plan", (item.action_description, node.name))
    inputs = PlanPartsInput(
        who=who(view.persona),
        situation=situation(view),
        item=item_note(view.scenario, item),
        hints=hints,
        recalled=found,
        things=things_believed(view.scenario, notebook.belief, item.location, view.persona.id),
        company=tuple(view.scenario.personas[other].called for other in sorted(view.world.bodies)),
        goals=goal_notes(view, (goal for goal in notebook.goals.open() if goal.object)),
        so=tuple(note for note in known(view) if note.subject in ("thing", "place", "town") and note.holds),
    )
    if reused:
        return task.fallback(inputs).parts
    return (await notebook.ask(task, inputs)).value.parts


def _part(view: TurnView, part: PartOut, longest: int) -> PlanPart:
    """Returns a mind's part; its place and object are kept only if they exist."""
    nodes = view.scenario.geography.nodes
    place = part.location if part.location in view.scenario.geography.edges else ""
    has_object = part.object_id in nodes and part.verb != ""
    return PlanPart(
        minutes=min(part.minutes, longest),
        action_description=part.do,
        location=place,
        object_id=part.object_id if has_object else "",
        verb=part.verb if has_object else "",
        emoji=part.emoji,
    )


def _hour_hints(view: TurnView, stroke: PlanItem) -> tuple[Hint, ...]:
    if stroke.routine < 0:
        return ()
    return tuple(Hint(do=phase.do) for phase in view.persona.routine[stroke.routine].phases)


def _minute_hints(view: TurnView, hour: PlanItem) -> tuple[Hint, ...]:
    """Returns the steps of the phase that the hour follows; of the whole routine item if it follows none."""
    if hour.routine < 0:
        return ()
    phases = view.persona.routine[hour.routine].phases
    matching = [phase for phase in phases if phase.do == hour.action_description] or phases
    return tuple(
        Hint(do=step.do, object_id=step.object_id, verb=step.verb, emoji=step.emoji)
        for phase in matching
        for step in phase.steps
    )


async def add_stroke(view: TurnView, notebook: Notebook, stroke: Stroke, reason: str) -> bool:
    """Puts a new stroke into the plan from now on. Returns false if it would begin after the end of the day."""
    grain = view.scenario.clock.tick_minutes
    start = max(view.now, rounded(at_time(view.now, stroke.start), grain))
    ends = max((item.end_time for item in notebook.plan.level("day")), default=start)
    if start >= ends:
        return False
    room = int((ends - start).total_seconds() // 60)
    minutes = min(max(grain, stroke.minutes // grain * grain), room)
    number = f"{notebook.plan.day}.{next_number(notebook.plan)}"
    item = stroke_item(view, stroke, number, start, minutes, notebook.belief)
    notebook.plan = with_stroke(notebook.plan, item)
    _changed(view, notebook, reason)
    await remember(view, notebook, [plan_memory(view, item, "new_plan")])
    return True


BEFALLS_MINUTES, SLEEP_MINUTES = 60, 120
"""How long it lasts what a sentence from outside makes a character do, and how long a sleep."""


async def struck(view: TurnView, notebook: Notebook) -> None:
    """Puts the action that a sentence from outside causes before the plan, whatever the character's mind thinks of
    it."""
    doing = befalls(view)
    if not doing:
        return
    asleep = is_sleep(doing, view.scenario.language)
    stroke = Stroke(
        start=hhmm(view.now),
        minutes=SLEEP_MINUTES if asleep else BEFALLS_MINUTES,
        location=view.world.area,
        do=doing,
        asleep=asleep,
    )
    await add_stroke(view, notebook, stroke, doing)


def reopen(view: TurnView, notebook: Notebook, reason: str) -> None:
    """Opens the hours and actions again from now on; the strokes stay."""
    notebook.plan = reopened(notebook.plan, view.now)
    _changed(view, notebook, reason)


def _changed(view: TurnView, notebook: Notebook, reason: str) -> None:
    notebook.notes.append(PlanChanged(reason=reason, from_time=iso(view.now)))


def request_day(view: TurnView, notebook: Notebook) -> None:
    """Requests the next day's plan `deferred_minutes` before waking; at once if that moment has passed."""
    if any(job.kind == "plan_day" for job in notebook.jobs):
        return
    clock = view.scenario.clock
    delay = max(1, clock.ticks(view.scenario.cognition.deferred_minutes))
    then, strokes = clock.time(view.tick + delay), notebook.plan.level("day")
    if strokes and strokes[-1].end_time > then:  # the day goes on, as nearly always
        return
    wakes = next_waking(view, notebook.plan)
    if then >= wakes:
        notebook.request("plan_day", view.tick, max(clock.tick(wakes), view.tick + delay), iso(wakes))


def next_waking(view: TurnView, plan: Plan) -> datetime:
    """Returns when the next day plan begins: at the end of this one; without a plan, or after an absence, at today's
    waking."""
    today = midnight(view.now) + timedelta(minutes=view.persona.wakes)
    strokes = plan.level("day")
    return strokes[-1].end_time if strokes and strokes[-1].end_time > today - timedelta(days=1) else today


async def adopt_day(view: TurnView, notebook: Notebook, strokes: Sequence[Stroke], wakes: datetime) -> None:
    """Makes the delivered day the plan, and each of its strokes a memory."""
    notebook.plan = day_from_strokes(view, strokes, wakes)
    notebook.trace["plan_day"] = [stroke.model_dump(mode="json", exclude_defaults=True) for stroke in strokes]
    await remember(view, notebook, [plan_memory(view, item) for item in notebook.plan.level("day")])


def day_from_strokes(view: TurnView, strokes: Sequence[Stroke], wakes: datetime) -> Plan:
    """Returns strokes as items without gaps from now to the next waking. Those that are over are left out; an unknown
    place becomes the home."""
    grain = view.scenario.clock.tick_minutes
    day = (wakes.date() - view.scenario.clock.start.date()).days
    ends = midnight(wakes) + timedelta(days=1, minutes=view.persona.wakes)
    starts = _starts(strokes, wakes, grain)
    begun = max((number for number, start in enumerate(starts) if start <= view.now), default=0)
    strokes, starts = strokes[begun:], [view.now, *starts[begun + 1 :]]
    items: list[PlanItem] = []
    for number, (stroke, start) in enumerate(zip(strokes, starts, strict=True)):
        end = starts[number + 1] if number + 1 < len(starts) else max(ends, start + timedelta(minutes=grain))
        minutes = int((end - start).total_seconds() // 60)
        if minutes > 0:
            items.append(stroke_item(view, stroke, f"{day}.{number}", start, minutes))
    return Plan(day, tuple(items))


def _starts(strokes: Sequence[Stroke], wakes: datetime, grain: int) -> list[datetime]:
    """Returns the start times in order: rounded to the tick, past midnight if they fall back, and never before the
    previous one."""
    starts: list[datetime] = []
    latest = midnight(wakes) + LONGEST_DAY
    for stroke in strokes:
        start = rounded(at_time(wakes, stroke.start), grain)
        if starts and start < starts[-1] - timedelta(hours=6):
            start += timedelta(days=1)
        starts.append(min(latest, max(start, starts[-1] + timedelta(minutes=grain))) if starts else start)
    return starts


def at_time(day: datetime, time: str) -> datetime:
    """Returns the moment of a time such as `19:05` on the day of a moment; for any other text, the moment itself."""
    hours, _, minutes = time.partition(":")
    if not (hours.isdigit() and minutes.isdigit() and int(hours) < 24 and int(minutes) < 60):
        return day
    return midnight(day) + timedelta(hours=int(hours), minutes=int(minutes))


def rounded(moment: datetime, grain: int) -> datetime:
    """Returns a moment rounded down to a whole tick of the day."""
    minutes = int((moment - midnight(moment)).total_seconds() // 60)
    return midnight(moment) + timedelta(minutes=minutes // grain * grain)


def stroke_item(
    view: TurnView, stroke: Stroke, item_id: str, start: datetime, minutes: int, belief: Belief | None = None
) -> PlanItem:  # fmt: skip
    """Returns a mind's stroke as a plan item. Citations are kept if the memories exist, and its place if it is known in
    this turn's `belief`, or was before."""
    known = (belief or view.state.belief).knows(stroke.location) and stroke.location in view.scenario.geography.edges
    return PlanItem(
        id=item_id,
        level="day",
        parent="",
        start_time=start,
        duration_minutes=minutes,
        location=stroke.location if known else view.persona.home,
        action_description=stroke.do,
        emoji=stroke.emoji,
        because=tuple(memory for memory in stroke.because if memory in view.draft),
        asleep=stroke.asleep,
        routine=stroke.routine if stroke.routine < len(view.persona.routine) else -1,
        event=stroke.event,
    )


def plan_memory(view: TurnView, item: PlanItem, kind: str = "plan") -> NewMemory:
    """Returns a memory of having planned an item."""
    node = view.scenario.geography.nodes[item.location]
    planned = Planned(
        start=hhmm(item.start_time),
        place=item.location,
        do=item.action_description,
        level=item.level,
        decided="1" if kind == "new_plan" else "",
    )
    text = sentence(
        view.scenario.language,
        kind,
        name=view.persona.name,
        doing=item.action_description,
        place_name=language(view.scenario.language).the(node.name),
        start=hhmm(item.start_time),
        end=hhmm(item.end_time),
        weekday=weekdays(view.scenario.language)[item.start_time.weekday()],
    )
    return NewMemory(text, PLAN, planned, view.now, citations=item.because, tags=(item.level,), reason="planned")
