"""Talking with a character of a run, as it was at a tick. The run is only read; what is learnt is kept beside it.

    with Talk.open("town.run", "mira") as talk:
        reply = asyncio.run(talk.ask("Have you heard of the festival?"))
        talk.rate("up")

`NAME.run.talks/CHARACTER/` holds a file of JSON lines for each talk, and the graph of the questions that proved useful
(`commonplace.querygraph`), into which a talk goes when it is closed. A talk whose process was killed is closed by the
next one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from commonplace.canon import canonical, parsed
from commonplace.clock import iso
from commonplace.cognition.interview import Answered
from commonplace.engine.talk import ask_character, view_at
from commonplace.errors import DiskFull, UsageError
from commonplace.lock import ProcessLock
from commonplace.memory import Memory, ScoredMemory
from commonplace.memory.stores.codec import memory_json
from commonplace.minds.mind import Mind
from commonplace.minds.notes import Spoken
from commonplace.minds.tasks import Earlier
from commonplace.querygraph import ConversationMemory, HashedNgrams, StoredGraph
from commonplace.querygraph.config import ConversationConfig
from commonplace.querygraph.graph import LABELS, Label
from commonplace.run.reading import Reading
from commonplace.text import clean

PERSON = "-"
"""The speaker of the person's lines."""
LEARNT = "learnt.graph"
LONGEST_QUESTION = 2000
_EMBEDDER = HashedNgrams()


def folder_of(run: Path, agent: str) -> Path:
    """Where the talks with a character of a run are kept."""
    return run.with_name(f"{run.name}.talks") / quote(agent, safe="")


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
    rests: tuple[Rest, ...]
    asked_before: AskedBefore | None
    outcome: str
    """`value`, or `malformed` or `fault` where the mind's answer could not be used."""

    def as_dict(self) -> dict[str, Any]:
        """As `talk --json` prints it."""
        before = self.asked_before
        return {
            "agent_id": self.agent,
            "tick": self.tick,
            "time": iso(self.time),
            "question": self.question,
            "answer": self.answer,
            "because": [rest.memory.id for rest in self.rests],
            "memories": [_rest_json(rest) for rest in self.rests],
            "asked_before": before
            and {
                "question": before.question,
                "similarity": round(before.similarity, 6),
                "answer": before.answer,
                "received": before.received,
            },
            "outcome": self.outcome,
        }


def _rest_json(rest: Rest) -> dict[str, Any]:
    parts = {name: part._asdict() for name, part in rest.hit.parts.items()} if rest.hit else {}
    return {**memory_json(rest.memory), "score": rest.hit.score if rest.hit else None, "parts": parts}


class Talk:
    """A talk with one character. Close it, or use it in a `with` statement: then what proved useful is learnt."""

    def __init__(self, reading: Reading, agent: str, mind: Mind, *, at: int | str | None = None, keep: bool = True):
        """`at`: a tick or ISO simulated time; None for the last tick. `keep`: False leaves nothing beside the run.

        Raises UsageError for an unknown character or tick.
        """
        self.view = view_at(reading, agent, at)
        self.agent, self.tick, self.time = agent, self.view.world.tick, self.view.now
        self._mind = mind
        self._seed = reading.manifest.seed
        self._lines: list[Spoken] = []
        self._last: tuple[str, str] | None = None
        folder = folder_of(reading.path, agent) if keep else None
        self._log = _Log(folder) if folder else None
        self._graph = StoredGraph(folder / LEARNT, embedder=_EMBEDDER) if folder else None
        self._memory = ConversationMemory(
            agent, ConversationConfig(), agent_graph=self._graph, embedder=_EMBEDDER
        )
        self._session = self._log.name if self._log else "talk"
        self._given: dict[str, int] = {}
        """Answer → the first tick at which it was given."""
        if self._log:
            for name, entries in self._log.others():
                self._replay(name, entries)

    # ── a talk ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def ask(self, question: str) -> Reply:
        """The character's answer. It knows what it knew at the tick, and what was said in this talk.

        Raises UsageError for an empty question and for one of more than 2,000 characters, Paused if the mind is not
        available.
        """
        question = _checked(question)
        before = self._before(question)
        answered = await ask_character(
            self.view, question, self._mind, seed=self._seed, lines=self._lines, before=before and _earlier(before)
        )
        query = self._memory.upsert_query(self._session, question)
        answer = self._memory.record_answer(self._session, query, answered.answer)
        self._given.setdefault(answer, self.tick)
        self._last = query, answer
        self._write({"asked": question, "answer": answered.answer, "tick": self.tick, "because": answered.because})
        persona = self.view.persona
        self._lines += [
            Spoken(speaker=PERSON, called="", text=question),
            Spoken(speaker=self.agent, called=persona.called, text=answered.answer),
        ]
        rests = tuple(_rests(self.view.memories.get, answered))
        return Reply(self.agent, self.tick, self.time, question, answered.answer, rests, before, answered.outcome)

    def rate(self, label: Label, note: str | None = None) -> None:
        """How the last answer was received: `up`, `down` or `retry`. Raises UsageError before the first answer."""
        if self._last is None:
            raise UsageError("there is no answer to rate yet", hint="ask something first")
        if label not in LABELS:
            raise UsageError(f"the label is {label!r}; expected one of {', '.join(LABELS)}")
        query, answer = self._last
        self._memory.record_feedback(self._session, query, label, answer=answer, note=note)
        self._write({"received": label, "note": note or ""})

    async def retry(self) -> Reply:
        """The last question again; its answer counts as not good enough. Raises UsageError before the first answer."""
        if not self._lines:
            raise UsageError("there is no answer to try again yet", hint="ask something first")
        self.rate("retry")
        question = self._lines[-2].text
        del self._lines[-2:]
        self._lines += [Spoken(speaker=PERSON, called="", text=question)] * 0
        return await self.ask(question)

    @property
    def lines(self) -> Sequence[Spoken]:
        """What was said so far; the person's lines have the speaker `-`."""
        return tuple(self._lines)

    def close(self) -> None:
        """Learn what proved useful. May be called twice."""
        if self._log is None or self._log.closed:
            return
        if self._session in self._memory.active_sessions():
            self._memory.finalize_session(self._session, checkpoint=False)
        self._log.close()
        if self._graph is not None:
            self._graph.close()

    def __enter__(self) -> Talk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _before(self, question: str) -> AskedBefore | None:
        """The best received answer to a question like this one, of those the character could give at this tick."""
        alike = self._memory.config.agent.tau_sim
        for one in self._memory.best_answers(self._session, question, 8, min_similarity=alike):
            if self._given.get(one.id, self.tick + 1) <= self.tick:
                graph = self._memory.session(self._session) if one.source == "session" else self._memory.agent
                return AskedBefore(graph.node(one.query).text, one.similarity, one.text, one.feedback)
        return None

    def _write(self, entry: Mapping[str, Any]) -> None:
        if self._log:
            self._log.write(entry)

    def _replay(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Note the ticks of an earlier talk's answers; learn from it, if its process died before it was closed."""
        closed, graph = entries[-1:] == [{"closed": True}], self._memory
        query = answer = ""
        for entry in entries:
            if "asked" in entry:
                query = graph.upsert_query(name, entry["asked"])
                answer = graph.record_answer(name, query, entry["answer"])
                self._given[answer] = min(entry["tick"], self._given.get(answer, entry["tick"]))
            elif "received" in entry and query and not closed:
                graph.record_feedback(name, query, entry["received"], answer=answer, note=entry["note"] or None)
        if name in graph.active_sessions():
            graph.finalize_session(name, promote=not closed, checkpoint=False)


def _checked(question: str) -> str:
    text = clean(question).strip()
    if not text:
        raise UsageError("the question is empty", hint="ask something")
    if len(text) > LONGEST_QUESTION:
        raise UsageError(
            f"the question has {len(text):,} characters; expected at most {LONGEST_QUESTION:,}", hint="shorten it"
        )
    return text


def _earlier(before: AskedBefore) -> Earlier:
    received = "well" if before.received > 0 else "badly" if before.received < 0 else ""
    return Earlier(question=before.question, answer=before.answer, received=received)
