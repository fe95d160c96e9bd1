"""The questions a mind answers: for each an input type, an output type and a fallback.

The rest of the program never sees a prompt or a raw answer. What a mind may need to answer stands in the typed input,
so that a rule and a prompt work from the same facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from commonplace.minds.mind import Task
from commonplace.minds.notes import (
    FactNote,
    Hint,
    Item,
    News,
    Person,
    Recalled,
    Situation,
    Spoken,
    Spot,
    ThingHere,
    Value,
    Who,
)


class RateInput(Value):
    """Several new memories of one character, rated in one request."""

    who: Who
    texts: tuple[str, ...]
    names: tuple[str, ...] = ()
    """Names the character knows."""


class Rating(Value):
    """Importance 1–10; valence −100…100 and arousal 0…100 in hundredths, with the words they rest on."""

    importance: int = Field(ge=1, le=10)
    valence: int = Field(default=0, ge=-100, le=100)
    arousal: int = Field(default=0, ge=0, le=100)
    keywords: tuple[str, ...] = ()


class RateOutput(Value):
    ratings: tuple[Rating, ...]
    """As many as texts, in order."""


class Stroke(Value):
    """A broad stroke of a day."""

    start: str
    """`HH:MM`; must lie after the one before. The last stroke is sleep and lasts until the next waking."""
    minutes: int = Field(ge=5, le=1440)
    location: str
    """Area id, one that is known."""
    do: str = Field(min_length=1, max_length=120)
    routine: int = -1
    """Index of the routine item it follows; −1 for something else."""
    because: tuple[int, ...] = ()
    asleep: bool = False
    emoji: str = ""


class PlanDayInput(Value):
    who: Who
    situation: Situation
    wakes: str
    routine: tuple[Stroke, ...]
    recalled: tuple[Recalled, ...]
    facts: tuple[FactNote, ...] = ()
    places: tuple[Spot, ...] = ()
    yesterday: tuple[str, ...] = ()
    """What was done the day before, in strokes."""
    known: tuple[Person, ...] = ()
    """Acquaintances, nearest first."""


class PlanDayOutput(Value):
    strokes: tuple[Stroke, ...] = Field(min_length=5, max_length=8)


class PlanPartsInput(Value):
    """Both `plan_hours` and `plan_minutes`: the inside of one item."""

    who: Who
    situation: Situation
    item: Item
    hints: tuple[Hint, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    things: tuple[ThingHere, ...] = ()
    """Objects believed to be at the item's location, as last seen."""
    company: tuple[str, ...] = ()
    """Short names of those present."""


class PartOut(Value):
    do: str = Field(min_length=1, max_length=120)
    minutes: int = Field(ge=5, le=240)
    location: str = ""
    object_id: str = ""
    verb: str = ""
    emoji: str = ""


class PlanPartsOutput(Value):
    parts: tuple[PartOut, ...] = Field(min_length=1, max_length=16)


class Targets(Value):
    """What an action may be directed at this tick, and what the plan's next step comes to."""

    areas: tuple[str, ...] = ()
    objects: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Object → verbs it takes."""
    agents: tuple[str, ...] = ()
    step: str = ""
    """The kind of action the plan's next step comes to: IDLE, MOVE or INTERACT …"""
    step_target: str = ""
    step_verb: str = ""
    step_doing: str = ""
    """What one would be seen doing."""


class ReactInput(Value):
    """What is new, and what it is to be weighed against.

    A mind that is paid by the request is asked for more in the same answer: to rate what is new (`unrated`), to say the
    words if it decides to talk (`speaks`), to act (`targets`).
    """

    who: Who
    situation: Situation
    news: tuple[News, ...]
    now: Item | None
    """What the plan says to do now."""
    later: tuple[Item, ...] = ()
    """The strokes still ahead today."""
    recalled: tuple[Recalled, ...] = ()
    facts: tuple[FactNote, ...] = ()
    lines: tuple[Spoken, ...] = ()
    """The talk I am in, if any."""
    floor: bool = False
    """Whether I was spoken to and have the floor."""
    places: tuple[Spot, ...] = ()
    told: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Person → ids of facts I know they have heard; for those in sight."""
    unrated: tuple[str, ...] = ()
    """New memories to be rated in the same answer; empty when they have been."""
    speaks: bool = False
    """Whether the answer may hold the words to say."""
    said: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Person → lines I have said to them today, none of which may be said again; for those in sight, if `speaks`."""
    targets: Targets | None = None
    """`every_tick`: the answer may hold the action itself."""


class ActOutput(Value):
    kind: Literal["IDLE", "MOVE", "INTERACT", "SAY"]
    to_location_id: str = ""
    object_id: str = ""
    verb: str = ""
    to_agent_id: str = ""
    utterance: str = ""
    doing: str = ""
    emoji: str = ""
    because: tuple[int, ...] = ()


class ReactOutput(Value):
    """`keep` the plan; `talk` to `target` about `purpose`; `go` somewhere now; `help` `target`; `avoid` it; `wait`.

    Independently of that, `stroke` puts something new into the plan, now or later today; the plan from now on is then
    made anew around it.
    """

    decision: Literal["keep", "talk", "go", "help", "avoid", "wait"]
    target: str = ""
    """Character id."""
    purpose: str = ""
    """greet, tell, ask, reply, invite, thank, comfort, farewell …"""
    stroke: Stroke | None = None
    reason: str = Field(default="", max_length=300)
    because: tuple[int, ...] = ()
    ratings: tuple[Rating, ...] = ()
    """As many as `unrated`, in order."""
    utterance: str = Field(default="", max_length=400)
    """The words, if it is to talk and they were asked for; empty leaves them open."""
    ends: bool = False
    facts: tuple[str, ...] = ()
    """Ids of facts the utterance claims to mention."""
    speech_act: str = ""
    """What the utterance does, and what it is about; see `ConverseOutput`."""
    topic: str = ""
    act: ActOutput | None = None
    """The action, if it was asked for."""


class ActInput(Targets):
    """`every_tick`: one tool call among this tick's valid targets."""

    who: Who
    situation: Situation
    item: Item | None
    reaction: str = ""
    recalled: tuple[Recalled, ...] = ()


class ConverseInput(Value):
    who: Who
    situation: Situation
    hearer: Person
    purpose: str
    lines: tuple[Spoken, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    """Best first; the line must rest on at least one of them."""
    facts: tuple[FactNote, ...] = ()
    said: tuple[str, ...] = ()
    """Lines I have said to this hearer today; none may be said again."""
    told: tuple[str, ...] = ()
    """Ids of facts I know this hearer has heard (from me, or in my presence)."""
    now: Item | None = None
    later: tuple[Item, ...] = ()


class ConverseOutput(Value):
    utterance: str = Field(default="", max_length=400)
    """Empty: nothing to say."""
    ends: bool = False
    because: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    """Ids of facts it claims to have mentioned."""
    speech_act: str = ""
    """What the utterance does: `tell`, `ask.well`, `invite` … Empty where unknown; no model is asked for it."""
    topic: str = ""
    """What it is about, as the speaker names it: `my roof`, `the lantern festival`. No model is asked for it."""


class QuestionsInput(Value):
    who: Who
    situation: Situation
    recent: tuple[Recalled, ...]
    """The latest memories, oldest first, at most 100."""


class QuestionsOutput(Value):
    questions: tuple[str, ...] = Field(max_length=3)


class Evidence(Value):
    question: str
    recalled: tuple[Recalled, ...]


class InsightsInput(Value):
    who: Who
    situation: Situation
    evidence: tuple[Evidence, ...]
    recent: tuple[Recalled, ...] = ()
    """The memories the questions were asked of: a server has read them a moment ago."""
    earlier: tuple[str, ...] = ()
    """Texts of the latest reflections, not to be restated."""
    known: tuple[Person, ...] = ()
    """Acquaintances, nearest first."""
    most: int = 5
    """Insights wanted; 1 for a reflection on a talk, of one to three sentences."""


class Insight(Value):
    text: str = Field(min_length=1, max_length=400)
    because: tuple[int, ...]
    importance: int = Field(default=0, ge=0, le=10)
    """1–10; 0 where it is to be rated like any memory."""
    about: str = ""
    """A character id or a subject word."""
    frame: Mapping[str, str] = Field(default_factory=dict)


class InsightsOutput(Value):
    insights: tuple[Insight, ...] = Field(max_length=5)


class RelateInput(Value):
    who: Who
    situation: Situation
    other: Person
    lines: tuple[Spoken, ...]
    recalled: tuple[Recalled, ...] = ()


class RelateOutput(Value):
    warmth_change: int = Field(ge=-20, le=20)
    summary: str = Field(max_length=300)
    because: tuple[int, ...] = ()


class DuetInput(Value):
    who: Who
    other: Person
    goal: str
    setting: str
    lines: tuple[Spoken, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    said: tuple[str, ...] = ()


class DuetOutput(Value):
    plan: str = Field(max_length=200)
    utterance: str = Field(max_length=400)
    because: tuple[int, ...] = ()
    speech_act: str = ""
    """As in `ConverseOutput`."""
    topic: str = ""


class EmbedInput(Value):
    """Texts whose vectors a model makes."""

    texts: tuple[str, ...]
    model: str = ""
    """Name of the embedding model; empty: the mind's own."""
    dimensions: int = Field(default=384, ge=1, le=16384)
    """Size of its vectors; others are unusable."""


class EmbedOutput(Value):
    vectors: tuple[str, ...]
    """A lattice vector per text, as base64 of little-endian int16; empty for one that could not be embedded."""


class AnswerInput(Value):
    """A question a person asks a character."""

    who: Who
    situation: Situation
    question: str
    recalled: tuple[Recalled, ...] = ()
    """Best first."""
    lines: tuple[Spoken, ...] = ()
    """The talk so far, oldest first; the person's lines have the speaker `-`."""


class AnswerOutput(Value):
    answer: str = Field(min_length=1, max_length=1000)
    because: tuple[int, ...] = ()


class PanelInput(Value):
    """A persona's turn in a cycle over a seed prompt."""

    who: Who
    role: str
    seed_prompt: str
    depth: int
    """1, 2, 3 …"""
    step: int
    """Place in the cycle, from 1."""
    lines: tuple[Spoken, ...] = ()
    """The answers so far, oldest first."""
    recalled: tuple[Recalled, ...] = ()
    """At most two of the persona's own earlier answers."""


class PanelOutput(Value):
    answer: str = Field(min_length=1, max_length=2000)
    because: tuple[int, ...] = ()


class PerceiveEventInput(Value):
    """A god-mode sentence to be turned into perceptions."""

    text: str
    areas: tuple[Spot, ...]
    people: tuple[Person, ...]
    things: tuple[ThingHere, ...] = ()
    states: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """The states each object's kind knows."""
    located: Mapping[str, str] = Field(default_factory=dict)
    """Object → area it is in."""
    language: str = "en"


class PerceiveEventOutput(Value):
    percept: str
    """The sentence as perceived."""
    everybody: bool = False
    areas: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    sets: tuple[tuple[str, str], ...] = ()
    """(object, state) changes."""


def _rate_fallback(given: RateInput) -> RateOutput:
    return RateOutput(ratings=tuple(Rating(importance=3) for _ in given.texts))


def _plan_day_fallback(given: PlanDayInput) -> PlanDayOutput:
    return PlanDayOutput(strokes=given.routine)


def _parts_fallback(given: PlanPartsInput) -> PlanPartsOutput:
    parts = tuple(
        PartOut(
            do=hint.do, minutes=hint.minutes or 15, location=hint.location, object_id=hint.object_id, verb=hint.verb
        )
        for hint in given.hints[:16]
    )
    return PlanPartsOutput(parts=parts or (PartOut(do=given.item.do, minutes=min(240, max(5, given.item.minutes))),))


POLITE_LINE = {"en": "Good to see you.", "ko": "만나서 반가워요."}
NO_ANSWER = {"en": "I can't think of it now.", "ko": "지금은 생각이 안 나네요."}
LOST_THREAD = {"en": "(lost the thread for a moment …)", "ko": "(잠시 생각이 끊겼다…)"}


def _act_fallback(given: ActInput) -> ActOutput:
    doing = given.step_doing
    match given.step:
        case "MOVE":
            return ActOutput(kind="MOVE", to_location_id=given.step_target)
        case "INTERACT":
            return ActOutput(kind="INTERACT", object_id=given.step_target, verb=given.step_verb, doing=doing)
        case _:
            return ActOutput(kind="IDLE", doing=doing)


RATE = Task("rate", RateInput, RateOutput, _rate_fallback, 300)
PLAN_DAY = Task("plan_day", PlanDayInput, PlanDayOutput, _plan_day_fallback, 600)
PLAN_HOURS = Task("plan_hours", PlanPartsInput, PlanPartsOutput, _parts_fallback, 400)
PLAN_MINUTES = Task("plan_minutes", PlanPartsInput, PlanPartsOutput, _parts_fallback, 400)
REACT = Task("react", ReactInput, ReactOutput, lambda _: ReactOutput(decision="keep", reason="no usable answer"), 250)
ACT = Task("act", ActInput, ActOutput, _act_fallback, 150)
CONVERSE = Task(
    "converse",
    ConverseInput,
    ConverseOutput,
    lambda given: ConverseOutput(utterance=POLITE_LINE.get(given.who.language, POLITE_LINE["en"]), ends=True),
    150,
)
QUESTIONS = Task("questions", QuestionsInput, QuestionsOutput, lambda _: QuestionsOutput(questions=()), 150)
INSIGHTS = Task("insights", InsightsInput, InsightsOutput, lambda _: InsightsOutput(insights=()), 500)
RELATE = Task(
    "relate",
    RelateInput,
    RelateOutput,
    lambda given: RelateOutput(warmth_change=0, summary=given.other.summary),
    200,
)
DUET_TURN = Task(
    "duet_turn",
    DuetInput,
    DuetOutput,
    lambda given: DuetOutput(plan="", utterance=LOST_THREAD.get(given.who.language, LOST_THREAD["en"])),
    200,
)
EMBED = Task("embed", EmbedInput, EmbedOutput, lambda given: EmbedOutput(vectors=("",) * len(given.texts)), 0)
ANSWER = Task(
    "answer",
    AnswerInput,
    AnswerOutput,
    lambda given: AnswerOutput(answer=NO_ANSWER.get(given.who.language, NO_ANSWER["en"])),
    300,
)
PANEL_TURN = Task(
    "panel_turn",
    PanelInput,
    PanelOutput,
    lambda given: PanelOutput(answer=LOST_THREAD.get(given.who.language, LOST_THREAD["en"])),
    500,
)
PERCEIVE_EVENT = Task(
    "perceive_event",
    PerceiveEventInput,
    PerceiveEventOutput,
    lambda given: PerceiveEventOutput(percept=given.text, everybody=True),
    200,
)

TASKS: Mapping[str, Task[Any, Any]] = {
    task.name: task
    for task in (
        RATE,
        PLAN_DAY,
        PLAN_HOURS,
        PLAN_MINUTES,
        REACT,
        ACT,
        CONVERSE,
        QUESTIONS,
        INSIGHTS,
        RELATE,
        EMBED,
        ANSWER,
        DUET_TURN,
        PANEL_TURN,
        PERCEIVE_EVENT,
    )
}
