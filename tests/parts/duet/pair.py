"""Ada and Bo in a room: the smallest duet, in RAM, with a mind whose lines are laid down."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cognition.hamlet import Town
from commonplace.memory.record import Memory
from commonplace.minds.mind import RequestKey
from commonplace.minds.tasks import RateInput, RateOutput, TextRating
from commonplace.parts.duet.stage import DUET
from commonplace.parts.duet.tasks import DuetInput, DuetOutput, DuetPlan, DuetReflectInput, DuetReflection
from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.scenario import Scenario
from commonplace.testing import ScriptedMind

PAIR = ("ada", "bo")
NAMES = {"en": ("Ada Lind", "Bo Marsh"), "ko": ("김철수", "이영희")}
SEEDS = {
    "en": ("{0} bought a red kite.", "{0} likes the sea.", "{0} keeps a diary.", "{0} is afraid of dogs."),
    "ko": ("{0}은 빨간 연을 샀다.", "{0}은 바다를 좋아한다.", "{0}은 일기를 쓴다.", "{0}은 개를 무서워한다."),
}  # fmt: skip


def pair(language: str = "en", every: int = 6, duet: Mapping[str, Any] | None = None, **cognition: Any) -> Scenario:
    """The scenario: five memories each, `two_stage`, k 3."""
    names = NAMES[language]
    people = [
        {
            "id": agent,
            "name": name,
            "called": name.split()[0] if language == "en" else name[1:],
            "age": 40,
            "traits": ["calm"],
            "goals": ["win the kite race" if language == "en" else "연날리기 대회에서 이기기"],
            "home": "room",
            "memories": [{"text": text.format(name), "importance": 5} for text in SEEDS[language]],
        }
        for agent, name in zip(PAIR, names, strict=True)
    ]
    settings = {"importance": "rules", "policy": "two_stage", "k": 3, "reflection": {"every_turns": every}}
    document = {
        "name": "pair",
        "language": language,
        "stage": "duet",
        "clock": {"start": "2031-10-04T10:00:00", "tick_minutes": 1},
        "duet": {"setting": "A room."} | dict(duet or {}),
        "world": {"root": {"id": "room", "name": "Room"}},
        "characters": people,
        "cognition": settings | cognition,
    }
    return compiled_from_text(json.dumps(document, ensure_ascii=False), "pair")


class Actors(ScriptedMind):
    """Says the lines one after another, then others; plans and reflects when asked; rates everything alike."""

    def __init__(self, lines: Sequence[str] = (), rating: int = 5, cites: bool = True) -> None:
        def turn(given: DuetInput, key: RequestKey) -> DuetOutput:
            said = lines[key.tick - 1] if key.tick <= len(lines) else f"Line {'x' * key.tick}."
            return DuetOutput(
                plan="To go on talking.", utterance=said, because=tuple(one.id for one in given.recalled[:1])
            )

        def reflect(given: DuetReflectInput, key: RequestKey) -> DuetReflection:
            because = tuple(note.id for note in given.recalled[:2]) if cites else (9999,)
            return DuetReflection(text=f"I feel at home here, {key.tick}.", because=because)

        def rate(given: RateInput, key: RequestKey) -> RateOutput:
            return RateOutput(ratings=tuple(TextRating(importance=rating) for _ in given.texts))

        super().__init__(
            {"duet_turn": turn, "duet_plan": lambda *_: DuetPlan(plan="To ask."), "duet_reflect": reflect, "rate": rate}
        )

    def inputs(self, task: str) -> list[Any]:
        return [ask.input for _, ask in self.asked if ask.task.name == task]


def played(
    ticks: int, scenario: Scenario | None = None, mind: ScriptedMind | None = None, lines: Sequence[str] = ()
) -> Town:
    return Town(scenario or pair(), mind or Actors(lines), stage=DUET).live(ticks)


def memories(town: Town, agent: str, kind: str = "") -> list[Memory]:
    """What it remembers beside the scenario's memories."""
    return [memory for memory in town.memories(agent, kind) if memory.source != "scenario"]


def dropped(town: Town, tick: int) -> list[list[Any]]:
    """What the turn of a tick decided not to remember."""
    (turn,) = town.ticks[tick - 1].turns.values()
    return turn.trace.get("dropped", [])


def reasons(town: Town, tick: int) -> dict[str, str]:
    """What the turn of a tick remembered: text → reason."""
    ((agent, turn),) = town.ticks[tick - 1].turns.items()
    texts = {memory.id: memory.text for memory in town.memories(agent)}
    return {texts[memory]: reason for memory, reason in turn.trace.get("stored", [])}


Change = Callable[[dict[str, Any]], object]
