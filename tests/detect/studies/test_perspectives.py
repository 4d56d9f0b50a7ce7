"""Each rater's answer: raters who differ are told apart, raters who don't are not; distances as LeWiDi defines them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from deadpan.datasets import read_dataset
from deadpan.detect.studies.perspectives import (
    BOTH,
    COMMON,
    ERROR,
    MANHATTAN,
    OWN,
    TEXT,
    WASSERSTEIN,
    _Answers,
    _distances,
    study_raters,
    with_answers,
)
from deadpan.errors import DeadpanError
from deadpan.records import Example, Judgment, Turn


def rated(n: int, *, differ: bool, scale: int = 1) -> list[Example]:
    """Texts with a tone that all raters hear; if they differ, some go by it, others answer high or low."""
    rng = random.Random(4)
    rows = []
    for i in range(n):
        tone = rng.random()
        words = ["splendid" if tone > 0.5 else "cold", f"w{rng.randrange(40)}", f"v{rng.randrange(40)}"]
        answers = {}
        for rater in rng.sample([f"r{at}" for at in range(8)], 4):
            bias = (0.0, 0.6, -0.6)[int(rater[1]) % 3] if differ else 0.0
            heard = (0.75 if tone > 0.5 else 0.25) + bias + rng.gauss(0, 0.2)
            answers[rater] = round(min(max(heard, 0), 1) * scale)
        rows.append(Example(str(i), Turn("", " ".join(words)), meta={"answers": answers}))
    return rows


def test_raters_who_differ_are_told_apart() -> None:
    study = study_raters(rated(200, differ=True), "bow", k=2)
    error = {name: own[ERROR].value or 0.0 for name, own in study.scores.items()}
    assert error[BOTH] < error[OWN] < error[COMMON] and error[BOTH] < error[TEXT] - 0.05
    assert study.verdict.startswith("Knowing the rater helps bow")
    assert study.raters == 8 and study.new_raters == 0 and "error rate" in study.summary().text()


def test_raters_who_agree_gain_nothing_from_being_known() -> None:
    study = study_raters(rated(150, differ=False), "bow", k=2)
    assert "no significant difference" in study.verdict
    assert (study.scores[TEXT][ERROR].value or 1.0) < (study.scores[COMMON][ERROR].value or 0.0) - 0.1


def test_a_scale_is_predicted_step_by_step() -> None:
    study = study_raters(rated(120, differ=True, scale=3), "bow", k=2)
    assert study.scale == (0, 3) and "wasserstein" in study.summary().text()
    assert (study.scores[BOTH][WASSERSTEIN].value or 9.0) < (study.scores[COMMON][WASSERSTEIN].value or 0.0)


def test_distances_are_those_of_the_shared_task() -> None:
    answers = _Answers([Example("a", Turn("", "x"), meta={"answers": {"r": 1, "s": 1, "t": 4, "u": 6}})])
    own = np.array([[0.9, 0.6, 0.2, 0.1, 0.0]] * 4)  # predicted: above 1, 2, 3, 4 and 5
    found = _distances(answers, own, (1, 6))
    share, predicted = [0.5, 0, 0, 0.25, 0, 0.25], [0.1, 0.3, 0.4, 0.1, 0.1, 0.0]
    assert found[WASSERSTEIN][0] == pytest.approx(wasserstein_distance(range(6), range(6), share, predicted))
    assert found[MANHATTAN][0] == pytest.approx(sum(abs(a - b) for a, b in zip(share, predicted, strict=True)))
    assert found[ERROR][0] == pytest.approx((2 + 2 + 1 + 3) / 4 / 5)  # the median is 3


def lewidi(tmp_path: Path) -> Path:
    """A made-up MultiPICo of two parts, one with an answer missing and a tie."""
    for part, n in (("train", 60), ("test", 30)):
        items: dict[str, Any] = {}
        for at, row in enumerate(rated(n, differ=True)):
            given = {rater: str(value) for rater, value in row.meta["answers"].items()}
            text = {"post": f"{part} post {at}", "reply": f"{row.response.text} {part}{at}"}
            items[str(at)] = {"text": text, "annotations": given, "lang": "nl", "split": part}
        items["0"]["annotations"] = {"r1": "1", "r2": "0", "r3": "", "r4": 7}
        (tmp_path / f"MP_{part}.json").write_text(json.dumps(items), encoding="utf-8")
    return tmp_path


def test_multipico_is_read_with_every_raters_answer(tmp_path: Path) -> None:
    data = read_dataset("multipico", lewidi(tmp_path))
    first = data.examples[0]
    assert first.meta["answers"] == {"r1": 1, "r2": 0} and first.label is None and first.language == "nl"
    assert first.context[0].text == "train post 0" and data.tally.drops["no_answer"] == 4
    assert data.examples[1].label == (data.examples[1].meta["votes"] * 2 > data.examples[1].meta["voters"])


def test_the_command_uses_the_published_test_part(tmp_path: Path, deadpan: Any) -> None:
    ran = deadpan("detect", "soft-labels", "multipico", "--data-dir", lewidi(tmp_path), "--per-rater", "--system", "bow",
                  "--out", tmp_path / "out", "--json")  # fmt: skip
    assert ran.json["design"] == "test split" and ran.json["n_tested"] == 30
    assert set(ran.json["scores"]) == {COMMON, OWN, TEXT, BOTH}
    assert json.loads((tmp_path / "out" / "per-rater.json").read_text())["scale"] == [0, 1]


def test_answers_of_a_studio_export_are_words_or_numbers() -> None:
    rows = [Example(str(at), Turn("", "x")) for at in range(2)]
    said = [
        ("0", "a", "sarcasm", "yes"),
        ("0", "b", "sarcasm", "no"),
        ("1", "a", "sarcasm", "unsure"),
        ("1", "a", "why", "no"),
        ("1", "b", "why", "--1"),
        ("1", "c", "why", "9" * 5_000),
    ]
    judgments = [Judgment(item, who, question, answer, 1.0, "") for item, who, question, answer in said]
    assert [dict(e.meta) for e in with_answers(rows, judgments)] == [{"answers": {"a": 1, "b": 0}}, {}]


@pytest.mark.parametrize(("rows", "word"), [(rated(3, differ=False), "at least"), (rated(30, differ=False, scale=90), "a scale has")])  # fmt: skip
def test_too_few_texts_and_no_scale_are_one_line(rows: list[Example], word: str) -> None:
    with pytest.raises(DeadpanError, match=word):
        study_raters(rows, "bow", k=2)
