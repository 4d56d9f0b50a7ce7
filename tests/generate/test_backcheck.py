"""Back-check of a Korean run by a detector: right and confident without the context means too easy."""

from __future__ import annotations

import pytest

from deadpan import read_dataset
from deadpan.detect.detector import Detector
from deadpan.errors import DataError
from deadpan.generate.backcheck import _ITEMS, BACKCHECK_FOLDER, BackCheckedItem, back_check
from deadpan.generate.folder import Draft, GenerationFolder, StepWriter
from deadpan.records import Prediction
from deadpan.storage import read_manifest, read_records


@pytest.fixture
def plan(tmp_path):
    (tmp_path / "sources.jsonl").write_text("", "utf-8")
    path = tmp_path / "plan.toml"
    path.write_text(
        'language = "ko"\nout = "run"\n[source]\npath = "sources.jsonl"\n[model]\nmodel = "writer-1"\n', "utf-8"
    )
    return path


def pairs(count):
    """Contexts of the Korean starter set, each with its sarcastic and its sincere response."""
    found = {}
    for example in read_dataset("starter-ko"):
        found.setdefault(example.sequence, {})[example.label] = example
    return [both for both in found.values() if len(both) == 2][:count]


def write_run(root, count):
    folder = GenerationFolder(root)
    folder.kept("situation").parent.mkdir(parents=True)
    folder.kept("situation").write_text("", "utf-8")
    folder.kept("politeness").parent.mkdir(parents=True)
    folder.kept("politeness").write_text("", "utf-8")
    with StepWriter(folder, "dialogue", {}, 0) as step:
        for n, both in enumerate(pairs(count)):
            yes = both[True]
            step.keep(Draft(f"d{n}", (), context=yes.context, response=yes.response, sincere=both[False].response.text))


class OnlyWithContext:
    """A detector that knows a response only in its context, and is unsure otherwise."""

    def __init__(self, known):
        self.known = known

    def predict(self, texts):
        return [Prediction(e.id, self.known[e.id], 0.9) if e.context else Prediction(e.id, True, 0.55) for e in texts]


def test_korean_responses_that_need_their_context_are_not_easy(tmp_path, plan):
    write_run(tmp_path / "run", 6)
    known = {f"d{n}": True for n in range(6)} | {f"d{n}/sincere": False for n in range(6)}
    found = back_check(plan, OnlyWithContext(known), name="stub")
    assert (found.n, found.easy.value, found.right_with_context.value) == (12, 0.0, 1.0)
    assert found.right_alone.value == 0.5
    assert read_manifest(tmp_path / "run" / BACKCHECK_FOLDER).config["detector"] == "stub"


def test_a_korean_detector_finds_what_it_has_seen_too_easy(tmp_path, plan):
    write_run(tmp_path / "run", 8)
    seen = [example for both in pairs(8) for example in both.values()]
    found = back_check(plan, Detector("bigrams").fit(seen), name="bigrams", confident=0.5)
    assert found.right_alone.value == 1.0
    rows = list(read_records(tmp_path / "run" / BACKCHECK_FOLDER / _ITEMS, BackCheckedItem))
    assert len(rows) == 16 and sum(row.easy for row in rows) == 16


def test_a_run_without_dialogues_is_an_error(tmp_path, plan):
    (tmp_path / "run").mkdir()
    with pytest.raises(DataError, match="no dialogues there yet"):
        back_check(plan, OnlyWithContext({}), name="stub")
