"""Statistics of a finished corpus."""

from __future__ import annotations

from pathlib import Path

from deadpan.corpus import BuiltCorpus, read_statistics


def test_statistics_agree_with_the_manifest_and_fit_a_terminal(built: Path) -> None:
    statistics = read_statistics(built, top=3)
    manifest = BuiltCorpus(built).manifest
    totals = statistics.as_dict()["totals"]
    assert isinstance(totals, dict)
    assert totals["comments"] == manifest.counts["comments"]
    tables = statistics.summary().tables
    assert len(tables[-1].rows) == 3
    assert [row[1] for row in tables[0].rows[:4]] == [
        "train-balanced", "train-unbalanced", "test-balanced", "test-unbalanced",
    ]  # fmt: skip
    assert all(len(line) <= 80 for line in str(statistics).splitlines() if str(built) not in line)
