"""What an answer may choose from, under the names a model is told: `Mira's Noodle Bar` instead of `noodle-bar`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from commonplace.minds.notes import Item, Person, Spot, ThingHere
from commonplace.minds.prompts.telling import plain


@dataclass(frozen=True, slots=True)
class Choices:
    """Ids and their labels, one to one."""

    pairs: tuple[tuple[str, str], ...]
    """(id, label)."""

    @classmethod
    def of(cls, named: Iterable[tuple[str, str]]) -> Choices:
        """From (id, name); a name that several share is told apart by its id."""
        names = {id: plain(name) for id, name in named}
        shared = Counter(names.values())
        return cls(tuple((id, name if shared[name] == 1 else f"{name} ({id})") for id, name in names.items()))

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order given."""
        return tuple(label for _, label in self.pairs)

    def label(self, id: str) -> str:
        """An id's label; an id that is not offered is its own."""
        return dict(self.pairs).get(id, id)

    def id(self, text: str) -> str | None:
        """The id of a label, or of an id itself, upper and lower case alike; None for what is not offered."""
        wanted = plain(text).casefold()
        by_label = {label.casefold(): id for id, label in self.pairs}
        by_id = {id.casefold(): id for id, _ in self.pairs}
        return by_label.get(wanted) or by_id.get(wanted)


def people(seen: Sequence[Person]) -> Choices:
    """By the names others call them."""
    return Choices.of((person.id, person.called) for person in seen)


def places(known: Iterable[Spot]) -> Choices:
    """By name."""
    return Choices.of((spot.id, spot.name) for spot in known)


def reachable(known: Iterable[Spot], here: Spot, items: Iterable[Item | None] = ()) -> Choices:
    """Known places, the one where one is, and those the plan leads to."""
    planned = (Spot(id=item.location, name=item.location_name) for item in items if item is not None)
    return places((*known, here, *planned))


def uses(things: Sequence[ThingHere]) -> Choices:
    """What can be done with what: id `stove USE`, label `stove: USE`."""
    return Choices(
        tuple(
            (f"{thing.id} {verb}", f"{label}: {verb}")
            for thing, label in zip(things, Choices.of((one.id, one.name) for one in things).labels, strict=True)
            for verb in thing.verbs
        )
    )
