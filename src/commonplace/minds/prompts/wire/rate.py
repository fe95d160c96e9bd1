"""Ratings: importance, and the emotion with the words it rests on."""

from __future__ import annotations

from typing import Any

from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.prompts.speech_guard import Ear
from commonplace.minds.prompts.wire.fields import Fields, listed
from commonplace.minds.prompts.wire.form import Form
from commonplace.minds.prompts.wire.shapes import Schema, obj, several, text, whole
from commonplace.minds.tasks import RateInput, RateOutput, Rating
from commonplace.text import clean

MOST_WORDS = 5


def ratings_schema(count: int) -> Schema:
    """As many as there are texts."""
    rating = obj(
        importance=whole(1, 10),
        valence=whole(-100, 100),
        arousal=whole(0, 100),
        words=several(text(40), 0, MOST_WORDS),
    )
    return several(rating, count, count)


def ratings_read(fields: Fields, key: str, count: int) -> tuple[Rating, ...]:
    """Raises Unusable when there are more or fewer."""
    given = fields.each(key, 0, count + 1, _rating)
    if len(given) != count:
        raise Unusable(f"{key!r} must have {count} entries, one for each text; it has {len(given)}", "range")
    return given


def ratings_written(ratings: tuple[Rating, ...]) -> list[dict[str, Any]]:
    """As JSON."""
    return [
        {
            "importance": rating.importance,
            "valence": rating.valence,
            "arousal": rating.arousal,
            "words": listed(rating.keywords),
        }
        for rating in ratings
    ]


def _rating(fields: Fields) -> Rating:
    words = (clean(word)[:40] for word in fields.items("words")[:MOST_WORDS] if isinstance(word, str))
    return Rating(
        importance=fields.whole("importance", 1, 10),
        valence=fields.whole("valence", -100, 100),
        arousal=fields.whole("arousal", 0, 100),
        keywords=tuple(word for word in words if word),
    )


def _schema(given: RateInput) -> Schema:
    return obj(ratings=ratings_schema(len(given.texts)))


def _read(given: RateInput, fields: Fields, ear: Ear) -> RateOutput:
    del ear
    return RateOutput(ratings=ratings_read(fields, "ratings", len(given.texts)))


def _written(given: RateInput, value: RateOutput) -> dict[str, Any]:
    del given
    return {"ratings": ratings_written(value.ratings)}


RATE = Form(_schema, _read, _written)
