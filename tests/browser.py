"""A page in Debian's chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, expect, sync_playwright

CHROMIUM = shutil.which("chromium") or ""
PATIENCE = 60.0
"""Seconds to wait for what must come."""
WATCH = "window.violations = []; addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective))"
"""Keeps what the policy of the page refuses."""


@contextmanager
def browser(width: int = 1280, height: int = 1000, **settings: Any) -> Generator[Page]:
    """A window without a screen; it reaches this machine only."""
    options = ("--disable-gpu", "--disable-quic", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        page = chromium.new_page(viewport={"width": width, "height": height}, **settings)
        page.set_default_timeout(PATIENCE * 1000)
        page.add_init_script(WATCH)
        yield page
        chromium.close()
