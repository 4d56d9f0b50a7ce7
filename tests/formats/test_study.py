"""A study folder comes back as it went in, and one that is damaged says so."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.study import (
    AnnotateItem,
    PairwiseItem,
    QuizItem,
    QuizSettings,
    ReaderJudgmentItem,
    Study,
    item_type,
    read_items,
    read_study,
    settings_type,
    write_study,
)
from deadpan.records import Turn
from deadpan.storage import read_manifest
from strategies import names, texts, turns

STUDY = Study(
    "annotate",
    "비꼬는 말인가요?",
    language="ko",
    seed=7,
    settings={"overlap": 0.5, "questions": {"response": ["1", "2"]}},
)
ITEMS = [
    AnnotateItem(
        "a", Turn("B", "와, 대단하네"), (Turn("A", "또 졌어"),), explanation="비꼬는 말", topic="야구", label=True
    ),
    AnnotateItem("b", Turn("", "fine")),
]


def test_a_study_comes_back_as_it_went_in(tmp_path):
    tally = Tally()
    tally.drop("too_long")
    assert write_study(tmp_path / "s", STUDY, ITEMS, command="generate study", tally=tally) == 2
    assert read_study(tmp_path / "s") == (STUDY, ITEMS)
    manifest = read_manifest(tmp_path / "s")
    assert (manifest.command, manifest.seed, manifest.counts) == ("generate study", 7, {"items": 2})
    assert manifest.drops == {"too_long": 1}
    assert set(manifest.files) == {"study.toml", "items.jsonl"}


items = st.lists(
    st.builds(
        AnnotateItem,
        id=names.filter(str.strip),
        response=turns.filter(lambda turn: turn.text.strip()),
        context=st.lists(turns, max_size=2).map(tuple),
        explanation=texts,
        topic=texts,
        label=st.none() | st.booleans(),
        categories=st.lists(names, max_size=3).map(tuple),
        check=st.dictionaries(names, names),
    ),
    max_size=3,
    unique_by=lambda item: item.id,
)
said = texts.filter(str.strip)


@settings(max_examples=15, deadline=None)
@given(st.builds(Study, st.just("annotate"), said, said, said, st.integers(0, 2**32), st.integers(1, 9)), items)
def test_any_study_comes_back(study, made):
    with tempfile.TemporaryDirectory() as folder:
        write_study(Path(folder), study, made)
        assert read_study(Path(folder)) == (study, made)


def test_the_same_study_is_written_as_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_study(tmp_path / name, STUDY, ITEMS)
    for name in ("study.toml", "items.jsonl", "manifest.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ([ITEMS[0], ITEMS[1], ITEMS[0]], "item 3 has the id 'a' of item 1"),
        ([AnnotateItem("a", Turn("B", " \n"))], "item 'a' has no text"),
        ([AnnotateItem(" ", Turn("B", "x"))], "item 1 has no id"),
        ([ReaderJudgmentItem("a", Turn("B", "x"))], "item 'a' is a ReaderJudgmentItem: the protocol annotate needs"),
    ],
)
def test_items_that_cannot_be_asked_about_are_refused_and_nothing_is_written(tmp_path, bad, said):
    with pytest.raises(DataError, match=said):
        write_study(tmp_path / "s", STUDY, bad)
    assert not (tmp_path / "s").exists()


def test_a_study_without_raters_or_a_title_is_refused():
    for raters in (0, 10**20):
        with pytest.raises(ConfigError, match="raters_per_item needs 1 to 10,000"):
            Study("annotate", "t", raters_per_item=raters)
    with pytest.raises(ConfigError, match="title is empty"):
        Study("annotate", " ")


def test_a_misspelt_key_names_the_nearest(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    path = tmp_path / "study.toml"
    path.write_text(path.read_text("utf-8").replace("raters_per_item", "rater_per_item"), "utf-8")
    with pytest.raises(ConfigError, match=r"study\.toml: unknown key 'rater_per_item': did you mean 'raters_per"):
        read_study(tmp_path)


def test_study_toml_may_be_edited_by_hand(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    path = tmp_path / "study.toml"
    path.write_text(path.read_text("utf-8").replace("raters_per_item = 3", "raters_per_item = 5"), "utf-8")
    assert read_study(tmp_path)[0].raters_per_item == 5


def test_a_folder_without_a_manifest_was_cut_short(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="was cut short"):
        read_study(tmp_path)
    with pytest.raises(DataError, match="no such study folder"):
        read_study(tmp_path / "absent")


def test_writing_again_that_fails_does_not_leave_the_old_manifest(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    with pytest.raises(DataError, match="cannot be written"):
        write_study(tmp_path, STUDY, [AnnotateItem("a", Turn("", "x"), topic=object())])
    with pytest.raises(DataError, match="was cut short"):
        read_study(tmp_path)


def test_items_cut_off_at_a_line_are_noticed(tmp_path):
    write_study(tmp_path, STUDY, ITEMS)
    path = tmp_path / "items.jsonl"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(DataError, match=r"items\.jsonl: not as manifest\.json says"):
        read_study(tmp_path)


def test_a_file_in_the_way_is_said(tmp_path):
    (tmp_path / "s").write_text("x")
    with pytest.raises(ConfigError, match="is a file: choose another --out"):
        write_study(tmp_path / "s", STUDY, ITEMS)


def test_files_of_somebody_else_are_neither_replaced_nor_listed(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for _ in range(2):
        write_study(tmp_path, STUDY, ITEMS)
    assert set(read_manifest(tmp_path).files) == {"study.toml", "items.jsonl"}
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "manifest.json").write_text('{"name": "an app"}')
    with pytest.raises(ConfigError, match="not a manifest of deadpan"):
        write_study(tmp_path / "site", STUDY, ITEMS)
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["manifest.json"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": "B"}, r"item 'q': answer needs a whole number, got 'B'"),
        ({"answer": 6}, r"item 'q' needs answer"),
        ({"options": ["one"]}, r"item 'q' needs two to six options"),
        ({"aswer": 1}, r"item 'q': unknown key 'aswer'"),
    ],
)
def test_an_item_that_does_not_fit_is_named_with_its_field(tmp_path, row, said):
    whole = {"id": "q", "response": {"speaker": "", "text": "x"}, "options": list("abcdef"), "answer": 0}
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(whole | {"id": "p"}) + "\n" + json.dumps(whole | row) + "\n", "utf-8")
    with pytest.raises(DataError, match=rf"items\.jsonl: {said}"):
        read_items(path, "quiz")


def test_hidden_fields_are_not_among_those_shown():
    item = QuizItem("q", Turn("", "x"), options=tuple("abcdef"), question="?", answer=0, category="c")
    assert item.shown_fields() == {"options": list("abcdef"), "question": "?"}
    assert item.hidden_fields() == {"answer": 0, "category": "c"}


@pytest.mark.parametrize(
    ("protocol", "settings", "said"),
    [
        ("quiz", {"sett": "public@0.3.0"}, "unknown setting 'sett': did you mean 'set'?"),
        ("reader-judgment", {"context": "some"}, 'settings: context needs one of "full", "none"'),
        ("reader-judgment", {"attention_every": "x"}, "attention_every needs a whole number"),
        ("annotate", {"threshold": 1.5}, "threshold needs 0 to 1, got 1.5"),
        ("annotate", {"rate": float("nan")}, "rate needs 0 to 1,000,000,000, got nan"),
        ("annotate", {"abandon_minutes": 1e12}, "abandon_minutes needs 0 to"),
        ("annotate", {"completion_url": "https://[x"}, "completion_url needs an address"),
        ("annotate", {"screenout_url": "javascript:alert(1)"}, "screenout_url needs an address"),
        ("quiz", {"agreement_threshold": 2}, "agreement_threshold needs 0 to 1"),
        ("author-survey", {"hours": 1e9}, "hours needs 0 to 87,600"),
        ("author-survey", {"words": -1}, "words needs 0 to"),
        ("pairwise", {"context": "full"}, "unknown setting 'context'"),
    ],
)
def test_settings_are_typed_by_protocol(tmp_path, protocol, settings, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        write_study(tmp_path / "s", Study(protocol, "t", settings=settings), [])
    assert not (tmp_path / "s").exists()


def test_a_protocol_of_another_package_brings_its_types(monkeypatch):
    from deadpan import registry

    target = ("rank", f"{__name__}:RankProtocol", "another-package")
    monkeypatch.setattr(registry, "_entry_points", lambda group: iter([target]))
    monkeypatch.setitem(sys.modules, __name__, SimpleNamespace(RankProtocol=RankProtocol))
    assert (item_type("rank"), settings_type("rank")) == (PairwiseItem, QuizSettings)
    with pytest.raises(ConfigError, match="unknown protocol 'rnak': did you mean 'rank'"):
        item_type("rnak")


class RankProtocol:
    item_type = PairwiseItem
    settings_type = QuizSettings
