"""Plan: a day in broad strokes, opened into hours and actions only when their time comes.

Only a reaction changes an existing plan, and it never changes the part that is past. `agreed()` tells it what a talk
has settled for later today: the one who comes and the one who is to be found there are told the same place and time,
whatever their minds are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from commonplace.character.account import AccountRow
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
from commonplace.cognition.goals import goal_notes, met_from, place_of_thing
from commonplace.cognition.known_circumstances import known
from commonplace.cognition.perceive import befalls
from commonplace.cognition.remember import PLAN, NewMemory, remember
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import sentence, wished
from commonplace.cognition.situation import item_note, situation, things_believed, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages import weekdays
from commonplace.languages.language import language
from commonplace.minds.notes import Agreed, Hint
from commonplace.minds.tasks import PLAN_HOURS, PLAN_MINUTES, PartOut, PlanPartsInput, Stroke
from commonplace.scenario.findings import is_sleep
from commonplace.world.events import PlanChanged
from commonplace.world.happenings import ASKS_HELP, FAVOURS, Planned, Speech, happening_of

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


MOST_HEEDED = 3
"""Times a day that a plan is changed for what was said."""
READY = timedelta(minutes=90)
"""Time left between the word and the deed."""
FROM = {"visit": 17 * 60 + 30, "help": 14 * 60}
"""The minute of the day before which nobody is expected; anything else is brought in the evening."""
EVENING = 18 * 60
HALF_AN_HOUR = timedelta(minutes=30)
LASTS, STAYS = 60, 90
"""Minutes planned by the one who comes, and by the one who is to be found there."""


def agreed(view: TurnView, notebook: Notebook) -> tuple[Agreed, ...]:
    """Returns what is agreed for later today and not in the plan yet; nothing if talk has changed the plan often
    enough."""
    due = notebook.account.next_due
    if not view.tick < due <= view.scenario.clock.tick(midnight(view.now) + timedelta(days=1)):
        return ()
    notes = tuple(note for row in notebook.account.promises() for note in _notes(view, notebook, row))
    return notes if notes and heeded(view, notebook) < MOST_HEEDED else ()


def heeded(view: TurnView, notebook: Notebook) -> int:
    """Returns how often the talk of today has changed the plan so far."""
    strokes = (stroke for stroke in notebook.plan.level("day") if rests_on_talk(view, stroke.because))
    return len({stroke.because for stroke in strokes})


def rests_on_talk(view: TurnView, because: Iterable[int]) -> bool:
    """Tells whether these memories hold something that was said today."""
    found = [view.draft.get(memory) for memory in because if memory in view.draft]
    today = midnight(view.now)
    return any(memory.created_at >= today and isinstance(happening_of(memory.details), Speech) for memory in found)


def _notes(view: TurnView, notebook: Notebook, row: AccountRow) -> Iterator[Agreed]:
    comes = row.kind == "promised"
    if row.act not in FAVOURS or row.kind not in {"promised", "agreed"} or not (comes or row.act in FROM):
        return
    memory, made = row.because[-1], view.scenario.clock.time(row.tick)
    if memory not in view.draft or made < midnight(view.now) or view.scenario.clock.time(row.due).date() != made.date():
        return
    strokes = notebook.plan.level("day")
    if any(memory in stroke.because for stroke in strokes):
        return
    place, begins = _meeting(view, row, made)
    for stroke in strokes:  # in order of time: what is meant to be done then comes first
        if stroke.because and (comes or stroke.location != place) and _overlaps(stroke, begins, begins + HALF_AN_HOUR):
            begins = stroke.end_time
    ends = begins + timedelta(minutes=LASTS)
    is_known = place in view.scenario.geography.edges and view.state.belief.knows(place)
    if not is_known or begins < view.now or ends > view.scenario.clock.time(row.due):
        return
    if not comes and all(stroke.location == place for stroke in strokes if _overlaps(stroke, begins, ends)):
        return
    kind = ("call" if row.act == "visit" else row.act) if comes else f"host_{row.act}"
    called = view.scenario.personas[row.other].called
    yield Agreed(
        text=wished(view.scenario.language, kind, x=called, topic=row.named or row.topic),
        person=row.other,
        called=called,
        comes=not comes,
        place=place,
        time=hhmm(begins),
        minutes=LASTS if comes else STAYS,
        because=(*_asked(notebook, row), memory),
    )


def _asked(notebook: Notebook, row: AccountRow) -> tuple[int, ...]:
    """Returns the memory of being asked for what the character has promised."""
    asked = notebook.account.find(
        "was_asked", row.other, ASKS_HELP if row.act == "help" else f"ask.{row.act}", row.topic
    )
    return asked.because[-1:] if row.kind == "promised" and asked is not None else ()


def _meeting(view: TurnView, row: AccountRow, made: datetime) -> tuple[str, datetime]:
    """Returns where and when the two meet. Somebody who comes to the other comes to their home, or to the thing that
    needs help: at the same time for both, the next half hour that leaves time to get ready. A thing is brought to where
    the other is mostly met."""
    host = row.other if row.kind == "promised" else view.persona.id
    home = view.scenario.personas[host].home if host in view.scenario.personas else ""
    if row.act not in FROM:
        place, minute = met_from(view, host, made + READY)
        return (place, midnight(made) + timedelta(minutes=minute)) if place else (home, _half_hour(made, EVENING))
    place = place_of_thing(view, row.topic) if row.act == "help" else ""
    return place or home, _half_hour(made, FROM[row.act])


def _half_hour(made: datetime, minute: int) -> datetime:
    earliest = max(made + READY, midnight(made) + timedelta(minutes=minute))
    return earliest + (midnight(made) - earliest) % HALF_AN_HOUR


def _overlaps(stroke: PlanItem, begins: datetime, ends: datetime) -> bool:
    return stroke.start_time < ends and stroke.end_time > begins
