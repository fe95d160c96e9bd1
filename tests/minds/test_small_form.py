"""The small form: chats in few words, answers in plain words, the same typed outputs."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from commonplace.minds.mind import Ask, Flaws, Mind, Reply, RequestKey
from commonplace.minds.notes import Agreed, Spoken, changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.rate import rate
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Prompt, Unusable
from commonplace.minds.small.react import choices
from commonplace.minds.tasks import (
    CONVERSE,
    PLAN_DAY,
    REACT,
    RateInput,
    ReactInput,
    ReactOutput,
)
from commonplace.minds.tasks.wire import schema, written
from commonplace.parts.model_servers.prompt_mind import PromptMind
from commonplace.registry import TASKS
from commonplace.scenario.compiling import load
from commonplace.testing import MindContract
from minds.offline.sample import here, jun
from minds.tasks.asked import SETTING, every_ask, heard_news, lived, merged

SMALL = {name for name, row in TASKS.items() if row.small}
BOOKS = {language: PromptBook(language, SETTING, small=SMALL) for language in ("en", "ko")}
ASKS = {name: ask for name, ask in every_ask().items() if name in SMALL}
MERGED: Ask[Any, Any] = Ask(REACT, merged())


def read(ask: Ask[Any, Any], text: str, **more: Any) -> Any:
    """An answer in words as the typed output."""
    return BOOKS["en"].read_words(ask, text, **more)


def refused(ask: Ask[Any, Any], text: str, **more: Any) -> str:
    """The kind of what is wrong."""
    with pytest.raises(Unusable) as caught:
        read(ask, text, **more)
    return caught.value.kind


def letter(ask: Ask[Any, Any], sort: str) -> str:
    """Of the first choice of a sort."""
    return next("ABCDEFGH"[place] for place, one in enumerate(choices(ask.input)) if one.sort == sort)


# ── prompts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_prompt_is_a_chat_that_ends_with_the_other(language: str) -> None:
    for name, ask in {**ASKS, "merged": MERGED}.items():
        prompt = BOOKS[language].prompt(ask)
        roles = [message.role for message in prompt.messages]
        assert roles[:2] == ["system", "user"] and roles[-1] == "user", name
        assert all(one != other for one, other in pairwise(roles)), name
        assert all(message.text.strip() for message in prompt.messages), name
        assert not prompt.schema and not prompt.citable and "{{" not in prompt.text and "\n\n\n" not in prompt.text
        assert prompt == BOOKS[language].prompt(ask), "the same question, the same words"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_prompt_has_no_numbers_of_memories_no_ids_and_no_names_of_fields(language: str) -> None:
    for name, ask in {**ASKS, "merged": MERGED}.items():
        text = BOOKS[language].prompt(ask).text
        assert not re.search(r"\[\d", text) and "lantern_festival" not in text and "JSON" not in text, name
        fields = {field for field in schema(ask.task)["properties"] if field not in {"day", "plan", "answer", "say"}}
        assert not any(re.search(rf"\b{field}:", text) for field in fields), name


def test_a_prompt_is_much_shorter_than_the_full_one() -> None:
    full = PromptBook("en", SETTING)
    for name, ask in {**ASKS, "react": MERGED}.items():
        assert len(BOOKS["en"].prompt(ask).text) < 0.65 * len(full.prompt(ask).text), name


def test_a_task_without_a_small_form_and_one_that_is_not_named_are_asked_in_the_full_form() -> None:
    assert BOOKS["en"].prompt(every_ask()["rate"]) == PromptBook("en", SETTING).prompt(every_ask()["rate"])
    book = PromptBook("en", SETTING, small={"converse"})
    assert book.prompt(ASKS["converse"]).small and not book.prompt(ASKS["react"]).small


def talk(*lines: tuple[str, str], **more: object) -> Prompt:
    """A question for words after these lines of (speaker, text)."""
    called = {"mira": "Mira", "jun": "Jun", "kit": "Kit"}
    spoken = tuple(Spoken(speaker=who, called=called[who], text=text) for who, text in lines)
    given: Mapping[str, object] = {"said": (), "lines": spoken, "purpose": "", **more}
    return BOOKS["en"].prompt(Ask(CONVERSE, changed(ASKS["converse"].input, **given)))


def test_the_other_is_the_user_and_oneself_the_assistant() -> None:
    prompt = talk(("jun", "Morning."), ("mira", "Noodles?"), ("jun", "Please."), purpose="reply")
    assert [(one.role, one.text) for one in prompt.messages[1:]] == [
        ("user", "Morning."), ("assistant", "Noodles?"), ("user", "Please."),
    ]  # fmt: skip


def test_a_talk_that_oneself_has_begun_is_told_and_the_user_asks_to_go_on() -> None:
    prompt = talk(("mira", "Morning, Jun."), purpose="greet")
    assert [one.role for one in prompt.messages] == ["system", "user"]
    assert 'You have already said: "Morning, Jun."' in prompt.messages[0].text
    assert prompt.messages[-1].text == "(Greet Jun.)"


def test_where_several_others_speak_each_turn_says_who_does() -> None:
    prompt = talk(("kit", "Rain again."), ("jun", "It will pass."), purpose="farewell")
    assert prompt.messages[-1].text == "Kit: Rain again.\nJun: It will pass.\n(Say goodbye to Jun.)"


def test_a_memory_of_a_line_of_the_talk_is_not_told_again() -> None:
    prompt = BOOKS["en"].prompt(ASKS["duet_turn"])
    assert prompt.text.count("The kettle has broken again") == 1


def test_fewer_memories_are_told_of_a_prompt_that_was_too_long() -> None:
    prompt = BOOKS["en"].prompt(ASKS["converse"])
    assert prompt.memories == 3 and BOOKS["en"].prompt(ASKS["converse"], drop=99).memories == 0


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["converse", "answer", "duet_turn", "panel_turn"])
def test_words_are_what_is_said(name: str) -> None:
    value = read(ASKS[name], '  Mira: "It will hold until the evening."')
    assert isinstance(value, ASKS[name].task.output)
    assert value.because == () and getattr(value, "answer", "") + getattr(value, "utterance", "") == (
        "It will hold until the evening."
    )
    assert refused(ASKS[name], "As an AI, I cannot.") == "leak"
    assert refused(ASKS[name], "It will hold until", cut=True) == "truncated"


def test_words_are_the_same_output_as_the_full_form_gives() -> None:
    full = PromptBook("en", SETTING)
    said = "Two planks short, Jun."
    assert read(ASKS["duet_turn"], said) == full.read(ASKS["duet_turn"], {"say": said})
    assert read(ASKS["answer"], said) == full.read(ASKS["answer"], {"answer": said})


def test_an_answer_that_was_cut_off_ends_with_its_last_sentence_and_what_others_would_say_is_left_out() -> None:
    assert read(Ask(CONVERSE, ASKS["converse"].input), "Yes. I will co", cut=True).utterance == "Yes."
    assert read(ASKS["converse"], "Yes, gladly.\nJun: Thank you!\nMira: Oh").utterance == "Yes, gladly."
    assert read(ASKS["answer"], "Well.\nI am tired.\n\nVisitor: why?").answer == "Well. I am tired."


def test_a_line_ends_the_talk_if_it_takes_leave() -> None:
    given = ASKS["converse"].input
    assert not read(ASKS["converse"], "The stove is cold.").ends
    assert read(ASKS["converse"], "I have to go. Goodbye, Jun!").ends
    assert read(Ask(CONVERSE, changed(given, purpose="farewell")), "The stove is cold.").ends


# ── choices ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_letter_chooses_what_the_prompt_offers_under_it() -> None:
    prompt = BOOKS["en"].prompt(MERGED)
    assert prompt.letters == "ABCDEF" and "A: answer Jun\nB: go on with your plan\n" in prompt.text
    for text in ("A", " a".upper(), "A: answer Jun", "A.", '"A"', "(A)", "**A**"):
        value = read(MERGED, text)
        assert (value.decision, value.target, value.purpose) == ("talk", "jun", "reply"), text
        assert value.utterance == "", "the words are asked for"
    assert read(MERGED, "B").decision == "keep" and read(MERGED, "F").decision == "wait"


@pytest.mark.parametrize("text", ["G", "", "Answer Jun", "Because", "1", "Ha"])
def test_what_is_no_letter_of_a_choice_is_unusable(text: str) -> None:
    assert refused(MERGED, text) == "choice"


def test_the_complaint_is_in_the_language_of_the_prompt() -> None:
    with pytest.raises(Unusable, match=r"^A, B, C, D, E, F 가운데 하나여야 합니다. 받은 값: 'Z'$"):
        BOOKS["ko"].read_words(MERGED, "Z")


def test_a_choice_to_talk_rests_on_what_was_said() -> None:
    heard = next(entry.memory_id for entry in MERGED.input.news if entry.to_me)
    assert read(MERGED, "A").because == (heard,)


def test_news_that_somebody_here_has_not_heard_can_be_told() -> None:
    value = read(MERGED, letter(MERGED, "tell"))
    assert (value.decision, value.target, value.purpose, value.because) == ("talk", "jun", "tell", (2,))
    knows = Ask(REACT, merged(told={"jun": ("lantern_festival",)}))
    assert "tell" not in {one.sort for one in choices(knows.input)}


def test_an_event_of_today_can_be_put_into_the_plan() -> None:
    value = read(MERGED, letter(MERGED, "attend"))
    assert value.decision == "keep" and value.stroke is not None
    assert (value.stroke.start, value.stroke.location, value.stroke.because) == ("18:45", "plaza", (2,))
    later = changed(here("20:00"), people=(jun(),))
    over = Ask(REACT, changed(MERGED.input, situation=later))
    assert "attend" not in {one.sort for one in choices(over.input)}


def test_what_a_talk_has_settled_can_be_put_into_the_plan() -> None:
    tea = Agreed(text="drop in on Jun for tea", person="jun", called="Jun", place="workshop", time="17:00", minutes=40,
                 because=(4,))  # fmt: skip
    ask = Ask(REACT, merged(agreed=(tea,)))
    assert "plan for 17:00: drop in on Jun for tea (Jun's Workshop)" in BOOKS["en"].prompt(ask).text
    stroke = read(ask, letter(ask, "settle")).stroke
    assert (stroke.start, stroke.minutes, stroke.location, stroke.because) == ("17:00", 40, "workshop", (4,))
    nowhere = Ask(REACT, merged(agreed=(changed(tea, place="moon"),)))
    assert "settle" not in {one.sort for one in choices(nowhere.input)}, "only what can be read again"


def test_with_nobody_to_talk_to_there_is_no_choice_to_talk() -> None:
    alone = changed(here(), people=(changed(jun(), can_be_spoken_to=False),))
    given = changed(heard_news(lines=(), floor=False), situation=alone)
    assert {one.sort for one in choices(given)} <= {"keep", "attend", "wait"}


def test_somebody_is_greeted_once() -> None:
    def sorts(since: int) -> set[str]:
        situation = changed(here(), people=(jun(since=since),))
        return {one.sort for one in choices(changed(heard_news(lines=(), floor=False), situation=situation))}

    assert "greet" in sorts(-1) and "greet" not in sorts(30) and "talk" in sorts(30)


def test_new_memories_are_rated_by_the_rules() -> None:
    given: ReactInput = MERGED.input
    by_rules = rate(RateInput(who=given.who, texts=given.unrated), Dice(())).ratings
    assert read(MERGED, "B").ratings == by_rules and len(by_rules) == len(given.unrated)


def test_every_choice_of_a_town_is_read_as_a_reaction() -> None:
    book, count = PromptBook("en", SETTING, small=SMALL), 0
    for ask, _ in lived():
        if ask.task is REACT:
            for place, offered in enumerate(choices(ask.input)):
                value = book.read_words(ask, "ABCDEFGH"[place])
                assert isinstance(value, ReactOutput) and value.decision == offered.data["decision"]
                assert written(ask, value)["decision"] == value.decision, "the gate and the journal take it"
                count += 1
    assert count > 50


# ── the day ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_event_of_another_day_is_no_matter_of_the_day() -> None:
    given = ASKS["plan_day"].input
    assert "(19:00, Lattice Plaza)" in BOOKS["en"].prompt(ASKS["plan_day"]).text
    tomorrow = changed(given.situation, moment="2031-10-05T06:00:00")
    assert "lantern festival" not in BOOKS["en"].prompt(Ask(PLAN_DAY, changed(given, situation=tomorrow))).text


def starts(value: Any) -> list[str]:
    """When the strokes begin."""
    return [stroke.start for stroke in value.strokes]


def test_a_day_is_as_usual_or_says_what_is_different() -> None:
    ask = ASKS["plan_day"]
    usual = read(ask, "none")
    assert [stroke.routine for stroke in usual.strokes] == [0, 1, 2, 3, 4] and usual.strokes[-1].asleep
    assert read(ask, "None.") == usual
    value = read(ask, "19:00 watching the lanterns, Lattice Plaza\n- 14:00 - mending the stove, mira's noodle bar")
    assert starts(value) == ["06:00", "08:00", "12:00", "14:00", "16:00", "19:00", "22:00"]
    lanterns, stove = value.strokes[5], value.strokes[3]
    assert (lanterns.do, lanterns.location, lanterns.routine, lanterns.minutes) == (
        "watching the lanterns", "plaza", -1, 180,
    )  # fmt: skip
    assert (stove.do, stove.location) == ("mending the stove", "bar")


def test_a_change_at_the_time_of_a_usual_stroke_takes_its_place() -> None:
    value = read(ASKS["plan_day"], "12:00 visiting Jun, Jun's Workshop")
    assert starts(value) == ["06:00", "08:00", "12:00", "16:00", "22:00"] and value.strokes[2].location == "workshop"


def test_changes_at_no_known_place_and_in_the_night_are_left_out_and_counted() -> None:
    flaws = Flaws()
    text = "13:00 flying, the Moon\n03:00 walking, Canal Walk\n15:00 walking, Canal Walk"
    value = read(ASKS["plan_day"], text, flaws=flaws)
    assert starts(value) == ["06:00", "08:00", "12:00", "15:00", "16:00", "22:00"]
    assert flaws["unknown"] == 1 and flaws["dropped"] == 1


@pytest.mark.parametrize("text", ["I will mend the stove.", "13:00 flying, the Moon", "", "25:00 walking, Canal Walk"])
def test_a_day_without_a_change_that_can_be_used_is_unusable(text: str) -> None:
    assert refused(ASKS["plan_day"], text) == "schema"


def test_a_day_has_no_more_strokes_than_a_day_may_have() -> None:
    routine = ASKS["plan_day"].input.routine
    more = [changed_start(routine[1], start) for start in ("09:00", "10:00", "11:00")]
    full = changed(ASKS["plan_day"].input, routine=(*routine[:2], *more, *routine[2:]))
    value = read(Ask(PLAN_DAY, full), "10:30 walking, Canal Walk")
    assert starts(value) == ["06:00", "08:00", "09:00", "10:30", "11:00", "12:00", "16:00", "22:00"]


def changed_start(stroke: Any, start: str) -> Any:
    """The same at another time."""
    return stroke.model_copy(update={"start": start})


# ── minds ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def complete(messages: list[dict[str, str]], schema: Mapping[str, Any]) -> object:
    """A model that chooses the first letter and says one thing; what has a schema it cannot do."""
    assert [one["role"] for one in messages][:2] == ["system", "user"]
    if schema:
        return "Well."
    return "A" if "letter" in messages[0]["content"] else "It will hold until the evening."


class TestASmallModel(MindContract):
    asks = tuple(ASKS.values())

    def open(self) -> Mind:
        return PromptMind(complete, load("plaza"), form="small")


def test_a_function_is_asked_in_the_small_form() -> None:
    mind, key = PromptMind(complete, load("plaza"), form="small"), RequestKey(7, "mira", 1, 0)

    async def replies() -> dict[str, Reply]:
        return {name: await mind.answer(ask, key) for name, ask in every_ask().items()}

    found = asyncio.run(replies())
    usable = {name for name in SMALL if found[name].outcome == "value"}
    assert usable == SMALL - {"plan_day"}
    assert not any(found[name].flaws.get("repaired") for name in usable), "plain words are what is asked for"
    assert found["rate"].outcome == "malformed", "it has the full form only"
