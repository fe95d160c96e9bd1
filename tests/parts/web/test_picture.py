"""What the page is told of a run equals what the terminal shows, at every tick and in whatever way it gets there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.analysis.diffusion import diffusion
from commonplace.errors import UsageError
from commonplace.parts.web import model as wire
from commonplace.parts.web.card import run_card, without_credentials
from commonplace.parts.web.inspector import RunInspector
from commonplace.parts.web.picture import Picture
from commonplace.run.frames import AgentFrame, Frame, ObjectFrame
from commonplace.run.reading import Reading
from commonplace.views.lines import SILENT, Narrator, PlainLines
from commonplace.views.town_names import TownNames
from e2e.command import command
from parts.web.serving import after_delta
from sizes import examples
from world.small_worlds import AGENTS, CLOCK, village


@pytest.fixture(scope="module")
def picture(town: Path) -> Iterator[Picture]:
    with Reading.open(town) as reading:
        yield Picture(reading)


@pytest.fixture(scope="module")
def inspector(picture: Picture) -> RunInspector:
    return RunInspector(picture)


@pytest.fixture(scope="module")
def changed(eventful: Path) -> Iterator[Picture]:
    """Of a run in which people come, go and are spoken to from outside."""
    with Reading.open(eventful) as reading:
        yield Picture(reading)


def reduced(frames: wire.Frames) -> list[wire.Snapshot]:
    """Each tick as a page makes it of the messages."""
    states = [frames.first]
    for delta in frames.rest:
        states.append(after_delta(states[-1], delta))
    return states


# ── ticks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_snapshot_and_its_deltas_give_the_snapshot_of_every_tick(changed: Picture, picture: Picture) -> None:
    last = changed.reading.last_tick
    assert reduced(changed.frames(0, last)) == [changed.snapshot(tick) for tick in range(last + 1)]
    assert reduced(picture.frames(60, 90)) == [picture.snapshot(tick) for tick in range(60, 91)]


GEOGRAPHY = village(edge_cost=2)


@st.composite
def walks(draw: st.DrawFn) -> list[Frame]:
    """Ticks in which anybody may walk on, stray, come, go and speak, in any order."""
    frames: list[Frame] = []
    areas = st.sampled_from(GEOGRAPHY.areas)
    bodies = dict[str, tuple[str, str]]()
    for tick in range(draw(st.integers(2, 6))):
        agents = dict[str, AgentFrame]()
        for me in AGENTS:
            here, goal = bodies.get(me, (draw(areas), ""))
            match draw(st.sampled_from(("on", "on", "on", "stray", "stay", "away"))):
                case "on":
                    here = next(iter(GEOGRAPHY.route(here, goal)), here) if goal else here
                    goal = goal if goal != here else draw(areas)
                case "stray":
                    here, goal = draw(areas), draw(st.sampled_from(("", *GEOGRAPHY.areas)))
                case "stay":
                    goal = ""
                case _:
                    bodies.pop(me, None)
                    continue
            bodies[me] = here, goal
            said = draw(st.sampled_from(("", "", "Hello.")))
            agents[me] = AgentFrame(me, me, me, here, "walking", "", said, "bob" if said else "", "", False, goal)
        things = {"cup": ObjectFrame("cup", "Cup", draw(st.sampled_from(("whole", "gone"))), "cafe")}
        frames.append(Frame(tick, CLOCK.time(tick), "", "clear", "", "mild", agents, things, (), ""))
    return frames


class Told:
    """A reading of frames alone."""

    def __init__(self, frames: list[Frame]) -> None:
        self.all = frames
        self.last_tick = len(frames) - 1
        self.scenario: Any = SimpleNamespace(geography=GEOGRAPHY)

    def tick(self, tick: int) -> int:
        return tick

    def frame(self, tick: int) -> Frame:
        return self.all[tick]

    def frames(self, first: int, last: int) -> list[Frame]:
        return self.all[first : last + 1]


@examples(200)
@given(walks())
def test_so_it_does_however_people_walk_come_and_go(frames: list[Frame]) -> None:
    picture = Picture(Told(frames))  # pyright: ignore[reportArgumentType]
    picture._narrated = lambda first, last: iter(())  # pyright: ignore[reportPrivateUsage]
    assert reduced(picture.frames(0, len(frames) - 1)) == [picture.snapshot(tick) for tick in range(len(frames))]


def test_a_walk_is_sent_once() -> None:
    here = AgentFrame("ann", "Ann", "Ann", "kitchen", "walking", "", "", "", "", False, "library")
    route = ("kitchen", *GEOGRAPHY.route("kitchen", "library"))
    steps = [replace(here, position=area) for area in route[:-1]]
    frames = [Frame(n, CLOCK.time(n), "", "clear", "", "mild", {"ann": one}, {}, (), "") for n, one in enumerate(steps)]
    picture = Picture(Told(frames))  # pyright: ignore[reportArgumentType]
    picture._narrated = lambda first, last: iter(())  # pyright: ignore[reportPrivateUsage]
    sent = picture.frames(0, len(frames) - 1)
    assert sent.first.agents[0].path == list(route)
    assert [delta.agents for delta in sent.rest] == [[]] * len(sent.rest)


def test_state_equals_the_frames_of_replay(picture: Picture) -> None:
    for tick in (0, 47, 108):
        frame, snapshot = picture.reading.frame(tick), picture.snapshot(tick)
        assert [(one.agent_id, one.position, one.current_action, one.dialogue) for one in snapshot.agents] == [
            (one.agent_id, one.position, one.doing, one.dialogue) for one in frame.agents.values()
        ]
        assert [(one.object_id, one.state, one.parent) for one in snapshot.objects] == [
            (one.object_id, one.state, one.parent) for one in frame.objects.values()
        ]


def test_at_most_a_day_at_a_time(picture: Picture) -> None:
    with pytest.raises(UsageError, match="not 1 to 288"):
        picture.frames(50, 20)
    assert [delta.tick for delta in picture.frames(100, 10**6).rest] == list(range(101, 109))


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_lines_read_as_in_the_terminal(picture: Picture) -> None:
    """Wherever one begins to read: what a character was doing before is known."""
    narrator = Narrator(TownNames.of(picture.reading.scenario.part))
    told = {frame.tick: [one.text for one in narrator.narrate(frame.events)] for frame in picture.reading.frames()}
    for tick in range(0, 109, 5):
        assert [line.text for line in picture.snapshot(tick).lines] == told[tick]
    sent = picture.frames(40, 80)
    assert {delta.tick: [line.text for line in delta.lines] for delta in sent.rest} == {
        t: told[t] for t in range(41, 81)
    }


def test_a_plain_run_prints_the_same_sentences(picture: Picture) -> None:
    plain = PlainLines(picture.reading.scenario.part)
    printed = [line.plain for frame in picture.reading.frames(0, 40) for line in plain.lines(frame)]
    for line in picture.lines(40, limit=1000):
        assert line.type in SILENT or any(line.text in one for one in printed)


def test_lines_are_found_by_words_character_and_category(picture: Picture) -> None:
    every = picture.lines(limit=10_000)
    assert every == [line for tick in range(109) for line in picture.snapshot(tick).lines]
    assert picture.lines(limit=7) == every[-7:]
    said = picture.lines(category="talk", agent="mira", limit=10_000)
    assert said == [line for line in every if line.category == "talk" and "mira" in (line.agent_id, line.to)]
    found = picture.lines(text="LANTERN festival", limit=10_000)
    assert found and all("lantern festival" in line.text.lower() for line in found)
    here = picture.lines(place="workshop", limit=10_000)
    assert here == [line for line in every if line.place == "workshop"] != []
    with pytest.raises(UsageError, match="no category"):
        picture.lines(category="gossip")


def test_a_line_names_its_place_facts_and_memories(picture: Picture) -> None:
    events = {event.id: event for event in picture.reading.events()}
    carrying = [line for line in picture.lines(limit=10_000) if line.facts]
    assert carrying
    for line in carrying:
        event = events[line.event_id]
        assert (line.place, line.facts) == (event.place, list(event.body.facts))
        assert line.memories == list(event.body.because)


# ── the run at a glance ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_time_line_grows_as_if_read_at_once(changed: Picture) -> None:
    reading, whole = changed.reading, changed.timeline()
    growing = Picture(reading)
    for last in (0, 3, 9, 40, reading.last_tick):
        growing.reading = Upto(reading, last)  # pyright: ignore[reportAttributeAccessIssue]
        assert growing.timeline().last_tick == last
    assert growing.timeline() == whole
    assert len(whole.activity) == reading.last_tick + 1
    assert {"intervention", "arrival", "conversation"} <= {mark.kind for mark in whole.marks}
    assert whole.weather[0] == (0, reading.frame(0).sky)


class Upto:
    """A run as it was when it had reached a tick."""

    def __init__(self, reading: Reading, last: int) -> None:
        self._reading = reading
        self.last_tick = last

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reading, name)


def test_measures_are_those_of_the_command_line(picture: Picture, inspector: RunInspector) -> None:
    metrics = inspector.metrics(80)
    rows = diffusion(picture.reading, 80)
    assert [(one.fact, one.knowers, one.share) for one in metrics.spreads] == [
        (row["fact"], row["knowers"], row["share"]) for row in rows
    ]
    said = {tuple(sorted((one.agent_id, one.body.to_agent_id))) for one in picture.reading.events(0, 80, type="SAY")}
    assert {one.between for one in metrics.network if one.lines} == said
    assert metrics.density == pytest.approx(2 * len(said) / 90)
    assert metrics.usage == picture.reading.usage(80)[:-1]


def test_usage_is_that_up_to_the_tick(picture: Picture, inspector: RunInspector) -> None:
    answers, last = picture.reading.answers(used=False), picture.reading.last_tick
    asked = [sum(row["asked"] for row in inspector.metrics(tick).usage) for tick in (0, 40, 80, last)]
    assert asked == sorted(asked) and asked[1] < asked[2]
    for tick, count in zip((0, 40, 80, last), asked, strict=True):
        assert count == len({(row.agent, row.tick, row.ordinal) for row in answers if row.tick <= tick})
    assert inspector.metrics(last).usage == [
        row for row in command("usage", picture.reading.path, "--json").rows if row["agent_id"]
    ]


# ── characters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_belief_stands_beside_the_truth(picture: Picture, inspector: RunInspector) -> None:
    detail = inspector.agent("mira", 108)
    frame = picture.reading.frame(108)
    beliefs = {one["node_id"]: one for one in detail["beliefs"]}
    assert any(one["stale"] for one in detail["beliefs"])
    for one in detail["beliefs"]:
        if one["kind"] == "object":
            assert (one["true_place"], one["true_state"]) == (
                frame.objects[one["node_id"]].parent,
                frame.objects[one["node_id"]].state,
            )
            assert one["stale"] == ((one["place"], one["state"]) != (one["true_place"], one["true_state"]))
    assert beliefs["plaza"]["kind"] == "area" and not beliefs["plaza"]["stale"]
    assert detail["position"] == frame.agents["mira"].position
    assert sum(row["now"] for row in detail["plan"]["day"]) == 1


def test_memories_rank_as_on_the_command_line(picture: Picture, inspector: RunInspector) -> None:
    for policy in ("park", "recall"):
        ranked = inspector.memories("mira", 100, query="the lantern festival", policy=policy, k=5)
        done = command(
            "memories", picture.reading.path, "mira", "--json", "--at", 100, "-k", 5, "--policy", policy,
            "--query", "the lantern festival",
        )  # fmt: skip
        sent = [{**one.memory, "rank": one.rank, "score": one.score, "parts": one.parts} for one in ranked.found]
        assert json.loads(json.dumps(sent)) == done.rows


def test_cited_memories_are_read_by_id(inspector: RunInspector) -> None:
    found = inspector.memories("mira", 100, ids=[3, 1, 10**6])
    assert (found.total, {one.memory["id"] for one in found.found}) == (2, {1, 3})


def test_memories_are_filtered(picture: Picture, inspector: RunInspector) -> None:
    every = inspector.memories("mira", limit=1000)
    assert [one.memory["id"] for one in every.found] == sorted((one.memory["id"] for one in every.found), reverse=True)
    assert len(every.found) == every.total
    page = inspector.memories("mira", offset=3, limit=2)
    assert page.found == every.found[3:5] and page.total == every.total
    there = inspector.memories("mira", place="noodle-bar", min_importance=3, kind="observation", limit=1000)
    names = list(picture.reading.scenario.geography.path("noodle-bar"))
    assert there.found
    for one in there.found:
        assert one.memory["place"][: len(names)] == names
        assert one.memory["importance"] >= 3 and one.memory["kind"] == "observation"
    glad = inspector.memories("mira", emotion="pleasant", limit=1000)
    assert glad.found and all(one.memory["emotion"]["valence"] >= 0.2 for one in glad.found)
    with pytest.raises(UsageError, match="not a time"):
        inspector.memories("mira", since="yesterday")
    with pytest.raises(UsageError, match="no policy"):
        inspector.memories("mira", policy="guess")


# ── the run itself ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_town_has_all_that_the_scenario_draws_with(picture: Picture) -> None:
    town = picture.town(run_card("monday", picture.reading), may=["talk"])
    part = picture.reading.scenario.part
    assert (town.run, town.theme, town.people, town.may) == ("monday", "neon", 10, ["talk"])
    assert {area.id: area.box for area in town.areas if area.box} == dict(part.layout.map)
    assert town.areas[0].parent == "" and town.policies[0] == part.cognition.policy
    assert datetime.fromisoformat(town.changed) <= datetime.now(UTC)


def test_no_password_of_a_mind_is_told() -> None:
    assert without_credentials("http://ann:secret@10.0.0.1:8000/v1#m") == "http://10.0.0.1:8000/v1#m"
    assert without_credentials("ollama:qwen3:8b") == "ollama:qwen3:8b"
