"""Average precision and the best F1 agree with scikit-learn; constant and wild answers are warned of."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import average_precision_score, precision_recall_curve

from deadpan.detect.detector import Detector
from deadpan.detect.studies.comparison import compare_systems
from deadpan.detect.studies.evaluation import evaluate
from deadpan.detect.studies.hindsight import average_precision, best_f1, ranking_scores, rate_warnings
from deadpan.records import Prediction
from detect_corpus import noise_corpus, word_corpus


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
