"""Scoring records: ids, unread answers, missing labels, sequences and groups."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import DataError
from deadpan.records import Example, Prediction, Turn
from deadpan.stats import SCORES, ScoreTable, score_predictions, wilson


def example(id_: int | str, label: bool | None, group: str = "", sequence: str = "") -> Example:
    return Example(id=str(id_), response=Turn("", "great"), label=label, group=group, sequence=sequence)


def predictions(answers: Sequence[bool | None], scores: Sequence[float | None] | None = None) -> list[Prediction]:
    given_scores = scores or [None] * len(answers)
    return [
        Prediction(str(at), answer, score) for at, (answer, score) in enumerate(zip(answers, given_scores, strict=True))
    ]


def test_unread_is_wrong_and_counted_and_unlabelled_is_left_out_and_counted() -> None:
    examples = [example(at, label) for at, label in enumerate([True, True, False, False, None])]
    table = score_predictions(examples, predictions([True, None, False, True, True]))
    assert (table.n, table.n_unread, table.n_unlabelled) == (4, 1, 1)
    assert table.confusion == ((1, 1, 0), (0, 1, 1))
    assert table.scores["accuracy"].value == 0.5
    assert table.scores["recall"].value == 0.5
    assert table.scores["accuracy"].n == 4
    assert "1 without an answer (cannot tell, or unreadable) counts as wrong" in table.counts()
    assert "of the 3 answered 2 are right" in table.counts() and "1 without a label" in table.counts()


def test_copies_of_a_row_do_not_make_an_interval_narrower() -> None:
    texts = ["What a day", "Oh great", "It rains", "Lovely, more rain", "The bus is late", "Sure it is"]
    rows = [(text, at % 2 == 0, at % 3 != 0) for at, text in enumerate(texts)]

    def scored(times: int, group: str = "") -> ScoreTable:
        repeated = [row for _ in range(times) for row in rows]
        examples = [
            Example(str(at), Turn("", text + "!" * (at // 6)), label=label, group=group and f"{group}{at}")
            for at, (text, label, _) in enumerate(repeated)
        ]
        return score_predictions(examples, predictions([answer for *_, answer in repeated]))

    once, copied = scored(1), scored(20)
    assert (copied.n, copied.n_clusters, copied.n_copies) == (120, 6, 114)
    for name in ("accuracy", "f1", "macro_f1"):
        (one, many) = (table.scores[name] for table in (once, copied))
        assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))
    assert "in 6 clusters; 114 copies of others" in copied.counts() and "copies" not in once.counts()
    # Groups say what belongs together: the same words of 120 authors are 120 observations.
    assert scored(20, group="author").n_clusters == 120


def test_every_defined_score_lies_in_its_interval_and_the_table_is_json() -> None:
    examples = [example(at, at % 2 == 0, sequence=f"s{at // 2}", group=f"g{at // 6}") for at in range(60)]
    rng = random.Random(0)
    said = predictions([rng.random() < 0.6 for _ in range(60)], [rng.random() for _ in range(60)])
    table = score_predictions(examples, said)
    assert set(table.scores) == {*SCORES, "auc"}
    assert table.n_clusters == 10
    for score in table.scores.values():
        assert score.value is not None and score.low is not None and score.high is not None
        assert 0 <= score.low <= score.value <= score.high <= 1
        assert score.low < score.high
    assert table.scores["pair_accuracy"].n == 30
    assert json.loads(json.dumps(table.as_dict()))["scores"]["f1"]["value"] == table.scores["f1"].value


def test_sequences_that_are_not_pairs_have_sequence_scores_and_say_why_no_pair_accuracy() -> None:
    examples = [example(at, at == 0, sequence="s") for at in range(3)] + [example(3, True), example(4, False)]
    table = score_predictions(examples, predictions([True, True, False, True, True]))
    assert table.scores["pair_accuracy"].value is None
    assert "1 of 1 sequences do not have one response of each label" in table.scores["pair_accuracy"].why
    assert table.scores["sequence_precision"].value == 0.5
    assert table.scores["sequence_f1"].n == 1


def test_a_sequence_is_a_cluster_and_rows_outside_do_not_touch_pair_accuracy() -> None:
    pairs = [example(at, at % 2 == 0, sequence=f"s{at // 2}") for at in range(20)]
    answers = [at % 3 == 0 for at in range(20)]
    alone = score_predictions(pairs, predictions(answers))
    assert alone.n_clusters == 10
    others = [example(at, True) for at in range(20, 90)]
    among_others = score_predictions(pairs + others, predictions(answers + [True] * 70))
    assert among_others.n_clusters == 80
    assert among_others.scores["pair_accuracy"] == alone.scores["pair_accuracy"]


def test_scores_without_sequences_or_probabilities_are_not_there() -> None:
    table = score_predictions([example(0, True), example(1, False)], predictions([True, False]))
    assert "pair_accuracy" not in table.scores and "brier" not in table.scores
    margins = score_predictions([example(0, True), example(1, False)], predictions([True, False], scores=[4.0, -1.0]))
    assert margins.scores["brier"].value is None and "not probabilities" in margins.scores["brier"].why


def test_one_class_is_undefined_or_a_convention_and_says_so() -> None:
    table = score_predictions([example(at, False) for at in range(4)], predictions([False] * 4))
    assert table.scores["balanced_accuracy"].value is None
    assert table.scores["macro_f1"].why == "only one class in the truth"
    assert table.scores["precision"].value == 0.0
    assert "nothing was predicted sarcastic: 0 by convention" in table.scores["precision"].why
    assert "no example is sarcastic" in table.scores["recall"].why
    assert "nothing is or was predicted sarcastic" in table.scores["f1"].why
    assert table.scores["precision_not"].value == 1.0
    # All right on four examples does not prove a perfect system.
    assert table.scores["accuracy"].low == pytest.approx(wilson(4, 4).low)


def test_nothing_to_score_is_undefined_throughout() -> None:
    for examples in ([], [example(0, None)]):
        table = score_predictions(examples, predictions([True] * len(examples)))
        assert table.n == 0 and all(score.value is None for score in table.scores.values())
        assert {score.why for score in table.scores.values()} == {"no labelled examples"}


def test_one_group_has_a_value_and_no_interval() -> None:
    table = score_predictions([example(at, at < 2, group="g") for at in range(4)], predictions([True] * 4))
    assert table.scores["accuracy"].value == 0.5
    assert table.scores["accuracy"].low is None
    assert table.scores["accuracy"].why == "one cluster only: no interval"


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (
            ["a"],
            "2 of 3 examples have no prediction, first 'b': "
            "predict all of them, or score only those that were predicted",
        ),
        (
            ["a", "b", "c", "x", "y"],
            "2 predictions without an example, first 'x': score them against the examples they were made from",
        ),
        (["a", "b", "c", "b"], "1 predictions repeat an id, first 'b': ids must be unique"),
    ],
)
def test_ids_that_do_not_match_are_one_line(ids: list[str], said: str) -> None:
    with pytest.raises(DataError) as caught:
        score_predictions([example(id_, True) for id_ in "abc"], [Prediction(id_, True) for id_ in ids])
    assert str(caught.value) == said


def test_doubled_examples_and_nan_scores_are_refused() -> None:
    with pytest.raises(DataError, match="1 examples repeat an id, first 'a'"):
        score_predictions([example("a", True)] * 2, [Prediction("a", True)])
    with pytest.raises(DataError, match="1 prediction with a score that is NaN, first 'a'"):
        score_predictions([example("a", True)], [Prediction("a", True, math.nan)])


rows = st.lists(
    st.tuples(st.booleans(), st.sampled_from([True, False, None]), st.sampled_from(["", "g", "h"])),
    min_size=1,
    max_size=20,
)


@given(rows, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_the_order_of_examples_and_predictions_does_not_matter(
    rows: list[tuple[bool, bool | None, str]], shuffler: random.Random
) -> None:
    examples = [example(at, label, group) for at, (label, _, group) in enumerate(rows)]
    said = predictions([answer for _, answer, _ in rows])
    table = score_predictions(examples, said, resamples=50)
    shuffler.shuffle(examples)
    shuffler.shuffle(said)
    assert score_predictions(examples, said, resamples=50) == table


def test_a_perfect_system_has_wilsons_intervals_over_the_clusters_that_count() -> None:
    examples = [Example(f"{n}", Turn("", f"text {n}"), label=n % 4 == 0, group=str(n // 2)) for n in range(40)]
    scores = score_predictions(examples, [Prediction(e.id, e.label, float(bool(e.label))) for e in examples]).scores
    for name, clusters in {"accuracy": 20, "recall_not": 20, "recall": 10, "f1": 10, "macro_f1": 10, "auc": 10}.items():
        assert scores[name].low == pytest.approx(wilson(clusters, clusters).low), name
        assert scores[name].high == 1.0
    assert (scores["brier"].low, scores["brier"].high) == pytest.approx((0.0, wilson(0, 20).high))
    never = score_predictions(examples, [Prediction(e.id, False) for e in examples]).scores
    assert never["recall"].high == pytest.approx(wilson(0, 10).high)
    assert never["precision"].low is None and "by convention" in never["precision"].why
