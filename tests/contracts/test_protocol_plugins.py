"""A package of somebody else adds a protocol: one file, one entry point, and every command knows it."""

from __future__ import annotations

import json
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from contracts.test_plugins import build_wheel, run

if not all(find_spec(library) for library in ("django", "argon2", "whitenoise", "csp")):
    pytest.skip("needs deadpan[studio]", allow_module_level=True)

MODULE = '''
from dataclasses import dataclass, replace

from deadpan.formats.study import StudyItem, hidden
from deadpan.formats.study import StudySettings
from deadpan.studio.protocols.protocol import Choice, Question, StudyProtocol, perceived_example


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliteItem(StudyItem):
    """A response whose politeness is judged."""

    place: str = ""
    label: bool | None = hidden(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoliteSettings(StudySettings):
    """How many grades there are."""

    grades: int = 2


class PoliteProtocol(StudyProtocol[PoliteItem, PoliteSettings]):
    """Polite or rude."""

    name = "polite"
    item_type = PoliteItem
    settings_type = PoliteSettings
    title = "Is it polite?"
    summary = blurb = "Say whether the response is polite."
    raters = 1

    def item_from(self, record):
        return PoliteItem(record.id, record.response, record.context, label=record.label)

    def questions(self, settings):
        return (Question("polite", "Is it polite?", (Choice("polite", "Polite"), Choice("rude", "Rude"))),)

    def examples_of(self, item, values, answers, tally):
        yield replace(perceived_example(item, answers, item.label), categories=(values["polite"],))
'''
ENTRY_POINTS = "[deadpan.protocols]\npolite = deadpan_polite:PoliteProtocol\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """A folder with the package as `pip install --target` leaves it."""
    folder = tmp_path_factory.mktemp("plugin")
    wheel = build_wheel(folder, "deadpan_polite", {"deadpan_polite.py": MODULE}, ENTRY_POINTS)
    # A wheel of plain Python is installed by unpacking it.
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.mark.slow
def test_a_protocol_of_another_package_goes_from_a_corpus_to_a_release(installed, tmp_path):
    def studio(*words: str, status: int = 0) -> str:
        ran = run(installed, "-m", "deadpan", "studio", *words, "--home", str(tmp_path / "home"))
        assert ran.returncode == status, ran.stderr
        return ran.stdout + ran.stderr

    wrong = studio("create", "polite", "starter-en", "--name", "p", "--setting", "grade=3", status=2)
    assert "unknown setting 'grade': did you mean 'grades'" in wrong
    studio(
        "create",
        "polite",
        "starter-en",
        "--open",
        "--setting",
        "contact=x",
        "--limit",
        "4",
        "--name",
        "p",
        "--setting",
        "grades=3",
    )
    tasks = tmp_path / "tasks.json"
    studio("export", "p", "--out", str(tasks), "--label-studio")
    ids = [task["data"]["id"] for task in json.loads(tasks.read_text("utf-8"))]
    rows = [
        {
            "item_id": id,
            "annotator": "zoe",
            "question": "polite",
            "answer": "rude",
            "seconds": 2.0,
            "created_at": "2026-01-01T00:00:00+00:00",
        }
        for id in ids
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert "4 of 4" in studio("import", "p", str(tmp_path / "answers.jsonl"))
    assert "Is it polite?" in studio("status", "p", "--agreement")
    assert "4 examples" in studio("release", "p", "--out", str(tmp_path / "release"))
