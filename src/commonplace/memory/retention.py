"""What to forget and what to put away: a policy as data, and a plan that says why. Nothing here forgets anything."""

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

# ── retention ────────────────────────────────────────────────────────────────────────────────────────────────────────


Key = tuple[str, int]
"""(character, id)."""
MEGABYTE = 1_000_000
EVIDENCE = "evidence"
"""The key of a reflection's `details` that holds the texts it rested on: id → text."""


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How much to keep. None for no such limit. Raises UsageError for what is no number, or below zero."""

    max_sessions: int | None = 10
    """Of more sessions the oldest go, first what is under the floor, then all of them."""
    max_memories_per_session: int | None = 500
    """Of more memories in a session the least important go, the oldest of them first."""
    max_total_size_mb: float | None = 100
    """Million bytes of documents. Of more the least important go, the oldest of them first."""
    archive_after_days: float | None = 30
    delete_after_days: float | None = 180
    importance_floor: float = 0.3
    """0–1: what lies under it goes first."""
    protected_days: float = 7
    """The size rule spares what is younger, by the records' own clock."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value: Any = getattr(self, one.name)
            if value is None and one.name not in ("importance_floor", "protected_days"):
                continue
            if not is_number(value) or value < 0:
                raise UsageError(f"{one.name} is {value!r}", hint="give a number from 0, or null for no limit")

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> RetentionPolicy:
        """The policy of a configuration; what is left out stays at its default. Raises UsageError for unknown keys."""
        known = [one.name for one in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise UsageError(f"a retention policy with {', '.join(unknown)}", hint=f"the keys are {', '.join(known)}")
        return cls(**given)

    def only_sessions(self) -> RetentionPolicy:
        """The same limit of sessions, and no other."""
        return RetentionPolicy(self.max_sessions, None, None, None, None, self.importance_floor)

    def to_mapping(self) -> dict[str, Any]:
        """The policy as it stands in a configuration."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Held:
    """A memory as the plan sees it."""

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
    """A memory that is to be removed or archived, and why."""

    memory: Memory
    why: str


@dataclass(slots=True)
class Forgetting:
    """A plan. Carried out by `carry_out`; made by `plan`."""

    remove: list[Going] = field(default_factory=list[Going])
    archive: list[Going] = field(default_factory=list[Going])
    kept: list[Going] = field(default_factory=list[Going])
    """What would have gone and is kept all the same, with the reason."""
    folded: list[Memory] = field(default_factory=list[Memory])
    """Reflections with the texts of evidence that goes in their details."""

    def lines(self) -> list[str]:
        """The plan in words, a line a memory."""
        named = (("remove", self.remove), ("archive", self.archive), ("keep", self.kept))
        return [
            f"{what:<8} {one.memory.agent} #{one.memory.id}  {one.why}  {one.memory.text[:60]}"
            for what, some in named
            for one in some
        ]


def held(memories: Iterable[Memory], archived: Iterable[int] = ()) -> list[Held]:
    """The memories of one character, of which some are archived."""
    away = set(archived)
    return [Held(memory, memory.id in away) for memory in memories]


def plan(records: Sequence[Held], policy: RetentionPolicy, now: datetime, *, starting: str | None = None) -> Forgetting:
    """What a policy asks for at a moment. `starting`: a session that has just begun and is not given up for its age.

    In this order: what is older than `delete_after_days`; of too many sessions the oldest; of too full a session the
    least important; of too large a store the least important; then the archive. What is archived counts no more, and
    only grows too old. What a reflection rests on is kept where something else can go, and folded into the reflection
    where the limit must hold.
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
            pass  # a reflection that went has left its evidence unprotected
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
        """Gives up the least important, the oldest of them first, until it is enough; evidence is spared."""
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
        """Session → its memories, oldest first. What is archived or belongs to none is in none."""
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
    """Evidence → the reflections that rest on it."""
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


# ── forgetting ───────────────────────────────────────────────────────────────────────────────────────────────────────
# Doing what a plan of retention says, in a store or a stream, and saying so in the ledger.


EVENT = "forgetting"
"""Type of the ledger's entries about it."""
Naming = Callable[[Memory], str]


def named(memory: Memory) -> str:
    """What a memory is called in the ledger: its name in a document, or `character #id`."""
    name = memory.details.get("memory_id")
    return name if isinstance(name, str) and name else f"{memory.agent} #{memory.id}"


def holdings(store: Store, agent: str | None = None) -> list[Held]:
    """What a store holds of one character or of all, without what is forgotten."""
    found: list[Held] = []
    for name in store.agents() if agent is None else (agent,):
        stored = store.load(name)
        there = [memory for memory in stored.memories if memory.id not in stored.forgotten]
        found += held(there, stored.archived)
    return found


def records_of(stream: MemoryStream) -> list[Held]:
    """What a stream holds."""
    return [*held(stream), *held(stream.archived, [memory.id for memory in stream.archived])]


def now_of(records: Iterable[Held]) -> datetime | None:
    """The records' own clock: when the latest was made; None without any."""
    return max((record.memory.created_at for record in records), default=None)


def forget_by(records: Sequence[Held], *, remove: Callable[[Memory], bool], why: str) -> Forgetting:
    """A plan to remove what somebody chose. Nothing is folded: what a person wants gone is not kept elsewhere."""
    chosen = [record.memory for record in records if remove(record.memory)]
    return Forgetting(remove=[Going(memory, why) for memory in chosen])


def carry_out(store: Store, forgetting: Forgetting) -> None:
    """Folds, archives and removes in a store, in this order, so that nothing is lost on the way."""
    for agent, reflections in _by_agent(forgetting.folded, lambda memory: memory).items():
        store.update(agent, reflections)
    for agent, going in _by_agent(forgetting.archive, lambda one: one.memory).items():
        store.archive(agent, [one.memory.id for one in going])
    for agent, going in _by_agent(forgetting.remove, lambda one: one.memory).items():
        store.remove(agent, [one.memory.id for one in going])


def carry_out_in(stream: MemoryStream, forgetting: Forgetting) -> None:
    """The same in a stream, and in its store if it has one."""
    for reflection in forgetting.folded:
        stream.revise(reflection.id, details=reflection.details)
    stream.archive([one.memory.id for one in forgetting.archive])
    stream.forget([one.memory.id for one in forgetting.remove])


def retain(stream: MemoryStream, policy: RetentionPolicy, now: datetime) -> Forgetting:
    """Applies a policy to a stream; gives what was done."""
    forgetting = plan(records_of(stream), policy, now)
    carry_out_in(stream, forgetting)
    return forgetting


def audit(
    ledger: Ledger, forgetting: Forgetting, *, at: datetime, trigger: str, name: Naming = named, session: str = ""
) -> None:
    """An entry per character and deed: which memories, and why. Made now, or at the ledger's latest moment."""
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
