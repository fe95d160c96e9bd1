"""How many files and functions of `commonplace` one piece of work passes through: the reading it costs to follow it.

    python tools/touched.py recall|line|question|resume [--list]

Each sub-command prepares what it needs, runs the work once unmeasured (imports, caches and tables made on first use do
not count), then counts while it runs again. To add one, write a function that returns the work as a callable and put
it into `WORK`.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import mkdtemp
from types import CodeType, FrameType
from typing import Any

import commonplace

PACKAGE = str(Path(commonplace.__file__).parent)
ANONYMOUS = ("<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>")
"""Code that is not a function of its own: a reader meets it inside another one."""


class Touched:
    """The functions entered while `touching` was active."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()

    @property
    def functions(self) -> dict[str, list[str]]:
        """File, relative to the package → qualified names of its functions, in the order of the file."""
        found: dict[str, list[CodeType]] = defaultdict(list)
        for code in self.codes:
            found[str(Path(code.co_filename).relative_to(PACKAGE))].append(code)
        return {
            file: [code.co_qualname for code in sorted(codes, key=lambda code: code.co_firstlineno)]
            for file, codes in sorted(found.items())
        }

    def __str__(self) -> str:
        functions = self.functions
        return f"{sum(map(len, functions.values()))} functions in {len(functions)} files"


@contextmanager
def touching() -> Generator[Touched]:
    """Counts the functions of `commonplace` that this thread enters. Imports made meanwhile are not counted."""
    touched = Touched()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name not in ANONYMOUS:
            touched.codes.add(code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield touched
    finally:
        sys.setprofile(before)


def recall() -> Callable[[], object]:
    """One `stream.recall(...)` of policy RECALL over 50 memories, to a question not asked before."""
    from commonplace.memory import MemoryStream, policies  # noqa: PLC0415 - each sub-command imports only its own

    start = datetime(2031, 10, 4, 6, tzinfo=UTC)
    stream = MemoryStream("maria", policies.RECALL)
    for number in range(50):
        who, what = ("Klaus", "Maria", "Isabella")[number % 3], ("rent", "the mill", "a bakery")[number % 7 % 3]
        stream.remember(f"{who} talks of {what} {number}", at=start + timedelta(minutes=number), importance=5)
    questions = iter(("what does Klaus say about the mill?", "who talks of rent?"))
    return lambda: stream.recall(next(questions), at=start + timedelta(hours=2))


def line() -> Callable[[], object]:
    """A character's turn in which it answers what it has just been told, in the plaza."""
    engines = [_played(_ANSWERED - 1)[0]._engine for _ in range(2)]
    return lambda: asyncio.run(engines.pop()._run_turn("bruno", {}))


def question() -> Callable[[], object]:
    """A question typed to a character of a stored run."""
    from commonplace import OfflineMind, open_run  # noqa: PLC0415
    from commonplace.talk import Talk  # noqa: PLC0415

    run, path = _played(_ANSWERED)
    run.close()
    questions = iter(("What did Bruno tell you this morning?", "What will you do tonight?"))
    talk = Talk(open_run(path), "ines", OfflineMind())
    return lambda: asyncio.run(talk.ask(next(questions)))


def resume() -> Callable[[], object]:
    """A run opened again, and its next tick."""
    from commonplace import resume_run  # noqa: PLC0415

    run, path = _played(_ANSWERED)
    run.close()

    def again() -> None:
        with resume_run(path) as resumed:
            _play(resumed, 1)

    return again


_ANSWERED = 21
"""A tick of the plaza (seed 7) in which Bruno answers."""


def _played(ticks: int) -> tuple[Any, Path]:
    from commonplace import create_run  # noqa: PLC0415

    path = Path(mkdtemp()) / "plaza.run"
    run = create_run(path, "plaza", seed=7)
    _play(run, ticks)
    return run, path


def _play(run: Any, ticks: int) -> None:
    async def play() -> None:
        async for _ in run.play(ticks):
            pass

    asyncio.run(play())


WORK: dict[str, Callable[[], Callable[[], object]]] = {
    "recall": recall,
    "line": line,
    "question": question,
    "resume": resume,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("work", choices=sorted(WORK))
    parser.add_argument("--list", action="store_true", help="name the functions, file by file")
    arguments = parser.parse_args()
    work = WORK[arguments.work]()
    work()
    with touching() as touched:
        work()
    if arguments.list:
        for file, functions in touched.functions.items():
            print(f"{file} ({len(functions)}): {', '.join(functions)}")
    print(touched)
    return 0


if __name__ == "__main__":
    sys.exit(main())
