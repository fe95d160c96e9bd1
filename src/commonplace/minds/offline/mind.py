"""The offline mind: a task's name leads to one pure function of the request and its key."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any

from commonplace.memory.embedding import default_embedder, packed
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.notes import Person, Recalled, Situation, Spoken, Spot, Value, Who
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.happenings import perceive_event
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.plan import plan_day, plan_hours, plan_minutes
from commonplace.minds.offline.rate import rate
from commonplace.minds.offline.react import act, react
from commonplace.minds.offline.reflect import insights, questions, relate
from commonplace.minds.tasks import (
    NO_ANSWER,
    AnswerInput,
    AnswerOutput,
    ConverseInput,
    ConverseOutput,
    DuetInput,
    DuetOutput,
    EmbedInput,
    EmbedOutput,
    PanelInput,
    PanelOutput,
)

# ── embed ────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Vectors of texts: the built-in embedder's, written as a model server's are.


def embed(given: EmbedInput, dice: Dice) -> EmbedOutput:  # noqa: ARG001 – one signature for all tasks
    """A vector per text; empty for one without a word."""
    vectors = default_embedder().embed(given.texts)
    return EmbedOutput(vectors=tuple(b64encode(packed(one)).decode() if one is not None else "" for one in vectors))


# ── answer ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Answering a person from outside: a question put to a character, or to a persona of a panel.


ASKER = "-"
"""The person's id."""
UNSTORED = 0
"""Id of the question, which is no memory; never cited."""
_PERSON = Person(id=ASKER, name="", called="", label="visitor", warmth=20)
_TABLE = Situation(
    moment="2031-10-04T12:00:00", time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="",
    temperature="", place=Spot(id="panel", name="panel"),
)  # fmt: skip


def answer(given: AnswerInput, dice: Dice) -> AnswerOutput:
    """What the memories recalled give for an answer; an honest nothing where they give none."""
    asked = Spoken(speaker=ASKER, called="", text=given.question)
    said = _reply(given.who, given.situation, (*given.lines, asked), given.recalled, dice)
    return AnswerOutput(answer=said.utterance or _nothing(given.who), because=_cited(said))


def panel_turn(given: PanelInput, dice: Dice) -> PanelOutput:
    """A reply to what was said last, or to the seed prompt."""
    line = given.lines[-1].text if given.lines else given.seed_prompt
    asked = Spoken(speaker=ASKER, called="", text=line)
    said = _reply(given.who, _TABLE, (asked,), given.recalled, dice)
    return PanelOutput(answer=said.utterance or _nothing(given.who), because=_cited(said))


def _reply(
    who: Who, situation: Situation, lines: tuple[Spoken, ...], recalled: tuple[Recalled, ...], dice: Dice
) -> ConverseOutput:
    """The talk as the offline mind knows talks: the last line was heard just now."""
    frame = {"what": "said", "who": ASKER, "called": "", "quote": lines[-1].text, "to_me": "1"}
    heard = Recalled(id=UNSTORED, text=lines[-1].text, kind="observation", importance=3, minutes_ago=0, frame=frame)
    talk = ConverseInput(
        who=who, situation=situation, hearer=_PERSON, purpose="reply", lines=lines, recalled=(*recalled, heard)
    )
    return converse(talk, dice)


def _cited(said: ConverseOutput) -> tuple[int, ...]:
    return tuple(memory for memory in said.because if memory != UNSTORED)


def _nothing(who: Who) -> str:
    return NO_ANSWER.get(who.language, NO_ANSWER["en"])


# ── duet_turn ────────────────────────────────────────────────────────────────────────────────────────────────────────
# A turn of a two-hander: a one-sentence plan, and a line that rests on a memory and on the line before.


MOMENT = "2031-10-04T12:00:00"
"""A duet has no clock: its talk is always at noon, and its memories say `just now` or nothing."""
UNSTORED_duet_turn = 0
"""Id of the last line where it did not become a memory; never cited."""
_STAGE = Situation(
    moment=MOMENT, time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="", temperature="",
    place=Spot(id="stage", name="stage"),
)  # fmt: skip


def duet_turn(given: DuetInput, dice: Dice) -> DuetOutput:
    """The plan and the utterance; who has nothing left to say takes leave once and then falls silent."""
    reply = converse(_as_talk(given), dice)
    said = converse(_as_talk(given, opens=True), dice) if reply.ends else reply
    if not said.utterance and not _has_taken_leave(given):
        said = reply
    because = tuple(one for one in said.because if one != UNSTORED_duet_turn)
    return DuetOutput(plan=_plan(given, dice, bool(said.utterance))[:200], utterance=said.utterance, because=because)


def _has_taken_leave(given: DuetInput) -> bool:
    return any(heard(line.text, given.who.language).act == "bye" for line in given.lines[-2:])


def _as_talk(given: DuetInput, *, opens: bool = False) -> ConverseInput:
    """The turn as a line of talk. The last line counts as heard even when it was not stored as a memory.

    Nobody leaves a stage: where a reply would take leave, the speaker rather `opens` another subject.
    """
    recalled = given.recalled
    if given.lines and given.lines[-1].speaker == given.other.id:
        recalled = (*recalled, *_heard_just_now(given))
    mine = tuple(line for line in given.lines if line.speaker == given.who.id)
    return ConverseInput(
        who=given.who, situation=_STAGE, hearer=given.other,
        purpose="tell" if opens else "reply" if given.lines else "greet",
        lines=mine if opens else given.lines, recalled=recalled, said=given.said,
    )  # fmt: skip


def _heard_just_now(given: DuetInput) -> tuple[Recalled, ...]:
    last = given.lines[-1]
    if any(last.text in memory.text for memory in given.recalled):
        return ()
    frame = {"what": "said", "who": last.speaker, "called": last.called, "quote": last.text, "to_me": "1"}
    return (
        Recalled(id=UNSTORED_duet_turn, text=last.text, kind="observation", importance=3, minutes_ago=0, frame=frame),
    )


def _plan(given: DuetInput, dice: Dice, has_line: bool) -> str:
    rules = grammar(given.who.language)
    if not has_line:
        return ""
    if not given.lines:
        return rules.pick("duet.tell", dice)
    line = heard(given.lines[-1].text, given.who.language)
    rule = "duet.end" if line.act == "bye" else "duet.answer" if line.asks else "duet.react"
    return english.polished(rules.say(rule, "", {"you": given.other.called, "topic": line.topic}, dice))


# ── mind ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


FUNCTIONS: Mapping[str, Callable[[Any, Dice], Value]] = {
    "rate": rate,
    "plan_day": plan_day,
    "plan_hours": plan_hours,
    "plan_minutes": plan_minutes,
    "react": react,
    "act": act,
    "converse": converse,
    "questions": questions,
    "insights": insights,
    "relate": relate,
    "duet_turn": duet_turn,
    "perceive_event": perceive_event,
    "answer": answer,
    "panel_turn": panel_turn,
    "embed": embed,
}


class OfflineMind:
    """Answers every task by rules and a grammar: no model, no network, the same request always the same answer."""

    name = "offline"
    paid = False
    max_attempts = 1

    def __init__(self, language: str = "en") -> None:
        self.language = language
        grammar(language)

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """The reply to one question; a task it does not know is a `fault`."""
        function = FUNCTIONS.get(ask.task.name)
        if function is None:
            return Reply(None, "fault", raw=f"the offline mind has no answer to {ask.task.name}")
        return Reply(function(ask.input, Dice.of(request_key)))

    async def close(self) -> None:
        """It holds nothing."""
