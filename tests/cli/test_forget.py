"""`forget` and `ledger`: by hand, over a store and a ledger."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import typer

from commonplace.cli import forget, ledger
from commonplace.errors import CommonplaceError, WrongUse
from commonplace.ledger import Ledger, read
from commonplace.memory.memory_store import MemoryStore
from commonplace.memory.stores.opening import open_store
from memory.coordinates.documents import DAY, document

app = typer.Typer()
forget.add_to(app)
ledger.add_to(app)


@pytest.fixture
def store(tmp_path) -> str:
    folder = tmp_path / "memories"
    with MemoryStore(folder) as made:
        for number in range(6):
            made.add(
                document(f"memory {number}", 60 * 24 * 20 * number, session=f"s{number // 2}", tags=[f"t{number}"])
            )
        made.add(document("other", persona="지우", tags=["t0"]))
    return str(folder)


@pytest.fixture
def say(capsys):
    def said(*arguments: object) -> list[str]:
        app([str(one) for one in arguments], standalone_mode=False)
        return capsys.readouterr().out.splitlines()

    return said


def left(store: str) -> dict[str, list[int]]:
    opened = open_store(store)
    found = {agent: opened.load(agent) for agent in opened.agents()}
    opened.close()
    return {
        agent: [memory.id for memory in one.memories if memory.id not in one.forgotten | one.archived]
        for agent, one in found.items()
    }


@pytest.mark.parametrize(
    ("options", "gone"),
    [
        (["--agent", "synthesis", "--ids", "2, 5"], {"synthesis": [2, 5]}),
        (["--session", "s1"], {"synthesis": [3, 4]}),
        (["--query", "MEMORY 0"], {"synthesis": [1]}),
        (["--tags", "t0,t5"], {"synthesis": [1, 6], "지우": [1]}),
        (["--tags", "t0", "--agent", "지우"], {"지우": [1]}),
        (["--tags", "t0", "--session", "s1"], {}),
    ],
)
def test_what_is_named_goes_and_a_dry_run_only_shows_it(store, say, options, gone):
    before = left(store)
    shown = say("forget", store, *options, "--dry-run")
    assert len(shown) == sum(map(len, gone.values()))
    assert left(store) == before
    assert say("forget", store, *options) == shown
    assert left(store) == {agent: [id for id in ids if id not in gone.get(agent, [])] for agent, ids in before.items()}


def test_a_policy_is_applied_and_the_ledger_told(store, say, tmp_path):
    policy = tmp_path / "config.json"
    policy.write_text(json.dumps({"retention_policy": {"max_sessions": 2, "archive_after_days": 50}}))
    shown = say("forget", store, "--policy", policy, "--agent", "synthesis", "--ledger", tmp_path / "ledger")
    assert [line.split()[0] for line in shown] == ["remove", "remove", "archive"]
    assert left(store) == {"synthesis": [4, 5, 6], "지우": [1]}
    assert [entry["plan_adjustment"]["action"] for entry in read(tmp_path / "ledger")] == ["archive", "remove"]


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["--ids", "1"],
        ["--agent", "synthesis", "--ids", "1,99"],
        ["--agent", "synthesis", "--ids", "one"],
        ["--agent", "nobody", "--tags", "x"],
        ["--policy", "nowhere.json"],
        ["--policy", "x.json", "--tags", "a"],
        ["--tags", "t1", "--now", "yesterday"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_refused_and_nothing_goes(store, wrong):
    before = left(store)
    with pytest.raises(WrongUse):
        app(["forget", store, *wrong], standalone_mode=False)
    assert left(store) == before


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(WrongUse):
        app(["forget", str(tmp_path / "nowhere"), "--tags", "x"], standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_is_shown_and_verified(tmp_path, say):
    kept = Ledger(tmp_path)
    for number in range(4):
        kept.log_event(f"s{number % 2}", "evaluation", "지우", f"mem_{number}", at=DAY + timedelta(hours=number))
    assert len(say("ledger", "show", tmp_path)) == 4
    assert "mem_3" in say("ledger", "show", tmp_path, "--session", "s1", "--memory", "mem_3")[0]
    assert json.loads(say("ledger", "show", tmp_path, "--json")[0])["memory_id"] == "mem_0"
    assert say("ledger", "verify", tmp_path)[-1].startswith("days 1  entries 4  head ")
    assert json.loads(say("ledger", "verify", tmp_path, "--json")[0])["findings"] == []


def test_a_broken_ledger_is_a_failure_that_names_the_line(tmp_path, capsys):
    kept = Ledger(tmp_path)
    for number in range(3):
        kept.log_event("s", "evaluation", at=DAY + timedelta(hours=number))
    path = tmp_path / "ledger-20251012.jsonl"
    path.write_text(path.read_text().replace("evaluation", "evacuation", 1))
    with pytest.raises(CommonplaceError) as failed:
        app(["ledger", "verify", str(tmp_path)], standalone_mode=False)
    assert failed.value.status == 1
    assert "ledger-20251012.jsonl:1: edited" in capsys.readouterr().out
