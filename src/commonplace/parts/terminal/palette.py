"""Colours of the terminal view: a neon night and a paper day, and how rooms are lit at each part of the day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from textual.theme import Theme

from commonplace.views.hues import Badge


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
        """Returns a character's hue as text on this ground."""
        return badge.hue.on_dark if self.dark else badge.hue.on_light

    def bar(self, part: str) -> str:
        """Returns the colour of a part of a score."""
        return self.bars.get(part, self.bars["other"])

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
    """Returns the two looks as Textual themes."""
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
