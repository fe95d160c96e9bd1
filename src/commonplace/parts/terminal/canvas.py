"""Drawing with terminal cells: a grid for the map, texts cut to a width, bars for numbers.

A wide character takes two cells, and walls join where they meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8
JOINTS = {
    0: " ", UP: "│", DOWN: "│", UP | DOWN: "│", LEFT: "─", RIGHT: "─", LEFT | RIGHT: "─",
    DOWN | RIGHT: "╭", DOWN | LEFT: "╮", UP | RIGHT: "╰", UP | LEFT: "╯",
    UP | DOWN | RIGHT: "├", UP | DOWN | LEFT: "┤", DOWN | LEFT | RIGHT: "┬", UP | LEFT | RIGHT: "┴",
    UP | DOWN | LEFT | RIGHT: "┼",
}  # fmt: skip
"""Box-drawing characters by the directions a line leaves a cell in."""


@lru_cache(maxsize=4096)
def style_of(colour: str, ground: str, mood: str, agent: str) -> Style:
    """Returns a Rich style.

    `mood` is a blank-separated choice of bold, italic, dim, underline; `agent` answers a click.
    """
    moods = mood.split()
    return Style(
        color=colour or None,
        bgcolor=ground or None,
        bold="bold" in moods or None,
        italic="italic" in moods or None,
        underline="underline" in moods or None,
        meta={"agent": agent} if agent else None,
    )


class Canvas:
    """Cells (character, colour, mood, agent) over a layer of grounds. A cell after a wide character holds ""."""

    def __init__(self, width: int, height: int, ground: str) -> None:
        self.width = width
        self.height = height
        self.glyphs = [[" "] * width for _ in range(height)]
        self.inks = [[("", "", "")] * width for _ in range(height)]
        self.grounds = [[ground] * width for _ in range(height)]
        self.joints: dict[tuple[int, int], int] = {}
        self.written: set[tuple[int, int]] = set()

    def inside(self, x: int, y: int) -> bool:
        """Tells whether the cell exists."""
        return 0 <= x < self.width and 0 <= y < self.height

    def free(self, x: int, y: int) -> bool:
        """Tells whether nothing is drawn in the cell."""
        return self.inside(x, y) and (x, y) not in self.written and (x, y) not in self.joints

    def text(
        self, x: int, y: int, text: str, room: int, colour: str, *, mood: str = "", agent: str = "", ground: str = ""
    ) -> int:
        """Writes at most `room` cells of the text, ending in an ellipsis if cut. Returns the cells used."""
        text = fitted(text, min(room, self.width - x))
        used = 0
        for glyph in text:
            wide = cell_len(glyph)
            if not wide or not self.inside(x + used, y):
                continue
            self._put(x + used, y, glyph, (colour, mood, agent), ground)
            for extra in range(1, wide):
                self._put(x + used + extra, y, "", (colour, mood, agent), ground)
            used += wide
        return used

    def _put(self, x: int, y: int, glyph: str, ink: tuple[str, str, str], ground: str) -> None:
        if self.glyphs[y][x] == "" and x > 0 and glyph != "" and cell_len(self.glyphs[y][x - 1]) == 2:
            self.glyphs[y][x - 1] = " "
        self.glyphs[y][x] = glyph
        self.inks[y][x] = ink
        self.written.add((x, y))
        if ground:
            self.grounds[y][x] = ground

    def fill(self, x0: int, y0: int, x1: int, y1: int, ground: str) -> None:
        """Gives the cells x0 … x1, y0 … y1 a ground and empties them."""
        for y in range(max(0, y0), min(self.height - 1, y1) + 1):
            for x in range(max(0, x0), min(self.width - 1, x1) + 1):
                self.glyphs[y][x] = " "
                self.grounds[y][x] = ground
                self.joints.pop((x, y), None)
                self.written.discard((x, y))

    def box(self, x0: int, y0: int, x1: int, y1: int, colour: str) -> None:
        """Walls along the edges; where they meet other walls they join."""
        for x in range(x0, x1):
            for y in (y0, y1):
                self._join(x, y, RIGHT, colour)
                self._join(x + 1, y, LEFT, colour)
        for y in range(y0, y1):
            for x in (x0, x1):
                self._join(x, y, DOWN, colour)
                self._join(x, y + 1, UP, colour)

    def _join(self, x: int, y: int, direction: int, colour: str) -> None:
        if self.inside(x, y):
            self.joints[x, y] = self.joints.get((x, y), 0) | direction
            self.glyphs[y][x] = JOINTS[self.joints[x, y]]
            self.inks[y][x] = (colour, "", "")

    def strip(self, y: int) -> Strip:
        """Returns one line for Textual."""
        segments: list[Segment] = []
        begun = 0
        keys = [(*self.inks[y][x], self.grounds[y][x]) for x in range(self.width)]
        for x in range(1, self.width + 1):
            if x == self.width or keys[x] != keys[begun]:
                colour, mood, agent, ground = keys[begun]
                segments.append(Segment("".join(self.glyphs[y][begun:x]), style_of(colour, ground, mood, agent)))
                begun = x
        return Strip(segments, self.width)


def fitted(text: str, room: int) -> str:
    """Returns the text in at most `room` cells, cut with an ellipsis."""
    if room <= 0:
        return ""
    return text if cell_len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…"


def padded(text: str, room: int) -> str:
    """Returns the text in exactly `room` cells."""
    return set_cell_size(fitted(text, room), max(0, room))


def emoji_of(text: str) -> str:
    """Returns the first emoji of a model's text if terminals agree on its width, else nothing.

    Selectors and joined sequences are what they disagree on, so only a single character is kept.
    """
    for glyph in text:
        if ord(glyph) >= 0x1F300 and not 0x1F3FB <= ord(glyph) <= 0x1F3FF and cell_len(glyph) == 2:
            return glyph
    return ""


# ── bars for one number, or for the weighted parts of a score side by side ────────────────────────────────────────────


EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, cells: int, colour: str, ground: str) -> Text:
    """Draws a bar of `cells`, filled by a share of 0 … 1 to an eighth of a cell."""
    share = min(max(share, 0.0), 1.0)
    full, part = divmod(round(share * cells * 8), 8)
    filled = "█" * full + (EIGHTHS[part] if part else "")
    return Text(filled.ljust(cells), f"{colour} on {ground}")


def stacked(parts: Sequence[tuple[float, str]], cells: int, most: float, ground: str) -> Text:
    """Parts (amount, colour) one after another; `most` fills all cells. Negative parts are left out."""
    line = Text()
    reached, drawn = 0.0, 0
    for amount, colour in parts:
        reached += max(0.0, amount)
        end = min(cells, round(reached / most * cells)) if most > 0 else 0
        line.append("█" * (end - drawn), colour)
        drawn = max(drawn, end)
    return line.append("░" * (cells - drawn), ground)
