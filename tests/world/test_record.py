from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from commonplace.world.deeds import HouseRules, Intent
from commonplace.world.events import Reflected
from commonplace.world.executor import step
from commonplace.world.inputs import GodEvent, InnerVoice, Input, Join, Leave
from commonplace.world.script import Audience
from commonplace.world.state import World, opening, recorded
from commonplace.world.view import look
from world.small_worlds import AGENTS, CLOCK, patient, placed, say, small, village
from world.test_executor import NOTICES, TRIED
from world.test_out_of_order import mind

TOWN = village()
NAMES = st.sampled_from(AGENTS)
INPUTS: st.SearchStrategy[Input] = st.one_of(
    st.builds(GodEvent, seq=st.just(0), text=st.just("hail"), to=st.builds(Audience, agents=st.tuples(NAMES))),
    st.builds(InnerVoice, seq=st.just(1), agent_id=NAMES, text=st.just("hm")),
    st.builds(Leave, seq=st.just(2), agent_id=NAMES),
    st.builds(Join, seq=st.just(3), agent_id=NAMES, area=st.sampled_from(("kitchen", "home"))),
)
TICKS = st.lists(
    st.tuples(
        st.fixed_dictionaries(dict.fromkeys(AGENTS, st.one_of(TRIED, NAMES.map(say)))), st.lists(INPUTS, max_size=3)
    ),
    max_size=6,
)


def bare(world: World) -> World:
    """What a run stores besides events."""
    return World(world.tick, world.bodies, world.things, world.conversations, world.barred)


@patient
@given(TICKS, NOTICES)
def test_state_and_events_make_the_world_whole_again(ticks, notice: int) -> None:
    world = placed(TOWN)
    for actions, inputs in ticks:
        notes = (Reflected(memory_ids=(1,)),)
        intents = {me: Intent(actions[me], notes if me == "ann" else ()) for me in world.bodies}
        world, events = step(TOWN, world, intents, clock=CLOCK, rules=HouseRules(leave_notice=notice), inputs=inputs)
        assert recorded(bare(world), events) == world


def test_so_it_does_where_much_is_said_and_walked() -> None:
    for seed in range(30):
        one = small(seed)
        world = opening(one.geography)
        for tick in range(1, one.ticks + 1):
            intents = {
                me: Intent(mind(seed, look(one.geography, world, me, clock=one.clock, ambient=one.ambient(tick - 1))))
                for me in world.bodies
            }
            world, events = step(
                one.geography, world, intents,
                clock=one.clock, rules=one.rules, ambient=one.outside(tick), scripted=one.now(tick),
            )  # fmt: skip
            assert recorded(bare(world), events) == world
