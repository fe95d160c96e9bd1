"""Korean said another way: other spacing, other particles, another word order."""

from __future__ import annotations

import numpy as np
import pytest

from commonplace.memory import Analyser, HashedEmbedder, MemoryStream, policies
from memory.naive import START, hours

PAIRS = (
    ("회의실 예약은 어떻게 하나요?", "회의실예약 방법을 알고 싶어요"),
    ("민수가 카페에서 커피를 마신다", "커피를 카페에서 마시는 민수"),
    ("도서관은 몇 시에 문을 닫나요?", "도서관 문 닫는 시간"),
    ("영희에게 선물을 주었다", "선물은 영희한테 줬다"),
    ("축제 준비 위원회가 광장에 모였다", "광장에서 축제준비위원회 모임이 있었다"),
    ("할머니의 된장찌개 맛이 그립다", "그리운 할머니 된장찌개"),
    ("빵집 주인이 새 오븐을 샀다", "새 오븐은 빵집 주인의 것이다"),
    ("우체국에 소포를 부치러 갔다", "소포 부치려고 우체국에 다녀왔다"),
    ("지우는 시장 선거에 나가기로 했다", "시장선거에 지우가 나간다"),
    ("강아지가 공원에서 길을 잃었다", "공원에서 잃어버린 강아지"),
    ("병원 예약을 다음 주로 미뤘다", "다음주로 미룬 병원예약"),
    ("하린이 그림 전시회를 열었다", "그림전시회를 연 하린"),
    ("버스 정류장에 우산을 두고 왔다", "우산은 버스정류장에 있다"),
    ("선생님이 숙제를 많이 내주셨다", "숙제가 많다고 선생님께 말했다"),
    ("기타 연습을 매일 저녁 한다", "매일 저녁마다 기타연습"),
    ("도윤은 등산 동호회에 가입했다", "등산동호회 회원이 된 도윤"),
    ("냉장고에 우유가 떨어졌다", "우유가 냉장고에 없다"),
    ("비밀번호를 잊어버려서 로그인을 못 한다", "로그인 비밀번호 잊어버렸어요"),
    ("서연이 결혼 소식을 전했다", "결혼소식을 서연에게서 들었다"),
    ("텃밭에 토마토를 심었다", "토마토 심은 텃밭"),
    ("환불 규정을 알려 주세요", "환불규정이 궁금합니다"),
    ("극장에서 연극 연습을 한다", "연극연습은 극장에서"),
    ("자전거 바퀴에 구멍이 났다", "구멍 난 자전거바퀴"),
    ("아버지는 낚시를 좋아하신다", "낚시 좋아하는 아버지"),
    ("새벽 기차를 타고 부산에 간다", "부산 가는 새벽기차"),
    ("편의점 아르바이트를 그만두었다", "그만둔 편의점아르바이트"),
    ("고양이가 창문 옆에서 잔다", "창문옆에서 자는 고양이"),
    ("수학 시험에서 백 점을 받았다", "백점 받은 수학시험"),
    ("이사 날짜가 토요일로 정해졌다", "토요일이 이사날짜다"),
    ("은행 대출 이자가 올랐다", "은행대출 이자 인상"),
    ("동생은 피아노를 배우고 싶어 한다", "피아노 배우고 싶은 동생"),
    ("한강에서 불꽃놀이를 구경했다", "불꽃놀이 구경은 한강에서"),
    ("여권 사진을 다시 찍어야 한다", "다시 찍은 여권사진"),
    ("마을 회관 지붕이 샌다", "지붕 새는 마을회관"),
)


@pytest.mark.parametrize("turned", [False, True])
def test_the_same_said_another_way_is_nearer_than_anything_else(turned):
    asked, kept = (list(side) for side in (zip(*PAIRS, strict=True)))
    if turned:
        asked, kept = kept, asked
    embedder = HashedEmbedder()
    one, other = (directions(embedder.embed(side)) for side in (asked, kept))
    nearest = (one @ other.T).argmax(axis=1)
    missed = [asked[place] for place in range(len(PAIRS)) if nearest[place] != place]
    assert missed == []


def directions(vectors) -> np.ndarray:
    matrix = np.array(vectors, dtype=np.float64)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


@pytest.mark.parametrize("turned", [False, True])
def test_recall_finds_what_was_said_another_way(turned):
    stream = MemoryStream("지우", policies.RECALL, analyser=Analyser("ko"))
    sides = [(kept, asked) if turned else (asked, kept) for asked, kept in PAIRS]
    for place, (_, kept) in enumerate(sides):
        stream.remember(kept, at=hours(24.0 * place), importance=5)
    found = {asked: stream.recall(asked, at=hours(2000), k=1, touch=False)[0].memory.text for asked, _ in sides}
    assert [asked for asked, kept in sides if found[asked] != kept] == []


def test_who_is_named_is_found_whatever_particle_follows():
    stream = MemoryStream("지우", policies.RECALL, analyser=Analyser("ko"))
    for speaker in ("민수", "영희"):
        stream.remember(f"{speaker}: 어제 시장에서 사과를 샀어", at=START, importance=5)
    for question in ("민수는 무엇을 샀나요?", "민수가 산 것", "시장에서 민수에게 무슨 일이 있었지?"):
        (hit,) = stream.recall(question, at=hours(1), k=1, touch=False)
        assert hit.memory.text.startswith("민수")
        assert hit.parts["named"].raw == 1
