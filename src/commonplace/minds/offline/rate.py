"""Importance and emotion of new memories.

Importance is of what happened (`minds.weights`); the words of a sentence count only where nothing else is known of it,
by the rules of `memory.importance`. Emotion is in the words (`memory.emotion`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import zip_longest

from commonplace.memory.emotion import feeler
from commonplace.memory.importance import RuleRater
from commonplace.minds.notes import Bearing
from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import RateInput, RateOutput, TextRating
from commonplace.minds.weights import start, weight
from commonplace.world.happenings import NOTHING_KNOWN, Happening

NOTHING_TO_DO_WITH_ME = Bearing()


def rate(given: RateInput, dice: Dice) -> RateOutput:  # noqa: ARG001 – rating draws nothing
    """Returns one rating per text, in order."""
    goal, language = " ".join(given.who.goals), given.who.language
    new = zip_longest(given.texts, given.happenings, given.bearings)
    return RateOutput(
        ratings=tuple(
            _rated(str(text), happening or NOTHING_KNOWN, bearing or NOTHING_TO_DO_WITH_ME, goal, language)
            for text, happening, bearing in new
        )
    )


def _rated(text: str, happening: Happening, bearing: Bearing, goal: str, language: str) -> TextRating:
    felt, importance = feeler(language)(text), weight(happening, bearing)
    if importance is None:
        importance = _rater(language, goal, start(happening))(text)
    if felt is None:
        return TextRating(importance=importance)
    return TextRating(
        importance=importance,
        valence=round(100 * felt.valence),
        arousal=round(100 * felt.arousal),
        keywords=felt.keywords[:5],
    )


@lru_cache(maxsize=1024)
def _rater(language: str, goal: str, base: int) -> RuleRater:
    return RuleRater(language, goal=goal, base=base)
