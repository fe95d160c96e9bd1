"""Doing what a plan of retention says, in a store or a stream, and saying so in the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from commonplace.clock import utc
from commonplace.ledger import Ledger
from commonplace.memory.record import Memory
from commonplace.memory.retention import Forgetting, Going, Held, RetentionPolicy, held, plan
from commonplace.memory.stores.store import Store
from commonplace.memory.stream import MemoryStream

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
