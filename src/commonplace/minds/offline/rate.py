"""Importance and emotion of new memories: rules over the kind of sentence and its words.

Most of what a character perceives is routine (1–2); being spoken to is 3–4, news and promises 6–7, calamities 7–9, so
that a day of 150–250 memories brings one or two reflections.
"""

from __future__ import annotations

import re
from functools import lru_cache

from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.tasks import RateInput, RateOutput, Rating
from commonplace.text import words

EVENT = -5
"""What an event starts from; negative, because the weight of its words comes on top."""
OCCASION = 6
"""Importance of having been somewhere that is not an everyday thing; of having seen others there, three less."""
_VALENCE = (("glad", 40), ("sad", -40), ("afraid", -45), ("angry", -50))
_AROUSAL = {"glad": 30, "sad": 15, "afraid": 55, "angry": 60}


def rate(given: RateInput, dice: Dice) -> RateOutput:  # noqa: ARG001 – rating draws nothing
    """One rating per text, in order."""
    who = given.who
    return RateOutput(
        ratings=tuple(_rating(text, who.name, who.called, who.goals, who.language) for text in given.texts)
    )


@lru_cache(maxsize=16384)
def _rating(text: str, name: str, called: str, goals: tuple[str, ...], language: str) -> Rating:
    rules = grammar(language)
    spoken = frozenset(words(text))
    felt = [(feeling, sign) for feeling, sign in _VALENCE if spoken & rules.words(feeling)]
    importance = _base(text, name, called)
    if importance == 1 and not _has_quote(text) and spoken & rules.words("occasion"):
        importance = OCCASION if text.startswith(f"{name} ") else OCCASION - 3
    elif importance == 1 and not _has_quote(text) and len(spoken & rules.words("grave")) > 1:
        importance = EVENT
    if _has_quote(text) or importance < 0:
        most = 4 if importance in {3, EVENT} else 2
        importance = abs(importance) + min(most, _weight(spoken, rules.words("promise"), rules.words("grave")))
    elif spoken & rules.words("faulty"):
        importance += 2
    if importance > 2 and any(spoken & _goal_words(goal) for goal in goals):
        importance += 1
    return Rating(
        importance=max(1, min(10, importance)),
        valence=max(-100, min(100, sum(sign for _, sign in felt))),
        arousal=min(100, sum(_AROUSAL[feeling] for feeling, _ in felt)),
        keywords=tuple(sorted(word for feeling, _ in felt for word in spoken & rules.words(feeling)))[:5],
    )


@lru_cache(maxsize=256)
def _goal_words(goal: str) -> frozenset[str]:
    return frozenset(word for word in words(goal) if len(word) > 4)


def _weight(spoken: frozenset[str], promise: frozenset[str], grave: frozenset[str]) -> int:
    """What the words add: promises and news up to 3, calamities up to 4."""
    return max(min(3, 2 * len(spoken & promise)), min(4, 2 * len(spoken & grave)))


def _has_quote(text: str) -> bool:
    return "“" in text or ': "' in text


_IN_FIRST_PERSON = re.compile(r"\b(I|my|me|I'd|I'm|I've|our|us)\b")


def _base(text: str, name: str, called: str) -> int:
    """Where a sentence starts from by its kind; negative where the weight of its words is added."""
    if _has_quote(text):
        return 1 if text.startswith(f"{name} said") or f"says to {name}" not in text else 3
    if _IN_FIRST_PERSON.search(text):
        return 5
    for beginnings, importance in _BEGINNINGS:
        if text.startswith(beginnings):
            return importance
    if " has a thought that will not go away" in text:
        return 8
    return _own(text) if text.startswith(f"{name} ") else _others(text, called)


_BEGINNINGS = (
    (("It is morning", "It is midday", "It is afternoon", "It is night", "Evening falls", "Dawn comes"), 1),
    (("A storm",), 5),
    (("It begins to",), 3),
    (("Fog comes", "Clouds cover", "The sky", "The rain stops"), 2),
)


def _own(text: str) -> int:
    """What I did, tried or mean to do."""
    if " decides on " in text:
        return 5
    if any(word in text for word in (" tried to ", " looked for ", " reached for ", " wanted to ")):
        return 3
    return 1


_QUIET = (" is ", " comes in from ", " leaves for ", " are ")


def _others(text: str, called: str) -> int:
    """What somebody else does, what a thing is like; any other sentence is an event."""
    if " has come to " in text or " is gone from " in text:
        return 4
    if called and called in text:
        return 2
    if any(quiet in text for quiet in _QUIET):
        return 1
    return 1 if " is starting a conversation " in text or " tries to " in text else EVENT
