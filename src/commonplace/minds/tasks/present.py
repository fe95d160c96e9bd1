"""What a prompt says of the here and now: a memory that says the same is not shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from commonplace.minds.notes import ItemNote, Recalled, Situation
from commonplace.world.happenings import Came, Changed, Hour, Planned, Seen, Sky, Walked

DAY = 24 * 60
JUST = 30
"""Minutes for which somebody is taken to be at what they were seen doing."""


def not_present(notes: Iterable[Recalled], inputs: Any) -> list[Recalled]:
    """Returns the memories that tell more than the situation, the plan and the news in a task's input."""
    here: Situation | None = getattr(inputs, "situation", None)
    planned = {item.do for item in _plan(inputs)}
    told = {one.text for one in getattr(inputs, "news", ()) if not isinstance(one, str)}
    told |= {one.text for one in here.circumstances} if here else set()
    return [note for note in notes if note.text not in told and not _is_present(note, here, planned)]


def _plan(inputs: Any) -> Iterator[ItemNote]:
    """Yields the strokes that a prompt shows."""
    for name in ("now", "item"):
        if isinstance(item := getattr(inputs, name, None), ItemNote):
            yield item
    for name in ("done", "later"):
        yield from getattr(inputs, name, ())


def _is_present(note: Recalled, here: Situation | None, planned: set[str]) -> bool:
    happening = note.happening
    if isinstance(happening, Planned):
        return happening.do in planned
    return here is not None and _is_in_sight(note, here)


def _is_in_sight(note: Recalled, here: Situation) -> bool:
    people = {one.id for one in here.people}
    match note.happening:
        case Sky(sky=sky):
            same = sky == here.sky
        case Hour(part=part):
            same = part == here.part_of_day and note.minutes_ago < DAY
        case Changed(object=thing, state=state):
            same = any((one.id, one.state) == (thing, state) for one in here.things)
        case Came(who=who):
            same = who in people
        case Seen(who=who):
            same = who in people and note.minutes_ago <= JUST
        case Walked(place=place):
            same = place == here.place.id
        case _:
            same = False
    return same
