"""What a speaker knows of its own past, asked for by subject: what was told, heard, asked and attended."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from commonplace.character.account import as_topic
from commonplace.languages.language import Language
from commonplace.minds.notes import Past, PastNote

DAY = 24 * 60
QUESTIONS = frozenset({"asked", "was_asked"})


def notes_on(past: Past, kinds: Collection[str], topic: str, spoken: Language) -> Iterator[PastNote]:
    """Yields the rows of these kinds on a subject, which may be named or be the id of a fact; latest first."""
    bare, name = spoken.bare(topic).lower(), as_topic(topic)
    if not bare:
        return
    for note in past.notes:
        if note.kind in kinds and (note.topic in (topic, name) or bare in note.text.lower()):
            yield note


def attended(past: Past, topic: str, spoken: Language) -> PastNote | None:
    """Returns the row that says I was at an occasion; None if I was not."""
    return next(notes_on(past, {"attended"}, topic, spoken), None)


def has_asked(past: Past, you: str, act: str, topic: str, spoken: Language) -> bool:
    """Tells whether I have put this question to somebody before, or any question on the subject within a day."""
    asked = (note for note in notes_on(past, {"asked"}, topic, spoken) if note.other == you)
    return any(note.act == act or note.minutes_ago < DAY for note in asked)


def was_spoken_of(past: Past, you: str, fact: str) -> bool:
    """Tells whether one of us has asked the other how an event was."""
    return any(
        note.kind in QUESTIONS and note.other == you and note.act == "ask.event" and note.topic == fact
        for note in past.notes
    )


def told_others(past: Past, you: str, topics: Collection[str]) -> list[PastNote]:
    """Returns the rows of others whom I have told of any of these subjects, latest first."""
    return [note for note in past.notes if note.kind == "told" and note.other != you and note.topic in topics]


def heard_of(past: Past, topics: Collection[str]) -> list[PastNote]:
    """Returns the rows of people from whom I have heard of any of these subjects, latest first."""
    return [note for note in past.notes if note.kind == "heard" and note.topic in topics]


def times_heard(past: Past, you: str, topic: str) -> int:
    """Returns how often somebody has told me of a subject."""
    name = as_topic(topic)
    return next((one.times for one in past.notes if one.kind == "heard" and one.other == you and one.topic == name), 0)


def spoke_of(past: Past, you: str, topic: str, spoken: Language, within: int) -> bool:
    """Tells whether one of us has told the other of a subject in these last minutes."""
    told = notes_on(past, {"told", "heard"}, topic, spoken)
    return any(note.other == you and note.minutes_ago < within for note in told)


HURTS = frozenset({"broke_word", "spoke_ill", "told_secret"})
"""What is worth a word of reproach."""


def open_hurt(past: Past, you: str) -> PastNote | None:
    """Returns the row of a hurt within three days for which I have not reproached somebody."""
    hurt = next((one for one in past.notes if one.kind == "hurt" and one.other == you and one.act in HURTS), None)
    if hurt is None or hurt.minutes_ago > 3 * DAY:
        return None
    since = (one for one in past.notes if one.other == you and one.minutes_ago <= hurt.minutes_ago)
    spoken = any(one.act in {"reproach", "apologised"} for one in since)
    return None if spoken else hurt


def open_debt(past: Past, you: str) -> PastNote | None:
    """Returns the row of a word that I broke to somebody within three days and have not apologised for."""
    broke = next((one for one in past.notes if one.kind == "broke" and one.other == you), None)
    if broke is None or broke.minutes_ago > 3 * DAY:
        return None
    since = (one for one in past.notes if one.kind == "told" and one.other == you)
    spoken = any(one.act == "apologise" and one.minutes_ago <= broke.minutes_ago for one in since)
    return None if spoken else broke
