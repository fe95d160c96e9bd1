"""`prompts`: what a model was sent and answered; what it would be sent; the same questions asked again, in figures."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import open_run
from commonplace.parts.workbench.questions import messages_in, questions
from commonplace.run.reading import Reading
from e2e.command import command
from e2e.lived import once
from parts.workbench import asked_runs


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Path:
    """A run with a model. Not to be written to."""
    return once(tmp_path_factory, "asked.run", asked_runs.make)


def sent(run: Path) -> list[Any]:
    """(row, call) of every attempt that a model was asked."""
    with open_run(run) as read:
        return [(row, call) for row in read.answers() if (call := read.model_call(row)) is not None]


def spoken_event(run: Path) -> str:
    """A line whose words a model was asked for."""
    with open_run(run) as read:
        talked = {(one.key[0], one.turn) for one in questions(read) if one.task == "converse"}
        return next(event.id for event in read.events(type="SAY") if (event.agent_id, event.tick) in talked)


def test_the_list_counts_what_usage_counts_with_an_event_to_go_on_with(asked):
    done = command("prompts", asked, "--json")
    with Reading.open(asked) as read:
        rows = [row for row in read.usage()[:-1] if row["task"] != "embed"]
    assert {row["task"]: row["asked"] for row in done.rows} == {
        task: sum(row["asked"] for row in rows if row["task"] == task) for task in {row["task"] for row in rows}
    }
    assert {row["prompt_tokens"] for row in done.rows} == {1000}
    for row in done.rows:
        assert row["task"] in {one["task"] for one in command("prompts", asked, row["event_id"], "--json").rows}
    shown = command("prompts", asked)
    assert all(row["task"] in shown.out for row in done.rows) and "No model was asked" not in shown.out
    assert "read one of them: " in shown.err


def test_an_event_shows_word_by_word_what_was_sent_and_answered(asked):
    event = spoken_event(asked)
    (found,) = command("prompts", asked, event, "--task", "converse", "--json").rows
    (variant,) = found["variants"]
    calls = [
        call
        for row, call in sent(asked)
        if (row.agent, row.tick, row.task) == (found["agent_id"], found["tick"], "converse")
    ]
    assert [one["raw"] for one in variant["attempts"]] == [call.raw for call in calls]
    assert variant["attempts"][0]["messages"] == messages_in(calls[0].prompt)
    assert not variant["attempts"][0]["made"]
    text = command("prompts", asked, event, "--task", "converse").out
    assert calls[0].prompt.partition("\n")[2].partition("\n\n[user]")[0] in text
    assert f"before {event}" in text and "─── read" in text


def test_messages_are_found_in_the_text_that_is_kept(asked):
    for _, call in sent(asked):
        found = messages_in(call.prompt)
        assert [one["role"] for one in found][:2] == ["system", "user"]
        assert "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in found) == call.prompt


def test_prompts_that_were_trimmed_are_made_again_the_same(asked, tmp_path):
    trimmed = tmp_path / "trimmed.run"
    shutil.copy(asked, trimmed)
    command("trim", trimmed, "--keep-days", "0", "--kind", "prompts")
    kept, made = (command("prompts", run, "--task", "react", "--json", "--limit", "3").rows for run in (asked, trimmed))
    for before, after in zip(kept, made, strict=True):
        (one, *_), (other, *_) = before["variants"][0]["attempts"], after["variants"][0]["attempts"]
        assert (one["made"], other["made"]) == (False, True)
        assert one["messages"] == other["messages"]


def test_an_offline_run_shows_what_a_model_would_get(plaza):
    done = command("prompts", plaza)
    assert "No model was asked" in done.out
    (row, *_) = (row for row in command("prompts", plaza, "--json").rows if row["task"] == "converse")
    assert row["prompt_tokens"] > 500
    text = command("prompts", plaza, row["event_id"], "--task", "converse").out
    assert "─── system (made again from the typed question)\nYou are one person in Linden Square" in text
    assert "─── offline, in the form that a model writes\n{" in text


def test_the_same_mind_gives_the_same_answers_and_figures(plaza):
    *rows, kept, again = command("prompts", plaza, "--task", "converse", "--mind", "offline", "--json").rows
    for row in rows:
        one, other = row["variants"]
        assert one["attempts"][-1]["read"] == other["attempts"][-1]["read"]
    assert (kept.pop("variant"), again.pop("variant")) == ("the run", "offline")
    assert kept == again and kept["questions"] == len(rows) == kept["usable"] and kept["voices"] > 0.5


def test_figures_count_what_could_not_be_used(asked):
    *rows, kept, again = command("prompts", asked, "--mind", "offline", "--limit", "200", "--json").rows
    ends = [row["variants"][0]["attempts"] for row in rows]
    assert kept["questions"] == len(ends)
    assert kept["asked_again"] == sum(len(attempts) > 1 for attempts in ends) > 0
    assert kept["replaced"] == sum(attempts[-1]["outcome"] != "value" for attempts in ends) > 0
    assert kept["usable"] + kept["replaced"] == kept["questions"]
    assert kept["prompt_tokens"] == round(1000 * sum(map(len, ends)) / len(ends))
    assert (again["asked_again"], again["replaced"]) == (0, 0)
    text = command("prompts", asked, "--mind", "offline", "--limit", "200").out
    assert "─── refused (json)\ncut off\n─── asked again" in text
    assert "─── no usable answer: the fallback is used" in text
    assert [line.partition(":")[0] for line in text.splitlines()[-2:]] == ["twice", "voices"]


def test_templates_of_ones_own_are_asked_with_and_nothing_is_written(plaza, tmp_path):
    (tmp_path / "persona.txt").write_text("You are {{ me.name }}. Speak in rhyme.", encoding="utf-8")
    before = plaza.read_bytes()
    given = ("prompts", plaza, "--task", "converse", "--limit", "2", "--templates", tmp_path)
    first, *_, again = command(*given, "--json").rows
    one, other = first["variants"]
    assert "Speak in rhyme." in json.dumps(other["attempts"][0]["messages"])
    assert "Speak in rhyme." not in json.dumps(one["attempts"][0]["messages"])
    assert again["variant"] == f"offline, {tmp_path}"
    assert command(*given).out.count("Speak in rhyme.") == 2
    assert plaza.read_bytes() == before


def test_a_limit_is_spread_over_the_run_and_told(asked):
    done = command("prompts", asked, "--task", "react", "--limit", "2", "--json")
    with Reading.open(asked) as read:
        ticks = [one.key[1] for one in questions(read) if one.task == "react"]
    first, second = (row["tick"] for row in done.rows)
    assert first == ticks[0] and second >= ticks[len(ticks) // 2]
    assert f"2 of {len(ticks)} questions" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--task", "reakt"), "did you mean react?"),
        (("--task", "judge"), "no judge question was put to the mind"),
        (("t1.nobody.0",), "there is no event t1.nobody.0"),
        (("--templates", "{folder}/none"), "is not a folder"),
        (("--mind", "oflline"), "there is no mind 'oflline'"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_words(asked, tmp_path, words, told):
    done = command("prompts", asked, *(word.format(folder=tmp_path) for word in words), status=2)
    assert told in done.err
