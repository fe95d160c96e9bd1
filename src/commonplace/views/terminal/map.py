"""The map: rooms as boxes, lit by the time of day and by who is awake in them; rain, snow and stars outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual.events import Click, Resize
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from commonplace.run.frame import AgentFrame
from commonplace.views.terminal.canvas import Canvas, fitted
from commonplace.views.terminal.floorplan import Walls, drawn_in, floorplan
from commonplace.views.terminal.occupants import draw_flow, draw_people, draw_things
from commonplace.views.terminal.shown import Shown
from commonplace.views.town import Room
from commonplace.views.words import word

FALLING = {"rain": ("╱", 9), "storm": ("╱", 5), "snow": ("*", 11), "fog": ("░", 4)}
"""Sky → what fills the open air, in one of how many cells."""


class TownMap(Widget):
    """Draws one frame; a click on a character selects it."""

    BORDER_TITLE = ""

    class Picked(Message):
        """Somebody was clicked on."""

        def __init__(self, agent_id: str) -> None:
            super().__init__()
            self.agent_id = agent_id

    def __init__(self) -> None:
        super().__init__(id="map")
        self.shown: Shown | None = None
        self.strips: list[Strip] = []

    def show(self, shown: Shown) -> None:
        """Draw this tick."""
        self.shown = shown
        self._redraw()

    def on_resize(self, _: Resize) -> None:
        """The rooms stretch with the space."""
        self._redraw()

    def on_click(self, event: Click) -> None:
        """Select who was clicked on."""
        agent = event.style.meta.get("agent")
        if agent:
            self.post_message(self.Picked(str(agent)))

    def _redraw(self) -> None:
        width, height = self.size
        if self.shown is not None and width > 0 and height > 0:
            self.strips = draw_town(self.shown, width, height)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of the picture."""
        return self.strips[y] if y < len(self.strips) else Strip.blank(self.size.width)


def draw_town(shown: Shown, width: int, height: int) -> list[Strip]:
    """The whole map; without space for rooms, a list of who is where."""
    light = shown.palette.light(shown.frame.part_of_day)
    canvas = Canvas(width, height, light.sky)
    plan, outside = _plan(shown, width, height)
    if not plan:
        _draw_list(canvas, shown)
    else:
        _draw_rooms(canvas, shown, plan)
        if outside:
            _draw_outside(canvas, shown, outside)
        _draw_air(canvas, shown, plan)
    return [canvas.strip(y) for y in range(height)]


def _plan(shown: Shown, width: int, height: int) -> tuple[Mapping[str, Walls], Sequence[AgentFrame]]:
    """The rooms, and who is in none of them: for those the last line is always kept free."""
    plan = floorplan(shown.town, width, height)
    if plan and shown.town.root not in plan:
        plan = floorplan(shown.town, width, height - 1) or plan
    return plan, _outside(shown, plan)


def _outside(shown: Shown, plan: Mapping[str, Walls]) -> Sequence[AgentFrame]:
    return [one for one in shown.agents() if not drawn_in(shown.town, plan, one.position)]


def _draw_rooms(canvas: Canvas, shown: Shown, plan: Mapping[str, Walls]) -> None:
    here: dict[str, list[AgentFrame]] = {}
    for one in shown.agents():
        here.setdefault(drawn_in(shown.town, plan, one.position), []).append(one)
    _draw_ways(canvas, shown, plan)
    drawn = [_drawn(shown, number, area, here.get(area, []), plan[area]) for number, area in enumerate(plan)]
    for one in drawn:
        canvas.fill(one.walls.x0, one.walls.y0, one.walls.x1, one.walls.y1, one.ground)
    for one in sorted(drawn, key=lambda one: one.awake):
        colour = one.neon if one.awake else shown.palette.wall
        canvas.box(one.walls.x0, one.walls.y0, one.walls.x1, one.walls.y1, colour)
    for one in drawn:
        name = f" {fitted(one.room.name, one.walls.width - 2)} "
        canvas.text(one.walls.x0 + 1, one.walls.y0, name, one.walls.width, one.neon, mood="bold" if one.awake else "")
        _draw_contents(canvas, shown, one, [other.walls for other in drawn if one.walls.holds(other.walls)])


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A room as it looks now."""

    room: Room
    walls: Walls
    people: Sequence[AgentFrame]
    awake: bool
    """Whether somebody is awake in it."""
    ground: str
    neon: str


def _drawn(shown: Shown, number: int, area: str, people: Sequence[AgentFrame], walls: Walls) -> _Drawn:
    palette, room = shown.palette, shown.town.rooms[area]
    light = palette.light(shown.frame.part_of_day)
    awake = any(not one.asleep for one in people)
    ground = light.outdoor if room.outdoor else light.lit if awake else light.unlit
    neon = palette.garden if room.outdoor else palette.neon[number % len(palette.neon)]
    return _Drawn(room, walls, people, awake, ground, neon)


def _draw_contents(canvas: Canvas, shown: Shown, one: _Drawn, inner: Sequence[Walls]) -> None:
    """People from the top, things on what is left of a roomy place; rooms inside the room are left alone."""
    lines = _free_lines(one.walls, inner)
    if not lines:
        draw_flow(canvas, shown, one.people, [(one.walls.x0 + 2, one.walls.y1, one.walls.width - 2)])
        return
    used = draw_people(canvas, shown, one.people, lines)
    if len(lines) >= 3:
        things = [thing for thing in shown.frame.objects.values() if thing.parent == one.room.id]
        draw_things(canvas, shown, things, lines[used:])


def _free_lines(walls: Walls, inner: Sequence[Walls]) -> list[tuple[int, int, int]]:
    """(x, y, cells) of the widest stretch of each line that no room inside covers."""
    lines: list[tuple[int, int, int]] = []
    for y in range(walls.y0 + 1, walls.y1):
        begin, best = walls.x0, (0, 0)
        across = sorted((one.x0, one.x1) for one in inner if one.y0 <= y <= one.y1)
        for start, end in [*across, (walls.x1, walls.x1)]:
            best = max(best, (start - begin - 1, -begin))
            begin = end
        if best[0] >= 4:
            lines.append((1 - best[1], y, best[0]))
    return lines


def _draw_ways(canvas: Canvas, shown: Shown, plan: Mapping[str, Walls]) -> None:
    """A dotted path in the gap between two rooms that face each other."""
    for one, other in shown.town.ways:
        if one in plan and other in plan:
            for x, y in _path(plan[one], plan[other]):
                if canvas.free(x, y):
                    canvas.text(x, y, "·", 1, shown.palette.faint)


def _path(one: Walls, other: Walls) -> list[tuple[int, int]]:
    top, bottom = max(one.y0, other.y0), min(one.y1, other.y1)
    if bottom - top >= 1:
        west, east = (one, other) if one.x0 < other.x0 else (other, one)
        return [(x, (top + bottom + 1) // 2) for x in range(west.x1 + 1, east.x0)]
    left, right = max(one.x0, other.x0), min(one.x1, other.x1)
    if right - left >= 1:
        north, south = (one, other) if one.y0 < other.y0 else (other, one)
        return [((left + right) // 2, y) for y in range(north.y1 + 1, south.y0)]
    return []


def _draw_outside(canvas: Canvas, shown: Shown, people: Sequence[AgentFrame]) -> None:
    y = canvas.height - 1
    used = canvas.text(1, y, f"{word(shown.language, 'on the way')}: ", canvas.width - 2, shown.palette.muted)
    draw_flow(canvas, shown, people, [(1 + used, y, canvas.width - 2 - used)])


def _draw_list(canvas: Canvas, shown: Shown) -> None:
    """Rooms with somebody in them, a line each, for a space too small for boxes."""
    by_area: dict[str, list[AgentFrame]] = {}
    for one in shown.agents():
        by_area.setdefault(one.position, []).append(one)
    for y, (area, people) in enumerate(list(by_area.items())[: canvas.height]):
        used = canvas.text(0, y, f"{shown.town.where(area)}: ", canvas.width // 2, shown.palette.muted)
        draw_flow(canvas, shown, people, [(used, y, canvas.width - used)])


def _draw_air(canvas: Canvas, shown: Shown, plan: Mapping[str, Walls]) -> None:
    """Weather in the open: between the rooms and in outdoor ones; stars where the night is clear."""
    frame = shown.frame
    if frame.sky in FALLING:
        glyph, thin = FALLING[frame.sky]
    elif frame.part_of_day == "night" and frame.sky == "clear":
        glyph, thin = "·", 41
    else:
        return
    drift = frame.tick if frame.sky != "clear" else 0
    colour = shown.palette.rain if frame.sky != "fog" else shown.palette.faint
    for y in range(canvas.height):
        for x in range(canvas.width):
            if _scattered(x + drift, y - drift, thin) and canvas.free(x, y) and _open(shown, plan, x, y):
                canvas.text(x, y, glyph, 1, colour)


def _scattered(x: int, y: int, thin: int) -> bool:
    return ((x * 73856093) ^ (y * 19349663)) % 9973 % thin == 0


def _open(shown: Shown, plan: Mapping[str, Walls], x: int, y: int) -> bool:
    """Whether the innermost room around the cell, if any, is under the open sky."""
    inside = [area for area, one in plan.items() if one.x0 <= x <= one.x1 and one.y0 <= y <= one.y1]
    return not inside or shown.town.rooms[inside[-1]].outdoor
