"""Stars that a person gives an answer of a panel, or a memory of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from commonplace.engine.stage import Ratings
from commonplace.errors import CommonplaceError
from commonplace.languages import phrases
from commonplace.parts.terminal.palette import Palette
from commonplace.text import clean

MOST = 5


def star_line(stars: float) -> str:
    """Returns stars such as `★★★☆☆`."""
    return "★" * int(stars) + "☆" * (MOST - int(stars))


class StarsScreen(ModalScreen[Mapping[str, float]]):
    """A line to choose one to five stars in. Its result is the new ratings, None if nothing was given.

    Reading and rating wait in a worker thread: another process may have the folder.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,s", "dismiss", "cancel"),
        *(Binding(str(stars), f"give({stars})", f"{stars}") for stars in range(1, MOST + 1)),
    ]

    def __init__(self, ratings: Ratings, name: str, palette: Palette, language: str) -> None:
        """`name`: of what is rated, the id of an event or a memory."""
        super().__init__()
        self.ratings = ratings
        self.rated = name
        self.palette = palette
        self.words = phrases(language, "terminal")

    def compose(self) -> ComposeResult:
        """Builds the line."""
        with Vertical(id="stars"):
            yield Static("…", id="given", markup=False)

    def on_mount(self) -> None:
        """Reads the stars there are."""
        self.run_worker(lambda: self._work(0), thread=True, exit_on_error=False)

    def action_give(self, stars: int) -> None:
        """Rates, once it is known that it can be."""
        self.run_worker(lambda: self._work(stars), thread=True, exit_on_error=False)

    def _work(self, stars: int) -> None:
        """Rates in a worker thread; 0 stars only reads."""
        try:
            if stars:
                self.ratings.rate(self.rated, stars)
            given = self.ratings.all()
        except CommonplaceError as error:
            self.app.call_from_thread(self._say, Text(clean(str(error)), self.palette.alert))
            return
        self.app.call_from_thread(self._rated if stars else self._read, given)

    def _read(self, given: Mapping[str, float]) -> None:
        if self.rated not in given:
            self._say(Text(self.words["not_rated"], self.palette.muted))
            return
        hint = (f"   {self.words['stars']}", self.palette.muted)
        self._say(Text.assemble((star_line(given[self.rated]), self.palette.accent), hint))

    def _rated(self, given: Mapping[str, float]) -> None:
        if self.is_current:  # else it was left while the rating was on its way
            self.dismiss(given)

    def _say(self, text: Text) -> None:
        self.query_one("#given", Static).update(text)
