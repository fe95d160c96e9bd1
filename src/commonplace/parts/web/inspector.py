"""What can be looked into at a tick: one character, what it remembers, and what emerged among all.

Nothing here knows of HTTP: the server's answers and the one-file replay are made with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from threading import Lock
from typing import Any

from commonplace.analysis.diffusion import diffusion
from commonplace.analysis.network import emergence, network_density, spoken
from commonplace.character.account import AccountRow
from commonplace.character.state import CharacterState
from commonplace.clock import parse_iso
from commonplace.errors import UsageError
from commonplace.memory import Policy
from commonplace.memory.scoring import parts_json
from commonplace.memory.stores.codec import memory_json
from commonplace.parts.web import model as wire
from commonplace.parts.web.picture import Picture
from commonplace.run.explained import PastRow
from commonplace.run.minds import verdicts
from commonplace.text import clean
from commonplace.views.inspection import AgentDetail, Inspection
from commonplace.world.events import NOBODY, ConversationStarted, of_kind

FEELINGS: dict[str, dict[str, Any]] = {
    "pleasant": {"valence": (0.2, None)},
    "unpleasant": {"valence": (None, -0.2)},
    "stirred": {"arousal": (0.5, None)},
}
"""What `emotion` may be besides a keyword."""


class RunInspector:
    """The answers to a page about one run at one tick. None as a tick means the last one. Threads may share it.

    Each method raises UsageError for a tick or a character that the run does not have.
    """

    def __init__(self, picture: Picture) -> None:
        self.reading = picture.reading
        self._picture = picture
        self._measuring = Lock()
        """Measures of a long run need much memory for a moment; several at once would be no faster."""
        self._past: dict[str, dict[AccountRow, PastRow]] = {}
        """Character → the rows of its past at the tick asked for before."""

    # ── the society ───────────────────────────────────────────────────────────────────────────────────────────────────

    def metrics(self, at: int | None = None) -> wire.Metrics:
        """Returns what emerged up to a tick."""
        tick = self.reading.tick(at)
        with self._measuring:
            return self.measured(tick, self.reading.states_at(tick), self.reading.usage(tick)[:-1])

    def measured(self, tick: int, states: Mapping[str, CharacterState], usage: list[dict[str, Any]]) -> wire.Metrics:
        """Returns the same for a caller that has everybody's state at the tick and the usage at hand."""
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
        """Returns how acquaintance and knowledge have spread up to a tick, hour by hour."""
        with self._measuring:
            return [wire.Hour.model_validate(row) for row in emergence(self.reading, last=self.reading.tick(at))]

    # ── one character ───────────────────────────────────────────────────────────────────────────────────────────────

    def agent(self, agent_id: str, at: int | None = None, **known: Any) -> AgentDetail:
        """Returns a character as of a tick. `known`: `state`, `mood` and `knows` of a caller that has them at hand."""
        past = self._past.setdefault(agent_id, {})
        return Inspection(self.reading, agent_id, at, town=self._picture.names, past=past, **known).detail()

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
        """Returns memories as of a tick that pass all filters: the latest first, or ranked by a policy for a question.

        `place` is an area's id, or names from outside in: `Town > Library`. `emotion` is a keyword, `pleasant`,
        `unpleasant` or `stirred`. `since` and `until` are ISO simulated times. `ids` selects those memories alone.
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
                parts = parts_json(hit.parts)
                memory = memory_json(hit.memory)
                found.append(wire.FoundMemory(memory=memory, rank=hit.rank, score=hit.score, parts=parts))
        else:
            found += [wire.FoundMemory(memory=memory_json(one)) for one in passing[offset : offset + limit]]
        return wire.Memories(agent_id=agent_id, tick=tick, policy=chosen.name, total=len(passing), found=found)

    def _policy(self, name: str, tick: int) -> Policy:
        scenario = self.reading.scenario_at(tick)
        return scenario.policy_named(name) if name else scenario.policy

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


def _moment(text: str) -> datetime | None:
    try:
        return parse_iso(text) if text else None
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not a time", hint="expected an ISO time such as 2031-10-04T08:00") from None
