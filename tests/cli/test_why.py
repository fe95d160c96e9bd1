"""`why` in words: prompts when they are wanted, and what would have been done without a memory."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
from contextlib import closing

import pytest

from commonplace.api import open_run
from commonplace.cli import main
from commonplace.run.rows import packed_trace, unpacked_trace
from commonplace.world.events import parse_id


@pytest.fixture
def said(capsys):
    def ran(*arguments: object, status: int = 0) -> tuple[str, str]:
        assert main([*map(str, arguments)]) == status
        printed = capsys.readouterr()
        return printed.out, printed.err

    return ran


@pytest.fixture
def spoken(town):
    """A line, and the memory it rests on."""
    with open_run(town) as reading:
        event = next(event for event in reading.events(type="SAY") if event.body.because)
        return event, f"{event.agent_id}:{event.body.because[0]}"


def test_prompts_are_shown_when_they_are_wanted(said, town, spoken):
    event, _ = spoken
    asked = json.loads(said("why", town, event.id, "--json")[0])["asked"]
    short, full = said("why", town, event.id)[0], said("why", town, event.id, "--prompts")[0]
    assert all(one["prompt"] for one in asked)
    assert all(one["prompt"] in full for one in asked)
    assert not any(one["prompt"] in short for one in asked)
    assert [line for line in full.splitlines() if not line.startswith("    │ ")] == short.splitlines()


def test_answers_are_words(said, town, spoken):
    event, _ = spoken
    asked = said("why", town, event.id)[0].partition("\nAsked\n")[2].partition("\nStored\n")[0]
    assert f"because: #{event.body.because[0]}" in asked
    assert "ratings: importance " in asked
    assert not set("[]{}") & set(asked)
    assert "True" not in asked


def test_both_turns_stand_side_by_side(said, town, spoken):
    event, memory = spoken
    out, err = said("why", town, event.id, "--without", memory)
    assert f"#{memory.partition(':')[2]} " in out
    assert any("then" in line and "without" in line for line in out.splitlines())
    assert event.body.utterance.split()[0] in out
    assert "converse" in out
    assert err == ""


def test_as_json_it_has_both_actions_and_the_answers_that_changed(said, town, spoken):
    event, memory = spoken
    found = json.loads(said("why", town, event.id, "--without", memory, "--json")[0])
    assert set(found) == {"event", "hidden", "strokes", "then", "without", "answers", "times", "rates"}
    assert found["event"] == event.id
    assert found["hidden"][0]["id"] == int(memory.partition(":")[2])
    assert found["then"]["utterance"] == event.body.utterance
    assert found["without"] != found["then"]
    assert {"task", "then", "without"} == set(found["answers"][0])
    assert (found["times"], found["rates"]) == (1, [])


def test_two_rates_when_it_is_asked_more_than_once(said, town, spoken):
    event, memory = spoken
    found = json.loads(said("why", town, event.id, "--without", memory, "--times", 3, "--json")[0])
    assert found["times"] == 3
    assert sum(row["with"] for row in found["rates"]) == sum(row["without"] for row in found["rates"]) == 3
    assert "of 3 with it" in said("why", town, event.id, "--without", memory, "--times", 3)[0]


@pytest.mark.parametrize("named", ["41", "mira", "mira:", ":3", "mira:x", "mira:-3"])
def test_a_memory_is_named_with_its_character(said, town, spoken, named):
    _, err = said("why", town, spoken[0].id, "--without", named, status=2)
    assert "AGENT:ID" in err or "give" in err


def test_the_memory_of_another_is_refused(said, town, spoken):
    event, _ = spoken
    other = "mira" if event.agent_id != "mira" else "odalys"
    _, err = said("why", town, event.id, "--without", f"{other}:3", status=2)
    assert f"give {event.agent_id}:ID" in err


def test_how_often_is_for_the_other_turn_only(said, town, spoken):
    assert "--without" in said("why", town, spoken[0].id, "--times", 2, status=2)[1]


# ── without an event id ─────────────────────────────────────────────────────────────────────────────────────────────


def test_without_an_event_it_lists_the_latest_with_reasons_and_says_how_to_ask(said, town):
    out, err = said("why", town)
    head, *lines = out.splitlines()
    assert head.split() == ["id", "time", "who", "what"]
    ids = [line.split()[0] for line in lines]
    with open_run(town) as reading:
        order = [event.id for event in reading.events()]
        found = [reading.event(*parse_id(one)) for one in ids]
        names = {persona.name for persona in reading.scenario.personas.values()}
    assert ids == sorted(ids, key=order.index)
    assert all(event.body.because or event.type in ("PLAN_CHANGED", "REFLECTED") for event in found)
    assert all(any(name in line for name in names) for line in lines)
    assert shlex.split(err.partition(": ")[2]) == ["commonplace", "why", str(town), ids[-1]]
    as_json, err = said("why", town, "--json")
    assert [json.loads(line)["id"] for line in as_json.splitlines()] == ids
    assert err == ""


def test_a_quiet_run_offers_what_was_done(said, tmp_path):
    said("run", "plaza", "--ticks", 10, "--view", "none", "-o", tmp_path / "a.run")
    out, _ = said("why", tmp_path / "a.run")
    assert out.startswith("id")


def test_options_of_an_explanation_need_the_event(said, town):
    for option in (("--prompts",), ("--without", "mira:3")):
        assert "event id" in said("why", town, *option, status=2)[1]


def test_the_memory_may_be_given_by_the_name_of_its_character(said, town, spoken):
    event, memory = spoken
    with open_run(town) as reading:
        name = reading.scenario.personas[event.agent_id].name
    by_name = said("why", town, event.id, "--without", f"{name.upper()}:{memory.partition(':')[2]}")
    assert by_name == said("why", town, event.id, "--without", memory)


@pytest.mark.parametrize("odd", [{"reaction": ["keep"]}, {"lines": [{"say": 3}]}, {"dropped": [[["x"], "y"]]}])
def test_reasons_of_another_shape_are_damage_for_every_view(said, town, spoken, tmp_path, odd):
    run = shutil.copy(town, tmp_path / "odd.run")
    event, _ = spoken
    turn = event.tick, event.agent_id
    with closing(sqlite3.connect(run)) as file, file:
        (trace,) = file.execute("SELECT body FROM trace WHERE tick = ? AND agent = ?", turn).fetchone()
        body = packed_trace({**unpacked_trace(trace), **odd})
        file.execute("UPDATE trace SET body = ? WHERE tick = ? AND agent = ?", (body, *turn))
    out, err = said("why", run, event.id, status=1)
    assert out == ""
    assert f"the reasons of {event.id}" in err
