"""The site in Chromium: drawn at both widths, light and dark, nothing wider than the screen, axe finds nothing."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest

from bench_items import FAST, Scripted, job, says, small_set
from chromium import ARGS, CHROMIUM
from deadpan.bench.people import write_human_run
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.runs.run import run_models
from deadpan.bench.site.write import write_site
from deadpan.drops import Tally
from deadpan.records import Judgment

PICTURES = os.environ.get("DEADPAN_PICTURES")
PAGES = ("index.html", "items/index.html", "items/i0-0.html", "try.html")
RULES = {
    "light": "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}",
    "dark": "{runOnly: {type: 'rule', values: ['color-contrast']}}",  # the same page in other colours
}
pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Three models that differ a little, one of them dear, a baseline and people."""
    folder = tmp_path_factory.mktemp("site")
    items = small_set(12)
    for number, name in enumerate(("openai/gpt-4o", "anthropic/claude", "mistral/small")):
        shift = number  # each a little worse
        model = Scripted(lambda q, limit, n, shift=shift: says((q.item.answer + (q.run <= shift)) % 6, q))
        run_models([name], job(items), folder / "runs", clock=FAST, answerers={name: model})
    run_models(["baseline/random", "baseline/first"], job(items), folder / "runs")
    people = [Judgment(item.id, "ann", "answer", "ABCDEF"[item.answer], 1.0, "") for item in items.items]
    write_human_run(folder / "runs" / "human", items, people, Tally())
    write_site(find_runs([folder / "runs"]), folder / "site", items)
    return folder / "site"


@pytest.fixture(scope="module")
def browser(site):
    """Started after the site is there: its loop would be in the way of ours."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield found
        found.close()


@pytest.fixture
def look(browser, site):
    """Open a page; what it loads from elsewhere, or complains of, fails the test."""
    contexts, wrong = [], []

    def open_page(page: str, width: int = 1280, scheme: str = "light"):
        # axe is put into the page, which its own policy forbids scripts from elsewhere to do.
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        contexts.append(context)
        context.set_default_timeout(180_000)
        shown = context.new_page()
        shown.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        shown.on("request", lambda asked: None if asked.url.startswith("file:") else wrong.append(asked.url))
        shown.goto((site / page).as_uri())
        return shown

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []


@cache
def axe() -> str:
    """axe-core, as axe-playwright-python brings it."""
    pytest.importorskip("axe_playwright_python")
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_drawn_fits_and_axe_finds_nothing(look, page, width, scheme):
    shown = look(page, width, scheme)
    picture = shown.screenshot(full_page=True)
    if PICTURES:
        name = f"bench_{page.replace('/', '_').removesuffix('.html')}_{width}_{scheme}.png"
        (Path(PICTURES) / name).write_bytes(picture)
    assert len(picture) > 10_000, "an empty page compresses to next to nothing"
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"
    shown.evaluate(axe())
    found = shown.evaluate(f"axe.run(document, {RULES[scheme]})")
    assert found["passes"], "axe looked at something"
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == []


def test_a_heading_sorts_and_says_so(look):
    shown = look("index.html")
    names = "[...document.querySelectorAll('table.sortable tbody .who b')].map(each => each.textContent)"
    before = shown.evaluate(names)
    heading = shown.get_by_role("button", name="Model")
    heading.click()
    after = shown.evaluate(names)
    assert after == sorted(after, key=str.lower)
    assert before != after
    assert heading.locator("xpath=ancestor::th").get_attribute("aria-sort") == "ascending"
    assert shown.locator("#sorted").text_content() == "Sorted by Model, ascending"


def test_the_drawing_of_costs_can_be_read_on_a_phone(look):
    shown = look("index.html", 390)
    size = shown.evaluate("document.querySelector('.scatter text').getBoundingClientRect().height")
    assert size >= 10


def test_every_link_leads_somewhere(look, site):
    for page in PAGES:
        links = look(page).evaluate("[...document.links].map(each => each.href)")
        assert links
        for link in links:
            assert Path(link.removeprefix("file://").partition("#")[0]).exists(), f"{page}: {link}"
