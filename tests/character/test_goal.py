"""What a character means to do: few goals, each open once, closed for good."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.character.goal import DONE, KINDS, MOST_CLOSED, MOST_OPEN, STATUSES, Goal, Goals, about, restored

STEPS = st.lists(
    st.tuples(st.sampled_from(("open", *STATUSES)), st.sampled_from(KINDS), st.integers(0, 5), st.integers(1, 40)),
    max_size=80,
)


def opened(kind: str, topic: object, tick: int, memory: int, due: int = -1) -> Goal:
    wanted = about(kind, "", "ben", str(topic))
    return Goal(
        f"{wanted}/{tick}", kind, "bring Ben a bun", topic=str(topic), person="ben", opened=tick, changed=tick,
        due=due, because=(memory,), moved_by=memory,
    )  # fmt: skip


@given(STEPS)
def test_goals_stay_few_are_open_once_and_never_open_again(history: list[tuple[str, str, int, int]]) -> None:
    goals, ended = Goals(), dict[str, str]()
    for tick, (what, kind, topic, memory) in enumerate(history, 1):
        found = goals.find(kind, person="ben", topic=str(topic))
        if found is None:
            goals = goals.with_opened(opened(kind, topic, tick, memory, due=tick + topic))
        elif what != "open":
            goals = goals.with_changed(found.moved(tick, memory, status=what))
        for goal in goals.all():
            assert ended.get(goal.id, goal.status) == goal.status
            assert goal.moved_by in goal.because and list(goal.because) == sorted(set(goal.because))
            if not goal.is_open:
                ended[goal.id] = goal.status
        now = goals.open()
        assert len(now) <= MOST_OPEN and sum(1 for _ in goals.closed()) <= MOST_CLOSED
        assert len({goal.about for goal in now}) == len(now)
        assert goals.next_due == min((goal.due for goal in now), default=-1)
    assert restored({goal.id: goal for goal in goals.all()}) == goals


def test_what_is_closed_does_not_change_and_what_is_open_is_not_opened_twice() -> None:
    goal = opened("visit", "tea", 1, 1)
    goals = Goals().with_opened(goal)
    assert goals.with_opened(opened("visit", "tea", 2, 2)) is goals
    closed = goals.with_changed(goal.moved(3, 4, status=DONE))
    assert closed.with_changed(goal.moved(5, 6, status="given_up")) is closed
    assert closed.with_opened(opened("visit", "tea", 7, 8)).find("visit", person="ben", topic="tea")


def test_a_goal_is_forgotten_with_all_that_it_rests_on() -> None:
    goals = Goals().with_opened(opened("visit", "tea", 1, 4))
    goals = goals.with_changed(goals.open()[0].moved(2, 9, tries=1))
    assert goals.without({3}) is goals
    (left,) = goals.without({9}).all()
    assert (left.because, left.moved_by) == ((4,), 4)
    assert not goals.without({4, 9}).all()
