"""The gate: with merged requests a mind that costs something is not asked where rules find nothing to decide."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from cognition.hamlet import Town, hamlet, person, standing
from commonplace import create_run, open_run, resume_run
from commonplace.cli import main
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.notes import News, Person, Spoken, changed
from commonplace.minds.offline.gate import nothing_for_me, only_small_talk
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import REACT, RELATE, ReactInput, ReactOutput, RelateInput, RelateOutput
from commonplace.scenario.compiling import load
from commonplace.scenario.scenario import Scenario
from commonplace.testing import ScriptedMind
from commonplace.testing.server import ModelServer
from commonplace.world.happenings import Said, happening_of
from sizes import PROVE

MEASURED = run_path(str(Path(__file__).parents[2] / "benchmarks" / "gate.py"))
GATED = (REACT, RELATE)
TICKS, SOME = 30, 60
EVERY = RequestKey(7, "anna", 1, 0)


class Paid(ScriptedMind):
    """The offline mind at a price; what it is asked is kept."""

    paid = True

    def __init__(self, **scripts: Callable[[Any, RequestKey], Any]) -> None:
        super().__init__(scripts)
        self._rules = OfflineMind("en")

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        if ask.task.name in self.scripts:
            return super().answer(ask, request_key)
        self.asked.append((request_key, ask))
        return self._rules.answer(ask, request_key)

    def reactions(self) -> list[tuple[RequestKey, ReactInput]]:
        return [(key, ask.input) for key, ask in self.asked if ask.task is REACT]

    def views(self) -> list[RelateInput]:
        return [ask.input for _, ask in self.asked if ask.task is RELATE]


def _lived(scenario: Scenario, mind: ScriptedMind, ticks: int = TICKS) -> Town:
    """A town whose mind costs something, so that its ticks wait for the event loop."""
    town = Town(scenario, mind)

    async def live() -> None:
        for _ in range(ticks):
            lived = await town.engine.run_tick([])
            town.engine.apply(lived)
            town.ticks.append(lived.tick)

    asyncio.run(live())
    return town


def _village(**cognition: Any) -> Scenario:
    village = load("latticeville")
    settings = village.cognition.model_copy(update={"requests": "merged", **cognition})
    return replace(village, part=village.part.model_copy(update={"cognition": settings}))


def _history(town: Town) -> list[Any]:
    return [(event.id, event.body) for event in town.events()]


def test_a_mind_that_would_keep_as_the_rules_do_is_asked_less_and_history_is_the_same() -> None:
    asked, gated = Paid(), Paid()
    with_all, with_some = _lived(_village(gate=False), asked), _lived(_village(), gated)
    assert _history(with_all) == _history(with_some)
    assert len(gated.reactions()) < 0.75 * len(asked.reactions())
    others = [[ask.task.name for _, ask in mind.asked if ask.task not in GATED] for mind in (asked, gated)]
    assert sorted(others[0]) == sorted(others[1])
    assert len(gated.views()) < len(asked.views())
    for agent in with_all.scenario.personas:
        rated = [[(one.text, one.importance) for one in town.memories(agent)] for town in (with_all, with_some)]
        assert rated[0] == rated[1]


def test_turned_off_it_asks_about_all_that_is_not_small() -> None:
    mind = Paid(react=lambda given, _: ReactOutput(decision="keep"))
    town = _lived(hamlet(standing(anna="barn"), requests="merged", gate=False), mind)
    assert {entry.kind for _, given in mind.reactions() for entry in given.news} >= {"arrived"}
    asked = {(key.agent, key.tick) for key, _ in mind.reactions()}
    noted = {
        (agent, turn.tick)
        for tick in town.ticks
        for agent, turn in tick.turns.items()
        if any(entry["task"] == "react" for entry in turn.trace.get("asked", []))
    }
    assert asked == noted


@pytest.mark.parametrize("settings", [{"requests": "single"}, {"importance": "mind"}, {"fidelity": "every_tick"}])
def test_it_is_for_merged_requests_and_what_only_they_are_asked_for(settings: dict[str, Any]) -> None:
    scenario = _village(**settings)
    town = _lived(scenario, mind := Paid(), 12)
    reactions = [
        entry
        for tick in town.ticks
        for turn in tick.turns.values()
        for entry in turn.trace.get("asked", [])
        if entry["task"] == "react"
    ]
    assert reactions
    assert len(reactions) == len(mind.reactions())


def test_a_mind_that_costs_nothing_is_asked_about_everything() -> None:
    mind = ScriptedMind({"react": lambda given, key: OfflineMind("en").answer(Ask(REACT, given), key).value})
    town = Town(_village(), mind).live(12)
    asked = sum(ask.task is REACT for _, ask in mind.asked)
    noted = [turn.trace.get("asked", []) for tick in town.ticks for turn in tick.turns.values()]
    assert asked == sum(entry["task"] == "react" for entries in noted for entry in entries)


def test_what_is_said_to_one_and_what_weighs_is_put_to_the_mind() -> None:
    town = _lived(_village(), mind := Paid(), 60)
    asked = {(key.agent, key.tick) for key, _ in mind.reactions()}
    kept = [
        town.engine.live_state.streams[agent].get(memory)
        for tick in town.ticks
        for agent, turn in tick.turns.items()
        for entry in turn.trace.get("asked", [])
        if entry["task"] == "react" and (agent, turn.tick) not in asked
        for memory in entry["input"]["news"]
    ]
    assert kept
    assert max(memory.importance for memory in kept) <= 3
    said = [it for it in map(happening_of, (memory.details for memory in kept)) if isinstance(it, Said)]
    assert said
    assert not any(it.to_me for it in said)


def _input(*news: News) -> ReactInput:
    """What Anna would be asked in her first reaction, with other news."""
    mind = ScriptedMind()
    Town(hamlet(lambda document: person(document, "anna").update(starts_at="barn")), mind).live(12)
    given = next(ask.input for key, ask in mind.asked if ask.task is REACT and key.agent == "anna")
    assert isinstance(given, ReactInput)
    return changed(given, news=news)


def test_the_rows_let_pass_what_they_would_do_something_about() -> None:
    thing = News(memory_id=1, kind="thing", text="The kettle is hot.")
    event = News(memory_id=1, kind="event", text="Smoke rises.", importance=3)
    kept = nothing_for_me(_input(thing), EVERY)
    assert kept is not None
    assert isinstance(kept.value, ReactOutput)
    assert (kept.value.decision, kept.needless, kept.calls) == ("keep", 1, 0)
    assert kept.row is not None
    assert kept.row["row"] == "nothing"
    assert nothing_for_me(_input(event), EVERY) is None


def _talk(*lines: tuple[str, str], summary: str = "", warmth: int = 60) -> RelateInput:
    """Anna after a talk with Ben, of which these lines are known."""
    given = _input()
    ben = Person(id="ben", name="Ben Holm", called="Ben", label="friend", warmth=warmth, summary=summary)
    said = tuple(Spoken(speaker=who, called=who.title(), text=text) for who, text in lines)
    return RelateInput(who=given.who, situation=given.situation, other=ben, lines=said)


SMALL_TALK = (
    ("ben", "Morning, Anna."),
    ("anna", "The barn door sticks again."),
    ("ben", "It does that when it rains."),
)


def test_after_small_talk_one_sees_the_other_as_before() -> None:
    first, later = (only_small_talk(_talk(*SMALL_TALK, summary=view), EVERY) for view in ("", "I trust Ben."))
    assert first is not None and later is not None
    assert (later.needless, later.calls) == (1, 0)
    assert isinstance(first.value, RelateOutput) and isinstance(later.value, RelateOutput)
    assert first.value.summary.startswith("Ben, the friend")
    assert later.value.summary == "I trust Ben."


@pytest.mark.parametrize(
    "line",
    [
        ("ben", "Thank you, Anna. I mean it."),
        ("ben", "Please don't tell anyone. It's a secret, but I can't read."),
        ("ben", "Will you come with me on Sunday?"),
        ("ben", "Leave me alone."),
        ("ben", "Sorry about the kettle."),
        ("anna", "I'll be there, Ben."),
        ("anna", "You lied to me about the barn."),
        ("anna", "I promise you a loaf."),
    ],
)
def test_what_touches_or_binds_the_two_is_put_to_the_mind(line: tuple[str, str]) -> None:
    assert only_small_talk(_talk(*SMALL_TALK, line, summary="I trust Ben."), EVERY) is None


def test_what_one_tells_of_oneself_says_nothing_about_the_other() -> None:
    secret = "Please don't tell anyone. It's a secret, but I can't read."
    assert only_small_talk(_talk(*SMALL_TALK, ("anna", secret)), EVERY) is not None


def test_a_change_of_warmth_that_is_not_usual_is_put_to_the_mind() -> None:
    things = ("oven", "barn", "loft", "green", "cabin", "bakery")
    asking = tuple(("ben", f"Why is the {thing} so warm?") for thing in things)
    assert only_small_talk(_talk(*SMALL_TALK, *asking, warmth=0), EVERY) is None
    assert only_small_talk(_talk(*SMALL_TALK, *asking, warmth=70), EVERY) is not None


async def _play(run: Any, ticks: int) -> None:
    async for _ in run.play(ticks):
        pass


def test_a_run_tells_what_was_not_asked_and_is_the_same_after_a_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, parts = tmp_path / "whole.run", tmp_path / "parts.run"
    with ModelServer() as server:
        with create_run(whole, "plaza", mind=server.url) as run:
            asyncio.run(_play(run, SOME))
        asked = Counter(entry.task for entry in server.log.asked)
        with create_run(parts, "plaza", mind=server.url) as run:
            asyncio.run(_play(run, SOME // 2))
        with resume_run(parts) as run:
            asyncio.run(_play(run, SOME - SOME // 2))
    with open_run(whole) as run, open_run(parts) as other:
        assert run.digest(state=True) == other.digest(state=True)
        rows = [row for row in run.usage() if row["task"] == "react"]
        assert sum(row["asked"] for row in rows) == asked["react"]
        assert run.usage()[-1]["needless"] == sum(row["needless"] for row in rows) > 0
        row = next(row for row in run.answers() if row.usage.get("needless"))
        event = next(event.id for event in run.events(row.tick, row.tick) if event.agent_id == row.agent)
    assert main(["verify", str(parts)]) == 0
    assert main(["why", str(whole), event]) == 0
    told = capsys.readouterr().out
    assert "react  (kept without asking: nothing for me)" in told
    assert "by the row nothing" in told


@pytest.mark.parametrize(("scenario", "seeds", "ticks"), [("latticeville", 10, 144)] if PROVE else [("plaza", 3, 72)])
def test_an_imitated_model_with_draws_of_its_own_lives_alike_with_the_gate(
    scenario: str, seeds: int, ticks: int
) -> None:
    found = MEASURED["rows"](MEASURED["compared"](scenario, range(1, seeds + 1), ticks))
    assert found["kept without asking"][0] == 0
    assert found["requests"][1] < 0.9 * found["requests"][0]
    assert found["views after a talk"][1] < found["views after a talk"][0]
    for name in ("lines of talk", "talks", "changes of plans", "warmth", "spread of warmth", "share who know a fact"):
        without, _, difference, error = found[name]
        assert abs(difference) <= max(2 * error, 0.05 * without), name
