"""Facts without a model: each sentence that states something is one, as it stands."""

from __future__ import annotations

from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks.facts import MOST_FACTS, FactsInput, FactsOutput, StatedFact
from commonplace.text import sentences, words

LEAST_WORDS = 3
"""Words of a sentence that states something."""


def facts(given: FactsInput, dice: Dice) -> FactsOutput:  # noqa: ARG001 – one signature for all tasks
    """Returns the sentences of the lines that are no questions and have some words."""
    stated = [
        StatedFact(fact=sentence, line=number, words=sentence)
        for number, line in enumerate(given.lines, start=1)
        for sentence in sentences(line.text)
        if not sentence.rstrip("\"'”’ ").endswith(("?", "？")) and len(words(sentence)) >= LEAST_WORDS
    ]
    return FactsOutput(facts=tuple(stated[:MOST_FACTS]))
