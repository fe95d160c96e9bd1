"""`forget`: remove memories by choice or by a retention policy. `upkeep`: what a store needs once a day."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path

import typer

from commonplace.cli.options import RUN_OR_STORE
from commonplace.engine.run import queue_input
from commonplace.errors import UsageError, command
from commonplace.ledger import Ledger
from commonplace.lookup import character, is_run, moment, names_in
from commonplace.memory.search import filters
from commonplace.memory.stores import load, open_store, read_store
from commonplace.memory.stores.store import Readable, Writer
from commonplace.parts.coordinates.jsonl import JSONLStore
from commonplace.parts.coordinates.jsonl_files import StoreConfig
from commonplace.parts.coordinates.memory_store import MemoryStore
from commonplace.parts.coordinates.retention import (
    Candidate,
    Decision,
    ForgettingPlan,
    RetentionPolicy,
    apply,
    audit,
    candidates,
    latest_time,
    plan,
)
from commonplace.parts.coordinates.upkeep import tend
from commonplace.paths import checked_folder, kind_of
from commonplace.run.opening import open_store as open_run_store
from commonplace.run.place import Place, place
from commonplace.run.reading import Reading


def forget(
    where: str = RUN_OR_STORE,
    agent: str | None = typer.Option(None, "--agent", help="Whose memories: id or name; all characters if left out."),
    ids: str | None = typer.Option(None, "--ids", help="Memories by number, such as 3,4,7; needs --agent."),
    session: str | None = typer.Option(None, "--session", help="All memories of a session."),
    query: str | None = typer.Option(None, "--query", help="Memories with these words in their text or tags."),
    tags: str | None = typer.Option(None, "--tags", help="Memories with one of these tags, such as test,temporary."),
    policy: Path | None = typer.Option(None, "--policy", help="Apply the retention policy in this config.json."),
    everything: bool = typer.Option(
        False, "--everything", help="All of --agent, its name and settings included; stores only."
    ),
    now: str | None = typer.Option(
        None, "--now", help="ISO simulated time that ages are counted from; the latest memory's if left out."
    ),
    ledger: Path | None = typer.Option(None, "--ledger", help="Record it in the ledger in this folder; stores only."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only show what would be removed, and why."),
) -> None:
    """Forget memories for good, or archive them where a policy says so; in a run, at the end of its next tick."""
    if policy is not None and any(one is not None for one in (ids, session, query, tags)):
        raise UsageError("--policy cannot be combined with a choice", hint="give --policy alone, or with --agent")
    if everything:
        if (
            is_run(where)
            or agent is None
            or any(one is not None for one in (ids, session, query, tags, policy, ledger))
        ):
            raise UsageError(
                "--everything is for one character of a store", hint="give a store, --agent and --everything"
            )
        _delete(where, agent, dry_run=dry_run)
        return
    if ledger is not None:
        checked_folder(ledger)
    choice = Choice(agent, ids, session, query, tags, policy and _policy(policy), moment("--now", now))
    if is_run(where):
        _in_run(place(where), choice, dry_run=dry_run)
    else:
        _in_store(where, choice, ledger, dry_run=dry_run)


def upkeep(
    where: str = typer.Argument(metavar="STORE", help="A store: FILE, FOLDER, chroma:FOLDER, postgresql://…"),
    now: str | None = typer.Option(
        None, "--now", help="ISO time that ages are counted from; the latest memory's if left out."
    ),
    ledger: Path | None = typer.Option(
        None,
        "--ledger",
        help="Record what is forgotten in the ledger in this folder, and compress its days older than a year.",
    ),
) -> None:
    """Do what a store of coordinates needs once a day: importances, summaries, and a folder's retention policy."""
    at = moment("--now", now)
    if ledger is not None:
        checked_folder(ledger)
    with closing(open_store(where, create=False)) as store:
        record = Ledger(ledger) if ledger is not None else None
        with MemoryStore(store=store, ledger=record) as memories:
            done = tend(memories, retention=isinstance(store, JSONLStore), now=at)
    counts = f"{done.recomputed} importances and {done.summarized} summaries written"
    days = "" if ledger is None else f", {done.compressed} days of the ledger compressed"
    print(f"{counts}, {done.archived} archived, {done.removed} removed{days}", file=sys.stderr)


def _delete(where: str, agent: str, *, dry_run: bool) -> None:
    """Deletes everything of a character."""
    if dry_run:
        with closing(read_store(where)) as store:
            name = character(agent, dict.fromkeys(store.agents(), ()), where)
            stored = load(store, name)
        count, done = len(stored.memories) - len(stored.forgotten), "would be"
    else:
        with closing(open_store(where, create=False)) as store:
            name = character(agent, dict.fromkeys(store.agents(), ()), where)
            count, done = store.delete(name), "were"
    print(f"{name}: {count} memories {done} deleted", file=sys.stderr)


@dataclass(frozen=True, slots=True)
class Choice:
    """What to forget, as the options say it."""

    agent: str | None
    ids: str | None
    session: str | None
    query: str | None
    tags: str | None
    policy: RetentionPolicy | None
    now: datetime | None

    def among(self, records: list[Candidate]) -> ForgettingPlan:
        """Returns the plan for these memories."""
        if self.policy is None:
            return self._chosen(records)
        now = self.now or latest_time(records)
        return plan(records, self.policy, now) if now else ForgettingPlan()

    def _chosen(self, records: list[Candidate]) -> ForgettingPlan:
        tests = filters(session=self.session, text=self.query)
        why: list[str] = []
        if self.session is not None:
            why.append(f"session {self.session}")
        if self.query is not None:
            why.append(f"says {self.query}")
        if self.tags is not None:
            labels = set(_split(self.tags))
            tests.append(lambda memory: not labels.isdisjoint(memory.tags))
            why.append(f"tagged {self.tags}")
        if self.ids is not None:
            numbers = _numbers(self.ids, self.agent, records)
            tests.append(lambda memory: memory.id in numbers)
            why.append("by number")
        if not tests:
            what = "no memories are selected"
            raise UsageError(what, hint="give --ids, --session, --query, --tags or --policy")
        chosen = [record.memory for record in records if all(test(record.memory) for test in tests)]
        return ForgettingPlan(remove=[Decision(memory, ", ".join(why)) for memory in chosen])


def _in_store(where: str, choice: Choice, ledger: Path | None, *, dry_run: bool) -> None:
    if dry_run:
        with closing(read_store(where)) as store:
            forgetting, _ = _planned_in(store, choice)
    else:
        with closing(open_store(where, create=False)) as store:
            forgetting, now = _planned_in(store, choice)
            record = Ledger(ledger) if ledger is not None else None  # before anything is forgotten: it may fail
            apply(forgetting, partial(Writer, store))
            if record is not None and now is not None:
                audit(record, forgetting, at=now, trigger="forget", session=choice.session or "")
    done = "would be removed" if dry_run else "removed"
    counts = f"{len(forgetting.remove)} {done}, {len(forgetting.archive)} archived, {len(forgetting.kept)} kept"
    print(counts, file=sys.stderr)


def _planned_in(store: Readable, choice: Choice) -> tuple[ForgettingPlan, datetime | None]:
    """Prints and returns the plan of what to forget in a store, and the moment as of which it applies."""
    if choice.agent is not None:
        choice = replace(choice, agent=character(choice.agent, dict.fromkeys(store.agents(), ()), store.where))
    records = candidates(store, choice.agent)
    forgetting = choice.among(records)
    _print(forgetting.lines())
    return forgetting, choice.now or latest_time(records)


def _in_run(path: Place, choice: Choice, *, dry_run: bool) -> None:
    """Queue one numbered input per character: they are part of the history, so the run still verifies."""
    if dry_run:
        with Reading.open(path) as reading:
            count = sum(map(len, _planned(reading, choice).values()))
        print(f"{count} would be forgotten", file=sys.stderr)
        return
    with open_run_store(path) as file:
        going = _planned(file.reading, choice)
        count = sum(map(len, going.values()))
        if going:
            bodies = [{"kind": "forget", "agent_id": agent, "memory_ids": ids} for agent, ids in going.items()]
            queue_input(file, file.reading.scenario, *bodies)
        next_tick = file.last_tick + 1
    if count:
        print(f"{count} will be forgotten at the end of tick {next_tick}: {command('resume', path)}", file=sys.stderr)
    else:
        print("0 are selected; nothing is forgotten", file=sys.stderr)


def _planned(reading: Reading, choice: Choice) -> dict[str, list[int]]:
    """Prints and returns what is removed, by character. A run has no archive, so a policy spares cited memories."""
    if choice.agent is not None:
        choice = replace(choice, agent=character(choice.agent, names_in(reading), reading.path))
    agents = [choice.agent] if choice.agent else reading.agent_ids
    memories = [memory for agent in agents for memory in reading.memories(agent)]
    forgetting = choice.among([Candidate(memory) for memory in memories])
    cited = {(one.agent, id) for one in memories for id in one.citations} if choice.policy else set[tuple[str, int]]()
    going: dict[str, list[int]] = {}
    for one in forgetting.remove:
        if (one.memory.agent, one.memory.id) not in cited:
            going.setdefault(one.memory.agent, []).append(one.memory.id)
    _print(
        line
        for line, one in zip(forgetting.lines(), forgetting.remove, strict=False)
        if one.memory.id in going.get(one.memory.agent, ())
    )
    return going


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _numbers(ids: str, agent: str | None, records: list[Candidate]) -> set[int]:
    if agent is None:
        raise UsageError("--ids needs a character", hint="add --agent NAME")
    try:
        numbers = {int(one) for one in _split(ids)}
    except ValueError as error:
        raise UsageError(
            f"--ids {ids!r} is not a list of numbers", hint="expected numbers and commas, such as 3,4,7"
        ) from error
    missing = sorted(numbers - {record.memory.id for record in records})
    if missing:
        what = f"{agent} has no memories with the numbers {', '.join(map(str, missing))}"
        raise UsageError(what, hint="`commonplace memories` lists them")
    return numbers


def _policy(path: Path) -> RetentionPolicy:
    if kind_of(path) == "nothing":
        raise UsageError(
            "the file does not exist", where=str(path), hint="expected a config.json with a retention_policy"
        )
    return StoreConfig.read(path).retention_policy


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]
