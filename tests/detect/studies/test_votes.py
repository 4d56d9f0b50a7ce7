"""The study of votes: who said so is a question that a system can learn to answer."""

from __future__ import annotations

import random

import pytest

from deadpan.detect.studies.votes import AUTHOR, OTHERS, study_votes
from deadpan.records import Example, Turn


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
    study = study_votes(split_minds(150, apart=True), "bow", k=3)
    assert study.intended[AUTHOR].value > study.intended[OTHERS].value + 0.05
    assert study.conditioned.scores["rank_correlation"].value > 0.5
    assert "no significant difference" in study.verdict


def test_without_the_authors_label_there_is_one_question_only():
    rows = [
        Example(e.id, e.response, label=e.label, meta={"votes": e.meta["votes"], "voters": 5})
        for e in split_minds(60, apart=False)
    ]
    study = study_votes(rows, "bow", k=3)
    assert (study.conditioned, study.perception, dict(study.intended)) == (None, None, {})
    assert "trained on" in study.summary().text()


def test_votes_teach_how_sure_people_are_which_the_majority_hides():
    """Two thirds of the texts divide people three to two: a majority label makes them as sure as the rest."""
    rng = random.Random(5)
    rows = []
    for i in range(90):
        votes = rng.choice([3, 3, 5]) if i % 2 else rng.choice([2, 2, 0])
        words = [f"sound{votes}", f"w{rng.randrange(20)}"]
        rows.append(
            Example(str(i), Turn("", " ".join(words)), label=votes > 2, meta={"votes": votes, "voters": 5})
        )
    study = study_votes(rows, "linear", k=2)
    assert study.gain.low > 0 and "Training on votes is better" in study.verdict
