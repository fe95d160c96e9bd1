"""`run`, `resume`, `replay`, `digest`: what they print where, and how far they go."""

from __future__ import annotations

import json
import re

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from e2e.command import command, copied, ends
from e2e.lived import PLAZA_TICKS

LAST = re.compile(r"tick (\d+)  digest ([0-9a-f]{32})")


@pytest.fixture
def said(capsys, monkeypatch, tmp_path):
    """What a command prints, on both outputs; run in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: object, status: int = 0) -> tuple[list[str], str]:
        assert main([*map(str, arguments)]) == status
        printed = capsys.readouterr()
        return printed.out.splitlines(), printed.err

    return ran


def test_the_last_line_of_a_plain_run_is_its_tick_and_digest(plaza, plaza_lines):
    tick, digest = LAST.fullmatch(plaza_lines[-1]).groups()
    assert int(tick) == PLAZA_TICKS
    assert digest == ends(plaza).history
    assert len(plaza_lines) > PLAZA_TICKS


def test_a_run_goes_where_its_scenario_and_seed_say(said, tmp_path):
    out, err = said("run", "plaza", "--ticks", 3)
    assert LAST.fullmatch(out[-1])
    assert err == ""
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.run*")] == ["runs/plaza-7.run"]
    said("run", "plaza", "--ticks", 3, "--seed", 12)
    assert (tmp_path / "runs/plaza-12.run").exists()
    _, err = said("run", "plaza", "--ticks", 3, status=2)
    assert "plaza-7.run" in err
    said("run", "plaza", "--ticks", 4, "--force")
    assert ends(tmp_path / "runs/plaza-7.run").tick == 4


def test_a_run_without_a_terminal_ends_after_48_ticks(said, tmp_path):
    out, _ = said("run", "plaza", "-o", "x.run")
    assert LAST.fullmatch(out[-1])[1] == "48"


def test_a_run_of_no_ticks_is_its_opening(said, tmp_path):
    out, _ = said("run", "plaza", "--ticks", 0, "-o", "x.run")
    assert LAST.fullmatch(out[-1])[1] == "0"
    assert said("events", "x.run") == ([], "")
    assert said("verify", "x.run")[0] == [out[-1]]


def test_json_lines_of_a_run_are_its_events(said, plaza):
    out, err = said("run", "plaza", "--ticks", PLAZA_TICKS, "--view", "json", "-o", "x.run")
    assert err == ""
    assert [json.loads(line) for line in out] == [json.loads(line) for line in said("events", plaza, "--json")[0]]


def test_a_run_that_shows_nothing_prints_only_its_last_line(said, plaza_lines):
    out, err = said("run", "plaza", "--ticks", PLAZA_TICKS, "--view", "none", "-o", "x.run")
    assert out == plaza_lines[-1:]
    assert err == ""


def test_going_on_without_a_word_goes_to_the_tick_first_asked_for(said, plaza, tmp_path):
    said("run", "plaza", "--ticks", 20, "-o", "x.run")
    out, err = said("resume", "x.run")
    assert LAST.fullmatch(out[-1])[1] == "20"
    assert "tick 20 is the last one that was asked for" in err
    said("resume", "x.run", "--ticks", 5, "--view", "none")
    assert ends(tmp_path / "x.run") == ends(plaza, 25)
    out, _ = said("resume", "x.run", "--until", 30, "--view", "none")
    assert ends(tmp_path / "x.run") == ends(plaza, 30)
    said("resume", "x.run", "--until", "2031-10-04T08:55:00", "--view", "none")
    assert ends(tmp_path / "x.run") == ends(plaza, 35)
    said("resume", "x.run", "--view", "none")  # beyond what was first asked for: it stays
    assert ends(tmp_path / "x.run") == ends(plaza, 35)
    said("resume", "x.run", "--ticks", 0, "--until", 40, status=2)
    assert ends(tmp_path / "x.run").tick == 35


def test_a_time_between_two_ticks_means_the_next(said, tmp_path):
    said("run", "plaza", "--ticks", 2, "-o", "x.run")
    said("resume", "x.run", "--until", "2031-10-04T06:21:00", "--view", "none")
    assert ends(tmp_path / "x.run").tick == 5


def test_replay_prints_the_lines_of_the_run(said, plaza, plaza_lines):
    assert said("replay", plaza, "--view", "plain") == (plaza_lines, "")
    later, _ = said("replay", plaza, "--from", 55, "--view", "plain")
    assert later[-1] == plaza_lines[-1]
    assert [line for line in later if line > "10:40"] == [line for line in plaza_lines if line > "10:40"]
    assert said("replay", plaza, "--from", "2031-10-04T10:35:00", "--view", "plain")[0] == later
    assert said("replay", plaza, "--view", "json")[0] == said("events", plaza, "--json")[0]


def test_digest_at_a_tick_includes_the_tick(said, plaza, tmp_path):
    assert said("digest", plaza)[0] == [ends(plaza).history]
    assert said("digest", plaza, "--state")[0] == [ends(plaza).state]
    said("run", "plaza", "--ticks", 17, "-o", "x.run")
    shorter = ends(tmp_path / "x.run")
    assert said("digest", plaza, "--at", 17) == ([shorter.history], "")
    assert said("digest", plaza, "--at", 17, "--state")[0] == [shorter.state]
    assert said("digest", plaza, "--at", "2031-10-04T07:25:00")[0] == [shorter.history]
    assert said("digest", plaza, "--at", 16)[0] != [shorter.history]


@pytest.mark.parametrize("name", ["events", "agents", "usage", "diffusion", "digest", "verify", "replay"])
def test_data_goes_to_standard_output_and_nothing_else_does(name, said, plaza, tmp_path):
    run = copied(plaza, tmp_path)
    out, err = said(name, run)
    assert out
    assert bool(err) == (name == "verify")  # which tells how far it has come
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.run"]


def test_nothing_is_printed_while_a_process_ends(plaza):
    assert command("events", plaza).err == ""


def test_text_for_people_says_who_and_what(said, plaza):
    assert any("Ines Okafor" in line for line in said("agents", plaza)[0])
    assert any("clock" in line for line in said("memories", plaza, "ines")[0])
    assert any("relevance" in line for line in said("memories", plaza, "ines", "--query", "the clock")[0])
    assert any("know it" in line for line in said("diffusion", plaza)[0])
    assert any("asked" in line for line in said("usage", plaza)[0])
    events = [json.loads(line) for line in said("events", plaza, "--json")[0]]
    spoken = next(event for event in events if event["type"] == "SAY")
    why = "\n".join(said("why", plaza, spoken["id"])[0])
    assert spoken["utterance"][:20] in why


def test_options_reach_the_run(said, plaza, tmp_path):
    given = ("--ticks", 30, "--seed", 9, "--fidelity", "every_tick", "--synchronous", "FULL", "--view", "none")
    said("run", "plaza", "-o", "x.run", *given)
    with open_run(tmp_path / "x.run") as reading:
        assert (reading.manifest.seed, reading.manifest.fidelity) == (9, "every_tick")
        assert reading.meta("synchronous") == "FULL"
    assert asked("act", said("usage", "x.run", "--json")[0]) > 30
    assert asked("act", said("usage", plaza, "--json")[0]) == 0
    assert said("verify", "x.run")[0]


def asked(task: str, lines: list[str]) -> int:
    return sum(row["asked"] for row in map(json.loads, lines) if row["task"] == task)


def test_a_finished_run_is_one_file(said, tmp_path):
    said("run", "plaza", "--ticks", 2, "-o", "x.run")
    assert [path.name for path in tmp_path.iterdir()] == ["x.run"]
