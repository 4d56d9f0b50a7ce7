"""evaluate: nothing that was trained on is scored, whole pairs go, a constant answer stands beside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve

from deadpan.detect.detector import Detector
from deadpan.detect.studies.comparison import compare_systems
from deadpan.detect.studies.evaluation import (
    average_precision,
    best_f1,
    evaluate,
    pick_one,
    ranking_scores,
    rate_warnings,
    without_seen,
)
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction, Turn
from detect_corpus import noise_corpus, word_corpus


def pairs(count: int = 60) -> list[Example]:
    return [replace(e, sequence=f"pair-{e.group}") for e in word_corpus(count=count)]


def test_training_data_is_never_scored():
    detector = Detector("bow").fit(noise_corpus())
    with pytest.raises(ConfigError, match="not seen in training"):
        evaluate(detector, noise_corpus())
    result = evaluate(detector, noise_corpus(), keep_seen=True)
    assert result.table.scores["accuracy"].value > 0.95  # the lie that the guard prevents
    fresh = evaluate(detector, noise_corpus(200))
    assert (fresh.seen, fresh.table.n) == (80, 120)
    assert fresh.table.scores["accuracy"].value < 0.7


def test_a_model_saved_from_python_remembers_what_it_was_trained_on(tmp_path):
    Detector("bow").fit(word_corpus()).save(tmp_path)
    with pytest.raises(ConfigError, match="not seen in training"):
        evaluate(tmp_path, word_corpus())
    with pytest.raises(ConfigError, match="not seen in training"):
        evaluate(str(tmp_path), [replace(e, response=Turn("", e.response.text.upper())) for e in word_corpus()])


def test_a_seen_text_takes_its_whole_pair_with_it():
    rows = pairs()
    seen = [e for e in rows if e.label][:10]
    detector = Detector("bow").fit([*seen, *noise_corpus(20)])
    result = evaluate(detector, rows)
    assert (result.seen, result.torn, result.table.n) == (10, 10, 40)
    assert result.table.scores["pair_accuracy"].value is not None
    kept, n_seen, n_torn = without_seen(detector.seen_, rows)
    assert (len(kept), n_seen, n_torn) == (40, 10, 10)
    assert not {e.sequence for e in kept} & {e.sequence for e in seen}


def test_the_published_test_split_is_scored_unless_pooled():
    rows = [replace(e, split="test" if int(e.group) % 3 == 0 else "train") for e in noise_corpus_with_groups()]
    detector = Detector("bow").fit(word_corpus())
    result = evaluate(detector, rows)
    assert result.table.n == sum(e.split == "test" for e in rows)
    assert result.design == "test split"
    assert evaluate(detector, rows, pool=True).table.n == len(rows)


def noise_corpus_with_groups() -> list[Example]:
    return [replace(e, group=str(number)) for number, e in enumerate(noise_corpus())]


@pytest.mark.parametrize(("threshold", "n"), [("f1", 64), ("balanced", 64), (0.3, 80)])
def test_a_threshold_is_chosen_on_examples_that_are_then_not_scored(threshold, n):
    detector = Detector("bow").fit(word_corpus())
    result = evaluate(detector, noise_corpus(), threshold=threshold)
    assert result.table.n == n
    assert len(result.predictions) == n


def test_a_dev_split_is_what_a_threshold_is_chosen_on():
    rows = [replace(e, split="dev" if n < 20 else "test") for n, e in enumerate(noise_corpus())]
    detector = Detector("bow").fit(word_corpus())
    result = evaluate(detector, rows, threshold="f1")
    assert {p.example_id for p in result.predictions} == {e.id for e in rows[20:]}


def test_auc_and_a_constant_answer_stand_beside_the_scores(tmp_path):
    rare = [e for n, e in enumerate(word_corpus("oh", 100)) if not e.label or n % 10 == 1]
    detector = Detector("bow").fit(word_corpus())
    result = evaluate(detector, rare)
    scored = {p.example_id for p in result.predictions}
    share = sum(bool(e.label) for e in rare if e.id in scored) / len(scored)
    assert result.baseline["accuracy"] == pytest.approx(1 - share)
    assert result.baseline["f1"] == pytest.approx(2 * share / (1 + share))
    assert result.baseline["auc"] == 0.5
    assert 0 <= result.table.scores["auc"].value <= 1
    assert "constant answer" in str(result)
    result.write(tmp_path)
    for name in ("predictions.jsonl", "scores.json", "report.html", "manifest.json"):
        assert (tmp_path / name).is_file()


def test_a_model_that_does_not_know_its_training_texts_says_so():
    detector = Detector("bow").fit(word_corpus())
    detector.seen_ = None
    assert "does not record its training texts" in str(evaluate(detector, word_corpus()))


def test_of_a_pair_exactly_one_is_picked():
    rows = [Example(str(n), Turn("", "x"), sequence="p" if n < 2 else "") for n in range(3)]
    answers = [Prediction("0", True, 0.9), Prediction("1", True, 0.8), Prediction("2", True, 0.7)]
    assert [p.label for p in pick_one(rows, answers)] == [True, False, True]


def test_wrong_arguments_are_errors_with_the_cure():
    detector = Detector("bow").fit(word_corpus())
    for wrong in (["a text"], "a text", 5):
        with pytest.raises(DataError, match="read_dataset"):
            evaluate(detector, wrong)


def test_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.2
    scores = np.round(truth * 0.2 + rng.random(300), 2)  # ties
    assert np.isclose(average_precision(truth, scores), average_precision_score(truth, scores))
    precision, recall, _ = precision_recall_curve(truth, scores)
    assert np.isclose(best_f1(truth, scores), (2 * precision * recall / (precision + recall + 1e-12)).max())


def answers(share: float) -> list[Prediction]:
    return [Prediction(str(n), n < 100 * share, 0.5) for n in range(100)]


def test_constant_and_wild_answers_are_warned_of():
    assert "constant answer" in rate_warnings(answers(1.0), 0.2)[0]
    assert "constant answer" in rate_warnings(answers(0.0), None)[0]
    assert "80% are called sarcastic where 20%" in rate_warnings(answers(0.8), 0.2)[0]
    assert rate_warnings(answers(0.3), 0.2) == () == rate_warnings(answers(0.6), 0.5)


def test_no_constant_row_stands_in_a_table_without_a_warning():
    table = compare_systems(word_corpus(), ["majority", "bow"], k=3)
    told = {row.system: row.warnings for row in table.rows}
    assert "constant answer" in told["majority"][0] and not told["bow"]
    assert "Warning, majority" in str(table) and "best F1" in str(table)


def test_an_evaluation_says_what_its_scores_could_reach():
    result = evaluate(Detector("bow").fit(word_corpus()), noise_corpus(), prevalence=0.01)
    assert set(result.ranking) == {"average_precision", "best_f1"}
    assert "Warning" in str(result)
    assert ranking_scores([], []) == {}


def long_texts(count: int, start: int = 0) -> list[Example]:
    words = [
        "river",
        "lamp",
        "stone",
        "cloud",
        "paper",
        "window",
        "garden",
        "signal",
        "bottle",
        "carpet",
        "mirror",
        "ticket",
    ]
    rows = []
    for number in range(start, start + count):
        mine = [words[(number * 7 + at * (number % 5 + 1)) % len(words)] + str(number % (at + 3)) for at in range(10)]
        rows.append(Example(f"e{number}", Turn("", f"{' '.join(mine)} number {number}"), label=number % 2 == 0))
    return rows


def edited(example: Example, id_: str) -> Example:
    _, *rest = example.response.text.split()
    return replace(example, id=id_, response=Turn("", " ".join([*rest, "banana"])))


def test_near_copies_of_training_texts_are_excluded_after_saving_too(tmp_path):
    train, test = long_texts(40), long_texts(40, 1000)
    planted = [*test, *(replace(e, id=f"x{e.id}") for e in train[:10]), *(edited(e, f"n{e.id}") for e in train[10:20])]
    Detector("bow").fit(train).save(tmp_path)
    result = evaluate(tmp_path, planted)
    assert (result.seen, result.table.n) == (20, 40)
    split = [replace(e, split="train") for e in train] + [replace(e, split="test") for e in planted]
    assert compare_systems(split, ["majority"]).design.duplicates == 20


def test_rows_without_a_label_and_a_column_that_tells_it_are_said():
    rows = [replace(e, meta={"site": "a" if e.label else "b", "n": e.id}) for e in long_texts(40)]
    bare = [replace(e, label=None) for e in long_texts(5, 2000)]
    told = " ".join(str(evaluate(Detector("bow").fit(long_texts(40, 3000)), [*rows, *bare])).split())
    assert "5 of 45 rows have no label" in told
    assert "the column 'site' decides 100% of 40 labels" in told and "'n' decides" not in told
    notes = " ".join(compare_systems([*rows, *bare], ["majority"]).design.notes())
    assert "5 rows have no label" in notes and "'site'" in notes
