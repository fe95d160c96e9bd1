"""A reaction with all that was asked for besides: ratings of what is new, the words to say, the action itself.

Each part is the answer to the single question it stands for, made up from the reaction's own input.
"""

from __future__ import annotations

from commonplace.minds.notes import Item, Person
from commonplace.minds.offline.act import act
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.rate import rate
from commonplace.minds.tasks import (
    ActInput,
    ActOutput,
    ConverseInput,
    RateInput,
    ReactInput,
    ReactOutput,
    Stroke,
    Targets,
)


def completed(answer: ReactOutput, given: ReactInput, dice: Dice) -> ReactOutput:
    """The answer and what the input asks for with it; the answer as it is when it asks for nothing more."""
    if given.unrated:
        ratings = rate(RateInput(who=given.who, texts=given.unrated), dice.with_("ratings")).ratings
        answer = answer.model_copy(update={"ratings": ratings})
    if given.targets is not None:
        answer = answer.model_copy(update={"act": _action(answer, given, given.targets, dice.with_("act"))})
    if given.speaks and answer.decision == "talk":
        answer = _spoken(answer, given, dice.with_("words"))
    return answer


def _spoken(answer: ReactOutput, given: ReactInput, dice: Dice) -> ReactOutput:
    """With the words, resting on what the line rests on; left open when these memories give nothing to say."""
    hearer = next((person for person in given.situation.people if person.id == answer.target), None)
    if hearer is None:
        return answer
    line = converse(_talk(answer, given, hearer), dice)
    if not line.utterance:
        return answer
    return answer.model_copy(
        update={"utterance": line.utterance, "ends": line.ends, "facts": line.facts, "because": line.because}
    )


def _talk(answer: ReactOutput, given: ReactInput, hearer: Person) -> ConverseInput:
    return ConverseInput(
        who=given.who,
        situation=given.situation,
        hearer=hearer,
        purpose=answer.purpose,
        lines=given.lines,
        recalled=given.recalled,
        facts=given.facts,
        said=given.said.get(hearer.id, ()),
        told=given.told.get(hearer.id, ()),
        now=given.now,
        later=given.later,
    )


def _action(answer: ReactOutput, given: ReactInput, targets: Targets, dice: Dice) -> ActOutput:
    """The plan's next step; where a stroke that begins now leads, or staying where one waits."""
    item, stroke = given.now, answer.stroke
    if stroke is not None and stroke.start == given.situation.time:
        item = _item(stroke)
        targets = _towards(targets, "" if stroke.location == given.situation.place.id else stroke.location)
    elif answer.decision == "wait" and targets.step == "MOVE":
        targets = _towards(targets, "")
    asked = ActInput(
        **dict(targets),
        who=given.who,
        situation=given.situation,
        item=item,
        reaction=answer.reason if answer.decision != "keep" else "",
        recalled=given.recalled,
    )
    return act(asked, dice)


def _towards(targets: Targets, place: str) -> Targets:
    """The targets with a walk to the place as next step; with none, empty."""
    kind = "MOVE" if place else "IDLE"
    return targets.model_copy(update={"step": kind, "step_target": place, "step_verb": "", "step_doing": ""})


def _item(stroke: Stroke) -> Item:
    return Item(
        start=stroke.start,
        minutes=stroke.minutes,
        location=stroke.location,
        location_name=stroke.location,
        do=stroke.do,
        because=stroke.because,
    )
