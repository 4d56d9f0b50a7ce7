"""A served studio, and how a page of it is looked at and worked on, for the tests in a browser."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from django.db import connections

from deadpan.cli import main
from studio.crowd import PATIENCE, SOURCE, free_port, wait_for

PICTURES = os.environ.get("DEADPAN_PICTURES", "")


class Studio:
    """A served studio, driven by its own commands."""

    def __init__(self, home: Path, template: Path) -> None:
        """Begin with a copy of an empty database: migrating a new one takes seconds."""
        self.home, self.port = home, free_port()
        shutil.copy(template, home / "studio.sqlite3")
        self.site = f"http://localhost:{self.port}"
        self.env = {**os.environ, "PYTHONPATH": str(SOURCE), "DEADPAN_STUDIO": str(home), "DATABASE_URL": ""}

    def run(self, *words: str):
        """A command, in this process: starting another takes longer than most of them."""
        said = io.StringIO()
        with redirect_stdout(said), pytest.raises(SystemExit) as ended:
            main(["studio", *words, "--home", str(self.home), "--json"])
        connections.close_all()
        assert not ended.value.code, said.getvalue()
        return json.loads(said.getvalue())

    def invite(self, name: str, role: str) -> str:
        return self.run("invite", name, "--role", role, "--site", self.site)["link"]

    @contextmanager
    def served(self):
        serve = f"-u -m deadpan studio serve --workers 1 --port {self.port}"
        command = [sys.executable, *serve.split()]
        process = subprocess.Popen(command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            said = ""
            while "deadpan studio at" not in said:
                line = process.stdout.readline()
                assert line, said
                said += line
            self.start = re.search(r"http://\S+/start/\S+", said)
            wait_for(self.port, process, process.stdout.read)
            yield self
        finally:
            process.terminate()
            process.wait(PATIENCE)
            process.stdout.close()


@cache
def axe() -> str:
    """axe-core, as axe-playwright-python brings it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


SHAPE = """() => {
  const shape = (node) => {
    const words = ["value", "href", "action", "content", "lang", "title", "placeholder", "aria-label"];
    const names = [...node.attributes].map((a) => words.includes(a.name) || /^(hx|data)-/.test(a.name)
      ? `${a.name}${a.value ? "" : "="}` : `${a.name}=${a.value}`).join(" ");
    const said = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) ? "#" : "";
    return `<${node.localName} ${names}>${said}${[...node.children].map(shape).join("")}</>`;
  };
  return `${innerWidth} ${shape(document.documentElement)}`;
}"""
SEEN: set[str] = set()
"""Shapes of pages that axe found nothing on: elements, attributes, where there is text, width, colours.

Words and addresses are left out: the same page in Korean has the same shape.
"""
RULES = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']"
ALL, COLOURS = f"{{runOnly: {RULES}}}", "{runOnly: {type: 'rule', values: ['color-contrast']}}"


def check(page, name: str) -> None:
    """Look at the page, light and dark: keep its picture if asked, nothing wider than the screen, axe
    finds nothing. A page of the same shape in other words is not given to axe again; in the dark it is the
    same page in other colours."""
    # A click that leads away leaves no document for a moment.
    page.wait_for_function("document.documentElement !== null && document.readyState === 'complete'")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{name} is wider than the screen"
    shape = page.evaluate(SHAPE)
    for scheme, rules in (("dark", COLOURS), ("light", ALL)):
        if shape in SEEN and not PICTURES:
            return
        page.emulate_media(color_scheme=scheme)
        if PICTURES:
            Path(PICTURES).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=f"{PICTURES}/{name}-{scheme}.png", full_page=True)
        if shape not in SEEN:
            look_with_axe(page, f"{name}, {scheme}", rules)
    SEEN.add(shape)


def look_with_axe(page, name: str, rules: str = ALL) -> None:
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(axe())
    found = page.evaluate(f"axe.run(document, {rules})")
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == [], name


def at_work(page) -> None:
    """An item is there, and so are its scripts: keys pressed before would fall on the floor."""
    from playwright.sync_api import TimeoutError as Hung

    try:
        page.wait_for_selector("#answers[data-ready]")
    except Hung as hung:
        raise AssertionError(f"no item at {page.url}: {page.inner_text('body')[:500]}") from hung


def saved(page) -> None:
    page.wait_for_selector("#state[data-now=saved]")


OPEN = ".question[data-required]:not([hidden]):not(:has(input:checked))"


NOW = f"""() => ({{
  url: location.href,
  saved: Boolean(document.querySelector("#state[data-now=saved]")),
  open: document.querySelectorAll("{OPEN}").length,
}})"""


def stayed(page, before: str) -> bool:
    """Wait until a key's answer is saved and a question is open, or the page has gone on to the next item."""
    from playwright.sync_api import Error

    for _ in range(3600):  # a limit on hangs only
        try:
            now = page.evaluate(NOW)  # one look: the next item may be put on the screen at any moment
        except Error:  # in the middle of a navigation
            return False
        if now["url"] != before:
            return False
        if now["saved"] and now["open"]:
            return True
        page.wait_for_timeout(50)
    raise AssertionError("the answer was neither saved nor followed by the next item")


def answer(page, size: str) -> None:
    """Answer every open question: the first choice, by key or by touch."""
    before = page.evaluate("location.href")
    for _ in range(6):
        if size == "desktop":
            page.keyboard.press("1")
            if not stayed(page, before):
                return  # it was the last answer: the next item is on the screen
            continue
        page.locator(".question:not([hidden]):not(:has(input:checked)):has(input) .choice:not([hidden])").first.tap()
        saved(page)
        if not page.locator(OPEN).count():
            return
    raise AssertionError("questions do not end")
