"""Replays of labelling: a planted rare pattern is found sooner; without a pattern nothing is saved."""

from __future__ import annotations

import random

import pytest

from deadpan.detect import replay_active_learning
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn

TONE = {True: [f"splendid{i}" for i in range(12)], False: [f"cold{i}" for i in range(12)]}


def corpus(n: int, *, easy: float, tone: bool = True) -> list[Example]:
    """Most texts are easy and alike; the rest need tone words that only their own labels teach."""
    rng = random.Random(1)
    rows = []
    for i in range(n):
        label = rng.random() < 0.5
        words = [f"w{rng.randrange(300)}" for _ in range(4)]
        if rng.random() < easy:
            words += ["clearly", "sarcastic" if label else "sincere"] * 2
        elif tone:
            words += rng.sample(TONE[label], 1)
        rows.append(Example(str(i), Turn("", " ".join(words)), label=label))
    return rows


@pytest.mark.slow
def test_hard_items_first_save_labels_and_the_control_stays_unbiased(tmp_path):
    result = replay_active_learning(corpus(1500, easy=0.85), labels=500, repeats=4)
    assert result.saved.value > 0.1
    assert result.prevalence["control stratum"].low <= result.truth + 0.03
    assert result.prevalence["control stratum"].high >= result.truth - 0.03
    result.write(tmp_path)
    assert "<svg" in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_nothing_is_saved_where_there_is_nothing_to_learn():
    result = replay_active_learning(corpus(700, easy=0.0, tone=False), labels=300, repeats=4)
    assert all(abs(a.value - b.value) < 0.06 for a, b in zip(result.random, result.informative, strict=True))
    assert result.saved.low <= 0 <= result.saved.high  # a curve that wavers saves nothing by reaching it early
    assert "no saving is shown" in result.verdict


def test_bad_input_is_one_line():
    with pytest.raises(DeadpanError, match="needs 300 labelled examples"):
        replay_active_learning(corpus(20, easy=0.5))
