"""Why: what a plan cites, what a deed was part of, what a view of somebody rests on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from commonplace.minds.notes import ItemNote, Recalled
from commonplace.minds.offline.interview.days import strokes
from commonplace.minds.offline.interview.interview import ENOUGH, Interview, Piece, Pieces, minute_of, occurs, tell
from commonplace.minds.offline.interview.matters import whereabouts_of
from commonplace.minds.offline.interview.oneself import background, of_card
from commonplace.minds.offline.interview.others import about_topic, acquaintances, grounds
from commonplace.minds.question import DaySpan
from commonplace.world.happenings import Befell, Changed, Did, Said, Walked


def why(talk: Interview) -> Pieces:
    """Returns the reasons; if nothing is known about what the question takes for granted, it says so."""
    found = in_background(talk) or [piece for piece in grounds_of(talk) if piece]
    if found or not talk.asked.heads or talk.asked.people or not talk.asked.own:
        return found
    if talk.asked.past:
        return [talk.say("why.never.past")]
    return [] if talk.touching(talk.asked.words) else [talk.say("why.never")]


def in_background(talk: Interview) -> list[Piece]:
    """Returns what the background says about the place or the one thing that is named."""
    names = [spot.name for spot in talk.given.places if spot.id in talk.asked.places]
    if names and talk.asked.past and talk.asked.own:
        return [piece for piece in background(talk) if names[0] in piece.text]
    if len(talk.asked.words) != 1:
        return []
    named = [piece for piece in background(talk) if talk.has(talk.asked.words[0], piece.text)]
    return [piece for piece in named if talk.echoes(piece.text)]


def grounds_of(talk: Interview) -> Pieces:
    """Yields what the plan cites, the stroke of a deed, a goal it serves, and what is remembered about the matter."""
    words, given = talk.asked.words, talk.given
    if talk.asked.past and talk.asked.own and talk.asked.places and not talk.asked.people:
        missing = list(whereabouts_of(talk, only_missing=True))
        if missing:
            yield from missing
            return
    yield from of_card(talk, work=False) if len(words) > 1 else ()
    items = [*([given.now] if given.now else []), *given.done, *given.later]
    named = [item for item in items if is_of(talk, item)]
    for item in [item for item in named if item.because][:1]:
        for note in (one for one in talk.everything if one.id in item.because):
            told = tell(talk, note)
            yield talk.say("why.because", note.id, mark=told.mark, tell=told.text) if told else None
    for fact in talk.asked.facts[:1]:
        yield from (tell(talk, note) for note in talk.sources(fact)[:1])
    if talk.asked.people:
        for person in acquaintances(talk)[:1]:
            yield from about_topic(talk, person)
            yield from grounds(talk, person, 2)
    found = [note for note in talk.relevant(words, [*talk.seeds(), *given.thoughts]) if talk.is_firm(words, note)]
    yield from (tell(talk, note) for note in found[:2])
    if talk.asked.people:
        return
    telling = [word for word in words if word not in talk.light]
    if telling and not found and all(occurs(word, f"{given.who.work} become", given.who.language) for word in telling):
        yield talk.say("dunno.why")  # nothing tells how one came to a trade
        return
    for deed in [] if found else deeds_named(talk)[:1]:
        yield from part_of(talk, deed)
    traits = [trait for trait in given.who.traits if any(occurs(word, trait, given.who.language) for word in words)]
    if traits:
        yield talk.say("why.trait", trait=traits[0])
    if named and not found:
        yield talk.say("why.own", *talk.planned(named[0]), named[0])
    closest = talk.relevant(words)[:1]
    yield from (tell(talk, note) for note in closest if isinstance(note.happening, Said | Befell | Changed))


def deeds_named(talk: Interview) -> list[Recalled]:
    """Returns the deeds the question asks about: those at the place it names, else those that have all its words."""
    own = talk.of(Did | Walked)
    if talk.asked.when is not None:
        own = [note for note in own if talk.in_span(note, talk.asked.when)]
    if talk.asked.places:
        return [note for note in own if note.happening.place in talk.asked.places]
    return [note for note in talk.relevant(talk.asked.words, own) if talk.has_all(talk.asked.words, note)]


def is_of(talk: Interview, item: ItemNote) -> bool:
    """Tells whether the question asks about a stretch of plan."""
    if item.location in talk.asked.places:
        return True
    text = f"{item.do} {item.location_name}"
    words = talk.asked.words
    return bool(words) and sum(occurs(word, text, talk.given.who.language) for word in words) >= ENOUGH * len(words)


def part_of(talk: Interview, deed: Recalled) -> Iterator[Piece | None]:
    """Yields the stroke a deed was part of."""
    days, minute = talk.moment(deed)
    for plan, id, _ in reversed(strokes(talk, DaySpan(days=days))):
        if minute_of(plan.start) <= minute and plan.place == deed.happening.place:
            yield talk.say("why.plan", id, deed.id, plan)
            return
    yield tell(talk, deed)


def reasons(talk: Interview) -> Pieces:
    """Yields the reasons for the last answer."""
    people = acquaintances(talk)
    if talk.asked.kind == "closest" and talk.given.known:
        people = [talk.given.known[0]]
    if talk.asked.kind == "rival" and talk.given.known:
        people = [min(talk.given.known, key=lambda one: (one.warmth, one.id))]
    if people and talk.asked.kind not in {"told", "source", "heard", "said"}:
        yield from grounds(talk, people[0], 3)
        return
    if talk.asked.kind in {"want"}:
        for goal in talk.given.who.goals:
            words = content_words(talk, goal)
            yield from (tell(talk, note) for note in sharing(talk, words, talk.seeds())[:1])
        return
    if talk.asked.kind in {"plan", "now", "day", "going"}:
        yield from plan_reasons(talk)
    if talk.asked.words:
        yield from why(talk)


def plan_reasons(talk: Interview) -> Iterator[Piece | None]:
    said = [
        item
        for item in (*talk.given.done, *talk.given.later)
        if item.do.lower() in talk.said or talk.language.busy(talk.given.who, item.do).lower() in talk.said
    ]
    items = (
        said or [item for item in (*talk.given.later, *talk.given.done[-1:]) if item.because] or talk.given.later[:1]
    )
    for item in items[:2]:
        for note in (one for one in talk.everything if one.id in item.because[:1]):
            told = tell(talk, note)
            yield talk.say("why.because", note.id, mark=told.mark, tell=told.text) if told else None
    for item in items[:1]:
        words = content_words(talk, f"{item.do} {item.location_name}")
        yield from (tell(talk, note) for note in sharing(talk, words, talk.seeds())[:1])
        yield talk.say("why.own", item)


def content_words(talk: Interview, text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if len(word) >= talk.language.shortest_word]


def sharing(talk: Interview, words: Sequence[str], notes: Sequence[Recalled]) -> list[Recalled]:
    """Returns the memories that share most of the words."""
    counted = [(sum(occurs(word, note.text, talk.given.who.language) for word in words), note) for note in notes]
    return [note for count, note in sorted(counted, key=lambda pair: -pair[0]) if count >= min(2, len(words))]
