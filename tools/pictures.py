"""Takes the pictures of the documentation: the playground and the tour's page (docs/assets).

tools/pictures.py            both, from this version of the program
tools/pictures.py tour       one of them

Needs deadpan[serve], playwright and Chromium. Run it when a page has changed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ASSETS = Path(__file__).parent.parent / "docs" / "assets"
CONVERSATION = """A: They moved the stand-up to Friday at six.
B: Oh great, another meeting that could have been an email."""
WIDTH, HEIGHT = 900, 1000


def playground(page: Any) -> None:
    """Show a judged conversation, down to the first detector."""
    command = [sys.executable, "-m", "deadpan", "serve", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines: list[str] = []
        while not lines or lines[-1] != "}":
            lines.append(server.stdout.readline().rstrip("\n"))
        try:
            page.goto(json.loads("".join(lines))["url"])
            page.fill("#text", CONVERSATION)
            page.click(".go")
            page.wait_for_selector(".model .words", state="attached")
            page.screenshot(path=ASSETS / "playground.png")
        finally:
            server.terminate()


def tour(page: Any) -> None:
    """Show the beginning of the page that the tour ends with."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "deadpan", "tour", "--out", folder, "--json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=ASSETS / "tour.png")


PICTURES: dict[str, Callable[[Any], None]] = {"playground": playground, "tour": tour}


def main() -> None:
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in sys.argv[1:] or PICTURES:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(180_000)
            PICTURES[name](page)
        browser.close()


if __name__ == "__main__":
    main()
