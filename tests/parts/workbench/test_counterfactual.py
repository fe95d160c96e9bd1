"""One turn without a memory: what is taken away, what is asked again, and that nothing is written."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.api import mind_of, open_run, scenario_of
from commonplace.character.plan import Plan, PlanItem
from commonplace.errors import UsageError
from commonplace.minds.mind import Reply
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import ConverseOutput
from commonplace.parts.workbench.counterfactual import (
    SAMPLES,
    changed_answers,
    counterfactual,
    plan_without,
    strokes_on,
    tally,
)
from commonplace.stages import by_name
from commonplace.testing import ScriptedMind
from sizes import PROVE

MORNING = datetime(2031, 10, 4, 6, tzinfo=UTC)


class CountingMind(ScriptedMind):
    """The offline mind, at a price, with every question noted; words of a line differ with the seed."""

    paid = True

    def answer(self, ask, request_key):
        self.asked.append((request_key, ask))
        reply = OfflineMind().answer(ask, request_key)
        if isinstance(reply.value, ConverseOutput):
            return Reply(reply.value.model_copy(update={"utterance": f"{reply.value.utterance} ({request_key.seed})"}))
        return reply


@pytest.fixture
def reading(town):
    with open_run(town) as reading:
        yield reading


def without(reading, event, memory, mind=None, times=0):
    scenario = scenario_of(reading.manifest)
    mind = mind or mind_of(reading.manifest, scenario)
    stage = by_name(reading.manifest.stage)
    return asyncio.run(counterfactual(reading, event, memory, scenario=scenario, stage=stage, mind=mind, times=times))


def lines(reading):
    """What was said because of something."""
    return [event for event in reading.events(type="SAY") if event.body.because]


def from_before(reading):
    """Lines that rest on something remembered earlier, with its number."""
    for event in lines(reading):
        memory = event.body.because[0]
        if reading.memory(event.agent_id, memory).tick < event.tick:
            yield event, memory


def test_a_line_is_another_without_the_memory_it_rests_on(reading):
    said = lines(reading)
    for event in said[:: max(1, len(said) // (12 if PROVE else 4))]:
        found = without(reading, event, event.body.because[0])
        assert found.then.turn.action.utterance == event.body.utterance
        (now,) = found.without
        assert getattr(now.turn.action, "utterance", "") != event.body.utterance
        assert changed_answers(found.then, now)
        assert found.again == ()


def test_without_an_arrival_nobody_stands_there(reading):
    event, memory = next(
        (event, one)
        for event in lines(reading)
        for one in [reading.memory(event.agent_id, event.body.because[0])]
        if one.tick == event.tick and one.details["frame"]["what"] == "arrived"
    )
    (now,) = without(reading, event, memory.id).without
    who = memory.details["frame"]["who"]
    assert not [one for one in now.turn.delta.memories if one.details["frame"].get("who") == who]


def test_what_rests_on_the_memory_goes_with_it(reading):
    events = [event for event in lines(reading) if event.body.facts]
    carried = [(event, event.body.carriers[0]) for event in events]
    event, memory = next(
        (event, memory)
        for event, memory in carried
        if reading.memory(event.agent_id, memory).tick < event.tick
        and any(memory in one.citations for one in reading.memories(event.agent_id, event.tick - 1))
    )
    found = without(reading, event, memory)
    hidden = {one.id for one in found.hidden}
    assert memory in hidden
    assert len(hidden) > 1
    for one in reading.memories(event.agent_id, event.tick - 1):
        assert bool(hidden.intersection(one.citations)) <= (one.id in hidden)
    assert all(hidden.intersection(stroke.because) for stroke in found.strokes)
    assert event.body.facts[0] not in getattr(found.without[0].turn.action, "facts", ())


def test_a_memory_nothing_rests_on_changes_nothing(reading):
    event, _ = next(from_before(reading))
    why = reading.why(event.id)
    used = {hit["memory"]["id"] for found in why["retrievals"] for hit in found["hits"]}
    cited = {cited for one in reading.memories(event.agent_id) for cited in one.citations}
    for memory in reading.memories(event.agent_id, event.tick - 1):
        if memory.id in used | cited or memory.event:
            continue
        found = without(reading, event, memory.id)
        if not changed_answers(found.then, found.without[0]):
            assert found.then.turn.action == found.without[0].turn.action
            return
    pytest.fail("every memory changed something")


@pytest.mark.parametrize("what", ["said", "doing", "thing", "arrived"])
def test_what_came_to_mind_in_the_very_turn_was_not_seen_or_heard(reading, what):
    """Somebody's words, somebody at something, a thing, somebody coming in."""
    for event in reading.events(type="SAY"):
        for memory in reading.memories(event.agent_id, event.tick):
            if memory.tick == event.tick and memory.details["frame"]["what"] == what:
                found = without(reading, event, memory.id)
                assert memory.text in [one.text for one in found.then.turn.delta.memories]
                assert memory.text not in [one.text for one in found.without[0].turn.delta.memories]
                return
    pytest.fail(f"nobody spoke and saw such a thing: {what}")


def test_nothing_is_written(town):
    before = town.read_bytes()
    with open_run(town) as reading:
        event, memory = next(from_before(reading))
        without(reading, event, memory)
    assert town.read_bytes() == before
    assert not list(town.parent.glob(f"{town.name}-*"))


def test_it_comes_out_the_same_every_time(reading):
    event, memory = next(from_before(reading))
    first, second = [without(reading, event, memory) for _ in range(2)]
    assert first.without[0].turn.action == second.without[0].turn.action
    assert first.without[0].answers == second.without[0].answers


def test_a_mind_that_costs_is_asked_in_both_arms_and_only_what_the_memory_changes(reading):
    event, memory = next(from_before(reading))
    mind = CountingMind()
    found = without(reading, event, memory, mind)
    assert len(found.without) == len(found.again) == SAMPLES
    assert sum(tally(found.without).values()) == sum(tally(found.again).values()) == SAMPLES
    same = {row.request for row in found.then.answers} & {row.request for row in found.without[0].answers}
    assert same.isdisjoint({row.request for row in found.without[0].answers if row not in found.then.answers})
    spoken = [one.turn.action.utterance for one in found.again if hasattr(one.turn.action, "utterance")]
    assert len(set(spoken)) == len(spoken) > 1, "each sample draws anew"
    kept = {row.body for row in found.then.answers if row.task == "rate"}
    assert {row.body for one in found.again for row in one.answers if row.task == "rate"} <= kept
    assert mind.asked


def test_as_often_as_is_wanted(reading):
    event, memory = next(from_before(reading))
    found = without(reading, event, memory, CountingMind(), times=2)
    assert len(found.without) == len(found.again) == 2


def test_what_no_character_did_has_no_turn(eventful):
    with open_run(eventful) as reading:
        events = [event for event in reading.events() if event.agent_id == "-" or event.type in {"JOINED", "LEFT"}]
        assert events
        for event in events:
            with pytest.raises(UsageError, match="no turn"):
                without(reading, event, 1)


def test_a_memory_there_was_not_is_refused(reading):
    event, _ = next(from_before(reading))
    for memory in (0, 10**9, reading.memories(event.agent_id)[-1].id):
        with pytest.raises(UsageError, match="cannot be left out") as raised:
            without(reading, event, memory)
        assert "memories" in raised.value.hint


# ── plans ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def day(minutes: list[int], resting: set[int]) -> Plan:
    """A day of strokes of these lengths; those numbered rest on memory 1."""
    items, start = [], MORNING
    for number, length in enumerate(minutes):
        because = (1,) if number in resting else (2,)
        items.append(PlanItem(f"0.{number}", "day", "", start, length, "home", f"thing {number}", because=because))
        items.append(PlanItem(f"0.{number}.0", "hour", f"0.{number}", start, length, "home", f"thing {number}"))
        start += timedelta(minutes=length)
    return Plan(0, tuple(items))


@given(st.lists(st.integers(1, 300), min_size=1, max_size=8), st.sets(st.integers(0, 7)))
def test_a_day_without_some_strokes_still_tiles(minutes, resting):
    whole = day(minutes, resting)
    left = plan_without(whole, {1})
    assert strokes_on(left, {1}) == ()
    strokes = left.level("day")
    assert [stroke.id for stroke in strokes] == [f"0.{n}" for n in range(len(minutes)) if n not in resting]
    if strokes:
        assert strokes[0].start_time == MORNING
        assert strokes[-1].end_time == whole.level("day")[-1].end_time
        assert all(one.end_time == other.start_time for one, other in pairwise(strokes))
    assert {item.parent for item in left.level("hour")} == {stroke.id for stroke in strokes}


def test_a_day_nothing_of_which_rests_on_it_is_the_same_object():
    whole = day([60, 60], set())
    assert plan_without(whole, {1}) is whole
