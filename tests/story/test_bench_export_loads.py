"""What `bench export` writes loads in Hugging Face datasets, and its tasks name files that load."""

from __future__ import annotations

import json
import re

import pytest

pytestmark = pytest.mark.slow


def test_the_dataset_and_the_harness_files_load(program):
    pytest.importorskip("datasets")
    exported = program.json("bench", "export", "public", "--out", "exported")
    sizes = exported["items"]
    every = program.load_dataset("exported/hf")
    assert {split: len(rows) for split, rows in every.items()} == {"test": sum(sizes.values())}
    [jsonl] = (program.folder / "exported" / "hf").glob("public-*.jsonl")
    source = {item["id"]: item for item in map(json.loads, jsonl.read_text(encoding="utf-8").splitlines())}
    for language, count in sizes.items():
        rows = program.load_dataset("exported/hf", language)["test"]
        assert len(rows) == count
        for row in rows:
            item = source[row["id"]]
            assert (row["options"], row["answer"]) == (item["options"], item["answer"])
            assert row["context"][0]["text"] == item["context"][0]["text"]

    # The harness reads the file that its task names, by the same library.
    for task in sorted((program.folder / "exported" / "lm-eval").glob("*.yaml")):
        named = re.search(r"test: (\S+\.jsonl)", task.read_text(encoding="utf-8"))[1]
        language = task.stem.removeprefix("sarcbench_")
        (program.folder / language).mkdir()
        (program.folder / language / named).write_bytes((task.parent / named).read_bytes())
        [rows] = program.load_dataset(language).values()
        assert len(rows) == sizes[language]
        assert {row["answer"] for row in rows} <= set("ABCDEF")


def test_rows_and_scores_load_too(program):
    pytest.importorskip("datasets")
    program("bench", "run", "--llm", "baseline/first", "--runs", "1", "--limit", "10", "--out", "runs")
    program("bench", "export", "runs", "--out", "rows/rows.parquet")
    [rows] = program.load_dataset("rows").values()
    assert len(rows) == 10
    assert {row["prediction"] for row in rows} == {"A"}
