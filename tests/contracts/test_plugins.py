"""Another package adds a detector, a reader, a protocol and an engine through entry points."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from corpus.making import difference, files, settings_of
from deadpan.corpus import build_corpus
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.storage import write_config

MODULE = '''
from deadpan.datasets.reader import Reader, Release
from deadpan.detect.system import System, labelled, predictions
from deadpan.records import Example, Turn
from deadpan.storage import read_json, write_json


class Shouting(System):
    """Calls a response sarcastic where it shouts."""

    def fit(self, examples):
        labelled(examples)
        self.fitted_ = True
        return self

    def predict(self, examples):
        return predictions(examples, [0.9 if e.response.text.isupper() else 0.1 for e in examples])

    def save(self, folder):
        write_json(folder / "shouting.json", self.settings)

    @classmethod
    def load(cls, folder):
        model = cls(**read_json(folder / "shouting.json"))
        model.fitted_ = True
        return model


class Shouts(Reader):
    """Forty short responses, every second one in capitals and sarcastic."""

    release = Release(
        title="Shouts", citation="nobody (2020)", url="https://example.org", licence="CC0", language="en",
        platform="none", label_kind="author", folder="shouts", files=(),
    )

    def examples(self):
        for number in range(40):
            text = f"what a fine day number {number}"
            loud = number % 2 == 1
            response = Turn("", text.upper() if loud else text)
            yield Example(id=f"shouts/{number}", response=response, label=loud, label_kind="author",
                          source="shouts", language="en")
'''
PROTOCOL = """
from deadpan.studio.protocols.annotate import AnnotateProtocol


class PollProtocol(AnnotateProtocol):
    name = "poll"
"""
ENGINE = '''
from deadpan.corpus.engines.duckdb import DuckDBEngine


class LoggedEngine(DuckDBEngine):
    """DuckDB, with a log of the folders it saved."""

    def __init__(self, settings):
        super().__init__(settings)
        self.log = settings.scratch.parent.parent / "saved.log"

    def save(self, frame, folder):
        super().save(frame, folder)
        with self.log.open("a") as file:
            file.write(f"{folder.name}\\n")
'''
ENTRY_POINTS = """
[deadpan.protocols]
poll = deadpan_poll:PollProtocol

[deadpan.engines]
logged = deadpan_logged:LoggedEngine

[deadpan.detectors]
shouting = deadpan_shouting:Shouting
broken = deadpan_shouting:NotThere

[deadpan.readers]
shouts = deadpan_shouting:Shouts
starter-en = deadpan_shouting:Shouts
"""


def build_wheel(folder: Path, package: str, files: dict[str, str], entry_points: str) -> Path:
    """Write a wheel by hand, so that the test needs no build backend and no network."""
    info = f"{package}-1.0.dist-info"
    contents = files | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points,
    }
    rows = []
    for name, text in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(text.encode())}")
    contents[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    wheel = folder / f"{package}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the plugin package as `pip install --target` leaves it."""
    folder = tmp_path_factory.mktemp("plugin")
    modules = {"deadpan_shouting.py": MODULE, "deadpan_poll.py": PROTOCOL, "deadpan_logged.py": ENGINE}
    wheel = build_wheel(folder, "deadpan_shouting", modules, ENTRY_POINTS)
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "-q", "--target"]
    subprocess.run([*pip, str(target), str(wheel)], check=True, capture_output=True, timeout=900)
    return target


def run(installed: Path, *command: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *command],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def test_a_plugin_detector_and_reader_work_through_the_command_line(installed, tmp_path):
    described = run(installed, "-m", "deadpan", "datasets", "stats", "shouts", "--json")
    assert described.returncode == 0, described.stderr
    assert '"n": 40' in described.stdout

    model = str(tmp_path / "model")
    trained = run(
        installed, "-m", "deadpan", "detect", "train", "--system", "shouting", "shouts",
        "--out", model, "--json",
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr

    lines = tmp_path / "lines.txt"
    lines.write_text("GREAT WORK\ngreat work\n")
    answered = run(installed, "-m", "deadpan", "detect", "predict", str(lines), "--detector", model)
    assert answered.returncode == 0, answered.stderr
    assert [json.loads(line)["label"] for line in answered.stdout.splitlines()] == [True, False]


@pytest.mark.slow
def test_a_plugin_engine_builds_the_same_corpus(installed, tmp_path):
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    synthesize_dumps(tmp_path / "dumps", comments=1_500, form="gz")
    build_corpus(str(tmp_path / "dumps"), tmp_path / "duckdb", tmp_path / "corpus.toml", memory="500MB")
    built = run(
        installed, "-m", "deadpan", "corpus", "build", str(tmp_path / "dumps"), "--engine", "logged",
        "--config", str(tmp_path / "corpus.toml"), "--memory", "500MB", "--out", str(tmp_path / "logged"),
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "logged" / "saved.log").read_text().splitlines()
    (tmp_path / "logged" / "saved.log").unlink()
    assert difference(files(tmp_path / "duckdb"), files(tmp_path / "logged")) == ""


def test_a_plugin_protocol_is_a_study_through_the_command_line(installed, tmp_path):
    home = ["--home", str(tmp_path / "studio")]
    created = run(
        installed, "-m", "deadpan", "studio", "create", "poll", "starter-en", "--limit", "3", "--name", "p", *home
    )  # fmt: skip
    assert created.returncode == 0, created.stderr
    status = run(installed, "-m", "deadpan", "studio", "status", *home, "--json")
    assert '"poll"' in status.stdout, status.stderr


def test_plugins_are_listed_without_importing_them(installed):
    script = (
        "import sys\nfrom deadpan.detect import SYSTEMS\n"
        "assert 'importlib.metadata' not in sys.modules, 'read before anybody asked'\n"
        "print('shouting' in list(SYSTEMS), SYSTEMS.package('shouting'), 'deadpan_shouting' in sys.modules)"
    )
    answer = run(installed, "-c", script)
    assert answer.stdout.split() == ["True", "deadpan_shouting", "False"], answer.stderr


def test_our_own_name_wins_a_clash_and_the_warning_names_the_package(installed):
    script = (
        "from deadpan.datasets import READERS\nlist(READERS)\n"
        "print(READERS['starter-en'].split('.')[0], READERS.package('starter-en'))"
    )
    answer = run(installed, "-c", script)
    assert answer.stdout.split() == ["deadpan", "deadpan"]
    assert "dataset 'starter-en' of package 'deadpan_shouting' is ignored" in answer.stderr


def test_a_plugin_that_cannot_be_loaded_is_one_line_that_names_the_package(installed):
    script = "from deadpan.detect import SYSTEMS\nSYSTEMS.load('broken')"
    answer = run(installed, "-c", script)
    assert "ConfigError: system 'broken' of package 'deadpan_shouting' cannot be loaded" in answer.stderr
