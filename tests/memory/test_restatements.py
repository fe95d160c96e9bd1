"""Rules that find which earlier memories a new one restates, and minds in their place."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import MemoryStream, RestatementRules
from commonplace.memory.restatements import topic_words
from measuring import program
from memory.naive import hours
from sizes import examples

DATA = Path(__file__).parents[2] / "benchmarks" / "data" / "restated"
RULES = RestatementRules()


def pairs(name: str) -> list[list[str]]:
    """What was said, what is said later, and perhaps a question, of each line."""
    return [line.split(" | ") for line in (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()]


BENCHMARK = program("restated")


def superseded(*texts: str, **source: str) -> list[tuple[int, ...]]:
    stream = MemoryStream("me", restatements=RULES)
    return [stream.remember(text, at=hours(number), **source).supersedes for number, text in enumerate(texts)]


@pytest.mark.parametrize("name", ["en", "ko", "en-held-out", "ko-held-out"])
def test_most_of_what_is_restated_is_found(name):
    rows = pairs(name)
    found = sum(superseded(old, new)[1] == (1,) for old, new, _ in rows)
    assert found >= 0.85 * len(rows)


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize(
    ("name", "least"),
    [("", 0.9), ("-held-out", 0.9), ("-independent-1", 0.9), ("-independent-2", 0.85), ("-independent-held-out", 0.65)],
)
def test_what_is_said_now_comes_before_what_was_said(language, name, least):
    plain, current, moved = BENCHMARK.restated(language + name, pairs(language + name))
    assert plain.count <= 0.35 * plain.among
    assert current.count >= least * current.among
    assert moved.count <= 0.05 * moved.among


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("kind", ["different", "independent-different", "independent-different-held-out"])
def test_what_is_said_of_others_or_besides_supersedes_nothing(language, kind):
    (wrong,) = BENCHMARK.different(f"{language}-{kind}", pairs(f"{language}-{kind}"))
    assert wrong.count <= 1


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (("I live in Seoul", "I moved to Busan", "I moved to Daegu"), [(), (1,), (2,)]),
        (("Anna lives in Seoul", "Tom lives in Incheon", "Anna moved to Busan"), [(), (), (1,)]),
        (("Anna lives in Seoul", "Tom lives in Incheon", "She moved to Busan"), [(), (), ()]),
        (("Anna lives in Seoul", "She moved to Busan"), [(), (1,)]),
        (
            ("the team meeting is on Monday", "the board meeting is on Monday", "the meeting moved to Friday"),
            [(), (), ()],
        ),
        (("I live in Seoul", "Do I live in Busan?"), [(), ()]),
        (("I moved to Busan", "I no longer live in Seoul"), [(), ()]),
        (("민수는 서울에 살아", "지호는 인천에 살아", "민수는 부산으로 이사했어"), [(), (), (1,)]),
        (("서울에 살아", "서울에 살아"), [(), ()]),
    ],
)
def test_it_is_about_the_same_person_and_thing(texts, wanted):
    found = superseded(*texts)
    if texts[0] == texts[1]:
        assert found[1] in ((), (1,))
    else:
        assert found == wanted


@pytest.mark.parametrize(
    ("question", "texts", "wanted"),
    [
        ("What day is book club?", ("Book club meets on Tuesdays", "They've shifted book club to Thursdays"), 2),
        ("What day was book club?", ("Book club meets on Tuesdays", "They've shifted book club to Thursdays"), 1),
        ("Who is our doctor?", ("Our doctor is Dr Patel", "Dr Patel has retired, Dr Nwosu took over"), 2),
        ("Where is my gym?", ("My gym is on Baker Street", "My bank is on Market Street now"), 1),
        ("What does Tom play?", ("Tom plays the drums", "Ana plays the cello"), 1),
        ("What is my rent?", ("My rent is 900 euros", "Is my rent too high?"), 1),
        ("김장 언제 하기로 했어?", ("김장은 11월에 하기로 했다", "배추가 늦어서 김장을 12월로 미뤘다"), 2),
        ("민지는 무슨 악기를 쳐?", ("민지는 드럼을 쳐", "지호는 피아노를 쳐"), 1),
    ],
)
def test_what_a_question_asks_is_answered_by_whoever_said_it_last(question, texts, wanted):
    later = MemoryStream("me")
    for day, text in enumerate(texts):
        later.remember(text, at=hours(24 * day))
    found = later.retrieve(question, at=hours(100), touch=False, current=True)
    assert found.ids[0] == wanted
    parts = [sum(part.normalised * part.weight for part in hit.parts.values()) for hit in found]
    assert parts == pytest.approx([hit.score for hit in found])


def test_a_memory_of_several_sentences_stays_true():
    story = "I live in Seoul. I have two cats and a garden. My sister plays the flute."
    assert superseded(story, "I moved to Busan") == [(), ()]
    assert superseded("I live in Seoul", "Thanks! Your words mean a lot. I moved to Busan") == [(), (1,)]
    assert superseded("You live in Seoul", "You moved to Busan") == [(), ()]


def test_i_is_whoever_speaks():
    stream = MemoryStream("maria", restatements=RULES)
    for source, text in (("Anna", "I live in Seoul"), ("Tom", "I moved to Busan"), ("", "Anna moved to Daegu")):
        stream.remember(text, at=hours(1), source=source)
    stream.remember("Maria lives in Ulm", at=hours(2))
    stream.remember("I moved to Bonn", at=hours(3), source="user")
    stream.remember("Tom: I moved to Rome", at=hours(4))
    assert [one.supersedes for one in stream] == [(), (), (1,), (), (4,), (2,)]


def test_a_list_may_supersede_what_is_in_it():
    stream = MemoryStream("me", restatements=RULES)
    stream.remember("I work at a bakery", at=hours(0))
    said = ["I live in Seoul", "I like tea", "I quit the bakery", "I moved to Busan"]
    assert [one.supersedes for one in stream.add_many(said, at=hours(1))] == [(), (), (1,), (2,)]
    assert MemoryStream("me").add_many(said, at=hours(1), restatements=RULES)[3].supersedes == (1,)


def test_a_stream_without_them_finds_nothing_and_a_call_may_say_it_itself():
    stream = MemoryStream("me")
    stream.add_many(["I live in Seoul", "I moved to Busan"], at=hours(0))
    assert [one.supersedes for one in stream] == [(), ()]
    stream = MemoryStream("me", restatements=RULES)
    stream.add_many(["I live in Seoul", "I like tea"], at=hours(0))
    assert stream.remember("I moved to Busan", at=hours(1), supersedes=[2]).supersedes == (2,)


def test_a_store_has_what_was_found(tmp_path):
    with MemoryStream.open(tmp_path / "me.db", "me", restatements=RULES) as stream:
        stream.remember("I live in Seoul", at=hours(0))
        stream.remember("I moved to Busan", at=hours(1))
    with MemoryStream.open(tmp_path / "me.db", "me") as stream:
        assert stream.get(2).supersedes == (1,)


def test_a_mind_gets_what_is_still_true_and_may_be_about_the_same():
    asked = []

    def mind(memory, candidates):
        asked.append((memory.id, memory.text, sorted(old.id for old in candidates)))
        return [old.id for old in candidates if "like" in old.text and "like" in memory.text] + [99]

    stream = MemoryStream("me", restatements=mind)
    for number, text in enumerate(("I like tea", "bread", "I like cocoa", "more bread", "I like milk")):
        stream.remember(text, at=hours(number))
    assert [one.supersedes for one in stream] == [(), (), (1,), (), (3,)]
    assert asked[1:3] == [(3, "I like cocoa", [1, 2]), (4, "more bread", [2, 3])]
    assert asked[3][2] == [3, 4], "1 is no longer true"


def test_a_mind_that_fails_does_not_lose_the_memory(caplog):
    def mind(memory, candidates):
        raise OSError("no server")

    stream = MemoryStream("me", restatements=mind)
    with caplog.at_level(logging.WARNING, "commonplace.memory"):
        stream.add_many(["I live in Seoul", "I moved to Busan"], at=hours(0))
    assert [one.supersedes for one in stream] == [(), ()]
    assert "the restatements of me failed (OSError: no server)" in caplog.text


def test_memories_are_found_by_their_topic_among_very_many():
    stream = MemoryStream("me", restatements=RULES)
    stream.remember("I live in Seoul", at=hours(0))
    stream.add_many([f"Tom {number} moved house" for number in range(150)], at=hours(1))
    assert "live" in topic_words("I moved to Busan").split()
    assert 1 in stream.remember("I moved to Busan", at=hours(2)).supersedes


@examples(200)
@given(st.lists(st.text(max_size=40) | st.sampled_from([row[0] for row in pairs("en") + pairs("ko")]), max_size=3))
def test_any_text_can_be_read(texts):
    stream = MemoryStream("me")
    memories = stream.add_many([" ".join(texts), *texts], at=hours(0))
    for number, memory in enumerate(memories):
        assert {*RULES(memory, memories[:number])} <= {one.id for one in memories[:number]}
        topic_words(memory.text)
