"""Scenes in which words are asked for: with somebody in the town, in a duet, an interview, on a panel."""

from __future__ import annotations

from commonplace.minds.prompts.prompt import Setting
from commonplace.minds.prompts.scenes.recalling import (
    TALKING,
    Values,
    facts,
    recalling,
    said_before,
    spoken_lines,
    unsaid,
)
from commonplace.minds.prompts.telling import kept, speech, teller_of
from commonplace.minds.tasks import AnswerInput, ConverseInput, DuetInput, PanelInput


def converse(given: ConverseInput, setting: Setting, drop: int) -> Values:
    memories = kept(teller_of(given, setting).memories(unsaid(given.recalled, given.lines)), TALKING, drop)
    return {
        "memories": memories,
        "lines": spoken_lines(given.lines),
        "said": said_before(given.said, given.lines),
        "facts": facts(given, {note.id for note in memories}),
    }


def duet(given: DuetInput, setting: Setting, drop: int) -> Values:
    return recalling(given, setting, drop) | {"said": said_before(given.said, given.lines)}


def answer(given: AnswerInput, setting: Setting, drop: int) -> Values:
    return recalling(given, setting, drop) | {"question": speech(given.question)}


def panel(given: PanelInput, setting: Setting, drop: int) -> Values:
    return recalling(given, setting, drop) | {"question": speech(given.seed_prompt)}
