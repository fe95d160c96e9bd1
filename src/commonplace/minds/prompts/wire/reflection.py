"""Reflection: the questions, the insights with their citations, and the view of an acquaintance."""

from __future__ import annotations

from typing import Any, cast

from commonplace.minds.notes import Person
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.choices import Choices, people
from commonplace.minds.prompts.wire.fields import Fields, listed, present
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import Schema, obj, several, some_of, text, whole
from commonplace.minds.prompts.wire.talk import spoken
from commonplace.minds.tasks import (
    Insight,
    InsightsInput,
    InsightsOutput,
    QuestionsInput,
    QuestionsOutput,
    RelateInput,
    RelateOutput,
)
from commonplace.text import clean, shortened

QUESTIONS_ASKED, INSIGHTS_ASKED, FEWEST_INSIGHTS = 3, 5, 3
LONGEST_QUESTION, LONGEST_INSIGHT, LONGEST_SUMMARY, LONGEST_SUBJECT = 200, 400, 300, 60
FRAME_KEYS = ("kind", "place", "wish", "you")
"""What rules note beside an insight for their later words; no model is asked for it."""


# ── questions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _questions_schema(given: QuestionsInput) -> Schema:
    del given
    return obj(questions=several(text(LONGEST_QUESTION, 1), 1, QUESTIONS_ASKED))


def _questions_read(given: QuestionsInput, fields: Fields, ear: Ear) -> QuestionsOutput:
    del given
    asked = [ear.text(clean(item)) for item in fields.items("questions") if isinstance(item, str)]
    kept = [shortened(question, LONGEST_QUESTION) for question in asked if question]
    if not kept:
        raise Unusable("'questions' must hold three questions", "empty")
    return QuestionsOutput(questions=tuple(kept[:QUESTIONS_ASKED]))


def _questions_written(given: QuestionsInput, value: QuestionsOutput) -> dict[str, Any]:
    del given
    return {"questions": listed(value.questions)}


# ── insights ────────────────────────────────────────────────────────────────────────────────────────────────────────


def evidence_ids(given: InsightsInput) -> tuple[int, ...]:
    """Memories an insight may cite: those recalled for a question."""
    return tuple(dict.fromkeys(note.id for entry in given.evidence for note in entry.recalled))


def _known(given: InsightsInput) -> Choices:
    seen: dict[str, Person] = {person.id: person for person in (*given.known, *given.situation.people)}
    return people(tuple(seen.values()))


def _insights_schema(given: InsightsInput) -> Schema:
    insight = obj(
        text=text(LONGEST_INSIGHT, 1),
        because=some_of(evidence_ids(given)),
        importance=whole(0, 10),
        about=text(LONGEST_SUBJECT),
    )
    return obj(insights=several(insight, 0, INSIGHTS_ASKED))


def _insights_read(given: InsightsInput, fields: Fields, ear: Ear) -> InsightsOutput:
    """One that cites nothing offered is dropped."""
    if fields.get("insights") is None:
        raise Unusable("'insights' must be a list", "schema")
    read = fields.each("insights", 0, INSIGHTS_ASKED, lambda entry: _insight(given, entry, ear))
    return InsightsOutput(insights=tuple(insight for insight in read if insight.because))


def _insight(given: InsightsInput, fields: Fields, ear: Ear) -> Insight:
    about = fields.words("about", LONGEST_SUBJECT)
    return Insight(
        text=spoken(fields.words("text", 4000), given.who, ear, LONGEST_INSIGHT),
        because=fields.ids("because", evidence_ids(given)),
        importance=fields.whole("importance", 0, 10) if fields.get("importance") is not None else 0,
        about=_known(given).id(about) or about,
        frame=_frame(fields.get("frame")),
    )


def _frame(data: object) -> dict[str, str]:
    given = cast(dict[str, object], data) if isinstance(data, dict) else {}
    return {key: shortened(clean(str(given[key])), LONGEST_INSIGHT) for key in FRAME_KEYS if given.get(key)}


def _insights_written(given: InsightsInput, value: InsightsOutput) -> dict[str, Any]:
    choices = _known(given)
    return {
        "insights": [
            {
                "text": insight.text,
                "because": listed(insight.because),
                "importance": insight.importance,
                "about": choices.label(insight.about),
            }
            | present(frame=dict(insight.frame))
            for insight in value.insights
        ]
    }


# ── relate ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _cited(given: RelateInput) -> tuple[int, ...]:
    return tuple(dict.fromkeys(note.id for note in given.recalled))


def _relate_schema(given: RelateInput) -> Schema:
    return obj(because=some_of(_cited(given)), warmth=whole(-20, 20), summary=text(LONGEST_SUMMARY))


def _relate_read(given: RelateInput, fields: Fields, ear: Ear) -> RelateOutput:
    return RelateOutput(
        warmth_change=fields.whole("warmth", -20, 20),
        summary=ear.line(fields.words("summary", 4000), (), LONGEST_SUMMARY),
        because=fields.ids("because", _cited(given)),
    )


def _relate_written(given: RelateInput, value: RelateOutput) -> dict[str, Any]:
    del given
    return {"because": listed(value.because), "warmth": value.warmth_change, "summary": value.summary}


QUESTIONS = Form(_questions_schema, _questions_read, _questions_written)
INSIGHTS = Form(_insights_schema, _insights_read, _insights_written)
RELATE = Form(_relate_schema, _relate_read, _relate_written)
