"""A process that runs commands in children of its own, whose disk fails at one certain change, or who are killed there.

It reads a JSON object a line: `arguments` of a command, what is `typed` to it, its `last` words, the `fault` (see
`FAULTS`, or nothing) and `at` which change it strikes; it answers with the `status`, what was `said`, the `seconds` it
took and the sorts of the `changes` made, a letter each.

A change is whatever alters a file or a folder, by whatever code: `dying.c` stands before the C library. A process
killed before each of them in turn, and inside each, leaves every state that a kill can leave.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from commonplace.cli import main
from commonplace.registry import COMMANDS, TASKS, found

FAULTS = {"kill": 1, "half": 2, "full": 3, "no room": 4}
"""Killed before a change or inside it, or a disk that is full from then on for what is written or for all; `time` is a
kill so many seconds after the beginning."""
OUT_OF_TIME = 3600.0


def library(folder: Path) -> Path | None:
    """`dying.c` as a library; None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        return None
    made = folder / "dying.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", made, source, "-ldl"], check=True)
    return made


def child(arguments: Sequence[str], typed: str = "", last: str = "", fault: str = "", at: float = 0) -> dict[str, Any]:
    """The command in a process of its own. What it reads ends when it has said its `last` words, at once if empty."""
    (said, says), (told, tells), (reads, types) = os.pipe(), os.pipe(), os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        for ours, end in ((reads, 0), (says, 1), (says, 2)):
            os.dup2(ours, end)
        for descriptor in (said, told, types):
            os.close(descriptor)
        signal.setitimer(signal.ITIMER_REAL, at if fault == "time" else OUT_OF_TIME)
        disk = ctypes.CDLL(None)
        disk.fate(FAULTS.get(fault, 0), ctypes.c_long(int(at)))
        status = _run(arguments)
        disk.fate_over()
        disk.fate_sorts.restype = ctypes.c_char_p
        os.write(tells, disk.fate_sorts())
        os._exit(status)
    for descriptor in (says, tells, reads):
        os.close(descriptor)
    output = b""
    with os.fdopen(types, "wb", 0) as typing, os.fdopen(said, "rb", 0) as saying, os.fdopen(told) as sorts:
        typing.write(typed.encode())
        while True:
            if last.encode() in output:
                typing.close()
            some = saying.read(1 << 16)
            if not some:
                break
            output += some
        changes = sorts.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return {"status": status, "said": output.decode(), "changes": changes, "seconds": time.monotonic() - began}


def _run(arguments: Sequence[str]) -> int:
    """The status of a command; of `serve` only the process that makes the ticks of a run."""
    if arguments[0] != "serve":
        return main(arguments)
    import_module("commonplace.parts.web.worker").main()
    return 0


if __name__ == "__main__":
    for entry in COMMANDS.values():  # once for all children
        import_module(f"commonplace.{entry.module}")
    for task in TASKS.values():
        found(task.answer)
    for name in ("minds.offline.mind", "parts.web.worker", "parts.coordinates.jsonl", "memory.stores.sqlite",
                 "languages.en.wording", "stages.town"):  # fmt: skip
        import_module(f"commonplace.{name}")
    with suppress(ModuleNotFoundError):
        import_module("mcp.server.mcpserver")
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    for line in sys.stdin:
        print(json.dumps(child(**json.loads(line))), flush=True)
