"""The page in a real browser: it opens under the strict policy, follows the run, steps in, comes back by itself."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from browser import CHROMIUM, Browser, browser
from commonplace.api import create_run
from commonplace.parts.web.app import STATIC
from e2e.command import command, started
from parts.panel.panels import answers, ledger, played

QUAKE = "The ground shakes under the whole village."
WATCH = "window.violations = []; addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective))"
CLOCK = r"(document.body?.innerText.match(/Day (\d+) (\d\d):(\d\d)/) || []).slice(1).join(' ')"


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


def touch(page: Browser, *ways: tuple[tuple[float, float], tuple[float, float]], steps: int = 12) -> None:
    """Fingers go down, each along its way, and up again."""
    for step in range(steps + 1):
        part = step / steps
        points = [
            {"x": x0 + (x1 - x0) * part, "y": y0 + (y1 - y0) * part, "id": finger}
            for finger, ((x0, y0), (x1, y1)) in enumerate(ways)
        ]
        page.send("Input.dispatchTouchEvent", type="touchMove" if step else "touchStart", touchPoints=points)
    page.send("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page")
def test_on_a_phone_two_fingers_zoom_the_map_one_moves_it_and_a_tap_opens_what_is_under_it(tmp_path: Path) -> None:
    with browser(390, 844) as page, serving(tmp_path, 0, signal.SIGTERM) as url:
        page.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
        page.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        page.open(url)
        page.wait("document.querySelector('canvas')?.parentElement.dataset.zoom === '2'")
        touch(page, ((180, 330), (150, 330)), ((210, 330), (240, 330)))
        page.wait("Number(document.querySelector('.scene').dataset.zoom) > 2")
        touch(page, ((100, 330), (185, 330)), ((290, 330), (205, 330)))
        page.wait("document.querySelector('.scene').dataset.zoom === '1'")
        touch(page, ((250, 330), (200, 300)))
        assert page.run("document.querySelectorAll('.cards').length") == 0
        touch(page, ((195, 330), (196, 330)), steps=1)
        page.wait("document.querySelectorAll('.cards').length > 0")


def minute(page: Browser) -> int:
    """The simulated minute that the page shows."""
    day, hour, past = map(int, page.wait(CLOCK).split())
    return (day * 24 + hour) * 60 + past


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
@pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page")
def test_the_page_follows_the_run_steps_in_and_comes_back_with_the_server(tmp_path: Path) -> None:
    run = tmp_path / "plaza-7.run"
    make_run(run)
    with browser(1280, 800) as page:
        page.send("Page.enable")
        page.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        with serving(tmp_path, 0, signal.SIGKILL) as url:
            page.open(url)
            page.until("Linden Square")
            opened = minute(page)
            page.wait(f"{CLOCK} && {_minutes()} > {opened + 10}")
            page.press("Act")
            page.press("What happens", "textarea")
            page.type(QUAKE)
            page.press("Preview")
            page.until("This will happen")
            page.press("Make it happen")
            page.until("Accepted")
            page.press("Log", "[role=tab]")
            page.until(QUAKE)
        killed = minute(page)
        port = int(re.findall(r":(\d+)/", url)[0])
        with serving(tmp_path, port, signal.SIGTERM):
            page.wait(f"{CLOCK} && {_minutes()} > {killed + 10}")
        assert page.run("violations") == []
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
        page.send("Page.enable")
        page.send("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        page.open(f"{url.split('#')[0]}#run=cars&at=9&why={said}")
        page.until("Not rated yet")
        page.press("4 of 5 stars", "[role=radio]")
        page.until("4 of 5 stars")
        page.wait("document.activeElement.ariaChecked === 'true'")
        for key in ("ArrowRight", "Enter"):
            text = {"text": "\r"} if key == "Enter" else {}
            page.send(
                "Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=13 if text else 39, **text
            )
            page.send("Input.dispatchKeyEvent", type="keyUp", key=key)
        page.until("5 of 5 stars")
        page.press("", "[aria-label=Close]")
        page.press("Metrics", "[role=tab]")
        page.wait("document.querySelector('.curves .trace-eta path')?.getTotalLength() > 100")
        assert page.run("violations") == []
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


def _minutes() -> str:
    """The same in the page."""
    return f"({CLOCK}).split(' ').reduce((sum, n, i) => sum + n * [1440, 60, 1][i], 0)"
