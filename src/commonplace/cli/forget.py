"""`forget`: memories of a run or a store taken out for good, by choice or by a policy; or first only shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import typer

from commonplace.api import resume_run
from commonplace.cli.memories import is_run
from commonplace.clock import parse_iso
from commonplace.errors import UsageError
from commonplace.ledger import Ledger
from commonplace.memory.retention import (
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
from commonplace.memory.search import filters
from commonplace.memory.stores.jsonl_files import StoreConfig
from commonplace.memory.stores.opening import open_store

NOTHING = "name what to forget: --ids, --session, --query, --tags or --policy"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("forget", epilog="Example: commonplace forget memories/ --agent maria --tags test --dry-run")(forget)


def forget(
    where: str = typer.Argument(help="A run file, or a store: a file, a folder or a URL."),
    agent: str | None = typer.Option(None, "--agent", help="Whose memories; of all characters if left out."),
    ids: str | None = typer.Option(None, "--ids", help="Numbers of memories, such as 3,4,7; needs --agent."),
    session: str | None = typer.Option(None, "--session", help="Everything of a session."),
    query: str | None = typer.Option(None, "--query", help="What has these words in its text or tags."),
    tags: str | None = typer.Option(None, "--tags", help="What has one of these tags, such as test,temporary."),
    policy: Path | None = typer.Option(None, "--policy", help="A config.json whose retention policy is applied."),
    now: str | None = typer.Option(None, "--now", help="ISO simulated time; that of the latest memory if left out."),
    ledger: Path | None = typer.Option(None, "--ledger", help="The folder of a ledger that is told of it."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Only show what would go, and why."),
) -> None:
    """Forget memories for good, or put them away as a policy asks for; in a run, at the end of its next tick."""
    if policy is not None:
        _refuse_both(ids, session, query, tags)
    choice = Choice(agent, ids, session, query, tags, policy, _moment(now))
    if is_run(where):
        _in_run(Path(where), choice, dry_run=dry_run)
    else:
        _in_store(where, choice, ledger, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be forgotten, as the options say it."""

    agent: str | None
    ids: str | None
    session: str | None
    query: str | None
    tags: str | None
    policy: Path | None
    now: datetime | None

    def among(self, records: list[Candidate]) -> ForgettingPlan:
        """The plan for these memories."""
        if self.policy is None:
            return _chosen(records, self.agent, self.ids, self.session, self.query, self.tags)
        moment = self.now or latest_time(records)
        return plan(records, _policy(self.policy), moment) if moment else ForgettingPlan()

    def known(self, agents: Sequence[str], where: str) -> None:
        """Raises UsageError for a character that is not there."""
        if self.agent is not None and self.agent not in agents:
            raise UsageError(f"there is no character {self.agent!r}", where=where, hint=f"there are {_listed(agents)}")


def _in_store(where: str, choice: Choice, ledger: Path | None, *, dry_run: bool) -> None:
    with closing(open_store(where, create=False)) as store:
        choice.known(store.agents(), where)
        records = candidates(store, choice.agent)
        forgetting = choice.among(records)
        _tell(forgetting.lines())
        if not dry_run:
            apply(forgetting, store)
            moment = choice.now or latest_time(records)
            if ledger is not None and moment is not None:
                audit(Ledger(ledger), forgetting, at=moment, trigger="forget", session=choice.session or "")
    done = "would be" if dry_run else "are"
    counts = f"{len(forgetting.remove)} {done} removed, {len(forgetting.archive)} archived, {len(forgetting.kept)} kept"
    print(counts, file=sys.stderr)


def _in_run(path: Path, choice: Choice, *, dry_run: bool) -> None:
    """Numbered inputs, a character each: history, so that the run verifies. A run has no archive, and what a reflection
    cites is not removed by a policy."""
    with resume_run(path) as run:
        agents = run.reading.agent_ids
        choice.known(agents, str(path))
        streams = {agent: run.reading.memories(agent) for agent in ([choice.agent] if choice.agent else agents)}
        forgetting = choice.among([Candidate(memory) for memories in streams.values() for memory in memories])
        cited = {(one.agent, id) for memories in streams.values() for one in memories for id in one.citations}
        spared = cited if choice.policy else set[tuple[str, int]]()
        going: dict[str, list[int]] = {}
        for one in forgetting.remove:
            if (one.memory.agent, one.memory.id) not in spared:
                going.setdefault(one.memory.agent, []).append(one.memory.id)
        count = sum(map(len, going.values()))
        _tell(line for line, one in zip(forgetting.lines(), forgetting.remove, strict=False) if _goes(one, going))
        if dry_run:
            print(f"{count} would be forgotten", file=sys.stderr)
            return
        for agent, ids in going.items():
            run.submit({"kind": "forget", "agent_id": agent, "memory_ids": ids})
        next_tick = run.tick + 1
    print(f"{count} are forgotten at the end of tick {next_tick}; commonplace resume {path}", file=sys.stderr)


def _goes(one: Decision, going: Mapping[str, list[int]]) -> bool:
    return one.memory.id in going.get(one.memory.agent, ())


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def _chosen(
    records: list[Candidate],
    agent: str | None,
    ids: str | None,
    session: str | None,
    query: str | None,
    tags: str | None,
) -> ForgettingPlan:
    """What all options given name."""
    tests = filters(session=session, text=query)
    why = [f"session {session}"] * (session is not None) + [f"says {query}"] * (query is not None)
    if tags is not None:
        labels = set(_split(tags))
        tests.append(lambda memory: not labels.isdisjoint(memory.tags))
        why.append(f"tagged {tags}")
    if ids is not None:
        numbers = _numbers(ids, agent, records)
        tests.append(lambda memory: memory.id in numbers)
        why.append("by number")
    if not tests:
        raise UsageError("nothing is named", hint=NOTHING)
    chosen = [record.memory for record in records if all(test(record.memory) for test in tests)]
    return ForgettingPlan(remove=[Decision(memory, ", ".join(why)) for memory in chosen])


def _numbers(ids: str, agent: str | None, records: list[Candidate]) -> set[int]:
    if agent is None:
        raise UsageError("numbers of memories without a character", hint="add --agent NAME")
    try:
        numbers = {int(one) for one in _split(ids)}
    except ValueError as error:
        raise UsageError(f"--ids {ids!r}", hint="give whole numbers with commas between, such as 3,4,7") from error
    missing = sorted(numbers - {record.memory.id for record in records})
    if missing:
        raise UsageError(f"{agent} has no memories {missing}", hint="see `commonplace memories` for those there are")
    return numbers


def _refuse_both(*chosen: str | None) -> None:
    if any(one is not None for one in chosen):
        raise UsageError("a policy and a choice at once", hint="use --policy alone, with --agent if you like")


def _policy(path: Path) -> RetentionPolicy:
    if not path.exists():
        raise UsageError("there is no such file", where=str(path), hint="give a config.json with a retention_policy")
    return StoreConfig.read(path).retention_policy


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        return parse_iso(text)
    except ValueError as error:
        raise UsageError(f"--now {text!r}", hint="give an ISO time such as 2031-10-04T19:00:00") from error


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",") if one.strip()]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
