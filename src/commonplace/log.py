"""Logs: files of lines that are only appended to, and small files that are replaced whole.

A line is on the disk, whole, when `append` returns. A process that dies while it writes leaves at most one torn line at
the end of a log; `mend` takes it away. Lines of one log are written by one process at a time: its caller holds a lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from commonplace.canon import DIGEST_SIZE, canonical
from commonplace.paths import bytes_of

UNFINISHED = ".new"
"""Ending of the name under which a file is written that is to replace another."""


def append(path: Path, data: bytes, *, sync: bool = True) -> int:
    """Appends all of the bytes, or none; returns the size before. `sync`: they survive a power cut as well."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        before = os.fstat(descriptor).st_size
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
            if sync:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
    finally:
        os.close(descriptor)
    return before


def split(data: bytes) -> tuple[list[bytes], bytes]:
    """Returns (the lines of a log, without their line breaks; the torn one at the end, empty if there is none).

    A last line that holds zero bytes is torn, too: a power cut left blocks of the file unwritten.
    """
    *lines, torn = data.split(b"\n")
    if lines and b"\0" in lines[-1]:
        torn = lines.pop() + b"\n" + torn
    return lines, torn


def mend(path: Path, what: str, is_line: Callable[[bytes], bool] = lambda _: False) -> str:
    """Takes a torn line away from the end of a log; returns what was done, in words, or an empty text.

    `is_line` says of such a line whether it lacks nothing but its line break, which is then added. `what` names the
    file, as for `paths.bytes_of`.
    """
    data = bytes_of(path, what)
    _, torn = split(data)
    if not torn:
        return ""
    if is_line(torn):
        append(path, b"\n")
        return f"{path.name}: the last line had no line break; it was added"
    with path.open("r+b") as file:
        file.truncate(len(data) - len(torn))
        os.fsync(file.fileno())
    return f"{path.name}: the last line was torn ({len(torn)} bytes) and was removed"


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Replaces the content of a file in one step. `sync`: the new content survives a power cut as well.

    Unlike `whole_file.written_whole` it takes no lock, and leaves a file that ends in `UNFINISHED` where it is killed.
    """
    aside = path.with_name(path.name + UNFINISHED)
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    aside.replace(path)


def sealed(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yields the lines and one more, the digest of all before it; for a file that is written once, as a whole."""
    digest = blake2b(digest_size=DIGEST_SIZE)
    for line in lines:
        digest.update(line)
        yield line
    yield _seal(digest.hexdigest())


def unsealed(data: bytes) -> bytes | None:
    """Returns the lines of a sealed file, without the digest; None if the digest is not theirs."""
    end = data.rfind(b"\n", 0, len(data) - 1) + 1
    content = data[:end]
    return content if data[end:] == _seal(blake2b(content, digest_size=DIGEST_SIZE).hexdigest()) else None


def _seal(digest: str) -> bytes:
    return canonical({"digest": digest}) + b"\n"
