"""Who lives in a generated town: homes and kin, work and school, where people know each other from, what they remember.

A function of the number of people alone: each draw is keyed by what it is for. The words are in `words/`. A city is
several towns, its quarters, each with a number that is part of their draws, their ids and the names of their places.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from string import Template
from typing import Any, Final

from commonplace import rng
from commonplace.scenario.loading import read

Words = Mapping[str, Any]

KEY: Final = "new town"
"""What every draw begins with."""
PER_DISTRICT, MOST_DISTRICTS = 12, 14
CLASS = 14
"""Children in one school."""
PER_PLACE = 2
"""Colleagues in one place, about."""
WITHOUT_A_PLACE = 13
"""Of so many who work, one works at home."""
RETIRES = 66
IN_QUARTER = 150
"""People in a quarter of a city, at most: as many as first and family names go round."""


@lru_cache(maxsize=8)
def town_words(name: str) -> Words:
    """Returns a file of `words/` as data."""
    source = files("commonplace.parts.new_town").joinpath("words", f"{name}.yaml").read_text(encoding="utf-8")
    return read(source, name).data


# ── people and places ────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Quarter:
    """A town by itself, or one of those that make up a city."""

    number: int = 0
    """From 1; 0 for a town by itself."""
    name: str = ""

    @property
    def key(self) -> tuple[rng.Key, ...]:
        """What every draw begins with that is not keyed by a person."""
        return (KEY, self.number) if self.number else (KEY,)

    def id(self, name: str) -> str:
        """Returns the id of what has this name in the quarter."""
        plain = re.sub(r"[^a-z]+", "-", name.lower().replace("'", "")).strip("-")
        return f"{plain}-{self.number}" if self.number else plain

    def named(self, name: str) -> str:
        """Returns the name of a place, which no other quarter has: `the Alderford Post Office`."""
        if not self.number:
            return name
        return f"the {self.name} {name[4:]}" if name.startswith("the ") else f"{self.name} {name}"


@dataclass(slots=True, eq=False)
class District:
    """An open place with the homes around it."""

    number: int
    called: str
    """What it is called in its own quarter."""
    thing: str
    kind: str
    quarter: Quarter
    homes: list[Home] = field(default_factory=list["Home"])
    places: list[Place] = field(default_factory=list["Place"])

    @property
    def id(self) -> str:
        """The area."""
        return self.quarter.id(self.called)

    @property
    def name(self) -> str:
        """`Mill Green`, in a city `Alderford Mill Green`."""
        return self.quarter.named(self.called)

    @property
    def local(self) -> Place:
        """Where the district eats."""
        return next(place for place in self.places if place.trade.get("local"))


@dataclass(slots=True, eq=False)
class Home:
    """A home and its household, the first of whom gave it the name."""

    people: list[Person] = field(default_factory=list["Person"])

    @property
    def id(self) -> str:
        """The area."""
        return f"{self.people[0].id}-home"

    @property
    def name(self) -> str:
        """`Moreau House`, `Ada's Flat`."""
        first = self.people[0]
        kin = sum(1 for one in self.people if one.family == first.family)
        if kin < 2:
            return f"{first.boss}'s Flat"
        return first.district.quarter.named(f"{first.family} {'House' if kin > 2 else 'Cottage'}")


@dataclass(slots=True, eq=False)
class Place:
    """A place of work."""

    id: str
    trade_id: str
    trade: Words
    district: District
    staff: list[Person] = field(default_factory=list["Person"])

    @property
    def name(self) -> str:
        """Called after who runs it, or after where it is."""
        form = self.trade["place"]
        if not form.startswith("$"):
            return self.district.quarter.named(form)
        boss = self.staff[0].boss if self.staff else ""
        return Template(form).substitute(boss=boss, district=self.district.name, centre=self.district.name)


@dataclass(slots=True, eq=False)
class Memory:
    """Something remembered, in words."""

    text: str
    topic: str
    importance: int
    tell: list[str]
    sort: str = ""
    about: str = ""
    plan: bool = False
    replies: Sequence[Words] = ()


@dataclass(slots=True, eq=False)
class Tie:
    """How somebody sees somebody else."""

    other: Person
    label: str
    warmth: int


@dataclass(slots=True, eq=False)
class Person:
    """Somebody who lives in the town."""

    number: int
    called: str
    family: str
    pronoun: str
    age: int
    role: str
    """In the household: adult, partner, child, grandparent, sibling, lodger, elder."""
    home: Home
    district: District
    place: Place | None = None
    """Where it works or goes to school; None for who works at home or has retired."""
    job: int = 0
    """Number of its position there."""
    club: Words | None = None
    ties: dict[str, Tie] = field(default_factory=dict[str, Tie])
    memories: list[Memory] = field(default_factory=list[Memory])

    @property
    def id(self) -> str:
        """The id of the character."""
        return self.district.quarter.id(self.called)

    @property
    def boss(self) -> str:
        """The name in that of its place: the first name, where only one has it."""
        return self.name if self.district.quarter.number else self.called

    @property
    def name(self) -> str:
        """First name and family name."""
        return f"{self.called} {self.family}"

    @property
    def child(self) -> bool:
        """True for somebody who goes to school."""
        return self.role == "child"

    @property
    def retired(self) -> bool:
        """True for somebody past working."""
        return self.age >= RETIRES

    @property
    def trade(self) -> Words | None:
        """The trade it works in; None for children and the retired."""
        if self.child or self.retired:
            return None
        return self.place.trade if self.place else town_words("trades")["home"]

    @property
    def slots(self) -> dict[str, str]:
        """Its pronouns."""
        return _PRONOUNS[self.pronoun]

    def chance(self, percent: int, *key: rng.Key) -> bool:
        """Makes a draw of its own."""
        return rng.below(100, KEY, self.number, *key) < percent


_PRONOUNS = {
    "she": {"they": "she", "them": "her", "their": "her", "themself": "herself"},
    "he": {"they": "he", "them": "him", "their": "his", "themself": "himself"},
}
_OTHERS = {"she": {"he": "she", "him": "her", "his": "her"}, "he": {"he": "he", "him": "him", "his": "his"}}


@dataclass(slots=True)
class Town:
    """Who lives there, in order of their homes, and where."""

    people: list[Person]
    centre: District
    """The square in the middle, where nobody lives."""
    districts: list[District]

    @property
    def quarter(self) -> Quarter:
        """What its draws, ids and names begin with."""
        return self.centre.quarter

    @property
    def places(self) -> list[Place]:
        """All places of work."""
        return [place for district in (self.centre, *self.districts) for place in district.places]

    def find(self, trade: str, near: District | None = None) -> Place | None:
        """Returns the place of a trade, in one district or anywhere."""
        return next((one for one in self.places if one.trade_id == trade and near in {None, one.district}), None)


def settled(size: int) -> Town:
    """Makes a town of `size` people (10 or more)."""
    return _settled(size, Quarter(), 0, set(), Counter())


def quarters(size: int) -> list[Town]:
    """Makes the quarters of a city of `size` people, each about as large."""
    first, second = town_words("names")["quarters"]
    names = [f"{one}{other}" for other in second for one in first]
    number, people = -(-size // IN_QUARTER), 0
    taken, used, made = set[str](), Counter[str](), list[Town]()
    for index in range(number):
        here = size * (index + 1) // number - people
        made.append(_settled(here, Quarter(index + 1, names[index]), people, taken, used))
        people += here
    return made


def _settled(size: int, quarter: Quarter, first: int, taken: set[str], used: Counter[str]) -> Town:
    """Makes a town whose people are numbered from `first`. Adds their names to `taken` and what they remember to
    `used`."""
    names = town_words("names")
    number = max(2, min(MOST_DISTRICTS, -(-size // PER_DISTRICT)))
    centre = District(-1, names["centre"], "notice board", "board", quarter)
    districts = [
        District(index, one["name"], one["thing"], one["kind"], quarter)
        for index, one in enumerate(rng.shuffled(names["districts"], *quarter.key, "districts")[:number])
    ]
    town = Town(_peopled(size, districts, first, taken), centre, districts)
    _employ(town)
    _join_clubs(town)
    _Histories(town, used).tell()
    return town


# ── households ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _peopled(size: int, districts: Sequence[District], number: int, taken: set[str]) -> list[Person]:
    """Makes households, their people numbered from `number`. No two have one full name, nor one first name in a
    quarter."""
    names, forms, key = town_words("names"), town_words("lives")["households"], districts[0].quarter.key
    first = {pronoun: rng.shuffled(names[pronoun], *key, pronoun) for pronoun in ("she", "he")}
    families = iter(rng.shuffled(names["family"], *key, "families"))
    people: list[Person] = []
    while len(people) < size:
        left, home_number = size - len(people), number + len(people)
        fits = [(form, weight) for weight, form in forms if len(form) - form.count("+") <= left]
        district = districts[len(people) * len(districts) // size]
        home = Home()
        district.homes.append(home)
        family, head = next(families), 0
        for member, role in enumerate(rng.weighted(fits, KEY, "household", home_number)):
            if role == "+":
                family = next(families)
                continue
            pronoun = _pronoun(role, home, home_number, member)
            age = _age(role, head, home_number, member)
            head = head or age
            called = next(one for one in first[pronoun] if f"{one} {family}" not in taken)
            first[pronoun].remove(called)
            taken.add(f"{called} {family}")
            person = Person(number + len(people), called, family, pronoun, age, role, home, district)
            home.people.append(person)
            people.append(person)
    return people


def _pronoun(role: str, home: Home, key: int, member: int) -> str:
    drawn = ("she", "he")[rng.below(2, KEY, "pronoun", key, member)]
    if role == "partner" and rng.below(10, KEY, "couple", key):
        return "he" if home.people[0].pronoun == "she" else "she"
    return drawn


def _age(role: str, head: int, key: int, member: int) -> int:
    """Draws years; `head` is the age of the household's first, 0 for that one."""
    spread = rng.below(100, KEY, "age", key, member)
    match role:
        case "partner" | "sibling":
            return max(24, head - 5 + spread % 11)
        case "child":
            return 8 + spread % 10
        case "grandparent":
            return max(RETIRES, head + 24 + spread % 8)
        case "lodger":
            return 20 + spread % 16
        case "elder":
            return RETIRES + 1 + spread % 18
        case _:
            return 34 + spread % 17


# ── work, school, clubs ──────────────────────────────────────────────────────────────────────────────────────────────


def _employ(town: Town) -> None:
    """Gives everybody of working age work, and every child a school."""
    workers = rng.shuffled([one for one in town.people if not one.child and not one.retired], *town.quarter.key, "work")
    children = [one for one in town.people if one.child]
    home = [one for number, one in enumerate(workers) if number % WITHOUT_A_PLACE == WITHOUT_A_PLACE - 1]
    for number, one in enumerate(home):
        one.job = number
    workers = [one for one in workers if one not in home]
    places = _founded(town, len(workers), -(-len(children) // CLASS))
    for number, one in enumerate(workers):
        one.place = places[number % len(places)]
        one.job = len(one.place.staff)
        one.place.staff.append(one)
    for place in places:
        if place.staff:
            place.district.places.append(place)
    schools = [place for place in places if place.trade.get("school")]
    for one in children:
        near = [school for school in schools if school.district is one.district]
        one.place = (near or schools)[one.number % len(near or schools)]


def _founded(town: Town, workers: int, schools: int) -> list[Place]:
    """Founds as many places as the workers fill: a local for each district, schools, and the trades in their order."""
    trades = town_words("trades")
    locals_ = [name for name, trade in trades.items() if trade.get("local")]
    first = [_place(locals_[one.number % len(locals_)], one, every=True) for one in town.districts]
    first += [
        _place("school", town.districts[number * len(town.districts) // schools], every=True)
        for number in range(schools)
    ]
    others = [name for name, trade in trades.items() if not {"local", "school", "at_home"} & set(trade)]
    number = max(0, min(workers, max(len(first), workers // PER_PLACE)) - len(first))
    rest = [
        _place(name, town.centre if trades[name].get("central") else town.districts[index % len(town.districts)])
        for index, name in enumerate(others[:number])
    ]
    return [*first, *rest]


def _place(trade: str, district: District, *, every: bool = False) -> Place:
    id = district.quarter.id(f"{trade} {district.called}" if every else trade)
    return Place(id, trade, town_words("trades")[trade], district)


def _join_clubs(town: Town) -> None:
    """Gives a club to most of those who have their evenings to themselves."""
    clubs = [club for club in town_words("lives")["clubs"] if _meets(town, town.districts[0], club)]
    for one in town.people:
        is_late = one.trade is not None and one.trade["hours"] == "late"
        if not one.child and not is_late and one.chance(75, "club"):
            one.club = rng.choice(clubs, KEY, one.number, "which club")


def _meets(town: Town, district: District, club: Words) -> str:
    """Returns the id of the area where a club meets; empty where there is none."""
    match club["place"]:
        case "green":
            return district.id
        case "local":
            return district.local.id
        case "park":
            place = town.find("gardens")
        case other:
            place = town.find(other)
    return place.id if place else ""


def club_place(town: Town, one: Person) -> tuple[str, Place | None]:
    """Returns where somebody's club meets: the area, and the place of work it is (None on a green)."""
    assert one.club is not None
    # The first districts have clubs enough for all: those of a club shall meet, wherever they live.
    host = town.districts[
        rng.below(max(1, len(town.districts) // 3), *town.quarter.key, one.club["name"], one.district.number % 3)
    ]
    area = _meets(town, host, one.club)
    return area, next((place for place in town.places if place.id == area), None)


# ── histories ────────────────────────────────────────────────────────────────────────────────────────────────────────


_FIELDS = frozenset({"text", "topic", "weight", "sort", "tell", "replies", "label", "theirs"})
_SENTENCE = re.compile(r"(^|[.!?] )([\"']?)([a-z])")


class _Histories:
    """Hands out what is remembered: the entry used least comes first, and its words change from use to use."""

    def __init__(self, town: Town, used: Counter[str]) -> None:
        self._town, self._used = town, used
        self._lives = town_words("lives")

    def tell(self) -> None:
        """Gives everybody ties and memories."""
        for one in self._town.people:
            if one.trade is not None:
                for _ in range(1 if self._town.quarter.number else 2):
                    self._remember(one, one.trade["memories"])
            for other in one.home.people:
                if other is not one:
                    label, pool, warmth = _kinship(one, other)
                    self._tie(one, other, label, warmth)
                    if pool:
                        self._remember(one, self._lives[pool], other)
        self._neighbours()
        for place in self._town.places:
            self._colleagues(place)
        for one in self._town.people:
            self._friends(one)
        self._quarrels()
        self._secrets()
        for one in self._town.people:
            self._alone(one)

    def _neighbours(self) -> None:
        """Ties grown people of homes side by side, one of each."""
        for district in self._town.districts:
            for home, following in zip(district.homes, district.homes[1:], strict=False):
                one, other = home.people[-1 if len(home.people) == 2 else 0], following.people[0]
                for me, you in ((one, other), (other, one)):
                    self._tie(me, you, "neighbour", 18)
                    self._remember(me, self._lives["neighbour"], you)

    def _colleagues(self, place: Place) -> None:
        for one in place.staff:
            others = [other for other in place.staff if other is not one]
            for other in others:
                self._tie(one, other, "colleague", 22)
            if others:
                self._remember(one, self._lives["colleague"], rng.choice(others, KEY, one.number, "colleague"))
        pupils = [one for one in self._town.people if one.child and one.place is place]
        for number, one in enumerate(pupils):
            teacher = place.staff[number % len(place.staff)]
            self._tie(one, teacher, "teacher", 25)
            self._tie(teacher, one, "pupil", 28)
            self._remember(one, self._lives["pupil"], teacher)
            if number < 2 * len(place.staff):
                self._remember(teacher, self._lives["teacher"], one)

    def _friends(self, one: Person) -> None:
        """Gives one or two friends from earlier, of about the same age, mostly from elsewhere in the town."""
        pool = self._lives["classmates" if one.child else "origins"]
        labels = {entry["label"] for entry in pool}
        wanted = 1 + one.chance(40, "friends") - _friendships(one, labels)
        near = [
            other for other in self._town.people
            if other.child == one.child and abs(other.age - one.age) <= (4 if one.child else 12)
            and other.home is not one.home and other.id not in one.ties and _friendships(other, labels) < 2
        ]  # fmt: skip
        for other in rng.shuffled(near, KEY, one.number, "friends")[: max(0, wanted)]:
            entry = self._entry(one, pool, other)
            if entry is None:
                return
            words = self._words(entry)
            for me, you in ((one, other), (other, one)):
                self._tie(me, you, entry["label"], 46)
                self._add(me, entry, words, you)

    def _quarrels(self) -> None:
        """Begins one old quarrel for each dozen people, among those who are not close."""
        grown = [one for one in self._town.people if not one.child and one.age >= 30]
        pairs = rng.shuffled(grown, *self._town.quarter.key, "quarrels")
        for number in range(min(len(grown) // 2, len(self._town.people) // 12)):
            one, other = pairs[2 * number : 2 * number + 2]
            if other.id in one.ties:
                continue
            entry = self._entry(one, self._lives["quarrels"])
            if entry is None:
                continue
            label = f"old quarrel over a {entry['topic']}" if " " not in entry["topic"] else "old rival"
            self._tie(one, other, label, -32)
            self._tie(other, one, label, -24)
            self._add(one, entry, {}, other)
            self._add(other, {**entry, **entry["theirs"]}, {}, one)

    def _secrets(self) -> None:
        """Tells one in six something about somebody it is not close to."""
        grown = [one for one in self._town.people if not one.child]
        for one in self._town.people:
            known = [other for other in grown if other.home is not one.home and other is not one]
            if not one.child and known and one.chance(17, "secret"):
                other = rng.choice(known, KEY, one.number, "whose secret")
                self._remember(one, self._lives["secrets"], other, sort="secret")

    def _alone(self, one: Person) -> None:
        if one.child:
            counts = {"children": 4}
        elif one.retired:
            counts = {"elders": 3, "private": 3, "wishes": 1}
        else:
            counts = {"private": 4, "wishes": 1}
        if self._town.quarter.number:
            counts = dict.fromkeys(counts, 1)  # a file of thousands shall stay short
        for pool, count in counts.items():
            for _ in range(count):
                self._remember(one, self._lives[pool], plan=pool == "wishes")

    def _tie(self, one: Person, other: Person, label: str, warmth: int) -> None:
        """Adds a tie; the first of two is what they are to one another."""
        spread = rng.below(19, KEY, one.number, other.number, "warmth") - 9
        one.ties.setdefault(other.id, Tie(other, label, warmth + spread))

    def _remember(
        self, one: Person, pool: Sequence[Words], other: Person | None = None, *, sort: str = "", plan: bool = False
    ) -> None:
        entry = self._entry(one, pool)
        if entry is not None:
            self._add(one, entry, self._words(entry), other, sort=sort, plan=plan)

    def _entry(self, one: Person, pool: Sequence[Words], other: Person | None = None) -> Words | None:
        """Returns the entry used least so far, of those whose topic is new to this one, and to the other if both
        remember it; None when none is left."""
        topics = {memory.topic for person in (one, other) if person is not None for memory in person.memories}
        fresh = [entry for entry in pool if entry["topic"] not in topics]
        return min(
            fresh,
            key=lambda entry: (self._used[entry["text"]], rng.draw(KEY, one.number, entry["text"])),
            default=None,
        )

    def _words(self, entry: Words) -> dict[str, str]:
        """Returns the words of an entry's own slots, others at each use."""
        use = self._used[entry["text"]]
        self._used[entry["text"]] += 1
        own = {name: values for name, values in entry.items() if name not in _FIELDS}
        return {
            name: str(values[(use + rng.below(len(values), KEY, entry["text"])) % len(values)])
            for name, values in own.items()
        }

    def _add(
        self, one: Person, entry: Words, words: Mapping[str, str], other: Person | None = None, *, sort: str = "",
        plan: bool = False,
    ) -> None:  # fmt: skip
        slots = {"name": one.name, **one.slots}
        if other is not None:
            slots |= _OTHERS[other.pronoun] | {"other": other.name}
        slots |= {name: Template(value).substitute(slots) for name, value in words.items()}
        short = slots | ({"other": other.called} if other is not None else {})
        one.memories.append(
            Memory(
                text=_filled(entry["text"], slots),
                topic=entry["topic"],
                importance=entry.get("weight", 5),
                tell=[_filled(line, short) for line in entry["tell"]],
                sort=entry.get("sort", sort),
                about=other.id if other is not None else "",
                plan=plan,
                replies=entry.get("replies", ()),
            )
        )


def _friendships(one: Person, labels: set[str]) -> int:
    return sum(1 for tie in one.ties.values() if tie.label in labels)


def _filled(text: str, slots: Mapping[str, str]) -> str:
    """Fills the slots of a text, each sentence beginning with a capital letter."""
    filled = Template(text).substitute(slots)
    return _SENTENCE.sub(lambda found: f"{found[1]}{found[2]}{found[3].upper()}", filled)


_KIN: Mapping[tuple[str, str], tuple[str, str, str, int]] = {
    ("adult", "partner"): ("wife", "husband", "partner", 70),
    ("adult", "child"): ("daughter", "son", "parent", 82),
    ("adult", "sibling"): ("sister", "brother", "sibling", 55),
    ("adult", "grandparent"): ("mother", "father", "grandchild", 70),
    ("partner", "adult"): ("wife", "husband", "partner", 70),
    ("partner", "child"): ("daughter", "son", "parent", 82),
    ("partner", "grandparent"): ("mother-in-law", "father-in-law", "grandchild", 58),
    ("child", "adult"): ("mother", "father", "child", 76),
    ("child", "partner"): ("mother", "father", "child", 76),
    ("child", "child"): ("sister", "brother", "", 62),
    ("child", "grandparent"): ("grandmother", "grandfather", "grandchild", 72),
    ("sibling", "adult"): ("sister", "brother", "sibling", 55),
    ("grandparent", "adult"): ("daughter", "son", "", 78),
    ("grandparent", "partner"): ("daughter-in-law", "son-in-law", "", 60),
    ("grandparent", "child"): ("granddaughter", "grandson", "grandparent", 78),
}
"""By the roles of one and the other: what she and what he is to one, the pool of memories about that, the warmth."""


def _kinship(one: Person, other: Person) -> tuple[str, str, int]:
    """Returns what the other is to one who lives in the same home, the pool of memories about that, and the warmth."""
    she = other.pronoun == "she"
    if one.family != other.family:
        if one.role == other.role:
            return "housemate", "housemate", 30
        host = "landlady" if she else "landlord"
        return (host if one.role == "lodger" else "lodger"), "housemate", 28
    roles = ("adult" if role == "elder" else role for role in (one.role, other.role))
    hers, his, pool, warmth = _KIN[next(roles), next(roles)]
    return (hers if she else his), pool, warmth
