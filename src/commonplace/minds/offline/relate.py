"""After a talk: how much warmer or cooler one feels, and what one would say of the other."""

from __future__ import annotations

from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.hear import Heard, heard
from commonplace.minds.tasks import RelateInput, RelateOutput

_FEELING = {
    "thanks": 3,
    "kind": 3,
    "joy": 2,
    "intend": 1,
    "trouble": 1,
    "apology": 1,
    "hello": 0,
    "weather": 0,
    "bye": 0,
}


def relate(given: RelateInput, dice: Dice) -> RelateOutput:
    """The change of warmth and a sentence or two about the other, resting on what they said."""
    rules = grammar(given.who.language)
    theirs = [heard(line.text, given.who.language) for line in given.lines if line.speaker == given.other.id]
    change = _change(given, theirs, rules)
    quotes = {line.text for line in given.lines}
    because = tuple(one.id for one in given.recalled if one.frame.get("quote", "") in quotes and one.frame.get("quote"))
    summary = _summary(given, theirs, rules, dice, given.other.warmth + change)
    return RelateOutput(warmth_change=change, summary=summary[:300], because=because[:8])


def _change(given: RelateInput, theirs: list[Heard], rules: Grammar) -> int:
    """Tone, length and common ground; the nearer two are already, the less one talk adds."""
    cold = frozenset(english.polished(line) for line in (*rules.every("cold"),))
    snubs = sum(1 for line in given.lines if line.speaker == given.other.id and line.text in cold)
    tone = sum(_FEELING.get(line.act, 0) for line in theirs)
    asked = sum(1 for line in theirs if line.asks)
    gain = min(9, 1 + tone + asked // 2 + (len(given.lines) >= 4)) if theirs else 0
    warmth = given.other.warmth
    if snubs:
        return max(-20, -4 * snubs)
    room = max(0, 100 - max(0, warmth))
    return min(20, (gain * room + 50) // 100)


def _topics(theirs: list[Heard]) -> str:
    names = list(
        dict.fromkeys(line.topic for line in theirs if line.topic and line.topic.startswith(("the ", "your ")))
    )
    names = [name for name in names if not name.startswith("your ")][:2] or names[:1]
    return " and ".join(names)


def _summary(given: RelateInput, theirs: list[Heard], rules: Grammar, dice: Dice, warmth: int) -> str:
    other = given.other
    pronoun = other.pronoun if other.pronoun in speech.OBJECT else "they"
    what = other.work or other.label
    first = f"{other.called}, {_article(what)}." if what else f"{other.called}."
    talked = rules.say("relate.topics", "", {"topics": _turned(_topics(theirs), pronoun)}, dice)
    tone = "fond" if warmth >= 50 else "warm" if warmth >= 15 else "cool" if warmth > -20 else "cold"
    felt = rules.say(f"relate.{tone}", "", {"him": speech.OBJECT[pronoun]}, dice)
    return english.polished(f"{first} {talked} {felt}")


def _turned(topics: str, pronoun: str) -> str:
    """What was `your roof` between the two is `his roof` in a summary."""
    return topics.replace("your ", f"{speech.POSSESSIVE[pronoun]} ")


def _article(what: str) -> str:
    """`repairer` → `the repairer`; what has a determiner already keeps it."""
    return what if what.split(" ", 1)[0] in {"the", "a", "an", "my", "our"} else f"the {what}"
