"""Talking with a character of a run, as it was at a tick. The run is only read; what is learnt is kept beside it.

    with Talk.open("town.run", "mira") as talk:
        reply = asyncio.run(talk.ask("Have you heard of the festival?"))
        talk.rate("up")

`NAME.run.talks/CHARACTER/` holds a file of JSON lines for each talk, and the graph of the questions that proved useful
(`commonplace.querygraph`), into which a talk goes when it is closed. A talk whose process was killed is closed by the
next one. Of a run in a database the lines are kept in the database, and the graph is made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from commonplace import log
from commonplace.canon import canonical, parsed
from commonplace.clock import iso
from commonplace.cognition.authors_lines import with_goals
from commonplace.cognition.interview import InterviewAnswer, interview, names, told_in
from commonplace.cognition.turn import TalkView
from commonplace.engine.driver import Drive, Driver, NoJournal
from commonplace.engine.live_state import scenario_at, seen_at
from commonplace.errors import CommonplaceError, DiskFull, UsageError
from commonplace.lock import ProcessLock
from commonplace.memory import Memory, ScoredMemory
from commonplace.memory.retrieval import Retrieval
from commonplace.memory.scoring import parts_json
from commonplace.memory.stores.codec import memory_json
from commonplace.minds.mind import Mind
from commonplace.minds.notes import Spoken
from commonplace.minds.question import ASKER, ParsedQuestion, understood
from commonplace.minds.tasks import Earlier
from commonplace.paths import bytes_of
from commonplace.querygraph import ConversationMemory, GraphConfig, StoredGraph
from commonplace.querygraph.graph import Label
from commonplace.registry import RUNS, found
from commonplace.run.place import Address
from commonplace.run.reading import Reading
from commonplace.run.talks import LARGEST, folder_of
from commonplace.text import clean

LEARNT = "learnt.graph"
LONGEST = 2000
"""Characters of a question, and of the note that goes with a thumb."""
ALIKE = 0.6
"""Cosine from which two questions are spelt alike: the figure `docs/query-graph.md` gives for talk."""


def view_at(reading: Reading, agent: str, at: int | str | None = None) -> TalkView:
    """Returns what a character knew at the end of a tick, and nothing later; None is the last tick.

    Raises UsageError for a tick that the run does not have and for somebody who was not in the world then.
    """
    tick = reading.tick(at)
    state = reading.state_at(agent, tick)
    scenario = scenario_at(reading, reading.scenario, tick)
    try:
        world = seen_at(reading, scenario, agent, tick)
    except KeyError as error:
        raise UsageError(
            f"{agent} was not in the world at tick {tick}", where=str(reading.path), hint="ask at another tick"
        ) from error
    past = reading.stream_at(agent, tick).snapshot()
    return with_goals(TalkView(scenario, scenario.personas[agent], state, replace(world, tick=tick), past))


async def ask_character(
    view: TalkView,
    question: str,
    mind: Mind,
    *,
    seed: int = 0,
    number: int = 0,
    lines: Sequence[Spoken] = (),
    before: Earlier | None = None,
) -> InterviewAnswer:
    """Asks a mind for one answer. Nothing is journaled: the same mind is asked again for the same question.

    `lines`: the talk so far, oldest first; the person's lines have the speaker `-`. `number`: how many questions were
    asked before in the talk, so that an offline mind words its answers differently. Raises Paused if the mind is
    unavailable.
    """
    driver = Driver(mind, NoJournal(), seed, durable=False)
    asking = interview(view, question, lines=lines, before=before)
    drive = Drive(view.persona.id, view.world.tick, asking, first=number)
    await driver.run([drive])
    return drive.result


@dataclass(frozen=True, slots=True)
class Rest:
    """A memory that an answer rests on."""

    memory: Memory
    hit: ScoredMemory | None
    """How it was retrieved; None for one that was found by whom, where or when it is about."""


@dataclass(frozen=True, slots=True)
class AskedBefore:
    """A question like this one, asked earlier."""

    question: str
    similarity: float
    """Cosine of the two; 1 for the same words."""
    answer: str
    """The best received of those given up to the tick of this talk."""
    received: float
    """The sum of its thumbs: up 1, down −1, retry −0.5."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, and what it rests on."""

    agent: str
    tick: int
    time: datetime
    """Simulated."""
    question: str
    answer: str
    """What the character says; empty where the mind's answer could not be used."""
    rests: tuple[Rest, ...]
    asked_before: AskedBefore | None
    outcome: str
    """`value`, or `malformed` or `fault` where the mind's answer could not be used."""
    retrievals: tuple[Retrieval, ...] = field(default=(), repr=False)
    """All that was searched for, with every hit: also those that the answer does not rest on."""

    def as_dict(self) -> dict[str, Any]:
        """Returns the reply as `talk --json` prints it."""
        before = self.asked_before
        return {
            "agent_id": self.agent,
            "tick": self.tick,
            "time": iso(self.time),
            "question": self.question,
            "answer": self.answer,
            "because": [rest.memory.id for rest in self.rests],
            "memories": [
                {
                    **memory_json(rest.memory),
                    "score": rest.hit.score if rest.hit else None,
                    "parts": parts_json(rest.hit.parts) if rest.hit else {},
                }
                for rest in self.rests
            ],
            "asked_before": before
            and {
                "question": before.question,
                "similarity": round(before.similarity, 6),
                "answer": before.answer,
                "received": before.received,
            },
            "outcome": self.outcome,
        }


class Talk:
    """A talk with one character. Close it, or use it in a `with` statement: then what proved useful is learnt."""

    def __init__(
        self, reading: Reading, agent: str, mind: Mind, *, at: int | str | None = None, keep: bool = True
    ) -> None:
        """Begins a talk `at` a tick or ISO simulated time, None for the last tick. `keep=False` writes nothing to disk.

        Raises UsageError for an unknown character or tick, CommonplaceError if what is beside the run cannot be used.
        """
        self.view = view_at(reading, agent, at)
        self.agent, self.tick, self.time = agent, self.view.world.tick, self.view.now
        self._mind = mind
        self._seed = reading.manifest.seed
        self._lines: list[Spoken] = []
        self._asked = 0
        self._last: tuple[str, str] | None = None
        self._unanswered = ""
        """The last question, where its answer could not be used."""
        self._given: dict[str, dict[int, tuple[int, ...]]] = {}
        """Answer → the ticks at which it was given → the memories it rested on then."""
        run, self._log, self._learnt = reading.path, None, None
        if keep and isinstance(run, Address):
            self._log: Log | None = found(RUNS["log"])(run, agent)
        elif keep and isinstance(run, Path):
            self._log = _Files(folder_of(run, agent))
            self._learnt = StoredGraph(folder_of(run, agent) / LEARNT, GraphConfig.agent())
        self._memory = ConversationMemory(agent, agent_graph=self._learnt)
        try:
            for name, lines in self._log.earlier() if self._log else ():
                self._replay(name, lines)
        except BaseException:
            self.close()
            raise

    async def ask(self, question: str) -> Reply:
        """Returns the character's answer. It knows what it knew at the tick, and what was said in this talk.

        Raises UsageError for an empty question and for one of more than 2,000 characters, Paused if the mind does not
        answer.
        """
        question = _checked("question", question)
        if not question:
            raise UsageError("the question is empty", hint="ask something")
        before = self._before(question)
        try:
            answered = await ask_character(
                self.view,
                question,
                self._mind,
                seed=self._seed,
                number=self._asked,
                lines=self._lines,
                before=before and self._earlier(before),
            )
        finally:
            await self._mind.close()  # its connections are those of this event loop
        self._asked += 1
        usable = answered.outcome == "value"
        self._last, self._unanswered = None, "" if usable else question
        if usable:
            self._note(question, answered)
        hits = {hit.memory.id: hit for found in reversed(answered.retrievals) for hit in found.hits}  # the best of each
        return Reply(
            agent=self.agent,
            tick=self.tick,
            time=self.time,
            question=question,
            answer=answered.answer if usable else "",
            rests=tuple(Rest(self.view.memories.get(id), hits.get(id)) for id in answered.because),
            asked_before=before,
            outcome=answered.outcome,
            retrievals=answered.retrievals,
        )

    def _note(self, question: str, answered: InterviewAnswer) -> None:
        """Notes an answer that was given: the talk goes on from it, and it can be rated."""
        query = self._memory.upsert_query(_SESSION, question)
        self._last = query, self._memory.record_answer(_SESSION, query, answered.answer)
        self._given.setdefault(answered.answer, {})[self.tick] = answered.because
        self._write(Line(asked=question, answer=answered.answer, tick=self.tick, because=answered.because))
        called = self.view.persona.called
        self._lines.append(Spoken(speaker=ASKER, called="", text=question))
        self._lines.append(Spoken(speaker=self.agent, called=called, text=answered.answer, because=answered.because))

    def rate(self, label: Label, note: str = "") -> None:
        """Keeps how the last answer was received: `up`, `down` or `retry`.

        Raises UsageError before the first answer, and for a note of more than 2,000 characters.
        """
        if self._last is None:
            raise UsageError("there is no answer to rate yet", hint="ask something first")
        note = _checked("note", note)
        query, answer = self._last
        self._memory.record_feedback(_SESSION, query, label, answer=answer, note=note or None)
        self._write(Line(received=label, note=note))

    async def retry(self) -> Reply:
        """Asks the last question again, as if the answer had not been given. Raises UsageError before the first."""
        if self._unanswered:
            return await self.ask(self._unanswered)
        self.rate("retry")
        said = self._lines[-2:]
        del self._lines[-2:]
        try:
            return await self.ask(said[0].text)
        except BaseException:  # no other answer came: this one still stands, and can be tried again
            self._lines += said
            raise

    @property
    def lines(self) -> tuple[Spoken, ...]:
        """The lines said so far; the person's lines have the speaker `-`."""
        return tuple(self._lines)

    def close(self) -> None:
        """Learns what proved useful. May be called twice."""
        if self._log is None:
            return
        if _SESSION in self._memory.active_sessions():
            self._memory.finalize_session(_SESSION, checkpoint=False)
        self._log.close()
        if self._learnt is not None:
            self._learnt.close()

    def __enter__(self) -> Talk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _before(self, question: str) -> AskedBefore | None:
        """Returns the best received answer to the same question, of those given at this tick or earlier.

        Two questions are the same if they are spelt alike and ask the same about the same: `What do you think of Mira?`
        and `What do you think of Pip?` are not. What asks on about the last answer is no question by itself.
        """
        asked = self._meaning(question, self._lines)
        if asked.then:
            return None
        for before in self._alike(question):
            possible = any(tick <= self.tick for tick in self._given.get(before.answer, ()))
            if possible and self._meaning(before.question).same(asked):
                return before
        return None

    def _alike(self, question: str) -> Iterator[AskedBefore]:
        """Answers to questions spelt like this one; those of earlier talks that were only received badly come last."""
        for session in (_SESSION, _BADLY):
            if session == _BADLY and session not in self._memory.active_sessions():
                return
            for one in self._memory.best_answers(session, question, 8, min_similarity=ALIKE):
                graph = self._memory.agent if one.source == "agent" else self._memory.session(session)
                yield AskedBefore(graph.node(one.query).text, one.similarity, one.text, one.feedback)

    def _meaning(self, question: str, lines: Sequence[Spoken] = ()) -> ParsedQuestion:
        return understood(question, lines, names(self.view, question), told_in(self.view, lines))

    def _earlier(self, before: AskedBefore) -> Earlier:
        """Returns what the mind is told of it. How it was received counts where it was true: at the same tick."""
        ticks = self._given[before.answer]
        thumbs = before.received if self.tick in ticks else 0
        received = "well" if thumbs > 0 else "badly" if thumbs < 0 else ""
        because = ticks[max(tick for tick in ticks if tick <= self.tick)]
        return Earlier(question=before.question, answer=before.answer, because=because, received=received)

    def _write(self, line: Line) -> None:
        if self._log:
            self._log.write(line)

    def _replay(self, name: str, lines: Sequence[Line]) -> None:
        """Notes when an earlier talk's answers were given; learns from it if it was never closed."""
        closed, memory = any(line.closed for line in lines), self._memory
        query = answer = ""
        last = Line()
        for line in lines:
            if line.received and line.received != "up" and last.answer:
                # Such a question has too low a rank to be learnt, and yet it was asked before.
                bad = memory.upsert_query(_BADLY, last.asked)
                said = memory.record_answer(_BADLY, bad, last.answer)
                memory.record_feedback(_BADLY, bad, line.received, answer=said)
            if line.asked and line.answer:
                last = line
                self._given.setdefault(line.answer, {})[line.tick] = line.because
                if not closed:
                    query = memory.upsert_query(name, line.asked)
                    answer = memory.record_answer(name, query, line.answer)
            elif line.received and query:
                memory.record_feedback(name, query, line.received, answer=answer, note=line.note or None)
        if name in memory.active_sessions():
            memory.finalize_session(name, checkpoint=False)


def _checked(what: str, text: str) -> str:
    text = clean(text)
    if len(text) > LONGEST:
        raise UsageError(f"the {what} has {len(text):,} characters; expected at most {LONGEST:,}", hint="shorten it")
    return text


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_SESSION = "now"
_BADLY = "received badly"


class Line(BaseModel):
    """A line in the file of a talk: a question with its answer, how the answer was received, or the end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    asked: str = ""
    answer: str = ""
    tick: int = 0
    because: tuple[int, ...] = ()
    """Ids of the memories the answer rests on."""
    received: Label | Literal[""] = ""
    note: str = ""
    closed: bool = False
    """What proved useful was learnt."""


CLOSED = Line(closed=True)


class Log(Protocol):
    """The talks with a character, of which one begins now."""

    def earlier(self) -> Iterator[tuple[str, list[Line]]]:
        """Yields name and lines of each talk but those going on elsewhere."""
        ...

    def write(self, line: Line) -> None:
        """Adds a line; it is kept when this returns."""
        ...

    def close(self) -> None:
        """Ends the talk. May be called twice."""
        ...


class _Files:
    """The talks with a character as files of JSON lines, numbered; this one's is made when something is said in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._lock: ProcessLock | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommonplaceError(
                f"talks cannot be kept ({error.strerror})",
                where=str(folder),
                hint="commonplace talk --no-keep keeps nothing; or copy the run to a folder that can be written",
            ) from error

    def earlier(self) -> Iterator[tuple[str, list[Line]]]:
        """Yields name and lines of each talk but those going on elsewhere. One that was never closed is closed now."""
        for path in sorted(self._folder.glob("*.jsonl")):
            lines = _lines_of(path)
            if CLOSED in lines:
                yield path.stem, lines
                continue
            try:
                lock = ProcessLock(_lock_of(path), str(path))
            except UsageError:  # somebody is talking
                continue
            try:
                yield path.stem, _lines_of(path)
                log.mend(path, "a talk")
                self._append(path, CLOSED)
            finally:
                lock.release()

    def write(self, line: Line) -> None:
        """Adds a line; it is on disk when this returns."""
        if self._path is None:
            self._path = self._begun()
        self._append(self._path, line)

    def close(self) -> None:
        """Marks the talk as learnt from. May be called twice."""
        if self._path is not None and self._lock is not None:
            self._append(self._path, CLOSED)
            self._lock.release()
            self._path = None

    def _begun(self) -> Path:
        number = 1 + max((int(path.stem) for path in self._folder.glob("*.jsonl") if path.stem.isdecimal()), default=0)
        while True:
            path = self._folder / f"{number:04}.jsonl"
            try:
                self._lock = ProcessLock(_lock_of(path), str(path))
                path.touch(exist_ok=False)
                return path
            except (UsageError, FileExistsError):  # somebody else begins a talk
                if self._lock is not None:
                    self._lock.release()
                number += 1

    def _append(self, path: Path, line: Line) -> None:
        try:
            log.append(path, canonical(line.model_dump(mode="json", exclude_defaults=True)) + b"\n")
        except OSError as error:
            if DiskFull.explains(error):
                raise DiskFull(str(self._folder), self._folder, "ask again") from error
            raise


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def _lines_of(path: Path) -> list[Line]:
    """Returns the lines of a talk; one that was torn by a kill is left out. Raises CommonplaceError for anything
    else."""
    found: list[Line] = []
    for number, line in enumerate(log.split(bytes_of(path, "a talk", LARGEST))[0], start=1):
        try:
            found.append(Line.model_validate(parsed(line)))
        except ValueError as error:
            hint = f"delete {path} to forget this talk"
            raise CommonplaceError("the line cannot be read", where=f"{path}, line {number}", hint=hint) from error
    return found
