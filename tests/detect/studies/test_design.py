"""Designs: published splits are honoured, copies never cross from training to test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deadpan.detect.studies.design import cross_validate, divide, published_splits
from deadpan.errors import DataError
from deadpan.records import Example, Turn
from deadpan.splits import folds
from detect_corpus import noise_corpus, word_corpus


def with_splits(examples: list[Example]) -> list[Example]:
    names = ("train", "train", "train", "dev", "test")
    return [replace(e, split=names[int(e.group) % 5]) for e in examples]


def test_folds_test_every_example_once():
    design = divide(word_corpus(), k=3)
    assert sorted(e.id for fold in design.folds for e in fold.test) == sorted(e.id for e in word_corpus())
    for fold in design.folds:
        assert not {e.group for e in fold.train} & {e.group for e in fold.test}
    assert (design.published, design.duplicates, design.describe()) == (False, 0, "3 folds")


def test_published_splits_are_honoured_unless_pooled():
    rows = with_splits(word_corpus())
    design = divide(rows, k=3)
    ((fold),) = design.folds
    assert {e.split for e in fold.train} == {"train", "dev"}
    assert {e.split for e in fold.test} == {e.split for e in design.tested} == {"test"}
    # The rows may be anybody's: whether the splits are published is not known.
    assert design.describe() == "test split"
    assert design.notes() == ["Trained on the training part (and dev, if any), tested on the test part."]
    pooled = divide(rows, k=3, pool=True)
    assert (pooled.published, len(pooled.tested)) == (False, len(rows))
    assert published_splits([replace(e, split="dev") for e in rows]) is None


def test_copies_do_not_cross_folds():
    rows = noise_corpus()
    copies = [replace(e, id=f"copy-{e.id}", group=f"copy-{e.group}") for e in rows[:30]]
    shouted = [replace(e, response=Turn("", e.response.text.upper() + "!")) for e in copies]
    design = divide([*rows, *shouted], k=4)
    for fold in design.folds:
        tested = {e.response.text.lower().strip("!") for e in fold.test}
        assert not tested & {e.response.text.lower().strip("!") for e in fold.train}
    assert design.duplicates > 0
    assert any(str(design.duplicates) in note for note in design.notes())


def copied(rows: list[Example], times: int) -> list[Example]:
    return [replace(e, id=f"{e.id}/{n}", group="") for n in range(times) for e in rows]


def test_copies_stay_in_one_fold_where_excluding_them_would_leave_little():
    rows = copied(noise_corpus(12), 20)
    design = divide(rows, k=3)
    assert sorted(e.id for fold in design.folds for e in fold.test) == sorted(e.id for e in rows)
    for fold in design.folds:
        assert len(fold.train) + len(fold.test) == len(rows)
        assert not {e.response.text for e in fold.train} & {e.response.text for e in fold.test}
        assert {e.label for e in fold.train} == {True, False}
        assert {e.group for e in fold.train} == {""}
    assert design.as_dict()["copies"] == 228
    assert any("228 of 240 rows are copies" in note and "datasets clean" in note for note in design.notes())
    with pytest.raises(DataError, match="5 folds need at least 5 different texts, but there are 3"):
        divide(copied(noise_corpus(3), 20), k=5)


@pytest.mark.parametrize("rows", [word_corpus(), noise_corpus(), copied(noise_corpus(40), 2)])
def test_folds_are_those_of_the_ids_unless_copies_are_most_of_the_data(rows):
    design = divide(rows, k=4)
    assert [[e.id for e in fold.test] for fold in design.folds] == [
        [e.id for e in fold.test] for fold in folds(rows, 4, seed=0)
    ]
    assert design.as_dict()["copies"] == 0


def test_copies_of_a_published_test_text_are_excluded_from_training():
    rows = with_splits(word_corpus())
    test = next(e for e in rows if e.split == "test")
    leak = replace(test, id="leak", split="train")
    design = divide([*rows, leak])
    assert "leak" not in {e.id for e in design.folds[0].train}
    assert design.duplicates == 1


def test_training_texts_that_are_all_tested_are_named_as_the_reason():
    rows = word_corpus()
    parts = [replace(e, id=f"train/{e.id}", split="train") for e in rows] + [replace(e, split="test") for e in rows]
    with pytest.raises(DataError, match=rf"each of the {len(rows)} training texts is also tested"):
        divide(parts)


def test_additional_data_comes_without_duplicates_and_without_its_test_split():
    rows = noise_corpus(40)
    more = noise_corpus(60)[40:]  # the same ids would be refused, so they are renamed
    copies = [replace(e, id=f"{e.id}-copy") for e in rows[:5]]
    secret = [replace(e, id=f"{e.id}-secret", split="test") for e in noise_corpus(70)[60:]]
    design = divide(rows, k=2, also=[*more, *copies, *secret])
    assert (design.also, design.also_duplicates, design.also_test) == (20, 5, 10)
    for fold in design.folds:
        ids = {e.id for e in fold.train}
        assert {e.id for e in more} <= ids
        assert not any("copy" in name or "secret" in name for name in ids)


def test_additional_data_named_twice_is_learnt_from_once():
    rows, more = noise_corpus(40), noise_corpus(60)[40:]
    once, twice = (divide(rows, k=2, also=also) for also in (more, [*more, *more]))
    assert [fold.train for fold in twice.folds] == [fold.train for fold in once.folds]
    assert (once.also_duplicates, twice.also, twice.also_duplicates) == (0, 20, 20)


def test_additional_rows_get_ids_of_their_own():
    more = [replace(e, response=Turn("", f"quite another {n * 7919}")) for n, e in enumerate(noise_corpus(10))]
    design = divide(noise_corpus(10), k=2, also=more)
    for fold in design.folds:
        ids = [e.id for e in fold.train]
        assert len(ids) == len(set(ids))


def test_examples_without_a_label_are_no_study():
    with pytest.raises(DataError, match="labelled examples"):
        divide([replace(e, label=None) for e in word_corpus()])


def test_every_example_is_predicted_once_by_a_model_not_trained_on_it():
    trial = cross_validate("bow", word_corpus(), k=3, threshold="balanced")
    assert [p.example_id for p in trial.predictions] == [e.id for e in word_corpus()]
    assert np.mean([p.label == e.label for p, e in zip(trial.predictions, word_corpus(), strict=True)]) > 0.9
    assert len(trial.thresholds) == 3
    assert trial.cost()["fit_seconds"] > 0


def test_noise_scores_near_chance():
    rows = noise_corpus()
    trial = cross_validate("bow", rows, k=4)
    assert np.mean([p.label == e.label for p, e in zip(trial.predictions, rows, strict=True)]) < 0.75
