"""What a graph of questions costs at a size, what it finds, and what it learns.

    python benchmarks/query_graph.py [--json] [--sizes 1000,100000] [--edges 10] [--no-month]

Questions are made from Korean and English words and turns of phrase, as people ask an office assistant or a character
of a town; no two are equal. The exact scan is the measure: every search is made by both, and the results compared.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from commonplace.querygraph import GraphConfig, HashedNgrams, QueryGraph, canonical_key
from commonplace.querygraph.graph import micros, query_id
from commonplace.querygraph.search import ExactScan

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


# ── size ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def filled(size: int, edges: int, path: Path) -> list[str]:
    """Write a graph of so many questions and edges each; returns more questions, which it does not hold."""
    random = Random(size)
    more = questions(size)
    texts = [next(more) for _ in range(size)]
    moment = micros(START)
    nodes = [
        {
            "id": query_id(canonical_key(text)),
            "type": "query",
            "text": text,
            "canonical_key": canonical_key(text),
            "created_at": moment + place,
            "last_access": moment + place * 10_000,
            "pinned": False,
            "carried_degree": 0,
            "weights": {
                "repeat": float(1 + int(random.expovariate(1))),
                "feedback": random.choice((0.0, 0.0, 1.0, -1.0)),
            },
        }
        for place, text in enumerate(texts)
    ]
    nodes = list({node["id"]: node for node in nodes}.values())
    ends: set[tuple[int, int]] = set()
    while len(ends) < size * edges:
        one, other = random.randrange(len(nodes)), random.randrange(len(nodes))
        if one != other:
            ends.add((one, other))
    rows = [[one, "similar_to", other, random.uniform(0.75, 0.99), moment, moment] for one, other in sorted(ends)]
    config = GraphConfig(max_nodes=size, max_edges=size * edges, enable_inverted_index=True)
    header = QueryGraph(config).to_snapshot() | {"embedder_state": {"kind": "none"}, "nodes": nodes, "edges": rows}
    QueryGraph.from_snapshot(header, embedder=HashedNgrams(), clock=lambda: START).save(path)
    return [next(more) for _ in range(900)]


def measured(size: int, edges: int) -> Iterator[Figure]:
    """What it costs at a size, with both budgets full: every new question evicts one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.json"
        asked = filled(size, edges, path)
        gc.collect()
        before = resident()
        started, worked = time.perf_counter(), time.process_time()
        graph = QueryGraph.load(path, clock=lambda: START + timedelta(days=1))
        yield Figure("load", size, time.perf_counter() - started, "s", BAR_FILE_S)
        yield Figure("load, processor", size, time.process_time() - worked, "s")
        gc.collect()
        yield Figure("memory a node, with its edges", size, (resident() - before) / size, "bytes")
        yield Figure("snapshot file a node", size, path.stat().st_size / size, "bytes")
        started, worked = time.perf_counter(), time.process_time()
        graph.save(path, only_if_dirty=False)
        yield Figure("save", size, time.perf_counter() - started, "s", BAR_FILE_S)
        yield Figure("save, processor", size, time.process_time() - worked, "s")
        scan = QueryGraph.load(path, clock=lambda: START + timedelta(days=1), index=ExactScan)
        some = asked[:60]
        equal = sum(graph.search(text, k=10) == scan.search(text, k=10) for text in some)
        yield Figure("searches equal to the scan's", size, equal / len(some), "share", 1.0)
        by_index = timed(lambda text: graph.search(text, k=5), asked[:400], times=3)
        by_scan = timed(lambda text: scan.search(text, k=5), some, times=3)
        yield Figure("search, index, median", size, by_index[0], "ms", BAR_MS)
        yield Figure("search, index, 95th percentile", size, by_index[1], "ms")
        yield Figure("search, index, processor", size, by_index[2], "ms")
        yield Figure("search, scan, median", size, by_scan[0], "ms")
        yield Figure("scan over index", size, by_scan[0] / by_index[0], "ratio")
        new = timed(graph.upsert_query, asked[400:])
        yield Figure("upsert, budgets full, median", size, new[0], "ms", BAR_MS)
        yield Figure("upsert, 95th percentile", size, new[1], "ms")
        yield Figure("upsert, processor", size, new[2], "ms")
        again = timed(graph.upsert_query, asked[400:])
        yield Figure("upsert of a known question, median", size, again[0], "ms")
        assert graph.stats().nodes <= size


def timed(act: Callable[[str], object], texts: list[str], *, times: int = 1) -> tuple[float, float, float]:
    """(median, 95th percentile, median of the processor's time) in ms; of each text the fastest of `times`."""
    walls: list[float] = []
    works: list[float] = []
    for text in texts:
        wall = work = float("inf")
        for _ in range(times):
            started, worked = time.perf_counter(), time.process_time()
            act(text)
            wall, work = min(wall, time.perf_counter() - started), min(work, time.process_time() - worked)
        walls.append(1e3 * wall)
        works.append(1e3 * work)
    return median(walls), sorted(walls)[int(0.95 * len(walls))], median(works)


def resident() -> int:
    """Bytes of memory that the process holds now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


# ── a month of questions ────────────────────────────────────────────────────────────────────────────────────────────

_WORDINGS = (
    *(
        "{what} {do}은 어떻게 하나요?",
        "{what} {do}을 어떻게 하나요?",
        "{what} {do} 어떻게 해요?",
        "{what}은 어떻게 {do}하나요?",
    ),
    *(
        "{what} {do} 방법을 알려 주세요.",
        "어떻게 {what} {do}을 하나요?",
        "{what}{do}은어떻게하나요",
        "혹시 {what} {do}은 어떻게 하나요?",
    ),
)
_CANDIDATES = 4
"""Answers that could be given to a question about a topic; the first is good, the others are not."""
_NOISE = 0.2
"""Share of thumbs that say the opposite of what is so."""


def month(seed: int, *, learning: bool, days: int = 30, a_day: int = 40) -> list[float]:
    """Day → the share of questions for which the answer ranked first was a good one.

    People ask about 30 topics, some far more often than others, in eight wordings. The first of `best_answers` to
    similar questions is given; where there is none or it was received badly, and one time in ten anyway, one of four
    is made up, one of which is good. The thumb that follows is wrong one time in five. Without learning, no thumbs
    are recorded.
    """
    random = Random(seed)
    now = START
    graph = QueryGraph(GraphConfig.agent(), clock=lambda: now)
    topics = [(what, random.choice(_KO_DO)) for what in _KO_WHAT]
    weights = [1 / (place + 2) for place in range(len(topics))]
    shares: list[float] = []
    for _ in range(days):
        good = 0
        for _ in range(a_day):
            now += timedelta(minutes=15)
            (topic,) = random.choices(range(len(topics)), weights)
            text = random.choice(_WORDINGS).format(what=topics[topic][0], do=topics[topic][1])
            known = graph.best_answers(text, k=1, min_similarity=0.4)
            good += bool(known) and known[0].text == f"{topic}번 답 0"
            made_up = f"{topic}번 답 {random.randrange(_CANDIDATES)}"
            serves = known and known[0].feedback >= 0 and random.random() > 0.1
            said = known[0].text if serves else made_up
            query = graph.upsert_query(text)
            answer = graph.record_answer(query, said)
            if learning:
                liked = (said == f"{topic}번 답 0") != (random.random() < _NOISE)
                graph.record_feedback(query, "up" if liked else "down", answer=answer)
        shares.append(good / a_day)
        now += timedelta(hours=14)
    return shares


def learned() -> Iterator[Figure]:
    """The month, with and without learning: five-day means over ten seeds."""
    for what, learning in (("learning", True), ("no learning", False)):
        runs = [month(seed, learning=learning) for seed in range(10)]
        for first in range(0, 30, 5):
            share = sum(sum(run[first : first + 5]) for run in runs) / (5 * len(runs))
            yield Figure(f"{what}: good answers first, days {first + 1}-{first + 5}", 1000, share, "share")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--sizes", default="1000,100000", help="questions, separated by commas")
    parser.add_argument("--edges", type=int, default=10, help="edges per question")
    parser.add_argument("--no-month", action="store_true", help="leave the simulated month out")
    options = parser.parse_args()
    figures = (figure for size in options.sizes.split(",") for figure in measured(int(size), options.edges))
    for figure in chain(figures, () if options.no_month else learned()):
        if options.json:
            print(json.dumps(figure._asdict()), flush=True)
        else:
            bar = f"   bar {figure.bar:g}" if figure.bar is not None else ""
            print(f"{figure.nodes:>9,}  {figure.what:<52} {figure.value:>10.3f} {figure.unit:<6}{bar}", flush=True)


if __name__ == "__main__":
    main()
