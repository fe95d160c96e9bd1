"""The ledger: what is added stays, and what is changed afterwards is found."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import CommonplaceError, UsageError
from commonplace.ledger import GENESIS, Ledger, hash_of, read, show, verify
from processes import context
from sizes import examples

START = datetime(2025, 10, 12, 9, 30, tzinfo=UTC)
FOUNDING = {
    "timestamp", "session_id", "event_type", "persona_id", "memory_id", "bqi_coordinate", "evaluation", "impact_score",
    "transparency", "reproducibility", "verifiability", "memory_refs", "plan_adjustment",
}  # fmt: skip


def filled(path: Path, entries: int = 9, hours: float = 8) -> Ledger:
    """A ledger over three days, as it stands."""
    ledger = Ledger(path)
    for number in range(entries):
        ledger.log_event(
            f"s{number % 2}",
            "persona_response",
            "지우",
            f"mem_{number}",
            {"emotion": {"keywords": ["clarity"]}},
            at=START + timedelta(hours=hours * number),
        )
    return ledger


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


def test_an_entry_has_both_founding_shapes_and_its_place_in_the_chain(tmp_path):
    ledger = Ledger(tmp_path)
    first = ledger.log_event("s", "evaluation", "a", evaluation={"impact": 1}, impact_score=0.74, at=START)
    second = ledger.log_event("s", "tool_call", at=START, memory_refs=["mem_1"], plan_adjustment={"trigger": "x"})
    assert set(first) == FOUNDING | {"prev", "hash"}
    assert (first["prev"], second["prev"]) == (GENESIS, first["hash"])
    assert list(read(tmp_path)) == [first, second]


def test_a_file_a_day_and_one_chain_over_all(tmp_path):
    filled(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("ledger-*")) == [
        "ledger-20251012.jsonl",
        "ledger-20251013.jsonl",
        "ledger-20251014.jsonl",
        "ledger-20251015.jsonl",
    ]
    found = verify(tmp_path)
    assert (found.sound, found.days, found.entries) == (True, 4, 9)


def test_the_clock_is_the_callers(tmp_path):
    """Two ledgers of the same events are the same bytes."""
    for name in ("a", "b"):
        filled(tmp_path / name)
    assert [path.read_bytes() for path in sorted((tmp_path / "a").glob("*.json*"))] == [
        path.read_bytes() for path in sorted((tmp_path / "b").glob("*.json*"))
    ]


def test_it_goes_on_where_it_was(tmp_path):
    filled(tmp_path, 4)
    again = Ledger(tmp_path)
    assert again.latest == START + timedelta(hours=24)
    again.log_event("s", "later", at=START + timedelta(days=9))
    assert verify(tmp_path).sound


def test_two_who_write_by_turns_seal_each_others_entries(tmp_path):
    one, other = Ledger(tmp_path), Ledger(tmp_path)
    for number in range(6):
        (one, other)[number % 2].log_event("s", "x", at=START + timedelta(minutes=number))
    assert (verify(tmp_path).sound, verify(tmp_path).entries) == (True, 6)


def _write_many(path: str) -> None:
    ledger = Ledger(path)
    for _ in range(20):
        ledger.log_event("s", "x", at=START)


def test_processes_that_write_at_once_make_one_chain(tmp_path):
    writers = [context().Process(target=_write_many, args=(str(tmp_path),)) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert (verify(tmp_path).sound, verify(tmp_path).entries) == (True, 40)


@pytest.mark.parametrize(
    ("what", "damage"),
    [
        ("edited", lambda lines: [lines[0].replace(b"clarity", b"opacity"), *lines[1:]]),
        ("a gap", lambda lines: [lines[0], *lines[2:]]),
        ("a gap", lambda lines: [lines[1], lines[0], *lines[2:]]),
        ("out of order", lambda lines: [*lines, lines[1]]),
        ("not an entry", lambda lines: [lines[0], b"{}}\n", *lines[1:]]),
        ("not an entry", lambda lines: [lines[0], b"\x00\xff\n", *lines[1:]]),
        ("not an entry", lambda lines: [*lines, b"[1]\n"]),
        ("torn", lambda lines: [*lines[:-1], lines[-1][:30]]),
    ],
)
def test_what_is_done_to_a_file_is_found_and_named(tmp_path, what, damage):
    filled(tmp_path)
    path = tmp_path / "ledger-20251013.jsonl"
    path.write_bytes(b"".join(damage(lines_of(path))))
    found = verify(tmp_path)
    assert any(what in finding.what and finding.where.startswith(path.name) for finding in found.findings), found


def test_a_forged_entry_breaks_the_chain_after_it(tmp_path):
    """Even when its own hash is made to fit."""
    filled(tmp_path)
    path = tmp_path / "ledger-20251012.jsonl"
    entry = json.loads(lines_of(path)[0])
    entry["persona_id"] = "mallory"
    entry["hash"] = hash_of(entry)
    path.write_bytes(json.dumps(entry).encode() + b"\n" + b"".join(lines_of(path)[1:]))
    assert [finding.where for finding in verify(tmp_path).findings] == ["ledger-20251012.jsonl:2"]


@pytest.mark.parametrize("day", ["20251012", "20251013", "20251014", "20251015"])
def test_a_missing_day_is_found(tmp_path, day):
    filled(tmp_path)
    (tmp_path / f"ledger-{day}.jsonl").unlink()
    assert not verify(tmp_path).sound


def test_entries_missing_at_the_end_are_found(tmp_path):
    filled(tmp_path)
    path = tmp_path / "ledger-20251014.jsonl"
    (tmp_path / "ledger-20251015.jsonl").unlink()
    path.write_bytes(b"".join(lines_of(path)[:-1]))
    assert [finding.where for finding in verify(tmp_path).findings] == ["head.json"]


@examples(30)
@given(data=st.data())
def test_no_single_byte_can_be_changed_unnoticed(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ledger")
    filled(folder, 5)
    path = data.draw(st.sampled_from(sorted(folder.glob("ledger-*"))))
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] = data.draw(st.integers(0, 255).filter(lambda byte: byte != content[at]))
    path.write_bytes(content)
    assert not verify(folder).sound


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (b"{", b'{"event_type": "another", '),
        (b'": ', b'":  '),
        (b'"impact_score": null', b'"impact_score": NaN'),
        (b"{", b"[" * 100_000 + b"{"),
    ],
    ids=["a name twice", "a blank", "no JSON", "deep"],
)
def test_an_edit_that_means_the_same_or_nothing_is_found(tmp_path, was, now):
    filled(tmp_path, 1)
    path = tmp_path / "ledger-20251012.jsonl"
    path.write_bytes(path.read_bytes().replace(was, now, 1))
    assert [finding.where for finding in verify(tmp_path).findings][:1] == ["ledger-20251012.jsonl:1"]


def test_a_torn_line_is_taken_off_on_opening_and_said(tmp_path):
    filled(tmp_path)
    path = tmp_path / "ledger-20251015.jsonl"
    path.write_bytes(path.read_bytes() + lines_of(path)[0][:-20])
    assert "torn" in verify(tmp_path).findings[0].what
    again = Ledger(tmp_path)
    assert "torn" in again.repairs[0]
    again.log_event("s", "x", at=START + timedelta(days=3))
    assert verify(tmp_path).sound


def test_blocks_that_a_power_cut_left_unwritten_are_taken_off(tmp_path):
    filled(tmp_path)
    path = tmp_path / "ledger-20251015.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(90) + b"\n")
    assert not verify(tmp_path).sound
    assert "91 bytes" in Ledger(tmp_path).repairs[0]
    assert (path.read_bytes(), verify(tmp_path).sound) == (whole, True)


def test_a_line_that_lacks_only_its_end_is_kept(tmp_path):
    filled(tmp_path)
    path = tmp_path / "ledger-20251015.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert "no line break" in Ledger(tmp_path).repairs[0]
    assert (path.read_bytes(), verify(tmp_path).sound) == (whole, True)


def test_entries_gone_from_the_end_are_found_even_after_more_were_added(tmp_path):
    for name, damage in {
        "line": lambda path: path.write_bytes(b"".join(lines_of(path)[:-1])),
        "torn": lambda path: path.write_bytes(path.read_bytes()[:-20]),
        "day": lambda path: path.unlink(),
    }.items():
        filled(tmp_path / name)
        damage(tmp_path / name / "ledger-20251015.jsonl")
        Ledger(tmp_path / name).log_event("s", "x", at=START + timedelta(days=4))
        assert "gap" in verify(tmp_path / name).findings[0].what


def test_a_ledger_whose_days_are_all_gone_is_found(tmp_path):
    filled(tmp_path, 1)
    (tmp_path / "ledger-20251012.jsonl").unlink()
    assert [finding.where for finding in verify(tmp_path).findings] == ["head.json"]


def test_one_who_died_between_entry_and_head_breaks_nothing(tmp_path):
    ledger = filled(tmp_path, 2)
    head = (tmp_path / "head.json").read_bytes()
    filled_again = Ledger(tmp_path)
    filled_again.log_event("s", "x", at=START + timedelta(days=1))
    (tmp_path / "head.json").write_bytes(head)
    assert verify(tmp_path).sound
    ledger.log_event("s", "y", at=START + timedelta(days=1))
    assert (verify(tmp_path).sound, verify(tmp_path).entries) == (True, 4)


def test_old_days_are_compressed_and_still_verified_and_shown(tmp_path):
    ledger = filled(tmp_path)
    before = list(read(tmp_path))
    now = START + timedelta(days=366)
    assert ledger.archive(now) == ("ledger-20251012.jsonl.gz",)
    assert ledger.archive(now) == ()
    assert list(read(tmp_path)) == before
    assert verify(tmp_path).sound
    packed = tmp_path / "ledger-20251012.jsonl.gz"
    packed.write_bytes(gzip.compress(gzip.decompress(packed.read_bytes()).replace(b"mem_0", b"mem_7")))
    assert not verify(tmp_path).sound
    packed.write_bytes(packed.read_bytes()[:-9])
    assert "not an entry" in verify(tmp_path).findings[0].what


def test_an_archived_day_can_be_written_on(tmp_path):
    ledger = filled(tmp_path, 1)
    ledger.archive(START + timedelta(days=999))
    again = Ledger(tmp_path)
    again.log_event("s", "x", at=START)
    assert (verify(tmp_path).sound, verify(tmp_path).days, verify(tmp_path).entries) == (True, 1, 2)


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 9),
        ({"session_id": "s1"}, 4),
        ({"event_type": "persona_response"}, 9),
        ({"event_type": "x"}, 0),
        ({"persona_id": "지우"}, 9),
        ({"memory_id": "mem_3"}, 1),
        ({"start": START + timedelta(hours=16)}, 7),
        ({"end": datetime(2025, 10, 12, 17, 30)}, 2),  # noqa: DTZ001 - a naive moment is UTC
        ({"session_id": "s0", "end": START}, 1),
    ],
    ids=str,
)
def test_filters_combine(tmp_path, filters, count):
    filled(tmp_path)
    assert len(list(show(tmp_path, **filters))) == count


def test_memory_refs_are_found_too(tmp_path):
    Ledger(tmp_path).log_event("s", "x", at=START, memory_refs=["mem_a", "mem_b"])
    assert len(list(show(tmp_path, memory_id="mem_b"))) == 1


@pytest.mark.parametrize("bad", [{"a": float("nan")}, {"when": START}, {"broken": "\ud83d"}], ids=str)
def test_what_json_cannot_hold_is_refused_and_nothing_is_written(tmp_path, bad):
    ledger = filled(tmp_path, 1)
    with pytest.raises(UsageError):
        ledger.log_event("s", "x", at=START, evaluation=bad)
    assert (verify(tmp_path).sound, verify(tmp_path).entries) == (True, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": "2025-10-13"},
        {"event_type": None},
        {"memory_refs": "mem_1"},
        {"memory_refs": [1]},
        {"impact_score": "high"},
        {"bqi_coordinate": 5},
    ],
    ids=str,
)
def test_what_does_not_fit_a_field_is_refused_and_nothing_is_written(tmp_path, wrong):
    ledger = filled(tmp_path, 1)
    with pytest.raises(UsageError):
        ledger.log_event(**{"session_id": "s", "event_type": "x", "at": START, **wrong})
    assert len(list(read(tmp_path))) == 1


def test_time_does_not_go_back(tmp_path):
    ledger = filled(tmp_path, 2)
    with pytest.raises(UsageError, match="before the last entry"):
        ledger.log_event("s", "x", at=START)


@pytest.mark.parametrize("line", [b"[1]", b"{}", b'{"timestamp": "x", "event_type": "", "hash": ""}', b"\xff", b"{"])
def test_a_line_that_is_no_entry_is_named(tmp_path, line):
    filled(tmp_path, 2)
    path = tmp_path / "ledger-20251012.jsonl"
    path.write_bytes(path.read_bytes() + line + b"\n")
    with pytest.raises(CommonplaceError, match="ledger verify") as failed:
        list(show(tmp_path))
    assert failed.value.where == "ledger-20251012.jsonl:3"
    assert not verify(tmp_path).sound


def test_where_there_is_no_ledger_it_says_so(tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match="no ledger"):
            verify(path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(CommonplaceError):
        Ledger(tmp_path / "file")
