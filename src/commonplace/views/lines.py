"""A run without a terminal: one plain line for each event worth reading, or JSON lines with every event.

Nothing that a model wrote can reach the terminal as an escape sequence: plain lines hold cleaned text only, and JSON
lines spell control characters out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from os import environ
from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from commonplace.clock import WEEKDAYS, hhmm
from commonplace.run.frame import Frame
from commonplace.run.shown import event_json
from commonplace.scenario.model import ScenarioPart
from commonplace.views.hues import badges
from commonplace.views.telling import Teller, Told
from commonplace.views.town import Town
from commonplace.views.words import ambient

_UNSAFE = re.compile("[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
__all__ = ["LineView", "PlainLines", "event_json", "json_line", "json_lines"]

SILENT = ("TIME_ADVANCED", "CONVERSATION_STARTED")
"""Said by the heading and by the first line of the talk."""


class PlainLines:
    """Frames in the order of ticks, as lines. Keeps what was said last, so that only news is printed."""

    def __init__(self, scenario: ScenarioPart) -> None:
        self.town = Town.of(scenario)
        self.teller = Teller(self.town)
        self.badges = badges(self.town.called)
        self.heading: tuple[object, ...] = ()

    def lines(self, frame: Frame) -> list[Text]:
        """What a tick adds: a heading when the hour or the part of day changes, then the events in order."""
        told = [self._line(one, frame.time) for one in self.teller.tell(frame.events) if one.type not in SILENT]
        return [*self._heading(frame), *told]

    def _heading(self, frame: Frame) -> list[Text]:
        heading = (frame.time.date(), frame.time.hour, frame.part_of_day)
        if heading == self.heading:
            return []
        self.heading = heading
        return [Text(f"{hhmm(frame.time)} ── {describe(frame, self.town.language)}", style="bold")]

    def _line(self, one: Told, time: datetime) -> Text:
        line = Text.assemble((hhmm(time), "dim"), "  ")
        if one.agent_id:
            line.append(self.town.who(one.agent_id), self._colour(one.agent_id))
        if one.to:
            line.append(" → ")
            line.append(self.town.who(one.to), self._colour(one.to))
        if one.category == "talk" and one.agent_id:
            line.append(":")
        line.append(f" {one.text}" if one.agent_id else f"{one.mark} {one.text}", _style(one))
        return line

    def _colour(self, agent_id: str) -> str:
        badge = self.badges.get(agent_id)
        return badge.hue.ground if badge else "bold"


def describe(frame: Frame, language: str) -> str:
    """`Saturday, clear, mild`."""
    weekday = WEEKDAYS.get(language, WEEKDAYS["en"])[frame.time.weekday()]
    return ", ".join([weekday, ambient(language, frame.sky), ambient(language, frame.temperature)])


def json_line(value: Mapping[str, Any]) -> str:
    """One line of JSON: readable Unicode, control and direction characters as `\\uXXXX`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def json_lines(frame: Frame) -> Iterator[str]:
    """Every event of a tick as a line of JSON, in canonical order."""
    for event in frame.events:
        yield json_line(event_json(event, frame.time))


def wants_colour(stream: TextIO, environment: Mapping[str, str] = environ) -> bool:
    """Only on a terminal that is not dumb, and never when NO_COLOR is set (https://no-color.org)."""
    return stream.isatty() and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"


class LineView:
    """Prints frames to a stream as they come: `plain`, `json`, or nothing for `none`. Each tick is flushed."""

    def __init__(self, scenario: ScenarioPart, form: str, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.form = form
        self.plain = PlainLines(scenario)
        colour = wants_colour(self.stream)
        self.console = Console(file=self.stream, force_terminal=True, legacy_windows=False) if colour else None

    def show(self, frame: Frame) -> None:
        """Print a tick; ticks come in order."""
        if self.form == "json":
            self.stream.writelines(f"{line}\n" for line in json_lines(frame))
        elif self.form == "plain":
            for line in self.plain.lines(frame):
                self._print(line)
        self.stream.flush()

    def _print(self, line: Text) -> None:
        if self.console is None:
            self.stream.write(f"{line.plain}\n")
        else:
            self.console.print(line, soft_wrap=True, highlight=False, markup=False)


def _style(one: Told) -> str:
    if one.category == "talk":
        return ""
    return "dim" if one.category in ("moves", "doing") else "italic"
