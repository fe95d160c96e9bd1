"""The program on a pseudo-terminal: what it draws, and what it does with keys."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from e2e.command import environment, started

PATIENCE = 300
"""Seconds until something that does not happen counts as hanging."""


class Terminal:
    """A terminal with the program on it. It never waits for a time, only for what is drawn or done."""

    def __init__(self, process: subprocess.Popen[str], master: int) -> None:
        self.process = process
        self.drawn = b""
        self._master: int | None = master

    def press(self, keys: bytes) -> None:
        """Type something."""
        os.write(self._master, keys)

    def until(self, happened: Callable[[], bool]) -> bytes:
        """Read what is drawn until something has happened; returns what was drawn meanwhile."""
        before, deadline = len(self.drawn), time.monotonic() + PATIENCE
        while not happened():
            assert time.monotonic() < deadline, self.drawn[-2000:]
            self.read(0.05)
        return self.drawn[before:]

    def until_drawn(self, text: str) -> bytes:
        """Read until a text is drawn after what was read before."""
        before = len(self.drawn)
        return self.until(lambda: text.encode() in self.drawn[before:])

    def read(self, seconds: float) -> int:
        """Read what is drawn within a time; returns how many bytes."""
        before, ends = len(self.drawn), time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0 and select.select([self._master], [], [], left)[0]:
            try:
                self.drawn += os.read(self._master, 1 << 16)
            except OSError:  # the program has ended
                time.sleep(left)
                break
        return len(self.drawn) - before

    def end(self) -> int:
        """Wait for the program to end; returns its status."""
        self.until(lambda: self.process.poll() is not None)
        self.read(0.1)
        return self.process.returncode

    def close(self) -> int:
        """Close the terminal, of which nobody tells the program; returns its status at its end."""
        if self._master is not None:
            os.close(self._master)
        self._master = None
        return self.process.wait(PATIENCE)

    def processor_seconds(self) -> float:
        """What the program has used so far (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def terminal(
    *arguments: object, columns: int = 120, lines: int = 40, elsewhere: Sequence[str] = (), **changes: str
) -> Generator[Terminal]:
    """The program started with these arguments and changes of the environment; some of its streams lead `elsewhere`."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    env = environment(**{"TERM": "xterm-256color", **changes})
    for name in ("COLUMNS", "LINES"):
        env.pop(name, None)
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), slave) | dict.fromkeys(elsewhere, subprocess.DEVNULL)
    process = started(*arguments, env=env, start_new_session=True, **streams)
    os.close(slave)
    shown = Terminal(process, master)
    try:
        yield shown
    finally:
        process.kill()
        shown.close()
