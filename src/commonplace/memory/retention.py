"""What to forget and what to archive: a policy as data, a plan that gives reasons, and carrying the plan out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from commonplace.clock import utc
from commonplace.errors import UsageError
from commonplace.ledger import Ledger
from commonplace.memory.coordinates import from_memory, is_mapping, is_number, scaled
from commonplace.memory.record import Memory
from commonplace.memory.stores.codec import as_json
from commonplace.memory.stores.store import Store
from commonplace.memory.stream import MemoryStream

Key = tuple[str, int]
"""(character, id)."""
MEGABYTE = 1_000_000
EVIDENCE = "evidence"
"""The key of a reflection's `details` for the texts of removed memories it cites: id → text."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How much to keep; None for no limit. Raises UsageError for a value that is not a number from 0."""

    max_sessions: int | None = 10
    """Beyond it the oldest sessions are removed: first their memories under the floor, then the rest."""
    max_memories_per_session: int | None = 500
    """Beyond it the least important are removed, the oldest of them first."""
    max_total_size_mb: float | None = 100
    """Million bytes of documents. Beyond it the least important are removed, the oldest of them first."""
    archive_after_days: float | None = 30
    delete_after_days: float | None = 180
    importance_floor: float = 0.3
    """0–1: memories below it are removed first."""
    protected_days: float = 7
    """The size rule spares memories younger than this, by the records' own clock."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value: Any = getattr(self, one.name)
            if value is None and one.name not in ("importance_floor", "protected_days"):
                continue
            if not is_number(value) or value < 0:
                raise UsageError(
                    f"{one.name} {value!r} is not a number from 0", hint="give a number from 0, or null for no limit"
                )

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> RetentionPolicy:
        """The policy from a configuration; missing keys keep their defaults. Raises UsageError for unknown keys."""
        known = [one.name for one in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(
                f"the retention policy has unknown keys: {', '.join(unknown)}", hint=f"the keys are {', '.join(known)}"
            )
        return cls(**given)

    def only_sessions(self) -> RetentionPolicy:
        """The same limit of sessions and no other limit."""
        return RetentionPolicy(self.max_sessions, None, None, None, None, self.importance_floor)

    def to_mapping(self) -> dict[str, Any]:
        """The inverse of `from_mapping`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Held:
    """A memory, and whether it is archived."""

    memory: Memory
    archived: bool = False

    @property
    def key(self) -> Key:
        """(character, id)."""
        return self.memory.agent, self.memory.id

    @property
    def size(self) -> int:
        """Bytes of its document."""
        return len(as_json(from_memory(self.memory).to_dict()).encode())


class Going(NamedTuple):
    """A memory to be removed or archived, and why."""

    memory: Memory
    why: str


@dataclass(slots=True)
class Forgetting:
    """A plan, made by `plan` and carried out by `carry_out` or `carry_out_in`."""

    remove: list[Going] = field(default_factory=list[Going])
    archive: list[Going] = field(default_factory=list[Going])
    kept: list[Going] = field(default_factory=list[Going])
    """Memories that a limit applies to but that are kept, with the reason."""
    folded: list[Memory] = field(default_factory=list[Memory])
    """Reflections, with the texts of their removed evidence in their details."""

    def lines(self) -> list[str]:
        """The plan in words, a line per memory."""
        named = (("remove", self.remove), ("archive", self.archive), ("keep", self.kept))
        return [
            f"{what:<8} {one.memory.agent} #{one.memory.id}  {one.why}  {one.memory.text[:60]}"
            for what, some in named
            for one in some
        ]


def held(memories: Iterable[Memory], archived: Iterable[int] = ()) -> list[Held]:
    """The memories of one character; `archived`: the ids of those that are."""
    away = set(archived)
    return [Held(memory, memory.id in away) for memory in memories]


def plan(records: Sequence[Held], policy: RetentionPolicy, now: datetime, *, starting: str | None = None) -> Forgetting:
    """What a policy removes and archives at a moment. `starting`: a session that has just begun, to be removed last.

    The rules apply in this order: `delete_after_days`, number of sessions, memories per session, total size,
    `archive_after_days`. Archived memories only count for `delete_after_days`. A memory that a reflection cites is kept
    if another one can be removed instead; otherwise its text is folded into the reflection's details.
    """
    return _Planner(records, policy, utc(now), starting).planned()


class _Planner:
    def __init__(self, records: Sequence[Held], policy: RetentionPolicy, now: datetime, starting: str | None) -> None:
        self.policy = policy
        self.now = now
        self.starting = starting
        self.left = {record.key: record for record in records}
        self.reflections = _resting_on(records)
        self.sizes: dict[Key, int] = {}
        self.spared: dict[Key, Going] = {}
        self.result = Forgetting()

    def planned(self) -> Forgetting:
        self._too_old()
        self._sessions()
        while self._shed_once():
            pass  # removing a reflection leaves its evidence unprotected, so that more can be removed
        self.result.kept = [one for key, one in self.spared.items() if key in self.left]
        self._archive()
        self.result.folded = self._folded()
        return self.result

    def _too_old(self) -> None:
        days = self.policy.delete_after_days
        for record in self._older_than(days):
            self._remove(record, f"older than {days:g} days")

    def _sessions(self) -> None:
        most = self.policy.max_sessions
        if most is None:
            return
        sessions = self._by_session()
        oldest = sorted(sessions, key=lambda name: (name == self.starting, sessions[name][0].memory.created_at))
        excess = oldest[: max(0, len(oldest) - most)]
        floor = scaled(self.policy.importance_floor) - 1e-9
        for low in (True, False):
            for name in excess:
                why = "under the floor in one of the oldest" if low else "in the oldest"
                for record in sessions[name]:
                    if (record.memory.importance < floor) is low:
                        self._remove(record, f"{why} of more than {most} sessions ({name})")

    def _shed_once(self) -> bool:
        before = len(self.left)
        self._full_sessions()
        self._size()
        return len(self.left) < before

    def _full_sessions(self) -> None:
        most = self.policy.max_memories_per_session
        if most is None:
            return
        for name, records in self._by_session().items():
            spare = len(records) - most
            if spare > 0:
                why = f"least important of more than {most} in {name}"
                self._shed(records, why, lambda gone, _, spare=spare: gone >= spare)

    def _size(self) -> None:
        if self.policy.max_total_size_mb is None:
            return
        here = {key: record for key, record in self.left.items() if not record.archived}
        sizes = {key: self._size_of(record) for key, record in here.items()}
        spare = sum(sizes.values()) - int(self.policy.max_total_size_mb * MEGABYTE)
        if spare <= 0:
            return
        youngest = self.now - timedelta(days=self.policy.protected_days)
        old = [record for record in here.values() if record.memory.created_at < youngest]
        freed = [0]

        def enough(_: int, record: Held | None) -> bool:
            freed[0] += sizes[record.key] if record else 0
            return freed[0] >= spare

        self._shed(old, f"least important of more than {self.policy.max_total_size_mb:g} MB", enough)

    def _size_of(self, record: Held) -> int:
        if record.key not in self.sizes:
            self.sizes[record.key] = record.size
        return self.sizes[record.key]

    def _shed(self, records: Iterable[Held], why: str, enough: Callable[[int, Held | None], bool]) -> None:
        """Removes the least important, the oldest of them first, until it is enough; spares what reflections cite."""
        gone, last = 0, None
        for record in sorted(records, key=lambda one: (one.memory.importance, one.memory.created_at, one.key)):
            if enough(gone, last):
                return
            last = None
            if any(key in self.left for key in self.reflections.get(record.key, ())):
                self.spared[record.key] = Going(record.memory, f"a reflection rests on it; {why}")
                continue
            self._remove(record, why)
            gone, last = gone + 1, record

    def _archive(self) -> None:
        days = self.policy.archive_after_days
        for record in self._older_than(days):
            if not record.archived:
                self.result.archive.append(Going(record.memory, f"older than {days:g} days"))

    def _older_than(self, days: float | None) -> list[Held]:
        if days is None:
            return []
        span = timedelta(days=days) if days < 1_000_000 else timedelta.max
        return [record for record in self.left.values() if self.now - record.memory.created_at > span]

    def _by_session(self) -> dict[str, list[Held]]:
        """Session → its memories, oldest first, without archived ones and those without a session."""
        sessions: dict[str, list[Held]] = defaultdict(list)
        for record in sorted(self.left.values(), key=lambda one: one.memory.created_at):
            if record.memory.session and not record.archived:
                sessions[record.memory.session].append(record)
        return sessions

    def _remove(self, record: Held, why: str) -> None:
        del self.left[record.key]
        self.result.remove.append(Going(record.memory, why))

    def _folded(self) -> list[Memory]:
        gone = {(one.memory.agent, one.memory.id): one.memory for one in self.result.remove}
        texts: dict[Key, dict[str, str]] = defaultdict(dict)
        for key, memory in gone.items():
            for reflection in self.reflections.get(key, ()):
                texts[reflection][str(memory.id)] = memory.full_text
        return [_with_evidence(self.left[key].memory, found) for key, found in texts.items() if key in self.left]


def _resting_on(records: Iterable[Held]) -> dict[Key, list[Key]]:
    """Memory → the reflections that cite it."""
    found: dict[Key, list[Key]] = defaultdict(list)
    for record in records:
        if record.memory.kind == "reflection":
            for cited in record.memory.citations:
                found[record.memory.agent, cited].append(record.key)
    return found


def _with_evidence(reflection: Memory, texts: Mapping[str, str]) -> Memory:
    before = reflection.details.get(EVIDENCE)
    evidence: dict[str, Any] = {**(before if is_mapping(before) else {}), **texts}
    return replace(reflection, details={**reflection.details, EVIDENCE: evidence})


# ── carrying a plan out, in a store or a stream, and recording it in the ledger ──────────────────────────────────────

EVENT = "forgetting"
"""Type of the ledger entries."""
Naming = Callable[[Memory], str]


def named(memory: Memory) -> str:
    """The memory's name in the ledger: its name in a document, or `character #id`."""
    name = memory.details.get("memory_id")
    return name if isinstance(name, str) and name else f"{memory.agent} #{memory.id}"


def holdings(store: Store, agent: str | None = None) -> list[Held]:
    """The memories in a store, of one character or of all, without forgotten ones."""
    found: list[Held] = []
    for name in store.agents() if agent is None else (agent,):
        stored = store.load(name)
        there = [memory for memory in stored.memories if memory.id not in stored.forgotten]
        found += held(there, stored.archived)
    return found


def records_of(stream: MemoryStream) -> list[Held]:
    """The memories of a stream, archived ones included."""
    return [*held(stream), *held(stream.archived, [memory.id for memory in stream.archived])]


def now_of(records: Iterable[Held]) -> datetime | None:
    """The records' own clock: when the latest memory was made; None without memories."""
    return max((record.memory.created_at for record in records), default=None)


def forget_by(records: Sequence[Held], *, remove: Callable[[Memory], bool], why: str) -> Forgetting:
    """A plan to remove chosen memories. Nothing is folded: what a person wants removed is not kept elsewhere."""
    chosen = [record.memory for record in records if remove(record.memory)]
    return Forgetting(remove=[Going(memory, why) for memory in chosen])


def carry_out(store: Store, forgetting: Forgetting) -> None:
    """Folds, archives and removes in a store, in this order, so that an interruption loses nothing."""
    for agent, reflections in _by_agent(forgetting.folded, lambda memory: memory).items():
        store.update(agent, reflections)
    for agent, going in _by_agent(forgetting.archive, lambda one: one.memory).items():
        store.archive(agent, [one.memory.id for one in going])
    for agent, going in _by_agent(forgetting.remove, lambda one: one.memory).items():
        store.remove(agent, [one.memory.id for one in going])


def carry_out_in(stream: MemoryStream, forgetting: Forgetting) -> None:
    """Folds, archives and removes in a stream, and in its store if it has one."""
    for reflection in forgetting.folded:
        stream.revise(reflection.id, details=reflection.details)
    stream.archive([one.memory.id for one in forgetting.archive])
    stream.forget([one.memory.id for one in forgetting.remove])


def retain(stream: MemoryStream, policy: RetentionPolicy, now: datetime) -> Forgetting:
    """Applies a policy to a stream and returns what was done."""
    forgetting = plan(records_of(stream), policy, now)
    carry_out_in(stream, forgetting)
    return forgetting


def audit(
    ledger: Ledger, forgetting: Forgetting, *, at: datetime, trigger: str, name: Naming = named, session: str = ""
) -> None:
    """Logs an entry per character and action: which memories, and why; at `at`, or later if the ledger is ahead."""
    moment = max(utc(at), ledger.latest or utc(at))
    for action, some in (("archive", forgetting.archive), ("remove", forgetting.remove)):
        for agent, going in _by_agent(some, lambda one: one.memory).items():
            why: dict[str, list[str]] = defaultdict(list)
            for one in going:
                why[one.why].append(name(one.memory))
            ledger.log_event(
                session,
                EVENT,
                agent,
                plan_adjustment={"trigger": trigger, "action": action, "details": {"why": dict(why)}},
                at=moment,
                memory_refs=[name(one.memory) for one in going],
            )


def _by_agent(items: Iterable[Any], memory_of: Callable[[Any], Memory]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        found[memory_of(item).agent].append(item)
    return found
