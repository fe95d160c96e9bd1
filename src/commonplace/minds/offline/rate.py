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
from commonplace.minds.notes import Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import grammar
from commonplace.minds.offline.reflect import GENERAL
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
    Read,
    Said,
    Seed,
    Seen,
    Sky,
    Voiced,
    is_finished,
)

ROUTINE, NOTED, SPOKEN_TO, MOVED, THOUGHT, EVENT, VOICE = 1, 2, 3, 4, 5, 6, 8
OCCASION = 6
"""Importance of having been somewhere that is not an everyday thing; of having seen others there, three less."""


def rate(given: RateInput, dice: Dice) -> RateOutput:  # noqa: ARG001 – rating draws nothing
    """One rating per text, in order."""
    goal, new = " ".join(given.who.goals), zip_longest(given.texts, given.happenings, fillvalue=NOTHING_KNOWN)
    return RateOutput(ratings=tuple(_rated(given.who, goal, str(text), happening) for text, happening in new))


def _rated(who: Who, goal: str, text: str, happening: Happening) -> Rating:
    base = _base(happening, who.called, who.language)
    return _rating(text, _telling(happening, text, base), base, goal, who.language)


def _telling(happening: Happening, text: str, base: int) -> str:
    """The words of a memory that add to its importance.

    What goes on all day is routine whatever its words: killing time is not murder. A thing found broken is not. A
    conclusion that rules have worded tells no more than its topic.
    """
    if isinstance(happening, Missing) or (isinstance(happening, Changed) and not happening.seen):
        return text
    if base <= NOTED or isinstance(happening, Sky | Did | Seen):
        return ""
    return happening.topic if isinstance(happening, Concluded) and happening.kind else text


@lru_cache(maxsize=4096)
def _rating(text: str, telling: str, base: int, goal: str, language: str) -> Rating:
    felt = feeler(language)(text)
    importance = _rater(language, goal, base)(telling)
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


def _used(changed: Changed) -> int:
    """A thing that somebody uses says nothing: a cat that is stroked, a shutter that goes up. Long work on it does."""
    if not changed.progress:
        return NOTED if changed.seen else ROUTINE
    return EVENT if is_finished(changed.progress) else SPOKEN_TO


_SMALL_TALK = frozenset({"greet", "farewell", "acknowledge", "weather"})
"""Acts of lines that say nothing."""
_LESSONS = {"kept": EVENT, "broke": EVENT}
_SKIES = {"storm": THOUGHT, "rain": SPOKEN_TO, "snow": SPOKEN_TO}
_STARTS: Mapping[type[Happening], Callable[[Any], int]] = {
    Said: lambda said: ROUTINE if not said.to_me else NOTED if said.act in _SMALL_TALK else SPOKEN_TO,
    Sky: lambda sky: _SKIES.get(sky.sky, NOTED),
    Planned: lambda planned: THOUGHT if planned.decided else ROUTINE,
    Changed: _used,
    Came: lambda came: ROUTINE if came.other else MOVED,
    Left: lambda left: ROUTINE if left.other else MOVED,
    Voiced: lambda _: VOICE,
    Befell: lambda _: EVENT,
    Read: lambda _: EVENT,
    Concluded: lambda concluded: SPOKEN_TO if concluded.kind in GENERAL else _LESSONS.get(concluded.kind, THOUGHT),
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
