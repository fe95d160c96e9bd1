"""How a command that goes on until it is told otherwise learns that it is time to leave."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

from commonplace.cli import handled, interrupted, interrupts, leave_lost_terminal, stopping_signals

NOTICE_CLOSED = 1.0
"""Seconds between two checks that the terminal is still there."""
ENDING = "stopping after the current tick; interrupt again to stop at once\n"


@contextmanager
def stopped_by_signal() -> Generator[list[int]]:
    """Gives a list that SIGINT, SIGTERM and SIGHUP are added to, after an earlier one that nobody heeded; a second
    SIGINT or SIGTERM interrupts the command."""
    received = list(interrupts)
    interrupts.clear()

    def note(number: int, frame: FrameType | None) -> None:
        leave_lost_terminal()
        if received and number in (signal.SIGINT, signal.SIGTERM):
            interrupted(number, frame)
        received.append(number)
        os.write(2, ENDING.encode())  # not `print`, which may be interrupted by this very signal

    with handled(note, signal.SIGINT, *stopping_signals()):
        yield received


@asynccontextmanager
async def leaving(leave: Callable[[], None], terminals: Sequence[int]) -> AsyncGenerator[None]:
    """Calls `leave`, in the event loop, at each SIGINT, SIGTERM and SIGHUP, and when one of the terminals is closed.

    `terminals` are descriptors. Of a closed one the signal may reach only whoever started this process, such as `make`.
    """
    loop = asyncio.get_running_loop()

    def left() -> None:
        leave_lost_terminal()
        leave()

    def told(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(left)

    async def watch() -> None:
        while all(map(os.isatty, terminals)):
            await asyncio.sleep(NOTICE_CLOSED)
        left()

    watched = asyncio.create_task(watch())
    try:
        with handled(told, signal.SIGINT, *stopping_signals()):
            yield
    finally:
        watched.cancel()
