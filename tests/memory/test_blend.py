"""What a blend adds to words and vectors, part by part."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import Draft, MemoryStream, policies, scoring
from commonplace.memory.analyser import grammar_words
from commonplace.memory.blend import MINUTE, Breaks, is_question, lent, named, place, subject
from commonplace.memory.bm25 import Spelling
from commonplace.memory.columns import LabelColumn
from commonplace.memory.table import View
from memory.naive import START, CountingEmbedder, hours
from memory.strategies import dialogues, questions, remember, shown, stream_of
from sizes import examples

TOPICS = [
    [f"{thing}{number}" for number in "abcdefghij"]
    for thing in ("oven", "boat", "goat", "lute", "fern", "pump", "slug")
]
"""Words of which each memory of a subject has those that are left, so that each but the last comes again."""
minutes = st.lists(st.integers(0, 200), min_size=1, max_size=9)


def told(*texts, at=lambda number: 0.0, policy=policies.RECALL, embedder=None) -> MemoryStream:
    stream = MemoryStream("maria", policy, embedder=embedder)
    for number, text in enumerate(texts):
        stream.remember(text, at=hours(at(number)), importance=5)
    return stream


def test_an_answer_that_shares_no_word_with_the_question_comes_with_what_was_asked():
    stream = told(
        "Tom: It rained all day",
        "Tom: What would you cook for the harvest supper?",
        "Maria: Pumpkin, I suppose",
        "Tom: My bicycle is broken",
        at=lambda place: [0.0, 48.0, 48.0, 96.0][place],
        policy=dataclasses.replace(policies.RECALL, lending="full"),
    )
    found = stream.retrieve("what is cooked for the harvest supper", at=hours(100), k=2, touch=False)
    assert set(found.ids) == {2, 3}
    answer = next(hit for hit in found if hit.memory.id == 3)
    assert answer.parts["lexical"].raw == 0
    assert answer.parts["neighbours"].normalised == pytest.approx(1.5)


@given(minutes, st.integers(1, 90), st.integers(1, 150), st.data())
@examples(60)
def test_neighbours_lend_in_both_directions_and_no_further_than_allowed(times, gap, conversation, data):
    relevance = [data.draw(st.integers(0, 8)) for _ in times]
    asks = [data.draw(st.booleans()) for _ in times]
    says = [data.draw(st.booleans()) for _ in times]
    created, spoken = np.array(times, np.int64) * MINUTE, np.array(says, bool)
    breaks = Breaks(gap, conversation)
    for length in data.draw(st.lists(st.integers(0, len(times)), max_size=3)):
        breaks.between(created[:length], spoken[:length])
        breaks.truncate(data.draw(st.integers(0, length)))
    got = np.full(len(times), 7.0)
    lent(np.pad(np.array(relevance, float), 3), np.flatnonzero(asks), breaks.between(created, spoken), got)
    for here, time in enumerate(times):
        expected = 0.0
        for other, lends in enumerate(relevance):
            distance = abs(here - other)
            allowed = conversation if says[here] and says[other] else gap
            if 1 <= distance <= 3 and abs(time - times[other]) <= allowed:
                expected += lends * 0.5 ** (distance - 1)
                expected += lends * 0.5 * (other == here - 1 and asks[other])
        assert got[here] == expected


@pytest.mark.parametrize(
    ("texts", "gap", "lends"),
    [
        (("Tom: What about the harvest?", "Maria: Pumpkin, I suppose"), 5.0, 1.5),
        (("tom_92: the harvest?", "mara: pumpkin i guess"), 5.0, 1.5),
        (("지은: 추수는 어때?", "민수: 호박이 좋지"), 5.0, 1.5),
        (("Tom: What about the harvest?", "Maria: Pumpkin, I suppose"), 9.0, 0.0),
        (("The harvest is in?", "Pumpkin seeds go in the blue tin"), 0.25, 0.75),
        (("What to do at the harvest: sow?", "The best price of seeds: four"), 0.25, 0.75),
        (("The harvest is in?", "Pumpkin seeds go in the blue tin"), 5.0, 0.0),
    ],
)
def test_people_answer_hours_later_and_notes_have_less_in_common(texts, gap, lends):
    texts = (*texts, "Tom: What rain, and what a wind")
    full = dataclasses.replace(policies.RECALL, lending="full")
    stream = told(*texts, at=lambda place: place * (gap if place < 2 else 100), policy=full)
    question = "추수" if "추수" in texts[0] else "harvest"
    answer = next(hit for hit in stream.recall(question, at=hours(300), touch=False) if hit.memory.id == 2)
    assert answer.parts["neighbours"].normalised == pytest.approx(lends, abs=1e-6)


def test_neighbours_lend_where_rare_words_come_again_beside_where_they_were():
    said = [f"Tom: {word} {' '.join(words[place:])}" for words in TOPICS for place, word in enumerate(words)]
    mixed = [said[number * 7 % len(said)] for number in range(len(said))]
    shares = [told(*texts).table for texts in (said, mixed, said[:2])]
    shares = [View(table, table.length).lending().share for table in shares]
    assert shares == [1.0, 0.0, 1.0]


def test_a_memory_longer_than_the_average_lends_less_in_proportion():
    texts = [
        "Ada: the lantern",
        "Tom: nothing",
        "Ada: of the lantern in so many words, all of which stand here",
        "Tom: no",
    ]
    stream = told(*texts, at=lambda place: place * 5.0)
    measured, full = (
        stream.retrieve(
            "lantern", at=hours(40), touch=False, policy=dataclasses.replace(policies.RECALL, lending=lending)
        )
        for lending in ("measured", "full")
    )
    lengths = [len(stream.table.analyser.document(text, hours(0))) for text in texts]
    shares = [min(1, sum(lengths) / 4 / length) for length in lengths]
    assert shares[2] < shares[0] == 1
    for found, lends in ((measured, shares), (full, [1] * 4)):
        own = {hit.memory.id: hit.parts["lexical"].normalised for hit in found}
        second = next(hit for hit in found if hit.memory.id == 2)
        assert second.parts["neighbours"].normalised == pytest.approx(own[1] * lends[0] + own[3] * lends[2], abs=1e-6)


def test_a_forgotten_memory_stands_between_nobody():
    texts = ["Tom: the lantern", "Ada: yes", "Ada: indeed", "Ada: right", "Ada: so it is"]
    stream = told("Tom: far away", *texts, "Tom: far away", at=lambda place: 0.0 if 0 < place < 6 else 900.0 * place)
    stream.forget([3, 4])
    fresh = told("Tom: far away", texts[0], *texts[3:], "Tom: far away", at=lambda p: [0.0, 0.0, 0.0, 0.0, 5400.0][p])
    scores = [
        [(hit.memory.text, hit.score) for hit in one.recall("lantern", at=hours(6000), k=9, touch=False)]
        for one in (stream, fresh)
    ]
    assert sorted(scores[0]) == sorted(scores[1])


def test_who_and_where_the_question_names_count():
    stream = told("Tom: I like the lake", "Maria: I like the lake")
    stream.remember("I like the lake", at=hours(0), importance=5, place=("Town", "Old Mill"))
    named = {hit.memory.id: hit.parts["named"].raw for hit in stream.recall("what does Maria like?", at=hours(1))}
    assert named == {1: 0, 2: 1, 3: 0}
    named = {hit.memory.id: hit.parts["named"].raw for hit in stream.recall("Tom at the mill", at=hours(1))}
    assert named == {1: 1, 2: 0, 3: 1}


def test_what_is_asked_tells_less_than_what_is_said():
    stream = told("Tom: a heron at the lake?", "Tom: a heron at the lake.", at=lambda place: 100.0 - 50 * place)
    first, second = stream.recall("heron lake", at=hours(200), touch=False)
    assert (first.memory.id, first.parts["statement"].raw, second.parts["statement"].raw) == (2, 1, 0)


def test_a_word_nobody_wrote_stands_for_those_spelt_like_it():
    stream = told("Tom: I finished Xenoblade", "Tom: I finished the novel", "Tom: a blade of grass")
    (hit,) = stream.recall("when was Xeonoblade finished", at=hours(1), k=1, touch=False)
    assert hit.memory.id == 1
    strict = dataclasses.replace(policies.RECALL, respell=False)
    scores = [hit.parts["lexical"].raw for hit in stream.recall("Xeonoblade", at=hours(1), policy=strict, touch=False)]
    assert scores == [0, 0, 0]


def test_likeness_is_dice_over_trigrams():
    spelling = Spelling()
    for term in ("festival", "festive", "stove", "ab1"):
        spelling.add(term)
        spelling.add(term)
    assert spelling.like("festivals") == [
        ("festival", pytest.approx(14 / 17)),
        ("festive", pytest.approx(10 / 16)),
    ]
    assert spelling.like("festival")[0][0] == "festive"
    assert spelling.like("sto") == []


def test_what_is_forgotten_lends_its_spelling_to_nobody():
    forgotten = [f"festival{letter}" for letter in "bcdefghij"]
    stream = told("Tom: festivity", *forgotten)
    assert stream.recall("festivala", at=hours(1), touch=False)
    for id in range(2, 11):
        stream.forget([id])
    first = stream.recall("festivala", at=hours(1), touch=False)[0]
    assert first.parts["lexical"].raw > 0


def test_words_of_grammar_count_less_in_a_question():
    texts = ("Tom: what did you do, and where, and what for", "Tom: the heron came")
    found = told(*texts).recall("what did the heron do", at=hours(1), touch=False)
    assert found[0].memory.id == 2
    plain = dataclasses.replace(policies.RECALL, grammar=1.0)
    assert told(*texts, policy=plain).recall("what did the heron do", at=hours(1), touch=False)[0].memory.id == 1


def test_an_embedder_that_knows_only_spelling_has_no_part_in_a_blend():
    hit = told("Tom: a heron").recall("heron", at=hours(1))[0]
    assert list(hit.parts) == ["recency", "importance", "lexical", "neighbours", "named", "statement"]
    hit = told("Tom: a festival", embedder=CountingEmbedder()).recall("stove", at=hours(1))[0]
    assert hit.parts["cosine"].raw == 1
    silent = dataclasses.replace(policies.RECALL, neighbours_weight=0.0, statement_weight=0.0)
    hit = told("Tom: a heron", policy=silent).recall("heron", at=hours(1))[0]
    assert list(hit.parts) == ["recency", "importance", "lexical", "named"]


@pytest.mark.parametrize("policy", [policies.RECALL, policies.REPO2023], ids=lambda policy: policy.name)
@examples(60)
@given(drawn=dialogues, dropped=dialogues, added=dialogues, query=questions)
def test_a_draft_that_is_let_go_leaves_no_trace_in_what_is_recalled(policy, drawn, dropped, added, query):
    stream, model = stream_of(policy, drawn)
    draft = Draft(stream)
    for entry in dropped:
        remember(draft, model, entry)
    draft.recall(query, at=hours(60))
    draft.discard()
    for entry in added:
        remember(stream, model, entry)
    fresh, _ = stream_of(policy, [*drawn, *added])
    scores = [shown(one.retrieve(query, at=hours(60), touch=False)) for one in (stream, fresh)]
    assert scores[0] == scores[1]


def carrying(column: LabelColumn, names) -> list[float]:
    return column.carrying(names).take(column.codes(column.size)).tolist()


def test_labels_mark_the_rows_that_carry_a_word():
    column = LabelColumn()
    for label in ((), ("tom",), ("maria", "lopez"), ("tom",)):
        column.append(label)
    assert carrying(column, ["tom", "lopez", "nobody"]) == [0, 1, 1, 1]
    column.truncate(2)
    column.append(("ada",))
    assert carrying(column, ["tom", "ada"]) == [0, 1, 1]
    assert column.carrying(["nobody"]) is None


def remembered(text, **fields):
    return MemoryStream("maria").remember(text, at=START, **fields)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Maria: I saw a heron", {"maria"}),
        ("Maria Lopez: the mill: is it open?", {"maria", "lopez"}),
        ("[1:56 pm on 8 May, 2023] Maria: hello", {"maria"}),
        ("2031-10-04 08:15 Maria: hello", {"maria"}),
        ("Klaus Mueller is reading", {"klaus", "mueller"}),
        ("Isabella's café is open", {"isabella"}),
        ("Klaus said: “come: now”", {"klaus", "said"}),
        ("민수가 카페에 갔다", {"민수가", "민수"}),
        ("it rains", set()),
        ("The stove is burning", set()),
        ("?!", set()),
    ],
)
def test_the_subject_is_who_speaks_or_what_the_sentence_begins_with(text, expected):
    assert set(subject(remembered(text))) == expected


def test_source_and_place_count_too():
    memory = remembered("I saw a heron", source="Klaus", place=("Town", "Old Mill"))
    assert set(subject(memory)) == {"klaus"}
    assert place(memory) == ("town", "old", "mill")


def test_a_question_names_its_words_without_grammar_and_possessives():
    assert named("What is Maria’s brother’s name?") == ("maria", "brother", "name")
    assert named("민수에게") == ("민수", "민수에", "민수에게")


def test_only_words_of_grammar_are_quiet_and_a_name_is_not():
    assert grammar_words("What did Will do in May?") >= {"what", "did", "do", "in"}
    assert not grammar_words("What did Will do in May?") & {"will", "may"}
    assert "may" in grammar_words("what may it be")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Shall we?", True),
        ("Klaus asks: “shall we?”", True),
        ("Shall we? [a photo of a lake]", True),
        ("그럴까？", True),
        ("Shall we? I think so", False),
        ("(really?) yes", False),
    ],
)
def test_a_text_asks_if_it_ends_in_a_question(text, asks):
    assert is_question(text) is asks


def test_what_work_arrays_hold_from_before_does_not_matter():
    stream = told("Tom: Shall we?", "Maria: Yes", "Klaus: the festival", embedder=CountingEmbedder())
    before = stream.recall("shall the festival be?", at=hours(9), touch=False)
    for room in (scoring._WORK, scoring._FEW):
        room.matrix(9, 100).view(np.uint64)[:] = 0x7FF0000000000001  # NaN that is invalid to compute with
    with np.errstate(all="raise"):
        assert stream.recall("shall the festival be?", at=hours(9), touch=False) == before
