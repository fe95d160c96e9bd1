"""The queries of docs/runs-in-postgresql.md over a town that was lived and its fork: they say what the program says."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import OpenedRun, open_run
from commonplace.run.copying import copy_run
from e2e.command import command
from run.databases import Database, fresh

PAGE = Path(__file__).parents[3] / "docs" / "runs-in-postgresql.md"
QUERIES = dict(
    re.findall(r"^([^\n]+):\n\n```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)
"""What each is for → its SQL."""


@pytest.fixture(scope="module")
def database(town: Path, postgres_url: str) -> Iterator[Database]:
    """`monday`, a day of the town, and `dark`, a fork of it in which the lights go out. Not to be written to."""
    with fresh(postgres_url) as made:
        copy_run(town, made / "monday")
        command("fork", made / "monday", "--at", 60, "-o", made / "dark", "--inject", "The lights go out.")
        command("resume", made / "dark", "--ticks", 30, "--view", "none")
        yield made


@pytest.fixture(scope="module")
def monday(database: Database) -> Iterator[OpenedRun]:
    with open_run(database / "monday") as run:
        yield run


def asked(database: Database, what: str) -> list[Any]:
    (query,) = [query for title, query in QUERIES.items() if what in title]
    rows = database.execute(query)
    assert rows, what
    return rows


def test_there_are_ten(database: Database) -> None:
    assert len([query for query in QUERIES.values() if query.startswith("SELECT")]) == 10


def test_who_said_what(database: Database, monday: OpenedRun) -> None:
    said = [
        (one.tick, f"{monday.time(one.tick):%H:%M}", one.agent_id, one.body.to_agent_id, one.body.utterance)
        for one in monday.events(type="SAY")
    ]
    assert sorted(asked(database, "Who said what")) == sorted(said)


def test_who_met_whom(database: Database, monday: OpenedRun) -> None:
    together: Counter[tuple[str, str, str]] = Counter()
    met: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for frame in monday.frames(0, monday.last_tick - 1):
        for (one, here), (other, there) in combinations(sorted(frame.agents.items()), 2):
            if here.position == there.position:
                together[one, other, here.position] += 1
                met[one, other, here.position].append(frame.tick)
    found = {tuple(row[:3]): (row[3], row[4]) for row in asked(database, "Who met whom")}
    at_the_end = {key for key, (_, ticks) in found.items() if ticks == 0}  # who came together in the last tick
    assert {key: ticks for key, (_, ticks) in found.items() if key not in at_the_end} == together
    for key, ticks in met.items():
        parted = sum(later - tick > 1 for tick, later in pairwise(ticks))
        assert found[key][0] - parted in (1, 2), "once more if they met again in the last tick"


def test_how_a_fact_spread(database: Database, monday: OpenedRun) -> None:
    first: dict[tuple[str, str], tuple[int, str]] = {}
    for event in monday.events(type="SAY"):
        for fact in event.body.facts:
            first.setdefault((fact, event.body.to_agent_id), (event.tick, event.agent_id))
    found = {(fact, hearer): (tick, speaker) for fact, hearer, tick, speaker, _ in asked(database, "How a fact spread")}
    assert found == first
    assert len(found) > 5


def test_memories_alike(database: Database, monday: OpenedRun) -> None:
    rows = asked(database, "most like another")
    assert len(rows) == 5
    mine = monday.stream_at("mira").vector(1)
    for agent, id_, text, cosine in rows:
        assert monday.memory(agent, id_).text == text
        assert float(cosine) == pytest.approx(_cosine(mine, monday.stream_at(agent).vector(id_)), abs=0.002)
    assert [row[3] for row in rows] == sorted((row[3] for row in rows), reverse=True)


def _cosine(one: Any, other: Any) -> float:
    return float(one @ other / ((one @ one) * (other @ other)) ** 0.5)


def test_a_fork_has_vectors_of_its_own_and_of_its_parent(database: Database) -> None:
    for run in ("monday", "dark"):
        query = f"SELECT count(*), count(embedding), count(DISTINCT (agent, id)) FROM memories WHERE run = '{run}'"
        with open_run(database / run) as opened:
            all_of_them = [m for agent in opened.agent_ids for m in opened.memories(agent, forgotten=True)]
            with_vector = opened.one("SELECT count(*) FROM memory WHERE vector IS NOT NULL")[0]
        assert database.execute(query) == [(len(all_of_them), with_vector, len(all_of_them))]


def test_relations_day_by_day(database: Database, monday: OpenedRun) -> None:
    rows = asked(database, "What changed in relations")
    for day, agent, other, coldest, warmest, label in rows:
        assert day.isoformat() == "2031-10-04"
        relation = monday.state_at(agent).relations[other]
        assert coldest <= relation.warmth <= warmest
        assert label in (None, relation.label)
    pairs = {(agent, other) for agent in monday.agent_ids for other in monday.state_at(agent).relations}
    assert {(agent, other) for _, agent, other, *_ in rows} == pairs


def test_what_was_asked(database: Database, monday: OpenedRun) -> None:
    counted = Counter(row.task for row in monday.answers())
    rows = asked(database, "What was asked")
    assert {task: attempts for _, task, attempts, *_ in rows} == counted
    assert {mind for mind, *_ in rows} == {"offline"}
    assert all(cost == 0 for *_, cost in rows)


def test_ticks_a_minute(database: Database, monday: OpenedRun) -> None:
    rows = asked(database, "Ticks a minute")
    ticks = Counter()
    for run, _, count in rows:
        ticks[run] += count
    assert ticks == {"monday": monday.last_tick + 1, "dark": 91}


def test_two_runs_side_by_side(database: Database, monday: OpenedRun) -> None:
    rows = asked(database, "Two runs side by side")
    with open_run(database / "dark") as dark:
        here, there = ({e.id: e for e in run.events(0, 90)} for run in (monday, dark))
    different = {id_ for id_ in {*here, *there} if here.get(id_) != there.get(id_)}
    assert {row[1] for row in rows} == different
    assert rows[0][0] == 61, "they part at the first tick after the fork"


def test_cited_memories(database: Database, monday: OpenedRun) -> None:
    kept = [memory for agent in monday.agent_ids for memory in monday.memories(agent, forgotten=True)]
    cited = Counter((memory.agent, id_) for memory in kept for id_ in memory.citations)
    rows = asked(database, "that most others rest on")
    assert [count for _, _, count, _ in rows] == sorted(cited.values(), reverse=True)[:10]
    assert all(cited[agent, id_] == count for agent, id_, count, _ in rows)


def test_what_everybody_was_doing_at_noon(database: Database, monday: OpenedRun) -> None:
    noon = next(tick for tick in range(200) if monday.time(tick) == datetime(2031, 10, 4, 12, tzinfo=UTC))
    bodies = monday.world_at(noon).bodies
    assert asked(database, "doing at noon") == [(me, body.area, body.doing) for me, body in sorted(bodies.items())]


def test_a_forks_views_are_those_of_the_whole_run(database: Database) -> None:
    with open_run(database / "dark") as dark:
        assert database.execute("SELECT count(*) FROM events WHERE run = 'dark'") == [(len(dark.events()),)]
        assert database.execute("SELECT count(*) FROM answers WHERE run = 'dark'") == [(len(dark.answers()),)]
        last = database.execute("SELECT time, tick FROM ticks WHERE run = 'dark' ORDER BY tick DESC LIMIT 1")
        assert last == [(dark.time(90), 90)]
        query = "SELECT agent, place FROM stays WHERE run = 'dark' AND until IS NULL ORDER BY agent"
        assert database.execute(query) == [(me, body.area) for me, body in sorted(dark.world_at().bodies.items())]
    assert database.execute("SELECT name, parent, forked_at, last_tick FROM runs ORDER BY name") == [
        ("dark", "monday", 60, 90), ("monday", None, None, 108),
    ]  # fmt: skip


def test_a_role_for_analysts(database: Database) -> None:
    (grants,) = [query for query in QUERIES.values() if "CREATE ROLE" in query]
    database.execute(grants)
    try:
        database.execute("SET ROLE analyst; SELECT count(*) FROM commonplace.said")
        for view in ("runs", "said", "memories", "stays", "relations", "answers"):
            database.execute(f"SET ROLE analyst; SELECT * FROM commonplace.{view} LIMIT 1")
    finally:
        database.execute("DROP OWNED BY analyst; DROP ROLE analyst")
