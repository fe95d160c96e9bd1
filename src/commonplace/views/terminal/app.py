"""The town on a terminal: `TownApp(source).run()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from commonplace.errors import CommonplaceError
from commonplace.views.source import Source
from commonplace.views.terminal.palette import PALETTES, themes
from commonplace.views.terminal.player import Player
from commonplace.views.terminal.screen import TownScreen
from commonplace.views.terminal.travel import Committed, Failed


class TownApp(App[None]):
    """One run, live or recorded, on a terminal.

    `start` is the tick a recording opens at (None: the latest, followed as it grows); `playing` lets a recording roll
    at once, at `rate` ticks per second.
    """

    CSS_PATH = "styles.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "quit"),
        Binding("ctrl+c", "quit", "quit", show=False, priority=True),
    ]

    def __init__(
        self, source: Source, *, start: int | None = None, playing: bool = False, rate: float = 2.0, light: bool = False
    ) -> None:
        super().__init__()
        self.source = source
        last = source.last_tick
        self.player = Player(last if start is None else min(start, last), last, start is None, playing, rate)
        self.failure: CommonplaceError | None = None
        """Why the view ended by itself, for whoever called `run`."""
        self.unsubscribe: Callable[[], None] | None = None
        self.town_screen = TownScreen(source, self.player)
        for theme in themes():
            self.register_theme(theme)
        self.theme = list(PALETTES)[1 if light else 0]

    def get_default_screen(self) -> Screen[None]:
        """The town."""
        return self.town_screen

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own colour names, for the moment before the theme is set."""
        return dict(themes()[0].variables)

    def on_mount(self) -> None:
        """A call at every commit."""
        self.unsubscribe = self.source.subscribe(self._committed)

    def on_failed(self, message: Failed) -> None:
        """Leave with what went wrong."""
        self.failure = message.error
        self.exit(return_code=message.error.status, message=str(message.error))

    def on_unmount(self) -> None:
        """No more calls."""
        if self.unsubscribe is not None:
            self.unsubscribe()

    def _committed(self, tick: int) -> None:
        """From any thread."""
        self.town_screen.post_message(Committed(tick))
