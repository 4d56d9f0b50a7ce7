"""Cases that nothing used to say anything about: times, placeholders, marker signs, missing scores and posts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from corpus.dumping import comment
from corpus.making import files, recount, run
from deadpan.corpus import BuiltCorpus, build_corpus, read_statistics, verify_corpus
from deadpan.corpus.built.verify import giveaways
from deadpan.errors import ConfigError, DataError

JANUARY = 1262304000
BODIES = {
    "a": "well done ^/s", "b": r"of course \/s", "c": "thanks a lot /s /s", "d": "yes and/s /s", "e": "so nice!/s ^/s",
    "f": " [deleted] \n", "g": "[ Removed by Reddit ]", "h": "[DELETED BY USER]", "i": "a\0 b\0 c", "j": "deleted [it]",
}  # fmt: skip


def dump(folder: Path) -> list[str]:
    lines = [comment(id, body=body, created_utc=JANUARY) for id, body in BODIES.items()]
    lines += [comment("k", created_utc=9300000000000), comment("l", created_utc=-1), comment("m", created_utc=1e300)]
    lines += [comment("n", score=-1, ups=None), comment("o", score=None, ups=0, downs=2)]
    (folder / "RC_2010-01").write_bytes(b"".join(lines))
    title = {"id": "p", "title": "[deleted by user] ", "author": "x", "created_utc": JANUARY}
    (folder / "RS_2010-01").write_text(json.dumps(title) + "\n")
    return [str(folder / name) for name in ("RC_2010-01", "RS_2010-01")]


def test_odd_texts_times_and_scores_are_cleaned_counted_and_shown(tmp_path: Path) -> None:
    paths = dump(tmp_path)
    manifest = run(tmp_path, paths)
    rows = {row[10]: row for row in (line.split(",") for line in _csv(tmp_path / "out"))}
    assert {id: row[1] for id, row in rows.items()} == {
        "a": "well done", "b": "of course", "c": "thanks a lot", "d": "yes and/s", "e": "so nice!", "i": "a b c",
        "j": "deleted [it]", "n": "fine", "o": "fine",
    }  # fmt: skip
    assert manifest.drops["unreadable"] == 3 and manifest.drops["deleted"] == 3
    assert (tmp_path / "out" / "unreadable.csv").read_text().splitlines()[1:] == [
        f"RC_2010-01,{n}" for n in (11, 12, 13)
    ]
    assert [rows[id][4:7] for id in ("n", "o")] == [["-1", "", ""], ["", "0", "2"]]
    entries = dict(BuiltCorpus(tmp_path / "out").entries("raw"))
    assert (entries["o"]["score"], entries["p"]["ups"]) == (None, None)
    recount(tmp_path / "out", paths, manifest)
    assert verify_corpus(tmp_path / "out").wrong == {}


def _csv(out: Path) -> list[str]:
    return files(out)["raw/sarc.csv"].decode().splitlines()[1:]


def test_a_build_without_submissions_says_on_every_run_what_it_lacks(tmp_path: Path) -> None:
    comments, _ = dump(tmp_path)
    for _ in range(2):
        corpus = build_corpus(comments, tmp_path / "out", memory="500MB", max_similarity=1.0)
        assert any("without dumps of submissions (RS_ files), 9 of 9 comments" in note for note in corpus.notes)
    assert "parents without text" in str(corpus)
    assert "For 9 comments, no dump has" in (tmp_path / "out" / "README.md").read_text()
    plain = tmp_path / "RC_2010-02"
    plain.write_bytes(comment("z", created_utc=1264982400))
    for _ in range(2):
        corpus = build_corpus(plain, tmp_path / "plain", memory="500MB", aware_authors=False)
        assert any("no kept comment ends in a marker" in note for note in corpus.notes)


def test_an_ending_that_only_sarcasm_has_is_found(tmp_path: Path) -> None:
    lines = [comment(f"s{n}", body=f"number {n} %% /s", created_utc=JANUARY + n) for n in range(8)]
    lines += [comment(f"t{n}", body=f"number {n}", created_utc=JANUARY + n) for n in range(200)]
    (tmp_path / "RC_2010-01").write_bytes(b"".join(lines))
    run(tmp_path, [str(tmp_path / "RC_2010-01")])
    assert giveaways(BuiltCorpus(tmp_path / "out")) == ["'%%' (8 of 8 sarcastic)"]
    assert "no last word gives the label away" in verify_corpus(tmp_path / "out").wrong


def test_all_siblings_are_in_the_conversations_and_flagged(tmp_path: Path) -> None:
    lines = [
        comment("a", body="oh sure /s", created_utc=JANUARY),
        comment("b", body="so it is", created_utc=JANUARY + 1),
        comment("c", author="newcomer", body="what do you mean", created_utc=JANUARY + 2),
        comment("d", body="see http://x.org", created_utc=JANUARY + 3),
        comment("e", body="below", created_utc=JANUARY + 4, parent_id="t1_c"),
    ]
    (tmp_path / "RC_2010-01").write_bytes(b"".join(lines))
    run(tmp_path, [str(tmp_path / "RC_2010-01")], scope={"siblings": "all"})
    corpus = BuiltCorpus(tmp_path / "out")
    assert {id: one["kept"] for id, one in corpus.entries("raw")} == {
        "a": True, "b": True, "c": False, "d": False, "p": None,
    }  # fmt: skip
    assert [line.responses for line in corpus.index("raw/sequences.csv")] == [("a", "b")]
    assert verify_corpus(tmp_path / "out").wrong == {}
    run(tmp_path, [str(tmp_path / "RC_2010-01")], out="kept")
    assert "kept" not in (tmp_path / "kept" / "raw" / "comments.json").read_text()


def test_an_unfinished_folder_has_no_statistics(tmp_path: Path) -> None:
    (tmp_path / "out" / ".work" / "texts-0123456789abcdef").mkdir(parents=True)
    (tmp_path / "out" / ".work" / "texts-0123456789abcdef" / "part.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="not a finished corpus"):
        read_statistics(tmp_path / "out")


def test_markers_of_another_language_are_data(tmp_path: Path) -> None:
    lines = [
        comment("a", body="정말 대단하네요 ㅋㅋ 농담"),
        comment("b", body="저는 좋던데요"),
        comment("c", author="x", body="처음 왔어요"),
    ]
    (tmp_path / "RC_2010-01").write_bytes(b"".join(lines))
    out = tmp_path / "out"
    corpus = build_corpus(tmp_path / "RC_2010-01", out, memory="500MB", marker_set="korean", max_similarity=1.0)
    assert [line.split(",")[:2] for line in _csv(out)] == [["1", "정말 대단하네요"], ["0", "저는 좋던데요"]]
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "ㅋㅋ 농담" in card and 'language: ["ko"]' in card
    (tmp_path / "mine.toml").write_text('markers = ["(kidding)"]\nlanguages = ["en"]\naware = "everyone"\n')
    corpus = build_corpus(tmp_path / "RC_2010-01", tmp_path / "mine", memory="500MB",
                          marker_set=str(tmp_path / "mine.toml"), max_similarity=1.0)  # fmt: skip
    assert corpus.manifest.counts["comments"] == 3
    with pytest.raises(ConfigError, match="korean"):
        build_corpus(tmp_path / "RC_2010-01", tmp_path / "x", marker_set="korea")
