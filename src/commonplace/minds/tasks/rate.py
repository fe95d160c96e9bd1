"""`rate`: how much new memories matter, and the emotion in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import Bearing, Given, Who
from commonplace.minds.prompts.prompt import Unusable
from commonplace.minds.tasks.scenes import PromptView, Values
from commonplace.minds.tasks.wire import Context, Rule, WireValue, several, texts, whole
from commonplace.world.happenings import Happening, always

RATING_TOKENS = 60
"""Tokens of one rating with five words."""


class RateInput(Given, omit_defaults=True):
    """Several new memories of one character, rated in one request."""

    who: Who
    texts: tuple[str, ...]
    happenings: tuple[Happening, ...] = always(())
    """What each of them tells of, in their order."""
    names: tuple[str, ...] = always(())
    """Names the character knows."""
    bearings: tuple[Bearing, ...] = ()
    """What each has to do with the character; for minds that go by rules."""


class TextRating(WireValue):
    """Importance 1–10; valence −100…100 and arousal 0…100 in hundredths, with the words they rest on."""

    importance: Annotated[int, whole(1, 10)] = Field(ge=1, le=10)
    valence: Annotated[int, whole(-100, 100)] = Field(default=0, ge=-100, le=100)
    arousal: Annotated[int, whole(0, 100)] = Field(default=0, ge=0, le=100)
    keywords: Annotated[tuple[str, ...], texts(40, 5)] = Field(
        default=(), validation_alias="words", serialization_alias="words"
    )


def one_for_each(texts_of: Callable[[Any], Sequence[str]]) -> Rule:
    """Returns the rule of a list with one entry for each of some texts of the input."""
    a_list = several()

    def read(value: object, context: Context) -> object:
        items, count = a_list.read(value, context), len(texts_of(context.inputs))
        if len(items) != count:
            raise Unusable(
                "must have {wanted} entries, one for each text; it has {count}", "range", wanted=count, count=len(items)
            )
        return items

    return Rule(read)


class RateOutput(WireValue):
    ratings: Annotated[tuple[TextRating, ...], one_for_each(lambda inputs: inputs.texts)]
    """As many as texts, in order."""


def _scene(inputs: RateInput, view: PromptView) -> Values:
    teller = view.teller(inputs)
    return {"texts": [teller.bare(text) for text in inputs.texts]}


RATE = Task(
    "rate",
    RateInput,
    RateOutput,
    lambda inputs: RateOutput(ratings=tuple(TextRating(importance=3) for _ in inputs.texts)),
    max_tokens=40,
    temperature=0.0,
    scene=_scene,
    extra_tokens=lambda inputs: RATING_TOKENS * len(inputs.texts),
)
