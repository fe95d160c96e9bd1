"""The first line of the screen, the keys in the last, and the page with all keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from commonplace.clock import hhmm
from commonplace.languages import phrases, rows, weekdays
from commonplace.parts.terminal.canvas import emoji_of, padded
from commonplace.parts.terminal.palette import Palette
from commonplace.parts.terminal.player import Scene
from commonplace.run.manifest import OFFLINE
from commonplace.text import clean
from commonplace.views.words import Key, ambient, word
from commonplace.world.circumstances import TOWN

SKIES = {"clear": "☼", "cloudy": "☁", "rain": "☂", "storm": "↯", "fog": "≡", "snow": "✱"}
KEYS: tuple[tuple[str, Key], ...] = (
    ("space", "k pause"), ("←→", "k time"), ("w", "k why"), ("a", "k ask"), ("g", "k god"), ("1-4", "k panel"),
    ("?", "k help"), ("q", "k quit"), ("c", "k who"), ("l", "k live"), ("PgUp/Dn", "k hour"),
)  # fmt: skip
"""The most needed first: what does not fit is left out."""


@dataclass(frozen=True, slots=True)
class ViewStatus:
    """State and speed of the run, and where the view is in it."""

    state: Key
    """LIVE, PAUSED, REPLAY, PAST or END."""
    tick: int
    last: int
    rate: float
    mind: str
    progress: str
    playing: bool


class Header(Widget):
    """Town, day, time, weather, tick, speed, state, mind. The less needed goes first when space is short."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self.parts: list[tuple[int, Text]] = []

    def show(self, scene: Scene, status: ViewStatus) -> None:
        """Paints the line if anything on it has changed."""
        parts = header_parts(scene, status)
        if parts != self.parts:
            self.parts = parts
            self.refresh()

    def render(self) -> Text:
        """Returns the parts that fit, in their order."""
        return joined(self.parts, self.size.width - 1)


class Keys(Widget):
    """The keys that fit."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self.scene: Scene | None = None
        self.playing = False

    def show(self, scene: Scene, *, playing: bool) -> None:
        """Shows the keys in the scenario's language. Paints only when something has changed."""
        before = self.scene
        if before is None or (before.palette, self.playing) != (scene.palette, playing):
            self.refresh()
        self.scene, self.playing = scene, playing

    def render(self) -> Text:
        """Returns the line."""
        if self.scene is None:
            return Text()
        palette, language = self.scene.palette, self.scene.language
        line = Text(" ")
        for key, name in KEYS:
            now = "k play" if name == "k pause" and not self.playing else name
            piece = Text.assemble((key, f"bold {palette.accent}"), (f" {word(language, now)}  ", palette.muted))
            if line.cell_len + piece.cell_len - 2 <= self.size.width:
                line.append_text(piece)
        line.rstrip()
        return line


def header_parts(scene: Scene, status: ViewStatus) -> list[tuple[int, Text]]:
    """Returns (rank, part) in reading order; the parts of the highest ranks are dropped first."""
    palette, frame, language = scene.palette, scene.frame, scene.language
    sky = "☾" if frame.sky == "clear" and frame.part_of_day == "night" else SKIES.get(frame.sky, " ")
    tick = f"{word(language, 'tick')} {status.tick}"
    parts = [
        (2, Text.assemble(("◆ ", palette.neon[1]), (scene.town.title, f"bold {palette.accent}"))),
        (6, Text(day_name(scene), palette.muted)),
        (0, Text(hhmm(frame.time), f"bold {palette.text}")),
        (5, Text(ambient(language, frame.part_of_day), palette.muted)),
        (3, Text.assemble((f"{sky} ", palette.neon[2]), (ambient(language, frame.sky), palette.text))),
        (8, Text(ambient(language, frame.temperature), palette.muted)),
        (4, Text(tick if status.tick == status.last else f"{tick}/{status.last}", palette.muted)),
        (7, Text(f"×{status.rate:g}" if status.rate else "×max", palette.muted)),
        (1, _state(scene, status)),
        (2, Text(mind_name(status.mind, language), palette.muted)),
    ]
    parts += [(3, Text(f"{emoji_of(so.emoji)} {clean(so.text)}".lstrip(), palette.alert)) for so in scene.so(TOWN)]
    return [*parts, (9, Text(clean(status.progress), palette.faint))] if status.progress else parts


def day_name(scene: Scene) -> str:
    """Returns a day such as `Saturday, day 1`."""
    weekday = weekdays(scene.language)[scene.frame.time.weekday()]
    return phrases(scene.language, "terminal")["day"].format(weekday, scene.town.clock.day(scene.frame.tick) + 1)


def joined(parts: Sequence[tuple[int, Text]], width: int) -> Text:
    """Joins the parts with two blanks, and drops those of the highest ranks until the line fits."""
    kept = list(parts)
    while kept and 1 + sum(part.cell_len + 2 for _, part in kept) > width:
        kept.remove(max(reversed(kept), key=lambda part: part[0]))
    return Text.assemble(" ", Text("  ").join(part for _, part in kept))


def mind_name(mind: str, language: str) -> str:
    """Returns the name of a mind; the offline mind is called so in words. ` +2` at the end counts further minds."""
    common, gap, others = mind.partition(" ")
    return clean(f"{word(language, 'offline mind')}{gap}{others}" if common == OFFLINE else mind)


def _state(scene: Scene, status: ViewStatus) -> Text:
    palette = scene.palette
    colours = {"LIVE": palette.bars["relevance"], "PAUSED": palette.neon[2], "PAST": palette.alert}
    colour = colours.get(status.state, palette.neon[3])
    sign = "●" if status.state == "LIVE" else "▶" if status.playing else "‖"
    return Text(f"{sign} {word(scene.language, status.state)}", f"bold {colour}")


# ── help ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The keys, on one page.


class HelpScreen(ModalScreen[None]):
    """Keys and signs over the town; Esc, `?` or `q` closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "app.pop_screen", "close")]

    def __init__(self, palette: Palette, language: str) -> None:
        super().__init__()
        self.text = help_text(palette, language)

    def compose(self) -> ComposeResult:
        """Builds the page."""
        with VerticalScroll(id="help") as page:
            page.border_title = "?"
            page.border_subtitle = "esc"
            yield Static(self.text, markup=False)


def help_text(palette: Palette, language: str) -> Text:
    """Returns a line per key."""
    text = Text()
    for keys, what in rows(language, "terminal", "help"):
        text.append(padded(keys, 11), f"bold {palette.accent}")
        text.append(f"{what}\n", palette.text)
    return text
