"""transfer: no corpus is tested on its own training data, and a copy is no test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deadpan.detect.studies.transfer import transfer
from deadpan.errors import ConfigError, DataError
from deadpan.records import Turn
from detect_corpus import noise_corpus, word_corpus


def test_a_corpus_is_trained_on_and_others_are_tested():
    result = transfer({"a": word_corpus("sure"), "b": word_corpus("oh"), "c": noise_corpus()}, "bow", k=3)
    assert result.cells["a"]["a"].value > 0.9
    assert result.cells["a"]["b"].value < result.cells["a"]["a"].value
    assert list(result.cells) == list(result.cells["a"]) == ["a", "b", "c"]
    with pytest.raises(ConfigError, match="two corpora"):
        transfer({"a": word_corpus()}, "bow")
    with pytest.raises(DataError, match="must be a mapping"):
        transfer([word_corpus(), noise_corpus()], "bow")


def test_the_diagonal_is_not_tested_on_training_data():
    # Texts without a pattern: tested on its own training data, a word model scores 1.000.
    result = transfer({"noise": noise_corpus(), "words": word_corpus()}, "bow", k=4)
    assert result.cells["noise"]["noise"].value < 0.75
    assert result.designs["noise"] == "4 folds"


def test_a_copy_of_a_corpus_is_refused():
    copy = [replace(e, id=f"copy-{e.id}") for e in noise_corpus()]
    with pytest.raises(DataError, match="a copy cannot be a test"):
        transfer({"one": noise_corpus(), "copy": copy}, "bow")


def test_a_corpus_with_part_of_a_copy_is_tested_on_the_rest():
    rows = noise_corpus()
    near = [replace(e, id=f"copy-{e.id}", response=Turn("", e.response.text.upper() + "!!")) for e in rows[:40]]
    rest = noise_corpus(140)[80:]
    result = transfer({"one": rows, "other": [*near, *rest]}, "bow", k=3)
    assert result.duplicates == {"one": 0, "other": 40}
    assert result.sizes["other"] == 60
    assert result.cells["one"]["other"].value < 0.75
    assert "other 40" in str(result)


def test_published_splits_stay_apart(tmp_path):
    rows = [replace(e, split="test" if n % 4 == 0 else "train") for n, e in enumerate(noise_corpus())]
    result = transfer({"noise": rows, "words": word_corpus()}, "bow", k=3)
    assert result.designs["noise"] == "test split"
    assert result.cells["noise"]["noise"].n == result.cells["words"]["noise"].n == 20
    result.write(tmp_path)
    for name in ("transfer.json", "report.html", "manifest.json"):
        assert (tmp_path / name).is_file()


def test_large_corpora_are_sampled():
    result = transfer({"a": word_corpus(), "b": noise_corpus()}, "bow", k=2, at_most=30)
    assert result.sizes == {"a": 30, "b": 30}


def test_one_model_for_all_is_tested_on_what_it_has_not_seen(tmp_path):
    corpora = {"noise": noise_corpus(), "sure": word_corpus("sure"), "oh": word_corpus("oh")}
    result = transfer(corpora, "bow", k=3, together=True)
    assert result.together["noise"].value < 0.75  # tested on its training data, a word model scores 1.000
    assert min(result.together["sure"].value, result.together["oh"].value) > 0.9
    assert result.together["oh"].value > result.cells["sure"]["oh"].value
    assert result.as_dict()["together"]["oh"]["value"] == result.together["oh"].value
    assert "train on all" in str(result)
    result.write(tmp_path)
    assert "train on all" in (tmp_path / "report.html").read_text("utf-8")
    assert transfer(corpora, "bow", k=3).together == {}


def test_one_model_for_all_keeps_a_test_split_apart():
    rows = [replace(e, split="test" if n % 4 == 0 else "train") for n, e in enumerate(noise_corpus())]
    result = transfer({"noise": rows, "words": word_corpus()}, "bow", k=3, together=True)
    assert result.together["noise"].n == 20 and result.together["noise"].value < 0.9
    assert result.together["words"].n == len(word_corpus())
