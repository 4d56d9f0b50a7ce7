"""train_detector: the test split stays out, and so do copies in additional data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.studies.training import train_detector
from deadpan.errors import ConfigError, ModelError
from deadpan.records import Example, Turn
from deadpan.storage import read_manifest
from detect_corpus import noise_corpus, word_corpus


def test_a_published_test_split_is_not_trained_on(tmp_path):
    rows = [replace(e, split="test" if int(e.group) % 3 == 0 else "train") for e in word_corpus()]
    result = train_detector(rows, "bow", out=tmp_path / "m")
    test = [e for e in rows if e.split == "test"]
    assert result.examples == len(rows) - len(test)
    assert not Detector.load(tmp_path / "m").seen_.contain(test).any()
    assert "train split (and dev)" in str(result)
    assert train_detector(rows, "bow", pool=True).examples == len(rows)


def test_additional_data_brings_neither_duplicates_nor_its_test_split():
    more = [*word_corpus()[:10], *[replace(e, split="test") for e in noise_corpus(20)], *noise_corpus(40)[20:]]
    result = train_detector(word_corpus(), "bow", also=more)
    assert (result.also, result.also_duplicates, result.also_test) == (20, 10, 20)
    assert result.examples == 80


def test_a_folder_with_other_things_is_refused_before_training(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ConfigError, match="choose another folder"):
        train_detector(word_corpus(), "bow", out=tmp_path)


def test_a_note_beside_a_detector_stays_however_often_it_is_trained(tmp_path):
    folder = tmp_path / "m"
    train_detector(word_corpus(), "bow", out=folder)
    (folder / "notes.txt").write_text("mine")
    for system in ("bigrams", "bow"):
        with pytest.raises(ConfigError, match="overwrite"):
            train_detector(word_corpus(), system, out=folder)
        train_detector(word_corpus(), system, out=folder, overwrite=True)
        assert (folder / "notes.txt").read_text() == "mine"
        assert {"detector.json", "weights.npy"} <= read_manifest(folder).files.keys()
    (folder / "notes.txt").write_text("changed")
    assert Detector.load(folder).system == "bow"


def test_few_examples_and_rows_without_a_label_are_told():
    few = [*word_corpus()[:12], Example("none", Turn("", "no label here"))]
    told = train_detector(few, "bow")
    assert told.unlabelled == 1 and "12 examples are too few" in str(told)
    assert train_detector(word_corpus(), "bow").warnings() == []


def test_somebody_elses_manifest_is_not_a_detectors(tmp_path):
    detector = Detector("bow").fit(["Oh great.", "It rains."], [True, False])
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    with pytest.raises(ConfigError, match=r"its manifest\.json is not a detector's"):
        detector.save(tmp_path)
    assert (tmp_path / "manifest.json").read_text() == '{"name": "an app"}'
    detector.save(tmp_path / "own")
    path = tmp_path / "own" / "manifest.json"
    facts = json.loads(path.read_text())
    del facts["files"]["weights.npy"]["sha256"]
    path.write_text(json.dumps(facts))
    with pytest.raises(ModelError, match=r"weights\.npy: changed or missing"):
        Detector.load(tmp_path / "own")
