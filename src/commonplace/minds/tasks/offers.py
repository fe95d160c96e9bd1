"""What an answer may choose from: ids, and the labels that a model knows them by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import cast
from unicodedata import combining, normalize

from commonplace.languages.language import language as spoken_language
from commonplace.minds.notes import FactNote, Given, ItemNote, News, Person, Recalled, Spot, ThingHere, Value, fields_of
from commonplace.minds.prompts.teller import gist, plain

_STATE = re.compile(r" ?\([^()]*\)(?=:)")
"""What stands behind the name of a thing: `stove (cold): USE` is `stove: USE`."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Ids and the labels a model knows them by, one to one: `noodle-bar` is `Mira's Noodle Bar`."""

    labels_by_id: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, named: Iterable[tuple[str, str]]) -> Choices:
        """Returns choices made of (id, name). A name that several share is told apart by its id: `Jun (jun2)`."""
        names = {id: plain(name) for id, name in named}
        shared = Counter(names.values())
        return cls({id: name if shared[name] == 1 else f"{name} ({id})" for id, name in names.items()})

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the labels in the order offered."""
        return tuple(self.labels_by_id.values())

    def only(self, ids: Iterable[str]) -> Choices:
        """Returns only these ids, in this order; an id without a label is its own."""
        return Choices({id: self.label(id) for id in ids})

    def label(self, id: str, otherwise: str | None = None) -> str:
        """Returns an id's label; for an id that is not offered, `otherwise` or the id itself."""
        return self.labels_by_id.get(id, id if otherwise is None else otherwise)

    def id(self, text: str) -> str | None:
        """Returns the id of a label, an id or both (`Jun (jun)`), in any case of letters; None if it is not offered."""
        wanted = plain(text).casefold()
        found = self._named(wanted)
        found = found or (self._named(bare) if (bare := _STATE.sub("", wanted)) != wanted else None)
        return found or self._nearly(wanted)

    def _nearly(self, wanted: str) -> str | None:
        """Returns the id of the only label that the text contains (`at Café Sixpence`) or nearly spells."""
        spelled = {id: _spelled(label) for id, label in self.labels_by_id.items()}
        text = _spelled(wanted)
        within = [id for id, label in spelled.items() if label and f" {label} " in f" {text} "]
        if len(within) > 1:  # `square` stands in `linden square`
            longest = max(len(spelled[id]) for id in within)
            within = [
                id
                for id in within
                if len(spelled[id]) == longest and all(spelled[other] in spelled[id] for other in within)
            ]
        alike = within or [id for id, label in spelled.items() if _is_alike(label, text)]
        return alike[0] if len(alike) == 1 else None

    def _named(self, wanted: str) -> str | None:
        for named in ("{label}", "{id}", "{label} ({id})"):
            for id, label in self.labels_by_id.items():
                if named.format(label=label, id=id).casefold() == wanted:
                    return id
        return None


_ALIKE, _LONG_ENOUGH = 0.85, 6
"""Least likeness of two spellings of a name, and characters from which on names are compared so."""


def _spelled(text: str) -> str:
    """Returns the words of a text in lower case, without accents and signs."""
    bare = "".join(sign for sign in normalize("NFD", text.casefold()) if not combining(sign))
    return normalize("NFC", " ".join(re.findall(r"\w+", bare)))


def _is_alike(label: str, text: str) -> bool:
    """Tells whether a text is a name with a letter or two wrong; `lamp 1` is not `lamp 2`."""
    if min(len(label), len(text)) < _LONG_ENOUGH or re.findall(r"\d", label) != re.findall(r"\d", text):
        return False
    return SequenceMatcher(None, label, text, autojunk=False).ratio() >= _ALIKE


def people(seen: Iterable[Person]) -> Choices:
    """Returns people by their short names."""
    return Choices.of((person.id, person.called) for person in seen)


def places(known: Iterable[Spot], items: Iterable[ItemNote | None] = ()) -> Choices:
    """Returns known places, and those the plan leads to, by name."""
    planned = ((item.location, item.location_name) for item in items if item is not None)
    return Choices.of((*((spot.id, spot.name) for spot in known), *planned))


def things(
    here: Iterable[ThingHere], offered: Mapping[str, Sequence[str]], words: Mapping[str, str] | None = None
) -> Choices:
    """Returns what can be done with things, or what they can become: id `stove USE`, label `stove: USE`.

    `offered`: thing → verbs or states. `words`: how a label names one that has other words.
    """
    names = Choices.of((thing.id, thing.name) for thing in here)
    said = words or {}
    return Choices({f"{id} {one}": f"{names.label(id)}: {said.get(one, one)}" for id in offered for one in offered[id]})


def alike(here: Iterable[ThingHere], offered: Mapping[str, Sequence[str]]) -> list[dict[str, Sequence[str]]]:
    """Returns groups of things that can become the same: `{things, states}`."""
    names = Choices.of((thing.id, thing.name) for thing in here)
    found: dict[tuple[str, ...], list[str]] = {}
    for id, states in offered.items():
        if states:
            found.setdefault(tuple(map(plain, states)), []).append(names.label(id))
    return [{"things": labels, "states": states} for states, labels in found.items()]


def uses(here: Iterable[ThingHere], offered: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns a text for each thing with its state and what can be done with it: `stove (cold): USE, OPEN`."""
    here = tuple(here)
    names = Choices.of((thing.id, thing.name) for thing in here)
    states = {thing.id: plain(thing.state) for thing in here}
    return [
        f"{names.label(id)}{f' ({states[id]})' if states.get(id) else ''}: {', '.join(verbs)}"
        for id, verbs in offered.items()
        if verbs
    ]


@dataclass(frozen=True, slots=True)
class Offers:
    """What the answer to one question may choose from."""

    people: Choices = field(default_factory=Choices)
    places: Choices = field(default_factory=Choices)
    things: Choices = field(default_factory=Choices)
    facts: Choices = field(default_factory=Choices)
    circumstances: Choices = field(default_factory=Choices)
    actions: Mapping[str, Choices] = field(default_factory=dict[str, Choices])
    """Kind of action → its targets; of two the id is `stove USE`, the label `stove: USE`."""


def memory_ids(value: object) -> Iterator[int]:
    """Yields the ids of all memories in a typed input: retrieved ones, those of news, and those that anything rests
    on."""
    match value:
        case Recalled():
            yield value.id
        case News() if value.memory_id:
            yield value.memory_id
        case Given() | Value():
            for name, inner in fields_of(value):
                yield from inner if name == "because" else memory_ids(inner)
        case Mapping():
            yield from memory_ids(tuple(cast("Mapping[str, object]", value).values()))
        case list() | tuple():
            for inner in cast("Sequence[object]", value):
                yield from memory_ids(inner)
        case _:
            pass


def fact_titles(known: Iterable[FactNote], language: str) -> Choices:
    """Returns facts by their titles."""
    return Choices.of((fact.id, title_of(fact.text, language)) for fact in known)


LONGEST_TITLE = 40


def title_of(text: str, language: str) -> str:
    """Returns the title of news: `the lantern festival`; a short sentence in which nothing is named stays whole."""
    return spoken_language(language).noun_phrase(text) or gist(plain(text).rstrip(".!"), LONGEST_TITLE)
