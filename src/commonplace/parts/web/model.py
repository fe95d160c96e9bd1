"""What the server sends and accepts. The types of the page are generated from these models.

Ids are those of the scenario. A tick is a whole number; `time` is its simulated moment in ISO format. Every text is
cleaned of control characters and is data: the page never reads it as markup.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from commonplace.api import DEFAULT_SEED
from commonplace.languages import LanguageName
from commonplace.memory.shapes import MemoryJSON, PartJSON
from commonplace.scenario.model import WayPart

Box = tuple[int, int, int, int]
"""Column, row, width, height."""
Tick = Annotated[int, Field(ge=0, le=10**9)]
RUN_NAME = r"[\w가-힣][\w가-힣.-]{0,99}"
RunName = Annotated[str, Field(pattern=f"^{RUN_NAME}$")]
"""The name of a run file in the runs folder, without `.run`."""
Sentence = Annotated[str, Field(min_length=1, max_length=2000)]


class Wire(BaseModel):
    """The base of all models: unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


# ── a run, as far as it does not change from tick to tick ────────────────────────────────────────────────────────────


class ScenarioCard(Wire):
    """A scenario a page may start."""

    name: str
    title: str
    summary: str
    language: LanguageName
    stage: str
    people: int
    seed: int
    """What a run of it has unless another one is asked for; so has `ticks`: a simulated day."""
    ticks: int


class RunCard(Wire):
    """A run in the library."""

    run: str
    title: str
    scenario: str
    language: LanguageName
    stage: str
    mind: str
    seed: int
    people: int
    last_tick: Tick
    final_tick: Tick
    """The tick the run was asked to end at."""
    time: str
    changed: str
    """When the file was last written, ISO, in UTC."""
    live: bool
    """Whether its ticks are being made, by this server or another process."""
    playing: bool
    problem: str = ""
    """Why it cannot be opened; empty for a sound run."""


class Area(Wire):
    """A place one can be in."""

    id: str
    name: str
    parent: str
    """Empty for the root."""
    outdoor: bool
    private: bool
    box: Box | None
    """On the scenario's character grid; none where the scenario gives none."""


class Thing(Wire):
    """An object, as the scenario places it."""

    id: str
    name: str
    kind: str
    area: str
    states: list[str]
    """All states of its kind; the first is the opening one."""
    portable: bool


class Character(Wire):
    """Who somebody is."""

    id: str
    name: str
    called: str
    age: int
    pronoun: Literal["she", "he", "they"]
    work: str
    traits: list[str]
    background: str
    goals: list[str]
    home: str
    look: str = ""
    """Hints for the figure, such as `red hair, long; green coat; apron`; empty: drawn from work, age and id."""


class SeedFact(Wire):
    """News whose way through the society is followed."""

    id: str
    text: str
    originators: list[str]
    place: str
    starts: str
    minutes: int


class Town(RunCard):
    """Everything a page needs before the first tick."""

    theme: Literal["hamlet", "neon"]
    start: str
    tick_minutes: int
    areas: list[Area]
    """Outermost first."""
    ways: list[WayPart]
    """Doors besides those between an area and the areas in it, and opening hours."""
    things: list[Thing]
    characters: list[Character]
    facts: list[SeedFact]
    policies: list[str]
    """Retrieval policies a question may be ranked by; the first is the run's own."""
    may: list[Literal["control", "inputs", "talk", "rate", "fork"]]
    """What can be done with the run here."""


# ── ticks ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class AgentState(Wire):
    """One character at the end of a tick."""

    agent_id: str
    position: str
    """Area id."""
    current_action: str
    current_plan_item: str
    """With its time: `07:00–08:00 running the noodle bar`; empty without a plan."""
    dialogue: str
    """What it said in this tick."""
    to: str
    """Whom it spoke to."""
    emoji: str
    asleep: bool
    path: list[str]
    """Area ids from the position to where it is walking, both included; empty for somebody who stays. While the
    character follows it, one area a crossing, later deltas leave the character out."""
    timestamp: str


class ObjectState(Wire):
    """One object at the end of a tick."""

    object_id: str
    state: str
    parent: str
    """Area id, or the id of the character that carries it."""


class EventLine(Wire):
    """An event worth reading, in words. The event itself, whole: `GET /api/runs/{run}/events`."""

    event_id: str
    tick: Tick
    time: str
    type: str
    category: Literal["talk", "moves", "plans", "world", "doing"]
    mark: str
    agent_id: str
    """Who caused it; empty if nobody did."""
    to: str
    place: str
    text: str
    """After the name of `agent_id`, or the whole sentence if that is empty."""
    facts: list[str]
    """Ids of seed facts it carries."""
    memories: list[int]
    """Ids of memories it rests on or makes, as the event names them."""


class CircumstanceState(Wire):
    """A circumstance that holds."""

    key: str
    """`burning.noodle-bar`."""
    of: str
    """Id of the character, place, object or fact; `-` for the whole town."""
    text: str
    emoji: str
    since: Tick
    until: Tick
    """The tick at whose end it ends by itself; 0 for never."""


class Weather(Wire):
    """The world around."""

    part_of_day: str
    sky: str
    wind: str
    temperature: str
    circumstances: list[CircumstanceState]
    """All that is so."""


class Snapshot(Weather):
    """The whole state at a tick; what came before does not matter."""

    type: Literal["snapshot"]
    seq: Tick
    """Equals the tick."""
    tick: Tick
    time: str
    agents: list[AgentState]
    objects: list[ObjectState]
    lines: list[EventLine]


class Delta(Weather):
    """The changes of one tick: `seq` is one more than that of the message before."""

    type: Literal["delta"]
    seq: Tick
    tick: Tick
    time: str
    agents: list[AgentState]
    objects: list[ObjectState]
    gone: list[str]
    """Characters who have left."""
    lines: list[EventLine]


class Status(Wire):
    """The state of the run; sent whenever it changes. It has no number."""

    type: Literal["status"]
    live: bool
    playing: bool
    rate: float
    """Ticks per second aimed at; 0 for as fast as possible."""
    last_tick: Tick
    final_tick: Tick
    progress: str
    """What is under way, or why no more ticks come; may be empty."""


class Speaking(Wire):
    """Words that are being said in the tick under way, as far as a model has written them; sent whenever they change.

    It may be refused. It has no number, and the next tick ends it.
    """

    type: Literal["speaking"]
    lines: dict[str, str]
    """Character → words."""


class Frames(Wire):
    """Consecutive ticks: a snapshot, then a delta a tick."""

    first: Snapshot
    rest: list[Delta]


class Mark(Wire):
    """Something to be seen on the time-line."""

    tick: Tick
    kind: Literal["conversation", "reflection", "plan", "intervention", "fact", "scripted", "arrival"]
    event_id: str
    agent_id: str
    people: list[str]
    """Whom it concerns: who talks, who tells news and who hears it."""
    text: str


class Timeline(Wire):
    """The whole run at a glance."""

    last_tick: Tick
    activity: list[int]
    """How many things worth reading happened at each tick from 0 on."""
    weather: list[tuple[Tick, str]]
    """Sky from the tick on."""
    marks: list[Mark]


# ── one character ────────────────────────────────────────────────────────────────────────────────────────────────────


class FoundMemory(Wire):
    """A memory; with a question, also how it was ranked."""

    memory: MemoryJSON
    rank: int | None = None
    score: float | None = None
    parts: Mapping[str, PartJSON] = Field(default_factory=dict)


class Memories(Wire):
    """Memories of a character, latest first; with a question, best first."""

    agent_id: str
    tick: Tick
    policy: str
    total: int
    """How many fit the filters."""
    found: list[FoundMemory]


# ── the society ──────────────────────────────────────────────────────────────────────────────────────────────────────


class Step(Wire):
    """A fact passed from mouth to mouth."""

    source: str
    target: str
    tick: Tick
    event_id: str
    words: str


class Spread(Wire):
    """A fact and how far it has spread."""

    fact: str
    text: str
    originators: list[str]
    knowers: list[str]
    share: float
    tree: list[Step]


class Talked(Wire):
    """Two characters and what passed between them up to the tick."""

    between: tuple[str, str]
    conversations: int
    lines: int


class Warmth(Wire):
    """The view that one character has of another."""

    source: str
    target: str
    warmth: int
    label: str


class Metrics(Wire):
    """The results of measuring a run up to a tick."""

    tick: Tick
    spreads: list[Spread]
    network: list[Talked]
    density: float
    """2 |E| / (|V| (|V| − 1))."""
    warmth: list[Warmth]
    usage: list[dict[str, Any]]
    """Lines of `commonplace usage --json` without the total, of what was asked up to the tick."""
    verdicts: list[str]
    """What a model was too small for, a sentence each, in the language of the run."""


class Hour(Wire):
    """The spread of acquaintance and knowledge by an hour, as `commonplace metrics --json` prints it."""

    tick: Tick
    time: str
    density: float
    pairs: int
    """Pairs that have spoken with each other."""
    lines: int
    """What has been said between them."""
    known: dict[str, float]
    """Seed fact → the share of the characters that know it, 0–1."""


# ── what a person sends ──────────────────────────────────────────────────────────────────────────────────────────────


class NewRun(Wire):
    """A run to start: of a scenario the server knows by name, or of one written in the page."""

    scenario: str = ""
    text: Annotated[str, Field(max_length=400_000)] = ""
    run: RunName | None = None
    seed: int = Field(default=DEFAULT_SEED, ge=0, le=2**63 - 1)
    ticks: int = Field(default=288, ge=1, le=1_000_000)


class ScenarioText(Wire):
    """A scenario as it is written."""

    text: Annotated[str, Field(max_length=400_000)]


class Finding(Wire):
    """Something wrong with a scenario."""

    level: Literal["error", "warning"]
    line: int
    column: int
    what: str
    hint: str


class Checked(Wire):
    """The mistakes of a scenario; its card if a page may start it."""

    findings: list[Finding]
    scenario: ScenarioCard | None


class Input(Wire):
    """Something a person does to a live run; with `preview` nothing happens yet."""

    kind: Literal["god", "voice", "attempt"]
    text: Sentence
    agent_id: str = ""
    preview: bool = False


class Accepted(Wire):
    """An accepted input: what will happen, in words, and from which tick."""

    text: str
    tick: Tick


class Control(Wire):
    """An order about when ticks are made; never about what happens in them."""

    action: Literal["play", "pause", "step", "speed"]
    rate: float = Field(default=2.0, ge=0, le=1000)


class Ask(Wire):
    """A word to a character. A question begins a talk or goes on with it; a thumb rates its last answer."""

    agent_id: str
    at: Tick
    question: Annotated[str, Field(max_length=2000)] = ""
    retry: bool = False
    thumb: Literal["up", "down"] | None = None
    note: Annotated[str, Field(max_length=500)] = ""


class Answer(Wire):
    """A character's answer and its reasons."""

    agent_id: str
    question: str
    answer: str
    rests: list[FoundMemory]
    asked_before: dict[str, Any] | None
    outcome: str
    mind: str


class Rate(Wire):
    """Stars for an answer of a panel, by the id of its event or of its memory."""

    id: Annotated[str, Field(min_length=1, max_length=200)]
    stars: int = Field(ge=1, le=5)


class Rated(Wire):
    """A rated memory and its new importance."""

    memory_id: str
    stars: float
    importance: float
    """0–1."""


class Fork(Wire):
    """Another history from a tick on."""

    at: Tick
    run: RunName | None = None
    inject: Annotated[str, Field(max_length=2000)] = ""


class Problem(Wire):
    """RFC 9457, `application/problem+json`."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    hint: str = ""
