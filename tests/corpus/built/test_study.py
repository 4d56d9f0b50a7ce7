"""Studies written from a corpus: audits and pairs."""

from __future__ import annotations

import json
from pathlib import Path

from corpus.dumping import comment
from corpus.making import files, run
from deadpan.corpus import BuiltCorpus
from deadpan.corpus.built.study import write_noise_study, write_pairs_study
from deadpan.formats.study import read_study


def test_the_audit_shows_texts_with_their_marker(tmp_path: Path, built: Path) -> None:
    assert write_noise_study(built, tmp_path / "audit", count=10).items == 20
    study, items = read_study(tmp_path / "audit")
    assert study.protocol == "audit"
    sarcastic = [item for item in items if item.label]
    assert len(sarcastic) == 10
    assert all(item.response.text.rstrip("\u00a0 \n").endswith("/s") for item in sarcastic)
    assert all("/s" not in item.text[-3:] for item in sarcastic)
    assert sum(bool(item.context) for item in items) > 15
    again = tmp_path / "again"
    write_noise_study(built, again, count=10)
    assert files(again) == files(tmp_path / "audit")


def test_pairs_ask_which_of_two(tmp_path: Path, built: Path) -> None:
    count = write_pairs_study(built, tmp_path / "pairs", count=8).items
    study, items = read_study(tmp_path / "pairs")
    assert (study.protocol, study.raters_per_item) == ("pairwise", 5)
    assert count == len(items) > 3
    entries = BuiltCorpus(built).texts("main", (id for item in items for id in item.ids))
    for item in items:
        assert [entries[id]["text"] for id in item.ids] == list(item.options)
        assert item.answer in (0, 1)


def test_sincere_comments_are_shown_with_their_whole_conversation(tmp_path: Path) -> None:
    lines = [
        comment("a", author="bob", body="first"),
        comment("b", author="cy", body="second", parent_id="t1_a"),
        comment("b", author="cy", body="second, once more", parent_id="t1_a", retrieved_on=9),
        comment("c", author="dee", body="third", parent_id="t1_b", link_id="t3_wrong"),
        comment("d", author="ann", body="fourth and last", parent_id="t1_c"),
        comment("m", author="ann", body="I know it /s", parent_id="t3_q", link_id="t3_q"),
    ]
    (tmp_path / "RC_2010-01").write_bytes(b"".join(lines))
    title = {"id": "p", "title": "The post", "author": "eve", "created_utc": 1262304000}
    (tmp_path / "RS_2010-01").write_text(json.dumps(title) + "\n")
    run(tmp_path, [str(tmp_path / "RC_2010-01"), str(tmp_path / "RS_2010-01")])
    write_noise_study(tmp_path / "out", tmp_path / "audit", count=10)
    items = {item.id: item for item in read_study(tmp_path / "audit")[1]}
    assert [turn.text for turn in items["d"].context] == ["The post", "first", "second, once more", "third"]
    assert [turn.speaker for turn in items["d"].context] == ["eve", "bob", "cy", "dee"]
