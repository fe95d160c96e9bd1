"""A turn of a two-hander: a one-sentence plan, and a line that rests on a memory and on the line before."""

from __future__ import annotations

from commonplace.minds.notes import Recalled, Situation, Spot
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.hear import heard
from commonplace.minds.tasks import ConverseInput, DuetInput, DuetOutput

MOMENT = "2031-10-04T12:00:00"
"""A duet has no clock: its talk is always at noon, and its memories say `just now` or nothing."""
UNSTORED = 0
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
    because = tuple(one for one in said.because if one != UNSTORED)
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
    return (Recalled(id=UNSTORED, text=last.text, kind="observation", importance=3, minutes_ago=0, frame=frame),)


def _plan(given: DuetInput, dice: Dice, has_line: bool) -> str:
    rules = grammar(given.who.language)
    if not has_line:
        return ""
    if not given.lines:
        return rules.pick("duet.tell", dice)
    line = heard(given.lines[-1].text, given.who.language)
    rule = "duet.end" if line.act == "bye" else "duet.answer" if line.asks else "duet.react"
    return english.polished(rules.say(rule, "", {"you": given.other.called, "topic": line.topic}, dice))
