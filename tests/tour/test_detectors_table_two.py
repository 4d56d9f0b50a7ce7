"""The third stop: published and recorded numbers, and what is computed now or needs an extra."""

from __future__ import annotations

from types import SimpleNamespace

from deadpan.datasets import read_dataset
from deadpan.errors import MissingExtra
from deadpan.page import Page
from deadpan.tour import detectors as module
from deadpan.tour.detectors import table_two_stop
from deadpan.tour.guide import Guide


def test_numbers_of_the_paper_stand_beside_ours_and_a_live_run(tmp_path, monkeypatch):
    examples = read_dataset("starter-en").examples
    pairs = [one for one in examples if one.sequence][:60]
    monkeypatch.setattr(module, "read_dataset", lambda name: SimpleNamespace(examples=pairs))
    compare, asked = module.compare_systems, []

    def without_vectors(examples, systems, **how):
        asked.append((systems, how["metric"]))
        if systems == ["embedding"]:
            raise MissingExtra("wordllama", "neural")
        return compare(examples, systems, **how)

    monkeypatch.setattr(module, "compare_systems", without_vectors)
    guide = Guide(Page("Tour"), tmp_path)
    table_two_stop(guide)
    page = guide.page.html()
    assert asked == [([name], "pair_accuracy") for name in ("bow", "bigrams", "embedding")]
    for words in ("0.759", "[0.7", "bag of bigrams", "0.830", "Left out, sentence embedding"):
        assert words in page
    assert "deadpan[neural]" in page
    assert "] of SARC's pairs" in guide.finding and "(paper: 0.765)" in guide.finding
