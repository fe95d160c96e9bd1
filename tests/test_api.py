"""The public face of the package: minds as objects, names that can be imported, values that print in a line."""

from __future__ import annotations

import asyncio
import importlib
import re
from importlib.resources import files
from pathlib import Path

import pytest

import commonplace
from commonplace.cli import main
from commonplace.engine.lockstep import Tick
from commonplace.errors import UsageError
from commonplace.scenario.compiling import load
from commonplace.testing.server import ModelServer

PROJECT = Path(__file__).parents[1]


class Own(commonplace.OfflineMind):
    """A mind that no name stands for."""

    name = "own"


def ticks(run: commonplace.Run, count: int) -> None:
    async def play() -> None:
        async for _ in run.play(count):
            pass

    with run:
        asyncio.run(play())


# ── minds as objects ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_can_be_made_with_a_mind_object(tmp_path):
    ticks(commonplace.create_run(tmp_path / "own.run", "plaza", mind=Own()), 4)
    ticks(commonplace.resume_run(tmp_path / "own.run", mind=Own()), 4)
    ticks(commonplace.create_run(tmp_path / "named.run", "plaza"), 8)
    with commonplace.open_run(tmp_path / "own.run") as own, commonplace.open_run(tmp_path / "named.run") as named:
        assert own.manifest.mind == "own"
        assert own.digest() == named.digest()


def test_playing_without_an_event_loop_prints_no_tick(tmp_path, monkeypatch):
    """With all that it holds that takes longer than to make it."""
    monkeypatch.setattr(Tick, "__repr__", lambda tick: pytest.fail("it was printed"))
    with commonplace.create_run(tmp_path / "a.run", "plaza") as run:
        assert [tick.number for tick in run.play_sync(3)] == [1, 2, 3]
        assert [tick.number for tick in run.play_sync(until=4)] == [4]
        assert list(run.play_sync(until=4)) == []


def test_resuming_it_needs_the_object_again(tmp_path, capsys):
    path = tmp_path / "own.run"
    commonplace.create_run(path, "plaza", mind=Own()).close()
    for mind in ("", "own"):
        with pytest.raises(UsageError, match="made with a Mind object named 'own'") as raised:
            commonplace.resume_run(path, mind)
        assert "resume_run(path, mind=" in raised.value.hint
    assert main(["resume", str(path), "--ticks", "1"]) == 2
    assert "Mind object" in capsys.readouterr().err
    assert main(["verify", str(path)]) == 0


def test_it_can_be_forked_with_a_mind_that_has_a_name_and_forget_without_one(tmp_path, capsys):
    path, fork = str(tmp_path / "own.run"), str(tmp_path / "fork.run")
    ticks(commonplace.create_run(path, "plaza", mind=Own()), 2)
    assert main(["forget", path, "--agent", "ines", "--ids", "1"]) == 0
    assert main(["fork", path, "--at", "1", "-o", fork, "--mind", "offline", "--forget", "ines:1"]) == 0
    assert main(["resume", fork, "--ticks", "1", "--view", "none"]) == 0
    capsys.readouterr()


def test_another_mind_than_the_runs_is_refused(tmp_path):
    path = tmp_path / "my town.run"
    commonplace.create_run(path, "plaza").close()
    with pytest.raises(UsageError, match="made with the mind 'offline', not 'own'") as raised:
        commonplace.resume_run(path, mind=Own())
    assert f"commonplace fork '{path}' --at 0" in raised.value.hint
    commonplace.resume_run(path, mind="offline").close()


# ── what a person meets in a notebook ────────────────────────────────────────────────────────────────────────────────


def test_a_run_that_this_process_has_open_is_not_blamed_on_another(tmp_path):
    with (
        commonplace.create_run(tmp_path / "a.run", "plaza"),
        pytest.raises(UsageError, match="this process has it open") as raised,
    ):
        commonplace.resume_run(tmp_path / "a.run")
    assert "run.close()" in raised.value.hint


def test_an_existing_run_is_offered_to_be_resumed_and_another_file_is_not(tmp_path):
    commonplace.create_run(tmp_path / "my town.run", "plaza").close()
    with pytest.raises(UsageError) as raised:
        commonplace.create_run(tmp_path / "my town.run", "plaza")
    assert f"commonplace resume '{tmp_path}/my town.run', or replace it with --force" in raised.value.hint
    (tmp_path / "diary.txt").write_text("dear diary")
    with pytest.raises(UsageError) as raised:
        commonplace.create_run(tmp_path / "diary.txt", "plaza")
    assert "resume" not in raised.value.hint


@pytest.mark.parametrize("served", [False, True], ids=["offline", "server"])
def test_several_sentences_between_two_ticks_are_all_kept(tmp_path, served):
    said = ["A thick fog rolls in.", "The bells ring.", "A fox runs by.", "The bells ring."]

    async def play(run: commonplace.Run) -> list[str]:
        async for _ in run.play(2):
            pass
        for sentence in said:
            run.submit(await run.preview(sentence))
        async for _ in run.play(2):
            pass
        return [event.body.text for event in run.reading.events(type="GOD_EVENT")]

    with (
        ModelServer() as server,
        commonplace.create_run(tmp_path / "a.run", "plaza", mind=server.url if served else "offline") as run,
    ):
        assert asyncio.run(play(run)) == said


# ── names and values ─────────────────────────────────────────────────────────────────────────────────────────────────


PUBLIC = (
    "commonplace",
    "commonplace.memory",
    "commonplace.querygraph",
    "commonplace.memory.stores",
    "commonplace.parts.mcp.server",
    "commonplace.ledger",
    "commonplace.analysis.diffusion",
    "commonplace.testing",
    "commonplace.testing.server",
)


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_can_be_imported(module):
    package = importlib.import_module(module)
    assert package.__all__
    assert [name for name in package.__all__ if not hasattr(package, name)] == []
    assert set(commonplace.__all__) <= set(dir(commonplace))


def test_the_public_modules_are_those_of_the_page_and_the_examples_use_no_others():
    page = (PROJECT / "docs" / "python.md").read_text(encoding="utf-8").split("## Public names")[1]
    assert tuple(re.findall(r"^\| `(commonplace[\w.]*)` \|", page, re.MULTILINE)) == PUBLIC
    for example in (PROJECT / "examples").glob("*.py"):
        used = re.findall(r"^(?:from|import) (commonplace[\w.]*)", example.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(used) <= set(PUBLIC), example


def test_a_name_that_is_not_public_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        commonplace.nonsense  # noqa: B018 – that it raises is the point


def test_the_package_says_that_it_is_typed():
    assert (files("commonplace") / "py.typed").is_file()


def test_large_values_print_in_a_line(tmp_path):
    scenario = load("latticeville")
    assert repr(scenario) == f"<Scenario latticeville: 10 characters, {len(scenario.geography.edges)} areas>"
    with commonplace.create_run(tmp_path / "a.run", "plaza") as run:
        assert len(repr(run.file.manifest)) < 500
        assert len(repr(run)) < 200
    assert Path(tmp_path / "a.run").exists()
