"""The character itself: its card, its mood, what it does now, where and with whom, what it has concluded, and what
became of its promises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.minds.notes import PastNote, Recalled
from commonplace.minds.offline.interview.interview import (
    ENOUGH,
    Interview,
    Piece,
    Pieces,
    covers,
    minute_of,
    occurs,
    some,
    tell,
)
from commonplace.minds.offline.interview.others import what_is
from commonplace.minds.question import ASKER
from commonplace.minds.question_rules import alike
from commonplace.world.happenings import Absent, Befell, Did, Failed, Seed, Sky, Voiced

WELL, ILL = 12, -12
"""Mood from which one is well, below which not."""
LATELY = 12 * 60
"""Minutes in which something happened that bears on how one is."""


def small_talk(talk: Interview) -> Pieces:
    """Returns the answer to a greeting, thanks or an insult, in kind."""
    hour = int(talk.given.situation.time[:2])
    greeting = talk.rules.say(
        f"greeting.{'morning' if hour < 12 else 'afternoon' if hour < 18 else 'evening'}", {}, talk.dice
    )
    return [talk.say(talk.asked.kind, greeting=greeting)]


def card(talk: Interview) -> dict[str, str]:
    """Returns the slots of the card."""
    who = talk.given.who
    home = next((spot.name for spot in talk.given.places if spot.id == who.home), "")
    return {
        "name": who.name,
        "called": who.called if who.called != who.name else "",
        "age": str(who.age),
        "work": talk.language.a(who.work),
        "home": home,
        "at": talk.pair.at(home),
        "place": talk.pair.place(home),
        "traits": talk.language.many(who.traits[:3]),
    }


def who(talk: Interview) -> Pieces:
    """Yields name, work, the author's background and home."""
    slots = card(talk)
    yield talk.say("who", **slots)
    yield from background(talk)
    yield talk.say("who.home", **slots)
    yield from want(talk)


def background(talk: Interview) -> Iterator[Piece]:
    """Yields the background, sentence by sentence."""
    for text in talk.language.first_person(talk.given.who, talk.given.who.background):
        yield Piece(text, (), text)


def name(talk: Interview) -> Pieces:
    """Returns the name."""
    return [talk.say("name", **card(talk)) if card(talk)["called"] else talk.say("name.short", **card(talk))]


def age(talk: Interview) -> Pieces:
    """Returns the age."""
    return [talk.say("age", **card(talk))]


def machine(talk: Interview) -> Pieces:
    """Returns what the character is, as far as it knows: its name and its work."""
    return [talk.say("machine", **card(talk))]


def work(talk: Interview) -> Pieces:
    """Yields the work, and the longest stroke of a usual day."""
    yield talk.say("work", **card(talk))
    yield from list(background(talk))[:1]
    yield talk.say("work.day", talk.work) if talk.work else None


def home(talk: Interview) -> Pieces:
    """Yields where the character lives."""
    yield talk.say("home", **card(talk))
    yield from (
        piece for piece in background(talk) if card(talk)["place"] and card(talk)["place"].split()[-1] in piece.text
    )


def home_why(talk: Interview) -> Pieces:
    """Yields what the background says about the home, and why the character lives there."""
    yield talk.say("home", **card(talk))
    name = card(talk)["place"].split()
    told, words = list(background(talk)), [*name[-1:], *talk.asked.words]
    yield from [piece for piece in told if any(talk.has(word.lower(), piece.text) for word in words)] or told
    yield from (tell(talk, note) for note in talk.relevant(talk.asked.words, talk.seeds())[:2])


LATELY_MEANT = 2
"""Open goals that one mentions."""


def want(talk: Interview) -> Pieces:
    """Yields the goals, and what the character means to do these days."""
    goals = sorted(talk.given.who.goals, key=lambda goal: not any(talk.has(word, goal) for word in talk.asked.words))
    for number, goal in enumerate(goals):
        said = talk.language.goal(talk.given.who, goal)
        yield talk.say("want" if not number else "want.and", mark=said, goal=said)
    for goal in talk.given.goals[:LATELY_MEANT]:
        # In Korean a wish is a noun, `빌려주기`, and what follows needs its stem.
        yield talk.say("want.lately", *goal.because, mark=goal.text, goal=goal.text.removesuffix("기"))
    yield from (tell(talk, note) for note in talk.seeds() if note.kind == "plan")


def traits(talk: Interview) -> Pieces:
    """Yields the traits."""
    yield talk.say("traits", **card(talk))
    yield from background(talk)


def fear(talk: Interview) -> Pieces:
    """Returns what weighs on the character: complaints and fears in its starting memories."""
    if talk.asked.topic:
        found = talk.relevant(talk.asked.words, [*talk.seeds(), *talk.given.thoughts])
        language = talk.given.who.language
        own = [
            piece for piece in background(talk) if any(occurs(word, piece.text, language) for word in talk.asked.words)
        ]
        return [*own, *(tell(talk, note) for note in found[:2])] or [talk.say("fear.none")]
    return told_with(talk, "fear")


class CardTopic(NamedTuple):
    """What is told of card and starting memories that have one of the words `words.KIND` or are of a sort."""

    card: int
    """Sentences of the card."""
    memories: int
    none: str = ""
    """What is said where there is nothing; without it, the weightiest of the starting memories."""
    sorts: tuple[str, ...] = ()


ROWS: Mapping[str, CardTopic] = {
    "fear": CardTopic(0, 3, sorts=("worry", "concern")), "secret": CardTopic(0, 2, sorts=("secret",)),
    "miss": CardTopic(1, 2, "miss.none", ("loss",)), "owed": CardTopic(2, 2, "owed.none"),
    "regret": CardTopic(1, 2, "regret.none", ("loss", "worry")),
}  # fmt: skip


def told_with(talk: Interview, kind: str = "") -> Pieces:
    """Returns what card and starting memories say about a matter, found by its words."""
    row = ROWS[kind or talk.asked.kind]
    words, language = talk.rules.say(f"words.{kind or talk.asked.kind}", {}, talk.dice).split(), talk.given.who.language

    def has_one(text: str) -> bool:
        return any(occurs(word, text, language) for word in words)

    card = [piece for piece in background(talk) if has_one(piece.text)][: row.card]
    people = talk.asked.people or (talk.known if talk.asked.wants == "who" else ())
    seeds = [note for note in talk.seeds() if not people or note.happening.about in people] or talk.seeds()
    fitting = (note for note in seeds if sort_of(note) in row.sorts or has_one(note.text))
    found = [*card, *some(talk, fitting, row.memories)]
    none = row.none or ("fear.none" if talk.asked.wants == "who" else "")
    return found or ([talk.say(none)] if none else [*some(talk, seeds, row.memories)])


def sort_of(note: Recalled) -> str:
    """Returns the sort that its author gave a starting memory; empty for any other memory."""
    return note.happening.sort if isinstance(note.happening, Seed) else ""


def family(talk: Interview) -> Pieces:
    """Yields husbands, mothers, children: from the background, the relations and what is known from the start."""
    kin = talk.rules.say("words.family", {}, talk.dice).split()
    words = [word for word in talk.asked.words if any(talk.has(word, one) for one in kin)] or kin
    own = [piece for piece in background(talk) if any(talk.has(word, piece.text) for word in words)]
    meant = frozenset[str]().union(*(alike(word, talk.asked.language) for word in words))
    near = [one for one in talk.given.known if meant & {*one.label.lower().split()}]
    near = [one for one in near if "'s " not in one.label and " of " not in one.label]
    found = [note for note in talk.seeds() if any(talk.has(word, note.text) for word in words)]
    pieces = [*(what_is(talk, one) for one in near[:3]), *own, *(tell(talk, note) for note in found[:2])]
    return pieces or [talk.say("family.none") if words is kin else talk.unknown()]


def of_card(talk: Interview, *, work: bool = True) -> Iterator[Piece | None]:
    """Yields what the card says about the matter: goals, background, and with `work` the trade."""
    who, words = talk.given.who, talk.asked.words
    telling = [word for word in words if word not in talk.light]
    if not telling:
        return

    def has_most(text: str) -> bool:
        return sum(talk.has(word, text) for word in telling) >= ENOUGH * len(telling)

    for goal in who.goals:
        if has_most(goal):
            yield talk.say("want", mark=goal, goal=talk.language.goal(who, goal))
    if (
        work
        and any(occurs(word, who.work, who.language) for word in telling)
        and has_most(f"{who.work} {who.background}")
    ):
        yield talk.say("work", **card(talk))
    yield from (piece for piece in background(talk) if has_most(piece.text))


def in_routine(talk: Interview, *, most: bool = True) -> Iterator[Piece | None]:
    """Yields the strokes of a usual day that concern the matter; with `most`, only those that match the whole
    question."""
    telling = [word for word in talk.asked.words if word not in talk.light]
    for item in talk.given.usual if telling else ():
        hits = [talk.has(word, f"{item.do} {item.location_name}") for word in telling]
        if all(hits) if most else any(hits):
            yield talk.say("usual", item)


def feel(talk: Interview) -> Pieces:
    """Yields the mood, what happened lately, and the present doing."""
    mood = talk.given.mood
    yield talk.say("feel.good" if mood > WELL else "feel.bad" if mood < ILL else "feel.fair")
    moving = Befell | Failed | Absent | Voiced
    lately = [note for note in talk.given.day if note.minutes_ago < LATELY and isinstance(note.happening, moving)]
    best = sorted(lately, key=lambda note: (-note.importance, note.minutes_ago))
    yield from (tell(talk, note) for note in best[:1])
    if talk.given.doing:
        yield talk.say("now", Did(doing=talk.given.doing))


def now(talk: Interview) -> Pieces:
    """Yields the character's doing, and the stroke it is part of."""
    given = talk.given
    if given.doing:
        yield talk.say("now", Did(doing=given.doing))
    current = next((item for item in reversed(given.done) if covers(item, given.situation.time)), None)
    if current is not None and not current.asleep and current.do != given.doing:
        yield talk.say("now.plan", *talk.planned(current), current)
    if not given.doing and current is None:
        yield talk.say("now.nothing")
    yield from here(talk)


def where_now(talk: Interview) -> Pieces:
    """Yields the place."""
    place = talk.given.situation.place.name
    yield talk.say("where", at=talk.pair.at(place), place=talk.pair.place(place))
    yield from now(talk)


def here(talk: Interview) -> Pieces:
    """Returns the people in sight."""
    people = talk.given.situation.people
    if not people:
        return [talk.say("here.alone")]
    names = [person.called for person in people]
    return [talk.say("here" if len(names) == 1 else "here.many", people=talk.language.many(names[:6]))]


def date(talk: Interview) -> Pieces:
    """Returns the time and the day."""
    here = talk.given.situation
    return [talk.say("date", oclock=talk.language.clock(here.time), weekday=here.weekday)]


def asked(talk: Interview) -> Pieces:
    """Returns what the person asked in this talk, first or last."""
    questions = [line.text for line in talk.given.lines if line.speaker == ASKER]
    if not questions:
        return [talk.say("asked.none")]
    first = re.search(r"\bfirst\b|처음|첫|먼저", talk.given.question, re.IGNORECASE)
    return [talk.say("asked", quote=questions[0 if first else -1])]


def weather(talk: Interview) -> Pieces:
    """Yields the sky, the weather before, and what is said about it."""
    sky = talk.rules.say(f"sky.{talk.given.situation.sky}", {}, talk.dice)
    past = [note for note in reversed(talk.given.day) if isinstance(note.happening, Sky)]
    if talk.asked.when is not None and (talk.asked.when.days or talk.asked.when.start):
        past = [note for note in past if talk.in_span(note, talk.today)]
        if talk.today.days < 0 or (talk.today.days == 0 and talk.today.end > minute_of(talk.given.situation.time)):
            yield talk.say("dunno.future")
        yield from (tell(talk, note) for note in past[:2])
    if talk.today.days == 0:
        yield talk.say("weather.now", sky=sky)
    skies = set(talk.rules.say("words.weather", {}, talk.dice).split())
    words = [talk.given.situation.sky, *(word for word in talk.asked.words if word in skies)]
    for word in words:
        told = [tell(talk, note) for note in talk.relevant([word], talk.seeds())]
        yield from [piece for piece in told if piece and talk.has(word, piece.text)][:1]
    still = talk.given.situation.sky
    yield from (tell(talk, note) for note in past[:1] if isinstance(it := note.happening, Sky) and it.sky == still)


def learnt(talk: Interview) -> Pieces:
    """Yields the latest conclusions."""
    thoughts = [(note, told) for note in talk.given.thoughts if (told := tell(talk, note))]
    for note, told in thoughts[:1]:
        low = talk.language.lowered(told.text)
        yield talk.say("learnt", note.id, mark=told.mark, text=told.text, low_text=low)
    yield from (told for _, told in thoughts[1:])
    if not thoughts:
        yield talk.say("learnt.none")
        yield from (tell(talk, note) for note in talk.seeds() if note.kind == "plan")


SETTLED = ("kept", "broke", "promised")
MOST = 3
"""Promises named in one answer."""


def are_asked(talk: Interview) -> bool:
    """Tells whether the question is about the character's promises to others."""
    if not _has("promise", talk):
        return False
    if _has("promised_by_another", talk):
        return _has("promise_broken", talk)
    if language(talk.asked.language).has_particles:  # `you` is left out
        return not talk.asked.people or not re.search(r"(은|는|이|가) .*약속", talk.given.question)
    return talk.asked.own or talk.asked.past


def promises(talk: Interview) -> Pieces:
    """Yields the promises and whether they were kept: to the people or about the things named, the latest first."""
    if _has("promised_by_another", talk):
        rows = [one for one in talk.given.past.notes if one.kind == "hurt"]
        ids = {memory for one in rows for memory in one.because}
        yield from some(talk, (note for note in talk.everything if note.id in ids), 2) or [talk.say("promise.unbroken")]
        return
    people = talk.asked.people
    rows = [one for one in talk.given.past.notes if one.kind in SETTLED and (not people or one.other in people)]
    rows = [one for one in rows if any(talk.has(word, one.named) for word in talk.asked.words)] or rows
    if _has("promise_broken", talk):
        broken = [one for one in rows if one.kind == "broke"]
        yield None if broken else talk.say("promise.unbroken")
        rows = broken or rows
    elif _has("promise_kept", talk):
        rows = sorted(rows, key=lambda row: row.kind == "promised")
    if not rows:
        yield talk.say("promise.none")
    yield from _told(talk, rows[:MOST])


def owed(talk: Interview) -> Pieces:
    """Yields debts: what the character promised to give and has not given, and what card and starting memories say
    about owing."""
    rows = [row for row in talk.given.past.notes if row.kind == "promised" and row.act in GIVEN]
    due = list(_told(talk, [row for row in rows if not talk.asked.people or row.other in talk.asked.people]))
    return [*due, *(piece for piece in told_with(talk) if piece and (piece.ids or not due))]


GIVEN = frozenset({"lend", "give", "return"})
"""Acts of promises after which something is owed."""


def _told(talk: Interview, rows: list[PastNote]) -> Iterator[Piece | None]:
    for row in rows:
        deed = talk.say(f"promise.deed.{row.act or 'come'}", x=row.called, topic=row.named or row.topic)
        if deed is not None:
            yield talk.say(f"promise.{row.kind}", *row.because, mark=deed.text, deed=deed.text)


def _has(pattern: str, talk: Interview) -> bool:
    return re.search(phrases(talk.asked.language, "patterns")[pattern], talk.given.question, re.IGNORECASE) is not None
