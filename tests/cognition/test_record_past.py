"""What a character knows of its own past is written from what it perceived, and cites it."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

from cognition.hamlet import Town, festival, go, hamlet, idle, talking
from cognition.hamlet import puppets as _puppets
from commonplace.character.account import Account
from commonplace.cognition.past import record_past
from commonplace.cognition.perceive import perceive
from commonplace.cognition.turn import Notebook
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks import ConverseOutput
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.testing import ScriptedMind

OTHER = {"ben": "cora", "cora": "ben"}
LINES = {
    ("ben", 1): ConverseOutput(utterance="Will you come to the bun festival?", speech_act="invite", topic="buns"),
    ("cora", 2): ConverseOutput(utterance="I will.", speech_act="accept", topic="buns"),
    ("ben", 3): ConverseOutput(utterance="My roof leaks again.", speech_act="complain", topic="my roof"),
    ("cora", 4): ConverseOutput(utterance="Why does it?", speech_act="ask.why", topic="your roof"),
    ("ben", 5): ConverseOutput(utterance="I wish I knew.", speech_act="answer"),
}  # fmt: skip


@pytest.fixture(scope="module")
def town() -> Town:
    """Ben and Cora talk in the barn, Anna listens and leaves before the festival that Cora promised to come to."""
    scripts = {
        "react": lambda given, key: talking(OTHER[key.agent]) if (key.agent, key.tick) in LINES else None,
        "converse": lambda given, key: LINES[key.agent, key.tick],
        "act": lambda given, key: go("green") if (key.agent, key.tick) == ("anna", 6) else idle("standing about"),
    }
    return Town(hamlet(festival, fidelity="every_tick"), ScriptedMind(scripts)).live(20)


def rows(town: Town, agent: str) -> dict[str, tuple[int, ...]]:
    return {entry.key: entry.because for entry in town.state(agent).account.all()}


def test_who_said_told_asked_and_answered_what(town: Town) -> None:
    ben, cora = rows(town, "ben"), rows(town, "cora")
    assert {"asked/cora/invite/buns", "agreed/cora//buns", "answered/cora/invite/buns"} <= set(ben)
    assert {"told/cora//my roof", "was_asked/cora/ask.why/your roof"} <= set(ben)
    assert {"heard/ben//my roof", "asked/ben/ask.why/your roof", "answered/ben/ask.why/your roof"} <= set(cora)
    assert "was_asked/ben/invite/buns" in cora


def test_every_row_cites_memories_of_what_it_says(town: Town) -> None:
    for agent in town.scenario.personas:
        texts = {memory.id: memory.text for memory in town.memories(agent)}
        assert all(memory in texts for because in rows(town, agent).values() for memory in because)
    (told,) = rows(town, "cora")["heard/ben//my roof"]
    assert next(memory.text for memory in town.memories("cora") if memory.id == told) == (
        "Ben Cole says to Cora Dunn: “My roof leaks again.”"
    )


def test_a_promise_is_kept_by_being_there_and_an_onlooker_only_hears_of_it(town: Town) -> None:
    assert "kept/ben//buns" in rows(town, "cora")
    assert "attended///buns" in rows(town, "ben")
    anna = rows(town, "anna")
    assert "heard/ben//buns" in anna
    assert not any(key.startswith(("attended", "promised", "kept")) for key in anna)


def test_a_promise_is_broken_by_not_being_there() -> None:
    acts = {("cora", tick): go("bakery") for tick in range(6, 9)}
    acts |= {("cora", tick): idle("waiting for the bread") for tick in range(9, 20)}
    scripts = {
        "react": lambda given, key: talking(OTHER[key.agent]) if (key.agent, key.tick) in LINES else None,
        "converse": lambda given, key: LINES.get((key.agent, key.tick), ConverseOutput()),
    }
    town, _ = _puppets(hamlet(festival, fidelity="every_tick"), acts, **scripts)
    town.live(17)
    assert "promised/ben//buns" in rows(town, "cora")
    assert "broke/ben//buns" in rows(town.live(2), "cora")
    assert "promised/ben//buns" not in rows(town, "cora")


def test_what_rests_on_a_forgotten_memory_is_not_known(town: Town) -> None:
    (told,) = rows(town, "cora")["heard/ben//my roof"]
    town.live(1, {"kind": "forget", "agent_id": "cora", "memory_ids": [told]})
    assert "heard/ben//my roof" not in rows(town, "cora")
    assert "heard/ben//my roof" not in rows(town.live(1), "cora")


def test_the_sentences_said_are_known_by_hearer(town: Town) -> None:
    lines = town.state("ben").account.lines
    assert {hearer: len(said) for hearer, said in lines.items()} == {"": 3, "cora": 3}


@pytest.mark.parametrize(("line", "seen"), [("Anna likes buns.", ["anna"]), ("Annatto is a spice.", [])])
def test_where_somebody_was_seen_comes_to_mind_when_a_line_names_them(line: str, seen: list[str]) -> None:
    told: list[Any] = []

    def say(given: Any, key: Any) -> ConverseOutput:
        told.append(given)
        return ConverseOutput(utterance=line)

    scripts = {
        "react": lambda given, key: talking(OTHER[key.agent]) if key.agent in OTHER else None,
        "converse": say,
        "act": lambda given, key: idle("standing about"),
    }
    Town(hamlet(festival, fidelity="every_tick"), ScriptedMind(scripts)).live(3)
    answered = next(given for given in told if given.lines and given.lines[-1].speaker != given.who.id)
    assert [note.other for note in answered.past.notes if note.kind == "saw"] == seen


def test_the_order_of_percepts_does_not_matter() -> None:
    town = Town(hamlet(festival), OfflineMind())
    town.live(12)
    for agent in town.scenario.personas:
        view = town.engine.live_state.view(agent)
        percepts = list(perceive(view).percepts)
        memories = [memory for memory in town.memories(agent) if memory.details.get("frame")][-len(percepts) :]
        known = [(percept, memory) for percept, memory in zip(percepts, memories, strict=False)]
        found: list[Account] = []
        for seed in range(4):
            random.Random(seed).shuffle(known)
            notebook = Notebook(view.state)
            record_past(view, notebook, known)
            found.append(notebook.account)
        assert all(account == found[0] for account in found)


def test_a_scripted_event_is_attended_by_those_who_see_it_where_it_takes_place() -> None:
    def change(document: dict[str, Any]) -> None:
        document["script"] = [
            {"id": "hail", "at": "10:15", "text": "Hail drums on the roof.", "to": {"areas": ["barn"]}},
            {"id": "bell", "at": "10:20", "text": "A bell rings far away.", "to": {"everybody": True}},
        ]

    town, _ = _puppets(hamlet(change), {})
    town.live(6)
    assert "attended///hail" in rows(town, "ben")
    assert "attended///hail" not in rows(town, "anna")
    assert "attended///bell" not in rows(town, "ben")


def test_what_was_done_besides_the_routine_is_known() -> None:
    scenario = compiled_from_text(load("plaza").text)
    town = Town(scenario, OfflineMind(scenario.language))
    town.live(60)
    for agent in scenario.personas:
        account, memories = town.state(agent).account, {memory.id: memory for memory in town.memories(agent)}
        for entry in account.rows("did"):
            frames = [memories[memory].details["frame"] for memory in entry.because]
            assert all(frame["what"] == "did" for frame in frames)
        assert all(memory in memories for entry in account.all() for memory in entry.because)
        since = scenario.clock.time(town.engine.live_state.tick) - timedelta(days=31)
        assert all(scenario.clock.time(entry.tick) > since for entry in account.all())
