"""Forgetting in a run and in a store, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.command import command

CHOICE = ("--agent", "ines", "--query", "tower clock")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "plaza.run"
    command("run", "plaza", "-o", path, "--ticks", 6, "--view", "none")
    return path


def _texts(where: Path) -> list[str]:
    rows = command("memories", where, "ines", "--json").out.splitlines()
    return [json.loads(row)["text"] for row in rows]


def test_a_dry_run_shows_what_would_go_and_changes_nothing(run: Path) -> None:
    before = _texts(run)
    shown = command("forget", run, *CHOICE, "--dry-run")
    assert "tower clock" in shown.out
    command("resume", run, "--ticks", 1, "--view", "none")
    assert set(before) <= set(_texts(run))


def test_what_is_chosen_in_a_run_is_forgotten_at_its_next_tick_and_it_verifies(run: Path) -> None:
    assert any("tower clock" in text for text in _texts(run))
    command("forget", run, *CHOICE)
    command("resume", run, "--ticks", 1, "--view", "none")
    assert not any("tower clock" in text for text in _texts(run))
    command("verify", run)
    events = [json.loads(row) for row in command("events", run, "--json").out.splitlines()]
    assert [event["agent_id"] for event in events if event["type"] == "FORGOT"] == ["ines"]


def test_a_fork_may_begin_without_a_memory(run: Path, tmp_path: Path) -> None:
    fork = tmp_path / "fork.run"
    text = _texts(run)[2]
    command("fork", run, "--at", 3, "-o", fork, "--forget", "ines:3")
    command("resume", fork, "--ticks", 2, "--view", "none")
    assert text not in _texts(fork)
    assert text in _texts(run)
    command("verify", fork)


def test_a_fork_without_a_memory_that_is_not_there_is_refused_and_not_made(run: Path, tmp_path: Path) -> None:
    fork = tmp_path / "fork.run"
    for named in ("ines:999", "nobody:1", "ines", "ines:x"):
        command("fork", run, "--at", 3, "-o", fork, "--forget", named, status=2)
        assert not fork.exists()


def test_nothing_named_is_refused(run: Path) -> None:
    refused = command("forget", run, status=2)
    assert "--ids" in refused.err


def test_a_character_that_is_not_there_is_refused(run: Path) -> None:
    refused = command("forget", run, "--agent", "nobody", "--query", "x", status=2)
    assert "ines" in refused.err


def test_the_memories_of_a_run_can_be_copied_and_forgotten_in_a_store(run: Path, tmp_path: Path) -> None:
    store = tmp_path / "plaza.db"
    command("copy-memories", run, store)
    assert _texts(store) == _texts(run)
    command("forget", store, *CHOICE)
    assert not any("tower clock" in text for text in _texts(store))


def test_reflections_are_shown_down_to_what_they_rest_on(tmp_path: Path) -> None:
    path = tmp_path / "town.run"
    command("run", "latticeville", "-o", path, "--ticks", 60, "--view", "none")
    lines = command("memories", path, "odalys", "--tree").out.splitlines()
    assert any(line.startswith("#") and " reflection " in line for line in lines)
    assert any(line.startswith("  #") for line in lines)
