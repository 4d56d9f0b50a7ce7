"""The figures of the paper."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deadpan.corpus.built.statistics import (
    _spread_title,
    _subreddit_title,
    draw_figures,
    length_figure,
    median_interval,
    open_raw,
    raw_statistics,
    score_figure,
    subreddit_figure,
)
from deadpan.errors import ConfigError, DataError


def test_figures(tmp_path: Path, built: Path) -> None:
    pytest.importorskip("matplotlib")
    copy = tmp_path / "copy"
    shutil.copytree(built, copy, symlinks=True)
    paths = draw_figures(copy, min_comments=10).files
    names = ("lengths", "marker-by-time", "sarcasm-by-time", "scores", "subreddits")
    assert sorted(path.name for path in paths) == [f"{n}.{end}" for n in names for end in ("csv", "png", "svg")]
    assert "figures/scores.svg" in json.loads((copy / ".current" / ".files.json").read_text())
    numbers = (copy / "figures" / "marker-by-time.csv").read_text().splitlines()
    months = json.loads((copy / "stats.json").read_text())["months"]
    assert [line.split(",")[0] for line in numbers[1:]] == list(months)
    assert float(numbers[1].split(",")[1]) == pytest.approx(months["2010-01"]["share_authors_marking"], abs=1e-5)
    with pytest.raises(DataError, match="lower --min-comments"):
        draw_figures(copy, min_comments=10**9)


def test_titles_claim_what_is_significant_and_bins_are_whole_numbers(built: Path) -> None:
    pytest.importorskip("matplotlib")
    with open_raw(built) as table:
        lengths = length_figure(table)
        ((mode, _), *_) = table.rows("SELECT words, count(*) FROM raw WHERE label = 1 GROUP BY 1 ORDER BY 2 DESC")
    rows = {(low + high) / 2: sarcastic for low, high, sarcastic, _ in lengths.table.rows}
    assert all(middle == int(middle) for middle in rows)
    assert max(rows, key=lambda middle: rows[middle]) == mode
    few = [1.0, 2.0]
    same = _spread_title(
        "scores",
        {"sarcastic": few, "sincere": few},
        dict.fromkeys(("sarcastic", "sincere"), median_interval([(1, 1), (2, 1)])),
    )
    assert same.startswith("No significant difference in scores (medians 1.5 [1, 2]")
    assert "clearly differ" in _subreddit_title({"a": (3, 10), "b": (2, 10)})
    assert "more common in r/a" in _subreddit_title({"a": (300, 1_000), "b": (20, 1_000), "c": (1, 1)})
    by_chance = {f"s{n}": (40 + n % 20, 100) for n in range(60)}  # the intervals of single ones are apart
    assert "clearly differ" in _subreddit_title(by_chance)


def test_the_same_figures_from_a_corpus_its_raw_files_and_its_parquet(built: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = []
    for source in (built, built / "raw" / "sarc.tsv", built / "raw" / "sarc.csv", built / "parquet"):
        with open_raw(source) as table:
            made = (subreddit_figure(table), score_figure(table), length_figure(table))
            shown.append([(figure.title, figure.table) for figure in made])
    assert all(one == shown[0] for one in shown)
    assert "smaller left out)" in shown[0][0][0]
    with pytest.raises(ConfigError, match=r"sarc.tsv: not the folder of a corpus.*--out"):
        draw_figures(built / "raw" / "sarc.tsv")
    with pytest.raises(DataError, match="not the rows of a raw corpus"), open_raw(_other_parquet(tmp_path)):
        pass


def _other_parquet(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1]}), folder / "other.parquet")
    return folder / "other.parquet"


def test_table_1_of_a_released_raw_file(real_corpora: Path) -> None:
    path = real_corpora / "sarc_raw_politics" / "sarc-raw.tsv"
    stats = raw_statistics(path)
    labels = [line.partition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()]
    assert stats.comments + stats.unreadable == len(labels)
    assert stats.sarcastic == labels.count("1")
    assert list(stats.subreddits) == ["politics"]
    assert "share sarcastic" in str(stats.summary().text())


def test_medians_have_intervals_of_order_statistics() -> None:
    assert median_interval([(1, 1)]).as_dict()["n"] == 1
    wide = median_interval([(value, 1) for value in range(101)])
    assert (wide.value, wide.low, wide.high) == (50, 40, 60)
    narrow = median_interval([(value, 100) for value in range(101)])
    assert (narrow.value, narrow.low, narrow.high) == (50, 49, 51)
