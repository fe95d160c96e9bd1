"""The rhythm of a panel: whose turn it is, the affect of its answers, the phase they are in, and changes of the order.

Everything here is a function of the scenario and of the answers given so far, which all personas have heard. So each
of them comes to the same result, and so does whoever reads the run afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import get_args

from commonplace.languages import phrases
from commonplace.memory.analyser import content_words
from commonplace.memory.emotion import feeler
from commonplace.memory.record import Emotion
from commonplace.parts.panel.task import Injection, RhythmPhase
from commonplace.scenario.scenario import Scenario
from commonplace.text import words
from commonplace.world.state import Line

PHASES: tuple[RhythmPhase, ...] = get_args(RhythmPhase)
EXPLORATION, TENSION, INTEGRATION, REST = PHASES
NEUTRAL = 0.3
"""Affect of an answer without words of feeling, and of a panel before its first answer."""
INERTIA = 0.5
"""Share of the affect before an answer in the affect after it."""
TAKEN_UP = 0.1
"""Share of an answer's own words from which another answer is said to take it up."""
FAMILIAR = 0.25
"""Share of new words in an answer at or below which it adds nothing."""
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class PanelPlan:
    """The question of a panel, the personas that answer it, and the bounds of its rhythm."""

    prompt: str
    order: tuple[str, ...]
    """The personas in the order in which they begin."""
    depth: int
    """How often each of them answers."""
    language: str
    injection: bool
    plan_adjustment: bool
    calm: float
    """Affect at or below which an answer is to be livelier, 0–1."""
    tense: float
    """Affect at or above which an answer is to be calmer, 0–1."""

    @classmethod
    def of(cls, scenario: Scenario) -> PanelPlan:
        """Returns the plan of a scenario."""
        panel, language = scenario.part.panel, scenario.language
        ordered = scenario.session.order if scenario.session else ()
        return cls(
            panel.prompt, ordered or cycle_of(scenario), panel.depth, language, panel.injection, panel.plan_adjustment,
            panel.calm, panel.tense,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PanelAnswer:
    """One answer, with what the panel makes of it."""

    tick: int
    persona: str
    depth: int
    """1, 2, 3 …"""
    step: int
    """Place in the cycle, from 1."""
    text: str
    emotion: Emotion
    injection: Injection
    """How the answer was asked for: `liven`, `calm` or empty."""
    affect_before: float
    affect: float
    """Affect amplitude after it, 0–1."""
    phase_before: RhythmPhase
    phase: RhythmPhase
    """Rhythm phase after it."""
    own: frozenset[str] = field(repr=False)
    """The words it brought in: neither in the question nor in an answer before it."""
    new: float = 0.0
    """Share of its words that it brought in, 0–1."""
    taken_up: Mapping[str, float] = field(default_factory=dict[str, float])
    """Persona → share of the own words of that persona's latest answer that occur in this one; others' only."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A change of the order of personas, from one cycle on."""

    depth: int
    """The cycle it holds for first."""
    trigger: str
    """`affect`, `overlooked` or `rest`."""
    order: tuple[str, ...]
    about: str
    """The persona it concerns."""
    value: float
    """What triggered it: the affect, or the share taken up, or the share of new words."""

    def as_json(self) -> dict[str, object]:
        """Returns the change as the ledger has it."""
        details = {"new_order": list(self.order), "persona": self.about, "value": self.value, "depth": self.depth}
        return {"trigger": self.trigger, "action": "reorder_persona_cycle", "details": details}


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A panel as it stands after some answers."""

    said: tuple[PanelAnswer, ...]
    orders: tuple[tuple[str, ...], ...]
    """The order of personas in each cycle whose order is settled; the last one is that of the cycle under way."""
    adjustments: tuple[Adjustment, ...]
    affect: float
    phase: RhythmPhase
    injection: Injection
    """What the next answer is to be, by the affect."""

    def turn(self, tick: int) -> tuple[str, int, int] | None:
        """Returns (persona, depth, step) of a tick: one persona answers in each, from tick 1 on.

        None if it is not settled.
        """
        cycle = len(self.orders[0])
        depth, step = (tick - 1) // cycle, (tick - 1) % cycle
        return (self.orders[depth][step], depth + 1, step + 1) if 0 <= depth < len(self.orders) else None


@cache
def words_against(language: str) -> frozenset[str]:
    """Words that turn against something."""
    return frozenset(phrases(language, "panel")["against"].split())


def cycle_of(scenario: Scenario) -> tuple[str, ...]:
    """Returns the personas in the order in which they begin."""
    return scenario.part.panel.cycle or tuple(character.id for character in scenario.part.characters)


def last_tick(scenario: Scenario) -> int:
    """Returns the tick a panel ends with: one for each answer, and one in which the last of them is heard."""
    return scenario.part.panel.depth * len(cycle_of(scenario)) + 1


def rhythm(scenario: Scenario, lines: Iterable[Line], now: int) -> Rhythm:
    """Returns the panel at the beginning of tick `now`, after these lines. Lines said out of turn do not count.

    Affect: `affect = INERTIA · before + (1 − INERTIA) · x` with `x = c · a + (1 − c) · NEUTRAL`, where a and c are the
    arousal and the confidence that `RuleFeeler` finds in the answer (c = 0 without words of feeling).

    Phase after an answer, the first that holds:
    `integration` – it takes up two other personas (`taken_up` of at least TAKEN_UP each; one if there are two in all
    and it does not turn against it); `tension` – the affect is at `tense` or above, or it takes up another persona with
    a word that turns against something; `rest` – the affect is at `calm` or below, or at most FAMILIAR of its words are
    new; `exploration` – else.
    """
    plan = PanelPlan.of(scenario)
    state, by_tick = beginning(plan), {line.tick: line for line in lines if line.speaker in plan.order}
    for tick in range(1, min(now, last_tick(scenario))):
        turn = state.turn(tick)
        assert turn is not None  # a cycle is settled when the one before has ended
        line = by_tick.get(tick)
        if line is not None and line.speaker == turn[0]:
            state = answered(plan, state, line, turn)
        if turn[2] == len(plan.order):
            state = next_cycle(plan, state, turn[1])
    return state


def beginning(plan: PanelPlan) -> Rhythm:
    """Returns a panel before its first answer."""
    return Rhythm((), (plan.order,), (), NEUTRAL, EXPLORATION, "")


def answered(plan: PanelPlan, before: Rhythm, line: Line, turn: tuple[str, int, int]) -> Rhythm:
    """Returns the panel after one more answer. `turn`: whose, in which cycle, at which place in it."""
    said = _said(plan, before, line, turn)
    state = replace(before, said=(*before.said, said), affect=said.affect, phase=said.phase)
    return replace(state, injection=_injection(plan, state))


def _said(plan: PanelPlan, before: Rhythm, line: Line, turn: tuple[str, int, int]) -> PanelAnswer:
    persona, depth, step = turn
    known = content_words(plan.prompt).union(*(one.own for one in before.said))
    felt = feeler(plan.language)(line.utterance) or Emotion(0.0, 0.0, 0.0, ())
    about = content_words(line.utterance)
    own = about - known
    affect = _rounded(
        INERTIA * before.affect + (1 - INERTIA) * (felt.confidence * felt.arousal + (1 - felt.confidence) * NEUTRAL)
    )
    taken_up = {
        other: _share(about & latest.own, latest.own)
        for other, latest in {one.persona: one for one in before.said}.items()
        if other != persona and latest.own
    }
    new = _share(own, about)
    phase = _phase(plan, line.utterance, affect, taken_up, new)
    return PanelAnswer(
        line.tick, persona, depth, step, line.utterance, felt, before.injection, before.affect, affect, before.phase,
        phase, own, new, taken_up,
    )  # fmt: skip


def _phase(plan: PanelPlan, text: str, affect: float, taken_up: Mapping[str, float], new: float) -> RhythmPhase:
    takes_up = sum(share >= TAKEN_UP for share in taken_up.values())
    turns_against = not words_against(plan.language).isdisjoint(words(text))
    if takes_up >= 2 or (takes_up and len(plan.order) == 2 and not turns_against):
        return INTEGRATION
    if affect >= plan.tense or (takes_up and turns_against):
        return TENSION
    return REST if taken_up and (affect <= plan.calm or new <= FAMILIAR) else EXPLORATION


def _injection(plan: PanelPlan, state: Rhythm) -> Injection:
    """Returns how the next answer should differ. None before the second one: one alone is neither flat nor heated."""
    if not plan.injection or len(state.said) < 2:
        return ""
    return "liven" if state.affect <= plan.calm else "calm" if state.affect >= plan.tense else ""


def next_cycle(plan: PanelPlan, state: Rhythm, depth: int) -> Rhythm:
    """Returns the order of the cycle after `depth`: the original one, unless what was said changes it.

    The last cycle has the original order, so that who brings both sides together has the last word.
    """
    if depth >= plan.depth:
        return state
    cycle = [said for said in state.said if said.depth == depth]
    wanted = plan.plan_adjustment and depth + 1 < plan.depth
    found = _adjusted(plan, state.orders[-1], cycle, depth + 1) if wanted else None
    if found is None or found.order == plan.order:
        return replace(state, orders=(*state.orders, plan.order))
    return replace(state, orders=(*state.orders, found.order), adjustments=(*state.adjustments, found))


def _adjusted(plan: PanelPlan, order: tuple[str, ...], said: Sequence[PanelAnswer], depth: int) -> Adjustment | None:
    """Returns the order of one cycle, changed by the first rule that holds after the one before:

    `affect` – the affect is at `tense` or above: who came last in the original order answers second.
    `overlooked` – the last answer takes up another persona by less than TAKEN_UP: the one it takes up least answers
    just before it.
    `rest` – the cycle ended in rest: who answered second opens the next one.
    """
    if not said or len(order) < 2:
        return None
    last, closer = said[-1], plan.order[-1]
    if last.affect >= plan.tense:
        rest = [one for one in order if one != closer]
        return Adjustment(depth, "affect", (rest[0], closer, *rest[1:]), closer, last.affect)
    if last.taken_up:
        least = min(order, key=lambda one: (last.taken_up.get(one, 1.0), order.index(one)))
        if last.taken_up.get(least, 1.0) < TAKEN_UP:
            rest = [one for one in order if one not in (least, last.persona)]
            return Adjustment(depth, "overlooked", (*rest, least, last.persona), least, last.taken_up[least])
    if last.phase == REST:
        return Adjustment(depth, "rest", (order[1], order[0], *order[2:]), order[1], last.new)
    return None


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return _rounded(len(part) / len(whole)) if whole else 0.0


def _rounded(value: float) -> float:
    return round(value, _DIGITS)
