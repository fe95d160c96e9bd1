"""A grid of terminal cells to draw on: wide characters take two, walls join where they meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip
from textual.theme import Theme

from commonplace.views.hues import Badge

# ── canvas ───────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    """A Rich style; `mood` is a blank-separated choice of bold, italic, dim, underline; `agent` answers a click."""
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
        """Whether the cell exists."""
        return 0 <= x < self.width and 0 <= y < self.height

    def free(self, x: int, y: int) -> bool:
        """Whether nothing is drawn in the cell."""
        return self.inside(x, y) and (x, y) not in self.written and (x, y) not in self.joints

    def text(
        self, x: int, y: int, text: str, room: int, colour: str, *, mood: str = "", agent: str = "", ground: str = ""
    ) -> int:
        """Write at most `room` cells of the text, ending in an ellipsis if cut; returns the cells used."""
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
        """Give the cells x0 … x1, y0 … y1 a ground and empty them."""
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
        """One line for Textual."""
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
    """The text in at most `room` cells, cut with an ellipsis."""
    if room <= 0:
        return ""
    return text if cell_len(text) <= room else set_cell_size(text, room - 1).rstrip() + "…"


def padded(text: str, room: int) -> str:
    """The text in exactly `room` cells."""
    return set_cell_size(fitted(text, room), max(0, room))


def emoji_of(text: str) -> str:
    """The first emoji of a model's text if terminals agree on its width, else nothing.

    Selectors and joined sequences are what they disagree on, so only a single character is kept.
    """
    for glyph in text:
        if ord(glyph) >= 0x1F300 and not 0x1F3FB <= ord(glyph) <= 0x1F3FF and cell_len(glyph) == 2:
            return glyph
    return ""


# ── palette ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Colours: a neon night and a paper day, and how rooms are lit at each part of the day.


@dataclass(frozen=True, slots=True)
class Light:
    """Grounds at one part of the day."""

    sky: str
    """Between the rooms."""
    outdoor: str
    lit: str
    """A room with somebody awake in it."""
    unlit: str


@dataclass(frozen=True, slots=True)
class Palette:
    """One look of the whole terminal."""

    name: str
    dark: bool
    text: str
    muted: str
    faint: str
    wall: str
    neon: tuple[str, ...]
    """Walls of rooms, in turn."""
    garden: str
    """Walls of outdoor areas."""
    rain: str
    accent: str
    alert: str
    bars: Mapping[str, str]
    """Parts of a score."""
    lights: Mapping[str, Light]

    def of(self, badge: Badge) -> str:
        """A character's hue as text on this ground."""
        return badge.hue.on_dark if self.dark else badge.hue.on_light

    def light(self, part_of_day: str) -> Light:
        """Grounds at a part of the day; an unknown one is the afternoon."""
        return self.lights.get(part_of_day, self.lights["afternoon"])


NIGHT = Palette(
    name="commonplace-night",
    dark=True,
    text="#dfe6f5",
    muted="#8fa0c4",
    faint="#6373a0",
    wall="#33416b",
    neon=("#35d6e6", "#ff6fc8", "#ffc04d", "#a48bff"),
    garden="#3fcf8e",
    rain="#5d8fd8",
    accent="#35d6e6",
    alert="#ff8a3d",
    bars={"recency": "#56B4E9", "importance": "#E69F00", "relevance": "#2CCB9B", "other": "#EAA0C8"},
    lights={
        "night": Light("#070a14", "#091021", "#2b2312", "#0c101e"),
        "dawn": Light("#120f20", "#1d1a30", "#2c2318", "#15142a"),
        "morning": Light("#0d1420", "#14291f", "#1d2740", "#131b2c"),
        "midday": Light("#0f1826", "#183322", "#202d49", "#162034"),
        "afternoon": Light("#0f1622", "#192d1e", "#212a42", "#161d30"),
        "evening": Light("#120d1f", "#241634", "#33260f", "#171329"),
    },
)
DAY = Palette(
    name="commonplace-day",
    dark=False,
    text="#1c2333",
    muted="#505a71",
    faint="#838da3",
    wall="#b9c1d1",
    neon=("#00788a", "#b02a7d", "#9a6200", "#5b3fb5"),
    garden="#1d7f4e",
    rain="#3d74c4",
    accent="#00788a",
    alert="#a04400",
    bars={"recency": "#2f8fc9", "importance": "#c98500", "relevance": "#00885f", "other": "#b0578a"},
    lights={
        "night": Light("#d5d9e6", "#c9d1e4", "#fff3d0", "#dfe2ec"),
        "dawn": Light("#efe7ee", "#eadfea", "#fff4dc", "#f2edf2"),
        "morning": Light("#f3f6fb", "#e3f3e6", "#ffffff", "#eef1f7"),
        "midday": Light("#f6f9ff", "#dff5e1", "#ffffff", "#f1f4fa"),
        "afternoon": Light("#f5f4ee", "#e6f2dd", "#fffdf6", "#f1efe8"),
        "evening": Light("#ece3ea", "#e6d6ea", "#fff0cf", "#ebe5ee"),
    },
)
PALETTES = {palette.name: palette for palette in (NIGHT, DAY)}


def themes() -> tuple[Theme, ...]:
    """The two looks as Textual themes."""
    return (
        Theme(
            name=NIGHT.name, dark=True, primary="#35d6e6", secondary="#ff6fc8", accent="#ffc04d", warning="#E69F00",
            error="#ff8a3d", success="#2CCB9B", foreground=NIGHT.text, background="#0a0e1a", surface="#0e1322",
            panel="#151c30", variables=_variables(NIGHT, "#1d2a4d", "#35d6e6"),
        ),
        Theme(
            name=DAY.name, dark=False, primary="#00788a", secondary="#b02a7d", accent="#9a6200", warning="#9a6200",
            error="#a04400", success="#00684c", foreground=DAY.text, background="#f4f5f9", surface="#fbfbfd",
            panel="#e6e9f1", variables=_variables(DAY, "#d6e4f0", "#00788a"),
        ),
    )  # fmt: skip


def _variables(palette: Palette, cursor: str, border: str) -> dict[str, str]:
    return {
        "block-cursor-background": cursor,
        "block-cursor-foreground": palette.text,
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": cursor,
        "block-cursor-blurred-foreground": palette.text,
        "border": border,
        "border-blurred": palette.wall,
        "muted": palette.muted,
        "faint": palette.faint,
        "wall": palette.wall,
    }


# ── scores ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# Bars for numbers: one value, or the weighted parts of a score side by side.


EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, cells: int, colour: str, ground: str) -> Text:
    """A bar of `cells`, filled by a share of 0 … 1 to an eighth of a cell."""
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
