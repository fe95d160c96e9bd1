"""Matters: news and events, places, things, and whatever else a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from commonplace.minds.notes import FactNote, Recalled
from commonplace.minds.offline.gatherings import event_name
from commonplace.minds.offline.interview.interview import (
    DAY,
    PASSING,
    Interview,
    Piece,
    Pieces,
    by_weight,
    covers,
    is_to_me,
    occurs,
    some,
    tell,
)
from commonplace.minds.offline.interview.oneself import background, in_routine, of_card, want, weather
from commonplace.minds.offline.interview.others import (
    about_topic,
    acquaintances,
    feeling,
    grounds,
    know,
    label_of,
    seen,
    strangers,
    talked,
    whois,
)
from commonplace.minds.question_rules import ends_of, trades_for
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Did,
    Failed,
    ISaid,
    Left,
    Planned,
    Read,
    Said,
    Seed,
    Seen,
    Walked,
)


def think(talk: Interview) -> Pieces:
    """Yields what the character feels for somebody and why, or what it remembers about a place, a thing or the
    weather."""
    named = acquaintances(talk)
    if named:
        words = talk.asked.words
        found = (talk.relevant(words) or talk.touching(words)[:1]) if words else []
        found = [note for note in found if not isinstance(note.happening, Left | Came | Walked | Planned)]
        yield from (tell(talk, note) for note in found[:2])
        if talk.asked.heads and not found:
            yield talk.unknown()
        for person in named[:2]:
            yield feeling(talk, person)
            yield from about_topic(talk, person)
            yield from grounds(talk, person, 1)
            yield label_of(talk, person)
        return
    if talk.asked.people:
        yield from strangers(talk)
        return
    if set(talk.asked.words) & set(talk.rules.say("words.weather", {}, talk.dice).split()):
        yield from weather(talk)
        return
    if talk.asked.places and talk.asked.wants != "whether":
        yield from of_place(talk, talk.asked.places[0])
        return
    yield from about(talk)


def heard(talk: Interview) -> Pieces:
    """Says whether something is known, and from whom."""
    for fact in talk.asked.facts[:1]:
        note = talk.note_of(fact)
        if note is not None:
            if talk.asked.wants == "what" and (begun := begins(talk)):
                yield begun
                yield from (tell(talk, one) for one in talk.sources(fact)[:1])
            else:
                yield from heard_of(talk, note)
            return
    if talk.asked.people and not talk.asked.words:
        yield from whois(talk)
        return
    found = [note for note in talk.relevant(talk.asked.words) if not isinstance(note.happening, Planned)]
    if talk.asked.people:
        found = [note for note in found if involves(talk, note) or names_all(talk, note)]
    if found:
        yield from (tell(talk, note) for note in found[:4])
        return
    heads = [word for word in talk.asked.heads or talk.asked.words if word not in talk.light]
    spoken = [note for note in talk.everything if is_to_me(note)]
    spoken = [note for note in spoken if heads and all(talk.has(word, note.happening.topic) for word in heads)]
    yield unheard(talk) if talk.asked.people or not spoken else heard_in(talk, spoken[0])


def heard_in(talk: Interview, line: Recalled) -> Piece | None:
    return talk.say("heard.yes", line)


def unheard(talk: Interview) -> Piece | None:
    return talk.say("heard.no", topic=talk.topic(talk.asked.topic))


def heard_of(talk: Interview, note: FactNote) -> Iterator[Piece | None]:
    """Says whether and from whom a fact is known, and whether the character goes or was there; an event that has begun
    is not announced."""
    said, seeds = talk.carriers(note.id, Said), talk.carriers(note.id, Seed)
    if seeds and note.starts and note.starts <= talk.given.situation.moment:
        yield talk.say("source.own", seeds[0].id)
    elif seeds:
        words = (note.tell or (note.text,))[talk.dice.below(len(note.tell or (note.text,)), "heard")]
        yield talk.say("heard.own", seeds[0].id, mark=words, tell=words)
    elif said:
        first = next((one for one in said if is_to_me(one)), None)
        yield heard_in(talk, first) if first else tell(talk, said[0])
    else:
        mine = [one for one in talk.everything if note.id in one.facts]
        yield from (tell(talk, one) for one in mine[:1])
    yield from went(talk, note)


def source(talk: Interview) -> Pieces:
    """Yields who told it, when and in which words."""
    for fact in talk.asked.facts[:1]:
        note = talk.note_of(fact)
        if note is None:
            break
        said, seeds = talk.carriers(fact, Said), talk.carriers(fact, Seed)
        if seeds:
            yield talk.say("source.own", seeds[0].id)
            return
        for one in sorted(said, key=lambda one: not is_to_me(one))[:1]:
            yield from told_in(talk, one) if is_to_me(one) else (tell(talk, one),)
        if not said:
            yield from (tell(talk, one) for one in talk.everything[:1] if note.id in one.facts)
        return
    words = talk.asked.words
    heard = [note for note in talk.last if isinstance(note.happening, Said)]
    if found := heard[:1] or talk.relevant(words, talk.of(Said)):
        yield from told_in(talk, found[-1])
    elif own := talk.last or talk.relevant(words):
        is_seed = isinstance(own[0].happening, Seed)
        yield talk.say("source.own" if is_seed else "source.saw", own[0])
    else:
        yield unheard(talk)


def told_in(talk: Interview, line: Recalled) -> Iterator[Piece | None]:
    """Yields who said a line, when and in which words."""
    yield talk.say("source", line)
    yield talk.say("source.words", line)


def told(talk: Interview) -> Pieces:
    """Yields the people whom the character told."""
    facts = talk.asked.facts
    mine = [note for fact in facts for note in talk.carriers(fact, ISaid)]
    if not facts and talk.asked.words:
        mine = talk.relevant(talk.asked.words, talk.of(ISaid))
    if talk.asked.people:
        person = talk.person(talk.asked.people[0])
        to = next((note for note in mine if note.happening.to == talk.asked.people[0]), None)
        if person is not None:
            yield talk.say("told.yes", to, person) if to else talk.say("told.no", person)
        if to is not None:
            yield tell(talk, to)
        return
    people = list(dict.fromkeys(note.happening.to_called for note in mine))
    if people:
        yield talk.say("told", *(note.id for note in mine), people=talk.language.many(people[:8]))
        yield from (tell(talk, note) for note in mine[:1])
    else:
        yield talk.say("told.none")


def going(talk: Interview) -> Pieces:
    """Says whether the character goes to an event, or was there: by its plan, and by its deeds."""
    for fact in talk.asked.facts[:1]:
        note = talk.note_of(fact)
        if note is not None:
            yield from went(talk, note)
            yield from (tell(talk, one) for one in talk.sources(fact)[:1])
            return
    words = talk.asked.words
    if talk.asked.past:
        yield from about(talk)
        return
    items = [
        item
        for item in talk.given.later
        if any(occurs(word, f"{item.do} {item.location_name}", talk.given.who.language) for word in words)
        or item.location in talk.asked.places
    ]
    if items:
        yield talk.say("going.plan", *items[0].because, items[0])
        return
    if words and not talk.relevant(words) and not talk.asked.places:
        yield unheard(talk)
        return
    yield talk.say("going.no")


def was_there(talk: Interview) -> Pieces:
    """Says whether the character was at an event or a place that was spoken of."""
    if any(talk.note_of(fact) for fact in talk.asked.facts):
        return going(talk)
    if talk.asked.places:
        return whereabouts_of(talk)
    return [talk.say("no.did")] if talk.asked.words else [talk.unknown()]


def whereabouts_of(talk: Interview, *, only_missing: bool = False) -> Iterator[Piece | None]:
    """Says whether the character was at the place in question in the time in question."""
    span = talk.asked.when
    there = sorted(
        (
            note
            for note in talk.of(Did | Walked)
            if note.happening.place in talk.asked.places and (span is None or talk.in_span(note, span))
        ),
        key=lambda note: (isinstance(note.happening, Walked), note.minutes_ago),
    )
    for note in there[:1]:
        if not only_missing:
            yield talk.say("yes.did" if note.happening.doing else "yes.went", note, where=talk.as_told(note).at)
    if not there:
        name = next((spot.name for spot in talk.given.places if spot.id == talk.asked.places[0]), talk.asked.topic)
        yield talk.say("no.place", at=talk.pair.at(name), place=name, daypart=talk.daypart if span else "")
        yield None if only_missing else talk.say("no.did")


def went(talk: Interview, note: FactNote) -> Iterator[Piece | None]:
    """Says whether the character was at an event that is over, or whether its plan includes one to come."""
    if not note.starts:
        return
    minutes = talk.as_told(note).minutes_ago
    if minutes < 0:
        yield from will_go(talk, note)
        return
    there = [one for one in talk.of(Did | Seen | Said | Came) if talk.at_event(one, note)]
    carrier = next(one.id for one in talk.everything if note.id in one.facts)
    if minutes <= (note.minutes or 60) and talk.given.situation.place.id == note.place:
        yield talk.say("going.on", carrier)
        return
    if not there:
        yield talk.say("going.wasnt", carrier, note)
        return
    yield talk.say("going.was", carrier, there[0].id, note)
    for one in sorted((one for one in there if isinstance(one.happening, Did)), key=by_weight)[:1]:
        yield talk.say("going.did", one)
    yield from (tell(talk, one) for one in there if isinstance(one.happening, Seen))


def begins(talk: Interview) -> Piece | None:
    """Returns when and where the event in question begins, or began; None if none is known."""
    event = talk.event
    if event is None:
        return None
    carrier = next(one.id for one in talk.everything if event.id in one.facts)
    return talk.say("event.begins" if talk.as_told(event).minutes_ago < 0 else "event.began", carrier, event)


def will_go(talk: Interview, note: FactNote) -> Iterator[Piece | None]:
    carrier = next(one for one in talk.everything if note.id in one.facts)
    is_today = note.starts[:10] == talk.given.situation.moment[:10]
    there = (one for one in talk.given.later if one.location == note.place and covers(one, note.starts[11:16]))
    item = next(there, None) if is_today else None
    if item is None:
        yield talk.say("going.no", carrier.id)
        return
    yield talk.say("going.plan", carrier.id, *item.because, item)
    yield from (tell(talk, one) for one in talk.everything if one.id in item.because)


def news(talk: Interview) -> Pieces:
    """Yields what happened and what is talked about: events, news the character knows, what others told, and its latest
    memory."""
    had = False
    for event in [note for note in talk.given.facts if note.starts][:1]:
        minutes = talk.as_told(event).minutes_ago
        carrier = [*talk.carriers(event.id, Seed), *talk.carriers(event.id, Said)][:1]
        if minutes < 0:
            yield from heard_of(talk, event)
        elif carrier and minutes < 2 * DAY:
            had = True
            yield talk.say("news.had", *(one.id for one in carrier), event, event=event_name(event, talk.language))
    lately = [note for note in talk.everything if note.minutes_ago < 2 * DAY and is_news(note)]
    ranked = sorted(lately, key=lambda note: (isinstance(note.happening, Said), -note.importance, note.minutes_ago))
    yield from (tell(talk, note) for note in ranked[:2])
    if not ranked:
        yield talk.say("news.since" if had else "news.none")


def is_news(note: Recalled) -> bool:
    """Tells whether a memory is of an event, or of a line that brings news."""
    it = note.happening
    return isinstance(it, Befell | Read) or (isinstance(it, Said) and it.speech_act in {"report", "rejoice"})


def answering(talk: Interview) -> list[Recalled]:
    """Returns the memories that answer the question about its subject."""
    asked = talk.asked
    found = [note for note in talk.relevant(asked.words) if not isinstance(note.happening, Planned | Walked)]
    if asked.people:
        found = [note for note in found if involves(talk, note)]
    if asked.when is not None and asked.when.days >= 0:
        found = [note for note in found if talk.in_span(note, asked.when)]
    telling = {word for word in asked.words if word not in talk.light}
    if asked.wants in {"who", "where", "when", "count"}:
        found = [note for note in found if talk.has_all(asked.words, note)]
    elif asked.wants:
        found = [note for note in found if talk.is_firm(asked.words, note)]
    if asked.wants == "who" and telling != set(asked.heads):  # `who is Copper` asks for no name
        found = [note for note in found if note.happening.about or note.happening.called]
    if asked.wants == "count":
        found = [note for note in found if talk.language.counts(" ".join((note.text, *note.tell)))]
    if asked.wants in {"where", "when"} and telling <= set(asked.heads):
        found = []  # nothing but the thing itself: `where did your grandmother come from`
    if asked.wants in {"who", "where", "when"}:
        found = [note for note in found if talk.tells_of(note)]
    return found


def about(talk: Interview) -> Pieces:
    """Yields what is remembered about a matter, a place or a person, by the words of the question.

    If memories only touch the subject, the answer says so first; if none does, it says that nothing is known.
    """
    asked = talk.asked
    if asked.people and not asked.words and not asked.wants:
        yield from whois(talk)
        return
    if asked.wants == "who" and is_bare(talk):
        yield visitors(talk)
    state = brought_about(talk)
    if state and asked.wants == "whether":
        yield from state
        return
    found = answering(talk)
    card = (
        list(of_card(talk, work=not asked.people))
        if asked.when is None and asked.wants not in {"who", "where", "when"}
        else []
    )
    if asked.people:
        named = [person.called for one in asked.people if (person := talk.person(one))]
        card = [piece for piece in card if piece and any(one in piece.text for one in named)]
    if asked.when is None and not (found or card or asked.past) and asked.wants not in {"who", "why", "count"}:
        card += list(in_routine(talk))[:2]
    gone_to = [
        piece
        for fact in asked.facts[:1]
        if (note := talk.note_of(fact)) and note.starts <= talk.given.situation.moment
        if asked.wants != "who" and not rest_of(talk, note)
        for piece in went(talk, note)
    ]
    if gone_to or found or card:
        yield from gone_to
        yield from card[:2]
        yield from (tell(talk, note) for note in found[:6])
        return
    yield from touching(talk)


def brought_about(talk: Interview) -> list[Piece | None]:
    """Says whether a thing is as it would be if the deed in question had been done: by the state last seen, not by
    trying."""
    doings = [word for word in talk.asked.words if word not in talk.asked.heads and word not in talk.light]
    for known in talk.given.things if talk.asked.past or talk.asked.wants == "whether" else ():
        if not known.words or not doings:
            continue
        language = talk.asked.language
        undone = {word for doing in doings for one in ends_of(doing, language) for word in one}
        is_not = any(occurs(word, known.words, language) for word in undone)
        is_so = any(talk.has(doing, known.words) for doing in doings)
        if not is_not and not is_so and not (talk.asked.now and any(ends_of(doing, language) for doing in doings)):
            continue
        slots = {"thing": talk.pair.place(known.name), "words": known.words}
        return [talk.say("state.not" if is_not else "state.yes" if is_so else "state.is", **slots)]
    return []


def is_bare(talk: Interview) -> bool:
    """Tells whether a question names a place and asks nothing about it."""
    names = [spot.name.lower() for spot in talk.given.places if spot.id in talk.asked.places]
    return bool(names) and all(word in talk.light or word in names[0] for word in talk.asked.words)


def rest_of(talk: Interview, note: FactNote) -> list[str]:
    """Returns the words of the question about an event besides those of the event itself."""
    return [word for word in talk.asked.words if word not in talk.light and not talk.has(word, note.text)]


def touching(talk: Interview) -> Iterator[Piece | None]:
    """Yields what comes closest to an answer, after the admission that there is none."""
    asked = talk.asked
    notes = talk.touching(asked.words) if asked.words else []
    notes = sorted(notes, key=lambda note: -talk.echoes(" ".join((note.text, *note.tell))))
    near = list(nearest(talk, [note for note in notes if not asked.people or involves(talk, note)]))
    if asked.people and (asked.words or asked.wants != "whether"):
        near += [tell(talk, note) for person in asked.people[:1] for note in talk.about_person(person)[:1]]
        near += list(whois(talk))
    elif asked.places:
        near += list(of_place(talk, asked.places[0]))
    elif asked.facts and not near:
        yield from heard(talk)
        return
    if asked.when is None and asked.wants in {"where", "when", "what", "how"}:
        near += list(in_routine(talk, most=False))[:1]
    told = [piece for piece in near if piece is not None and not talk.was_said(piece)]
    if not told:
        yield talk.unknown()
        return
    is_long = asked.kind == "howlong"
    has_it = talk.rule("lasts").search(told[0].text) if is_long else talk.language.counts(told[0].text)
    if (asked.wants == "count" and has_it) or talk.echoes(told[0].text):
        yield told[0]
        return
    lead = talk.say("but.howlong" if is_long else f"but.{asked.wants}") or talk.say("but.what")
    if lead and (asked.words or asked.wants not in {"", "what"}) and (asked.wants or not asked.kind):
        yield Piece(f"{lead.text} {told[0].text}", told[0].ids, told[0].mark)
        return
    yield from told[:2]


def nearest(talk: Interview, notes: Iterable[Recalled]) -> Iterator[Piece]:
    """Yields the memories in the character's words, if these show why they come to mind."""
    named = talk.asked.heads or talk.asked.words
    is_kin = talk.asked.subject.startswith("your ") and any(talk.has(word, KIN) for word in named)
    for note in notes:
        told = tell(talk, note) if not (is_kin and note.happening.about) else None
        language = talk.given.who.language
        topic = "" if isinstance(note.happening, PASSING) else note.happening.topic
        if told and any(occurs(word, f"{told.text} {topic}", language) for word in named):
            yield told


KIN = "mother father wife husband son daughter brother sister grandmother grandfather"


def visitors(talk: Interview) -> Piece | None:
    """Returns the people seen at the place in question."""
    there = [note for note in talk.everything if note.happening.place in talk.asked.places[:1]]
    seen = {note.happening.called: note for note in there if note.happening.called}
    spot = next((one.name for one in talk.given.places if one.id == talk.asked.places[0]), "")
    people = talk.language.many(list(seen)[:8])
    return talk.say(
        "place.seen", *(note.id for note in list(seen.values())[:8]), people=people,
        at=talk.pair.at(spot),
    )  # fmt: skip


def way(talk: Interview) -> Pieces:
    """Yields where a place is: nobody knows more than what happened there."""
    yield talk.say("way")
    for place in talk.asked.places[:1]:
        yield from of_place(talk, place)
    yield from nearest(talk, talk.touching(talk.asked.words)) if talk.asked.words else ()


def favourite(talk: Interview) -> Pieces:
    """Yields what the character likes best, as far as a memory tells."""
    found = talk.relevant(talk.asked.words)[:2]
    yield talk.say("favourite.none")
    yield from (tell(talk, note) for note in found)


def superlative(talk: Interview) -> Pieces:
    """Yields an answer to a question for the most of something: nobody has compared them, then what is remembered about
    it."""
    yield talk.say("superlative.none")
    found = talk.relevant(talk.asked.words) or talk.touching(talk.asked.words)
    yield from list(nearest(talk, found))[:2]


def whatif(talk: Interview) -> Pieces:
    """Yields an answer to a hypothetical question: what is remembered about it, and the goals for a free wish."""
    found = talk.relevant(talk.asked.words, [*talk.seeds(), *talk.given.thoughts]) if talk.asked.words else []
    yield talk.say("whatif")
    yield from list(nearest(talk, found))[:1]
    if not found and talk.asked.wants == "what" and talk.asked.own:
        yield from list(want(talk))[:1]


def advice(talk: Interview) -> Pieces:
    """Yields whom to ask, by trade, and what is remembered about the matter."""
    who, words = talk.given.who, talk.asked.words
    trades = trades_for(words, talk.asked.language)
    fits = [word for word in (*words, *trades) if word not in talk.light]
    if any(occurs(word, who.work, who.language) for word in fits):
        yield talk.say("advice.myself" if talk.asked.wants == "who" else "advice.me", work=talk.language.a(who.work))
        return
    able = [one for one in talk.given.known if any(occurs(word, one.work, who.language) for word in fits)]
    for one in able[:1]:
        yield talk.say("advice", one, work=talk.language.a(one.work))
    found = talk.relevant(words, talk.seeds()) if words else []
    yield from (tell(talk, note) for note in found[:1])
    if not found and not able:
        yield talk.say("advice.none")


def story(talk: Interview) -> Pieces:
    """Yields memories worth telling: those from the start, the weightiest first."""
    yield from (tell(talk, note) for note in talk.seeds()[:6] if note.tell)
    yield talk.say("dunno")


def remark(talk: Interview) -> Pieces:
    """Yields what a remark brings to mind; it asks nothing."""
    found = talk.relevant(talk.asked.words) if talk.asked.words else []
    found = [note for note in found if not isinstance(note.happening, Planned | Walked)]
    yield from (tell(talk, note) for note in found[:1])
    if not found:
        yield talk.say("remark")


def involves(talk: Interview, note: Recalled) -> bool:
    it = note.happening
    return bool({it.about, it.who, it.to} & set(talk.asked.people))


def names_all(talk: Interview, note: Recalled) -> bool:
    """Tells whether a memory names everybody whom the question names."""
    return all(person.called in note.text for one in talk.asked.people if (person := talk.person(one)))


def of_place(talk: Interview, place: str) -> Iterator[Piece | None]:
    """Yields an answer about a place: what is remembered about it, how often the character is there, what it did there
    last."""
    if place == talk.given.town:
        yield from (tell(talk, note) for note in talk.relevant(talk.asked.words, talk.seeds())[:2])
        yield talk.say("place.town", people=talk.language.many([one.called for one in talk.given.known[:3]]))
        return
    spot = next((one for one in talk.given.places if one.id == place), None)
    if spot is None:
        yield talk.say("place.unknown")
        return
    me, name = talk.given.who, spot.name
    slots = {"place": talk.pair.place(name), "at": talk.pair.at(name)}
    owner = next((one for one in talk.given.known if name.startswith((f"{one.called}'", f"{one.called}’"))), None)
    is_mine = name.startswith((f"{me.called}'", f"{me.called}’"))
    is_thought = talk.asked.kind == "think"
    if place == me.home:
        yield talk.say("place.own", **slots)
    elif is_mine and is_thought:
        yield talk.say("place.mine", **slots)
    word = re.findall(r"[^\W\d_]+", name.lower())[-1]
    yield from (tell(talk, note) for note in talk.relevant([word], [*talk.seeds(), *talk.given.thoughts])[:2])
    yield from (piece for piece in background(talk) if occurs(word, piece.text, me.language))
    usual = [item for item in talk.given.usual if item.location == place and not item.asleep]
    if owner is not None and is_thought:
        yield talk.say("place.theirs", owner)
        yield feeling(talk, owner)
    if usual and not is_mine and place != me.home:
        yield talk.say("place.like" if is_thought else "place.often", **slots)
    for item in usual[:1] if is_thought else ():
        yield talk.say("place.doing", item)
    mine = sorted(
        (note for note in talk.of(Did) if note.happening.place == place),
        key=lambda note: (-note.importance, note.minutes_ago),
    )
    if not usual and place != me.home and (mine or is_thought):
        yield talk.say("place.seldom", **slots)
    for note in mine[:1]:
        yield talk.say("place.think", note)
    if not mine and place != me.home:
        yield talk.say("place.know", **slots)


def thing(talk: Interview) -> Pieces:
    """Yields how and where a thing was last seen; for an event, where it takes place."""
    words = talk.asked.words
    if begun := begins(talk):
        yield begun
        return
    if talk.asked.people and not words:
        yield from seen(talk)
        return
    for here in talk.given.situation.things:
        if any(occurs(word, here.name, talk.given.who.language) for word in words):
            yield talk.say("thing.mine" if here.carried else "thing.here", thing=talk.pair.place(here.name))
            return
    language = talk.given.who.language
    things = talk.of(Changed | Absent | Failed)
    found = [note for note in things if any(occurs(word, note.happening.object_name, language) for word in words)]
    yield from (last := some(talk, sorted(found, key=lambda note: note.minutes_ago), 1))
    if talk.asked.wants == "where" and not last:
        for known in [known for known in talk.given.things if known.place_name][:1]:
            yield talk.say("thing.place", thing=talk.pair.place(known.name), at=talk.pair.at(known.place_name),
                           place=talk.pair.place(known.place_name))  # fmt: skip
            return
    known = talk.relevant(words)
    yield from (tell(talk, note) for note in known if not isinstance(note.happening, Planned | Changed))
    if talk.asked.places:
        yield from about(talk)


def handled(talk: Interview, deeds: Sequence[Recalled]) -> list[Piece | None]:
    """Returns what was done with the thing in question."""
    language, named = talk.given.who.language, talk.asked.heads or talk.asked.words
    found = [note for note in deeds if any(occurs(word, note.happening.object_name, language) for word in named)]
    return [tell(talk, note) for note in found[-2:]]


def when_was(talk: Interview) -> Pieces:
    """Yields when something was, or will be."""
    if begun := begins(talk):
        yield begun
        return
    if talk.asked.facts:
        yield from going(talk)
        return
    if talk.asked.people and not talk.asked.words:
        yield from talked(talk)
        return
    found = talk.relevant(talk.asked.words)
    if talk.asked.people:
        found = [note for note in found if involves(talk, note)]
    found = [note for note in found if talk.has_all(talk.asked.words, note) and talk.tells_of(note)]
    is_mine = talk.asked.own and talk.asked.past
    was_there = is_bare(talk) and any(note.happening.place in talk.asked.places for note in talk.of(Did | Walked))
    yield from (
        some(talk, found, 1)
        or (usual_at(talk) if talk.asked.now else ())
        or lasting_on(talk)[0]
        or (whereabouts_of(talk) if was_there else ())
        or (handled(talk, talk.of(Did))[-1:] if is_mine else ())
        or touching(talk)
    )


def usual_at(talk: Interview) -> list[Piece | None]:
    """Returns the strokes of a usual day at the place in question, or with the thing."""
    here = [item for item in talk.given.usual if item.location in talk.asked.places and not item.asleep][:1]
    return [*(talk.say("usual", item) for item in here), *in_routine(talk, most=False)][:2]


def how_long(talk: Interview) -> Pieces:
    """Returns what card and memories say about the matter that has a length of time in it, else that this is not
    known."""
    if talk.asked.people and not talk.asked.heads:
        return know(talk)
    found, other = lasting_on(talk)
    lead = talk.say("but.howlong") if other and not found and not talk.asked.people else None
    return found or ([lead, *other[:1]] if lead else touching(talk))


def lasting_on(talk: Interview) -> tuple[list[Piece], list[Piece]]:
    """Returns what card and starting memories say that has a length of time in it: about the matter, and about
    anything."""
    words = [word for word in talk.asked.words if word not in talk.light]
    notes = [
        *talk.relevant(words, talk.seeds()),
        *(note for one in talk.asked.people for note in talk.about_person(one)),
    ]
    told = [*background(talk), *some(talk, notes, len(notes))]
    lasting = [piece for piece in told if talk.rule("lasts").search(piece.text)]
    named = [one for one in lasting if any(talk.has(word, one.text) for word in words) or talk.echoes(one.text)]
    return named[:2], lasting


def of_last(talk: Interview) -> Pieces:
    """Returns when, where or by whom something in the last answer was."""
    rule = f"that.{talk.asked.wants}"
    if talk.rule("future").search(talk.given.question):
        return []
    return [talk.say(rule, note) for note in talk.last[:1] if talk.asked.kind in {"", "about", "when", "seenthing"}]
