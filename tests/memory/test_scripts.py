"""Words of every script: what is found in each, and which tokens they become."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from runpy import run_path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commonplace
from commonplace.memory import Analyser, MemoryStream
from commonplace.memory.analyser import TOWNS, shared_analyser
from commonplace.text import words
from memory.naive import START
from sizes import examples

ROOT = Path(__file__).parents[2]
FACTS = [
    line.split("\t") for line in (ROOT / "benchmarks" / "data" / "scripts.tsv").read_text(encoding="utf-8").splitlines()
]
FOUND = {
    "hindi": (8, 9), "russian": (8, 10), "amharic": (8, 10), "yoruba": (9, 9), "turkish": (14, 15),
    "french": (9, 9), "italian": (8, 8), "catalan": (9, 10),
} | dict.fromkeys(("arabic", "persian", "greek", "tamil", "chinese", "japanese"), (9, 10))  # fmt: skip
"""Language → how many facts are the first hit and among the first three; 10 and 10 for the others."""


@pytest.fixture(scope="module")
def stream():
    made = MemoryStream("polyglot")
    for day, (_, fact, _) in enumerate(FACTS):
        made.remember(fact, at=START + timedelta(days=day), importance=3)
    return made


@pytest.mark.parametrize("language", [language for language, _ in groupby(FACTS, key=lambda row: row[0])])
def test_a_fact_is_found_by_a_word_of_it_in_every_script(stream, language):
    asked = [(id, question) for id, (one, _, question) in enumerate(FACTS, 1) if one == language]
    assert len(asked) >= 10
    at = START + timedelta(days=len(FACTS) + 30)
    found = [(id, stream.retrieve(question, at=at, k=3, touch=False).ids) for id, question in asked]
    first, three = FOUND.get(language, (10, 10))
    assert sum(id == ids[0] for id, ids in found) >= first
    assert sum(id in ids for id, ids in found) >= three


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("İstanbul ISPARTA", ["i̇stanbul", "istanbul", "isparta"]),
        ("İstanbul'da ANKARA’YA Ayşe'nin", ["i̇stanbul", "istanbul", "ankara", "ayş", "ays"]),
        ("l'école d'accord qu’Antoine C'est", ["école", "ecol", "accord", "antoin", "est"]),
        ("dell'arte sull'isola un’ora L'Àvila", ["art", "isola", "ora", "àvila", "avila"]),
        ("O'Brien OBrien o’clock", ["obrien", "obrien", "oclock"]),
        (
            "we'll I'd can't they're Klaus's José's ma'am",
            ["we'll", "i'd", "can't", "they'r", "klaus", "josé", "jose", "ma'am"],
        ),
        ("'tis the dogs' rock'n'roll", ["tis", "the", "dog", "rock", "roll"]),
        ("ＡＢＣ　ｆｕｌｌ", ["abc", "full"]),
        ("phở Łódź Straße", ["phở", "pho", "łódź", "lodz", "straße", "strass"]),
        ("Ẹ̀pà", ["ẹ̀pà", "epa"]),
        ("it’s Hawaiʻi—don’t 😀✌️", ["it", "hawai", "don't"]),
        ("٢٠٢٤ ४२", ["2024", "42"]),
        ("ㅋㅋ 집", ["ㅋㅋ", "ㅋ", "~ㅋㅋ", "집", "~지"]),
        ("ｺｰﾋｰ", ["コー", "ーヒ", "ヒー"]),
        ("猫", ["猫"]),
        ("猫は", ["猫", "猫は"]),
        ("แมว", ["แม", "มว"]),
        ("Ёлка ΟΔΌΣ", ["ёлка", "~елк", "~лка", "οδόσ", "~οδο", "~δοσ"]),
        ('צה״ל צה"ל', ["צהל", "~צהל"] * 2),
        ("كِتَاب", ["كِتَاب", "~كتا", "~تاب"]),
        ("किताबें", ["किताबें", "~कित", "~िता", "~ताब", "~ाबे", "~बें"]),
        ("Ի՞նչ", ["ինչ", "~ինչ"]),
        ("ቤቱ ቤት", ["ቤቱ", "~በተ", "ቤት", "~በተ"]),
        ("2031-10-04に", ["2031-10-04", "に"]),
    ],
)
def test_words_of_other_scripts_become_tokens(text, tokens):
    assert Analyser().query(text) == tokens


def test_the_word_with_its_accents_counts_more_than_without():
    assert Analyser().weighted("café", 1) == {"café": 1.0, "cafe": 0.5}
    stream = MemoryStream("maria")
    for text in ("La cafe", "La café", "El río"):
        stream.remember(text, at=START, importance=3)
    at = START + timedelta(days=1)
    assert stream.retrieve("café", at=at, k=2, touch=False).ids == (2, 1)
    assert set(stream.retrieve("cafe", at=at, k=2, touch=False).ids) == {1, 2}


@examples(200)
@given(
    st.text(
        st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="'")
        | st.sampled_from("가나다밥을먹었어요ㅋ "),
        max_size=60,
    )
)
def test_english_and_korean_have_the_tokens_of_runs(text):
    assert Analyser().query(text) == Analyser(version=TOWNS).query(text)


@pytest.mark.parametrize("text", ["I'd say we'll see, Klaus's brother can't", "they’re Maria’s", "'quoted' words'"])
def test_english_contractions_and_possessives_have_the_tokens_of_runs(text):
    assert Analyser().query(text) == Analyser(version=TOWNS).query(text)


@examples(200)
@given(st.text(max_size=60))
def test_a_token_counts_once_at_most_and_no_text_is_too_strange(text):
    analyser = Analyser()
    tokens = analyser.query(text)
    assert set(analyser.weighted(text, 1)) == set(tokens)
    assert all(tokens)
    assert bool(words(text)) <= bool(tokens)


def test_runs_keep_the_tokens_their_histories_rest_on(tmp_path):
    assert Analyser(version=TOWNS).query("東京都 café İstanbul ไทย") == ["東京", "京都", "café", "i", "stanbul"]
    commonplace.create_run(tmp_path / "a.run", "plaza").close()
    with commonplace.open_run(tmp_path / "a.run") as reading:
        assert reading.stream_at("ines").table.analyser.version == TOWNS
        assert reading.scenario.analyser.version == TOWNS
    assert MemoryStream("maria").table.analyser is shared_analyser() is not shared_analyser(version=TOWNS)


def test_a_stored_stream_is_opened_with_words_of_every_script(tmp_path):
    with MemoryStream.open(tmp_path / "s.db", "maria", analyser=Analyser(version=TOWNS)) as stream:
        stream.remember("แมวชื่อมะลิ", at=START)
    with MemoryStream.open(tmp_path / "s.db", "maria") as stream:
        (hit,) = stream.recall("แมว", at=datetime(2032, 1, 1, tzinfo=UTC), min_relevance=0.1)
        assert hit.memory.id == 1


def test_letters_are_those_of_the_table():
    tool = run_path(str(ROOT / "tools" / "letters.py"))
    if unicodedata.unidata_version == tool["UNICODE"]:
        assert tool["FILE"].read_text(encoding="ascii") == tool["text"]()
