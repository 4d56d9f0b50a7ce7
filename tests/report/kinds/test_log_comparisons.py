"""Comparisons of logs on the site: a winner is named only where every difference is significant."""

from __future__ import annotations

import random

import pytest

from deadpan.logs.comparison import compare_logs
from deadpan.report import build_report
from deadpan.report.kinds.log_comparisons import headline


def table(path, rates: dict[str, float], n: int = 200):
    rng = random.Random(1)
    lines = ["item,system,score"]
    for i in range(n):
        luck = rng.random()
        lines += [f"{i},{name},{int(luck < rate)}" for name, rate in rates.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"a": 0.9, "b": 0.5}, "a is significantly better than the other"),
        ({"a": 0.9, "b": 0.5, "c": 0.4}, "a is significantly better than all others"),
        ({"a": 0.9, "b": 0.89, "c": 0.4}, "2 of 3 differences between 3 systems are significant"),
        ({"a": 0.6, "b": 0.595}, "No significant difference between 2 systems"),
    ],
)
def test_a_winner_needs_every_difference_to_be_significant(tmp_path, rates, said):
    found = compare_logs([table(tmp_path / "t.csv", rates)]).as_dict()
    assert headline(found).startswith(said)


def test_a_winner_against_one_reference_only_is_not_a_winner_over_all(tmp_path):
    path = table(tmp_path / "t.csv", {"a": 0.9, "b": 0.89, "c": 0.4})
    found = compare_logs([path], against="c").as_dict()
    assert "better than" not in headline(found)


def test_the_page_has_the_pairs_and_the_manifest_the_files(tmp_path):
    compare_logs([table(tmp_path / "t.csv", {"a": 0.9, "b": 0.5})]).write(tmp_path / "out")
    build_report([tmp_path / "out"], tmp_path / "site")
    page = (tmp_path / "site" / "out" / "index.html").read_text(encoding="utf-8")
    assert "paired by item" in page and "a is better" in page and "<svg" in page
    assert "t.csv" in (tmp_path / "site" / "out" / "manifest.html").read_text(encoding="utf-8")
