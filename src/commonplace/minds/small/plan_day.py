"""`plan_day` in the small form: what is different from the usual day, a line each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from commonplace.languages import phrases
from commonplace.minds.mind import Ask
from commonplace.minds.offline.gatherings import moment_minutes
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.small.form import PlainAnswer, Small
from commonplace.minds.tasks.plan import DAY, MOST, PlanDayInput, Stroke
from commonplace.minds.tasks.plan import PLAN_DAY as FULL
from commonplace.minds.tasks.wire import offers_of

_LINE = re.compile(r"[\s*•-]*([01]?[0-9]|2[0-3]):([0-5][0-9])(?:\s*[-–~][\s0-9:]*)?[\s,:.-]+(.+)")
MOST_CHANGES = 3


@dataclass(frozen=True, slots=True)
class Change:
    """Something that is done instead of what is usual."""

    start: str
    do: str
    place: str
    """Area id."""


def _changes(inputs: PlanDayInput, words: PlainAnswer) -> Iterator[Change]:
    """Yields the changes whose lines say when, what and where; a line without a known place is left out."""
    offers = offers_of(Ask(FULL, inputs))
    lines = words.text.splitlines()[: -1 if words.cut else None]
    for found in filter(None, map(_LINE.match, lines)):
        do, _, where = found[3].strip().rpartition(",")
        place = offers.places.id(where) if do else None
        if place is None:
            words.flaws["unknown"] += 1
        else:
            yield Change(f"{int(found[1]):02}:{found[2]}", do.strip(), place)


def _data(inputs: PlanDayInput, words: PlainAnswer) -> Mapping[str, Any]:
    """Returns the usual day with the changes. Raises Unusable for words that say neither `none` nor what is
    different."""
    said = words.text.strip().casefold()
    if said.startswith(phrases(inputs.who.language, "prompts")["as_usual"].casefold()):
        return {"day": [_usual(stroke) for stroke in inputs.routine]}
    changes = list(_changes(inputs, words))[:MOST_CHANGES]
    if not changes:
        raise Unusable("must be lines such as 07:30 what, where", "schema")
    day = {stroke.start: _usual(stroke) for stroke in inputs.routine}
    awake = partial(_since_waking, inputs.wakes)
    first, last = inputs.routine[0].start, inputs.routine[-1].start
    for change in changes:
        before = [start for start in day if awake(first) < awake(start) < awake(change.start)]
        full = change.start not in day and len(day) == MOST
        if not awake(first) < awake(change.start) < awake(last) or (full and not before):
            words.flaws["dropped"] += 1
            continue
        if full:  # it takes the place of what would be under way
            del day[max(before, key=awake)]
        day[change.start] = {"start": change.start, "do": change.do, "place": change.place}
    return {"day": [day[start] for start in sorted(day, key=awake)]}


def _since_waking(wakes: str, time: str) -> int:
    """Returns minutes from waking to a time of day."""
    return (moment_minutes(time) - moment_minutes(wakes)) % DAY


def _usual(stroke: Stroke) -> dict[str, Any]:
    return {
        "start": stroke.start, "do": stroke.do, "place": stroke.location, "usual": stroke.routine,
        "emoji": stroke.emoji, "because": list(stroke.because), "event": stroke.event,
    }  # fmt: skip


PLAN_DAY: Small[PlanDayInput] = Small(_data, 120)
