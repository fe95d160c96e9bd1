"""Importance and emotion of new memories: where a sentence starts from by its kind, and what its words add.

The words and the feelings are those of `memory.importance` and `memory.emotion`. Most of what a character perceives is
routine and starts at 1; being spoken to starts at 3 and an event at 6, so that a day of 150–250 memories brings one or
two reflections.
"""

from __future__ import annotations

import re
from functools import lru_cache

from commonplace.memory.emotion import feeler
from commonplace.memory.importance import RuleRater
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.tasks import RateInput, RateOutput, Rating
from commonplace.text import words

ROUTINE, NOTED, SPOKEN_TO, MOVED, THOUGHT, EVENT, VOICE = 1, 2, 3, 4, 5, 6, 8
OCCASION = 6
"""Importance of having been somewhere that is not an everyday thing; of having seen others there, three less."""


def rate(given: RateInput, dice: Dice) -> RateOutput:  # noqa: ARG001 – rating draws nothing
    """One rating per text, in order."""
    who, goal = given.who, " ".join(given.who.goals)
    return RateOutput(ratings=tuple(_rating(text, who.name, who.called, goal, who.language) for text in given.texts))


@lru_cache(maxsize=4096)
def _rating(text: str, name: str, called: str, goal: str, language: str) -> Rating:
    base, felt = _base(text, name, called, language), feeler(language)(text)
    # What people do all day is routine whatever its words: killing time is not murder. A thing that breaks is not.
    words_count = base > ROUTINE or _is_of_a_thing(text, language)
    importance = _rater(language, goal, base)(text) if words_count else base
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


_IN_FIRST_PERSON = re.compile(r"\b(I|my|me|I'd|I'm|I've|our|us)\b")
_BEGINNINGS = (
    (("It is morning", "It is midday", "It is afternoon", "It is night", "Evening falls", "Dawn comes"), ROUTINE),
    (("A storm",), EVENT),
    (("It begins to",), SPOKEN_TO),
    (("Fog comes", "Clouds cover", "The sky", "The rain stops"), NOTED),
)


def _is_of_a_thing(text: str, language: str) -> bool:
    return text.startswith("The ") if language != "ko" else bool(_KO_THING.match(text)) and not _KO_DOING.search(text)


def _base(text: str, name: str, called: str, language: str) -> int:
    """Where a sentence starts from by its kind, as the simulator words each kind."""
    return _korean_base(text, name, called) if language == "ko" else _english_base(text, name, called)


def _english_base(text: str, name: str, called: str) -> int:
    if "“" in text or ': "' in text:
        return ROUTINE if text.startswith(f"{name} said") or f"says to {name}" not in text else SPOKEN_TO
    if _IN_FIRST_PERSON.search(text):
        return THOUGHT
    for beginnings, importance in _BEGINNINGS:
        if text.startswith(beginnings):
            return importance
    if " has a thought that will not go away" in text:
        return VOICE
    is_own = text.startswith(f"{name} ")
    base = _own(text) if is_own else _others(text, called)
    if base == ROUTINE and not grammar("en").words("occasion").isdisjoint(words(text)):
        return OCCASION if is_own else OCCASION - 3
    return base


_KO_FIRST_PERSON = re.compile(
    r"(?<![가-힣])(?:나는|내가|나를|나도|나에게|내|우리) |(?:모양이다|가 보다|싶다|것 같다|겠다|지도 모른다)\.$"
)
_KO_SKIES = (
    (re.compile(r"(?:아침이다|한낮이다|오후다|밤이다|새벽이 온다|저녁이 내린다)\.$"), ROUTINE),
    (re.compile(r"폭풍우가 몰아친다\.$"), EVENT),
    (re.compile(r"^(?:비가|눈이) 내리기 시작한다\.$"), SPOKEN_TO),
    (re.compile(r"(?:안개가 내려앉는다|^구름이 하늘을 덮는다|^하늘이 갠다|^비가 그친다)\.$"), NOTED),
)
_KO_DOING = re.compile(r"(?:중이다|자고 있다|에서 들어온다|쪽으로 떠난다|말을 건다|하지만, .+)\.$")
_KO_THING = re.compile(r"^(?:[^ .]+ ){0,3}[^ .]+(?:은|는|이|가) (?:[^ .]+ ){0,4}[^ .]+다\.$")


def _korean_base(text: str, name: str, called: str) -> int:
    """As `_base`, for the sentences of a Korean town."""
    if "“" in text:
        return SPOKEN_TO if f"{name}에게 말한다" in text else ROUTINE
    if "떨쳐지지 않는 생각이 있다" in text:
        return VOICE
    for pattern, importance in _KO_SKIES:
        if pattern.search(text):
            return importance
    if _KO_FIRST_PERSON.search(text):
        return THOUGHT
    is_own = text.startswith((f"{name}은 ", f"{name}는 "))
    if is_own:
        base = THOUGHT if "기로 마음먹는다" in text else SPOKEN_TO if "지만, " in text else ROUTINE
    elif re.search(r"에 왔다\.$|은 이제 .+에 없다\.$|는 이제 .+에 없다\.$", text):
        base = MOVED
    elif called and called in text:
        base = NOTED
    else:
        base = ROUTINE if _KO_DOING.search(text) or re.search(r"(?:있다|없다)\.$", text) else EVENT
    if base == ROUTINE and grammar("ko").has("occasion", text):
        return OCCASION if is_own else OCCASION - 3
    return base


def _own(text: str) -> int:
    """What I did, tried or mean to do."""
    if " decides on " in text:
        return THOUGHT
    return (
        SPOKEN_TO if any(one in text for one in (" tried to ", " looked for ", " reached for ", " wanted to ")) else 1
    )


LONGEST_NAME = 5
"""Words of a person's or a thing's name, article included; with more before its verb, a sentence is an event."""
_QUIET = (" is ", " comes in from ", " leaves for ", " are ", " is starting a conversation ", " tries to ")


def _others(text: str, called: str) -> int:
    """What somebody else does, what a thing is like; any other sentence is an event."""
    if " has come to " in text or " is gone from " in text:
        return MOVED
    if called and called in text:
        return NOTED
    heads = [text.partition(quiet)[0] for quiet in _QUIET if quiet in text]
    return ROUTINE if any(len(head.split()) <= LONGEST_NAME for head in heads) else EVENT
