"""Plans: a day in 5–8 strokes, the routine bent by temper, weather and what is remembered; the inside of a stroke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from commonplace.languages.language import language
from commonplace.minds.notes import Hint, ItemNote, Recalled, ThingHere
from commonplace.minds.offline.circumstance_deeds import changed, deeds_of_the_day, unpowered
from commonplace.minds.offline.dice import CHANCES, Dice
from commonplace.minds.offline.gatherings import event_stroke, hhmm, moment_minutes, wish_to_go
from commonplace.minds.offline.incidents import WET
from commonplace.minds.offline.moment import Temper, temper
from commonplace.minds.offline.template_grammar import Grammar, grammar
from commonplace.minds.tasks import PartOut, PlanDayInput, PlanDayOutput, PlanPartsInput, PlanPartsOutput, Stroke
from commonplace.world.happenings import (
    NOTHING_KNOWN,
    Changed,
    Concluded,
    Failed,
    ISaid,
    Planned,
    Said,
    Seed,
    Seen,
    Sky,
)

FEWEST, MOST = 5, 8
LATEST = 30 * 60
"""Minutes after midnight at which a day's last stroke begins at the latest."""
SHORTEST = 20
APART = 10
"""Minutes between two strokes at the least."""
FORESEEN = 6 * 60
"""Minutes the weather at waking is expected to last."""


@dataclass(frozen=True, slots=True)
class StrokeDraft:
    """A stroke being drafted: minutes after midnight (past 24 h for small hours), and the stroke as it will be."""

    start: int
    stroke: Stroke
    fixed: bool = False
    """An appointment or a wish: does not move and is not dropped."""
    keeps_up: bool = False
    """An appointment: it may begin during the hours of sleep."""


def plan_day(given: PlanDayInput, dice: Dice) -> PlanDayOutput:
    """Returns the day's strokes in order; the last is sleep."""
    mood = temper(given.who)
    drafts = _varied(_routine(given), mood, dice)
    drafts = [_dry(given, draft, dice) for draft in drafts]
    if given.so:
        drafts = [replace(draft, stroke=changed(given, draft.stroke, draft.start, dice)) for draft in drafts]
    for wish in _wishes(given, dice):
        tried = (_inserted(drafts, one) for one in (wish, *_otherwise(wish)))
        drafts = next((made for made in tried if made is not drafts), drafts)
    drafts = _sized(given, drafts, dice)
    return PlanDayOutput(strokes=_closed(given, drafts))


def _routine(given: PlanDayInput) -> list[StrokeDraft]:
    """Returns the routine with growing times: a sleep after midnight counts past 24 hours."""
    drafts, rules = list[StrokeDraft](), grammar(given.who.language)
    for index, stroke in enumerate(given.routine):
        start = moment_minutes(stroke.start)
        if drafts and start < drafts[-1].start:
            start += 24 * 60
        drafts.append(
            StrokeDraft(start, stroke.model_copy(update={"routine": stroke.routine if stroke.routine >= 0 else index}))
        )
    if not drafts:
        drafts = [
            StrokeDraft(
                moment_minutes(given.wakes),
                Stroke(start=given.wakes, minutes=30, location=given.who.home, do=rules.first("day.wake", {})),
            )
        ]
    if len(drafts) < 2 or not drafts[-1].stroke.asleep:
        start = max(22 * 60 + 30, drafts[-1].start + 60)
        drafts.append(
            StrokeDraft(
                start,
                Stroke(
                    start="22:30", minutes=480, location=given.who.home, do=rules.first("day.sleep", {}), asleep=True
                ),
            )
        )
    return drafts


def _varied(drafts: list[StrokeDraft], mood: Temper, dice: Dice) -> list[StrokeDraft]:
    """Shifts all starts but the first by 5–15 minutes; early people begin earlier, sociable ones have longer
    evenings."""
    moved: list[StrokeDraft] = []
    for index, draft in enumerate(drafts):
        start = draft.start
        if index:
            start += 5 * dice.between(-3, 3, "start", index) - 5 * mood.early
            if draft.stroke.asleep:
                start += 10 * mood.sociable
            start = max(start, moved[-1].start + SHORTEST)
        moved.append(replace(draft, start=min(start, LATEST)))
    return moved


def _dry(given: PlanDayInput, draft: StrokeDraft, dice: Dice) -> StrokeDraft:
    """Replaces, in bad weather, half of the outdoor strokes of the next hours by something indoors."""
    outdoors = {spot.id for spot in given.places if spot.outdoor}
    sky = given.situation.sky
    if draft.start > moment_minutes(given.situation.time) + FORESEEN:
        return draft
    if (
        sky not in WET
        or draft.stroke.location not in outdoors
        or not dice.chance(CHANCES["plan.dry"], "dry", draft.start)
    ):
        return draft
    rules = grammar(given.who.language)
    seen = tuple(memory.id for memory in given.recalled if isinstance(memory.happening, Sky))[:1]
    do = rules.say("day.rain", {"sky": rules.first(f"sky.{sky}", {})}, dice.with_(draft.start)) or draft.stroke.do
    update = {"location": given.who.home, "do": do, "routine": -1, "because": seen, "emoji": "☔"}
    return replace(draft, stroke=draft.stroke.model_copy(update=update))


def _otherwise(wish: StrokeDraft) -> Iterator[StrokeDraft]:
    """Yields other times for what was promised to somebody, if its own time is taken."""
    if wish.stroke.emoji == PROMISED:
        yield from (replace(wish, start=start) for start in TIMES)


def _inserted(drafts: list[StrokeDraft], wish: StrokeDraft) -> list[StrokeDraft]:
    """Returns the strokes with the wish in its time; what it overlaps gives way, and what it interrupts goes on after
    it."""
    start, end = wish.start, wish.start + wish.stroke.minutes
    sleep = next((draft.start for draft in drafts if draft.stroke.asleep), LATEST)
    if start < drafts[0].start or (start >= sleep and not wish.keeps_up):
        return drafts
    out: list[StrokeDraft] = []
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
    return sorted([*out, wish], key=lambda draft: draft.start)


def _sized(given: PlanDayInput, drafts: list[StrokeDraft], dice: Dice) -> list[StrokeDraft]:
    """Returns 5–8 strokes: the shortest that can be spared goes, the longest is broken up by something small."""
    drafts, rules = _distinct(drafts), grammar(given.who.language)
    while len(drafts) > MOST:
        spare = [index for index in range(1, len(drafts) - 1) if not drafts[index].fixed]
        # A day with many wishes still has its meals, where anything else can go.
        spare = [index for index in spare if kind_of(rules, drafts[index].stroke) != "eat"] or spare
        # What comes before goes on in its place: a wish would fill hours that are not its own.
        spare = [index for index in spare if not drafts[index - 1].fixed] or spare
        shortest = min(
            spare or range(1, len(drafts) - 1), key=lambda index: (drafts[index + 1].start - drafts[index].start, index)
        )
        drafts = [*drafts[:shortest], *drafts[shortest + 1 :]]
    extras = dice.shuffled(rules.every("day.extra"), "extra")
    for number in range(FEWEST - len(drafts)):
        drafts = _broken_up(given, drafts, extras[number % len(extras)])
    return drafts


def _distinct(drafts: Sequence[StrokeDraft]) -> list[StrokeDraft]:
    """Returns strokes with strictly growing starts; if two begin together the later one stays, and a wish comes before
    all."""
    out: list[StrokeDraft] = []
    for draft in drafts:
        if not out or draft.start >= out[-1].start + APART:
            out.append(draft)
        elif draft.stroke.asleep or (len(out) == 1 and not out[-1].fixed):
            out.append(replace(draft, start=out[-1].start + APART))
        elif not out[-1].fixed:
            out[-1] = draft
    return out


def _broken_up(given: PlanDayInput, drafts: list[StrokeDraft], do: str) -> list[StrokeDraft]:
    """Returns the strokes with something small in the middle of the longest waking one."""
    lengths = [(drafts[index + 1].start - drafts[index].start, -index) for index in range(len(drafts) - 1)]
    if not lengths:
        return drafts
    length, negative = max(lengths)
    index = -negative
    middle = drafts[index].start + length // 2 // 5 * 5
    extra = Stroke(start=hhmm(middle), minutes=30, location=given.who.home, do=do)
    back = replace(drafts[index], start=min(middle + 30, middle + max(5, length // 4 // 5 * 5)))
    halves = [drafts[index], StrokeDraft(middle, extra)]
    if len(drafts) + 2 <= MOST and length >= 90:
        halves.append(back)
    return [*drafts[:index], *halves, *drafts[index + 1 :]]


def _closed(given: PlanDayInput, drafts: Sequence[StrokeDraft]) -> tuple[Stroke, ...]:
    """Returns the drafts as strokes, each until the next; sleep lasts until the next waking."""
    wakes = moment_minutes(given.wakes) + 24 * 60
    out: list[Stroke] = []
    for index, draft in enumerate(drafts):
        end = drafts[index + 1].start if index + 1 < len(drafts) else max(wakes, draft.start + 60)
        minutes = max(5, min(1440, end - draft.start))
        out.append(draft.stroke.model_copy(update={"start": hhmm(draft.start), "minutes": minutes}))
    return tuple(out)


# ── what memories put into a day ─────────────────────────────────────────────────────────────────────────────────────


ORDER = ("promise", "matter", "visit", "repair")
"""Kinds of goals, the most urgent first."""
PROMISED = "🤝"
MOST_GOALS = 3
"""The most goals that a day takes in."""
MOST_WISHES = 2
"""The most wishes that a day takes in, in addition to appointments."""
TIMES = (10 * 60 + 30, 14 * 60 + 30, 16 * 60, 17 * 60 + 30, 19 * 60)
"""Times of the day for a wish, in minutes after midnight."""


def _wishes(given: PlanDayInput, dice: Dice) -> list[StrokeDraft]:
    """Yields appointments first, then at most two wishes, each at its own time."""
    times = dice.shuffled(TIMES, "times")
    events = [*_because_of_what_is_so(given, times, dice), *_events(given, dice)]
    goals = list(_goals(given, times, dice))[:MOST_GOALS]
    wishes = [*_insights(given), *_undone(given), *_visits(given, dice)]
    appetite = (1, 1, 2, MOST_WISHES)[dice.below(4, "appetite")]
    chosen = dice.shuffled(wishes, "wishes")[: max(0, appetite - len(goals))]
    return [
        *events,
        *goals,
        *(StrokeDraft(times[-1 - index], stroke, fixed=True) for index, stroke in enumerate(chosen)),
    ]


def _goals(given: PlanDayInput, times: Sequence[int], dice: Dice) -> Iterator[StrokeDraft]:
    """Yields strokes for goals that the character can pursue today, where the thing is or the person is mostly met:
    promises first.

    Now and then a promise is forgotten, for good.
    """
    reachable, today = {spot.id for spot in given.places}, given.situation.moment[:10]
    goals = sorted(given.goals, key=lambda goal: (goal.due[:10] != today, ORDER.index(goal.kind), goal.due, goal.id))
    for number, goal in enumerate(goals):
        is_last_day = goal.due[:10] == today
        if goal.lacks or goal.place not in reachable or (goal.kind == "promise" and not goal.act):
            continue
        if goal.kind == "promise" and dice.steady().chance(CHANCES["plan.forgets"], "forgets", goal.id):
            continue
        if (goal.act == "keep.visit" and not is_last_day) or not (
            is_last_day or dice.chance(CHANCES[f"plan.{goal.kind}"], "goal", goal.id)
        ):
            continue
        do = language(given.who.language).gerund(goal.text)
        start = moment_minutes(goal.time) if goal.time else times[number % len(times)]
        stroke = Stroke(
            start="00:00", minutes=40 if goal.kind == "visit" else 60, location=goal.place, do=do[:120],
            because=goal.because[-1:], emoji="🔧" if goal.object else PROMISED if goal.kind == "promise" else "💬",
        )  # fmt: skip
        yield StrokeDraft(start, stroke, fixed=True)


def _because_of_what_is_so(given: PlanDayInput, times: Sequence[int], dice: Dice) -> list[StrokeDraft]:
    """Returns the first few deeds about circumstances."""
    deeds = list(deeds_of_the_day(given, dice))[:MOST_GOALS] if given.so else []
    return [
        StrokeDraft(moment_minutes(at) if at else times[number], stroke, fixed=True)
        for number, (at, stroke) in enumerate(deeds)
    ]


def _events(given: PlanDayInput, dice: Dice) -> Iterator[StrokeDraft]:
    """Yields the events of this day that the character knows of and wants to go to."""
    warmth = {person.id: person.warmth for person in given.known}
    reachable = {spot.id for spot in given.places}
    for note in given.facts:
        if (
            note.starts[:10] != given.situation.moment[:10]
            or not note.place
            or (reachable and note.place not in reachable)
        ):
            continue
        carrying = [
            one for one in given.recalled if note.id in one.facts and not isinstance(one.happening, ISaid | Planned)
        ]
        if not carrying or note.starts <= given.situation.moment:
            continue
        hearing = max(carrying, key=lambda one: (warmth.get(one.happening.who, 10), -one.id))
        if wish_to_go(given.who, note, hearing, warmth.get(hearing.happening.who, 10), dice).goes:
            stroke = event_stroke(given.who, note, hearing.id)
            yield StrokeDraft(moment_minutes(stroke.start), stroke, fixed=True, keeps_up=True)


def _insights(given: PlanDayInput) -> Iterator[Stroke]:
    """Yields a stroke for a conclusion with a wish that concerns nobody."""
    for memory in given.recalled:
        match memory.happening:
            case Concluded(wish=wish) as concluded if wish:
                if concluded.about not in {person.id for person in given.known}:  # that would be a goal
                    yield _stroke(given, language(given.who.language).gerund(wish), memory, concluded.place)
            case _:
                pass


def _seen(given: PlanDayInput) -> dict[str, str]:
    """Returns character → a place where it was seen, as remembered."""
    return {
        memory.happening.who: memory.happening.place
        for memory in given.recalled
        if isinstance(memory.happening, Seen) and memory.happening.place and memory.happening.who
    }


def _undone(given: PlanDayInput) -> Iterator[Stroke]:
    """Yields what the character intends to do and does not remember doing."""
    done = " ".join(memory.text for memory in given.recalled if memory.kind == "action")
    for memory in given.recalled:
        if not isinstance(memory.happening, Seed) and memory.happening != NOTHING_KNOWN:
            continue
        doing = language(given.who.language).intended(memory.text, given.who.name)
        if doing and doing not in done:
            yield _stroke(given, doing, memory, memory.happening.place)


def _visits(given: PlanDayInput, dice: Dice) -> Iterator[Stroke]:
    """Yields visits that somebody asked for, to the place where they were seen lately."""
    seen, rules = _seen(given), grammar(given.who.language)
    for memory in given.recalled:
        said = memory.happening
        if isinstance(said, Said) and said.to_me and rules.has("visit", said.quote) and said.who in seen:
            do = rules.say("day.visit", {"x": said.called}, dice)
            yield _stroke(given, do, memory, seen[said.who])


def _stroke(given: PlanDayInput, do: str, memory: Recalled, place: str) -> Stroke:
    reachable = {spot.id for spot in given.places}
    location = place if place in reachable else given.who.home
    return Stroke(start="00:00", minutes=45, location=location, do=do[:120], because=(memory.id,), emoji="💭")


# ── the inside of a stroke ───────────────────────────────────────────────────────────────────────────────────────────


KINDS = ("sleep", "wake", "eat", "walk", "work", "social", "rest")
MOST_PARTS = 16
MENDING = ("OPEN", "USE")
"""Verbs that may put a thing right, the likelier first; those that bring it into another state before all others."""
REFUSED = 6 * 60
"""Minutes before something that did not work is tried again."""
RECENT = 45
"""Minutes before something just done is done again, if there is something else to do."""


def plan_hours(given: PlanPartsInput, dice: Dice) -> PlanPartsOutput:
    """Returns hour-sized parts: the routine's phases in their order, of varied length."""
    rules = grammar(given.who.language)
    names = [hint.do for hint in given.hints] or _generic(given, rules, "hours", dice)
    count = max(1, min(len(names), given.item.minutes // 40 or 1, 6))
    kept = set(dice.shuffled(range(len(names)), "phases")[:count])
    chosen = [name for index, name in enumerate(names) if index in kept]
    parts = tuple(
        PartOut(do=name[:120], minutes=_hour_length(given, len(chosen), dice, index))
        for index, name in enumerate(chosen)
    )
    return PlanPartsOutput(parts=parts)


def _hour_length(given: PlanPartsInput, parts: int, dice: Dice, index: int) -> int:
    even = given.item.minutes // parts
    return max(5, min(240, even + dice.between(-3, 3, "hours", index) * 5))


def plan_minutes(given: PlanPartsInput, dice: Dice) -> PlanPartsOutput:
    """Returns actions of 5–15 minutes until the item is full, in a drawn order, never the same twice in a row."""
    rules = grammar(given.who.language)
    broken = _broken(given, rules)
    refused = {
        (failed.object, failed.verb)
        for memory in given.recalled
        if isinstance(failed := memory.happening, Failed) and memory.minutes_ago < REFUSED
    }
    leads = {(thing.id, verb) for thing in given.things for verb in thing.leads}
    usable = [
        hint for hint in given.hints
        if (hint.object_id, hint.verb) not in refused
        and (hint.object_id not in broken or (hint.object_id, hint.verb) in leads)
    ]  # fmt: skip
    if given.item.asleep:
        return PlanPartsOutput(parts=(PartOut(do=given.item.do, minutes=min(240, max(5, given.item.minutes))),))
    idle = {so.of for so in given.so}
    is_dark = any(unpowered(so, given.item.location) for so in given.so)
    if is_dark:
        idle |= {thing.id for thing in given.things if rules.has("electric", thing.name)}
    usable = [hint for hint in usable if hint.object_id not in idle]
    if is_dark and any(hint.object_id in idle for hint in given.hints):
        unlit = PartOut(do=rules.say("so.unlit", {}, dice), minutes=15)
        return PlanPartsOutput(parts=_filled([unlit], given.item.minutes, dice))
    queue = _queue(given, usable, rules, dice)
    if is_dark:
        queue = [part for part in queue if not rules.has("electric", part.do)] or queue
    repair = _relit(given, idle, rules, dice) or _meant(given) or _repair(given, broken, rules, refused, dice)
    return PlanPartsOutput(parts=_filled([*repair, *queue], given.item.minutes, dice))


def _relit(given: PlanPartsInput, idle: set[str], rules: Grammar, dice: Dice) -> list[PartOut]:
    """Returns the parts that switch dark things on again, one after another and last, for a character that deals with a
    power cut."""
    if not given.item.because or not rules.has("mends.power", given.item.do):
        return []
    unlit = [thing for thing in given.things if thing.state in rules.words("dark.states") and "OPEN" in thing.verbs]
    dark = [thing for thing in unlit if thing.id not in idle]
    return [PartOut(do=given.item.do, minutes=10)] + [
        PartOut(
            do=rules.say("relight", {"thing": rules.language.named(thing.name)}, dice.with_(thing.id)), minutes=5,
            object_id=thing.id, verb="OPEN", emoji="💡",
        )
        for thing in dark[:3]
    ]  # fmt: skip


def _queue(given: PlanPartsInput, hints: Sequence[Hint], rules: Grammar, dice: Dice) -> list[PartOut]:
    """Returns the routine's steps, mostly in order at first, what was done just now last, with a generic one in
    between."""
    steps = [_part_of(hint) for hint in hints]
    ordered = (
        [*steps[:1], *dice.shuffled(steps[1:], "steps")]
        if dice.chance(CHANCES["plan.in_order"], "first")
        else dice.shuffled(steps, "steps")
    )
    just_done = {memory.happening.doing for memory in given.recalled if memory.minutes_ago <= RECENT}
    ordered = [part for part in ordered if part.do not in just_done] + [
        part for part in ordered if part.do in just_done
    ]
    others = [PartOut(do=do[:120], minutes=5) for do in _generic(given, rules, "part", dice)]
    if not ordered:
        return others[:4]
    if len(ordered) < 3:
        return [*ordered, *others[:1]]
    if dice.chance(CHANCES["plan.breather"], "breather"):
        ordered.insert(1 + dice.below(len(ordered), "where"), _breather(given, rules, others, dice))
    return ordered


def _breather(given: PlanPartsInput, rules: Grammar, others: Sequence[PartOut], dice: Dice) -> PartOut:
    if others and dice.chance(CHANCES["plan.pastime"], "kind"):
        return others[0]
    return PartOut(do=rules.say("rest.short", {}, dice) or given.item.do, minutes=5)


def _part_of(hint: Hint) -> PartOut:
    return PartOut(
        do=hint.do[:120], minutes=max(5, min(15, hint.minutes or 10)), location=hint.location,
        object_id=hint.object_id, verb=hint.verb, emoji=hint.emoji,
    )  # fmt: skip


def _filled(queue: Sequence[PartOut], total: int, dice: Dice) -> tuple[PartOut, ...]:
    """Returns the queue repeated until the time is full, each time with other lengths."""
    parts: list[PartOut] = []
    left = total
    while left > 0 and len(parts) < MOST_PARTS:
        part = queue[len(parts) % len(queue)]
        minutes = 5 * dice.between(1 if part.minutes <= 5 else 2, 2 if part.minutes <= 5 else 3, "minutes", len(parts))
        parts.append(part.model_copy(update={"minutes": minutes}))
        left -= minutes
    return tuple(parts) or (PartOut(do=queue[0].do, minutes=5),)


def kind_of(rules: Grammar, one: ItemNote | Stroke) -> str:
    """Returns the kind of an item: event if it leads to one; else one of `KINDS` or plain, by the words of its
    doing."""
    return "event" if one.event else next((kind for kind in KINDS if rules.has(f"kind.{kind}", one.do)), "plain")


def _generic(given: PlanPartsInput, rules: Grammar, level: str, dice: Dice) -> list[str]:
    """Returns things that people do at such a time; the last word of an event's name fills its slot, so that seeing
    somebody there does not reveal the event."""
    unnamed = next((kind for kind in (*KINDS, "plain") if given.item.do in rules.every(f"hours.{kind}")), "")
    kind = unnamed or kind_of(rules, given.item)
    if level == "part" and given.item.because and kind not in {"event", "sleep"} and not unnamed:
        return [given.item.do]
    joined = rules.language.joined
    names = [joined(name.replace("{event}", given.item.event)) for name in rules.every(f"{level}.{kind}")]
    names = names or list(rules.every(f"{level}.plain"))
    return dice.shuffled(names, "generic") if level == "part" else names


def _broken(given: PlanPartsInput, rules: Grammar) -> dict[str, ThingHere | Recalled]:
    """Returns the things that do not work, as seen or as remembered: id → what says so."""
    faulty, occurs = rules.words("faulty") - rules.words("faulty.mild"), rules.language.occurs
    found: dict[str, ThingHere | Recalled] = {}
    for memory in reversed(given.recalled):
        match memory.happening:
            case Changed(object=thing, words=said) | Failed(object=thing, why=said) if thing:
                if occurs(faulty, said):
                    found[thing] = memory
                else:
                    found.pop(thing, None)
            case _:
                pass
    for thing in given.things:
        if occurs(faulty, thing.state):
            found[thing.id] = thing
        elif thing.id in found and thing.state:
            del found[thing.id]
    return found


def _meant(given: PlanPartsInput) -> list[PartOut]:
    """Returns the repair that a stretch of plan is for, with the verb that advances it."""
    for goal in given.goals:
        is_so = any(so.of == goal.object for so in given.so)
        if goal.verb and not goal.lacks and not is_so and not set(goal.because).isdisjoint(given.item.because):
            return [PartOut(do=given.item.do, minutes=15, object_id=goal.object, verb=goal.verb, emoji="🔧")]
    return []


def _repair(
    given: PlanPartsInput,
    broken: dict[str, ThingHere | Recalled],
    rules: Grammar,
    refused: set[tuple[str, str]],
    dice: Dice,
) -> list[PartOut]:
    """Returns the repair of something broken at its place, if the character is handy, with a verb that has not been
    refused lately."""
    here = [thing for thing in given.things if thing.id in broken and thing.id not in {so.of for so in given.so}]
    if not here or not temper(given.who).handy or given.item.asleep:
        return []
    thing = here[0]
    mending = [one for one in MENDING if one in thing.leads] or [one for one in MENDING if one in thing.verbs]
    verb = next((one for one in mending if (thing.id, one) not in refused), "")
    if not verb and any(thing.id == one for one, _ in refused):
        return []
    do = rules.say("repair", {"thing": rules.language.named(thing.name)}, dice)
    return [PartOut(do=do, minutes=15, object_id=thing.id if verb else "", verb=verb, emoji="🔧")]
