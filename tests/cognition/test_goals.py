"""Goals follow from what was perceived: opened by promises, hurts, broken things and absence, closed by deeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.hamlet import Town, go, hamlet, idle, person, puppets, talking, use
from commonplace.character.account import AccountRow
from commonplace.character.goal import Goal
from commonplace.cognition.goals import goals_spoken_of, pursue, wish_for
from commonplace.cognition.turn import Notebook
from commonplace.memory import Memory
from commonplace.minds.mind import RequestKey
from commonplace.minds.tasks import ConverseOutput
from commonplace.world.happenings import Concluded, as_frame
from sizes import PROVE, examples

Lines = dict[tuple[str, int], ConverseOutput]
OTHER = {"ben": "cora", "cora": "ben"}
DEADLINE, MORNING = 35, 48
"""The tick at which tomorrow's promises are due: a tick is an hour, and the first is at eleven."""


def said(act: str, words: str, topic: str = "the ladder") -> ConverseOutput:
    return ConverseOutput(utterance=words, speech_act=act, topic=topic)


ASKED: Lines = {
    ("ben", 1): said("ask.lend", "Could you lend me a ladder by tomorrow?"),
    ("cora", 2): said("accept", "Of course, by tomorrow."),
}


def _slow(document: dict[str, Any]) -> None:
    """Days go by fast."""
    document["clock"]["tick_minutes"] = 60
    document["cognition"]["deferred_minutes"] = 60


SLOW = hamlet(_slow, fidelity="every_tick")


def lived(lines: Lines, ticks: int) -> Town:
    acts = {(me, tick): idle("waiting") for me in ("anna", "ben", "cora") for tick in range(MORNING + 9)}
    scripts: dict[str, Callable[[Any, RequestKey], Any]] = {
        "react": lambda given, key: talking(OTHER[key.agent]) if (key.agent, key.tick) in lines else None,
        "converse": lambda given, key: lines.get((key.agent, key.tick), ConverseOutput()),
    }
    town, _ = puppets(SLOW, acts, **scripts)
    return lasting(town, ticks, lines)


def lasting(town: Town, ticks: int, lines: Lines) -> Town:
    """Some ticks more. A bell before each line gives its speaker something to react to."""
    for _ in range(ticks):
        number = town.engine.live_state.tick
        rings = any(tick == number + 2 for _, tick in lines)
        town.live(1, *([{"kind": "god_event", "text": f"Bell {number}.", "to": {"everybody": True}}] if rings else []))
    return town


def goals(town: Town, agent: str) -> dict[str, str]:
    return {goal.text: goal.status for goal in town.state(agent).goals.all() if goal.kind != "visit"}


def kinds(town: Town, agent: str) -> set[str]:
    return {entry.key for entry in town.state(agent).account.all()}


def test_a_promise_is_a_goal_and_the_word_that_keeps_it_ends_it() -> None:
    lines = ASKED | {("cora", 5): said("keep.lend", "Here is the ladder, as I said.")}
    assert goals(lived(lines, 4), "cora") == {"lend Ben the ladder": "open"}
    town = lived(lines, 7)
    assert goals(town, "cora") == {"lend Ben the ladder": "done"}
    assert "kept/ben/lend/ladder" in kinds(town, "cora")
    assert goals(town, "ben") == {"give Cora back the ladder": "open"}
    assert any(event.body.why == "kept_word" for event in town.events("RELATION_CHANGED", "ben"))


def test_a_promise_that_nobody_keeps_is_broken_once_and_both_have_something_to_say() -> None:
    town = lived(ASKED, DEADLINE + 1)
    assert Counter(goals(town, "cora")) == {
        "lend Ben the ladder": "given_up",
        "apologise to Ben about the ladder": "open",
    }
    assert goals(town, "ben") == {"have it out with Cora about the ladder": "open"}
    assert [event.body.why for event in town.events("RELATION_CHANGED", "ben")] == ["broke_word"]
    sorry = lived(ASKED | {("cora", MORNING): said("apologise", "I'm sorry.")}, MORNING + 2)
    assert goals(sorry, "cora")["apologise to Ben about the ladder"] == "done"
    assert goals(sorry, "ben") == {"have it out with Cora about the ladder": "overtaken"}


def test_who_says_no_promises_nothing() -> None:
    assert goals(lived(ASKED | {("cora", 2): said("decline", "I need it.")}, 4), "cora") == {}


@pytest.mark.parametrize(("hours", "wishes"), [(17, False), (18, True), (5 * 24, True), (5 * 24 + 1, False)])
def test_who_was_hurt_wants_to_make_up_after_a_night_and_not_after_a_week(hours: int, wishes: bool) -> None:
    view = lived({}, 17).engine.live_state.view("ben")  # at four in the morning one looks at how things are
    notebook = Notebook(view.state)
    hurt = AccountRow("hurt", "cora", "spoke_ill", "ladder", view.tick - hours, view.tick - hours, because=(1,))
    notebook.account = notebook.account.noted(hurt, -1000)
    pursue(view, notebook, [])
    assert ("make_up" in {goal.act for goal in notebook.goals.open()}) == wishes


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("by tomorrow", 5),
        ("on Sunday", 5),
        ("on Monday", 6),
        ("the day after tomorrow", 6),
        ("on Friday", 10),
        ("on Saturday", 11),
        ("soon", 6),
    ],
)
def test_a_promise_is_due_on_the_evening_of_the_day_that_was_named(words: str, day: int) -> None:
    lines = {
        ("ben", 1): said("ask.lend", f"Could you lend me a ladder {words}?"),
        ("cora", 2): said("accept", "Of course."),
    }
    town = lived(lines, 3)
    (goal,) = town.state("cora").goals.all()
    assert town.scenario.clock.time(goal.due) == datetime(2031, 10, day, 21, tzinfo=UTC), "said on Saturday, the 4th"


@pytest.mark.parametrize(("times", "asks"), [(0, False), (1, True), (3, True), (4, False)])
def test_one_wishes_to_hear_more_of_what_somebody_has_told_but_not_too_often(times: int, asks: bool) -> None:
    view = lived({}, 1).engine.live_state.view("ben")
    notebook = Notebook(view.state)
    told = AccountRow("heard", "cora", topic="old mill", because=(1,), named="the old mill", times=times)
    notebook.account = notebook.account.noted(told, 0)
    wish = as_frame(Concluded(about="cora", topic="the old mill", wish="hear more of the old mill"))
    wish_for(view, notebook, [cast("Memory", SimpleNamespace(id=1, details={"frame": wish}))])
    assert [goal.act for goal in notebook.goals.open()] == ["ask.topic"] * asks


def test_nobody_looks_up_somebody_who_is_only_known_by_sight() -> None:
    view = lived({}, 1).engine.live_state.view("ben")
    notebook = Notebook(view.state)
    wish = as_frame(Concluded(about="cora", wish="see how Cora is"))
    for label, wishes in (("", 0), ("neighbour", 1)):
        notebook.relations["cora"] = replace(notebook.relations["cora"], label=label, last_talk=-1)
        wish_for(view, notebook, [cast("Memory", SimpleNamespace(id=1, details={"frame": wish}))])
        assert len(notebook.goals.open()) == wishes


@pytest.mark.parametrize(
    ("leaves", "line", "where"),
    [
        (True, "Cora likes comics.", ("barn", "11:10")),
        (True, "I like comics.", ("", "")),
        (False, "Cora likes comics.", ("", "")),
    ],
)
def test_where_somebody_is_met_comes_to_mind_when_they_are_spoken_of_and_elsewhere(
    leaves: bool, line: str, where: tuple[str, str]
) -> None:
    acts = {(me, tick): idle("waiting") for me in ("anna", "ben", "cora") for tick in range(MORNING)}
    acts |= {("cora", 10): go("green")} if leaves else {}
    town, _ = puppets(SLOW, acts)
    town.live(22)  # until the next morning
    goal = Goal("g", "visit", "see Cora", person="cora", because=(1,))
    (note,) = goals_spoken_of(town.engine.live_state.view("ben"), [goal], [line])
    assert (note.place, note.time) == where


LINES = st.lists(
    st.tuples(
        st.sampled_from(
            ("ask.lend", "ask.visit", "ask.favour", "accept", "decline", "promise.give", "keep.lend", "keep.give",
             "keep.visit", "keep.return", "reproach", "apologise", "defy", "make_up", "forgive", "tell")
        ),
        st.sampled_from(("the ladder", "tea")),
        st.sampled_from((1, 1, 1, 9)),
    ),
    max_size=20 if PROVE else 10,
)  # fmt: skip


@examples(6)
@given(LINES)
def test_goals_of_any_talk_close_once_and_cite_memories_of_their_own(
    talk: list[tuple[str, str, int]],
) -> None:
    lines: Lines = {}
    tick = 0
    for number, (act, topic, later) in enumerate(talk):
        tick += later
        lines["cora" if number % 2 else "ben", tick] = said(act, f"{act} {number}, by tomorrow, {topic}?", topic)
    town = lived(lines, 0)
    ended: dict[tuple[str, str], str] = {}
    settled: Counter[tuple[str, str]] = Counter()
    made: Counter[tuple[str, str]] = Counter()
    before: dict[str, dict[str, int]] = {me: {} for me in OTHER}
    for _ in range(min(DEADLINE + 5, tick + 40)):
        lasting(town, 1, lines)
        for me in OTHER:
            known = {memory.id for memory in town.memories(me)}
            for goal in town.state(me).goals.all():
                assert goal.because and set(goal.because) <= known and goal.moved_by in known
                assert ended.get((me, goal.id), goal.status) == goal.status
                if not goal.is_open:
                    ended[me, goal.id] = goal.status
            rows = {row.key: row.times for row in town.state(me).account.all() if row.act and row.kind in KEPT}
            for key, times in rows.items():
                if before[me].get(key) != times:
                    kind, _, about = key.partition("/")
                    (made if kind == "promised" else settled)[me, about] += 1
            before[me] = rows
    for about, count in settled.items():
        assert count <= made[about], about


KEPT = frozenset({"promised", "kept", "broke"})


def _broken_kettle(document: dict[str, Any]) -> None:
    document["world"]["kinds"]["kettle"] = {
        "states": ["split", "whole"],
        "verbs": {"USE": [{"from": "split", "to": "whole", "times": 3, "steps": ["One seam.", "Two seams."]}]},
        "words": {"split": "is split", "whole": "is whole"},
    }
    work = person(document, "anna")["routine"][1]
    work["phases"] = [{"do": work["do"], "steps": [{"do": "soldering", "object": "kettle", "verb": "USE"}]}]
    person(document, "anna")["memories"].append({"text": "The kettle is split.", "importance": 3})


def test_a_repair_goes_on_by_steps_and_is_done_with_the_last() -> None:
    acts = {("anna", tick): use("kettle") if 2 < tick < 6 else idle("waiting") for tick in range(1, 12)}
    town, _ = puppets(hamlet(_broken_kettle, fidelity="every_tick"), acts)
    progress: list[tuple[int, int, str]] = []
    for _ in range(8):
        (goal,) = [goal for goal in town.live().state("anna").goals.all() if goal.kind == "repair"]
        progress.append((goal.done_steps, goal.steps, goal.status))
        assert goal.moved_by in {memory.id for memory in town.memories("anna")}
    assert progress[1] == (0, 3, "open")
    assert progress == sorted(progress, key=lambda one: one[0])
    assert progress[-1] == (3, 3, "done")


def test_a_repair_with_a_deadline_is_not_gone_on_with_after_it() -> None:
    def _by_tomorrow(document: dict[str, Any]) -> None:
        _slow(document)
        _broken_kettle(document)
        start = datetime.fromisoformat(document["clock"]["start"])
        person(document, "anna")["goals"] = [f"use the mended kettle before {start + timedelta(days=1):%A}"]

    acts = {("anna", tick): idle("waiting") for tick in range(1, 48)}
    town, _ = puppets(hamlet(_by_tomorrow, fidelity="every_tick"), acts)
    town.live(4)
    (goal,) = [goal for goal in town.state("anna").goals.all() if goal.kind == "repair"]
    assert goal.status == "open" and goal.text.startswith("use the mended kettle before")
    town.live(goal.due - 3)
    later = [goal for goal in town.state("anna").goals.all() if goal.kind == "repair"]
    assert later[0].status == "given_up"
    assert not any("before" in one.text for one in later if one.status == "open")


def test_what_somebody_else_mends_is_overtaken() -> None:
    acts = {("anna", tick): idle("watching") for tick in range(1, 12)}
    acts |= {("ben", tick): use("kettle") if tick > 3 else go("bakery") for tick in range(1, 12)}
    town, _ = puppets(hamlet(_broken_kettle, fidelity="every_tick"), acts)
    town.live(10)
    (goal,) = [goal for goal in town.state("anna").goals.all() if goal.kind == "repair"]
    assert goal.status == "overtaken"
