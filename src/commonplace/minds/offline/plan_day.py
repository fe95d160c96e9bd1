"""A day in 5–8 strokes: the routine, bent by temper, weather and above all by what is remembered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from commonplace.minds.offline.day_wishes import Wanted, wanted
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.interest import hhmm, moment_minutes
from commonplace.minds.offline.temper import Temper, temper
from commonplace.minds.tasks import PlanDayInput, PlanDayOutput, Stroke

FEWEST, MOST = 5, 8
LATEST = 30 * 60
"""Minutes after midnight at which a day's last stroke begins at the latest."""
SHORTEST = 20
APART = 10
"""Minutes between two strokes at the least."""
FORESEEN = 6 * 60
"""Minutes for which one takes the weather at waking to last."""
WET = frozenset({"rain", "storm", "snow"})


@dataclass(frozen=True, slots=True)
class Draft:
    """A stroke on the way: minutes after midnight (past 24 h for small hours), and the stroke as it will be."""

    start: int
    stroke: Stroke
    fixed: bool = False
    """An appointment or a wish: does not move and is not dropped."""


def plan_day(given: PlanDayInput, dice: Dice) -> PlanDayOutput:
    """The day's strokes in order; the last is sleep."""
    mood = temper(given.who)
    drafts = _varied(_routine(given), mood, dice)
    drafts = [_dry(given, draft, dice) for draft in drafts]
    for wish in wanted(given, dice):
        drafts = _inserted(drafts, wish)
    drafts = _sized(given, drafts, dice)
    return PlanDayOutput(strokes=_closed(given, drafts))


def _routine(given: PlanDayInput) -> list[Draft]:
    """The routine with times that only grow: a sleep after midnight counts past 24 hours."""
    drafts: list[Draft] = []
    for index, stroke in enumerate(given.routine):
        start = moment_minutes(stroke.start)
        if drafts and start < drafts[-1].start:
            start += 24 * 60
        drafts.append(
            Draft(start, stroke.model_copy(update={"routine": stroke.routine if stroke.routine >= 0 else index}))
        )
    if not drafts:
        drafts = [
            Draft(
                moment_minutes(given.wakes),
                Stroke(start=given.wakes, minutes=30, location=given.who.home, do="waking up slowly"),
            )
        ]
    if len(drafts) < 2 or not drafts[-1].stroke.asleep:
        start = max(22 * 60 + 30, drafts[-1].start + 60)
        drafts.append(
            Draft(start, Stroke(start="22:30", minutes=480, location=given.who.home, do="sleeping", asleep=True))
        )
    return drafts


def _varied(drafts: list[Draft], mood: Temper, dice: Dice) -> list[Draft]:
    """Starts but the first are 5–15 minutes off; early people begin earlier, sociable ones have longer evenings."""
    moved: list[Draft] = []
    for index, draft in enumerate(drafts):
        start = draft.start
        if index:
            start += 5 * dice.between(-3, 3, "start", index) - 5 * mood.early
            if draft.stroke.asleep:
                start += 10 * mood.sociable
            start = max(start, moved[-1].start + SHORTEST)
        moved.append(replace(draft, start=min(start, LATEST)))
    return moved


def _dry(given: PlanDayInput, draft: Draft, dice: Dice) -> Draft:
    """In bad weather half of what lies under the open sky in the next hours is given up for something indoors."""
    outdoors = {spot.id for spot in given.places if spot.outdoor}
    sky = given.situation.sky
    if draft.start > moment_minutes(given.situation.time) + FORESEEN:
        return draft
    if sky not in WET or draft.stroke.location not in outdoors or not dice.chance(60, "dry", draft.start):
        return draft
    rules = grammar(given.who.language)
    seen = tuple(memory.id for memory in given.recalled if memory.frame.get("what") == "weather")[:1]
    do = rules.say("day.rain", "", {"sky": sky}, dice.with_(draft.start)) or draft.stroke.do
    update = {"location": given.who.home, "do": do, "routine": -1, "because": seen, "emoji": "☔"}
    return replace(draft, stroke=draft.stroke.model_copy(update=update))


def _inserted(drafts: list[Draft], wish: Wanted) -> list[Draft]:
    """The wish in its time; what it overlaps gives way, and what it interrupts goes on after it."""
    start, end = wish.start, wish.start + wish.stroke.minutes
    sleep = next((draft.start for draft in drafts if draft.stroke.asleep), LATEST)
    if start < drafts[0].start or (start >= sleep and not wish.firm):
        return drafts
    fresh = Draft(start, wish.stroke, True)
    out: list[Draft] = []
    for index, draft in enumerate(drafts):
        ends = drafts[index + 1].start if index + 1 < len(drafts) else LATEST + 60
        if draft.fixed and draft.start < end and ends > start and not draft.stroke.asleep:
            return drafts
        if draft.stroke.asleep:
            out.append(replace(draft, start=max(draft.start, end)))
            continue
        if draft.start < start - SHORTEST + 5 or draft.start >= end:
            out.append(draft)
        if draft.start < end and ends > end + SHORTEST:
            out.append(replace(draft, start=end))
    return sorted([*out, fresh], key=lambda draft: draft.start)


def _sized(given: PlanDayInput, drafts: list[Draft], dice: Dice) -> list[Draft]:
    """5–8 strokes: the shortest that can be spared goes, the longest is broken up by something small."""
    drafts = _distinct(drafts)
    while len(drafts) > MOST:
        spare = [index for index in range(1, len(drafts) - 1) if not drafts[index].fixed]
        shortest = min(
            spare or range(1, len(drafts) - 1), key=lambda index: (drafts[index + 1].start - drafts[index].start, index)
        )
        drafts = [*drafts[:shortest], *drafts[shortest + 1 :]]
    rules = grammar(given.who.language)
    extras = dice.shuffled(rules.every("day.extra"), "extra")
    for number in range(FEWEST - len(drafts)):
        drafts = _broken_up(given, drafts, extras[number % len(extras)])
    return drafts


def _distinct(drafts: Sequence[Draft]) -> list[Draft]:
    """Strictly growing starts; of two that begin together the later one stays, a wish before all."""
    out: list[Draft] = []
    for draft in drafts:
        if not out or draft.start >= out[-1].start + APART:
            out.append(draft)
        elif draft.stroke.asleep or (len(out) == 1 and not out[-1].fixed):
            out.append(replace(draft, start=out[-1].start + APART))
        elif not out[-1].fixed:
            out[-1] = draft
    return out


def _broken_up(given: PlanDayInput, drafts: list[Draft], do: str) -> list[Draft]:
    """The longest waking stroke with something small in its middle."""
    lengths = [(drafts[index + 1].start - drafts[index].start, -index) for index in range(len(drafts) - 1)]
    if not lengths:
        return drafts
    length, negative = max(lengths)
    index = -negative
    middle = drafts[index].start + length // 2 // 5 * 5
    extra = Stroke(start=hhmm(middle), minutes=30, location=given.who.home, do=do)
    back = replace(drafts[index], start=min(middle + 30, middle + max(5, length // 4 // 5 * 5)))
    halves = [drafts[index], Draft(middle, extra)]
    if len(drafts) + 2 <= MOST and length >= 90:
        halves.append(back)
    return [*drafts[:index], *halves, *drafts[index + 1 :]]


def _closed(given: PlanDayInput, drafts: Sequence[Draft]) -> tuple[Stroke, ...]:
    """The drafts as strokes, each until the next; sleep until the next waking."""
    wakes = moment_minutes(given.wakes) + 24 * 60
    out: list[Stroke] = []
    for index, draft in enumerate(drafts):
        end = drafts[index + 1].start if index + 1 < len(drafts) else max(wakes, draft.start + 60)
        minutes = max(5, min(1440, end - draft.start))
        out.append(draft.stroke.model_copy(update={"start": hhmm(draft.start), "minutes": minutes}))
    return tuple(out)
