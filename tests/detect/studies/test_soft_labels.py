"""The study of votes: who said so is a question that a system can learn to answer."""

from __future__ import annotations

import random

import pytest

from deadpan.detect.studies.soft_labels import AUTHOR, OTHERS, expand_votes, prefix_label_source, study_soft_labels
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn

TONE = {0: "cold", 1: "slow", 2: "funny", 3: "brave", 4: "splendid", 5: "genius"}


def split_minds(n: int, *, apart: bool) -> list[Example]:
    """Authors mean "splendid", others hear "genius"; not apart: both go by "splendid"."""
    rng = random.Random(3)
    rows = []
    for i in range(n):
        meant, sound = rng.random() < 0.5, rng.random() < 0.5
        heard = sound if apart else meant
        words = ["splendid" if meant else "cold", "genius" if sound else "late", f"w{rng.randrange(30)}"]
        meta = {"votes": 5 if heard else 0, "voters": 5, "sarcasm_ref": meant}
        rows.append(Example(str(i), Turn("", " ".join(words)), label=heard, meta=meta))
    return rows


@pytest.mark.slow
def test_what_others_hear_and_what_was_meant_are_two_questions():
    study = study_soft_labels(split_minds(150, apart=True), "bow", k=3)
    assert study.intended[AUTHOR].value > study.intended[OTHERS].value + 0.05
    assert study.conditioned.scores["rank_correlation"].value > 0.5
    assert "no significant difference" in study.verdict


def test_without_the_authors_label_there_is_one_question_only():
    rows = [
        Example(e.id, e.response, label=e.label, meta={"votes": e.meta["votes"], "voters": 5})
        for e in split_minds(60, apart=False)
    ]
    study = study_soft_labels(rows, "bow", k=3)
    assert (study.conditioned, study.perception, dict(study.intended)) == (None, None, {})
    assert "trained on" in study.summary().text()


def test_votes_teach_how_sure_people_are_which_the_majority_hides():
    """Two thirds of the texts divide people three to two: a majority label makes them as sure as the rest."""
    rng = random.Random(5)
    rows = []
    for i in range(90):
        votes = rng.choice([3, 3, 5]) if i % 2 else rng.choice([2, 2, 0])
        words = [f"sound{votes}", f"w{rng.randrange(20)}"]
        rows.append(Example(str(i), Turn("", " ".join(words)), label=votes > 2, meta={"votes": votes, "voters": 5}))
    study = study_soft_labels(rows, "linear", k=2)
    assert study.gain.low > 0 and "Training on votes is better" in study.verdict


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
    copies = expand_votes([example])
    assert [copy.label for copy in copies] == [True, True, False, False, False]
    assert len({copy.group for copy in copies}) == 1
    assert len({copy.id for copy in copies}) == 5
    assert expand_votes([Example("x", Turn("", "y"), label=True)])[0].id == "x"


@pytest.mark.slow
def test_graded_votes_teach_more_than_their_majority():
    study = study_soft_labels(voted(300, graded=True), "bow")
    hard, soft = (side.scores["cross_entropy"].value for side in (study.hard, study.soft))
    assert soft < hard
    assert soft < study.soft.constant
    assert study.perception is not None


@pytest.mark.slow
def test_unanimous_votes_teach_what_labels_teach():
    study = study_soft_labels(voted(200, graded=False), "bow")
    gap = study.hard.scores["rank_correlation"].value - study.soft.scores["rank_correlation"].value
    assert abs(gap) < 0.1


def test_who_said_so_is_a_word():
    example = Example("a", Turn("", "nice"), label=True, label_kind="author")
    assert prefix_label_source([example])[0].response.text == "labelledbyauthor nice"


def test_bad_input_is_one_line():
    with pytest.raises(DeadpanError, match="at least 10 examples with votes"):
        study_soft_labels([Example("a", Turn("", "x"), label=True)])
