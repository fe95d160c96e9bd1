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
from commonplace.server.app import STATIC
from e2e.command import command, started

STORM = "A storm breaks over the village."
WATCH = "window.violations = []; addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective))"
CLOCK = r"(document.body?.innerText.match(/Day (\d+) (\d\d):(\d\d)/) || []).slice(1).join(' ')"


@contextmanager
def serving(runs: Path, port: int, ends_with: signal.Signals) -> Generator[str]:
    """`commonplace serve`; gives the address it prints."""
    server = started("serve", "plaza", "--runs", runs, "--port", port, "--no-open")
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        assert url, server.communicate(timeout=60)
        yield url
    finally:
        server.send_signal(ends_with)
        server.communicate(timeout=60)


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
            page.type(STORM)
            page.press("Preview")
            page.until("This will happen")
            page.press("Make it happen")
            page.until("Accepted")
            page.press("Log", "[role=tab]")
            page.until(STORM)
        killed = minute(page)
        port = int(re.findall(r":(\d+)/", url)[0])
        with serving(tmp_path, port, signal.SIGTERM):
            page.wait(f"{CLOCK} && {_minutes()} > {killed + 10}")
        assert page.run("violations") == []
    events = command("events", run, "--json").rows
    [typed] = [event for event in events if event["type"] == "GOD_EVENT"]
    at = typed["tick"]
    assert typed["text"] == STORM and {who for who, _ in typed["percepts"]} == {"bruno", "ines"}
    command("verify", run)
    otherwise = tmp_path / "otherwise.run"
    command("fork", run, "--at", at - 1, "-o", otherwise)
    command("resume", otherwise, "--until", at + 1, "--view", "none")
    unchanged = [event for event in command("events", otherwise, "--json").rows if event["tick"] == at + 1]
    assert [event for event in events if event["tick"] == at + 1] != unchanged
    assert "storm" in str([event for event in events if event["type"] == "PLAN_CHANGED" and event["tick"] == at + 1])


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
