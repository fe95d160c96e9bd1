"""Several threads, several processes, and processes that are killed: nothing acknowledged is lost, nothing breaks."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.querygraph import (
    ConversationConfig,
    ConversationMemory,
    GraphConfig,
    HashedNgrams,
    QueryGraph,
    StoredGraph,
)
from querygraph.samples import Clock, questions
from querygraph.test_properties import KINDS, do, refuse_incoherent, scripts
from sizes import PROVE, examples

ROOT = Path(__file__).parents[2]
CHILD = """
import sys
from commonplace.querygraph import StoredGraph
from querygraph.samples import questions
who, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with StoredGraph(path) as graph:
    for text in questions(count, seed=int(who)):
        query = graph.upsert_query(text)
        answer = graph.record_answer(query, "답 " + who)
        graph.record_feedback(query, "up", answer=answer)
        print(query, answer, flush=True)
"""


def child(who: int, path: Path, count: int) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}", "PYTHONIOENCODING": "utf-8"}
    arguments = [sys.executable, "-c", CHILD, str(who), str(path), str(count)]
    return subprocess.Popen(arguments, env=env, stdout=subprocess.PIPE, encoding="utf-8")


def acknowledged(lines: list[str]) -> list[tuple[str, str]]:
    """What whole lines a process printed."""
    pairs = [line.split() for line in lines if line.endswith("\n")]
    return [(pair[0], pair[1]) for pair in pairs]


@pytest.mark.parametrize("stored", [False, True])
def test_threads_lose_nothing(stored, tmp_path):
    config = GraphConfig(max_nodes=2_000, max_edges=20_000, tau_sim=0.5, enable_inverted_index=True)
    graph = StoredGraph(tmp_path / "g.db", config) if stored else QueryGraph(config)
    texts = questions(20)

    def ask(who: int) -> None:
        for text in texts:
            query = graph.upsert_query(text)
            answer = graph.record_answer(query, f"답 {who}")
            graph.record_feedback(query, "up" if who % 2 else "down", answer=answer)
            assert graph.search(text, k=1)[0].id == query
            graph.link(query, answer, "responded_with", 1.0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    queries = graph.nodes("query")
    assert sum(node.repeat for node in queries) == 8 * 20
    assert sum(node.degree >= 10 for node in queries) == 20
    for node in queries:
        answers = [edge for edge in graph.edges(node.id) if edge.type == "responded_with"]
        assert len(answers) == 8
        assert all(edge.weight == 2 for edge in answers)
    refuse_incoherent(graph)
    if isinstance(graph, StoredGraph):
        with StoredGraph(tmp_path / "g.db") as other:
            assert other.to_snapshot() == graph.to_snapshot()
        graph.close()


def test_threads_share_a_conversation_memory(tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=Clock())

    def talk(who: int) -> None:
        for number, text in enumerate(questions(10)):
            session = f"{who} {number // 5}"
            query = memory.upsert_query(session, text)
            memory.record_feedback(session, query, "up", answer=memory.record_answer(session, query, "그래."))
            memory.search(session, text)
            if number % 5 == 4:
                memory.finalize_session(session)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(talk, range(4)))
    assert memory.active_sessions() == []
    assert sum(node.repeat for node in memory.agent.nodes("query")) == 40
    assert len(list(tmp_path.glob("*.json"))) == 8
    refuse_incoherent(memory.agent)


def test_two_processes_write_one_file(tmp_path):
    path = tmp_path / "g.db"
    count = 200 if PROVE else 15
    with StoredGraph(path, GraphConfig(max_nodes=5_000, max_edges=50_000, tau_sim=0.5)) as graph:
        graph.upsert_query("처음부터 있던 질문")
        children = [child(who, path, count) for who in (1, 2)]
        while any(one.poll() is None for one in children):
            graph.upsert_query("처음부터 있던 질문")
            graph.search("도서관에서 기차표는?")
        done = [(one.returncode, acknowledged(one.stdout.readlines())) for one in children]  # pyright: ignore[reportOptionalMemberAccess]
        for one in children:
            one.communicate()
        assert [code for code, _ in done] == [0, 0]
        for _, pairs in done:
            assert len(pairs) == count
            assert all(answer in [one.id for one in graph.answers(query)] for query, answer in pairs)
        refuse_incoherent(graph)
        with StoredGraph(path) as other:
            assert other.to_snapshot() == graph.to_snapshot()


def test_a_killed_process_loses_nothing_that_it_acknowledged(tmp_path):
    path = tmp_path / "g.db"
    chance = random.Random(5)
    StoredGraph(path, GraphConfig(max_nodes=50_000, max_edges=50_000)).close()
    for who in range(30 if PROVE else 2):
        process = child(who, path, 5_000)
        out = process.stdout
        assert out is not None
        lines = [out.readline() for _ in range(chance.randrange(1, 30))]
        os.kill(process.pid, signal.SIGKILL)
        lines += out.readlines()
        process.communicate()
        with StoredGraph(path) as graph:
            for query, answer in acknowledged(lines):
                assert [one.id for one in graph.answers(query) if one.id == answer] == [answer]
            refuse_incoherent(graph)


@given(scripts(*KINDS, "delete"), st.booleans())
@examples(40)
def test_two_handles_of_a_file_agree_after_every_step(tmp_path_factory, script, swap):
    path = tmp_path_factory.mktemp("stored") / "g.db"
    clock = Clock()
    config = GraphConfig(max_nodes=8, max_edges=14, tau_sim=0.3)
    alone = QueryGraph(config, clock=clock)
    with StoredGraph(path, config, clock=clock) as one, StoredGraph(path, clock=clock) as other:
        for number, step in enumerate(script):
            for graph in (alone, one if number % 2 == swap else other):
                try:
                    do(graph, clock if graph is alone or step[0] != "wait" else Clock(), step)
                except CommonplaceError as error:
                    assert "no room" in str(error)
            refuse_incoherent(other)
            assert one.nodes() == other.nodes() == alone.nodes()
            assert one.edges() == other.edges() == alone.edges()
        for text in questions(4):
            assert one.search(text) == other.search(text) == alone.search(text)


def test_what_fails_halfway_is_in_neither_file_nor_memory(tmp_path, monkeypatch):
    clock = Clock()
    with StoredGraph(tmp_path / "g.db", GraphConfig(tau_sim=0.2), clock=clock) as graph:
        for text in questions(5):
            graph.upsert_query(text)
        before = graph.to_snapshot()
        monkeypatch.setattr(graph, "_link", lambda *_: 1 / 0)
        query = graph.nodes()[0].id
        with pytest.raises(ZeroDivisionError):
            graph.record_answer(query, "그래.")  # the answer is there when linking it fails
        monkeypatch.undo()
        assert graph.to_snapshot() == before
        graph.record_answer(query, "그래.")
        assert graph.stats().nodes == 6


def test_settings_stay_with_the_file_and_smaller_budgets_evict(tmp_path):
    path = tmp_path / "g.db"
    with StoredGraph(path, GraphConfig(max_nodes=30), clock=Clock()) as graph:
        for text in questions(30):
            graph.upsert_query(text)
    with StoredGraph(path, GraphConfig(max_nodes=10), clock=Clock()) as graph:
        assert graph.stats().nodes == 10
    with StoredGraph(path, clock=Clock()) as graph:
        assert graph.config.max_nodes == 10
        assert graph.stats().nodes == 10


def test_what_another_process_cannot_have_seen_any_more_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("commonplace.querygraph.sqlite_store._REMEMBERED", 3)
    with StoredGraph(tmp_path / "g.db", GraphConfig(max_nodes=5)) as one, StoredGraph(tmp_path / "g.db") as other:
        one.upsert_query("왜?")
        assert other.stats().nodes == 1
        for text in questions(20):
            one.upsert_query(text)
        assert other.to_snapshot() == one.to_snapshot()


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("DELETE FROM meta WHERE name = 'change'", "change is missing"),
        ("UPDATE meta SET value = 'x' WHERE name = 'change'", "damaged"),
        ("UPDATE meta SET value = '[' WHERE name = 'settings'", "damaged"),
        ("UPDATE node SET record = '{}'", "damaged"),
        ("UPDATE node SET record = replace(record, '\"embedding\":[[', '\"embedding\":[[99999999,1],[')", "damaged"),
        ("UPDATE OR REPLACE edge SET source = 'q-'", "damaged"),
        ("UPDATE edge SET weight = -1", "damaged"),
        ("UPDATE edge SET type = 'loves'", "damaged"),
        ("DROP TABLE edge", "damaged"),
        ("PRAGMA user_version = 9", "newer Commonplace"),
        ("PRAGMA application_id = 9", "not a stored query graph"),
    ],
)
def test_a_file_that_somebody_changed_is_refused_in_words(harm, said, tmp_path):
    path = tmp_path / "g.db"
    with StoredGraph(path, GraphConfig(tau_sim=0.2)) as graph:
        for text in questions(6):
            graph.record_answer(graph.upsert_query(text), "그래.")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(harm)
        connection.commit()
    with pytest.raises(CommonplaceError, match=said) as caught:
        StoredGraph(path)
    assert str(path) in str(caught.value)


def test_another_kind_of_file_and_another_embedder_are_refused(tmp_path):
    (tmp_path / "note.txt").write_text("a note, long enough to be no header of SQLite" * 20)
    with pytest.raises(UsageError, match="not a stored query graph"):
        StoredGraph(tmp_path / "note.txt")
    with pytest.raises(UsageError, match="a folder"):
        StoredGraph(tmp_path)
    StoredGraph(tmp_path / "g.db").close()
    with pytest.raises(UsageError, match="another embedder"):
        StoredGraph(tmp_path / "g.db", embedder=HashedNgrams((2, 4)))


def test_a_closed_or_deleted_file_says_so(tmp_path):
    graph = StoredGraph(tmp_path / "g.db")
    graph.close()
    graph.close()
    with pytest.raises(UsageError, match="closed"):
        graph.upsert_query("왜?")
    with StoredGraph(tmp_path / "h.db") as graph:
        (tmp_path / "h.db").unlink()
        with pytest.raises(CommonplaceError, match="deleted"):
            graph.upsert_query("왜?")


def test_the_memory_of_an_agent_can_be_stored(tmp_path):
    clock = Clock()
    config = ConversationConfig(checkpoint_folder=tmp_path)
    for hour in range(2):
        with StoredGraph(tmp_path / "maria.db", GraphConfig.agent(), clock=clock) as agent:
            memory = ConversationMemory("maria", config, agent_graph=agent, clock=clock)
            query = memory.upsert_query("s", "벚꽃 축제는 언제 열려?")
            memory.record_feedback("s", query, "up", answer=memory.record_answer("s", query, "4월 4일에."))
            memory.finalize_session("s")
            assert agent.node(query).repeat == 1 + hour
            assert memory.best_answers("t", "벚꽃축제 언제 열려?")[0].text == "4월 4일에."
            assert memory.gc_sessions(older_than=timedelta(0)) == []
