"""What a path leads to is told before anything opens it."""

from __future__ import annotations

import os
import re
import resource
import socket
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.paths import LARGEST_TEXT, bytes_of, checked_folder, kind_of, text_of
from commonplace.whole_file import written_whole


def odd(folder: Path) -> dict[str, Path]:
    """What nothing should be read from or written to, by what it is called."""
    pipe, loop, link, two = (folder / name for name in ("pipe", "loop", "link", "two"))
    os.mkfifo(pipe)
    loop.symlink_to("loop")
    link.symlink_to("pipe")
    two.symlink_to("three")
    (folder / "three").symlink_to("two")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
    back = "a symbolic link that leads back to itself"
    return {
        "a pipe, not a file": pipe,
        "a pipe": link,
        "a socket, not a file": folder / "socket",
        "a device, not a file": Path("/dev/zero"),
        back: loop,
        f"{back}\n": two,
        "leads back": loop / "below",
    }


def test_files_and_folders_are_told_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "home").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to("gone")
    kinds = {"file": "file", "link": "file", ".": "folder", "home": "folder"}
    nothing = dict.fromkeys(
        ("dangling", "missing", "file/below", "n" * 300, "zero\0byte", "/".join("n" * 3000)), "nothing"
    )
    assert {name: kind_of(tmp_path / name) for name in kinds | nothing} == kinds | nothing
    with pytest.raises(UsageError, match="a file, not a folder"):
        checked_folder(tmp_path / "link")


def test_anything_else_is_refused_by_its_kind_and_not_opened(tmp_path: Path) -> None:
    for what, path in odd(tmp_path).items():
        for opening in (kind_of, checked_folder, lambda one: bytes_of(one, "a thing")):
            with pytest.raises(UsageError, match=re.escape(what.strip())) as caught:
                opening(path)
            assert caught.value.where == str(path)
            assert caught.value.hint


def test_nothing_but_a_file_is_replaced(tmp_path: Path) -> None:
    things = odd(tmp_path)
    things.pop("a device, not a file")  # never the machine's own
    before = {path.name: path.lstat() for path in tmp_path.iterdir()}
    for what, path in things.items():
        for force in (False, True):
            with pytest.raises(UsageError, match=re.escape(what.strip())), written_whole(path, force=force):
                raise AssertionError(path)
    assert {path.name: path.lstat() for path in tmp_path.iterdir()} == before


def test_a_link_to_nothing_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there/a.run")
    with written_whole(tmp_path / "link") as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "a.run").read_text() == "new"


def test_what_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as file:
        file.truncate(20 << 30)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UsageError, match="larger than 64,000 kB, too large for a letter"):
        text_of(path, "a letter")
    with pytest.raises(UsageError, match="larger than"):
        bytes_of(path, "a book")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 64 * 1024
    path.write_bytes(b"x" * LARGEST_TEXT)
    assert len(text_of(path, "a letter")) == LARGEST_TEXT
