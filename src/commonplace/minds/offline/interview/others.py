"""Those the character knows: who they are to it, talks with them, where they were seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from commonplace.minds.notes import FactNote, Person, Recalled
from commonplace.minds.offline.interview.interview import (
    COLD,
    COOL,
    FOND,
    SIGHTING,
    WARM,
    Interview,
    Piece,
    Pieces,
    is_to_me,
    says_something,
    spoken_with,
    tell,
    tells,
)
from commonplace.minds.question import DaySpan
from commonplace.minds.tasks import Acquaintance
from commonplace.world.happenings import Came, ISaid, Left, Said, Seen

PAUSE = 45
"""Minutes of silence after which two are in another talk."""


def people(talk: Interview) -> Pieces:
    """Returns everybody the character knows, nearest first."""
    known = talk.given.known
    if not known:
        return [talk.say("people.none")]
    nearest = known[0]
    pieces = [talk.say("people", people=talk.language.many([one.called for one in known[:12]]))]
    if nearest.warmth >= WARM:
        pieces.append(talk.say("people.near", *nearest.because, nearest))
        pieces.append(label_of(talk, nearest))
    if known[-1].warmth <= COOL:
        pieces.append(feeling(talk, known[-1]))
    return [*pieces, *(what_is(talk, one) for one in known[1:])]


def household(talk: Interview) -> Pieces:
    """Yields the people who have the same home."""
    near = [one for one in talk.given.known if one.housemate]
    home = next((spot.name for spot in talk.given.places if spot.id == talk.given.who.home), "")
    yield talk.say("home", home=home) if talk.asked.wants == "where" else None
    for one in acquaintances(talk)[:1]:
        yield talk.say("household.yes" if one.housemate else "household.no", one)
        yield label_of(talk, one)
        return
    if not near:
        yield talk.say("household.none")
    names = talk.language.many([one.called for one in near])
    yield talk.say("household.many" if len(near) > 1 else "household", people=names)
    for one in near[:2]:
        yield label_of(talk, one) if len(near) == 1 else what_is(talk, one)
        yield feeling(talk, one)


def with_whom(talk: Interview) -> Pieces:
    """Returns with whom something is done: people with that relation to the character, else those it talked with
    then."""
    words = [word for word in talk.asked.words if word not in talk.light]
    found = [one for one in talk.given.known if any(talk.has(word, one.label) for word in words)]
    if found:
        return [what_is(talk, one) for one in found[:2]]
    if talk.asked.facts or (talk.asked.when is not None and talk.asked.when.days >= 0):
        return met(talk)
    return [talk.say("dunno.who")]


def label_of(talk: Interview, person: Person, rule: str = "label") -> Piece | None:
    """Returns the relation of somebody to the character."""
    label = talk.language.label(talk.given.who, person.label)
    if label and (label.startswith(("my ", "제 ")) or not talk.language.is_mine(label)):
        return talk.say(f"{rule}.a", person, mark=label, a_label=talk.language.a(label))
    return talk.say(rule, person, mark=label, label=label)


def what_is(talk: Interview, person: Person) -> Piece | None:
    return label_of(talk, person, "whois") or talk.say("whois.work", person, work=talk.language.a(person.work))


def closest(talk: Interview) -> Pieces:
    """Returns the closest person, and why."""
    best = talk.given.known[0] if talk.given.known and talk.given.known[0].warmth >= WARM else None
    if best is None:
        return [talk.say("closest.none")]
    return [talk.say("closest", *best.because, best), label_of(talk, best), *grounds(talk, best, 2)]


def rival(talk: Interview) -> Pieces:
    """Returns the least liked person, and what others did that hurt."""
    causes = {memory for note in talk.given.past.notes if note.kind == "hurt" for memory in note.because}
    hurts = [tell(talk, note) for note in talk.everything if note.id in causes]
    worst = min(talk.given.known, key=lambda one: (one.warmth, one.id), default=None)
    if worst is None or worst.warmth > COOL:
        return hurts or [talk.say("rival.none")]
    disliked = [talk.say("rival", *worst.because, worst), label_of(talk, worst), *grounds(talk, worst, 2)]
    return [*disliked, *hurts] if talk.asked.wants == "who" else [*hurts, *disliked]


def grounds(talk: Interview, person: Acquaintance, most: int) -> Iterator[Piece | None]:
    """Yields the grounds of a view of somebody: what is known and thought about them, else the last talk."""
    about = talk.about_person(person.id)
    yield from (tell(talk, note) for note in about[:most])
    yield from last_talk(talk, person)
    yield from (tell(talk, note) for note in about[most:])


def strangers(talk: Interview) -> list[Piece | None]:
    return [talk.say("stranger", one) for one in talk.given.others[:1]]


def acquaintances(talk: Interview) -> list[Acquaintance]:
    """Returns the people whom the question names and the character knows."""
    return [talk.known[one] for one in talk.asked.people if one in talk.known]


def about_topic(talk: Interview, person: Person) -> Iterator[Piece | None]:
    """Yields memories of the matter that the question names besides the person."""
    words = [word for word in talk.asked.words if word not in {person.called.lower(), person.name.lower()}]
    yield from (tell(talk, note) for note in talk.relevant(words, talk.about_person(person.id))[:1])


def hearsay(talk: Interview) -> Pieces:
    """Yields what others told the character about somebody."""
    for person in [one for other in talk.asked.people[:1] if (one := talk.person(other))]:
        said = [note for note in named_by_others(talk, person) if tells(note)]
        yield from (tell(talk, note) for note in said[:3])
        if not said:
            yield talk.say("hearsay.none", person)
        yield from (tell(talk, note) for note in talk.about_person(person.id)[:1])


def named_by_others(talk: Interview, person: Person) -> list[Recalled]:
    """Returns the lines heard in which others name somebody."""
    lines = ((note, note.happening) for note in talk.of(Said))
    return [note for note, line in lines if person.id not in {line.who, line.to} and person.called in line.quote]


def feeling(talk: Interview, person: Acquaintance) -> Piece | None:
    liked = (FOND, "fond"), (WARM, "warm"), (COOL + 1, "mixed" if person.label else "neutral"), (COLD + 1, "cool")
    rule = next((rule for least, rule in liked if person.warmth >= least), "cold")
    return talk.say(f"think.{rule}", *person.because, person)


def whois(talk: Interview) -> Pieces:
    """Yields somebody's relation to the character, their work, and what is known about them."""
    for person in acquaintances(talk)[:1]:
        yield what_is(talk, person)
        if person.label and person.work:
            yield talk.say("whois.trade", person, work=talk.language.a(person.work))
        yield from about_topic(talk, person)
        yield from grounds(talk, person, 1)
        yield feeling(talk, person)
    yield from strangers(talk)


def know(talk: Interview) -> Pieces:
    """Yields since when and as what the character knows somebody, and how often they talked."""
    for person in acquaintances(talk)[:1]:
        if person.known_minutes >= 0:
            when = talk.language.dated(talk.given.situation.moment, person.known_minutes)
            firsts = [note.id for note in talk.between(person.id)[-1:]]
            yield talk.say("know.since", *firsts, person, when=when)
        else:
            yield talk.say("know.always", person)
        yield label_of(talk, person)
        yield from (tell(talk, note) for note in talk.about_person(person.id)[:1])
        if person.talks:
            ids = [note.id for note in talk.between(person.id)[:2]]
            yield talk.say("know.talks", *ids, person, times=talk.language.times(person.talks))
        yield feeling(talk, person)
    yield from strangers(talk)


def talked(talk: Interview) -> Pieces:
    """Yields when the two last talked, and about what; if nobody is named, with whom the character talked last."""
    if talk.asked.wants == "who" and not talk.asked.people:
        for line in [note for note in talk.given.day if spoken_with(note) in talk.known][-1:]:
            yield talk.say("talked.who", line, talk.known[spoken_with(line)])
            yield from (tell(talk, note) for note in weightiest([line]))
            return
    for person in acquaintances(talk)[:1]:
        last = list(last_talk(talk, person))
        if talk.asked.when is not None:
            held = [note for note in talk.given.day if spoken_with(note) == person.id]
            lines = [note for note in held if talk.in_span(note, talk.asked.when)]
            yield talk_of(talk, person, lines, "day.talk" if talk.asked.open else "talked.yes") if lines else None
            yield from (tell(talk, note) for note in weightiest(lines)[:1])
            if lines:
                return
            not_then = talk.say("talked.not", person, daypart=talk.daypart)
            mark = f"not {talk.daypart}"
            yield replace(not_then, mark=mark) if not_then and mark in not_then.text else not_then
        if talk.asked.wants == "what" and len(last) > 1:
            last = last[1:]
        yield from last
        if not last:
            yield talk.say("talked.never", person)
    yield from strangers(talk)
    if not talk.asked.people:
        yield from list(talks(talk, talk.today)) or [talk.say("met.none", daypart=talk.daypart)]


def last_talk(talk: Interview, person: Person) -> Iterator[Piece | None]:
    lines = talk.between(person.id)
    if not lines:
        return
    last = lines[0]
    conversation = [note for note in lines if note.minutes_ago - last.minutes_ago <= 90]
    when = talk.say("talked", last, person)
    subjects, about_them = topics(talk, conversation, person)
    about = talk.say("talked.about", *about_them, person, mark=subjects, topics=subjects) if subjects else None
    if when and about and talk.asked.wants != "what":
        yield replace(about, text=f"{when.text} {about.text}", ids=(*when.ids, *about.ids))
    else:
        yield when
        yield about
    yield from (talk.say("talked.said", note) for note in weightiest(conversation)[:1])


def weightiest(lines: Iterable[Recalled]) -> list[Recalled]:
    """Returns the lines with content that others said to the character, the weightiest first."""
    return sorted(filter(says_something, lines), key=lambda note: (not tells(note), -note.importance))


def said_by(talk: Interview) -> Pieces:
    """Yields what somebody said to the character, about the matter in question if there is one."""
    people = talk.asked.people or {note.happening.who for note in talk.everything if is_to_me(note)}
    lines = [note for note in talk.of(Said) if note.happening.who in people]
    if talk.asked.when is not None:
        lines = [note for note in lines if talk.in_span(note, talk.asked.when)]
    named = talk.relevant(talk.asked.words, lines) if talk.asked.words else []
    telling = [note for note in lines if is_to_me(note) and says_something(note)]
    latest = sorted(telling, key=lambda note: (not tells(note), note.minutes_ago))
    if talk.asked.words and not named:
        speaker = talk.person(talk.asked.people[0]) if talk.asked.people else None
        yield talk.say("said.nothing", speaker) if speaker else talk.unknown()
        return
    yield from (tell(talk, note) for note in (named or latest)[:6])
    if not latest and not named:
        yield from talked(talk)


def seen(talk: Interview) -> Pieces:
    """Yields where somebody is or was last seen, and their doing."""
    others = {person.id: person for person in talk.given.situation.people}
    for other in talk.asked.people[:2]:
        person = talk.person(other)
        if person is None:
            continue
        is_past = talk.asked.when is not None and talk.asked.when.days > 0
        if other in others and not (is_past or talk.asked.places or talk.event):
            here = others[other]
            yield talk.say("seen.here.asleep" if here.asleep else "seen.here", here)
        else:
            yield from last_seen(talk, person)
    if not talk.asked.people:
        yield talk.unknown()


def last_seen(talk: Interview, person: Person) -> Iterator[Piece | None]:
    seen = [note for note in talk.of(SIGHTING) if note.happening.who == person.id and note.happening.place]
    if talk.asked.when is not None:
        seen = [note for note in seen if talk.in_span(note, talk.asked.when)]
    if talk.asked.places:
        seen = [note for note in seen if note.happening.place in talk.asked.places]
    event = talk.event
    if event is not None:
        seen = [note for note in seen if talk.at_event(note, event)]
    seen.sort(key=lambda note: (note.minutes_ago, -note.id))
    if not seen:
        there = event is not None or talk.asked.places or talk.asked.when is not None
        yield talk.say("seen.not" if there else "seen.never", person)
        return
    last = seen[0]
    yield talk.say("seen.place", last)
    lately = (note for note in seen if note.minutes_ago - last.minutes_ago <= 30)
    if note := next((note for note in lately if isinstance(note.happening, Seen)), None):
        yield talk.say("seen.doing", note)
    if isinstance(last.happening, Left):
        yield talk.say("seen.left", last)
    heard = [note for note in named_by_others(talk, person) if is_to_me(note)]
    yield from (tell(talk, note) for note in heard[:1])


def met(talk: Interview) -> Pieces:
    """Yields with whom the character talked, whom it saw, and how many; for an event or a place, whom it saw there."""
    if talk.event is not None or talk.asked.places:
        yield from met_there(talk, talk.event)
        return
    span = talk.today
    talked: dict[str, Recalled] = {}
    seen: dict[str, Recalled] = {}
    for note in (note for note in talk.given.day if talk.in_span(note, span) and is_guest(talk, note)):
        match note.happening:
            case ISaid(to_called=called) | Said(called=called, to_me="1"):
                talked[called] = note
            case Seen(called=called) | Came(called=called) | Left(called=called) | Said(called=called) if called:
                seen[called] = note
            case _:
                pass
    if talk.asked.wants == "count" and (talked or seen):
        yield seen_people(talk, talked | seen)
        return
    only = [name for name in seen if name not in talked]
    if talked:
        yield talk.say(
            "met",
            *(note.id for note in talked.values()),
            people=talk.language.many(list(talked)[:8]),
            daypart=talk.daypart,
        )
    if only:
        yield talk.say(
            "met.saw" if talked else "met.saw.only",
            *(seen[name].id for name in only[:8]),
            people=talk.language.many(only[:8]),
        )
    if talked or only:
        yield from talks(talk, span)
    else:
        work = talk.work if asks_for_guests(talk) else None
        place = talk.pair.place(work.location_name) if work else ""
        yield talk.say(
            "met.none.guests" if work else "met.none", daypart=talk.daypart, place=place, at=talk.pair.at(place)
        )


def is_guest(talk: Interview, note: Recalled) -> bool:
    """Tells whether a memory is of the character's work place, if the question asks for guests."""
    return not asks_for_guests(talk) or talk.work is None or note.happening.place == talk.work.location


def asks_for_guests(talk: Interview) -> bool:
    return bool(talk.rule("guests").search(talk.given.question)) and not talk.asked.places


def met_there(talk: Interview, event: FactNote | None) -> Iterator[Piece | None]:
    """Yields the people whom the character saw at an event or a place."""
    seen: dict[str, Recalled] = {}
    for note in talk.everything:
        here = talk.at_event(note, event) if event else note.happening.place in talk.asked.places
        if here and note.happening.called and (talk.asked.when is None or talk.in_span(note, talk.asked.when)):
            seen.setdefault(note.happening.called, note)
    yield seen_people(talk, seen)
    if not seen:
        yield talk.say("dunno.who")


def seen_people(talk: Interview, seen: Mapping[str, Recalled]) -> Piece | None:
    """Returns the people whom the character saw, and their number if that is asked."""
    rule = "met.count" if talk.asked.wants == "count" else "met.saw.only"
    ids = (note.id for note in list(seen.values())[:8])
    return talk.say(rule, *ids, people=talk.language.many(list(seen)[:8]), count=str(len(seen)))


def talks(talk: Interview, span: DaySpan) -> Iterator[Piece | None]:
    """Yields talks of a stretch, one with each person first, the weightiest of each: with whom, when and about what."""
    held: list[tuple[str, list[Recalled]]] = []
    for note in talk.given.day:
        other = spoken_with(note)
        if other not in talk.known or not talk.in_span(note, span):
            continue
        going_on = (notes for one, notes in held if one == other and notes[-1].minutes_ago - note.minutes_ago <= PAUSE)
        notes = next(going_on, None)
        if notes is None:
            held.append((other, [note]))
        else:
            notes.append(note)
    held.sort(key=lambda pair: -max(note.importance for note in pair[1]))
    first = dict(reversed(held))
    again = [(other, notes) for other, notes in held if first[other] is not notes]
    firsts = [(other, notes) for other, notes in held if first[other] is notes]
    for other, notes in (*firsts, *again):
        yield talk_of(talk, talk.known[other], notes)


def talk_of(talk: Interview, person: Person, notes: Sequence[Recalled], rule: str = "day.talk") -> Piece | None:
    subjects, about = topics(talk, notes, person)
    latest = about[-1] if about else notes[-1]
    when = talk.as_told(latest).when
    return talk.say(rule, *(about or [latest]), person, mark=subjects, topic=subjects, when=when)


MOST_TOPICS = 2


def topics(talk: Interview, notes: Iterable[Recalled], other: Person) -> tuple[str, list[Recalled]]:
    """Returns (the topics of lines as the character names them, with whose its own and the other's things are; the
    lines).

    `my broth`, `Jun's drone`, `the lantern festival`: each once.
    """
    found: dict[str, str] = {}
    cited: list[Recalled] = []
    for note in notes:
        topic, mine = note.happening.topic, isinstance(note.happening, ISaid)
        owner, _, noun = topic.partition(" ")
        if (owner in {"my", "our"} and not mine) or (owner == "your" and mine):
            topic = f"{other.called}'s {noun}"
        elif owner == "your" and not mine:
            topic = f"my {noun}"
        bare = topic.removeprefix("the ")
        if topic and bare not in found and len(found) < MOST_TOPICS:
            found[bare] = topic
            cited.append(note)
    return talk.language.many(list(found.values())), cited
