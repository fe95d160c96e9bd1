"""Every kind of mistake, on its exact line, with words somebody can act on."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.loading import below, holds, read, report
from commonplace.scenario.rules import check
from scenario.drafts import DRAFT, line_of, mistakes, spoilt
from sizes import examples

# id: (piece of the draft, what takes its place, piece whose line is named, words of the message, nearest name)
KIND = """\
name: draft
circumstances:
  haunted: {of: place, words: {now: 'A ghost at {x}.', over: 'No ghost at {x}.', names: ghost}}"""
"""A kind of circumstance in the place of the first line."""

ONE = {
    # shape
    "unknown key": ("name: draft", "name: draft\ntitel: x", "titel", 'the key "titel" means nothing here', "title"),
    "missing key": ("    home: shed\n", "", "- id: jonas", 'the key "home" is missing', ""),
    "bad id": ("id: lights", "id: The Lights", "The Lights", "an id made of a-z", ""),
    "bad time": ("at: 18:00", "at: 6pm", "6pm", "a time of day such as 07:30", ""),
    "number for text": ("name: Shed", "name: 12", "name: 12", "text: put it in quotes", ""),
    "text for number": ("age: 41", "age: old", "age: old", "a whole number", ""),
    "out of range": ("age: 41", "age: 410", "age: 410", "150 or less", ""),
    "text for list": ("traits: [shy]", "traits: shy", "traits: shy", "a list", ""),
    "empty list": ("traits: [shy]", "traits: []", "traits: []", "1 or more items", ""),
    "no value": ("traits: [shy]", "traits:", "    traits:\n", "the key has no value", ""),
    "unknown verb": ("CLOSE: [{to: cold}]", "SHUT: [{to: cold}]", "SHUT", "cannot be a key here", ""),
    "misspelt verb": ("object: stove, verb: USE", "object: stove, verb: USEE", "USEE", "CLOSE, DROP", "USE"),
    "one end of a way": ("between: [bar, shed]", "between: [bar]", "between: [bar]", "item 2 of the list", ""),
    # names
    "unknown area": (
        "do: cooking\n        place: bar",
        "do: cooking\n        place: baar",
        "baar",
        "there is no area",
        "bar",
    ),
    "unknown home": ("home: shed", "home: sched", "sched", "there is no area", "shed"),
    "unknown kind": ("name: stove, kind: stove", "name: stove, kind: stowe", "stowe", "there is no kind", "stove"),
    "unknown object": ("object: stove", "object: stofe", "stofe", "there is no object", "stove"),
    "unknown character": ("to: jonas", "to: jonah", "jonah", "there is no character", "jonas"),
    "unknown originator": ("originators: [mira]", "originators: [mirra]", "mirra", "there is no character", "mira"),
    "unknown about": ("about: jonas", "about: jona", "about: jona,", "there is no character", "jonas"),
    "unknown state": ("state: empty", "state: emty", "emty", "there is no state", "empty"),
    "unknown policy": ("name: draft", "name: draft\ncognition: {policy: prak}", "prak", "there is no policy", "park"),
    "unknown stage": ("name: draft", "name: draft\nstage: twon", "twon", "there is no stage", "town"),
    "character as area": (
        "place: town}\n      - {at: 22",
        "place: jonas}\n      - {at: 22",
        "place: jonas",
        "not an area",
        "",
    ),
    "repeated area": (
        "      - id: shed\n",
        "      - {id: bar, name: Bar}\n      - id: shed\n",
        "{id: bar, name",
        'the id "bar" is here a second time',
        "",
    ),
    # circumstances
    "unknown circumstance": (
        "sets: {stove: cold}",
        "sets: {stove: cold}\n    raises: [{kind: burnin, of: bar}]",
        "burnin",
        "there is no kind of circumstance",
        "burning",
    ),
    "circumstance of nobody": (
        "sets: {stove: cold}",
        "sets: {stove: cold}\n    raises: [{kind: ill, of: mirra}]",
        "mirra",
        "there is no person",
        "mira",
    ),
    "circumstance of another sort": (
        "sets: {stove: cold}",
        "sets: {stove: cold}\n    raises: [{kind: burning, of: mira}]",
        "burning, of: mira",
        "is a person and cannot be",
        "mira_home",
    ),
    "by nobody": (
        "sets: {stove: cold}",
        "sets: {stove: cold}\n    raises: [{kind: insulted, of: mira, by: jona}]",
        "jona}",
        "there is no character",
        "jonas",
    ),
    "ends nothing": (
        "sets: {stove: cold}",
        "sets: {stove: cold}\n    ends: [burning.baar]",
        "burning.baar",
        "there is no place",
        "bar",
    ),
    "unknown kind that follows": (
        "name: draft",
        KIND.replace("names: ghost", "names: ghost}, then: {closd: 3"),
        "closd",
        "there is no kind of circumstance",
        "closed",
    ),
    "unknown kind that it ends": (
        "name: draft",
        KIND.replace("names: ghost", "names: ghost}, ends: darck, then: {"),
        "darck",
        "there is no kind of circumstance",
        "dark",
    ),
    "line without its words": (
        "name: draft",
        KIND.replace("names: ghost", "names: no ghost"),
        "names: no ghost",
        "none of the `names`",
        "",
    ),
    "line of nothing": (
        "name: draft",
        KIND.replace("names: ghost", "names: ghost, told: [What a ghost.]"),
        "What a ghost",
        "does not say what it is of",
        "",
    ),
    "slot that nothing fills": (
        "name: draft",
        KIND.replace("names: ghost", "names: ghost, at_once: ['{who}!']"),
        "{who}",
        "a slot that nothing fills",
        "",
    ),
    # kinds
    "transition to": ("from: cold, to: hot", "from: cold, to: hott", "hott", "there is no state", "hot"),
    "transition from": ("from: cold, to: hot", "from: could, to: hot", "could", "there is no state", "cold"),
    "also unknown": ("also: {pot: full}", "also: {pott: full}", "pott", "there is no object", "pot"),
    "also state": ("also: {pot: full}", "also: {pot: fulll}", "fulll", "there is no state", "full"),
    "also elsewhere": ("also: {pot: full}", "also: {key: plain}", "key: plain", "an object of the same area", ""),
    "refusal verb": ("USE hot:", "USEE hot:", "USEE", "there is no verb", "USE"),
    "refusal state": ("USE hot:", "USE hott:", "hott", "there is no state", "hot"),
    "words state": ("words: {hot:", "words: {hott:", "hott", "there is no state", "hot"),
    "never happens": ("[{to: cold}]", "[{to: cold}, {to: hot}]", "CLOSE:", "this one never happens", ""),
    "state twice": ("[cold, hot]", "[cold, hot, hot]", "hot, hot", "a second time", ""),
    # ways and map
    "way to itself": (
        "open: 08:00-22:00}",
        "open: 08:00-22:00}\n    - {between: [bar, bar]}",
        "[bar, bar]",
        "to itself",
        "",
    ),
    "way twice": (
        "open: 08:00-22:00}",
        "open: 08:00-22:00}\n    - {between: [shed, bar]}",
        "[shed, bar]}",
        "there is already a way",
        "",
    ),
    "no such hour": ("08:00-22:00", "08:00-27:00", "27:00", "hours such as", ""),
    "no time open": ("08:00-22:00", "08:00-08:00", "08:00-08:00", "an empty stretch", ""),
    "unreachable": (
        "    - {between: [bar, shed], open: 08:00-22:00}",
        "    - {between: [bar, shed], closed: true}\n    - {between: [town, shed], closed: true}",
        "id: shed\n",
        "nobody can reach",
        "",
    ),
    "map unknown": ("    shed: [12", "    shedd: [12", "shedd", "there is no area", "shed"),
    "map overlap": ("shed: [12, 1", "shed: [8, 1", "shed: [8", 'it overlaps "bar"', ""),
    "map sticks out": ("shed: [12, 1", "shed: [25, 1", "shed: [25", "not completely inside", ""),
    "map no room": ("shed: [12, 1, 10", "shed: [12, 1, 0", "shed: [12, 1, 0", "not on the map", ""),
    "looks unknown": (
        "layout:\n",
        "layout:\n  looks: {bar: red hair}\n",
        "bar: red",
        "is an area, not a character",
        "",
    ),
    # the day
    "out of order": (
        "at: 12:00, do: resting",
        "at: 07:00, do: resting",
        "do: resting",
        "does not come after 07:30",
        "",
    ),
    "no sleep": ("at: 22:00, do: sleeping", "at: 22:00, do: reading", "do: reading", 'words with "sleep" in them', ""),
    "too few items": (
        "      - {at: 12:00, do: eating, place: bar}\n",
        "",
        "    routine:\n      - {at: 06:30, do: waking, place: shed}",
        "the day has 4 items",
        "",
    ),
    "private place": (
        "do: eating, place: bar",
        "do: eating, place: mira_home",
        "do: eating",
        'not known to "jonas"',
        "",
    ),
    "no such transition": (
        "object: stove, verb: USE",
        "object: stove, verb: OPEN",
        "verb: OPEN",
        "there is no verb",
        "",
    ),
    "take what stands": (
        "object: stove, verb: USE",
        "object: stove, verb: TAKE",
        "verb: TAKE",
        "neither taken nor put down",
        "",
    ),
    "verb alone": ("object: stove, verb: USE", "verb: USE", "{do: heating up", "USE needs an object", ""),
    "object elsewhere": (
        "object: stove, verb: USE}\n      - {at: 12:00, do: resting, place: shed}",
        "object: stove, verb: USE}\n"
        "      - {at: 12:00, do: resting, place: shed, phases: [{do: a, steps: [{do: b, object: pot}]}]}",
        "object: pot}",
        '"pot" is in "bar", not in "shed"',
        "",
    ),
    # people
    "relation to oneself": ("to: jonas", "to: mira", "to: mira", "a relation to oneself", ""),
    "relation twice": ("label: rival}", "label: rival}, {to: jonas}", "{to: jonas}]", "a second time", ""),
    "carries a stove": ("carries: [key]", "carries: [stove]", "carries: [stove]", "cannot be carried", ""),
    "starts nowhere": ("home: shed", "home: shed\n    starts_at: barr", "barr", "there is no area", "bar"),
    "knows nothing": ("home: shed", "home: shed\n    knows: [mira_hom]", "knows:", "there is no area", "mira_home"),
    "memory carries": (
        "traits: [shy]",
        "traits: [shy]\n    memories: [{text: A feast tonight.}]",
        "A feast",
        "carry the fact",
        "",
    ),
    # the rest
    "tell carries nothing": (
        "[Come to the party tonight.]",
        "[Come to the bar tonight.]",
        "Come to",
        "does not carry the fact",
        "",
    ),
    "text carries nothing": (
        "{en: There is a party in",
        "{en: There is a do in",
        "There is a do",
        "does not carry the fact",
        "",
    ),
    "no groups": (
        "groups: {en: [[party, feast], [tonight]]}",
        "groups: {en: []}",
        "groups:",
        "every text would carry",
        "",
    ),
    "empty group": ("[tonight]]", "[]]", "groups:", "the group is empty", ""),
    "wordless group": ("[tonight]]", '["…"]]', "groups:", "no letters to match", ""),
    "groups of a language": ("groups: {en:", "groups: {ko:", "groups: {ko:", "nothing for the scenario's language", ""),
    "event without place": ("    place: bar\n    starts", "    starts", "- id: party", "no place", ""),
    "event without length": ("    minutes: 60\n", "", "- id: party", "no length", ""),
    "length without event": ("    starts: 2031-10-04T19:00:00\n", "", "minutes: 60", "no beginning", ""),
    "event before the run": ("starts: 2031-10-04T19", "starts: 2031-10-03T19", "10-03", "before the run does", ""),
    "no such moment": ("starts: 2031-10-04T19:00:00", "starts: tonight", "starts: tonight", "not a date and time", ""),
    "no such start": ("start: 2031-10-04T06:00:00}", "start: 2031-13-04}", "2031-13", "not a date and time", ""),
    "occasion after another": (
        "name: draft",
        "name: draft\noccasions: [{id: x, text: X., when: {after: yy}}, {id: y, text: Y.}]",
        "occasions:",
        "there is no occasion",
        "y",
    ),
    "steps without times": (
        "from: cold, to: hot",
        "steps: [it ticks], from: cold, to: hot",
        "steps: [it ticks]",
        "1 steps before the last of 1 attempts",
        "",
    ),
    "script too early": ("at: 18:00", "at: 06:00", "at: 06:00", "not after the run begins", ""),
    "script to nobody": ("to: {areas: [bar]}", "to: {}", "to: {}", "reaches nobody", ""),
    "script area": ("to: {areas: [bar]}", "to: {areas: [barr]}", "barr", "there is no area", "bar"),
    "script state": ("sets: {stove: cold}", "sets: {stove: colt}", "colt", "there is no state", "cold"),
    "script way": ("closes: [[bar, shed]]", "closes: [[mira_home, shed]]", "closes:", "there is no way between", ""),
    "weather": (
        "name: draft",
        "name: draft\nclimate: {weights: {clear: {rian: 1}}}",
        "rian",
        "there is no sky",
        "rain",
    ),
}


def test_the_draft_has_no_mistake() -> None:
    assert mistakes() == []


@pytest.mark.parametrize("name", ONE)
def test_one_mistake_is_found_on_its_line(name: str) -> None:
    old, new, on, words, near = ONE[name]
    text = spoilt((old, new))
    found = check(read(text, "draft.yaml"))
    assert len(found) == 1, report(found)
    assert found[0].line == line_of(text, on)
    assert words in str(found[0]) or words in found[0].expected
    assert found[0].nearest == near


def test_an_object_may_not_have_an_areas_id() -> None:
    found = mistakes(("{id: pot, name: pot", "{id: shed, name: pot"), ("also: {pot: full}", "also: {}"))
    assert [(one.line, "a second time" in one.what) for one in found] == [(line_of(DRAFT, "id: shed\n"), True)]


def test_ids_of_the_simulator_are_taken() -> None:
    found = mistakes(("id: jonas", "id: '-'"), ("to: jonas", "to: '-'"), ("about: jonas", "about: '-'"))
    assert "taken by the simulator" in found[0].what


def test_a_duet_is_between_two() -> None:
    duet = spoilt(("name: draft", "name: draft\nstage: duet"))
    assert check(read(duet, "x")) == []
    alone = duet[: duet.index("  - id: jonas")] + duet[duet.index("facts:") :]
    alone = alone.replace("    relations: [{to: jonas, label: rival}]\n", "").replace(", about: jonas", "")
    assert "duet needs two" in check(read(alone, "x"))[0].what


def test_a_stage_from_elsewhere_is_accepted() -> None:
    assert mistakes(("name: draft", "name: draft\nstage: my_package.stages:CHOIR")) == []


def test_korean_days_end_with_korean_sleep() -> None:
    facts = DRAFT[DRAFT.index("facts:") : DRAFT.index("script:")]
    korean = spoilt(("name: draft", "name: draft\nlanguage: ko"), (facts, ""))
    expected = [one.expected for one in check(read(korean, "x"))]
    assert [one for one in expected if "잠" in one] == ['words with "잠" in them'] * 2
    rested = check(read(korean.replace("do: sleeping", "do: 깊이 잠자기"), "x"))
    assert not any("잠" in one.expected for one in rested)


def test_korean_objects_have_words_for_every_state() -> None:
    korean = spoilt(("name: draft", "name: draft\nlanguage: ko"))
    found = [one.what for one in check(read(korean, "x")) if one.expected.startswith("a predicate")]
    assert found
    assert all("has no words" in what for what in found)


def test_all_mistakes_are_told_at_once_in_the_order_of_lines() -> None:
    found = mistakes(
        ("name: draft", "name: draft\ntitel: x\ntitel: y"),  # writing and shape
        ("age: 41", "age: old"),  # shape
        ("home: shed", "home: sched"),  # meaning
        ("object: stove, verb: USE", "object: stofe, verb: USE"),
        ("[Come to the party tonight.]", "[Come.]"),
    )
    assert [one.line for one in found] == sorted(one.line for one in found)
    text = report(found)
    for words in ("a second time", "means nothing here", "a whole number", "sched", "stofe", "carry the fact"):
        assert words in text


def test_what_follows_from_another_mistake_is_left_out() -> None:
    found = mistakes(("      - id: shed\n        name: Shed\n", "      - id: shed\n        nam: Shed\n"))
    assert [one.where for one in found] == ["world › root › areas › shed › name", "world › root › areas › shed › nam"]


def test_the_report_reads_as_promised() -> None:
    found = mistakes(("do: cooking\n        place: bar", "do: cooking\n        place: baar"))
    line = line_of(DRAFT, "do: cooking") + 1
    assert report(found) == (
        f'draft.yaml:{line}: characters › mira › routine › 2 › place: there is no area "baar" — did you mean "bar"?'
    )


def test_thousands_of_mistakes_are_told_in_a_few_lines() -> None:
    alike = mistakes(("age: 41", "age: 41\n    " + "\n    ".join(f"key_{n}: x" for n in range(4000))))
    assert len(alike) == 4000
    assert len(report(alike).splitlines()) == 101
    assert report(alike).endswith("… and 3,900 more")
    same = mistakes(("traits: [shy]", f"traits: [{', '.join(['1'] * 4000)}]"))
    assert len(report(same).splitlines()) == 11
    assert report(same).endswith("… and 3,990 more")
    assert report(alike[:100]).splitlines() == [str(one) for one in alike[:100]]


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a document, containers before what is in them."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(*here, key) for key, _ in items] + [
        deeper for key, inner in items for deeper in paths(inner, (*here, key))
    ]


DOCUMENT = read(DRAFT, "draft.yaml").data
ODD = [None, 7, -1, 1.5, True, "", "x", "-", "a--b", "bar", "mira", "99:99", "07:00", 10**30, [], {}, [[]], {"id": "q"}]


@examples(150)
@given(st.lists(st.tuples(st.sampled_from(paths(DOCUMENT)), st.sampled_from([*ODD, "delete"])), min_size=1, max_size=6))
def test_what_has_no_mistake_compiles_and_nothing_is_a_traceback(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    document = json.loads(json.dumps(DOCUMENT))
    for path, value in changes:
        holder = document
        for key in path[:-1]:
            holder = below(holder, key)
        if holds(holder, path[-1]) and value == "delete":
            del holder[path[-1]]
        elif holds(holder, path[-1]):
            holder[path[-1]] = deepcopy(value)  # the same list put into itself would be a cycle, which JSON cannot hold
    text = json.dumps(document)
    if not check(read(text, "draft.yaml")):
        compiled_from_text(text)


@pytest.mark.parametrize(
    ("keys", "words", "nearest"),
    [
        ("sets: {stove: colt}", "there is no state", "cold"),
        ("moves: {stofe: gone}", "there is no object", "stove"),
        ("moves: {stove: baar}", "there is no area", "bar"),
        ("when: {states: {pot: fulll}}", "there is no state", "full"),
        ("when: {present: [mirra]}", "there is no character", "mira"),
        ("when: {at: 12:00-08:00}", "ends before it begins", ""),
        ("when: {season: [02-31]}", "not a day of the year", ""),
        ("when: {days_after: 1}", "it follows nothing", ""),
        ("when: {so: [burnin.bar]}", "there is no kind of circumstance", "burning"),
        ("when: {not_so: [burning.baar]}", "there is no place", "bar"),
        ("when: {not_so: [burning.stove]}", "is a thing and cannot be", ""),
        ("when: {of: partie}", "there is no fact", "party"),
        ("when: {weekdays: [monday]}", "", "mon"),
    ],
)
def test_a_mistake_in_an_occasion_is_found(keys: str, words: str, nearest: str) -> None:
    text = f"name: draft\noccasions: [{{id: x, text: X., to: {{areas: [bar]}}, {keys}}}]"
    [mistake] = check(read(DRAFT.replace("name: draft", text, 1), "draft"))
    assert words in mistake.what and mistake.nearest == nearest
