"""A run without a terminal: one plain line for each event worth reading, or JSON lines with every event.

Nothing that a model wrote can reach the terminal as an escape sequence: plain lines hold cleaned text only, and JSON
lines spell control characters out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import environ
from os import name as os_name
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from commonplace.clock import hhmm
from commonplace.languages import weekdays
from commonplace.run.frames import Frame
from commonplace.run.rows import event_json
from commonplace.scenario.model import ScenarioPart
from commonplace.text import clean, printable, printable_json
from commonplace.views.hues import badges
from commonplace.views.town_names import TownNames
from commonplace.views.words import ambient, event_template
from commonplace.world.actions import ACTIONS
from commonplace.world.deeds import Category
from commonplace.world.events import (
    NOBODY,
    Acted,
    ActionRejected,
    Adjusted,
    Began,
    ConversationEnded,
    ConversationStarted,
    Departed,
    Ended,
    Event,
    EventBody,
    GodSpoke,
    Idled,
    Interacted,
    Intervened,
    Joined,
    Moved,
    ObjectStateChanged,
    PlanChanged,
    Post,
    Received,
    Reflected,
    RelationChanged,
    Spoke,
    TimeAdvanced,
    VoiceAnswered,
    WeatherChanged,
    Whispered,
)
from commonplace.world.tree import VERBS, action_words, verb_words


class LineView:
    """Prints frames to a stream as they come: `plain`, `json`, or nothing for `none`. Each tick is flushed."""

    def __init__(self, scenario: ScenarioPart, form: str, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.form = form
        self.plain = PlainLines(scenario)
        colour = wants_colour(self.stream)
        file = getattr(self.stream, "styled", self.stream)
        self.console = Console(file=file, force_terminal=True, legacy_windows=False) if colour else None

    def show(self, frame: Frame, scenario: ScenarioPart | None = None) -> None:
        """Prints a tick; ticks come in order. `scenario` is the current one, which may have a new character."""
        if scenario is not None:
            self.plain.meet(scenario)
        if self.form == "json":
            self.stream.writelines(f"{line}\n" for line in json_lines(frame))
        elif self.form == "plain":
            for line in self.plain.lines(frame):
                self._print(line)
        self.stream.flush()

    def _print(self, line: Text) -> None:
        if self.console is None:
            self.stream.write(f"{printable(line.plain)}\n")
        else:
            self.console.print(Printable(line), soft_wrap=True, highlight=False, markup=False)


@dataclass(frozen=True, slots=True)
class Printable:
    """Something for Rich to print; its own styles stay, its text becomes printable."""

    part: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yields the segments of the part."""
        for segment in console.render(self.part, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


SILENT = ("TIME_ADVANCED", "CONVERSATION_STARTED")
"""Left out: the heading and the first line of the talk already say it."""


class PlainLines:
    """Frames in the order of ticks, as lines. Keeps what was said last, so that only news is printed."""

    def __init__(self, scenario: ScenarioPart) -> None:
        self.scenario = scenario
        self.town = TownNames.of(scenario)
        self.narrator = Narrator(self.town)
        self.badges = badges(self.town.called)
        self.heading: tuple[object, ...] = ()

    def meet(self, scenario: ScenarioPart) -> None:
        """Uses the names of the scenario, which may have a new character."""
        if scenario is not self.scenario:
            self.scenario, self.town = scenario, TownNames.of(scenario)
            self.narrator.town, self.badges = self.town, badges(self.town.called)

    def lines(self, frame: Frame) -> list[Text]:
        """Returns the lines of a tick: a heading when the hour or the part of day changes, then the events in order."""
        entries = [entry for entry in self.narrator.narrate(frame.events) if entry.type not in SILENT]
        return [*self._heading(frame), *(self._line(entry, frame.time) for entry in entries)]

    def _heading(self, frame: Frame) -> list[Text]:
        heading = (frame.time.date(), frame.time.hour, frame.part_of_day)
        if heading == self.heading:
            return []
        self.heading = heading
        return [Text(f"{hhmm(frame.time)} ── {describe(frame, self.town.language)}", style="bold")]

    def _line(self, entry: NarratedEvent, time: datetime) -> Text:
        line = Text.assemble((hhmm(time), "dim"), "  ")
        if entry.agent_id:
            line.append(self.town.who(entry.agent_id), self._colour(entry.agent_id))
        if entry.to:
            line.append(" → ")
            line.append(self.town.who(entry.to), self._colour(entry.to))
        if entry.category == "talk" and entry.agent_id:
            line.append(":")
        line.append(f" {entry.text}" if entry.agent_id else f"{entry.mark} {entry.text}", _style(entry))
        return line

    def _colour(self, agent_id: str) -> str:
        badge = self.badges.get(agent_id)
        return badge.hue.ground if badge else "bold"


def describe(frame: Frame, language: str) -> str:
    """Returns day and weather in words: `Saturday, clear, mild`."""
    weekday = weekdays(language)[frame.time.weekday()]
    return ", ".join([weekday, ambient(language, frame.sky), ambient(language, frame.temperature)])


def json_line(value: Mapping[str, Any]) -> str:
    """Returns one line of JSON: readable Unicode, control and direction characters as `\\uXXXX`."""
    return printable_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def json_lines(frame: Frame) -> Iterator[str]:
    """Yields every event of a tick as a line of JSON, in canonical order."""
    for event in frame.events:
        yield json_line(event_json(event, frame.time))


def is_dumb(environment: Mapping[str, str] = environ) -> bool:
    """Tells whether the terminal says that it can only print lines, or does not say what it is. Windows never says what
    it is."""
    return environment.get("TERM", "" if os_name != "nt" else "windows") in ("", "dumb", "unknown")


def wants_colour(stream: TextIO, environment: Mapping[str, str] = environ) -> bool:
    """Returns true only on a terminal that is not dumb, and never if NO_COLOR is set (https://no-color.org)."""
    return stream.isatty() and not environment.get("NO_COLOR") and not is_dumb(environment)


def _style(entry: NarratedEvent) -> str:
    if entry.category == "talk":
        return ""
    return "dim" if entry.category in ("moves", "doing") else "italic"


CATEGORIES: Mapping[str, Category] = {
    **{name: kind.category for name, kind in ACTIONS.items()},
    "CONVERSATION_STARTED": "talk", "CONVERSATION_ENDED": "talk",
    "JOINED": "moves", "LEFT": "moves",
    "PLAN_CHANGED": "plans", "REFLECTED": "plans", "RELATION_CHANGED": "plans", "ACTION_REJECTED": "plans",
    "FORGOT": "plans",
    "VOICE_ANSWERED": "plans",
}  # fmt: skip
"""Anything else is `world`."""

MARKS: Mapping[str, str] = {
    **{name: kind.mark for name, kind in ACTIONS.items()},
    "CONVERSATION_STARTED": "┌", "CONVERSATION_ENDED": "└", "PLAN_CHANGED": "¶",
    "REFLECTED": "◇", "RELATION_CHANGED": "♥", "ACTION_REJECTED": "✗",
    "OBJECT_STATE_CHANGED": "▪", "TIME_ADVANCED": "─",
    "WEATHER_CHANGED": "≈", "SCRIPTED": "✶", "GOD_EVENT": "✦", "INNER_VOICE": "✦", "JOINED": "+", "LEFT": "-",
    "BEGAN": "▲", "ENDED": "▽", "RECEIVED": "✉",
    "FORGOT": "✦", "TAKEN_OVER": "✦", "GIVEN_BACK": "✦", "CHANGED": "✦", "VOICE_ANSWERED": "✦",
}  # fmt: skip
"""One cell each."""


IMPERSONAL = frozenset({"CONVERSATION_STARTED", "CONVERSATION_ENDED", "OBJECT_STATE_CHANGED"})
"""Written as sentences of their own, whoever caused them."""


@dataclass(frozen=True, slots=True)
class NarratedEvent:
    """One event in words; all texts are clean."""

    event_id: str
    tick: int
    type: str
    category: Category
    mark: str
    agent_id: str
    """The character who caused it; empty if nobody did."""
    to: str
    """Whom it is said to; empty otherwise."""
    text: str
    """The text after the name, or the whole sentence if nobody caused it."""


def entry_of(event: Event, town: TownNames) -> NarratedEvent:
    """Returns the event in the scenario's language. It never fails: an unknown event is described by its type and
    texts."""
    return NarratedEvent(
        event_id=event.id,
        tick=event.tick,
        type=event.type,
        category=CATEGORIES.get(event.type, "world"),
        mark=MARKS.get(event.type, "·"),
        agent_id="" if event.agent_id == NOBODY or event.type in IMPERSONAL else event.agent_id,
        to=event.body.to_agent_id if isinstance(event.body, Spoke) else "",
        text=_text(event, town),
    )


LISTENING = "💬"
"""Emoji of somebody who waits for an answer."""


class Narrator:
    """Turns successive events into entries and leaves out repetition: an IDLE counts only when its doing changed.

    Waiting for an answer in a conversation is left out too: the lines before and after say it.
    """

    def __init__(self, town: TownNames) -> None:
        self.town = town
        self.doing: dict[str, str] = {}

    def narrate(self, events: Iterable[Event]) -> list[NarratedEvent]:
        """Returns the events worth reading, in order."""
        return [entry_of(event, self.town) for event in events if self._is_news(event)]

    def _is_news(self, event: Event) -> bool:
        match event.body:
            case Idled(doing=doing, emoji=emoji):
                before = self.doing.get(event.agent_id)
                self.doing[event.agent_id] = doing
                return bool(doing) and doing != before and emoji != LISTENING
            case Acted() if not isinstance(event.body, Spoke):
                self.doing.pop(event.agent_id, None)
            case _:
                pass
        return True


def _text(event: Event, town: TownNames) -> str:
    held = event.body.held if isinstance(event.body, Acted | Departed | Joined) else ""
    if not held:
        return _plain_text(event, town)
    why = (town.over if isinstance(event.body, Joined) else town.now)(held)
    return event_template(town.language, "held").format(text=_plain_text(event, town), why=why.rstrip("."))


def _plain_text(event: Event, town: TownNames) -> str:  # noqa: PLR0911 – a case per type
    match event.body:
        case Began(circumstance=key, by=by):
            return town.now(key, by)
        case Ended(circumstance=key):
            return town.over(key)
        case Intervened(text="", message=Post() as post):
            key = f"sent {'letter' if post.to in town.names else 'notice' if post.to else 'broadcast'}"
            to = town.short(post.to) if post.to in town.names else town.where(post.to)
            return event_template(town.language, key).format(to=to, words=clean(post.words))
        case GodSpoke(text=text, percepts=(), message=None):
            return event_template(town.language, "GOD_EVENT unnoticed").format(text=clean(text))
        case Intervened(text=text) | Whispered(text=text):
            return clean(text)
        case Interacted(outcome="done", verb=verb, object_id=thing):
            return verb_words(town.language, verb, town.what(thing)).event if verb in VERBS else _unknown(event)
        case Acted() as acted if not isinstance(acted, Moved) or acted.to == acted.goal:
            return action_words(town.language, acted.kind, "event", **_words(acted, town))
        case body:
            template = event_template(town.language, _key(event))
            return template.format_map(_words(body, town)) if template else _unknown(event)


def _key(event: Event) -> str:  # noqa: PLR0911 – a case per type
    match event.body:
        case Moved():
            return "MOVE goal"
        case Departed(held=held) | Joined(held=held) if held:
            return f"{event.type} held"
        case Adjusted() if event.agent_id == NOBODY:
            return "CHANGED run"
        case VoiceAnswered(follows=False):
            return "VOICE_ANSWERED no"
        case RelationChanged(why=why):
            return f"RELATION_CHANGED {why}"
        case PlanChanged(reason=""):
            return "PLAN_CHANGED first"
        case Received(form=form, by=by):
            return f"RECEIVED {form}{'' if by or form != 'letter' else '_plain'}"
        case Reflected(lacking=lacking) if lacking:
            return "REFLECTED few"
        case _:
            return event.type


def _words(body: EventBody, town: TownNames) -> dict[str, str]:  # noqa: PLR0911, PLR0912 – a case per type
    """Returns the fields that the templates of `views.words` name in an event."""

    def word(text: str) -> str:
        return ambient(town.language, clean(text.replace("_", " ")))

    match body:
        case Moved(to=to, goal=goal):
            return {"to": town.where(to), "goal": town.where(goal)}
        case Interacted(object_id=thing, why=why):
            return {"object": town.what(thing), "why": word(why)}
        case Idled(doing=words) | Spoke(utterance=words):
            return {"doing": clean(words), "utterance": clean(words)}
        case Acted(object_id=thing, to_agent_id=other):
            return {"object": town.what(thing), "to": town.short(other)}
        case ObjectStateChanged(object_id=thing, old=old, to=to):
            return {"object": town.what(thing), "from": word(old), "to": word(to)}
        case WeatherChanged(old=old, to=to):
            return {"from": word(old), "to": word(to)}
        case ConversationStarted(members=members) | ConversationEnded(members=members):
            return {"members": _together([town.short(one) for one in members])}
        case Received(words=words, by=by, readers=readers):
            return {"words": clean(words), "by": town.short(by), "readers": _together([*map(town.short, readers)])}
        case RelationChanged(other=other):
            return {"other": town.short(other)}
        case Reflected(memory_ids=made, lacking=lacking):
            return {"made": str(len(made)), "wanted": str(len(made) + lacking)}
        case Adjusted(field=field, value=value):
            return {"field": word(field), "value": clean("; ".join(_strings(value)))}
        case ActionRejected(why=reason) | PlanChanged(reason=reason) | VoiceAnswered(reason=reason):
            return {"why": word(reason), "reason": word(reason)}
        case TimeAdvanced(part_of_day=part):
            return {"part_of_day": word(part)}
        case _:
            return {}


def _strings(value: Any) -> list[str]:
    return [str(one) for one in cast("Sequence[object]", value)] if isinstance(value, (list, tuple)) else [str(value)]


def _together(names: Sequence[str]) -> str:
    return " & ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _unknown(event: Event) -> str:
    texts = [clean(str(value)) for value in event.body.plain().values() if isinstance(value, str)]
    return " ".join([event.type.lower().replace("_", " "), *texts])
