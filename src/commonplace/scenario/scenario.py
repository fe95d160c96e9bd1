"""A compiled scenario: the values a run starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from commonplace.character.fact import Fact
from commonplace.character.persona import Persona
from commonplace.character.state import CharacterState
from commonplace.clock import Clock
from commonplace.memory import policies
from commonplace.memory.analyser import Analyser, shared_analyser
from commonplace.memory.embedding import Embedder, GivenVectors, default_embedder
from commonplace.memory.policies import Policy
from commonplace.scenario.model import CognitionPart, MemoryPart, ScenarioPart
from commonplace.scenario.session import Session
from commonplace.scenario.telling import Terms
from commonplace.world.circumstances import Circumstance, Circumstances, Kinds
from commonplace.world.geography import Geography
from commonplace.world.script import NONE, Occasions, Scripted
from commonplace.world.state import World
from commonplace.world.weather import Climate


@dataclass(frozen=True, slots=True)
class Tell:
    """What there is to tell of an occasion."""

    lines: tuple[str, ...]
    topic: str = ""
    sort: str = ""
    at_once: tuple[str, ...] = ()
    """What is said of it there and then."""
    mine: tuple[str, ...] = ()
    """What somebody of whom it is so says of it."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Made by `scenario.compiling.compiled`; everything a run needs except seed, inputs and answers."""

    part: ScenarioPart
    """The file as read."""
    text: str
    """Its bytes as text: kept in the manifest, so that a run needs nothing else."""
    clock: Clock
    geography: Geography
    personas: Mapping[str, Persona]
    """By id, sorted."""
    opening: World
    """Tick 0."""
    states: Mapping[str, CharacterState]
    """Beliefs and relations at tick 0, by character."""
    memories: Mapping[str, tuple[MemoryPart, ...]]
    """Starting memories by character; seed facts' originators hold a memory of the fact's text here too."""
    facts: tuple[Fact, ...]
    script: tuple[Scripted, ...]
    climate: Climate
    kinds: Kinds
    """Of circumstances."""
    circumstances: Circumstances = field(default_factory=dict[str, Circumstance])
    """What is so in the run, and was lately: its facts of the same ids."""
    occasions: Occasions = NONE
    tells: Mapping[str, Tell] = field(default_factory=dict[str, Tell])
    """How those who noticed an occasion tell of it, by its id."""
    replies: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """What may be said to a sentence of an author, by the sentence."""
    answers: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """What the one who told a sentence says to a question about it, by the sentence and the question."""
    terms: Mapping[str, Terms] = field(default_factory=dict[str, Terms])
    """When a line or a reply of an author may be said, by its words; left out where that is always and sets no mark."""
    rules: tuple[str, ...] = ()
    """What may be said to any line when its terms hold, by the scenario's rules."""
    session: Session | None = None
    """What a panel of this run is about and remembers of earlier ones."""

    def __repr__(self) -> str:
        """Returns one short line: the fields are hundreds of kilobytes."""
        return f"<Scenario {self.part.name}: {len(self.personas)} characters, {len(self.geography.edges)} areas>"

    def fact(self, fact_id: str) -> Fact | None:
        """Returns the seed fact of an id, or what is so as one."""
        return next((fact for fact in self.facts if fact.id == fact_id), None)

    @property
    def cognition(self) -> CognitionPart:
        """Settings of the characters' cognition."""
        return self.part.cognition

    @property
    def policy(self) -> Policy:
        """How its characters retrieve."""
        name = self.cognition.policy
        own = self.part.policies
        return policies.from_mapping(name, own[name]) if name in own else policies.by_name(name)

    @property
    def embedder(self) -> Embedder:
        """The embedder of its characters' memories; vectors of a model come as answers."""
        model = self.cognition.embedder
        return GivenVectors(f"{model.model}-{model.dimensions}", model.dimensions) if model else default_embedder()

    @property
    def analyser(self) -> Analyser:
        """The analyser that finds the words of its characters' memories. Raises UsageError where its package is
        missing."""
        return shared_analyser(self.language, self.cognition.analyser)

    @property
    def language(self) -> str:
        """`en` or `ko`."""
        return self.part.language


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MOST_DERIVED = 1024


def derived(
    make: Callable[Concatenate[Scenario, Arguments], Result],
) -> Callable[Concatenate[Scenario, Arguments], Result]:
    """Keeps the latest results of a function of a scenario and of hashable values: a scenario never changes."""
    kept: dict[tuple[object, ...], tuple[Scenario, Result]] = {}

    @wraps(make)
    def known(scenario: Scenario, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        key = (id(scenario), *args)
        found = kept.get(key)
        if found is None or found[0] is not scenario:
            if len(kept) >= MOST_DERIVED:
                kept.clear()
            found = kept[key] = scenario, make(scenario, *args, **kwargs)
        return found[1]

    return known
