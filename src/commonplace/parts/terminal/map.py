"""The map: rooms as boxes, lit by the time of day and by who is awake in them; rain, snow and stars outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from rich.cells import cell_len
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from commonplace.parts.terminal.canvas import Canvas, emoji_of, fitted, padded
from commonplace.parts.terminal.player import Scene
from commonplace.run.frames import AgentFrame, ObjectFrame
from commonplace.text import clean
from commonplace.views.hues import HUES, Badge
from commonplace.views.town_names import Room, TownNames
from commonplace.views.words import word

FALLING = {"rain": ("╱", 9), "storm": ("╱", 5), "snow": ("*", 11), "fog": ("░", 4)}
"""Sky → what fills the open air, in one of how many cells."""


class TownMap(Widget):
    """A drawing of one frame; a click on a character selects it."""

    class Picked(Message):
        """A message: somebody was clicked on."""

        def __init__(self, agent_id: str) -> None:
            super().__init__()
            self.agent_id = agent_id

    def __init__(self) -> None:
        super().__init__(id="map")
        self._scene: Scene | None = None
        self._strips: list[Strip] = []
        self._drawn: tuple[Scene, Size] | None = None

    def show(self, scene: Scene) -> None:
        """Draws this tick."""
        self._scene = scene
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Selects who was clicked on."""
        agent = event.style.meta.get("agent")
        if agent:
            self.post_message(self.Picked(str(agent)))

    def render_line(self, y: int) -> Strip:
        """Returns one line of the picture. It is drawn when it is painted, because only then the size is final."""
        scene, size = self._scene, self.size
        if scene is None:
            return Strip.blank(size.width, self.rich_style)
        if self._drawn is None or self._drawn[0] is not scene or self._drawn[1] != size:
            self._strips = draw_town(scene, size.width, size.height)
            self._drawn = (scene, size)
        return self._strips[y] if y < len(self._strips) else Strip.blank(size.width, self.rich_style)


def draw_town(scene: Scene, width: int, height: int) -> list[Strip]:
    """Draws the whole map or, without space for rooms, a list of who is where."""
    light = scene.palette.light(scene.frame.part_of_day)
    canvas = Canvas(width, height, light.sky)
    plan, outside = _plan(scene, width, height)
    if not plan:
        _draw_list(canvas, scene)
    else:
        _draw_rooms(canvas, scene, plan)
        if outside:
            _draw_outside(canvas, scene, outside)
        _draw_air(canvas, scene, plan)
    return [canvas.strip(y) for y in range(height)]


def _plan(scene: Scene, width: int, height: int) -> tuple[Mapping[str, Walls], Sequence[AgentFrame]]:
    """Returns the rooms, and the people outside all of them, for whom the last line is always kept free."""
    plan = floorplan(scene.town, width, height)
    if plan and scene.town.root not in plan:
        plan = floorplan(scene.town, width, height - 1) or plan
    return plan, [one for one in scene.agents() if not drawn_in(scene.town, plan, one.position)]


def _draw_rooms(canvas: Canvas, scene: Scene, plan: Mapping[str, Walls]) -> None:
    here: dict[str, list[AgentFrame]] = {}
    for one in scene.agents():
        here.setdefault(drawn_in(scene.town, plan, one.position), []).append(one)
    _draw_ways(canvas, scene, plan)
    drawn = [_drawn(scene, number, area, here.get(area, []), plan[area]) for number, area in enumerate(plan)]
    for one in drawn:
        canvas.fill(one.walls.x0, one.walls.y0, one.walls.x1, one.walls.y1, one.ground)
    for one in sorted(drawn, key=lambda one: one.awake):
        colour = one.neon if one.awake else scene.palette.wall
        canvas.box(one.walls.x0, one.walls.y0, one.walls.x1, one.walls.y1, colour)
    for one in drawn:
        signs = "".join(f"{emoji_of(so.emoji)} " for so in scene.so(one.room.id) if emoji_of(so.emoji))
        name = f" {fitted(f'{signs}{one.room.name}', one.walls.width - 2)} "
        canvas.text(one.walls.x0 + 1, one.walls.y0, name, one.walls.width, one.neon, mood="bold" if one.awake else "")
        _draw_contents(canvas, scene, one, [other.walls for other in drawn if one.walls.holds(other.walls)])


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


def _drawn(scene: Scene, number: int, area: str, people: Sequence[AgentFrame], walls: Walls) -> _Drawn:
    palette, room = scene.palette, scene.town.rooms[area]
    light = palette.light(scene.frame.part_of_day)
    awake = any(not one.asleep for one in people)
    ground = light.outdoor if room.outdoor else light.lit if awake else light.unlit
    neon = palette.garden if room.outdoor else palette.neon[number % len(palette.neon)]
    return _Drawn(room, walls, people, awake, ground, neon)


def _draw_contents(canvas: Canvas, scene: Scene, one: _Drawn, inner: Sequence[Walls]) -> None:
    """Draws people from the top, and things on what is left of a roomy place; rooms inside the room stay untouched."""
    lines = _free_lines(one.walls, inner)
    if not lines:
        draw_flow(canvas, scene, one.people, [(one.walls.x0 + 2, one.walls.y1, one.walls.width - 2)])
        return
    used = draw_people(canvas, scene, one.people, lines)
    if len(lines) >= 3:
        things = [thing for thing in scene.frame.objects.values() if thing.parent == one.room.id]
        draw_things(canvas, scene, things, lines[used:])


def _free_lines(walls: Walls, inner: Sequence[Walls]) -> list[tuple[int, int, int]]:
    """Returns (x, y, cells) of the widest stretch of each line that no room inside covers."""
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


def _draw_ways(canvas: Canvas, scene: Scene, plan: Mapping[str, Walls]) -> None:
    """Draws a dotted path in the gap between two rooms that face each other."""
    for one, other in scene.town.ways:
        if one in plan and other in plan:
            for x, y in _path(plan[one], plan[other]):
                if canvas.free(x, y):
                    canvas.text(x, y, "·", 1, scene.palette.faint)


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


def _draw_outside(canvas: Canvas, scene: Scene, people: Sequence[AgentFrame]) -> None:
    y = canvas.height - 1
    used = canvas.text(1, y, f"{word(scene.language, 'on the way')}: ", canvas.width - 2, scene.palette.muted)
    draw_flow(canvas, scene, people, [(1 + used, y, canvas.width - 2 - used)])


def _draw_list(canvas: Canvas, scene: Scene) -> None:
    """Rooms with somebody in them, a line each, for a space too small for boxes."""
    by_area: dict[str, list[AgentFrame]] = {}
    for one in scene.agents():
        by_area.setdefault(one.position, []).append(one)
    for y, (area, people) in enumerate(list(by_area.items())[: canvas.height]):
        used = canvas.text(0, y, f"{scene.town.where(area)}: ", canvas.width // 2, scene.palette.muted)
        draw_flow(canvas, scene, people, [(used, y, canvas.width - used)])


def _draw_air(canvas: Canvas, scene: Scene, plan: Mapping[str, Walls]) -> None:
    """Draws the weather between the rooms and in outdoor ones, and stars where the night is clear."""
    frame = scene.frame
    if frame.sky in FALLING:
        glyph, thin = FALLING[frame.sky]
    elif frame.part_of_day == "night" and frame.sky == "clear":
        glyph, thin = "·", 41
    else:
        return
    drift = frame.tick if frame.sky != "clear" else 0
    colour = scene.palette.rain if frame.sky != "fog" else scene.palette.faint
    for y in range(canvas.height):
        for x in range(canvas.width):
            is_hit = (((x + drift) * 73856093) ^ ((y - drift) * 19349663)) % 9973 % thin == 0
            if is_hit and canvas.free(x, y) and _open(scene, plan, x, y):
                canvas.text(x, y, glyph, 1, colour)


def _open(scene: Scene, plan: Mapping[str, Walls], x: int, y: int) -> bool:
    """Tells whether the innermost room around the cell, if any, is under the open sky."""
    inside = [area for area, one in plan.items() if one.x0 <= x <= one.x1 and one.y0 <= y <= one.y1]
    return not inside or scene.town.rooms[inside[-1]].outdoor


# ── people and things in a room, in the richest form that its lines have space for ────────────────────────────────────


Lines = Sequence[tuple[int, int, int]]
"""(x, y, cells) of lines to write on."""
ROOMY = 34
"""Cells from which name and doing share a line."""
NARROW = 12
"""Cells below which nothing but names and badges makes sense."""


def draw_people(canvas: Canvas, scene: Scene, people: Sequence[AgentFrame], lines: Lines) -> int:
    """Draws a line or two each with what they do or say; else names in a row; else badges. Returns the lines used."""
    narrowest = min((room for _, _, room in lines), default=0)
    if not people or narrowest < NARROW or len(people) > len(lines):
        return draw_flow(canvas, scene, people, lines)
    if narrowest >= ROOMY:
        for one, line in zip(people, lines, strict=False):
            _draw_line(canvas, scene, one, line)
        return len(people)
    if 2 * len(people) > len(lines):
        return draw_flow(canvas, scene, people, lines)
    for number, one in enumerate(people):
        _draw_pair(canvas, scene, one, lines[2 * number], lines[2 * number + 1])
    return 2 * len(people)


def draw_flow(canvas: Canvas, scene: Scene, people: Sequence[AgentFrame], lines: Lines) -> int:
    """Names one after another if all fit, else badges, and `+3` for those who do not fit."""
    for named in (True, False):
        spots, left = _flowed([_chip_room(scene, one, named=named) for one in people], lines)
        if not left or not named:
            break
    else:
        return 0
    for one, (x, y), (_, following) in zip(people, spots, [*spots[1:], (0, -1)], strict=False):
        used = _draw_chip(canvas, scene, one, x, y, named=named)
        if following == y:  # no rain falls between two names
            canvas.text(x + used, y, " ", 1, "")
    if left and spots:
        x, y = spots[-1]
        canvas.text(x, y, f"+{left + 1}", 3, scene.palette.text, mood="bold")
    return len({y for _, y in spots})


def draw_things(canvas: Canvas, scene: Scene, things: Sequence[ObjectFrame], lines: Lines) -> None:
    """Objects with their states, on lines nobody stands on; a free line sets them off where there is one."""
    for thing, (x, y, room) in zip(things, lines[len(lines) > len(things) :], strict=False):
        state = clean(thing.state.replace("_", " "))
        text = f"▫ {clean(thing.name)}" + (f" · {state}" if state else "")
        canvas.text(x + 1, y, text, room - 2, scene.palette.faint)


def _flowed(rooms: Sequence[int], lines: Lines) -> tuple[list[tuple[int, int]], int]:
    """Returns where each piece begins, and how many found no place."""
    spots: list[tuple[int, int]] = []
    line, used = 0, 0
    for room in rooms:
        while line < len(lines) and used + room > lines[line][2]:
            line, used = line + 1, 0
        if line == len(lines):
            break
        spots.append((lines[line][0] + used, lines[line][1]))
        used += room + 1
    return spots, len(rooms) - len(spots)


def _chip_room(scene: Scene, one: AgentFrame, *, named: bool) -> int:
    if not named:
        return 2
    return 3 + cell_len(scene.town.short(one.agent_id)) + (1 + cell_len(_sign(one)) if _sign(one) else 0)


def _sign(one: AgentFrame) -> str:
    """Returns what a passer-by sees at once: talk, sleep, or the emoji of what it does."""
    if one.dialogue:
        return "”"
    return "zz" if one.asleep else emoji_of(one.emoji)


def _draw_badge(canvas: Canvas, scene: Scene, one: AgentFrame, x: int, y: int) -> int:
    badge = scene.badges.get(one.agent_id) or Badge(padded(clean(one.called), 2), HUES[-1])
    return canvas.text(x, y, badge.letters, 2, badge.hue.ink, mood="bold", agent=one.agent_id, ground=badge.hue.ground)


def _draw_chip(canvas: Canvas, scene: Scene, one: AgentFrame, x: int, y: int, *, named: bool) -> int:
    used = _draw_badge(canvas, scene, one, x, y)
    if not named:
        return used
    colour, agent = scene.colour(one.agent_id), one.agent_id
    name = scene.town.short(one.agent_id)
    used += canvas.text(x + used, y, " ", 1, colour)
    mood = "bold underline" if one.agent_id == scene.selected else "bold" if one.dialogue else ""
    used += canvas.text(x + used, y, name, cell_len(name), colour, mood=mood, agent=agent)
    sign = _sign(one)
    if sign:
        used += canvas.text(x + used, y, f" {sign}", 1 + cell_len(sign), scene.palette.text, agent=agent)
    return used


def _draw_line(canvas: Canvas, scene: Scene, one: AgentFrame, line: tuple[int, int, int]) -> None:
    x, y, room = line
    used = 1 + _draw_chip(canvas, scene, one, x + 1, y, named=True)
    _draw_doing(canvas, scene, one, (x + used + 1, y, room - used - 2))


def _draw_pair(
    canvas: Canvas, scene: Scene, one: AgentFrame, first: tuple[int, int, int], second: tuple[int, int, int]
) -> None:
    _draw_chip(canvas, scene, one, first[0] + 1, first[1], named=True)
    _draw_doing(canvas, scene, one, (second[0] + 4, second[1], second[2] - 5))


def _draw_doing(canvas: Canvas, scene: Scene, one: AgentFrame, line: tuple[int, int, int]) -> None:
    x, y, room = line
    if one.dialogue:
        text, colour, mood = f"“{clean(one.dialogue)}”", scene.palette.text, "italic"
    else:
        text, colour, mood = "" if one.asleep else clean(one.doing), scene.palette.muted, ""
    if room >= 6:
        canvas.text(x - 1, y, f" {text}", room + 1, colour, mood=mood, agent=one.agent_id)


# ── floor plan: the scenario's grid stretched over the space there is, or a grid made up ──────────────────────────────


@dataclass(frozen=True, slots=True)
class Walls:
    """A room's walls on the screen, edges included."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def width(self) -> int:
        """Cells between the walls."""
        return self.x1 - self.x0 - 1

    @property
    def height(self) -> int:
        """Lines between the walls."""
        return self.y1 - self.y0 - 1

    def holds(self, other: Walls) -> bool:
        """Tells whether the other is inside; their walls may touch."""
        within = self.x0 <= other.x0 and other.x1 <= self.x1 and self.y0 <= other.y0 and other.y1 <= self.y1
        return within and self != other


MIN_WIDTH = 6
MIN_HEIGHT = 1


@lru_cache(maxsize=32)
def _planned(boxes: tuple[tuple[str, int, int, int, int], ...], width: int, height: int) -> dict[str, Walls]:
    apart = _stretched(boxes, width, height, shared=False)
    roomy = all(walls.height >= 2 and walls.width >= 10 for walls in apart.values())
    return apart if roomy else _stretched(boxes, width, height, shared=True)


def floorplan(town: TownNames, width: int, height: int) -> Mapping[str, Walls]:
    """Walls by area, outermost first. Empty when the space is too small for rooms."""
    drawn = [(room.id, *room.box) for room in town.rooms.values() if room.box]
    boxes = tuple(drawn) if drawn else _made_up(town, width, height)
    if not boxes or width < 2 or height < 2:
        return {}
    walls = _planned(boxes, width, height)
    fits = all(
        one.width >= MIN_WIDTH and one.height >= MIN_HEIGHT and one.x0 >= 0 and one.y0 >= 0 for one in walls.values()
    )
    return walls if fits else {}


def drawn_in(town: TownNames, plan: Mapping[str, Walls], area: str) -> str:
    """Returns the drawn area that stands for an area: itself or the nearest around it; empty if neither is drawn."""
    while area and area not in plan:
        room = town.rooms.get(area)
        area = room.parent if room else ""
    return area


def _stretched(
    boxes: tuple[tuple[str, int, int, int, int], ...], width: int, height: int, *, shared: bool
) -> dict[str, Walls]:
    """Stretches the grid over the space. Neighbours share one wall instead of having two."""
    edge = 1 if shared else 0
    x = _spread([(column, column + wide) for _, column, _, wide, _ in boxes], width - edge, MIN_WIDTH + 2 - edge)
    y = _spread([(row, row + high) for _, _, row, _, high in boxes], height - edge, MIN_HEIGHT + 2 - edge)
    drawn = {
        area: Walls(x[column], y[row], x[column + wide] - 1 + edge, y[row + high] - 1 + edge)
        for area, column, row, wide, high in boxes
    }
    return {area: _kept_inside(area, walls, boxes, drawn) for area, walls in drawn.items()}


def _spread(spans: Sequence[tuple[int, int]], room: int, least: int) -> dict[int, int]:
    """Places each edge of the spans in 0 … room: in proportion, but no span shorter than `least` if that fits.

    Streets between rooms give way first: forwards every edge is pushed on as far as its spans need, backwards it is
    pulled back as far as the space needs.
    """
    edges = sorted({edge for span in spans for edge in span})
    first, all_of_it = edges[0], edges[-1] - edges[0]
    place: dict[int, int] = {}
    before = 0
    for edge in edges:
        fair = ((edge - first) * room * 2 + all_of_it) // (2 * all_of_it)
        before = place[edge] = max([before, fair, *(place[start] + least for start, end in spans if end == edge)])
    after = room
    for edge in reversed(edges):
        after = place[edge] = min([after, place[edge], *(place[end] - least for start, end in spans if start == edge)])
    return place


def _kept_inside(
    area: str, walls: Walls, boxes: tuple[tuple[str, int, int, int, int], ...], drawn: Mapping[str, Walls]
) -> Walls:
    """Keeps a room that is within another on the grid within it on the screen, a wall apart."""
    grid = {name: Walls(column, row, column + wide, row + high) for name, column, row, wide, high in boxes}
    for other, around in grid.items():
        if other != area and around.holds(grid[area]):
            outer = drawn[other]
            walls = Walls(
                max(walls.x0, outer.x0 + 1), max(walls.y0, outer.y0 + 1),
                min(walls.x1, outer.x1 - 1), min(walls.y1, outer.y1 - 1),
            )  # fmt: skip
    return walls


def _made_up(town: TownNames, width: int, height: int) -> tuple[tuple[str, int, int, int, int], ...]:
    """Lays out equal rooms in rows, in the order of the tree. The root is left out where it has rooms."""
    areas = [area for area in town.rooms if area != town.root] or [town.root]
    columns = max(range(1, len(areas) + 1), key=lambda count: _comfort(len(areas), count, width, height))
    lines = ceil(len(areas) / columns)
    made: list[tuple[str, int, int, int, int]] = []
    for number, area in enumerate(areas):
        row, place = divmod(number, columns)
        in_row = min(columns, len(areas) - row * columns) if row == lines - 1 else columns
        start, end = place * 1000 // in_row, (place + 1) * 1000 // in_row
        made.append((area, start, row * 100, end - start, 100))
    return tuple(made)


def _comfort(rooms: int, columns: int, width: int, height: int) -> float:
    return min(width / columns / 22, height / ceil(rooms / columns) / 5)
