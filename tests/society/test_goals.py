"""People of a town have goals, finish some every day, and anybody can see why."""

from __future__ import annotations

from collections import Counter
from typing import Any

from commonplace import OpenedRun
from commonplace.cognition.plan import MOST_HEEDED
from commonplace.parts.reading_kit.chronicle import Chronicle
from commonplace.parts.reading_kit.town_days import town_days
from commonplace.run.reading import Reading


def test_some_goal_is_finished_on_every_day_and_promises_are_kept_at_least_as_often_as_broken(run: OpenedRun) -> None:
    with Reading.open(run.path) as reading:
        days = town_days(reading)
    assert days
    assert all(counts["goals.done"] for counts in days.values()), days
    total = sum((Counter(counts) for counts in days.values()), Counter[str]())
    assert total["promises.kept"] >= max(1, total["promises.broken"])


def test_every_change_of_a_goal_cites_a_memory_and_a_promise_is_settled_once(run: OpenedRun) -> None:
    ended: dict[tuple[str, str], str] = {}
    made, settled = Counter[str](), Counter[str]()
    with Reading.open(run.path) as reading:
        chronicle = Chronicle(reading)
        for tick, version in chronicle.versions:
            value: dict[str, Any] = version.value or {}
            if version.kind == "goal" and value:
                status, key = str(value.get("status", "open")), (version.owner, version.key)
                assert chronicle.memories[version.owner][value["moved_by"]].tick <= tick
                assert ended.get(key, status) == status
                if status != "open":
                    ended[key] = status
            kind, _, about = version.key.partition("/")
            if version.kind == "account" and value and kind in {"promised", "kept", "broke"}:
                (made if kind == "promised" else settled)[f"{version.owner} {about}"] += 1
    assert ended and made
    assert all(count <= made[about] for about, count in settled.items())


def test_goals_are_read_alone_as_with_the_whole_state_and_a_line_shows_the_goal_behind_it(run: OpenedRun) -> None:
    shown = 0
    with Reading.open(run.path) as reading:
        last = reading.tick(None)
        for agent in reading.agent_ids:
            for tick in (0, last // 2, last):
                assert reading.goals_at(agent, tick) == reading.state_at(agent, tick).goals
        for event in reading.events(0, last):
            if event.type == "SAY" and event.body.because and shown < 3:
                goals = run.why(event.id)["goals"]
                assert all(set(goal["because"]) & set(event.body.because) for goal in goals)
                shown += bool(goals)
    assert shown


def test_what_is_said_changes_a_plan_a_few_times_a_day_of_those_it_is_said_to_and_why_shows_the_words(
    run: OpenedRun,
) -> None:
    changed = Counter[tuple[str, int]]()
    with Reading.open(run.path) as reading:
        chronicle = Chronicle(reading)
        for event in chronicle.events:
            if event.type != "PLAN_CHANGED":
                continue
            because = chronicle.reaction(event.agent_id, event.tick).get("because", ())
            rests_on = [chronicle.memories[event.agent_id][memory] for memory in because]
            frames = [memory.details.get("frame", {}) for memory in rests_on]
            if not frames or any(frame.get("what") not in {"said", "i_said"} for frame in frames):
                continue
            changed[event.agent_id, chronicle.day(event.tick)] += 1
            is_news = any(fact.carried_by(memory.text) for fact in chronicle.scenario.facts for memory in rests_on)
            assert is_news or any(frame["what"] == "i_said" or frame["to_me"] for frame in frames)
            reaction = run.why(event.id)["reaction"]
            assert reaction is not None and reaction["because"] == list(because)
    assert changed
    assert max(changed.values()) <= MOST_HEEDED
