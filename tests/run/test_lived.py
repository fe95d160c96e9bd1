"""A town that was really lived: frames, tables and reasons, read back from the file alone."""

from __future__ import annotations

import asyncio
import json
from unittest.mock import Mock

import pytest

from commonplace.api import create_run
from commonplace.errors import UsageError
from commonplace.run import integrity
from commonplace.run.reading import MOOD_REACH, Reading, mood
from commonplace.run.why import as_text, why

TICKS = 30
EVENT_FIELDS = ["id", "tick", "time", "type", "agent_id", "place"]


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory):
    """The path, and the live values after each tick."""
    path = tmp_path_factory.mktemp("town") / "a.run"
    worlds, states, memories = {}, {}, {}

    async def live() -> None:
        with create_run(path, "latticeville", 11) as run:
            async for tick in run.play(TICKS):
                live_state = run._engine.live_state
                worlds[tick.number], states[tick.number] = live_state.world, dict(live_state.states)
                memories[tick.number] = {me: list(stream) for me, stream in live_state.streams.items()}

    asyncio.run(live())
    return path, worlds, states, memories


@pytest.fixture
def reading(lived):
    with Reading.open(lived[0]) as reading:
        yield reading


def test_everything_is_restored_as_it_was(lived, reading: Reading) -> None:
    _, worlds, states, memories = lived
    for tick in worlds:
        assert reading.world_at(tick) == worlds[tick]
        assert reading.states_at(tick) == states[tick]
    for tick in (1, 15, TICKS):
        for me, kept in memories[tick].items():
            assert reading.memories(me, tick) == kept
            assert list(reading.stream_at(me, tick)) == kept


def test_it_is_sound(reading: Reading) -> None:
    assert integrity.check(reading) == TICKS


def test_frames_carried_forward_equal_frames_opened(reading: Reading) -> None:
    frames = list(reading.frames())
    assert [frame.tick for frame in frames] == list(range(TICKS + 1))
    for frame in frames[:: TICKS // 5]:
        assert frame == reading.frame(frame.tick)
        assert frame == next(reading.frames(frame.tick, frame.tick))
        assert frame.history == reading.digest(frame.tick)
    assert list(reading.frames(7, 12)) == frames[7:13]


def test_a_frame_shows_the_world_as_it_was(lived, reading: Reading) -> None:
    _, worlds, states, _ = lived
    for frame in reading.frames(1):
        world = worlds[frame.tick]
        assert {me: agent.position for me, agent in frame.agents.items()} == {
            me: b.area for me, b in world.bodies.items()
        }
        assert {me: thing.state for me, thing in frame.objects.items()} == {
            me: t.state for me, t in world.things.items()
        }
        for me, agent in frame.agents.items():
            item = states[frame.tick][me].plan.current(frame.time)
            assert agent.plan_item.endswith(item.action_description if item else "")
        plain = json.loads(json.dumps(frame.as_dict()))
        assert list(plain["events"][0])[:6] == EVENT_FIELDS
        assert plain["time"].endswith("Z")


def test_every_event_has_a_reason(reading: Reading) -> None:
    for event in reading.events():
        found = json.loads(json.dumps(why(reading, event.id)))
        assert list(found["event"])[:6] == EVENT_FIELDS
        assert as_text(found).startswith(event.id)
        for retrieval in found["retrievals"]:
            assert {"purpose", "query", "policy", "k", "hits"} <= retrieval.keys()
            for rank, hit in enumerate(retrieval["hits"], start=1):
                assert hit["rank"] == rank
                assert hit["memory"]["agent"] == event.agent_id
                assert all(part.keys() == {"raw", "normalised", "weight"} for part in hit["parts"].values())
                total = sum(part["weight"] * part["normalised"] for part in hit["parts"].values())
                assert hit["score"] == pytest.approx(total, abs=1e-6)
        for asked in found["asked"]:
            assert {"task", "prompt", "answer", "outcome"} <= asked.keys()
            assert (asked["answer"] is not None) == (asked["outcome"] == "value")
        if event.agent_id == "-":
            assert found["explanation"]
        else:
            assert found["reaction"]["decision"]


def test_hits_show_memories_as_they_were_when_they_were_scored(lived, reading: Reading) -> None:
    memories = lived[3]
    for event in reading.events(2, TICKS, type="IDLE"):
        before = {memory.id: memory for memory in memories[event.tick - 1][event.agent_id]}
        found = why(reading, event.id)
        own = found["retrievals"][: len(found["retrievals"]) - len(found["delivered"])]
        for hit in (hit for retrieval in own for hit in retrieval["hits"]):
            memory = before.get(hit["memory"]["id"])
            if memory is not None:
                assert hit["memory"]["accessed_at"] == memory.accessed_at.isoformat().replace("+00:00", "Z")


def test_an_unknown_event_names_the_nearest(reading: Reading) -> None:
    with pytest.raises(UsageError, match=r"t5\.mira\.0"):
        why(reading, "t5.mir.0")
    with pytest.raises(UsageError, match=f"0 to {TICKS}"):
        why(reading, "t999.mira.0")
    with pytest.raises(UsageError, match="not an event id"):
        why(reading, "mira")


def test_the_table_of_characters(reading: Reading) -> None:
    rows = reading.agents()
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows)
    assert all(list(row) == ["id", "name", "place", "doing", "plan_item", "mood"] for row in rows)
    assert all(row["mood"] for row in rows)


def test_the_table_of_characters_restores_no_memory(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it costs the same at any age of the run: of the latest memories it reads what was felt."""
    expected = {me: [memory.emotion for memory in reading.memories(me)[-MOOD_REACH:]] for me in reading.agent_ids}
    assert any(any(felt) for felt in expected.values())
    for whole in ("stream_at", "memories", "accesses"):
        monkeypatch.delattr(Reading, whole)
    made = Mock()
    monkeypatch.setattr("commonplace.run.reading.memory_from", made)
    rows = reading.agents()
    assert not made.called
    assert {row["id"]: row["mood"] for row in rows} == {row["id"]: mood(expected[row["id"]]) for row in rows}


def test_simulated_times_name_ticks(reading: Reading) -> None:
    assert reading.tick(reading.time(12).isoformat()) == 12
    assert reading.digest("12") == reading.digest(12)
    with pytest.raises(UsageError, match="neither"):
        reading.tick("yesterday")


def test_nobody_of_that_name(reading: Reading) -> None:
    with pytest.raises(UsageError, match="mira"):
        reading.memories("nobody")
