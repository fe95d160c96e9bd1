"""What comes from outside is history: it has a tick, is perceived at the next one, and every replay meets it again."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager

import pytest

from commonplace.api import create_run, open_run, resume_run
from commonplace.cli import main
from commonplace.errors import UsageError
from e2e.command import ends, tables

EVERYBODY = {"everybody": True, "areas": [], "agents": []}
FOG = {"kind": "god_event", "text": "A thick fog rolls in from the river.", "to": EVERYBODY}


@contextmanager
def plaza_at(path, ticks: int):
    """The plaza after so many ticks, being lived."""
    with create_run(path, "plaza") as run:
        list(run.play_sync(ticks))
        yield run


def test_a_god_event_happens_at_the_next_tick_and_is_perceived_at_the_one_after(tmp_path):
    path = tmp_path / "fog.run"
    with plaza_at(path, 30) as run:
        run.submit({**FOG, "sets": [["fountain", "dry"]]})
        then, after = list(run.play_sync(2))
        [event] = [event for event in then.events if event.type == "GOD_EVENT"]
        assert (event.tick, event.body.text) == (31, FOG["text"])
        assert [agent for agent, _ in event.body.percepts] == ["bruno", "ines"]
        assert run.reading.world_at(30).things["fountain"].state == "running"
        assert run.reading.world_at(31).things["fountain"].state == "dry"
        for agent in ("bruno", "ines"):
            fog = [memory for memory in run.reading.memories(agent) if "thick fog" in memory.text]
            assert [(memory.tick, memory.event) for memory in fog] == [(32, event.id)]
    assert after.number == 32
    assert main(["verify", str(path)]) == 0


def test_a_way_that_was_found_closed_is_not_tried_again_for_an_hour(tmp_path):
    with plaza_at(tmp_path / "door.run", 2) as run:
        ways = {way.id for way in run.scenario.geography.ways.values()}
        run.submit({**FOG, "closes": sorted(ways)})
        lived = list(run.play_sync(60))
    tried = [
        (event.agent_id, tick.number, event.body.proposed.to_location_id)
        for tick in lived
        for event in tick.events
        if event.type == "ACTION_REJECTED"
    ]
    assert tried
    for agent, tick, goal in tried:
        again = [later for other, later, to in tried if (other, to) == (agent, goal) and later > tick]
        assert all(later - tick >= 12 for later in again), "an hour is twelve ticks"


def test_only_those_it_reaches_perceive_it(tmp_path):
    path = tmp_path / "whisper.run"
    with plaza_at(path, 30) as run:
        run.submit({**FOG, "to": {"everybody": False, "areas": [], "agents": ["bruno"]}})
        list(run.play_sync(3))
        heard = {agent: any("thick fog" in m.text for m in run.reading.memories(agent)) for agent in ("bruno", "ines")}
    assert heard == {"bruno": True, "ines": False}


def test_an_inner_voice_is_a_thought_of_one(tmp_path):
    path = tmp_path / "voice.run"
    with plaza_at(path, 30) as run:
        run.submit({"kind": "inner_voice", "agent_id": "ines", "text": "Somebody should oil the café door."})
        list(run.play_sync(3))
        thoughts = {
            agent: [(m.tick, m.event) for m in run.reading.memories(agent) if "that will not go away" in m.text]
            for agent in ("bruno", "ines")
        }
    assert thoughts["ines"] == [(32, "t31.ines.1")]
    assert thoughts["bruno"] == []
    assert main(["verify", str(path)]) == 0


def test_who_leaves_is_gone_and_may_come_back_with_all_its_memories(tmp_path):
    path = tmp_path / "leave.run"
    with plaza_at(path, 20) as run:
        remembered = len(run.reading.memories("bruno"))
        run.submit({"kind": "leave", "agent_id": "bruno"})
        list(run.play_sync(5))
        assert {agent["id"] for agent in run.reading.agents()} == {"ines"}
        lived = {event.tick for event in run.reading.events(agent="bruno")}
        assert max(lived) == 21
        run.submit({"kind": "join", "agent_id": "bruno", "area": "cafe"})
        joined, *later = list(run.play_sync(4))
        assert [event.place for event in joined.events if event.type == "JOINED"] == ["cafe"]
        assert "bruno" not in joined.turns
        assert all("bruno" in tick.turns for tick in later)
        assert len(run.reading.memories("bruno")) >= remembered
    assert main(["verify", str(path)]) == 0


def test_inputs_change_history_from_their_tick_on_and_not_before(plaza, tmp_path):
    path = tmp_path / "fog.run"
    with plaza_at(path, 30) as run:
        run.submit(FOG)
        list(run.play_sync(3))
    assert ends(path, 30) == ends(plaza, 30)
    assert ends(path, 31).history != ends(plaza, 31).history


def test_an_input_that_waits_survives_the_end_of_the_process(tmp_path):
    whole, pieces = tmp_path / "whole.run", tmp_path / "pieces.run"
    with plaza_at(whole, 30) as run:
        run.submit(FOG)
        list(run.play_sync(5))
    with plaza_at(pieces, 30) as run:
        run.submit(FOG)
    with resume_run(pieces) as run:
        assert [row.body["text"] for row in run.reading.queued()] == [FOG["text"]]
        list(run.play_sync(5))
        assert run.reading.queued() == ()
    assert ends(pieces) == ends(whole)


def test_inputs_take_effect_in_the_order_in_which_they_came(tmp_path):
    path = tmp_path / "order.run"
    with plaza_at(path, 10) as run:
        numbers = [run.submit({**FOG, "text": f"Bell number {n} rings.", "sets": [["fountain", state]]})
                   for n, state in enumerate(("dry", "running", "dry"))]  # fmt: skip
        [tick] = list(run.play_sync(1))
        assert numbers == sorted(numbers)
        told = [event.body.text for event in tick.events if event.type == "GOD_EVENT"]
        assert told == [f"Bell number {n} rings." for n in range(3)]
        assert run.reading.world_at().things["fountain"].state == "dry"


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "nonsense"},
        {"kind": "inner_voice", "agent_id": "nobody", "text": "x"},
        {"kind": "join", "agent_id": "ines", "area": "nowhere"},
        {"kind": "leave", "agent_id": "nobody"},
        {"kind": "leave"},
        {**FOG, "sets": [["fountain", "on fire"]]},
        {**FOG, "sets": [["lighthouse", "on"]]},
        {**FOG, "to": {"areas": ["nowhere"]}},
        {**FOG, "colour": "grey"},
    ],
    ids=str,
)
def test_an_input_that_names_what_there_is_not_is_refused_at_once(body, tmp_path):
    path = tmp_path / "wrong.run"
    with plaza_at(path, 1) as run:
        with pytest.raises(UsageError) as refusal:
            run.submit(body)
        assert len(str(refusal.value)) > 20
        assert run.reading.queued() == ()
        list(run.play_sync(1))
    assert main(["verify", str(path)]) == 0


def test_an_input_that_no_longer_applies_does_nothing(tmp_path):
    path = tmp_path / "late.run"
    with plaza_at(path, 5) as run:
        run.submit({"kind": "leave", "agent_id": "bruno"})
        run.submit({"kind": "leave", "agent_id": "bruno"})
        run.submit({"kind": "inner_voice", "agent_id": "bruno", "text": "Too late."})
        run.submit({"kind": "join", "agent_id": "ines", "area": "cafe"})
        [tick] = list(run.play_sync(1))
        kinds = [event.type for event in tick.events if event.type in ("LEFT", "JOINED", "INNER_VOICE")]
        assert kinds == ["LEFT"]
        list(run.play_sync(3))
    assert main(["verify", str(path)]) == 0


def test_everybody_may_leave_and_the_world_goes_on(tmp_path):
    path = tmp_path / "empty.run"
    with plaza_at(path, 5) as run:
        for agent in ("bruno", "ines"):
            run.submit({"kind": "leave", "agent_id": agent})
        list(run.play_sync(30))
        assert run.reading.agents() == []
        run.submit({"kind": "join", "agent_id": "ines", "area": "square"})
        list(run.play_sync(5))
    with resume_run(path) as run:
        list(run.play_sync(5))
    assert main(["verify", str(path)]) == 0


def test_a_sentence_of_god_mode_is_foreseen_before_it_is_submitted(tmp_path):
    path = tmp_path / "foreseen.run"
    with plaza_at(path, 30) as run:
        preview = asyncio.run(run.preview("The coffee machine in the café breaks down."))
        assert preview["kind"] == "god_event"
        assert run.reading.queued() == ()
        run.submit(preview)
        [tick] = list(run.play_sync(1))
        assert any(event.type == "GOD_EVENT" for event in tick.events)
    assert main(["verify", str(path)]) == 0


def test_pausing_and_looking_are_no_history(plaza, tmp_path):
    path = tmp_path / "paused.run"
    with plaza_at(path, 10) as run:
        run.file.note("control:pause", "1")
        open_run(path).close()
        asyncio.run(run.preview("It snows."))
        list(run.play_sync(5))
    assert ends(path) == ends(plaza, 15)


def test_an_input_in_the_file_is_the_one_submitted(eventful):
    with tables(eventful) as connection:
        ticks = [tick for (tick,) in connection.execute("SELECT tick FROM input ORDER BY seq")]
    assert ticks == [4, 6, 6, 9, 13, 43, 43, 45, 58]
