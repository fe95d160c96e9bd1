"""One character from inside as of the tick on the screen: who it is, plan, goals, memories, past, beliefs and ties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from commonplace.clock import hhmm, iso, parse_iso
from commonplace.memory.shapes import MemoryJSON
from commonplace.parts.terminal.canvas import bar, emoji_of
from commonplace.parts.terminal.lists import EventList
from commonplace.parts.terminal.player import Scene
from commonplace.parts.terminal.stars import star_line
from commonplace.run.explained import GoalRow, PastRow
from commonplace.text import clean
from commonplace.views.inspection import Inspection, PlanRow
from commonplace.views.words import Key, past_template, word

PAGES: tuple[Key, ...] = ("who", "plan", "goals", "memory", "past", "belief", "ties")
NOW = "▶ "
"""Stands before the plan items under way."""
Stars = Mapping[str, float]
"""Event or memory id → a person's stars."""


class Inspector(VerticalScroll):
    """One page about a character; `i` turns the page, and the lower border names the pages."""

    def __init__(self) -> None:
        super().__init__(id="inspector")
        self._page = 0
        self._body = Static("", id="page", markup=False)
        self._rows = Rows()
        self._text = Text()
        self._revealed: tuple[str, str] | None = None

    def compose(self) -> ComposeResult:
        """Builds one page, of text or of a list that leads to reasons."""
        yield self._body
        yield self._rows

    @property
    def page_name(self) -> Key:
        """The name of the page in front."""
        return PAGES[self._page]

    def turn(self, step: int) -> None:
        """Turns to the next or the previous page, which the next `show` writes."""
        self._page = (self._page + step) % len(PAGES)
        self._revealed = None
        self._rows.display = self.page_name in ROWS
        self._body.display = not self._rows.display
        self.scroll_home(animate=False)

    def take_focus(self) -> None:
        """Keys go to the page in front."""
        (self._rows if self.page_name in ROWS else self).focus()

    def show(self, scene: Scene, inspection: Inspection, stars: Stars) -> None:
        """Shows the character as of this tick. Raises CommonplaceError where that cannot be read."""
        self.border_subtitle = self._tabs(scene.language)
        if self.page_name in ROWS:
            self._rows.show(scene, ROWS[self.page_name](scene, inspection, stars))
            return
        text = TEXTS[self.page_name](scene, inspection)
        if text != self._text:  # an update makes Textual lay out the whole screen again
            self._text = text
            self._body.update(text)
        if self.page_name == "plan":
            self._reveal_now(inspection.agent_id, text.plain.splitlines())

    def _tabs(self, language: str) -> Content:
        names = [(word(language, name), name == self.page_name) for name in PAGES]
        pieces = [(f"[{name}]", "bold") if front else (f" {name} ", "") for name, front in names]
        return Content.assemble(("i:", ""), *pieces)

    def _reveal_now(self, agent_id: str, lines: Sequence[str]) -> None:
        """Scrolls to the innermost current plan item, once for each item, so that reading is not interrupted."""
        current = [number for number, line in enumerate(lines) if line.startswith(NOW)]
        if current and self._revealed != (agent_id, lines[current[-1]]):
            self._revealed = (agent_id, lines[current[-1]])
            self.call_after_refresh(self.scroll_to, y=max(0, current[-1] - 3), animate=False)


class Row(NamedTuple):
    """A row of a list."""

    text: Text
    event: str
    """The event it leads to; may be empty."""
    rated: str
    """The id under which its stars are kept; may be empty."""


class Rows(OptionList):
    """Rows that rest on memories; Enter, `w` or a click opens the reasons of one."""

    def __init__(self) -> None:
        super().__init__(id="rows", markup=False, compact=True)
        self.display = False
        self._shown: list[Row] | None = None

    def show(self, scene: Scene, rows: list[Row]) -> None:
        """Shows the rows. The highlight stays with its row, or at the top with what is new."""
        if rows == self._shown:
            return
        kept = self._shown[self.highlighted] if self.highlighted and self._shown else None
        self._shown = rows
        nothing = Option(Text(word(scene.language, "nothing yet"), scene.palette.muted), disabled=True)
        self.set_options([row.text for row in rows] or [nothing])
        same = [row for row in rows if row == kept] or [row for row in rows if kept and row[1:] == kept[1:]]
        self.highlighted = rows.index(same[0]) if same else 0 if rows else None

    def chosen(self) -> str:
        """Returns the event that the highlighted row leads to; empty without one."""
        return self._shown[self.highlighted].event if self._shown and self.highlighted is not None else ""

    def rated(self) -> str:
        """Returns the id under which the stars of the highlighted row are kept; empty without one."""
        return self._shown[self.highlighted].rated if self._shown and self.highlighted is not None else ""

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Shows why."""
        event.stop()
        if self.chosen():
            self.post_message(EventList.Opened(self.chosen()))


def _past(scene: Scene, one: Inspection, _: Stars) -> list[Row]:
    return [Row(_past_row(scene, row), row["event"], row["event"]) for row in one.past]


def _past_row(scene: Scene, row: PastRow) -> Text:
    palette, about = scene.palette, clean(row["text"] or row["topic"])
    text = Text.assemble((f"{_short(scene, row['time'])} ", palette.faint))
    before, _, after = past_template(scene.language, row["kind"]).partition("{other}")
    text.append(before, palette.muted)
    text.append(scene.town.short(row["other"]) if row["other"] else "", f"bold {scene.colour(row['other'])}")
    text.append(after, palette.muted)
    text.append(f" · {about}" if about else "", palette.text)
    text.append(f" ×{row['times']}" if row["times"] > 1 else "", palette.accent)
    if row["due"]:
        text.append(f"  {word(scene.language, 'until')} {_short(scene, row['due'])}", palette.accent)
    return text.append(_cited(row["because"], row["memory"]), palette.faint)


def _goals(scene: Scene, one: Inspection, _: Stars) -> list[Row]:
    return [Row(_goal_row(scene, row), row["event"], row["event"]) for row in one.goals]


def _goal_row(scene: Scene, row: GoalRow) -> Text:
    palette, is_open = scene.palette, row["status"] == "open"
    text = Text.assemble((f"{_short(scene, row['changed'])} ", palette.faint))
    text.append(GOAL_MARKS[row["status"]], palette.accent if is_open else palette.faint)
    text.append(f" {clean(row['text'])}", f"bold {palette.text}" if is_open else palette.muted)
    if row["person"]:
        text.append(f" · {scene.town.short(row['person'])}", scene.colour(row["person"]))
    if row["steps"] > 1:
        text.append(f" · {row['done_steps']}/{row['steps']}", palette.text)
    if row["due"] and is_open:
        text.append(f"  {word(scene.language, 'until')} {_short(scene, row['due'])}", palette.accent)
    failed = f" ✗{row['tries']}" if row["tries"] else ""
    text.append(f"  {word(scene.language, row['status'])}{failed}", palette.faint)
    return text.append(_cited([row["moved_by"]], row["memory"]), palette.faint)


GOAL_MARKS = {"open": "▶", "done": "✓", "given_up": "✗", "overtaken": "–"}


def _cited(ids: Sequence[int], text: str) -> str:
    return f"\n      ← {' '.join(f'#{memory}' for memory in ids)} {clean(text)}"


def _who(scene: Scene, one: Inspection) -> Text:
    palette, me = scene.palette, one.persona
    frame = scene.frame.agents.get(me.id)
    text = Text.assemble((clean(me.name), f"bold {scene.colour(me.id)}"), (f", {me.age}", palette.text))
    if me.work:
        text.append(f" · {clean(me.work)}", palette.text)
    text.append("\n" + ", ".join(clean(trait) for trait in me.traits) + "\n", palette.accent)
    if frame is not None:
        doing = word(scene.language, "asleep") if frame.asleep else clean(frame.doing)
        _field(text, scene, "now", f"{doing} · {scene.town.where(frame.position)}")
        if frame.plan_item:
            _field(text, scene, "plan", clean(frame.plan_item))
    for so in scene.so(me.id):
        text.append(f"{emoji_of(so.emoji)} {clean(so.text)}\n".lstrip(), palette.alert)
    _field(text, scene, "home", scene.town.where(me.home))
    if me.background:
        text.append(f"{clean(me.background)}\n", palette.text)
    if me.goals:
        _field(text, scene, "wants", "\n  ".join(clean(goal) for goal in me.goals))
    for job in one.thinking:
        about = f" ({scene.town.what(job['about'])})" if job["about"] in scene.town.names else ""
        _field(text, scene, "jobs", f"{clean(job['kind'].replace('_', ' '))}{about} → {_short(scene, job['due'])}")
    return text


def _field(text: Text, scene: Scene, name: Key, value: str) -> None:
    text.append(f"{word(scene.language, name)}  ", scene.palette.muted)
    text.append(f"{value}\n", scene.palette.text)


def _plan(scene: Scene, one: Inspection) -> Text:
    text, plan = Text(), one.plan
    for stroke in plan["day"]:
        _plan_line(text, scene, stroke, 0)
        for hour in plan["hours"] if stroke["now"] else ():
            _plan_line(text, scene, hour, 1)
            for action in plan["actions"] if hour["now"] else ():
                _plan_line(text, scene, action, 2)
    return text if text else Text(word(scene.language, "no plan"), scene.palette.muted)


def _plan_line(text: Text, scene: Scene, row: PlanRow, depth: int) -> None:
    palette, current = scene.palette, row["now"]
    style = f"bold {palette.text}" if current else palette.faint if row["over"] else palette.muted
    mark = NOW if current else "✓ " if row["over"] else "  "
    text.append(mark, palette.accent if current else palette.faint)
    text.append(f"{'  ' * depth}{row['start']}–{row['end']} ", palette.muted)
    text.append(row["text"], style)
    text.append(f" · {scene.town.where(row['place'])}\n" if depth == 0 else "\n", palette.faint)


def _memories(scene: Scene, one: Inspection, stars: Stars) -> list[Row]:
    names = [(memory, str(memory["details"].get("memory_id") or memory["event"])) for memory in one.memories]
    return [Row(_memory_row(scene, memory, stars.get(name, 0)), memory["event"], name) for memory, name in names]


def _memory_row(scene: Scene, memory: MemoryJSON, stars: float) -> Text:
    palette = scene.palette
    text = Text()
    text.append_text(bar(memory["importance"] / 10, 5, palette.bars["importance"], palette.wall))
    text.append(f" {memory['importance']:.0f} ", palette.muted)
    text.append(f"{_short(scene, memory['created_at'])} {MEMORY_MARKS.get(memory['kind'], ' ')} ", palette.faint)
    text.append(f"{star_line(stars)} " if stars else "", palette.accent)
    text.append(clean(memory["text"]), palette.text)
    if memory["accessed_at"] != memory["created_at"]:
        text.append(f"  ↺ {_short(scene, memory['accessed_at'])}", palette.accent)
    if memory["citations"]:
        text.append(f"  ← {', '.join(f'#{cited}' for cited in memory['citations'])}", palette.faint)
    return text


MEMORY_MARKS = {"observation": "·", "action": "•", "plan": "¶", "reflection": "◇"}


def _belief(scene: Scene, one: Inspection) -> Text:
    palette, town = scene.palette, scene.town
    text = Text()
    for row in sorted(one.beliefs, key=lambda row: (-row["seen"], row["node_id"])):
        if row["kind"] == "area":
            continue
        node = row["node_id"]
        text.append(town.what(node), scene.colour(node) if node in town.names else palette.text)
        where = town.what(row["place"]) if row["place"] else word(scene.language, "unknown")
        text.append(f" · {where}", palette.muted)
        if row["state"]:
            text.append(f" · {row['state'].replace('_', ' ')}", palette.accent)
        text.append(f"  {word(scene.language, 'seen')} {_clock(scene, row['seen'])}\n", palette.faint)
    places = [row["name"] for row in one.beliefs if row["kind"] == "area"]
    text.append(" · ".join(places), palette.faint)
    return text if text else Text(word(scene.language, "nothing yet"), palette.muted)


def _ties(scene: Scene, one: Inspection) -> Text:
    palette = scene.palette
    text = Text()
    for tie in sorted(one.ties, key=lambda tie: (-abs(tie["warmth"]), tie["other"])):
        colour = palette.bars["relevance"] if tie["warmth"] >= 0 else palette.alert
        text.append_text(bar(abs(tie["warmth"]) / 100, 8, colour, palette.wall))
        text.append(f" {tie['warmth']:+4d} ", palette.muted)
        text.append(scene.town.who(tie["other"]), f"bold {scene.colour(tie['other'])}")
        text.append(f" {tie['label']}", palette.text)
        if tie["talks"]:
            talks = f"  {word(scene.language, 'talks')} {tie['talks']}, {_clock(scene, tie['last_talk'])}"
            text.append(talks, palette.faint)
        text.append(f"\n  {tie['summary']}\n" if tie["summary"] else "\n", palette.muted)
    return text if text else Text(word(scene.language, "nothing yet"), palette.muted)


def _clock(scene: Scene, tick: int) -> str:
    return _short(scene, iso(scene.town.clock.time(tick)))


def _short(scene: Scene, time: str) -> str:
    """Returns a time such as `07:05`, with the day before it when it is another day."""
    moment = parse_iso(time)
    days = (moment.date() - scene.frame.time.date()).days
    return f"{days:+d}d {hhmm(moment)}" if days else hhmm(moment)


ROWS: Mapping[Key, Callable[[Scene, Inspection, Stars], list[Row]]] = {
    "goals": _goals, "memory": _memories, "past": _past,
}  # fmt: skip
"""Pages that are lists."""
TEXTS: Mapping[Key, Callable[[Scene, Inspection], Text]] = {
    "who": _who, "plan": _plan, "belief": _belief, "ties": _ties,
}  # fmt: skip
