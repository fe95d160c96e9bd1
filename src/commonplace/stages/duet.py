"""The duet: two characters in one room, speaking in alternate turns.

A turn is short: retrieve, plan in a sentence, speak; reflect after a number of turns, if the scenario sets one.
"""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.character.fact import carried
from commonplace.cognition.converse import my_talk, said_today, spoken
from commonplace.cognition.deferred import deliver, request_reflection, run_job
from commonplace.cognition.perceive import FIRST, Percept, perceive
from commonplace.cognition.remember import rate, store_percepts
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import doing, sentence
from commonplace.cognition.situation import person, who
from commonplace.cognition.turn import Notebook, Turn, TurnView
from commonplace.engine.stage import Stage
from commonplace.minds.tasks import DUET_TURN, DuetInput, DuetOutput
from commonplace.scenario.scenario import Scenario
from commonplace.text import clean
from commonplace.world.actions import Action, Idle, Say


def alternate(scenario: Scenario, tick: int) -> Sequence[str]:
    """The two characters in turn, the first of the scenario file beginning at tick 1."""
    pair = [character.id for character in scenario.part.characters][:2]
    return (pair[(tick - 1) % len(pair)],)


async def converse_in_turn(view: TurnView) -> Turn:
    """One turn of the dialogue."""
    notebook = Notebook(view.state)
    await deliver(view, notebook)
    perception = perceive(view)
    notebook.belief = perception.belief
    await store_percepts(view, notebook, [*_my_line(view), *_heard(perception.percepts)])
    action = await _speak(view, notebook)
    await rate(view, notebook)
    request_reflection(view, notebook)
    return Turn(
        tick=view.tick,
        agent=view.persona.id,
        action=action,
        notes=tuple(notebook.notes),
        delta=view.draft.delta,
        state=notebook.state(),
        trace=notebook.trace,
    )


def _heard(percepts: Sequence[Percept]) -> list[Percept]:
    """A duet remembers what is said, not what the room looks like."""
    return [percept for percept in percepts if percept.frame["what"] in {"said", "event", "voice"}]


def _my_line(view: TurnView) -> list[Percept]:
    """What I said on my last turn, two ticks ago, as the talk has it: between my turns I see no outcome."""
    talk = my_talk(view)
    mine = [line for line in talk.lines if line.speaker == view.persona.id] if talk else []
    if not mine or mine[-1].tick != view.tick - 2:
        return []
    line = mine[-1]
    hearer = view.scenario.personas[line.to]
    text = sentence(view.scenario.language, "i_said", name=view.persona.name, to_name=hearer.name, quote=line.utterance)
    frame = {"what": "i_said", "to": line.to, "to_called": hearer.called, "quote": line.utterance}
    frame |= {key: value for key, value in (("speech_act", line.speech_act), ("topic", line.topic)) if value}
    event = f"t{line.tick}.{view.persona.id}.0"
    return [Percept("outcome", text, frame, view.persona.id, FIRST, event, own=True, always_new=True)]


async def _speak(view: TurnView, notebook: Notebook) -> Action:
    other = next(iter(sorted(view.world.bodies)), "")
    if other not in view.world.targets.agents:
        return Idle(doing=doing(view.scenario.language, "listening"))
    lines = spoken(view)
    goal = view.persona.goals[0] if view.persona.goals else ""
    setting = view.scenario.part.duet.setting
    called = view.scenario.personas[other].called
    found = await retrieve(view, notebook, "duet", (setting, *(line.text for line in lines[-2:]), called, goal))
    inputs = DuetInput(
        who=who(view.persona),
        other=person(view, other, notebook.relations),
        goal=goal,
        setting=setting,
        lines=lines,
        recalled=found,
        said=said_today(view, other),
    )
    answer = await notebook.ask(DUET_TURN, inputs)
    notebook.trace["reaction"] = {"decision": "talk", "target": other, "reason": answer.value.plan}
    return _say(view, other, answer.value)


def _say(view: TurnView, other: str, output: DuetOutput) -> Action:
    utterance = clean(output.utterance)
    if not utterance:
        return Idle(doing=doing(view.scenario.language, "thinking"))
    return Say(
        to_agent_id=other,
        utterance=utterance,
        facts=carried(view.scenario.facts, utterance),
        because=tuple(memory for memory in output.because if memory in view.draft),
        speech_act=output.speech_act,
        topic=output.topic,
    )


DUET = Stage("duet", alternate, converse_in_turn, run_job)
