"""The site in Chromium: both widths, light and dark, nothing wider than the screen, sorting, keyboard, axe."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from chromium import ARGS, CHROMIUM

PICTURES = os.environ.get("DEADPAN_PICTURES")
PAGES = ("index.html", "outputs-comparison/report.html", "outputs-transfer/report.html",
         "outputs-transfer/manifest.html", "outputs-papers/manifest.html")  # fmt: skip
RULES = "{resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")]


@pytest.fixture(scope="module")
def browser(site):
    """Started after the site is there: its loop would be in the way of ours."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield found
        found.close()


@pytest.fixture(scope="module")
def tabs(browser):
    """One tab per width, scheme and policy, for all tests, with what it loads from elsewhere or complains of."""
    opened, wrong = {}, []

    def tab(width: int, scheme: str, bypass: bool):
        key = (width, scheme, bypass)
        if key not in opened:
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=bypass
            )
            context.set_default_timeout(180_000)
            shown = opened[key] = context.new_page()
            shown.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
            shown.on("request", lambda asked: None if asked.url.startswith("file:") else wrong.append(asked.url))
        return opened[key]

    return tab, wrong


@pytest.fixture
def look(tabs, site):
    """Open a page; what it loads from elsewhere, or complains of, fails the test."""
    tab, wrong = tabs
    wrong.clear()

    def open_page(page: str | Path, width: int = 1280, scheme: str = "light", bypass: bool = True):
        shown = tab(width, scheme, bypass)
        shown.goto((site / page).as_uri())
        return shown

    yield open_page
    assert wrong == []


@cache
def axe() -> str:
    """axe-core, as axe-playwright-python brings it."""
    pytest.importorskip("axe_playwright_python")
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_it_is_drawn_fits_and_axe_finds_nothing(look, page, width, scheme):
    shown = look(page, width, scheme)
    if PICTURES:
        name = f"report_{page.replace('/', '_').removesuffix('.html')}_{width}_{scheme}.png"
        shown.screenshot(full_page=True, path=Path(PICTURES) / name)
    assert len(shown.inner_text("main")) > 200, "something is on the page"
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"
    shown.evaluate(axe())
    found = shown.evaluate(f"axe.run(document, {RULES})")
    assert found["passes"], "axe looked at something"
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == []


@pytest.mark.parametrize("page", ["index.html", "sarcbench.html"])
def test_the_pages_of_a_reproduction_fit_and_axe_finds_nothing(look, made, page):
    shown = look(made / "papers" / page, 390)
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"
    shown.evaluate(axe())
    found = shown.evaluate(f"axe.run(document, {RULES})")
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == []


def test_a_heading_sorts_by_keyboard_and_an_output_opens_its_manifest(look):
    shown = look("index.html", bypass=False)  # the page's own policy lets its script run
    table = shown.locator("table.sortable").first
    button = table.locator("thead button").first
    button.focus()
    shown.keyboard.press("Enter")
    names = table.locator("tbody th").all_text_contents()
    assert names == sorted(names, reverse=True)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    table.locator("tbody a").first.focus()
    shown.keyboard.press("Enter")
    shown.wait_for_url("**/manifest.html")
    assert "Command" in shown.inner_text("main")


def test_it_prints_on_white_without_navigation(look):
    shown = look("outputs-comparison/manifest.html", scheme="dark")
    shown.emulate_media(media="print")
    assert not shown.locator("body > nav").is_visible()
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown.emulate_media(media="screen")
