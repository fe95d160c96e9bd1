"""The form that suits a model: found by `doctor`, remembered, recorded in the runs that are begun with it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace import create_run, resume_run
from commonplace.api import book_of, by_task, formed, named_minds, prepared, scenario_of
from commonplace.cli import main
from commonplace.minds.several import in_small_form
from commonplace.parts.model_servers.forms import remember_form, remembered_form
from commonplace.parts.workbench.doctor import examined
from commonplace.parts.workbench.trial import USABLE, USELESS, Tried, too_hard
from commonplace.run.manifest import Manifest
from commonplace.run.minds import task_minds
from commonplace.run.reading import Reading
from minds.tasks.asked import every_ask
from parts.model_servers.local_server import LocalServer, Sent, completion, request_key


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of state for each test."""
    monkeypatch.setenv("COMMONPLACE_STATE", str(tmp_path / "state"))
    return tmp_path / "state"


def tiny(body: dict[str, Any], number: int) -> Sent:
    """A model that has nothing to say where it is to write JSON."""
    first, last = body["messages"][0]["content"], body["messages"][-1]["content"]
    if "response_format" in body:
        return Sent(completion("Well"))
    if "letter" in first or "알파벳 하나" in first:
        return Sent(completion("B"))
    if "none" in last or "없음" in last:
        return Sent(completion("none" if "none" in last else "없음"))
    return Sent(completion("지금은 좀 바빠요." if "당신" in first else "I am a little busy."))


@pytest.fixture
def server() -> Iterator[LocalServer]:
    """Serves the tiny model."""
    with LocalServer(tiny) as served:
        yield served


def doctor(name: str) -> list[str]:
    """What it finds about a mind."""

    async def found() -> list[str]:
        return [finding.what async for finding in examined(name, 5.0)]

    return asyncio.run(found())


def default_form(manifest: Manifest) -> str:
    """The form in which a run asks its common mind."""
    parts = task_minds(manifest)
    return parts["default"].form if "default" in parts else ""


def test_doctor_asks_a_model_that_cannot_do_json_in_the_small_form_and_remembers_it(server: LocalServer) -> None:
    found = doctor(server.url)
    small = [one for one in found if ", small form): usable" in one]
    assert {one.partition(" ")[0] for one in small} == {"react", "converse", "plan_day"}
    assert "the small form suits it: 6 of 6 answers can be used" in found
    assert remembered_form(server.url) == "small"
    fit = next(one for one in found if one.startswith("fit for"))
    assert "react" in fit.partition("; not fit")[0], "it is fit for what it can do in the form that is remembered"


@pytest.mark.parametrize("answer", ["Well", "{}"])
def test_doctor_forgets_the_small_form_where_it_helps_with_less_than_half(answer: str) -> None:
    with LocalServer(lambda body, number: Sent(completion(answer))) as server:
        remember_form(server.url, "small")
        found = doctor(server.url)
        assert remembered_form(server.url) == "full"
    assert any(", small form): useless" in one for one in found), "neither form helps"


def test_the_small_form_is_tried_only_if_half_of_the_answers_are_useless() -> None:
    def tried(task: str, grade: str) -> Tried:
        return Tried((every_ask()[task], request_key()), "en", grade, "", 0.0, 0, 0)

    good, bad = tried("react", USABLE), tried("converse", USELESS)
    assert too_hard([good, bad]) == [bad] and too_hard([good, good, bad]) == []
    assert too_hard([tried("rate", USELESS), good, good, bad]) == [], "only what has a small form counts"


def test_a_run_records_the_form_it_was_begun_with() -> None:
    name = "llamacpp:@http://127.0.0.1:9/v1"
    assert default_form(prepared("plaza", mind=name)[1]) == ""
    remember_form(name, "small")
    assert default_form(prepared("plaza", mind=name)[1]) == "small"
    assert default_form(prepared("plaza", mind="offline")[1]) == ""
    full = prepared("plaza", mind={"default": {"mind": name, "form": "full"}})[1]
    assert default_form(full) == "full"


def test_a_merged_reaction_in_the_small_form_leaves_its_words_to_a_question_of_their_own() -> None:
    remember_form("llamacpp:", "small")
    loaded, manifest = prepared("plaza", mind="llamacpp:")
    assert loaded.cognition.requests == "merged" and loaded.cognition.apart == ("converse",)
    assert scenario_of(manifest).cognition.apart == ("converse",)


def test_the_prompts_of_a_run_are_shown_in_its_form() -> None:
    remember_form("llamacpp:", "small")
    loaded, manifest = prepared("plaza", mind="llamacpp:")
    words = book_of(manifest, loaded)
    assert words.prompt(every_ask()["react"]).small and not words.prompt(every_ask()["rate"]).small


def test_the_same_server_under_another_name_is_the_same() -> None:
    remember_form("llamacpp:", "small")
    assert remembered_form("http://127.0.0.1:8080/v1") == "small"
    assert remembered_form("llamacpp:other") == ""


def test_the_form_belongs_to_the_mind_that_it_is_given_with() -> None:
    named = named_minds({"default": {"mind": "llamacpp:", "form": "small"}, "talk": "ollama:large"})
    assert in_small_form(by_task(named)) >= {"react", "plan_day"}
    assert not in_small_form(by_task(named)) & {"converse", "answer", "duet_turn"}
    remember_form("ollama:large", "small")
    assert "converse" in in_small_form(by_task(formed("offline", {"talk": named["talk"]})))


def test_what_cannot_be_remembered_is_said_and_a_broken_file_is_as_none(
    state: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state.mkdir()
    (state / "forms.json").write_text("[", encoding="utf-8")
    assert remembered_form("llamacpp:") == ""
    (state / "forms.json").unlink()
    state.rmdir()
    state.write_text("not a folder", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        remember_form("llamacpp:", "small")
    assert "the form is not remembered" in caplog.text


def test_a_run_goes_on_in_its_form_whatever_has_been_remembered_since(server: LocalServer, tmp_path: Path) -> None:
    path = tmp_path / "small.run"
    minds = {"default": "offline", "duet_turn": {"mind": server.url, "form": "small"}}
    with create_run(path, "sitcom-en", mind=minds) as run:
        list(run.play_sync(1))
    remember_form(server.url, "full")
    with resume_run(path, mind=minds) as run:
        list(run.play_sync(3))
    assert server.asked and not any("response_format" in body for body in server.asked)
    with Reading.open(path) as reading:
        said = [event.body.utterance for event in reading.events(type="SAY")]
    assert "I am a little busy." in said
    assert main(["verify", str(path)]) == 0


def test_a_town_of_a_tiny_model_talks(server: LocalServer, tmp_path: Path) -> None:
    def chat(body: dict[str, Any], number: int) -> Sent:
        first = body["messages"][0]["content"]
        answer = "B" if "New:" in body["messages"][-1]["content"] else "A"
        return Sent(completion(answer)) if "letter" in first else tiny(body, number)

    server.chat, path = chat, tmp_path / "town.run"
    minds = {"default": "offline", "react": {"mind": server.url, "form": "small"},
             "converse": {"mind": server.url, "form": "small"}}  # fmt: skip
    with create_run(path, "plaza", mind=minds) as run:
        list(run.play_sync(40))
    with Reading.open(path) as reading:
        usage = {row["task"]: row for row in reading.usage() if row["task"] in ("react", "converse")}
    assert usage["react"]["fallbacks"] == 0
    assert main(["verify", str(path)]) == 0


def test_the_command_line_overrides_what_is_remembered(server: LocalServer, tmp_path: Path) -> None:
    for form in ("full", "small"):
        path = tmp_path / f"{form}.run"
        assert main(["run", "plaza", "-o", str(path), "--ticks", "1", "--view", "none", "--mind", server.url,
                     "--form", form]) == 0  # fmt: skip
        with Reading.open(path) as reading:
            assert default_form(reading.manifest) == form


def test_doctor_says_the_form_in_json(server: LocalServer, capsys: pytest.CaptureFixture[str]) -> None:
    main(["doctor", "--mind", server.url, "--json"])
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [form] = [one for one in found if "small form suits" in one["what"]]
    assert form["state"] == "fine" and "--form full" in form["hint"]
