"""The offline mind: a task's name leads to one pure function of the request and its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from commonplace.minds.asking import Ask
from commonplace.minds.mind import Asker, Reply
from commonplace.minds.notes import Value
from commonplace.minds.offline.act import act
from commonplace.minds.offline.answer import answer, panel_turn
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.duet_turn import duet_turn
from commonplace.minds.offline.embed import embed
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.insights import insights
from commonplace.minds.offline.perceive_event import perceive_event
from commonplace.minds.offline.plan_day import plan_day
from commonplace.minds.offline.plan_parts import plan_hours, plan_minutes
from commonplace.minds.offline.questions import questions
from commonplace.minds.offline.rate import rate
from commonplace.minds.offline.react import react
from commonplace.minds.offline.relate import relate

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
    costs = False
    tries = 1

    def __init__(self, language: str = "en") -> None:
        self.language = language
        grammar(language)

    def answer(self, ask: Ask[Any, Any], asker: Asker) -> Reply:
        """The reply to one question; a task it does not know is a `fault`."""
        function = FUNCTIONS.get(ask.task.name)
        if function is None:
            return Reply(None, "fault", raw=f"the offline mind has no answer to {ask.task.name}")
        return Reply(function(ask.input, Dice.of(asker)))

    async def rest(self) -> None:
        """It holds nothing."""
