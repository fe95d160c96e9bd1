"""Reading a run: whole ticks, live or finished, without blocking the writer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import groupby
from threading import Lock
from types import TracebackType
from typing import Any, Self, TypeVar

from commonplace.character.fact import Fact
from commonplace.character.goal import Goals
from commonplace.character.plan import Plan
from commonplace.character.state import CharacterState
from commonplace.clock import parse_iso
from commonplace.errors import UsageError
from commonplace.memory import MemoryStream
from commonplace.memory.analyser import analyser_of_run
from commonplace.memory.embedding import BUILT_IN, is_pure
from commonplace.memory.reader import Snapshot
from commonplace.memory.record import Emotion, Memory
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.rng import Seeds
from commonplace.run import streams, versions
from commonplace.run.digest import START, Digests
from commonplace.run.frames import Frame, FrameState
from commonplace.run.integrity import blame
from commonplace.run.journal import ModelCall, model_call_of
from commonplace.run.manifest import POLICY
from commonplace.run.minds import Usage, mind_by_question
from commonplace.run.rows import (
    ANSWER,
    EVENT,
    MEMORY,
    VERSION,
    AnswerRow,
    InputRow,
    PackedMemory,
    Version,
    answer_from,
    emotion_from,
    event_from,
    input_from,
    memory_from,
    unpacked_ids,
    unpacked_memory,
    unpacked_trace,
    version_from,
)
from commonplace.run.schema import damage
from commonplace.run.tables import Source, Tables
from commonplace.run.versions import SHOWN_KINDS
from commonplace.scenario.circumstances import with_circumstances
from commonplace.scenario.compiling import as_changed, compiled_from_text, in_session
from commonplace.scenario.scenario import Scenario
from commonplace.sqlite import Synchronous
from commonplace.text import shortened
from commonplace.world.circumstances import Circumstance
from commonplace.world.events import Event
from commonplace.world.state import World

MOST_TICKS = 1 << 60
"""Above any tick, and small enough for SQLite's integers."""
QUEUED = "SELECT seq, -1, body FROM input WHERE tick IS NULL ORDER BY seq"


T = TypeVar("T")

MOOD_MEMORIES = 10
"""How many of the latest felt memories a mood is made of."""
MOOD_REACH = 200
"""Among how many of the latest memories they are looked for: about a day of a town."""
SHOWN = 120
"""Characters of a cell, or of what is wrong with it, in a message."""


class Reading(Tables):
    """Read-only use of a run. Sees every tick that is committed, also while another process continues it.

    A tick given as None is the last one. Each method raises UsageError for a tick that the run does not have and
    RunDamaged for bytes that cannot be read. No transaction is held between calls. May be used by several threads:
    what one reads hides no tick from another. It may be closed while others read; what they ask next is refused.
    """

    def __init__(self, source: Source) -> None:
        """Internal: use `open`."""
        super().__init__(source)
        self._frames = Frames(self)
        self._with_newcomers: tuple[tuple[tuple[str, int], ...], Scenario] | None = None
        """Who had come, and the scenario with them: one value, because threads replace it."""
        self._whole = -1
        """All ticks up to this one are known to be there."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}: {self.manifest.scenario}, tick {self.last_tick}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        blame(self.path, error)

    # ── the run ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def _written(self) -> Scenario:
        """The scenario as it was when the run was made."""
        with self.connection("the session of the panel"):
            written = _compiled(self.manifest.text, f"the scenario in {self.path}")
            settings = self.manifest.settings or {}
            return as_changed(in_session(written, settings.get("session")), {}, {POLICY: settings.get(POLICY)})

    @property
    def scenario(self) -> Scenario:
        """With everybody who has come since the run was made, as they came; the same object until somebody else comes.

        Compiled from the text in the manifest, which takes some tenths of a second the first time.
        """
        came, known = self.newcomers, self._with_newcomers
        if not came:
            return self._written
        if known is None or known[0] != came:
            with self.connection("who came after the beginning") as connection:
                known = came, as_changed(self._written, versions.first_cards(connection, came))
            self._with_newcomers = known
        return known[1]

    @property
    def newcomers(self) -> tuple[tuple[str, int], ...]:
        """(character, tick) of everybody who has come since the run was made."""
        with self.connection("who came after the beginning") as connection:
            return versions.newcomers(connection)

    def scenario_at(self, at: int | str | None = None) -> Scenario:
        """As inputs have changed it up to a tick: newcomers, cards and policy; with what is so, and was lately."""
        tick = self.tick(at)
        with self.connection(f"the characters at tick {tick}"):
            changed = as_changed(self._written, self.cards_at(tick), self.settings_at(tick))
            return with_circumstances(changed, self.circumstances_at(tick))

    @property
    def synchronous(self) -> Synchronous:
        """What its commits wait for."""
        return "FULL" if self.meta("synchronous") == "FULL" else "NORMAL"

    @property
    def last_tick(self) -> int:
        """The last committed tick; −1 for none. Raises RunDamaged unless all ticks before it are there."""
        last: int | None = self.one("SELECT max(n) FROM tick")[0]
        if last is None:
            return -1
        whole = self._whole  # another thread may find more meanwhile
        if last > whole:
            (count,) = self.one("SELECT count(*) FROM tick WHERE n > ? AND n <= ?", whole, last)
            if count != last - whole:
                raise damage(str(self.path), f"ticks are missing before tick {last}")
            self._whole = last
        return last

    def tick(self, wanted: str | int | None = None) -> int:
        """Finds a committed tick by a number, an ISO simulated time (the first tick not before it) or None, the last.

        None gives −1 for a run without ticks. Raises UsageError for a tick that the run does not have.
        """
        if wanted is None:
            return self.last_tick
        found = self._tick_of(wanted) if isinstance(wanted, str) else wanted
        if not 0 <= found <= MOST_TICKS or self.one("SELECT n FROM tick WHERE n = ?", found) is None:
            last = self.last_tick
            hint = f"the run has ticks 0 to {last}" if last >= 0 else "the run has no ticks yet"
            raise UsageError(f"there is no tick {wanted}", where=str(self.path), hint=hint)
        return found

    def time(self, tick: int) -> datetime:
        """Returns the simulated moment at which a tick ends. Raises RunDamaged for a row's tick beyond the calendar."""
        try:
            return self._written.clock.time(tick)
        except OverflowError as error:
            raise self.damaged(f"tick {tick}", error) from error

    def digests(self, at: int | str | None = None) -> Digests:
        """Returns both chains up to a tick."""
        tick = self.tick(at)
        row = self.one("SELECT history, state FROM tick WHERE n = ?", tick)
        if row is not None and not all(isinstance(cell, bytes) for cell in row):
            raise damage(str(self.path), f"table tick, row {tick}: a digest that is not bytes")
        return Digests(START, START) if row is None else Digests(*row)

    def digest(self, at: int | str | None = None, *, state: bool = False) -> str:
        """Returns the chained digest up to a tick, hexadecimal: of the history, or of everybody's state."""
        digests = self.digests(at)
        return (digests.state if state else digests.history).hex()

    def histories(self, first: int, last: int) -> list[tuple[int, bytes]]:
        """Returns (tick, history digest) of the ticks first … last."""
        return self.all("SELECT n, history FROM tick WHERE n BETWEEN ? AND ? ORDER BY n", first, last)

    # ── history ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def events(
        self, first: int = 0, last: int | None = None, *, type: str | None = None, agent: str | None = None
    ) -> tuple[Event, ...]:
        """Returns the events of the ticks first … last in canonical order."""
        where, values = ["tick BETWEEN ? AND ?"], [first, self._upto(last)]
        filters = {"type": type, "agent": agent}
        where += [f"{column} = ?" for column, value in filters.items() if value is not None]
        given = [value for value in filters.values() if value is not None]
        query = f"SELECT {EVENT} FROM event WHERE {' AND '.join(where)} ORDER BY tick, phase, agent, ordinal"
        return tuple(self.made("event", event_from, query, *values, *given))

    def event(self, tick: int, agent: str, ordinal: int) -> Event | None:
        """Returns an event by the parts of its id; None if there is none."""
        query = f"SELECT {EVENT} FROM event WHERE agent = ? AND tick = ? AND ordinal = ?"
        return next(iter(self.made("event", event_from, query, agent, tick, ordinal)), None)

    def last_event(self, agent: str, before: int, types: Sequence[str]) -> Event | None:
        """Returns the last event of a character before a tick that is of one of the types; None if there is none."""
        query = f"SELECT {EVENT} FROM event WHERE agent = ? AND tick < ? AND type IN ({', '.join('?' * len(types))})"
        query += " ORDER BY tick DESC, phase DESC, ordinal DESC LIMIT 1"
        return next(iter(self.made("event", event_from, query, agent, before, *types)), None)

    def counts(self, first: int, last: int) -> dict[int, int]:
        """Counts the events other than IDLE in each of the ticks first … last that has some."""
        query = "SELECT tick, count(*) FROM event WHERE tick BETWEEN ? AND ? AND type != 'IDLE' GROUP BY tick"
        return dict(self.all(query, first, last))

    def inputs(self, first: int = 0, last: int | None = None) -> tuple[InputRow, ...]:
        """Returns the inputs stamped with the ticks first … last, in order."""
        query = "SELECT seq, tick, body FROM input WHERE tick BETWEEN ? AND ? ORDER BY tick, seq"
        return tuple(self.made("input", input_from, query, first, self._upto(last)))

    def queued(self) -> tuple[InputRow, ...]:
        """Inputs that wait for a tick; their `tick` is −1."""
        return tuple(self.made("input", input_from, QUEUED))

    def frame(self, at: int | str | None = None) -> Frame:
        """Returns a whole tick as views draw it; fast for a caller that steps through time, in either direction."""
        return self._frames.at(self.tick(at))

    def frames(self, first: int = 0, last: int | None = None) -> Iterator[Frame]:
        """Returns an iterator over the frames first … last, or up to the last committed tick."""
        first, last = self.tick(first), min(self._upto(last), self.last_tick)
        return (self._frames.at(tick) for tick in range(first, last + 1))

    # ── state ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def world_at(self, at: int | str | None = None) -> World:
        """Returns the world at the end of a tick, equal to the one the executor made."""
        tick = self.tick(at)
        with self.connection(f"the world at tick {tick}") as connection:
            return versions.restore_world(tick, versions.world_versions_at(connection, tick), self.events(tick, tick))

    def state_at(self, agent: str, at: int | str | None = None) -> CharacterState:
        """Returns plan, beliefs, relations and pending jobs at the end of a tick."""
        self._known(agent)
        tick = self.tick(at)
        with self.connection(f"the state of {agent} at tick {tick}") as connection:
            return versions.restore_state(versions.state_versions_at(connection, agent, tick))

    def goals_at(self, agent: str, at: int | str | None = None) -> Goals:
        """Returns what a character meant to do at the end of a tick, much faster than `state_at`."""
        self._known(agent)
        tick = self.tick(at)
        with self.connection(f"the goals of {agent} at tick {tick}") as connection:
            return versions.goals_at(connection, agent, tick)

    def strokes_at(self, agent: str, at: int | str | None, item: str) -> Plan:
        """Returns the plan without its details, much faster than `state_at`: the day's strokes and one item more."""
        tick = self.tick(at)
        with self.connection(f"the plan of {agent} at tick {tick}") as connection:
            return versions.strokes_at(connection, agent, tick, item)

    def states_at(self, at: int | str | None = None) -> dict[str, CharacterState]:
        """Everybody's state, by id, sorted; those who are not in the world (yet, any more) included."""
        return {agent: self.state_at(agent, at) for agent in self.agent_ids}

    def moods_at(self, at: int | str | None = None) -> dict[str, str]:
        """Returns the moods that characters of a duet have, by character."""
        with self.connection("the moods") as connection:
            return versions.moods_at(connection, self.tick(at))

    def cards_at(self, at: int | str | None = None) -> dict[str, dict[str, Any]]:
        """Returns what `set` inputs have changed in personas up to a tick: character → field → value as JSON."""
        with self.connection("the cards") as connection:
            return versions.cards_at(connection, self.tick(at))

    def circumstances_at(self, at: int | str | None = None) -> dict[str, Circumstance]:
        """Returns the circumstances that hold at the end of a tick or held lately, by key."""
        with self.connection("what is so") as connection:
            return versions.circumstances_at(connection, self.tick(at))

    def facts(self, at: int | str | None = None) -> tuple[Fact, ...]:
        """Returns the seed facts, and every circumstance up to a tick as news."""
        tick = self.tick(at)
        with self.connection("what was so") as connection:
            ever = versions.circumstances_ever(connection, tick)
        return with_circumstances(self.scenario, ever).facts

    def settings_at(self, at: int | str | None = None) -> dict[str, Any]:
        """Returns the settings of the run that `set` inputs have changed up to a tick, by name: `seed`, `policy`."""
        with self.connection("the settings") as connection:
            return versions.settings_at(connection, self.tick(at))

    @property
    def seeds(self) -> Seeds:
        """The seed at every tick."""
        with self.connection("the seeds") as connection:
            return Seeds(self.manifest.seed, versions.seeds(connection))

    @property
    def agent_ids(self) -> list[str]:
        """Every character that ever had a state, sorted."""
        with self.connection("the characters") as connection:
            return versions.characters(connection)

    def agents(self, at: int | str | None = None) -> list[dict[str, str]]:
        """Lists `{id, name, place, doing, plan_item, mood}` of everybody in the world by id; `place` is an area id."""
        return agents(self, self.tick(at))

    def versions(self, first: int, last: int, kinds: Sequence[str] = ()) -> list[tuple[int, Version]]:
        """Returns (tick, version) of what changed in the ticks first … last, ordered by tick, owner, kind and key.

        `kinds`: the kinds wanted; all if empty.
        """
        only = f" AND kind || '' IN ({', '.join('?' * len(kinds))})" if kinds else ""  # `||`: by tick, not by kind
        query = f"SELECT {VERSION} FROM version WHERE tick BETWEEN ? AND ?{only} ORDER BY tick, owner, kind, key"
        return self.made("version", lambda row: (row[0], version_from(row)), query, first, last, *kinds)

    def shown_at(self, tick: int) -> list[Version]:
        """Returns the versions that a frame of the tick is made of."""
        with self.connection(f"the state at tick {tick}") as connection:
            return versions.shown_versions_at(connection, tick)

    # ── memories ────────────────────────────────────────────────────────────────────────────────────────────────────

    def memories(self, agent: str, at: int | str | None = None, *, forgotten: bool = False) -> list[Memory]:
        """Returns what a character remembers at the end of a tick, by id, with access times as of that tick."""
        tick = self.tick(at)
        self._known(agent)
        kept = "" if forgotten else f" AND (removed IS NULL OR removed > {tick})"
        accessed = self.accesses(agent, tick)
        query = f"SELECT {MEMORY} FROM memory WHERE agent = ? AND tick <= ?{kept} ORDER BY id"
        return [self._memory(row, accessed.get(row[1])) for row in self.all(query, agent, tick)]

    def memory(self, agent: str, id_: int, accessed: int | None = None) -> Memory | None:
        """Returns a memory, forgotten or not. `accessed`: its last access (microseconds since 1970), if it had one."""
        row = self.one(f"SELECT {MEMORY} FROM memory WHERE agent = ? AND id = ?", agent, id_)
        return None if row is None else self._memory(row, accessed)

    def emotions(self, agent: str, at: int | str | None, count: int) -> list[Emotion | None]:
        """Returns the latest memories' emotions at the end of a tick, oldest first; fast for any number of memories."""
        tick = self.tick(at)
        where = "agent = ? AND tick <= ? AND (removed IS NULL OR removed > ?)"
        query = f"SELECT id, details FROM memory WHERE {where} ORDER BY id DESC LIMIT ?"
        found: list[Emotion | None] = []
        for number, details in reversed(self.all(query, agent, tick, tick, count)):
            try:
                found.append(emotion_from(details))
            except UNREADABLE as error:
                raise self.damaged(f"memory {number} of {agent}", error) from error
        return found

    def witnesses(self, last: int | None = None) -> dict[str, list[tuple[str, int]]]:
        """Returns event id → (character, memory id) of the observations it became up to a tick, in that order."""
        query = "SELECT event, agent, id FROM memory WHERE event != '' AND kind = 'observation' AND tick <= ?"
        found: dict[str, list[tuple[str, int]]] = {}
        for event, agent, id_ in self.all(f"{query} ORDER BY agent, id", self._upto(last)):
            found.setdefault(event, []).append((agent, id_))
        return found

    def accesses(self, agent: str, tick: int) -> dict[int, int]:
        """Returns memory id → last access at the end of a tick (microseconds since 1970), of those ever accessed."""
        query = "SELECT at, ids FROM touch WHERE agent = ? AND tick <= ? ORDER BY tick"
        with self.connection(f"the accesses of {agent} up to tick {tick}"):
            return {id_: at for at, ids in self.all(query, agent, tick) for id_ in unpacked_ids(ids)}

    def stream_at(self, agent: str, at: int | str | None = None, **parts: Any) -> MemoryStream:
        """Returns a character's stream at the end of a tick, equal to the one that ran.

        `parts` as of `MemoryStream`; those left out are the run's: policy, analyser and the built-in embedder. Raises
        UsageError when the run was made with another embedder and none is given.
        """
        tick = self.tick(at)
        self._known(agent)
        return streams.stream_at(self, agent, tick, {**self._parts(parts), **parts})

    def stream_and_snapshots(
        self, agent: str, at: int | str | None, earlier: Sequence[int]
    ) -> tuple[MemoryStream, dict[int, Snapshot]]:
        """Returns a character's stream at the end of a tick, and snapshots at earlier ticks; its rows are read once."""
        return streams.stream_and_snapshots(self, agent, self.tick(at), earlier, self._parts({}))

    # ── why ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def trace(self, agent: str, tick: int) -> dict[str, Any]:
        """Returns why a character did what it did; empty when nothing was kept."""
        row = self.one("SELECT body FROM trace WHERE agent = ? AND tick = ?", agent, tick)
        with self.connection(f"the trace of {agent} at tick {tick}"):
            return {} if row is None else unpacked_trace(row[0])

    def answers(
        self, first: int = 0, last: int | None = None, *, agent: str | None = None, used: bool = True
    ) -> tuple[AnswerRow, ...]:
        """Returns every attempt at the questions of the ticks first … last, in the order (character, tick, ordinal).

        Unless `used` is False, only those that committed ticks have used.
        """
        where = "tick BETWEEN ? AND ?" + (" AND used IS NOT NULL" if used else "")
        values: tuple[Any, ...] = (first, self._upto(last))
        if agent is not None:
            where, values = f"agent = ? AND {where}", (agent, *values)
        order = "agent, tick, ordinal, attempt"
        query = f"SELECT {ANSWER}, usage FROM answer WHERE {where} ORDER BY {order}"
        return tuple(self.made("answer", answer_from, query, *values))

    def model_call(self, row: AnswerRow) -> ModelCall | None:
        """Returns what was sent and received at an attempt; None if nothing was sent, or if it was trimmed."""
        with self.connection(f"the model call of {row.agent} at tick {row.tick}") as connection:
            return model_call_of(connection, row)

    def usage(self, at: int | str | None = None) -> list[dict[str, Any]]:
        """Counts what was asked of the mind: a row per (character, task), and a total whose ids and mind are empty.

        Counts up to a tick, the questions asked in it included. With None, answers that no committed tick has used
        (yet) are counted too: they were paid for. Questions that belong to no character have the owner `-`.
        """
        spent = Usage(self.last_tick)
        spent.add(self.answers(0, MOST_TICKS if at is None else self.tick(at), used=False))
        return [*self.usage_rows(spent), {**spent.total(), "mind": ""}]

    def usage_rows(self, spent: Usage) -> list[dict[str, Any]]:
        """Returns the rows of a count, each with the mind that was asked."""
        asked = mind_by_question(self.manifest)
        return [{**row, "mind": asked(row["agent_id"], row["task"])} for row in spent.rows()]

    def _tick_of(self, text: str) -> int:
        if text.isdecimal():
            return int(text)
        try:
            return self._written.clock.tick(parse_iso(text))
        except ValueError:
            hint = "expected a tick such as 48, or a simulated time such as 2031-10-04T10:00"
            raise UsageError(f"{text!r} is neither a tick nor an ISO time", where=str(self.path), hint=hint) from None

    def _upto(self, last: int | None) -> int:
        return self.last_tick if last is None else last

    def _known(self, agent: str) -> None:
        if agent in self.scenario.personas or agent in self.agent_ids:  # the ids are looked for in the run
            return
        ids = sorted({*self.agent_ids, *self.scenario.personas})
        there = f"the characters are {', '.join(ids)}"
        raise UsageError(f"there is no character {agent!r}", where=str(self.path), hint=there)

    def _parts(self, given: dict[str, Any]) -> dict[str, Any]:
        manifest, embedder = self.manifest, self.scenario.embedder
        known = manifest.embedder == embedder.name or (is_pure(embedder) and manifest.embedder.startswith(BUILT_IN))
        if "embedder" not in given and not known:
            hint = "give the embedder the run was made with"
            raise UsageError(f"its vectors were made by {manifest.embedder}", where=str(self.path), hint=hint)
        return {
            "policy": self.scenario.policy,
            "embedder": embedder,
            "analyser": analyser_of_run(manifest.language, manifest.analyser),
        }

    def _memory(self, row: PackedMemory, accessed: int | None) -> Memory:
        with self.connection(f"memory {shortened(str(row[1]), SHOWN)} of {shortened(str(row[0]), SHOWN)}"):
            return memory_from(unpacked_memory(row), accessed)


# ── frames ──────────────────────────────────────────────────────────────────────────────────────────────────────────


SPAN = 16
"""Ticks whose frames are made together."""
KEPT = 32
"""Spans kept at a time; of a large town fewer: at least two, and up to `MOST_AGENTS` agent frames."""
MOST_AGENTS = 100_000


class Frames:
    """The frames of a run, made and kept a span of ticks at a time. May be used by several threads.

    Stepping through time reads each span once, in either direction. A span after a kept one goes on from its end; any
    other one begins with looking up the state. Committed ticks never change, so nothing kept is ever out of date.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._spans: OrderedDict[int, _Span] = OrderedDict()
        self._lock = Lock()

    def at(self, tick: int) -> Frame:
        """Returns the frame of a committed tick."""
        number, place = divmod(tick, SPAN)
        with self._lock:
            span = self._spans.get(number) or self._started(number)
            self._spans.move_to_end(number)
            if place >= len(span.frames):  # new, or the run has gone on since
                span.extend(self._reading, number * SPAN + len(span.frames), (number + 1) * SPAN - 1)
            return span.frames[place]

    def _started(self, number: int) -> _Span:
        before = self._spans.get(number - 1)
        if before is not None and len(before.frames) == SPAN:
            state = before.state.copy()
        else:
            state = FrameState(self._reading.scenario, self._reading.seeds)
            state.apply(self._reading.shown_at(number * SPAN - 1))
        span = self._spans[number] = _Span(state, [])
        if len(self._spans) > max(2, min(KEPT, MOST_AGENTS // (SPAN * max(1, len(state.scenario.personas))))):
            self._spans.popitem(last=False)
        return span


@dataclass(slots=True)
class _Span:
    """Consecutive frames, and the state at the last of them."""

    state: FrameState
    frames: list[Frame]

    def extend(self, reading: Reading, first: int, last: int) -> None:
        """Add the frames first … last, or up to the last committed tick."""
        histories = reading.histories(first, last)  # read first: a tick committed meanwhile is left for the next time
        events = {tick: tuple(rows) for tick, rows in groupby(reading.events(first, last), lambda event: event.tick)}
        changes = {
            tick: [version for _, version in rows]
            for tick, rows in groupby(reading.versions(first, last, SHOWN_KINDS), lambda row: row[0])
        }
        self.state.seeds, self.state.scenario = reading.seeds, reading.scenario
        for tick, history in histories:
            self.state.apply(changes.get(tick, ()))
            self.frames.append(self.state.frame(tick, events.get(tick, ()), history))


@lru_cache(maxsize=8)
def _compiled(text: str, origin: str) -> Scenario:
    return compiled_from_text(text, origin)


# ── agents as a table ─────────────────────────────────────────────────────────────────────────────────────────────────
# Who is where, and what was asked of the mind.


def agents(reading: Reading, tick: int) -> list[dict[str, str]]:
    """Lists `{id, name, place, doing, plan_item, mood}` of everybody in the world, by id."""
    moods = reading.moods_at(tick)
    return [
        {
            "id": me,
            "name": agent.name,
            "place": agent.position,
            "doing": agent.doing,
            "plan_item": agent.plan_item,
            "mood": moods.get(me) or mood(reading.emotions(me, tick, MOOD_REACH)),
        }
        for me, agent in reading.frame(tick).agents.items()
    ]


def mood(emotions: Iterable[Emotion | None]) -> str:
    """Names the mean of the latest emotions, by valence and arousal: calm, tense, glad, thrilled, low, upset."""
    felt = [emotion for emotion in emotions if emotion is not None][-MOOD_MEMORIES:]
    if not felt:
        return "calm"
    valence = sum(emotion.valence for emotion in felt) / len(felt)
    stirred = sum(emotion.arousal for emotion in felt) / len(felt) > 0.5
    if valence > 0.2:
        return "thrilled" if stirred else "glad"
    if valence < -0.2:
        return "upset" if stirred else "low"
    return "tense" if stirred else "calm"
