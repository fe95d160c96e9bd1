"""Commands as processes forked from one that has imported the program: starting it anew takes half a second each.

Such a process has arguments, folder, environment, outputs and session of its own, can be killed, and is a child of the
test's process. What it shares with others is what was imported, and the seed of hashes.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

HARMLESS = ("COMMONPLACE_", "_COMMONPLACE_", "COMP_", "TERM", "COLUMNS", "LINES", "NO_COLOR")
"""How names of the environment begin that nothing reads while it is imported."""
OFTEN = (
    *("commonplace.__main__", "commonplace.minds.offline.mind", "commonplace.stages.town"),
    *("commonplace.languages.en.wording", "typer._adapters", "typer._click.decorators", "encodings.utf_8_sig"),
    *("commonplace.parts.terminal.command", "commonplace.parts.terminal.screen", "commonplace.parts.web.app"),
    *("uvicorn.lifespan.on", "uvicorn.protocols.http.auto", "uvicorn.protocols.websockets.auto"),
    "mcp.server.mcpserver",
)
"""What commands import when they need it, if it is installed."""
_ADOPT = 36
"""Linux, `prctl`: whether what a child of this process leaves behind becomes its own child."""


def can_fork(env: Mapping[str, str], settings: Mapping[str, Any]) -> bool:
    """Whether a process of the program can be forked: in an environment like this one's, and with no special wishes."""
    changed = {name for name, _ in env.items() ^ os.environ.items()}
    return (
        sys.platform == "linux"
        and env.get("PYTHONPATH", "").split(os.pathsep)[0] == _source()
        and all(name.startswith(HARMLESS) for name in changed - {"PYTHONPATH"})
        and settings.keys() <= {"stdin", "stdout", "stderr", "encoding", "cwd", "start_new_session"}
    )


class Forked(subprocess.Popen[str]):
    """Like `subprocess.Popen`; its first argument are those of the command alone.

    `closed`: the standard streams it is started without.
    """

    def __init__(self, *arguments: Any, closed: Sequence[int] = (), **settings: Any) -> None:
        self._closed = closed
        super().__init__(*arguments, **settings)

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest) -> None:
        pipes = rest[3:9]
        ends = [end if end >= 0 else standard for standard, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {"arguments": args, "folder": str(cwd or Path.cwd()), "env": dict(env), "session": rest[14]}
        request["closed"] = list(self._closed)
        link = _parent()
        # no longer than it takes: a database server whose parent is this process is never seen to end
        ctypes.CDLL(None).prctl(_ADOPT, 1, 0, 0, 0)
        socket.send_fds(link, [json.dumps(request).encode()], ends)
        self.pid = int(link.recv(64))
        ctypes.CDLL(None).prctl(_ADOPT, 0, 0, 0, 0)
        self._child_created = True
        self._close_pipe_fds(*pipes)


@cache
def _source() -> str:
    """The folder of the package under test."""
    return str(Path(import_module("commonplace").__file__ or "").resolve().parent.parent)


@cache
def _parent() -> socket.socket:
    """The line to the process that forks, started when it is first needed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # OpenBLAS would start threads, and a process with threads should not fork
    env = {**os.environ, "PYTHONPATH": _source(), "OPENBLAS_NUM_THREADS": "1"}
    with theirs:
        command = [sys.executable, "-W", "error", __file__, str(theirs.fileno())]
        process = subprocess.Popen(
            command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()]
        )
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


# ── the process that forks ──────────────────────────────────────────────────────────────────────────────────────────


def _forks(link: socket.socket) -> int:
    """Fork at every request; returns the status of a command in its process, 0 here when nobody asks any more."""
    while True:
        request, ends, *_ = socket.recv_fds(link, 1 << 20, 3)
        if not request:
            return 0
        reading, writing = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if child:  # an orphan is adopted by the process that wanted it
                os.write(writing, str(child).encode())
                os._exit(0)
            for end in (link.detach(), reading, writing):
                os.close(end)
            return _becomes(ends, **json.loads(request))
        os.waitpid(between, 0)
        link.send(os.read(reading, 64))
        for end in (reading, writing, *ends):
            os.close(end)


def _becomes(
    ends: list[int], arguments: list[str], folder: str, env: dict[str, str], session: bool, closed: list[int]
) -> int:
    """Run a command as if this process had been started for it."""
    if session:
        os.setsid()
    for standard, end in enumerate(ends):
        os.dup2(end, standard)
        os.close(end)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    for standard in closed:
        os.close(standard)
        name = ("stdin", "stdout", "stderr")[standard]
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)
    after = sys.path.index(_source()) + 1
    sys.path[after:after] = env["PYTHONPATH"].split(os.pathsep)[1:]
    sys.argv = [sys.argv[0], *arguments]
    return _left(import_module("commonplace.__main__").main())


def _left(status: int) -> int:
    """Ends the process as Python does, but leaves what was imported to the system.

    To take it apart costs six times as much as most commands. What a command forgot to close is still told: it is
    garbage now. Where an output cannot be written, the status is returned and Python ends the process.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    gc.collect()
    with suppress(OSError, ValueError):
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()
        os._exit(status)
    return status


if __name__ == "__main__":
    registry = import_module("commonplace.registry")
    for entry in registry.COMMANDS.values():
        import_module(f"commonplace.{entry.module}")
    for task in registry.TASKS.values():
        registry.found(task.answer)
    for module in OFTEN:
        with suppress(ModuleNotFoundError):
            import_module(module)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    with socket.socket(fileno=int(sys.argv[1])) as line:
        status = _forks(line)
    raise SystemExit(status)
