"""Importance and emotion of new memories: where a memory starts from by what happened, and what its words add.

The words and the feelings are those of `memory.importance` and `memory.emotion`. Most of what a character perceives is
routine and starts at 1; being spoken to starts at 3 and an event at 6, so that a day of 150–250 memories brings one or
two reflections.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from commonplace.memory.emotion import feeler
from commonplace.memory.importance import BASE, RuleRater
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import grammar
from commonplace.minds.tasks import RateInput, RateOutput, Rating
from commonplace.world.happenings import (
    NOTHING_KNOWN,
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happened,
    Happening,
    Left,
    Missing,
    Planned,
    Said,
    Seed,
    Seen,
    Sky,
    Voiced,
)

ROUTINE, NOTED, SPOKEN_TO, MOVED, THOUGHT, EVENT, VOICE = 1, 2, 3, 4, 5, 6, 8
OCCASION = 6
"""Importance of having been somewhere that is not an everyday thing; of having seen others there, three less."""


def rate(given: RateInput, dice: Dice) -> RateOutput:  # noqa: ARG001 – rating draws nothing
    """One rating per text, in order."""
    goal, new = " ".join(given.who.goals), zip_longest(given.texts, given.happenings, fillvalue=NOTHING_KNOWN)
    return RateOutput(
        ratings=tuple(
            _rating(str(text), _base(happening, given.who.called, given.who.language), goal, given.who.language,
                    of_a_thing=isinstance(happening, Changed | Missing))
            for text, happening in new
        )
    )  # fmt: skip


@lru_cache(maxsize=4096)
def _rating(text: str, base: int, goal: str, language: str, *, of_a_thing: bool) -> Rating:
    felt = feeler(language)(text)
    # What people do all day is routine whatever its words: killing time is not murder. A thing that breaks is not.
    importance = _rater(language, goal, base)(text) if base > ROUTINE or of_a_thing else base
    if felt is None:
        return Rating(importance=importance)
    return Rating(
        importance=importance,
        valence=round(100 * felt.valence),
        arousal=round(100 * felt.arousal),
        keywords=felt.keywords[:5],
    )


@lru_cache(maxsize=1024)
def _rater(language: str, goal: str, base: int) -> RuleRater:
    return RuleRater(language, goal=goal, base=base)


_SKIES = {"storm": EVENT, "rain": SPOKEN_TO, "snow": SPOKEN_TO}
_STARTS: Mapping[type[Happening], Callable[[Any], int]] = {
    Said: lambda said: SPOKEN_TO if said.to_me else ROUTINE,
    Sky: lambda sky: _SKIES.get(sky.sky, NOTED),
    Planned: lambda planned: THOUGHT if planned.decided else ROUTINE,
    Changed: lambda changed: EVENT if changed.seen else ROUTINE,
    Came: lambda came: ROUTINE if came.other else MOVED,
    Left: lambda left: ROUTINE if left.other else MOVED,
    Voiced: lambda _: VOICE,
    Befell: lambda _: EVENT,
    Concluded: lambda _: THOUGHT,
    Missing: lambda _: MOVED,
    Failed: lambda _: SPOKEN_TO,
    Absent: lambda _: SPOKEN_TO,
    Happened: lambda _: BASE,
    Seed: lambda _: BASE,
}
"""Where a memory starts from by what happened; anything else is routine."""


def _base(happening: Happening, called: str, language: str) -> int:
    """Where a memory starts from. `called`: the short name of the one who remembers."""
    if isinstance(happening, Did | Seen):
        is_occasion = grammar(language).has("occasion", happening.doing)
        if isinstance(happening, Did):
            return OCCASION if is_occasion else ROUTINE
        return OCCASION - 3 if is_occasion else NOTED if called in happening.doing else ROUTINE
    start = _STARTS.get(type(happening))
    return start(happening) if start else ROUTINE
