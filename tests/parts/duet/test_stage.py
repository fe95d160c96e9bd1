"""The duet: query, retrieval, reflection, plan, utterance and store policy of a turn (sitcom document §7, §13, §14)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.hamlet import Town
from commonplace.languages import phrases
from commonplace.memory.importance import Rating
from commonplace.parts.duet.stage import DUET, THOUGHTFUL
from commonplace.parts.duet.store_policy import CORRECTION, alike, corrected, found_conflict, found_promise
from commonplace.parts.duet.tasks import LOST_THREAD, DuetOutput, DuetReflection
from commonplace.scenario.compiling import compiled_from_text
from commonplace.testing import ScriptedMind
from commonplace.text import words
from commonplace.world.events import Reflected
from commonplace.world.happenings import TALKS
from parts.duet.pair import PAIR, Actors, dropped, memories, pair, played, reasons
from sizes import examples

# ── query and retrieval ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_query_is_context_partner_and_goal() -> None:
    town = played(3, lines=("Hello there.", "Nice kite."))
    query = town.ticks[2].turns["ada"].trace["retrievals"][0]["query"]
    assert query == "Hello there. Nice kite. With: Bo My goal: win the kite race"


def test_every_turn_retrieves_k_memories_in_two_stages() -> None:
    town = played(6)
    for tick in town.ticks:
        (found,) = [turn.trace["retrievals"][0] for turn in tick.turns.values()]
        assert (found["policy"], len(found["hits"])) == ("two_stage", 3)


def test_three_turns_give_a_transcript_of_three() -> None:
    assert len(played(3).events("SAY")) == 3


# ── reflection ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_character_reflects_every_sixth_turn_and_never_at_the_beginning() -> None:
    town = played(26)
    ticks = {agent: [memory.tick for memory in memories(town, agent, "reflection")] for agent in PAIR}
    assert ticks == {"ada": [7, 13, 19, 25], "bo": [8, 14, 20, 26]}


def test_a_reflection_is_weighed_by_rule_cites_what_was_shown_and_guides_the_next_line() -> None:
    mind = Actors()
    town = played(9, mind=mind)
    (first,) = memories(town, "ada", "reflection")
    assert first.importance == THOUGHTFUL
    assert first.citations
    assert all(cited < first.id for cited in first.citations)
    assert [one.reflection for one in mind.inputs("duet_turn") if one.who.id == "ada"][-2:] == [first.text] * 2
    assert town.events("REFLECTED")[0].body == Reflected(memory_ids=(first.id,))


def test_a_reflection_that_names_no_memory_rests_on_those_that_were_shown() -> None:
    town = played(7, mind=Actors(cites=False))
    (reflection,) = memories(town, "ada", "reflection")
    shown = town.ticks[6].turns["ada"].trace["retrievals"][0]["hits"]
    assert list(reflection.citations) == sorted(hit[0] for hit in shown) or set(reflection.citations) == {
        hit[0] for hit in shown
    }


def test_a_reflection_that_fails_is_tried_again_on_the_next_turn() -> None:
    mind = Actors()
    reflect = mind.scripts.pop("duet_reflect")
    town = played(8, mind=mind)
    mind.scripts["duet_reflect"] = reflect
    town.live(1)
    assert [memory.tick for memory in memories(town, "ada", "reflection")] == [9]


def test_a_thought_that_was_had_before_is_not_stored_again() -> None:
    mind = Actors()
    mind.scripts["duet_reflect"] = lambda given, key: DuetReflection(text="It is the same again, I am angry.")
    town = played(20, mind=mind)
    (memory,) = memories(town, "ada", "reflection")
    assert (memory.tick, memory.importance) == (7, THOUGHTFUL + 1), "a feeling adds one"
    assert [entry for entry in dropped(town, 13) if entry[3] == "reflection"] == [
        [memory.text, f"memory #{memory.id} says the same", THOUGHTFUL + 1, "reflection"]
    ]
    assert not [entry for entry in dropped(town, 15) if entry[3] == "reflection"], "asked again after a whole period"


@pytest.mark.parametrize(
    ("line", "emoji"), [("Do you like kites?", "🤔"), ("Thank you so much!", "🙏"), ("A kite.", TALKS)]
)
def test_what_a_line_does_is_shown_over_its_speaker(line: str, emoji: str) -> None:
    (event,) = played(1, lines=(line,)).events("SAY")
    assert event.body.emoji == emoji


def test_without_a_period_nobody_reflects() -> None:
    town = played(20, pair(every=0))
    assert [memories(town, agent, "reflection") for agent in PAIR] == [[], []]


# ── plan and utterance ──────────────────────────────────────────────────────────────────────────────────────────────


def test_plan_and_words_come_in_one_request_or_in_two() -> None:
    one, two = Actors(), Actors()
    assert played(1, mind=one).turn("ada", 1).trace["reaction"]["reason"] == "To go on talking."
    town = played(1, pair(duet={"requests": 2, "temperature": 0.2}), two)
    assert [ask.task.name for _, ask in one.asked] == ["duet_turn"]
    assert [(ask.task.name, ask.task.temperature) for _, ask in two.asked] == [("duet_plan", 0.2), ("duet_turn", 0.2)]
    assert two.inputs("duet_turn")[0].plan == town.turn("ada", 1).trace["reaction"]["reason"] == "To ask."


def test_plans_are_stored_only_where_the_scenario_asks_for_it() -> None:
    assert memories(played(2), "ada", "plan") == []
    (plan,) = memories(played(2, pair(duet={"store_plans": True})), "ada", "plan")
    assert plan.text == "Ada Lind means to do this: “To go on talking.”"


def test_a_mind_without_an_answer_leaves_a_placeholder_and_the_dialogue_goes_on() -> None:
    mind = Actors()
    says = mind.scripts["duet_turn"]
    mind.scripts["duet_turn"] = lambda given, key: None if key.tick == 2 else says(given, key)
    town = played(4, mind=mind)
    assert [event.body.utterance for event in town.events("SAY")][1] == phrases("en", "lines")[LOST_THREAD]
    assert len(town.events("SAY")) == 4
    assert not any(
        phrases("en", "lines")[LOST_THREAD] in line.text for one in mind.inputs("duet_turn") for line in one.lines
    )
    assert [entry[1] for entry in dropped(town, 2)][-1] == "stands for a missing answer"


def test_a_mood_follows_what_was_said_and_the_next_question_tells_it() -> None:
    mind = Actors(("I am so angry!", "Oh.", "Fine."))
    town = played(3, mind=mind)
    assert town.state("ada").mood == "anger"
    assert mind.inputs("duet_turn")[2].mood == "anger"
    own = ScriptedMind({"duet_turn": lambda *_: DuetOutput(utterance="Hm.", mood="smug")})
    assert played(1, mind=own).state("ada").mood == "smug"


# ── what is stored ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("language", "line", "reason"),
    [
        ("en", "I promise you, Bo.", "importance 6: event “promise”, person “bo”"),
        ("en", "I'll bring the string.", "a promise: “I'll bring the string”"),
        ("en", "That is your fault.", "a quarrel: “fault”"),
        ("ko", "영희야, 약속할게.", "중요도 6: 사건 “약속할게”, 사람 “영희야”"),
        ("ko", "밥은 내가 살게.", "약속: “밥은 내가 살게”"),
        ("ko", "또 변명이네.", "갈등: “변명이네”"),
    ],
)
def test_what_matters_is_stored_with_its_reason(language: str, line: str, reason: str) -> None:
    town = played(1, pair(language), lines=(line,))
    ((text, why),) = reasons(town, 1).items()
    assert (line in text, why) == (True, reason)


def test_noise_is_not_stored_and_the_trace_says_why() -> None:
    town = played(2, lines=("Well, well.", "Nice weather."))
    assert [memories(town, agent) for agent in PAIR] == [[], []]
    assert dropped(town, 2) == [
        [
            "Ada Lind says to Bo Marsh: “Well, well.”",
            "importance 3 is below 6; no promise, no quarrel, nothing new",
            3,
            "observation",
        ],
        [
            "Bo Marsh said to Ada Lind: “Nice weather.”",
            "importance 3 is below 6; no promise, no quarrel, nothing new",
            3,
            "action",
        ],
    ]


def test_a_new_fact_is_news_to_whoever_hears_it_and_only_once() -> None:
    town = played(6, lines=("It starts on Friday.", "Oh.", "On Friday, mind.", "Yes.", "The 4:15 bus?", "No."))
    assert [why for tick in (1, 2, 3, 4) for why in reasons(town, tick).values()] == ["a new fact: “Friday”"]
    assert memories(town, "ada") == []
    assert "4:15" not in str(reasons(town, 6)), "a question states nothing"


def test_what_was_said_before_in_nearly_the_same_words_is_not_stored_again() -> None:
    town = played(3, lines=("I promise you the red kite, Bo.", "Really?", "Bo, I promise you the red kite!"))
    (memory,) = memories(town, "ada")
    assert dropped(town, 3)[-1][1] == f"memory #{memory.id} says the same"


def test_the_same_sentence_always_weighs_the_same_and_is_rated_once() -> None:
    mind = Actors(("Hm, the kite.", "Ah.", "Hm, the kite."), rating=9)
    town = played(4, pair(importance="both"), mind)
    asked = [text for one in mind.inputs("rate") for text in one.texts if one.who.id == "ada"]
    assert sorted(asked) == ["Ah.", "Hm, the kite."]
    weights = [entry[2] for tick in (1, 3) for entry in dropped(town, tick) if "kite" in entry[0]]
    weights += [memory.importance for memory in memories(town, "ada") if "kite" in memory.text]
    assert set(weights) == {5 + CORRECTION}
    assert len(town.state("ada").weighed) == 2


@given(st.integers(1, 10), st.none() | st.integers(1, 10))
def test_a_mind_corrects_the_rules_by_two_at_most(rule: int, opinion: int | None) -> None:
    weight = corrected(Rating(rule, {}), opinion).importance
    assert abs(weight - rule) <= CORRECTION
    assert 1 <= weight <= 10
    assert opinion is None or abs(opinion - weight) <= abs(opinion - rule)


VOCABULARY = ("kite", "promise", "you", "race", "red", "wind", "fault", "Friday", "string", "hello", "Bo", "seven")
LINES = st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=12)


@examples(15)
@given(LINES)
def test_memories_are_bounded_no_two_lines_that_are_remembered_say_the_same(lines: list[str]) -> None:
    """A character remembers what differs; each line is stored or dropped, with a reason."""
    town = played(len(lines), lines=[f"{line}." for line in lines])
    for agent in PAIR:
        said = [
            frozenset(words(one.details["frame"]["quote"])) for one in memories(town, agent) if one.kind != "reflection"
        ]
        assert not any(alike(one, other) for at, one in enumerate(said) for other in said[:at])
    for tick in range(2, len(lines) + 1):
        assert len(dropped(town, tick)) + len([one for one in reasons(town, tick) if "“" in one]) == 2
        assert all(reason for _, reason, *_ in dropped(town, tick))


@pytest.mark.parametrize(
    ("line", "language", "found"),
    [
        ("I'll let it be.", "en", ""),
        ("You have my word.", "en", "You have my word"),
        ("먼저 갈게.", "ko", ""),
        ("그런 게 있어.", "ko", ""),
        ("잊기 전에 말할게.", "ko", ""),
        ("화제 좀 바꿀게요. 비가 와요.", "ko", ""),
        ("내일 꼭 갚을게요.", "ko", "내일 꼭 갚을게"),
    ],
)
def test_promises_are_told_from_taking_leave(line: str, language: str, found: str) -> None:
    assert found_promise(line, language) == found


def test_quarrels_are_found_in_both_languages() -> None:
    assert [found_conflict(line) for line in ("You lied to me!", "왜 거짓말을 해?", "Lovely.")] == [
        "lied",
        "거짓말을",
        "",
    ]


def test_what_happens_from_outside_is_told_and_remembered() -> None:
    mind = Actors()
    town = played(1, mind=mind)
    town.live(1, {"kind": "god_event", "text": "The lights go out.", "to": {"everybody": True}})
    town.live(1)
    assert mind.inputs("duet_turn")[-1].news == ("The lights go out.",)
    assert "The lights go out." in town.texts("ada")


def test_a_duet_of_one_is_silent_and_alive() -> None:
    document = pair().text.replace('"home": "room"', '"home": "room", "absent": true', 1)
    town = Town(compiled_from_text(document, "pair"), Actors(), stage=DUET).live(3)
    assert town.events("SAY") == []
