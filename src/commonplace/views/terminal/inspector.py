"""One character from inside: who it is, its plan, memories, beliefs and ties, as of the tick shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from commonplace.character.plan import PlanItem
from commonplace.clock import hhmm
from commonplace.text import clean
from commonplace.views.source import Inspection
from commonplace.views.terminal.canvas import bar
from commonplace.views.terminal.player import Shown
from commonplace.views.words import Key, word

TABS: tuple[Key, ...] = ("who", "plan", "memory", "belief", "ties")


class Inspector(VerticalScroll):
    """A heading with tabs and the page chosen; `i` turns the page."""

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self.page = 0
        self.body = Static("", id="page", markup=False)
        self.shown: Shown | None = None
        self.inspection: Inspection | None = None
        self.marked: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """One page."""
        yield self.body

    def show(self, shown: Shown, inspection: Inspection | None) -> None:
        """The character as of this tick."""
        self.shown, self.inspection = shown, inspection
        self._write()

    def turn(self, step: int) -> None:
        """To the next or the previous page."""
        self.page = (self.page + step) % len(TABS)
        self.marked = ()
        self.scroll_home(animate=False)
        self._write()

    def _write(self) -> None:
        if self.shown is None:
            return
        page = PAGES[TABS[self.page]]
        text = page(self.shown, self.inspection) if self.inspection is not None else Text()
        self.border_subtitle = self._tabs(self.shown.language)
        self.body.update(text)
        self._reveal(text.plain)

    def _tabs(self, language: str) -> Content:
        """Names of the pages, the one shown set off."""
        names = [(word(language, name), number == self.page) for number, name in enumerate(TABS)]
        pieces = [(f"[{name}]", "bold") if front else (f" {name} ", "") for name, front in names]
        return Content.assemble(("i:", ""), *pieces)

    def _reveal(self, text: str) -> None:
        """Scroll to the innermost plan item under way, once for each."""
        lines = text.splitlines()
        current = [number for number, line in enumerate(lines) if line.startswith(NOW)]
        shown = self.shown
        if current and shown is not None and TABS[self.page] == "plan":
            mark = (shown.selected, lines[current[-1]])
            if mark != self.marked:
                self.call_after_refresh(self.scroll_to, y=max(0, current[-1] - 3), animate=False)
            self.marked = mark


NOW = "▶ "


def _who(shown: Shown, one: Inspection) -> Text:
    palette, me = shown.palette, one.persona
    frame = shown.frame.agents.get(me.id)
    text = Text.assemble((clean(me.name), f"bold {shown.colour(me.id)}"), (f", {me.age}", palette.text))
    if me.work:
        text.append(f" · {clean(me.work)}", palette.text)
    text.append("\n" + ", ".join(clean(trait) for trait in me.traits) + "\n", palette.accent)
    if frame is not None:
        doing = word(shown.language, "asleep") if frame.asleep else clean(frame.doing)
        _field(text, shown, "now", f"{doing} · {shown.town.where(frame.position)}")
        if frame.plan_item:
            _field(text, shown, "plan", clean(frame.plan_item))
    _field(text, shown, "home", shown.town.where(me.home))
    if me.background:
        text.append(f"{clean(me.background)}\n", palette.text)
    for goal in me.goals:
        _field(text, shown, "goals", clean(goal))
    for job in one.state.jobs:
        about = f" ({shown.town.what(job.about)})" if job.about in shown.town.names else ""
        _field(text, shown, "jobs", f"{clean(job.kind.replace('_', ' '))}{about} → {_clock(shown, job.due)}")
    return text


def _field(text: Text, shown: Shown, name: Key, value: str) -> None:
    text.append(f"{word(shown.language, name)}  ", shown.palette.muted)
    text.append(f"{value}\n", shown.palette.text)


def _plan(shown: Shown, one: Inspection) -> Text:
    now = shown.frame.time
    text = Text()
    for stroke in one.state.plan.level("day"):
        _plan_line(text, shown, stroke, now, 0)
        if stroke.covers(now):
            for hour in one.state.plan.children(stroke.id):
                _plan_line(text, shown, hour, now, 1)
                if hour.covers(now):
                    for action in one.state.plan.children(hour.id):
                        _plan_line(text, shown, action, now, 2)
    return text if text else Text(word(shown.language, "no plan"), shown.palette.muted)


def _plan_line(text: Text, shown: Shown, item: PlanItem, now: datetime, depth: int) -> None:
    palette, current = shown.palette, item.covers(now)
    style = f"bold {palette.text}" if current else palette.faint if item.end_time <= now else palette.muted
    mark = NOW if current else "✓ " if item.end_time <= now else "  "
    text.append(mark, palette.accent if current else palette.faint)
    text.append(f"{'  ' * depth}{hhmm(item.start_time)}–{hhmm(item.end_time)} ", palette.muted)
    text.append(clean(item.action_description), style)
    text.append(f" · {shown.town.where(item.location)}\n" if depth == 0 else "\n", palette.faint)


def _memory(shown: Shown, one: Inspection) -> Text:
    palette = shown.palette
    text = Text()
    for memory in one.memories:
        text.append_text(bar(memory.importance / 10, 5, palette.bars["importance"], palette.wall))
        text.append(f" {memory.importance:.0f} ", palette.muted)
        text.append(f"{_short(shown, memory.created_at)} {MEMORY_MARKS.get(memory.kind, ' ')} ", palette.faint)
        text.append(clean(memory.text), palette.text)
        if memory.accessed_at != memory.created_at:
            text.append(f"  ↺ {_short(shown, memory.accessed_at)}", palette.accent)
        if memory.citations:
            text.append(f"  ← {', '.join(f'#{cited}' for cited in memory.citations)}", palette.faint)
        text.append("\n")
    return text if text else Text(word(shown.language, "no memories"), palette.muted)


MEMORY_MARKS = {"observation": "·", "action": "•", "plan": "¶", "reflection": "◇"}


def _belief(shown: Shown, one: Inspection) -> Text:
    palette, town = shown.palette, shown.town
    belief = one.state.belief
    nodes = {node: known for node, known in belief.nodes.items() if node not in town.rooms}
    seen = {node: belief.last_seen(node) if node in town.objects else known.seen for node, known in nodes.items()}
    text = Text()
    for node, known in sorted(nodes.items(), key=lambda pair: (-seen[pair[0]], pair[0])):
        text.append(town.what(node), shown.colour(node) if node in town.names else palette.text)
        where = town.what(known.parent) if known.parent else word(shown.language, "unknown")
        text.append(f" · {where}", palette.muted)
        if known.state:
            text.append(f" · {clean(known.state.replace('_', ' '))}", palette.accent)
        text.append(f"  {word(shown.language, 'seen')} {_clock(shown, seen[node])}\n", palette.faint)
    places = [town.where(node) for node in one.state.belief.nodes if node in town.rooms]
    text.append(" · ".join(places), palette.faint)
    return text if text else Text(word(shown.language, "nothing yet"), palette.muted)


def _ties(shown: Shown, one: Inspection) -> Text:
    palette = shown.palette
    text = Text()
    for other, tie in sorted(one.state.relations.items(), key=lambda pair: (-abs(pair[1].warmth), pair[0])):
        colour = palette.bars["relevance"] if tie.warmth >= 0 else palette.alert
        text.append_text(bar(abs(tie.warmth) / 100, 8, colour, palette.wall))
        text.append(f" {tie.warmth:+4d} ", palette.muted)
        text.append(shown.town.who(other), f"bold {shown.colour(other)}")
        text.append(f" {clean(tie.label)}", palette.text)
        if tie.talks:
            text.append(f"  {word(shown.language, 'talks')} {tie.talks}, {_clock(shown, tie.last_talk)}", palette.faint)
        text.append(f"\n  {clean(tie.summary)}\n" if tie.summary else "\n", palette.muted)
    return text if text else Text(word(shown.language, "nothing yet"), palette.muted)


def _clock(shown: Shown, tick: int) -> str:
    return _short(shown, shown.town.clock.time(tick))


def _short(shown: Shown, moment: datetime) -> str:
    """`07:05`, with the day before it when it is another one."""
    days = (moment.date() - shown.frame.time.date()).days
    return f"{days:+d}d {hhmm(moment)}" if days else hhmm(moment)


PAGES: dict[Key, Callable[[Shown, Inspection], Text]] = {
    "who": _who, "plan": _plan, "memory": _memory, "belief": _belief, "ties": _ties,
}  # fmt: skip
