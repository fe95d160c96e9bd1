"""`new`: a commented scenario that passes `check` and runs, to be written over: a hamlet, or a town."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from commonplace.errors import UsageError
from commonplace.parts.new_town.town import town_text
from commonplace.parts.new_town.town_parts import quoted
from commonplace.scenario.loading import SUFFIX
from commonplace.whole_file import written_whole

SIZES = (1, 200)
"""Fewest and most characters."""
TOWN = 10
"""Characters from which on it is a town, with districts, households and histories."""


def new(path: str | Path, size: int = 2, *, force: bool = False) -> Path:
    """Writes a scenario of `size` characters (1 … 200) and returns its path, `.yaml` added where there is no suffix.

    The file appears whole or not at all. Raises UsageError for another size, a folder and, unless `force`, a file that
    exists; CommonplaceError for a full disk and a place that cannot be written to.
    """
    fewest, most = SIZES
    if not fewest <= size <= most:
        raise UsageError(f"a new scenario can have {fewest} to {most} characters, not {size}")
    target = Path(path).expanduser()
    if not target.suffix and not target.is_dir():
        target = target.with_name(f"{target.name}{SUFFIX}")
    with written_whole(target, force=force, instead="give another name") as part:
        part.write_text(text(target.stem, size), encoding="utf-8")
    return target


def text(name: str, size: int) -> str:
    """The scenario as YAML. Another name for the same size changes the name only."""
    name = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:64] or "scenario"
    return (town_text if size >= TOWN else _hamlet_text)(quoted(name), size) + _LAST


def _hamlet_text(name: str, size: int) -> str:
    people = [(_id(number), NAMES[number], OCCUPATIONS[number % len(OCCUPATIONS)]) for number in range(size)]
    return _FILE.substitute(
        name=name,
        people=f"{size:<15}",
        homes="".join(_HOME.substitute(id=id, called=_called(full)) for id, full, _ in people),
        characters="".join(_character(number, people) for number in range(size)),
        originator=people[0][0],
    )


def _id(number: int) -> str:
    return _called(NAMES[number]).lower()


def _called(name: str) -> str:
    return name.split(maxsplit=1)[0]


def _character(number: int, people: list[tuple[str, str, Occupation]]) -> str:
    """One character; everybody knows the next one, the last knows the first."""
    id, name, occupation = people[number]
    place = f"{id}_home" if occupation.place == "home" else occupation.place
    neighbour, neighbour_name, _ = people[(number + 1) % len(people)]
    knows_somebody = {"neighbour": neighbour, "neighbour_name": neighbour_name, "called": _called(neighbour_name)}
    return _CHARACTER.substitute(
        id=id,
        name=name,
        age=24 + number * 13 % 50,
        work=occupation.work,
        traits=occupation.traits,
        background=f"{_called(name)} {occupation.background}.",
        goal=occupation.goal,
        relations=_RELATION.substitute(knows_somebody) if len(people) > 1 else "[]\n",
        wakes=_time(6 * 60 + 10 + number * 25 % 60),
        breakfast=_time(7 * 60 + 30 + number * 10 % 30),
        place=place,
        outdoor="\n        outdoor: true" if place == "square" else "",
        morning=occupation.morning,
        afternoon=occupation.afternoon,
        sleeps=_time(22 * 60 + number * 15 % 60),
        memory=f"{name} {occupation.memory}.",
        tell=occupation.tell,
        neighbourly=_NEIGHBOURLY.substitute(knows_somebody, name=name) if len(people) > 1 else "",
    )


def _time(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


NAMES = (
    "Ada Moreau", "Ben Okoro", "Clara Lindqvist", "Dario Ruiz", "Elif Kaya", "Finn Gallagher", "Greta Novak",
    "Hugo Pereira", "Iris Tanaka",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Occupation:
    """A trade with a day around it. `place` is where the work is done: `cafe`, `square` or `home`."""

    work: str
    traits: str
    background: str
    goal: str
    place: str
    morning: str
    afternoon: str
    memory: str
    """What happened lately, after the name: `found an old map in the attic`."""
    tell: str


OCCUPATIONS = (
    Occupation(
        "café keeper", "warm, talkative", "runs the café on the square and knows how everybody takes their coffee",
        "try out a new cake every week", "cafe", "serving breakfast", "baking for tomorrow",
        "burned a whole tray of cakes yesterday",
        "I burned a whole tray of cakes yesterday. The pigeons were delighted.",
    ),
    Occupation(
        "gardener", "calm, observant", "looks after the trees and flower beds of the square",
        "save the old elm", "square", "watering the flower beds", "pruning the roses",
        "saw a heron drink from the fountain",
        "A heron drank from our fountain this week. I stood still for ten minutes.",
    ),
    Occupation(
        "writer", "curious, absent-minded", "writes detective stories and listens to the next table for dialogue",
        "finish the last chapter", "cafe", "writing at a corner table", "rewriting the same page",
        "cannot decide who did it in the new book", "I'm at the last chapter and I still don't know who did it.",
    ),
    Occupation(
        "clock mender", "patient, precise", "mends clocks at home and is never late",
        "find a spare part for an old cuckoo clock", "home", "mending a cuckoo clock", "polishing tiny wheels",
        "found a love letter inside a clock", "I found a love letter inside a clock I'm mending. I put it back unread.",
    ),
    Occupation(
        "street musician", "cheerful, restless", "plays the accordion on the square when the sun is out",
        "write a waltz that people whistle", "square", "playing the accordion", "trying out a new waltz",
        "was paid with a button and kept it", "Somebody paid me with a button, and I'm wearing it now.",
    ),
    Occupation(
        "retired teacher", "kind, strict", "taught half of the town to read and still corrects the menus",
        "learn the names of all birds here", "square", "feeding the sparrows", "reading on the bench",
        "met a pupil from forty years ago", "I met a pupil from forty years ago. He still holds his pen wrongly.",
    ),
    Occupation(
        "translator", "quiet, witty", "translates instruction leaflets at home and novels in secret",
        "find a publisher", "home", "translating a leaflet", "translating a novel",
        "looked for a single word for three days",
        "I've been looking for one word for three days. It exists, I can feel it.",
    ),
)  # fmt: skip


_FILE = Template("""\
# A scenario for Commonplace. Change anything; `commonplace check` tells every mistake with its line.
# docs/scenarios.md explains every key.

name: $name
title: A square and a café
summary: Neighbours, a square, a café, and news of music in the evening.
people: $people # how many characters the file holds
language: en            # en or ko: what the characters speak

clock:
  start: 2031-10-04T06:00:00
  tick_minutes: 5       # simulated minutes in a tick

world:
  kinds:                # what objects can be, and what can be done with them
    seat:
      states: [free, taken]
      verbs:
        USE: [{from: "*", to: taken}]
    coffee_machine:
      states: [cold, hot]
      verbs:
        OPEN: [{from: "*", to: hot, seen: The coffee machine hisses and warms up.}]
        USE: [{from: hot, to: hot, seen: The smell of coffee fills the room.}]
      refusals:
        USE cold: The coffee machine is still cold.
    board:
      states: [bare, pinned]
      verbs:
        USE: [{from: "*", to: pinned, seen: A new notice hangs on the board.}]
      words: {bare: is bare, pinned: has a notice pinned to it}
    bed:
      states: [made, unmade]
      verbs:
        USE: [{from: "*", to: unmade}]
        CLOSE: [{from: "*", to: made}]
  root:                 # areas hold areas and objects; between an area and each area in it there is a way
    id: square
    name: Market Square
    outdoor: true
    objects:
      - {id: bench, name: bench, kind: seat}
      - {id: notice_board, name: notice board, kind: board}
    areas:
      - id: cafe
        name: Corner Café
        objects:
          - {id: coffee_machine, name: coffee machine, kind: coffee_machine}
          - {id: window_table, name: window table, kind: seat}
$homes
characters:
$characters
facts:                  # news whose way from mouth to mouth is followed
  - id: music
    text: {en: There is music on the market square at seven this evening.}
    groups:             # a sentence carries the news if it holds a word of each group
      en: [[music], [square], [seven, this evening, tonight]]
    originators: [$originator]
    place: square
    starts: 2031-10-04T19:00:00
    minutes: 90
    tell:
      en:
        - There's music on the square at seven tonight. You should come.
        - Have you heard? They're playing music on the square this evening.
""")

_LAST = """
whole: true             # the last line: without it, `check` says that the file was cut off
"""

_HOME = Template("""\
      - id: ${id}_home
        name: $called's Home
        private: true   # known only to who lives there, or lists it in `knows`
        objects:
          - {id: ${id}_bed, name: bed, kind: bed, state: unmade}
""")

_CHARACTER = Template("""\
  - id: $id
    name: $name
    age: $age
    work: $work
    traits: [$traits]
    background: $background
    goals:
      - $goal
    home: ${id}_home
    routine:            # 5 to 8 broad strokes in order of time; the last is sleep
      - at: "$wakes"
        do: getting up slowly
        place: ${id}_home
        phases:         # about an hour each; their steps take 5 to 15 minutes
          - do: waking up
            steps:
              - {do: stretching at the window}
              - {do: making the bed, object: ${id}_bed, verb: CLOSE}
      - at: "$breakfast"
        do: having breakfast at the café
        place: cafe
        emoji: ☕
        phases:
          - do: having coffee
            steps:
              - {do: settling at the window table, object: window_table, verb: USE}
              - {do: warming up the coffee machine, object: coffee_machine, verb: OPEN}
              - {do: drinking a coffee, object: coffee_machine, verb: USE, emoji: ☕}
      - at: "09:00"
        do: $morning
        place: $place$outdoor
      - at: "12:30"
        do: having lunch in the sun
        place: square
        outdoor: true
        emoji: 🥪
        phases:
          - do: eating a sandwich
            steps:
              - {do: sitting down on the bench, object: bench, verb: USE, emoji: 🥪}
              - {do: reading the notice board}
      - at: "14:00"
        do: $afternoon
        place: $place$outdoor
      - at: "17:00"
        do: spending a quiet evening
        place: ${id}_home
      - at: "$sleeps"
        do: sleeping
        place: ${id}_home
        emoji: 💤
    relations: $relations\
    memories:
      - text: $memory
        importance: 6
        tell:           # what one would say about it to a friend
          - $tell
$neighbourly""")

_RELATION = Template("""
      - {to: $neighbour, label: neighbour, warmth: 35, summary: $called and I have been neighbours for years.}
""")

_NEIGHBOURLY = Template("""\
      - text: $neighbour_name helped $name carry a heavy box up the stairs.
        importance: 4
        about: $neighbour
        topic: box
        tell:
          - $called carried my heaviest box up the stairs and would not hear of thanks.
""")
