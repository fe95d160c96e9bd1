"""A stage is a value: one from elsewhere gets journal, resume, verify and `why`; the engine knows none by name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import commonplace
from commonplace.registry import STAGES
from commonplace.scenario.loading import located
from e2e.command import command, ends, environment, tables

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _stage_at_hand(monkeypatch):
    """The modules of this folder can be imported, as in the folder somebody works in."""
    monkeypatch.syspath_prepend(HERE)


@pytest.fixture
def scenario(tmp_path):
    """The plaza on another stage, as a file."""

    def staged(stage: str) -> Path:
        text, _ = located("plaza")
        path = tmp_path / "staged.yaml"
        path.write_text(re.sub(r"^stage: .*", f"stage: {stage}", text, flags=re.MULTILINE), encoding="utf-8")
        return path

    return staged


@pytest.fixture
def echoed(scenario, tmp_path):
    """Twenty ticks of the stage of this folder."""
    run = tmp_path / "echo.run"
    command("run", scenario("echo_stage:ECHO"), "--trust", "--ticks", 20, "-o", run, "--view", "none")
    return run


def test_a_stage_from_elsewhere_lives_and_verifies(echoed):
    events = command("events", echoed, "--json").rows
    thinking = [(event["tick"], event["agent_id"]) for event in events if event.get("doing") == "thinking aloud"]
    assert [(tick, ("bruno", "ines")[tick % 2]) in thinking for tick in range(1, 21)] == [True] * 20
    assert any(event["type"] == "MULLED" and event["text"].startswith("nothing about") for event in events)
    command("verify", echoed)
    usage = command("usage", echoed, "--json").rows
    assert {row["task"] for row in usage} == {"muse", ""}
    assert usage[-1]["asked"] == usage[-1]["fallbacks"] > 20  # the offline mind has never heard of the task


def test_a_stage_from_elsewhere_goes_on_where_it_was_left(echoed, scenario, tmp_path):
    run = tmp_path / "pieces.run"
    command("run", scenario("echo_stage:ECHO"), "--trust", "--ticks", 7, "-o", run, "--view", "none")
    command("resume", run, "--ticks", 6, "--view", "none")
    command("resume", run, "--until", 20, "--view", "none")
    assert ends(run) == ends(echoed)


def test_why_explains_a_turn_of_a_stage_from_elsewhere(echoed):
    [why] = command("why", echoed, "t9.ines.0", "--json").rows
    assert [(one["purpose"], one["hits"][0]["rank"]) for one in why["retrievals"]] == [("muse", 1)]
    assert why["event"]["because"] == [why["retrievals"][0]["hits"][0]["memory"]["id"]]
    assert [(one["task"], one["outcome"]) for one in why["asked"]] == [("muse", "fault")]
    assert why["stored"][0]["text"].endswith("at tick 9")
    assert why["delivered"]
    assert "muse" in command("why", echoed, "t9.ines.0").out


def test_a_run_whose_stage_is_not_there_says_so_and_is_not_touched(echoed):
    before = ends(echoed)
    for name in ("resume", "verify"):
        done = command(name, echoed, status=2, env=environment())
        assert "echo_stage:ECHO" in done.err
    assert ends(echoed) == before
    assert len(command("events", echoed).lines) > 20  # what happened can be read without it


@pytest.mark.parametrize("word", [*STAGES, "sitcom"])
def test_the_engine_names_no_stage(word):
    folder = Path(commonplace.__file__).parent / "engine"
    files = sorted(folder.glob("**/*.py"))
    assert files
    pattern = re.compile(rf"""["']{word}["']|(?:stages|parts)\.{word}|import {word}\b|\b{word.upper()}\b""")
    told = {file.name: pattern.findall(file.read_text()) for file in files}
    # `stage.py` says in a docstring what a stage is for
    assert {name: found for name, found in told.items() if found} == {}


def test_the_engine_imports_no_stage():
    folder = Path(commonplace.__file__).parent / "engine"
    for file in folder.glob("**/*.py"):
        assert "commonplace.stages" not in file.read_text(), file


# ── a mistake in a turn ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_turn_that_raises_ends_the_run_and_leaves_no_trace(scenario, tmp_path):
    run = tmp_path / "accident.run"
    path = scenario("echo_stage:ACCIDENTAL")
    done = command("run", path, "--trust", "--ticks", 20, "-o", run, "--view", "plain", status=1)
    assert "ZeroDivisionError: a mistake in a stage" in done.err
    assert ends(run).tick == 6
    with tables(run) as connection:
        for table, column in (("event", "tick"), ("memory", "tick"), ("version", "tick"), ("touch", "tick")):
            assert connection.execute(f"SELECT max({column}) FROM {table}").fetchone() == (6,), table
        assert connection.execute("SELECT count(*) FROM answer WHERE used IS NULL OR used > 6").fetchone() == (0,)
    command("verify", run)
    usage = command("usage", run, "--json").rows
    again = command("resume", run, "--view", "none", status=1)
    assert "a mistake in a stage" in again.err
    assert ends(run).tick == 6
    assert command("usage", run, "--json").rows == usage


def test_once_the_mistake_is_mended_the_run_goes_on(scenario, tmp_path):
    broken, whole = tmp_path / "broken.run", tmp_path / "whole.run"
    path = scenario("echo_stage:ACCIDENTAL")
    mended = tmp_path / "mended"
    mended.mkdir()
    text = (HERE / "echo_stage.py").read_text().replace("ACCIDENT = 7", "ACCIDENT = -1")
    (mended / "echo_stage.py").write_text(text)
    command("run", path, "--trust", "--ticks", 12, "-o", broken, "--view", "none", status=1)
    env = environment(PYTHONPATH=str(mended))
    assert str(mended / "echo_stage.py") in command("resume", broken, env=env, status=2).err  # other code, a new word
    command("resume", broken, "--trust", "--view", "none", env=env)
    command("run", path, "--ticks", 12, "-o", whole, "--view", "none", env=env)
    assert ends(broken) == ends(whole)


# ── the duet ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def duet(tmp_path_factory):
    """Twelve lines on a bench; the file and what was printed."""
    run = tmp_path_factory.mktemp("duet") / "bench.run"
    done = command("run", HERE / "bench_talk.yaml", "--ticks", 12, "-o", run)
    return run, done


def test_two_speak_in_turn_the_first_of_the_file_first(duet):
    run, _ = duet
    said = [event for event in command("events", run, "--json").rows if event["type"] == "SAY"]
    assert all(event["agent_id"] == ("abel", "zoe")[event["tick"] % 2] for event in said)
    assert len(said) >= 8
    assert said[0]["tick"] == 1
    assert all(event["place"] == "park" and event["utterance"] for event in said)
    assert len({(event["agent_id"], event["utterance"]) for event in said}) == len(said)


def test_a_duet_prints_its_lines(duet):
    _, done = duet
    assert "Zoe" in done.out
    assert "“" in done.out
    assert re.fullmatch(r"tick 12  digest [0-9a-f]{32}", done.lines[-1])


def test_every_line_of_a_duet_has_its_reasons(duet):
    run, _ = duet
    said = [event["id"] for event in command("events", run, "--json").rows if event["type"] == "SAY"]
    for event in said[::4]:
        [why] = command("why", run, event, "--json").rows
        assert why["retrievals"][0]["purpose"] == "duet"
        assert why["retrievals"][0]["hits"]
        [asked] = [one for one in why["asked"] if one["task"] == "duet_turn"]
        assert asked["outcome"] == "value"
        assert why["event"]["utterance"] in json.dumps(asked["answer"], ensure_ascii=False)
        assert why["reaction"]["decision"] == "talk"


def test_why_says_of_every_line_whether_it_was_remembered(duet):
    run, _ = duet
    said = [event for event in command("events", run, "--json").rows if event["type"] == "SAY"]
    for event in said:
        stored = command("why", run, event["id"], "--json").rows[0]["stored"]
        [own] = [entry for entry in stored if event["utterance"] in entry["text"] and entry["kind"] == "action"]
        assert own["reason"]
        assert 1 <= own["importance"] <= 10


def test_a_duet_goes_on_and_verifies(duet, tmp_path):
    run, _ = duet
    pieces = tmp_path / "pieces.run"
    command("run", HERE / "bench_talk.yaml", "--ticks", 5, "-o", pieces, "--view", "none")
    command("resume", pieces, "--ticks", 4, "--view", "json")
    command("resume", pieces, "--until", 12)
    assert ends(pieces) == ends(run)
    command("verify", run)
    assert [line for line in command("replay", run).lines if "“" in line]
