"""What a talk has settled for later today, and how often a day what was said changes the plan.

A promise that is due today is planned for at once by the two whom it concerns: by the one who comes, and by the one who
is to be found there. Both are told the same place and time, whatever their minds are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from commonplace.character.account import AccountRow
from commonplace.character.plan import PlanItem
from commonplace.clock import hhmm, midnight
from commonplace.cognition.goals import met_from, place_of_thing
from commonplace.cognition.sentences import wished
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.minds.notes import Agreed
from commonplace.world.acts import ASKS_HELP, FAVOURS
from commonplace.world.happenings import Speech, happening_of

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
