"""Snapshot files: written whole and only if needed, the good one before kept, anything else refused in words."""

from __future__ import annotations

import copy
import json
import random
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from commonplace.errors import CommonplaceError, UsageError
from commonplace.querygraph import ConversationConfig, ConversationMemory, GraphConfig, QueryGraph
from querygraph.samples import Clock, questions
from sizes import PROVE


def made(count: int = 8) -> QueryGraph:
    graph = QueryGraph(GraphConfig(tau_sim=0.3), clock=Clock())
    graph.upsert_entity("도서관", aliases=["책방"])
    for text in questions(count):
        query = graph.upsert_query(text)
        graph.record_feedback(query, "up", answer=graph.record_answer(query, "그래."), note="좋아")
    return graph


def sealed(lines: list[Any]) -> bytes:
    """A file with the right digest, whatever is in it."""
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    return (
        content
        + json.dumps({"digest": blake2b(content, digest_size=16).hexdigest()}, separators=(",", ":")).encode()
        + b"\n"
    )


def test_only_what_changed_is_written(tmp_path):
    graph, path = made(), tmp_path / "g.json"
    assert graph.save(path)
    assert not graph.save(path)
    graph.search("왜?")
    assert not graph.save(path)
    assert graph.save(path, only_if_dirty=False)
    assert graph.save(tmp_path / "other.json")
    assert graph.save(path), "the last time, it was saved elsewhere"
    for change in (
        lambda: graph.pin(graph.nodes()[0].id),
        lambda: graph.adjust_weights(graph.nodes()[0].id, repeat_delta=1),
        lambda: graph.upsert_entity("도서관", aliases=["새 이름"]),
        lambda: graph.record_answer(graph.nodes("query")[0].id, "그래."),
    ):
        change()
        assert graph.save(path)
    loaded = QueryGraph.load(path)
    assert not loaded.save(path)
    path.unlink()
    assert loaded.save(path)


def test_the_good_one_before_is_kept_and_offered(tmp_path):
    graph, path = made(), tmp_path / "g.json"
    graph.save(path)
    before = graph.to_snapshot()
    graph.upsert_query("하나 더 물어볼게")
    graph.save(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["g.json", "g.json.previous"]
    data = path.read_bytes()
    path.write_bytes(data[:1000] + b"?" + data[1001:])
    with pytest.raises(CommonplaceError, match="damaged") as caught:
        QueryGraph.load(path)
    assert str(path) in str(caught.value)
    assert f"QueryGraph.load('{path}.previous')" in str(caught.value)
    assert QueryGraph.load(f"{path}.previous").to_snapshot() == before
    graph.save(path, only_if_dirty=False)
    assert QueryGraph.load(f"{path}.previous").to_snapshot() == before, "a damaged file is not kept as the good one"
    assert QueryGraph.load(path).to_snapshot() == graph.to_snapshot()


def test_a_save_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    graph, path = made(), tmp_path / "g.json"
    graph.save(path)
    data = path.read_bytes()
    graph.upsert_query("하나 더 물어볼게")
    monkeypatch.setattr("commonplace.querygraph.snapshots.record", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        graph.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == data
    assert [file.name for file in tmp_path.iterdir()] == ["g.json"]
    assert graph.save(path)


def test_no_flipped_or_missing_byte_goes_unnoticed(tmp_path):
    path = tmp_path / "g.json"
    made(3).save(path)
    data = path.read_bytes()
    chance = random.Random(3)
    for _ in range(400 if PROVE else 60):
        place = chance.randrange(len(data))
        flipped = bytes([data[place] ^ 1 << chance.randrange(8)])
        harmed = data[:place] + (flipped + data[place + 1 :] if chance.random() < 0.7 else b"")
        path.write_bytes(harmed)
        with pytest.raises(CommonplaceError):
            QueryGraph.load(path)


HARMS: list[tuple[str, Any]] = [
    ("version", 99),
    ("version", "1"),
    ("config", {"max_nodes": 0}),
    ("config", {"colour": "red"}),
    ("config", []),
    ("embedder_state", {"kind": "hashed-ngrams", "ngram_range": [3, 5], "dim": 10**12, "seed": 0}),
    ("embedder_state", {"kind": "hashed-ngrams"}),
    ("decayed_at", 1e300),
    ("nodes", {}),
    ("nodes/0", None),
    ("nodes/0/id", 3),
    ("nodes/1/id", "NODE0"),
    ("nodes/1/type", "question"),
    ("nodes/1/text", None),
    ("nodes/1/weights/repeat", "many"),
    ("nodes/1/weights/feedback", 10**400),
    ("nodes/1/created_at", 10**30),
    ("nodes/1/carried_degree", -1),
    ("nodes/1/embedding", [[3, 1], [2, 1]]),
    ("nodes/1/embedding", [[99_999, 1]]),
    ("nodes/1/embedding", [[1, 1, 1]]),
    ("nodes/1/embedding", "xy"),
    ("edges/0/0", -1),
    ("edges/0/0", 10_000),
    ("edges/0/0", 0.5),
    ("edges/0/1", "loves"),
    ("edges/0/2", 10**30),
    ("edges/0/3", 0),
    ("edges/0/3", "heavy"),
    ("edges/0/4", 10**30),
    ("edges/0", [1, 2]),
    ("edges/0", 7),
    ("edges/1", "SAME"),
    ("edges/0", [1, "similar_to", 1, 1.0, 0, 0]),
    ("edges/0", [0, "similar_to", 1, 1.0, 0, 0]),
]


@pytest.mark.parametrize(("where", "value"), HARMS, ids=lambda value: str(value)[:40])
def test_a_hostile_snapshot_is_refused_in_words(where, value, tmp_path):
    snapshot = json.loads(json.dumps(made(4).to_snapshot()))
    value = {"NODE0": snapshot["nodes"][0]["id"], "SAME": snapshot["edges"][0]}.get(str(value), value)
    at: Any = snapshot
    *path, last = [int(part) if part.isdigit() else part for part in where.split("/")]
    for part in path:
        at = at[part]
    at[last] = value
    with pytest.raises(CommonplaceError) as caught:
        QueryGraph.from_snapshot(copy.deepcopy(snapshot))
    assert str(caught.value)
    if isinstance(snapshot["nodes"], list):
        header = {name: part for name, part in snapshot.items() if name not in ("nodes", "edges")}
        header |= {"kind": "commonplace query graph", "node_count": len(snapshot["nodes"])}
        file = tmp_path / "g.json"
        file.write_bytes(sealed([header, *snapshot["nodes"], snapshot["edges"]]))
        with pytest.raises(CommonplaceError) as caught:
            QueryGraph.load(file)
        assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}",
        b"[1]\n",
        sealed([]),
        sealed([1]),
        sealed([{"kind": "x"}]),
        b"SQLite format 3\0",
        b'{"a":' * 9999,
    ],
)
def test_another_file_is_refused(data, tmp_path):
    (tmp_path / "g.json").write_bytes(data)
    with pytest.raises(CommonplaceError, match=r"g\.json"):
        QueryGraph.load(tmp_path / "g.json")


def test_a_missing_file_and_a_folder_are_usage_errors(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UsageError):
            QueryGraph.load(path)
        if path.is_dir():
            with pytest.raises(UsageError, match="a folder"):
                made(1).save(path)


def test_keys_of_another_version_are_made_again(tmp_path):
    graph = made(5)
    snapshot = json.loads(json.dumps(graph.to_snapshot()))
    snapshot["canonical_meta"]["norm_version"] = 0
    for node in snapshot["nodes"]:
        if node["type"] == "query":
            node["canonical_key"] = node["id"] = "old " + node["id"]
            node["embedding"] = [[0, 1]]
    again = QueryGraph.from_snapshot(snapshot, clock=Clock())
    assert [node.id for node in again.nodes()] == [node.id for node in graph.nodes()]
    assert again.search(questions(1)[0]) == graph.search(questions(1)[0])


def test_a_damaged_or_foreign_checkpoint_is_refused(tmp_path):
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path), clock=Clock())
    memory.upsert_query("one", "왜?")
    path = memory.finalize_session("one").checkpoint
    assert isinstance(path, Path)
    with pytest.raises(UsageError, match="agent 'maria'"):
        ConversationMemory("klaus").load_checkpoint(path)
    memory.load_checkpoint(path)
    with pytest.raises(UsageError, match="is active"):
        memory.load_checkpoint(path)
    assert memory.load_checkpoint(path, "two") == "two"
    data = path.read_bytes()
    for harmed in (
        data.replace(b"maria", b"klaus"),
        data[:-9],
        b"",
        b"[]",
        b"{}",
        data.replace("왜".encode(), "뭐".encode()),
    ):
        path.write_bytes(harmed)
        with pytest.raises(CommonplaceError, match="damaged"):
            memory.load_checkpoint(path, "three")
    path.unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        memory.load_checkpoint(path, "three")


def test_a_checkpoint_that_cannot_be_written_leaves_the_session_and_the_agent_as_they_were(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    memory = ConversationMemory("maria", ConversationConfig(checkpoint_folder=tmp_path / "file"), clock=Clock())
    query = memory.upsert_query("one", "왜?")
    memory.record_feedback("one", query, "up", answer=memory.record_answer("one", query, "그래."))
    with pytest.raises(CommonplaceError):
        memory.finalize_session("one")
    assert memory.active_sessions() == ["one"]
    assert memory.agent.stats().nodes == 0
    with pytest.raises(UsageError, match="without folders"):
        memory.finalize_session("one", checkpoint_name="../over.json")
    assert len(memory.finalize_session("one", checkpoint=False).promoted) == 1


def test_names_of_sessions_may_be_anything(tmp_path):
    memory = ConversationMemory("a/b", ConversationConfig(checkpoint_folder=tmp_path), clock=Clock())
    for session in ("../up", "가 나", "x" * 40, "."):
        memory.upsert_query(session, "왜?")
        path = memory.finalize_session(session).checkpoint
        assert path is not None
        assert path.parent == tmp_path
        assert memory.load_checkpoint(path) == session
