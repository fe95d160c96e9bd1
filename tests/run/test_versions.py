from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import canonical
from commonplace.character.account import KINDS, Account, AccountRow
from commonplace.character.goal import KINDS as GOAL_KINDS
from commonplace.character.goal import STATUSES, Goal, Goals
from commonplace.character.goal import restored as restored_goals
from commonplace.character.plan import Plan, PlanItem
from commonplace.character.state import Belief, CharacterState, Job, KnownNode, Relation
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.run.rows import Version
from commonplace.run.versions import (
    STATE,
    WORLD,
    Kind,
    record,
    restore_state,
    restore_world,
    scalar,
    state_versions,
    world_versions,
)
from commonplace.world.deeds import HouseRules, Intent
from commonplace.world.executor import step
from commonplace.world.inputs import GodEvent, InnerVoice, Join, Leave
from commonplace.world.script import Audience
from commonplace.world.state import World, opening
from world.small_worlds import AGENTS, CLOCK, patient, placed, say, small, village
from world.test_executor import TRIED
from world.test_out_of_order import look, mind

TOWN = village()
NAMES = st.sampled_from(("ann", "bob", "öl", "가나"))
IDS = st.lists(st.integers(1, 10**6), max_size=4).map(tuple)
MOMENTS = st.integers(0, 10**7).map(lambda minutes: datetime(2031, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes))
KNOWN = st.builds(KnownNode, NAMES, NAMES, st.integers(0, 999))
RELATIONS = st.builds(
    Relation, NAMES, label=NAMES, warmth=st.integers(-100, 100), known_since=st.integers(0, 99),
    last_talk=st.integers(-1, 9), talks=st.integers(0, 9), summary=st.text(max_size=20), because=IDS,
    shared=st.lists(NAMES, max_size=2).map(tuple),
)  # fmt: skip
JOBS = st.builds(Job, NAMES, st.integers(0, 99), st.integers(0, 99), st.text(max_size=5), st.integers(0, 3))
ENTRIES = st.builds(
    AccountRow, st.sampled_from(KINDS), NAMES, act=st.sampled_from(("", "ask.event")),
    topic=st.text("ab ", max_size=3), tick=st.integers(0, 20), since=st.integers(0, 20),
    because=st.lists(st.integers(1, 99), min_size=1, max_size=3).map(tuple), due=st.integers(-1, 30),
)  # fmt: skip

GOALS = st.builds(
    Goal, NAMES, st.sampled_from(GOAL_KINDS), NAMES, person=NAMES, hour=st.integers(-1, 1439), steps=st.integers(1, 3),
    due=st.integers(-1, 30), status=st.sampled_from(STATUSES),
    because=st.lists(st.integers(1, 99), min_size=1, max_size=3).map(tuple),
)  # fmt: skip


@st.composite
def accounts(draw: st.DrawFn) -> Account:
    account = Account()
    for entry in draw(st.lists(ENTRIES, max_size=4)):
        account = account.noted(entry, entry.tick - 10)
    for hearer, line, tick in draw(st.lists(st.tuples(NAMES, NAMES, st.integers(0, 20)), max_size=3)):
        account = account.said(hearer, f"{line}. {line}?", tick, tick - 10)
    return account


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    day = draw(st.integers(-1, 2))
    numbers = sorted(draw(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=6 if day >= 0 else 0)))
    return Plan(day, tuple(draw(items(f"{day}.{stroke}.{hour}")) for stroke, hour in numbers))


def items(item_id: str) -> st.SearchStrategy[PlanItem]:
    return st.builds(
        PlanItem, st.just(item_id), st.sampled_from(("day", "hour", "action")), NAMES, MOMENTS,
        st.integers(1, 600), NAMES, st.text(max_size=20), object_id=NAMES, because=IDS,
        asleep=st.booleans(), routine=st.integers(-1, 3),
    )  # fmt: skip


STATES = st.builds(
    CharacterState,
    plan=plans(),
    belief=st.builds(Belief, st.dictionaries(NAMES, KNOWN), st.frozensets(st.tuples(NAMES, NAMES), max_size=3)),
    relations=st.lists(RELATIONS, max_size=3).map(lambda found: {one.other: one for one in found}),
    jobs=st.lists(JOBS, max_size=2).map(tuple),
    reflected=st.integers(0, 3),
    played=st.booleans(),
    mood=st.sampled_from(("", "joy")),
    weighed=st.dictionaries(NAMES, st.integers(1, 10), max_size=2),
    said=st.dictionaries(NAMES, st.text(max_size=20), max_size=2),
    card=st.dictionaries(NAMES, st.one_of(NAMES, st.lists(NAMES, max_size=2)), max_size=2),
    account=accounts(),
    goals=st.lists(GOALS, max_size=3).map(lambda found: restored_goals({one.id: one for one in found})),
)


class Kept:
    """The last version of each value, as read back from canonical JSON."""

    def __init__(self) -> None:
        self.last: dict[tuple[str, str, str], Version] = {}

    def take(self, versions: tuple[Version, ...]) -> list[Version]:
        assert len({(one.owner, one.kind, one.key) for one in versions}) == len(versions)
        for one in versions:
            value = json.loads(canonical(one.value))
            self.last[one.owner, one.kind, one.key] = Version(one.owner, one.kind, one.key, value)
        return list(self.last.values())


@patient
@given(st.lists(STATES, min_size=1, max_size=4))
def test_states_round_trip_through_what_changed(states: list[CharacterState]) -> None:
    kept, before = Kept(), None
    for state in states:
        assert restore_state(kept.take(state_versions("ann", before, state))) == state
        assert state_versions("ann", state, state) == ()
        before = state


@patient
@given(STATES)
def test_an_equal_state_adds_nothing(state: CharacterState) -> None:
    again = restore_state(Kept().take(state_versions("ann", None, state)))
    assert again is not state
    assert state_versions("ann", state, again) == ()


TURNS = st.lists(
    st.tuples(
        st.fixed_dictionaries(dict.fromkeys(AGENTS, st.one_of(TRIED, st.sampled_from(AGENTS).map(say)))),
        st.lists(
            st.one_of(
                st.builds(
                    GodEvent,
                    st.just(0),
                    st.just("hail"),
                    st.just(Audience(everybody=True)),
                    st.just((("cup", "whole"),)),
                ),
                st.builds(InnerVoice, st.just(1), st.sampled_from(AGENTS), st.just("hm")),
                st.builds(Leave, st.just(2), st.sampled_from(AGENTS)),
                st.builds(Join, st.just(3), st.sampled_from(AGENTS), st.just("home")),
            ),
            max_size=2,
        ),
    ),
    max_size=6,
)


@patient
@given(TURNS, st.sampled_from((0, 1)))
def test_a_world_is_restored_as_the_executor_made_it(ticks, notice: int) -> None:
    world, kept = placed(TOWN), Kept()
    assert restore_world(0, kept.take(world_versions(None, world)), ()) == world
    for actions, inputs in ticks:
        before = world
        intents = {me: Intent(actions[me]) for me in world.bodies}
        world, events = step(TOWN, world, intents, clock=CLOCK, rules=HouseRules(leave_notice=notice), inputs=inputs)
        assert restore_world(world.tick, kept.take(world_versions(before, world)), events) == world


def test_so_it_is_where_much_is_said_and_walked() -> None:
    for seed in range(12):
        one, kept = small(seed), Kept()
        world = opening(one.geography)
        kept.take(world_versions(None, world))
        for tick in range(1, one.ticks + 1):
            before = world
            views = {
                me: look(one.geography, world, me, clock=one.clock, ambient=one.ambient(tick - 1))
                for me in world.bodies
            }
            world, events = step(
                one.geography, world, {me: Intent(mind(seed, view)) for me, view in views.items()},
                clock=one.clock, rules=one.rules, ambient=one.outside(tick), scripted=one.now(tick),
            )  # fmt: skip
            assert restore_world(tick, kept.take(world_versions(before, world)), events) == world


def test_a_quiet_tick_adds_nothing() -> None:
    world = placed(TOWN)
    assert world_versions(world, World(1, world.bodies, world.things, barred=world.barred)) == ()


MADE_OF_EVENTS = {"happened", "outcomes", "heard", "ambient", "told"}
PARTS: dict[str, type[Any]] = {"plan": Plan, "belief": Belief, "account": Account, "goals": Goals}
FOLLOWS = {("account", "next_due"), ("goals", "next_due")}


def state_fields(cls: type[Any]) -> set[str]:
    return {one.name for one in fields(cls) if one.init}


def test_every_field_of_the_world_has_its_kind() -> None:
    assert {kind.field for kind in WORLD} == state_fields(World) - MADE_OF_EVENTS - {"tick"}
    assert len({(kind.field, kind.part) for kind in WORLD}) == len(WORLD)


def test_every_field_of_a_state_has_exactly_one_kind() -> None:
    named = [(kind.field, kind.part) for kind in STATE]
    wanted = {
        (name, part)
        for name in state_fields(CharacterState)
        for part in (state_fields(PARTS[name]) if name in PARTS else {""})
    }
    assert len(named) == len(set(named))
    assert set(named) == wanted - FOLLOWS


@dataclass(frozen=True)
class Carried:
    what: str
    weight: int = 1


@dataclass(frozen=True)
class Longer:
    """A state with two fields more."""

    carried: Mapping[str, Carried]
    tired: int = 0


@patient
@given(
    *(st.builds(Longer, st.dictionaries(NAMES, st.builds(Carried, NAMES, st.integers(1, 3))), st.integers(0, 2)),) * 2
)
def test_a_kind_more_is_a_row_more(before: Longer, after: Longer) -> None:
    kinds = (Kind("carried", "carried", record(Carried)), Kind("tired", "tired", scalar(int), depth=0))
    kept: dict[str, dict[str, Any]] = {"carried": {}, "tired": {"": 0}}
    for old, new in ((Longer({}), before), (before, after)):
        for kind in kinds:
            for keys, value in kind.changed(old, new):
                key = "".join(keys)
                kept[kind.name][key] = value and kind.form.read(key, json.loads(canonical(value)))
    carried = {key: one for key, one in kept["carried"].items() if one is not None}
    assert Longer(carried, kept["tired"][""]) == after


GOAL = {"kind": "visit", "text": "drop in on Bob", "because": [3], "opened": 2}
ROW = {"because": [3], "tick": 2}


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [
        ("goal", "visit//bob//2", {**GOAL, "status": "asleep"}),
        ("goal", "visit//bob//2", {**GOAL, "kind": "whim"}),
        ("goal", "visit//bob//2", {**GOAL, "text": 5}),
        ("goal", "visit//bob//2", {**GOAL, "because": "3"}),
        ("goal", "visit//bob//2", {**GOAL, "because": []}),
        ("goal", "visit//bob//2", {**GOAL, "because": ["3"]}),
        ("goal", "visit//bob//2", {**GOAL, "hour": 10**12}),
        ("goal", "visit//bob//2", {**GOAL, "wish": "more"}),
        ("account", "told/bob//the roof", {"tick": 2}),
        ("account", "told/bob//the roof", {**ROW, "named": 7}),
        ("account", "told/bob", ROW),
        ("relation", "bob", {"summary": ["kind"]}),
        ("belief", "pot", ["kitchen", 5, 3]),
        ("mood", "", 5),
        ("weighed", "3f", "high"),
        ("belief", "pot", ["kitchen", "hot"]),
    ],
)
def test_what_no_rule_would_write_is_not_restored(kind: str, key: str, value: Any) -> None:
    assert restore_state([Version("ann", "goal", "visit//bob//2", GOAL), Version("ann", "account", "told/bob//x", ROW)])
    with pytest.raises(UNREADABLE):
        restore_state([Version("ann", kind, key, value)])
