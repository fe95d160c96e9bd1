"""Order, affect, phases and figures of a panel, for any answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.parts.panel.evaluation import impact, reproducibility, transparency, verifiability
from commonplace.parts.panel.rhythm import NEUTRAL, PHASES, cycle_of, last_tick, rhythm
from commonplace.scenario.scenario import Scenario
from commonplace.world.state import Line
from parts.panel.panels import CARS, question
from sizes import examples

SCENARIO = question(CARS)
PERSONAS = ("thesis", "antithesis", "synthesis")
FLAT = ("Buses stop beside bakeries.", "Tunnels flood each autumn.")


def panel(**settings: object) -> Scenario:
    part = SCENARIO.part.panel.model_copy(update=settings)
    return replace(SCENARIO, part=SCENARIO.part.model_copy(update={"panel": part}))


def spoken(*texts: str, order: tuple[str, ...] = PERSONAS) -> list[Line]:
    return [Line(tick, order[(tick - 1) % 3], "", text) for tick, text in enumerate(texts, start=1)]


def phases(*texts: str, **settings: object) -> list[str]:
    return [said.phase for said in rhythm(panel(**settings), spoken(*texts), len(texts) + 1).said]


phrases = st.sampled_from(
    ("cars are a danger", "I fear fire", "a quiet street", "however", "I am thrilled", "calm and clear", "trees", "no")
)
texts = st.lists(phrases, min_size=1, max_size=4).map(" ".join)
panels = st.builds(
    panel,
    depth=st.integers(1, 4),
    cycle=st.permutations(PERSONAS).map(tuple),
    plan_adjustment=st.booleans(),
    calm=st.sampled_from((0.1, 0.3)),
    tense=st.sampled_from((0.35, 0.5)),
)


@examples(100)
@given(panels, st.lists(st.none() | texts, max_size=15))
def test_each_cycle_has_everybody_once_and_all_figures_are_shares(scenario, said):
    """Whoever computes it, from the lines so far, comes to the same; a missing answer stops nothing."""
    lines: list[Line] = []
    for tick, text in enumerate(said, start=1):
        if tick >= last_tick(scenario):
            break
        turn = rhythm(scenario, lines, tick).turn(tick)
        assert turn is not None
        lines += [Line(tick, turn[0], "", text)] if text else []
    now = min(len(said) + 1, last_tick(scenario))
    state = rhythm(scenario, lines, now)
    assert len(state.said) == len(lines)
    assert all(sorted(order) == sorted(PERSONAS) for order in state.orders)
    assert state.orders[0] == cycle_of(scenario)
    assert all(0 <= one.affect <= 1 and 0 <= one.new <= 1 and one.phase in PHASES for one in state.said)
    assert all(one.affect == two.affect_before for one, two in zip(state.said, state.said[1:], strict=False))
    for one in state.said:
        before = [other.text for other in state.said if other.tick < one.tick]
        figures = (transparency(one.text, before), verifiability(one.text, before, 2, 1), impact(one, state.said))
        assert all(0 <= figure <= 1 for figure in figures)


def test_the_affect_follows_the_arousal_of_the_answers_slowly():
    """fear 0.8 with confidence 1/2; then words without feeling."""
    first, second = rhythm(SCENARIO, spoken("I fear it.", "Buses stop here."), 3).said
    assert first.affect == pytest.approx(0.5 * NEUTRAL + 0.5 * (0.5 * 0.8 + 0.5 * NEUTRAL), abs=1e-6)
    assert second.affect == pytest.approx(0.5 * first.affect + 0.5 * NEUTRAL, abs=1e-6)


def test_each_phase():
    assert phases(*FLAT, calm=0.1) == ["exploration", "exploration"]
    assert phases(*FLAT, calm=0.3) == ["exploration", "rest"]
    assert phases(FLAT[0], "But bakeries stand empty.", calm=0.0)[1] == "tension"
    assert phases("I fear fire, danger and panic.", tense=0.4) == ["tension"]
    assert phases(*FLAT, "Bakeries and tunnels, together.")[2] == "integration"
    assert phases(FLAT[0], FLAT[0], calm=0.1)[1] == "rest"


def test_an_answer_is_asked_for_in_another_tone_when_the_affect_is_low_or_high():
    flat = spoken(*FLAT)
    assert rhythm(panel(calm=0.3), flat, 3).injection == "liven"
    assert rhythm(panel(calm=0.3), flat[:1], 2).injection == ""
    assert rhythm(SCENARIO, spoken("I fear panic.", "I fear danger."), 3).injection == "calm"
    assert rhythm(panel(injection=False, calm=0.3), flat, 3).injection == ""


@pytest.mark.parametrize(
    ("said", "trigger", "order"),
    [
        (("Buses.", "I fear panic.", "Terror, danger, panic!"), "affect", ("thesis", "synthesis", "antithesis")),
        ((*FLAT, "Bakeries stop buses."), "overlooked", ("thesis", "antithesis", "synthesis")),
        ((*FLAT, "Tunnels flood."), "overlooked", ("antithesis", "thesis", "synthesis")),
        ((*FLAT, "Bakeries and tunnels."), "", PERSONAS),
    ],
)
def test_the_order_of_the_next_cycle_follows_from_the_last(said, trigger, order):
    """An order that stays the same is no adjustment, and the last cycle has the original one."""
    state = rhythm(SCENARIO, spoken(*said), 4)
    assert state.orders == (PERSONAS, order)
    made = [one.trigger for one in state.adjustments]
    assert made == ([trigger] if trigger and order != PERSONAS else [])
    assert rhythm(panel(plan_adjustment=False), spoken(*said), 4).orders == (PERSONAS, PERSONAS)
    assert rhythm(panel(depth=2), spoken(*said), 4).orders == (PERSONAS, PERSONAS)


def test_what_an_adjustment_says_is_what_the_ledger_has():
    (made,) = rhythm(SCENARIO, spoken(*FLAT, "Tunnels flood."), 4).adjustments
    assert made.as_json() == {
        "trigger": "overlooked",
        "action": "reorder_persona_cycle",
        "details": {
            "new_order": ["antithesis", "thesis", "synthesis"],
            "persona": "thesis",
            "value": 0.0,
            "depth": 2,
        },
    }


def test_the_four_figures_count_what_they_say():
    sources = ["Cars make the street loud.", "Trees give shade in summer."]
    assert transparency("Loud cars. Shade from trees! Bananas are yellow. Well?", sources) == 0.5
    assert transparency("도시의 자동차는 시끄럽습니다. 바나나는 노랗습니다.", ["자동차가 시끄러운 도시"]) == 0.5
    assert verifiability("“shade in summer” and ‘loud cars’", sources, 0, 0) == 0.5
    assert verifiability("“Shade, in summer”", sources, 3, 1) == 0.5
    assert verifiability("Nothing is quoted.", sources, 0, 0) == 0
    assert reproducibility(["value", "fault"]) == 0.5
    said = rhythm(SCENARIO, spoken("Buses bring bread.", "Bread is stale.", "Stale bread, buses."), 4).said
    assert [impact(one, said) for one in said] == [pytest.approx(2 / 3, abs=1e-6), 1.0, 0.0]
