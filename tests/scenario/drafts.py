"""A small scenario to spoil: every test of `check` changes one piece of this text."""

from __future__ import annotations

from commonplace.scenario.loading import Mistake, read
from commonplace.scenario.rules import check

DRAFT = """\
name: draft
clock: {start: 2031-10-04T06:00:00}
world:
  kinds:
    stove:
      states: [cold, hot]
      verbs:
        USE: [{from: cold, to: hot, also: {pot: full}}]
        CLOSE: [{to: cold}]
      refusals: {USE hot: It is hot already.}
      words: {hot: is hot}
    pot: {states: [empty, full], verbs: {USE: [{to: full}]}}
    key: {states: [plain], portable: true}
  root:
    id: town
    name: Town
    areas:
      - id: bar
        name: Noodle Bar
        objects:
          - {id: stove, name: stove, kind: stove}
          - {id: pot, name: pot, kind: pot, state: empty}
      - id: shed
        name: Shed
      - id: mira_home
        name: Mira's Home
        private: true
        objects: [{id: key, name: key, kind: key}]
  ways:
    - {between: [bar, shed], open: 08:00-22:00}
characters:
  - id: mira
    name: Mira Aldana
    age: 41
    traits: [warm]
    home: mira_home
    carries: [key]
    routine:
      - {at: 06:30, do: waking, place: mira_home}
      - at: 07:30
        do: cooking
        place: bar
        phases:
          - do: starting
            steps:
              - {do: heating up, object: stove, verb: USE}
      - {at: 12:00, do: resting, place: shed}
      - {at: 14:00, do: walking, place: town}
      - {at: 22:00, do: sleeping, place: mira_home}
    relations: [{to: jonas, label: rival}]
    memories:
      - {text: Mira Aldana burned the broth., about: jonas, tell: [I burned the broth.]}
  - id: jonas
    name: Jonas Weber
    age: 30
    traits: [shy]
    home: shed
    routine:
      - {at: 06:30, do: waking, place: shed}
      - {at: 08:00, do: digging, place: town}
      - {at: 12:00, do: eating, place: bar}
      - {at: 13:00, do: digging, place: town}
      - {at: 21:00, do: sleeping, place: shed}
facts:
  - id: party
    text: {en: There is a party in the bar tonight.}
    groups: {en: [[party, feast], [tonight]]}
    originators: [mira]
    place: bar
    starts: 2031-10-04T19:00:00
    minutes: 60
    tell: {en: [Come to the party tonight.]}
script:
  - id: lights
    at: 18:00
    text: The lights go out.
    to: {areas: [bar]}
    sets: {stove: cold}
    closes: [[bar, shed]]
layout:
  map:
    town: [0, 0, 30, 20]
    bar: [1, 1, 10, 5]
    shed: [12, 1, 10, 5]
"""


def line_of(text: str, piece: str) -> int:
    """The line on which the piece begins, from 1."""
    assert text.count(piece) == 1, piece
    return text.count("\n", 0, text.index(piece)) + 1


def spoilt(*changes: tuple[str, str]) -> str:
    """The draft with pieces replaced; each must occur once."""
    text = DRAFT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def mistakes(*changes: tuple[str, str]) -> list[Mistake]:
    """What `check` finds in the draft with pieces replaced."""
    return check(read(spoilt(*changes), "draft.yaml"))
