"""What a graph of questions costs at a size, what it finds, and what it learns.

    python benchmarks/query_graph.py [--json] [--sizes 1000,100000] [--edges 10] [--no-month]

Questions are made from Korean and English words and turns of phrase, as people ask an office assistant or a character
of a town; no two are equal. The exact scan is the measure: every search is made by both, and the results compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from random import Random
from typing import NamedTuple

BAR_MS = 5.0
BAR_FILE_S = 10.0
START = datetime(2031, 10, 4, 6, tzinfo=UTC)


class Figure(NamedTuple):
    """One line of output."""

    what: str
    nodes: int
    value: float
    unit: str
    bar: float | None = None


# ── questions like real ones ────────────────────────────────────────────────────────────────────────────────────────

_KO_WHO = (
    *(
        "민수",
        "지은",
        "하늘",
        "서준",
        "유나",
        "도윤",
        "이사벨라",
        "마리아",
        "클라우스",
        "김 부장",
        "박 대리",
        "최 과장",
        "팀장님",
        "할머니",
        "옆집 아저씨",
    ),
    *("신입 사원", "경비 아저씨", "카페 사장", "우리 누나", "담임 선생님"),
)
_KO_WHERE = (
    *(
        "회의실",
        "3층 휴게실",
        "시청 앞 광장",
        "강남역",
        "도서관",
        "구내식당",
        "지하 주차장",
        "옥상 정원",
        "호수 공원",
        "본사 로비",
        "부산 지사",
    ),
    *(
        "중앙 시장",
        "초등학교 운동장",
        "병원 응급실",
        "버스 터미널",
        "한강 공원",
        "동네 빵집",
        "세탁소",
        "공항 라운지",
        "체육관",
    ),
)
_KO_WHAT = (
    *(
        "법인카드 영수증",
        "연차 신청서",
        "출입증",
        "프린터 토너",
        "노트북 충전기",
        "여름휴가 일정",
        "주간 보고서",
        "생일 파티",
        "벚꽃 축제",
        "신제품 발표회",
    ),
    *(
        "고객 명단",
        "급여 명세서",
        "비밀번호",
        "공유 폴더",
        "택배 상자",
        "저녁 식사",
        "독서 모임",
        "축구 경기",
        "전시회 입장권",
        "인터넷 요금제",
    ),
    *(
        "감자 수프 조리법",
        "건강 검진 결과",
        "중고 자전거",
        "치과 진료",
        "아파트 관리비",
        "기차표",
        "영어 수업",
        "재택근무 규정",
        "서버 점검",
        "회식 장소",
    ),
)
_KO_DO = (
    *(
        "예약",
        "취소",
        "변경",
        "확인",
        "신청",
        "구매",
        "수리",
        "반납",
        "공유",
        "준비",
        "환불",
        "등록",
        "재설정",
        "연장",
        "추천",
        "삭제",
        "복구",
        "제출",
    ),
)
_KO_END = (
    *(
        "하려면 어떻게 해야 하나요?",
        "하는 방법을 알려 주세요",
        "은 누구한테 물어봐야 하죠?",
        "할 수 있을까요?",
        "하고 싶은데 어디로 가면 되나요?",
    ),
    *(
        "은 언제까지 가능한가요?",
        "했다는데 사실이야?",
        "하기로 한 거 기억나?",
        "에 돈이 얼마나 들어?",
        "때문에 문제가 생겼어, 도와줄래?",
        "은 왜 안 되는 거예요?",
    ),
)
_KO_WHEN = (
    *(
        "내일 오후 세 시에",
        "다음 주 월요일까지",
        "어제 저녁에",
        "이번 달 말에",
        "10월 4일 오전에",
        "점심시간 전에",
        "작년 겨울에",
        "방금",
        "주말에",
        "퇴근하고",
    ),
)
_EN_WHO = (
    *(
        "Maria",
        "Klaus",
        "the new intern",
        "my manager",
        "Isabella",
        "the landlord",
        "Tom from accounting",
        "Dr. Lee",
        "our neighbour",
        "the barista",
    ),
    *(
        "Sam",
        "Adam",
        "Mei",
        "the night guard",
        "Eddy's mother",
        "Professor Park",
        "the mayor",
        "John",
        "Ayesha",
        "the plumber",
    ),
)
_EN_WHERE = (
    *(
        "the third-floor meeting room",
        "Hobbs Cafe",
        "the town library",
        "the loading dock",
        "the Busan office",
        "the supply store",
        "Johnson Park",
    ),
    *(
        "the dentist's on Oak Street",
        "the college dorm",
        "the server room",
        "the farmers' market",
        "platform nine",
        "the rooftop garden",
        "the pharmacy",
    ),
)
_EN_WHAT = (
    *(
        "the quarterly expense report",
        "a parking permit",
        "the Valentine's party",
        "my health insurance card",
        "the projector",
        "the wifi password",
        "a bug in the login page",
    ),
    *(
        "the sourdough starter",
        "the museum tickets",
        "the lost umbrella",
        "the team retreat",
        "her research on gentrification",
        "the heating bill",
        "the invoice from March",
    ),
    *(
        "the chess club",
        "the broken dishwasher",
        "vacation days",
        "the book I lent out",
        "the election",
        "a birthday cake",
        "the return label",
        "the piano lesson",
    ),
)
_EN_ASK = (
    *(
        "How do I get {what} to {where}?",
        "Has {who} heard about {what}?",
        "When does {who} go to {where} {when}?",
        "Why did {who} forget {what} {when}?",
    ),
    *(
        "Can you remind me to ask {who} about {what} {when}?",
        "What did {who} say about {what} at {where}?",
        "Who is responsible for {what} at {where}?",
    ),
    *(
        "Is it true that {who} and {other} met at {where} {when}?",
        "Where can I pick up {what} {when}?",
        "How much does {what} cost at {where}?",
    ),
    *(
        "What should I tell {who} if {what} is late {when}?",
        "Do you think {who} will bring {what} to {where}?",
        "Could {other} cancel {what} before {who} arrives {when}?",
    ),
)
_EN_WHEN = (
    *(
        "tomorrow at three",
        "before lunch",
        "last winter",
        "on Monday",
        "by the end of the month",
        "yesterday evening",
        "next Thursday",
        "this weekend",
        "after work",
        "in October",
    ),
)


def questions(seed: int) -> Iterator[str]:
    """Questions without end, three in five of them Korean; no two are equal."""
    random = Random(seed)
    given: set[str] = set()
    while True:
        text = _korean(random) if random.random() < 0.6 else _english(random)
        if text not in given:
            given.add(text)
            yield text


def _korean(random: Random) -> str:
    parts = [
        random.choice(_KO_WHEN) if random.random() < 0.5 else "",
        random.choice(_KO_WHO) + random.choice(("가", "랑", "한테", " 대신", "도")) if random.random() < 0.6 else "",
        random.choice(_KO_WHERE) + random.choice(("에서", "에", "까지", " 앞에서", "로"))
        if random.random() < 0.5
        else "",
        random.choice(_KO_WHAT) + (f" {random.randint(2, 90)}개" if random.random() < 0.15 else ""),
        random.choice(_KO_DO) + random.choice(_KO_END),
    ]
    return " ".join(part for part in parts if part)


def _english(random: Random) -> str:
    who, other = random.sample(_EN_WHO, 2)
    where, what, when = random.choice(_EN_WHERE), random.choice(_EN_WHAT), random.choice(_EN_WHEN)
    text = random.choice(_EN_ASK).format(who=who, other=other, where=where, what=what, when=when)
    if random.random() < 0.2:
        text = f"{random.choice(('Sorry, one more thing:', 'Quick question:', 'Hey,', 'By the way,'))} {text}"
    return text + (f" (room {random.randint(1, 400)})" if random.random() < 0.15 else "")
