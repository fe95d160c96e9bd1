"""What is wrong with an answer that is used all the same is counted under its kind."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.minds.mind import Ask, Flaws
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.tasks import REACT
from commonplace.minds.tasks.wire import offers_of
from commonplace.parts.model_servers.chat_mind import value_in
from minds.tasks.asked import SETTING, every_ask, merged

BOOK = PromptBook("en", SETTING)
ASKS = every_ask() | {"merged": Ask(REACT, merged())}
IDLE: dict[str, Any] = {"kind": "IDLE", "target": "", "say": "", "doing": "mending a net", "emoji": "", "because": []}
KEEP: dict[str, Any] = {
    "decision": "keep",
    "target": "",
    "talk": None,
    "plan": None,
    "act": None,
    "reason": "",
    "because": [],
}
SAY: dict[str, Any] = {"say": "The broth is ready.", "ends": False, "because": [], "facts": []}


def flaws(task: str, data: dict[str, Any]) -> dict[str, int]:
    """What was counted when an answer was read."""
    found, ask = Flaws(), ASKS[task]
    if task == "merged":
        data = data | {"rate": [{"importance": 3, "valence": 0, "arousal": 0, "words": []} for _ in ask.input.unrated]}
    BOOK.read(ask, data, BOOK.prompt(ask).citable, found)
    return {flaw: count for flaw, count in found.items() if count}


@pytest.mark.parametrize(
    ("task", "junk", "counted"),
    [
        ("act", IDLE, {}),
        ("act", IDLE | {"doing": "null"}, {}),
        ("act", IDLE | {"doing": "10:00 to 12:40"}, {"dropped": 1}),
        ("act", IDLE | {"doing": "doing"}, {"copied": 1}),
        ("act", IDLE | {"kind": "MOVE", "target": "Atlantis"}, {"impossible": 1}),
        ("act", IDLE | {"kind": "INTERACT", "target": "stove: EAT"}, {"impossible": 1}),
        ("act", IDLE | {"emoji": "smiling"}, {"sign": 1}),
        ("act", IDLE | {"because": [77, 78]}, {"unknown": 2}),
        ("act", IDLE | {"doing": "mending a net " * 20}, {"cut": 1}),
        ("merged", KEEP | {"act": {"kind": "MOVE", "target": "Atlantis"}}, {"impossible": 1}),
        ("merged", KEEP | {"act": {"kind": "IDLE", "target": "", "doing": "C"}}, {"dropped": 1}),
        ("converse", SAY, {}),
        ("converse", SAY | {"say": ""}, {}),
        ("converse", SAY | {"say": "(smiles)"}, {"dropped": 1}),
        ("converse", SAY | {"say": "The broth is ready. " * 40}, {"cut": 1}),
        ("converse", SAY | {"facts": ["the moon landing"]}, {"unknown": 1}),
        ("insights", {"insights": [{"text": "Rain suits me.", "because": [77], "importance": 3, "about": ""}]},
         {"unknown": 1, "dropped": 1}),
    ],
)  # fmt: skip
def test_each_kind_of_junk_is_counted_under_its_kind(task: str, junk: dict[str, Any], counted: dict[str, int]) -> None:
    assert flaws(task, junk) == counted


def test_what_is_offered_can_be_done() -> None:
    for kind, choices in offers_of(ASKS["act"]).actions.items():
        for label in choices.labels:
            assert flaws("act", IDLE | {"kind": kind, "target": label, "say": "Hello."}) == {}, label


@pytest.mark.parametrize("text", ['{"say": "The broth is ready.", "ends": false,}', "{'say': 'The broth is ready.'}"])
def test_almost_json_is_counted_as_repaired(text: str) -> None:
    found, ask = Flaws(), ASKS["converse"]
    assert value_in(BOOK, ask, text, BOOK.prompt(ask), flaws=found)
    assert +found == {"repaired": 1}


def test_plain_words_in_place_of_json_are_counted_as_repaired() -> None:
    found, ask = Flaws(), ASKS["answer"]
    assert value_in(BOOK, ask, "I am well, thank you.", BOOK.prompt(ask), flaws=found)
    assert +found == {"repaired": 1}
