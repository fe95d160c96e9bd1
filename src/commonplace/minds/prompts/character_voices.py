"""How characters speak: lines of the scenario's author, chosen once, so that a prompt begins the same all day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest

from commonplace.character.fact import carried
from commonplace.scenario.model import CharacterPart, MemoryPart
from commonplace.scenario.scenario import Scenario

MOST_LINES = 10
LONGEST_OWN = 180
"""Characters of a line; a longer one is not shown."""


def voices_of(scenario: Scenario) -> Mapping[str, tuple[str, ...]]:
    """Returns character → its own lines: one of each starting memory, the weightiest first, then a second one of each.

    A line that waits for a moment or a hearer is left out, and so is one that carries news.
    """
    return {one.id: tuple(islice(_lines(scenario, one), MOST_LINES)) for one in scenario.part.characters}


def acquaintances_of(scenario: Scenario) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Returns character → (short name, label) of the people it knows from before, in the author's order."""
    called = {id: persona.called for id, persona in scenario.personas.items()}
    return {
        one.id: tuple((called[other.to], other.label) for other in one.relations if other.label and other.to in called)
        for one in scenario.part.characters
    }


def _lines(scenario: Scenario, one: CharacterPart) -> Iterator[str]:
    memories = sorted(one.memories, key=lambda memory: -memory.importance)
    rounds = zip_longest(*(_free(scenario, memory) for memory in memories), fillvalue="")
    yield from dict.fromkeys(line for line in chain.from_iterable(rounds) if line)


def _free(scenario: Scenario, memory: MemoryPart) -> Iterable[str]:
    """Yields the lines that may be said at any time, to anybody."""
    for line in memory.lines:
        terms = scenario.terms.get(line)
        if (terms is None or terms.is_free) and len(line) <= LONGEST_OWN and not carried(scenario.facts, line):
            yield line
