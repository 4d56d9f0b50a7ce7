"""The program and its users as a story sees them: commands and the files they write, people over HTTP."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from deadpan.cli import main
from studio.crowd import free_port, wait_for

CHOICE = (
    r'<label class="choice"(?: data-cases="([^"]*)")?>'
    r'<input type="radio" name="q\.([^"]+)" value="([^"]*)".*?</kbd>(.*?)</span>'
)
SOURCE = Path(__file__).parent.parent.parent / "src"


LOAD = (
    "import json, sys, datasets\n"
    "found = datasets.load_dataset(sys.argv[1], *sys.argv[2:])\n"
    "print(json.dumps({name: part.to_list() for name, part in found.items()}, default=str))"
)
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "DATABASE_URL": ""}


@dataclass(frozen=True)
class Program:
    """The command line, run in a folder as a stranger would, without network or models from elsewhere.

    Commands run in this process, one after the other, and hand nothing over but files: importing the program
    anew for each of them would be most of the work. With `apart`, each is a process of its own, as a server
    always is.
    """

    folder: Path
    apart: bool = False

    @property
    def env(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(SOURCE), "HF_HOME": str(self.folder / ".hf"), **OFFLINE}

    def __call__(self, *words: object, status: int = 0) -> str:
        """Run a command and return what it printed; any other exit status fails the story."""
        if self.apart:
            ran = self._process("-m", "deadpan", *map(str, words))
            assert ran.returncode == status, (
                f"{' '.join(map(str, words))}: {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
            )
            assert "Traceback" not in ran.stderr
            return ran.stdout
        out, err = StringIO(), StringIO()
        with quiet(), chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            try:
                main([str(word) for word in words])
            except SystemExit as ended:
                code = int(ended.code or 0)
        assert code == status, f"{' '.join(map(str, words))}: {code}\n{out.getvalue()}\n{err.getvalue()}"
        return out.getvalue()

    def _process(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )

    def json(self, *words: object) -> Any:
        """Run a command with --json and return its answer."""
        return json.loads(self(*words, "--json"))

    def load_dataset(self, folder: str, *config: str) -> dict[str, list[dict[str, Any]]]:
        """Load a folder with Hugging Face datasets; rows by split."""
        if self.apart:
            ran = self._process("-c", LOAD, str(self.folder / folder), *config)
            assert ran.returncode == 0, ran.stderr[-3000:]
            return json.loads(ran.stdout.splitlines()[-1])
        with quiet():
            import datasets

            datasets.disable_progress_bars()
            cache = str(self.folder / ".hf")
            found = datasets.load_dataset(str(self.folder / folder), *config, cache_dir=cache)
            return {name: part.to_list() for name, part in found.items()}


@contextmanager
def quiet() -> Iterator[None]:
    """As outside of pytest: offline, and a warning of a library is no error."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in OFFLINE.items():
            patch.setenv(name, value)
        yield


@contextmanager
def served_studio(program: Program, home: str = "studio") -> Iterator[str]:
    """Serve the studio of a folder on loopback; its address."""
    port = free_port()
    log = program.folder / "studio.log"
    words = f"-m deadpan studio serve --workers 1 --port {port} --home {home}".split()
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, *words], cwd=program.folder, env=program.env, stdout=file, stderr=file
        )
        try:
            wait_for(port, process, lambda: log.read_text(errors="replace"))
            yield f"http://localhost:{port}"
        finally:
            process.terminate()
            process.wait(60)


@dataclass(frozen=True)
class Screen:
    """One item as a browser got it: the page, and the choices of each question that is asked."""

    page: str
    choices: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, tuple[str, ...]]


class Person:
    """One person: follows the invitation, consents, and answers what is asked, in their browser's language."""

    def __init__(self, site: str, study: str, invitation: str, language: str = "en") -> None:
        self.site, self.study = site, study
        # Like a browser, which takes loopback for a safe connection.
        jar = CookieJar(DefaultCookiePolicy(secure_protocols=("http", "https")))
        self.opener = build_opener(HTTPCookieProcessor(jar))
        self.opener.addheaders = [("Accept-Language", language)]
        path = "/join/" + invitation.rstrip("/").rsplit("/", 1)[1]
        self.post(path, {}, self.get(path)[1])
        consent = f"/s/{study}/consent"
        self.post(consent, {"agree": "yes"}, self.get(consent)[1])

    def get(self, path: str) -> tuple[str, str]:
        """Return the path where a request ended after redirects, and its page."""
        with self.opener.open(self.site + path, timeout=120) as response:
            return response.geturl().removeprefix(self.site), response.read().decode()

    def post(self, path: str, values: Mapping[str, str], page: str) -> tuple[str, str]:
        """Send a form with the token of the page it stands on."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token, page
        body = urlencode({"csrfmiddlewaretoken": token[1], **values}).encode()
        try:
            with self.opener.open(self.site + path, body, timeout=120) as response:
                return response.geturl().removeprefix(self.site), response.read().decode()
        except HTTPError as refused:
            raise AssertionError(f"{path} refused {values}: {refused.read().decode()[:2000]}") from refused

    def answer_all(self, choose: Callable[[Screen, str], str]) -> int:
        """Answer items until there are none; `choose(screen, question)` returns an answer's value."""
        count = 0
        while True:
            path, page = self.get(f"/s/{self.study}/")
            if not re.fullmatch(rf"/s/{self.study}/item/\d+|/s/{self.study}/\d+", path.rstrip("/")):
                return count
            screen = read_screen(page)
            answers: dict[str, str] = {}
            for _ in range(5):  # a later question may depend on an earlier answer
                open_questions = [name for name in screen.choices if name not in answers]
                if not open_questions:
                    break
                answers |= {name: choose(screen, name) for name in open_questions}
                form = {f"q.{name}": value for name, value in answers.items()}
                key = re.search(r'name="key" value="([^"]+)"', page)[1]
                self.post(f"{path.rstrip('/')}/save", {**form, "key": f"{key}-{len(answers)}"}, page)
                page = self.get(path)[1]
                screen = read_screen(page, answers)
            count += 1
            assert count < 5000, "the study does not end"


def holds(cases: list[dict[str, list[str]]], answers: Mapping[str, str]) -> bool:
    """As the page's script decides it: one of the cases is what was answered."""
    return any(all(answers.get(name, "") in values for name, values in case.items()) for case in cases)


def read_screen(page: str, answers: Mapping[str, str] | None = None) -> Screen:
    """Read the questions a page asks now, with the choices that fit the answers so far, in order."""
    choices: dict[str, tuple[str, ...]] = {}
    labels: dict[str, tuple[str, ...]] = {}
    for head, body in re.findall(r"<fieldset class=\"question([^>]*)>(.*?)</fieldset>", page, re.DOTALL):
        if head.rstrip().endswith("hidden"):
            continue
        found = [
            tuple(map(html.unescape, rest))
            for cases, *rest in re.findall(CHOICE, body, re.DOTALL)
            if not cases or holds(json.loads(html.unescape(cases)), answers or {})
        ]
        if found:
            choices[found[0][0]] = tuple(value for _, value, _ in found)
            labels[found[0][0]] = tuple(label for _, _, label in found)
    return Screen(html.unescape(page), choices, labels)
