"""Commands that read a run: `events`, `agents`, `diffusion`, `metrics`, `digest`, `verify`, `why`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from itertools import islice

import typer

from commonplace.analysis.walks import walks as walks_of
from commonplace.cli.options import AT, JSON, RUN, TRUST
from commonplace.cli.output import print_json, print_table, working
from commonplace.clock import hhmm
from commonplace.errors import UsageError, command
from commonplace.lookup import character, names_in
from commonplace.registry import TOOLS, found
from commonplace.run.account import account, account_text, goal_text
from commonplace.run.account import goals as goals_of
from commonplace.run.integrity import check as check_integrity
from commonplace.run.integrity import unchecked
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.run.rows import event_json
from commonplace.run.why import as_text, event_named, reasons
from commonplace.text import one_line
from commonplace.views.lines import entry_of, json_line
from commonplace.views.town_names import TownNames
from commonplace.world.actions import ACTIONS
from commonplace.world.events import NOBODY, TYPES, Event, Interacted, PlanChanged, Reflected, Spoke

# The engine is imported only where something is run, so that the other commands start in two thirds of the time.


def events(
    run: Place = RUN,
    as_json: bool = JSON,
    agent: str = typer.Option("", "--agent", help="Only what this character did: id, full name or short name."),
    type_: str = typer.Option("", "--type", help="Only of this type, such as SAY."),
    since: str | None = typer.Option(None, "--since", help="At this tick or ISO simulated time, or later."),
    until: str | None = typer.Option(None, "--until", help="At this tick or ISO simulated time, or earlier."),
    walks: bool = typer.Option(False, "--walks", help="A line for each whole walk, instead of one for each edge."),
) -> None:
    """List everything that happened, in canonical order."""
    if walks and type_:
        raise UsageError("--walks and --type are two lists", hint="ask for one of them at a time")
    with Reading.open(run) as reading:
        who = character(agent, names_in(reading), run) if agent else None
        first, last = 0 if since is None else reading.tick(since), reading.tick(until)
        if walks:
            rows = walks_of(reading, first, last, who)
            if as_json:
                print_json(rows)
                return
            for row in rows:
                head = f"{row['time'][11:16]}  {row['id']:<18} {row['agent_id']:<16}"
                print(f"{head} {row['from_location']} → {row['to_location']}, {row['edges']} edges")
            return
        kind = type_.upper()
        found = reading.events(first, last, type=kind or None, agent=who)
        if kind and not found:
            there = {event.type for event in reading.events()}
            if kind not in {*there, *TYPES, *ACTIONS}:
                hint = f"expected one of {', '.join(sorted(there))}"
                raise UsageError(f"there is no type of event {type_!r}", where=str(run), hint=hint)
            print(f"no event of type {kind} among these", file=sys.stderr)
        if as_json:
            print_json(event_json(event, reading.time(event.tick)) for event in found)
            return
        town = TownNames.of(reading.scenario.part)
        for event in found:
            print(_event_line(event, reading, town))


def _event_line(event: Event, reading: Reading, town: TownNames) -> str:
    """Returns when, which, where and what in words; then the facts that were told and the memories it rests on."""
    entry, body = entry_of(event, town), event.body
    said = f"→ {town.who(entry.to)}: “{body.utterance}”" if isinstance(body, Spoke) else entry.text
    facts = body.facts if isinstance(body, Spoke) else ()
    lists = (f"{name}={','.join(map(str, ids))}" for name, ids in (("facts", facts), ("because", body.because)) if ids)
    head = f"{hhmm(reading.time(event.tick))}  {event.id:<18} {event.type:<20} {event.place or '-':<16}"
    return one_line(" ".join((head, said, *lists)))


def agents(
    run: Place = RUN,
    as_json: bool = JSON,
    at: str | None = AT,
    past: str = typer.Option("", "--past", metavar="AGENT", help="What this character knows of its own past instead."),
    goals: str = typer.Option("", "--goals", metavar="AGENT", help="What this character means to do, and meant to."),
) -> None:
    """List the characters in the world: where they are and what they are doing."""
    if past and goals:
        raise UsageError("--past and --goals are two lists", hint="ask for one of them at a time")
    with Reading.open(run) as reading:
        known = account(reading, past, at) if past else ()
        meant = goals_of(reading, goals, at) if goals else ()
        rows = () if past or goals else reading.agents(at)
    if as_json:
        print_json((*known, *meant, *rows))
    elif past or goals:
        for line in (*map(account_text, known), *map(goal_text, meant)):
            print(one_line(line))
    else:
        columns = ("id", "name", "place", "doing")
        print_table(columns, [[row[column] for column in columns] for row in rows], words=len(columns))


def diffusion(run: Place = RUN, as_json: bool = JSON) -> None:
    """Show how far each seed fact has spread, and who told whom."""
    from commonplace.analysis.diffusion import diffusion as diffusion_of  # noqa: PLC0415 – start-up speed

    with Reading.open(run) as reading:
        rows = diffusion_of(reading)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(one_line(f"{row['fact']}: {row['text']}"))
        print(one_line(f"  {row['share']:.0%} know it: {', '.join(row['knowers'])}"))
        for edge in row["tree"]:
            how = f"{edge['read']}: " if "read" in edge else ""
            words = f"({edge['event_id']}: {how}{' … '.join(edge['words'])})"
            print(one_line(f"    {edge['from']} → {edge['to']}  {words}"))
        print(one_line(f"  made up {row['made_up']}, claimed {row['claimed']}"))


def metrics(
    run: Place = RUN,
    as_json: bool = JSON,
    every: int | None = typer.Option(None, "--every", min=1, help="Ticks from line to line; an hour if left out."),
) -> None:
    """Show how acquaintance and knowledge spread: a line for each hour of the run."""
    from commonplace.analysis.network import emergence  # noqa: PLC0415 – start-up speed

    with Reading.open(run) as reading:
        rows = list(emergence(reading, every))
        day = reading.scenario.clock.day
    if as_json:
        print_json(rows)
        return
    facts = list(rows[-1]["known"])
    cells = [
        [str(day(row["tick"]) + 1), row["time"][11:16], f"{row['density']:.2f}", str(row["pairs"]), str(row["lines"])]
        + [f"{row['known'][fact]:.0%}" for fact in facts]
        for row in rows
    ]
    print_table(("day", "time", "density", "pairs", "lines", *facts), cells, words=2)


def digest(
    run: Place = RUN,
    at: str | None = AT,
    state: bool = typer.Option(False, "--state", help="The digest of the state instead of the history."),
    as_json: bool = JSON,
) -> None:
    """Print the chained digest of everything that happened up to a tick."""
    with Reading.open(run) as reading:
        found = reading.digest(at, state=state)
        if as_json:
            print_json([{"tick": reading.tick(at), "of": "state" if state else "history", "digest": found}])
        else:
            print(found)


def verify(
    run: Place = RUN,
    integrity_only: bool = typer.Option(
        False, "--integrity-only", help="Check the file only; do not run the ticks again."
    ),
    as_json: bool = JSON,
    trust: bool = TRUST,
) -> None:
    """Check the file, then run every tick again from its journal and compare the digests."""
    from commonplace.api import scenario_of  # noqa: PLC0415 – start-up speed
    from commonplace.cli.consent import agreed  # noqa: PLC0415
    from commonplace.engine.verify import verify as verify_run  # noqa: PLC0415
    from commonplace.stages import by_name  # noqa: PLC0415
    from commonplace.trust import settle, stage_named_by_run  # noqa: PLC0415

    with Reading.open(run) as reading:
        with working(lambda: f"checking the {reading.last_tick + 1:,} ticks of the file"):
            last = check_integrity(reading)
        print(f"integrity: {last + 1} ticks, all digests are intact", file=sys.stderr)
        limits = unchecked(reading)
        for limit in limits:
            print(f"not checked: {limit}", file=sys.stderr)
        if not integrity_only:
            code = stage_named_by_run(reading.manifest)
            settle(code, run, trust=agreed(code, run, trust=trust))
            scenario = scenario_of(reading.manifest)
            begun = [0]
            with working(lambda: f"tick {begun[-1]:,} of {last:,} is executed again"):
                asyncio.run(verify_run(reading, scenario, by_name(reading.manifest.stage), begins=begun.append))
            print(f"re-executed {last} ticks: the same history, states and traces", file=sys.stderr)
        if as_json:
            found = {"tick": last, "digest": reading.digest(last), "re_executed": not integrity_only}
            print_json([found | {"not_checked": limits}])
        else:
            print(f"tick {last}  digest {reading.digest(last)}")


RECENT = 12
"""Events that `why` offers when it is given no id."""
CHUNK = 48
"""Ticks read at a time, from the last one back."""


def why(
    run: Place = RUN,
    event_id: str | None = typer.Argument(None, help="An event id such as t31.mira.0; lists recent ones if left out."),
    as_json: bool = typer.Option(False, "--json", help="Print one JSON value."),
    prompts: bool = typer.Option(False, "--prompts", help="Show the whole prompts, not only the answers."),
    without: str = typer.Option("", "--without", help="AGENT:ID of a memory: what happens if it is missing."),
    times: int = typer.Option(0, "--times", min=0, max=1000, help="With --without: how often to ask; 0 fits the mind."),
    trust: bool = TRUST,
) -> None:
    """Explain why something was done or said: memories and scores, plan, reaction, questions and answers."""
    if times and not without:
        raise UsageError("--times needs --without", hint="add --without AGENT:ID")
    with Reading.open(run) as reading:
        if event_id is None:
            if without or prompts:
                raise UsageError("the event id is missing", hint=f"{command('why', run)} lists recent events")
            _list_recent(reading, as_json)
        elif without:
            found(TOOLS["without"])(reading, event_named(reading, event_id), without, times, as_json, trust)
        else:
            why_it = reasons(reading, event_id)
            print(json_line(why_it) if as_json else as_text(why_it, prompts=prompts))


def _list_recent(reading: Reading, as_json: bool) -> None:
    """Prints the latest events that are worth a question, in their order, and how to ask."""

    def is_reasoned(event: Event) -> bool:  # memories or a thought led to it; most others only follow the plan
        return bool(event.body.because) or isinstance(event.body, PlanChanged | Reflected)

    reasoned = list(islice(_latest(reading, is_reasoned), RECENT))
    recent = reasoned or list(islice(_latest(reading, lambda event: isinstance(event.body, Interacted)), RECENT))
    recent.reverse()
    if as_json:
        print_json(event_json(event, reading.time(event.tick)) for event in recent)
        return
    town = TownNames.of(reading.scenario.part)
    rows = [[one.id, hhmm(reading.time(one.tick)), town.who(one.agent_id), entry_of(one, town).text] for one in recent]
    print_table(("id", "time", "who", "what"), rows, words=4)
    if recent:
        print(f"ask about one of them: {command('why', reading.path, recent[-1].id)}", file=sys.stderr)


def _latest(reading: Reading, wanted: Callable[[Event], bool]) -> Iterator[Event]:
    """Yields the characters' events that are wanted, the latest first."""
    for last in range(reading.last_tick, -1, -CHUNK):
        for event in reversed(reading.events(max(0, last - CHUNK + 1), last)):
            if event.agent_id != NOBODY and wanted(event):
                yield event
