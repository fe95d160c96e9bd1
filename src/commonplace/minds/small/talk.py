"""Turns of talk in the small form: the answer is what is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from commonplace.minds.offline.hear import understood
from commonplace.minds.small.form import PlainAnswer, Small, first_line, first_paragraph
from commonplace.minds.tasks.converse import ConverseInput

FAREWELL = "farewell"
LINE, SHORT, PARAGRAPH = 80, 120, 250
"""Tokens of a line, of an answer and of a contribution."""


def _field(name: str, part: Callable[[PlainAnswer], str]) -> Callable[[Any, PlainAnswer], Mapping[str, Any]]:
    return lambda _, words: {name: part(words)}


def _converse(inputs: ConverseInput, words: PlainAnswer) -> Mapping[str, Any]:
    """Returns the fields of a line. It ends the talk if that was its purpose, or if its words take leave."""
    say = first_line(words)
    leaves = inputs.purpose == FAREWELL or understood(say, inputs.who.language).act == FAREWELL
    return {"say": say, "ends": leaves}


CONVERSE: Small[ConverseInput] = Small(_converse, LINE)
ANSWER: Small[Any] = Small(_field("answer", first_paragraph), SHORT)
DUET_TURN: Small[Any] = Small(_field("say", first_line), LINE)
PANEL_TURN: Small[Any] = Small(_field("answer", first_paragraph), PARAGRAPH)
