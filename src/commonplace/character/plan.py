"""A day's plan: broad strokes, opened into hours and then into actions, each level tiling its parent.

Everything here is a pure function of plans, and never changes the part of a plan that is past.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache

LEVELS = ("day", "hour", "action")
CHILD_LEVEL = {"day": "hour", "hour": "action"}
ACTION_MINUTES = (5, 15)
"""Shortest and longest action, in minutes."""


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One stretch of a plan. `location` is an area id; `because` are ids of memories it rests on."""

    id: str
    """`0.3` is a stroke of day 0, `0.3.1` an hour of it, `0.3.1.2` an action."""
    level: str
    parent: str
    start_time: datetime
    duration_minutes: int
    location: str
    action_description: str
    object_id: str = ""
    verb: str = ""
    emoji: str = ""
    because: tuple[int, ...] = ()
    asleep: bool = False
    routine: int = -1
    """Index of the routine item a stroke follows, handed down to its parts; −1 for something new."""
    event: str = ""
    """What the event it leads to is called, in a word: `the festival`; empty where it leads to none."""
    end_time: datetime = field(init=False, compare=False, repr=False)
    """Derived: the moment after its last minute."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "end_time", self.start_time + timedelta(minutes=self.duration_minutes))

    def covers(self, moment: datetime) -> bool:
        """Tells whether the item covers the moment: its start is included, its end is not."""
        return self.start_time <= moment < self.end_time


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A stretch before it has a place in time: what a mind proposes for the inside of an item."""

    minutes: int
    action_description: str
    location: str = ""
    """Empty: the parent's."""
    object_id: str = ""
    verb: str = ""
    emoji: str = ""
    event: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """All items of one day, in order of id. The empty plan has no items."""

    day: int = -1
    items: tuple[PlanItem, ...] = ()
    _levels: Mapping[str, tuple[PlanItem, ...]] = field(init=False, compare=False, repr=False)
    _starts: Mapping[str, tuple[datetime, ...]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        levels: dict[str, list[PlanItem]] = {level: [] for level in LEVELS}
        for item in self.items:
            levels[item.level].append(item)
        in_time = {level: tuple(sorted(items, key=lambda item: item.start_time)) for level, items in levels.items()}
        object.__setattr__(self, "_levels", in_time)
        starts = {level: tuple([item.start_time for item in items]) for level, items in in_time.items()}
        object.__setattr__(self, "_starts", starts)

    def level(self, level: str) -> tuple[PlanItem, ...]:
        """Returns the items of one level, in order of time."""
        return self._levels[level]

    def at(self, moment: datetime, level: str) -> PlanItem | None:
        """Returns the item of a level that covers the moment."""
        index = bisect_right(self._starts[level], moment) - 1
        item = self._levels[level][index] if index >= 0 else None
        return item if item is not None and moment < item.end_time else None

    def current(self, moment: datetime) -> PlanItem | None:
        """Returns the deepest opened item that covers the moment."""
        for level in reversed(LEVELS):
            item = self.at(moment, level)
            if item is not None:
                return item
        return None

    def item(self, item_id: str) -> PlanItem | None:
        """Returns the item with this id."""
        return next((item for item in self.items if item.id == item_id), None)

    def children(self, item_id: str) -> tuple[PlanItem, ...]:
        """Returns the items directly inside it, in order of time."""
        return tuple(item for item in self.items if item.parent == item_id)


def tiled(parent: PlanItem, parts: Sequence[PlanPart], grain: int, first: int = 0) -> tuple[PlanItem, ...]:
    """Returns the parts as children that cover the parent without gap or overlap, numbered from `first`.

    Durations are whole multiples of `grain` minutes, scaled to fit; actions are kept within 5–15 minutes where the
    grain allows, by repeating the list or cutting it. Without parts the parent itself is the only part.
    """
    level = CHILD_LEVEL[parent.level]
    parts = parts or (_whole(parent),)
    lengths = _action_lengths if level == "action" else _scaled
    items: list[PlanItem] = []
    start = parent.start_time
    for number, (part, minutes) in enumerate(lengths(parts, parent.duration_minutes, grain)):
        items.append(_child(parent, part, first + number, start, minutes))
        start = items[-1].end_time
    return tuple(items)


def _whole(parent: PlanItem) -> PlanPart:
    do = parent.action_description
    return PlanPart(parent.duration_minutes, do, object_id=parent.object_id, verb=parent.verb, event=parent.event)


def _child(parent: PlanItem, part: PlanPart, number: int, start: datetime, minutes: int) -> PlanItem:
    return PlanItem(
        id=f"{parent.id}.{number}",
        level=CHILD_LEVEL[parent.level],
        parent=parent.id,
        start_time=start,
        duration_minutes=minutes,
        location=part.location or parent.location,
        action_description=part.action_description,
        object_id=part.object_id,
        verb=part.verb,
        emoji=part.emoji or parent.emoji,
        because=parent.because,
        asleep=parent.asleep,
        routine=parent.routine,
        event=part.event,
    )


def _scaled(parts: Sequence[PlanPart], total: int, grain: int) -> list[tuple[PlanPart, int]]:
    """Gives each part its share of the total in whole grains, at least one; the last part takes the rounding."""
    slots = max(1, total // grain)
    parts = parts[:slots]
    asked = sum(max(1, part.minutes) for part in parts)
    sized: list[tuple[PlanPart, int]] = []
    begun = 0
    reached = 0
    for index, part in enumerate(parts):
        reached += max(1, part.minutes)
        left = len(parts) - index - 1
        end = slots if not left else min(max(begun + 1, reached * slots // asked), slots - left)
        sized.append((part, (end - begun) * grain))
        begun = end
    part, minutes = sized[-1]
    sized[-1] = (part, minutes + total - slots * grain) if total >= grain else (part, total)
    return sized


def _action_lengths(parts: Sequence[PlanPart], total: int, grain: int) -> list[tuple[PlanPart, int]]:
    """Returns the parts one after another, each clamped to 5–15 minutes; they repeat if they do not fill the time."""
    shortest, longest = (max(grain, bound // grain * grain) for bound in ACTION_MINUTES)
    sized: list[tuple[PlanPart, int]] = []
    left = total
    while left > 0:
        part = parts[len(sized) % len(parts)]
        minutes = min(max(part.minutes // grain * grain, shortest), longest, left)
        if 0 < left - minutes < shortest and left <= longest:
            minutes = left
        sized.append((part, minutes))
        left -= minutes
    return sized


def opened(plan: Plan, children: Sequence[PlanItem]) -> Plan:
    """Returns the plan with an item's children added; no other children of it may cover their time."""
    return replace(plan, items=tuple(sorted((*plan.items, *children), key=_order)))


def with_stroke(plan: Plan, stroke: PlanItem) -> Plan:
    """Returns the plan with one new stroke; the strokes it overlaps give way, everything else stays as it is.

    A stroke that began earlier ends where the new one begins, together with its opened parts; the rest of it afterwards
    becomes a stroke of its own. Nothing else before the new stroke changes.
    """
    begin, end = stroke.start_time, stroke.end_time
    giving_way = [item for item in plan.level("day") if item.start_time < end and item.end_time > begin]
    ids = {item.id for item in giving_way}
    kept = [item for item in plan.items if stroke_id(item) not in ids]
    kept += [_cut(item, begin) for item in plan.items if stroke_id(item) in ids and item.start_time < begin]
    rest = [piece for item in giving_way for piece in _piece(item, end, item.end_time)]
    number = next_number(plan)
    new = [replace(item, id=f"{plan.day}.{number + index}") for index, item in enumerate((stroke, *rest))]
    return replace(plan, items=tuple(sorted((*kept, *new), key=_order)))


def without_stroke(plan: Plan, stroke: PlanItem) -> Plan:
    """Returns the plan without a stroke that has not been opened: the stroke before it goes on until its end."""
    before = next((item for item in plan.level("day") if item.end_time == stroke.start_time), None)
    if before is None or plan.children(stroke.id):
        return plan
    longer = replace(before, duration_minutes=before.duration_minutes + stroke.duration_minutes)
    items = (longer if item is before else item for item in plan.items if item is not stroke)
    return replace(plan, items=tuple(sorted(items, key=_order)))


def reopened(plan: Plan, now: datetime) -> Plan:
    """Returns the plan with the strokes as they are and nothing opened from `now` on: what is under way ends at
    `now`."""
    kept = [
        item if item.level == "day" else _cut(item, now)
        for item in plan.items
        if item.level == "day" or item.start_time < now
    ]
    return replace(plan, items=tuple(kept))


def stroke_id(item: PlanItem) -> str:
    """Returns the id of the stroke an item belongs to: `0.3` of `0.3.1.2`."""
    return ".".join(item.id.split(".")[:2])


def next_number(plan: Plan) -> int:
    """Returns the number of the next new stroke of the day."""
    return 1 + max((int(item.id.split(".")[1]) for item in plan.level("day")), default=-1)


def rest_of(plan: Plan, item: PlanItem, now: datetime) -> tuple[PlanItem, int]:
    """Returns the rest of an item from `now` on, and the number of its next child."""
    left = int((item.end_time - now).total_seconds() // 60)
    return replace(item, start_time=now, duration_minutes=left), len(plan.children(item.id))


def _piece(item: PlanItem, begin: datetime, end: datetime) -> list[PlanItem]:
    minutes = int((end - begin).total_seconds() // 60)
    return [replace(item, start_time=begin, duration_minutes=minutes)] if minutes > 0 else []


def _cut(item: PlanItem, now: datetime) -> PlanItem:
    if item.end_time <= now:
        return item
    return replace(item, duration_minutes=int((now - item.start_time).total_seconds() // 60))


def _order(item: PlanItem) -> tuple[int, ...]:
    return _numbers(item.id)


@lru_cache(maxsize=4096)  # the ids of a day are sorted again with every hour that is opened
def _numbers(item_id: str) -> tuple[int, ...]:
    return tuple([int(part) for part in item_id.split(".")])
