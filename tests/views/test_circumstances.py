"""What is so in words and signs: lines, frames at any tick, the state, reasons, the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run
from commonplace.parts.live.source import RecordedSource
from commonplace.parts.terminal.inspector import TEXTS
from commonplace.parts.terminal.map import draw_town
from commonplace.parts.terminal.palette import NIGHT
from commonplace.parts.terminal.player import SceneReader
from commonplace.parts.web.picture import Picture
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.compiling import load
from commonplace.views.lines import entry_of
from commonplace.views.state_lines import state_lines
from commonplace.views.town_names import TownNames
from commonplace.world.events import Began, Ended, Event, Joined, Moved, Phase

BURNS, OUT, SHUT = "Café Sixpence is on fire.", "The fire at Café Sixpence is out.", "Café Sixpence is closed."
FIRE, CLOSED = range(3, 15), range(15, 32)
"""The ticks at whose end it burns, and at whose end it is closed."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("so") / "plaza.run"

    def told(text: str, kind: str, of: str) -> dict[str, Any]:
        raised = {"kind": kind, "of": of, "hours": 1}
        return {"kind": "god_event", "text": text, "to": {"everybody": True}, "raises": [raised]}

    wishes = {2: ("Smoke!", "burning", "cafe"), 4: ("A fever.", "ill", "ines"), 6: ("Off.", "away", "bruno")}
    with create_run(path, "plaza", seed=7) as run:
        for tick in run.play_sync(31):
            if tick.number in wishes:
                run.submit(told(*wishes[tick.number]))
    return path


@pytest.fixture
def reading(lived: Path) -> Iterator[Reading]:
    with Reading.open(lived) as opened:
        yield opened


def test_events_have_words_and_reasons(reading: Reading) -> None:
    town = TownNames.of(reading.scenario.part)
    events = [event for event in reading.events(3, 31) if _concerns(event)]
    said = {event.id: (entry_of(event, town).text, why(reading, event.id)["explanation"]) for event in events}
    raised = "Ines is ill. Whatever the character wanted, ill.ines made it do this. It began with t5.-.0: “A fever.”"
    assert said["t3.-.1"] == (BURNS, "It began with t3.-.0: “Smoke!”")
    assert said["t6.ines.0"] == ("is lying ill in bed (Ines is ill)", raised)
    [left] = [text for id, (text, _) in said.items() if id.startswith("t7.bruno.")]
    assert left == "is gone (Bruno is away)"
    assert said["t15.-.0"] == (OUT, "Its time was over.")
    assert said["t15.-.1"] == (SHUT, "burning.cafe was over, and it follows (t15.-.0).")
    assert said["t19.bruno.0"] == ("is in the town again (Bruno is back)", "away.bruno is over.")
    assert all(text and reason for text, reason in said.values())


def _concerns(event: Event) -> bool:
    return isinstance(event.body, Began | Ended) or bool(getattr(event.body, "held", ""))


@pytest.mark.parametrize(
    ("scenario", "area", "person", "words"),
    [
        ("latticeville", "noodle-bar", "suki", "Mira's Noodle Bar is on fire."),
        ("sijang", "bindaetteok", "bongsun", "불이 났다."),
    ],
)
def test_words_are_those_of_the_scenario(scenario: str, area: str, person: str, words: str) -> None:
    town = TownNames.of(load(scenario).part)
    area = area if area in town.rooms else next(reversed(town.rooms))
    person = person if person in town.names else next(iter(town.names))
    began = Event(3, Phase.INPUT, "-", 0, area, Began(circumstance=f"burning.{area}"))
    fled = Event(4, Phase.ACTION, person, 0, area, Moved(left=area, to=town.root, goal=town.root, held=f"ill.{person}"))
    back = Event(9, Phase.INPUT, person, 0, area, Joined(held=f"away.{person}"))
    assert words in entry_of(began, town).text
    assert town.short(person) in entry_of(fled, town).text
    assert "(이" not in entry_of(fled, town).text
    assert entry_of(back, town).text.endswith(")")
    unknown = Event(9, Phase.INPUT, "-", 0, area, Began(circumstance="haunted.nowhere"))
    assert entry_of(unknown, town).text == "haunted.nowhere"


def test_a_frame_at_any_past_tick_shows_what_was_so_then(reading: Reading) -> None:
    for tick in (31, 14, 2, 15, 3, 31):
        keys = {one.key: one for one in reading.frame(tick).circumstances}
        assert ("burning.cafe" in keys) == (tick in FIRE)
        assert ("closed.cafe" in keys) == (tick in CLOSED)
        assert keys.keys() == {key for key, one in reading.circumstances_at(tick).items() if one.holds}
    fire = next(one for one in reading.frame(8).circumstances if one.key == "burning.cafe")
    assert (fire.of, fire.text, fire.emoji, fire.since, fire.until) == ("cafe", BURNS, "🔥", 3, 15)


def test_the_state_lists_what_is_so(reading: Reading) -> None:
    assert f"{BURNS} [burning.cafe] since 06:15, until 07:15" in list(state_lines(reading, 8))
    assert not [line for line in state_lines(reading, 2) if "since" in line]


def test_the_terminal_shows_a_sign_on_the_place_and_a_sentence_on_the_character(reading: Reading) -> None:
    source = RecordedSource(reading)
    scenes = SceneReader(source)

    def drawn(tick: int) -> str:
        scene = scenes.scene(tick, NIGHT, "ines")
        return "\n".join("".join(segment.text for segment in strip) for strip in draw_town(scene, 120, 40))

    assert "🔥 Café Sixpence" in drawn(8)
    assert "🔒 Café Sixpence" in drawn(20)
    assert "🔥" not in drawn(2)
    scene = scenes.scene(8, NIGHT, "ines")
    assert "🤒 Ines is ill." in TEXTS["who"](scene, source.inspect("ines", 8)).plain
    scene = scenes.scene(20, NIGHT, "ines")
    assert "ill" not in TEXTS["who"](scene, source.inspect("ines", 20)).plain


def test_the_page_gets_what_is_so_with_every_tick(reading: Reading) -> None:
    picture = Picture(reading)
    assert [one.text for one in picture.snapshot(8).circumstances if one.of == "cafe"] == [BURNS]
    states = {delta.tick: {one.key for one in delta.circumstances} for delta in picture.deltas(1, 31)}
    assert {tick for tick, keys in states.items() if "burning.cafe" in keys} == set(FIRE)
    assert {line.type for line in picture.lines(text="Café Sixpence is") if line.category == "world"} >= {"BEGAN"}
    marks = {(mark.tick, mark.kind, mark.text) for mark in picture.timeline().marks}
    assert {(3, "scripted", BURNS), (15, "scripted", OUT)} <= marks
