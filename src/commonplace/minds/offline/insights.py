"""Insights: three to five conclusions over what was recalled, none a restatement of what it cites."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.minds.notes import Person, Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.grammar.grammar import Grammar, grammar
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.patterns import Pattern, patterns
from commonplace.minds.tasks import Insight, InsightsInput, InsightsOutput

MOST = 5
MOST_ABOUT_ONE = 2
OVERLAP = 0.5
"""Share of an insight's telling words that one cited memory may hold."""
SAME = 0.7
"""Share of its telling words that makes it a repetition of an earlier one."""


def insights(given: InsightsInput, dice: Dice) -> InsightsOutput:
    """At most five, each of another kind or about somebody else."""
    rules = grammar(given.who.language)
    memories = _evidence(given)
    people: tuple[Person, ...] = (*given.known, *given.situation.people)
    found: list[Insight] = []
    for pattern in patterns(given.who, memories, people, rules):
        insight = _worded(pattern, rules, dice)
        if insight is None or sum(1 for one in found if one.about == insight.about) == MOST_ABOUT_ONE:
            continue
        if _is_new(insight, memories, [*given.earlier, *(one.text for one in found)]):
            found.append(insight)
        if len(found) == MOST:
            break
    return InsightsOutput(insights=tuple(found))


def _evidence(given: InsightsInput) -> list[Recalled]:
    """Every memory recalled for any question, once, reflections left out."""
    seen: dict[int, Recalled] = {}
    for evidence in given.evidence:
        for memory in evidence.recalled:
            if memory.frame.get("what") not in {"insight", "plan"} and memory.kind != "reflection":
                seen.setdefault(memory.id, memory)
    return [seen[name] for name in sorted(seen)]


def _worded(pattern: Pattern, rules: Grammar, dice: Dice) -> Insight | None:
    text = rules.say(f"insight.{pattern.kind}", "", pattern.slots, dice.with_(*pattern.ids))
    if not text:
        return None
    frame = {"kind": pattern.kind}
    addressed = rules.say(f"insight.{pattern.kind}.you", "", pattern.slots, dice.with_(*pattern.ids))
    wish = rules.say(f"wish.{pattern.kind}", "", pattern.slots, dice)
    for key, value in (("you", english.polished(addressed)), ("wish", wish), ("place", pattern.place)):
        if value:
            frame[key] = value
    return Insight(text=english.polished(text), because=pattern.ids, about=pattern.about, frame=frame)


def _is_new(insight: Insight, memories: Sequence[Recalled], earlier: Sequence[str]) -> bool:
    own = content(insight.text)
    if not own or len(insight.because) < 2:
        return False
    cited = [memory for memory in memories if memory.id in insight.because]
    if any(len(own & content(memory.text)) > OVERLAP * len(own) for memory in cited):
        return False
    return not any(len(own & content(text)) >= SAME * len(own) for text in earlier)
