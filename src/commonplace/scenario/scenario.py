"""A compiled scenario: the values a run starts from, and the session that a run of a panel has with it.

A session says what is asked, when it begins, and the past answers that its personas remember. It is resolved when the
run is made and kept in its manifest, so that the run does not depend on the store afterwards: resume, fork, verify and
replay give the same history whatever becomes of the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from commonplace.character.fact import Fact
from commonplace.character.persona import Persona
from commonplace.character.state import CharacterState
from commonplace.clock import Clock
from commonplace.memory import policies
from commonplace.memory.analyser import Analyser, analyser_of_run
from commonplace.memory.embedding import Embedder, GivenVectors, default_embedder
from commonplace.memory.policies import Policy
from commonplace.scenario.model import CognitionPart, Id, MemoryPart, ScenarioPart, Words
from commonplace.scenario.telling import Terms
from commonplace.world.circumstances import Circumstance, Circumstances, Kinds
from commonplace.world.geography import Geography
from commonplace.world.script import NONE, Occasions, Scripted
from commonplace.world.state import World
from commonplace.world.weather import Climate


class PastAnswer(BaseModel):
    """An answer that a persona gave in an earlier run, from the store of coordinates."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    memory_id: str
    """In the store."""
    session_id: str = ""
    text: Words
    prompt: str = ""
    """What the panel was asked then."""
    at: str
    """ISO, simulated time."""
    importance: float = Field(ge=0, le=1)
    """In the store, when this run was made: a person's rating counts."""
    user_rating: float | None = None
    rhythm_phase: str = ""
    valence: float = Field(default=0, ge=-1, le=1)
    arousal: float = Field(default=0, ge=0, le=1)
    confidence: float = Field(default=0, ge=0, le=1)
    keywords: tuple[str, ...] = ()


class RatingChange(BaseModel):
    """Something that a run does differently because of how earlier answers were rated."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    action: Literal["leave_out_examples", "revise_prompt", "reorder_persona_cycle"]
    persona: str
    """Whom it concerns; of an order, who begins."""
    mean: float = Field(ge=1, le=5)
    """Mean of the persona's ratings, in stars."""
    order: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    """Answers in the store that are no examples any more."""

    def as_json(self) -> dict[str, Any]:
        """Returns the change as the ledger has it."""
        details: dict[str, Any] = {"persona": self.persona, "mean_rating": self.mean}
        details |= {"new_order": list(self.order)} if self.order else {}
        details |= {"memory_ids": list(self.memories)} if self.memories else {}
        return {"trigger": "ratings", "action": self.action, "details": details}


class Session(BaseModel):
    """One run of a panel. JSON, as `Manifest.settings["session"]` has it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    prompt: Words
    start: str
    """ISO simulated time of tick 0: after everything that the store holds."""
    folder: str = ""
    """Folder of store and ledger as the person named it; empty for the one beside the run."""
    past: dict[Id, tuple[PastAnswer, ...]] = Field(default_factory=dict[str, tuple[PastAnswer, ...]])
    """Persona → what it remembers of earlier runs, oldest first."""
    changes: tuple[RatingChange, ...] = ()
    """What the ratings of earlier runs change in this one."""

    @property
    def order(self) -> tuple[str, ...]:
        """The order in which the personas begin; empty for that of the scenario."""
        return next((change.order for change in self.changes if change.order), ())

    def rating_below(self, persona: str) -> float | None:
        """Stars on average of a persona that is to answer differently; None for the others."""
        told = (change for change in self.changes if change.action == "revise_prompt")
        return next((change.mean for change in told if change.persona == persona), None)

    @model_serializer(mode="wrap")
    def _without_no_changes(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The names of sessions are made of this: those of runs without ratings stay what they were.
        written: dict[str, Any] = handler(self)
        return written if self.changes else {key: value for key, value in written.items() if key != "changes"}


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
        return self.policy_named(self.cognition.policy)

    def policy_named(self, name: str) -> Policy:
        """Returns a policy of its own, or a shipped one as runs have it. Raises UsageError."""
        own = self.part.policies
        if name in own:
            return policies.from_mapping(name, own[name], policies.IN_RUNS)
        return policies.by_name(name, policies.IN_RUNS)

    @property
    def embedder(self) -> Embedder:
        """The embedder of its characters' memories; vectors of a model come as answers."""
        model = self.cognition.embedder
        return GivenVectors(f"{model.model}-{model.dimensions}", model.dimensions) if model else default_embedder()

    @property
    def analyser(self) -> Analyser:
        """The analyser that finds the words of its characters' memories. Raises UsageError where its package is
        missing."""
        return analyser_of_run(self.language, self.cognition.analyser)

    @property
    def language(self) -> str:
        """`en` or `ko`."""
        return self.part.language


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
MOST_DERIVED = 1024
"""Results kept of a function; in a city, four for each character."""


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
            if len(kept) >= max(MOST_DERIVED, 4 * len(scenario.personas)):
                kept.clear()
            found = kept[key] = scenario, make(scenario, *args, **kwargs)
        return found[1]

    return known
