"""The ask panel: what is typed, what is shown, and that the view goes on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input

from commonplace.errors import UsageError
from commonplace.parts.terminal.screen import TownApp
from parts.terminal.picture import same_picture, screen_text
from parts.terminal.test_terminal import SMALL, opened, pressed, settled, until
from views.canned import CannedSource, CannedTalk

ANSWERED = "#40"


async def asked(app: TownApp, pilot: Pilot[None], question: str) -> str:
    """The screen once nothing is awaited any more."""
    await pilot.press(*question, "enter")
    await until(pilot, lambda: not getattr(app.screen, "busy", False))
    return screen_text(app)


@pytest.mark.parametrize(
    ("name", "size", "keys", "how"),
    [
        ("ask-80x24", SMALL, "a", {}),
        ("ask-korean-100x30", (100, 30), "cca", {"language": "ko"}),
    ],
)
async def test_answers_are_pictured_with_their_memories(
    name: str, size: tuple[int, int], keys: str, how: dict[str, Any]
) -> None:
    source = CannedSource(20, **how)
    async with opened(source, size) as (app, pilot):
        await pressed(app, pilot, *keys)
        await asked(app, pilot, "hi")
        found = await asked(app, pilot, "hi!")
        assert all(cell_len(line) <= size[0] for line in found.splitlines())
        same_picture(name, found)


async def test_an_answer_is_rated_tried_again_and_explained() -> None:
    source = CannedSource(20)
    async with opened(source, SMALL) as (app, pilot):
        await pressed(app, pilot, "a")
        assert "There is no answer yet" in await pressed(app, pilot, "ctrl+y")
        await asked(app, pilot, "hi")
        await pilot.press("ctrl+y")
        await until(pilot, lambda: "noted: a good answer" in screen_text(app))
        await asked(app, pilot, "/down not you")
        assert "noted: a bad answer" in await pressed(app, pilot)
        await pilot.press("ctrl+r")
        await until(pilot, lambda: "asked before: hi (similarity 0.93, well received)" in screen_text(app))
        assert source.talks[0].calls[:3] == ["hi", ("up", ""), ("down", "not you")]
        explained = await pressed(app, pilot, "ctrl+o")
        assert "rests on #40, #12" in explained
        assert "recency 0.90→0.80×0.2" in explained
        await pressed(app, pilot, "escape")
        assert "recency" not in await asked(app, pilot, "/what"), "an unknown command lists the commands"
        assert "/with NAME" in screen_text(app)


async def test_the_view_goes_on_while_a_character_thinks_and_escape_cancels_then_closes() -> None:
    source = CannedSource(20)
    async with opened(source, SMALL) as (app, pilot):
        await pressed(app, pilot, "a")
        source.answering = False
        await pressed(app, pilot, *"hi", "enter")
        source.grow()
        await until(pilot, lambda: "tick 21" in screen_text(app).splitlines()[0])
        assert "Mira Sato · tick 20, Saturday, day 1, 09:20" in screen_text(app), "the talk stays at its tick"
        await until(pilot, lambda: "thinking, 1 s" in screen_text(app))
        assert "Wait for the answer" in await pressed(app, pilot, "tab")
        await pressed(app, pilot, "escape")
        await until(pilot, lambda: "cancelled" in screen_text(app))
        await pressed(app, pilot, "escape")
        assert app.screen is app.town_screen, "closing does not wait for what is learnt"
        assert "close" not in source.talks[0].calls
        source.answering = True
        await until(pilot, lambda: source.talks[0].calls == ["hi", "close"])


async def test_the_view_can_be_left_while_a_character_thinks() -> None:
    source = CannedSource(20)
    source.answering = False
    async with opened(source, SMALL) as (app, pilot):
        await pressed(app, pilot, "a", *"hi", "enter")
        await pilot.press("ctrl+c")
        await pilot.pause()
        assert app._exit


async def test_a_server_that_fails_is_said_and_the_talk_goes_on() -> None:
    source = CannedSource(20)
    async with opened(source, SMALL) as (app, pilot):
        await pressed(app, pilot, "a")
        found = await asked(app, pilot, "fail")
        assert "the model server does not answer" in found
        assert "check the server" in found
        assert ANSWERED in await asked(app, pilot, "hi")
        await pressed(app, pilot, "escape")
        await until(pilot, lambda: "what was learnt cannot be kept" in screen_text(app))


async def test_one_may_turn_to_another_character_and_come_back() -> None:
    source = CannedSource(20)
    async with opened(source, SMALL) as (app, pilot):
        await pressed(app, pilot, "a")
        assert ANSWERED in await asked(app, pilot, "hi")
        assert ANSWERED not in await pressed(app, pilot, "tab")
        assert "Jun Park · tick 20" in screen_text(app)
        assert "nobody of this name" in await asked(app, pilot, "/with zed")
        assert "이서연 · tick 20" in await asked(app, pilot, "/with 서연")
        await asked(app, pilot, "/voice look up")
        assert source.calls[-1] == ("submit", {"kind": "voice", "agent_id": "seoyeon", "text": "look up"})
        assert "accepted for tick 21" in screen_text(app)
        assert ANSWERED in await asked(app, pilot, "/with mira"), "a talk is taken up again"
        await asked(app, pilot, "/with 서연")
        await pressed(app, pilot, "escape")
        assert app.town_screen.selected == "seoyeon"
        await until(pilot, lambda: all("close" in talk.calls for talk in source.talks))


async def test_lines_come_back_and_none_is_lost() -> None:
    source = CannedSource(20)
    async with opened(source, SMALL) as (app, pilot):
        await pressed(app, pilot, "a")
        for line in ("one", "two", "one"):
            await asked(app, pilot, line)
        line = app.screen.query_one(Input)
        await pressed(app, pilot, *"thr", "up", "up", "up")
        assert line.value == "two"
        await pressed(app, pilot, "down", "down", *"ee")
        assert line.value == "three", "what was being typed"
        source.answering = False
        await pressed(app, pilot, "enter", *"four", "enter")
        assert line.value == "four", "it waits in the line"
        source.answering = True
        await until(pilot, lambda: not getattr(app.screen, "busy", False))
        await asked(app, pilot, "")
        assert source.talks[0].calls == ["one", "two", "one", "three", "four"]


async def test_nothing_a_model_wrote_is_interpreted() -> None:
    size = (40, 12)
    async with opened(CannedSource(20, nasty=True), size) as (app, pilot):
        await pressed(app, pilot, "a")
        await asked(app, pilot, "hi")
        for keys in ((), ("ctrl+o",)):
            found = await pressed(app, pilot, *keys)
            assert "[bold red]" in found
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", found)
            assert all(cell_len(line) <= size[0] for line in found.splitlines())


async def test_where_nobody_answers_it_says_so() -> None:
    class Silent(CannedSource):
        def converse(self, agent_id: str, tick: int) -> CannedTalk:
            raise UsageError("nobody answers here")

    async with opened(Silent(20), SMALL) as (app, pilot):
        await pressed(app, pilot, "a")
        await until(pilot, lambda: "nobody answers here" in screen_text(app))
        await settled(app, pilot)
