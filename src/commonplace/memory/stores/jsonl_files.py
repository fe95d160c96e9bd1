"""Files of the JSONL store: safe names, whole lines, atomic replacement, copies."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from commonplace.errors import CommonplaceError

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_RESERVED = frozenset(("con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))))
_LONGEST = 120
"""Characters of a file name; of a longer one the beginning and a digest. File systems stop at 255 bytes."""


def file_name(session: str) -> str:
    """A name any file system takes, its case aside: `s1` stays, `AGI` becomes `^a^g^i`, other bytes `%xx`."""
    if not session:
        return "%"
    name = "".join(_safe(letter) for letter in session)
    if name.split(".")[0] in _RESERVED or name[0] == ".":
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if name[-1] == ".":
        name = f"{name[:-1]}%2e"
    if len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 33]}~{blake2b(session.encode('utf-8', 'surrogatepass'), digest_size=16).hexdigest()}"


def session_name(name: str) -> str | None:
    """The inverse of `file_name`; None for a name that was cut, or is none of ours."""
    if name == "%":
        return ""
    data = bytearray()
    at = 0
    try:
        while at < len(name):
            width = {"%": 3, "^": 2}.get(name[at], 1)
            part = name[at : at + width]
            data += (
                bytes.fromhex(part[1:]) if width == 3 else part[-1].upper().encode() if width == 2 else part.encode()
            )
            at += width
        session = data.decode("utf-8", "surrogatepass")
    except ValueError:
        return None
    return session if session and file_name(session) == name else None


def _safe(letter: str) -> str:
    if letter in _PLAIN:
        return letter
    if "A" <= letter <= "Z":
        return f"^{letter.lower()}"
    return "".join(f"%{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))


class Lines(NamedTuple):
    """What was found in a file."""

    values: list[Any]
    good: int
    """Bytes up to the end of the last whole line."""
    torn: int
    """Bytes behind it: a line whose writing was cut off."""
    unended: bool = False
    """The last line is whole but for its end, as some editors leave it."""


def read_lines(path: Path) -> Lines:
    """The JSON values of a file of lines, plain or compressed; a torn last one is left out.

    Raises CommonplaceError for any other line that is no JSON, naming it.
    """
    data = path.read_bytes()
    if path.suffix == ".gz":
        whole, good = _members(data)
        values = [_parsed(line, path, number) for number, line in enumerate(whole.splitlines(), 1) if line.strip()]
        return Lines(values, good, len(data) - good)
    unended = not data.endswith(b"\n") and _is_object(data[data.rfind(b"\n") + 1 :])
    good = len(data) if unended else data.rfind(b"\n") + 1
    lines = data[:good].removesuffix(b"\n").split(b"\n")
    if b"\0" in lines[-1]:  # its blocks were not all written before the power went
        good -= len(lines.pop()) + 1
    values = [_parsed(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    return Lines(values, good, len(data) - good, unended)


def _members(data: bytes) -> tuple[bytes, int]:
    """(the text of all whole gzip members, the bytes they take)."""
    text, good, rest = bytearray(), 0, data
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            part = member.decompress(rest)
        except zlib.error:
            break
        if not member.eof:
            break
        text += part
        good += len(rest) - len(member.unused_data)
        rest = member.unused_data
    return bytes(text), good


def _is_object(line: bytes) -> bool:
    """Whether it is a whole JSON object, of which no beginning is one."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _parsed(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        todo = "mend the line by hand, or delete it to give the memory up"
        raise CommonplaceError(f"the line is not JSON ({error})", where=f"{path}:{number}", todo=todo) from error


def cut(path: Path, size: int) -> None:
    """Takes a torn end off."""
    with path.open("r+b") as file:
        file.truncate(size)
        os.fsync(file.fileno())


def append_all(contents: Mapping[Path, bytes], *, sync: bool) -> None:
    """Adds bytes at the end of files, to all or to none. `sync`: they survive a power cut as well."""
    done: list[tuple[Path, int]] = []
    try:
        for path, data in contents.items():
            done.append((path, append(path, data, sync=sync)))
    except OSError:
        for path, size in done:
            os.truncate(path, size)
        raise


def append(path: Path, data: bytes, *, sync: bool) -> int:
    """Adds bytes at the end, all or none; gives the size before. `sync`: they survive a power cut as well."""
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
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


def replace(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Puts new content in a file's place, at once; no content takes the file away. `sync`: it survives a power cut."""
    if not data:
        path.unlink(missing_ok=True)
        return
    aside = path.with_name(f"{path.name}.new")
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    with aside.open("wb") as file:
        file.write(data)
        file.flush()
        if sync:
            os.fsync(file.fileno())
    aside.replace(path)


def json_lines(values: Iterable[Any], as_json: Callable[[Any], str]) -> bytes:
    """Values as lines."""
    return "".join(f"{as_json(value)}\n" for value in values).encode()


def mirror(folder: Path, target: Path) -> None:
    """Makes `target` hold the same files as the folder, copying those that differ in size or time."""
    wanted = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    wanted.pop(Path("lock"), None)
    for name, path in wanted.items():
        copy = target / name
        if not _alike(path, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            aside = copy.with_name(f"{copy.name}.new")
            shutil.copy2(path, aside)
            aside.replace(copy)
    for kind in ("sessions", "archive"):  # what was forgotten is not to survive in the copy
        for copy in (target / kind).glob("*"):
            if copy.relative_to(target) not in wanted:
                copy.unlink()


def _alike(path: Path, copy: Path) -> bool:
    if not copy.exists():
        return False
    one, other = path.stat(), copy.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)
