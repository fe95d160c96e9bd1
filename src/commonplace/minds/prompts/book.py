"""The book of prompts: questions put into words, and answers read."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from commonplace.errors import UsageError
from commonplace.minds.mind import Ask, Flaws
from commonplace.minds.notes import Value
from commonplace.minds.prompts.prompt import SMALL, ChatMessage, Prompt, PromptSetting, Unusable, in_language
from commonplace.minds.prompts.speech_guard import SpeechGuard, descriptions, folded, shingles
from commonplace.minds.prompts.teller import gist, plain, speech
from commonplace.minds.prompts.templates import Templates
from commonplace.minds.small.form import LONGEST_ABOUT, REMEMBERED, PlainAnswer, Small, chat_of, joined, small_form
from commonplace.minds.tasks.offers import memory_ids
from commonplace.minds.tasks.reflect import InsightsInput, questions_of
from commonplace.minds.tasks.scenes import LONGEST_BACKGROUND, PromptView, scene_values, voice_of
from commonplace.minds.tasks.wire import offers_of, read, schema, written
from commonplace.text import shortened

LONGEST_COMPLAINT = 600
"""Characters of what was wrong with an answer, when it is asked for again."""
_LABEL = re.compile(r"\[([0-9]{1,12})(?: [^\]]*)?\]")
"""How a prompt labels a memory: `[12]`, `[12 Sat 13:05]`. No text of a value holds a bracket: see `plain`."""


class PromptBook:
    """All prompts of a run: one language, one setting, and perhaps a scenario's own templates."""

    def __init__(
        self,
        language: str,
        setting: PromptSetting,
        overrides: Mapping[str, str] | None = None,
        small: Container[str] = (),
    ) -> None:
        """Raises UsageError for a language without prompts. `overrides`: see `load_overrides`. `small`: the tasks that
        are asked in the small form; one that has none is asked in the full form."""
        self.language = language
        self.setting = setting
        self._small = small
        self._templates = Templates(language, overrides or {})

    def prompt(self, ask: Ask[Any, Any], *, drop: int = 0, complaint: str = "", tool: bool = False) -> Prompt:
        """Returns the question in words. Raises UsageError for a task that is not put into words.

        `drop` is how many of the lowest-scored retrieved memories to leave out. `complaint` asks again: it says what
        was wrong with the last answer, which is not quoted because small models copy quotes. With `tool`, the answer is
        a call of the task's tool. Neither concerns the small form.
        """
        task = ask.task
        small = small_form(task.name) if task.name in self._small else None
        if small is not None:
            return self._in_few_words(ask, small, drop)
        form = schema(task, tool=tool)
        messages, shown = self._messages(ask, drop, tool=tool)
        citable = _labels(messages) & frozenset(memory_ids(ask.input))
        if complaint:
            wrong = shortened(plain(in_language(complaint, self.language)), LONGEST_COMPLAINT)
            again = self._templates.whole("again.txt", {"complaint": wrong})
            *before, question = messages
            messages = (*before, ChatMessage(question.role, f"{question.text}\n\n{again}"))
        return Prompt(task.name, messages, form, task.tokens(ask.input), task.temperature, shown, citable)

    def read(
        self, ask: Ask[Any, Any], data: object, citable: Collection[int] = (), flaws: Flaws | None = None
    ) -> Value:
        """Returns parsed JSON as the task's typed output. Raises Unusable, which says what to correct.

        `citable`: the memories that the prompt shows; citations of others are left out. `flaws` counts mistakes in an
        answer that is used all the same.
        """
        flaws = Flaws() if flaws is None else flaws
        return read(ask, data, replace(self._guard, spent=self._spent(ask), flaws=flaws), citable)

    def read_text(self, ask: Ask[Any, Any], text: str, flaws: Flaws | None = None) -> Value | None:
        """Returns plain words as an answer; None if the task, or the words, cannot be used this way."""
        field = ask.task.free_text
        try:
            return self.read(ask, {field: text}, flaws=flaws) if field else None
        except Unusable:
            return None

    def read_words(self, ask: Ask[Any, Any], text: str, *, cut: bool = False, flaws: Flaws | None = None) -> Value:
        """Returns the answer to a question in the small form, as the task's typed output. Raises Unusable.

        `cut`: whether the length limit ended it.
        """
        small, flaws = small_form(ask.task.name), Flaws() if flaws is None else flaws
        if small is None:
            raise UsageError(f"the task {ask.task.name!r} has no small form")
        try:
            data = small.data(ask.input, PlainAnswer(text, cut, flaws))
        except Unusable as error:
            raise Unusable(error.told(self.language), error.kind) from None
        return self.read(ask, data, frozenset(memory_ids(ask.input)), flaws)

    def _in_few_words(self, ask: Ask[Any, Any], small: Small[Any], drop: int) -> Prompt:
        """Returns the question in the small form: who the character is and what it knows, then the talk as turns of a
        chat."""
        task, view = ask.task, PromptView(self.setting, offers_of(ask), drop)
        values: dict[str, Any] = scene_values(ask, self.setting, drop)
        who, lines = ask.input.who, getattr(ask.input, "lines", ())
        chat, said = chat_of(lines, who.id), [speech(line.text) for line in lines]
        untold = [told for told in values["memories"] if not any(line and line in told.text for line in said)]
        values |= {
            "about": gist(view.teller(ask.input).bare(who.background, LONGEST_BACKGROUND), LONGEST_ABOUT),
            "memories": untold[:REMEMBERED],
            "began": chat.began,
            "replying": chat.replying,
            **(small.scene(ask.input, view) if small.scene else {}),
        }
        fixed, cue = self._templates.halves(f"{SMALL}{task.name}.txt", values)
        persona = self._templates.whole(f"{SMALL}persona.txt", values)
        turns = chat.turns if small.choices is None else ()
        turns = joined(turns, ChatMessage("user", cue)) if cue else list(turns)
        return Prompt(
            task.name,
            (ChatMessage("system", f"{persona}\n\n{fixed}".strip()), *turns),
            {},
            small.max_tokens,
            task.temperature,
            len(values["memories"]),
            small=True,
            letters=small.letters(ask.input),
        )

    def _messages(self, ask: Ask[Any, Any], drop: int, *, tool: bool = False) -> tuple[tuple[ChatMessage, ...], int]:
        """Returns the messages, the least changing first, and the number of retrieved memories shown."""
        values: dict[str, Any] = {**scene_values(ask, self.setting, drop), "tool": tool}
        instructions, changing = self._templates.halves(f"{ask.task.name}.txt", values)
        if isinstance(ask.input, InsightsInput) and ask.input.recent:
            return self._continued(ask.input, drop, f"{changing}\n\n{instructions}")
        persona = (self._templates.whole("persona.txt", values),) if "me" in values else ()
        system = (self._templates.whole("rules.txt", values), *persona, instructions)
        return (ChatMessage("system", "\n\n".join(system)), ChatMessage("user", changing)), len(values["memories"])

    def _continued(self, inputs: InsightsInput, drop: int, text: str) -> tuple[tuple[ChatMessage, ...], int]:
        """Returns the messages for insights, which continue the conversation of the questions: a server has just read
        it."""
        asked, questions = questions_of(inputs)
        before, shown = self._messages(asked, drop)
        said = json.dumps(written(asked, questions), ensure_ascii=False)
        return (*before, ChatMessage("assistant", said), ChatMessage("user", text)), shown

    def _spent(self, ask: Ask[Any, Any]) -> frozenset[str]:
        """Returns the example lines of its voice that the character has said, as far as the question knows: none is
        said twice."""
        own, inputs = voice_of(ask, self.setting), ask.input
        if not own:
            return frozenset()
        said: Mapping[str, tuple[str, ...]] | tuple[str, ...] = getattr(inputs, "said", ())
        lines = said if isinstance(said, tuple) else chain.from_iterable(said.values())
        mine = (line.text for line in getattr(inputs, "lines", ()) if line.speaker == inputs.who.id)
        told = folded(" ".join(chain(lines, mine)))
        return frozenset(line for line in map(folded, own) if line in told)

    @cached_property
    def _guard(self) -> SpeechGuard:
        """Returns the guard, which knows every line of the templates so that it can find a repetition."""
        texts = self._templates.literals
        return SpeechGuard(self.language, shingles(texts, self.language), descriptions(texts, self.language))


def _labels(messages: Iterable[ChatMessage]) -> frozenset[int]:
    """Returns the memories whose labels a question shows.

    It searches the finished text because templates, also a scenario's own, decide what is shown. The rules, in the
    system message, only give an example of a label.
    """
    asked = (message.text for message in messages if message.role == "user")
    return frozenset(int(found) for text in asked for found in _LABEL.findall(text))
