"""How long it takes to start – importing, `--help`, the terminal view – and what a paused view costs.

    python benchmarks/startup.py [--json] [--times 5]

The program is started on a pseudo-terminal of 160×50 cells. The first picture is there when the name of the town and
the keys in the last line have been drawn. Wall-clock times mean something on a quiet machine only; the processor time
beside them is what the program itself used, whatever else is running.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

PROGRAM = (sys.executable, "-m", "commonplace")
PATIENCE = 120
"""Seconds until something that is not drawn counts as missing."""
ALTERED = ("COLUMNS", "LINES", "NO_COLOR", "PYTHONDONTWRITEBYTECODE")
"""Variables that change what is drawn, or let every start compile the package's sources again."""
WATCHED = 10.0
"""Seconds for which a paused view is watched."""


@dataclass(frozen=True)
class Figure:
    """One line of output."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    ambition: float | None = None


class Screen:
    """The program and all that it has drawn so far."""

    def __init__(self, process: subprocess.Popen[bytes], master: int) -> None:
        self.process = process
        self.master = master
        self.drawn = b""

    def read_until(self, done: Callable[[], bool]) -> None:
        """Read what is drawn until something is so."""
        deadline = time.monotonic() + PATIENCE
        while not done():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit(f"not drawn: {self.drawn[-2000:]!r}")
            if select.select([self.master], [], [], 0.01)[0]:
                self.drawn += os.read(self.master, 1 << 16)

    def processor_seconds(self) -> float:
        """User and system time of the program so far (Linux)."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def on_a_terminal(*arguments: str) -> Generator[Screen]:
    """The program on a terminal of its own."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ALTERED}
    env |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        [*PROGRAM, *arguments], stdin=slave, stdout=slave, stderr=slave, env=env, start_new_session=True
    )
    os.close(slave)
    try:
        yield Screen(process, master)
    finally:
        process.kill()
        process.wait()
        os.close(master)


def importing(times: int) -> list[Figure]:
    """`import commonplace` in a new interpreter."""
    return [Figure("import commonplace", _process(times, sys.executable, "-c", "import commonplace"), "s", 0.15, 0.1)]


def help_page(times: int) -> list[Figure]:
    """`commonplace --help`."""
    return [Figure("commonplace --help", _process(times, *PROGRAM, "--help"), "s", 0.35, 0.2)]


def _process(times: int, *command: str) -> float:
    """The median time of a process, which includes the start of the interpreter."""
    elapsed: list[float] = []
    for _ in range(times):
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        elapsed.append(time.monotonic() - began)
    return median(elapsed)


def first_picture(folder: Path, times: int) -> list[Figure]:
    """`run` and `replay` from the start of the process to the first picture."""
    run = folder / "seen.run"
    subprocess.run([*PROGRAM, "run", "latticeville", "--ticks", "60", "--view", "none", "-o", str(run)], check=True)
    figures: list[Figure] = []
    for name, arguments in (
        ("run", ("run", "latticeville", "-o", str(folder / "new.run"), "--force")),
        ("replay", ("replay", str(run), "--from", "40")),
    ):
        elapsed, used = zip(*(_one_start(*arguments) for _ in range(times)), strict=True)
        figures.append(Figure(f"first picture of {name}", median(elapsed), "s", 0.9, 0.6))
        figures.append(Figure(f"first picture of {name}, processor time", median(used), "s"))
    return figures


def _one_start(*arguments: str) -> tuple[float, float]:
    began = time.monotonic()
    with on_a_terminal(*arguments) as screen:
        screen.read_until(lambda: b"Latticeville" in screen.drawn and b"quit" in screen.drawn)
        return time.monotonic() - began, screen.processor_seconds()


def paused(folder: Path) -> list[Figure]:
    """What a live view costs when nothing happens."""
    with on_a_terminal("run", "latticeville", "-o", str(folder / "paused.run"), "--force") as screen:
        screen.read_until(lambda: b"quit" in screen.drawn)
        os.write(screen.master, b" ")
        screen.read_until(lambda: b"PAUSED" in screen.drawn)
        _let_pass(screen, 2.0)  # the last tick, and what it draws
        drawn, used = len(screen.drawn), screen.processor_seconds()
        _let_pass(screen, WATCHED)
        return [
            Figure("paused: share of a processor", 100 * (screen.processor_seconds() - used) / WATCHED, "%", 1.0, 0.3),
            Figure("paused: drawn", (len(screen.drawn) - drawn) / WATCHED, "bytes/s", 0.0),
        ]


def _let_pass(screen: Screen, seconds: float) -> None:
    ends = time.monotonic() + seconds
    screen.read_until(lambda: time.monotonic() >= ends)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--times", type=int, default=5, help="starts of which the median is given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        start = [*importing(options.times), *help_page(options.times), *first_picture(Path(folder), options.times)]
        figures = [*start, *paused(Path(folder))]
    for one in figures:
        if options.json:
            print(json.dumps(asdict(one)))
        else:
            bars = "" if one.floor is None else f"  floor {one.floor:g}"
            bars += "" if one.ambition is None else f"  ambition {one.ambition:g}"
            print(f"{one.what:45} {one.value:8.3f} {one.unit}{bars}")


if __name__ == "__main__":
    main()
