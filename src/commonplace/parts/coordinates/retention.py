"""Forgetting: a policy says how much to keep, `plan` decides what goes and why, `apply` does it, `audit` logs it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple, cast

from pydantic import ConfigDict, Field, ValidationError

from commonplace.clock import utc
from commonplace.errors import UsageError
from commonplace.ledger import Ledger
from commonplace.memory.importance import scaled
from commonplace.memory.record import Memory
from commonplace.memory.stores.codec import as_json
from commonplace.memory.stores.store import Archive, Forget, Operation, Readable, Revise, Stored, Writer, load
from commonplace.memory.stream import MemoryStream
from commonplace.parts.coordinates.document import CheckedModel, Number, from_memory
from commonplace.text import clean, one_line

Key = tuple[str, int]
"""(character, id)."""
MEGABYTE = 1_000_000
EVIDENCE = "evidence"
"""The key of a reflection's `details` for the texts of forgotten memories that it cites: id → text."""
EVENT = "forgetting"
"""The type of the ledger's entries about forgetting."""

Count = Annotated[int, Field(ge=0)]
Limit = Annotated[Number, Field(ge=0)]


class RetentionPolicy(CheckedModel):
    """How much to keep; None for no limit. Raises UsageError for an unknown key and a value that is not a limit."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)
    path = "retention_policy"
    max_sessions: Annotated[int, Field(ge=1)] | None = 10
    """Above it something of the oldest sessions goes: see `session_overflow`."""
    session_overflow: Literal["session", "unimportant"] = "session"
    """What goes of the oldest sessions. `session`: all of it, first the memories below the floor. `unimportant`: only
    these; a session in which everything is important stays."""
    max_memories_per_session: Count | None = 500
    """Above it the least important memories of the session go, the oldest of them first."""
    max_total_size_mb: Limit | None = 100
    """Million bytes of documents. Above it the least important memories go, the oldest of them first."""
    archive_after_days: Limit | None = 30
    delete_after_days: Limit | None = 180
    importance_floor: Annotated[Number, Field(ge=0, le=1)] = 0.3
    """0–1."""
    protected_days: Limit = 7
    """The size limit spares memories younger than this."""

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> RetentionPolicy:
        """Reads the policy in a configuration; a missing key keeps its default."""
        return cls.model_validate(values)

    def to_mapping(self) -> dict[str, Any]:
        """Returns the policy as it is written in a configuration."""
        return self.model_dump()

    @classmethod
    def _explained(cls, error: ValidationError) -> UsageError:
        told, field = super()._explained(error), next(iter(error.errors(include_url=False)[0]["loc"]), "")
        if str(field).startswith(("max_", "archive_", "delete_")) and cls.model_fields.get(str(field)):
            told.hint += "; None (null in a file) is no limit"
        return told

    def only_sessions(self) -> RetentionPolicy:
        """Returns the policy with `max_sessions` as its only limit."""
        return RetentionPolicy(
            max_sessions=self.max_sessions,
            max_memories_per_session=None,
            max_total_size_mb=None,
            archive_after_days=None,
            delete_after_days=None,
            importance_floor=self.importance_floor,
            session_overflow=self.session_overflow,
        )


# ── Planning ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be forgotten."""

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


class Decision(NamedTuple):
    """What happens to a memory, and why."""

    memory: Memory
    reason: str


@dataclass(slots=True)
class ForgettingPlan:
    """What to forget, made by `plan` and done by `apply`."""

    remove: list[Decision] = field(default_factory=list[Decision])
    archive: list[Decision] = field(default_factory=list[Decision])
    kept: list[Decision] = field(default_factory=list[Decision])
    """Memories that a limit would remove, but that a reflection cites."""
    folded: list[Memory] = field(default_factory=list[Memory])
    """Reflections, with the texts of the memories they lose added to their details."""

    def lines(self) -> list[str]:
        """Returns the plan as text, one line per memory."""
        parts = (("remove", self.remove), ("archive", self.archive), ("keep", self.kept))
        return [
            one_line(f"{action:<8} {one.memory.agent} #{one.memory.id}  {one.reason}  {clean(one.memory.text)[:60]}")
            for action, decisions in parts
            for one in decisions
        ]


def candidates(source: Readable | MemoryStream, agent: str | None = None) -> list[Candidate]:
    """Returns the memories of a stream, or those of a store: of one character, or of all."""
    if isinstance(source, MemoryStream):
        return [*map(Candidate, source), *(Candidate(memory, archived=True) for memory in source.archived)]
    found: list[Candidate] = []
    for name in source.agents() if agent is None else (agent,):
        stored = load(source, name)
        found += [
            Candidate(memory, memory.id in stored.archived)
            for memory in stored.memories
            if memory.id not in stored.forgotten
        ]
    return found


def latest_time(records: Iterable[Candidate]) -> datetime | None:
    """When the newest memory was made, which stands for the present; None without memories."""
    return max((record.memory.created_at for record in records), default=None)


def plan(
    records: Sequence[Candidate], policy: RetentionPolicy, now: datetime, *, starting: str | None = None
) -> ForgettingPlan:
    """Plans what a policy forgets at a moment. `starting`: a session that has just begun, and so counts as the newest.

    The rules apply in this order: `delete_after_days`, `max_sessions`, `max_memories_per_session`,
    `max_total_size_mb`, `archive_after_days`. An archived memory only counts for its age. A memory that a reflection
    cites is kept where another can go; where the limit must hold, its text is folded into the reflection.
    """
    return _Planner(records, policy, utc(now), starting).plan()


class _Planner:
    def __init__(
        self, records: Sequence[Candidate], policy: RetentionPolicy, now: datetime, starting: str | None
    ) -> None:
        self.policy = policy
        self.now = now
        self.starting = starting
        self.left = {record.key: record for record in records}
        self.citing = _citing(records)
        self.sizes: dict[Key, int] = {}
        self.spared: dict[Key, Decision] = {}
        self.result = ForgettingPlan()

    def plan(self) -> ForgettingPlan:
        self._remove_old()
        self._remove_sessions()
        before = -1
        while len(self.left) != before:  # removing a reflection leaves what it cites unprotected
            before = len(self.left)
            self._shrink_sessions()
            self._shrink_store()
        self.result.kept = [one for key, one in self.spared.items() if key in self.left]
        self._archive_old()
        self.result.folded = self._folded()
        return self.result

    def _remove_old(self) -> None:
        for record in self._older_than(self.policy.delete_after_days):
            self._remove(record, f"older than {self.policy.delete_after_days:g} days")

    def _remove_sessions(self) -> None:
        most = self.policy.max_sessions
        if most is None:
            return
        sessions = self._by_session()
        oldest = sorted(sessions, key=lambda name: (name == self.starting, sessions[name][0].memory.created_at))
        excess = oldest[: max(0, len(oldest) - most)]
        floor = scaled(self.policy.importance_floor) - 1e-9
        for below in (True, False)[: 2 if self.policy.session_overflow == "session" else 1]:
            where = "below the floor in one of the oldest" if below else "in the oldest"
            for name in excess:
                for record in sessions[name]:
                    if (record.memory.importance < floor) is below:
                        self._remove(record, f"{where} of more than {most} sessions ({name})")

    def _shrink_sessions(self) -> None:
        most = self.policy.max_memories_per_session
        if most is None:
            return
        for name, records in self._by_session().items():
            reason = f"least important of more than {most} in {name}"
            self._remove_least_important(records, len(records) - most, lambda _: 1, reason)

    def _shrink_store(self) -> None:
        most = self.policy.max_total_size_mb
        if most is None:
            return
        present = [record for record in self.left.values() if not record.archived]
        excess = sum(map(self._size, present)) - most * MEGABYTE
        protected_from = self.now - timedelta(days=self.policy.protected_days)
        old = [record for record in present if record.memory.created_at < protected_from]
        self._remove_least_important(old, excess, self._size, f"least important of more than {most:g} MB")

    def _remove_least_important(
        self, records: Iterable[Candidate], excess: float, size: Callable[[Candidate], int], reason: str
    ) -> None:
        for record in sorted(records, key=lambda one: (one.memory.importance, one.memory.created_at, one.key)):
            if excess <= 0:
                return
            if any(key in self.left for key in self.citing.get(record.key, ())):
                self.spared[record.key] = Decision(record.memory, f"cited by a reflection; {reason}")
            else:
                self._remove(record, reason)
                excess -= size(record)

    def _archive_old(self) -> None:
        for record in self._older_than(self.policy.archive_after_days):
            if not record.archived:
                reason = f"older than {self.policy.archive_after_days:g} days"
                self.result.archive.append(Decision(record.memory, reason))

    def _older_than(self, days: float | None) -> list[Candidate]:
        if days is None:
            return []
        age = timedelta(days=days) if days < 1_000_000 else timedelta.max
        return [record for record in self.left.values() if self.now - record.memory.created_at > age]

    def _by_session(self) -> dict[str, list[Candidate]]:
        """Session → its memories, oldest first, without those archived."""
        sessions: dict[str, list[Candidate]] = defaultdict(list)
        for record in sorted(self.left.values(), key=lambda one: one.memory.created_at):
            if record.memory.session and not record.archived:
                sessions[record.memory.session].append(record)
        return sessions

    def _size(self, record: Candidate) -> int:
        if record.key not in self.sizes:
            self.sizes[record.key] = record.size
        return self.sizes[record.key]

    def _remove(self, record: Candidate, reason: str) -> None:
        del self.left[record.key]
        self.result.remove.append(Decision(record.memory, reason))

    def _folded(self) -> list[Memory]:
        texts: dict[Key, dict[str, str]] = defaultdict(dict)
        for memory, _ in self.result.remove:
            for reflection in self.citing.get((memory.agent, memory.id), ()):
                texts[reflection][str(memory.id)] = memory.full_text
        return [_with_evidence(self.left[key].memory, lost) for key, lost in texts.items() if key in self.left]


def _citing(records: Iterable[Candidate]) -> dict[Key, list[Key]]:
    """Memory → the reflections that cite it."""
    found: dict[Key, list[Key]] = defaultdict(list)
    for record in records:
        if record.memory.kind == "reflection":
            for cited in record.memory.citations:
                found[record.memory.agent, cited].append(record.key)
    return found


def _with_evidence(reflection: Memory, texts: Mapping[str, str]) -> Memory:
    before: Any = reflection.details.get(EVIDENCE)
    evidence = {**(cast("dict[str, Any]", before) if isinstance(before, dict) else {}), **texts}
    return replace(reflection, details={**reflection.details, EVIDENCE: evidence})


# ── Applying ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def apply(forgetting: ForgettingPlan, target: MemoryStream | Callable[[str], Writer]) -> None:
    """Does what a plan says in a stream and its store, or in a store: `target` gives the writer of each character.
    What somebody has forgotten since is left out."""
    folded, archived, removed = (
        by_agent(some)
        for some in (
            forgetting.folded,
            (one.memory for one in forgetting.archive),
            (one.memory for one in forgetting.remove),
        )
    )
    if isinstance(target, MemoryStream):
        # In this order, so that a process that dies half-way loses no text before it is folded.
        for reflection in filter(lambda one: one.id in target, forgetting.folded):
            target.revise(reflection.id, details=reflection.details)
        target.archive([one.memory.id for one in forgetting.archive])
        target.forget([one.memory.id for one in forgetting.remove])
        return
    for agent in dict.fromkeys((*folded, *archived, *removed)):

        def deed(stored: Stored, agent: str = agent) -> list[Operation]:
            revised, away, gone = (
                [memory for memory in some.get(agent, ()) if memory.id <= stored.last_id]
                for some in (folded, archived, removed)
            )
            return [Revise(revised), Archive([one.id for one in away]), Forget([one.id for one in gone])]

        target(agent).change(deed)


def by_agent(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    """Character → its memories, in their order."""
    found: dict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        found[memory.agent].append(memory)
    return found


def display_name(memory: Memory) -> str:
    """Returns the `memory_id` of a memory's document, or `character #id`."""
    name = memory.details.get("memory_id")
    return name if isinstance(name, str) and name else f"{memory.agent} #{memory.id}"


def audit(
    ledger: Ledger,
    forgetting: ForgettingPlan,
    *,
    at: datetime,
    trigger: str,
    name: Callable[[Memory], str] = display_name,
    session: str = "",
) -> None:
    """Log what a plan did: one entry per character and action, with the memories and the reasons.

    The ledger's time does not go back: if its last entry is later than `at`, the time of that entry is used.
    """
    moment = max(utc(at), ledger.latest or utc(at))
    for action, decisions in (("archive", forgetting.archive), ("remove", forgetting.remove)):
        reasons = {(one.memory.agent, one.memory.id): one.reason for one in decisions}
        for agent, memories in by_agent(one.memory for one in decisions).items():
            why: dict[str, list[str]] = defaultdict(list)
            for memory in memories:
                why[reasons[agent, memory.id]].append(name(memory))
            ledger.log_event(
                session,
                EVENT,
                agent,
                plan_adjustment={"trigger": trigger, "action": action, "details": {"why": dict(why)}},
                at=moment,
                memory_refs=[name(memory) for memory in memories],
            )
