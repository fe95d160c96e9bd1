"""Somebody whom the scenario does not know comes in: an input like all others, then a character like all others."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.analysis.diffusion import diffusion
from commonplace.api import create_run, open_run, resume_run, scenario_of
from commonplace.engine.budget import Budget
from commonplace.engine.live_state import restored_state
from commonplace.errors import CommonplaceError, Paused, UsageError
from commonplace.parts.live.live_run import LiveRun, LiveSource
from commonplace.parts.terminal.god_mode import parsed
from commonplace.parts.terminal.palette import NIGHT
from commonplace.parts.terminal.player import SceneReader
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import load
from commonplace.views.town_names import TownNames
from commonplace.world.events import Joined
from e2e.command import command, copied, ends, tables
from engine.paid_minds import FarMind, PaidMind, offline, opened, virtually
from engine.paid_minds import played as finished
from run.small_runs import fork
from scenario.newcomers import FILE, zola
from sizes import PROVE, examples

AT = 30
MORE = 30 if PROVE else 8
SECRET = "There is an old tunnel under the fountain"


def came(path: Path, *bodies: dict[str, Any], ticks: int = 1) -> None:
    with resume_run(path) as run:
        for body in bodies:
            run.submit(body)
        list(run.play_sync(ticks))


def joins(area: str = "square", **changes: Any) -> dict[str, Any]:
    return {"kind": "join", "area": area, "character": zola(**changes)}


@pytest.fixture(scope="module")
def visited(plaza: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plaza with somebody new in it from tick 31 on. Not to be written to."""
    path = tmp_path_factory.mktemp("newcomers") / "visited.run"
    fork(plaza, AT, path).close()
    came(path, joins("cafe"), ticks=MORE)
    return path


# ── she is there ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_parents_history_is_untouched_up_to_the_tick_she_comes_in(visited: Path, plaza: Path) -> None:
    assert ends(visited, AT) == ends(plaza, AT)
    assert ends(visited, AT + 1).history != ends(plaza, AT + 1).history
    assert ends(visited, AT + 1).state != ends(plaza, AT + 1).state


def test_it_verifies(visited: Path) -> None:
    assert "the same history" in command("verify", visited).err


def test_she_begins_with_what_her_file_says(visited: Path) -> None:
    with open_run(visited) as run:
        [joined] = [event for event in run.events(AT + 1, AT + 1) if event.type == "JOINED"]
        assert (joined.agent_id, joined.place, joined.body) == ("zola", "cafe", Joined())
        assert run.why(joined.id)["explanation"].startswith("An input from outside")
        state = run.state_at("zola", AT + 1)
        assert state.relations["ines"].warmth == 60
        assert state.belief.knows("cafe")
        assert not state.belief.knows("ines_home")
        assert state.card["name"] == "Zola Brandt"
        first = run.memories("zola", AT + 1)
        assert [(one.id, one.tick, one.importance) for one in first] == [(1, AT + 1, 9), (2, AT + 1, 3)]
        assert {one.created_at for one in first} == {run.time(AT + 1)}
        assert run.memories("zola", AT) == []
        acted = [event.tick for event in run.events(agent="zola") if event.type != "JOINED"]
        assert min(acted) == AT + 2


def test_others_see_her_and_remember_her(visited: Path) -> None:
    with open_run(visited) as run:
        seen = [one for me in ("ines", "bruno") for one in run.memories(me) if "Zola Brandt" in one.text]
        assert seen
        assert min(one.tick for one in seen) == AT + 2
        assert any("zola" in run.state_at(me).relations for me in ("ines", "bruno"))


def test_she_talks_and_is_talked_to(visited: Path) -> None:
    with open_run(visited) as run:
        said = run.events(type="SAY")
        assert any(event.agent_id == "zola" for event in said)
        assert any(event.body.to_agent_id == "zola" for event in said)


def test_her_secret_is_heard_and_remembered(visited: Path, tmp_path: Path) -> None:
    """Bruno has just spoken to her, and a person answers for her."""
    path = tmp_path / "told.run"
    fork(visited, AT + 1, path).close()
    say = {"kind": "SAY", "to_agent_id": "bruno", "utterance": f"{SECRET}."}
    came(
        path,
        {"kind": "take_over", "agent_id": "zola", "action": say},
        {"kind": "give_back", "agent_id": "zola"},
        ticks=4,
    )
    with open_run(path) as run:
        [event] = [event for event in run.events(AT + 2, type="SAY", agent="zola") if SECRET in event.body.utterance]
        assert event.id in {memory.event for memory in run.memories("bruno") if SECRET in memory.text}
        assert run.state_at("bruno").relations["zola"].last_talk >= event.tick
        assert run.why(event.id)
    assert "the same history" in command("verify", path).err


def test_everything_that_lists_characters_knows_her(visited: Path, plaza: Path) -> None:
    assert "Zola Brandt" in command("agents", visited).out
    assert "tunnel" in command("memories", visited, "Zola").out
    assert "tunnel" in command("search", visited, "zola", "--text", "tunnel").out
    lines = command("replay", visited, "--from", AT, "--view", "plain").out
    assert "Zola Brandt joins the town" in lines
    assert "Zola Brandt" in command("diff", plaza, visited).out
    assert "Zola Brandt" in command("diff", visited, plaza).out
    assert '"zola"' in command("events", visited, "--json").out
    with open_run(visited) as run:
        assert run.agent_ids == ["bruno", "ines", "zola"]
        assert [agent["name"] for agent in run.agents()] == ["Bruno Salt", "Ines Okafor", "Zola Brandt"]
        assert (run.frame().agents["zola"].called, run.frame(AT + 1).agents["zola"].position) == ("Zola", "cafe")
        assert "zola" not in run.frame(AT).agents
        assert "zola" not in run.scenario_at(AT).personas
        spoken = next(event for event in run.events(agent="zola", type="SAY"))
    assert command("why", visited, spoken.id).out
    assert command("why", visited, spoken.id, "--without", "zola:1").out


def test_a_reader_that_was_open_before_she_came_knows_her_too(plaza: Path, tmp_path: Path) -> None:
    path = tmp_path / "watched.run"
    fork(plaza, AT, path).close()
    with open_run(path) as run:
        assert list(run.frame().agents) == ["bruno", "ines"]
        before = run.scenario
        came(path, joins(), ticks=2)
        assert {run.frame(tick).agents["zola"].name for tick in (AT + 1, AT + 2)} == {"Zola Brandt"}
        assert run.scenario.part.characters[-1].name == "Zola Brandt"
        assert run.scenario is run.scenario
        assert run.scenario is not before


# ── whatever happens to the run ──────────────────────────────────────────────────────────────────────────────────────


def test_what_is_restored_is_what_ran(plaza: Path, tmp_path: Path) -> None:
    path = tmp_path / "live.run"
    fork(plaza, AT, path).close()
    with resume_run(path) as run:
        run.submit(joins("cafe"))
        for _ in range(3):
            list(run.play_sync(1))
            live = run._engine.live_state
            restored = restored_state(run.reading, scenario_of(run.file.manifest), run.tick)
            assert restored.states == live.states
            assert restored.rated == live.rated
            assert {me: stream.last_id for me, stream in restored.streams.items()} == {
                me: stream.last_id for me, stream in live.streams.items()
            }
            for scenario in (restored.scenario, run.reading.scenario):
                assert [*map(asdict, scenario.personas.values())] == [*map(asdict, live.scenario.personas.values())]
                assert scenario.geography.nodes == live.scenario.geography.nodes


def test_resuming_at_every_tick_gives_the_same_history(visited: Path, plaza: Path, tmp_path: Path) -> None:
    path = tmp_path / "often.run"
    fork(plaza, AT, path).close()
    with resume_run(path) as run:
        run.submit(joins("cafe"))  # the process ends before it is applied
    for _ in range(MORE):
        came(path)
    assert ends(path) == ends(visited)


@pytest.mark.parametrize("at", [AT + 1, AT + 2, AT + MORE - 1])
def test_a_fork_of_it_goes_the_same_way(visited: Path, tmp_path: Path, at: int) -> None:
    fork(visited, at, tmp_path / "again.run").close()
    came(tmp_path / "again.run", ticks=AT + MORE - at)
    assert ends(tmp_path / "again.run") == ends(visited)


def test_a_fork_from_before_does_not_know_her(visited: Path, plaza: Path, tmp_path: Path) -> None:
    fork(visited, AT, tmp_path / "before.run").close()
    came(tmp_path / "before.run", ticks=4)
    assert ends(tmp_path / "before.run") == ends(plaza, AT + 4)
    with open_run(tmp_path / "before.run") as run:
        assert "zola" not in run.scenario.personas
    command("fork", visited, "--at", AT, "--join", "zola", "-o", tmp_path / "x.run", status=2)


def test_it_can_be_sent_rescued_and_trimmed(visited: Path, tmp_path: Path) -> None:
    command("export", visited, "bundle", "-o", tmp_path / "v.zip")
    command("import", "bundle", tmp_path / "v.zip", "-o", tmp_path / "sent.run")
    command("rescue", visited, "-o", tmp_path / "rescued.run")
    for name in ("sent.run", "rescued.run"):
        assert ends(tmp_path / name) == ends(visited)
        came(tmp_path / name, ticks=1)
        assert "the same history" in command("verify", tmp_path / name).err


def test_with_a_mind_that_costs_something_a_session_may_end_anywhere(tmp_path: Path) -> None:
    """Her questions are kept and asked ahead like everybody's; the server goes away in the middle of ticks."""

    def come(name: str) -> Path:
        path = tmp_path / name
        with opened(path, PaidMind(offline("plaza")), "plaza") as run:
            virtually(finished(run, 6))
            run.submit(joins("cafe"))
        return path

    whole, pieces = come("whole.run"), come("pieces.run")
    with opened(whole, PaidMind(offline("plaza")), "plaza") as run:
        virtually(finished(run, 16))
    for good in (0, 1, 2, 5, 11, 23, 1000):
        mind = FarMind(offline("plaza"), good)
        with opened(pieces, mind, "plaza") as run, suppress(Paused):
            virtually(finished(run, 16))
    assert ends(pieces) == ends(whole)
    with open_run(whole) as run:
        assert run.answers(agent="zola")
    assert "the same history" in command("verify", pieces).err


@examples(40)
@given(
    at=st.integers(0, 58), area=st.sampled_from(["square", "cafe", "workshop", "bruno_home"]), more=st.integers(1, 2)
)
def test_whenever_she_comes_what_was_before_stays(
    at: int, area: str, more: int, plaza: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("random") / "any.run"
    fork(plaza, at, path).close()
    came(path, joins(area), ticks=more)
    with open_run(path) as run, open_run(plaza) as parent:
        assert all(run.digests(tick) == parent.digests(tick) for tick in range(at + 1))
        assert run.digests(at + 1) != parent.digests(at + 1)
        assert run.world_at(at + 1).bodies["zola"].area == area


# ── as inputs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_input_without_a_character_is_stored_as_ever(visited: Path, tmp_path: Path) -> None:
    fork(visited, AT + 1, tmp_path / "ever.run").close()
    body = {"kind": "join", "agent_id": "zola", "area": "cafe"}
    came(tmp_path / "ever.run", {"kind": "leave", "agent_id": "zola"})
    came(tmp_path / "ever.run", body)
    with open_run(tmp_path / "ever.run") as run:
        first, _, again = (row.body for row in run.inputs())
        assert (first["character"]["name"], again) == ("Zola Brandt", body)


def test_she_leaves_and_comes_back_by_her_id_alone(visited: Path, tmp_path: Path) -> None:
    fork(visited, AT + 3, tmp_path / "back.run").close()
    came(tmp_path / "back.run", {"kind": "leave", "agent_id": "zola"}, ticks=2)
    with open_run(tmp_path / "back.run") as run:
        assert "zola" not in run.frame().agents
        remembered = [memory.text for memory in run.memories("zola")]
    came(tmp_path / "back.run", {"kind": "join", "agent_id": "zola"}, ticks=3)
    with open_run(tmp_path / "back.run") as run:
        assert run.world_at(AT + 6).bodies["zola"].area == "cafe"
        assert [memory.text for memory in run.memories("zola")][: len(remembered)] == remembered
        assert any(event.tick > AT + 6 for event in run.events(agent="zola"))
    assert "the same history" in command("verify", tmp_path / "back.run").err


def test_two_may_come_in_one_tick_and_know_one_another(plaza: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.run"
    fork(plaza, AT, path).close()
    other = joins(id="otto", name="Otto Weiss", relations=[{"to": "zola", "warmth": -20}])
    with resume_run(path) as run:
        run.submit(joins())
        with pytest.raises(UsageError, match="is the id of Zola Brandt already"):
            run.submit(joins())
        run.submit(other)
        run.submit({"kind": "set", "agent_id": "zola", "field": "relation.otto.warmth", "value": 10})
        run.submit({"kind": "set", "agent_id": "otto", "field": "age", "value": 90})
        run.submit({"kind": "forget", "agent_id": "otto", "memory_ids": [1]})
        list(run.play_sync(4))
        assert run.scenario.personas["otto"].age == 90
    with open_run(path) as run:
        assert run.state_at("otto", AT + 1).relations["zola"].warmth == -20
        assert run.state_at("zola", AT + 1).relations["otto"].warmth == 10
        assert run.scenario_at().personas["otto"].age == 90
        assert [one.id for one in run.memories("otto", AT + 1)] == [1, 2]
    assert "the same history" in command("verify", path).err
    came(path, ticks=1)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (joins("nowhere"), "there is no area"),
        (joins(home="nowhere"), "zola › home: there is no area"),
        (joins(id="ines"), "is the id of Ines Okafor already"),
        (joins() | {"agent_id": "anna"}, "the id of the character that joins is 'zola', not 'anna'"),
        (joins() | {"character": "zola.yaml"}, "the character of a join cannot be 'zola.yaml'"),
        (joins() | {"character": {"id": "zola"}}, "5 mistakes"),
        (joins() | {"colour": "grey"}, "does not fit"),
        ({"kind": "join", "agent_id": "zola"}, "there is no character 'zola'"),
        ({"kind": "join"}, "does not fit"),
    ],
)
def test_what_cannot_come_is_refused_before_anything_is_written(
    plaza: Path, tmp_path: Path, body: dict[str, Any], said: str
) -> None:
    fork(plaza, AT, tmp_path / "same.run").close()
    with resume_run(tmp_path / "same.run") as run:
        with pytest.raises(UsageError) as error:
            run.submit(body)
        assert run.file.queued() == ()
    assert said in str(error.value)


def test_a_queued_newcomer_that_was_tampered_with_stops_the_run_at_its_tick(plaza: Path, tmp_path: Path) -> None:
    """Somebody made this file: the run says what is wrong, and every committed tick is still there."""
    path = tmp_path / "made.run"
    fork(plaza, AT, path).close()
    with resume_run(path) as run:
        run.file.queue({**joins(), "agent_id": "zola", "character": zola(id="ines")})
    with pytest.raises(CommonplaceError, match="is the id of Ines Okafor already"):
        came(path)
    assert ends(path) == ends(plaza, AT)


@pytest.mark.parametrize(
    "card",
    [{"name": 3}, {"name": "Zola Brandt", "age": 3, "traits": ["x"], "home": "nowhere"}, {"name": "x"}],
    ids=str,
)
def test_a_card_that_nobody_can_have_is_damage(visited: Path, tmp_path: Path, card: dict[str, Any]) -> None:
    path = copied(visited, tmp_path)
    with tables(path) as connection:
        connection.execute("DELETE FROM version WHERE kind = 'card' AND owner = 'zola'")
        rows = [(AT + 1, "zola", "card", key, json.dumps(value)) for key, value in card.items()]
        connection.executemany("INSERT INTO version VALUES (?, ?, ?, ?, ?)", rows)
    for asked in (("agents", path), ("replay", path, "--view", "plain"), ("verify", path)):
        assert command(*asked, status=1).err.startswith("commonplace: ")


# ── as a command ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_fork_brings_her_in_and_says_so(plaza: Path, visited: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.run"
    done = command("fork", plaza, "--at", AT, "--join", f"{FILE}:cafe", "-o", new)
    assert done.lines[1] == f"at tick {AT + 1} zola, who is new, joins at cafe"
    assert "Zola Brandt joins the town" in command("resume", new, "--ticks", MORE, "--view", "plain").out
    assert ends(new) == ends(visited)


def test_what_a_fork_changes_may_be_about_her(plaza: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.run"
    command(
        "fork", plaza, "--at", AT, "--join", FILE, "-o", new,
        "--set", "zola.age=50", "--set", "Ines.relation.Zola.warmth=-9", "--leave", "bruno",
    )  # fmt: skip
    command("resume", new, "--ticks", 2, "--view", "none")
    with Reading.open(new) as run:
        assert run.scenario_at().personas["zola"].age == 50
        assert run.state_at("ines", AT + 1).relations["zola"].warmth == -9
        assert run.world_at(AT + 1).bodies["zola"].area == "cafe"
    command("fork", new, "--at", AT + 2, "--set", "zola.work=cook", "--leave", "zola", "-o", tmp_path / "on.run")
    command("resume", tmp_path / "on.run", "--ticks", 2, "--view", "none")
    assert "the same history" in command("verify", tmp_path / "on.run").err
    with Reading.open(tmp_path / "on.run") as run:
        assert (run.scenario_at().personas["zola"].work, run.scenario.personas["zola"].work) == ("cook", "surveyor")
        assert run.frame().agents.keys() == {"ines"}
    command("fork", tmp_path / "on.run", "--at", AT + 4, "--join", "Zola:workshop", "-o", tmp_path / "back.run")


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("nowhere.yaml", "cannot be read"),
        ("nowhere.yaml:cafe", "cannot be read"),
        ("{}:nowhere", "there is no area 'nowhere'"),
        ("ines", "or a file that describes somebody new"),
    ],
)
def test_a_wrong_wish_makes_no_file(plaza: Path, tmp_path: Path, wish: str, said: str) -> None:
    done = command("fork", plaza, "--at", AT, "-o", tmp_path / "new.run", "--join", wish.format(FILE), status=2)
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


# ── while it runs ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_god_mode_brings_her_in_from_a_file(tmp_path: Path) -> None:
    live = LiveRun(lambda: create_run(tmp_path / "live.run", "plaza"), 4, Budget())
    live.rate, live.playing = 0, False
    live.start()
    try:
        with Reading.open(tmp_path / "live.run") as reading:
            source = LiveSource(reading, live)
            scenes = SceneReader(source)
            assert scenes.scene(0, NIGHT, "ines").town.who("zola") == "zola"
            intent = parsed(f"/join {FILE} Linden Square", scenes.town)
            assert intent is not None
            assert source.submit(intent.body) == "Zola Brandt comes in at tick 1"
            with pytest.raises(UsageError, match="is the id of Zola Brandt already"):
                source.submit(intent.body)
            committed = Event()
            live.subscribe(lambda tick: committed.set() if tick == 2 else None)
            live.control(steps=2)
            assert committed.wait(60)
            scene = scenes.scene(2, NIGHT, "zola")
            assert (scene.town.who("zola"), scene.frame.agents["zola"].position) == ("Zola Brandt", "square")
            assert [*scene.badges] == ["ines", "bruno", "zola"]
            assert any(entry.agent_id == "zola" and "joins" in entry.text for entry in scene.recent)
            inspected = source.inspect("zola", 2)
            assert (inspected.persona.work, len(inspected.memories) > 1) == ("surveyor", True)
            assert source.inspect("zola", 0).memories == []
            assert source.submit({"kind": "voice", "agent_id": "zola", "text": "Run."}).startswith("Zola Brandt")
    finally:
        live.stop()


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("/join zola.yaml", {"kind": "join", "newcomer": "zola.yaml", "area": ""}),
        ("/join ~/my people/zola.json cafe", {"kind": "join", "newcomer": "~/my people/zola.json", "area": "cafe"}),
        ("/join zola.yaml nowhere", None),
        ("/join zola", None),
    ],
)
def test_a_typed_line_may_name_a_file(line: str, body: dict[str, Any] | None) -> None:
    intent = parsed(line, TownNames.of(load("plaza").part))
    assert (intent and intent.body) == body


def test_a_fact_of_the_scenario_may_come_with_her(plaza: Path, tmp_path: Path) -> None:
    """She is one more from whom it spreads, once she has told it."""
    fact = load("plaza").facts[0]
    told = {"text": fact.text["en"], "importance": 9, "topic": fact.id, "tell": list(fact.tell["en"])}
    fork(plaza, 0, tmp_path / "fact.run").close()
    came(tmp_path / "fact.run", joins("cafe", memories=[told]), ticks=40)
    with open_run(tmp_path / "fact.run") as run:
        assert len(run.memories("zola", 1)) == 1
        [spread, *_] = diffusion(run)
        assert "zola" in spread["originators"]
        assert spread["share"] == len(spread["knowers"]) / 3
        assert diffusion(run, 0)[0]["share"] == len(fact.originators) / 2
