"""Answering a person from outside: a question put to a character, or to a persona of a panel."""

from __future__ import annotations

from commonplace.minds.notes import Person, Recalled, Situation, Spoken, Spot, Who
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import (
    NO_ANSWER,
    AnswerInput,
    AnswerOutput,
    ConverseInput,
    ConverseOutput,
    PanelInput,
    PanelOutput,
)

ASKER = "-"
"""The person's id."""
UNSTORED = 0
"""Id of the question, which is no memory; never cited."""
_PERSON = Person(id=ASKER, name="", called="", label="visitor", warmth=20)
_TABLE = Situation(
    moment="2031-10-04T12:00:00", time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="",
    temperature="", place=Spot(id="panel", name="panel"),
)  # fmt: skip


def answer(given: AnswerInput, dice: Dice) -> AnswerOutput:
    """What the memories recalled give for an answer; an honest nothing where they give none."""
    asked = Spoken(speaker=ASKER, called="", text=given.question)
    said = _reply(given.who, given.situation, (*given.lines, asked), given.recalled, dice)
    return AnswerOutput(answer=said.utterance or _nothing(given.who), because=_cited(said))


def panel_turn(given: PanelInput, dice: Dice) -> PanelOutput:
    """A reply to what was said last, or to the seed prompt."""
    line = given.lines[-1].text if given.lines else given.seed_prompt
    asked = Spoken(speaker=ASKER, called="", text=line)
    said = _reply(given.who, _TABLE, (asked,), given.recalled, dice)
    return PanelOutput(answer=said.utterance or _nothing(given.who), because=_cited(said))


def _reply(
    who: Who, situation: Situation, lines: tuple[Spoken, ...], recalled: tuple[Recalled, ...], dice: Dice
) -> ConverseOutput:
    """The talk as the offline mind knows talks: the last line was heard just now."""
    frame = {"what": "said", "who": ASKER, "called": "", "quote": lines[-1].text, "to_me": "1"}
    heard = Recalled(id=UNSTORED, text=lines[-1].text, kind="observation", importance=3, minutes_ago=0, frame=frame)
    talk = ConverseInput(
        who=who, situation=situation, hearer=_PERSON, purpose="reply", lines=lines, recalled=(*recalled, heard)
    )
    return converse(talk, dice)


def _cited(said: ConverseOutput) -> tuple[int, ...]:
    return tuple(memory for memory in said.because if memory != UNSTORED)


def _nothing(who: Who) -> str:
    return NO_ANSWER.get(who.language, NO_ANSWER["en"])
