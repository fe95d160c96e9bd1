"""Every panel of the page in both languages, light and dark: axe finds nothing, and Esc closes what is open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import CHROMIUM, browser
from commonplace.parts.web.app import STATIC, make_app
from commonplace.parts.web.library import Library
from commonplace.run.reading import Reading
from commonplace.run.why import why
from parts.panel.panels import answers, played
from parts.web.serving import listening

AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
DOCK = {"talk": ".talk", "log": ".line", "people": ".person", "metrics": ".node", "act": "textarea"}
"""Each panel on the left, in the order of its tabs, and what it shows once it is filled."""
CARD = {
    "about": ".prose",
    "plan": ".plan",
    "memory": ".memory-text",
    "past": ".past",
    "belief": ".belief",
    "ties": ".tie",
}
"""Each part of a character's card likewise."""
LIBRARY = {"runs": ".shelf-card", "scenarios": ".shelf-card", "write": ".editor"}
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed"),
    pytest.mark.skipif(not (STATIC / "index.html").exists(), reason="the page is not built: make page"),
    pytest.mark.skipif(not AXE.exists(), reason="the page's packages are not installed: make page"),
]


@pytest.mark.parametrize(
    ("language", "theme"),
    [
        ("en", "light"),
        ("ko", "dark"),
        pytest.param("en", "dark", marks=pytest.mark.slow),
        pytest.param("ko", "light", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing_on_any_panel(folder: Path, language: str, theme: str) -> None:
    with Reading.open(folder / "plaza.run") as reading:
        said = next(one.id for one in reversed(reading.events(0, 60, type="SAY")) if why(reading, one.id)["retrievals"])
    panel = played(folder / f"cars-{language}-{theme}.run")
    rated = answers(panel)[3]["id"]
    wrong: list[str] = []
    with listening(make_app(Library(folder))) as port, browser(locale=language, color_scheme=theme) as page:
        for name, shown in panels(page, f"http://127.0.0.1:{port}/", said, f"run={panel.stem}&at=9&why={rated}"):
            wrong += [f"{name}: {fault}" for fault in faults(page, shown)]
        assert page.evaluate("violations") == []
    assert wrong == []


def panels(page: Page, url: str, said: str, rated: str) -> Iterator[tuple[str, str]]:
    """Opens one panel after the other: its name, and where it is in the page."""
    page.route("**/phaser-*", lambda route: route.abort())  # without a map, which takes most of the processor
    page.goto(url)
    yield from tabs(page, "dialog.library", LIBRARY)
    page.goto(f"{url}#run=plaza&at=60")
    page.reload()
    expect(page.locator(".places")).to_be_visible()
    yield "without a map", "body"
    yield from tabs(page, "#panels", DOCK)
    expect(page.locator(".top [popovertarget]")).to_have_count(3)
    for button in page.locator(".top [popovertarget]").all():
        button.click()
        yield str(button.get_attribute("aria-label")), "body"
        page.keyboard.press("Escape")
        expect(page.locator(".popover:popover-open")).to_have_count(0)
        expect(button).to_be_focused()
    page.locator("#panels [role=tab]").nth(list(DOCK).index("people")).click()
    page.locator(".person").first.click()
    yield from tabs(page, ".cards", CARD)
    page.locator(".doing .link").click()
    yield from card(page, "area", ".things .link")
    page.locator(".things .link").first.click()
    yield from card(page, "object", ".chip.is")
    page.keyboard.press("Escape")
    expect(page.locator(".cards")).to_have_count(0)
    page.locator(".person").first.click()
    page.locator(".cards .head .row button").nth(1).click()
    page.locator(".cards form input").fill("?")
    page.keyboard.press("Enter")
    yield from card(page, "ask", ".theirs button")
    for name, route in ("why", f"run=plaza&at=60&why={said}"), ("rating", rated):
        page.goto(f"{url}#{route}")
        page.reload()
        yield from card(page, name, ".why .deed" if name == "why" else ".star")
    page.set_viewport_size({"width": 390, "height": 844})
    page.unroute_all()
    page.reload()
    expect(page.locator("canvas")).to_be_visible()
    yield "phone", "body"


def tabs(page: Page, where: str, filled: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Opens one tab after the other."""
    for number, (name, mark) in enumerate(filled.items()):
        page.locator(f"{where} [role=tab]").nth(number).click()
        yield from card(page, name, mark, where)


def card(page: Page, name: str, mark: str, where: str = ".cards") -> Iterator[tuple[str, str]]:
    """Waits until something is filled, and opens what can be folded out."""
    expect(page.locator(f"{where} {mark}").first).to_be_visible()
    page.evaluate(
        "where => { for (const one of document.querySelectorAll(`${where} details`)) one.open = true }", where
    )
    if name == "memory":
        page.locator(f"{where} {mark}").first.click()
        expect(page.locator(".memory-more")).to_be_visible()
    yield name, where


def faults(page: Page, where: str) -> list[str]:
    """What axe says against a part of the page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"runOnly": RULES, "resultTypes": ["violations"]}
    results = page.evaluate("([where, options]) => axe.run(where, options)", [where, options])
    return [f"{rule['id']}: {node['html']}" for rule in results["violations"] for node in rule["nodes"]]
