"""Designs: published splits are honoured, copies never cross from training to test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deadpan.detect.studies.design import divide, published_splits
from deadpan.errors import DataError
from deadpan.records import Example, Turn
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


def test_copies_of_a_published_test_text_are_excluded_from_training():
    rows = with_splits(word_corpus())
    test = next(e for e in rows if e.split == "test")
    leak = replace(test, id="leak", split="train")
    design = divide([*rows, leak])
    assert "leak" not in {e.id for e in design.folds[0].train}
    assert design.duplicates == 1


def test_training_texts_that_are_all_tested_are_named_as_the_reason():
    rows = word_corpus()
    parts = [replace(e, id=f"train/{e.id}", split="train") for e in rows] + [
        replace(e, split="test") for e in rows
    ]
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


def test_additional_rows_get_ids_of_their_own():
    more = [
        replace(e, response=Turn("", f"quite another {n * 7919}")) for n, e in enumerate(noise_corpus(10))
    ]
    design = divide(noise_corpus(10), k=2, also=more)
    for fold in design.folds:
        ids = [e.id for e in fold.train]
        assert len(ids) == len(set(ids))


def test_examples_without_a_label_are_no_study():
    with pytest.raises(DataError, match="labelled examples"):
        divide([replace(e, label=None) for e in word_corpus()])
