"""What a run and a store of memories have in common: characters, and what each remembers."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from commonplace.api import scenario_of
from commonplace.clock import parse_iso
from commonplace.errors import WrongUse
from commonplace.memory import Memory, MemoryStream, Policy, policies
from commonplace.memory.analysis import analyser
from commonplace.memory.embedding import default_embedder
from commonplace.memory.keeping import refuse_other_embedder, settings_of
from commonplace.memory.stores import Store, Stored, open_store
from commonplace.run.connection import reader
from commonplace.run.reading import Reading
from commonplace.run.schema import APPLICATION_ID


class Kept(Protocol):
    """Memories that are only looked at. `at`: a tick or an ISO simulated time, or None for the latest there is.

    Each method raises WrongUse for a character there is none of.
    """

    def agents(self) -> Sequence[str]:
        """The characters, sorted."""
        ...

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """What the character remembers, oldest first."""
        ...

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """The same, to search and retrieve from; changes to it are kept nowhere. None: the policy it was made for."""
        ...

    def now(self, agent: str, at: str | None) -> datetime:
        """The simulated time of a question that is asked then."""
        ...

    def stored(self, agent: str) -> Stored:
        """All there is of the character, with what was forgotten and archived."""
        ...


@contextmanager
def opened(where: str) -> Generator[Kept]:
    """The run or store of that name. Raises WrongUse where there is none."""
    if is_run(where):
        with Reading.open(Path(where)) as reading:
            yield KeptInRun(reading)
        return
    store = open_store(where, create=False)
    try:
        for repair in store.repairs:
            print(f"{store.where}: {repair}", file=sys.stderr)
        yield KeptInStore(store)
    finally:
        store.close()


class KeptInRun:
    """The memories of a run."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def agents(self) -> Sequence[str]:
        """The characters, sorted."""
        return self._reading.agent_ids

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """What the character remembered at the end of that tick."""
        return self._reading.memories(agent, at)

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """The character's stream at the end of that tick."""
        return self._reading.stream_at(agent, at, **({} if policy is None else {"policy": policy}))

    def now(self, agent: str, at: str | None) -> datetime:  # noqa: ARG002 - one clock for all
        """The end of that tick."""
        return scenario_of(self._reading.manifest).clock.time(self._reading.tick(at))

    def stored(self, agent: str) -> Stored:
        """All of a character at the last tick."""
        stream = self._reading.stream_at(agent)
        memories = self._reading.memories(agent, forgotten=True)
        manifest, embedder = self._reading.manifest, default_embedder()
        return Stored(
            memories,
            [stream.vector(memory.id) if memory.id in stream else None for memory in memories],
            forgotten=frozenset(memory.id for memory in memories if memory.id not in stream),
            settings={**settings_of(embedder, manifest.language), "embedder": manifest.embedder},
        )


class KeptInStore:
    """The memories of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def agents(self) -> Sequence[str]:
        """The characters, sorted."""
        return self._store.agents()

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """What the character remembers of the time up to then."""
        return list(self.stream(agent, at))

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """The character's stream, without what was made after that time; accesses are those of now.

        Raises WrongUse where the policy compares vectors and those here are not the built-in embedder's.
        """
        stored = self.stored(agent)
        policy = policy or policies.RECALL
        if policy.relevance == "cosine":
            refuse_other_embedder(stored.settings, default_embedder(), self._store.where)
        until = None if at is None else _moment(at)
        later = (memory.id for memory in stored.memories if until is not None and memory.created_at > until)
        return MemoryStream.restore(
            agent,
            stored.memories,
            stored.vectors,
            forgotten={*stored.forgotten, *later},
            archived=stored.archived,
            policy=policy,
            analyser=analyser(stored.settings.get("language", "en")),
        )

    def now(self, agent: str, at: str | None) -> datetime:
        """That time; if None, the latest at which anything was made or accessed."""
        if at is not None:
            return _moment(at)
        memories = self.memories(agent, None)
        if not memories:
            raise WrongUse(f"{agent} remembers nothing", where=self._store.where, todo="give a time with --at")
        return max(max(memory.created_at, memory.accessed_at) for memory in memories)

    def stored(self, agent: str) -> Stored:
        """All there is of the character."""
        self._known(agent)
        return self._store.load(agent)

    def _known(self, agent: str) -> None:
        if agent not in self._store.agents():
            there = ", ".join(self._store.agents()) or "none yet"
            todo = f"the characters are {there}"
            raise WrongUse(f"there is no character {agent!r}", where=self._store.where, todo=todo)


def _moment(at: str) -> datetime:
    try:
        return parse_iso(at)
    except ValueError as error:
        raise WrongUse(f"--at {at!r} of a store", todo="give an ISO time such as 2031-10-04T08:00") from error


def memory_named(text: str) -> tuple[str, int]:
    """`AGENT:ID` as both. Raises WrongUse for anything else."""
    agent, _, number = text.rpartition(":")
    if not agent or not number.isdecimal():
        raise WrongUse(f"{text!r} names no memory", todo="a memory is AGENT:ID, such as mira:41; `memories` shows ids")
    return agent, int(number)


def is_run(where: str) -> bool:
    """Whether it is a SQLite file that says of itself that it is a run."""
    path = Path(where)
    if not path.is_file():
        return path.suffix == ".run"
    try:
        connection = reader(path)
    except WrongUse:
        return path.suffix == ".run"
    try:
        return connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    finally:
        connection.close()
