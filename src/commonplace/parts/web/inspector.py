"""What can be looked into at a tick: one character, what it remembers, and what emerged among all.

Nothing here knows of HTTP: the server's answers and the one-file replay are made with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from threading import Lock
from typing import Any, Literal

from commonplace.analysis.diffusion import diffusion
from commonplace.analysis.network import emergence, network_density, spoken
from commonplace.character.account import Account, AccountRow
from commonplace.character.goal import Goals
from commonplace.character.plan import Plan, PlanItem
from commonplace.character.state import AREA, CharacterState, KnownNode
from commonplace.clock import hhmm, iso, parse_iso
from commonplace.errors import UsageError
from commonplace.memory import Memory, Policy, policies
from commonplace.memory.stores.codec import memory_json
from commonplace.parts.web import model as wire
from commonplace.parts.web.picture import Picture
from commonplace.run.account import account_row, goal_row
from commonplace.run.frames import Frame
from commonplace.run.minds import verdicts
from commonplace.run.reading import MOOD_REACH, mood
from commonplace.text import clean
from commonplace.world.events import NOBODY, ConversationStarted, of_kind

FEELINGS: dict[str, dict[str, Any]] = {
    "pleasant": {"valence": (0.2, None)},
    "unpleasant": {"valence": (None, -0.2)},
    "stirred": {"arousal": (0.5, None)},
}
"""What `emotion` may be besides a keyword."""


MOST_PAST = 60
"""Rows of what a character knows of its past."""
PAST_KEY = ("kind", "other", "act", "topic", "text", "since")
"""The fields by which two of these rows differ: a line that carries two facts has one topic."""


class Inspector:
    """What the page asks of one run at one tick. A tick given as None is the last one. May be used by several threads.

    Each method raises UsageError for a tick or a character that the run does not have.
    """

    def __init__(self, picture: Picture) -> None:
        self.reading = picture.reading
        self._picture = picture
        self._measuring = Lock()
        """Measures of a long run need much memory for a moment; several at once would be no faster."""
        self._made_past: dict[str, dict[AccountRow, wire.PastRow]] = {}

    # ── the society ───────────────────────────────────────────────────────────────────────────────────────────────────

    def metrics(self, at: int | None = None) -> wire.Metrics:
        """What emerged up to a tick."""
        tick = self.reading.tick(at)
        with self._measuring:
            return self.measured(tick, self.reading.states_at(tick), self.reading.usage(tick)[:-1])

    def measured(self, tick: int, states: Mapping[str, CharacterState], usage: list[dict[str, Any]]) -> wire.Metrics:
        """The same for a caller that has everybody's state at the tick and the usage at hand."""
        reading = self.reading
        talks, said = Counter[tuple[str, str]](), spoken(reading, tick)
        for _, talk in of_kind(reading.events(0, tick, type="CONVERSATION_STARTED"), ConversationStarted):
            talks[_pair(*talk.members[:2])] += 1
        return wire.Metrics(
            tick=tick,
            spreads=[_spread(row) for row in diffusion(reading, tick)],
            network=[
                wire.Talked(between=pair, conversations=talks[pair], lines=len(said.get(pair, ())))
                for pair in sorted(talks.keys() | said.keys())
            ],
            density=network_density(reading.scenario_at(tick).personas, said),
            warmth=[
                wire.Warmth(source=me, target=tie.other, warmth=tie.warmth, label=clean(tie.label))
                for me, state in states.items()
                for tie in state.relations.values()
            ],
            usage=usage,
            verdicts=verdicts(usage, reading.scenario.language),
        )

    def hours(self, at: int | None = None) -> list[wire.Hour]:
        """How acquaintance and knowledge have spread up to a tick, hour by hour."""
        with self._measuring:
            return [wire.Hour.model_validate(row) for row in emergence(self.reading, last=self.reading.tick(at))]

    # ── one character ───────────────────────────────────────────────────────────────────────────────────────────────

    def agent(self, agent_id: str, at: int | None = None) -> wire.AgentDetail:
        """A character as of a tick: plan, ties, and what it believes beside what is so."""
        reading = self.reading
        tick = reading.tick(at)
        state = reading.state_at(agent_id, tick)
        felt = state.mood or mood(reading.emotions(agent_id, tick, MOOD_REACH))
        return self.character(agent_id, tick, state, felt, self._known_facts(reading.memories(agent_id, tick)))

    def character(
        self, agent_id: str, tick: int, state: CharacterState, felt: str, knows: list[str]
    ) -> wire.AgentDetail:
        """The same for a caller that has state, mood and known facts at hand."""
        frame, time = self.reading.frame(tick), self.reading.time(tick)
        here = frame.agents.get(agent_id)
        return wire.AgentDetail(
            agent_id=agent_id,
            tick=tick,
            time=iso(time),
            doing=clean(here.doing) if here else "",
            position=here.position if here else "",
            mood=clean(felt),
            asleep=bool(here and here.asleep),
            played=state.played,
            plan=_plan(state.plan, time),
            beliefs=list(self._beliefs(agent_id, state, frame)),
            ties=[
                wire.Tie(
                    other=tie.other,
                    label=clean(tie.label),
                    warmth=tie.warmth,
                    talks=tie.talks,
                    known_since=tie.known_since,
                    last_talk=tie.last_talk,
                    summary=clean(tie.summary),
                    because=list(tie.because),
                )
                for tie in state.relations.values()
            ],
            past=self._past(agent_id, state.account),
            goals=self._goals(agent_id, state.goals),
            carries=[thing.object_id for thing in frame.objects.values() if thing.parent == agent_id],
            knows=knows,
            thinking=[" ".join(filter(None, (job.kind, job.about))) for job in state.jobs],
        )

    def _past(self, me: str, account: Account) -> list[wire.PastRow]:
        """The latest rows; those that were there at the tick asked for before are not made again."""
        known = self._made_past.get(me, {})
        rows = {entry: known.get(entry) or self._past_row(me, entry) for entry in account.all()[:MOST_PAST]}
        self._made_past[me] = rows
        by_name = sorted(rows.values(), key=lambda row: " ".join(getattr(row, name) for name in PAST_KEY))
        return sorted(by_name, key=lambda row: row.time, reverse=True)

    def _goals(self, me: str, goals: Goals) -> list[wire.GoalRow]:
        rows = [goal_row(self.reading, me, goal) for goal in goals.all()]
        return [wire.GoalRow.model_validate({**row, "text": clean(row["text"])}) for row in rows]

    def _past_row(self, me: str, entry: AccountRow) -> wire.PastRow:
        row = account_row(self.reading, me, entry)
        return wire.PastRow.model_validate({**row, "topic": clean(row["topic"]), "text": clean(row["text"])})

    def _beliefs(self, me: str, state: CharacterState, frame: Frame) -> Iterator[wire.Believed]:
        nodes, town = self.reading.scenario.geography.nodes, self._picture.names
        for node_id, known in state.belief.nodes.items():
            kind, place, so = _truth(node_id, known, frame)
            if kind == "area" and node_id in nodes:
                place = nodes[node_id].parent_id
            if node_id == me:
                continue
            yield wire.Believed(
                node_id=node_id,
                name=town.what(node_id),
                kind=kind,
                place=known.parent,
                state=clean(known.state),
                seen=max(0, state.belief.last_seen(node_id) if kind == "object" else known.seen),
                true_place=place,
                true_state=clean(so),
                stale=kind != "area" and (known.parent, known.state) != (place, so),
            )

    def _known_facts(self, memories: Sequence[Memory]) -> list[str]:
        facts = self.reading.facts()
        return [fact.id for fact in facts if any(fact.carried_by(memory.text) for memory in memories)]

    def memories(
        self,
        agent_id: str,
        at: int | None = None,
        *,
        query: str = "",
        policy: str = "",
        k: int = 10,
        kind: str = "",
        place: str = "",
        emotion: str = "",
        min_importance: int = 0,
        since: str = "",
        until: str = "",
        ids: Collection[int] = (),
        offset: int = 0,
        limit: int = 50,
    ) -> wire.Memories:
        """Memories as of a tick that pass all filters: the latest first, or ranked by a policy for a question.

        `place` is an area's id, or names from outside in: `Town > Library`. `emotion` is a keyword, `pleasant`,
        `unpleasant` or `stirred`. `since` and `until` are ISO simulated times. With `ids`, those memories alone.
        Raises UsageError for an unknown policy, kind or time.
        """
        reading = self.reading
        tick = reading.tick(at)
        chosen = self._policy(policy, tick)
        filters: dict[str, Any] = {
            "kinds": [kind] if kind else None,
            "place": self._place(place) if place else None,
            "emotion": FEELINGS.get(emotion, {"keywords": [emotion]}) if emotion else None,
            "min_importance": float(min_importance) if min_importance else None,
            "time_range": (_moment(since), _moment(until)) if since or until else None,
        }
        stream = reading.stream_at(agent_id, tick, policy=chosen)
        passing = [one for one in stream.search(**filters) if not ids or one.id in ids]
        found: list[wire.FoundMemory] = []
        if clean(query):
            now = reading.time(tick)
            hits = stream.retrieve(query, at=now, k=k, purpose="memories", touch=False, **filters).hits
            for hit in hits:
                parts = {name: dict(part._asdict()) for name, part in hit.parts.items()}
                memory = memory_json(hit.memory)
                found.append(wire.FoundMemory(memory=memory, rank=hit.rank, score=hit.score, parts=parts))
        else:
            found += [wire.FoundMemory(memory=memory_json(one)) for one in passing[offset : offset + limit]]
        return wire.Memories(agent_id=agent_id, tick=tick, policy=chosen.name, total=len(passing), found=found)

    def _policy(self, name: str, tick: int) -> Policy:
        scenario = self.reading.scenario_at(tick)
        if not name or name == scenario.cognition.policy:
            return scenario.policy
        own = scenario.part.policies
        return policies.from_mapping(name, own[name]) if name in own else policies.by_name(name)

    def _place(self, place: str) -> tuple[str, ...]:
        geography = self.reading.scenario.geography
        if place in geography.nodes:
            return geography.path(place)
        return tuple(part.strip() for part in place.split(">"))


# ── measures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pair(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _spread(row: dict[str, Any]) -> wire.Spread:
    return wire.Spread(
        fact=row["fact"],
        text=clean(row["text"]),
        originators=sorted({*row["originators"], *(edge["to"] for edge in row["tree"] if edge["from"] == NOBODY)}),
        knowers=row["knowers"],
        share=row["share"],
        tree=[
            wire.Step(
                source=edge["from"],
                target=edge["to"],
                tick=edge["tick"],
                event_id=edge["event_id"],
                words=" … ".join(edge["words"]),
            )
            for edge in row["tree"]
            if edge["from"] != NOBODY
        ],
    )


# ── characters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _plan(plan: Plan, time: datetime) -> wire.Plan:
    """The day in strokes, the parts of the stroke of now, the parts of the hour of now."""
    stroke, hour = plan.at(time, "day"), plan.at(time, "hour")
    return wire.Plan(
        day=[_item(item, time) for item in plan.level("day")],
        hours=[_item(item, time) for item in plan.children(stroke.id)] if stroke else [],
        actions=[_item(item, time) for item in plan.children(hour.id)] if hour else [],
    )


def _item(item: PlanItem, time: datetime) -> wire.Item:
    return wire.Item(
        start=hhmm(item.start_time),
        end=hhmm(item.end_time),
        place=item.location,
        text=clean(item.action_description),
        now=item.covers(time),
    )


def _truth(node_id: str, known: KnownNode, frame: Frame) -> tuple[Literal["area", "object", "agent"], str, str]:
    """(what the node is, where it really is, its real state)."""
    thing, agent = frame.objects.get(node_id), frame.agents.get(node_id)
    if thing is not None:
        return "object", thing.parent, thing.state
    if known.state == AREA and agent is None:
        return "area", known.parent, AREA
    return ("agent", agent.position, agent.doing) if agent is not None else ("agent", "", "")


def _moment(text: str) -> datetime | None:
    try:
        return parse_iso(text) if text else None
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not a time", hint="expected an ISO time such as 2031-10-04T08:00") from None
