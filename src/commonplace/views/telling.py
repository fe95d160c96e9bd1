"""An event as one line for people: the same words in the plain view, the log and the talk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from commonplace.text import clean
from commonplace.views.town import Town
from commonplace.views.words import ambient, telling
from commonplace.world.events import NOBODY, Event

Category = Literal["talk", "moves", "plans", "world", "doing"]

CATEGORIES: Mapping[str, Category] = {
    "SAY": "talk", "CONVERSATION_STARTED": "talk", "CONVERSATION_ENDED": "talk",
    "MOVE": "moves", "JOINED": "moves", "LEFT": "moves",
    "PLAN_CHANGED": "plans", "REFLECTED": "plans", "ACTION_REJECTED": "plans", "FORGOT": "plans",
    "IDLE": "doing", "INTERACT": "doing",
}  # fmt: skip
"""Anything else is `world`."""

MARKS: Mapping[str, str] = {
    "SAY": "“", "CONVERSATION_STARTED": "┌", "CONVERSATION_ENDED": "└", "MOVE": "→", "PLAN_CHANGED": "¶",
    "REFLECTED": "◇", "ACTION_REJECTED": "✗", "INTERACT": "•", "OBJECT_STATE_CHANGED": "▪", "TIME_ADVANCED": "─",
    "WEATHER_CHANGED": "≈", "SCRIPTED": "✶", "GOD_EVENT": "✦", "INNER_VOICE": "✦", "JOINED": "+", "LEFT": "-",
    "FORGOT": "✦", "TAKEN_OVER": "✦", "GIVEN_BACK": "✦",
}  # fmt: skip
"""One cell each."""


IMPERSONAL = frozenset({"CONVERSATION_STARTED", "CONVERSATION_ENDED", "OBJECT_STATE_CHANGED"})
"""Told as sentences of their own, whoever caused them."""


@dataclass(frozen=True, slots=True)
class Told:
    """One event in words; all texts are clean."""

    event_id: str
    tick: int
    type: str
    category: Category
    mark: str
    agent_id: str
    """Whose doing it is; empty for nobody's."""
    to: str
    """Whom it is said to; empty otherwise."""
    text: str
    """What comes after the name, or the whole sentence when it is nobody's."""


def told(event: Event, town: Town) -> Told:
    """The event in the scenario's language. Never fails: an unknown event is told by its type and texts."""
    return Told(
        event_id=event.id,
        tick=event.tick,
        type=event.type,
        category=CATEGORIES.get(event.type, "world"),
        mark=MARKS.get(event.type, "·"),
        agent_id="" if event.agent_id == NOBODY or event.type in IMPERSONAL else event.agent_id,
        to=str(event.body.get("to_agent_id", "")) if event.type == "SAY" else "",
        text=_text(event, town),
    )


LISTENING = "💬"
"""Emoji of somebody who waits for an answer."""


class Teller:
    """Tells a run of events, leaving out what repeats: an IDLE counts only when its doing changed.

    Waiting for an answer in a talk is not told: the lines before and after say it.
    """

    def __init__(self, town: Town) -> None:
        self.town = town
        self.doing: dict[str, str] = {}

    def tell(self, events: Iterable[Event]) -> list[Told]:
        """The events worth reading, in order."""
        return [told(event, self.town) for event in events if self._news(event)]

    def _news(self, event: Event) -> bool:
        if event.type != "IDLE":
            self.doing.pop(event.agent_id, None) if event.type in ("MOVE", "INTERACT") else None
            return True
        doing = str(event.body.get("doing", ""))
        before = self.doing.get(event.agent_id)
        self.doing[event.agent_id] = doing
        return bool(doing) and doing != before and event.body.get("emoji") != LISTENING


def _text(event: Event, town: Town) -> str:
    body = event.body
    match event.type:
        case "SAY":
            return f"“{clean(str(body.get('utterance', '')))}”"
        case "IDLE":
            doing = clean(str(body.get("doing", "")))
            return f"is {doing}" if town.language == "en" else doing
        case "SCRIPTED" | "GOD_EVENT" | "INNER_VOICE":
            return clean(str(body.get("text", "")))
        case _:
            template = telling(town.language, _key(event))
            return template.format_map(_Words(event, town)) if template else _unknown(event)


def _key(event: Event) -> str:
    body = event.body
    match event.type:
        case "INTERACT":
            return "refused" if body.get("outcome") == "refused" else str(body.get("verb", ""))
        case "MOVE":
            return "MOVE goal" if body.get("goal") not in (None, "", body.get("to")) else "MOVE"
        case "PLAN_CHANGED":
            return "PLAN_CHANGED" if body.get("reason") else "PLAN_CHANGED first"
        case _:
            return event.type


class _Words(dict[str, str]):
    """Fields of an event's body as words; what is missing reads as a dash."""

    def __init__(self, event: Event, town: Town) -> None:
        super().__init__()
        self.event = event
        self.town = town

    def __missing__(self, key: str) -> str:
        value = self.event.body.get("object_id" if key == "object" else key)
        if value is None:
            return "–"
        if key == "members":
            return _together([self.town.short(one) for one in _strings(value)])
        name = str(value)
        if key == "object":
            return self.town.what(name)
        if self.event.type == "MOVE":
            return self.town.where(name)
        return ambient(self.town.language, clean(name.replace("_", " ")))


def _strings(value: Any) -> list[str]:
    return [str(one) for one in cast("Sequence[object]", value)] if isinstance(value, (list, tuple)) else [str(value)]


def _together(names: Sequence[str]) -> str:
    return " & ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _unknown(event: Event) -> str:
    texts = [clean(str(value)) for value in event.body.values() if isinstance(value, str)]
    return " ".join([event.type.lower().replace("_", " "), *texts])
