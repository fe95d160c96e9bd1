"""`export RUN training`: which answers become examples, and what an example holds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from commonplace.minds.tasks import TASKS
from commonplace.minds.tasks.wire import schema
from commonplace.parts.workbench.questions import questions
from commonplace.parts.workbench.training import model_of
from commonplace.run.reading import Reading
from e2e.command import command
from e2e.lived import once
from parts.workbench import asked_runs


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Path:
    """A run with a model. Not to be written to."""
    return once(tmp_path_factory, "asked.run", asked_runs.make)


def exported(run: Path, target: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
    done = command("export", run, "training", "-o", target, *options)
    return [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()], done.err


def is_within(part: Any, whole: Any) -> bool:
    """Whether data is the same but for properties that are left out."""
    if isinstance(part, dict):
        return all(is_within(value, whole[name]) for name, value in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(is_within, part, whole))
    return part == whole


def test_an_example_is_what_was_sent_and_what_was_answered(asked, tmp_path):
    examples, _ = exported(asked, tmp_path / "asked.jsonl")
    with Reading.open(asked) as read:
        asked_for = {
            (*one.key[:2], one.task, call.prompt): (one.turn, call.raw)
            for one in questions(read)
            if (call := read.model_call(one.rows[-1])) is not None
        }
        for example in examples:
            *prompt, answer = example["messages"]
            about = example["provenance"]
            text = "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in prompt)
            turn, raw = asked_for[about["character"], about["tick"], about["task"], text]
            assert answer["role"] == "assistant"
            assert is_within(json.loads(answer["content"]), json.loads(raw.strip("`json\n")))
            assert about["event"].startswith(f"t{turn}.{about['character']}.")
            assert (about["model"], about["run"]) == ("written", read.digest())
    assert len({json.dumps(example) for example in examples}) == len(examples) > 10


def test_what_was_refused_mended_or_replaced_is_left_out_and_counted(asked, tmp_path):
    examples, told = exported(asked, tmp_path / "asked.jsonl")
    with Reading.open(asked) as read:
        found = questions(read)
        failed = sum(one.rows[-1].outcome != "value" for one in found)
        answers = [(read.model_call(one.rows[-1]), one) for one in found if one.rows[-1].outcome == "value"]
    mended = sum("“" in json.loads(call.raw.strip("`json\n")).get("say", "") for call, _ in answers if call)
    assert failed and mended
    assert f"{failed} without a usable answer" in told
    count = Counter(example["provenance"]["task"] for example in examples)
    assert count["converse"] <= sum(one.task == "converse" for _, one in answers) - mended
    left_out = sum(int(part.split()[0]) for part in told.partition("left out: ")[2].split(", "))
    assert left_out + len(examples) == len(found)
    assert not any("“" in example["messages"][-1]["content"] for example in examples)


def test_answers_of_rules_are_examples_only_when_asked_for(plaza, tmp_path):
    refused = command("export", plaza, "training", "-o", tmp_path / "none.jsonl", status=2)
    assert "answered by rules" in refused.err and not (tmp_path / "none.jsonl").exists()
    examples, _ = exported(plaza, tmp_path / "rules.jsonl", "--offline")
    for example in examples:
        task = example["provenance"]["task"]
        assert example["provenance"]["model"] == "offline"
        answer = json.loads(example["messages"][-1]["content"])
        assert list(answer) == schema(TASKS[task])["required"]
        shown = "".join(one["content"] for one in example["messages"] if one["role"] == "user")
        assert all(f"[{memory}" in shown for memory in answer.get("because", ()))


@pytest.mark.parametrize(
    ("mind", "model"),
    [
        ("ollama:qwen3:8b", "qwen3:8b"),
        ("http://10.0.0.3:8000/v1#big", "big"),
        ("http://10.0.0.3:8000/v1", "the model of a server"),
        ("written", "written"),
    ],
)
def test_a_model_is_named_without_its_address(mind, model):
    assert model_of(mind) == model


def test_the_file_names_no_place_of_this_machine(asked, tmp_path):
    exported(asked, tmp_path / "asked.jsonl")
    text = (tmp_path / "asked.jsonl").read_text(encoding="utf-8")
    assert str(tmp_path) not in text and str(asked.parent) not in text


def test_options_of_other_forms_are_refused(plaza, tmp_path):
    assert "--offline is for training" in command("export", plaza, "csv", "--offline", status=2).err
    assert "--table is for csv and parquet" in command("export", plaza, "training", "--table", "events", status=2).err
