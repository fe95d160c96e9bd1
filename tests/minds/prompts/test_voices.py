"""The lines of an author in prompts: whose they are, which of them, and how often they may be said."""

from __future__ import annotations

from typing import Any

import pytest

from commonplace.minds.mind import Ask, estimated_tokens
from commonplace.minds.notes import Given, changed
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import MOST_LINES, Unusable, setting_of, voices_of
from commonplace.minds.tasks import CONVERSE, REACT
from commonplace.scenario.compiling import load
from minds.tasks.asked import every_ask, merged

TOWN = load("latticeville")
BOOK = PromptBook("en", setting_of(TOWN))
LINES = voices_of(TOWN)["mira"]
ASKS = every_ask()


def test_a_voice_is_of_lines_that_may_be_said_at_any_time_and_carry_no_news() -> None:
    for scenario in (TOWN, load("sijang")):
        voices = voices_of(scenario)
        assert set(voices) == set(scenario.personas)
        for lines in voices.values():
            assert 6 <= len(lines) == len(set(lines)) <= MOST_LINES
            assert all(scenario.terms[line].is_free for line in lines if line in scenario.terms)
            assert not any(fact.carried_by(line) for fact in scenario.facts for line in lines)


def test_a_voice_speaks_of_more_than_one_memory() -> None:
    of = {line: memory.text for one in TOWN.part.characters for memory in one.memories for line in memory.lines}
    for lines in voices_of(TOWN).values():
        assert len({of[line] for line in lines}) >= 6


@pytest.mark.parametrize("task", ["react", "converse", "relate", "plan_day"])
def test_a_prompt_begins_with_the_same_words_for_every_task_of_a_character(task: str) -> None:
    heads = {name: BOOK.prompt(ASKS[name]).messages[0].text.rpartition("\n\n")[0] for name in (task, "rate")}
    assert heads[task] == heads["rate"]
    assert all(f'"{line}"'.replace("’", "'") in heads[task] for line in LINES)
    assert estimated_tokens(heads[task]) > 500


def test_on_a_stage_for_two_the_lines_to_be_told_are_not_shown_as_a_voice() -> None:
    heads = {name: BOOK.prompt(ASKS[name]).messages[0].text for name in ("duet_turn", "duet_plan", "converse")}
    assert [name for name, head in heads.items() if "This is how Mira speaks" in head] == ["converse"]


def said(given: Given, line: str) -> str:
    """What comes of an answer that says the line."""
    value: Any = BOOK.read(Ask(CONVERSE, given), {"say": line})
    return str(value.utterance)


def test_an_own_line_may_be_said_once_and_not_again() -> None:
    given, line = ASKS["converse"].input, LINES[0]
    assert said(given, line) == line
    again = changed(given, said=(line,))
    with pytest.raises(Unusable, match="must be other words"):
        said(again, f"Well. {line}")
    assert said(again, LINES[1]) == LINES[1]
    assert said(changed(given, said=("Nobody's line.",)), "Nobody's line.") == "Nobody's line."


def test_an_own_line_said_to_somebody_else_in_sight_is_not_said_again() -> None:
    given = merged(said={"jun": (LINES[0],)})
    talk: dict[str, Any] = {"say": LINES[0], "purpose": "tell", "ends": False, "facts": []}
    rate: list[dict[str, Any]] = [{"importance": 3, "valence": 0, "arousal": 0, "words": []}] * 3
    answer: dict[str, Any] = {
        "decision": "talk",
        "target": "Jun",
        "talk": talk,
        "because": [],
        "reason": "",
        "rate": rate,
    }
    with pytest.raises(Unusable, match=r"talk\.say"):
        BOOK.read(Ask(REACT, given), answer)
