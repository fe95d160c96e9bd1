"""Two days of ten people: each believable alone, no two the same."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from statistics import mean

from cognition.hamlet import same_past
from commonplace.api import OpenedRun
from commonplace.world.actions import ACTIONS
from society.village import DAY, at, days, says

DISTINCT_DOINGS = 25
"""Fewest different things a character is seen doing in a day."""


def test_everybody_gets_up_in_time_on_both_days(run: OpenedRun) -> None:
    for agent, persona in run.scenario.personas.items():
        for day in (0, 1):
            assert not at(run, agent, day, max(persona.wakes + 45, 6 * 60 + 45)).asleep, (agent, day)


def test_everybody_sleeps_at_home_in_the_night(run: OpenedRun) -> None:
    for agent, persona in run.scenario.personas.items():
        for minutes in range(max(1, persona.wakes - 180), persona.wakes - 20, 20):
            night = at(run, agent, 1, minutes)
            assert night.asleep, (agent, night)
            assert night.place == persona.home, (agent, night)


def test_everybody_spends_the_working_day_mostly_where_the_routine_says(run: OpenedRun) -> None:
    """Talks and festivals lead elsewhere, and snow keeps one at home; the usual places are still visited."""
    kept: dict[tuple[str, int], float] = {}
    for agent, persona in run.scenario.personas.items():
        for day in (0, 1):
            strokes = list(zip(persona.routine, persona.routine[1:], strict=False))
            visited = 0
            for stroke, following in strokes:
                inside = range(stroke.at // 5 * 5 + 5, following.at, 5)
                places = {at(run, agent, day, minutes).place for minutes in inside if day or minutes > 6 * 60}
                visited += stroke.place in places
            kept[agent, day] = visited / len(strokes)
    assert mean(kept.values()) >= 0.8, kept
    assert len([share for share in kept.values() if share < 0.5]) <= 1, kept


MEAL = re.compile(
    r"\b(eat\w*|break\w*fast\w*|lunch\w*|supper|dinner|broth|noodles?|bowl|dumplings?|tea|bread|soup|dipping|"
    r"spring roll|chewing|slurping|plums?|sandwich|egg|rice|persimmon)\b"
)


def test_hardly_anybody_goes_a_day_without_eating(run: OpenedRun) -> None:
    """A day with many wishes may push out a meal, not more than one in ten."""
    hungry = [
        (agent, day)
        for agent, moments in days(run).items()
        for day in (0, 1)
        if not MEAL.search(" ".join(moment.doing for moment in moments[day * DAY : (day + 1) * DAY]).lower())
    ]
    assert len(hungry) <= 2, hungry


def test_a_day_is_made_of_many_different_doings(run: OpenedRun) -> None:
    for agent, moments in days(run).items():
        for day in (0, 1):
            doings = {moment.doing for moment in moments[day * DAY : (day + 1) * DAY] if not moment.asleep}
            assert len(doings) >= DISTINCT_DOINGS, (agent, day, len(doings))


def test_no_two_characters_have_the_same_day(run: OpenedRun) -> None:
    """Not even who stand side by side at a festival for two hours do the same things all day."""
    for day in (0, 1):
        awake = {
            agent: {(m.time, m.doing) for m in moments[day * DAY : (day + 1) * DAY] if not m.asleep}
            for agent, moments in days(run).items()
        }
        for one, other in combinations(awake, 2):
            shared = awake[one] & awake[other]
            assert len(shared) < 0.25 * min(len(awake[one]), len(awake[other])), (one, other, sorted(shared))


def test_no_two_days_of_a_character_are_the_same(run: OpenedRun) -> None:
    for agent, moments in days(run).items():
        first, second = ([moment.doing for moment in moments[day * DAY + 12 : (day + 1) * DAY]] for day in (0, 1))
        same = sum(one == other for one, other in zip(first, second, strict=False))
        assert same < 0.9 * len(second), agent


def test_the_levels_of_a_plan_say_different_things(run: OpenedRun) -> None:
    """A routine copied three times is no hierarchy."""
    told: Counter[tuple[str, bool]] = Counter()
    for agent in run.agent_ids:
        for tick in (200, 200 + DAY):
            plan = run.state_at(agent, tick).plan
            for level in ("hour", "action"):
                for item in plan.level(level):
                    parent = plan.item(item.parent)
                    assert parent is not None
                    if parent.duration_minutes >= 60:
                        told[level, item.action_description != parent.action_description] += 1
    for level in ("hour", "action"):
        assert told[level, True] > 40, told
        assert told[level, False] < 0.15 * told[level, True], told


def test_what_is_over_is_never_planned_again(run: OpenedRun) -> None:
    changes = run.events(type="PLAN_CHANGED")
    assert len(changes) >= 10
    for event in changes:
        before, after = (run.state_at(event.agent_id, tick).plan for tick in (event.tick - 1, event.tick))
        if before.day == after.day:
            assert same_past(before, after, run.scenario.clock.time(event.tick)), event.id


def test_everybody_does_exactly_one_thing_in_every_tick(run: OpenedRun) -> None:
    done: Counter[tuple[int, str]] = Counter()
    for event in run.events(1):
        if event.type in {*ACTIONS, "ACTION_REJECTED"}:
            done[event.tick, event.agent_id] += 1
    assert len(done) == 2 * DAY * len(run.agent_ids)
    assert set(done.values()) == {1}


def test_nobody_says_the_same_sentence_to_the_same_hearer_twice_a_day(run: OpenedRun) -> None:
    said = Counter(
        (event.agent_id, event.body.to_agent_id, event.body.utterance, run.scenario.clock.day(event.tick))
        for event in says(run)
    )
    assert len(said) > 80
    assert [line for line, count in said.items() if count > 1] == []


def test_in_a_talk_only_who_was_spoken_to_answers_unless_it_falls_silent(run: OpenedRun) -> None:
    answers = 0
    for event in says(run):
        talks = [talk for here in run.world_at(event.tick - 1).conversations.values() for talk in here]
        mine = [talk for talk in talks if event.agent_id in talk.members]
        assert all(talk.floor == event.agent_id or talk.lines[-1].tick < event.tick - 1 for talk in mine), event.id
        answers += len(mine)
    assert answers > 100
