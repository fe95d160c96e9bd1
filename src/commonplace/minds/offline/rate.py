"""Importance and emotion of new memories.

Importance is of what happened: where each kind of happening starts from, and what concern and habit make of it. Most of
what goes on is routine and weighs 1, so that a day of 150–250 memories brings one or two reflections. The words of a
sentence count only where nothing else is known of it, by the rules of `memory.importance`. Emotion is in the words
(`memory.emotion`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from commonplace.memory.emotion import feeler
from commonplace.memory.importance import BASE, HIGHEST, RuleRater
from commonplace.minds.notes import Bearing
from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import RateInput, RateOutput, TextRating
from commonplace.world.happenings import (
    NOTHING_KNOWN,
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Hour,
    ISaid,
    Left,
    Missing,
    Planned,
    Read,
    Said,
    Seen,
    Sky,
    Talked,
    Tried,
    Voiced,
    Walked,
    is_finished,
)

MINE, DEAR = 2, 1
"""What an event, a thing or somebody's coming gains where it is one's own, or that of somebody dear."""
UNCONCERNED = 2
"""What a circumstance of somebody or something that is neither loses; one's own gains 1."""
TOLD, OVERHEARD = 1, 2
"""How much less than seeing it it weighs to be told of it, and to hear others tell of it."""
HABIT = 2
"""After how many times within `LATELY` what happens weighs half."""

_SMALL_TALK = frozenset({"greet", "farewell", "weather"})
_MOVING = frozenset(
    {
        "apologise", "reproach", "forgive", "make_up", "defy", "snub", "complain", "rejoice", "comfort", "invite",
        "tell.secret", "tell.loss", "tell.concern", "tell.feeling", "tell.fond", "promise", "keep",
    }
)  # fmt: skip
"""Acts of lines that touch the two, by verb and kind or by verb."""
_SKIES = {"storm": 4, "snow": 3, "rain": 2}
_LESSONS = {"kept": 5, "broke": 5, "exchange": 4, "once": 4}


def weight(happening: Happening, bearing: Bearing) -> int | None:
    """Returns the weight, 1–10; None if only the words can tell: an author's memory, a model's thought, a person's
    sentence."""
    found = _first(happening, bearing)
    if found is None or isinstance(happening, ISaid):  # nobody gets used to telling what is known
        return found
    return habituated(found, bearing.times)


def _first(happening: Happening, bearing: Bearing) -> int | None:
    """Returns the weight of something that happens for the first time."""
    rule, fixed = _RULES.get(type(happening)), _FIXED.get(type(happening))
    return rule(happening, bearing) if rule else fixed


def habituated(importance: float, times: int) -> int:
    """Returns the weight of something that happened so many times lately: its full weight the first time, in the end
    1."""
    return 1 + round(min(HIGHEST, max(1, importance)) - 1) * HABIT // (HABIT + times)


def start(happening: Happening) -> int:
    """Returns the weight with which a happening begins whose words alone tell."""
    return _STARTS.get(type(happening), BASE)


_STARTS: Mapping[type[Happening], int] = {Befell: 5, Read: 5, Concluded: 5, ISaid: 1}


def _concern(bearing: Bearing) -> int:
    return MINE if bearing.mine else DEAR if bearing.dear else 0


def _of_news(bearing: Bearing) -> int:
    """Returns the weight of noticing a circumstance."""
    return bearing.weight + (1 if bearing.mine else 0 if bearing.dear else -UNCONCERNED)


def _befell(befell: Befell, bearing: Bearing) -> int | None:
    if bearing.weight:
        return _of_news(bearing)
    if befell.far:
        return 2
    return 4 + bearing.mine if befell.event else None


def _read(_: Read, bearing: Bearing) -> int | None:
    return _of_news(bearing) - TOLD if bearing.weight else None


def is_moving(act: str) -> bool:
    """Tells whether a line with this act touches the two who talk."""
    return act in _MOVING or act.partition(".")[0] in _MOVING


def _said(said: Said, bearing: Bearing) -> int | None:
    news = _of_news(bearing) - (TOLD if said.to_me else OVERHEARD) if bearing.weight else 0
    if not said.to_me:
        return max(news, 4 if bearing.mine else 1)
    if not said.act:
        return news or None
    asked = said.act.partition(".")[0] == "ask"
    return max(news, 2 if asked or said.act in _SMALL_TALK else 4 if is_moving(said.act) else 3)


def _i_said(said: ISaid, bearing: Bearing) -> int | None:
    if bearing.weight or is_moving(said.act):
        return 3
    return None if not said.act else 2 if said.act.startswith("tell") else 1


def _planned(planned: Planned, bearing: Bearing) -> int:
    return 1 if not planned.decided else 4 if bearing.weight else 2


def _changed(changed: Changed, bearing: Bearing) -> int:
    """Returns the weight of a changed thing. One that somebody uses says nothing: a cat that is stroked, a shutter that
    goes up. One that has to be mended does, and so does long work."""
    if bearing.spoilt:
        return 3 + _concern(bearing)
    if not changed.progress:
        return 2 if changed.seen else 1
    return 5 if is_finished(changed.progress) else 2


def _did(did: Did, bearing: Bearing) -> int:
    if is_finished(did.progress) or bearing.occasion:
        return 6
    return 3 if did.progress else 1


def _sky(sky: Sky, _: Bearing) -> int:
    return _SKIES.get(sky.sky, 1)


def _concluded(concluded: Concluded, _: Bearing) -> int | None:
    return _LESSONS.get(concluded.kind, 3) if concluded.kind else None


def _missing(_: Missing, bearing: Bearing) -> int:
    return 4 + _concern(bearing)


def _failed(failed: Failed, bearing: Bearing) -> int:
    """Returns the weight of a failure: a thing that does not work is common, a closed way to one's own place is not."""
    return 3 + (bearing.mine and not failed.object)


def _seen(_: Seen, bearing: Bearing) -> int:
    return 3 if bearing.occasion else 2 if bearing.mine else 1


def _moved(moved: Came | Left, bearing: Bearing) -> int:
    """Returns the weight of somebody's coming or going; it is not routine if they join or leave the world."""
    return 1 if moved.other else 4 + _concern(bearing)


_FIXED: Mapping[type[Happening], int] = {Voiced: 8, Absent: 3, Tried: 2, Talked: 1, Hour: 1, Walked: 1}
_RULES: Mapping[type[Happening], Callable[[Any, Bearing], int | None]] = {
    Befell: _befell,
    Read: _read,
    Said: _said,
    ISaid: _i_said,
    Planned: _planned,
    Changed: _changed,
    Did: _did,
    Seen: _seen,
    Sky: _sky,
    Came: _moved,
    Left: _moved,
    Concluded: _concluded,
    Missing: _missing,
    Failed: _failed,
}


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
