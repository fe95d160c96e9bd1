"""Who speaks to whom at which level, and what they call each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.character.persona import Persona
from commonplace.languages.ko.conjugation import FRIENDS, PLAIN, POLITE, SIBLINGS, Manner, manner
from sizes import examples


def somebody(name: str, age: int, work: str = "", called: str = "", pronoun: str = "she") -> Persona:
    return Persona(
        id=name, name=name, called=called or name[1:], age=age, pronoun=pronoun, work=work, traits=(), background="",
        goals=(), home="", routine=(), language="ko",
    )  # fmt: skip


SUNJA, MIJEONG = somebody("오순자", 72, "떡집 주인"), somebody("한미정", 44, "국숫집 요리사")
CHEOLSU, YOUNGSUK = somebody("김철수", 33, pronoun="he"), somebody("이영숙", 34, "약사")
BOM, MINSU = somebody("최봄이", 10), somebody("박민수", 30, "배달 기사", pronoun="he")


@pytest.mark.parametrize(
    ("me", "you", "label", "back", "expected"),
    [
        (CHEOLSU, YOUNGSUK, "오랜 친구", "", Manner(PLAIN, "영숙아", "영숙이")),
        (YOUNGSUK, CHEOLSU, "", "오랜 친구", Manner(PLAIN, "철수야", "철수")),
        (CHEOLSU, MINSU, "", "", Manner(POLITE, "민수 씨", "민수 씨")),
        (BOM, SUNJA, "떡집 할머니", "손주 같은 아이", Manner(POLITE, "할머니", "순자 할머니")),
        (SUNJA, BOM, "손주 같은 아이", "떡집 할머니", Manner(PLAIN, "봄이야", "봄이")),
        (MIJEONG, SUNJA, "어머니 같은 이웃", "딸 같은 이웃", Manner(POLITE, "어머니", "순자 어머니")),
        (BOM, MIJEONG, "엄마", "딸", Manner(PLAIN, "엄마", "우리 엄마")),
        (MIJEONG, BOM, "딸", "엄마", Manner(PLAIN, "봄이야", "봄이")),
        (MINSU, CHEOLSU, "동네 형", "동생", Manner(PLAIN, "형", "철수 형")),
        (MINSU, MIJEONG, "국숫집 누나", "", Manner(POLITE, "누나", "미정 누나")),
        (MINSU, MIJEONG, "", "", Manner(POLITE, "사장님", "미정 사장님")),
        (CHEOLSU, SUNJA, "", "", Manner(POLITE, "할머니", "순자 할머니")),
        (MIJEONG, SUNJA, "단골", "", Manner(POLITE, "사장님", "순자 사장님")),
        (SUNJA, MIJEONG, "이웃", "", Manner(PLAIN, "미정아", "미정이")),
        (SUNJA, MIJEONG, "", "", Manner(POLITE, "미정 씨", "미정 씨")),
        (MIJEONG, BOM, "", "", Manner(PLAIN, "봄이야", "봄이")),
        (BOM, MINSU, "", "", Manner(POLITE, "아저씨", "민수 아저씨")),
        (SUNJA, MIJEONG, "시끄러운 회장", "", Manner(POLITE, "회장님", "미정 회장님")),
    ],
)
def test_age_and_relation_decide(me: Persona, you: Persona, label: str, back: str, expected: Manner) -> None:
    assert manner(me, you, label, back) == expected


def test_a_title_in_the_short_name_stays() -> None:
    baker = somebody("오순자", 72, called="순자 할머니")
    assert manner(MINSU, baker, "", "") == Manner(POLITE, "순자 할머니", "순자 할머니")
    assert manner(somebody("박말자", 72), baker, "친구", "친구").address == "순자야"


def test_people_of_one_age_who_like_each_other_need_no_word_for_it() -> None:
    assert manner(CHEOLSU, YOUNGSUK, "동업자", "동업자", close=True).level == PLAIN
    assert manner(CHEOLSU, YOUNGSUK, "동업자", "동업자").level == POLITE
    assert manner(CHEOLSU, MIJEONG, "동업자", "동업자", close=True).level == POLITE


@examples(200)
@given(
    st.integers(18, 90),
    st.integers(0, 5),
    st.sampled_from(sorted(FRIENDS | SIBLINGS)),
    st.sampled_from(["", "이웃", *sorted(FRIENDS)]),
)
def test_friends_and_siblings_speak_alike(age: int, apart: int, label: str, back: str) -> None:
    one, other = somebody("김철수", age), somebody("이영희", age + apart)
    assert manner(one, other, label, back).level == manner(other, one, back, label).level == PLAIN
