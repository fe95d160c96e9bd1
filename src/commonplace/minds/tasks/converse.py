"""`converse`: what to say to somebody, and whether to take leave."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from commonplace.languages import phrases
from commonplace.minds.mind import Task, words_in
from commonplace.minds.notes import (
    NO_PAST,
    FactNote,
    Gathering,
    Given,
    GoalNote,
    ItemNote,
    Past,
    Person,
    Recalled,
    Situation,
    Spoken,
    Who,
    always,
)
from commonplace.minds.prompts.speech_guard import LONGEST_LINE
from commonplace.minds.prompts.teller import plain
from commonplace.minds.tasks.offers import Offers, fact_titles
from commonplace.minds.tasks.scenes import (
    TALKING,
    PromptView,
    Values,
    between,
    carried_facts,
    carriers,
    goal_values,
    latest,
    not_present,
    said_before,
    spoken_lines,
    spoken_of,
    unsaid,
)
from commonplace.minds.tasks.wire import Cited, Facts, Flag, Unasked, WireValue, noted, spoken

LONGEST_EARLIER = 160
"""Characters of a line of the talk."""


class ConverseInput(Given, omit_defaults=True):
    who: Who
    situation: Situation
    hearer: Person
    purpose: str
    lines: tuple[Spoken, ...] = always(())
    recalled: tuple[Recalled, ...] = always(())
    """Best first; the line must rest on at least one of them."""
    facts: tuple[FactNote, ...] = always(())
    said: tuple[str, ...] = always(())
    """Lines I have said to this hearer today; none may be said again."""
    told: tuple[str, ...] = always(())
    """Ids of facts I know this hearer has heard (from me, or in my presence)."""
    now: ItemNote | None = always(None)
    later: tuple[ItemNote, ...] = always(())
    past: Past = always(NO_PAST)
    """What I know of my own past, with this hearer above all."""
    goals: tuple[GoalNote, ...] = always(())
    """What I mean to do; what takes this hearer first."""
    gathering: Gathering | None = None
    """The event that I am at."""


class ConverseOutput(WireValue):
    because: Cited = ()
    utterance: Annotated[str, spoken()] = Field(
        default="", max_length=LONGEST_LINE, validation_alias="say", serialization_alias="say"
    )
    """Empty: nothing to say."""
    ends: Flag = False
    facts: Facts = ()
    """Ids of facts it claims to have mentioned."""
    speech_act: Annotated[str, noted(20), Unasked] = ""
    """What the utterance does: `tell`, `ask.well`, `invite` … Empty where unknown; no model is asked for it."""
    topic: Annotated[str, noted(60), Unasked] = ""
    """What it is about, as the speaker names it: `my roof`, `the lantern festival`. No model is asked for it."""


def _scene(inputs: ConverseInput, view: PromptView) -> Values:
    untold = unsaid(not_present(inputs.recalled, inputs), inputs.lines)
    memories = view.best(view.teller(inputs).memories(untold), TALKING)
    told = said_before(inputs.said, inputs.lines)
    news = {fact: at for fact, at in carriers(inputs.recalled, memories).items() if fact not in inputs.told}
    return {
        "memories": memories,
        "lines": spoken_lines(latest(inputs.lines), LONGEST_EARLIER),
        "goals": goal_values(inputs.goals),
        "past": between(
            inputs.past,
            inputs.hearer.id,
            plain(inputs.hearer.called),
            inputs.who.language,
            talking=bool(inputs.lines),
        ),
        "spoken_of": spoken_of(
            inputs.past, {inputs.hearer.id, *(line.speaker for line in inputs.lines)}, inputs.who.language
        )
        if inputs.lines
        else None,
        "told": [{"called": plain(inputs.hearer.called), "lines": told}] if told else [],
        "facts": carried_facts(inputs.facts, news, {}, view),
    }


CONVERSE = Task(
    "converse",
    ConverseInput,
    ConverseOutput,
    lambda inputs: ConverseOutput(utterance=phrases(inputs.who.language, "lines")["polite"], ends=True),
    max_tokens=300,
    temperature=0.8,
    scene=_scene,
    offers=lambda inputs: Offers(facts=fact_titles(inputs.facts, inputs.who.language)),
    aloud=lambda _, written: words_in(written, "say"),
)
