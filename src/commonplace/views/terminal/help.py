"""The keys, on one page."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from commonplace.views.terminal.canvas import padded
from commonplace.views.terminal.palette import Palette

HELP: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        ("space", "play and pause"), (".", "one tick"), ("+ -", "faster, slower"),
        ("← →", "one tick back, one on"), ("PgUp PgDn", "one hour back, one on"), ("Home End", "first and last tick"),
        ("l", "back to the latest tick, and stay there"),
        ("1 2 3 4", "talk, people, character, log"), ("Tab", "to the next panel"), ("↑ ↓", "along a list"),
        ("c C", "next, previous character"), ("i I", "next, previous page of the character"),
        ("f", "filter the log: all, talk, moves, plans, world"), ("w Enter", "why: open the reasons of a line"),
        ("g :", "god mode: say what happens"),
        ("", "/voice NAME text · /leave NAME · /join NAME PLACE"),
        ("", "/do NAME go|say|use …: play somebody · /release NAME"),
        ("t", "dark or light"), ("?", "this page"), ("q", "quit; every tick shown is saved"),
        ("", ""), ("map", "badge and name; ” speaks, zz sleeps; lit rooms have somebody awake in them"),
        ("time-line", "▁▄▇ talk   ◇ a reflection   ✦ an intervention   ● the tick shown"),
        ("log", "“ speech  → move  ¶ plan  ◇ reflection  ▪ object  ≈ weather  ✦ intervention  ✗ refused"),
    ),
    "ko": (
        ("space", "재생과 멈춤"), (".", "한 틱"), ("+ -", "빠르게, 느리게"),
        ("← →", "한 틱 앞뒤로"), ("PgUp PgDn", "한 시간 앞뒤로"), ("Home End", "처음과 마지막 틱"),
        ("l", "가장 최근 틱으로"),
        ("1 2 3 4", "대화, 사람들, 인물, 기록"), ("Tab", "다음 창"), ("↑ ↓", "목록에서 이동"),
        ("c C", "다음, 이전 인물"), ("i I", "인물의 다음, 이전 쪽"),
        ("f", "기록 거르기: 전체, 대화, 이동, 계획, 세계"), ("w Enter", "이유 보기"),
        ("g :", "개입: 일어날 일을 적기"),
        ("", "/voice 이름 글 · /leave 이름 · /join 이름 장소"),
        ("", "/do 이름 go|say|use …: 대신 하기 · /release 이름"),
        ("t", "어둡게 또는 밝게"), ("?", "이 쪽"), ("q", "끝내기; 본 틱은 모두 저장되어 있음"),
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
