"""The folder of the JSONL store: readable by hand, mended after a crash, and honest about it."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.stores.store import Add, Archive, Forget, Restore, Revise, load
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.jsonl_files import Storage, StoreConfig, file_name
from commonplace.parts.coordinates.retention import RetentionPolicy
from commonplace.testing.stores import full, memory, same, vectors_of, write
from parts.coordinates.documents import document

FOUNDING_CONFIG = {
    "retention_policy": {
        "max_sessions": 10,
        "max_memories_per_session": 500,
        "max_total_size_mb": 100,
        "archive_after_days": 30,
        "delete_after_days": 180,
    },
    "storage": {"format": "jsonl", "compression": "none", "backup_enabled": True},
}


def lines_of(path: Path) -> list[dict]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    return [json.loads(line) for line in text.splitlines()]


def filled(folder: Path, count: int = 6, **options) -> JSONLStore:
    store = JSONLStore(folder, **options)
    for id in range(1, count + 1):
        write(store, "maria", Add([memory(id, session=f"s{id % 2}", tags=(f"t{id}",))], vectors_of(id)[-1:]))
    return store


def killed(store: JSONLStore) -> None:
    """As if the process had ended without closing: the lock is let go, the holder's number stays."""
    if store._lock is not None:
        store._lock._lock.release()
        store._lock = None
    (store.folder / "lock").write_bytes(b"1\n")


# ── the layout ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_is_laid_out_as_the_founding_document_says(tmp_path):
    store = filled(tmp_path)
    write(store, "지우", Add([memory(1, "지우")], [None]))
    write(store, "maria", Archive([2]))
    store.close()
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {
        "sessions/s0.jsonl", "sessions/s1.jsonl", "sessions/%.jsonl", "archive/s0.jsonl.gz", "index.json",
        "config.json",
    }  # fmt: skip
    first = lines_of(tmp_path / "sessions" / "s1.jsonl")[0]
    assert list(first)[:9] == [
        "memory_id", "timestamp", "time", "space", "agent", "emotion", "content", "metadata", "relations",
    ]  # fmt: skip
    assert first["content"]["response_full"] == "memory 1"
    assert first["time"]["session_id"] == "s1"
    assert re.fullmatch(r"mem_\d{8}_\d{6}_[0-9a-f]{4}", first["memory_id"])
    assert [one["memory"]["id"] for one in lines_of(tmp_path / "archive" / "s0.jsonl.gz")] == [2]


def test_the_index_says_what_is_there(tmp_path):
    store = filled(tmp_path)
    names = store.names("maria")
    write(store, "maria", Forget([1]))
    write(store, "maria", Archive([2]))
    index = json.loads((tmp_path / "index.json").read_bytes())
    assert set(index) == {
        "index_version", "last_updated", "total_memories", "keyword_index", "time_index", "persona_index",
        "importance_index",
    }  # fmt: skip
    assert index["total_memories"] == 4
    assert index["last_updated"] == "2031-10-04T06:06:00Z"
    assert index["persona_index"] == {"maria": list(names[2:])}
    assert index["keyword_index"]["t3"] == [names[2]]
    assert "t1" not in index["keyword_index"]
    assert index["time_index"] == {"2031-10-04": list(names[2:])}
    assert index["importance_index"][0]["importance"] == pytest.approx(2 / 9)
    store.close()


@pytest.mark.parametrize("damage", [None, b"", b'{"index_version": "1.0", "total', b"{}", b"\x00\xff"], ids=repr)
def test_an_index_that_is_missing_torn_or_stale_is_made_anew(tmp_path, damage):
    filled(tmp_path).close()
    index = tmp_path / "index.json"
    good = index.read_bytes()
    index.unlink() if damage is None else index.write_bytes(damage)
    store = JSONLStore(tmp_path)
    assert "index.json" in store.repairs[0]
    assert index.read_bytes() == good
    store.close()


def test_adding_does_not_write_the_whole_index_each_time(tmp_path, monkeypatch):
    store = JSONLStore(tmp_path)
    write(store, "maria", Add([memory(id) for id in range(1, 1_000)], [None] * 999))
    written: list[int] = []
    monkeypatch.setattr(store, "_write_index", lambda: written.append(1))
    for id in range(1_000, 1_500):
        write(store, "maria", Add([memory(id)], [None]))
    assert len(written) == 5
    store.close()


@given(
    st.one_of(
        st.text(), st.sampled_from(("con", "NUL.x", ".", "..", "a/b", "AGI", "agi", "x" * 400, "가" * 90, "%", "^a"))
    )
)
def test_a_session_of_any_name_has_a_safe_file(session):
    name = file_name(session)
    assert re.fullmatch(r"[a-z0-9_.%^~-]+", name)
    assert len(name) <= 120
    assert not name.startswith(".")


def test_names_that_differ_in_case_only_have_files_that_differ_in_more(tmp_path):
    names = ["AGI", "agi", "Agi", "", "%", ".", "x" * 300, "x" * 301, "con"]
    assert len({file_name(one).lower() for one in names}) == len(names)
    store = JSONLStore(tmp_path)
    write(store, "maria", Add([memory(id, session=one) for id, one in enumerate(names, start=1)], [None] * len(names)))
    store.close()
    store = JSONLStore(tmp_path)
    assert [one.session for one in load(store, "maria").memories] == names
    store.close()


def test_two_stores_given_the_same_are_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        filled(tmp_path / name).close()
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*") if path.is_file()} for name in ("a", "b")
    )
    assert one == other


def test_names_do_not_depend_on_what_was_refused(tmp_path):
    def names(folder: str, *, refused: bool) -> tuple[str, ...]:
        store = JSONLStore(tmp_path / folder)
        if refused:
            with pytest.raises(UsageError):
                write(store, "maria", Add([memory(1), memory(2, details={"broken": object()})], [None, None]))
        write(store, "maria", Add([memory(1)], [None]))
        found = store.names("maria")
        store.close()
        return found

    assert names("a", refused=True) == names("b", refused=False)


# ── configuration ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_new_folder_gets_the_founding_configuration(tmp_path):
    JSONLStore(tmp_path).close()
    written = json.loads((tmp_path / "config.json").read_bytes())
    for part, values in FOUNDING_CONFIG.items():
        assert written[part].items() >= values.items()
    assert written["retention_policy"]["importance_floor"] == 0.3
    assert written["retention_policy"]["protected_days"] == 7


def test_a_founding_configuration_is_read(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**FOUNDING_CONFIG, "retention_policy": {"max_sessions": 3}}))
    store = JSONLStore(tmp_path)
    assert store.config == StoreConfig(retention_policy=RetentionPolicy(max_sessions=3))
    store.close()


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        "[]",
        '{"retension": 1}',
        '{"storage": {"format": "xml"}}',
        '{"storage": {"compression": "rar"}}',
        '{"storage": {"layout": 2}}',
        '{"retention_policy": {"max_sessions": "many"}}',
        '{"retention_policy": 5}',
    ],
)
def test_a_configuration_that_cannot_be_meant_is_refused_with_its_file_and_stays(tmp_path, wrong):
    path = tmp_path / "config.json"
    path.write_text(wrong)
    with pytest.raises(UsageError, match=re.escape("config.json")) as refused:
        JSONLStore(tmp_path)
    assert refused.value.hint
    assert path.read_text() == wrong


def test_a_backup_is_a_store_and_forgets_what_was_forgotten(tmp_path):
    config = StoreConfig(storage=Storage(backup_path=str(tmp_path / "backup")))
    store = filled(tmp_path / "s", config=config)
    store.close()
    copy = JSONLStore(tmp_path / "backup")
    same(load(copy, "maria"), [memory(id, session=f"s{id % 2}", tags=(f"t{id}",)) for id in range(1, 7)])
    assert copy.repairs == ()
    copy.close()
    store = JSONLStore(tmp_path / "s")
    write(store, "maria", Forget([1, 3, 5]))
    store.close()
    assert not (tmp_path / "backup" / "sessions" / "s1.jsonl").exists()


@pytest.mark.skipif(os.name == "nt", reason="the path of the founding document is one of Windows")
def test_a_backup_path_of_another_system_is_said_and_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = filled(tmp_path / "s", config=StoreConfig(storage=Storage(backup_path="D:/nas_backup/memory_backup")))
    assert "no backup is made" in store.repairs[0]
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_backup_that_cannot_be_made_is_an_error_and_the_store_is_closed_all_the_same(tmp_path):
    (tmp_path / "file").write_text("x")
    store = filled(tmp_path / "s", config=StoreConfig(storage=Storage(backup_path=str(tmp_path / "file" / "backup"))))
    with pytest.raises(CommonplaceError, match="file"):
        store.close()
    again = JSONLStore(tmp_path / "s", config=StoreConfig())
    assert (again.repairs, len(load(again, "maria").memories)) == ((), 6)
    again.close()


def test_another_compression_is_taken_up_on_opening(tmp_path):
    filled(tmp_path).close()
    store = JSONLStore(tmp_path, config=StoreConfig(storage=Storage(compression="gzip")))
    assert sorted(path.name for path in (tmp_path / "sessions").iterdir()) == ["s0.jsonl.gz", "s1.jsonl.gz"]
    write(store, "maria", Add([memory(7, session="s1", tags=("t7",))], [None]))
    store.close()
    assert len(lines_of(tmp_path / "sessions" / "s1.jsonl.gz")) == 4
    store = JSONLStore(tmp_path)
    assert len(load(store, "maria").memories) == 7
    store.close()


# ── what another hand wrote ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_of_the_founding_format_is_taken_over(tmp_path):
    (tmp_path / "sessions").mkdir()
    for session in ("a", "b"):
        plain = [
            document(f"{session} {n}", n, session=session, memory_id=f"mem_{session}{n}").to_dict() for n in (0, 1, 2)
        ]
        (tmp_path / "sessions" / f"{session}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in plain))
    store = JSONLStore(tmp_path)
    assert "numbered from 1" in store.repairs[0]
    found = load(store, "synthesis")
    assert [one.text for one in found.memories] == ["a 0", "b 0", "a 1", "b 1", "a 2", "b 2"]
    assert store.names("synthesis")[0] == "mem_a0"
    store.close()
    store = JSONLStore(tmp_path)
    assert (store.repairs, load(store, "synthesis")) == ((), found)
    store.close()


def test_what_a_person_has_written_into_a_file_counts(tmp_path):
    store = filled(tmp_path)
    store.close()
    path = tmp_path / "sessions" / "s1.jsonl"
    lines = path.read_text().splitlines()
    edited = json.loads(lines[0])
    edited["metadata"]["user_rating"] = 5
    path.write_text("\n".join([json.dumps(edited), lines[2]]) + "\n")
    store = JSONLStore(tmp_path)
    assert "memories [3] are missing from the files" in store.repairs[0]
    found = load(store, "maria")
    assert found.memories[0].details["user_rating"] == 5
    assert found.forgotten == {3}
    store.close()
    store = JSONLStore(tmp_path)
    assert (store.repairs, load(store, "maria").forgotten) == ((), {3})
    store.close()


@pytest.mark.parametrize(
    "line",
    [
        "{]",
        "\x00\x01\x02",
        "[]",
        "7",
        '{"timestamp": "x"}',
        '{"timestamp": "2025-10-12", "metadata": {"importance": NaN}}',
        '{"timestamp": "2025-10-12", "content": {"response_full": " "}}',
        '{"timestamp": "2025-10-12", "content": {"response_full": "x"}, "memory": {"id": 9, "citations": 5}}',
        '{"timestamp": "2025-10-12", "content": {"response_full": "x"}, "memory": {"embedding": {"int16": "?"}}}',
        '{"timestamp": "2025-10-12", "content": {"response_full": "x"}, "memory": {"embedding": {"int4": ""}}}',
    ],
)
def test_a_bad_line_between_good_ones_is_named_and_nothing_is_lost(tmp_path, line):
    filled(tmp_path).close()
    path = tmp_path / "sessions" / "s1.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], line, *lines[1:]]) + "\n")
    before = path.read_bytes()
    with pytest.raises(CommonplaceError) as failed:
        JSONLStore(tmp_path)
    assert failed.value.where.endswith("s1.jsonl:2")
    assert path.read_bytes() == before
    path.write_text("\n".join(lines) + "\n")
    JSONLStore(tmp_path).close()


# ── crashes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_wherever_a_line_is_torn_what_stands_before_it_is_there(tmp_path, compression):
    store = filled(tmp_path / "s", config=StoreConfig(storage=Storage(compression=compression)))
    wanted = load(store, "maria")
    killed(store)
    (path,) = (tmp_path / "s" / "sessions").glob("s0*")
    data = path.read_bytes()
    start = len(data) - 300 if compression == "none" else len(data) - 200
    for cut in (start, len(data) - 100, len(data) - 2):
        shutil.copytree(tmp_path / "s", tmp_path / f"{cut}")
        (tmp_path / f"{cut}" / "sessions" / path.name).write_bytes(data[:cut])
        opened = JSONLStore(tmp_path / f"{cut}")
        assert "torn" in opened.repairs[0]
        assert [one.id for one in load(opened, "maria").memories] == [1, 2, 3, 4, 5]
        same(load(opened, "maria"), wanted.memories[:5], wanted.vectors[:5])
        write(opened, "maria", Add([memory(6)], [None]))
        opened.close()


def test_a_last_line_without_its_end_is_there_and_one_that_is_no_json_is_named(tmp_path):
    killed(filled(tmp_path))
    (path,) = (tmp_path / "sessions").glob("s0*")
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    store = JSONLStore(tmp_path)
    assert len(load(store, "maria").memories) == 6
    write(store, "maria", Add([memory(7, session="s0")], [None]))
    killed(store)
    assert path.read_bytes().startswith(data)
    damaged = path.read_bytes()[:-3] + b"\n"
    path.write_bytes(damaged)
    with pytest.raises(CommonplaceError) as failed:
        JSONLStore(tmp_path)
    assert f"{path}:{damaged.count(bytes([10]))}" == failed.value.where
    assert path.read_bytes() == damaged


def test_of_an_addition_that_was_cut_off_nothing_is_there(tmp_path):
    store = filled(tmp_path, 2)
    write(store, "maria", Add([memory(id, session=f"s{id % 3}") for id in range(3, 9)], [None] * 6))
    killed(store)
    (tmp_path / "sessions" / "s2.jsonl").unlink()
    store = JSONLStore(tmp_path)
    assert "4 memories of an unfinished append were removed" in " ".join(store.repairs)
    assert len(load(store, "maria").memories) == 2
    store.close()
    store = JSONLStore(tmp_path)
    assert store.repairs == ()
    store.close()


@pytest.mark.parametrize("op", ["archive", "restore", "remove", "update"])
def test_a_change_cut_off_anywhere_is_done_or_not(tmp_path, monkeypatch, op):
    """Every write of a file, in turn, is the last before the process dies."""
    from commonplace.parts.coordinates import jsonl_files

    class Died(BaseException):
        pass

    def doing(folder: Path, survive: int) -> bool:
        left = [survive]

        def dying(function):
            def wrapped(*arguments, **named):
                if left[0] == 0:
                    raise Died
                left[0] -= 1
                return function(*arguments, **named)

            return wrapped

        store = filled(folder)
        write(store, "maria", Archive([2, 3]))
        with monkeypatch.context() as patch:
            patch.setattr(jsonl_files, "append", dying(jsonl_files.append))
            patch.setattr(jsonl_files, "replace_file", dying(jsonl_files.replace_file))
            try:
                if op == "update":
                    write(
                        store,
                        "maria",
                        Revise([memory(1, importance=9.0, session="s1"), memory(2, importance=9.0, session="s0")]),
                    )
                else:
                    moved = {"archive": Archive([1, 4]), "restore": Restore([2, 3]), "remove": Forget([1, 2])}
                    write(store, "maria", moved[op])
                store.close()
            except Died:
                killed(store)
                return False
            return True

    for survive in range(40):
        folder = tmp_path / str(survive)
        done = doing(folder, survive)
        store = JSONLStore(folder)
        found = load(store, "maria")
        state = (found.archived, found.forgotten, [one.importance for one in found.memories[:2]])
        before = (frozenset({2, 3}), frozenset(), [3.0, 3.0])
        after = {
            "archive": ({1, 2, 3, 4}, frozenset(), [3.0, 3.0]),
            "restore": (frozenset(), frozenset(), [3.0, 3.0]),
            "remove": ({3}, {1, 2}, [1.0, 1.0]),
            "update": ({2, 3}, frozenset(), [9.0, 9.0]),
        }[op]
        assert state == after if done else state in (before, after)
        assert len(found.memories) == 6
        assert all(found.vectors[id - 1] is not None for id in (3, 4) if id not in found.forgotten)
        store.close()
        places = {
            kind: {one["memory"]["id"] for path in (folder / kind).iterdir() for one in lines_of(path)}
            for kind in ("sessions", "archive")
        }
        assert places == {"sessions": {1, 2, 3, 4, 5, 6} - found.archived - found.forgotten, "archive": found.archived}
        again = JSONLStore(folder)
        assert (again.repairs, load(again, "maria").archived) == ((), found.archived)
        again.close()
        if done:
            return
    raise AssertionError("never done")


WRITER = """
import sys
from commonplace.memory.stores.store import Add, Archive, Forget, load
from commonplace.testing.stores import memory, write
from commonplace.parts.coordinates.jsonl import JSONLStore
store = JSONLStore(sys.argv[1])
last = len(load(store, "maria").memories)
print("ready", flush=True)
while True:
    last += 1
    write(store, "maria", Add([memory(last, session=f"s{last % 3}")], [None]))
    print(f"added {last}", flush=True)
    if last % 7 == 0 and (last - 1) % 11:
        write(store, "maria", Archive([last - 1]))
        print(f"archived {last - 1}", flush=True)
    if last % 11 == 0:
        write(store, "maria", Forget([last]))
        print(f"removed {last}", flush=True)
"""


def kill_and_look(folder: Path, delay: float, acknowledged: dict[str, set[int]]) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "ready\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read()
    for line in rest[: rest.rfind("\n") + 1].splitlines():
        what, id = line.split()
        acknowledged[what].add(int(id))
    store = JSONLStore(folder)
    found = load(store, "maria")
    there = {one.id for one in found.memories}
    assert acknowledged["added"] <= there
    assert acknowledged["archived"] <= found.archived | found.forgotten
    assert acknowledged["removed"] <= found.forgotten
    assert all(id % 11 == 0 for id in found.forgotten)
    assert all(one.text == f"memory {one.id}" for one in found.memories if one.id not in found.forgotten)
    index = json.loads((folder / "index.json").read_bytes())
    assert index["total_memories"] == len(there - found.forgotten - found.archived)
    store.close()


@pytest.mark.parametrize(
    "delays", [(0.05, 0.13, 0.21), pytest.param(tuple(0.01 + n * 0.013 for n in range(60)), marks=pytest.mark.slow)]
)
def test_a_process_killed_at_any_moment_loses_nothing_acknowledged(tmp_path, delays):
    acknowledged: dict[str, set[int]] = {"added": set(), "archived": set(), "removed": set()}
    for delay in delays:
        kill_and_look(tmp_path, delay, acknowledged)
    assert acknowledged["added"]


def test_a_full_disk_keeps_all_or_nothing(tmp_path, monkeypatch):
    from commonplace.parts.coordinates import jsonl_files

    store = filled(tmp_path)
    original = os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) > 2000:
            raise OSError(28, "No space left on device")
        return original(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(jsonl_files.os, "write", half)
        with pytest.raises(CommonplaceError, match="disk is full"):
            write(store, "maria", Add([memory(7), memory(8, text="x" * 1900, session="big")], [None, None]))
    assert len(load(store, "maria").memories) == 6
    write(store, "maria", Add([memory(7)], [None]))
    store.close()
    store = JSONLStore(tmp_path)
    assert (store.repairs, len(load(store, "maria").memories)) == ((), 7)
    store.close()


def test_a_second_opening_is_refused_and_told_which_process_has_it(tmp_path):
    store = filled(tmp_path)
    with pytest.raises(UsageError, match="this process has it open"):
        JSONLStore(tmp_path)
    store.close()
    JSONLStore(tmp_path).close()


def test_vectors_are_kept_to_the_last_bit_and_stand_at_the_end_of_the_line(tmp_path):
    store = JSONLStore(tmp_path)
    vector = np.array([1 / 3, 1e-30, 5], dtype=np.float32)
    write(store, "maria", Add([full(1)], [vector]))
    store.close()
    (line,) = (tmp_path / "sessions").glob("*.jsonl")
    assert line.read_text().rstrip().endswith('"}}}')
    store = JSONLStore(tmp_path)
    assert load(store, "maria").vectors[0].tobytes() == vector.tobytes()
    store.close()


def test_a_deletion_that_a_killed_process_began_is_finished_on_opening(tmp_path):
    store = JSONLStore(tmp_path)
    for agent in ("maria", "klaus"):
        write(store, agent, Add([memory(id, agent, session=f"s{id}") for id in range(1, 4)], [None] * 3))
    write(store, "maria", Forget([1]))
    line = {"op": "delete", "agent": "maria"}
    store._append({tmp_path / "changes.jsonl": [line]})  # and no more: its documents are still in the files
    session = tmp_path / "sessions" / "s2.jsonl"
    lines = session.read_bytes().splitlines(keepends=True)
    session.write_bytes(b"".join(line for line in lines if b'"maria"' not in line))
    store._lock.release()
    (tmp_path / "lock").write_bytes(b"1\n")
    again = JSONLStore(tmp_path)
    assert again.agents() == ("klaus",)
    assert len(load(again, "klaus").memories) == 3
    write(again, "maria", Add([memory(1, text="anew")], [None]))
    again.close()
    assert all(
        b'"maria"' not in path.read_bytes() or b"anew" in path.read_bytes() for path in tmp_path.glob("sessions/*")
    )
    last = JSONLStore(tmp_path)
    assert [one.text for one in load(last, "maria").memories] == ["anew"]
    last.close()
