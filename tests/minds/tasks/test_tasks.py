"""The list of tasks: each is complete, and one that is added from outside works from end to end."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Annotated, Any, cast

import pytest

from commonplace import registry
from commonplace.languages import LANGUAGES
from commonplace.minds.mind import Ask, Reply, RequestKey, Task, estimated_tokens
from commonplace.minds.notes import Given, Recalled, Situation, Who, changed
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import PARTS, Unusable
from commonplace.minds.prompts.templates import BETWEEN, shipped
from commonplace.minds.tasks import REACT, TASKS
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import Cited, WireValue, offers_of, schema, spoken
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.registry import TaskRow
from commonplace.testing.server import ModelServer
from minds.offline.sample import here, mira
from minds.tasks.asked import RECALLED, SETTING, every_ask, merged

NAMED = re.compile(r"`([\w.]+)`")


def test_every_prompt_says_what_changes_below_a_line() -> None:
    prompts = {(one, name): text for one in LANGUAGES for name, text in shipped(one).items() if name not in PARTS}
    assert not [where for where, text in prompts.items() if BETWEEN not in text]


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_task_is_listed_under_its_name_with_settings_that_make_sense(name: str) -> None:
    task = TASKS[name]
    assert task.name == name and task.max_tokens >= 0 and 0 <= task.temperature <= 1
    assert not task.free_text or task.free_text in schema(task)["properties"]


def test_every_value_of_a_scene_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "prompts.md").read_text(encoding="utf-8")
    table = page.split("| value | where | what |")[1]
    rows = [row.split("|")[1:3] for row in table.splitlines() if row.startswith("| `")]
    told = {(value, task) for values, tasks in rows for value in NAMED.findall(values) for task in NAMED.findall(tasks)}
    common = {value for values, tasks in rows if not NAMED.findall(tasks) for value in NAMED.findall(values)}
    undocumented = [
        f"{name}: {value}"
        for name, ask in every_ask().items()
        if ask.task.scene is not None
        for value in ask.task.scene(ask.input, PromptView(SETTING, offers_of(ask)))
        if value not in common and (value, name) not in told
    ]
    assert not undocumented, "docs/prompts.md, Templates of your own, lacks: " + "; ".join(undocumented)


# ── a task added from outside ───────────────────────────────────────────────────────────────────────────────────────


class ToastInput(Given):
    """A toast to be given."""

    who: Who
    situation: Situation
    occasion: str
    recalled: tuple[Recalled, ...] = ()


class ToastOutput(WireValue):
    """The words, and the memories they rest on."""

    because: Cited = ()
    toast: Annotated[str, spoken(120, needed=True)]


def scene(inputs: ToastInput, view: PromptView) -> Values:
    """What its templates tell."""
    return {"memories": view.memories(inputs, most=2)}


TOAST = Task(
    "toast",
    ToastInput,
    ToastOutput,
    lambda _: ToastOutput(toast="Cheers."),
    max_tokens=80,
    temperature=0.9,
    scene=scene,
    free_text="toast",
)
TEMPLATES = {
    "en": """{% import "parts.txt" as parts %}
Give a toast. Answer:
because: memory numbers
toast: one sentence
---
{{ parts.memories(memories) }}
The occasion: {{ input.occasion }}.""",
    "ko": """{% import "parts.txt" as parts %}
건배사를 하세요. 답:
because: 기억 번호
toast: 한 문장
---
{{ parts.memories(memories) }}
자리: {{ input.occasion }}.""",
}
WORDS = {"en": "To the lanterns!", "ko": "등불을 위하여!"}


def toast(inputs: ToastInput, dice: Dice) -> ToastOutput:
    """The offline mind's toast."""
    return ToastOutput(toast=WORDS[inputs.who.language], because=tuple(note.id for note in inputs.recalled[:1]))


@pytest.fixture(params=LANGUAGES)
def asked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ask[Any, Any]:
    """A question of the new task, registered as CONTRIBUTING says."""
    monkeypatch.setitem(sys.modules, "commonplace.toasts", sys.modules[__name__])
    monkeypatch.setitem(cast("dict[str, TaskRow]", registry.TASKS), TOAST.name, TaskRow("toasts:TOAST", "toasts:toast"))
    who = changed(mira(), language=request.param)
    return Ask(TOAST, ToastInput(who=who, situation=here(), occasion="the lanterns", recalled=RECALLED))


def book_for(ask: Ask[Any, Any]) -> PromptBook:
    """Prompts in the character's language, with the new template."""
    language = ask.input.who.language
    return PromptBook(language, SETTING, {"toast.txt": TEMPLATES[language]})


def test_an_added_task_is_answered_by_rules_and_by_a_server(asked: Ask[Any, Any]) -> None:
    key = RequestKey(7, "mira", 1, 0)
    by_rules = OfflineMind().answer(asked, key)
    assert by_rules.value == ToastOutput(toast=WORDS[asked.input.who.language], because=(4,))

    async def by_server(url: str) -> Reply:
        mind = ChatMind(f"{url}#offline", book_for(asked))
        try:
            return await mind.answer(asked, key)
        finally:
            await mind.close()

    with ModelServer() as server:
        reply = asyncio.run(by_server(server.url))
    assert reply.outcome == "value", reply.error
    assert reply.value == by_rules.value
    assert "the lanterns." in reply.prompt and "[1]" in reply.prompt


def test_an_added_task_is_read_like_any_other(asked: Ask[Any, Any]) -> None:
    book, words = book_for(asked), WORDS[asked.input.who.language]
    assert list(schema(TOAST)["properties"]) == ["because", "toast"]
    assert book.prompt(asked).memories == 2 and book.prompt(asked).temperature == 0.9
    prompt = book.prompt(asked)
    assert book.read(asked, {"toast": f"“{words}”", "because": [1, 7, 99]}, prompt.citable) == ToastOutput(
        toast=words, because=(1,)
    ), "the seventh memory is not shown"
    assert book.read_text(asked, f"Mira: {words}") == ToastOutput(toast=words)
    with pytest.raises(Unusable, match=r"'toast' (must not be empty|비어 있으면 안 됩니다)"):
        book.read(asked, {"toast": "", "because": []})


# ── token limits ────────────────────────────────────────────────────────────────────────────────────────────────────

FULL = {
    "en": (
        "taking tea with both hands free for talking",
        "It has been a long day, and I would rather hear it from you than from half of the market row.",
    ),
    "ko": (
        "손님이 뜸한 시간에 솥을 닦고 저녁 장사를 준비하는 중",
        "오늘은 하루가 참 길었네요, 그래도 시장 사람들 말고 사장님한테 직접 듣는 게 나아요.",
    ),
}
"""What a model writes where it writes much: of what somebody is doing, and a sentence."""


def filled(part: dict[str, Any], name: str, doing: str, sentence: str, entries: int = 99) -> Any:
    """An answer with all its parts, and as many entries as a list may have."""
    if "anyOf" in part:
        part = next(one for one in part["anyOf"] if one["type"] != "null")
    match part["type"]:
        case "object":
            return {key: filled(one, key, doing, sentence, entries) for key, one in part["properties"].items()}
        case "array":
            short = {"because": 3, "words": 3, "facts": 1, "rate": 3, "ratings": 2, "parts": 9}
            count = min(part.get("maxItems", 99), short.get(name, entries))
            return [filled(part["items"], "", doing, sentence) for _ in range(count)]
        case "integer":
            return min(part.get("maximum", 1234), 1234)
        case "boolean":
            return False
        case _:
            thing = "storm lantern: CLOSE"
            short = {"place": "Mira's Noodle Bar", "use": thing, "target": thing, "start": "19:05", "emoji": "🍜"}
            short |= {"do": doing, "doing": doing, "reason": doing, "about": "Mira", "mood": "calm"}
            long = {"summary": f"{sentence} {sentence}", "answer": f"{sentence} {sentence} {sentence}"}
            long |= {"": "lantern"}
            return (part.get("enum") or [{**short, **long}.get(name, sentence)])[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_full_answer_fits_its_token_limit(language: str) -> None:
    for name, ask in {**every_ask(), "merged": Ask(REACT, merged())}.items():
        answer = filled(schema(ask.task), "", *FULL[language])
        size = estimated_tokens(json.dumps(answer, ensure_ascii=False, indent=1))
        unasked = {"react": ("rate", "act"), "questions": ("insights",), "insights": ("questions",)}.get(name, ())
        size -= sum(estimated_tokens(json.dumps(answer[part], ensure_ascii=False)) for part in unasked)
        assert size <= ask.task.tokens(ask.input), (name, size)
