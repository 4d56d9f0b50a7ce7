"""Sources by name or path, read as asked: columns, labels, split and language, one or several."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadpan import read_dataset
from deadpan.datasets import Reading, read_parts, read_several, read_source
from deadpan.errors import ConfigError, DataError

TABLE = """tweet,sarcastic,part,lang
Oh great,yes,train,en
Lovely,yes,test,en
It rains,no,train,en
Hm,maybe,train,en
Hm hm,maybe,train,en
이거 참,no,test,ko
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_a_table_of_ones_own(table: Path) -> None:
    read = read_dataset(table, text="tweet", label="sarcastic", positive="yes", negative="no")
    assert [e.label for e in read] == [True, True, False, False]
    assert read.tally.drops == {"label_unknown.maybe": 2}
    assert read.files == (table,)
    assert read_dataset(str(table), positive="yes", negative=["no"]).examples == read.examples


def test_positive_alone_does_not_make_maybe_sincere(table: Path) -> None:
    read = read_dataset(table, positive="yes")
    assert read.counts == {"sarcastic": 2, "sincere": 2, "unlabelled": 0}
    assert read.tally.drops == {"label_unknown.maybe": 2}
    assert read.tally.places["label_unknown.maybe"] == ["mine.csv:5: 'maybe'", "mine.csv:6: 'maybe'"]


def test_negative_alone(table: Path) -> None:
    read = read_dataset(table, negative="no")
    assert read.counts == {"sarcastic": 2, "sincere": 2, "unlabelled": 0}


def test_the_only_other_label_is_the_other_one(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,label\nfun,mocking\nrain,plain\nsun,plain\nfog,\n")
    assert [e.label for e in read_dataset(path, positive="mocking")] == [True, False, False, None]
    assert [e.label for e in read_dataset(path, negative="plain")] == [True, False, False, None]


def test_numbers_and_booleans_are_labels_too(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a", "label": 2.0}\n{"text": "b", "label": 0}\n{"text": "c", "label": 1}\n')
    read = read_dataset(path, positive=2, negative=[0])
    assert [e.label for e in read] == [True, False]
    assert read.tally.drops == {"label_unknown.1": 1}


def test_a_label_that_no_row_has_is_an_error_that_lists_the_labels(table: Path) -> None:
    with pytest.raises(DataError, match=r"no row has the positive label '1': the labels are yes \(2\)"):
        read_dataset(table, positive="1", negative="no")
    assert read_dataset(table, positive=["yes", "oui"]).tally.changes == {"label_not_found.oui": 1}


def test_many_strange_labels_are_counted_together(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,label\n" + "".join(f"text {n},value {n}\n" for n in range(50)) + "a,yes\nb,no\n")
    drops = read_dataset(path, positive="yes").tally.drops
    assert len(drops) == 21
    assert (drops.total(), drops["label_unknown"]) == (50, 30)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"txt": "tweet"}, "did you mean 'text'"),
        ({"columns": {"txt": "tweet"}}, "unknown column 'txt'"),
        ({"text": 3}, "name a column"),
        ({"split": "tset"}, "did you mean 'test'"),
        ({"split": 3}, "such as split='test'"),
        ({"columns": "tweet"}, "pass {field: column}"),
        ({"positive": "yes", "negative": "Yes"}, "both positive and negative"),
        ({"text_file": "x.csv"}, "does not take text_file .--text-file.: it is for isarcasm"),
    ],
)
def test_wrong_arguments_say_what_to_write(table: Path, how: dict[str, object], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_dataset(table, **how)


def test_a_source_that_is_none_of_ours() -> None:
    with pytest.raises(ConfigError, match="did you mean 'starter-en'"):
        read_dataset("starter_en")
    with pytest.raises(DataError, match=r"absent\.csv: no such file"):
        read_dataset("absent.csv")
    with pytest.raises(ConfigError, match="not int"):
        read_dataset(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"does not take positive .--positive.: it is for tables"):
        read_dataset("starter-en", positive="yes")


def test_split_and_language_select(table: Path) -> None:
    columns = (("split", "part"),)
    labels = {"columns": columns, "positive": ("yes",)}
    test = read_source(table, Reading(**labels, split="test"))  # type: ignore[arg-type]
    assert [e.response.text for e in test] == ["Lovely", "이거 참"]
    korean = read_source(table, Reading(**labels, split="test", language="ko"))  # type: ignore[arg-type]
    assert [e.response.text for e in korean] == ["이거 참"]
    with pytest.raises(DataError, match="no example is in the split 'validation': choose from test, train"):
        read_source(table, Reading(**labels, split="validation"))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no example is in the language 'ar': it has en, ko"):
        read_source(table, Reading(**labels, language="ar"))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="it has no splits"):
        read_dataset("starter-en", split="test")


def test_a_language_is_given_to_examples_without_one(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("text,label\nfun,1\nrain,0\n")
    assert {e.language for e in read_dataset(path, language="en")} == {"en"}
    assert {e.language for e in read_dataset(path, columns={"language": "ko"})} == {"ko"}


def test_a_dataset_shows_itself_shortly() -> None:
    dataset = read_dataset("starter-en")
    assert repr(dataset) == "<Dataset starter-en: 680 examples (340 sarcastic, 340 sincere)>"
    assert "340" in str(dataset)
    assert "<table" in dataset._repr_html_()
    assert dataset.as_dict()["examples"] == 680


def test_the_folder_of_the_corpora_can_come_from_the_environment(tmp_path, monkeypatch):
    (tmp_path / "isarcasm").mkdir()
    (tmp_path / "isarcasm" / "isarcasm_train.csv").write_text("text,sarcasm_label\nOh great.,sarcastic\n")
    monkeypatch.setenv("DEADPAN_DATA", str(tmp_path))
    assert [e.response.text for e in read_dataset("isarcasm").examples] == ["Oh great."]
    with pytest.raises(DataError, match="no folder"):
        read_dataset("isarcasm", tmp_path / "elsewhere")
    monkeypatch.delenv("DEADPAN_DATA")
    with pytest.raises(DataError, match="DEADPAN_DATA"):
        read_dataset("isarcasm")


def test_each_corpus_is_one_part_and_ids_do_not_meet(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("id,text,label,user\n1,oh,1,u\n2,no,0,u\n")
    data = read_parts(None, tmp_path / "a.csv", tmp_path / "b.csv")
    assert [(e.id, e.split, e.group) for e in data.examples] == [
        ("train/1", "train", "train/u"), ("train/2", "train", "train/u"),
        ("1", "test", "test/u"), ("2", "test", "test/u"),
    ]  # fmt: skip


def test_columns_are_for_the_tables_among_several_sources(tmp_path):
    (tmp_path / "a.csv").write_text("id,tweet,label\n1,oh great,1\n2,no,0\n")
    reading = Reading.of(text="tweet")
    table, starter = read_several([tmp_path / "a.csv", "starter-en"], reading)
    assert [e.response.text for e in table.examples] == ["oh great", "no"] and len(starter.examples) > 100
    assert read_parts(None, "starter-en", tmp_path / "a.csv", reading).examples[-1].response.text == "no"
    with pytest.raises(ConfigError, match="starter-en does not take columns"):
        read_several(["starter-en", "starter-ko"], reading)


@pytest.mark.parametrize("given", [(None, None, None), ("a", "b", None), (None, "a", None), ("a", "b", "c")])
def test_one_source_or_both_parts(given):
    with pytest.raises(ConfigError, match="one SOURCE, or both"):
        read_parts(*given)
