"""The three lists: talk, event log and people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from commonplace.clock import hhmm
from commonplace.parts.terminal.canvas import fitted, padded
from commonplace.parts.terminal.player import Scene
from commonplace.run.frames import AgentFrame
from commonplace.text import clean
from commonplace.views.lines import Category, NarratedEvent
from commonplace.views.words import Key, word
from commonplace.world.tree import action_words

MOST = 1000
"""Lines kept before the oldest are dropped."""


class EventList(OptionList):
    """A list of happenings, newest last: the base of the talk and the log. The ids of its options are event ids.

    It grows at the end, keeps its highlight, and scrolls along while the highlight is on the last line.
    """

    class Opened(Message):
        """A message: a line was chosen, and its reasons are wanted."""

        def __init__(self, event_id: str) -> None:
            super().__init__()
            self.event_id = event_id

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, markup=False, compact=True)
        self._scene: Scene | None = None
        self._drawn: tuple[object, ...] = ()

    def entries(self, scene: Scene) -> Sequence[NarratedEvent]:
        """Returns the entries to list, oldest first."""
        raise NotImplementedError

    def line(self, scene: Scene, entry: NarratedEvent) -> Text:
        """Draws an entry."""
        raise NotImplementedError

    def nothing(self, scene: Scene) -> str:
        """Returns the text of an empty list."""
        raise NotImplementedError

    def style_key(self, scene: Scene) -> tuple[object, ...]:
        """Returns what the look of an entry depends on apart from its event; a change rebuilds the list."""
        return (scene.palette.name, self.size.width)

    def show(self, scene: Scene) -> None:
        """Lists what happened up to this tick."""
        self._scene = scene
        entries = self.entries(scene)
        listed = [option.id for option in self.options if option.id]
        at_end = self.highlighted is None or self.highlighted >= len(listed) - 1
        same_style = self.style_key(scene) == self._drawn
        known = _already_listed(listed, [entry.event_id for entry in entries]) if same_style else None
        if known is None or len(listed) > MOST:
            self._list_anew(scene, entries)
        elif known < len(entries):
            self.add_options(self._options_of(scene, entries[known:]))
        if at_end and entries:
            self.highlighted = self.option_count - 1
            self.scroll_end(animate=False, immediate=True)  # later would be one picture too late

    def on_resize(self, _: Resize) -> None:
        """Lines are wrapped to the width."""
        if self._scene is not None and self.style_key(self._scene) != self._drawn:
            self.show(self._scene)

    def chosen(self) -> str:
        """Returns the id of the highlighted event; empty without a highlight."""
        option = self.highlighted_option
        return (option.id or "") if option else ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens the explanation, on Enter or a click."""
        event.stop()
        if event.option.id:
            self.post_message(self.Opened(event.option.id))

    def _options_of(self, scene: Scene, entries: Sequence[NarratedEvent]) -> list[Option]:
        return [Option(self.line(scene, entry), id=entry.event_id) for entry in entries]

    def _list_anew(self, scene: Scene, entries: Sequence[NarratedEvent]) -> None:
        kept = self.chosen()
        self._drawn = self.style_key(scene)
        empty = Option(Text(self.nothing(scene), scene.palette.muted), disabled=True)
        self.set_options(self._options_of(scene, entries) or [empty])
        ids = [entry.event_id for entry in entries]
        self.highlighted = ids.index(kept) if kept in ids else None


def _already_listed(listed: Sequence[str], wanted: Sequence[str]) -> int | None:
    """Counts the wanted ids that the list ends with; None when it has to be made anew.

    The list may begin with older ids than wanted: what is recent moves on, and lines already listed do no harm.
    """
    if not listed or not wanted or wanted[0] not in listed:
        return None
    known = listed[listed.index(wanted[0]) :]
    return len(known) if list(wanted[: len(known)]) == list(known) else None


FILTERS: tuple[tuple[Key, frozenset[Category] | None], ...] = (
    ("all", None),
    ("talk", frozenset({"talk"})),
    ("moves", frozenset({"moves"})),
    ("plans", frozenset({"plans"})),
    ("world", frozenset({"world"})),
)


class EventLog(EventList):
    """One line for each event worth reading, as the filter lets through."""

    def __init__(self) -> None:
        super().__init__(id="log")
        self.filter = 0

    def next_filter(self) -> None:
        """Goes through all → talk → moves → plans → world → all; the next `show` lists by it."""
        self.filter = (self.filter + 1) % len(FILTERS)

    @property
    def filter_name(self) -> Key:
        """The name of the filter in use."""
        return FILTERS[self.filter][0]

    def style_key(self, scene: Scene) -> tuple[object, ...]:
        """Returns the filter: another one lists other events."""
        return (*super().style_key(scene), self.filter)

    def entries(self, scene: Scene) -> Sequence[NarratedEvent]:
        """Returns what the filter lets through."""
        wanted = FILTERS[self.filter][1]
        return [entry for entry in scene.recent if wanted is None or entry.category in wanted]

    def line(self, scene: Scene, entry: NarratedEvent) -> Text:
        """Draws time, mark, who and what."""
        return _line(scene, entry)

    def nothing(self, scene: Scene) -> str:
        """Returns the text for a filter that lets nothing through."""
        return word(scene.language, "nothing yet")


def _line(scene: Scene, entry: NarratedEvent) -> Text:
    palette = scene.palette
    mark = palette.alert if entry.mark in "✦✶✗" else palette.accent
    line = Text.assemble((hhmm(scene.town.clock.time(entry.tick)), palette.faint), " ", (entry.mark, mark), " ")
    if entry.agent_id:
        line.append(scene.town.short(entry.agent_id), f"bold {scene.colour(entry.agent_id)}")
    if entry.to:
        line.append(" → ", palette.muted)
        line.append(scene.town.short(entry.to), scene.colour(entry.to))
    quiet = entry.category in ("moves", "doing")
    return line.append(f" {entry.text}" if entry.agent_id else entry.text, palette.muted if quiet else palette.text)


def _unsaid(agent_id: str) -> str:
    """Returns the id of the option for unfinished speech: no event has it."""
    return f"~{agent_id}"


BUBBLES_FROM = 30
"""Lines of height from which speech gets a line of its own under the speaker's name."""


class Talk(EventList):
    """The lines that were said, each speaker in its own colour; below them what is being said."""

    def __init__(self) -> None:
        super().__init__(id="talk")
        self._heard: Mapping[str, str] = {}

    def entries(self, scene: Scene) -> Sequence[NarratedEvent]:
        """Returns only what was said."""
        return [entry for entry in scene.recent if entry.type == "SAY"]

    def style_key(self, scene: Scene) -> tuple[object, ...]:
        """Bubbles or lines, by the height of the screen."""
        return (*super().style_key(scene), self._bubbles())

    def nothing(self, scene: Scene) -> str:
        """Returns the text shown before the first word."""
        return word(scene.language, "silence")

    def show(self, scene: Scene) -> None:
        """Lists what was said up to this tick."""
        self.hear({})
        super().show(scene)

    def hear(self, speaking: Mapping[str, str]) -> None:
        """Lines that are still being written, by character, below those that were said. They cannot be chosen."""
        scene = self._scene
        if scene is None or speaking == self._heard:
            return
        for agent in self._heard.keys() - speaking.keys():
            self.remove_option(_unsaid(agent))
        for agent, words in speaking.items():
            said = action_words(scene.language, "SAY", "event", utterance=f"{words}…")
            line = self._spoken(scene, scene.frame.tick + 1, agent, "", said)
            if agent in self._heard:
                self.replace_option_prompt(_unsaid(agent), line)
            else:
                self.add_option(Option(line, id=_unsaid(agent), disabled=True))
        self._heard = dict(speaking)
        if self.highlighted is None or self.highlighted >= self.option_count - len(speaking) - 1:
            self.scroll_end(animate=False)

    def _bubbles(self) -> bool:
        return self.app.size.height >= BUBBLES_FROM

    def line(self, scene: Scene, entry: NarratedEvent) -> Text:
        """Draws a bubble, or a line on low screens."""
        return self._spoken(scene, entry.tick, entry.agent_id, entry.to, entry.text)

    def _spoken(self, scene: Scene, tick: int, agent: str, to: str, text: str) -> Text:
        """Draws a spoken line; `to` is empty while it is being said."""
        colour, style = scene.colour(agent), scene.palette.text if to else scene.palette.muted
        head = Text.assemble(
            ("▌ " if self._bubbles() else "", colour),
            (hhmm(scene.town.clock.time(tick)), scene.palette.faint),
            " ",
            (scene.town.short(agent), f"bold {colour}"),
            end="",
        )
        if to:
            head.append(" → ", scene.palette.muted)
            head.append(scene.town.short(to), scene.colour(to))
        if not self._bubbles():
            return Text.assemble(head, "  ", (text, style))
        for line in wrapped(text, max(12, self.scrollable_content_region.width - 3)):
            head.append("\n▌ ", colour)
            head.append(line, style)
        head.append("\n")
        return head


def wrapped(text: str, width: int) -> list[str]:
    """Splits the text into lines of at most `width` cells."""
    return [line.plain.rstrip() for line in Content(text).wrap(width)] or [""]


class People(OptionList):
    """A list to choose a character from; what is highlighted is selected."""

    class Picked(Message):
        """A message: another character is highlighted; `opened` when it was chosen with Enter or a click."""

        def __init__(self, agent_id: str, *, opened: bool) -> None:
            super().__init__()
            self.agent_id = agent_id
            self.opened = opened

    def __init__(self) -> None:
        super().__init__(id="people", markup=False, compact=True)
        self.scene: Scene | None = None

    def show(self, scene: Scene) -> None:
        """Lists everybody at this tick."""
        self.scene = scene
        agents = scene.agents()
        lines = [self._line(scene, one) for one in agents]
        if [option.id for option in self.options] == [one.agent_id for one in agents]:
            for number, line in enumerate(lines):
                if self.options[number].prompt != line:
                    self.replace_option_prompt_at_index(number, line)
        else:
            self.set_options(Option(line, id=one.agent_id) for one, line in zip(agents, lines, strict=True))
        self._mark(scene.selected)

    def on_resize(self, _: Resize) -> None:
        """Lines are cut to the width."""
        if self.scene is not None:
            self.show(self.scene)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Selects another character."""
        event.stop()
        if event.option.id and self.scene is not None and event.option.id != self.scene.selected:
            self.post_message(self.Picked(event.option.id, opened=False))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Opens the inspector."""
        event.stop()
        if event.option.id:
            self.post_message(self.Picked(event.option.id, opened=True))

    def _mark(self, agent_id: str) -> None:
        ids = [option.id for option in self.options]
        if agent_id in ids and self.highlighted != ids.index(agent_id):
            with self.prevent(OptionList.OptionHighlighted):
                self.highlighted = ids.index(agent_id)

    def _line(self, scene: Scene, one: AgentFrame) -> Text:
        palette = scene.palette
        badge = scene.badges.get(one.agent_id)
        line = Text(no_wrap=True, overflow="ellipsis")
        if badge:
            line.append(badge.letters, f"bold {badge.hue.ink} on {badge.hue.ground}")
        names = max((cell_len(scene.town.short(agent)) for agent in scene.badges), default=6)
        line.append(f" {padded(scene.town.short(one.agent_id), min(names, 10))} ", f"bold {scene.colour(one.agent_id)}")
        room = self.scrollable_content_region.width - line.cell_len
        where = fitted(scene.town.where(one.position), max(8, min(20, room // 3)))
        line.append(fitted(_doing(scene, one), max(6, room - cell_len(where) - 3)), palette.text)
        gap = room - (line.cell_len - (self.scrollable_content_region.width - room)) - cell_len(where)
        line.append(" " * max(1, gap))
        return line.append(where, palette.muted)


def _doing(scene: Scene, one: AgentFrame) -> str:
    if one.dialogue:
        return f"“{clean(one.dialogue)}”"
    if one.asleep:
        return word(scene.language, "asleep")
    return clean(one.doing) or (f"→ {scene.town.where(one.goal)}" if one.goal else "…")
