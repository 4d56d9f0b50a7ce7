"""Rephrasing: sarcastic to plain and back, scored against the authors' own words."""

from __future__ import annotations

import pytest

from deadpan.errors import DataError
from deadpan.generate.rephrase import chrf, rephrase
from deadpan.llm import LLMSettings
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import read_records
from scripted_server import ok, served

PAIRS = [
    Example(f"e{n}", Turn("", f"Oh great, number {n} is late"), label=True, rephrase=f"I am annoyed that {n} is late")
    for n in range(3)
]


def test_chrf_is_1_for_the_same_text_and_counts_shared_characters():
    assert chrf("the same text", "the same text") == 1.0
    assert chrf("abc", "xyz") == 0.0 == chrf("", "abc")
    # One letter of two is shared: precision and recall are 1/2 for n = 1, 0 for n = 2.
    assert chrf("ab", "ac") == pytest.approx(0.25)


class Praised:
    def predict(self, texts):
        return [Prediction(e.id, None, 0.9 if "great" in e.response.text else 0.2) for e in texts]


def test_texts_are_rephrased_and_scored_before_and_after(tmp_path, monkeypatch):
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    sincere = Example("s", Turn("", "plain"), label=False)
    with served() as server:
        server.acts = [ok("I am annoyed that 1 is late"), ok("two\nlines"), ok("I am annoyed that it is late")]
        settings = LLMSettings(model="gpt-9", base_url=server.url, temperature=0.0, concurrency=1)
        done = rephrase([*PAIRS, sincere], tmp_path / "out", settings=settings, detector=Praised())
        assert all("sarcastic text" in str(body) for body in server.requests)
    assert len(done.rows) == 2 and done.tally.drops["not_one_line"] == 1
    assert all(row.chrf > row.copied for row in done.rows)
    assert {(row.before, row.after, row.author) for row in done.rows} == {(0.9, 0.2, 0.2)}
    assert "called sarcastic: the model's text" in done.summary().text(80)
    written = list(read_records(tmp_path / "out" / "written.jsonl", Example))
    assert [e.label for e in written] == [False, False]


def test_texts_without_a_rephrase_are_one_line(tmp_path):
    with pytest.raises(DataError, match="no sarcastic text with its author"):
        rephrase([Example("a", Turn("", "x"), label=True)], tmp_path / "out")
