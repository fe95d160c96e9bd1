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

from commonplace.clock import WEEKDAYS, hhmm
from commonplace.parts.terminal.canvas import padded
from commonplace.parts.terminal.palette import Palette
from commonplace.parts.terminal.player import Scene
from commonplace.run.manifest import OFFLINE
from commonplace.text import clean
from commonplace.views.words import Key, ambient, word

SKIES = {"clear": "☼", "cloudy": "☁", "rain": "☂", "storm": "↯", "fog": "≡", "snow": "✱"}
DAY = {"en": "{0}, day {1}", "ko": "{1}일째 {0}"}
KEYS: tuple[tuple[str, Key], ...] = (
    ("space", "k pause"), ("←→", "k time"), ("w", "k why"), ("a", "k ask"), ("g", "k god"), ("1-4", "k panel"),
    ("?", "k help"), ("q", "k quit"), ("c", "k who"), ("l", "k live"), ("PgUp/Dn", "k hour"),
)  # fmt: skip
"""The most needed first: what does not fit is left out."""


@dataclass(frozen=True, slots=True)
class Status:
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
    """Town, day, time, weather, tick, speed, state, mind; the less needed goes first when space is short."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self.parts: list[tuple[int, Text]] = []

    def show(self, scene: Scene, status: Status) -> None:
        """Paint the line if anything on it has changed."""
        parts = header_parts(scene, status)
        if parts != self.parts:
            self.parts = parts
            self.refresh()

    def render(self) -> Text:
        """The parts that fit, in their order."""
        return joined(self.parts, self.size.width - 1)


class Keys(Widget):
    """The keys that fit."""

    def __init__(self) -> None:
        super().__init__(id="keys")
        self.scene: Scene | None = None
        self.playing = False

    def show(self, scene: Scene, *, playing: bool) -> None:
        """In the scenario's language; painted only when something has changed."""
        before = self.scene
        if before is None or (before.palette, self.playing) != (scene.palette, playing):
            self.refresh()
        self.scene, self.playing = scene, playing

    def render(self) -> Text:
        """One line."""
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


def header_parts(scene: Scene, status: Status) -> list[tuple[int, Text]]:
    """(rank, part) in reading order; the parts of the highest ranks are dropped first."""
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
    return [*parts, (9, Text(clean(status.progress), palette.faint))] if status.progress else parts


def day_name(scene: Scene) -> str:
    """`Saturday, day 1`."""
    weekday = WEEKDAYS.get(scene.language, WEEKDAYS["en"])[scene.frame.time.weekday()]
    return DAY.get(scene.language, DAY["en"]).format(weekday, scene.town.clock.day(scene.frame.tick) + 1)


def joined(parts: Sequence[tuple[int, Text]], width: int) -> Text:
    """The parts with two blanks between them, without those of the highest ranks if all do not fit."""
    kept = list(parts)
    while kept and 1 + sum(part.cell_len + 2 for _, part in kept) > width:
        kept.remove(max(reversed(kept), key=lambda part: part[0]))
    return Text.assemble(" ", Text("  ").join(part for _, part in kept))


def mind_name(mind: str, language: str) -> str:
    """An offline mind is called one; any other by its name. ` +2` at the end counts further minds."""
    common, gap, others = mind.partition(" ")
    return clean(f"{word(language, 'offline mind')}{gap}{others}" if common == OFFLINE else mind)


def _state(scene: Scene, status: Status) -> Text:
    palette = scene.palette
    colours = {"LIVE": palette.bars["relevance"], "PAUSED": palette.neon[2], "PAST": palette.alert}
    colour = colours.get(status.state, palette.neon[3])
    sign = "●" if status.state == "LIVE" else "▶" if status.playing else "‖"
    return Text(f"{sign} {word(scene.language, status.state)}", f"bold {colour}")


# ── help ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The keys, on one page.


HELP: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("space", "play and pause"), (".", "one tick"), ("+ -", "faster, slower"),
        ("← →", "one tick back, one on"), ("PgUp PgDn", "one hour back, one on"), ("Home End", "first and last tick"),
        ("l", "back to the latest tick, and stay there"),
        ("1 2 3 4", "talk, people, character, log"), ("Tab", "to the next panel"), ("↑ ↓", "along a list"),
        ("c C", "next, previous character"), ("i I", "next, previous page of the character"),
        ("f", "filter the log: all, talk, moves, plans, world"), ("w Enter", "why: open the reasons of a line"),
        ("a", "ask: talk with the character, as it is at this tick"),
        ("g :", "god mode: say what happens"),
        ("", "/voice NAME text · /leave NAME · /join NAME|FILE PLACE"),
        ("", "/do NAME go|say|use …: play somebody · /release NAME"),
        ("t ?", "dark or light; this page"), ("q", "quit; every tick on the screen is saved"),
        ("", ""), ("map", "badge and name; ” speaks, zz sleeps; lit rooms have somebody awake in them"),
        ("time-line", "▁▄▇ talk   ◇ a reflection   ✦ an intervention   ● the tick on the screen"),
        ("log", "“ speech  → move  ¶ plan  ◇ reflection  ▪ object  ≈ weather  ✦ intervention  ✗ refused"),
    ),
    "ko": (
        ("space", "재생과 멈춤"), (".", "한 틱"), ("+ -", "빠르게, 느리게"),
        ("← →", "한 틱 앞뒤로"), ("PgUp PgDn", "한 시간 앞뒤로"), ("Home End", "처음과 마지막 틱"),
        ("l", "가장 최근 틱으로"),
        ("1 2 3 4", "대화, 사람들, 인물, 기록"), ("Tab", "다음 창"), ("↑ ↓", "목록에서 이동"),
        ("c C", "다음, 이전 인물"), ("i I", "인물의 다음, 이전 쪽"),
        ("f", "기록 거르기: 전체, 대화, 이동, 계획, 세계"), ("w Enter", "이유 보기"),
        ("a", "묻기: 이 틱의 인물과 이야기하기"),
        ("g :", "개입: 일어날 일을 적기"),
        ("", "/voice 이름 글 · /leave 이름 · /join 이름|파일 장소"),
        ("", "/do 이름 go|say|use …: 대신 하기 · /release 이름"),
        ("t ?", "어둡게 또는 밝게; 이 쪽"), ("q", "끝내기; 본 틱은 모두 저장되어 있음"),
        ("", ""), ("지도", "글자표와 이름; ” 말하는 중, zz 자는 중; 깨어 있는 사람이 있는 방은 밝음"),
        ("시간선", "▁▄▇ 대화   ◇ 되돌아봄   ✦ 개입   ● 지금 보는 틱"),
        ("기록", "“ 말  → 이동  ¶ 계획  ◇ 되돌아봄  ▪ 물건  ≈ 날씨  ✦ 개입  ✗ 거절"),
    ),
}  # fmt: skip


class HelpScreen(ModalScreen[None]):
    """Keys and signs over the town; Esc, `?` or `q` closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "app.pop_screen", "close")]

    def __init__(self, palette: Palette, language: str) -> None:
        super().__init__()
        self.text = help_text(palette, language)

    def compose(self) -> ComposeResult:
        """One page."""
        with VerticalScroll(id="help") as page:
            page.border_title = "?"
            page.border_subtitle = "esc"
            yield Static(self.text, markup=False)


def help_text(palette: Palette, language: str) -> Text:
    """A line per key."""
    text = Text()
    for keys, what in HELP.get(language, HELP["en"]):
        text.append(padded(keys, 11), f"bold {palette.accent}")
        text.append(f"{what}\n", palette.text)
    return text
