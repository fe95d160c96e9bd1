"""What comes to mind besides what a retrieval finds: news, today's life, the hearer, what one has not told yet."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from cognition.hamlet import Town, go, hamlet, idle, person, puppets, talking, tell
from commonplace.cognition.converse import lived_of, said_of
from commonplace.cognition.turn import TurnView
from commonplace.memory import policies
from commonplace.minds.tasks import ConverseInput, ConverseOutput, ReactInput

START = datetime(2031, 10, 4, tzinfo=UTC)
TELLS = ["I fell off the roof once.", "A roof is a hill with ideas.", "My ladder is older than I am."]


def _news(document: dict[str, Any]) -> None:
    document["facts"] = [
        {
            "id": "buns",
            "text": {"en": "The bun festival is on the green at five."},
            "groups": {"en": [["bun", "buns"], ["festival"]]},
            "originators": ["ben"],
            "place": "green",
            "starts": "2031-10-04T17:00:00",
            "minutes": 60,
        }
    ]
    # many memories whose words are those of any meeting: the news is none of them
    person(document, "ben")["memories"] = [
        {"text": f"Cora Dunn is reading a comic. Cora, Cora, number {number}.", "importance": 10}
        for number in range(12)
    ]


@pytest.mark.parametrize("policy", policies.NAMES)
def test_news_comes_to_mind_on_meeting_somebody_who_has_not_heard_it(policy: str) -> None:
    town, mind = puppets(hamlet(_news, policy=policy, k=3), {})
    town.live(2)
    reacted: list[ReactInput] = mind.inputs("react", "ben")
    assert reacted
    assert all([fact.id for fact in given.facts] == ["buns"] for given in reacted)


def test_news_that_all_here_have_heard_does_not_come_to_mind_by_itself() -> None:
    acts = {("ben", 1): tell("cora", "There is a bun festival at five."), ("cora", 4): go("green")}
    town, _ = puppets(hamlet(_news, policy="recall", k=3, fidelity="every_tick"), acts)
    town.live(8)
    purposes = {
        tick.number: [found["purpose"] for found in tick.turns["ben"].trace.get("retrievals", ())]
        for tick in town.ticks
    }
    assert not any("news" in found for number, found in purposes.items() if number > 2)


def _stories(document: dict[str, Any]) -> None:
    person(document, "ben")["memories"] = [
        {"text": f"Ben Cole has a story, number {number}.", "importance": 2, "tell": [line]}
        for number, line in enumerate(TELLS)
    ]


def _talked(turns: int) -> tuple[Town, list[ConverseInput]]:
    """Ben tells Cora every story that comes to his mind first and that she has not heard."""

    def converse(given: ConverseInput, key: Any) -> ConverseOutput:
        told = next(
            (memory.tell[0] for memory in given.recalled if memory.tell and memory.tell[0] not in given.said), ""
        )
        return ConverseOutput(utterance=told if key.agent == "ben" else f"I see, {key.tick}.")

    other = {"ben": "cora", "cora": "ben"}
    acts = {("anna", tick): idle("baking bread") for tick in range(1, turns)}
    town, mind = puppets(
        hamlet(_stories, k=8, fidelity="every_tick"), acts,
        react=lambda given, key: talking(other[key.agent]) if key.agent in other else None, converse=converse,
    )  # fmt: skip
    town.live(turns)
    return town, mind.inputs("converse", "ben")


def test_what_the_hearer_has_not_been_told_comes_to_mind_until_all_is_told() -> None:
    town, given = _talked(10)
    said = [event.body.utterance for event in town.events("SAY", "ben")]
    assert sorted(said[:3]) == sorted(TELLS)
    assert all(any(memory.tell for memory in one.recalled) for one in given[:3])


def test_reasons_name_what_was_chosen_and_nothing_is_chosen_twice() -> None:
    town, _ = _talked(4)
    chosen = 0
    for tick in town.ticks:
        shown: list[int] = []
        for found in tick.turns["ben"].trace.get("retrievals", ()):
            if found["purpose"] in {"talk", "today", "own", "hearer"}:
                shown += [hit[0] for hit in found["hits"]]
                chosen += found["policy"] == "chosen"
        assert len(shown) == len(set(shown)) <= 8
    assert chosen


@pytest.mark.parametrize(
    ("hearer", "asked", "kept"), [("anna", "wheel", [2]), ("ben", "wheel", []), ("anna", "moon", [])]
)
def test_what_others_said_of_a_subject_comes_to_mind_when_it_is_asked_about(
    hearer: str, asked: str, kept: list[int]
) -> None:
    said = {"what": "said", "who": "cora", "to": "ben", "quote": "The wheel of the mill has lost a tooth."}
    theirs = {**said, "who": "anna", "quote": "That wheel is older than I am."}
    memories = [
        SimpleNamespace(id=id_, text=f"She says: “{frame['quote']}”", details={"frame": frame})
        for id_, frame in enumerate((said, theirs), 2)
    ]

    def since(_: object, __: str, says: Callable[[str], bool]) -> list[SimpleNamespace]:
        return [memory for memory in memories if says(memory.text)]

    view = SimpleNamespace(draft=SimpleNamespace(since=since), now=START)
    assert [memory.id for memory in said_of(cast("TurnView", view), hearer, asked)] == kept


@pytest.mark.parametrize(("topic", "kept"), [("wheel", [2, 5, 6]), ("the moon", []), ("", [])])
def test_what_one_has_lived_with_a_subject_comes_to_mind_when_it_is_asked_about(topic: str, kept: list[int]) -> None:
    lived = {
        "reflection": [(1, "insight", "The wheel again."), (2, "insight", "More people care about the wheel.")],
        "observation": [
            (3, "doing", "Cora is oiling the wheel."),
            (4, "said", "“The wheel!”"),
            (5, "event", "A wheel."),
        ],
        "action": [(6, "did", "Ben was oiling the wheels."), (7, "did", "Ben was asleep.")],
    }

    def since(_: object, kind: str, says: Callable[[str], bool]) -> list[SimpleNamespace]:
        return [
            SimpleNamespace(id=id_, details={"frame": {"what": what}}) for id_, what, text in lived[kind] if says(text)
        ]

    view = SimpleNamespace(draft=SimpleNamespace(since=since), now=START)
    assert [memory.id for memory in lived_of(cast("TurnView", view), topic)] == kept
