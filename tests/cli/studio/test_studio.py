"""The commands, as the shell runs them."""

from __future__ import annotations

import json

import pytest

from deadpan.formats.study import AuditItem, ReaderJudgmentItem, Study, write_study
from deadpan.records import Turn


@pytest.fixture
def home(site):
    return site.home


def test_create_invite_status_export(deadpan, home, site, tmp_path):
    made = deadpan(
        "studio", "create", "reader-judgment", "--name", "first", "starter-en", "--sample", 5, "--home", home, "--json",
        "--open", "--setting", "contact=lab@example.org",
    )  # fmt: skip
    assert made.status == 0, made.err
    assert made.json == {
        "study": "first",
        "protocol": "reader-judgment",
        "items": 5,
        "raters_per_item": 3,
        "qualification": 0,
        "stage": "open",
    }
    link = deadpan("studio", "invite", "first", "--home", home, "--json").json["link"]
    client = site.client()
    assert (
        client.post(
            link.removeprefix("http://127.0.0.1:8000"), {"name": "ann", "password": "correct horse battery"}
        ).status_code
        == 302
    )
    status = deadpan("studio", "status", "first", "--home", home)
    assert status.status == 0 and "0 of 15" in status.out and "ann" in status.out
    assert deadpan("studio", "status", "first", "--agreement", "--home", home).status == 0
    out = deadpan("studio", "export", "first", "--out", tmp_path / "out", "--home", home, "--json")
    assert out.json["counts"] == {"judgments": 0, "labels": 0}
    assert deadpan("studio", "backup", "--out", tmp_path / "b.gz", "--home", home).status == 0


@pytest.mark.parametrize(
    ("protocol", "source", "n"),
    [("pairwise", "starter-en", 4), ("annotate", "starter-ko", 4), ("audit", "starter-en", 8)],
)
def test_items_come_from_a_corpus(deadpan, home, protocol, source, n):
    made = deadpan("studio", "create", protocol, "--name", "c", source, "--sample", 4, "--home", home, "--json")
    assert made.status == 0, made.err
    assert made.json["items"] == n


def test_a_study_folder_brings_its_own_settings(deadpan, home, tmp_path):
    item = AuditItem("a", Turn("", "Fine."), label=True)
    write_study(tmp_path / "s", Study("audit", "Mine", raters_per_item=2, settings={"rate": 10}), [item])
    made = deadpan("studio", "create", "audit", "--name", "a", tmp_path / "s", "--home", home, "--json")
    assert made.json["raters_per_item"] == 2
    assert deadpan("studio", "create", "pairwise", "--name", "b", tmp_path / "s", "--home", home).status == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["create", "reader-judgement", "--name", "a"], "did you mean 'reader-judgment'"),
        (["create", "reader-judgment", "--name", "a"], "needs items"),
        (["create", "reader-judgment", "--name", "../a", "starter-en"], "part of an address"),
        (["create", "reader-judgment", "--name", "a", "nowhere.jsonl"], "no such file"),
        (["status", "nowhere"], "there is none yet"),
        (["import", "nowhere", "x.jsonl"], "there is none yet"),
        (["restore", "nowhere.gz"], "no such file"),
    ],
)
def test_mistakes_are_one_line_that_says_the_cure(deadpan, home, words, says):
    ran = deadpan("studio", *words, "--home", home)
    assert ran.status == 2 and says in ran.err and len(ran.err.strip().splitlines()) == 1


def test_an_unknown_setting_names_the_nearest(deadpan, home, tmp_path):
    config = tmp_path / "study.toml"
    config.write_text('protocol = "author-survey"\ntitle = "T"\n[settings]\nhuors = 3\n', "utf-8")
    ran = deadpan("studio", "create", "author-survey", "--name", "t", "--config", config, "--home", home)
    assert ran.status == 2 and "did you mean 'hours'" in ran.err


def test_a_study_is_never_overwritten(deadpan, home):
    words = ("studio", "create", "reader-judgment", "--name", "a", "starter-en", "--sample", 2, "--home", home)
    assert deadpan(*words).status == 0
    again = deadpan(*words)
    assert again.status == 2 and "never overwritten" in again.err


def test_a_folder_edited_in_mid_run_changes_nothing(deadpan, home, tmp_path):
    """The studio holds its own copy: what people were asked stays what they were asked."""
    item = ReaderJudgmentItem("a", Turn("", "Fine."), label=True)
    write_study(tmp_path / "s", Study("reader-judgment", "Mine"), [item])
    words = (tmp_path / "s", "--home", home)
    assert deadpan("studio", "create", "reader-judgment", "--name", "a", *words).status == 0
    (tmp_path / "s" / "items.jsonl").write_text("", "utf-8")
    assert "0 of 3" in deadpan("studio", "status", "a", "--home", home).out
    edited = deadpan("studio", "create", "reader-judgment", "--name", "b", *words)
    assert edited.status == 2 and "not as manifest.json says" in edited.err


def test_labels_made_elsewhere(deadpan, home, tmp_path):
    deadpan("studio", "create", "reader-judgment", "--name", "a", "starter-en", "--sample", 2, "--home", home)
    out = tmp_path / "ls.json"
    assert deadpan("studio", "export", "a", "--out", out, "--label-studio", "--home", home).status == 0
    tasks = json.loads(out.read_text("utf-8"))
    for task in tasks:
        task["annotations"] = [{"completed_by": 1, "created_at": "2024-01-01T00:00:00Z", "lead_time": 3.0,
                                "result": [{"from_name": "sarcastic", "value": {"choices": ["sarcastic"]}}]}]  # fmt: skip
    out.write_text(json.dumps(tasks), "utf-8")
    ran = deadpan("studio", "import", "a", out, "--home", home, "--json")
    assert ran.json["added"] == 2 and ran.json["drops"] == {}
    released = deadpan("studio", "release", "a", "--out", tmp_path / "r", "--mode", "gated", "--home", home, "--json")
    assert released.status == 0 and released.json["examples"] == 2


def test_a_study_is_made_from_a_table(deadpan, home, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("tweet,kind\nOh great.,sarc\nIt rains.,plain\nPerhaps.,maybe\n", "utf-8")
    words = ("--column", "text=tweet", "--column", "label=kind", "--positive", "sarc", "--negative", "plain")
    made = deadpan("studio", "create", "audit", table, "--name", "a", *words, "--home", home, "--json")
    assert made.status == 0, made.err
    assert made.json["items"] == 2  # "maybe" is neither label


def test_a_quiz_is_made_from_a_set_by_its_name(deadpan, home):
    made = deadpan("studio", "create", "quiz", "public@0.3.0", "--limit", 4, "--name", "q", "--home", home, "--json")
    assert made.status == 0, made.err
    assert made.json["items"] == 4


def test_tables_fit_eighty_columns(deadpan, home):
    deadpan("studio", "create", "reader-judgment", "starter-en", "--name", "a-study-with-a-long-name", "--home", home)
    for command in (
        ("status",),
        ("status", "a-study-with-a-long-name"),
        ("status", "a-study-with-a-long-name", "--agreement"),
    ):
        out = deadpan("studio", *command, "--home", home).out
        assert max(map(len, out.splitlines())) <= 80


def test_an_unknown_protocol_leaves_no_studio_behind(deadpan, tmp_path):
    ran = deadpan("studio", "create", "annotat", "starter-en", "--name", "x", "--home", tmp_path / "studio")
    assert ran.status == 2
    assert "did you mean 'annotate'?" in ran.err
    assert not (tmp_path / "studio").exists()
