"""Requests merged: what a mind that is paid by the request is asked in one, and what it is not asked at all."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from cognition.hamlet import Town, hamlet
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import ActOutput, ReactInput, ReactOutput, TextRating
from commonplace.scenario.compiling import load
from commonplace.testing import ScriptedMind

TICKS = 24


def _reacting(**fields: Any) -> ScriptedMind:
    def answer(given: ReactInput, _: RequestKey) -> ReactOutput:
        ratings = tuple(TextRating(importance=8, valence=50, arousal=40) for _ in given.unrated)
        hearers = [person.id for person in given.situation.people if person.can_be_spoken_to]
        if not hearers or not fields:
            return ReactOutput(decision="keep", ratings=ratings)
        return ReactOutput(target=hearers[0], ratings=ratings, **fields)

    return ScriptedMind({"react": answer})


def _tasks(mind: ScriptedMind, agent: str | None = None) -> Counter[str]:
    return Counter(ask.task.name for request_key, ask in mind.asked if agent in {None, request_key.agent})


def test_ratings_of_news_come_with_the_reaction() -> None:
    mind = _reacting()
    town = Town(hamlet(requests="merged"), mind).live(TICKS)
    assert _tasks(mind)["rate"] == 0
    rated = {text for request_key, ask in mind.asked if ask.task.name == "react" for text in ask.input.unrated}
    assert rated
    for agent in town.scenario.personas:
        for memory in town.memories(agent):
            if memory.emotion is not None:
                assert (memory.importance, memory.emotion.valence) == (8, 0.5)
                assert memory.text in rated


def test_a_sentence_that_was_rated_with_a_reaction_is_not_rated_again() -> None:
    mind = _reacting()
    Town(hamlet(requests="merged", novelty_window=0), mind).live(TICKS)
    asked = Counter(
        (request_key.agent, text)
        for request_key, ask in mind.asked
        if ask.task.name == "react"
        for text in ask.input.unrated
    )
    assert asked
    assert max(asked.values()) == 1


def test_words_come_with_the_decision_to_talk() -> None:
    mind = _reacting(decision="talk", purpose="greet", utterance="A fine morning to you.", ends=True)
    town = Town(hamlet(requests="merged"), mind).live(TICKS)
    assert _tasks(mind)["converse"] == 0
    assert {event.body.utterance for event in town.events("SAY")} == {"A fine morning to you."}


def test_words_left_open_are_asked_for() -> None:
    mind = _reacting(decision="talk", purpose="greet")
    Town(hamlet(requests="merged"), mind).live(TICKS)
    assert _tasks(mind)["converse"] > 0


def test_a_line_said_today_is_known_to_the_next_reaction() -> None:
    mind = _reacting(decision="talk", purpose="greet", utterance="A fine morning to you.")
    Town(hamlet(requests="merged"), mind).live(TICKS)
    said = [ask.input.said for _, ask in mind.asked if ask.task.name == "react"]
    assert ("A fine morning to you.",) in {lines for one in said for lines in one.values()}


def test_at_every_tick_the_action_comes_with_the_reaction() -> None:
    whistling = ActOutput(kind="IDLE", doing="whistling")
    mind = _reacting(decision="wait", act=whistling)
    Town(hamlet(requests="merged", fidelity="every_tick"), mind).live(TICKS)
    reacted = {
        (request_key.agent, request_key.tick)
        for request_key, ask in mind.asked
        if ask.task.name == "react" and any(one.can_be_spoken_to for one in ask.input.situation.people)
    }
    acted = {(request_key.agent, request_key.tick) for request_key, ask in mind.asked if ask.task.name == "act"}
    assert reacted
    assert not reacted & acted


def test_a_routine_that_nothing_upsets_is_not_asked_about() -> None:
    village = load("latticeville")
    asked = {}
    for requests in ("single", "merged"):
        cognition = village.cognition.model_copy(update={"requests": requests})
        mind = _reacting()
        part = village.part.model_copy(update={"cognition": cognition})
        town = Town(replace(village, part=part), mind).live(20)
        assert {item.level for item in town.plan("bruno").items} == {"day", "hour", "action"}
        asked[requests] = _tasks(mind)["plan_hours"] + _tasks(mind)["plan_minutes"]
    assert asked["single"] > 10
    assert asked["merged"] < asked["single"] / 10


def test_the_offline_mind_is_asked_single_questions_unless_told_otherwise() -> None:
    town = Town(hamlet(), OfflineMind("en"))
    assert town.scenario.cognition.requests == "auto"
    asked: list[Ask[Any, Any]] = []
    mind = _reacting()
    Town(hamlet(), mind).live(TICKS)
    asked = [ask for _, ask in mind.asked if ask.task.name == "react"]
    assert asked
    assert not any(ask.input.speaks or ask.input.unrated for ask in asked)
