"""The page in a browser, in Korean and in English: as a person sees and clicks it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import expect

import commonplace.parts.duet.sitcom
from browser import CHROMIUM, PATIENCE, browser

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed")
APP = Path(commonplace.parts.duet.sitcom.__file__).with_name("app.py")
BUBBLES = "document.querySelectorAll('[data-testid=stChatMessage]')"


@contextmanager
def served(folder: Path) -> Generator[str]:
    """The page as `streamlit run app.py` serves it; its address."""
    pytest.importorskip("streamlit")
    log = folder / "streamlit.log"
    line = [sys.executable, "-m", "streamlit", "run", str(APP), "--server.port", "0", "--server.headless", "true"]
    with log.open("w") as out:
        process = subprocess.Popen(line, cwd=folder, stdout=out, stderr=out, env=os.environ | {"PYTHONUNBUFFERED": "1"})
    try:
        ends = time.monotonic() + PATIENCE
        while "URL: http" not in log.read_text() and time.monotonic() < ends:
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        yield next(word for word in log.read_text().split() if word.startswith("http"))
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def test_14_streamlit_runs_the_page_a_line_opens_and_a_page_loaded_again_goes_on(tmp_path: Path) -> None:
    with served(tmp_path) as url, browser() as page:
        page.goto(url)
        page.get_by_role("button", name="한 턴 진행").click()
        expect(page.get_by_test_id("stChatMessage")).to_have_count(1)
        expect(page).to_have_url(re.compile(r"\?run=page-1\.run$"))
        page.locator("summary", has_text="왜 이런 말을? · 1턴").click()
        expect(page.locator("body")).to_contain_text(re.compile(r"내용\s*종류\s*중요도"))
        page.reload()
        expect(page.get_by_test_id("stChatMessage")).to_have_count(1)


@pytest.mark.slow
def test_the_page_in_both_languages(tmp_path: Path) -> None:
    with served(tmp_path) as url, browser() as page:
        assert url.startswith("http://127.0.0.1:")
        page.goto(url)
        bubbles = page.get_by_test_id("stChatMessage")
        for language, many, why, columns in (
            ("한국어", "10턴 진행", "왜 이런 말을? · 10턴", r"내용\s*종류\s*중요도"),
            ("English", "Run 10 turns", "Why this line? · turn 10", r"content\s*type\s*importance"),
        ):
            page.get_by_text(language, exact=True).click()
            page.get_by_role("button", name=many).click()
            expect(bubbles).to_have_count(10)
            expect(page.get_by_test_id("stProgress")).to_have_count(0)
            page.locator("summary", has_text=why).click()
            expect(page.locator("body")).to_contain_text(re.compile(columns))
            left, right = page.evaluate(f"[...{BUBBLES}].slice(0, 2).map(one => one.getBoundingClientRect().left)")
            assert left < right
            assert len(set(page.screenshot())) > 200
        hosts = "performance.getEntriesByType('resource').map(one => new URL(one.name).hostname)"
        assert set(page.evaluate(hosts)) == {"127.0.0.1"}, "nothing comes from elsewhere"
    assert "http" not in (tmp_path / "streamlit.log").read_text().replace(url, "")
