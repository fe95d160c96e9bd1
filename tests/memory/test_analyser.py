"""Which words a text has: stems of English, roots of Korean, dates in the language of the text."""

from __future__ import annotations

from datetime import UTC, date, datetime
from importlib.util import find_spec

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.languages.ko import morphology as korean
from commonplace.memory import Analyser, MemoryStream, kiwi, policies
from commonplace.memory.analyser import made_analyser, shared_analyser
from commonplace.memory.kiwi import KiwiAnalyser
from memory.naive import START, hours
from sizes import PROVE, examples


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Klaus's studies, studying", ["klaus", "studi", "studi"]),
        ("Klaus’s", ["klaus"]),
        ("The and of", ["the", "and", "of"]),
        ("회의실 예약", ["회의", "의실", "실", "~회의시", "예약", "약", "~예약"]),
        ("집", ["집", "~지"]),
        ("빵은", ["빵은", "빵", "~빵"]),
        ("on 2031-10-04 at 7", ["2031-10-04", "on", "at", "7"]),
        ("12031-10-04", ["12031", "10", "04"]),
        ("the 4th of October", ["the", "4", "of", "octob"]),
        ("10월 4일에", ["10월", "4일", "에", "~에"]),
        ("東京都 café", ["東", "京", "都", "東京", "京都", "café", "cafe"]),
        ("", []),
        ("?!", []),
    ],
)
def test_words_become_tokens(text, tokens):
    assert Analyser("en").query(text) == tokens


def test_a_memory_can_be_found_by_the_words_of_its_date():
    moment = datetime(2031, 10, 4, 23, tzinfo=UTC)
    assert Analyser("en").document("tea", moment) == ["tea", "saturday", "octob", "4", "2031-10-04"]
    assert Analyser("ko").document("tea", moment) == ["tea", "10월", "4일", "토요", "요일", "2031-10-04"]


@pytest.mark.parametrize("query", ["what happened on Monday?", "2031-10-06", "October 6th"])
def test_a_question_about_a_day_finds_that_day(query):
    stream = MemoryStream("maria", policies.LEXICAL)
    for day in range(4, 9):
        stream.remember("We had tea", at=datetime(2031, 10, day, tzinfo=UTC), importance=3)
    hit = max(stream.recall(query, at=datetime(2031, 11, 1, tzinfo=UTC)), key=lambda hit: hit.parts["relevance"].raw)
    assert hit.memory.created_at.day == 6


def test_every_date_has_its_words():
    for language in ("en", "ko"):
        for month in range(1, 13):
            assert len(Analyser(language).date(date(2031, month, 28))) >= 4


def test_a_language_without_words_for_dates_is_refused():
    with pytest.raises(UsageError, match="auto, en, ko"):
        Analyser("fr")


def test_tokens_do_not_depend_on_what_was_analysed_before():
    analyser = Analyser("en")
    expected = analyser.query("studies of 회의실")
    analyser._tokens = {str(number): ("x",) for number in range(65_536)}
    assert analyser.query("studies of 회의실") == expected


# ── Korean ───────────────────────────────────────────────────────────────────────────────────────────────────────────

NEEDS_KIWI = pytest.mark.skipif(find_spec("kiwipiepy") is None, reason="kiwipiepy is not installed")
SYLLABLES = st.characters(min_codepoint=korean.FIRST, max_codepoint=korean.LAST)


@pytest.mark.parametrize(
    ("stem", "forms"),
    [
        ("빵", "빵 빵은 빵이 빵을 빵도 빵만 빵에서는 빵이랑 빵으로 빵이에요 빵이야 빵인데 빵이었어 빵입니다"),
        ("차", "차 차는 차가 차를 차로 차도 차에서 차랑 차야 차예요 차였어"),
        ("하늘", "하늘 하늘이 하늘이가 하늘이는 하늘아 하늘에게 하늘이한테 하늘이랑 하늘로"),
        ("지은", "지은이 지은이는 지은이한테 지은아"),
        ("먹", "먹다 먹는 먹은 먹을 먹고 먹으면 먹었어 먹었어요 먹겠습니다 먹지만 먹으셨나요 먹자마자"),
    ],
)
def test_a_stem_is_the_same_in_every_form(stem, forms):
    assert {form: korean.stem(form) for form in forms.split()} == dict.fromkeys(forms.split(), stem)


@pytest.mark.parametrize(
    ("root", "forms"),
    [
        ("다치", "다치다 다쳤어 다친 다칠까 다치셨어요 다쳐서"),
        ("꾸", "꾼 꿨어 꾸는 꾸었다 꿀"),
        ("하", "한다 했어 하는 하셨나요 할까"),
        ("엄마", "엄마가 어머니는 어머님께서"),
        ("먹", "먹었어 드셨어요 드시는"),
    ],
)
def test_a_root_is_the_same_however_a_verb_is_inflected(root, forms):
    assert {form: korean.root(korean.stem(form)) for form in forms.split()} == dict.fromkeys(forms.split(), root)


@given(
    SYLLABLES, st.sampled_from(["에서", "한테", "까지", "부터", "처럼", "도", "만", "의", "에는", "에서도", "한테만"])
)
def test_a_noun_of_one_syllable_is_found_under_every_particle(noun, particle):
    assert korean.without_particle(noun + particle) == korean.stem(noun + particle) == noun


@examples(200)
@given(st.text(SYLLABLES, min_size=1, max_size=9))
def test_something_stays_of_every_word(word):
    assert word.startswith(korean.stem(word))
    assert len(korean.root(korean.stem(word) or "x")) >= 1


@pytest.mark.parametrize(
    "text", ["뭐라고 했어?", "어디였지", "누구한테 있었나요", "무엇인가요", "그것은 왜 되나요", "얼마예요"]
)
def test_question_words_and_light_verbs_are_grammar(text):
    weights = Analyser().weighted(text, 0.25)
    assert max(weights.values()) <= 0.5
    assert Analyser().weighted(f"{text} 고래", 0.25)["고래"] == 1


@pytest.mark.parametrize(
    ("kept", "question"),
    [
        ("나는 빵이 좋아", "빵은?"),
        ("어젯밤 꿈에 고래가 나왔어", "무슨 꿈을 꿨어?"),
        ("손을 다쳐서 붕대를 감았다", "손은 왜 다쳤어?"),
        ("친구한테 돈을 빌려줬어", "돈은 누구한테 빌려줬지?"),
        ("집이 팔렸대", "집을 어떻게 했어?"),
        ("차를 새로 뽑았어", "차는 뭐야?"),
        ("소금빵 구웠어", "빵은 뭘 구웠어?"),
        ("약을 먹어야 한다", "약은요?"),
        ("엄마가 우셨어", "어머니는 왜 울었어?"),
        ("민수가 이겼다", "민수는?"),
    ],
)
@pytest.mark.parametrize("kind", ["plain", pytest.param("kiwi", marks=[NEEDS_KIWI, pytest.mark.slow])])
def test_one_syllable_is_enough_under_any_particle(kept, question, kind):
    stream = MemoryStream("지우", analyser=shared_analyser(kind=kind))
    others = [
        "우유는 많은데 물은 없다",
        "어제는 비가 왔어",
        "뭐라고 했는지 몰라",
        "왜 그런지 어떻게 알아",
        "누구였더라",
    ]
    for day, text in enumerate((*others, kept, "그건 좀 그래", "내일은 어디 가?")):
        stream.remember(text, at=hours(24 * day), importance=3)
    (hit,) = stream.recall(question, at=hours(500), k=1, touch=False)
    assert hit.memory.text == kept


def test_an_analyser_is_shared_however_it_is_asked_for():
    one = shared_analyser()
    assert one is shared_analyser("auto") is shared_analyser(kind="plain") is shared_analyser("auto", "plain")


@NEEDS_KIWI
def test_kiwi_finds_the_same_words_every_time_and_a_store_keeps_its_name(tmp_path):
    text = "하늘이가 어젯밤에 꾼 꿈은 커다란 고래였어요 ㅋㅋ AI가"
    one = shared_analyser(kind="kiwi")
    other = KiwiAnalyser() if PROVE else one  # its model takes seconds to load
    assert one.query(text) == other.query(text) == one.query(text)
    assert one.name == other.name != Analyser().name
    assert one.query("We had tea at 7") == Analyser().query("We had tea at 7")
    with MemoryStream.open(tmp_path / "s.db", "지우", analyser=one) as stream:
        stream.remember(text, at=START)
    with MemoryStream.open(tmp_path / "s.db", "지우") as stream:
        assert stream.table.analyser.kind == "kiwi"
        assert stream.recall("무슨 꿈을 꿨어?", at=hours(1))


def test_a_store_whose_analyser_is_not_installed_says_what_to_do(tmp_path, monkeypatch):
    class Named(Analyser):
        kind = "kiwi"

    def missing(name: str) -> None:
        raise ImportError(name)

    with MemoryStream.open(tmp_path / "s.db", "지우", analyser=Named()) as stream:
        stream.remember("빵이 좋아", at=START)
    monkeypatch.setattr(kiwi, "import_module", missing)
    made_analyser.cache_clear()
    with pytest.raises(UsageError) as caught:
        MemoryStream.open(tmp_path / "s.db", "지우")
    assert "commonplace-society[korean]" in caught.value.hint
    with MemoryStream.open(tmp_path / "s.db", "지우", analyser=Analyser()) as stream:
        assert stream.recall("빵은?", at=hours(1))


def test_an_unknown_analyser_is_refused():
    with pytest.raises(UsageError, match="mecab"):
        shared_analyser("ko", "mecab")


# ── the language of a text ───────────────────────────────────────────────────────────────────────────────────────────


@examples(200)
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60))
def test_a_language_that_was_not_given_changes_no_english_token(text):
    assert Analyser().document(text, START) == Analyser("en").document(text, START)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("축제를 준비했다", "10월 4일에 뭐 했어?"),
        ("축제를 준비했다", "지난 10월에 무슨 일이 있었지?"),
        ("축제를 준비했다", "토요일에는?"),
        ("We made lanterns", "what happened on October 4th?"),
        ("We made lanterns", "on Saturday?"),
        ("민수 met Klaus at the fair", "last October?"),
    ],
)
def test_a_day_is_found_in_the_language_of_the_text(text, question):
    stream = MemoryStream("지우")
    for month in (7, 10, 11):
        stream.remember(text, at=datetime(2031, month, 4 if month == 10 else 6, tzinfo=UTC), importance=3)
    (hit,) = stream.recall(question, at=datetime(2032, 1, 1, tzinfo=UTC), k=1, touch=False)
    assert hit.memory.created_at.month == 10


def test_a_rating_is_by_the_words_of_the_text_s_language():
    stream = MemoryStream("지우")
    texts = ("They made a promise", "약속을 했다", "동생이 promise 했다", "차가 따뜻하다")
    assert [stream.remember(text, at=START).importance for text in texts] == [5, 5, 6, 3]


def test_its_name_has_the_version_of_the_stemmer(monkeypatch):
    name = Analyser("en").name
    assert name == f"porter2-{Stemmer.version()}-hangul-dates-en-v3"
    monkeypatch.setattr(Stemmer, "version", lambda: "99.9")
    assert Analyser("en").name == "porter2-99.9-hangul-dates-en-v3"


def test_an_index_of_another_stemmer_is_made_anew(monkeypatch, tmp_path):
    with MemoryStream.open(tmp_path / "s.db", "maria") as stream:
        stream.add_many([f"note {number}" for number in range(1100)], at=datetime(2031, 1, 1, tzinfo=UTC))
    for version, kept in ((Stemmer.version(), True), ("99.9", False), ("99.9", True)):
        monkeypatch.setattr(Stemmer, "version", lambda version=version: version)
        with MemoryStream.open(tmp_path / "s.db", "maria", analyser=Analyser()) as stream:
            assert bool(stream._keeper.files) is kept
