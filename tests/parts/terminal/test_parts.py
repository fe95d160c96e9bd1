"""The parts under the panels: badges, the floor plan, the canvas, the player, the words."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from commonplace.parts.terminal.canvas import Canvas, bar, emoji_of, fitted, padded, stacked
from commonplace.parts.terminal.map import floorplan
from commonplace.parts.terminal.palette import DAY, NIGHT, Palette
from commonplace.parts.terminal.player import SPEEDS, Player, SceneReader
from commonplace.parts.terminal.timeline import Marks
from commonplace.scenario.model import ScenarioPart
from commonplace.views.hues import badges
from commonplace.views.town_names import TownNames
from views.canned import CannedSource, scenario


def town(*, with_map: bool = True) -> TownNames:
    return TownNames.of(scenario(with_map=with_map))


def test_badges_are_two_cells_wide_and_all_different() -> None:
    names = ("Mira", "Mina", "Mi", "M", "지우", "지연", "지", "Mira", "", "莉莉")
    people = {str(number): name for number, name in enumerate(names)}
    found = [badge.letters for badge in badges(people).values()]
    assert len(set(found)) == len(people)
    assert all(cell_len(letters) == 2 for letters in found)
    assert found[:2] == ["Mi", "Mn"]
    assert found[4] == "지"


def test_hues_read_on_their_grounds() -> None:
    for badge in badges({str(n): f"A{n}" for n in range(10)}).values():
        assert contrast(badge.hue.ground, badge.hue.ink) >= 4.5
        assert contrast(badge.hue.on_dark, "#0e1322") >= 4.5
        assert contrast(badge.hue.on_light, "#fbfbfd") >= 4.5


@pytest.mark.parametrize("palette", [NIGHT, DAY])
def test_text_reads_on_every_light(palette: Palette) -> None:
    for light in palette.lights.values():
        for ground in (light.sky, light.outdoor, light.lit, light.unlit):
            assert contrast(palette.text, ground) >= 7
            assert contrast(palette.muted, ground) >= 4.0


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast of two `#rrggbb` colours."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("with_map", [True, False])
@pytest.mark.parametrize("size", [(76, 20), (78, 13), (110, 30), (50, 12)])
def test_rooms_lie_within_the_space_and_do_not_overlap(size: tuple[int, int], with_map: bool) -> None:
    width, height = size
    plan = floorplan(town(with_map=with_map), width, height)
    assert set(plan) >= {"noodle-bar", "canal"}
    for one in plan.values():
        assert 0 <= one.x0 < one.x1 < width
        assert 0 <= one.y0 < one.y1 < height
        for other in plan.values():
            apart = one.x1 <= other.x0 or other.x1 <= one.x0 or one.y1 <= other.y0 or other.y1 <= one.y0
            assert apart or one is other


def test_streets_give_way_before_rooms_do() -> None:
    rows = [{"id": f"r{n}", "name": f"R{n}"} for n in range(6)]
    boxes = {f"r{n}": (0, n * 4, 20, 3) for n in range(6)}
    part = ScenarioPart.model_validate(
        {"name": "rows", "world": {"root": {"id": "town", "name": "Town", "areas": rows}}, "layout": {"map": boxes},
         "characters": [{"id": "a", "name": "A", "age": 1, "traits": ["x"], "home": "r0"}]}
    )  # fmt: skip
    assert [walls.height for walls in floorplan(TownNames.of(part), 40, 13).values()] == [1] * 6
    assert not floorplan(TownNames.of(part), 40, 12)


def test_a_room_in_a_room_stays_inside_it() -> None:
    part = ScenarioPart.model_validate(
        {"name": "nest", "layout": {"map": {"square": (0, 0, 60, 18), "cafe": (2, 1, 18, 6)}},
         "world": {"root": {"id": "square", "name": "Square", "areas": [{"id": "cafe", "name": "Café"}]}},
         "characters": [{"id": "a", "name": "A", "age": 1, "traits": ["x"], "home": "cafe"}]}
    )  # fmt: skip
    for height in (9, 13, 18, 30):
        plan = floorplan(TownNames.of(part), 60, height)
        assert plan["square"].x0 < plan["cafe"].x0
        assert plan["square"].y0 < plan["cafe"].y0


def test_passages_are_named_after_their_ends() -> None:
    assert town().where("plaza--canal-2") == "Lantern Plaza ↔ Canal Walk"
    assert town().where("nowhere") == "nowhere"


def test_wide_characters_keep_columns_aligned() -> None:
    canvas = Canvas(12, 1, "")
    canvas.text(0, 0, "지우 ab", 12, "")
    canvas.text(1, 0, "x", 1, "")
    assert canvas.strip(0).cell_length == 12
    assert cell_len("".join(segment.text for segment in canvas.strip(0))) == 12


@pytest.mark.parametrize("text", ["지우가 온다", "Mira", "가", "", "🍜🍜🍜"])
def test_texts_are_cut_by_cells(text: str) -> None:
    for room in range(12):
        assert cell_len(fitted(text, room)) <= room
        assert cell_len(padded(text, room)) == room


def test_only_emoji_of_agreed_width_are_drawn() -> None:
    assert emoji_of("🍜") == "🍜"
    assert emoji_of("👩‍🍳") == "👩"
    assert emoji_of("☀️") == ""
    assert emoji_of("🇰🇷") == ""
    assert emoji_of("\x1b[31m") == ""


def test_bars() -> None:
    assert bar(0.5, 4, "red", "blue").plain == "██  "
    assert bar(7, 3, "red", "blue").plain == "███"
    assert stacked([(1, "a"), (1, "b"), (-5, "c")], 8, 4, "d").plain == "████░░░░"
    assert stacked([(1, "a")], 3, 0, "d").plain == "░░░"


def test_a_player_follows_seeks_rolls_and_stops() -> None:
    player = Player(tick=5, last=5)
    player.extend(6)
    assert player.tick == 6
    player.seek(-3)
    player.extend(7)
    assert (player.tick, player.following) == (0, False)
    player.toggle()
    assert player.advance(1.0) and player.tick == 2
    assert not player.advance(0.2) and player.advance(0.4) and player.tick == 3
    player.advance(100)
    assert (player.tick, player.playing) == (7, False)
    player.toggle()
    assert player.tick == 0, "from the end it begins again"
    player.follow()
    assert player.tick == 7
    assert [player.faster(9) and player.faster(1) for _ in range(2)][-1] == SPEEDS[-1]


def test_a_jump_and_a_walk_show_the_same_recent_events() -> None:
    walking, jumping = SceneReader(CannedSource(90)), SceneReader(CannedSource(90))
    for tick in range(60, 91):
        walked = walking.scene(tick, NIGHT, "mira")
    jumped = jumping.scene(90, NIGHT, "mira")
    assert [one.event_id for one in walked.recent][-100:] == [one.event_id for one in jumped.recent][-100:]


def test_a_walk_back_shows_what_the_walk_there_showed() -> None:
    reader = SceneReader(CannedSource(120))
    there = {tick: reader.scene(tick, NIGHT, "mira") for tick in range(121)}
    for tick in range(119, -1, -1):
        back = reader.scene(tick, NIGHT, "mira")
        assert back.frame == there[tick].frame
        assert [one.event_id for one in back.recent][-60:] == [one.event_id for one in there[tick].recent][-60:]


def test_no_frame_is_read_twice_and_a_walk_reads_blocks() -> None:
    source = CannedSource(120)
    reader = SceneReader(source)
    for tick in (*range(100, 40, -1), *range(40, 121)):
        assert reader.frame(tick).tick == tick
    read = [tick for first, last in source.asked for tick in range(first, last + 1)]
    assert sorted(read) == sorted(set(read))
    assert len(source.asked) < 8


def test_a_live_run_is_read_a_tick_at_a_time() -> None:
    source = CannedSource(20)
    reader = SceneReader(source)
    for _ in range(3):
        reader.frame(source.last_tick)
        source.grow()
    assert source.asked == [(20, 20), (21, 21), (22, 22)]


def test_marks_are_read_bit_by_bit() -> None:
    source, marks = CannedSource(100), Marks()
    marks.read_on(source, 30)
    assert marks.interventions == set()
    marks.read_on(source, 100)
    assert marks.interventions == {60}
    assert marks.reflections == {20, 67}
