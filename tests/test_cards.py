"""A release says what it is, its hashes and columns are true, and its gaps are not silent."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pyarrow.parquet as pq
import pytest

from deadpan.cards import KINDS, DataFacts, ModelFacts, Sizes, data_card, model_card, write_dataset_folder
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, LabelKind, Turn
from deadpan.stats import Interval, wilson
from deadpan.storage import read_manifest, read_records

FACTS = DataFacts(
    title='비꼬는 "대화": a | part',
    version="1.2.0",
    language=("ko", "en"),
    licence="CC-BY-4.0",
    citation="@article{x, title={``Y``}}\n```\nodd",
    summary="Korean dialogues.",
    how_made="Written by a model, judged by three people.",
    personal_data="None: speakers are letters.",
    known_limits=("Small.", "One\nregister."),
    creators=("Somebody",),
    url="https://example.org/data",
    published="2025-03-01",
)
MODEL = ModelFacts(
    title="Linear detector",
    version="1",
    language=("ko",),
    licence="Our own terms",
    citation="none",
    summary="Word and character n-grams.",
    data="KoCoSa train.",
    intended_use="A baseline.",
    not_for="Moderating people.",
    where_it_fails=("Hyperbole without context.",),
)


def example(name: str, label: bool | None, **more: object) -> Example:
    return replace(Example(name, Turn("B", f"와 {name}"), (Turn("A", "안녕"), Turn("", "x")), label), **more)


TRAIN = [
    example("a", True, label_kind="author", categories=("irony",), meta={"n": 1}),
    example("b", False, label_kind="marker", context=()),
    example("c", None),
]
DEV = [example("d", True, label_kind="author", split="dev")]


@pytest.fixture
def release(tmp_path: Path) -> Path:
    tally = Tally()
    tally.drop("withdrawn")
    write_dataset_folder(tmp_path / "r", {"train": iter(TRAIN), "dev": DEV}, FACTS, tally=tally)
    return tmp_path / "r"


def front_matter(card: str) -> dict[str, object]:
    """Ours is JSON after each key; that YAML reads it alike is YAML's promise, tried by hand with PyYAML."""
    lines = card.split("---\n")[1].splitlines()
    return {line.split(": ", 1)[0]: json.loads(line.split(": ", 1)[1]) for line in lines}


def test_the_folder_holds_what_it_should(release):
    names = sorted(p.relative_to(release).as_posix() for p in release.rglob("*") if p.is_file())
    assert names == ["README.md", "croissant.json", "data/dev.parquet", "data/train.parquet", "manifest.json"]
    manifest = read_manifest(release)
    assert set(manifest.files) == set(names) - {"manifest.json"}
    assert manifest.drops == {"withdrawn": 1}
    assert manifest.counts["train.sarcastic"] == 1 and manifest.counts["dev.sarcastic"] == 1


def test_the_examples_come_back_with_their_split(release):
    assert list(read_records(release / "data/train.parquet", Example)) == [replace(e, split="train") for e in TRAIN]
    assert list(read_records(release / "data/dev.parquet", Example)) == DEV


def test_croissant_names_the_true_files_by_their_true_hash(release):
    described = json.loads((release / "croissant.json").read_text("utf-8"))
    assert described["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert described["license"] == "https://spdx.org/licenses/CC-BY-4.0.html"
    assert (described["citeAs"], described["url"]) == (FACTS.citation, FACTS.url)
    assert (described["version"], described["datePublished"]) == ("1.2.0", "2025-03-01")
    assert {file["contentUrl"] for file in described["distribution"]} == {"data/train.parquet", "data/dev.parquet"}
    for file in described["distribution"]:
        data = (release / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(data).hexdigest()
        assert file["contentSize"] == f"{len(data)} B"
        assert (file["@type"], file["encodingFormat"]) == ("cr:FileObject", "application/x-parquet")


def test_croissants_fields_are_the_columns(release):
    described = json.loads((release / "croissant.json").read_text("utf-8"))
    files = {file["@id"]: file["contentUrl"] for file in described["distribution"]}
    ids = [field["@id"] for records in described["recordSet"] for field in records["field"]]
    assert len(ids) == len(set(ids))
    types = {"bool": "sc:Boolean", "string": "sc:Text"}
    for records in described["recordSet"]:
        schema = pq.read_schema(release / "data" / f"{records['name']}.parquet")
        assert [field["name"] for field in records["field"]] == schema.names
        for field in records["field"]:
            column = schema.field(field["name"])
            listed = str(column.type).startswith("list")
            assert field.get("repeated", False) is listed
            inner = column.type.value_type if listed else column.type
            parts = field.get("subField", [field])
            if "subField" in field:
                assert [part["name"] for part in parts] == [part.name for part in inner]
                assert [part["source"]["transform"]["jsonPath"] for part in parts] == [p.name for p in inner]
            else:
                assert field["dataType"] == types[str(inner)]
            for part in parts:
                assert files[part["source"]["fileObject"]["@id"]] == f"data/{records['name']}.parquet"
                assert part["source"]["extract"]["column"] == field["name"]


@pytest.mark.filterwarnings("ignore")  # those of the libraries it stands on
def test_mlcroissant_validates_and_loads_it(release):
    mlcroissant = pytest.importorskip("mlcroissant")
    dataset = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))
    assert not dataset.metadata.issues.errors and not dataset.metadata.issues.warnings
    first, second, third = dataset.records("train")
    assert first["train/id"] == b"a" and first["train/label"] is True and third["train/label"] is None
    assert first["train/response"]["train/response/text"].decode() == "와 a"
    assert [turn["train/context/text"].decode() for turn in first["train/context"]] == ["안녕", "x"]
    assert second["train/context"] == [] and first["train/categories"] == [b"irony"]
    assert [record["dev/id"] for record in dataset.records("dev")] == [b"d"]


@pytest.mark.filterwarnings("ignore")  # those of the libraries it stands on
def test_mlcroissant_notices_a_file_that_was_changed(release):
    mlcroissant = pytest.importorskip("mlcroissant")
    other = release / "data" / "dev.parquet"
    (release / "data" / "train.parquet").write_bytes(other.read_bytes())
    dataset = mlcroissant.Dataset(jsonld=str(release / "croissant.json"))  # validating alone sees nothing
    with pytest.raises(Exception, match="Download"):
        next(iter(dataset.records("train")))


def test_the_card_counts_and_says_what_people_must_know(release):
    card = (release / "README.md").read_text("utf-8")
    front = front_matter(card)
    assert front["pretty_name"] == FACTS.title
    assert (front["language"], front["license"]) == (["ko", "en"], "cc-by-4.0")
    assert front["size_categories"] == ["n<1K"]
    files = front["configs"][0]["data_files"]
    assert [(f["split"], f["path"]) for f in files] == [
        ("train", "data/train.parquet"),
        ("validation", "data/dev.parquet"),
    ]
    assert "| train | 1 | 1 | 1 | 3 |" in card and "| dev | 1 | 0 | 0 | 1 |" in card
    assert re.search(r"\| author \| the author, who was asked \| 2 \|", card)
    for said in (FACTS.how_made, FACTS.personal_data, "- One register.", "CC-BY-4.0"):
        assert said in card
    assert f"````\n{FACTS.citation}\n````" in card
    assert '# 비꼬는 "대화": a \\| part\n' in card


def test_a_licence_the_hub_does_not_know_is_other():
    front = front_matter(data_card(replace(FACTS, licence="Reddit's terms"), Sizes()))
    assert (front["license"], front["license_name"]) == ("other", "Reddit's terms")


@pytest.mark.parametrize(
    ("n", "said"), [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (1_300_000, "1M<n<10M"), (10**8, "n>10M")]
)
def test_sizes_have_the_hubs_names(n, said):
    sizes = Sizes()
    sizes.kinds["marker"] = n
    assert front_matter(data_card(FACTS, sizes))["size_categories"] == [said]


def test_every_kind_of_label_is_explained():
    assert set(KINDS) == set(get_args(LabelKind))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"title": " "}, "an answer for title"),
        ({"personal_data": ""}, "an answer for personal_data"),
        ({"known_limits": ()}, "one entry or more for known_limits"),
        ({"version": "1.0"}, "three numbers"),
        ({"published": "March"}, "a date"),
    ],
)
def test_a_silent_gap_is_refused(change, said):
    with pytest.raises(ConfigError, match=said):
        replace(FACTS, **change)


@pytest.mark.parametrize(
    ("splits", "error", "said"),
    [
        ({}, ConfigError, "at least one split"),
        ({"../x": DEV}, ConfigError, "letters, digits and _"),
        ({"train": TRAIN, "dev": [*DEV, TRAIN[0]]}, DataError, "'a' of dev is already in train"),
        ({"train": DEV}, DataError, "'d' says its split is dev, not train"),
    ],
)
def test_a_release_that_contradicts_itself_is_refused(tmp_path, splits, error, said):
    with pytest.raises(error, match=said):
        write_dataset_folder(tmp_path / "r", splits, FACTS)
    assert not (tmp_path / "r" / "manifest.json").exists()
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize("splits", [("all",), ("train", "dev"), ("train", "dev", "test")])
def test_hugging_face_loads_it(tmp_path, splits, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    parts = {split: [replace(e, id=f"{split}-{e.id}") for e in TRAIN] for split in splits}
    write_dataset_folder(tmp_path / "r", parts, FACTS)
    loaded = datasets.load_dataset(str(tmp_path / "r"), cache_dir=str(tmp_path / "cache"))
    names = {"all": "train", "dev": "validation"}
    assert {name: part["label"] for name, part in loaded.items()} == {
        names.get(split, split): [True, False, None] for split in splits
    }
    assert loaded["train"][0]["response"] == {"speaker": "B", "text": "와 a"}


def test_two_splits_of_one_name_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="the same name on Hugging Face"):
        write_dataset_folder(tmp_path / "r", {"all": TRAIN, "train": DEV}, FACTS)


def test_splits_of_ones_own_and_writing_again(tmp_path):
    for _ in range(2):
        sizes = write_dataset_folder(tmp_path, {"all": [*TRAIN, *DEV]}, FACTS)
    assert sizes.total == 4
    assert [e.split for e in read_records(tmp_path / "data/all.parquet", Example)] == ["", "", "", "dev"]
    with pytest.raises(DataError, match=r"all\.parquet: left there"):
        write_dataset_folder(tmp_path, {"train": TRAIN}, FACTS)


def test_files_of_somebody_else_are_neither_replaced_nor_listed(tmp_path):
    (tmp_path / "README.md").write_text("# A project")
    with pytest.raises(ConfigError, match=r"README\.md: not written by deadpan"):
        write_dataset_folder(tmp_path, {"train": TRAIN}, FACTS)
    (tmp_path / "README.md").rename(tmp_path / "notes.md")
    for _ in range(2):
        write_dataset_folder(tmp_path, {"train": TRAIN}, FACTS)
    assert set(read_manifest(tmp_path).files) == {"README.md", "croissant.json", "data/train.parquet"}
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(ConfigError, match="not a manifest of deadpan"):
        write_dataset_folder(tmp_path, {"train": TRAIN}, FACTS)


def test_the_same_release_is_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_dataset_folder(tmp_path / name, {"train": TRAIN, "test": []}, FACTS)
    for path in (tmp_path / "one").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes()


def test_a_model_card_shows_intervals_n_and_where_it_fails():
    undefined = Interval(None, None, None, 0.95, 0, "no pairs")
    card = model_card(MODEL, {"accuracy": wilson(75, 100), "pairs": undefined}, measured_on="KoCoSa dev")
    assert "| accuracy | 0.750 [0.657, 0.825] | 100 |" in card
    assert "| pairs | undefined (no pairs) | 0 |" in card
    assert "value [95 % interval]" in card and "Measured on KoCoSa dev." in card
    for said in ("## Where it fails", "- Hyperbole without context.", MODEL.intended_use, MODEL.not_for, MODEL.data):
        assert said in card
    assert front_matter(card)["license"] == "other"
    assert "Not measured." in model_card(MODEL, {}, measured_on="nothing")
