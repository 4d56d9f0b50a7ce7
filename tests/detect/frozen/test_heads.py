"""A head per corpus: corpora that disagree do not cancel each other, and unknown ones get what is shared."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.detect.frozen.heads import HeadsBlock
from deadpan.detect.frozen.system import Encoded, Frozen
from deadpan.records import Example, Turn


def disagreeing(count: int = 120) -> list[Example]:
    """In both corpora "a" is sarcastic; whatever has a "b" is so in the first and sincere in the second."""
    rows = []
    for n in range(count):
        text = ("a b", "a", "b", "")[n % 4]
        corpus = "first" if n // 4 % 2 else "second"
        label = corpus == "first" if "b" in text else "a" in text
        rows.append(Example(f"{n}", Turn("", text), label=label, source=corpus))
    return rows


@pytest.fixture
def letters(monkeypatch):
    """Encode a text by the letters in it, without any weights."""

    def columns(self, examples, *_):
        return np.array([["a" in e.response.text, "b" in e.response.text] for e in examples], dtype=float)

    monkeypatch.setattr(Encoded, "columns", columns)


def share_right(model: Frozen, examples: list[Example]) -> float:
    return float(
        np.mean([p.label == e.label for p, e in zip(model.predict(examples), examples, strict=True)])
    )


def test_each_corpus_keeps_its_own_meaning(letters, tmp_path):
    examples = disagreeing()
    assert share_right(Frozen().fit(examples), examples) < 0.8
    model = Frozen(heads=True).fit(examples)
    assert share_right(model, examples) == 1.0
    model.save(tmp_path)
    assert Frozen.load(tmp_path).predict(examples) == model.predict(examples)


def test_an_unknown_corpus_gets_what_all_share(letters):
    model = Frozen(heads=True).fit(disagreeing())
    plain, a, b = (
        model.predict([Example("x", Turn("", text), source="third")])[0].score for text in ("", "a", "b")
    )
    assert a > plain + 0.1
    assert abs(b - plain) < (a - plain) / 2


def test_the_gradient_is_that_of_the_margins():
    rng = np.random.default_rng(0)
    examples = disagreeing(12)
    block = HeadsBlock.of(rng.normal(size=(12, 3)), examples, ["first", "second"])
    weights, slopes = rng.normal(size=block.width), rng.normal(size=12)
    assert slopes @ block.forward(weights) == pytest.approx(block.backward(slopes) @ weights)
    assert block.rows(np.array([3])).forward(weights) == pytest.approx(block.forward(weights)[3:4])
