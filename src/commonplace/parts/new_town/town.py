"""A town of 10 to 200 people as a commented scenario: districts, homes, places of work, days, news and a map.

A city of more people is several such towns, its quarters, a few of them around each crossing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import Template
from typing import Any

from commonplace import rng
from commonplace.parts.new_town.census import (
    KEY,
    District,
    Home,
    Person,
    Place,
    Town,
    club_place,
    quarters,
    settled,
    town_words,
)
from commonplace.parts.new_town.occasions import occasions
from commonplace.parts.new_town.town_parts import flow, listed, quoted, replies, things_at_work, things_outside
from commonplace.scenario.findings import minutes

START = "2031-10-06"
"""A Monday."""


def town_text(name: str, size: int) -> str:
    """Writes the scenario as YAML. Another name for the same size changes the name only."""
    town = settled(size)
    homes = sum(len(district.homes) for district in town.districts)
    about = [f"{size} people in {homes} homes, in {len(town.districts)} districts around {town.centre.name}:"]
    for district in town.districts:
        work = ", ".join(place.name for place in district.places)
        about.append(f"  {district.name}: {sum(len(home.people) for home in district.homes)} people; {work}")
    if town.centre.places:
        about.append(f"  {town.centre.name}: {', '.join(place.name for place in town.centre.places)}")
    return "\n".join([*_scenario(name, "town", about, [town]), *_map(town), ""])


def city_text(name: str, size: int) -> str:
    """Writes a city as `town_text` does a town: shorter, what is said twice stands there once, and without a map."""
    towns = quarters(size)
    about = [f"{size} people in {len(towns)} quarters, each a town of its own around its {towns[0].centre.called}:"]
    about += [f"  {town.quarter.name}: {len(town.people)} people" for town in towns]
    return "\n".join(_said_once([*_scenario(name, "city", about, towns), ""]))


def _said_once(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines; a list that stands there again becomes an alias of the first."""
    blocks: list[tuple[str, ...]] = []
    for line in lines:
        if blocks and blocks[-1][0].strip() in _RECUR and _indent(line) > _indent(blocks[-1][0]):
            blocks[-1] = (*blocks[-1], line)
        else:
            blocks.append((line,))
    times, names = Counter(blocks), dict[tuple[str, ...], str]()
    for block in blocks:
        head = block[0]
        if len(block) == 1 or times[block] == 1:
            yield from block
        elif block in names:
            yield f"{head} *{names[block]}"
        else:
            names[block] = f"{head.strip()[:-1]}-{len(names) + 1}"
            yield from (f"{head} &{names[block]}", *block[1:])


_RECUR = ("phases:", "tell:", "replies:")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# ── head ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _scenario(name: str, sort: str, about: Iterable[str], towns: Sequence[Town]) -> Iterator[str]:
    """Yields everything but the map."""
    size = sum(len(town.people) for town in towns)
    yield "# A scenario for Commonplace. Change anything; `commonplace check` tells every mistake with its line."
    yield "# docs/scenarios.md explains every key."
    yield "#"
    yield from (f"# {line}" for line in about)
    yield ""
    yield f"name: {name}"
    yield f"title: A {sort} of {size}"
    what = "homes, work, histories, a few quarrels and secrets, and news to pass on"
    yield f"summary: {quoted(f'{size} people with {what}.')}"
    yield f"people: {size:<15} # how many characters the file holds"
    yield "language: en            # en or ko: what the characters speak"
    yield ""
    yield "clock:"
    yield f"  start: {START}T06:00:00   # a Monday"
    yield "  tick_minutes: 5       # simulated minutes in a tick"
    yield ""
    yield from _world(sort, towns)
    yield "characters:"
    for town in towns:
        yield from (line for one in town.people for line in (*_character(town, one), ""))
    yield from _facts(towns)
    yield "climate:"
    yield "  sky: clear"
    yield "  temperature: mild"
    yield ""
    yield from occasions(towns)


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


AT_CROSSING = 9
"""Quarters around a crossing, at most."""


def _world(sort: str, towns: Sequence[Town]) -> Iterator[str]:
    yield "world:"
    yield "  root:                 # areas hold areas and objects; between an area and each area in it there is a way"
    yield f"    id: {sort}"
    yield f"    name: the {sort.title()}"
    yield "    outdoor: true"
    yield "    areas:"
    if len(towns) == 1:
        yield from _open_place(towns[0].centre, towns[0].districts)
    for number, first in enumerate(range(0, len(towns) if len(towns) > 1 else 0, AT_CROSSING), 1):
        around = towns[first : first + AT_CROSSING]
        yield f"      - id: crossing-{number}"
        yield f"        name: {around[0].quarter.name} Crossing"
        yield "        outdoor: true"
        yield "        areas:"
        for town in around:
            yield from _open_place(town.centre, town.districts)
    yield ""
    yield "  ways:                 # from each district to the next, besides the ways over the centre"
    for town in towns:
        for one, other in zip(town.districts, [*town.districts[1:], town.districts[0]], strict=True):
            if one.number < other.number or len(town.districts) > 2:
                yield f"    - between: [{one.id}, {other.id}]"
    for town, following in pairwise(towns):
        yield f"    - between: [{town.centre.id}, {following.centre.id}]"
    yield ""
    used = {kind for town in towns for _, _, kind in _all_objects(town)}
    yield "  kinds:                # what objects can be, and what can be done with them"
    for kind, body in town_words("kinds").items():
        if kind in used:
            yield from _kind(kind, body)
    yield ""


def _kind(name: str, body: Mapping[str, Any]) -> Iterator[str]:
    yield f"    {name}:"
    yield f"      states: {listed(body['states'])}"
    yield "      verbs:"
    for verb, moves in body["verbs"].items():
        yield f"        {verb}: [{', '.join(map(flow, moves))}]"
    for key in ("refusals", "words"):
        if key in body:
            yield f"      {key}: {flow(body[key])}"


def _open_place(district: District, around: Iterable[District] = ()) -> Iterator[str]:
    """Yields a district: its open place, then the homes and places of work around it; in the centre, the other
    districts."""
    pad = " " * ((6 if around else 10) + 4 * bool(district.quarter.number))
    yield f"{pad}# ── {district.name} {'─' * max(3, 60 - len(district.name))}"
    yield f"{pad}- id: {district.id}"
    yield f"{pad}  name: {quoted(district.name)}"
    yield f"{pad}  outdoor: true"
    if around and district.quarter.number:
        yield f"{pad}  private: true         # at first only those who live in the quarter know its places"
    yield from _objects(f"{pad}  ", things_outside(district))
    yield f"{pad}  areas:"
    for place in district.places:
        yield from _room(
            f"{pad}    ", place.id, place.name, things_at_work(place), outdoor=bool(place.trade.get("outdoor"))
        )
    for home in district.homes:
        yield f"{pad}    # {'; '.join(f'{one.name}, {one.age}' for one in home.people)}"
        yield from _room(f"{pad}    ", home.id, home.name, _things_at_home(home), private=True)
    for other in around:
        yield from _open_place(other)


def _room(pad: str, area: str, name: str, things: list[tuple[str, str, str]], **marks: bool) -> Iterator[str]:
    yield f"{pad}- id: {area}"
    yield f"{pad}  name: {quoted(name)}"
    for mark, is_set in marks.items():
        if is_set:
            yield f"{pad}  {mark}: true"
    yield from _objects(f"{pad}  ", things)


def _objects(pad: str, things: list[tuple[str, str, str]]) -> Iterator[str]:
    yield f"{pad}objects:"
    for thing, name, kind in things:
        yield f"{pad}  - {flow({'id': thing, 'name': name, 'kind': kind})}"


_BEDS = ("bed by the window", "bed by the door", "narrow bed", "bed under the eaves", "folding bed")


def _things_at_home(home: Home) -> list[tuple[str, str, str]]:
    beds = ("bed",) if len(home.people) == 1 else _BEDS
    return [
        (f"{home.id}-kettle", "kettle", "kettle"),
        (f"{home.id}-table", "kitchen table", "table"),
        *((f"{one.id}-bed", beds[number], "bed") for number, one in enumerate(home.people)),
    ]


def _all_objects(town: Town) -> Iterator[tuple[str, str, str]]:
    for district in (town.centre, *town.districts):
        yield from things_outside(district)
        for place in district.places:
            yield from things_at_work(place)
        for home in district.homes:
            yield from _things_at_home(home)


# ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _character(town: Town, one: Person) -> Iterator[str]:
    trade, number = one.trade, one.job
    yield f"  - id: {one.id}"
    yield f"    name: {one.name}"
    yield f"    age: {one.age}"
    yield f"    pronoun: {one.pronoun}"
    yield f"    work: {quoted(_work(one))}"
    traits = [
        rng.choice(row, KEY, one.number, "trait", index) for index, row in enumerate(town_words("names")["traits"])
    ]
    yield f"    traits: {listed(traits)}"
    yield f"    background: {quoted(_background(one))}"
    if trade is not None:
        goal = Template(trade["goal"][number % len(trade["goal"])]).substitute(one.slots)
        yield f"    goals: [{quoted(goal)}]"
    yield f"    home: {one.home.id}"
    yield "    routine:"
    for stroke in _day(town, one):
        yield from _stroke(stroke)
    if one.ties:
        yield "    relations:"
        for tie in one.ties.values():
            yield f"      - {flow({'to': tie.other.id, 'label': tie.label, 'warmth': tie.warmth})}"
    yield "    memories:"
    for memory in one.memories:
        yield f"      - text: {quoted(memory.text)}"
        yield f"        importance: {memory.importance}"
        fields = {"topic": memory.topic, "about": memory.about, "sort": memory.sort}
        yield from (f"        {key}: {quoted(value)}" for key, value in fields.items() if value)
        if memory.plan:
            yield "        plan: true"
        yield "        tell:"
        yield from (f"          - {quoted(line)}" for line in memory.tell)
        yield from replies(memory.replies, " " * 8)


def _work(one: Person) -> str:
    if one.child:
        return "pupil"
    if one.trade is None:
        return f"retired {_old_trade(one)}"
    return one.trade["work"][one.job % len(one.trade["work"])]


_OLD_TRADES = ("miller", "brickmaker", "signalman", "docker", "weaver", "teacher", "cook")


def _old_trade(one: Person) -> str:
    return rng.choice(_OLD_TRADES, KEY, one.number, "old trade")


def _background(one: Person) -> str:
    """Returns what somebody does, and with whom it lives."""
    if one.child:
        what = f"goes to {one.place.name if one.place else 'school'}"
    elif one.trade is None:
        what = f"was a {_old_trade(one)} for forty years and has time now"
    else:
        said = one.trade["background"]
        what = Template(said[one.job % len(said)]).substitute(one.slots)
    they = "She" if one.pronoun == "she" else "He"
    others = [
        f"{one.slots['their']} {tie.label} {tie.other.called}"
        for tie in one.ties.values()
        if tie.other.home is one.home
    ]
    company = " and ".join(part for part in (", ".join(others[:-1]), *others[-1:]) if part)
    return f"{one.name} {what}. {they} lives {f'with {company}' if company else 'alone'} on {one.district.name}."


# ── days ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Stroke:
    """A stroke of a routine: minutes after midnight, what, where, and what it is made of."""

    at: int
    do: str
    place: str
    phases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What is done for about an hour, and its steps."""
    objects: Mapping[str, str] | None = None
    """Kind → object of the place, for steps that use one."""
    outdoor: bool = False
    emoji: str = ""


def _stroke(stroke: Stroke) -> Iterator[str]:
    head = {"at": f"{stroke.at // 60:02d}:{stroke.at % 60:02d}", "do": stroke.do, "place": stroke.place}
    for number, (key, value) in enumerate(head.items()):
        yield f"      {'- ' if not number else '  '}{key}: {quoted(value)}"
    if stroke.outdoor:
        yield "        outdoor: true"
    if stroke.emoji:
        yield f"        emoji: {stroke.emoji}"
    if stroke.phases:
        yield "        phases:"
    for do, steps in stroke.phases:
        yield f"          - do: {quoted(do)}"
        yield "            steps:"
        for step in steps:
            yield f"              - {flow(_step(step, stroke.objects or {}))}"


def _step(step: str, objects: Mapping[str, str]) -> dict[str, str]:
    """Reads `wiping the bar @counter OPEN`: what is done, with which object of the place, and the verb."""
    do, _, use = step.partition(" @")
    kind, _, verb = use.partition(" ")
    return {"do": do, "object": objects[kind], "verb": verb} if kind in objects else {"do": do}


class _Diary:
    """The strokes of one day, from the words of `days.yaml` and of the trade."""

    def __init__(self, town: Town, one: Person) -> None:
        self._town, self._one = town, one
        self._days = town_words("days")
        work = one.place.district if one.place is not None else one.district
        self.near = work if work is not town.centre else town.districts[one.number % len(town.districts)]
        self.strokes: list[Stroke] = []

    def at_home(self, at: int, pool: str, emoji: str = "") -> None:
        """Adds something done at home."""
        one = self._one
        things = {"bed": f"{one.id}-bed", "kettle": f"{one.home.id}-kettle", "table": f"{one.home.id}-table"}
        self._add(at, pool, one.home.id, things, emoji=emoji)

    def at_local(self, at: int, pool: str, district: District, emoji: str = "") -> None:
        """Adds something done at the local of a district."""
        self._add(at, pool, district.local.id, {}, district, emoji=emoji)

    def outside(self, at: int, pool: str, district: District, emoji: str = "") -> None:
        """Adds something done on the open place of a district."""
        things = {kind: thing for thing, _, kind in things_outside(district)}
        self._add(at, pool, district.id, things, district, outdoor=True, emoji=emoji)

    def at_school(self, at: int, pool: str, school: Place) -> None:
        """Adds lessons."""
        self._add(at, pool, school.id, {}, emoji="✏️")

    def work(self, at: int, part: str, emoji: str = "") -> None:
        """Adds half a day of work: `morning` or `afternoon`."""
        one, trade = self._one, self._one.trade
        assert trade is not None
        do, *phases = trade[part]
        place = one.place
        made = tuple((self._said(phase), tuple(self._said(step) for step in steps)) for phase, *steps in phases)
        things = {kind: thing for thing, _, kind in things_at_work(place)} if place else {}
        area = place.id if place else one.home.id
        self.strokes.append(
            Stroke(self._near(at, part), self._said(do), area, made, things, bool(trade.get("outdoor")), emoji)
        )

    def club(self) -> None:
        """Adds the evening with the club."""
        one = self._one
        assert one.club is not None
        area, place = club_place(self._town, one)
        things = {kind: thing for thing, _, kind in things_at_work(place)} if place else {}
        name = one.club["name"]
        do = f"playing {name}" if name.startswith("football") else f"spending the evening at {name}"
        steps = tuple(self._said(step) for step in one.club["steps"])
        outdoor = bool(one.club.get("outdoor"))
        self.strokes.append(Stroke(minutes(one.club["at"]), do, area, ((name, steps),), things, outdoor))

    def sleep(self, at: int) -> None:
        """Adds the end of the day."""
        self.strokes.append(Stroke(self._near(at, "sleep"), "sleeping", self._one.home.id, emoji="💤"))

    def _add(
        self, at: int, pool: str, area: str, things: Mapping[str, str], district: District | None = None,
        *, outdoor: bool = False, emoji: str = "",
    ) -> None:  # fmt: skip
        do, steps = rng.choice(self._days[pool], KEY, self._one.number, pool)
        names = {"green": district.name, "local": district.local.name} if district and district.number >= 0 else {}
        said = [
            Template(text).substitute(names | {"centre": self._town.centre.name} | self._one.slots)
            for text in (do, *steps)
        ]
        self.strokes.append(
            Stroke(self._near(at, pool), said[0], area, ((said[0], tuple(said[1:])),), things, outdoor, emoji)
        )

    def _said(self, text: str) -> str:
        return Template(text).substitute(self._one.slots)

    def _near(self, at: int, what: str) -> int:
        """Draws a time within a quarter of an hour of this one."""
        return at + 5 * (rng.below(7, KEY, self._one.number, "at", what) - 3)


def _day(town: Town, one: Person) -> list[Stroke]:
    diary = _Diary(town, one)
    if one.child:
        _school_day(diary, one)
    elif one.trade is None:
        _free_day(diary, one, town)
    else:
        {"early": _early_day, "late": _late_day}.get(one.trade["hours"], _usual_day)(diary, one, town)
    return diary.strokes


def _usual_day(diary: _Diary, one: Person, town: Town) -> None:
    diary.at_home(390, "waking")
    if len(one.home.people) == 1 or one.place is None or one.chance(25, "breakfast"):
        diary.at_local(450, "breakfast_out", one.district, "☕")
    else:
        diary.at_home(450, "breakfast", "☕")
    diary.work(510, "morning")
    _lunch(diary, one, 750)
    diary.work(810, "afternoon")
    _leisure(diary, one, town, 1035)
    diary.at_home(1170 if one.club is None else 1215, "supper" if one.club is None else "evening", "🍲")
    diary.sleep(1350)


def _early_day(diary: _Diary, one: Person, town: Town) -> None:
    diary.at_home(285, "waking")
    diary.work(335, "morning")
    diary.at_local(570, "breakfast_out", diary.near, "☕")
    diary.work(630, "afternoon")
    _lunch(diary, one, 840)
    _leisure(diary, one, town, 1020)
    diary.at_home(1170 if one.club is None else 1215, "supper", "🍲")
    diary.sleep(1275)


def _late_day(diary: _Diary, one: Person, town: Town) -> None:
    diary.at_home(510, "waking")
    diary.at_home(560, "breakfast", "☕")
    diary.outside(630, "errands", town.centre)
    diary.work(720, "morning")
    diary.outside(960, "stroll", one.district)
    diary.work(1020, "afternoon")
    diary.sleep(1395)


def _school_day(diary: _Diary, one: Person) -> None:
    diary.at_home(405, "waking")
    diary.at_home(440, "breakfast", "🥛")
    place = one.place
    assert place is not None
    for at, pool in ((500, "lessons_early"), (735, "recess"), (795, "lessons_late")):
        if pool == "recess":
            diary.outside(at, pool, place.district)
        else:
            diary.at_school(at, pool, place)
    diary.outside(935, "play", one.district)
    diary.at_home(1110, "supper", "🍲")
    diary.sleep(1245)


def _free_day(diary: _Diary, one: Person, town: Town) -> None:
    diary.at_home(400, "waking")
    diary.at_home(455, "breakfast", "☕")
    diary.outside(570, "errands", town.centre)
    diary.at_local(720, "lunch", one.district, "🍲")
    diary.outside(840, "stroll", one.district)
    if one.club is not None:
        diary.at_home(990, "supper")
        diary.club()
    else:
        diary.at_local(990, "drink", one.district)
        diary.at_home(1140, "evening")
    diary.sleep(1305)


def _lunch(diary: _Diary, one: Person, at: int) -> None:
    if one.place is None or one.chance(65, "lunch"):
        diary.at_local(at, "lunch", diary.near, "🍲")
    else:
        diary.outside(at, "lunch_out", diary.near, "🥪")


def _leisure(diary: _Diary, one: Person, town: Town, at: int) -> None:
    """Fills the time after work: with the club, or with what falls to somebody without one."""
    if one.club is not None:
        diary.club()
        return
    match rng.below(3, KEY, one.number, "leisure"):
        case 0:
            diary.at_local(at, "drink", one.district)
        case 1:
            diary.outside(at, "stroll", one.district)
        case _:
            diary.outside(at, "errands", town.centre)


# ── news, weather, map ───────────────────────────────────────────────────────────────────────────────────────────────


def _facts(towns: Sequence[Town]) -> Iterator[str]:
    """Yields two pieces of news, and one more for each thirty people, as far as there are the places they speak of; in
    a city each is of another quarter."""
    yield "facts:                  # news whose way from mouth to mouth is followed"
    left = 2 + sum(len(town.people) for town in towns) // 30
    for number, fact in enumerate(town_words("lives")["facts"]):
        town = towns[number % len(towns)]
        names = {"centre": town.centre.name, "square": town.centre.name.lower()}
        event = fact.get("event", {})
        place = town.find(event["place"]) if "place" in event else None
        if not left or ("place" in event and place is None):
            continue
        left -= 1
        yield f"  - id: {fact['id']}"
        yield f"    text: {{en: {quoted(Template(fact['text']).substitute(names))}}}"
        yield "    groups:             # a sentence carries the news if it holds a word of each group"
        groups = ([Template(word).substitute(names) for word in group] for group in fact["groups"])
        yield f"      en: [{', '.join(map(listed, groups))}]"
        yield f"    originators: [{_first_to_know(town, fact).id}]"
        if event:
            yield f"    place: {place.id if place else town.centre.id}"
            yield f"    starts: {START[:-2]}{int(START[-2:]) + event.get('day', 0):02d}T{event['at']}:00"
            yield f"    minutes: {event['minutes']}"
            yield f"    emoji: {event['emoji']}"
        yield "    tell:"
        yield "      en:"
        yield from (f"        - {quoted(Template(line).substitute(names))}" for line in fact["tell"])
    yield ""


def _first_to_know(town: Town, fact: Mapping[str, Any]) -> Person:
    place = town.find(fact["by"])
    grown = [one for one in town.people if not one.child]
    return place.staff[0] if place and place.staff else rng.choice(grown, KEY, fact["id"])


CELL = 20, 3
"""Width and height of a room on the map."""
COLUMNS = 3
"""Rooms in a row of a district."""


def _map(town: Town) -> Iterator[str]:
    """Districts as blocks: the open place across the top, the rooms in rows below it; the centre in the middle."""
    blocks = [*town.districts]
    blocks.insert(len(blocks) // 2, town.centre)
    across = max(1, round(len(blocks) ** 0.5))
    yield "layout:                 # the map: column, row, width and height of each area, in characters"
    yield "  map:"
    top = 0
    for start in range(0, len(blocks), across):
        line = blocks[start : start + across]
        for number, block in enumerate(line):
            left = number * (COLUMNS * CELL[0] + 2)
            yield f"    {block.id}: [{left}, {top}, {COLUMNS * CELL[0]}, {CELL[1]}]"
            for index, area in enumerate(_rooms(block)):
                column, row = left + index % COLUMNS * CELL[0], top + (1 + index // COLUMNS) * CELL[1]
                yield f"    {area}: [{column}, {row}, {CELL[0]}, {CELL[1]}]"
        top += (1 + max(-(-len(_rooms(block)) // COLUMNS) for block in line)) * CELL[1] + 1


def _rooms(district: District) -> list[str]:
    return [*(place.id for place in district.places), *(home.id for home in district.homes)]
