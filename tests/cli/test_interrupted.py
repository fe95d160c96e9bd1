"""A signal that ends a command ends its event loop, whatever that is doing at this moment."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections import deque

import pytest

from commonplace import cli


@pytest.fixture
def told(monkeypatch):
    """What tells this process to end. A command that still hangs after ten seconds is given up."""
    monkeypatch.setattr(cli, "interrupts", [])
    monkeypatch.setattr(sys, "unraisablehook", cli._unless_interrupted(sys.unraisablehook))
    monkeypatch.setattr(logging.getLogger("asyncio"), "disabled", False)  # as it is to be again

    def give_up(_number, _frame):
        raise TimeoutError

    with cli.handled(cli.interrupted, signal.SIGTERM), cli.handled(give_up, signal.SIGALRM):
        signal.alarm(10)
        yield lambda: cli.interrupts or signal.raise_signal(signal.SIGTERM)
        signal.alarm(0)


def test_a_signal_between_two_steps_loses_none_of_them(told):
    """The loop has taken out of its queue what wakes the task, and the task could not tidy up without it."""
    tidied = []

    class Queue(deque):
        def popleft(self):
            step = super().popleft()
            told()
            return step

    async def command():
        loop = asyncio.get_running_loop()
        loop._ready = Queue(loop._ready)
        try:
            await asyncio.sleep(0)
            await asyncio.sleep(3600)
        finally:
            tidied.append(True)

    with pytest.raises(RuntimeError, match="stopped"):
        asyncio.run(command())
    assert tidied


def test_a_signal_where_no_exception_can_be_passed_on_is_heeded_all_the_same(told):
    class Finalised:
        def __del__(self):
            told()

    async def command():
        Finalised()
        await asyncio.sleep(3600)

    with pytest.raises(RuntimeError, match="stopped"):
        asyncio.run(command())


def test_a_signal_while_a_task_computes_breaks_it_off(told):
    async def command():
        told()
        while True:
            pass

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(command())
