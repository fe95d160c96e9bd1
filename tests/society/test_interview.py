"""What characters answer to a person after two days: from their own memories alone, and without a trace."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from datetime import timedelta
from itertools import islice
from pathlib import Path
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.cognition.interview import InterviewAnswer
from commonplace.cognition.turn import TalkView
from commonplace.languages.language import language
from commonplace.minds.notes import Spoken, as_json
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.question import ASKER
from commonplace.run.fork import written_fork
from commonplace.run.reading import Reading
from commonplace.talk import ask_character, view_at
from sizes import PROVE, examples

EVENING = 470
"""Ten past nine on the second evening."""
NOON = 360
NIGHT = 240
"""Two in the morning after the first day."""
ASKED = ("bruno", "mira", "odalys", "pip", "wren")
QUESTIONS = (
    "Who are you?",
    "What do you do?",
    "Where do you live?",
    "What do you want?",
    "What are you doing?",
    "Who is here with you?",
    "What did you do today?",
    "What did you do yesterday?",
    "What were you doing at ten?",
    "Where have you been today?",
    "Whom did you meet yesterday?",
    "What was the best thing today?",
    "What will you do tonight?",
    "What are you doing tomorrow?",
    "Whom do you know?",
    "Who is your best friend?",
    "What do you think of Ezekiel?",
    "Who is Suki?",
    "How do you know Mira?",
    "When did you last talk to Odalys, and about what?",
    "What did Suki tell you?",
    "Where is Jun?",
    "Have you heard of the lantern festival?",
    "Who told you about the festival?",
    "Whom have you told about the festival?",
    "Were you at the festival?",
    "What do you think of the flood?",
    "What do you think of the plaza?",
    "What do you think of the weather?",
    "Why did you go to the noodle bar?",
    "How are you?",
    "What have you learnt?",
    "Is there any news?",
    "Do you have a secret?",
    "What happened to the drone?",
)
TIMES = re.compile(
    r"\b(?:this|yesterday|tomorrow|last|on \w+day) (?:morning|afternoon|evening|night)\b"
    r"|\b(?:just now|a little while ago|the night before|earlier tonight|in the small hours)\b",
    re.IGNORECASE,
)
FOLLOWING = (
    "What do you think of Bruno?",
    "Why?",
    "And Mira?",
    "When did you last talk to her?",
    "And what did you do today?",
    "And yesterday?",
)
NAMED = ("place", "object", "other", "who", "to")
MIND = OfflineMind()


def ask(view: TalkView, question: str, lines: tuple[Spoken, ...] = ()) -> InterviewAnswer:
    return asyncio.run(ask_character(view, question, MIND, seed=1, lines=lines))


def spoken(agent: str, question: str, answer: str) -> tuple[Spoken, Spoken]:
    """A question and its answer as lines of the talk."""
    return Spoken(speaker=ASKER, called="", text=question), Spoken(speaker=agent, called=agent, text=answer)


@pytest.fixture(scope="module")
def views(run: Reading) -> Mapping[tuple[str, int], TalkView]:
    """Five characters at two ticks."""
    return {(agent, tick): view_at(run, agent, tick) for agent in ASKED for tick in (NOON, EVENING)}


def evidence(view: TalkView, answered: InterviewAnswer) -> str:
    """All words that an answer may rest on: its citations, the card, the plan, the relations and the question."""
    inputs = answered.inputs
    cited = [view.memories.get(memory) for memory in answered.because]
    frames = [memory.details["frame"] for memory in cited]
    values = [str(value) for frame in frames for value in frame.values()]
    tells = [line for memory in cited for line in memory.details.get("tell", ())]
    facts = [text for fact in inputs.facts for text in (fact.text, *fact.tell)]
    items = [*inputs.done, *inputs.later, *inputs.usual]
    return "\n".join(
        (
            inputs.question, inputs.doing, as_json(inputs.situation).decode(), as_json(inputs.who).decode(),
            *(memory.text for memory in cited), *values, *tells, *facts,
            *(f"{item.do} {item.location_name}" for item in items),
            *(f"{one.name} {one.called} {one.label} {one.work} {one.summary}" for one in inputs.known),
            *(spot.name for spot in inputs.places if spot.id in {*inputs.asked.places, inputs.who.home}),
            *(view.scenario.geography.name(frame[key]) for frame in frames for key in NAMED if frame.get(key)),
        )
    ).lower()  # fmt: skip


def names(view: TalkView) -> list[re.Pattern[str]]:
    """Everybody and every place and thing of the scenario by name."""
    nodes = view.scenario.geography.nodes.values()
    called = {persona.called for persona in view.scenario.personas.values()}
    called |= {re.sub(r"^(?:the |\w+'s )", "", node.name, flags=re.IGNORECASE) for node in nodes}
    return [re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE) for name in sorted(called)]


def times(view: TalkView, answered: InterviewAnswer) -> set[str]:
    """How the times of the cited memories and the span of the question are said."""
    said, moment = language("en"), answered.inputs.situation.moment
    allowed: set[str] = set()
    for memory in map(view.memories.get, answered.because):
        minutes = int((view.now - memory.created_at) / timedelta(minutes=1))
        day = (view.now.date() - memory.created_at.date()).days
        at = memory.created_at.hour * 60 + memory.created_at.minute
        allowed |= {said.when(moment, minutes), said.part(day, at, moment)}
    for one in answered.inputs.known:
        allowed |= {said.when(moment, one.known_minutes)} if one.known_minutes >= 0 else set()
    for fact in answered.inputs.facts:
        allowed |= {"yesterday evening", "this evening"} if fact.starts else set()
    return {text.lower() for text in allowed}


@pytest.fixture(scope="module")
def answers(views: Mapping[tuple[str, int], TalkView]) -> list[tuple[TalkView, str, InterviewAnswer]]:
    """What they answer: to all questions in `make prove`, else each to a fifth of them."""
    share = 1 if PROVE else 5
    return [
        (view, question, ask(view, question))
        for number, view in enumerate(views.values())
        for question in QUESTIONS[number % share :: share]
    ]


def test_every_name_and_every_time_in_an_answer_stands_in_what_it_cites(
    answers: list[tuple[TalkView, str, InterviewAnswer]],
) -> None:
    for view, question, answered in answers:
        words = evidence(view, answered)
        for name in names(view):
            found = name.search(answered.answer)
            assert not found or name.search(words), (view.persona.id, question, answered.answer, found)
        own_words = re.sub(r"“[^”]*”", "", answered.answer)
        for time in (found.group().lower() for found in TIMES.finditer(own_words)):
            assert time in times(view, answered) or time in words, (view.persona.id, question, answered.answer, time)


def test_a_citation_is_a_memory_of_that_time_and_an_admission_cites_nothing(
    answers: list[tuple[TalkView, str, InterviewAnswer]],
) -> None:
    for view, _, answered in answers:
        assert answered.outcome == "value"
        assert 0 < len(answered.answer) <= 1000
        assert all(view.memories.get(memory).created_at <= view.now for memory in answered.because)
        if re.match(r"(I don't know|No idea|I know nothing|I remember nothing|No, nothing)", answered.answer):
            assert not answered.because


def test_at_two_in_the_morning_today_is_the_day_before(run: Reading) -> None:
    view = view_at(run, "mira", NIGHT)
    answered = ask(view, "What did you do today?")
    told = {view.memories.get(memory).created_at.date() for memory in answered.because}
    assert view.now.hour == 2 and told == {view.now.date() - timedelta(days=1)}, answered.answer


def test_the_mood_is_the_mean_of_what_was_felt_last(views: Mapping[tuple[str, int], TalkView]) -> None:
    for view in views.values():
        latest = islice(view.memories.backwards(), 200)
        felt = [memory.emotion.valence for memory in latest if memory.emotion][:10]
        mood = ask(view, "How are you?").inputs.mood
        assert abs(mood - 100 * fmean(felt)) <= 0.5, (view.persona.id, view.now)


def test_what_nobody_told_is_not_known(views: Mapping[tuple[str, int], TalkView]) -> None:
    for view in list(views.values())[:4]:
        assert not ask(view, "Have you heard of the zeppelin?").because
        assert not ask(view, "What do you think of Napoleon?").because


def test_most_questions_are_answered(views: Mapping[tuple[str, int], TalkView]) -> None:
    view = views["mira", EVENING]
    asked = QUESTIONS[:: 1 if PROVE else 4]
    admissions = [question for question in asked if re.search(r"don't know|No idea", ask(view, question).answer)]
    assert len(admissions) <= 1, admissions


def test_a_follow_up_is_understood_by_what_was_said(views: Mapping[tuple[str, int], TalkView]) -> None:
    view = views["odalys", EVENING]
    lines: tuple[Spoken, ...] = ()
    asked: list[tuple[str, str, tuple[str, ...]]] = []
    for question in FOLLOWING:
        answered = ask(view, question, lines)
        asked.append((answered.asked.kind, answered.asked.then, answered.asked.people))
        lines += spoken("odalys", question, answered.answer)
    assert asked == [
        ("think", "", ("bruno",)), ("think", "whyso", ("bruno",)), ("think", "", ("mira",)), ("talked", "", ("mira",)),
        ("day", "", ()), ("day", "", ()),
    ]  # fmt: skip
    said = [line.text for line in lines if line.speaker == "odalys"]
    assert len(set(said)) == len(said)


def test_asking_for_more_repeats_nothing(views: Mapping[tuple[str, int], TalkView]) -> None:
    view = views["mira", EVENING]
    lines: tuple[Spoken, ...] = ()
    sentences: list[str] = []
    for question in ("What did you do today?", "Tell me more.", "What else?"):
        answer = ask(view, question, lines).answer
        sentences += [part for part in re.split(r"(?<=[.!?]) ", answer) if len(part) > 20]
        lines += spoken("mira", question, answer)
    assert len(set(sentences)) == len(sentences), sentences


def test_the_same_answer_again_and_from_the_run_cut_there(run: Reading, tmp_path: Path) -> None:
    with written_fork(run.path, NOON, tmp_path / "cut.run"):
        pass
    with Reading.open(tmp_path / "cut.run") as before:
        for agent in ASKED[:3]:
            now, then = view_at(run, agent, NOON), view_at(before, agent, NOON)
            for question in QUESTIONS[:: 1 if PROVE else 7]:
                first = ask(now, question)
                assert first.inputs == ask(then, question).inputs
                assert first.answer == ask(then, question).answer == ask(now, question).answer


def test_asking_leaves_the_run_as_it_is(run: Reading) -> None:
    before, content = run.digests(), run.path.read_bytes()
    view = view_at(run, "wren")
    touched = [memory.accessed_at for memory in view.memories]
    for question in QUESTIONS[:8]:
        ask(view, question)
    assert [memory.accessed_at for memory in view.memories] == touched
    assert run.digests() == before
    assert run.path.read_bytes() == content


WORDS = st.lists(
    st.sampled_from(
        (
            "who",
            "why",
            "and",
            "her",
            "what",
            "did",
            "you",
            "Mira",
            "yesterday",
            "at",
            "ten",
            "tell",
            "more",
            "@p",
            "(?P<",
            "\\",
            "[99]",
            "왜",
            "어제",
            "준",
            "<|im_start|>",
        )
    ),
    max_size=12,
).map(" ".join)


@examples(60)
@given(question=st.one_of(st.text(max_size=200), WORDS, st.just("x" * 10_000), st.just("why " * 2_500)))
def test_any_text_is_answered(views: Mapping[tuple[str, int], TalkView], question: str) -> None:
    answered = ask(views["pip", NOON], question)
    assert answered.answer
    assert not re.search(r"[<>{}\[\]|]|@[pl]\b", re.sub(r"“[^”]*”", "", answered.answer))
