"""What the small form of a question is.

A question in the small form is a chat: the character is the assistant, whoever it talks with the user. The answer is
plain words, or the letter of a choice. They are read as the JSON that the full form asks for, so that the typed output
and every rule of it are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from commonplace.minds.mind import Flaws
from commonplace.minds.notes import Given, Spoken
from commonplace.minds.prompts.prompt import ChatMessage, Unusable
from commonplace.minds.prompts.teller import gist, plain
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.registry import TASKS, found

I = TypeVar("I", bound=Given)  # noqa: E741 – the input's type

REMEMBERED = 3
"""Memories shown."""
LONGEST_ABOUT = 240
"""Characters of what is said of the character itself."""
LATEST, LONGEST_TURN = 6, 300
"""Lines of a talk that are turns of the chat, and characters of one."""
LETTERS = "ABCDEFGH"
"""Before the choices; the most there are."""


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """An answer in plain words."""

    text: str
    cut: bool
    """Whether the length limit ended it."""
    flaws: Flaws
    """Grows with what is left out."""


@dataclass(frozen=True, slots=True)
class Small(Generic[I]):
    """How a task is asked in the small form. Its template is `prompts/small/NAME.txt`."""

    data: Callable[[I, PlainAnswer], Mapping[str, Any]]
    """The answer as the JSON that the full form asks for. Raises Unusable."""
    max_tokens: int
    scene: Callable[[I, PromptView], Values] | None = None
    """The values its template gets in addition to those of the full one."""
    choices: Callable[[I], Sequence[object]] | None = None
    """What is chosen from by letter, at most as many as `LETTERS`; None for an answer in words."""

    def letters(self, inputs: I) -> str:
        """Returns the letters that an answer may begin with; empty if it is in words."""
        return LETTERS[: len(self.choices(inputs))] if self.choices else ""


def small_form(task: str) -> Small[Any] | None:
    """Returns the small form of a task; None if it has only the full one."""
    row = TASKS.get(task)
    return found(row.small) if row is not None and row.small else None


# ── the chat ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class ChatTurns:
    """A talk as turns of a chat: it begins with the other, and the two take turns."""

    turns: tuple[ChatMessage, ...]
    began: tuple[str, ...]
    """What the character said before the other did."""

    @property
    def replying(self) -> bool:
        """Tells whether the other spoke last."""
        return bool(self.turns) and self.turns[-1].role == "user"


def chat_of(lines: Sequence[Spoken], me: str) -> ChatTurns:
    """Returns the latest lines of a talk. If there are several others, each of their turns names its speaker."""
    latest = lines[-LATEST:]
    first = next((place for place, line in enumerate(latest) if line.speaker != me), len(latest))
    several = len({line.speaker for line in lines} - {me}) > 1
    turns: list[ChatMessage] = []
    for line in latest[first:]:
        name = f"{plain(line.called)}: " if several and line.speaker != me else ""
        turns = joined(turns, ChatMessage("assistant" if line.speaker == me else "user", name + _told(line)))
    return ChatTurns(tuple(turns), tuple(_told(line) for line in latest[:first]))


def joined(turns: Sequence[ChatMessage], more: ChatMessage) -> list[ChatMessage]:
    """Returns the turns with another one; it becomes part of the last turn if the same side has that."""
    if turns and turns[-1].role == more.role:
        return [*turns[:-1], ChatMessage(more.role, f"{turns[-1].text}\n{more.text}")]
    return [*turns, more]


def _told(line: Spoken) -> str:
    return gist(plain(line.text), LONGEST_TURN)


# ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────────────


_CHOSEN = re.compile(r"[\s\"'(*\[]*([A-H])(?![^\W_])")
_SENTENCE = re.compile(r".*[.!?…。][”’\"')]*(?=\s|$)", re.DOTALL)


def chosen(words: PlainAnswer, letters: str) -> int:
    """Returns the position of the choice that an answer begins with. Raises Unusable."""
    found = _CHOSEN.match(words.text)
    if found is None or found[1] not in letters:
        raise Unusable("must be one of {choices}; it was {value}", "choice", choices=", ".join(letters),
                       value=repr(words.text[:40]))  # fmt: skip
    return letters.index(found[1])


def first_line(words: PlainAnswer) -> str:
    """Returns the first line: the rest is mostly what the others would say. Raises Unusable."""
    line, more, _ = words.text.strip().partition("\n")
    return _whole(line, words.cut and not more)


def first_paragraph(words: PlainAnswer) -> str:
    """Returns the first paragraph. Raises Unusable."""
    paragraph, more, _ = words.text.strip().partition("\n\n")
    return _whole(paragraph, words.cut and not more)


def _whole(text: str, cut: bool) -> str:
    """Returns the text; if it was cut off, up to the end of its last whole sentence. Raises Unusable if there is
    none."""
    if not cut:
        return text
    found = _SENTENCE.match(text)
    if found is None:
        raise Unusable("the answer was cut off; be shorter", "truncated")
    return found[0]
