"""A town read for days: the wording of a sentence, what people say of their own past, figures that add up, ratings."""

from __future__ import annotations

import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import pytest

from commonplace.character.fact import Fact
from commonplace.clock import Clock
from commonplace.errors import UsageError
from commonplace.languages.language import language
from commonplace.memory.record import Memory
from commonplace.minds.offline.template_grammar import grammar
from commonplace.parts.reading_kit.chronicle import Chronicle
from commonplace.parts.reading_kit.claims import claims, questions
from commonplace.parts.reading_kit.rated_lines import as_table, drawn, ratings
from commonplace.parts.reading_kit.town_days import FIGURES, added_up, town_days
from commonplace.parts.reading_kit.wordings import KINDS, wordings
from commonplace.run.reading import Reading
from commonplace.world.events import Event, Phase, ScriptPlayed, Spoke

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "town_reading.py"
START = datetime(2031, 10, 4, 6, tzinfo=UTC)
NAMES = {"ann": "Ann", "ben": "Ben", "cat": "Cat"}
FAIR = Fact(
    "fair", {"en": "There is a harvest fair at the green."}, {"en": (("harvest",), ("fair",))},
    place="green", starts=START + timedelta(hours=1), minutes=60,
)  # fmt: skip
OLD = SimpleNamespace(lines=("Cat says the mill was on fire. I was there with a bucket.",))


# ── wordings ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_written_template_is_recognised_in_its_own_words():
    known = wordings("en")
    for written in known.written:
        said = written
        for name in ("x", "you", "me", "do", "doing", "event", "topic", "thing"):
            said = said.replace(f"{{{name}}}", "the lamp")
        if "{" not in said:
            assert any(part.template for part in known.of(said)), written


def test_a_line_is_split_into_the_wordings_it_is_made_of():
    parts = wordings("en").of("No reason. It's true, that's all. My mum's ship goes past on Sundays. See you, Ann.")
    assert [sorted(part.rules) for part in parts] == [["answer.why"], [], ["bye.back"]]
    assert parts[2].slots == {"you": "Ann"}


def test_a_formal_speaker_is_recognised_without_contractions():
    (part,) = wordings("en").of("I cannot, I am afraid. I shall be repairing the drone.")[-1:]
    assert not part.rules, "no rule says so"
    assert wordings("en").of("I had not heard.")[0].is_a("unheard")


def test_the_rules_of_every_kind_are_rules_of_the_grammar():
    rules = {**grammar("en").rules, **grammar("ko").rules}
    for name, kind in KINDS.items():
        for rule in kind.rules:
            assert rule in rules or any(one.startswith(f"{rule}.") for one in rules), (name, rule)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Honestly, I wasn't there.", "absent"),
        ("I was there from the first lantern on.", "present"),
        ("Oh, I haven't heard a thing about that!", "unheard"),
        ("You're the first to know, I think.", "first"),
        ("It was Ben who told me.", "told_by"),
        ("I’d rather not say.", "evasion"),
        ("Hello, Ann!", "greeting"),
    ],
)
def test_words_of_other_minds_are_known_by_their_phrases(text: str, kind: str):
    assert wordings("en").of(text)[0].is_a(kind)


# ── a town made by hand ──────────────────────────────────────────────────────────────────────────────────────────────


def remembered(agent: str, number: int, tick: int, text: str, frame: dict[str, str], **more: Any) -> Memory:
    at = START + timedelta(minutes=5 * tick)
    return Memory(
        number, agent, more.pop("kind", "observation"), text, at, at, tick, 3.0, details={"frame": frame}, **more
    )


def spoke(to: str, text: str, **more: Any) -> Spoke:
    return Spoke(**{"to_agent_id": to, "utterance": text, "facts": (), "claimed": (), "carriers": (), **more})


def made(said: list[tuple[int, str, str, str, dict[str, Any]]], **parts: Any) -> Chronicle:
    """A chronicle of these lines (tick, speaker, hearer, words, what its mind says of it), all said in one place."""
    personas = {id_: SimpleNamespace(name=name, called=name) for id_, name in NAMES.items()}
    made = Chronicle.__new__(Chronicle)
    made.last = parts.pop("last", 600)
    made.clock, made.spoken = Clock(START, 5), language("en")
    made.scenario = SimpleNamespace(
        language="en", facts=(FAIR,), personas=personas, memories={"ann": [OLD]}, answers={}
    )  # type: ignore[assignment]
    made.facts = (FAIR,)
    made.events = tuple(
        Event(tick, Phase.ACTION, speaker, 0, "green", spoke(hearer, text, **more))
        for tick, speaker, hearer, text, more in said
    )
    made.places = parts.pop("places", {})
    made.memories = {id_: {one.id: one for one in parts.get(id_, ())} for id_ in NAMES}
    return made


def found(chronicle: Chronicle) -> list[tuple[str, bool | None]]:
    return [(claim.kind, claim.is_true) for claim in claims(chronicle)]


ASKED = (400, "ann", "ben", "Did you enjoy the harvest fair?", {"speech_act": "ask.event", "topic": "the harvest fair"})
DENIED = (401, "ben", "ann", "I couldn't say. You'd better ask the others.", {"speech_act": "answer"})
WENT = (401, "ben", "ann", "It was over too soon.", {"speech_act": "answer"})


def at_the_fair(ticks: range) -> dict[str, dict[int, str]]:
    return {"ben": {tick: "green" if tick in ticks else "mill" for tick in range(60)}}


@pytest.mark.parametrize(
    ("answer", "ticks", "so"),
    [
        (DENIED, range(12, 25), False),
        (DENIED, range(13, 14), True),  # one tick: walked through
        (DENIED, range(13), True),  # before it began
        (WENT, range(20, 22), True),
        (WENT, range(25, 40), False),
    ],
)
def test_who_was_at_an_event_is_known_from_where_they_were(answer: Any, ticks: range, so: bool):
    chronicle = made([ASKED, answer], places=at_the_fair(ticks))
    assert [(one.first, one.last) for one in chronicle.occasions] == [(13, 24)]
    assert found(chronicle) == [("absent" if answer is DENIED else "present", so)]


def test_the_first_to_be_told_is_the_first():
    tells = {"speech_act": "tell", "because": [1]}
    asks = (20, "ben", "ann", "Who else knows?", {"speech_act": "ask.else"})
    says = (21, "ann", "ben", "You're the first I've told.", {"speech_act": "answer"})
    told = (19, "ann", "ben", "I owe Jun for the pot.", tells)
    secret = [remembered("ann", 1, 0, "Ann owes Jun for the pot.", {"what": "seed"})]
    assert found(made([told, asks, says], ann=secret)) == [("first", True)]
    earlier = (5, "ann", "cat", "That pot, I owe it to Jun still.", tells)
    assert found(made([earlier, told, asks, says], ann=secret)) == [("first", False)]
    other = (5, "ann", "cat", "It rains.", {"because": [2]})
    assert found(made([other, told, asks, says], ann=secret)) == [("first", True)]


def test_what_was_heard_before_is_no_news():
    news = "There's a harvest fair at the green at seven."
    told = (40, "ann", "ben", news, {"speech_act": "tell", "facts": ["fair"]})
    says = (41, "ben", "ann", "First I've heard of it.", {"speech_act": "acknowledge"})
    assert found(made([told, says])) == [("unheard", True)]
    heard = remembered("ben", 1, 6, f"Cat says to Ben: “{news}”", {"what": "said", "who": "cat", "quote": news})
    assert found(made([told, says], ben=[heard])) == [("unheard", False)]
    just_now = remembered("ben", 1, 41, f"Ann says to Ben: “{news}”", {"what": "said", "who": "ann", "quote": news})
    assert found(made([told, says], ben=[just_now])) == [("unheard", True)]


def test_a_source_is_one_who_said_something_about_it():
    says = (41, "ben", "ann", "Cat told me about the ferry this morning. Has it reached you?", {"speech_act": "tell"})
    said = {"what": "said", "who": "cat", "quote": "The ferry is late."}
    heard = [remembered("ben", 1, 6, "Cat says to Ben: “The ferry is late.”", said)]
    assert found(made([says], ben=heard)) == [("told_by", True)]
    assert found(made([says])) == [("told_by", False)]


def test_whom_one_names_as_told_was_told():
    told = (19, "ann", "ben", "I owe Jun for the pot.", {"speech_act": "tell", "because": [1], "topic": "the pot"})
    asks = (20, "ben", "ann", "Who else knows?", {"speech_act": "ask.else"})
    says = (21, "ann", "ben", "I've told a few, Cat among them.", {"speech_act": "answer"})
    secret = [remembered("ann", 1, 0, "Ann owes Jun for the pot.", {"what": "seed"})]
    earlier = (5, "ann", "cat", "That pot, I owe it to Jun still.", {"speech_act": "tell", "because": [1]})
    assert found(made([told, asks, says], ann=secret)) == [("told", False)]
    assert found(made([earlier, told, asks, says], ann=secret)) == [("told", True)]


def test_what_happened_in_a_place_is_known_to_those_who_were_there():
    asks = (30, "ann", "ben", "How was the parade?", {"speech_act": "ask.event", "topic": "the parade"})
    says = (31, "ben", "ann", "I wasn't there.", {"speech_act": "answer"})
    chronicle = made([asks, says], places=at_the_fair(range(12, 20)))
    parade = Event(15, Phase.AMBIENT, "-", 0, "green", ScriptPlayed(text="A parade comes by.", areas=("green",)))
    chronicle.events = (parade, *chronicle.events)
    assert [one.name for one in chronicle.occasions] == ["harvest fair", "parade"]
    assert found(chronicle) == [("absent", False)]


def test_what_an_author_has_written_is_no_claim():
    assert found(made([(41, "ben", "ann", f"By the way. {OLD.lines[0]}", {"speech_act": "tell"})])) == []


def test_a_question_is_evaded_although_its_answer_is_known():
    chronicle = made([ASKED, DENIED], places=at_the_fair(range(12, 25)))
    (question,) = questions(chronicle)
    assert (question.kind, question.outcome, question.is_known) == ("ask.event", "evaded", True)
    (question,) = questions(made([ASKED, WENT], places=at_the_fair(range(0))))
    assert (question.outcome, question.is_known) == ("answered", False)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I've had time to think about it.", "evaded"),
        ("Because the ferry bell was mine once.", "answered"),
        ("I should go. See you.", "turned"),
        ("", "silence"),
    ],
)
def test_what_becomes_of_a_why(reply: str, outcome: str):
    act = {"I should go. See you.": "farewell", "Because the ferry bell was mine once.": "tell"}.get(reply, "answer")
    lines = [
        (10, "ann", "ben", "The ferry bell rings at noon.", {"speech_act": "tell", "because": [1]}),
        (11, "ben", "ann", "Why do you say that?", {"speech_act": "ask.why", "topic": "the ferry"}),
        *([(12, "ann", "ben", reply, {"speech_act": act})] if reply else []),
    ]
    seed = [remembered("ann", 1, 0, "Ann was given the ferry bell.", {"what": "seed"})]
    (question,) = questions(made(lines, ann=seed))
    assert (question.outcome, question.is_known) == (outcome, True)


@pytest.mark.parametrize(("knows", "is_known"), [("the cat", True), ("the ferry", False)])
def test_a_question_is_about_its_own_subject_however_short_the_word(knows: str, is_known: bool):
    lines = [
        (10, "ben", "ann", "The ferry is late.", {"speech_act": "tell", "topic": "the ferry"}),
        (11, "ann", "ben", "I came to ask you about the cat.", {"speech_act": "ask.topic", "topic": "the cat"}),
        (12, "ben", "ann", "Nobody feeds it. It's everybody's.", {"speech_act": "tell", "topic": "the cat"}),
    ]
    memory = remembered("ben", 1, 0, f"Ben feeds {knows}.", {"what": "seed"})
    (question,) = questions(made(lines, ben=[memory]))
    assert (question.outcome, question.is_known) == ("answered", is_known)


def test_a_reply_may_come_after_a_third_person_speaks():
    lines = [
        (10, "ann", "ben", "How are you?", {"speech_act": "ask.well"}),
        (11, "cat", "ann", "Better than Ben, I hear.", {"speech_act": "tell"}),
        (12, "ben", "ann", "Well enough.", {"speech_act": "answer"}),
    ]
    (question,) = questions(made(lines))
    assert question.reply is not None
    assert question.reply.tick == 12


# ── figures of a run ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_figures_of_a_day_are_those_of_the_run(town: Path):
    with Reading.open(town) as reading:
        days = town_days(reading)
        says = reading.events(type="SAY")
        ended = reading.events(type="CONVERSATION_ENDED")
        scripted = {event.id for event in reading.events(type="SCRIPTED") if event.body.text}
        perceived = {memory.event for agent in reading.agent_ids for memory in reading.memories(agent)}
    (day,) = days.values()
    assert list(days) == [1]
    assert day["lines"] == len(says)
    assert day["talks"] == len(ended) == sum(day[name] for name in day if name.startswith("talks.at."))
    assert day["people"] == 10
    assert day["people.silent"] == 10 - len({event.agent_id for event in says})
    assert day["claims.false"] <= day["claims"]
    outcomes = ("answered", "evaded", "turned", "silence")
    assert day["questions"] == sum(day[f"questions.{outcome}"] for outcome in outcomes)
    assert 0 < day["author.used"] < day["author.written"]
    assert 0 < day["templates.used"] < day["templates.written"]
    assert day["happenings"] == len(scripted & perceived) > 0, "the drone that crashes is among them"
    assert day["happenings.told"] <= day["happenings"]
    assert day["replans"] == sum(day[f"replans.{cause}"] for cause in ("weather", "event", "talk", "near", "other"))


def test_a_sentence_is_said_again_to_one_hearer_only_if_it_is_no_greeting():
    same = "The ferry bell was mine once, you know."
    said = [(1, "ann", "ben", f"Hello, Ben. {same}", {}), (9, "ann", "ben", f"Hello, Ben. {same}", {})]
    chronicle = made([*said, (18, "ann", "cat", same, {})])
    days: dict[int, Counter[str]] = {1: Counter()}
    novelty = town_days.__globals__["_novelty"]
    novelty(chronicle, days)
    assert days[1]["sentences"] == 5
    assert days[1]["sentences.new"] == 2
    assert (days[1]["sentences.counted"], days[1]["sentences.again"]) == (3, 1)


def test_runs_are_added_up_day_by_day():
    total = added_up([{1: Counter(lines=3, questions=2)}, {1: Counter(lines=5), 2: Counter(lines=1)}])
    assert total == {1: Counter(lines=8, questions=2), 2: Counter(lines=1)}
    by_name = {figure.name: figure for figure in FIGURES}
    assert by_name["lines said"].value(total[1], 2) == 4
    assert by_name["answered, %"].value(total[1]) == 0
    assert by_name["answered, %"].value(total[2]) is None


# ── ratings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_same_lines_are_drawn_for_a_seed_and_their_ratings_read_back(town: Path):
    with Reading.open(town) as reading:
        chronicle = Chronicle(reading)
        lines = drawn([chronicle], 12, 5, [1])
        table = as_table(lines)
        assert table == as_table(drawn([chronicle], 12, 5, [1]))
        assert len({line.event.id for _, _, line in lines}) == 12
        assert drawn([chronicle], 12, 6, [1]) != lines
        assert drawn([chronicle], 12, 5, [2]) == []
        assert all(line.text in table for _, _, line in lines)
    with pytest.raises(UsageError, match="the rating of line 1 is ''"):
        ratings(table)
    given = iter(["good", "g", "weak", "bad", "B", "w", "good", "good", "bad", "weak", "good", "good"])
    rated = "\n".join(f"{row[:-3]} {next(given)} |" if row.endswith("|  |") else row for row in table.splitlines())
    assert ratings(rated) == {"good": 6, "weak": 3, "bad": 3}


def test_the_command_prints_a_table_and_json_and_compares(town: Path, monkeypatch, capsys, tmp_path):
    main = run_path(str(BENCHMARK))["main"]
    monkeypatch.setattr(sys, "argv", ["town_reading", str(town)])
    main()
    table = capsys.readouterr().out
    assert all(f"\n{figure.name} " in table for figure in FIGURES)
    monkeypatch.setattr(sys, "argv", ["town_reading", str(town), "--json"])
    main()
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert (found["scenario"], found["seed"], found["day"]) == ("latticeville", 7, 1)
    assert found["figures"]["lines said"] == found["counts"]["lines"] > 0
    (tmp_path / "before.json").write_text(line.replace(f'"lines": {found["counts"]["lines"]}', '"lines": 7'))
    monkeypatch.setattr(sys, "argv", ["town_reading", str(town), "--compare", str(tmp_path / "before.json")])
    main()
    said = next(row for row in capsys.readouterr().out.splitlines() if row.startswith("lines said"))
    assert said.split()[-2:] == ["7", str(found["counts"]["lines"])]
