"""The panel: personas answer a question in cycles, one in each tick; the others listen.

A turn: what was said becomes a memory; whose turn it is looks for its own past answers to such questions, in memories
of earlier runs, and answers. Order, affect and phase follow from the answers (`rhythm`). `store` brings past
answers into a run when it is made, and keeps the answers of a run as coordinates and in the ledger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from commonplace.character.fact import carried
from commonplace.cognition.deferred import deliver, run_job
from commonplace.cognition.perceive import perceive
from commonplace.cognition.remember import rate, store_percepts
from commonplace.cognition.sentences import doing
from commonplace.cognition.situation import recalled, who
from commonplace.cognition.turn import Notebook, Turn, TurnView
from commonplace.engine.beginnings import ANSWERED
from commonplace.engine.stage import Stage
from commonplace.memory import policies
from commonplace.memory.analyser import content_words
from commonplace.memory.importance import scaled
from commonplace.memory.record import Memory
from commonplace.minds.notes import Spoken
from commonplace.parts.panel.rhythm import Rhythm, cycle_of, last_tick, rhythm
from commonplace.parts.panel.store import PanelKeeper, PanelRatings, begin
from commonplace.parts.panel.task import PANEL_TURN, PanelInput, Stance, asked_of
from commonplace.scenario.scenario import Scenario
from commonplace.text import clean
from commonplace.world.actions import Action, Idle, Say
from commonplace.world.happenings import Befell, ISaid, Said, Voiced, happening_of
from commonplace.world.state import Line

EXAMPLES = 2
"""Past answers shown at most."""
WEIGHTY = scaled(0.6)
"""Importance from which a past answer is preferred."""
HEARD = Said | ISaid | Befell | Voiced


def everybody(scenario: Scenario, tick: int) -> Sequence[str]:
    """Returns all characters: those whose turn it is not listen."""
    del tick
    return tuple(scenario.personas)


async def answer_in_turn(view: TurnView) -> Turn:
    """Takes one persona's tick: listens, and answers if it is its turn."""
    notebook = Notebook(view.state)
    await deliver(view, notebook)
    perception = perceive(view)
    notebook.belief = perception.belief
    await store_percepts(view, notebook, [one for one in perception.percepts if isinstance(one.happening, HEARD)])
    action = await _act(view, notebook)
    await rate(view, notebook)
    return notebook.turn(view, action)


async def _act(view: TurnView, notebook: Notebook) -> Action:
    lines = said_here(view)
    state = rhythm(view.scenario, lines, view.tick)
    turn = state.turn(view.tick)
    if turn is None or turn[0] != view.persona.id:
        return Idle(doing=doing(view.scenario.language, "listening"))
    if not view.world.targets.agents:
        return Idle(doing=doing(view.scenario.language, "thinking"))
    examples = _examples(view, notebook, state)
    _, depth, step = turn
    inputs = PanelInput(
        who=who(view.persona),
        role=view.persona.work or view.persona.called,
        seed_prompt=view.scenario.part.panel.prompt,
        stance=stance(view.scenario, view.persona.id),
        depth=depth,
        depths=view.scenario.part.panel.depth,
        step=step,
        phase=state.phase,
        injection=state.injection,
        lines=tuple(
            Spoken(speaker=line.speaker, called=view.scenario.personas[line.speaker].called, text=line.utterance)
            for line in lines
        ),
        recalled=recalled(view.scenario, examples, view.now),
        below=tuple(memory.id for memory in examples if memory.importance < WEIGHTY - 1e-9),
        rated=_rated(view),
        remarks=_remarks(view, len(cycle_of(view.scenario))),
    )
    answer = await notebook.ask(PANEL_TURN, inputs)
    utterance = clean(answer.value.answer)
    hearer = _hearer(view, lines, utterance)
    notebook.trace["reaction"] = {"decision": "talk", "target": hearer, "reason": _reason(inputs)}
    notebook.trace["panel"] = _as_json(state, inputs)
    return Say(
        to_agent_id=hearer,
        utterance=utterance,
        facts=carried(view.scenario.facts, utterance),
        because=tuple(memory for memory in answer.value.because if memory in view.draft),
    )


def said_here(view: TurnView) -> list[Line]:
    """Returns what has been said in the room, oldest first."""
    return sorted((line for talk in view.world.conversations for line in talk.lines), key=lambda line: line.tick)


def stance(scenario: Scenario, persona: str) -> Stance:
    """Returns a persona's part in the discussion, whatever the order of a cycle: `claim`, `oppose` or `join`.

    By the order in which they begin: the first claims, the last of three or more joins, the others oppose.
    """
    cycle = cycle_of(scenario)
    if persona == cycle[0]:
        return "claim"
    return "join" if persona == cycle[-1] and len(cycle) > 2 else "oppose"


def _hearer(view: TurnView, lines: Sequence[Line], utterance: str) -> str:
    """Returns the next persona to answer that is here, after the order that this answer leads to."""
    state = rhythm(view.scenario, [*lines, Line(view.tick, view.persona.id, "", utterance)], view.tick + 1)
    following = [state.turn(view.tick + more) for more in range(1, len(state.orders[0]))]
    here = view.world.targets.agents
    return next((turn[0] for turn in following if turn and turn[0] in here), min(here))


def _rated(view: TurnView) -> float | UnsetType:
    session = view.scenario.session
    mean = session.rating_below(view.persona.id) if session else None
    return UNSET if mean is None else mean


def _remarks(view: TurnView, ticks: int) -> tuple[str, ...]:
    """Returns what came from outside since the persona answered last, oldest first, without the question itself."""
    found: list[str] = []
    for memory in view.draft.backwards():
        if memory.tick <= max(2, view.tick - ticks):
            break
        outside = happening_of(memory.details)
        if isinstance(outside, Befell | Voiced):
            found.append(outside.text)
    return tuple(reversed(found))


def _examples(view: TurnView, notebook: Notebook, state: Rhythm) -> list[Memory]:
    """Returns the persona's own past answers to be shown, at most EXAMPLES, the preferred ones first.

    Ranked by `lexical` against the question, in four passes until there are enough: important ones of the same phase
    and emotion, important ones, those of the same phase and emotion, all. One that has no word of content in common
    with the question does not compete.
    """
    query = view.scenario.part.panel.prompt
    unrelated = _unrelated(view.draft.search(tags=[ANSWERED]), query)
    if unrelated is None:
        return []
    alike: dict[str, Any] = {"details": {"rhythm_phase": state.phase}}
    if state.said and state.said[-1].emotion.keywords:
        alike["emotion"] = {"keywords": state.said[-1].emotion.keywords}
    found: dict[int, Memory] = {}
    for weight, likeness in ((WEIGHTY, alike), (WEIGHTY, {}), (None, alike), (None, {})):
        retrieval = view.memories.retrieve(
            query,
            at=view.now,
            k=EXAMPLES - len(found),
            policy=policies.LEXICAL,
            purpose="examples",
            exclude=unrelated | found.keys(),
            tags=[ANSWERED],
            min_importance=weight,
            **likeness,
        )
        if retrieval.found:
            notebook.retrieved(retrieval)
        found |= {memory.id: memory for memory in retrieval.found}
        if len(found) >= EXAMPLES:
            break
    return list(found.values())


def _unrelated(past: Sequence[Memory], question: str) -> frozenset[int] | None:
    """Returns the past answers that have nothing to do with the question; None if that is all of them."""
    about = content_words(question)
    found = frozenset(
        memory.id
        for memory in past
        if about.isdisjoint(content_words(f"{memory.full_text} {asked_of(happening_of(memory.details))}"))
    )
    return found if len(found) < len(past) else None


def _reason(inputs: PanelInput) -> str:
    injection = f", asked to {inputs.injection}" if inputs.injection else ""
    return f"{inputs.stance}, cycle {inputs.depth}, step {inputs.step}, {inputs.phase}{injection}"


def _as_json(state: Rhythm, inputs: PanelInput) -> dict[str, Any]:
    """Returns what `why` shows of the panel: the state in which the persona was asked."""
    return {
        "depth": inputs.depth,
        "step": inputs.step,
        "order": list(state.orders[-1]),
        "phase": state.phase,
        "affect": state.affect,
        "injection": state.injection,
        "examples": [memory.id for memory in inputs.recalled],
        "below": list(inputs.below),
        "adjustments": [one.as_json() for one in state.adjustments],
    }


PANEL = Stage(
    "panel",
    everybody,
    answer_in_turn,
    run_job,
    length=last_tick,
    begin=begin,
    keep=PanelKeeper,
    ratings=PanelRatings,
)
