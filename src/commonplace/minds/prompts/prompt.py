"""A prompt: a question put into words, with the shape its answer must have.

Lines of the scenario's author show how a character speaks. They are chosen once, so that a prompt begins the same all
day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from typing import Any, Literal

from commonplace.character.fact import carried
from commonplace.languages import phrases
from commonplace.scenario.model import CharacterPart, MemoryPart
from commonplace.scenario.scenario import Scenario
from commonplace.world.tree import Node

SMALL = "small/"
"""Before the name of a template of the small form."""
SMALL_PARTS = (f"{SMALL}persona.txt", f"{SMALL}parts.txt")
PARTS = ("rules.txt", "persona.txt", "parts.txt", "plan_parts.txt", "again.txt", *SMALL_PARTS)
"""Templates that tasks share: `parts.txt` holds macros, `again.txt` asks again. Every other one belongs to a task."""


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent to a model. What changes least comes first, so that servers can reuse what they have read."""

    task: str
    messages: tuple[ChatMessage, ...]
    schema: Mapping[str, Any]
    """JSON Schema of the answer: closed objects without `$ref`, the same for every question of the task. Empty in the
    small form."""
    max_tokens: int
    temperature: float
    memories: int = 0
    """How many retrieved memories it shows: leaving them out shortens the prompt."""
    citable: frozenset[int] = frozenset()
    """Ids of the memories it shows, in whatever place: an answer may cite these."""
    small: bool = False
    """Whether it is in the small form: there is no schema, and the answer is plain words."""
    letters: str = ""
    """In the small form, the letters of a choice; empty for an answer in words."""

    @property
    def text(self) -> str:
        """Returns the whole prompt, for people."""
        return "\n\n".join(f"[{message.role}]\n{message.text}" for message in self.messages)


class Unusable(ValueError):
    """An answer that cannot be used. The message says what is wrong, to be quoted when it is asked for again."""

    def __init__(self, what: str, kind: str, **values: object) -> None:
        """Makes an error that says `what`, in English; `values` go into its fields in braces. `kind` is one word to
        count it by: `json`, `schema`, `range`, `unknown_id`, `empty`, `language`, `leak` …"""
        super().__init__(what.format(**values) if values else what)
        self.what, self.values = what, values
        self.kind = kind

    def told(self, language: str) -> str:
        """Returns the complaint in the language of the prompt."""
        words = in_language(self.what, language)
        return words.format(**self.values) if self.values else words


def in_language(what: str, language: str) -> str:
    """Returns a complaint as a prompt quotes it; one without a translation does not change."""
    return phrases(language, "complaints").get(what, what)


# The stable part of a world as every prompt tells it.
#
# A scenario's summary is left out: it tells readers what is to come, and a character knows only what it remembers.


Named = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PromptSetting:
    """The names that prompts use."""

    title: str
    places: Named
    """(id, name) of the areas everybody knows."""
    private: Named = ()
    """(id, name) of all other areas."""
    people: Named = ()
    """(full name, short name) of the characters: memories are told with short names."""
    ages: tuple[tuple[str, int], ...] = ()
    """(id, age) of the characters."""
    voices: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Character → lines of its author that show how it speaks; see `voices_of`."""
    acquaintances: Mapping[str, Named] = field(default_factory=dict[str, Named])
    """Character → (short name, label) of those it knows from before."""

    @property
    def names(self) -> Mapping[str, str]:
        """Returns area id → name."""
        return dict((*self.places, *self.private))


def setting_of(scenario: Scenario) -> PromptSetting:
    """Returns the setting of a compiled scenario."""
    nodes = scenario.geography.nodes
    known = [nodes[area] for area in scenario.geography.destinations if nodes[area].parent_id or _is_place(nodes, area)]
    return PromptSetting(
        title=nodes[scenario.geography.root].name,
        places=tuple((node.id, node.name) for node in known if node.public),
        private=tuple((node.id, node.name) for node in known if not node.public),
        people=tuple((persona.name, persona.called) for persona in scenario.personas.values()),
        ages=tuple((persona.id, persona.age) for persona in scenario.personas.values()),
        voices=voices_of(scenario),
        acquaintances=acquaintances_of(scenario),
    )


def _is_place(nodes: Mapping[str, Node], root: str) -> bool:
    """Tells whether characters can be at the root, such as a single room or a square with a fountain, and it is not
    only the name of a town."""
    children = [nodes[child].type for child in nodes[root].children]
    return "object" in children or "area" not in children


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
