"""Words said to somebody: in a town, in a duet, in an interview, on a panel."""

from __future__ import annotations

from typing import Any

from commonplace.minds.notes import Who
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.fields import Fields, listed, present
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import FLAG, Schema, obj, some_of, text
from commonplace.minds.tasks import (
    AnswerInput,
    AnswerOutput,
    ConverseInput,
    ConverseOutput,
    DuetInput,
    DuetOutput,
    PanelInput,
    PanelOutput,
)

LONGEST_LINE, LONGEST_PLAN, LONGEST_ANSWER, LONGEST_STATEMENT = 400, 200, 1000, 2000
Recalling = ConverseInput | DuetInput | AnswerInput | PanelInput


def names(who: Who) -> tuple[str, str]:
    """What a model may put in front of somebody's words."""
    return who.called, who.name


def offered(given: Recalling) -> tuple[int, ...]:
    """Memory ids the words may rest on."""
    return tuple(dict.fromkeys(note.id for note in given.recalled))


def spoken(text: str, who: Who, ear: Ear, longest: int) -> str:
    """The bare words. Raises Unusable when there are none."""
    words = ear.line(text, names(who), longest)
    if not words:
        raise Unusable("the words must not be empty", "empty")
    return words


# ── converse ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _converse_schema(given: ConverseInput) -> Schema:
    facts = some_of([fact.id for fact in given.facts])
    return obj(because=some_of(offered(given)), say=text(LONGEST_LINE), ends=FLAG, facts=facts)


def _converse_read(given: ConverseInput, fields: Fields, ear: Ear) -> ConverseOutput:
    """Words may be missing: there is nothing to say."""
    return ConverseOutput(
        utterance=ear.line(fields.words("say", 4000), names(given.who)),
        ends=fields.flag("ends"),
        because=fields.ids("because", offered(given)),
        facts=tuple(fact.id for fact in given.facts if fact.id in fields.items("facts")),
        speech_act=fields.words("speech_act", 20),
        topic=fields.words("topic", 60),
    )


def _converse_written(given: ConverseInput, value: ConverseOutput) -> dict[str, Any]:
    """`speech_act` and `topic` are written where known; no model is asked for them."""
    del given
    words = {"because": listed(value.because), "say": value.utterance, "ends": value.ends, "facts": listed(value.facts)}
    return words | present(speech_act=value.speech_act, topic=value.topic)


# ── duet ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _duet_schema(given: DuetInput) -> Schema:
    return obj(because=some_of(offered(given)), plan=text(LONGEST_PLAN), say=text(LONGEST_LINE, 1))


def _duet_read(given: DuetInput, fields: Fields, ear: Ear) -> DuetOutput:
    return DuetOutput(
        plan=fields.words("plan", LONGEST_PLAN),
        utterance=spoken(fields.words("say", 4000), given.who, ear, LONGEST_LINE),
        because=fields.ids("because", offered(given)),
        speech_act=fields.words("speech_act", 20),
        topic=fields.words("topic", 60),
    )


def _duet_written(given: DuetInput, value: DuetOutput) -> dict[str, Any]:
    del given
    words = {"because": listed(value.because), "plan": value.plan, "say": value.utterance}
    return words | present(speech_act=value.speech_act, topic=value.topic)


# ── interview and panel ─────────────────────────────────────────────────────────────────────────────────────────────


def _answer_schema(given: AnswerInput) -> Schema:
    return obj(because=some_of(offered(given)), answer=text(LONGEST_ANSWER, 1))


def _answer_read(given: AnswerInput, fields: Fields, ear: Ear) -> AnswerOutput:
    words = spoken(fields.words("answer", 8000), given.who, ear, LONGEST_ANSWER)
    return AnswerOutput(answer=words, because=fields.ids("because", offered(given)))


def _panel_schema(given: PanelInput) -> Schema:
    return obj(because=some_of(offered(given)), answer=text(LONGEST_STATEMENT, 1))


def _panel_read(given: PanelInput, fields: Fields, ear: Ear) -> PanelOutput:
    words = spoken(fields.words("answer", 8000), given.who, ear, LONGEST_STATEMENT)
    return PanelOutput(answer=words, because=fields.ids("because", offered(given)))


def _answer_written(given: AnswerInput | PanelInput, value: AnswerOutput | PanelOutput) -> dict[str, Any]:
    del given
    return {"because": listed(value.because), "answer": value.answer}


CONVERSE = Form(_converse_schema, _converse_read, _converse_written)
DUET_TURN = Form(_duet_schema, _duet_read, _duet_written)
ANSWER = Form(_answer_schema, _answer_read, _answer_written)
PANEL_TURN = Form(_panel_schema, _panel_read, _answer_written)
