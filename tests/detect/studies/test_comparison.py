"""compare_systems: the same folds for all, a winner only where it is significant."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.studies.ablation import ablate
from deadpan.detect.studies.comparison import BEST, HIGHEST, LOWEST, compare_systems, suitable_metrics
from deadpan.detect.studies.transfer import transfer
from deadpan.errors import ConfigError
from deadpan.records import Turn
from detect_corpus import noise_corpus, word_corpus


def test_systems_are_ordered_and_a_significant_winner_is_named():
    result = compare_systems(word_corpus(), ["random", "bow"], k=3, seeds=[0, 1])
    assert [row.system for row in result.rows] == ["bow", "random"]
    assert result.rows[0].verdict == BEST
    assert result.rows[1].verdict.startswith("significantly worse")
    assert "bow does best" in result.headline()
    assert result.rows[1].over_seeds[result.metric][1] > 0
    assert result.rows[0].over_seeds[result.metric][1] == 0


def test_no_winner_is_declared_on_a_handful_of_rows():
    few = [replace(e, id=f"few-{e.id}", split="test") for e in word_corpus()[:8]]
    train = [replace(e, split="train") for e in word_corpus()[8:]]
    result = compare_systems([*train, *few], ["bow", "majority"], metric="accuracy")
    assert result.rows[0].verdict != BEST
    assert result.rows[1].verdict.startswith("not settled (4 clusters are too few)")
    assert "does best" not in result.headline()


def test_rows_repeated_twenty_times_prove_no_more_than_once():
    rows = [replace(e, id=f"{e.id}/{n}", group="") for n in range(20) for e in word_corpus()[:8]]
    result = compare_systems(rows, ["bow", "random"], k=3)
    assert result.n == 160
    assert "8 clusters are too few" in str(result) and "152 of 160 rows are copies" in str(result)
    assert result.rows[0].verdict != BEST


def test_no_winner_is_declared_without_significance(tmp_path):
    result = compare_systems(noise_corpus(), ["bow", "bigrams"], k=3)
    assert result.rows[0].verdict == HIGHEST
    assert result.rows[1].verdict.startswith("not significantly different")
    result.write(tmp_path)
    assert "does best" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No system is significantly better" in str(result)


def test_what_is_not_better_than_a_constant_answer_does_not_do_best():
    rows = [replace(e, label=n % 5 == 0) for n, e in enumerate(noise_corpus(400))]
    result = compare_systems(rows, ["random", "majority"], k=3, metric="f1")
    assert result.rows[1].verdict.startswith("significantly worse")
    assert result.rows[0].scores["f1"].value < result.baseline["f1"]
    assert result.rows[0].verdict == HIGHEST
    assert result.headline().startswith("No system is significantly better than a constant answer on")


def test_by_a_score_of_errors_the_lowest_is_first(tmp_path):
    result = compare_systems(word_corpus(), ["random", "bow"], k=3, metric="brier")
    assert [row.system for row in result.rows] == ["bow", "random"]
    assert result.rows[0].scores["brier"].value < result.rows[1].scores["brier"].value
    assert result.rows[0].verdict == BEST and "bow does best" in result.headline()
    assert "lower is better" in str(result)
    result.write(tmp_path)
    assert "lowest brier first" in (tmp_path / "report.html").read_text(encoding="utf-8")
    noise = compare_systems(noise_corpus(), ["random", "bow"], k=3, metric="brier")
    assert noise.rows[0].verdict == LOWEST
    assert noise.headline().startswith("No system is significantly better than a constant answer")


def never_train(monkeypatch):
    def fit(*_, **__):
        raise AssertionError("trained before the metric was checked")

    monkeypatch.setattr(Detector, "fit", fit)


@pytest.mark.parametrize("metric", ["pair_accuracy", "sequence_f1"])
def test_a_metric_that_the_data_do_not_allow_is_refused_before_training(monkeypatch, metric):
    never_train(monkeypatch)
    said = rf"{metric} cannot be computed \(.*no example has a sequence\): choose from accuracy, balanced"
    with pytest.raises(ConfigError, match=said) as wrong:
        compare_systems(word_corpus(), ["bow", "random"], k=3, metric=metric)
    assert "sequence_" not in str(wrong.value).partition("choose from")[2]
    with pytest.raises(ConfigError, match=said):
        ablate(word_corpus(), "bow", turns=[0, 1], k=3, metric=metric)
    with pytest.raises(ConfigError, match=f"b: {said}"):
        paired = [replace(e, sequence=e.group) for e in word_corpus("oh")]
        transfer({"a": paired, "b": noise_corpus()}, "bow", k=3, metric=metric)


def test_sequences_that_are_not_pairs_have_no_pair_accuracy(monkeypatch):
    never_train(monkeypatch)
    rows = [replace(e, sequence=str(n // 3), group="") for n, e in enumerate(word_corpus())]
    with pytest.raises(ConfigError, match="20 of 20 sequences do not have one response of each label"):
        compare_systems(rows, ["bow", "random"], k=3, metric="pair_accuracy")


def test_pairs_beside_other_examples_are_scored_per_topic():
    paired = [replace(e, sequence=e.group) for e in word_corpus("oh")]
    alone = [replace(e, meta={"topic": "alone"}) for e in noise_corpus(20)]
    result = ablate([*paired, *alone], "bow", turns=[0], by="topic", k=3, metric="pair_accuracy")
    assert result.scores["alone"].value is None and "no sequences" in str(result)


def test_a_constant_answer_and_auc_are_in_the_table():
    result = compare_systems(word_corpus(), ["bow"], k=3)
    assert result.summary().tables[0].rows[-1][0] == "constant answer"
    assert "auc" in result.summary().tables[1].columns
    assert result.baseline["accuracy"] == 0.5


def test_the_published_test_split_is_what_systems_are_tested_on():
    rows = [replace(e, split="test" if int(e.group) % 3 == 0 else "train") for e in word_corpus()]
    result = compare_systems(rows, ["bow", "majority"])
    assert result.n == sum(e.split == "test" for e in rows)
    assert compare_systems(rows, ["bow", "majority"], pool=True, k=3).n == len(rows)


def test_a_row_may_have_a_name_of_its_own():
    result = compare_systems(word_corpus(), {"short": {"system": "bow", "turns": 0}, "bow": {"turns": 1}}, k=3)
    assert {row.system for row in result.rows} == {"short", "bow"}
    with pytest.raises(ConfigError, match="a list of names"):
        compare_systems(word_corpus(), "bow")


def test_a_blend_of_finished_trials_leans_on_the_better_one():
    result = compare_systems(word_corpus(), ["random", "bow"], k=3, blend=True)
    scores = {row.system: row.scores[result.metric].value for row in result.rows}
    assert scores["all, blended"] > scores["random"] + 0.2


def test_the_metric_suits_the_data():
    assert suitable_metrics([replace(e, sequence=e.group) for e in word_corpus()])[0] == "pair_accuracy"
    assert suitable_metrics(word_corpus())[0] == "balanced_accuracy"
    assert suitable_metrics([e for at, e in enumerate(word_corpus()) if e.label or at % 8 == 0])[0] == "f1"


def test_a_published_test_split_has_no_say_in_the_weights_of_a_blend():
    train = [replace(e, split="train") for e in word_corpus()]
    test = [replace(e, id=f"t{e.id}", group=f"t{e.group}", split="test",
                    response=Turn("B", f"{e.response.text} again")) for e in word_corpus()[:20]]  # fmt: skip
    flipped = [replace(e, label=not e.label) for e in test]
    honest, against = (compare_systems([*train, *rows], ["bow", "cues"], blend=True) for rows in (test, flipped))
    scores = [
        {row.system: [p.score for p in row.predictions] for row in table.rows}["all, blended"]
        for table in (honest, against)
    ]
    assert scores[0] == scores[1]
