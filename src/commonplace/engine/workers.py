"""Characters in workers, as the driver of a run sees them: it lets them play, answers what they ask, and replaces a
worker that dies.

Nothing is lost with a worker that dies: another one reads its characters from the run, as of the last committed tick,
and takes their turns again. What was asked for them has its answers here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Protocol

from commonplace.engine.characters import Amended, Played
from commonplace.engine.driver import Driver, together
from commonplace.engine.live_state import Surroundings
from commonplace.engine.worker import (
    Amend,
    Answers,
    Commit,
    Message,
    Play,
    Question,
    QuestionKey,
    Restore,
    Resume,
    StartJobs,
    Step,
    Stop,
    packed,
    part_of,
    unpacked,
)
from commonplace.errors import CommonplaceError, Paused
from commonplace.minds.mind import Answer
from commonplace.run.digest import rows_of
from commonplace.run.rows import AnswerRow, TickRecord
from commonplace.scenario.scenario import Scenario
from commonplace.world.events import NOBODY, Adjusted, Event, Forgot, Joined, of_kind
from commonplace.world.inputs import Input, Join
from commonplace.world.state import World

MOST_LOSSES = 5
"""How often in a row a worker may die before the run stops."""
_log = logging.getLogger(__name__)


class WorkerLost(Exception):
    """A worker has died, with its process or its machine."""


class Link(Protocol):
    """A worker as it is reached. It handles messages in the order in which they are sent."""

    def send(self, data: bytes) -> Future[bytes]:
        """Sends a message for `Worker.handle`; gives its reply, or raises WorkerLost in its place."""
        ...

    def end(self) -> None:
        """Ends the worker, if it is still there."""
        ...


class Cluster(Protocol):
    """Where workers are started."""

    @property
    def count(self) -> int:
        """How many there are to be."""
        ...

    def start(self) -> Link:
        """Starts a worker, which has no characters yet."""
        ...

    def close(self) -> None:
        """Ends all workers."""
        ...


def shares(scenario: Scenario, count: int) -> list[list[str]]:
    """Divides the characters among workers: equally many each, and those who live near one another together."""
    edges = scenario.geography.edges
    order: dict[str, None] = {}
    for start in sorted(edges):  # depth first: a district after the other
        ahead = [start]
        while ahead:
            area = ahead.pop()
            if area not in order:
                order[area] = None
                ahead += reversed([to for to, _ in edges[area]])
    place = {area: number for number, area in enumerate(order)}
    agents = sorted(scenario.personas, key=lambda agent: (place.get(scenario.personas[agent].home, -1), agent))
    count = max(1, min(count, len(agents)))
    return [agents[number * len(agents) // count : (number + 1) * len(agents) // count] for number in range(count)]


class Line:
    """The connection to the worker of some characters, or to the one that took over from it."""

    def __init__(self, cluster: Cluster, agents: Sequence[str]) -> None:
        self.agents = list(agents)
        self.losses = 0
        """How often the worker has died since the last tick."""
        self.generation = self.playing = 0
        """Which worker it is, counted from the first; and which one was told to play the tick."""
        self.sent: list[Future[bytes]] = []
        """The replies to messages that nobody has waited for."""
        self._cluster = cluster
        self._link = cluster.start()

    def send(self, message: Message) -> Future[bytes]:
        """Sends a message; gives its reply."""
        return self._link.send(packed(message))

    def replace(self) -> None:
        """Starts another worker, which has no characters yet."""
        self._link.end()
        self._link, self.sent = self._cluster.start(), []
        self.generation += 1


def started(
    cluster: Cluster, scenario: Scenario, begin: Callable[[Sequence[str]], Message]
) -> tuple[list[Line], list[Any]]:
    """Starts workers, each with a part of the characters; returns the lines to them and their first replies."""
    lines = [Line(cluster, agents) for agents in shares(scenario, cluster.count)]
    replies = [line.send(begin(line.agents)) for line in lines]
    try:
        return lines, [unpacked(reply.result()) for reply in replies]
    except WorkerLost as error:
        what = f"a worker died while it was started ({error})"
        raise CommonplaceError(what, hint="fewer workers need less memory; without --workers there are none") from error


class Workers:
    """The cast of a run whose characters are in workers."""

    def __init__(self, lines: Sequence[Line], surroundings: Surroundings, driver: Driver, where: str) -> None:
        """`where`: the path or the address of the run, from which a worker reads characters it takes over."""
        self.driver = driver
        self.surroundings = surroundings
        self.lines = lines
        self._where = where
        self._session = Questions(self)
        self._newcomers: dict[str, Line] = {}
        """Those who came with the inputs of the tick under way."""

    def start_session(self) -> Questions:
        """Begins the jobs of a session, which the caller ends. The session before is over."""
        self._session.cancel()
        for line in self.lines:
            line.sent.append(line.send(Stop()))
        self._session = Questions(self)
        return self._session

    async def play(self) -> dict[str, Played]:
        """Takes the turns of the next tick in all workers."""
        session, found = self._session, dict[str, Played]()
        self._newcomers = {}

        async def collect(line: Line) -> None:
            found.update(await self._play(line, session))

        await together(collect(line) for line in self.lines)
        return {agent: session.with_answers(played) for agent, played in sorted(found.items())}

    async def amend(self, inputs: Sequence[Input], events: Sequence[Event]) -> Amended:
        """Returns what inputs change of characters after these turns."""
        told = [event for event in events if isinstance(event.body, Forgot | Adjusted | Joined)]
        joined = {event.agent_id for event, _ in of_kind(told, Joined)}
        for item in inputs:
            if isinstance(item, Join) and item.character and item.agent_id in joined:
                self._newcomers[item.agent_id] = min(self.lines, key=lambda line: len(line.agents))
        concerned = {event.agent_id for event in told}
        replies: list[Amended] = []

        async def collect(line: Line) -> None:
            here = frozenset(agent for agent, home in self._newcomers.items() if home is line)
            if here or not concerned.isdisjoint(line.agents) or (NOBODY in concerned and line is self.lines[0]):
                replies.append(await self._amend(line, Amend(inputs, told, here)))

        await together(collect(line) for line in self.lines)
        return Amended(
            tuple(rows for reply in replies for rows in reply.rows),
            frozenset[str]().union(*(reply.changed for reply in replies)),
            {agent: ids for reply in replies for agent, ids in reply.removed.items()},
            {agent: card for reply in replies for agent, card in reply.cards.items()},
            {name: value for reply in replies for name, value in reply.settings.items()},
        )

    def apply(self, world: World, amended: Amended) -> None:
        """Advances to the tick, after its commit; tells the workers, and waits for none of them."""
        before = self.surroundings.world
        self.surroundings.advance(world, amended.cards, amended.settings)
        for agent, line in self._newcomers.items():
            line.agents.append(agent)
        circumstances = None if world.circumstances is before.circumstances else world.circumstances
        for line in self.lines:
            removed = {agent: amended.removed[agent] for agent in line.agents if agent in amended.removed}
            here = Amended((), frozenset(), removed, amended.cards, amended.settings)
            line.losses = 0
            line.sent.append(line.send(Commit(part_of(world, line.agents), circumstances, here)))
        self._session.forget()

    async def start_jobs(self, line: Line, last: int, session: Questions) -> None:
        """Starts the deferred jobs of a worker that are due up to a tick."""
        while True:
            try:
                session.ask(line, await self._exchange(line, StartJobs(last), session))
            except WorkerLost:
                continue
            return

    async def _play(self, line: Line, session: Questions) -> Mapping[str, Played]:
        while True:
            try:
                return await self._played(line, session)
            except WorkerLost:  # another one has the characters, as committed: it takes their turns from the beginning
                continue

    async def _played(self, line: Line, session: Questions) -> Mapping[str, Played]:
        paused = session.paused(line)
        step: Step = await self._exchange(line, Play(), session)
        session.ask(line, step, again=paused)
        played = dict(step.played)
        while step.needs:
            await session.answered(line, step.needs)
            step = await self._exchange(line, Resume(), session)
            session.ask(line, step)
            played |= step.played
        return played

    async def _amend(self, line: Line, message: Amend) -> Amended:
        while True:
            try:
                return await self._exchange(line, message, self._session)
            except WorkerLost:
                await self._play(line, self._session)

    async def _exchange(self, line: Line, message: Message, session: Questions) -> Any:
        """Sends a message and waits for the reply. Raises WorkerLost when another worker has the characters, as of the
        last committed tick, and what the message goes on with was lost."""
        async with session.locks[line]:
            if isinstance(message, Resume | Amend) and line.playing != line.generation:
                raise WorkerLost("it has been replaced meanwhile")
            try:
                while line.sent:
                    unpacked(await _reply(line.sent[0]))
                    del line.sent[0]
                if isinstance(message, Play):
                    line.playing = line.generation
                if isinstance(message, Play | Resume):  # those of the worker that is there now
                    message = replace(message, answers=session.answers(line))
                reply = line.send(message)
                return unpacked(await _reply(reply))
            except WorkerLost as error:
                session.open[line] = {}  # nobody waits for them any more
                await self._replace(line, error)
                raise

    async def _replace(self, line: Line, error: WorkerLost) -> None:
        while True:
            line.losses += 1
            tick = self.surroundings.tick
            if line.losses > MOST_LOSSES:
                what = f"a worker with {len(line.agents):,} of the characters died {line.losses} times ({error})"
                hint = "everything up to this tick is kept; fewer characters a worker need less memory"
                raise CommonplaceError(what, where=f"{self._where}, tick {tick}", hint=hint) from error
            _log.warning("a worker has died after tick %s (%s); another one takes over", tick, error)
            line.replace()
            try:
                unpacked(await _reply(line.send(Restore(line.agents, self._where, tick))))
            except WorkerLost as again:
                error = again
                continue
            return


class Questions:
    """What the workers have asked in one session: each question is a task that waits for its answer."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.locks = {line: asyncio.Lock() for line in workers.lines}
        self.open: dict[Line, dict[QuestionKey, Question]] = {line: {} for line in self.locks}
        """The questions of each worker that it waits for."""
        self._asked: dict[QuestionKey, asyncio.Task[tuple[Answer[Any], list[AnswerRow]]]] = {}
        """Kept until the tick that uses them is committed: a worker that takes over asks again."""
        self._used: list[QuestionKey] = []
        self._starting: set[asyncio.Task[None]] = set()

    def start(self, last: int) -> None:
        """Starts the deferred jobs that are due up to a tick, in the background."""
        if self._workers.driver.mind.paid:
            for line in self.open:
                task = asyncio.ensure_future(self._workers.start_jobs(line, last, self))
                self._starting.add(task)
                task.add_done_callback(self._starting.discard)

    def ask(self, line: Line, step: Step, again: Iterable[QuestionKey] = ()) -> None:
        """Puts the questions of a step; of the earlier ones `again` those that its turns need."""
        repeated = [self.open[line][key] for key in again if key in step.needs and key in self.open[line]]
        for question in (*repeated, *step.asked):
            self.open[line][question.key] = question
            known = self._asked.get(question.key)
            if known is None or (known.done() and not _is_answered(known)):
                task = asyncio.ensure_future(self._workers.driver.answered(*question.key, question.ask))
                task.add_done_callback(_seen)
                self._asked[question.key] = task

    def answers(self, line: Line) -> Answers:
        """Returns the answers that have come for a worker; they are no longer open."""
        come = [(key, self._asked[key]) for key in self.open[line]]
        found = [(key, task.result()[0]) for key, task in come if _is_answered(task)]
        for key, _ in found:
            del self.open[line][key]
        return found

    def paused(self, line: Line) -> list[QuestionKey]:
        """Returns the open questions that found no mind. They are asked again when a turn needs them."""
        tasks = ((key, self._asked[key]) for key in self.open[line])
        return [
            key for key, task in tasks if task.done() and (task.cancelled() or isinstance(task.exception(), Paused))
        ]

    async def answered(self, line: Line, needs: Sequence[QuestionKey]) -> None:
        """Waits until an answer has come for a worker. Raises what an answer that it needs has raised, and WorkerLost
        when the worker was replaced meanwhile."""
        while True:
            for key in needs:
                if key not in self.open[line]:
                    raise WorkerLost("it has been replaced meanwhile")
                if self._asked[key].done():
                    self._asked[key].result()
            tasks = [self._asked[key] for key in self.open[line]]
            if any(map(_is_answered, tasks)):
                return
            await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)

    def with_answers(self, played: Played) -> Played:
        """Returns what came of a turn with the answers that were given here."""
        if not played.questions:
            return played
        self._used += played.questions
        rows = tuple(row for key in played.questions for row in self._asked[key].result()[1])
        given = rows_of(TickRecord(0, (), {}, (), rows))
        return replace(played, rows=replace(played.rows, answers=given.answers, usages=given.usages))

    def forget(self) -> None:
        """Forgets the questions of a tick that is committed."""
        for key in self._used:
            self._asked.pop(key, None)
        self._used = []

    async def drain(self) -> None:
        """Waits for what is in flight, whatever its outcome."""
        await asyncio.gather(*self._starting, *self._asked.values(), return_exceptions=True)

    def cancel(self) -> None:
        """Cancels all that is under way. From now on it writes nothing."""
        for task in (*self._starting, *self._asked.values()):
            task.cancel()

    async def end(self) -> None:
        """Cancels all that is under way and waits until it has ended."""
        self.cancel()
        await self.drain()


async def _reply(future: Future[bytes]) -> bytes:
    return await asyncio.shield(asyncio.wrap_future(future))


def _is_answered(task: asyncio.Task[Any]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _seen(task: asyncio.Task[Any]) -> None:
    """Looks at an error for which nobody may be waiting; asyncio would warn about it."""
    if not task.cancelled():
        task.exception()
