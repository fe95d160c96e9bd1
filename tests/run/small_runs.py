"""Runs to test with: small ones made of the village's executor, and records made by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from commonplace.canon import canonical
from commonplace.character.plan import Plan, PlanItem
from commonplace.character.state import Belief, CharacterState, Job, KnownNode, Relation
from commonplace.memory import Delta, Draft, MemoryStream, policies
from commonplace.parts.new_town.scaffold import text
from commonplace.run import schema
from commonplace.run.fork import written_fork
from commonplace.run.manifest import Manifest
from commonplace.run.opening import create_store, open_store
from commonplace.run.place import Place
from commonplace.run.rows import AnswerRow, InputRow, TickRecord
from commonplace.run.store import RunStore
from commonplace.run.versions import state_versions, world_versions
from commonplace.world.actions import Action
from commonplace.world.deeds import Intent
from commonplace.world.executor import step
from commonplace.world.state import World, opening
from world.small_worlds import AGENTS, CLOCK, IDLE, go, say, village

TOWN = village()
MANIFEST = Manifest(scenario="village", text=text("village", 2), seed=3, mind="offline")
PAID = replace(MANIFEST, mind="local:village")
"""With a mind whose answers a fork takes over, because they cost something."""


P = TypeVar("P", bound=Place)


def fork(source: Place, at: int, target: Place, **options: Any) -> RunStore:
    """A fork without changes, opened."""
    with written_fork(source, at, target, **options):
        pass
    return open_store(target)


class Village:
    """Lives ticks of the village and hands out their records; whoever has nothing to do reads."""

    def __init__(self) -> None:
        self.world = opening(TOWN)
        self.states = {me: CharacterState() for me in AGENTS}
        self.streams = {me: MemoryStream(me, policies.by_name(MANIFEST.policy)) for me in AGENTS}

    def opening(self) -> TickRecord:
        versions = world_versions(None, self.world)
        return TickRecord(0, (), self._remembered(0), versions, (), traces={})

    def tick(self, actions: Mapping[str, Action], inputs: tuple[InputRow, ...] = ()) -> TickRecord:
        number = self.world.tick + 1
        world, events = step(
            TOWN, self.world, {me: Intent(actions.get(me, IDLE)) for me in self.world.bodies}, clock=CLOCK
        )
        versions = list(world_versions(self.world, world))
        for me in AGENTS:
            state = changed(self.states[me], number)
            versions += state_versions(me, self.states[me], state)
            self.states[me] = state
        self.world = world
        return TickRecord(
            number, events, self._remembered(number), tuple(versions), tuple(answer(me, number) for me in AGENTS),
            inputs, traces={me: {"plan": {"item": None}, "retrievals": []} for me in AGENTS},
        )  # fmt: skip

    def _remembered(self, number: int) -> dict[str, Delta]:
        deltas: dict[str, Delta] = {}
        for me in AGENTS:
            draft = Draft(self.streams[me])
            draft.remember(
                f"{me} hears bell number {number}", at=CLOCK.time(number), tick=number, event=f"t{number}.-.0"
            )
            draft.retrieve("a bell", at=CLOCK.time(number), k=2)
            deltas[me] = draft.delta
            self.streams[me].apply(deltas[me])
        return deltas


def changed(state: CharacterState, tick: int) -> CharacterState:
    """Something of every kind that a state consists of."""
    start = CLOCK.time(tick)
    item = PlanItem(f"0.{tick % 7}", "day", "", start, 15, "cafe", f"waiting for bell {tick}", because=(tick,))
    items = sorted({**{one.id: one for one in state.plan.items}, item.id: item}.values(), key=lambda one: one.id)
    relation = Relation("ann", warmth=tick, because=(1, tick), last_talk=tick)
    return replace(
        state,
        plan=Plan(0, tuple(items)),
        belief=Belief(
            {**state.belief.nodes, "cup": KnownNode("cafe", "whole", tick)}, frozenset({("home", f"r{tick % 3}")})
        ),
        relations={**state.relations, "ann": relation},
        jobs=(Job("reflect", tick, tick + 2, number=1),),
        reflected=tick // 5,
        played=tick % 5 == 2,
    )


def answer(agent: str, tick: int, ordinal: int = 0, attempt: int = 0, body: object = None) -> AnswerRow:
    value = {"decision": "keep", "reason": f"bell {tick}"} if body is None else body
    return AnswerRow(
        agent, tick, ordinal, attempt, "react", b"%16d" % tick, "value", canonical(value), {"prompt_tokens": 7}
    )


def plot(number: int) -> dict[str, Action]:
    """What happens in the village at a tick: talk, walks, a talk that ends because somebody goes."""
    return [
        {"ann": say("bob", f"bell {number} has rung"), "dee": go("cafe")},
        {"bob": say("ann", "안녕, I heard"), "dee": go("town")},
        {"ann": say("bob", "good"), "cyd": go("cafe")},
        {"ann": go("cafe"), "bob": say("ann", "are you off?"), "cyd": go("kitchen")},
        {"ann": go("kitchen")},
    ][number % 5]


def make(path: P, ticks: int, manifest: Manifest = MANIFEST, **options: str) -> P:
    """A finished run of so many ticks."""
    live_state = Village()
    with create_store(path, manifest, **options) as run:  # pyright: ignore[reportArgumentType]
        run.commit(live_state.opening())
        for number in range(1, ticks + 1):
            run.commit(live_state.tick(plot(number)))
    return path


def worlds(ticks: int) -> Iterator[tuple[World, dict[str, CharacterState], Village]]:
    """The live values after each tick."""
    live_state = Village()
    live_state.opening()
    yield live_state.world, dict(live_state.states), live_state
    for number in range(1, ticks + 1):
        live_state.tick(plot(number))
        yield live_state.world, dict(live_state.states), live_state


@contextmanager
def tampering(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes a finished run behind its back."""
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


def downgraded(path: Path, number: int = 3) -> Path:
    """The run as format 3 or 4 has it."""
    with tampering(path) as connection:
        four = schema.layout(4)
        for name in ("answer", "trace"):
            connection.execute(f"ALTER TABLE {name} RENAME TO new_{name}")
            connection.execute(four[name])
            connection.execute(f"INSERT INTO {name} SELECT * FROM new_{name}")
            connection.execute(f"DROP TABLE new_{name}")
        connection.execute(four["event_of"])
        if number == 4:
            connection.execute(four["answer_waiting"])
        else:
            connection.execute("ALTER TABLE tick RENAME TO tick_4")
            connection.execute(schema.layout(3)["tick"])
            connection.execute("INSERT INTO tick SELECT n, history, state, substr(parts, 1, 96) FROM tick_4")
            connection.execute("DROP TABLE tick_4")
            connection.execute("DROP TABLE seal")
        connection.execute(f"PRAGMA user_version = {number}")
    return path


def at(tick: int) -> datetime:
    return CLOCK.time(tick)
