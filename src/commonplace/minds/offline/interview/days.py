"""Days: what was done, where, what was best, and what is planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from types import UnionType
from typing import NamedTuple

from commonplace.minds.notes import ItemNote, Recalled
from commonplace.minds.offline.interview.interview import (
    DAY,
    SMALL_HOURS,
    Interview,
    Piece,
    Pieces,
    by_weight,
    covers,
    is_to_me,
    minute_of,
    some,
    tell,
)
from commonplace.minds.offline.interview.matters import (
    about,
    brought_about,
    going,
    handled,
    involves,
    nearest,
    whereabouts_of,
)
from commonplace.minds.offline.interview.oneself import in_routine, of_card
from commonplace.minds.offline.interview.others import seen, talks
from commonplace.minds.offline.told import OWN
from commonplace.minds.question import DaySpan
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Did,
    Failed,
    Happening,
    Planned,
    Said,
    Seen,
    Sky,
    Voiced,
    Walked,
)

OVERLAP = 60
"""Minutes that a stroke begun before a stretch must reach into it to be told of it."""


class Kept(NamedTuple):
    """A planned stroke that was kept."""

    plan: Planned
    id: int
    """Of the plan's memory."""
    deed: Recalled
    """The weightiest in it."""


def strokes(talk: Interview, span: DaySpan) -> list[Kept]:
    """Returns the planned strokes of a stretch that were kept, in order."""
    plans: dict[int, tuple[Planned, int]] = {}
    for note in talk.given.day:
        it = note.happening
        if isinstance(it, Planned) and it.start and it.level in {"", "day"} and talk.moment(note)[0] == span.days:
            plans[minute_of(it.start)] = it, note.id
    starts = sorted(plans)
    kept: list[Kept] = []
    for start, end in pairwise([*starts, DAY + 300]):
        if start < span.start and min(end, span.end) - span.start < OVERLAP:
            continue  # the tail of what belongs to the time before
        plan, id = plans[start]
        deeds = notes_in(talk, DaySpan(days=span.days, start=max(start, span.start), end=min(end, span.end)), Did)
        there = [deed for deed in deeds if deed.happening.place == plan.place]
        if there:
            kept.append(Kept(plan, id, max(there, key=lambda deed: (deed.importance, -deed.id))))
    return kept


def notes_in(talk: Interview, span: DaySpan, kinds: type[Happening] | UnionType) -> list[Recalled]:
    return [note for note in talk.given.day if isinstance(note.happening, kinds) and talk.in_span(note, span)]


def day(talk: Interview) -> Pieces:
    """Returns the strokes of a day that were kept, with its weightiest talk and event; for an hour, what was done in
    it."""
    if talk.event is not None and talk.asked.when is None:
        return going(talk)
    span = talk.today
    if span.days < 0:
        return plan(talk)
    deeds = notes_in(talk, span, Did)
    if span.end - span.start <= 60:
        return of_hour(talk, deeds, span)
    return whole_day(talk, deeds, span)


def of_hour(talk: Interview, deeds: Sequence[Recalled], span: DaySpan) -> Iterator[Piece | None]:
    middle = (span.start + span.end) // 2
    nearest = sorted(deeds, key=lambda note: abs(talk.moment(note)[1] - middle))[:2]
    for number, note in enumerate(sorted(nearest, key=lambda note: -note.minutes_ago)):
        yield talk.say("day.then" if number else "day.part", note, part=talk.daypart)
    yield from talks(talk, span)
    if not deeds:
        night = [
            item
            for item in talk.given.usual
            if item.asleep and covers(item, f"{middle // 60 % 24:02d}:{middle % 60:02d}")
        ]
        yield talk.say("day.asleep") if night else None


def whole_day(talk: Interview, deeds: Sequence[Recalled], span: DaySpan) -> Iterator[Piece | None]:
    words = talk.asked.words
    named = [note for note in deeds if talk.echoes(note.happening.doing) or (words and talk.has_all(words, note))]
    if named and talk.asked.open:
        yield from (tell(talk, note) for note in sorted(named, key=by_weight)[:2])
        return
    kept = strokes(talk, span)
    worth = [one for one in kept if one.plan.place != talk.given.who.home] or kept
    best = sorted(worth, key=lambda one: by_weight(one.deed))[:2]
    chosen = [one for one in kept if one in best]
    conversations = list(talks(talk, span))
    events = sorted(notes_in(talk, span, Befell | Voiced), key=lambda note: -note.importance)
    parts = [
        (talk.moment(one.deed), stroke_of(talk, one, span, detail=not number)) for number, one in enumerate(chosen)
    ]
    parts += [((span.days, first_minute(talk, one, span)), one) for one in conversations[:1]]
    parts += [(talk.moment(note), tell(talk, note)) for note in events[:1]]
    yield from (piece for _, piece in sorted(parts, key=lambda part: (-part[0][0], part[0][1])))
    told = {one.deed.id for one in chosen}
    rest = sorted((note for note in deeds if note.id not in told), key=by_weight)
    yield from (tell(talk, note) for note in rest[: 1 if chosen else 3])
    yield from (stroke_of(talk, one, span, detail=False) for one in kept if one not in chosen)
    yield from conversations[1:]
    yield from (tell(talk, note) for note in rest[1:6])
    if not kept and not deeds:
        if (span.days == 0 and talk.asked.when is None) or (span.end >= DAY and not span.days):
            yield talk.say("day.little")
        else:
            yield talk.say("dunno.day", daypart=talk.daypart)


def stroke_of(talk: Interview, kept: Kept, span: DaySpan, *, detail: bool) -> Piece | None:
    """Returns a stroke, and with `detail` the deed that stands for it."""
    plan, id, deed = kept
    part = talk.language.part(span.days, talk.moment(deed)[1], talk.given.situation.moment)
    piece = talk.say("day.part", id, deed.id, plan, part=part)
    is_more = detail and talk.as_told(plan).doing != talk.as_told(deed).doing
    more = talk.say("day.detail", deed.happening) if is_more else None
    return replace(piece, text=f"{piece.text} {more.text}") if piece and more else piece


def best(talk: Interview) -> Pieces:
    """Yields the weightiest memories of the stretch, or of the event that the question names."""
    span = talk.asked.when or event_span(talk)
    notes = [note for note in talk.given.day if span is None or talk.in_span(note, span)]
    deeds = sorted((note for note in notes if isinstance(note.happening, _LIVED)), key=_by_worth)
    weighty = max((note.importance for note in notes if is_to_me(note)), default=0)
    held = list(talks(talk, span or talk.today))[:2]
    if not deeds and not held:
        yield talk.say("dunno.day", daypart=talk.daypart) if talk.asked.when else talk.unknown()
    is_talk = bool(held) and (not deeds or weighty > deeds[0].importance)
    yield from held if is_talk else (tell(talk, note) for note in deeds[:1])
    yield from (tell(talk, note) for note in deeds[:6])
    yield from held


def worst(talk: Interview) -> Pieces:
    """Returns what went wrong in the stretch and what others did that hurt; else that nothing did."""
    hurt = {memory for note in talk.given.past.notes if note.kind == "hurt" for memory in note.because}
    notes = {note.id: note for note in (*talk.given.day, *talk.of(Said))}.values()
    notes = [note for note in notes if talk.asked.when is None or talk.in_span(note, talk.today)]
    sore = [note for note in notes if note.id in hurt or isinstance(note.happening, Failed | Absent)]
    return some(talk, sorted(sore, key=_by_worth), 2) or [talk.say("worst.none", daypart=talk.daypart)]


_LIVED = Befell | Voiced | Did | Failed | Absent


def _by_worth(note: Recalled) -> tuple[int, ...]:
    """Returns the sort key of experiences: the weightiest first, events above all."""
    it = note.happening
    order = 0 if isinstance(it, Befell | Voiced) else 1 if isinstance(it, Did | Failed) else 2
    return -note.importance - 2 * isinstance(it, Befell), order, -len(it.doing), note.minutes_ago


def event_span(talk: Interview) -> DaySpan | None:
    """Returns when the event that a question names took place, if it has begun."""
    note = talk.event
    if note is None:
        return None
    event = talk.as_told(note)
    days, begin = event.then
    return DaySpan(days=days, start=begin, end=begin + (note.minutes or 60)) if event.minutes_ago >= 0 else None


def span_of(talk: Interview, words: Sequence[str]) -> DaySpan | None:
    """Returns when the incident happened that a question refers to: `where were you when the light went out`."""
    found = talk.relevant(words, talk.of(Befell | Changed | Sky | Seen | Came | Did))
    if not found:
        return None
    days, minute = talk.moment(found[0])
    return DaySpan(days=days, start=max(0, minute - 20), end=minute + 20)


def whereabouts(talk: Interview) -> Pieces:
    """Yields where the character was, or whether it was at a place."""
    span = talk.asked.when
    if talk.asked.topic.startswith("when ") and span is None:
        span = event_span(talk) or span_of(talk, talk.asked.words)
        if span is None:
            return
    deeds = [note for note in talk.of(Did | Walked) if note.happening.place]
    if span is not None:
        deeds = [note for note in deeds if talk.in_span(note, span)]
    if talk.event is not None and not talk.asked.open:
        yield from going(talk)
        return
    if talk.asked.places:
        yield from whereabouts_of(talk)
        return
    if talk.asked.words and (span is None or not talk.asked.open):
        yield from did(talk)
        return
    deeds = deeds if span is not None else [note for note in deeds if talk.moment(note)[0] == 0]
    seen: dict[str, Recalled] = {}
    for note in sorted(deeds, key=lambda note: -note.minutes_ago):
        seen.setdefault(note.happening.place, note)
    for note in [one for one in seen.values() if len(seen) < 2 or one.happening.place != talk.given.who.home][:4]:
        yield talk.say("were", note)
    if not seen:
        yield talk.say("dunno.day", daypart=talk.daypart)


def did(talk: Interview) -> Pieces:
    """Says whether the character did or does something: the first source that has an answer gives it."""
    if not talk.asked.words:
        return seen(talk) if talk.asked.people else whereabouts(talk) if talk.asked.places else [talk.unknown()]
    if talk.asked.wants in {"who", "where", "when", "count"}:
        return about(talk)
    deeds = talk.of(Did)
    if talk.asked.when is not None:
        deeds = [note for note in deeds if talk.in_span(note, talk.asked.when)]
        found = own_deed(talk, deeds) or (list(whereabouts(talk)) if talk.asked.places else handled(talk, deeds))
        return found or (day(talk) if talk.asked.open else [talk.say("no.did")])
    return always_so(talk) or brought_about(talk) or own_deed(talk, deeds) or handled(talk, deeds) or remembered(talk)


def always_so(talk: Interview) -> list[Piece | None]:
    """Returns what card, starting memories and conclusions say about the character's habits: `do you sleep well`."""
    if not talk.asked.now:
        return []
    card = [] if talk.asked.people else list(of_card(talk))
    notes = talk.relevant(talk.asked.words, [*talk.seeds(), *talk.given.thoughts])
    return card or [tell(talk, note) for note in notes if not talk.asked.people or involves(talk, note)][:2]


def own_deed(talk: Interview, deeds: Sequence[Recalled]) -> list[Piece | None]:
    """Returns a deed that matches the whole question: yes, and when."""
    words = talk.asked.words
    done = [note for note in talk.relevant(words, deeds) if talk.has_all(words, note)]
    if not done:
        return []
    return [talk.say("yes.did", done[0]), *(tell(talk, note) for note in done[1:2] if note.text != done[0].text)]


def remembered(talk: Interview) -> Pieces:
    """Returns what else is known about the subject; else that it is not so, as far as the character knows."""
    card = [piece for piece in of_card(talk) if piece]
    words = talk.asked.words
    others = [note for note in talk.relevant(words) if talk.is_firm(words, note)]
    others = [note for note in others if not talk.asked.people or involves(talk, note)]
    if others or card:
        told = [tell(talk, note) for note in others[:2]]
        return [*told, *card] if talk.asked.people else [*card, *told]
    routine = list(in_routine(talk)) if talk.asked.now else []
    if routine:
        return routine[:2]
    if talk.asked.open or list(nearest(talk, talk.touching(talk.asked.words))):
        return about(talk)
    return [talk.say("no.do" if talk.asked.now else "no.did")]


def plan(talk: Interview) -> Pieces:
    """Yields the strokes to come; for a day without a plan, the usual ones, with words that say so."""
    span, given = talk.asked.when, talk.given
    if talk.asked.facts:
        yield from going(talk)
    is_over = span is not None and span.days == 0 and span.end <= minute_of(given.situation.time)
    if span is not None and (span.days < 0 or is_over):
        yield from usual_instead(talk, span)
        return
    if span is not None and span.days > 0:
        yield from day(talk)
        return
    current = next((item for item in reversed(given.done) if covers(item, given.situation.time)), None)
    later = to_come(talk, span, current)
    if talk.asked.wants == "when" and {"bed", "sleep"} & set(talk.asked.words):
        later = [item for item in (*later, *given.usual) if item.asleep][:1]
    elif talk.asked.places and not talk.asked.open:
        named = [item for item in later if item.location in talk.asked.places]
        yield None if named else talk.say("going.no")
        later = named or later[:1]
    elif talk.asked.topic and set(talk.asked.words) - talk.light and not talk.asked.facts:
        fitting = [
            item
            for item in later
            if any(talk.has(word, f"{item.do} {item.location_name}") for word in talk.asked.words)
        ]
        if not fitting and (talk.asked.heads or span is None) and not (talk.asked.open and talk.asked.when):
            yield from of_card(talk, work=False)
            yield talk.say("going.no")
            yield from list(nearest(talk, talk.touching(talk.asked.words)))[:1]
            return
        later = fitting or later
    for number, item in enumerate(later):
        if item is current:
            end = (minute_of(item.start) + item.minutes) % DAY
            till = talk.language.clock(f"{end // 60:02d}:{end % 60:02d}")
            yield talk.say("plan.on", *talk.planned(item), item, end=till)
            continue
        rule = "plan.sleep" if item.asleep else "plan.next" if not number else "plan.then"
        yield talk.say(rule, *talk.planned(item), *item.because, item)
        if item.because:
            yield from (tell(talk, note) for note in talk.everything if note.id == item.because[0])
    if not later:
        yield talk.say("plan.none", daypart=talk.daypart if span else "")


def to_come(talk: Interview, span: DaySpan | None, current: ItemNote | None) -> list[ItemNote]:
    """Returns the strokes of today's plan that are still to come, and the present one if it reaches into the
    stretch."""
    later = [item for item in talk.given.later if span is None or span.end > DAY or minute_of(item.start) < span.end]
    if span is None:
        return later
    later = [item for item in later if minute_of(item.start) + item.minutes > span.start]
    if current is None or current.asleep or not 0 < span.start < minute_of(current.start) + current.minutes:
        return later
    return [current, *later]


def usual_instead(talk: Interview, span: DaySpan) -> Iterator[Piece | None]:
    usual = [
        item
        for item in talk.given.usual
        if minute_of(item.start) < span.end and minute_of(item.start) + item.minutes > span.start
    ]
    awake = [item for item in usual if not item.asleep]
    if talk.asked.places:
        awake = [item for item in awake if item.location in talk.asked.places]
        if not awake:
            yield talk.say("going.no")
            return
    if talk.asked.topic and talk.asked.heads and not talk.asked.open:
        words = talk.asked.words
        awake = [item for item in awake if any(talk.has(word, f"{item.do} {item.location_name}") for word in words)]
        if not awake:
            yield talk.say("going.no")
            return
    longest = sorted(awake, key=lambda item: -item.minutes)[:2]
    for number, item in enumerate(item for item in awake if item in longest):
        rule = "plan.usual" if not number else "plan.usual.then"
        yield talk.say(rule, item, daypart=talk.daypart)
    if not awake:
        yield talk.say("dunno.future")


def usual(talk: Interview) -> Pieces:
    """Yields the strokes of a usual day."""
    span, words = talk.asked.when or DaySpan(days=0), talk.asked.words
    items = [
        item
        for item in talk.given.usual
        if minute_of(item.start) < span.end and minute_of(item.start) + item.minutes > span.start
    ]
    named = [item for item in items if any(talk.has(word, f"{item.do} {item.location_name}") for word in words)]
    if talk.asked.heads and not named:
        return
    items = [item for item in items if not item.asleep or talk.asked.when]
    for item in named or sorted(
        sorted(items, key=lambda item: -item.minutes)[:3], key=lambda item: minute_of(item.start)
    ):
        yield talk.say("usual", item)


def rising(talk: Interview) -> Pieces:
    """Yields when the usual day begins; for a day that is over, when the first deed was."""
    span = talk.asked.when
    risen = list(up_on(talk, span)) if span is not None and span.days >= 0 else []
    if risen:
        yield from risen
        return
    for item in talk.given.usual[:1]:
        yield talk.say("rising", item)
        yield talk.say("usual", item)


def up_on(talk: Interview, span: DaySpan) -> Iterator[Piece | None]:
    """Yields the first deed of a day, and when it was."""
    deeds = [note for note in notes_in(talk, span, OWN) if talk.moment(note)[1] >= SMALL_HOURS * 60]
    for note in deeds[:1]:
        minute = talk.moment(note)[1]
        time = talk.language.at_time(f"{minute // 60:02d}:{minute % 60:02d}")
        part = talk.language.span(span.days, span.start, span.end, talk.given.situation.moment)
        yield talk.say("rising.day", note.id, part=part, time=time)
        yield tell(talk, note)


def slept(talk: Interview) -> Pieces:
    """Yields how the night was, as far as a sleeper can tell: when it was over."""
    yield talk.say("slept")
    yield from up_on(talk, DaySpan(days=max(0, talk.today.days - 1)))


def hours(talk: Interview) -> Pieces:
    """Yields from when to when the character is at the place in question, else at its work, on a usual day."""
    is_mine = talk.asked.own or talk.language.has_particles  # `you` is left out
    places = talk.asked.places or ((talk.work.location,) if talk.work and is_mine else ())
    there = [item for item in talk.given.usual if item.location in places and not item.asleep]
    for item in there[:1]:
        end = (minute_of(there[-1].start) + there[-1].minutes) % DAY
        time = f"{end // 60:02d}:{end % 60:02d}"
        begin, till = talk.language.clock(item.start), talk.language.clock(time)
        yield talk.say("hours", item, begin=begin, end=till, place=talk.pair.place(item.location_name))
        yield talk.say("usual", item)
    yield None if there else talk.say("dunno.when")


def bedtime(talk: Interview) -> Pieces:
    """Yields when the day ends, by today's plan if there is one."""
    items = talk.given.usual if talk.asked.now and talk.asked.when is None else (*talk.given.later, *talk.given.usual)
    for item in [item for item in items if item.asleep][:1]:
        yield talk.say("bedtime", item)


def first_minute(talk: Interview, piece: Piece | None, span: DaySpan) -> int:
    """Returns when the memories of a piece were, in minutes after midnight of the stretch's day."""
    ids = set(piece.ids) if piece else set[int]()
    return min((talk.moment(note)[1] for note in talk.given.day if note.id in ids), default=span.start)
