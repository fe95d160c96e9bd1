"""Where rooms are drawn: the scenario's grid stretched over the space there is, or a grid made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from commonplace.views.town import Town


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
        """Whether the other lies within, walls touching or not."""
        within = self.x0 <= other.x0 and other.x1 <= self.x1 and self.y0 <= other.y0 and other.y1 <= self.y1
        return within and self != other


MIN_WIDTH = 6
MIN_HEIGHT = 1


@lru_cache(maxsize=32)
def _planned(boxes: tuple[tuple[str, int, int, int, int], ...], width: int, height: int) -> dict[str, Walls]:
    apart = _stretched(boxes, width, height, shared=False)
    roomy = all(walls.height >= 2 and walls.width >= 10 for walls in apart.values())
    return apart if roomy else _stretched(boxes, width, height, shared=True)


def floorplan(town: Town, width: int, height: int) -> Mapping[str, Walls]:
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


def drawn_in(town: Town, plan: Mapping[str, Walls], area: str) -> str:
    """The drawn area that stands for an area: itself or the nearest around it; empty when there is none."""
    while area and area not in plan:
        room = town.rooms.get(area)
        area = room.parent if room else ""
    return area


def _stretched(
    boxes: tuple[tuple[str, int, int, int, int], ...], width: int, height: int, *, shared: bool
) -> dict[str, Walls]:
    """The grid over the space. Shared: neighbours have one wall between them instead of two."""
    edge = 1 if shared else 0
    x = _spread([(column, column + wide) for _, column, _, wide, _ in boxes], width - edge, MIN_WIDTH + 2 - edge)
    y = _spread([(row, row + high) for _, _, row, _, high in boxes], height - edge, MIN_HEIGHT + 2 - edge)
    drawn = {
        area: Walls(x[column], y[row], x[column + wide] - 1 + edge, y[row + high] - 1 + edge)
        for area, column, row, wide, high in boxes
    }
    return {area: _kept_inside(area, walls, boxes, drawn) for area, walls in drawn.items()}


def _spread(spans: Sequence[tuple[int, int]], room: int, least: int) -> dict[int, int]:
    """Where each edge of the spans goes in 0 … room: in proportion, but no span shorter than `least` if that fits.

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
    """A room within another on the grid stays within it on the screen, a wall apart."""
    grid = {name: Walls(column, row, column + wide, row + high) for name, column, row, wide, high in boxes}
    for other, around in grid.items():
        if other != area and around.holds(grid[area]):
            outer = drawn[other]
            walls = Walls(
                max(walls.x0, outer.x0 + 1), max(walls.y0, outer.y0 + 1),
                min(walls.x1, outer.x1 - 1), min(walls.y1, outer.y1 - 1),
            )  # fmt: skip
    return walls


def _made_up(town: Town, width: int, height: int) -> tuple[tuple[str, int, int, int, int], ...]:
    """Equal rooms in rows, in the order of the tree; the root is left out where it has rooms."""
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
