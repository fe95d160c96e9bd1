"""Logs: a line is appended whole or not at all, and a torn one is taken away."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import log
from commonplace.errors import UsageError
from sizes import examples

LINES = st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"").replace(b"\0", b"")), max_size=6)


def is_number(line: bytes) -> bool:
    return line.isdigit()


@examples(120)
@given(LINES, st.integers(0, 90))
def test_what_a_killed_writer_leaves_is_mended(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cut: int):
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    path.touch()
    for line in lines:
        log.append(path, line + b"\n", sync=False)
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    kept, torn = log.split(path.read_bytes())
    done = log.mend(path, "a log")
    assert kept == lines[: len(kept)]
    assert (done != "") == (torn != b"")
    assert log.split(path.read_bytes()) == (kept, b"")
    log.append(path, b"next\n")
    assert log.split(path.read_bytes()) == ([*kept, b"next"], b"")


def test_a_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n22")
    assert "no line break" in log.mend(path, "a log", is_number)
    assert path.read_bytes() == b"1\n22\n"
    path.write_bytes(b"1\n2x")
    assert "2 bytes" in log.mend(path, "a log", is_number)
    assert path.read_bytes() == b"1\n"
    assert log.mend(path, "a log", is_number) == ""


def test_blocks_that_a_power_cut_left_unwritten_are_torn(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"1\n\0\0\0\n")
    assert log.split(path.read_bytes()) == ([b"1"], b"\0\0\0\n")
    assert "torn" in log.mend(path, "a log")
    assert path.read_bytes() == b"1\n"


@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_full_disk_appends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "a.jsonl"
    assert log.append(path, b"1\n") == 0
    real = os.write

    def full(descriptor: int, data: bytes = b"") -> int:
        if call == "write" and len(data) > 2:
            return real(descriptor, data[:2])  # the disk takes a part, and then no more
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(OSError, match="No space"):
        log.append(path, b"22\n")
    monkeypatch.undo()
    assert path.read_bytes() == b"1\n"
    assert log.append(path, b"3\n") == 2


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "head.json"
    log.replace(path, b"one")
    log.replace(path, b"two", sync=False)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        log.replace(path, b"three")
    assert path.read_bytes() == b"two"


def test_no_byte_of_a_sealed_file_changes_unnoticed() -> None:
    lines = [b'{"kind":"x"}\n', b"[1,2]\n"]
    data = b"".join(log.sealed(lines))
    assert log.unsealed(data) == b"".join(lines)
    assert json.loads(data.splitlines()[-1]).keys() == {"digest"}
    for place in range(len(data)):
        assert log.unsealed(data[:place] + bytes((data[place] ^ 1,)) + data[place + 1 :]) is None
        assert log.unsealed(data[:place]) is None


def test_only_a_file_is_mended(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a folder"):
        log.mend(tmp_path, "a log")
