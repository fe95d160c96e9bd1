"""Who and what is in a room, in the richest form its lines have space for."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from commonplace.run.frame import AgentFrame, ObjectFrame
from commonplace.text import clean
from commonplace.views.hues import HUES, Badge
from commonplace.views.terminal.canvas import Canvas, emoji_of, padded
from commonplace.views.terminal.shown import Shown

Lines = Sequence[tuple[int, int, int]]
"""(x, y, cells) of lines to write on."""
ROOMY = 34
"""Cells from which name and doing share a line."""
NARROW = 12
"""Cells below which nothing but names and badges makes sense."""


def draw_people(canvas: Canvas, shown: Shown, people: Sequence[AgentFrame], lines: Lines) -> int:
    """A line or two each with what they do or say; else names in a row; else badges. Returns the lines used."""
    narrowest = min((room for _, _, room in lines), default=0)
    if not people or narrowest < NARROW or len(people) > len(lines):
        return draw_flow(canvas, shown, people, lines)
    if narrowest >= ROOMY:
        for one, line in zip(people, lines, strict=False):
            _draw_line(canvas, shown, one, line)
        return len(people)
    if 2 * len(people) > len(lines):
        return draw_flow(canvas, shown, people, lines)
    for number, one in enumerate(people):
        _draw_pair(canvas, shown, one, lines[2 * number], lines[2 * number + 1])
    return 2 * len(people)


def draw_flow(canvas: Canvas, shown: Shown, people: Sequence[AgentFrame], lines: Lines) -> int:
    """Names one after another if all fit, else badges, and `+3` for those there is no space for."""
    for named in (True, False):
        spots, left = _flowed([_chip_room(shown, one, named=named) for one in people], lines)
        if not left or not named:
            break
    else:
        return 0
    for one, (x, y) in zip(people, spots, strict=False):
        _draw_chip(canvas, shown, one, x, y, named=named)
    if left and spots:
        x, y = spots[-1]
        canvas.text(x, y, f"+{left + 1}", 3, shown.palette.text, mood="bold")
    return len({y for _, y in spots})


def draw_things(canvas: Canvas, shown: Shown, things: Sequence[ObjectFrame], lines: Lines) -> None:
    """Objects with their states, on lines nobody stands on; a free line sets them off where there is one."""
    for thing, (x, y, room) in zip(things, lines[len(lines) > len(things) :], strict=False):
        state = clean(thing.state.replace("_", " "))
        text = f"▫ {clean(thing.name)}" + (f" · {state}" if state else "")
        canvas.text(x + 1, y, text, room - 2, shown.palette.faint)


def _flowed(rooms: Sequence[int], lines: Lines) -> tuple[list[tuple[int, int]], int]:
    """Where each piece begins, and how many found no place."""
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


def _chip_room(shown: Shown, one: AgentFrame, *, named: bool) -> int:
    if not named:
        return 2
    return 3 + cell_len(shown.town.short(one.agent_id)) + (1 + cell_len(_sign(one)) if _sign(one) else 0)


def _sign(one: AgentFrame) -> str:
    """What a passer-by sees at once: talk, sleep, or the emoji of what it does."""
    if one.dialogue:
        return "”"
    return "zz" if one.asleep else emoji_of(one.emoji)


def _draw_badge(canvas: Canvas, shown: Shown, one: AgentFrame, x: int, y: int) -> int:
    badge = shown.badges.get(one.agent_id) or Badge(padded(clean(one.called), 2), HUES[-1])
    return canvas.text(x, y, badge.letters, 2, badge.hue.ink, mood="bold", agent=one.agent_id, ground=badge.hue.ground)


def _mood(shown: Shown, one: AgentFrame) -> str:
    return "bold underline" if one.agent_id == shown.selected else "bold" if one.dialogue else ""


def _draw_chip(canvas: Canvas, shown: Shown, one: AgentFrame, x: int, y: int, *, named: bool) -> int:
    used = _draw_badge(canvas, shown, one, x, y)
    if not named:
        return used
    colour, agent = shown.colour(one.agent_id), one.agent_id
    name = shown.town.short(one.agent_id)
    used += canvas.text(x + used, y, " ", 1, colour)
    used += canvas.text(x + used, y, name, cell_len(name), colour, mood=_mood(shown, one), agent=agent)
    sign = _sign(one)
    if sign:
        used += canvas.text(x + used, y, f" {sign}", 1 + cell_len(sign), shown.palette.text, agent=agent)
    return used


def _draw_line(canvas: Canvas, shown: Shown, one: AgentFrame, line: tuple[int, int, int]) -> None:
    x, y, room = line
    used = 1 + _draw_chip(canvas, shown, one, x + 1, y, named=True)
    _draw_doing(canvas, shown, one, (x + used + 1, y, room - used - 2))


def _draw_pair(
    canvas: Canvas, shown: Shown, one: AgentFrame, first: tuple[int, int, int], second: tuple[int, int, int]
) -> None:
    _draw_chip(canvas, shown, one, first[0] + 1, first[1], named=True)
    _draw_doing(canvas, shown, one, (second[0] + 4, second[1], second[2] - 5))


def _draw_doing(canvas: Canvas, shown: Shown, one: AgentFrame, line: tuple[int, int, int]) -> None:
    x, y, room = line
    if one.dialogue:
        text, colour, mood = f"“{clean(one.dialogue)}”", shown.palette.text, "italic"
    else:
        text, colour, mood = "" if one.asleep else clean(one.doing), shown.palette.muted, ""
    if room >= 6:
        canvas.text(x - 1, y, f" {text}", room + 1, colour, mood=mood, agent=one.agent_id)
