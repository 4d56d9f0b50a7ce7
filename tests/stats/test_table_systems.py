"""Systems scored and compared on the same examples."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction, Turn
from deadpan.stats import compare_predictions, holm, score_systems, wilson


def examples(n: int, group_size: int = 1) -> list[Example]:
    return [
        Example(id=str(at), response=Turn("", "sure"), label=at % 2 == 0, group=f"g{at // group_size}")
        for at in range(n)
    ]


def system(of: list[Example], share_right: float, seed: int) -> list[Prediction]:
    rng = random.Random(seed)
    return [Prediction(e.id, bool(e.label) == (rng.random() < share_right)) for e in of]


def test_a_better_system_is_found_and_an_equal_one_is_not() -> None:
    data = examples(400)
    good, same, bad = (system(data, share, seed) for share, seed in [(0.9, 1), (0.9, 2), (0.7, 3)])
    rows = compare_predictions(data, {"good": good, "same": same, "bad": bad})
    assert [(row.first, row.second) for row in rows] == [("good", "same"), ("good", "bad"), ("same", "bad")]
    equal, better, _ = rows
    assert equal.p is not None and equal.p > 0.05
    assert better.difference.value is not None and better.difference.low is not None
    assert better.difference.value == pytest.approx(0.2, abs=0.07)
    assert better.difference.low > 0
    assert better.p is not None and better.p < 0.01
    assert [row.p_holm for row in rows] == holm([row.p or 0.0 for row in rows])
    assert better.as_dict()["first"] == "good" and better.verdict == "good is better"


def test_the_same_predictions_differ_by_nothing() -> None:
    data = examples(40)
    (row,) = compare_predictions(data, {"a": system(data, 0.8, 1), "b": system(data, 0.8, 1)}, metric="f1")
    assert (row.difference.value, row.p) == (0, 1)
    assert row.difference.low is not None and row.difference.high is not None
    assert row.difference.low == -row.difference.high < 0, "no zero width: 40 items do not prove equality"


def test_swapping_the_systems_swaps_the_sign() -> None:
    data = examples(60)
    one, other = system(data, 0.9, 1), system(data, 0.6, 2)
    (forth,) = compare_predictions(data, {"a": one, "b": other}, metric="macro_f1")
    (back,) = compare_predictions(data, {"b": other, "a": one}, metric="macro_f1")
    assert forth.difference.value == pytest.approx(-(back.difference.value or 0))
    assert forth.p == pytest.approx(back.p) and (forth.p or 1) < 0.02
    assert forth.verdict == back.verdict == "a is better"


def test_pairing_makes_the_interval_narrow_and_groups_make_it_wide() -> None:
    single, grouped = examples(300), examples(300, group_size=30)
    base = system(single, 0.7, 1)
    # Better on whole stretches of thirty: six of ten groups.
    better = [
        Prediction(p.example_id, e.label if (at // 30) % 5 < 3 and at % 4 == 0 else p.label)
        for at, (p, e) in enumerate(zip(base, single, strict=True))
    ]
    (by_row,) = compare_predictions(single, {"better": better, "base": base})
    (by_group,) = compare_predictions(grouped, {"better": better, "base": base})
    assert by_row.difference.value == by_group.difference.value

    def width(low: float | None, high: float | None) -> float:
        assert low is not None and high is not None
        return high - low

    assert width(by_group.difference.low, by_group.difference.high) > 1.2 * width(
        by_row.difference.low, by_row.difference.high
    )
    # Unpaired, the difference of two proportions near 0.7 on 300 rows would be about 0.15 wide.
    assert width(by_row.difference.low, by_row.difference.high) < 0.08


@pytest.mark.parametrize(("n", "group_size", "settled"), [(9, 1, False), (10, 1, True), (90, 10, False)])
def test_nothing_is_significant_with_fewer_than_ten_clusters(n: int, group_size: int, settled: bool) -> None:
    data = examples(n, group_size)
    systems = {"right": system(data, 1, 0), "wrong": system(data, 0, 0)}
    found = compare_predictions(data, systems)
    (row,) = found
    assert row.p is not None and row.p < 0.05
    assert (row.significant, row.as_dict()["significant"]) == (settled, settled)
    for text in (" ".join(str(found).split()), " ".join(str(score_systems(data, systems)).split())):
        assert ("not settled (9 " in text) is not settled


def test_what_cannot_be_compared_says_why() -> None:
    data = examples(4)
    two = {"a": system(data, 1, 0), "b": system(data, 0, 0)}
    (row,) = compare_predictions(data, two, metric="pair_accuracy")
    assert (row.difference.value, row.difference.why, row.p, row.p_holm) == (None, "no sequences", None, None)
    assert not row.significant and row.verdict == "undefined (no sequences)"
    one_class = [e for e in data if e.label]
    said = {name: [p for p in some if p.example_id in {e.id for e in one_class}] for name, some in two.items()}
    (row,) = compare_predictions(one_class, said, metric="balanced_accuracy")
    assert row.difference.why == "only one class in the truth" and row.p is None
    scored = [Prediction(e.id, e.label, 0.5) for e in data]
    for order in ({"a": scored, "b": two["b"]}, {"a": two["a"], "b": scored}):
        (row,) = compare_predictions(data, order, metric="brier")
        assert row.difference.why == "no prediction has a score"
    (row,) = compare_predictions(examples(4, group_size=4), two)
    assert (row.difference.value, row.difference.low, row.p) == (1.0, None, None)
    with pytest.raises(ConfigError, match="did you mean 'accuracy'"):
        compare_predictions(data, two, metric="acuracy")
    with pytest.raises(ConfigError, match="at least two systems: got 1"):
        compare_predictions(data, {"a": two["a"]})


def test_one_system_always_right_and_one_always_wrong() -> None:
    """No cluster differs from another: the interval is Wilson's, stretched to differences from -1 to 1."""
    data = examples(10)
    right, wrong = system(data, 1, 0), system(data, 0, 0)
    share = wilson(0, 10).high or 0.0
    (row,) = compare_predictions(data, {"right": right, "wrong": wrong})
    assert (row.difference.low, row.difference.high) == pytest.approx((1 - 2 * share, 1))
    assert "difference of accuracy" in row.summary().tables[0].columns
    (row,) = compare_predictions(data, {"wrong": wrong, "right": right})
    assert (row.difference.low, row.difference.high) == pytest.approx((-1, -1 + 2 * share))
    assert row.verdict == "right is better"


def test_systems_can_be_compared_by_auc_as_delong_would():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2 == 0
    rows = [Example(str(at), Turn("", f"text {at}"), label=bool(label)) for at, label in enumerate(truth)]
    good, bad = (np.clip(0.5 + gain * (truth - 0.5) + rng.normal(0, 0.2, 200), 0, 1) for gain in (0.5, 0.1))
    answers = {
        name: [Prediction(str(at), bool(s > 0.5), float(s)) for at, s in enumerate(scores)]
        for name, scores in (("good", good), ("bad", bad))
    }
    (pair,) = compare_predictions(rows, answers, metric="auc")
    expected = roc_auc_score(truth, good) - roc_auc_score(truth, bad)
    assert pair.difference.value == pytest.approx(expected)
    assert pair.significant and pair.difference.low > 0.1
    assert pair.difference.high - pair.difference.low == pytest.approx(2 * 1.96 * _delong(truth, good, bad), rel=0.05)


def _delong(truth, one, other):
    """Return the standard error of the difference of two correlated AUCs."""
    parts = []
    for scores in (one, other):
        higher = (scores[truth][:, None] > scores[~truth]) + 0.5 * (scores[truth][:, None] == scores[~truth])
        parts.append((higher.mean(axis=1), higher.mean(axis=0)))
    return np.sqrt(sum(np.var(parts[0][k] - parts[1][k], ddof=1) / len(parts[0][k]) for k in (0, 1)))
