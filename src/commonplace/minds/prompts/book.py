"""The book of prompts: questions put into words, and answers read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from commonplace.minds.mind import Ask
from commonplace.minds.notes import Value
from commonplace.minds.prompts import wire
from commonplace.minds.prompts.prompt import Message, Prompt, Setting, Unusable
from commonplace.minds.prompts.scenes import values
from commonplace.minds.prompts.speech_guard import Ear, shingles
from commonplace.minds.prompts.telling import plain
from commonplace.minds.prompts.templates import Templates
from commonplace.minds.tasks import QUESTIONS, InsightsInput, QuestionsInput, QuestionsOutput, ReactInput
from commonplace.text import clean, shortened

TEMPERATURES: Mapping[str, float] = {
    "rate": 0.0,
    "plan_day": 0.7,
    "plan_hours": 0.5,
    "plan_minutes": 0.5,
    "react": 0.7,
    "act": 0.3,
    "converse": 0.8,
    "questions": 0.5,
    "insights": 0.5,
    "relate": 0.3,
    "answer": 0.7,
    "duet_turn": 0.9,
    "panel_turn": 0.9,
    "perceive_event": 0.0,
}
"""0 where the same is to be judged alike; higher where variety is the point."""
_NUMBER = re.compile(r"\[([0-9]+)[ \]]")
LONGEST_LAST = 600
"""Characters of an unusable answer, and of what was wrong with it, when it is asked for again."""
FREE_TEXT = {"duet_turn": "say", "panel_turn": "answer", "answer": "answer"}
"""Tasks whose answer may be plain words, and the field they go to."""
RATING_TOKENS, WORDS_TOKENS, ACTION_TOKENS = 40, 100, 80
"""Room for what a merged reaction brings besides."""


class PromptBook:
    """All prompts of a run: one language, one setting, and perhaps a scenario's own templates."""

    def __init__(self, language: str, setting: Setting, overrides: Mapping[str, str] | None = None) -> None:
        """Raises UsageError for a language there are no prompts in. `overrides`: see `load_overrides`."""
        self.language = language
        self.setting = setting
        self._templates = Templates(language, overrides or {})

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", last: str = "") -> Prompt:
        """The question in words.

        `drop` leaves out so many of the retrieved memories that scored lowest. `complaint` and `last` ask again: what
        was wrong with the last raw answer.
        """
        messages, shown = self._messages(ask, drop)
        schema = wire.schema(ask, numbers(messages))
        if complaint:
            again = self._templates.whole("again.txt", {"complaint": shortened(plain(complaint), LONGEST_LAST)})
            messages = (
                *messages,
                Message("assistant", shortened(clean(last), LONGEST_LAST) or "…"),
                Message("user", again),
            )
        name = ask.task.name
        return Prompt(name, messages, schema, longest_answer(ask), TEMPERATURES[name], shown)

    def read(self, ask: Ask[Any, Any], data: object) -> Value:
        """Parsed JSON as the task's typed output. Raises Unusable, saying what to mend."""
        return wire.read(ask, data, self._ear)

    def read_text(self, ask: Ask[Any, Any], text: str) -> Value | None:
        """Plain words as an answer, trimmed; None for a task, or words, that cannot be used so."""
        field = FREE_TEXT.get(ask.task.name)
        try:
            return wire.read(ask, {field: text}, self._ear) if field else None
        except Unusable:
            return None

    def parts(self, ask: Ask[Any, Any]) -> Mapping[str, str]:
        """A prompt's text by how often it changes: `rules`, `persona`, `instructions`, `changing`."""
        if isinstance(ask.input, InsightsInput) and ask.input.recent:
            messages, _ = self._messages(ask, 0)
            first = self.parts(questions_of(ask.input))
            return {**first, "changing": "\n\n".join(message.text for message in messages[1:])}
        given = values(ask, self.setting)
        instructions, changing = self._templates.halves(f"{ask.task.name}.txt", given)
        rules, persona = self._templates.whole("rules.txt", given), "".join(self._persona(given))
        return {"rules": rules, "persona": persona, "instructions": instructions, "changing": changing}

    def _messages(self, ask: Ask[Any, Any], drop: int) -> tuple[tuple[Message, ...], int]:
        """What changes least first; with the number of retrieved memories shown."""
        if isinstance(ask.input, InsightsInput) and ask.input.recent:
            return self._continued(ask, ask.input, drop)
        given = values(ask, self.setting, drop)
        instructions, changing = self._templates.halves(f"{ask.task.name}.txt", given)
        system = (self._templates.whole("rules.txt", given), *self._persona(given), instructions)
        return (Message("system", "\n\n".join(system)), Message("user", changing)), len(given["memories"])

    def _persona(self, given: Mapping[str, object]) -> tuple[str, ...]:
        return (self._templates.whole("persona.txt", given),) if "me" in given else ()

    def _continued(self, ask: Ask[Any, Any], given: InsightsInput, drop: int) -> tuple[tuple[Message, ...], int]:
        """Insights go on in the conversation in which the questions were asked: a server has just read it."""
        asked = questions_of(given)
        before, shown = self._messages(asked, drop)
        questions = QuestionsOutput(questions=tuple(plain(entry.question) for entry in given.evidence))
        said = json.dumps(wire.written(asked, questions), ensure_ascii=False)
        instructions, changing = self._templates.halves("insights.txt", values(ask, self.setting, drop))
        user = Message("user", f"{changing}\n\n{instructions}")
        return (*before, Message("assistant", said), user), shown

    @cached_property
    def _ear(self) -> Ear:
        """Knows every line of the templates, so that it hears when one is repeated."""
        return Ear(self.language, shingles(self._templates.literals, self.language))


def numbers(messages: Iterable[Message]) -> frozenset[int]:
    """The memories shown: text from the town holds no brackets, so that each number in them is a memory's."""
    texts = (message.text for message in messages if message.role == "user")
    return frozenset(int(number) for text in texts for number in _NUMBER.findall(text))


def questions_of(given: InsightsInput) -> Ask[QuestionsInput, QuestionsOutput]:
    """The question that insights continue."""
    return Ask(QUESTIONS, QuestionsInput(who=given.who, situation=given.situation, recent=given.recent))


def longest_answer(ask: Ask[Any, Any]) -> int:
    """Tokens an answer may take: the task's, and room for what a merged reaction brings besides."""
    given = ask.input
    extra = 0
    if isinstance(given, ReactInput):
        extra = (
            RATING_TOKENS * len(given.unrated)
            + WORDS_TOKENS * given.speaks
            + ACTION_TOKENS * (given.targets is not None)
        )
    return ask.task.max_tokens + extra
