"""A mind on a function: what it is given, what it may return, and what its failures cost."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, open_run
from commonplace.errors import UsageError
from commonplace.minds.mind import Ask, Mind, Reply, RequestKey
from commonplace.minds.tasks import EMBED, REACT, EmbedInput
from commonplace.parts.model_servers.prompt_mind import Complete, PromptMind
from commonplace.testing import MindContract
from minds.tasks.asked import every_ask

PAGE = Path(__file__).parents[3] / "docs" / "minds.md"
KEY = RequestKey(7, "ann", 1, 0)
ASK: Ask[Any, Any] = every_ask()["react"]
KEEP = {"decision": "keep", "target": "", "talk": None, "plan": None, "act": None, "reason": "", "because": []}


def function_of_the_page() -> Complete:
    """The function that docs/minds.md shows, as it stands there."""
    (block,) = re.findall(r"```python\n((?:(?!```).)*PromptMind.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(block.partition("\n\nwith ")[0], names)  # noqa: S102 – the page is ours
    return names["complete"]


class TestTheMindOfThePage(MindContract):
    def open(self) -> Mind:
        return PromptMind(function_of_the_page(), "plaza")


class TestAFunctionThatIsAwaited(MindContract):
    def open(self) -> Mind:
        async def complete(messages: list[dict[str, str]], schema: object) -> str:
            await asyncio.sleep(0)
            return json.dumps(KEEP | {"reason": f"{len(messages)} messages"})

        return PromptMind(complete, "plaza")


def reply_to(mind: PromptMind, ask: Ask[Any, Any] = ASK, key: RequestKey = KEY) -> Reply:
    return asyncio.run(mind.answer(ask, key))


async def at_once(_: float) -> None:
    pass


def test_it_is_given_what_a_server_would_get() -> None:
    given: list[tuple[Any, Any]] = []

    def complete(messages: list[dict[str, str]], schema: object) -> object:
        given.append((messages, schema))
        return KEEP

    reply = reply_to(PromptMind(complete, "plaza"))
    ((messages, schema),) = given
    assert [one["role"] for one in messages] == ["system", "user"]
    assert reply.prompt == "\n\n".join(f"[{one['role']}]\n{one['content']}" for one in messages)
    assert schema["required"][0] == "decision"
    assert isinstance(reply.value, REACT.output) and reply.value.decision == "keep"
    assert json.loads(reply.raw) == KEEP
    assert reply.prompt_tokens > 500 and reply.answer_tokens > 10 and reply.calls == 1


def test_an_unusable_answer_says_why_and_is_quoted_when_it_is_asked_again() -> None:
    asked: list[str] = []

    def complete(messages: list[dict[str, str]], schema: object) -> object:
        asked.append(messages[-1]["content"])
        return {**KEEP, "decision": "sleep"}

    mind = PromptMind(complete, "plaza")
    first = reply_to(mind)
    assert (first.value, first.outcome, first.kind) == (None, "malformed", "schema")
    reply_to(mind, key=RequestKey(7, "ann", 1, 0, 1, first))
    assert "it was 'sleep'" in asked[1] and asked[1].startswith(asked[0])


def test_a_function_that_fails_is_called_three_times_and_costs_the_answer() -> None:
    waits: list[float] = []

    async def waited(seconds: float) -> None:
        waits.append(seconds)

    def complete(messages: object, schema: object) -> object:
        raise ConnectionError("no route")

    reply = reply_to(PromptMind(complete, "plaza", sleep=waited))
    assert (reply.outcome, reply.kind, reply.error, reply.calls) == ("fault", "client", "no route", 3)
    assert waits == [0.5, 1.0]


def test_what_is_no_json_is_a_failure_of_the_function() -> None:
    reply = reply_to(PromptMind(lambda messages, schema: object(), "plaza", sleep=at_once))
    assert (reply.outcome, reply.kind) == ("fault", "client") and "not JSON serializable" in reply.error


def test_texts_for_vectors_are_not_put_to_it() -> None:
    mind = PromptMind(lambda messages, schema: pytest.fail("it was asked"), "plaza")
    reply = reply_to(mind, Ask(EMBED, EmbedInput(texts=("It rains.",))))
    assert (reply.outcome, reply.kind) == ("fault", "task")


def test_a_run_keeps_what_it_was_asked_and_what_it_answered(tmp_path: Path) -> None:
    path = tmp_path / "own.run"
    with create_run(path, "plaza", mind=PromptMind(function_of_the_page(), "plaza", name="simplest")) as run:
        for _ in run.play_sync(ticks=3):
            pass
    with open_run(path) as read:
        (*rows, total) = read.usage()
        assert {row["mind"] for row in rows} == {"simplest"}
        assert total["calls"] == total["asked"] + sum(total["faults"].values()) - total["fallbacks"]
        assert all(call.raw for row in read.answers() if (call := read.model_call(row)))


def test_prompts_of_a_scenario_are_used_once_they_are_trusted(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "persona.txt").write_text("You are {{ me.name }}, a pirate.")
    town = tmp_path / "town.yaml"
    shipped = Path(PAGE.parents[1] / "src/commonplace/scenarios/plaza.yaml").read_text(encoding="utf-8")
    town.write_text(f"prompts: prompts\n{shipped}", encoding="utf-8")
    with pytest.raises(UsageError, match="before you agree"):
        PromptMind(lambda messages, schema: KEEP, town)
    reply = reply_to(PromptMind(lambda messages, schema: KEEP, town, trust=True))
    assert "a pirate." in reply.prompt
