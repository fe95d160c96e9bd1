"""The god-mode line: a sentence is shown with what it will do before it is applied."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from commonplace.errors import CommonplaceError
from commonplace.text import clean
from commonplace.views.source import Source
from commonplace.views.terminal.typed import Intent, parsed
from commonplace.views.town import Town

HINT = {
    "en": "a sentence that happens · /voice NAME text · /do NAME go|say|use|wait … · /release NAME · /leave · /join",
    "ko": "일어날 일 한 문장 · /voice 이름 글 · /do 이름 go|say|use|wait … · /release 이름 · /leave · /join",
}
AGAIN = {"en": "Enter applies it · Esc cancels", "ko": "Enter: 적용 · Esc: 취소"}
NO_NAME = {
    "en": "not understood: a command needs somebody's name, and a place, person or thing that is there",
    "ko": "알 수 없습니다: 명령에는 있는 사람과 장소, 사물의 이름이 필요합니다",
}


class CommandScreen(ModalScreen[str]):
    """A line at the bottom. Its result is the confirmation; empty when cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel")]

    def __init__(self, source: Source, town: Town, muted: str) -> None:
        super().__init__()
        self.source = source
        self.town = town
        self.muted = muted
        self.previewed = ""
        self.busy = False

    def compose(self) -> ComposeResult:
        """The line and what it will do."""
        with Vertical(id="command"):
            yield Static(Text(HINT.get(self.town.language, HINT["en"]), self.muted), id="preview", markup=False)
            yield Input(placeholder="…", id="sentence", select_on_focus=False)

    def on_mount(self) -> None:
        """Type at once."""
        self.query_one(Input).focus()

    def on_input_changed(self) -> None:
        """Another text needs another preview."""
        self.previewed = ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The first Enter previews, the second applies."""
        event.stop()
        intent = parsed(event.value, self.town)
        if self.busy or not clean(event.value):
            return
        if intent is None:
            self._say(NO_NAME.get(self.town.language, NO_NAME["en"]))
            return
        self.busy = True
        text = event.value
        apply = self.previewed == text
        self.run_worker(lambda: self._work(intent, text, apply=apply), thread=True, exit_on_error=False)

    def action_cancel(self) -> None:
        """Close without a change."""
        self.dismiss("")

    def _work(self, intent: Intent, text: str, *, apply: bool) -> None:
        """In a worker thread: a mind may have to be asked."""
        try:
            if apply:
                said = self.source.submit(intent.body)
                self.app.call_from_thread(self.dismiss, said or "✓")
            else:
                preview = intent.preview or self.source.preview(str(intent.body["text"]))
                self.app.call_from_thread(self._previewed, text, preview)
        except CommonplaceError as error:
            self.app.call_from_thread(self._failed, str(error))

    def _previewed(self, text: str, preview: str) -> None:
        self.busy = False
        self.previewed = text
        self._say(preview, AGAIN.get(self.town.language, AGAIN["en"]))

    def _failed(self, why: str) -> None:
        self.busy = False
        self._say(why)

    def _say(self, text: str, hint: str = "") -> None:
        lines = Text("\n").join(Text(clean(line)) for line in text.splitlines())
        self.query_one("#preview", Static).update(Text.assemble(lines, "\n" if hint else "", (hint, self.muted)))
