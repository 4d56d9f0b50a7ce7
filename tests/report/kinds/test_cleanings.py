"""Cleaned splits on the site: what was removed, and why."""

from __future__ import annotations

from deadpan.datasets.cleaning import clean_dataset
from deadpan.records import Example, Turn
from deadpan.report import build_report
from deadpan.report.kinds.cleanings import _fall
from deadpan.storage import write_records


def lead(tmp_path, copies: int) -> str:
    rows = [
        Example(f"{i}-{k}", Turn("", f"{'oh sure' if i % 2 else 'it rains'} on day {i * 7919} of {i}"), label=i % 2 == 1)
        for i in range(30)
        for k in range(copies)
    ]  # fmt: skip
    write_records(tmp_path / "mine.jsonl", rows, Example)
    clean_dataset(tmp_path / "mine.jsonl", tmp_path / f"out{copies}")
    build_report([tmp_path / f"out{copies}"], tmp_path / f"site{copies}")
    return (tmp_path / f"site{copies}" / f"out{copies}" / "index.html").read_text(encoding="utf-8")


def test_copies_are_told_and_none_are_not(tmp_path):
    page = lead(tmp_path, 2)
    assert "30 of 60 rows of" in page and "identical" in page
    assert "Nothing had to be removed" in lead(tmp_path, 1)


def test_a_score_that_falls_when_copies_are_out_is_in_the_finding():
    def one(low: float, value: float, high: float) -> dict:
        return {"value": value, "low": low, "high": high, "level": 0.95, "n": 90, "why": ""}

    fallen = {"before": one(0.94, 0.96, 0.98), "after": one(0.21, 0.32, 0.43)}
    level = {"before": one(0.5, 0.6, 0.7), "after": one(0.45, 0.55, 0.65)}
    assert "For bow, F1 falls from 0.960 [0.940, 0.980] to 0.320 [0.210, 0.430]" in _fall(
        {"systems": {"bow": {"f1": fallen, "auc": level}}}
    )
    assert _fall({"systems": {"bow": {"auc": level}}}) == ""
