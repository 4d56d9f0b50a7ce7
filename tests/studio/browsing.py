"""A served studio, and how a page of it is looked at and worked on, for the tests in a browser."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager, redirect_stdout
from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from django.db import connections

from deadpan.cli import main
from studio.crowd import SOURCE, free_port, wait_for

PICTURES = os.environ.get("DEADPAN_PICTURES", "")


class Studio:
    """A served studio, driven by its own commands."""

    def __init__(self, home: Path) -> None:
        self.home, self.port = home, free_port()
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
        process = subprocess.Popen(
            command, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        try:
            first = process.stdout.readline()
            self.start = re.search(r"http://\S+/start/\S+", first)
            process.stdout.readline()
            wait_for(self.port, process, process.stdout.read)
            yield self
        finally:
            process.terminate()
            process.wait(30)
            process.stdout.close()


@cache
def axe() -> str:
    """axe-core, as axe-playwright-python brings it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def check(page, name: str) -> None:
    """Look at the page: keep its picture if asked, nothing wider than the screen, axe finds nothing."""
    # A click that leads away leaves no document for a moment.
    page.wait_for_function("document.documentElement !== null && document.readyState === 'complete'")
    if PICTURES:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        f"{name} is wider than the screen"
    )
    page.evaluate(axe())
    found = page.evaluate(
        "axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']})"
    )
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found["violations"]] == [], name


def at_work(page) -> None:
    """An item is there, and so are its scripts: keys pressed before would fall on the floor."""
    page.wait_for_selector("#answers")
    page.wait_for_load_state("load")


def saved(page) -> None:
    page.wait_for_selector("#state[data-now=saved]")


def answer(page, size: str) -> None:
    """Answer every open question: the first choice, by key or by touch."""
    for _ in range(6):
        if size == "desktop":
            page.keyboard.press("1")
        else:
            page.locator(
                ".question:not([hidden]):not(:has(input:checked)):has(input) .choice:not([hidden])"
            ).first.tap()
        saved(page)
        if not page.locator(".question[data-required]:not([hidden]):not(:has(input:checked))").count():
            return
    raise AssertionError("questions do not end")
