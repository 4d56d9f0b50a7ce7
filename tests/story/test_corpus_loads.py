"""Dumps become a corpus, and Hugging Face `datasets` loads the folder by its card."""

from __future__ import annotations

import duckdb
import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("options", [(), ("--bz2",)])
def test_a_built_corpus_loads_with_hugging_face_datasets(program, built, options):
    pytest.importorskip("datasets")
    out = program.folder / "corpus" if options else "corpus"
    counts = built.json("corpus", "build", "dumps", "--out", out, "--memory", "500MB", *options)["counts"]
    loaded = (program if options else built).load_dataset("corpus")
    assert list(loaded) == ["train"]
    assert len(loaded["train"]) == counts["comments"]
    assert sum(row["label"] for row in loaded["train"]) == counts["sarcastic"]
    assert {"comment", "parent_comment", "subreddit", "created_utc"} <= set(loaded["train"][0])


def test_the_months_load_in_duckdb_polars_and_datasets(built, tmp_path):
    datasets, polars = pytest.importorskip("datasets"), pytest.importorskip("polars")
    again = built.json("corpus", "build", "dumps", "--out", "corpus", "--memory", "500MB")
    count = again["counts"]["comments"]
    folder = built.folder / "corpus" / "parquet"
    assert sorted(path.name for path in folder.iterdir()) == ["month=2010-01", "month=2010-02"]
    pattern = str(folder / "*" / "*.parquet")
    found = duckdb.sql(f"SELECT month, count(*) FROM read_parquet('{pattern}', hive_partitioning=true) GROUP BY 1")
    assert sum(n for _, n in found.fetchall()) == count
    table = polars.read_parquet(pattern, hive_partitioning=True)
    assert (len(table), set(table["date"])) == (count, {"2010-01", "2010-02"})
    loaded = datasets.load_dataset("parquet", data_files=pattern, cache_dir=str(tmp_path))
    assert len(loaded["train"]) == count
    card = (built.folder / "corpus" / "README.md").read_text()
    assert "parquet/*/sarc.parquet" in card
