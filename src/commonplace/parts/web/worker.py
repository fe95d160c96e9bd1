"""A live run in a process of its own: the process, and the server's end of it.

The server reads committed ticks from the run's file and nothing else, so a slow page, a slow answer or the end of the
server cannot reach the run. Both ends write JSON lines: the server orders (`play`, `pause`, `step`, `speed`, `preview`,
`submit`, `figures`), the process answers, and says how it stands after each tick. When its standard input closes – the
server has died, or does not need it any more – it ends at a tick boundary.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any

from commonplace.api import create_run, resume_run
from commonplace.cli.json_logs import JsonStream, use_json
from commonplace.engine.budget import Budget
from commonplace.engine.meter import metered
from commonplace.engine.run import Run
from commonplace.errors import CommonplaceError, Paused, UsageError
from commonplace.parts.live.live_run import DEFAULT_RATE, LiveRun, LiveSource
from commonplace.parts.metrics.figures import Figures
from commonplace.run.place import Place, typed
from commonplace.run.reading import Reading

ENDLESS = 1_000_000
"""The last tick of a run that goes on until it is stopped."""
PATIENCE = 10.0
"""Seconds a process has to end when it is not needed any more; then it is killed, which loses no committed tick."""
SPEECH_EVERY = 0.1
"""Seconds between two messages about what is being said."""
LONGEST_LINE = 1 << 20
TAKEN = "in use by process"
"""Begins the error of a run that another process makes."""


# ── the server's end ─────────────────────────────────────────────────────────────────────────────────────────────────


class Worker:
    """The process of one live run. All of it belongs to one event loop."""

    def __init__(self, process: Process, changed: Callable[[], None]) -> None:
        """Use `start`."""
        self.status: dict[str, Any] = {}
        """`playing`, `rate`, `last_tick`, `final_tick` (0 for none), `progress`, `ended`: whether no tick will come."""
        self.speaking: dict[str, str] = {}
        """Character → what it is saying in the tick that is being made."""
        self._process = process
        self.changed = changed
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        path: Place,
        changed: Callable[[], None],
        *,
        scenario: str = "",
        seed: int = 0,
        ticks: int = 0,
        until: int = ENDLESS,
        playing: bool = True,
        rate: float = DEFAULT_RATE,
        patience: float = 0.0,
    ) -> Worker:
        """Starts making the ticks of a run up to `until`: of a new one if `scenario` is given, else of the one there.

        `changed` is called whenever `status` has changed. `patience`: seconds to wait for a process that still has the
        run. Raises the error for a run that cannot be made or resumed, CommonplaceError if no process can be started.
        """
        order = {"path": typed(path), "scenario": scenario, "seed": seed, "ticks": ticks, "until": until}
        order["json_logs"] = isinstance(sys.stderr, JsonStream)
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",
                "-m",
                __name__,
                stdin=PIPE,
                stdout=PIPE,
                limit=LONGEST_LINE,
                start_new_session=True,
            )
        except OSError as error:
            what = f"the process that makes the ticks cannot be started ({error})"
            raise CommonplaceError(
                what, hint="the server's user must be able to run its Python, and have processes left"
            ) from error
        worker = cls(process, changed)
        worker._send({**order, "playing": playing, "rate": rate, "patience": patience})
        try:
            await worker._started
        except BaseException:
            await worker.close()
            raise
        return worker

    @property
    def alive(self) -> bool:
        """Tells whether it still makes ticks or waits for an order."""
        return not self._reader.done()

    @property
    def died(self) -> bool:
        """Tells whether it ended otherwise than it was meant to."""
        return not self.alive and bool(self._process.returncode)

    async def ask(self, do: str, **values: Any) -> Any:
        """Gives an order and returns its answer. Raises CommonplaceError as the run does."""
        if not self.alive:
            raise UsageError("the run has ended", hint="play goes on with it")
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        self._send({"id": number, "do": do, **values})
        try:
            return await answer
        finally:
            del self._answers[number]

    async def close(self) -> None:
        """Lets it end at a tick boundary, and waits for that. May be called twice."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), PATIENCE)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await asyncio.wait([self._reader])

    def _send(self, line: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        if not self._process.stdin.is_closing():
            self._process.stdin.write(json.dumps(line).encode() + b"\n")

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            async for line in self._process.stdout:
                self._take(json.loads(line))
        finally:
            ended = CommonplaceError("the process that made its ticks has ended", hint="play goes on with the run")
            for waiting in (self._started, *self._answers.values()):
                if not waiting.done():
                    waiting.set_exception(ended)
            self._started.add_done_callback(_noticed)
            self.status, self.speaking = {**self.status, "playing": False}, {}
            self.changed()

    def _take(self, message: dict[str, Any]) -> None:
        self.speaking = message.get("speaking", self.speaking)
        if message.keys() == {"speaking"}:
            self.changed()
            return
        self.status = message.get("status") or self.status
        waiting = self._answers.get(message["id"]) if "id" in message else self._started
        if waiting is not None and not waiting.done():
            if "error" in message:
                waiting.set_exception(_error(message["error"]))
            else:
                waiting.set_result(message.get("answer"))
        if "status" in message:
            self.changed()


def _noticed(started: asyncio.Future[None]) -> None:
    """Looks at the error: the server may have ended meanwhile, and nobody waits for it any more."""
    if not started.cancelled():
        started.exception()


def _error(body: dict[str, Any]) -> CommonplaceError:
    kind = {UsageError.status: UsageError, Paused.status: Paused}.get(body["status"], CommonplaceError)
    return kind(body["what"], where=body["where"], hint=body["hint"])


# ── the process ──────────────────────────────────────────────────────────────────────────────────────────────────────


class _Teller:
    """A writer of messages, whole lines from any thread. A server that is gone is no reason to fail: stdin tells."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # what anything prints is not a message

    def tell(self, **message: Any) -> None:
        with self._lock, suppress(OSError, ValueError):
            self._out.write(json.dumps(message) + "\n")
            self._out.flush()


def main() -> None:
    """Makes the run that the first line of standard input orders, and obeys the lines after it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal in which the server is: the server ends this
    signal.signal(signal.SIGTERM, _leave)
    teller = _Teller()
    order: dict[str, Any] = json.loads(sys.stdin.readline() or "null")
    if not order:
        return
    if order.get("json_logs"):
        use_json()
    figures = Figures()
    try:
        with metered(figures):
            run = _started(order)
    except Exception as error:
        teller.tell(error=_body(error))
        return
    try:
        with Reading.open(order["path"]) as reading:
            _obey(LiveSource(reading, run), run, teller, figures)
    finally:
        run.stop()


def _leave(number: int, frame: object) -> None:
    del number, frame
    sys.exit(0)


def _started(order: dict[str, Any]) -> LiveRun:
    """Returns the current run. Waits for another process that has it for as long as the order says."""

    def make() -> Run:
        if order["scenario"]:
            return create_run(order["path"], order["scenario"], order["seed"], ticks=order["ticks"])
        return resume_run(order["path"])

    patient_until = time.monotonic() + order["patience"]
    while True:
        run = LiveRun(make, order["until"], Budget())
        run.playing, run.rate = order["playing"], order["rate"]
        try:
            run.start()
        except UsageError as error:
            if TAKEN not in error.what or time.monotonic() > patient_until:
                raise
            time.sleep(0.1)
        else:
            return run


def _obey(source: LiveSource, run: LiveRun, teller: _Teller, figures: Figures) -> None:
    def tell(_: object = None, **more: Any) -> None:
        teller.tell(
            **more,
            speaking=source.speaking,
            status={
                "playing": source.playing and run.failure is None,
                "rate": source.rate,
                "last_tick": run.tick,
                "final_tick": run.last if run.last < ENDLESS else 0,
                "progress": source.progress,
                "ended": run.failure is not None or run.tick >= run.last,
            },
        )

    def asked(number: int, do: Callable[[], Any]) -> None:
        try:
            answer = do()
        except Exception as error:
            teller.tell(id=number, error=_body(error))
        else:
            tell(id=number, answer=answer)

    is_due = False

    def tell_speech() -> None:
        nonlocal is_due
        is_due = False
        teller.tell(speaking=source.speaking)

    def tell_speech_soon() -> None:
        nonlocal is_due
        if not is_due:
            is_due = True
            asyncio.get_running_loop().call_later(SPEECH_EVERY, tell_speech)

    source.subscribe(tell)
    run.on_speech = tell_speech_soon
    run.on_stop = tell
    tell()
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        match order["do"]:
            case "figures":
                teller.tell(id=order["id"], answer=figures.samples())
                continue
            case "play":
                do = source.play
            case "pause":
                do = source.pause
            case "step":
                do = source.step
            case "speed":
                do = _with(source.speed, float(order["rate"]))
            case "preview":
                do = _with(source.preview, order["text"], order["agent"])
            case "submit":
                do = _with(source.submit, order["body"])
            case other:
                raise ValueError(other)
        if order["do"] in ("preview", "submit"):  # a mind may have to be asked: the run can be paused meanwhile
            threading.Thread(target=asked, args=(order["id"], do), daemon=True).start()
        else:
            asked(order["id"], do)


def _with(function: Callable[..., Any], *values: Any) -> Callable[[], Any]:
    return lambda: function(*values)


def _body(error: Exception) -> dict[str, Any]:
    if isinstance(error, CommonplaceError):
        return {"what": error.what, "where": error.where, "hint": error.hint, "status": error.status}
    return {"what": f"{type(error).__name__}: {error}", "where": "", "hint": "", "status": 1}


if __name__ == "__main__":
    main()

__all__ = ["DEFAULT_RATE", "ENDLESS", "TAKEN", "Worker"]
