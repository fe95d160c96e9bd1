"""The page in a real browser: it opens under the strict policy, follows the run, steps in, comes back by itself."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import CHROMIUM, browser
from commonplace.api import create_run
from commonplace.parts.web.app import STATIC
from e2e.command import command, started
from parts.panel.panels import answers, ledger, played

QUAKE = "The ground shakes under the whole village."
MINUTE = """() => {
    const [, day, hour, minute] = document.body.innerText.match(/Day (\\d+) (\\d\\d):(\\d\\d)/) ?? [];
    return day && (day * 24 + +hour) * 60 + +minute;
}"""
"""The simulated minute that the page shows."""


@contextmanager
def serving(runs: Path, port: int, ends_with: signal.Signals, what: str = "plaza") -> Generator[str]:
    """`commonplace serve`; gives the address it prints."""
    server = started("serve", what, "--runs", runs, "--port", port, "--no-open")
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert url, server.communicate(timeout=60)
        yield url
    finally:
        server.send_signal(ends_with)
        server.communicate(timeout=60)


def touch(page: Page, *ways: tuple[tuple[float, float], tuple[float, float]], steps: int = 12) -> None:
    """Fingers go down, each along its way, and up again."""
    fingers = page.context.new_cdp_session(page)  # Playwright's own touch screen has one finger, which taps
    for step in range(steps + 1):
        part = step / steps
        points = [
            {"x": x0 + (x1 - x0) * part, "y": y0 + (y1 - y0) * part, "id": finger}
            for finger, ((x0, y0), (x1, y1)) in enumerate(ways)
        ]
        kind = "touchMove" if step else "touchStart"
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page")
def test_on_a_phone_two_fingers_zoom_the_map_one_moves_it_and_a_tap_opens_what_is_under_it(tmp_path: Path) -> None:
    phone = browser(390, 844, is_mobile=True, has_touch=True)
    with phone as page, serving(tmp_path, 0, signal.SIGTERM) as url:
        page.goto(url)
        scene, cards = page.locator(".scene"), page.locator(".cards")
        expect(scene).to_have_attribute("data-zoom", "2")
        touch(page, ((180, 330), (150, 330)), ((210, 330), (240, 330)))
        page.wait_for_function("() => Number(document.querySelector('.scene').dataset.zoom) > 2")
        touch(page, ((100, 330), (185, 330)), ((290, 330), (205, 330)))
        expect(scene).to_have_attribute("data-zoom", "1")
        touch(page, ((250, 330), (200, 300)))
        assert cards.count() == 0
        touch(page, ((195, 330), (196, 330)), steps=1)
        expect(cards).to_be_visible()


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page")
def test_the_page_follows_the_run_steps_in_and_comes_back_with_the_server(tmp_path: Path) -> None:
    run = tmp_path / "plaza-7.run"
    make_run(run)
    with browser(1280, 800) as page:
        with serving(tmp_path, 0, signal.SIGKILL) as url:
            page.goto(url)
            expect(page.get_by_role("heading", name="Linden Square")).to_be_visible()
            until_later(page)
            page.get_by_role("tab", name="Act").click()
            page.get_by_placeholder("What happens").fill(QUAKE)
            page.get_by_role("button", name="Preview").click()
            expect(page.get_by_text("This will happen")).to_be_visible()
            page.get_by_role("button", name="Make it happen").click()
            expect(page.get_by_text("Accepted")).to_be_visible()
            page.get_by_role("tab", name="Log").click()
            expect(page.locator(".log").get_by_text(QUAKE)).to_be_visible()
        port = int(re.findall(r":(\d+)/", url)[0])
        with serving(tmp_path, port, signal.SIGTERM):
            until_later(page)
        assert page.evaluate("violations") == []
    events = command("events", run, "--json").rows
    [typed] = [event for event in events if event["type"] == "GOD_EVENT"]
    at = typed["tick"]
    assert typed["text"] == QUAKE and {who for who, _ in typed["percepts"]} == {"bruno", "ines"}
    command("verify", run)
    otherwise = tmp_path / "otherwise.run"
    command("fork", run, "--at", at - 1, "-o", otherwise)
    command("resume", otherwise, "--until", at + 1, "--view", "none")
    unchanged = [event for event in command("events", otherwise, "--json").rows if event["tick"] == at + 1]
    assert [event for event in events if event["tick"] == at + 1] != unchanged
    assert "ground" in str([event for event in events if event["type"] == "PLAN_CHANGED" and event["tick"] == at + 1])


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page")
def test_an_answer_of_a_panel_is_rated_and_the_page_shows_it_and_what_emerged(tmp_path: Path) -> None:
    panel = played(tmp_path / "cars.run")
    said = answers(panel)[3]["id"]
    with browser(390, 844) as page, serving(tmp_path, 0, signal.SIGTERM, "cars") as url:
        page.goto(f"{url.split('#')[0]}#run=cars&at=9&why={said}")
        expect(page.get_by_text("Not rated yet")).to_be_visible()
        page.get_by_role("radio", name="4 of 5 stars").click()
        expect(page.get_by_role("radio", name="4 of 5 stars")).to_be_checked()
        for key in ("ArrowRight", "Enter"):
            page.keyboard.press(key)
        expect(page.locator(".rating").get_by_text("5 of 5 stars")).to_be_visible()
        page.locator(".cards").get_by_role("button", name="Close").click()
        page.get_by_role("tab", name="Metrics").click()
        page.wait_for_function("() => document.querySelector('.curves .trace-eta path')?.getTotalLength() > 100")
        assert page.evaluate("violations") == []
    assert [entry["evaluation"]["user_rating"] for entry in ledger(tmp_path / "outputs")[-2:]] == [4, 5]
    command("verify", panel)


def make_run(path: Path) -> None:
    """A quarter to ten in the plaza, with no end near."""
    run = create_run(path, "plaza", 7, ticks=10_000)

    async def play() -> None:
        async for _ in run.play(ticks=45):
            pass

    asyncio.run(play())
    run.close()


def until_later(page: Page) -> None:
    """Waits until the page shows a time that is ten minutes later."""
    begun = page.wait_for_function(MINUTE).json_value()
    page.wait_for_function(f"begun => ({MINUTE})() > begun + 10", arg=begun)
