"""Who does what: a line for every character."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from commonplace.run.frame import AgentFrame
from commonplace.text import clean
from commonplace.views.terminal.canvas import fitted, padded
from commonplace.views.terminal.shown import Shown
from commonplace.views.words import word


class People(OptionList):
    """A list to choose a character from; what is highlighted is selected."""

    class Picked(Message):
        """Another character is highlighted; `opened` when it was chosen with Enter or a click."""

        def __init__(self, agent_id: str, *, opened: bool) -> None:
            super().__init__()
            self.agent_id = agent_id
            self.opened = opened

    def __init__(self) -> None:
        super().__init__(id="people", markup=False, compact=True)
        self.shown: Shown | None = None

    def show(self, shown: Shown) -> None:
        """Everybody at this tick."""
        self.shown = shown
        agents = shown.agents()
        lines = [self._line(shown, one) for one in agents]
        if [option.id for option in self.options] == [one.agent_id for one in agents]:
            for number, line in enumerate(lines):
                if self.options[number].prompt != line:
                    self.replace_option_prompt_at_index(number, line)
        else:
            self.set_options(Option(line, id=one.agent_id) for one, line in zip(agents, lines, strict=True))
        self._mark(shown.selected)

    def on_resize(self, _: Resize) -> None:
        """Lines are cut to the width."""
        if self.shown is not None:
            self.show(self.shown)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Look at another character."""
        event.stop()
        if event.option.id and self.shown is not None and event.option.id != self.shown.selected:
            self.post_message(self.Picked(event.option.id, opened=False))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the inspector."""
        event.stop()
        if event.option.id:
            self.post_message(self.Picked(event.option.id, opened=True))

    def _mark(self, agent_id: str) -> None:
        ids = [option.id for option in self.options]
        if agent_id in ids and self.highlighted != ids.index(agent_id):
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = ids.index(agent_id)

    def _line(self, shown: Shown, one: AgentFrame) -> Text:
        palette = shown.palette
        badge = shown.badges.get(one.agent_id)
        line = Text(no_wrap=True, overflow="ellipsis")
        if badge:
            line.append(badge.letters, f"bold {badge.hue.ink} on {badge.hue.ground}")
        names = max((cell_len(shown.town.short(agent)) for agent in shown.badges), default=6)
        line.append(f" {padded(shown.town.short(one.agent_id), min(names, 10))} ", f"bold {shown.colour(one.agent_id)}")
        room = self.scrollable_content_region.width - line.cell_len
        where = fitted(shown.town.where(one.position), max(8, min(20, room // 3)))
        line.append(fitted(_doing(shown, one), max(6, room - cell_len(where) - 3)), palette.text)
        gap = room - (line.cell_len - (self.scrollable_content_region.width - room)) - cell_len(where)
        line.append(" " * max(1, gap))
        return line.append(where, palette.muted)


def _doing(shown: Shown, one: AgentFrame) -> str:
    if one.dialogue:
        return f"“{clean(one.dialogue)}”"
    if one.asleep:
        return word(shown.language, "asleep")
    return clean(one.doing) or (f"→ {shown.town.where(one.goal)}" if one.goal else "…")
