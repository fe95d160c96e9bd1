"""Two runs compared: where they part, and what differs afterwards, checked against whole ticks read one by one."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from commonplace.analysis.diffusion import diffusion
from commonplace.api import OpenedRun, create_run, open_run, resume_run
from commonplace.errors import UsageError
from e2e.command import command, tables
from run.small_runs import fork

FORKED, LAST = 50, 108
FIRE = {
    "kind": "god_event",
    "text": "Smoke rises from the noodle bar.",
    "to": {"everybody": True, "areas": [], "agents": []},
}


@pytest.fixture(scope="module")
def smoky(town: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The town, which has gone another way since tick 84."""
    path = tmp_path_factory.mktemp("diff") / "smoky.run"
    fork(town, FORKED, path).close()
    with resume_run(path) as run:
        run.submit(FIRE)
        run.submit({"kind": "leave", "agent_id": "jun"})

        async def live() -> None:
            async for _ in run.play(until=LAST):
                pass

        asyncio.run(live())
    return path


@pytest.fixture(scope="module")
def two(town: Path, smoky: Path):
    with open_run(town) as one, open_run(smoky) as other:
        yield one, other


def test_they_part_at_the_first_tick_whose_digests_differ(two: tuple[OpenedRun, OpenedRun]) -> None:
    one, other = two
    found = one.diff(other)
    tick = found["parted"]["tick"]
    assert one.digest(tick - 1) == other.digest(tick - 1)
    assert one.digest(tick) != other.digest(tick)
    assert tick == FORKED + 1
    assert found["compared"] == LAST
    assert found["related"]
    assert found["settings"] == {}


def test_the_first_events_are_those_that_only_one_has(two: tuple[OpenedRun, OpenedRun]) -> None:
    one, other = two
    only = one.diff(other)["parted"]["events"]
    assert only[0] == []
    assert [(row["type"], row["agent_id"]) for row in only[1]] == [("GOD_EVENT", "-"), ("LEFT", "jun")]
    assert other.diff(one)["parted"]["events"] == [only[1], only[0]]


def test_events_are_counted_by_character_and_type(two: tuple[OpenedRun, OpenedRun]) -> None:
    counts = []
    for run in two:
        events = run.events(FORKED + 1, LAST)
        counts.append(Counter((event.agent_id, event.type) for event in events))
    rows = {(row["agent_id"], row["type"]): row for row in two[0].diff(two[1])["events"]}
    for key in {*counts[0], *counts[1]}:
        if key in rows:
            assert [rows[key]["both"] + only for only in rows[key]["only"]] == [count[key] for count in counts]
        else:
            assert counts[0][key] == counts[1][key]
    assert rows["jun", "LEFT"] == {"agent_id": "jun", "type": "LEFT", "only": [0, 1], "both": 0}


def test_events_that_rest_on_other_memories_are_the_same_events(tmp_path: Path, plaza: Path) -> None:
    copy = tmp_path / "copy.run"
    copy.write_bytes(plaza.read_bytes())
    with tables(copy) as connection:
        body = """{"because":[1,2],"doing":"sitting","emoji":"","place":"square","type":"IDLE"}"""
        for number, run in enumerate((plaza, copy)):
            changed = body.replace("[1,2]", f"[{number}]")
            if run == copy:
                connection.execute("UPDATE tick SET history = x'00' WHERE n = 60")
                connection.execute("INSERT INTO event VALUES (60, 1, 'zoe', 0, 'IDLE', ?)", (changed,))
    other = tmp_path / "other.run"
    other.write_bytes(copy.read_bytes())
    with tables(other) as connection:
        connection.execute("UPDATE tick SET history = x'01' WHERE n = 60")
        connection.execute("UPDATE event SET body = replace(body, '[1]', '[7,9]') WHERE agent = 'zoe'")
    with open_run(copy) as one, open_run(other) as two:
        found = one.diff(two)
        assert found["parted"]["events"] == [[], []]
        assert found["events"] == []


def test_places_are_those_of_the_frames(two: tuple[OpenedRun, OpenedRun]) -> None:
    frames = [{frame.tick: frame.agents for frame in run.frames(FORKED, LAST)} for run in two]

    def place(run: int, tick: int, agent: str) -> str | None:
        found = frames[run][tick].get(agent)
        return found.position if found else None

    rows = {row["agent_id"]: row for row in two[0].diff(two[1])["places"]}
    for agent in two[0].agent_ids:
        apart = [
            (tick, [place(0, tick, agent), place(1, tick, agent)])
            for tick in range(FORKED + 1, LAST + 1)
            if place(0, tick, agent) != place(1, tick, agent)
        ]
        row = rows.get(agent, {"ticks": 0, "spans": []})
        assert row["ticks"] == len(apart)
        if row["ticks"]:
            assert row["at_end"] == [place(0, LAST, agent), place(1, LAST, agent)]
        spanned = [(tick, span["places"]) for span in row["spans"] for tick in range(span["from"], span["to"] + 1)]
        assert spanned == apart[: len(spanned)]
    assert rows["jun"]["at_end"][1] is None


def test_facts_are_those_that_not_the_same_characters_know(two: tuple[OpenedRun, OpenedRun]) -> None:
    knowers = [{line["fact"]: set(line["knowers"]) for line in diffusion(run)} for run in two]
    rows = {row["fact"]: row for row in two[0].diff(two[1])["facts"]}
    for fact, known in knowers[0].items():
        other = knowers[1][fact]
        if known == other:
            assert fact not in rows
        else:
            assert [set(only) for only in rows[fact]["only"]] == [known - other, other - known]
            assert set(rows[fact]["both"]) == known & other


def test_relations_and_beliefs_are_those_of_the_states(two: tuple[OpenedRun, OpenedRun]) -> None:
    found = two[0].diff(two[1])
    states = [run.states_at() for run in two]
    differing = {
        (me, other)
        for me in states[0]
        for other in {*states[0][me].relations, *states[1][me].relations}
        if len({_view(state[me].relations.get(other)) for state in states}) > 1
    }
    assert {(row["agent_id"], row["other"]) for row in found["relations"]} == differing
    assert differing
    for row in found["beliefs"]:
        for state, believed in zip(states, row["believed"], strict=True):
            known = state[row["agent_id"]].belief.nodes.get(row["about"])
            assert believed == (known and {"place": known.parent, "state": known.state})
    assert found["beliefs"]


def _view(relation) -> object:
    return relation and (relation.warmth, relation.label, relation.talks)


def test_a_run_does_not_differ_from_a_longer_one_that_it_is_a_part_of(town: Path, tmp_path: Path) -> None:
    fork(town, FORKED, tmp_path / "short.run").close()
    with open_run(town) as one, open_run(tmp_path / "short.run") as other:
        found = one.diff(other)
    assert (found["parted"], found["state_parted"], found["compared"]) == (None, None, FORKED)
    assert not any(found[key] for key in ("events", "places", "facts", "beliefs", "relations", "settings"))


def test_two_forks_of_one_run_are_compared_up_to_a_tick(town: Path, smoky: Path, tmp_path: Path) -> None:
    fork(town, FORKED + 4, tmp_path / "other.run").close()
    with open_run(smoky) as one, open_run(tmp_path / "other.run") as other:
        assert one.diff(other, FORKED)["parted"] is None
        found = one.diff(other)
        assert (found["parted"]["tick"], found["compared"]) == (FORKED + 1, FORKED + 4)
        with pytest.raises(UsageError, match="no tick 105"):
            one.diff(other, 105)


def test_another_seed_differs_from_the_start(tmp_path: Path) -> None:
    for seed in (1, 2):
        create_run(tmp_path / f"{seed}.run", "plaza", seed).close()
    with open_run(tmp_path / "1.run") as one, open_run(tmp_path / "2.run") as other:
        assert one.diff(other)["settings"] == {"seed": [1, 2]}


def test_another_state_with_the_same_history_is_told(plaza: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.run"
    copy.write_bytes(plaza.read_bytes())
    with tables(copy) as connection:
        (parts,) = connection.execute("SELECT parts FROM tick WHERE n = 30").fetchone()
        connection.execute(
            "UPDATE tick SET parts = ?, state = x'00' WHERE n = 30", (bytes([parts[0] ^ 1]) + parts[1:],)
        )
    done = command("diff", plaza, copy)
    assert "The same history up to tick 60" in done.out
    assert "The state differs from tick 30 on, first in: memory." in done.out


# ── as text ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_text_has_names_and_no_ids(town: Path, smoky: Path) -> None:
    out = command("diff", town, smoky).out
    for words in (f"part at tick {FORKED + 1} (2031", "Smoke rises", "Places", "Relations"):
        assert words in out
    assert "Jun Ilseong" in out or "Jun " in out
    assert "jun " not in out.replace("t51.jun.0", "")


def test_the_text_is_bounded(town: Path, tmp_path: Path) -> None:
    create_run(tmp_path / "other.run", "latticeville", 99).close()
    with resume_run(tmp_path / "other.run") as run:

        async def live() -> None:
            async for _ in run.play(20):
                pass

        asyncio.run(live())
    out = command("diff", town, tmp_path / "other.run").out
    assert len(out.splitlines()) < 130
    assert "seed 99" in out


def test_runs_of_different_scenarios_are_not_compared(town: Path, plaza: Path) -> None:
    done = command("diff", town, plaza)
    assert done.lines[-1].startswith("The two runs have different scenarios")
    [row] = command("diff", town, plaza, "--json").rows
    assert (row["related"], row["compared"], row["events"]) == (False, None, [])


def test_json_is_the_value_of_the_function(town: Path, smoky: Path, two: tuple[OpenedRun, OpenedRun]) -> None:
    [row] = command("diff", town, smoky, "--json").rows
    assert row == json.loads(json.dumps(two[0].diff(two[1])))


def test_control_characters_do_not_reach_the_terminal(plaza: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy\x1b[31m.run"
    copy.write_bytes(plaza.read_bytes())
    with tables(copy) as connection:
        connection.execute("UPDATE tick SET history = x'00' WHERE n = 60")
        body = '{"place":"square","text":"\\u001b]0;title\\u0007 \\u202e evil","type":"SCRIPTED"}'
        connection.execute("INSERT INTO event VALUES (60, 0, '-', 9, 'SCRIPTED', ?)", (body,))
    out = command("diff", plaza, copy).out
    assert "evil" in out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)
