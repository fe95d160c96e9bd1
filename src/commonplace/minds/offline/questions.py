"""Questions worth reflecting on: about the people, things and subjects that fill the recent memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.tasks import QuestionsInput, QuestionsOutput

MOST = 3


def questions(given: QuestionsInput, dice: Dice) -> QuestionsOutput:
    """Three: about the two subjects that weigh most, and about oneself."""
    rules = grammar(given.who.language)
    weights = _subjects(given)
    asked: list[str] = []
    for (kind, subject), _ in weights.most_common(MOST - 1):
        text = rules.say(
            f"question.{kind}", "", {"x": subject, "thing": subject, "topic": subject, "place": subject}, dice
        )
        asked.append(english.polished(text))
    own = dice.shuffled(rules.every("question.own"), "own")
    asked.extend(own[: MOST - len(asked)])
    return QuestionsOutput(questions=tuple(asked[:MOST]))


def _subjects(given: QuestionsInput) -> Counter[tuple[str, str]]:
    """Importance added up by subject; insertion order breaks ties, so oldest first."""
    weights: Counter[tuple[str, str]] = Counter()
    for memory in given.recent:
        for subject in _of(memory, given.who.id):
            weights[subject] += memory.importance
    return weights


def _of(memory: Recalled, me: str) -> Iterable[tuple[str, str]]:
    frame = memory.frame
    if frame.get("who") not in {None, "", me} and frame.get("called"):
        yield "person", frame["called"]
    if frame.get("what") in {"thing", "refused", "absent"} and frame.get("object_name"):
        yield "thing", english.named(frame["object_name"])
    if frame.get("what") == "said":
        topic = speech.topic(frame.get("quote", ""))
        if topic.startswith("the "):
            yield "topic", topic
    if frame.get("what") in {"doing", "arrived"} and frame.get("place_name"):
        yield "place", english.named(frame["place_name"])
