"""classify_categories: one detector per kind, exclusive or not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deadpan.detect.card import top_features
from deadpan.detect.detector import Detector
from deadpan.detect.explanation import answer_text
from deadpan.detect.studies.categories import classify_categories
from deadpan.errors import DataError
from deadpan.records import Example, Turn
from deadpan.storage import read_json
from detect_corpus import word_corpus


def kinds_corpus(exclusive: bool) -> list[Example]:
    rows = []
    for number, example in enumerate(word_corpus("sure", 90)):
        kind = ("satire", "irony", "")[number % 3]
        kinds = (kind,) if kind else ()
        if not exclusive and number % 6 == 0:
            kinds = ("irony", "satire")
        text = f"{example.response.text} {' '.join(f'{name}ish' for name in kinds)}"
        rows.append(replace(example, response=Turn("", text), categories=kinds, label=bool(kinds)))
    return rows


@pytest.mark.parametrize("exclusive", [True, False])
def test_kinds_are_told_apart(exclusive):
    result = classify_categories(kinds_corpus(exclusive), "bow", k=3)
    assert result.exclusive is exclusive
    assert result.macro_f1() > 0.9
    assert result.interval().low <= result.macro_f1() <= result.interval().high
    assert max(result.constant_f1().values()) < 0.7
    if exclusive:
        assert (result.answers.sum(axis=1) == 1).all()
    with pytest.raises(DataError, match="categories"):
        classify_categories(word_corpus(), "bow")


def test_a_published_test_split_is_what_is_tested():
    rows = [replace(e, split="test" if int(e.group) % 3 == 0 else "train") for e in kinds_corpus(True)]
    result = classify_categories(rows, "bow")
    assert len(result.truth) == sum(e.split == "test" for e in rows)


def test_detectors_that_are_kept_are_saved_one_folder_per_kind(tmp_path):
    rows = kinds_corpus(False)
    assert not classify_categories(rows, "bow", k=3).detectors
    result = classify_categories(rows, "bow", k=3, keep=True)
    result.write(tmp_path)
    state = read_json(tmp_path / "categories.json")
    assert state["models"] == {"irony": "models/irony", "satire": "models/satire"}
    loaded = Detector.load(tmp_path / "models" / "irony")
    answers = loaded.predict([e.response.text for e in rows])
    assert sum(answer == ("irony" in e.categories) for answer, e in zip(answers, rows, strict=True)) > 80


def test_a_test_split_is_not_trained_on_for_the_kept_detectors():
    rows = [replace(e, split="test" if int(e.group) % 3 == 0 else "train") for e in kinds_corpus(False)]
    kept = classify_categories(rows, "bow", keep=True).detectors["irony"]
    assert len(kept.seen_) <= sum(e.split == "train" for e in rows)


def test_a_detector_of_one_kind_names_it_in_its_answers(tmp_path):
    classify_categories(kinds_corpus(False), "bow", k=3, keep=True).write(tmp_path)
    model = str(tmp_path / "models" / "satire")
    assert Detector.load(model).category == "satire"
    for text, word in (("red green satireish", "satire"), ("red green today", "not satire")):
        answer = answer_text(text, detector=model)
        assert answer.answer == answer.as_dict()["answer"] == word
        assert str(answer).startswith(word) and "sarcas" not in str(answer)
        why = answer_text(text, detector=model, in_detail=True)
        assert why.as_dict()["answer"] == word and "sarcas" not in str(why)
    why.write_page(tmp_path / "why.html")
    page = (tmp_path / "why.html").read_text(encoding="utf-8")
    assert "not satire" in page and "▲ satire" in page and "▲ sarcastic" not in page
    assert "satire" in str(top_features(model, 3)) and "sarcastic" not in str(top_features(model, 3))
    assert Detector("bow").fit(word_corpus()).category == ""
