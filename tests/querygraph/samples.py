"""Questions, and a clock that the tests move."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

START = datetime(2031, 10, 4, 6, tzinfo=UTC)
_WHO = ("마리아", "클라우스", "이사벨라", "팀장님", "민수", "옆집 아저씨", "신입 사원", "할머니")
_WHERE = ("회의실", "도서관", "호수 공원", "본사 로비", "중앙 시장", "옥상 정원", "강남역", "체육관")
_WHAT = (
    "출입증",
    "주간 보고서",
    "벚꽃 축제",
    "감자 수프 조리법",
    "법인카드 영수증",
    "건강 검진 결과",
    "기차표",
    "생일 파티",
)
_DO = (
    "예약하나요?",
    "언제 받나요?",
    "왜 늦어졌어?",
    "누가 준비해?",
    "어떻게 신청하죠?",
    "얼마예요?",
    "취소할 수 있어?",
)


class Clock:
    """Gives the time that was set."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_(self, **time: float) -> None:
        self.now += timedelta(**time)


def questions(count: int, seed: int = 1) -> list[str]:
    """Different Korean questions, many of them alike."""

    def made():
        random = Random(seed)
        while True:
            where, who = random.choice(_WHERE), random.choice(_WHO)
            number = f" {random.randint(2, 99)}번" if random.random() < 0.5 else ""
            yield f"{who} {where}에서 {random.choice(_WHAT)}{number} {random.choice(_DO)}"

    found: dict[str, None] = {}
    for text in made():
        found[text] = None
        if len(found) == count:
            return list(islice(found, count))
    raise AssertionError
