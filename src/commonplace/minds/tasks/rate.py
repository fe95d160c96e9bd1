"""`rate`: how much new memories matter, and the emotion in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Self

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Value, Who
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.tasks.scenes import Values, View
from commonplace.minds.tasks.wire import AnswerModel, several, texts, whole


class RateInput(Value):
    """Several new memories of one character, rated in one request."""

    who: Who
    texts: tuple[str, ...]
    names: tuple[str, ...] = ()
    """Names the character knows."""


class Rating(Value):
    """Importance 1–10; valence −100…100 and arousal 0…100 in hundredths, with the words they rest on."""

    importance: int = Field(ge=1, le=10)
    valence: int = Field(default=0, ge=-100, le=100)
    arousal: int = Field(default=0, ge=0, le=100)
    keywords: tuple[str, ...] = ()


class RateOutput(Value):
    ratings: tuple[Rating, ...]
    """As many as texts, in order."""


class RatingAnswer(AnswerModel):
    importance: Annotated[int, whole(1, 10)]
    valence: Annotated[int, whole(-100, 100)]
    arousal: Annotated[int, whole(0, 100)]
    words: Annotated[tuple[str, ...], texts(40, 5)] = ()


def ratings_of(answers: Sequence[RatingAnswer], count: int, field: str) -> tuple[Rating, ...]:
    """Raises Unusable when there are more or fewer than `count`."""
    if len(answers) != count:
        raise Unusable(f"{field!r} must have {count} entries, one for each text; it has {len(answers)}", "range")
    return tuple(
        Rating(importance=one.importance, valence=one.valence, arousal=one.arousal, keywords=one.words)
        for one in answers
    )


def rating_answers(ratings: Iterable[Rating]) -> tuple[RatingAnswer, ...]:
    """The answers that `ratings_of` makes these ratings of."""
    return tuple(
        RatingAnswer(importance=one.importance, valence=one.valence, arousal=one.arousal, words=one.keywords)
        for one in ratings
    )


class RateAnswer(AnswerModel):
    ratings: Annotated[tuple[RatingAnswer, ...], several()]

    def output(self, inputs: RateInput) -> RateOutput:
        return RateOutput(ratings=ratings_of(self.ratings, len(inputs.texts), "ratings"))

    @classmethod
    def of(cls, inputs: RateInput, value: RateOutput) -> Self:
        return cls(ratings=rating_answers(value.ratings))


def _scene(inputs: RateInput, view: View) -> Values:
    teller = view.teller(inputs)
    return {"texts": [teller.bare(text) for text in inputs.texts]}


RATE = Task(
    "rate",
    RateInput,
    RateOutput,
    lambda inputs: RateOutput(ratings=tuple(Rating(importance=3) for _ in inputs.texts)),
    max_tokens=300,
    temperature=0.0,
    scene=_scene,
    answer=RateAnswer,
)
