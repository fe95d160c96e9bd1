"""Deferred cognition: asked on the snapshot of one tick, delivered a fixed time later."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from cognition.hamlet import Puppets, Town, hamlet, idle, person, puppets, talking
from commonplace.cognition.deferred import accepted
from commonplace.minds.tasks import (
    ConverseOutput,
    Insight,
    InsightsInput,
    InsightsOutput,
    QuestionsOutput,
    RateInput,
    RateOutput,
    TextRating,
)
from commonplace.minds.tasks.reflect import INSIGHTS_ASKED
from commonplace.testing import ScriptedMind

DELAY = 30
"""Minutes."""
TICKS = DELAY // 5


def _dawn(document: dict[str, Any]) -> None:
    document["clock"]["start"] = "2031-10-04T06:00:00"


def test_the_day_is_asked_for_a_fixed_time_before_waking_and_there_at_waking() -> None:
    mind = ScriptedMind()
    town = Town(hamlet(_dawn, deferred_minutes=DELAY), mind)
    waking = 12
    for tick in range(1, 2 * waking):
        town.live()
        jobs = [job for job in town.state("anna").jobs if job.kind == "plan_day"]
        waiting = waking - TICKS <= tick < waking
        assert [(job.asked_at, job.due) for job in jobs] == ([(waking - TICKS, waking)] if waiting else [])
        assert bool(town.plan("anna").items) == (tick >= waking)
    assert [
        request_key.tick
        for request_key, ask in mind.asked
        if ask.task.name == "plan_day" and request_key.agent == "anna"
    ] == [6]
    town.until("1 06:59")
    assert town.plan("anna").day == 0
    town.live(2)
    assert town.plan("anna").day == 1


def _weighty(document: dict[str, Any]) -> None:
    """Cora is alone in the barn and remembers things that weigh 150 together."""
    person(document, "ben")["starts_at"] = "cabin"
    for item in person(document, "ben")["routine"]:
        item["place"] = "cabin"
    for item in person(document, "anna")["routine"]:
        item["place"] = "bakery" if item["do"] != "sleeping" else "loft"
    person(document, "cora")["memories"] = [
        {"text": f"Cora Dunn read comic number {number}.", "importance": 10} for number in range(15)
    ]


def _light(given: RateInput, _: Any) -> RateOutput:
    return RateOutput(ratings=tuple(TextRating(importance=1) for _ in given.texts))


def _insights(*because: tuple[int, ...]) -> Any:
    """Insights that cite the first, second … of what was shown; other ids as they are."""

    def insights(given: InsightsInput, request_key: Any) -> InsightsOutput:
        shown = [note.id for entry in given.evidence for note in entry.recalled]
        return InsightsOutput(
            insights=tuple(
                Insight(
                    text=f"Insight {number} of tick {request_key.tick}.",
                    because=tuple(shown[id_] if 0 <= id_ < len(shown) else id_ for id_ in cited),
                )
                for number, cited in enumerate(because)
            )
        )

    return insights


def _thinking(*because: tuple[int, ...], **settings: Any) -> tuple[Town, Puppets]:
    reflection = {"threshold": 150, **settings}
    return puppets(
        hamlet(_weighty, reflection=reflection, deferred_minutes=DELAY),
        {},
        rate=_light,
        questions=lambda given, request_key: QuestionsOutput(questions=("What do comics mean to me?", "Who am I?")),
        insights=_insights(*because),
    )


def _asked_at(town: Town) -> list[int]:
    return [
        job.asked_at
        for tick in town.ticks
        for job in tick.turns["cora"].state.jobs
        if job.kind == "reflect" and job.asked_at == tick.number
    ]


@pytest.mark.parametrize("strict", [False, True], ids=["reaches", "exceeds"])
def test_reflection_is_asked_for_when_the_sum_reaches_150_or_exceeds_it(strict: bool) -> None:
    town, _ = _thinking((0,), (1,), (2,), strict=strict)
    town.live(40)
    counted = [memory for memory in town.memories("cora") if memory.kind in {"observation", "action"}]
    sums = [sum(memory.importance for memory in counted if memory.tick <= tick) for tick in range(41)]
    asked = _asked_at(town)[0]
    if strict:
        assert asked > 1
        assert sums[asked - 1] == 150 < sums[asked]
    else:
        assert (asked, sums[asked]) == (1, 150)


def test_insights_become_memories_a_fixed_time_later_and_cite_what_was_shown() -> None:
    town, mind = _thinking((0,), (1, 2), (3,), (4,))
    town.live(TICKS)
    assert town.memories("cora", "reflection") == []
    town.live(1)
    (given,) = mind.inputs("insights", "cora")
    shown = {note.id for entry in given.evidence for note in entry.recalled}
    thoughts = town.memories("cora", "reflection")
    assert [memory.text for memory in thoughts] == [f"Insight {number} of tick 1." for number in range(4)]
    for memory in thoughts:
        assert memory.citations
        assert set(memory.citations) <= shown <= {one.id for one in town.memories("cora") if one.id < memory.id}
    (reflected,) = town.events("REFLECTED", "cora")
    assert reflected.tick == 1 + TICKS
    assert list(reflected.body.memory_ids) == [memory.id for memory in thoughts]
    assert reflected.body.lacking == 1, "five were asked for"


def test_insights_may_rest_on_any_memory_that_was_shown() -> None:
    """Those that the questions were asked of, too: they stand in the same conversation."""
    town, mind = _thinking()
    recent: list[int] = []

    def insights(given: InsightsInput, request_key: Any) -> InsightsOutput:
        evidence = {note.id for entry in given.evidence for note in entry.recalled}
        recent.append(next(note.id for note in given.recent if note.id not in evidence))
        return InsightsOutput(insights=(Insight(text="Comics are like bread.", because=(recent[0], min(evidence))),))

    mind.scripts["insights"] = insights
    town.live(TICKS + 1)
    (thought,) = town.memories("cora", "reflection")
    assert recent[0] in thought.citations


def test_insights_that_cite_nothing_or_what_was_not_shown_are_dropped() -> None:
    town, _ = _thinking((0,), (), (1,), (4711,), (2,))
    town.live(TICKS + 1)
    assert [text[:9] for text in town.texts("cora", "reflection")] == ["Insight 0", "Insight 2", "Insight 4"]


def test_an_insight_that_restates_what_it_cites_is_dropped() -> None:
    """Two may come to the same thought and tell each other."""
    theirs = {1: "Ben says: “I wouldn't have brought up the drone if Wren hadn't begun with the flood.”", 2: "A flood."}
    copied = Insight(text="I wouldn't have brought up the drone if Suki hadn't begun with the flood.", because=(1, 2))
    own = Insight(text="Whoever begins with the flood hears of my drone before the day is over.", because=(1, 2))
    assert accepted((copied, own), {1, 2}, theirs) == (own,)


def test_one_insight_is_a_reflection() -> None:
    town, _ = _thinking((0,), (), (4711,))
    town.live(TICKS + 1)
    assert [text[:9] for text in town.texts("cora", "reflection")] == ["Insight 0"]
    assert len(town.events("REFLECTED", "cora")) == 1


@pytest.mark.parametrize("because", [((),), ((4711,), ()), ((0,),)], ids=["cites nothing", "not shown", "one kept"])
def test_a_reflection_is_not_repeated_before_as_much_has_happened_again(because: tuple[tuple[int, ...], ...]) -> None:
    """Whatever it yielded: the sum begins anew with it, and a model is not paid for the same question every hour."""
    town, mind = _thinking(*because)
    town.live(150)
    assert _asked_at(town) == [1]
    (reflected,) = town.events("REFLECTED", "cora")
    assert len(reflected.body.memory_ids) + reflected.body.lacking == INSIGHTS_ASKED, "and the event says so"
    assert len(mind.inputs("insights", "cora")) == 1


def test_after_a_reflection_without_insights_the_next_one_comes_after_as_much_again() -> None:
    town, mind = _thinking((), threshold=5)
    town.live(320)
    asked = _asked_at(town)
    assert len(asked) > 2
    counted = [memory for memory in town.memories("cora") if memory.kind in {"observation", "action"}]
    for before, after in pairwise(asked):
        since = town.scenario.clock.time(before + TICKS)
        later = [memory for memory in counted if memory.created_at >= since]
        assert sum(memory.importance for memory in later if memory.tick < after) < 5
        assert sum(memory.importance for memory in later if memory.tick <= after) >= 5
    assert town.memories("cora", "reflection") == []
    assert len(mind.inputs("insights", "cora")) == len(asked)


def test_after_a_reflection_the_sum_begins_anew() -> None:
    town, _ = _thinking((0,), (1,), (2,))
    town.live(150)
    assert _asked_at(town) == [1]


def test_a_job_knows_what_was_known_when_it_was_asked_for_and_no_more() -> None:
    town, mind = _thinking((0,), (1,), (2,))
    town.live(2, {"kind": "inner_voice", "agent_id": "cora", "text": "Comics are the meaning of everything!"}).live(10)
    assert [request_key.tick for request_key, ask in mind.asked if ask.task.name in {"questions", "insights"}] == [1, 1]
    later = {memory.id for memory in town.memories("cora") if memory.tick > 1}
    (questions,), (insights,) = mind.inputs("questions"), mind.inputs("insights")
    shown = {note.id for note in questions.recent} | {n.id for entry in insights.evidence for n in entry.recalled}
    assert shown
    assert later
    assert not shown & later
    assert all("meaning of everything" not in note.text for note in questions.recent)
    assert questions.situation.time == "10:05"


def test_at_most_a_hundred_memories_are_looked_at_oldest_first() -> None:
    def change(document: dict[str, Any]) -> None:
        _weighty(document)
        person(document, "cora")["memories"] = [
            {"text": f"Cora Dunn read comic number {number}.", "importance": 2} for number in range(120)
        ]

    town, mind = puppets(hamlet(change), {}, rate=_light)
    town.live(3)
    (given,) = mind.inputs("questions", "cora")
    ids = [note.id for note in given.recent]
    assert ids == list(range(21, 121))


def test_several_jobs_of_a_tick_have_questions_of_their_own() -> None:
    acts = {("ben", tick): idle("whistling") for tick in range(1, 30)}

    def react(given: Any, request_key: Any) -> Any:
        return talking("cora") if (request_key.agent, request_key.tick) == ("ben", 1) else None

    town, mind = puppets(
        hamlet(deferred_minutes=10, fidelity="every_tick"),
        acts,
        react=react,
        converse=lambda given, request_key: ConverseOutput(utterance="Good morning!"),
    )
    town.live(12)
    keys = [(request_key.agent, request_key.tick, request_key.number) for request_key, _ in mind.asked]
    assert len(keys) == len(set(keys))
    assert any(number >= 1000 for _, _, number in keys)
