"""Open runs: each with its picture, its feed, the process that makes its ticks, and the talks about it.

A session belongs to the server's event loop, but for its picture and its inspector, which threads read.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from commonplace.api import OpenedRun, ratings_of
from commonplace.errors import CommonplaceError, UsageError
from commonplace.memory.scoring import parts_json
from commonplace.memory.stores.codec import memory_json
from commonplace.parts.live.talk_thread import Talks, ThreadTalk
from commonplace.parts.metrics.figures import Samples
from commonplace.parts.web import model as wire
from commonplace.parts.web.card import run_card, without_credentials
from commonplace.parts.web.feed import Feed
from commonplace.parts.web.inspector import RunInspector
from commonplace.parts.web.library import Conflict, Library, card, refuse
from commonplace.parts.web.picture import Picture
from commonplace.parts.web.worker import DEFAULT_RATE, ENDLESS, TAKEN, Worker
from commonplace.run.minds import mind_by_question
from commonplace.run.place import Place
from commonplace.run.schema import SEMANTICS
from commonplace.talk import Reply
from commonplace.text import clean
from commonplace.trust import named_by_run, unsettled

MOST_OPEN = 16
"""Runs kept open; the one not asked for longest is closed, unless somebody watches it or its ticks are made."""
MOST_LIVE = 4
"""Runs whose ticks are made at a time: each is a process."""
MOST_TALKS = 32
"""Talks of one run that are kept open."""
TALK_MINUTES = 10
"""A talk in which nothing is said for so long is closed."""
GRACE = 60.0
"""Seconds for which what is no longer asked for stays open: somebody may still read it."""
FIGURES_TIME = 2.0
"""Seconds the process of a run has to tell its figures; then those it told last are shown."""
WAIT = 5.0
"""Seconds to wait for the process of a server that has died to let go of a run."""

May = Literal["control", "inputs", "talk", "rate", "fork"]


@dataclass(slots=True)
class _Talk:
    """One visitor's talk with one character as of a tick."""

    talk: ThreadTalk
    last: wire.Answer | None = None
    used: float = 0.0


class RunSession:
    """One open run. Its methods belong to the event loop, except `picture`, `inspector` and what is read with them."""

    def __init__(self, name: str, path: Place, others: Callable[[], Iterable[RunSession]]) -> None:
        """`others`: the sessions among which at most `MOST_LIVE` may be live."""
        self.name = name
        self.reading = OpenedRun.open(path)
        self.picture = Picture(self.reading)
        self.inspector = RunInspector(self.picture)
        self.feed = Feed(self.picture, self.status, lambda: self._worker.speaking if self._worker else {})
        self._others = others
        self._worker: Worker | None = None
        self._starting = asyncio.Lock()
        self._talks: Talks | None = None
        self._open: OrderedDict[tuple[str, str, int], _Talk] = OrderedDict()
        self._why = ""
        """Why no more ticks came, of the last process."""
        self._rate = DEFAULT_RATE
        self.expected = False
        """Whether its ticks are about to be made."""
        self._ending: set[asyncio.Task[None]] = set()
        self._figures: Samples = {}

    # ── how it stands ───────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def live(self) -> bool:
        """Tells whether this server makes its ticks."""
        return self._worker is not None and self._worker.alive

    @property
    def died(self) -> bool:
        """Tells whether the process that made its ticks has ended otherwise than it was meant to."""
        return self._worker is not None and self._worker.died

    @property
    def talks(self) -> int:
        """How many talks are open."""
        return len(self._open)

    async def figures(self) -> Samples:
        """Returns what the process that makes its ticks has counted."""
        if self._worker is not None and self.live:
            with suppress(CommonplaceError, TimeoutError):
                self._figures = await asyncio.wait_for(self._worker.ask("figures"), FIGURES_TIME)
        return self._figures

    @property
    def busy(self) -> bool:
        """Tells whether the session must stay open."""
        return self.live or self.feed.watching > 0 or self._starting.locked()

    @property
    def elsewhere(self) -> bool:
        """Tells whether another process makes its ticks."""
        return not self.live and self.reading.held()

    def status(self) -> wire.Status:
        """Returns the status as the feed sends it; `last_tick` is the feed's."""
        known = self._worker.status if self._worker is not None else {}
        coming = self.expected or self.elsewhere
        return wire.Status(
            type="status",
            live=self.live or coming,
            playing=known.get("playing", False) if self.live else coming,
            rate=known.get("rate", self._rate) if self.live else self._rate,
            last_tick=0,
            final_tick=known.get("final_tick", self.reading.manifest.ticks),
            progress=clean(known.get("progress", "") or self._why),
        )

    def card(self) -> wire.RunCard:
        """Returns the run's entry in the library."""
        status = self.status()
        final = max(0, self.reading.last_tick, status.final_tick)
        part = self.reading.scenario.part
        return run_card(self.name, self.reading, part, live=status.live, playing=status.playing, final_tick=final)

    def town(self) -> wire.Town:
        """Returns everything before the first tick; read in a thread."""
        return self.picture.town(self.card(), self._may())

    def _may(self) -> list[May]:
        manifest = self.reading.manifest
        may: list[May] = ["fork"]
        if manifest.stage == "town":
            may.insert(0, "talk")
        with suppress(UsageError):
            ratings_of(self.reading)
            may.insert(0, "rate")
        mine = manifest.semantics == SEMANTICS and (self.expected or not self.elsewhere)
        if mine and not unsettled(named_by_run(manifest)):
            may = ["control", "inputs", *may]
        return may

    # ── ticks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self, *, playing: bool = True, patience: float = 0.0) -> Worker:
        """Returns the process that makes its ticks, and starts it if there is none.

        Raises Conflict if another process has the run, or too many are live.
        """
        async with self._starting:
            if self._worker is not None and self.live:
                return self._worker
            refuse_more(self._others())
            until = self.reading.manifest.ticks
            until = until if until > self.reading.last_tick else ENDLESS
            self._worker = await started(
                self.reading.path, self._changed, until=until, playing=playing, patience=patience, rate=self._rate
            )
            self._changed()
            return self._worker

    def take(self, worker: Worker) -> None:
        """Takes over a process that has just made the run."""
        self._worker = worker
        worker.changed = self._changed
        self._changed()

    def _changed(self) -> None:
        worker = self._worker
        if worker is None:
            return
        self.feed.changed(worker.status.get("last_tick", -1))
        if worker.status.get("ended") and worker.alive and not self._ending:
            task = asyncio.get_running_loop().create_task(self._end(worker))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end(self, worker: Worker) -> None:
        self._why = worker.status.get("progress", "")
        await self.figures()  # the last ones
        await worker.close()
        self.feed.changed()

    async def control(self, order: wire.Control) -> wire.Status:
        """Plays, pauses, steps or sets the speed. Playing starts a process for a run that has none."""
        if order.action == "speed":
            self._rate = order.rate
        if order.action in ("pause", "speed") and not self.live and not self._starting.locked():
            self.feed.changed()
            return self.feed.dated(self.status())
        worker = await self.start(playing=False)
        await worker.ask(order.action, **({"rate": order.rate} if order.action == "speed" else {}))
        return self.feed.dated(self.status())

    async def put_in(self, body: wire.Input) -> wire.Accepted:
        """Says what an input would do, or queues it. A run without a process gets one and stays where it is."""
        scenario = await asyncio.to_thread(lambda: self.reading.scenario)
        if body.kind != "god" and body.agent_id not in scenario.personas:
            raise UsageError(f"there is no character {body.agent_id!r}", hint="give the id of one of the run's")
        worker = await self.start(playing=False)
        who = scenario.geography.name(body.agent_id)
        if not body.preview:
            wish = {"kind": body.kind, "text": body.text, **({"agent_id": body.agent_id} if body.agent_id else {})}
            said = await worker.ask("submit", body=wish)
        elif body.kind != "voice":
            said = await worker.ask("preview", text=body.text, agent=body.agent_id if body.kind == "attempt" else "")
        else:
            said = f"{who} will think: {body.text}"
        tick = worker.status["last_tick"] + 1  # the next one: it was answered between two ticks
        return wire.Accepted(text=clean(said), tick=tick if body.kind == "god" else tick + 1)

    # ── talks ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def talk(self, visitor: str, body: wire.Ask) -> wire.Answer:
        """Answers a question, answers it again, or takes a thumb for the last answer."""
        if self._talks is None:
            self._talks = Talks(self.reading).__enter__()
        await self._close_talks(time.monotonic() - TALK_MINUTES * 60)
        key = (visitor, body.agent_id, body.at)
        one = self._open.setdefault(key, _Talk(self._talks(body.agent_id, body.at)))
        self._open.move_to_end(key)
        one.used = time.monotonic()
        if body.question or body.retry:
            reply = await (one.talk.retry() if body.retry else one.talk.ask(body.question))
            one.last = self._answer(reply)
        if one.last is None:
            raise UsageError("there is no answer to rate yet", hint="ask something first")
        if body.thumb is not None:
            await one.talk.rate(body.thumb, body.note)
        return one.last

    def _answer(self, reply: Reply) -> wire.Answer:
        said = reply.as_dict()
        rests = [
            wire.FoundMemory(
                memory=memory_json(rest.memory),
                rank=rest.hit.rank if rest.hit else None,
                score=rest.hit.score if rest.hit else None,
                parts=parts_json(rest.hit.parts) if rest.hit else {},
            )
            for rest in reply.rests
        ]
        return wire.Answer(
            agent_id=reply.agent,
            question=clean(reply.question),
            answer=clean(reply.answer),
            rests=rests,
            asked_before=said["asked_before"],
            outcome=reply.outcome,
            mind=without_credentials(mind_by_question(self.reading.manifest)(reply.agent, "answer")),
        )

    async def _close_talks(self, before: float) -> None:
        """Closes the talks not used lately, and the oldest of too many."""
        for key, one in list(self._open.items()):
            if one.used < before or len(self._open) > MOST_TALKS:
                del self._open[key]
                with suppress(CommonplaceError):
                    await one.talk.close()

    async def close(self) -> None:
        """Ends its process at a tick boundary, learns from its talks, and closes its file."""
        if self._worker is not None:
            await self._worker.close()
        talks, self._talks = self._talks, None
        if talks is not None:
            await asyncio.to_thread(talks.__exit__, None, None, None)
        self.reading.close()


async def started(path: Place, changed: Any, **order: Any) -> Worker:
    """Starts a worker. Raises Conflict if another process has the run."""
    try:
        return await Worker.start(path, changed, **order)
    except UsageError as error:
        if TAKEN in error.what:
            raise Conflict("another process makes the ticks of this run", hint="it can be watched here") from error
        raise


def refuse_more(sessions: Iterable[RunSession]) -> None:
    """Raises Conflict if `MOST_LIVE` runs are live."""
    if sum(one.live for one in sessions) >= MOST_LIVE:
        raise Conflict(f"{MOST_LIVE} runs are live already", hint="let one of them end, or pause and leave it")


class Sessions:
    """The open runs of a library, by name."""

    def __init__(self, library: Library, expected: str = "") -> None:
        """`expected`: the run that `go_on` is about to be called for."""
        self.library = library
        self._expected = expected
        self._open: OrderedDict[str, RunSession] = OrderedDict()
        self._lock = threading.Lock()
        self._gone: list[tuple[float, RunSession]] = []
        """(when, which) of those no longer asked for: closed by the event loop when no thread reads them any more."""

    def get(self, name: str) -> RunSession:
        """Returns the session of a run, and opens it if necessary. Any thread may call it.

        Raises NotFound, and RunDamaged.
        """
        with self._lock:
            session = self._open.get(name)
            if session is not None and not session.live and not session.reading.is_there():
                self._gone.append((time.monotonic(), self._open.pop(name)))  # deleted, or another run of that name
                session = None
            if session is None:
                path = self.library.path(name)
                session = self._open[name] = RunSession(name, path, lambda: list(self._open.values()))
                if name == self._expected:
                    asked, self._expected = session.reading.manifest.ticks, ""
                    session.expected = not 0 < asked <= session.reading.last_tick
                idle = [one for one in self._open.values() if not one.busy and one is not session]
                for one in idle[: max(0, len(self._open) - MOST_OPEN)]:
                    self._gone.append((time.monotonic(), self._open.pop(one.name)))
            self._open.move_to_end(name)
            return session

    async def tidy(self) -> None:
        """Closes what is not needed any more."""
        while self._gone and time.monotonic() - self._gone[0][0] > GRACE:
            await self._gone.pop(0)[1].close()

    async def create(self, body: wire.NewRun) -> wire.RunCard:
        """Makes a new live run. Raises UsageError for a scenario that a page may not start."""
        refuse_more(list(self._open.values()))
        if bool(body.scenario) == bool(body.text):
            raise UsageError("give either the name of a scenario or the text of one", hint="scenario or text")
        with tempfile.TemporaryDirectory(prefix="commonplace-") as folder:
            if body.text:
                part = await asyncio.to_thread(refuse, body.text)
                wanted, scenario = part.name, str(Path(folder) / "scenario.yaml")
                Path(scenario).write_text(body.text, encoding="utf-8")
            else:
                wanted, scenario = body.scenario, await asyncio.to_thread(self.library.scenario, body.scenario)
            name, path = self.library.reserved(body.run, f"{wanted}-{body.seed}")
            if isinstance(path, Path):
                path.parent.mkdir(parents=True, exist_ok=True)
            worker = await started(
                path, lambda: None, scenario=scenario, seed=body.seed, ticks=body.ticks, until=body.ticks
            )
        session = await asyncio.to_thread(self.get, name)
        session.take(worker)
        return await asyncio.to_thread(session.card)

    async def go_on(self, name: str) -> None:
        """Continues a run that is not at its end, if nobody else does."""
        session = await asyncio.to_thread(self.get, name)
        try:
            if session.expected:
                await session.start(patience=WAIT)
        except Conflict:
            pass  # another process makes them: it is watched
        finally:
            session.expected = False
            session.feed.changed()

    def cards(self) -> list[wire.RunCard]:
        """Returns a card for each run of the library, the latest first."""
        open_now = dict(self._open)

        def shown(name: str, path: Place) -> wire.RunCard:
            return open_now[name].card() if name in open_now else card(name, path)

        return list(self.library.cards(shown))

    async def figures(self) -> tuple[dict[str, Samples], Samples]:
        """Returns what has been counted of each run that is open, by name, and of this server."""
        sessions = list(self._open.values())
        runs = await asyncio.gather(*(one.figures() for one in sessions))
        own: Samples = {
            "commonplace_runs": [(("open",), len(sessions)), (("live",), sum(one.live for one in sessions))],
            "commonplace_live_views": [((), sum(one.feed.watching for one in sessions))],
            "commonplace_talks": [((), sum(one.talks for one in sessions))],
        }
        return {one.name: samples for one, samples in zip(sessions, runs, strict=True)}, own

    def unready(self) -> list[str]:
        """Lists what keeps the server from its work."""
        reasons = [f"the process that made the ticks of {one.name} has died" for one in self._open.values() if one.died]
        return [*self.library.unreadable(), *reasons]

    async def close(self) -> None:
        """Closes all; the live ones end at a tick boundary."""
        open_now, self._open = [*self._open.values(), *(one for _, one in self._gone)], OrderedDict()
        await asyncio.gather(*(session.close() for session in open_now), return_exceptions=True)
