"""The files of a ledger: one a day, in order, plain or compressed; and what seals an entry."""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from commonplace.canon import canonical
from commonplace.errors import CommonplaceError, WrongUse

GENESIS = "0" * 64
"""`prev` of the first entry."""
Entry = dict[str, Any]


def sealed(entry: Mapping[str, Any]) -> str:
    """The hash of everything in an entry but its hash. Raises WrongUse for values JSON cannot hold."""
    try:
        return sha256(canonical({key: value for key, value in entry.items() if key != "hash"})).hexdigest()
    except (TypeError, ValueError) as error:
        todo = "keep strings, finite numbers, true, false, null, lists and mappings"
        raise WrongUse(f"an entry that cannot be written ({error})", todo=todo) from error


def written(entry: Mapping[str, Any]) -> bytes:
    """The line of an entry."""
    return json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def folder_of(path: str | Path) -> Path:
    """The folder of a ledger. Raises WrongUse where there is none."""
    folder = Path(path)
    if not days(folder) and not (folder / "head.json").exists():
        raise WrongUse(
            "there is no ledger", where=str(path), todo="give the folder that holds its ledger-….jsonl files"
        )
    return folder


def days(folder: Path) -> list[Path]:
    """A file per day, in order; of a day that is there twice, the plain one."""
    found = {path.name.removesuffix(".gz"): path for path in sorted(folder.glob("ledger-*.jsonl.gz"))}
    found |= {path.name: path for path in folder.glob("ledger-*.jsonl")}
    return [found[name] for name in sorted(found)]


def day(path: Path) -> date:
    """The day a file is of."""
    stamp = path.name.removeprefix("ledger-")[:8]
    return date(int(stamp[:4]), int(stamp[4:6]), int(stamp[6:]))


def content(path: Path) -> bytes:
    """What a file says, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def lines(folder: Path) -> Iterator[tuple[str, bytes]]:
    """(file and line number, the line with its end)."""
    for path in days(folder):
        try:
            text = content(path)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            text = b"\0\n"  # damaged as a whole: one line that is no entry
        for number, line in enumerate(text.splitlines(keepends=True), start=1):
            yield f"{path.name}:{number}", line


def replace(path: Path, data: bytes) -> None:
    """Puts new content in a file's place, at once."""
    aside = path.with_name(f"{path.name}.new")
    aside.write_bytes(data)
    aside.replace(path)


@contextmanager
def alone(folder: Path) -> Generator[None]:
    """Waits until nobody else writes into the folder."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def explained(folder: Path) -> Generator[None]:
    """Turns the file system's errors into ours."""
    try:
        yield
    except OSError as error:
        what = f"the ledger cannot be read or written ({error.strerror or error})"
        todo = "look at the folder's permissions and the room on the disk; what was logged before is there"
        raise CommonplaceError(what, where=str(error.filename or folder), todo=todo) from error


if sys.platform == "win32":
    import msvcrt

    def _wait_for(descriptor: int) -> None:
        cast(Any, msvcrt).locking(descriptor, cast(Any, msvcrt).LK_LOCK, 1)
else:
    import fcntl

    def _wait_for(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
