"""What one concludes from one's own past of today: whom one heard what from, whom one told, what one kept and what not.

Each names what happened and with whom, so it is true of this day and not of every day.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.languages.language import Language
from commonplace.minds.notes import Past, PastNote, Person

TODAY = 20 * 60
"""Minutes ago up to which something belongs to the day one thinks about."""
MOST_CITED = 6


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that holds over several memories."""

    kind: str
    """The rule `insight.…` that words it."""
    ids: tuple[int, ...]
    slots: Mapping[str, str]
    about: str
    strength: int
    place: str = ""
    """Id of the area where acting on it leads."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


def lessons(past: Past, people: Mapping[str, Person], spoken: Language) -> Iterator[Pattern]:
    """Yields lessons from the account of the day."""
    today = [note for note in past.notes if note.minutes_ago <= TODAY]
    yield from _promises(today, people, spoken)
    yield from _exchanges(today, people, spoken)
    yield from _going_round(past.notes, today, spoken)
    yield from _mine(today, spoken)
    yield from _for_once(today, spoken)


def _promises(today: Sequence[PastNote], people: Mapping[str, Person], spoken: Language) -> Iterator[Pattern]:
    """Yields a promise kept or broken."""
    for note in today:
        event = _named(note, spoken)
        if note.kind in {"kept", "broke"} and event and len(note.because) >= 1:
            ids = _ids([note, *(one for one in today if one.other == note.other)])
            yield Pattern(note.kind, ids, {**_of(note, people, spoken), "event": event}, note.other, 10)


def _exchanges(today: Sequence[PastNote], people: Mapping[str, Person], spoken: Language) -> Iterator[Pattern]:
    """Yields exchanges: somebody told me of one thing, and I told them of another."""
    told = {note.other: note for note in reversed(today) if note.kind == "told" and _named(note, spoken)}
    heard = {note.other: note for note in reversed(today) if note.kind == "heard" and _named(note, spoken)}
    for other, theirs in sorted(heard.items()):
        mine = told.get(other)
        slots = {**_of(theirs, people, spoken), "topic": _named(theirs, spoken)}
        if mine is not None and spoken.bare(_named(mine, spoken)) != spoken.bare(slots["topic"]):
            ids, topics = _ids([theirs, mine]), {"other": _named(mine, spoken)}
            yield Pattern("exchange", ids, {**slots, **topics}, other, 8 - min(4, theirs.minutes_ago // 240))
        elif theirs.times == 1 and theirs.minutes_ago < TODAY // 2:
            ids = _ids([note for note in today if note.other == other])
            yield Pattern("new_subject", ids, slots, other, 5)


def _going_round(notes: Sequence[PastNote], today: Sequence[PastNote], spoken: Language) -> Iterator[Pattern]:
    """Yields a subject of which two or more have spoken to me, one of them today."""
    heard: dict[str, dict[str, PastNote]] = defaultdict(dict)
    for note in notes:
        if note.kind == "heard" and spoken.is_common(_named(note, spoken)):
            heard[note.topic].setdefault(note.called, note)
    fresh = {note.topic for note in today if note.kind == "heard"}
    for topic, tellers in sorted(heard.items()):
        if len(tellers) >= 2 and topic in fresh:
            (first, one), (second, other) = sorted(tellers.items(), key=lambda pair: -pair[1].minutes_ago)[-2:]
            slots = {"x": first, "y": second, "topic": _named(other, spoken)}
            yield Pattern("round", _ids([one, other]), slots, topic, 5 + min(3, len(tellers)))


def _mine(today: Sequence[PastNote], spoken: Language) -> Iterator[Pattern]:
    """Yields a subject I have brought up with several people today."""
    told: dict[str, list[PastNote]] = defaultdict(list)
    for note in today:
        if note.kind == "told" and _named(note, spoken):
            told[note.topic].append(note)
    for topic, notes in sorted(told.items()):
        if len(notes) >= 2:
            names = spoken.both([note.called for note in notes[:2]])
            slots = {"xs": names, "topic": _named(notes[0], spoken)}
            yield Pattern("mine", _ids(notes), slots, topic, 5 + len(notes))


def _for_once(today: Sequence[PastNote], spoken: Language) -> Iterator[Pattern]:
    """Yields something I did that is not routine."""
    for note in today:
        if note.kind == "did" and spoken.is_doing(note.named) and len(note.because) >= 2:
            yield Pattern("once", note.because, spoken.doing(note.named), note.topic, 6)


def _named(note: PastNote, spoken: Language) -> str:
    """Returns the subject of a row in my words; empty if it cannot be named well."""
    if note.text:
        return spoken.noun_phrase(note.text)
    if note.kind == "heard":
        return spoken.turned(note.named, spoken.possessed(note.called), "my")
    return note.named


def _of(note: PastNote, people: Mapping[str, Person], spoken: Language) -> dict[str, str]:
    person = people.get(note.other)
    return {"x": note.called, **spoken.pronouns(person.pronoun if person else "")}


def _ids(notes: Sequence[PastNote]) -> tuple[int, ...]:
    return tuple(sorted({memory for note in notes for memory in note.because}))[:MOST_CITED]
