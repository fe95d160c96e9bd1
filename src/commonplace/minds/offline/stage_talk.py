"""Talk outside a town, made of the town's talk: the turns of a duet."""

from __future__ import annotations

from commonplace.minds.notes import Recalled, Situation, Spoken, Spot
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.hear import heard
from commonplace.minds.tasks import ConverseInput, ConverseOutput, DuetInput, DuetOutput

UNSTORED = 0
"""Id of a line just heard that did not become a memory; never cited."""
_NOWHERE = Situation(
    moment="2031-10-04T12:00:00", time="12:00", day=0, weekday="", part_of_day="midday", sky="", wind="",
    temperature="", place=Spot(id="stage", name="stage"),
)  # fmt: skip
"""A stage has no clock: it is always noon, so that memories are told with `just now` or without a time."""


def duet_turn(given: DuetInput, dice: Dice) -> DuetOutput:
    """The plan and the utterance; a speaker with nothing left to say takes leave once and then stays silent."""
    # Nobody leaves a stage: where a reply would take leave, the speaker opens another subject.
    reply = converse(_duet_talk(given), dice)
    said = converse(_duet_talk(given, opens=True), dice) if reply.ends else reply
    has_taken_leave = any(heard(line, given.who.language).act == "farewell" for line in given.lines[-2:])
    if not said.utterance and not has_taken_leave:
        said = reply
    return DuetOutput(
        plan=_plan(given, dice)[:200] if said.utterance else "",
        utterance=said.utterance,
        because=_cited(said),
        speech_act=said.speech_act,
        topic=said.topic,
    )


def _duet_talk(given: DuetInput, *, opens: bool = False) -> ConverseInput:
    """The turn as a line of talk. The last line counts as heard even when it was not stored as a memory."""
    recalled, last = given.recalled, given.lines[-1] if given.lines else None
    if last is not None and last.speaker == given.other.id and not any(last.text in one.text for one in recalled):
        recalled = (*recalled, _just_heard(last))
    mine = tuple(line for line in given.lines if line.speaker == given.who.id)
    return ConverseInput(
        who=given.who, situation=_NOWHERE, hearer=given.other,
        purpose="tell" if opens else "reply" if given.lines else "greet",
        lines=mine if opens else given.lines, recalled=recalled, said=given.said,
    )  # fmt: skip


def _just_heard(line: Spoken) -> Recalled:
    frame = {"what": "said", "who": line.speaker, "called": line.called, "quote": line.text, "to_me": "1"}
    return Recalled(id=UNSTORED, text=line.text, kind="observation", importance=3, minutes_ago=0, frame=frame)


def _plan(given: DuetInput, dice: Dice) -> str:
    rules = grammar(given.who.language)
    if not given.lines:
        return rules.say("duet.tell", {}, dice)
    line = heard(given.lines[-1], given.who.language)
    rule = "duet.end" if line.act == "farewell" else "duet.answer" if line.asks else "duet.react"
    return english.polished(rules.say(rule, {"you": given.other.called, "topic": line.topic}, dice))


def _cited(said: ConverseOutput) -> tuple[int, ...]:
    return tuple(memory for memory in said.because if memory != UNSTORED)
