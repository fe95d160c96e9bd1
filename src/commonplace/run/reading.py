"""Reading a run: whole ticks, live or finished, without ever keeping a writer waiting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from commonplace.character.state import CharacterState
from commonplace.errors import WrongUse
from commonplace.memory import MemoryStream
from commonplace.memory.analysis import analyser
from commonplace.memory.embedding import Vector, unpacked
from commonplace.memory.record import Memory
from commonplace.run import frames, inputs, lookup, tables
from commonplace.run.connection import damaged, mended
from commonplace.run.exchange import Exchange, exchange_of
from commonplace.run.frame import Frame
from commonplace.run.opened import Opened
from commonplace.run.packing import unpacked_ids, unpacked_trace, unpacked_vector
from commonplace.run.record import AnswerRow, InputRow, Version
from commonplace.run.rows import (
    ANSWER,
    EVENT,
    MEMORY,
    VERSION,
    StoredMemory,
    answer_from,
    event_from,
    memory_from,
    unpacked_memory,
    version_from,
)
from commonplace.run.schema import EXCHANGED
from commonplace.run.versions import restore_state, restore_world
from commonplace.world.events import Event
from commonplace.world.state import World


class Reading(Opened):
    """Read-only use of a run file. Sees every tick that is committed, also while another process goes on with it.

    A tick given as None is the last one. Each method raises WrongUse for a tick that has not been lived, RunDamaged for
    bytes that cannot be read. No transaction is held between calls. May be used by several threads.
    """

    # ── history ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def events(
        self, first: int = 0, last: int | None = None, *, type: str | None = None, agent: str | None = None
    ) -> tuple[Event, ...]:
        """The events of the ticks first … last in canonical order."""
        where, values = ["tick BETWEEN ? AND ?"], [first, self._upto(last)]
        filters = {"type": type, "agent": agent}
        where += [f"{column} = ?" for column, value in filters.items() if value is not None]
        given = [value for value in filters.values() if value is not None]
        query = f"SELECT {EVENT} FROM event WHERE {' AND '.join(where)} ORDER BY tick, phase, agent, ordinal"
        return tuple(event_from(row) for row in self.all(query, *values, *given))

    def event(self, tick: int, agent: str, ordinal: int) -> Event | None:
        """One event by the parts of its id."""
        row = self.one(f"SELECT {EVENT} FROM event WHERE agent = ? AND tick = ? AND ordinal = ?", agent, tick, ordinal)
        return None if row is None else event_from(row)

    def inputs(self, first: int = 0, last: int | None = None) -> tuple[InputRow, ...]:
        """The inputs stamped with the ticks first … last, in order."""
        with mended(str(self.path)):
            return inputs.stamped(self._connection, first, self._upto(last))

    def queued(self) -> tuple[InputRow, ...]:
        """Inputs that wait for a tick; their `tick` is −1."""
        with mended(str(self.path)):
            return inputs.queued(self._connection)

    def frame(self, at: int | str | None = None) -> Frame:
        """A whole tick as views draw it."""
        return frames.frame_at(self, self.tick(at))

    def frames(self, first: int = 0, last: int | None = None) -> Iterator[Frame]:
        """The frames first … last; fast, since each is made from the one before."""
        return frames.frames(self, first, self._upto(last))

    # ── state ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def world_at(self, at: int | str | None = None) -> World:
        """The world at the end of a tick, equal to the one the executor made."""
        tick = self.tick(at)
        with mended(str(self.path)):
            return restore_world(tick, lookup.world(self._connection, tick), self.events(tick, tick))

    def state_at(self, agent: str, at: int | str | None = None) -> CharacterState:
        """Plan, beliefs, relations and pending jobs at the end of a tick."""
        self._known(agent)
        with mended(str(self.path)):
            return restore_state(lookup.state(self._connection, agent, self.tick(at)))

    def states_at(self, at: int | str | None = None) -> dict[str, CharacterState]:
        """Everybody's state, by id, sorted; those who are not in the world (yet, any more) included."""
        return {agent: self.state_at(agent, at) for agent in self.agent_ids}

    @property
    def agent_ids(self) -> list[str]:
        """Every character that ever had a state, sorted."""
        with mended(str(self.path)):
            return lookup.agents(self._connection)

    def agents(self, at: int | str | None = None) -> list[dict[str, str]]:
        """`{id, name, place, doing, plan_item, mood}` of everybody in the world, by id; `place` is an area's id."""
        return tables.agents(self, self.tick(at))

    def versions(self, first: int, last: int) -> list[tuple[int, Version]]:
        """(tick, version) of what changed in the ticks first … last, by tick, owner, kind and key."""
        query = f"SELECT {VERSION} FROM version WHERE tick BETWEEN ? AND ? ORDER BY tick, owner, kind, key"
        return [(row[0], version_from(row)) for row in self.all(query, first, last)]

    def shown_at(self, tick: int) -> list[Version]:
        """The versions that a frame of the tick is made of."""
        with mended(str(self.path)):
            return lookup.shown(self._connection, tick)

    # ── memories ────────────────────────────────────────────────────────────────────────────────────────────────────

    def memories(self, agent: str, at: int | str | None = None, *, forgotten: bool = False) -> list[Memory]:
        """What a character remembers at the end of a tick, by id, last accessed as of then."""
        tick = self.tick(at)
        self._known(agent)
        kept = "" if forgotten else f" AND (removed IS NULL OR removed > {tick})"
        accessed = self.accesses(agent, tick)
        query = f"SELECT {MEMORY} FROM memory WHERE agent = ? AND tick <= ?{kept} ORDER BY id"
        return [self._memory(row, accessed.get(row[1])) for row in self.all(query, agent, tick)]

    def memory(self, agent: str, id_: int, accessed: int | None = None) -> Memory | None:
        """One memory, forgotten or not; `accessed` is its last access (microseconds since 1970), if there was one."""
        row = self.one(f"SELECT {MEMORY} FROM memory WHERE agent = ? AND id = ?", agent, id_)
        return None if row is None else self._memory(row, accessed)

    def witnesses(self, last: int | None = None) -> dict[str, list[tuple[str, int]]]:
        """Event id → (character, memory id) of the observations it became up to a tick, in that order."""
        query = "SELECT event, agent, id FROM memory WHERE event != '' AND kind = 'observation' AND tick <= ?"
        found: dict[str, list[tuple[str, int]]] = {}
        for event, agent, id_ in self.all(f"{query} ORDER BY agent, id", self._upto(last)):
            found.setdefault(event, []).append((agent, id_))
        return found

    def accesses(self, agent: str, tick: int) -> dict[int, int]:
        """Memory id → last access at the end of a tick (microseconds since 1970), of those ever accessed."""
        query = "SELECT at, ids FROM touch WHERE agent = ? AND tick <= ? ORDER BY tick"
        return {id_: at for at, ids in self.all(query, agent, tick) for id_ in unpacked_ids(ids)}

    def stream_at(self, agent: str, at: int | str | None = None, **parts: Any) -> MemoryStream:
        """A character's stream at the end of a tick, equal to the one that lived.

        `parts` as of `MemoryStream`; those left out are the run's: policy, analyser and the built-in embedder. Raises
        WrongUse when the run was made with another embedder and none is given.
        """
        tick = self.tick(at)
        query = "SELECT value FROM memory LEFT JOIN vector ON vector.id = memory.vector"
        rows = self.all(f"{query} WHERE agent = ? AND memory.tick <= ? ORDER BY memory.id", agent, tick)
        gone = self.all("SELECT id FROM memory WHERE agent = ? AND removed <= ? ORDER BY id", agent, tick)
        return MemoryStream.restore(
            agent,
            self.memories(agent, tick, forgotten=True),
            [None if value is None else self._vector(value) for (value,) in rows],
            forgotten=[id_ for (id_,) in gone],
            **{**self._parts(parts), **parts},
        )

    # ── why ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def trace(self, agent: str, tick: int) -> dict[str, Any]:
        """Why a character did what it did; empty when nothing was kept or it was trimmed."""
        row = self.one("SELECT body FROM trace WHERE agent = ? AND tick = ?", agent, tick)
        try:
            return {} if row is None else unpacked_trace(row[0])
        except ValueError as error:
            raise damaged(str(self.path), f"the trace of {agent} at tick {tick}: {error}") from error

    def answers(
        self, first: int = 0, last: int | None = None, *, agent: str | None = None, used: bool = True
    ) -> tuple[AnswerRow, ...]:
        """Every attempt at the questions asked in the ticks first … last, in the order (character, tick, ordinal).

        Unless `used` is False, only those that committed ticks rest on.
        """
        where = "tick BETWEEN ? AND ?" + (" AND used IS NOT NULL" if used else "")
        values: tuple[Any, ...] = (first, self._upto(last))
        if agent is not None:
            where, values = f"agent = ? AND {where}", (agent, *values)
        order = "agent, tick, ordinal, attempt"
        rows = self.all(f"SELECT {ANSWER}, usage FROM answer WHERE {where} ORDER BY {order}", *values)
        return tuple(answer_from(row[:-1], row[-1]) for row in rows)

    def exchange(self, row: AnswerRow) -> Exchange | None:
        """What was said between the run and the mind at an attempt; None where nothing was, or it was trimmed."""
        if self.format < EXCHANGED:
            return None
        try:
            with mended(str(self.path)):
                return exchange_of(self._connection, row)
        except ValueError as error:
            raise damaged(str(self.path), f"what was said to {row.agent} at tick {row.tick}: {error}") from error

    def usage(self) -> list[dict[str, Any]]:
        """What was asked of the mind, a row per (character, task), and a total whose two ids are empty.

        Answers that no committed tick rests on (yet) are counted too: they were paid for. Questions that are no
        character's have the owner `-`.
        """
        rows = self.all(f"SELECT {ANSWER}, usage FROM answer ORDER BY agent, tick, ordinal, attempt")
        return tables.usage(answer_from(row[:-1], row[-1]) for row in rows)

    # ── inside ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _upto(self, last: int | None) -> int:
        return self.last_tick if last is None else last

    def _known(self, agent: str) -> None:
        if agent in self.agent_ids or agent in self.scenario.personas:
            return
        ids = sorted({*self.agent_ids, *self.scenario.personas})
        there = f"the characters are {', '.join(ids)}"
        raise WrongUse(f"there is no character {agent!r}", where=str(self.path), todo=there)

    def _parts(self, given: dict[str, Any]) -> dict[str, Any]:
        manifest, embedder = self.manifest, self.scenario.embedder
        if "embedder" not in given and manifest.embedder != embedder.name:
            todo = "give the embedder the run was made with"
            raise WrongUse(f"its vectors were made by {manifest.embedder}", where=str(self.path), todo=todo)
        return {
            "policy": self.scenario.policy,
            "embedder": embedder,
            "analyser": analyser(manifest.language),
        }

    def _memory(self, row: StoredMemory, accessed: int | None) -> Memory:
        try:
            return memory_from(unpacked_memory(row), accessed)
        except ValueError as error:
            raise damaged(str(self.path), f"memory {row[1]} of {row[0]}: {error}") from error

    def _vector(self, value: bytes) -> Vector:
        try:
            return unpacked(unpacked_vector(value))
        except ValueError as error:
            raise damaged(str(self.path), f"a vector: {error}") from error
