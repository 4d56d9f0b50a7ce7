"""Audits find planted shortcuts and label errors, and find none in a corpus without any."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from deadpan.datasets.audit import audit_corpora, audit_sources, noise_sentence
from deadpan.datasets.noise import confident_errors, find_label_errors
from deadpan.datasets.shortcuts import find_shortcuts
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn
from deadpan.storage import write_records

WORDS = [f"{a}{b}" for a in ("rain", "sun", "train", "office", "coffee", "phone") for b in ("y", "s", "er", "ing", "")]
TONES = {True: ["brilliant", "wonderful", "genius", "charming"], False: ["late", "broken", "cold", "early"]}


def corpus(n: int = 400, *, tone: float = 0.7, mark: float = 0.0, seed: int = 0) -> list[Example]:
    """Return texts whose tone word gives the label away with probability `tone`, and "!" with `mark`."""
    rng = random.Random(seed)
    examples = []
    for i in range(n):
        label = i % 2 == 0
        shown = label if rng.random() < tone else not label
        marked = label if rng.random() < (1 + mark) / 2 else not label
        words = [rng.choice(WORDS) for _ in range(9)] + [rng.choice(TONES[shown]), f"w{i}"]
        rng.shuffle(words)
        text = " ".join(words) + (" !" if marked else " .")
        examples.append(Example(str(i), Turn("", text), label=label, source="made"))
    return examples


def by_name(found):
    return {shortcut.family: shortcut for shortcut in found.families}


@pytest.mark.slow
def test_a_planted_shortcut_is_found_and_explains_the_score():
    found = find_shortcuts(corpus(tone=0.55, mark=0.9))
    strongest = found.families[0]
    assert strongest.family == "punctuation"
    assert strongest.auc.low > 0.85
    assert strongest.explained.value > 0.5


def test_no_shortcut_is_found_where_there_is_none():
    found = find_shortcuts(corpus(tone=0.9))
    assert found.words.value > 0.75
    assert not [s.family for s in found.families if s.auc.value > 0.6]
    assert abs(by_name(found)["punctuation"].explained.value) < 0.1


def test_planted_label_errors_are_found():
    clean = corpus(tone=1.0)
    wrong = {str(i) for i in range(0, 400, 20)}
    noisy = [replace(e, label=not e.label) if e.id in wrong else e for e in clean]
    noise, where = find_label_errors(noisy)
    found = {error.id for error in noise.errors}
    assert noise.trusted
    assert noise.auc > 0.9
    assert len(found & wrong) >= 0.3 * len(wrong)  # a threshold at the mean finds about half
    assert len(found - wrong) <= 0.2 * len(found)
    assert noise.estimate is not None
    assert noise.estimate.low <= 0.05 <= noise.estimate.high
    at = [i for i, id in enumerate(where.ids) if id in wrong]
    assert where.confidence[at].mean() < 0.45 < where.confidence.mean()


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_the_share_of_flipped_labels_is_estimated(rate):
    rng = random.Random(3)
    noisy = [replace(e, label=not e.label) if rng.random() < rate else e for e in corpus(600, tone=1.0)]
    noise, _ = find_label_errors(noisy)
    if noise.estimate is None:  # no number is better than a wrong one
        assert rate == 0.2
        assert "cannot be estimated" in noise_sentence(noise) or "proves nothing" in noise_sentence(noise)
    else:
        assert noise.estimate.low <= rate <= noise.estimate.high
        assert noise.estimate.value > 0.02


def test_label_errors_are_not_trusted_where_labels_are_random():
    noise, _ = find_label_errors(corpus(tone=0.5))
    assert not noise.trusted
    assert noise.auc < 0.7
    assert noise.estimate is None
    assert "proves nothing" in noise_sentence(noise)


def test_confident_learning_by_hand():
    labels = np.array([True, True, False, False])
    scores = np.array([0.9, 0.1, 0.1, 0.2])
    suspected, margin = confident_errors(labels, scores)
    assert suspected.tolist() == [False, True, False, False]  # 0.9 >= mean(0.9, 0.8)
    assert margin[1] == pytest.approx(0.8)


def test_an_audit_needs_both_labels_but_still_shows_leaks():
    rows = [replace(e, label=True) for e in corpus(60)]
    audits, report = audit_corpora({"one": rows})
    assert audits[0].shortcuts is None
    assert "both labels" in audits[0].why
    assert report.findings


@pytest.mark.slow
def test_pages_and_json(tmp_path):
    write_records(tmp_path / "a.jsonl", corpus(120, mark=0.9), Example)
    write_records(
        tmp_path / "b.jsonl",
        corpus(120, seed=1)[:60] + [replace(e, id=f"x{e.id}") for e in corpus(120, mark=0.9)[:60]],
        Example,
    )
    atlas = audit_sources([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], out=tmp_path / "out")
    data = json.loads((tmp_path / "out" / "atlas.json").read_text())
    assert data["overlaps"][0]["left"]["identical"] == 60
    assert (tmp_path / "out" / "index.html").read_text().count("<svg") >= 1
    assert len(list((tmp_path / "out").glob("*.html"))) == 3
    assert all(len(line) <= 80 for line in atlas.summary().text(80).splitlines())
    assert atlas.as_dict()["corpora"][0]["label_noise"]["trusted"] in (True, False)


def test_bad_input_is_one_line(tmp_path):
    with pytest.raises(DeadpanError, match="named twice"):
        audit_sources(["starter-en", "starter-en"])
    with pytest.raises(DeadpanError, match="nothing to audit"):
        audit_corpora({})


def test_the_same_audit_again_is_the_same():
    first, again = (audit_corpora({"planted": corpus(120)})[0][0].as_dict() for _ in range(2))
    assert first == again
