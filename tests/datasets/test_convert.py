"""Converted corpora load where people will load them."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.datasets import read_dataset
from deadpan.datasets.convert import convert_dataset, parse_sizes, split_dataset
from deadpan.datasets.reading import Reading
from deadpan.errors import ConfigError
from deadpan.records import Example, Turn
from deadpan.storage import read_manifest, write_records

TABLE = "text,label,split\nOh great,yes,train\nRain,no,train\nLovely,yes,validation\nHm,maybe,test\nOk,no,test\n"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Load a folder with Hugging Face datasets, offline; the texts by split."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")

    def load(folder: Path) -> dict[str, list[str]]:
        loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))
        return {name: [turn["text"] for turn in part["response"]] for name, part in loaded.items()}

    return load


def test_a_folder_loads_on_the_hub_and_here(tmp_path: Path, hub) -> None:
    (tmp_path / "mine.csv").write_text(TABLE)
    how = Reading(positive=("yes",), negative=("no",), language="en")
    result = convert_dataset(tmp_path / "mine.csv", tmp_path / "out", how)
    assert (result.examples, result.tally.drops) == (4, {"label_unknown.maybe": 1})
    assert hub(tmp_path / "out") == {"train": ["Oh great", "Rain"], "validation": ["Lovely"], "test": ["Ok"]}
    read = read_dataset(tmp_path / "out")
    assert [(e.response.text, e.label, e.split) for e in read] == [
        ("Lovely", True, "dev"),
        ("Ok", False, "test"),
        ("Oh great", True, "train"),
        ("Rain", False, "train"),
    ]
    assert read_manifest(tmp_path / "out").drops == {"label_unknown.maybe": 1}


def test_a_corpus_without_splits_loads_as_train(tmp_path: Path, hub) -> None:
    convert_dataset("starter-ko", tmp_path / "out")
    assert hub(tmp_path / "out") == {"train": [e.response.text for e in read_dataset("starter-ko")]}


def test_the_parts_of_a_split_load(tmp_path: Path, hub) -> None:
    result = split_dataset("starter-ko", tmp_path / "parts")
    loaded = hub(tmp_path / "parts")
    assert {"validation" if name == "dev" else name: n for name, n in result.counts.items()} == {
        name: len(part) for name, part in loaded.items()
    }
    assert "sarcastic" in str(result)


def test_another_extension_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="or a folder"):
        convert_dataset("starter-ko", tmp_path / "x.doc")


@pytest.mark.parametrize("sizes", ["8", "8:x", "1:1:1:1", "8:0", "-1:2", ""])
def test_sizes_that_are_none(sizes: str) -> None:
    with pytest.raises(ConfigError, match="train:dev:test"):
        parse_sizes(sizes)
    assert parse_sizes("80:20") == {"train": 0.8, "test": 0.2}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_a_table_reads_back_as_the_same_examples(suffix: str, tmp_path: Path) -> None:
    first = Example(
        "a", Turn("ann", 'Lovely; "rain",\nagain'), (Turn("bob", "It rains"),), True, ("irony", "satire"),
        "author", "thread", "pair", "train", "corpus", "en", "It is not lovely.", "The rain is bad.",
        {"topic": "weather", "votes": 3},
    )  # fmt: skip
    second = Example("b", Turn("", "월요일"), label=None, label_kind="", source="corpus", language="ko")
    write_records(tmp_path / "in.jsonl", [first, second], Example)
    convert_dataset(tmp_path / "in.jsonl", tmp_path / f"out{suffix}")
    assert read_dataset(tmp_path / f"out{suffix}").examples == [first, second]


def test_a_table_of_others_with_the_same_columns_keeps_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("text,label,source,categories,label_kind,meta\nHm,1,twitter,x,mine,no json\n")
    (only,) = read_dataset(tmp_path / "mine.csv").examples
    assert (only.source, only.meta["source"], only.label_kind) == ("table", "twitter", "")
