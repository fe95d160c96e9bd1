"""The offline mind speaks Korean: particles, speech levels, forms of verbs, and an alley that is heard for a day."""

from __future__ import annotations

import asyncio
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.engine.characters import Characters
from commonplace.engine.driver import Driver, NoJournal
from commonplace.engine.live_state import initial_state
from commonplace.engine.lockstep import Lockstep
from commonplace.engine.stage import Stage
from commonplace.languages import file_texts
from commonplace.languages.ko import conjugation
from commonplace.languages.ko.conjugation import to_a_friend, to_an_elder
from commonplace.languages.ko.grammar import Korean
from commonplace.languages.ko.josa import resolved
from commonplace.minds.notes import Spoken
from commonplace.minds.offline import OfflineMind
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.template_grammar import FORMAL, Grammar, grammar, parsed_lists, parsed_rules
from commonplace.parts.duet.stage import DUET
from commonplace.scenario.compiling import compiled_from_text
from commonplace.stages.town import TOWN
from commonplace.world.happenings import ACTS, SORTS
from sizes import examples

KO = Korean()
OWN = {rule for text in file_texts("ko", "talk").values() for rule in parsed_rules(text)}
GOLMOK = Path(__file__).with_name("golmok.yaml").read_text(encoding="utf-8")
LATIN = re.compile("[A-Za-z]")
POLITE_END = re.compile(r"[가-힣](?:요|죠)[.!?]")
PLAIN_WORD = re.compile(r"(?<![가-힣])(?:너|네가|너는|너도|너희|내가|나는|나도)(?![가-힣])")
HANGUL_NAMES = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1, max_size=3)


# ── the grammar ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_rule_there_is_in_english_is_there_in_korean() -> None:
    english, korean = grammar("en"), grammar("ko")
    assert english.rules.keys() - OWN == {"work_done"}
    extra = korean.rules.keys() - english.rules.keys()
    fitting = (
        "aside",
        "answer.more",
        "react.answer",
        "react.acknowledge",
        *(f"react.{sort}" for sort in SORTS),
    )
    for name in extra:
        is_variant = any(name.startswith(f"{rule}.") for rule in english.rules)
        assert is_variant or name.startswith(fitting) or (name.startswith("insight.") and name.endswith(".say")), name
    assert not english.lists.keys() - parsed_lists(file_texts("ko", "talk")["words.txt"]).keys()
    used = {template.act for templates in korean.rules.values() for template in templates}
    assert used - {""} <= ACTS


def _slots(noun: str) -> dict[str, str]:
    plain = (
        "x",
        "xs",
        "y",
        "z",
        "you",
        "me",
        "topic",
        "other",
        "thing",
        "event",
        "place",
        "undone",
        "topics",
        "what",
        "text",
    )
    doing = KO.doing("국물 내기")
    slots = dict.fromkeys(plain, noun)
    slots |= {
        "at": f"{noun}에서",
        "when": "오늘 아침",
        "time": "저녁 일곱 시",
        "sky": "비",
        "day": "목요일",
        "on": "목요일에",
        "do": "국물 내기",
        **doing,
    }
    return slots | {
        **dict.fromkeys(("tell", "news", "text", "low_text"), "솥이 오래 살아요."),
        "report": "솥이 오래 산대", "quote": "솥이 오래 살아요.",
        "past": "불이 꺼졌", "why": "아직 차가워", **KO.state("고장 나 있다", 60),
    }  # fmt: skip


def _every(rules: Grammar, noun: str) -> list[tuple[str, str]]:
    """All templates, filled."""
    slots = _slots(noun)
    return [
        (name, KO.joined("".join(slots[one] if odd % 2 else one for odd, one in enumerate(template.pieces))))
        for name, templates in rules.rules.items()
        if name in OWN
        for template in templates
    ]


@pytest.mark.parametrize("level", ["polite", "plain"])
@pytest.mark.parametrize("noun", ["국수", "솥", "물", "Mira", "Kim", "10", "순자 할머니"])
def test_every_rule_expands_without_a_hole_and_with_its_particles_decided(noun: str, level: str) -> None:
    for name, text in _every(grammar("ko", level), noun):
        assert text and not re.search(r"[(){}|~]|\s\s", text), (name, text)
        assert noun.isascii() or not LATIN.search(text), (name, text)


def test_nothing_that_is_said_to_a_friend_is_polite() -> None:
    for name, text in _every(grammar("ko", "plain"), "솥"):
        assert not POLITE_END.search(text.replace("필요", "").replace("솥이 오래 살아요", "")), (name, text)
        assert not re.search(r"(?<![가-힣])(?:저는|제가|저도|저희|저를)(?![가-힣])", text), (name, text)


def test_nothing_that_is_said_politely_calls_the_hearer_you() -> None:
    for name, text in _every(grammar("ko", "polite"), "솥"):
        if not name.startswith(("insight", "question", "reason", "relate", "duet", "wish")):
            assert not PLAIN_WORD.search(text), (name, text)


def test_a_formal_speaker_is_not_spelt_out_in_korean() -> None:
    assert grammar("ko").word("bye.later", FORMAL, {"place": "광장", "time": "세 시"}, Dice((3,))).text


# ── verbs and levels ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("stem", "form", "past", "future"),
    [
        ("가", "가", "갔", "갈"),
        ("국물을 내", "국물을 내", "국물을 냈", "국물을 낼"),
        ("먹", "먹어", "먹었", "먹을"),
        ("보", "봐", "봤", "볼"),
        ("마시", "마셔", "마셨", "마실"),
        ("쓰", "써", "썼", "쓸"),
        ("고프", "고파", "고팠", "고플"),
        ("부르", "불러", "불렀", "부를"),
        ("고르", "골라", "골랐", "고를"),
        ("들르", "들러", "들렀", "들를"),
        ("손질하", "손질해", "손질했", "손질할"),
        ("라디오 듣", "라디오 들어", "라디오 들었", "라디오 들을"),
        ("받", "받아", "받았", "받을"),
        ("굽", "구워", "구웠", "구울"),
        ("돕", "도와", "도왔", "도울"),
        ("뽑", "뽑아", "뽑았", "뽑을"),
        ("짓", "지어", "지었", "지을"),
        ("씻", "씻어", "씻었", "씻을"),
        ("만들", "만들어", "만들었", "만들"),
        ("모으", "모아", "모았", "모을"),
        ("되", "돼", "됐", "될"),
        ("쉬", "쉬어", "쉬었", "쉴"),
        ("놓", "놓아", "놓았", "놓을"),
    ],
)
def test_verbs_take_their_forms(stem: str, form: str, past: str, future: str) -> None:
    assert (conjugation.informal(stem), conjugation.past(stem), conjugation.future(stem)) == (form, past, future)


@pytest.mark.parametrize(
    ("polite", "plain"),
    [
        ("저는 어제 봤어요.", "나는 어제 봤어."),
        ("제가 할게요. 약속해요!", "내가 할게. 약속해!"),
        ("국수예요. 떡이에요. 아니에요.", "국수야. 떡이야. 아니야."),
        ("그렇죠? 들어오세요.", "그렇지? 들어와."),
        ("뭐 드셨어요? 어디 가셨어요?", "뭐 먹었어? 어디 갔어?"),
        ("네, 알아요. 네?", "응, 알아. 응?"),
        ("좋군요.", "좋구나."),
        ("제 시간은 제 거예요.", "제 시간은 내 거야."),
        ("고요. 필요.", "고요. 필요."),
        ("월세요? 일 년에 두 장이요.", "월세? 일 년에 두 장."),
        ("저희 가게에 오세요.", "우리 가게에 와."),
        ("저기 저 집이 저한테 팔렸어요.", "저기 저 집이 나한테 팔렸어."),
    ],
)
def test_a_polite_line_is_said_to_a_friend(polite: str, plain: str) -> None:
    assert to_a_friend(polite) == plain
    assert to_a_friend(plain) == plain


def test_who_is_honoured_in_a_statement_stays_so() -> None:
    assert KO.said("할머니가 솥을 안 받으세요.", "plain") == "할머니가 솥을 안 받으셔."


@pytest.mark.parametrize(
    ("plain", "polite"),
    [
        ("나는 은행까지 그만두고 왔어.", "저는 은행까지 그만두고 왔어요."),
        ("로제는 크림수프야.", "로제는 크림수프예요."),
        ("꼭 갚을 거야.", "꼭 갚을 거예요."),
        ("꼭 갚을게요.", "꼭 갚을게요."),
    ],
)
def test_a_plain_line_of_an_author_is_said_politely(plain: str, polite: str) -> None:
    assert to_an_elder(plain) == polite


@pytest.mark.parametrize(
    ("sentence", "doing"),
    [
        ("한미정은 이번 달에 저녁 메뉴를 늘려 보려고 한다.", "저녁 메뉴를 늘려 보기"),
        ("한미정은 멈춘 날의 이야기를 모으려고 한다.", "멈춘 날의 이야기를 모으기"),
        ("한미정은 새 옷을 입으려고 마음먹었다.", "새 옷을 입기"),
        ("한미정은 맛을 아는 사람을 찾아가 물어보기로 했다.", "맛을 아는 사람을 찾아가 물어보기"),
        ("한미정은 국수를 만다.", ""),
        ("서지우는 찻집을 열려고 한다.", ""),
    ],
)
def test_what_somebody_intends_is_read_from_a_sentence(sentence: str, doing: str) -> None:
    assert KO.intended(sentence, "한미정") == doing


@pytest.mark.parametrize(
    ("sentence", "topic"),
    [
        ("오늘 저녁 여섯 시에 느티나무 골목에서 등불 축제가 열린다.", "등불 축제"),
        ("국물 내기", "국물"),
        ("갈치를 토막 내는 중", "토막"),
        ("누구한테 말하기 전에는 노래 생각을 못 놓을 것 같아요.", ""),
    ],
)
def test_what_a_sentence_is_about_is_named(sentence: str, topic: str) -> None:
    assert KO.noun_phrase(sentence) == topic


@examples(200)
@given(HANGUL_NAMES)
def test_any_name_is_called_by_its_last_sound(name: str) -> None:
    called = resolved(f"{name}아(야)")
    assert called == name + ("아" if conjugation.final(name[-1]) else "야")
    assert "(" not in resolved(f"{name}은(는) {name}(으)로 {name}(이)랑 {name}(이)에요")


@pytest.mark.parametrize(
    ("line", "act"),
    [
        ("안녕하세요!", "greet"),
        ("요즘 어떻게 지내?", "ask.well"),
        ("뭐 하고 있었어?", "ask.doing"),
        ("이따 축제에 올 거지?", "ask.going"),
        ("오늘 여섯 시에 등불 축제를 해. 같이 갈래?", "invite"),
        ("좋아, 갈게.", "accept"),
        ("미안, 이번엔 못 가.", "decline"),
        ("글쎄, 생각해 볼게.", "hesitate"),
        ("도와줘서 고마워요.", "thank"),
        ("어제 일은 미안했어.", "apologise"),
        ("이번 주에 지붕을 고치려고 해요. 꼭 할 거예요.", "intend"),
        ("요즘 너무 힘들고 걱정이 많아.", "complain"),
        ("철수 봤어요?", "ask.seen"),
        ("누가 그래?", "ask.who"),
        ("왜 그렇게 생각해?", "ask.why"),
        ("상관 마.", "snub"),
        ("그만 갈게. 내일 봐.", "farewell"),
        ("수도꼭지에서 밤새 물이 떨어지는 소리가 들렸는데 아무도 몰랐대.", "tell"),
    ],
)
def test_words_that_a_person_types_are_understood(line: str, act: str) -> None:
    assert heard(Spoken(speaker="you", called="", text=line), "ko").act == act


# ── a day in an alley ────────────────────────────────────────────────────────────────────────────────────────────────

LEVELS = {
    ("sunja", "cheolsu"): "plain",
    ("cheolsu", "sunja"): "polite",
    ("cheolsu", "younghee"): "plain",
    ("younghee", "cheolsu"): "plain",
    ("sunja", "bom"): "plain",
    ("bom", "sunja"): "polite",
    ("younghee", "bom"): "plain",
    ("sunja", "younghee"): "plain",
    ("younghee", "sunja"): "polite",
    ("bom", "younghee"): "plain",
    ("cheolsu", "bom"): "plain",
    ("bom", "cheolsu"): "polite",
}


@cache
def _lived(text: str, stage: Stage, ticks: int, seed: int = 7) -> list[dict[str, Any]]:
    """Everything that happened, with who did it."""
    scenario = compiled_from_text(text, "golmok")
    live_state, _ = initial_state(scenario, seed)
    engine = Lockstep(
        Characters(live_state, stage, Driver(OfflineMind(scenario.language), NoJournal(), seed, durable=False))
    )
    loop = asyncio.new_event_loop()
    try:
        events: list[dict[str, Any]] = []
        for _ in range(ticks):
            one = loop.run_until_complete(engine.run_tick())
            engine.apply(one)
            events += [{"type": event.type, "who": event.agent_id, **event.body.plain()} for event in one.tick.events]
    finally:
        loop.close()
    return events


def _day() -> list[dict[str, Any]]:
    return _lived(GOLMOK, TOWN, 150)


def _lines(events: list[dict[str, Any]] | None = None) -> list[tuple[str, str, str]]:
    said = [event for event in events or _day() if event["type"] == "SAY"]
    return [(str(one["who"]), str(one["to_agent_id"]), str(one["utterance"])) for one in said]


def test_a_korean_day_has_no_english_in_it() -> None:
    assert len(_lines()) > 40
    for event in _day():
        texts = [str(event.get(key, "")) for key in ("utterance", "doing", "reason", "do")]
        assert not any(LATIN.search(text) or "(" in text for text in texts), event


def test_each_speaks_to_each_at_one_level() -> None:
    for who, to, line in _lines():
        is_polite = bool(POLITE_END.search(line))
        assert not (is_polite and LEVELS[who, to] == "plain"), (who, to, line)
        assert not (LEVELS[who, to] == "polite" and PLAIN_WORD.search(line)), (who, to, line)
    polite = [line for who, to, line in _lines() if LEVELS[who, to] == "polite"]
    assert sum(bool(POLITE_END.search(line)) for line in polite) > 0.9 * len(polite)


def test_nobody_says_a_line_twice_to_the_same_person() -> None:
    assert len(set(_lines())) == len(_lines())


def test_news_spreads_in_korean_and_is_acted_on() -> None:
    told = [event for event in _day() if event["type"] == "SAY" and event.get("facts")]
    assert len({(event["who"], event["to_agent_id"]) for event in told}) >= 3
    plans = [str(event["reason"]) for event in _day() if event["type"] == "PLAN_CHANGED"]
    assert any("등불 축제" in reason for reason in plans)


# ── a duet ───────────────────────────────────────────────────────────────────────────────────────────────────────────


THINGS = {"ko": ("간판", "물감", "국수", "솥", "무릎", "숙제"), "en": ("sign", "paint", "soup", "pot", "knee", "song")}
LINE = {"ko": "{} 얘기는 아직 아무한테도 안 했어요.", "en": "I haven't told anybody about the {} yet."}
NAMES = {"ko": (("김철수", "철수"), ("이영희", "영희")), "en": (("Max Reed", "Max"), ("June Hill", "June"))}


def _friend(language: str, number: int) -> dict[str, Any]:
    name, called = NAMES[language][number]
    return {
        "id": f"friend{number}", "name": name, "called": called, "age": 33, "work": "간판장이",
        "traits": ["다정한", "warm"], "background": "…", "goals": ["가게를 지킨다"], "home": "shop", "routine": [],
        "relations": [{"to": f"friend{1 - number}", "label": "친구", "warmth": 50}],
        "memories": [
            {"text": f"{name}: {LINE[language].format(thing)}", "topic": thing, "tell": [LINE[language].format(thing)]}
            for thing in THINGS[language][3 * number : 3 * number + 3]
        ],
    }  # fmt: skip


def _stage(language: str) -> str:
    """Two friends with three things each to talk about, on a stage."""
    document = {
        "name": "two", "language": language, "stage": "duet", "cognition": {"k": 8},
        "clock": {"start": "2031-10-04T06:00:00", "tick_minutes": 1},
        "world": {"root": {"id": "shop", "name": "가게"}},
        "characters": [_friend(language, 0), _friend(language, 1)],
    }  # fmt: skip
    return json.dumps(document, ensure_ascii=False)


@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_duet_goes_on_without_a_line_said_twice_and_keeps_to_its_promises(language: str) -> None:
    events = _lived(_stage(language), DUET, 60)
    lines = _lines(events)
    assert len(lines) == 60
    assert len(set(lines)) == len(lines)
    acts = [event["speech_act"] for event in events if event["type"] == "SAY"]
    assert "intend" in acts
    assert "farewell" not in acts
    if language == "ko":
        assert not any(POLITE_END.search(line) for _, _, line in lines)
