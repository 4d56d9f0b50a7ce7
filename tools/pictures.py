"""Takes the picture of the playground in the documentation (docs/assets), from this version of the program.

Needs deadpan[serve], playwright and Chromium. Run it when the page has changed.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

ASSETS = Path(__file__).parent.parent / "docs" / "assets"
CONVERSATION = """A: They moved the stand-up to Friday at six.
B: Oh great, another meeting that could have been an email."""
WIDTH, HEIGHT = 900, 978


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


if __name__ == "__main__":
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(180_000)
        playground(page)
        browser.close()
