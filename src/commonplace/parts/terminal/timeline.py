"""The time-line: at which ticks there is talk, a reflection or an intervention, and which tick is on the screen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.events import Click
from textual.message import Message
from textual.widget import Widget

from commonplace.clock import hhmm
from commonplace.languages import phrases
from commonplace.parts.live.source import Source
from commonplace.parts.terminal.palette import Palette
from commonplace.views.town_names import TownNames

LEVELS = "▁▂▃▄▅▆▇"
INTERVENTIONS = frozenset(
    {"GOD_EVENT", "INNER_VOICE", "JOINED", "LEFT", "FORGOT", "TAKEN_OVER", "GIVEN_BACK", "CHANGED"}
)
MARGIN = 10
"""Cells at either end for the first and the last time."""


class Marks:
    """The marks of ticks, filled bit by bit, so that a long run opens at once."""

    def __init__(self) -> None:
        self.talk: Counter[int] = Counter()
        self.reflections: set[int] = set()
        self.interventions: set[int] = set()
        self.read = -1
        """The last tick read."""

    def read_on(self, source: Source, last: int) -> None:
        """Reads the events up to a tick."""
        for event in source.events(self.read + 1, last):
            if event.type == "SAY":
                self.talk[event.tick] += 1
            elif event.type == "REFLECTED":
                self.reflections.add(event.tick)
            elif event.type in INTERVENTIONS:
                self.interventions.add(event.tick)
        self.read = last


class Timeline(Widget):
    """Two lines: marks, and the track with the current tick. A click goes there."""

    class Sought(Message):
        """A message: a place on the track was clicked."""

        def __init__(self, tick: int) -> None:
            super().__init__()
            self.tick = tick

    def __init__(self) -> None:
        super().__init__(id="timeline")
        self.marks = Marks()
        self.state: tuple[TownNames, Palette, int, int, int] | None = None

    def show(self, town: TownNames, palette: Palette, tick: int, last: int, final: int) -> None:
        """Draws the current tick, the last committed one and the one the run ends at."""
        state = (town, palette, tick, last, max(final, last, 1))
        if state != self.state:  # a refresh writes both lines to the terminal, changed or not
            self.state = state
            self.refresh()

    def read_marks(self, source: Source, last: int, most: int) -> bool:
        """Reads the marks of at most `most` further ticks up to `last`. Returns whether there are more to read."""
        if self.marks.read < last:
            self.marks.read_on(source, min(last, self.marks.read + most))
            self.refresh()
        return self.marks.read < last

    def on_click(self, event: Click) -> None:
        """Goes to the place clicked."""
        if self.state is not None:
            _, _, _, last, final = self.state
            track = max(1, self.size.width - 2 * MARGIN - 1)
            tick = round((event.x - MARGIN) * final / track)
            self.post_message(self.Sought(min(max(tick, 0), last)))

    def render(self) -> Text:
        """Returns the two lines."""
        if self.state is None:
            return Text()
        town, palette, tick, last, final = self.state
        width = max(8, self.size.width - 2 * MARGIN)
        marks = self._marks(palette, width, final)
        track = _track(town, palette, width, (tick, last, final))
        line = Text()
        if self.size.height > 1:
            line.append_text(Text.assemble(" " * MARGIN, *marks, "\n"))
        else:
            track = _overlaid(track, marks)
        first = _label(town, 0)
        line.append(f"{' ' * (MARGIN - 1 - cell_len(first))}{first} ", palette.muted)
        line.append_text(track)
        return line.append(f" {_label(town, final)}", palette.muted)

    def _marks(self, palette: Palette, width: int, final: int) -> list[tuple[str, str]]:
        """Returns a sign and its colour for each column."""
        talk = [0] * width
        signs: dict[int, tuple[str, str]] = {}
        for tick, said in self.marks.talk.items():
            talk[_column(tick, width, final)] += said
        for ticks, sign in ((self.marks.reflections, ("◇", palette.bars["other"])),
                            (self.marks.interventions, ("✦", palette.alert))):  # fmt: skip
            signs.update({_column(tick, width, final): sign for tick in ticks})
        most = max(talk, default=0)
        return [signs.get(column) or (_level(said, most), palette.accent) for column, said in enumerate(talk)]


def _column(tick: int, width: int, final: int) -> int:
    return min(width - 1, round(tick * (width - 1) / final))


def _level(said: int, most: int) -> str:
    return LEVELS[min(len(LEVELS) - 1, said * len(LEVELS) // (most + 1))] if said else " "


def _overlaid(track: Text, marks: Sequence[tuple[str, str]]) -> Text:
    """Puts track and marks in one line: a mark takes the place of the track, never of the current tick."""
    line = Text()
    for column, (sign, colour) in enumerate(marks):
        plain = sign == " " or track.plain[column] == "●"
        line.append_text(track[column]) if plain else line.append(sign, colour)
    return line


def _label(town: TownNames, tick: int) -> str:
    """Returns a label such as `Sat 06:00`."""
    short = phrases(town.language, "days")["short"].split()
    return f"{short[town.clock.time(tick).weekday()]} {hhmm(town.clock.time(tick))}"


def _track(town: TownNames, palette: Palette, width: int, ticks: tuple[int, int, int]) -> Text:
    """Draws the committed ticks up to the current one, those after it, those to come, and a stroke at each midnight."""
    here, committed, final = (_column(tick, width, max(ticks[2], 1)) for tick in ticks)
    line = Text.assemble(
        ("━" * here, palette.accent),
        ("●", f"bold {palette.text}"),
        ("━" * max(0, committed - here), palette.muted),
        ("╌" * (width - 1 - max(here, committed)), palette.faint),
    )
    nights = {_column(tick, width, ticks[2]) for tick in _midnights(town, ticks[2])} - {here}
    glyphs = ["╪" if column in nights and final else glyph for column, glyph in enumerate(line.plain)]
    line.plain = "".join(glyphs)
    return line


def _midnights(town: TownNames, final: int) -> range:
    minutes = town.clock.tick_minutes
    start = town.clock.start
    first = (24 * 60 - start.hour * 60 - start.minute) // minutes
    return range(first, final, max(1, 24 * 60 // minutes))
