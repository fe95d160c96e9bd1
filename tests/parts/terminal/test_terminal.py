"""The terminal view: keys, pictures, injections, sizes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

import pytest
from rich.cells import cell_len
from textual import events
from textual.pilot import Pilot

from commonplace.errors import RunDamaged, UsageError
from commonplace.parts.terminal.lists import Talk
from commonplace.parts.terminal.screen import TownApp
from commonplace.parts.terminal.timeline import Timeline
from commonplace.run.frames import Frame
from parts.terminal.picture import same_picture, screen_text
from views.canned import NASTY, CannedSource

PATIENCE = 120
"""Seconds until a fact that does not come counts as missing."""
ROOMY = (120, 40)
SMALL = (80, 24)


def also(*sizes: tuple[int, int]) -> list[Any]:
    """Sizes that only `make prove` tries."""
    return [pytest.param(size, marks=pytest.mark.slow) for size in sizes]


@asynccontextmanager
async def opened(
    source: CannedSource, size: tuple[int, int] = ROOMY, **how: Any
) -> AsyncIterator[tuple[TownApp, Pilot[None]]]:
    """The app on a screen of this size, everything drawn."""
    app = TownApp(source, **how)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(app, pilot)
        yield app, pilot


async def settled(app: TownApp, pilot: Pilot[None]) -> None:
    """Wait until the marks of the time-line are read and all is drawn."""
    marks = app.town_screen.query_one(Timeline).marks
    await until(pilot, lambda: marks.read >= app.source.last_tick)
    await pilot.pause()


async def until(pilot: Pilot[None], happened: Callable[[], bool]) -> None:
    """Wait for a fact, however slow the machine is."""
    deadline = monotonic() + PATIENCE
    while not happened():
        assert monotonic() < deadline
        await pilot.pause(0.01)
    await pilot.pause()


async def pressed(app: TownApp, pilot: Pilot[None], *keys: str) -> str:
    await pilot.press(*keys)
    await pilot.pause()
    return screen_text(app)


# ── pictures ────────────────────────────────────────────────────────────────────────────────────────────────────────

PICTURED: dict[str, tuple[tuple[int, int], int, tuple[str, ...], dict[str, Any]]] = {
    "morning-80x24": (SMALL, 20, (), {}),
    "rain-120x40": (ROOMY, 66, ("3", "i"), {}),
    "night-120x40": (ROOMY, 100, ("4",), {}),
    "evening-160x50": ((160, 50), 82, (), {}),
    "korean-80x24": (SMALL, 30, ("2",), {"language": "ko"}),
    "memories-80x24": (SMALL, 30, ("3", *"iii"), {}),
    "stars-80x24": (SMALL, 30, ("3", *"iii", "down", "s"), {}),
    "goals-80x24": (SMALL, 30, ("3", "i", "i"), {}),
    "goals-korean-120x40": (ROOMY, 30, ("3", "i", "i"), {"language": "ko"}),
    "past-80x24": (SMALL, 30, ("3", *"iiii"), {}),
    "past-korean-120x40": (ROOMY, 30, ("3", *"iiii", "down"), {"language": "ko"}),
    "why-120x40": (ROOMY, 20, ("w",), {}),
    "help-80x24": (SMALL, 20, ("question_mark",), {}),
    "god-120x40": (ROOMY, 20, ("g", "h", "i", "enter"), {}),
    "no-map-120x40": (ROOMY, 20, (), {"with_map": False}),
}


@pytest.mark.parametrize("name", PICTURED)
async def test_picture(name: str) -> None:
    size, tick, keys, how = PICTURED[name]
    async with opened(CannedSource(tick, **how), size) as (app, pilot):
        await pilot.press(*keys)
        await app.workers.wait_for_complete()
        await pilot.pause()
        same_picture(name, screen_text(app))


# ── what is painted ─────────────────────────────────────────────────────────────────────────────────────────────────


class Filmed(TownApp):
    """Keeps every picture that reaches the terminal. Textual has no public hook for it."""

    def __init__(self, source: CannedSource, **how: Any) -> None:
        super().__init__(source, **how)
        self.pictures: list[str] = []

    def _display(self, screen: Any, renderable: Any) -> None:
        if renderable is not None and not self._batch_count:
            self.pictures.append(screen_text(self))
        super()._display(screen, renderable)


@pytest.mark.parametrize("size", [(160, 50), *also((100, 30), (80, 24)), (60, 20)])
async def test_the_first_picture_is_right(size: tuple[int, int]) -> None:
    app = Filmed(CannedSource(60))
    async with app.run_test(size=size) as pilot:
        await settled(app, pilot)
        first, last = (picture.splitlines()[:-3] for picture in (app.pictures[0], app.pictures[-1]))
        assert first == last, "the time-line below is filled bit by bit"


async def test_nothing_is_painted_while_nothing_changes() -> None:
    app = Filmed(CannedSource(60))
    async with app.run_test(size=(160, 50)) as pilot:
        await settled(app, pilot)
        app.pictures.clear()
        for _ in range(5):
            app.town_screen._on_pulse()
            await pilot.pause()
        assert app.pictures == []
        app.town_screen.action_faster(1)
        await until(pilot, lambda: bool(app.pictures))


async def test_a_held_key_moves_by_all_its_repeats_and_draws_once_a_picture() -> None:
    source = CannedSource(120)
    app = Filmed(source)
    async with app.run_test(size=(160, 50)) as pilot:
        await settled(app, pilot)
        app.pictures.clear()
        for _ in range(60):
            app.post_message(events.Key("left", None))
        await until(pilot, lambda: "tick 60" in app.pictures[-1] if app.pictures else False)
        assert len(app.pictures) < 30


# ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_time_keys() -> None:
    async with opened(CannedSource(120)) as (app, pilot):
        assert "22:" not in (await pressed(app, pilot, "left")).splitlines()[0]
        assert app.player.tick == 119
        await pressed(app, pilot, "pageup")
        assert app.player.tick == 113
        await pressed(app, pilot, "home")
        assert (app.player.tick, app.player.following) == (0, False)
        await pressed(app, pilot, "pagedown", "right")
        assert app.player.tick == 7
        assert "PAST" in await pressed(app, pilot, "end")
        assert "PAUSED" in await pressed(app, pilot, "l")
        assert app.player.following


async def test_live_controls_go_to_the_source() -> None:
    source = CannedSource(20)
    async with opened(source) as (app, pilot):
        assert "LIVE" in await pressed(app, pilot, "space")
        assert "PAUSED" in await pressed(app, pilot, "space")
        await pressed(app, pilot, "plus", "minus", "minus", "full_stop")
        assert source.calls == ["play", "pause", ("speed", 4.0), ("speed", 2.0), ("speed", 1.0), "step"]
        await pilot.pause()
        assert app.player.tick == 21, "a commit wakes the view"


async def test_a_commit_before_the_first_picture_is_followed() -> None:
    class Early(CannedSource):
        def subscribe(self, committed: Callable[[int], None]) -> Callable[[], None]:
            end = super().subscribe(committed)
            self.grow()
            return end

    async with opened(Early(20)) as (app, pilot):
        await until(pilot, lambda: "tick 21" in screen_text(app))


async def test_who_looks_back_is_not_disturbed_by_a_commit() -> None:
    source = CannedSource(20)
    async with opened(source) as (app, pilot):
        await pressed(app, pilot, "left")
        source.grow()
        await pilot.pause()
        assert app.player.tick == 19
        assert "tick 19/21" in screen_text(app)


async def test_a_recording_plays_itself_and_ends() -> None:
    source = CannedSource(40, live=False)
    async with opened(source, start=38, playing=True, rate=32) as (app, pilot):
        await until(pilot, lambda: "END" in screen_text(app))
        assert app.player.tick == 40
        assert source.calls == []


async def test_a_recording_that_grows_is_followed() -> None:
    source = CannedSource(40, live=False)
    async with opened(source) as (app, pilot):
        source.last_tick = 42
        await until(pilot, lambda: "tick 42" in screen_text(app))


async def test_a_picture_that_is_dropped_with_an_overlay_is_drawn_when_that_is_closed() -> None:
    async with opened(CannedSource(40)) as (app, pilot):
        await pilot.press("question_mark")
        overlay, town = app.screen, app.town_screen
        town.player.seek(39)
        overlay.refresh()
        town.draw_soon()
        while not overlay._callbacks:  # Textual has no public hook for it
            await asyncio.sleep(0)
        overlay._callbacks.clear()
        await pilot.press("escape")
        await until(pilot, lambda: "12:30" in screen_text(app).splitlines()[0])


async def test_panels_come_to_the_front() -> None:
    async with opened(CannedSource(30), SMALL) as (app, pilot):
        assert "Noodle Bar" in screen_text(app)
        assert "cooking rice" in await pressed(app, pilot, "2")
        assert "noodle cook" in await pressed(app, pilot, "3")
        assert "drone mechanic" in await pressed(app, pilot, "c")
        assert "noodle cook" in await pressed(app, pilot, "C")
        assert "▶   11:00–12:00 wiping the counter" in await pressed(app, pilot, "i"), "what is on now is in sight"
        assert "noodle cook" in await pressed(app, pilot, "I")
        assert "f: all" in await pressed(app, pilot, "4")
        found = await pressed(app, pilot, "f")
        assert "f: Talk" in found
        assert "goes to" not in found


async def test_the_selected_character_follows_the_list() -> None:
    async with opened(CannedSource(30)) as (app, pilot):
        await pressed(app, pilot, "2", "down", "down")
        assert app.town_screen.selected == "jiwoo"
        assert "3 지우" in await pressed(app, pilot, "enter")
        await pilot.click("#map", offset=(4, 2))
        await pilot.pause()
        assert app.town_screen.selected == "mira", "a click on the map selects"


async def test_why_opens_from_talk_and_log_and_closes() -> None:
    async with opened(CannedSource(20)) as (app, pilot):
        assert "recency 0.99→0.95×1" in await pressed(app, pilot, "w")
        assert "recency" not in await pressed(app, pilot, "escape")
        assert "t20." in await pressed(app, pilot, "4", "enter")
        await pressed(app, pilot, "q")
        assert app.is_running, "q closes what is open first"


async def test_a_row_of_goals_or_past_leads_to_the_reasons_of_what_it_rests_on() -> None:
    async with opened(CannedSource(20)) as (app, pilot):
        assert "t20.jun.0" in await pressed(app, pilot, "3", *"ii", "w"), "goals lead to what moved them"
        await pressed(app, pilot, "escape")
        assert "[Past]" in await pressed(app, pilot, *"ii")
        assert "t13.mira.0" in await pressed(app, pilot, "down", "w")
        await pressed(app, pilot, "escape")
        assert "t6.mira.0" in await pressed(app, pilot, "down", "enter")
        await pressed(app, pilot, "escape")
        assert "recency" not in await pressed(app, pilot, "down", "enter"), "this row came from no event"
        assert "[Belief]" in await pressed(app, pilot, "i")


async def test_stars_are_given_to_the_line_or_memory_that_is_highlighted() -> None:
    source = CannedSource(30)
    async with opened(source, SMALL) as (app, pilot):
        screen = await pressed(app, pilot, "3", *"iii")
        await until(pilot, lambda: "★★☆☆☆ Theo Marsh says" in screen_text(app))
        assert "★" not in screen.splitlines()[16]
        await pilot.press("down", "s")
        await until(pilot, lambda: "★★☆☆☆   1-5 gives stars" in screen_text(app))
        await pilot.press("escape", "s", "4")
        await until(pilot, lambda: "★★★★☆ Theo Marsh says" in screen_text(app))
        assert source.stars.stars["mem_1"] == 4
        await pilot.press("1", "s")
        await until(pilot, lambda: "☆☆☆☆☆   1-5 gives stars" in screen_text(app))
        await pilot.press("5")
        await until(pilot, lambda: source.stars.stars["t30.mira.0"] == 5)


async def test_what_cannot_be_rated_says_why() -> None:
    class Town(CannedSource):
        def ratings(self) -> Any:
            raise UsageError("not a panel", hint="only the answers of a panel can be rated")

    async with opened(Town(30)) as (app, pilot):
        assert "not a panel" in await pressed(app, pilot, "s")
    source = CannedSource(30)
    source.stars.stars.clear()
    async with opened(source) as (app, pilot):
        await pilot.press("s")
        await until(pilot, lambda: "only the answers of a panel can be rated" in screen_text(app))


async def test_god_mode_previews_then_applies() -> None:
    source = CannedSource(20)
    async with opened(source) as (app, pilot):
        await pilot.press("g", *"rain", "enter")
        await app.workers.wait_for_complete()
        assert "Mira at the Noodle Bar notices: rain" in await pressed(app, pilot)
        assert source.calls == [("preview", "rain")]
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        assert "accepted for tick 21" in await pressed(app, pilot)
        assert source.calls[-1] == ("submit", {"kind": "god", "text": "rain"})


async def test_an_edit_needs_a_new_preview_and_escape_cancels() -> None:
    source = CannedSource(20)
    async with opened(source) as (app, pilot):
        for keys in (("colon", *"fog", "enter"), ("s", "enter")):
            await pilot.press(*keys)
            await app.workers.wait_for_complete()
            await pilot.pause()
        await pressed(app, pilot, "escape")
        assert source.calls == [("preview", "fog"), ("preview", "fogs")]


async def test_an_inner_voice_needs_a_name() -> None:
    source = CannedSource(20)
    async with opened(source) as (app, pilot):
        await pilot.press("g", *"/voice Zed hi", "enter")
        assert "not understood" in await pressed(app, pilot)
        await pressed(app, pilot, *["backspace"] * 6)
        for _ in range(2):
            await pilot.press(*("Jun hi" if _ == 0 else ""), "enter")
            await app.workers.wait_for_complete()
            await pilot.pause()
        assert source.calls == [("submit", {"kind": "voice", "agent_id": "jun", "text": "hi"})]


async def test_an_error_is_said_and_nothing_breaks() -> None:
    async with opened(CannedSource(20)) as (app, pilot):
        await pilot.press("g", *"nothing", "enter")
        await app.workers.wait_for_complete()
        assert "nobody would notice that" in await pressed(app, pilot)


async def test_a_source_that_breaks_ends_the_view_with_its_words() -> None:
    class Broken(CannedSource):
        def frames(self, first: int, last: int) -> Sequence[Frame]:
            if first <= 19 <= last:
                raise RunDamaged("tick 19 cannot be read")
            return super().frames(first, last)

    async with opened(Broken(20)) as (app, pilot):
        await pilot.press("left")
        await until(pilot, lambda: app.failure is not None)
        assert str(app.failure) == "tick 19 cannot be read"
        assert app.return_code == 1


async def test_light_and_dark() -> None:
    async with opened(CannedSource(20), light=True) as (app, pilot):
        assert app.theme == "commonplace-day"
        await pressed(app, pilot, "t")
        assert app.theme == "commonplace-night"


async def test_quit() -> None:
    source = CannedSource(20)
    async with opened(source) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
        assert app._exit
    assert source.listeners == []


# ── what must never happen ──────────────────────────────────────────────────────────────────────────────────────────


async def test_nothing_a_model_wrote_is_interpreted() -> None:
    async with opened(CannedSource(60, nasty=True)) as (app, pilot):
        for keys in ((), ("4",), ("3",), (*"ii",), ("i",), ("i",), ("2",), ("w",)):
            found = await pressed(app, pilot, *keys)
            assert "RED" in found, keys
            assert "[bold red]" in found, "markup is shown as written"
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", found)
            assert "link=x" not in app.export_screenshot().replace("[link=x]", "").replace("&#91;link=x&#93;", "")


async def test_what_reaches_the_screen_uncleaned_is_made_printable_there() -> None:
    async with opened(CannedSource(60)) as (app, pilot):
        app.notify(f"{NASTY} \u061c\u2066\ufeff\x1b[7777m", markup=False)
        await until(pilot, lambda: "right-to-left" in screen_text(app))
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u202a-\u202e\u2066-\u2069\ufeff]", screen_text(app))


@pytest.mark.parametrize(
    "size", [(80, 24), (160, 50), (40, 12), (20, 6), *also((100, 30), (120, 40), (200, 60), (60, 20))]
)
async def test_every_line_has_the_width_of_the_screen(size: tuple[int, int]) -> None:
    async with opened(CannedSource(66, language="ko"), size) as (app, pilot):
        for keys in ((), ("2",), ("3",), ("4",)):
            found = await pressed(app, pilot, *keys)
            assert all(cell_len(line) <= size[0] for line in found.splitlines())
            assert len(found.splitlines()) <= size[1]


async def test_another_size_draws_anew() -> None:
    async with opened(CannedSource(30), ROOMY) as (app, pilot):
        for size in (SMALL, (160, 50), (50, 14), ROOMY):
            await pilot.resize_terminal(*size)
            await until(pilot, lambda: "Mira" in screen_text(app))


async def test_an_offline_mind_says_so_even_on_a_small_screen() -> None:
    async with opened(CannedSource(30), SMALL) as (app, _):
        assert "offline mind" in screen_text(app).splitlines()[0]


# ── the palette ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("language", "typed"), [("en", "one tick"), ("ko", "한 틱")])
async def test_the_palette_finds_what_a_key_does_by_its_name(language: str, typed: str) -> None:
    source = CannedSource(language=language)
    async with opened(source, start=20) as (app, pilot):
        before = app.player.tick
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.town_screen)
        await pilot.press(*("space" if letter == " " else letter for letter in typed), "enter")
        await until(pilot, lambda: app.screen is app.town_screen)
        await until(pilot, lambda: app.player.tick == before + 1)


async def test_the_palette_finds_a_character_and_every_action_it_names_is_there() -> None:
    async with opened(CannedSource()) as (app, pilot):
        commands = list(app.get_system_commands(app.town_screen))
        assert {agent.name for agent in app.source.scenario.characters} <= {one.title for one in commands}
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.town_screen)
        await pilot.press(*"jun", "enter")
        await until(pilot, lambda: app.town_screen.selected == "jun")
        for command in commands:
            if command.help not in ("q", "?", "g", "a", "w", "space"):
                done = command.callback()
                assert done is None or await done, command.title


async def test_a_line_grows_while_it_is_said_and_goes_when_it_is_refused() -> None:
    source = CannedSource(60)
    async with opened(source) as (app, pilot):
        talk = app.town_screen.query_one("#talk", Talk)
        before = talk.option_count
        for words in ("I was", "I was at [b]the[/b] fountain"):
            source.speaking = {"mira": words}
            await until(pilot, lambda words=words: f"{words}…" in said_in(talk))
            assert talk.option_count == before + 1
        highlighted = talk.chosen()
        assert highlighted and not highlighted.startswith("~")
        source.speaking = {}
        await until(pilot, lambda: talk.option_count == before)
        source.speaking = {"mira": "once more"}
        await until(pilot, lambda: talk.option_count == before + 1)
        source.speaking = {"mira": "once more", "ada": "me too"}
        await until(pilot, lambda: "me too" in said_in(talk))
        source.speaking = {"ada": "me too", "mira": "once more and"}
        await until(pilot, lambda: "once more and" in said_in(talk))
        assert said_in(talk).index("once more and") < said_in(talk).index("me too"), "each keeps its place"
        source.last_tick += 1
        source.speaking = {}  # as a run has it that is about to tell of its tick
        app.town_screen._on_heard()
        assert "once more" in said_in(talk), "it stays until the tick is shown"
        await until(pilot, lambda: app.town_screen.player.tick == 61 and "once more" not in said_in(talk))


def said_in(talk: Talk) -> str:
    return "\n".join(str(option.prompt) for option in talk.options)
