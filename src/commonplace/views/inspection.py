"""One character from inside as of a tick, for every view: the terminal, the page, MCP.

Each part is read when it is asked for, because some take long; `detail` has them all, as JSON. Moments are in ISO
format, and texts are cleaned of control characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

from typing_extensions import TypedDict  # before Python 3.12, Pydantic reads no other

from commonplace.character.account import AccountRow
from commonplace.character.persona import Persona
from commonplace.character.plan import PlanItem
from commonplace.character.state import AREA, CharacterState, KnownNode
from commonplace.clock import hhmm, iso
from commonplace.memory.shapes import MemoryJSON
from commonplace.memory.stores.codec import memory_json
from commonplace.run.account import goal_row, past_row
from commonplace.run.explained import GoalRow, PastRow
from commonplace.run.frames import Frame
from commonplace.run.reading import MOOD_REACH, Reading, mood
from commonplace.text import clean
from commonplace.views.town_names import TownNames

MOST_PAST = 60
"""The latest rows of its past that are shown."""
MOST_MEMORIES = 40
"""The latest memories that are shown."""
PAST_KEY = ("kind", "other", "act", "topic", "text", "since")
"""The fields by which two rows of a past differ: a line that carries two facts has one topic."""


class PlanRow(TypedDict):
    """A piece of a plan."""

    start: str
    """`HH:MM`, as `end`."""
    end: str
    place: str
    text: str
    now: bool
    over: bool


class DayPlan(TypedDict):
    """A day in strokes, the stroke of now in hours, the hour of now in actions."""

    day: Sequence[PlanRow]
    hours: Sequence[PlanRow]
    actions: Sequence[PlanRow]


class Believed(TypedDict):
    """One node of a belief view beside the truth."""

    node_id: str
    name: str
    kind: Literal["area", "object", "agent"]
    place: str
    """Where it is believed to be; empty when unknown."""
    state: str
    seen: int
    """The tick at which it was last seen."""
    true_place: str
    true_state: str
    stale: bool
    """Whether belief and truth differ."""


class Tie(TypedDict):
    """How a character sees another."""

    other: str
    label: str
    warmth: int
    """−100 to 100."""
    talks: int
    known_since: int
    last_talk: int
    """−1 for never in this run."""
    summary: str
    because: Sequence[int]


class Thought(TypedDict):
    """A deferred thought that is under way."""

    kind: str
    about: str
    """Id of whom or what it is about; empty for nothing else."""
    due: str


class AgentDetail(TypedDict):
    """A character as of a tick."""

    agent_id: str
    tick: int
    time: str
    doing: str
    position: str
    mood: str
    asleep: bool
    played: bool
    plan: DayPlan
    beliefs: Sequence[Believed]
    ties: Sequence[Tie]
    past: Sequence[PastRow]
    """What it knows of its own past, latest first."""
    goals: Sequence[GoalRow]
    """Open ones first, then those that have ended, latest first."""
    carries: Sequence[str]
    knows: Sequence[str]
    """Ids of seed facts it can cite a memory for."""
    thinking: Sequence[Thought]


class Inspection:
    """One character as of a tick. Raises UsageError for a tick or a character that the run does not have."""

    def __init__(
        self,
        reading: Reading,
        agent_id: str,
        at: int | None = None,
        *,
        town: TownNames | None = None,
        past: dict[AccountRow, PastRow] | None = None,
        **known: Any,
    ) -> None:
        """`town`: names, if they are at hand. `past`: rows made for an earlier tick, which are kept there and used
        again. `known`: `state`, `mood` or `knows`, if they are at hand."""
        self.reading = reading
        self.agent_id = agent_id
        self.tick = reading.tick(at)
        self._town = town
        self._past = {} if past is None else past
        self.__dict__.update(known)

    @cached_property
    def persona(self) -> Persona:
        """Who it is; somebody who has not come yet as they will be."""
        there = self.reading.scenario_at(self.tick).personas
        return there.get(self.agent_id) or self.reading.scenario.personas[self.agent_id]

    @cached_property
    def state(self) -> CharacterState:
        """Plan, beliefs, relations and the rest."""
        return self.reading.state_at(self.agent_id, self.tick)

    @cached_property
    def mood(self) -> str:
        """A word for how it feels."""
        return self.state.mood or mood(self.reading.emotions(self.agent_id, self.tick, MOOD_REACH))

    @cached_property
    def knows(self) -> list[str]:
        """The seed facts that a memory carries."""
        memories = self.reading.memories(self.agent_id, self.tick)
        facts = self.reading.facts()
        return [fact.id for fact in facts if any(fact.carried_by(memory.text) for memory in memories)]

    @property
    def memories(self) -> list[MemoryJSON]:
        """The latest memories, the latest first."""
        return [*map(memory_json, self.reading.memories(self.agent_id, self.tick)[: -MOST_MEMORIES - 1 : -1])]

    @property
    def plan(self) -> DayPlan:
        """The day so far as it is planned."""
        plan, now = self.state.plan, self.reading.time(self.tick)
        stroke, hour = plan.at(now, "day"), plan.at(now, "hour")
        return {
            "day": _planned(plan.level("day"), now),
            "hours": _planned(plan.children(stroke.id) if stroke else (), now),
            "actions": _planned(plan.children(hour.id) if hour else (), now),
        }

    @property
    def beliefs(self) -> list[Believed]:
        """What it believes of everything it knows, beside what is so."""
        town = self._town or TownNames.of(self.reading.scenario.part)
        frame, belief = self._frame, self.state.belief
        nodes = self.reading.scenario.geography.nodes
        found: list[Believed] = []
        for node_id, known in belief.nodes.items():
            if node_id == self.agent_id:
                continue
            kind, place, so = _truth(node_id, known, frame)
            if kind == "area" and node_id in nodes:
                place = nodes[node_id].parent_id
            row: Believed = {
                "node_id": node_id,
                "name": town.what(node_id),
                "kind": kind,
                "place": known.parent,
                "state": clean(known.state),
                "seen": max(0, belief.last_seen(node_id) if kind == "object" else known.seen),
                "true_place": place,
                "true_state": clean(so),
                "stale": kind != "area" and (known.parent, known.state) != (place, so),
            }
            found.append(row)
        return found

    @property
    def ties(self) -> list[Tie]:
        """How it sees the others."""
        return [
            {
                "other": tie.other,
                "label": clean(tie.label),
                "warmth": tie.warmth,
                "talks": tie.talks,
                "known_since": tie.known_since,
                "last_talk": tie.last_talk,
                "summary": clean(tie.summary),
                "because": list(tie.because),
            }
            for tie in self.state.relations.values()
        ]

    @property
    def past(self) -> list[PastRow]:
        """What it knows of its own past, the latest first."""
        made, rows = self._past, dict[AccountRow, PastRow]()
        for entry in self.state.account.all()[:MOST_PAST]:
            row = made.get(entry) or past_row(self.reading, self.agent_id, entry)
            rows[entry] = {**row, "topic": clean(row["topic"]), "text": clean(row["text"])}
        made.clear()
        made.update(rows)
        by_name = sorted(rows.values(), key=lambda row: " ".join(row[name] for name in PAST_KEY))
        return sorted(by_name, key=lambda row: row["time"], reverse=True)

    @property
    def goals(self) -> list[GoalRow]:
        """What it means to do, the open ones first, and what became of it."""
        rows = (goal_row(self.reading, self.agent_id, goal) for goal in self.state.goals.all())
        return [{**row, "text": clean(row["text"])} for row in rows]

    @property
    def thinking(self) -> list[Thought]:
        """Deferred thoughts that are under way."""
        due = self.reading.time
        return [{"kind": job.kind, "about": job.about, "due": iso(due(job.due))} for job in self.state.jobs]

    def detail(self) -> AgentDetail:
        """Returns everything but the memories."""
        here = self._frame.agents.get(self.agent_id)
        return {
            "agent_id": self.agent_id,
            "tick": self.tick,
            "time": iso(self.reading.time(self.tick)),
            "doing": clean(here.doing) if here else "",
            "position": here.position if here else "",
            "mood": clean(self.mood),
            "asleep": bool(here and here.asleep),
            "played": self.state.played,
            "plan": self.plan,
            "beliefs": self.beliefs,
            "ties": self.ties,
            "past": self.past,
            "goals": self.goals,
            "carries": [thing.object_id for thing in self._frame.objects.values() if thing.parent == self.agent_id],
            "knows": self.knows,
            "thinking": self.thinking,
        }

    @cached_property
    def _frame(self) -> Frame:
        return self.reading.frame(self.tick)


def _planned(items: Iterable[PlanItem], now: datetime) -> list[PlanRow]:
    return [
        {
            "start": hhmm(item.start_time),
            "end": hhmm(item.end_time),
            "place": item.location,
            "text": clean(item.action_description),
            "now": item.covers(now),
            "over": item.end_time <= now,
        }
        for item in items
    ]


def _truth(node_id: str, known: KnownNode, frame: Frame) -> tuple[Literal["area", "object", "agent"], str, str]:
    """Returns (what the node is, where it really is, its real state)."""
    thing, agent = frame.objects.get(node_id), frame.agents.get(node_id)
    if thing is not None:
        return "object", thing.parent, thing.state
    if known.state == AREA and agent is None:
        return "area", known.parent, AREA
    return ("agent", agent.position, agent.doing) if agent is not None else ("agent", "", "")
