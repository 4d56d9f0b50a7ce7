"""The server as a process: it says its address, answers programs and browsers, and ends when told."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from chromium import ARGS, CHROMIUM

pytest.importorskip("uvicorn")
SRC = str(Path(__file__).parents[2] / "src")
ATTACK = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def served():
    command = [sys.executable, "-m", "deadpan", "serve", "--port", "0", "--json"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": SRC, "OPENBLAS_NUM_THREADS": "1"},
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = []
        while not lines or lines[-1] != "}":
            lines.append(process.stdout.readline().rstrip("\n"))
        yield process, json.loads("".join(lines))["url"]
        if process.poll() is None:
            process.kill()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")
def test_the_playground_judges_what_is_typed(served):
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page, wrong = browser.new_page(viewport={"width": 390, "height": 800}), []
        page.set_default_timeout(180_000)
        page.on("pageerror", lambda said: wrong.append(str(said)))
        page.on("dialog", lambda asked: wrong.append(asked.message))
        page.goto(served[1])
        page.click(".go")
        assert page.inner_text("#state") == "Type something first."
        page.fill("#text", f"{ATTACK}: It rains again.\nB: Oh great, I love {ATTACK} waiting {'a' * 300}.")
        page.click(".go")
        page.wait_for_selector(".model .reason")
        shown = page.inner_text("#result")
        assert ATTACK in shown and "where 50% of texts are sarcastic" in shown
        assert page.locator("#result img").count() == 0
        page.fill("#text", "わあ、本当に幸せだなあ。")
        page.click(".go")
        page.wait_for_selector("text=This looks like Japanese")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert wrong == []
        browser.close()


@pytest.mark.slow
def test_it_answers_a_program_and_ends_when_told(served):
    process, url = served
    body = json.dumps({"text": "Great, another Monday."}).encode()
    with urllib.request.urlopen(f"{url}/v1/detect", data=body) as answer:
        assert json.load(answer)["results"][0]["label"]
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) in (0, 130, -signal.SIGINT)
    assert "Traceback" not in (process.stderr.read() if process.stderr else "")


def test_an_address_in_use_is_one_line(deadpan):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ran = deadpan("serve", "--port", taken.getsockname()[1])
    assert ran.status == 2 and "choose another --port" in ran.err
