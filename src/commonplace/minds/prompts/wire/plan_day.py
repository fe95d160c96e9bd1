"""A day in strokes. A stroke lasts until the next begins and the last is sleep, so neither is asked for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from commonplace.minds.notes import Spot
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.choices import Choices, places
from commonplace.minds.prompts.wire.fields import Fields, listed
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import TIME, Schema, obj, one_of, several, some_of, text, whole
from commonplace.minds.tasks import PlanDayInput, PlanDayOutput, Stroke

FEWEST, MOST = 5, 8
DAY = 1440


def known(given: PlanDayInput) -> Choices:
    """Places a stroke may be at: those known, and those of the usual day."""
    usual = {stroke.location: Spot(id=stroke.location, name=stroke.location) for stroke in given.routine}
    here = given.situation.place
    named = {spot.id: spot for spot in (*given.places, here)}
    return places((usual | named).values())


def _schema(given: PlanDayInput) -> Schema:
    stroke = obj(
        start=TIME,
        do=text(120, 1),
        place=one_of(known(given).labels),
        usual=whole(-1, len(given.routine) - 1),
        emoji=text(16),
        because=some_of([note.id for note in given.recalled]),
    )
    return obj(day=several(stroke, FEWEST, MOST))


def _read(given: PlanDayInput, fields: Fields, ear: Ear) -> PlanDayOutput:
    offered = {note.id for note in given.recalled}
    strokes = fields.each("day", FEWEST, MOST, lambda entry: _stroke(given, entry, offered, ear))
    starts = [_minute(stroke.start) for stroke in strokes]
    lengths = [(later - start) % DAY for start, later in pairwise(starts)]
    lengths.append((_minute(given.wakes) - starts[-1]) % DAY or DAY)
    if min(lengths) < 5 or sum(lengths[:-1]) >= DAY:
        raise Unusable("each stroke of 'day' must start at least 5 minutes after the one before", "range")
    last = len(strokes) - 1
    timed = zip(strokes, lengths, strict=True)
    return PlanDayOutput(
        strokes=tuple(
            stroke.model_copy(update={"minutes": minutes, "asleep": index == last})
            for index, (stroke, minutes) in enumerate(timed)
        )
    )


def _stroke(given: PlanDayInput, fields: Fields, offered: set[int], ear: Ear) -> Stroke:
    return Stroke(
        start=fields.time("start"),
        minutes=DAY,
        location=fields.offered("place", known(given)),
        do=ear.text(fields.needed("do", 120)),
        routine=fields.whole("usual", -1, len(given.routine) - 1) if fields.get("usual") is not None else -1,
        because=fields.ids("because", offered),
        emoji=fields.emoji("emoji"),
    )


def _minute(time: str) -> int:
    hours, _, minutes = time.partition(":")
    return int(hours) * 60 + int(minutes)


def _written(given: PlanDayInput, value: PlanDayOutput) -> dict[str, Any]:
    choices = known(given)
    return {
        "day": [
            {
                "start": stroke.start,
                "do": stroke.do,
                "place": choices.label(stroke.location),
                "usual": stroke.routine,
                "emoji": stroke.emoji,
                "because": listed(stroke.because),
            }
            for stroke in value.strokes
        ]
    }


PLAN_DAY = Form(_schema, _read, _written)
