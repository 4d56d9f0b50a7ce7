"""From review to release, and the back-check."""

from __future__ import annotations

import json

import pytest

from deadpan.formats.judgments import write_export
from deadpan.formats.study import read_study
from deadpan.generate.folder import Draft
from deadpan.generate.people import Rewrite
from deadpan.records import Example, Judgment, Turn
from deadpan.storage import read_json, read_manifest, read_records, write_records


@pytest.fixture
def ran(deadpan, plan_of, tmp_path):
    """A finished run with contrast, and its plan."""
    path = plan_of(40, top="with_contrast = true")
    assert deadpan("generate", "run", path).status == 0
    return path


@pytest.mark.slow
def test_from_review_to_release(deadpan, ran, tmp_path):
    waiting = read_manifest(tmp_path / "run" / "7-review").drops["awaiting_review"]
    assert deadpan("generate", "review", ran, "--study", tmp_path / "queue").status == 0
    _, queue = read_study(tmp_path / "queue")
    assert len(queue) == waiting > 1
    decided = [
        Judgment(item.id, "p1", "context", "normal" if place else "Abnormal", 3.0, "2026-01-01T00:00:00Z")
        for place, item in enumerate(queue)
    ]
    write_export(tmp_path / "queue-answers", decided, [])
    data = deadpan("generate", "review", ran, "--export", tmp_path / "queue-answers", "--json").json
    assert (data["waiting"], data["drops"]) == (0, {"abnormal_confirmed": 1})
    assert data["kept"] == 39
    # The cleared ones need their contrast; until then the step before it counts.
    assert deadpan("generate", "run", ran, "--resume").status == 0

    assert deadpan("generate", "people", ran, "--study", tmp_path / "study", "--raters", 3).status == 0
    study, items = read_study(tmp_path / "study")
    assert (study.protocol, study.raters_per_item, len(items)) == ("annotate", 3, 39)
    assert all(item.explanation and "suspect" not in item.shown_fields() for item in items)
    write_export(tmp_path / "answers", list(judgments(items)), [])
    data = deadpan("generate", "people", ran, "--export", tmp_path / "answers", "--json").json
    assert data["drops"] == {"context_abnormal": 2, "not_judged": 1}
    assert data["changes"] == {
        "explanation_blanked": 3,
        "label_change.casual dialogue": 4,
        "response_abnormal.contextual awkwardness": 5,
    }
    examples = list(read_records(tmp_path / "run" / "people" / "examples.jsonl", Example))
    assert sum(e.label is True for e in examples) == 39 - 3 - 4 - 5
    queue_file = tmp_path / "run" / "people" / "rewrite.jsonl"
    rewrites = [Rewrite(r.id, r.dialogue, r.explanation, "Better.") for r in read_records(queue_file, Rewrite)]
    write_records(tmp_path / "done.jsonl", rewrites, Rewrite)
    data = deadpan("generate", "people", ran, "--export", tmp_path / "answers", "--rewrites", tmp_path / "done.jsonl", "--json").json  # fmt: skip
    assert data["rewrite"] == 0

    out = tmp_path / "release"
    found = deadpan("generate", "release", ran, "--out", out, "--json").json
    assert found["dialogues"] == len(examples) == found["sarcastic"] + found["sincere"]
    sizes = {s: len(list(read_records(out / "data" / f"{s}.parquet", Example))) for s in ("train", "dev", "test")}
    assert sum(sizes.values()) == len(examples) and sizes["dev"] >= 1 and sizes["train"] > 0.7 * len(examples)
    assert read_json(out / "statistics.json")["changes"]["label_change.casual dialogue"] == 4
    assert (out / "README.md").is_file() and (out / "croissant.json").is_file()
    swapped = read_manifest(out).changes["speakers_swapped"]
    assert 0.3 < swapped / len(examples) < 0.7


def judgments(items):
    """Three people who mostly agree: the first ones abnormal, then changed labels, then bad explanations."""
    for place, item in enumerate(items[:-1]):
        answers = {"response": "sarcasm", "context": "normal", "explanation": "normal"}
        if place < 2:
            answers |= {"context": "abnormal", "kind": "format misalignment"}
        elif place < 6:
            answers |= {"response": "non-sarcasm", "kind": "casual dialogue"}
        elif place < 11:
            answers |= {"response": "abnormal", "kind": "awkward"}
        elif place < 14:
            answers |= {"explanation": "abnormal"}
        for person in ("p1", "p2", "p3"):
            for question, given in answers.items():
                said = "sarcasm" if person == "p3" and question == "response" else given
                yield Judgment(item.id, person, question, said, 5.0, "2026-01-01T00:00:00Z")


@pytest.mark.slow
def test_review_at_the_terminal(deadpan, plan_of, tmp_path, monkeypatch):
    path = plan_of(40)
    assert deadpan("generate", "run", path).status == 0
    keys = iter(["a", "s", "n", "q"])
    monkeypatch.setattr("click.prompt", lambda *args, **options: next(keys))
    before = read_manifest(tmp_path / "run" / "7-review").drops["awaiting_review"]
    done = deadpan("generate", "review", path, "--reviewer", "kim")
    assert done.status == 0 and "2 decided" in done.out
    made = list(read_records(tmp_path / "run" / "decisions.jsonl", Judgment))
    assert [(j.annotator, j.answer) for j in made] == [("kim", "abnormal"), ("kim", "normal")]
    after = read_manifest(tmp_path / "run" / "7-review").drops
    assert after == {"abnormal_confirmed": 1, "awaiting_review": before - 2}


@pytest.mark.slow
def test_release_without_people_says_so(deadpan, ran, tmp_path):
    refused = deadpan("generate", "release", ran, "--out", tmp_path / "r")
    assert refused.status == 2 and "--unjudged" in refused.err
    found = deadpan("generate", "release", ran, "--out", tmp_path / "r", "--unjudged", "--json").json
    assert found["sarcastic"] == found["sincere"] > 0
    assert "No person has confirmed a label" in (tmp_path / "r" / "README.md").read_text("utf-8")
    pairs = {}
    for name in ("train", "dev", "test"):
        for example in read_records(tmp_path / "r" / "data" / f"{name}.parquet", Example):
            pairs.setdefault(example.sequence, set()).add((name, example.response.speaker))
    assert all(len(found) == 1 for found in pairs.values())  # twins share a split and their names


@pytest.mark.slow
def test_back_check(deadpan, ran, tmp_path):
    from deadpan.detect.detector import Detector

    examples = list(read_records(tmp_path / "run" / "8-contrast" / "kept.jsonl", Draft))
    taught = [Example(f"{n}", d.response, label=True) for n, d in enumerate(examples)]
    taught += [Example(f"s{n}", Turn("A", d.sincere), label=False) for n, d in enumerate(examples)]
    Detector("bigrams").fit(taught).save(tmp_path / "detector")
    found = deadpan("generate", "run", ran, "--only", "backcheck", "--detector", tmp_path / "detector", "--json").json  # fmt: skip
    assert found["n"] == 2 * len(examples) and found["right_alone"]["value"] > 0.9
    rows = [json.loads(line) for line in (tmp_path / "run" / "backcheck" / "items.jsonl").read_text().splitlines()]
    assert sum(row["easy"] for row in rows) == round(found["easy"]["value"] * found["n"])
    assert deadpan("generate", "report", ran).status == 0
    assert "Back-check" in (tmp_path / "run" / "report.html").read_text("utf-8")
    alone = deadpan("generate", "run", ran, "--only", "backcheck")
    assert alone.status == 2 and "--detector FOLDER" in alone.err


def test_an_export_of_another_study_is_refused(deadpan, plan_of, tmp_path):
    path = plan_of(3)
    deadpan("generate", "run", path)
    write_export(tmp_path / "e", [Judgment("other", "p", "response", "sarcasm", 1.0, "t"), Judgment("other", "p", "context", "normal", 1.0, "t")], [])  # fmt: skip
    done = deadpan("generate", "people", path, "--export", tmp_path / "e")
    assert done.status == 2 and "is it from another run?" in done.err
