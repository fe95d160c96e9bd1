"""Every prompt as a model server gets it: system and user messages, and the names of the answer's properties.

    python tools/print_prompts.py [SCENARIO ...] [--ticks 40] [--task NAME] [--each 1] [--schema]

Lives a few ticks of each scenario (`latticeville` and `sijang` if none is named) with the offline mind, in the ways in
which a model can be asked: merged requests `when_needed`, merged requests `every_tick`, single requests. Then it asks a
character something and previews an event. Of each task and way the longest prompts are printed. Scenarios of stages
(`sitcom`, `dialectic`) show the tasks of stages. What is asked once a day or less needs more ticks: `--ticks 150`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from commonplace import create_run
from commonplace.minds.mind import Ask, Reply, RequestKey, estimated_tokens
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.prompts.prompt import Prompt, setting_of
from commonplace.scenario.compiling import load
from commonplace.talk import ask_character, view_at

WAYS = {"merged when_needed": ("ollama:", "when_needed"), "merged every_tick": ("ollama:", "every_tick"),
        "single every_tick": ("offline", "every_tick")}  # fmt: skip
"""Way → the name of a mind that is asked like this, fidelity."""
QUESTIONS = {"en": "How was your day, and what will you do tonight?", "ko": "오늘 하루 어땠어요? 저녁에는 뭐 해요?"}
EVENTS = {"en": "All lights go out", "ko": "불이 모두 꺼진다"}


class Listening(OfflineMind):
    """The offline mind under another mind's name, and what it was asked."""

    def __init__(self, name: str, language: str) -> None:
        super().__init__(language)
        self.name = name
        self.asked: list[Ask[Any, Any]] = []

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        self.asked.append(ask)
        return super().answer(ask, request_key)


def asked(scenario: str, way: str, ticks: int) -> list[Ask[Any, Any]]:
    """What a mind is asked in the first ticks, and by a person after them."""
    loaded = load(scenario)
    name, fidelity = WAYS[way]
    mind = Listening(name, loaded.language)

    async def live(path: Path) -> None:
        with create_run(path, scenario, seed=7, mind=mind, fidelity=fidelity) as run:
            async for _ in run.play(ticks):
                pass
            if loaded.part.stage == "town":
                first = sorted(loaded.personas)[0]
                await ask_character(view_at(run.reading, first), QUESTIONS[loaded.language], mind)
                await run.preview(EVENTS[loaded.language])

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(live(Path(folder) / "asked.run"))
    return mind.asked


def prompts(scenario: str, ticks: int, each: int = 1) -> Iterator[tuple[str, Prompt]]:
    """(way, prompt): of each task and way the longest ones."""
    loaded = load(scenario)
    book = PromptBook(loaded.language, setting_of(loaded))
    for way in WAYS:
        by_task: dict[str, list[Prompt]] = defaultdict(list)
        for ask in asked(scenario, way, ticks):
            if ask.task.scene is not None:
                by_task[ask.task.name].append(book.prompt(ask))
        for _, found in sorted(by_task.items()):
            found.sort(key=lambda prompt: (-len(prompt.text), prompt.text))
            yield from ((way, prompt) for prompt in found[:each])


def main() -> None:
    """Print the prompts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", default=["latticeville", "sijang"])
    parser.add_argument("--ticks", type=int, default=40)
    parser.add_argument("--task", default="", help="this task only")
    parser.add_argument("--each", type=int, default=1, help="prompts of each task and way")
    parser.add_argument("--schema", action="store_true", help="with the JSON Schema of the answer")
    given = parser.parse_args()
    for scenario in given.scenarios:
        for way, prompt in prompts(scenario, given.ticks, given.each):
            if given.task in {"", prompt.task}:
                size = f"about {estimated_tokens(prompt.text)} tokens, answer up to {prompt.max_tokens}"
                print(f"══ {scenario} · {way} · {prompt.task} · {size} ══\n{prompt.text}\n")
                answer = json.dumps(prompt.schema) if given.schema else named(prompt.schema)
                print(f"[answer] {answer}\n")


def named(schema: Any) -> str:
    """The properties of an answer, those inside others in braces."""
    inside = {name: named(_object(part)) for name, part in schema.get("properties", {}).items()}
    return ", ".join(f"{name} {{{inner}}}" if inner else name for name, inner in inside.items())


def _object(part: Any) -> Any:
    """The object in a property: an entry of a list, or what is not null, else itself."""
    inner = [part["items"]] if "items" in part else part.get("anyOf", [])
    return next((_object(one) for one in inner if one.get("type") != "null"), part)


if __name__ == "__main__":
    main()
