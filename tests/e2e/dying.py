"""A process that runs commands in children of its own, whose disk fails at one certain change, or who are killed there.

It reads a JSON object a line: `arguments` of a command, the `fault` (`kill`, `full` or nothing) and the number of the
change `at` which it strikes; it answers with the `status`, what was `said` and the names of the `changes` made.

A change is whatever alters the disk: what SQLite asks of the operating system, which it lets a program replace, and
what Python does. A process killed before each of them in turn leaves every state that a kill can leave.
"""

from __future__ import annotations

import _sqlite3
import ctypes
import errno
import gc
import json
import os
import shutil
import signal
import sys
from collections import namedtuple
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from commonplace.cli import COMMANDS, main

OUT_OF_TIME = 3600
NOTHING_LEFT = namedtuple("usage", "total used free")(1, 1, 0)


class Fate:
    """What happens to a process at its changes."""

    def __init__(self) -> None:
        self.fault, self.at, self.full = "", 0, False
        self.changes: list[str] = []

    def change(self, name: str, *, grows: bool = False) -> bool:
        """One more; returns whether the disk is too full for it."""
        self.changes.append(name)
        if len(self.changes) > self.at and self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if len(self.changes) > self.at and self.fault == "full" and not self.full:
            self.full = True
            shutil.disk_usage = lambda _: NOTHING_LEFT
        return grows and self.full


FATE = Fate()


# ── SQLite's system calls ───────────────────────────────────────────────────────────────────────────────────────────

_address, _text, _number, _long, _size = (
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_int,
    ctypes.c_int64,
    ctypes.c_ssize_t,
)
CALLS: dict[bytes, tuple[tuple[Any, ...], Callable[..., bool]]] = {
    b"open": ((_number, _text, _number, _number), lambda _path, flags, _mode: bool(flags & os.O_CREAT)),
    b"write": ((_size, _number, _address, _size), lambda *_: True),
    b"pwrite": ((_size, _number, _address, _size, _long), lambda *_: True),
    b"pwrite64": ((_size, _number, _address, _size, _long), lambda *_: True),
    b"ftruncate": ((_number, _number, _long), lambda *_: True),
    b"unlink": ((_number, _text), lambda *_: True),
}
"""Name → (types of the result and the arguments, whether such a call changes the disk)."""
GROWING = (b"write", b"pwrite", b"pwrite64")


class Vfs(ctypes.Structure):
    """`sqlite3_vfs`, version 3."""

    _fields_ = [
        ("numbers", ctypes.c_int * 3),
        ("next", _address),
        ("name", _text),
        ("data", _address),
        ("methods", _address * 13),
        ("set_system_call", ctypes.CFUNCTYPE(_number, _address, _text, _address)),
        ("get_system_call", ctypes.CFUNCTYPE(_address, _address, _text)),
    ]


def hook_sqlite() -> list[object]:
    """Put `FATE` before SQLite's changes; returns what must not be collected. Fails where SQLite has been built in."""
    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(Vfs)
    vfs = library.sqlite3_vfs_find(None)
    kept: list[object] = []
    for name, (types, counts) in CALLS.items():
        address = vfs.contents.get_system_call(vfs, name)
        if address:
            kind = ctypes.CFUNCTYPE(*types, use_errno=True)
            mine = kind(_fated(name, kind(address), counts))
            vfs.contents.set_system_call(vfs, name, ctypes.cast(mine, _address))
            kept.append(mine)
    assert len(kept) >= 5
    return kept


def _fated(name: bytes, call: Callable[..., int], counts: Callable[..., bool]) -> Callable[..., int]:
    def fated(*arguments: Any) -> int:
        if counts(*arguments) and FATE.change(name.decode(), grows=name in GROWING):
            ctypes.set_errno(errno.ENOSPC)
            return -1
        return call(*arguments)

    return fated


# ── Python's ────────────────────────────────────────────────────────────────────────────────────────────────────────


def hook_python() -> None:
    """Put `FATE` before the changes that Python makes by itself."""
    for name in ("replace", "rename", "unlink", "remove", "rmdir", "mkdir", "link", "symlink", "truncate", "ftruncate"):
        setattr(os, name, _fated_function(name, getattr(os, name)))
    write = os.write
    os.write = lambda descriptor, data: _written(write, descriptor, data)
    sys.addaudithook(lambda event, given: _opened(*given) if event == "open" else None)


def _fated_function(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def fated(*arguments: Any, **named: Any) -> Any:
        FATE.change(name)
        return function(*arguments, **named)

    return fated


def _written(write: Callable[[int, bytes], int], descriptor: int, data: bytes) -> int:
    if descriptor > 2 and FATE.change("os.write", grows=True):
        raise OSError(errno.ENOSPC, "No space left on device")
    return write(descriptor, data)


def _opened(path: object, mode: str | None, flags: int) -> None:
    # what `open` writes later is not seen here, so on a full disk it fails at once
    if flags & os.O_CREAT and FATE.change("os.open", grows=mode is not None):
        raise OSError(errno.ENOSPC, "No space left on device", path)


# ── children ────────────────────────────────────────────────────────────────────────────────────────────────────────


def child(arguments: Sequence[str], fault: str, at: int) -> dict[str, Any]:
    """The command in a process of its own."""
    (came, said), (counted, count) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(OUT_OF_TIME)
        for descriptor in (1, 2):
            os.dup2(said, descriptor)
        FATE.fault, FATE.at = fault, at
        kept = hook_sqlite()
        hook_python()
        status = main(arguments)
        FATE.full, FATE.fault = False, ""
        os.write(count, " ".join(FATE.changes).encode())
        del kept
        os._exit(status)
    for descriptor in (said, count):
        os.close(descriptor)
    with os.fdopen(came) as output, os.fdopen(counted) as number:
        told = {"said": output.read(), "changes": number.read().split()}
    return {**told, "status": os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}


if __name__ == "__main__":
    for entry in COMMANDS.values():  # once for all children
        import_module(f"commonplace.cli.{entry.module}")
    import_module("commonplace.minds.offline.mind")
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        print(json.dumps(child(**json.loads(line))), flush=True)
