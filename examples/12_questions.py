"""A memory that learns from being asked: five questions, one more like the first, and what stays of the session.

`ConversationMemory` keeps a graph for each session and one for the agent; `docs/query-graph.md` explains it. Nothing
here needs a model: questions are compared by their characters.
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace.querygraph import ConversationConfig, ConversationMemory, GraphConfig

now = datetime(2031, 10, 6, 9, tzinfo=UTC)
TALK = (
    ("회의실 예약은 어떻게 하나요?", "사내 앱의 '회의실' 메뉴에서 합니다.", "up"),
    ("회의실예약은 어떻게하나요", "총무팀에 전화하세요.", "down"),
    ("명함은 어디에서 만들어요?", "총무팀에 신청하세요.", "up"),
    ("법인카드 영수증은 어디에 내나요?", "재무팀 우편함에 넣으면 됩니다.", "up"),
    ("주차장은 어디에 있어요?", "지하 2층입니다.", "retry"),
    ("회의실 예약은 어떻게 해요?", "사내 앱의 '회의실' 메뉴에서 합니다.", "up"),
)
ASKED = "회의실 예약을 어떻게 하나요?"


def show(title: str, memory: ConversationMemory, session: str) -> None:
    print(title)
    for hit in memory.search(session, ASKED, k=3):
        print(f"  {hit.score:.3f} {hit.source:7} {hit.text}")
    for answer in memory.best_answers(session, ASKED, k=2, min_similarity=0.5):
        print(f"  -> {answer.text} ({answer.feedback:+.2f})")


with TemporaryDirectory() as folder:
    config = ConversationConfig(session=GraphConfig(tau_sim=0.6), checkpoint_folder=Path(folder))
    memory = ConversationMemory("maria", config, clock=lambda: now)

    for text, said, thumb in TALK:
        now += timedelta(minutes=1)
        query = memory.upsert_query("monday", text)
        answer = memory.record_answer("monday", query, said)
        memory.record_feedback("monday", query, thumb, answer=answer)
        node = memory.session("monday").node(query)
        again = f", asked {node.repeat:.0f} times" if node.repeat > 1 else ""
        alike = [edge for edge in memory.session("monday").edges(query) if edge.type == "similar_to"]
        again += "".join(f", like another one ({edge.weight:.2f})" for edge in alike)
        print(f"{text}{again}; {thumb} for: {said}")

    show(f"\nin the session, {ASKED}", memory, "monday")
    show("\nin another session, before this one ends:", memory, "tuesday")

    done = memory.finalize_session("monday")
    assert done.checkpoint is not None
    print(f"\npromoted: {len(done.promoted)}; checkpoint: {done.checkpoint.name}; active: {memory.active_sessions()}")
    show("in another session, after it:", memory, "tuesday")

    later = ConversationMemory("maria", config, clock=lambda: now)
    session = later.load_checkpoint(done.checkpoint)
    show(f"\nthe session {session!r} in a later process:", later, session)
