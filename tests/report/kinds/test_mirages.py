"""Mirage tests on the site: generated corpora first, and what a language model makes of them."""

from __future__ import annotations

import random

import pytest

from deadpan.detect import mirage
from deadpan.records import Example, Prediction, Turn
from deadpan.report import build_report


def corpus(name: str) -> list[Example]:
    rng = random.Random(name)
    return [
        Example(f"{name}{i}", Turn("", f"{'genius' if i % 2 else 'late'} {name} w{rng.randrange(40)}"), label=i % 2 == 1)
        for i in range(60)
    ]  # fmt: skip


class Deaf:
    """A model that says the same of everything."""

    def predict(self, examples):
        return [Prediction(example.id, None, 0.5) for example in examples]


@pytest.mark.slow
def test_the_page_has_the_matrix_the_probe_and_the_model(tmp_path):
    mirage({"made": corpus("made")}, {"said": corpus("said")}, system="bow", model=Deaf()).write(
        tmp_path / "out"
    )
    build_report([tmp_path / "out"], tmp_path / "site")
    page = (tmp_path / "site" / "out" / "index.html").read_text(encoding="utf-8")
    assert "significantly above chance on organic speech in 1 of 1 cases" in page
    assert "Deaf, asked" in page and "called generated" in page
