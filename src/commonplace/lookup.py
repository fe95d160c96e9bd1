"""What an argument names: a run or a store, a character in it, a memory of that character."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from difflib import get_close_matches

from commonplace.clock import parse_iso
from commonplace.errors import UsageError, command
from commonplace.memory import Memory, MemoryStream, Policy, policies
from commonplace.memory.analyser import analyser_of, analyser_of_run
from commonplace.memory.embedding import default_embedder
from commonplace.memory.stores import Stored, load, read_store
from commonplace.memory.stores.keeper import refuse_other_embedder, settings_of
from commonplace.memory.stores.store import Readable
from commonplace.paths import kind_of
from commonplace.registry import RUNS, found
from commonplace.run.place import Address, place
from commonplace.run.reading import Reading
from commonplace.run.schema import RUN
from commonplace.run.tables import open_read_only
from commonplace.sqlite import application_id

Names = Mapping[str, Sequence[str]]
"""Character id → the other names it goes by."""


# ── characters and memories ──────────────────────────────────────────────────────────────────────────────────────────


def character(name: str, names: Names, where: object) -> str:
    """Returns the id of the character with that id, full name or short name, in any case.

    Raises UsageError for an unknown name, with the nearest ones, and for one that several characters share.
    """
    if name in names:
        return name
    ids = _ids_by_name(names)
    found = ids.get(name.casefold(), [])
    if len(found) == 1:
        return found[0]
    if found:
        what = f"{name!r} names several characters: {', '.join(found)}"
        raise UsageError(what, where=str(where), hint="give the id of one of them")
    near = [ids[one][0] for one in get_close_matches(name.casefold(), ids, n=3)]
    guess = f"did you mean {' or '.join(dict.fromkeys(near))}? " if near else ""
    hint = f"{guess}the characters are {', '.join(sorted(names)) or 'none yet'}"
    raise UsageError(f"there is no character {name!r}", where=str(where), hint=hint)


def memory_reference(text: str, names: Names, where: object) -> tuple[str, int]:
    """Reads AGENT:ID as the character's id and the memory's number. Raises UsageError for anything else."""
    name, _, number = text.rpartition(":")
    if not name or not number.isdecimal():
        hint = "expected AGENT:ID, such as mira:41; `commonplace memories RUN AGENT` shows ids"
        raise UsageError(f"{text!r} does not name a memory", hint=hint)
    return character(name, names, where), int(number)


def names_in(reading: Reading) -> Names:
    """Returns the characters of a run, including those who have not joined yet."""
    names = dict.fromkeys(reading.agent_ids, ())
    return names | {one.id: (one.name, one.called) for one in reading.scenario.personas.values()}


def _ids_by_name(names: Names) -> dict[str, list[str]]:
    """Maps every name in lower case to the ids it stands for."""
    ids: dict[str, list[str]] = {}
    for agent, others in names.items():
        for name in dict.fromkeys(one.casefold() for one in (agent, *others)):
            ids.setdefault(name, []).append(agent)
    return ids


def moment(option: str, text: str | None) -> datetime | None:
    """Returns the ISO simulated time an option gives. Raises UsageError for anything else."""
    try:
        return None if text is None else parse_iso(text)
    except ValueError as error:
        hint = "expected an ISO time such as 2031-10-04T08:00"
        raise UsageError(f"{option} {text!r} is not a time", hint=hint) from error


# ── runs and stores ──────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def opened(where: str) -> Generator[RunMemories | StoreMemories]:
    """Opens the memories in a run file or a store, to read. Raises UsageError for anything else."""
    if where.endswith((".yaml", ".yml")) and kind_of(where) == "file":
        hint = f"run it first ({command('run', where)}), then name its run"
        raise UsageError("a scenario has no memories before it is run", where=where, hint=hint)
    if is_run(where):
        with Reading.open(where) as reading:
            yield RunMemories(reading)
        return
    store = read_store(where)
    try:
        for repair in store.repairs:
            print(f"{store.where}: {repair}", file=sys.stderr)
        yield StoreMemories(store)
    finally:
        store.close()


def is_run(where: str) -> bool:
    """Tells whether it is a run. A path that cannot be read counts as one if it ends in `.run`.

    The address of a database is that of a store of memories, unless it names a run or there is no such store.
    """
    path = place(where)
    if isinstance(path, Address):
        return bool(path.name) or found(RUNS["only_runs"])(path)
    if kind_of(path) != "file":
        return path.suffix == ".run"
    try:
        connection = open_read_only(path)
    except UsageError:
        return path.suffix == ".run"
    try:
        return application_id(connection) == RUN.application_id
    finally:
        connection.close()


class RunMemories:
    """The memories in a run. `at` is a tick or an ISO simulated time; None is the last tick."""

    def __init__(self, reading: Reading) -> None:
        self.names = names_in(reading)
        self._reading = reading

    def agents(self) -> Sequence[str]:
        """Returns the characters, sorted."""
        return self._reading.agent_ids

    def character(self, name: str) -> str:
        """Returns the id of a character. Raises UsageError for an unknown name."""
        return character(name, self.names, self._reading.path)

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """Returns what the character remembered at the end of that tick, oldest first."""
        return self._reading.memories(agent, at)

    def policy(self, name: str, at: str | None) -> Policy:
        """Returns the policy of that name, as the run has it at that tick. Raises UsageError."""
        return self._reading.scenario_at(at).policy_named(name)

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """Returns the memories as a stream to search. Changes to it are not kept. `policy`: the run's own if None."""
        return self._reading.stream_at(agent, at, **({} if policy is None else {"policy": policy}))

    def now(self, agent: str, at: str | None) -> datetime:  # noqa: ARG002 – one clock for all
        """Returns the simulated time of that tick."""
        return self._reading.time(self._reading.tick(at))

    def stored(self, agent: str) -> Stored:
        """Returns everything about the character at the last tick, including what was forgotten."""
        stream = self._reading.stream_at(agent)
        memories = self._reading.memories(agent, forgotten=True)
        manifest = self._reading.manifest
        return Stored(
            memories,
            [stream.vector(memory.id) if memory.id in stream else None for memory in memories],
            forgotten={memory.id for memory in memories if memory.id not in stream},
            settings={
                **settings_of(default_embedder(), analyser_of_run(manifest.language, manifest.analyser)),
                "embedder": stream.table.embedder.name,
            },
        )


class StoreMemories:
    """The memories in a store. `at` is an ISO simulated time; None is the latest."""

    def __init__(self, store: Readable) -> None:
        self._store = store

    def agents(self) -> Sequence[str]:
        """Returns the characters, sorted."""
        return self._store.agents()

    def character(self, name: str) -> str:
        """Returns the id of a character. Raises UsageError for an unknown name."""
        return character(name, dict.fromkeys(self.agents(), ()), self._store.where)

    def memories(self, agent: str, at: str | None) -> Sequence[Memory]:
        """Returns what the character remembers from the time up to then, oldest first."""
        return list(self.stream(agent, at))

    def policy(self, name: str, at: str | None) -> Policy:  # noqa: ARG002 – the same at any time
        """Returns the policy of that name. Raises UsageError."""
        return policies.by_name(name)

    def stream(self, agent: str, at: str | None, policy: Policy | None = None) -> MemoryStream:
        """Returns the memories as a stream to search. Changes to it are not kept. `policy`: `recall` if None.

        Access times are today's, whatever `at` says. Raises UsageError where the policy compares vectors and those
        here are not the built-in embedder's.
        """
        stored = self.stored(agent)
        policy = policy or policies.RECALL
        if policy.relevance == "cosine":
            refuse_other_embedder(stored.settings, default_embedder(), self._store.where)
        until = moment("--at", at)
        later = (memory.id for memory in stored.memories if until is not None and memory.created_at > until)
        return MemoryStream.restore(
            agent,
            stored.memories,
            stored.vectors,
            forgotten={*stored.forgotten, *later},
            archived=stored.archived,
            policy=policy,
            analyser=analyser_of(stored.settings),
        )

    def now(self, agent: str, at: str | None) -> datetime:
        """Returns that time; if None, the latest at which a memory was made or accessed."""
        time = moment("--at", at)
        if time is not None:
            return time
        memories = self.memories(agent, None)
        if not memories:
            raise UsageError(f"{agent} remembers nothing", where=self._store.where, hint="give a time with --at")
        return max(max(memory.created_at, memory.accessed_at) for memory in memories)

    def stored(self, agent: str) -> Stored:
        """Returns everything about the character."""
        return load(self._store, agent)
