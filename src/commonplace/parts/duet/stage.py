"""The duet: two characters in one room, speaking in alternate turns (the sitcom document's §7.2).

A turn reads from top to bottom: retrieve for context, partner and goal; reflect every so many turns; plan one sentence;
say one or two; store what matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from commonplace.character.fact import carried
from commonplace.cognition.converse import emoji_for
from commonplace.cognition.deferred import deliver, run_job
from commonplace.cognition.perceive import Percept, perceive
from commonplace.cognition.remember import PLAN, REFLECTION, NewMemory, remember, store_percepts
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import doing, sentence
from commonplace.cognition.situation import person, recalled, who
from commonplace.cognition.turn import Notebook, Turn, TurnView
from commonplace.engine.stage import Stage
from commonplace.languages import phrases
from commonplace.memory.emotion import feeler
from commonplace.memory.importance import RuleRater
from commonplace.memory.record import Memory
from commonplace.memory.reflection import TurnTrigger
from commonplace.minds.mind import Answer, Task
from commonplace.minds.notes import Recalled, Spoken, changed
from commonplace.minds.prompts.speech_guard import first_sentences
from commonplace.parts.duet.store_policy import DialogueLine, store_lines
from commonplace.parts.duet.tasks import (
    DUET_PLAN,
    DUET_REFLECT,
    DUET_TURN,
    LONGEST_PLAN,
    LOST_THREAD,
    DuetInput,
    DuetOutput,
    DuetReflectInput,
)
from commonplace.scenario.scenario import Scenario
from commonplace.text import clean, shortened, words
from commonplace.world.actions import Action, Idle, Say
from commonplace.world.events import Reflected
from commonplace.world.happenings import Befell, Concluded, ISaid, Meant, Said, Voiced, happening_of
from commonplace.world.state import Line as Uttered

THOUGHTFUL = 4
"""Importance of a reflection on the dialogue, to which its events and feelings add. A goal or a name in the words it
quotes adds nothing: the query has both, so that the same few thoughts would come up on every turn."""
EARLIER = 20
"""Latest reflections a new one must not restate."""
CONTEXT = 6
"""Latest lines that are the context of a query: with fewer of them the goal in it decides, turn after turn."""
UNTOLD = 6
"""Memories told as not told yet."""
TOLD = 0.6
"""Share of its words that tells that something was told."""
OUTSIDE = Befell | Voiced
"""Frames of what happens without either of the two."""


def alternate(scenario: Scenario, tick: int) -> Sequence[str]:
    """Returns the two characters in turn, the first of the scenario file beginning at tick 1."""
    pair = [character.id for character in scenario.part.characters][:2]
    return (pair[(tick - 1) % len(pair)],)


async def converse_in_turn(view: TurnView) -> Turn:
    """Takes one turn of the dialogue: answers its end or, at the beginning, the setting."""
    return await converse_about(view, context(view), reflects=_reflection_is_due(view))


async def converse_about(view: TurnView, context: str, *, reflects: bool) -> Turn:
    """Takes one turn of the dialogue that answers a context; `reflects` tells whether a reflection is due."""
    notebook = Notebook(view.state)
    await deliver(view, notebook)
    perception = perceive(view)
    notebook.belief = perception.belief
    await store_percepts(view, notebook, [one for one in perception.percepts if isinstance(one.happening, OUTSIDE)])
    other = next(iter(sorted(view.world.bodies)), "")
    notebook.trace["context"] = context
    if other in view.world.targets.agents:
        action = await _take_turn(view, notebook, other, perception.percepts, reflects=reflects)
    else:
        action = Idle(doing=doing(view.scenario.language, "listening"))
    return notebook.turn(view, action)


async def _take_turn(
    view: TurnView, notebook: Notebook, other: str, percepts: Sequence[Percept], *, reflects: bool
) -> Action:
    dialogue = _dialogue(view)
    found = await retrieve(view, notebook, "duet", (query(view, other, notebook.trace["context"]),))
    if reflects:
        await _reflect(view, notebook, other, dialogue, found)
    news = tuple(one.text for one in percepts if isinstance(one.happening, OUTSIDE))
    answer = await _words(view, notebook, other, dialogue, found, news)
    utterance, plan = clean(answer.value.utterance), _plan(answer.value.plan)
    notebook.mood = (
        answer.value.mood or _felt(view, [utterance, *(line.text for line in dialogue[-1:])]) or notebook.mood
    )
    notebook.trace["reaction"] = {"decision": "talk", "target": other, "reason": plan}
    if notebook.mood:
        notebook.trace["mood"] = notebook.mood
    lines = [
        _heard(view, one, said)
        for one in percepts
        if isinstance(said := one.happening, Said) and view.scenario.cognition.observe
    ]
    if utterance and answer.outcome == "value":
        notebook.said[f"{view.tick:06d}"] = utterance
    if utterance:
        lines.append(_said(view, other, utterance, answer))
    await store_lines(view, notebook, lines)
    await _store_plan(view, notebook, plan)
    return _say(view, other, utterance, answer.value)


# ── A, B: query and retrieval ────────────────────────────────────────────────────────────────────────────────────────


def context(view: TurnView) -> str:
    """Returns the end of the dialogue, or the setting at its beginning."""
    said = " ".join(line.text for line in _dialogue(view)[-CONTEXT:])
    return _one_line(said or view.scenario.part.duet.setting)


def query(view: TurnView, other: str, context: str) -> str:
    """Joins context, partner and goal into a query."""
    called = view.scenario.personas[other].called
    template = phrases(view.scenario.language, "duet")["query"]
    return template.format(context=_one_line(context), other=called, goal=_one_line(_goal(view)))


def _dialogue(view: TurnView) -> tuple[Spoken, ...]:
    """Returns the latest lines, oldest first. Placeholders for missing answers are left out."""
    called = {agent: persona.called for agent, persona in view.scenario.personas.items()}
    return tuple(
        Spoken(
            speaker=line.speaker, called=called[line.speaker], text=line.utterance,
            speech_act=line.speech_act, topic=line.topic,
        )
        for line in _uttered(view)[-view.scenario.part.duet.lines :]
    )  # fmt: skip


def _uttered(view: TurnView) -> list[Uttered]:
    talk, placeholder = view.world.talk, phrases(view.scenario.language, "lines")[LOST_THREAD]
    return [line for line in talk.lines if line.utterance != placeholder] if talk else []


def _goal(view: TurnView) -> str:
    return view.persona.goals[0] if view.persona.goals else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


# ── C: reflection ────────────────────────────────────────────────────────────────────────────────────────────────────


async def _reflect(
    view: TurnView, notebook: Notebook, other: str, dialogue: Sequence[Spoken], found: Sequence[Recalled]
) -> None:
    """Adds one to three sentences that cite what they rest on, every `every_turns` turns of the dialogue.

    Without a usable answer it is tried again on the character's next turn.
    """
    inputs = DuetReflectInput(
        who=who(view.persona),
        other=person(view, other, notebook.relations),
        goal=_goal(view),
        lines=tuple(dialogue),
        recalled=tuple(found),
        earlier=tuple(memory.text for memory in view.draft.search(kinds={REFLECTION}, limit=EARLIER)),
        mood=notebook.mood,
    )
    answer = await notebook.ask(DUET_REFLECT, inputs)
    text, shown = clean(answer.value.text), {note.id for note in found}
    named = tuple(memory for memory in answer.value.because if memory in shown)
    rests_on = named or tuple(note.id for note in found)
    if not text or not rests_on:
        return
    notebook.reflected = view.tick
    notebook.mood = answer.value.mood or _felt(view, [text])
    known = view.draft.earliest(lambda thought: thought == text)
    if known is not None:
        same = phrases(view.scenario.language, "stored")["same"].format(memory=known)
        notebook.not_stored(text, same, round(view.draft.get(known).importance), REFLECTION)
        return
    reason = phrases(view.scenario.language, "duet")["every"]
    draft = NewMemory(
        text,
        REFLECTION,
        Concluded(about=other),
        view.now,
        citations=rests_on,
        reason=reason.format(view.scenario.cognition.reflection.every_turns),
        importance=_thoughtful(view.scenario.language)(text),
    )
    memories = await remember(view, notebook, [draft])
    notebook.notes.append(Reflected(memory_ids=tuple(memory.id for memory in memories)))


@cache
def _thoughtful(language: str) -> RuleRater:
    return RuleRater(language, base=THOUGHTFUL)


def _reflection_is_due(view: TurnView) -> bool:
    """Tells whether enough turns were taken since the last reflection, or since the beginning."""
    settings = view.scenario.cognition
    every = settings.reflection.every_turns
    return bool(every) and settings.reflect and TurnTrigger(every).due(view.tick - max(view.state.reflected, 1))


# ── D, E: plan and utterance ─────────────────────────────────────────────────────────────────────────────────────────


async def _words(
    view: TurnView,
    notebook: Notebook,
    other: str,
    dialogue: tuple[Spoken, ...],
    found: tuple[Recalled, ...],
    news: tuple[str, ...],
) -> Answer[DuetOutput]:
    """Asks for the plan and the utterance, in one request or in two."""
    duet = view.scenario.part.duet
    reflections = view.draft.search(kinds={REFLECTION}, limit=1)
    inputs = DuetInput(
        who=who(view.persona),
        other=person(view, other, notebook.relations),
        goal=_goal(view),
        setting=duet.setting or notebook.trace["context"],
        lines=dialogue,
        recalled=found,
        untold=_untold(view, dialogue[-1].topic if dialogue else ""),
        said=tuple(notebook.said.values()),
        heard=tuple(line.utterance for line in _uttered(view) if line.speaker == other),
        news=news,
        reflection=reflections[0].text if reflections else "",
        mood=notebook.mood,
    )
    plan = ""
    if duet.requests == 2:
        plan = _plan((await notebook.ask(_warm(DUET_PLAN, duet.temperature), inputs)).value.plan)
        inputs = changed(inputs, plan=plan)
    answer = await notebook.ask(_warm(DUET_TURN, duet.temperature), inputs)
    return replace(answer, value=answer.value.model_copy(update={"plan": plan})) if plan else answer


def _untold(view: TurnView, topic: str) -> tuple[Recalled, ...]:
    """Returns what the character began with and has not told yet, on the topic first, then by importance.

    A dialogue never runs out of subjects before that.
    """
    said = [frozenset(words(line)) for line in view.state.said.values()]
    waiting = [one for one in view.draft.search(source="scenario") if any(_is_new(text, said) for text in _tells(one))]
    waiting.sort(key=lambda one: (not topic or happening_of(one.details).topic != topic, -one.importance, one.id))
    return recalled(view.scenario, waiting[:UNTOLD], view.now)


def _tells(memory: Memory) -> Sequence[str]:
    return memory.details.get("tell") or (memory.text,)


def _is_new(text: str, said: Sequence[frozenset[str]]) -> bool:
    """Tells whether no earlier line has most of its words. A line adds words of its own, and endings differ."""
    wanted = frozenset(words(text))
    return not any(len(wanted & line) >= TOLD * len(wanted) for line in said)


@cache
def _warm(task: Task[Any, Any], temperature: float) -> Task[Any, Any]:
    return replace(task, temperature=temperature)


def _plan(text: str) -> str:
    """Shortens a plan to one sentence."""
    return shortened(first_sentences(clean(text), 1), LONGEST_PLAN)


def _felt(view: TurnView, texts: Sequence[str]) -> str:
    """Returns the feelings of the first text that names any; empty if none does."""
    feel = feeler(view.scenario.language)
    return next((", ".join(felt.keywords[:2]) for text in texts if (felt := feel(text)) and felt.keywords), "")


def _say(view: TurnView, other: str, utterance: str, output: DuetOutput) -> Action:
    if not utterance:
        return Idle(doing=doing(view.scenario.language, "thinking"))
    return Say(
        to_agent_id=other,
        utterance=utterance,
        facts=carried(view.scenario.facts, utterance),
        emoji=emoji_for(utterance, output.speech_act, view.scenario.language),
        because=tuple(memory for memory in output.because if memory in view.draft),
        speech_act=output.speech_act,
        topic=output.topic,
    )


# ── F: what may be stored ────────────────────────────────────────────────────────────────────────────────────────────


def _heard(view: TurnView, percept: Percept, said: Said) -> DialogueLine:
    placeholder = phrases(view.scenario.language, "lines")[LOST_THREAD]
    return DialogueLine(percept.text, said, percept.event, own=False, is_placeholder=said.quote == placeholder)


def _said(view: TurnView, other: str, utterance: str, answer: Answer[DuetOutput]) -> DialogueLine:
    """Returns the action that says the line. Nobody else acts in this tick, so nothing can come between."""
    hearer, output = view.scenario.personas[other], answer.value
    text = sentence(view.scenario.language, "i_said", name=view.persona.name, to_name=hearer.name, quote=utterance)
    said = ISaid(to=other, to_called=hearer.called, quote=utterance, speech_act=output.speech_act, topic=output.topic)
    event = f"t{view.tick}.{view.persona.id}.0"
    return DialogueLine(text, said, event, own=True, is_placeholder=answer.outcome != "value")


async def _store_plan(view: TurnView, notebook: Notebook, plan: str) -> None:
    if not plan or not view.scenario.part.duet.store_plans:
        return
    text = sentence(view.scenario.language, "intent", name=view.persona.name, quote=plan)
    await remember(view, notebook, [NewMemory(text, PLAN, Meant(), view.now, reason="store_plans")])


DUET = Stage("duet", alternate, converse_in_turn, run_job)
