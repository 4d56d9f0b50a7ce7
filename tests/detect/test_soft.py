"""Training on votes: better where votes say more than the majority, and no different where they do not."""

from __future__ import annotations

import random

import pytest

from deadpan import study_votes
from deadpan.detect.soft import say_who, spread_votes
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn

TONE = {0: "cold", 1: "slow", 2: "funny", 3: "brave", 4: "splendid", 5: "genius"}


def voted(n: int, *, graded: bool, seed: int = 0) -> list[Example]:
    """Texts whose tone word is heard by that many of five; not graded: by all or none."""
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        tone = rng.randrange(6) if graded else rng.choice([0, 5])
        words = [f"w{rng.randrange(60)}" for _ in range(6)] + [TONE[tone]]
        votes = min(5, max(0, sum(rng.random() < tone / 5 for _ in range(5)))) if graded else tone
        rows.append(
            Example(
                str(i),
                Turn("", " ".join(words)),
                label_kind="author",
                label=tone > 2,
                meta={"votes": votes, "voters": 5},
            )
        )
    return rows


def test_votes_become_copies_that_stay_together():
    [example] = [row for row in voted(40, graded=True) if row.meta["votes"] == 2][:1]
    copies = spread_votes([example])
    assert [copy.label for copy in copies] == [True, True, False, False, False]
    assert len({copy.group for copy in copies}) == 1
    assert len({copy.id for copy in copies}) == 5
    assert spread_votes([Example("x", Turn("", "y"), label=True)])[0].id == "x"


@pytest.mark.slow
def test_graded_votes_teach_more_than_their_majority():
    study = study_votes(voted(300, graded=True), "bow")
    hard, soft = (side.scores["cross_entropy"].value for side in (study.hard, study.soft))
    assert soft < hard
    assert soft < study.soft.constant
    assert study.perception is not None


@pytest.mark.slow
def test_unanimous_votes_teach_what_labels_teach():
    study = study_votes(voted(200, graded=False), "bow")
    gap = study.hard.scores["rank_correlation"].value - study.soft.scores["rank_correlation"].value
    assert abs(gap) < 0.1


def test_who_said_so_is_a_word():
    example = Example("a", Turn("", "nice"), label=True, label_kind="author")
    assert say_who([example])[0].response.text == "labelledbyauthor nice"


def test_bad_input_is_one_line():
    with pytest.raises(DeadpanError, match="at least 10 examples with votes"):
        study_votes([Example("a", Turn("", "x"), label=True)])
