"""Forgetting in a run and in a store, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from commonplace.cli import main
from commonplace.memory import MemoryStream
from commonplace.memory.stores import open_store

Said = Callable[..., str]
CHOICE = ("--agent", "ines", "--query", "tower clock")


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What a command prints: on standard output where it succeeds, else on standard error."""

    def ran(*arguments: object, status: int = 0) -> str:
        capsys.readouterr()
        assert main([str(one) for one in arguments]) == status
        printed = capsys.readouterr()
        return printed.err if status else printed.out

    return ran


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "plaza.run"
    assert main(["run", "plaza", "-o", str(path), "--ticks", "6", "--view", "none"]) == 0
    return path


@pytest.fixture
def texts(said: Said) -> Callable[[Path], list[str]]:
    """What ines remembers."""
    return lambda where: [json.loads(row)["text"] for row in said("memories", where, "ines", "--json").splitlines()]


def test_a_dry_run_shows_what_would_go_and_changes_nothing(
    run: Path, said: Said, texts: Callable[[Path], list[str]]
) -> None:
    before = texts(run)
    shown = said("forget", run, *CHOICE, "--dry-run")
    assert "tower clock" in shown
    said("resume", run, "--ticks", 1, "--view", "none")
    assert set(before) <= set(texts(run))


def test_what_is_chosen_in_a_run_is_forgotten_at_its_next_tick_and_it_verifies(
    run: Path, said: Said, texts: Callable[[Path], list[str]]
) -> None:
    assert any("tower clock" in text for text in texts(run))
    said("forget", run, *CHOICE)
    said("resume", run, "--ticks", 1, "--view", "none")
    assert not any("tower clock" in text for text in texts(run))
    said("verify", run)
    events = [json.loads(row) for row in said("events", run, "--json").splitlines()]
    assert [event["agent_id"] for event in events if event["type"] == "FORGOT"] == ["ines"]


def test_a_fork_may_begin_without_a_memory(
    run: Path, tmp_path: Path, said: Said, texts: Callable[[Path], list[str]]
) -> None:
    fork = tmp_path / "fork.run"
    text = texts(run)[2]
    said("fork", run, "--at", 3, "-o", fork, "--forget", "ines:3")
    said("resume", fork, "--ticks", 2, "--view", "none")
    assert text not in texts(fork)
    assert text in texts(run)
    said("verify", fork)


def test_a_fork_without_a_memory_that_is_not_there_is_refused_and_not_made(
    run: Path, tmp_path: Path, said: Said
) -> None:
    fork = tmp_path / "fork.run"
    for named in ("ines:999", "nobody:1", "ines", "ines:x"):
        said("fork", run, "--at", 3, "-o", fork, "--forget", named, status=2)
        assert not fork.exists()


def test_nothing_named_is_refused(run: Path, said: Said) -> None:
    refused = said("forget", run, status=2)
    assert "--ids" in refused


def test_a_character_that_is_not_there_is_refused(run: Path, said: Said) -> None:
    refused = said("forget", run, "--agent", "nobody", "--query", "x", status=2)
    assert "ines" in refused


def test_the_memories_of_a_run_can_be_copied_and_forgotten_in_a_store(
    run: Path, tmp_path: Path, said: Said, texts: Callable[[Path], list[str]]
) -> None:
    store = tmp_path / "plaza.db"
    said("copy-memories", run, store)
    assert texts(store) == texts(run)
    said("forget", store, *CHOICE)
    assert not any("tower clock" in text for text in texts(store))


def test_reflections_are_shown_down_to_what_they_rest_on(tmp_path: Path, said: Said) -> None:
    path = tmp_path / "town.run"
    said("run", "latticeville", "-o", path, "--ticks", 60, "--view", "none")
    lines = said("memories", path, "odalys", "--tree").splitlines()
    assert any(line.startswith("#") and " reflection " in line for line in lines)
    assert any(line.startswith("  #") for line in lines)


def test_a_character_may_be_given_by_name_in_any_case(run: Path, tmp_path: Path, said: Said) -> None:
    by_id = said("forget", run, *CHOICE, "--dry-run")
    assert said("forget", run, "--agent", "Ines Okafor", *CHOICE[2:], "--dry-run") == by_id
    assert "ines forgets" in said("fork", run, "--at", 3, "-o", tmp_path / "fork.run", "--forget", "INES:3")


def test_everything_of_a_character_goes_with_its_name(said: Said, tmp_path: Path) -> None:
    where = tmp_path / "s.db"
    with closing(open_store(where)) as store:
        for agent in ("ines", "klaus"):
            MemoryStream.open(store, agent).remember("a lantern", at=datetime(2031, 1, 1, tzinfo=UTC))
    said("forget", where, "--agent", "ines", "--everything", "--dry-run")
    assert json.loads(said("memories", where, "ines", "--json"))["text"] == "a lantern"
    said("forget", where, "--agent", "ines", "--everything")
    with closing(open_store(where)) as store:
        assert store.agents() == ("klaus",)
    assert "--everything is for" in said("forget", where, "--everything", status=2)
    assert "ines" in said("forget", where, "--agent", "ines", "--everything", status=2)


def test_nothing_is_forgotten_where_it_could_not_be_recorded(tmp_path, capsys):
    where = tmp_path / "s.db"
    with MemoryStream.open(where, "maria") as stream:
        stream.remember("a lantern", at=datetime(2031, 1, 1, tzinfo=UTC))
    (tmp_path / "ledger").write_text("not a folder")
    assert main(["forget", str(where), "--query", "lantern", "--ledger", str(tmp_path / "ledger")]) == 2
    assert "a file, not a folder" in capsys.readouterr().err
    with MemoryStream.open(where, "maria") as stream:
        assert [memory.text for memory in stream] == ["a lantern"]
