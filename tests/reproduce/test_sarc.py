"""SARC's figures, sequences and Table 3, measured on small files whose answers are known."""

from __future__ import annotations

import pytest

from deadpan.figures import Figure
from deadpan.reproduce import reproduce, sarc
from deadpan.reproduce.sarc import STUDENT
from reproduce import releases


def cells(result):
    return {cell.published.id: cell for _, cell in result.cells()}


def raw(folder, rows):
    """Write raw comments as released: label, text, subreddit and score of each."""
    folder.mkdir(parents=True)
    lines = [
        "\t".join((str(label), text, "ann", place, score, "-1", "-1", "2016-10", "1476107492", "So?"))
        for label, text, place, score in rows
    ]
    (folder / "sarc.tsv").write_text("\n".join(lines) + "\n")


def test_figures_of_raw_comments(tmp_path, monkeypatch):
    monkeypatch.setattr(sarc, "FEWEST", 5)
    rows = [(int(n < 2), "a b c", "science", "3") for n in range(20)]
    rows += [(int(n < 8), "a b c d" if n < 8 else "a", "politics", "99" if n < 8 else "-99") for n in range(10)]
    raw(tmp_path / "data/sarc_raw_politics", rows)
    only = ["figure-2", "figure-3", "figure-4"]
    result = reproduce("sarc", tmp_path / "out", data_dir=tmp_path / "data", only=only)
    found = cells(result)
    science = found["figure-2/science/share-of-sarcastic-comments"]
    assert science.ours.value.value == 0.1 and science.verdict.word == "consistent"  # the mean is 1 in 3
    assert "30 raw comments, subreddits: 2" in science.ours.how
    gone = found["figure-2/asoiaf/share-of-sarcastic-comments"].verdict
    assert gone.word == "needs data" and "no comment of r/asoiaf and is 33 % sarcastic" in gone.why
    everything = found["figure-2/all-comments-percent/share-of-sarcastic-comments"].verdict
    assert everything.word == "needs data" and "30 comments" in everything.why
    # Of 10 sarcastic and 20 other comments, 8 score above all others, 2 tie with 18 and beat 2.
    score = found["figure-3/raw-comments/area-under-the-curve-of-the-score"]
    assert score.ours.value.value == pytest.approx((8 * 20 + 2 * (18 / 2 + 2)) / 200)
    assert score.verdict.word == "differs" and "the score alone says more" in score.verdict.why
    assert found["figure-4/raw-comments/area-under-the-curve-of-the-length"].ours.value.value > 0.6
    drawings = result.papers[0].drawings
    assert set(drawings) == set(only) and all(isinstance(one, Figure) for one in drawings.values())
    assert drawings["figure-3"].title == "Median score: 40 if sarcastic, 3 if not"  # cut off at 40


def test_comments_without_a_score_have_no_figure(tmp_path):
    raw(tmp_path / "data/sarc_raw_politics", [(n % 2, "a b", "science", "many") for n in range(6)])
    result = reproduce("sarc", tmp_path / "out", data_dir=tmp_path / "data", only=["figure-3"])
    (cell,) = cells(result).values()
    assert cell.verdict.word == "needs data" and "no comment has a score" in cell.verdict.why


def test_sequences_are_counted(tmp_path):
    releases.sarc(tmp_path / "data/sarc_pol", "train", "unbalanced", 12)
    result = reproduce("sarc", tmp_path / "out", data_dir=tmp_path / "data", only=["section-5.1"])
    found = cells(result)
    assert found["section-5.1/politics/sequences"].ours.value.value == 12
    assert found["section-5.1/politics/sarcastic-percent"].ours.value.value == 25
    assert "test-unbalanced.csv" in found["section-5.1/politics/sequences"].verdict.why


def test_weights_of_n_grams_have_a_jackknife_interval(tmp_path):
    releases.sarc(tmp_path / "data/sarc_main", "train", "balanced", 30)
    result = reproduce("sarc", tmp_path / "out", data_dir=tmp_path / "data", only=["table-3"], quick=True)
    found = cells(result)
    weight = found["table-3/obviously/weight"].ours
    assert weight.value.low <= weight.value.value <= weight.value.high and weight.value.value > 0
    assert "3 models, each without one part of 30 training pairs" in weight.how
    assert "among our ten strongest too" in weight.how
    rare = found["table-3/so-fun/weight"]
    assert rare.ours.text == "too rare to have a weight" and rare.verdict.word == "differs"


def test_quantiles_of_student_are_those_of_scipy():
    from scipy.stats import t

    assert pytest.approx({k: t.ppf(0.975, k - 1) for k in STUDENT}, abs=1e-3) == STUDENT
