"""Several minds in one run, and the contract that every mind keeps."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from commonplace.api import named_minds
from commonplace.errors import UsageError
from commonplace.minds.mind import Ask, Mind, RequestKey
from commonplace.minds.offline import OfflineMind
from commonplace.minds.several import DEFAULT, GROUPS, SeveralMinds, by_task, chosen
from commonplace.minds.tasks import CONVERSE, RATE, REACT, TASKS, RateOutput, TextRating
from commonplace.scenario.model import MindPart, Questions
from commonplace.testing import MindContract, ScriptedMind, SlowMind
from minds.tasks.asked import every_ask

ASKS = every_ask()


class TestOfflineMind(MindContract):
    def open(self) -> Mind:
        return OfflineMind()


class TestSlowMind(MindContract):
    def open(self) -> Mind:
        return SlowMind(OfflineMind(), salt=7, longest=0.0005)


def rates(importance: int, name: str) -> ScriptedMind:
    mind = ScriptedMind({"rate": lambda given, key: RateOutput(ratings=(TextRating(importance=importance),))})
    mind.name = name
    return mind


class TestSeveralMinds(MindContract):
    def open(self) -> Mind:
        later = SlowMind(OfflineMind(), salt=7, longest=0.0005)
        return SeveralMinds(OfflineMind(), {"ben": rates(9, "bens")}, {"decide": later, "rate": rates(2, "small")})


def asked(mind: Mind, agent: str, task: Any) -> tuple[str, object]:
    reply: Any = mind.answer(Ask(task, ASKS[task.name].input), RequestKey(7, agent, 1, 0))
    return reply.mind, reply.value


def test_a_question_goes_to_the_mind_of_its_character_then_of_its_task() -> None:
    common, small, hers = rates(1, "common"), rates(2, "small"), rates(9, "hers")
    mind = SeveralMinds(common, {"mira": hers}, {"rate": small, "talk": small, "converse": common})
    assert [asked(mind, *who)[0] for who in (("mira", RATE), ("jun", RATE), ("jun", REACT))] == ["hers", "small", ""]
    asked(mind, "jun", CONVERSE)
    assert [ask.task.name for _, ask in common.asked] == ["react", "converse"], "one task counts more than its group"
    assert mind.name == "common"


def test_every_task_has_its_key_and_is_in_one_group_at_most() -> None:
    assert set(get_args(Questions)) == {*GROUPS, *TASKS}
    grouped = [task for group, tasks in GROUPS.items() if group != DEFAULT for task in tasks]
    assert len(grouped) == len(set(grouped)) and set(grouped) <= set(TASKS)


def test_settings_of_a_smaller_group_count_and_headers_stay_with_their_mind() -> None:
    found = by_task(
        {
            "converse": MindPart(temperature=1.5),
            "talk": MindPart(mind="ollama:big", seed=3),
            "default": MindPart(temperature=0.2, headers={"api-key": "$KEY"}, body={"top_p": 0.5}),
        }
    )
    assert found["rate"] == MindPart(temperature=0.2, headers={"api-key": "$KEY"}, body={"top_p": 0.5})
    assert found["answer"] == MindPart(mind="ollama:big", temperature=0.2, seed=3)
    assert found["converse"] == MindPart(mind="ollama:big", temperature=1.5, seed=3)


def test_what_a_person_names_replaces_minds_of_the_file_and_leaves_its_sampling() -> None:
    file = {
        "default": MindPart(headers={"api-key": "$KEY"}, mind="openai:x"),
        "talk": MindPart(mind="ollama:a", temperature=0.9),
        "converse": MindPart(mind="ollama:b"),
        "rate": MindPart(mind="ollama:c"),
    }
    assert chosen("offline", file, {}) == ("openai:x", file | {"default": MindPart(headers={"api-key": "$KEY"})})
    everything = chosen("offline", file, named_minds("vllm:m"))
    assert everything == ("vllm:m", {"talk": MindPart(temperature=0.9)})
    _, talks = chosen("offline", file, named_minds({"talk": "vllm:m"}))
    assert by_task(talks)["converse"].mind == by_task(talks)["answer"].mind == "vllm:m"
    assert by_task(talks)["rate"].mind == "ollama:c"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"tlak": "offline"}, "no question is called 'tlak'"),
        ({"talk": {"temperatur": 1}}, "temperatur"),
        ({"talk": {"temperature": 3}}, "temperature: Input should be less than or equal to 2"),
        ({"talk": {"mind": "vllm:m", "headers": {"Authorization": "Bearer sk-1"}}}, "Authorization holds a key"),
        ({"talk": {"mind": "vllm:m", "headers": {"Host": "x"}}}, "'Host' cannot be set"),
        ({"talk": {"mind": "vllm:m", "headers": {"x": "a\r\nb"}}}, "not printable ASCII"),
        ({"talk": {"mind": "vllm:m", "body": {"api_key": "sk-1"}}}, "'api_key' looks like a key"),
        ({"talk": {"mind": "vllm:m", "body": {"messages": []}}}, "messages is set by the program"),
    ],
)
def test_what_cannot_be_a_mind_is_refused(wrong: Any, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        named_minds(wrong)
    assert told in str(caught.value)
