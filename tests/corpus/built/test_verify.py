"""Verification: a sound corpus passes, and any change of its files is found, hashes sealed again or not."""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from corpus.adversary import adversary
from corpus.making import run
from deadpan.corpus import update_corpus
from deadpan.corpus.built.verify import verify_corpus
from deadpan.errors import DataError
from deadpan.storage import digest


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small corpus in its second version, whose dumps are beside it."""
    folder = tmp_path_factory.mktemp("verify")
    paths = adversary(31, comments=700, honest=True).write(folder / "dumps")
    (folder / "forget.txt").write_text("Bob\n")
    run(folder, [*paths[:2], paths[3]], forget=folder / "forget.txt")
    update_corpus(paths[2], folder / "out", after="2010-02", memory="500MB")
    return folder / "out"


def test_every_rule_holds(corpus: Path) -> None:
    report = verify_corpus(corpus)
    assert report.wrong == {}
    assert len(report.checked) >= 30
    assert report.unchecked == []
    assert "Every rule holds." in str(report)


def test_without_dumps_it_says_what_was_not_checked(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "copy", ignore=shutil.ignore_patterns(".work"))
    report = verify_corpus(tmp_path / "copy")
    assert report.wrong == {}
    assert "dumps, which are not there" in report.unchecked[0]
    assert "Every rule that was checked holds." in str(report)


def test_the_new_build_goes_where_asked_and_leaves_nothing(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "copy", ignore=shutil.ignore_patterns(".work"))
    dumps = [str(path) for path in (corpus.parent / "dumps").iterdir()]
    report = verify_corpus(tmp_path / "copy", dumps, work=tmp_path / "room", memory="500MB")
    assert (report.wrong, report.unchecked) == ({}, [])
    assert not (tmp_path / "room").exists() and not (tmp_path / "copy" / ".work").exists()
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="with --work"):
        verify_corpus(tmp_path / "copy", dumps, work=tmp_path / "file")


def test_other_dumps_are_refused(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="built from other dumps"):
        verify_corpus(corpus, adversary(32, comments=50).write(tmp_path / "other"))


def swap(old: str, new: str) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        assert old.encode() in data, old
        return data.replace(old.encode(), new.encode(), 1)

    return change


def without_line(number: int) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        lines = data.splitlines(keepends=True)
        return b"".join(lines[:number] + lines[number + 1 :])

    return change


def without_ancestor(data: bytes) -> bytes:
    lines = data.decode().splitlines()
    at = next(n for n, line in enumerate(lines) if line.split("|")[0].count(" ") >= 2)
    words = lines[at].split(" ")
    lines[at] = " ".join([words[0], *words[2:]])
    return ("\n".join(lines) + "\n").encode()


def swapped_labels(data: bytes) -> bytes:
    lines = data.decode().splitlines()
    at = next(n for n, line in enumerate(lines) if line.split("|")[2] != line.split("|")[2][::-1])
    ancestors, replies, labels = lines[at].split("|")
    lines[at] = "|".join([ancestors, replies, labels[::-1]])
    return ("\n".join(lines) + "\n").encode()


def swapped_replies(data: bytes) -> bytes:
    lines = data.decode().splitlines()
    at = next(n for n, line in enumerate(lines) if " " in line.split("|")[1])
    ancestors, replies, labels = lines[at].split("|")
    lines[at] = "|".join([ancestors, " ".join(reversed(replies.split(" "))), labels])
    return ("\n".join(lines) + "\n").encode()


def edited_json(change: Callable[[dict[str, dict[str, object]]], object]) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        value = json.loads(data)
        change(value)
        entries = ",".join(
            f"\n{json.dumps(id)}: {json.dumps(one, separators=(',', ':'), ensure_ascii=False)}"
            for id, one in value.items()
        )
        return ("{" + entries + "\n}\n").encode()

    return edit


def first_value(value: dict[str, dict[str, object]]) -> dict[str, object]:
    return value[next(iter(value))]


def statistic(*path: str) -> Callable[[bytes], bytes]:
    def edit(data: bytes) -> bytes:
        value = inner = json.loads(data)
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] += 1
        return (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode()

    return edit


def reordered(data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    return b"".join([lines[0], lines[2], lines[1], *lines[3:]])


MUTATIONS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "row deleted": ("raw/sarc.csv", without_line(3)),
    "row deleted from the tab-separated form": ("raw/sarc.tsv", without_line(3)),
    "rows in another order": ("raw/sarc.csv", reordered),
    "label changed": ("raw/sarc.csv", swap("\r\n0,", "\r\n1,")),
    "score changed": ("raw/sarc.csv", swap(",2010-01,", ",2010-02,")),
    "words changed": ("raw/sarc.tsv", swap("great", "awful")),
    "sequence deleted": ("raw/sequences.csv", without_line(2)),
    "ancestor removed": ("raw/sequences.csv", without_ancestor),
    "labels of a sequence swapped": ("raw/sequences.csv", swapped_labels),
    "replies of a sequence swapped": ("raw/sequences.csv", swapped_replies),
    "comment deleted": ("raw/comments.json", edited_json(lambda value: value.pop(next(iter(value))))),
    "text of a comment changed": ("raw/comments.json", edited_json(lambda v: first_value(v).update(text="no"))),
    "author of a comment changed": ("raw/comments.json", edited_json(lambda v: first_value(v).update(author="x"))),
    "score of a comment changed": ("main/comments.json", edited_json(lambda v: first_value(v).update(score=999))),
    "pair gone": ("main/train-balanced.csv", without_line(0)),
    "labels of a pair swapped": ("main/train-balanced.csv", swapped_labels),
    "pair in another order": ("main/train-balanced.csv", swapped_replies),
    "all pairs gone": ("main/train-balanced.csv", lambda data: b""),
    "benchmark sequence gone": ("main/train-unbalanced.csv", without_line(1)),
    "test moved to train": ("main/test-unbalanced.csv", lambda data: b""),
    "subset sequence gone": ("pol/train-unbalanced.csv", without_line(0)),
    "wrong total": ("stats.json", statistic("totals", "sarcastic")),
    "wrong number of authors": ("stats.json", statistic("totals", "authors")),
    "wrong month": ("stats.json", statistic("months", "2010-02", "authors_marking")),
    "wrong benchmark size": ("stats.json", statistic("benchmarks", "main", "train-balanced", "count")),
    "wrong drop": ("stats.json", statistic("drops", "deleted")),
    "statistics spelled otherwise": ("stats.json", lambda data: data.replace(b"\n ", b"\n  ", 1)),
    "wrong card": ("README.md", swap("/s", "/sarcasm")),
    "unreadable line gone": ("unreadable.csv", without_line(1)),
    "forgotten author restored": ("forgotten.json", lambda data: b'{"tombstones": []}'),
    "Parquet file that is none": ("raw/sarc.parquet", lambda data: data[:100]),
    "comments.json cut off": ("main/comments.json", lambda data: data[: len(data) // 2]),
    "index line of another format": ("raw/sequences.csv", lambda data: b"oops\n" + data),
    "no statistics": ("stats.json", lambda data: b"{"),
    "withdrawal hidden": ("withdrawn/0002.csv", lambda data: data + b"c1,deleted_later\n"),
    "sum of a release changed": ("releases.json", swap('"added": ', '"added": 1')),
    "release renumbered": ("releases.json", swap('"version": 2', '"version": 3')),
    "conversation after the cutoff gone": ("after-2010-02/test-unbalanced.csv", without_line(0)),
    "text after the cutoff changed": (
        "after-2010-02/comments.json",
        edited_json(lambda v: first_value(v).update(text="no")),
    ),
}


def mutated_parquet(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    pq.write_table(change(pq.ParquetFile(path).read()), path)


def with_parents_of_others(table: pa.Table) -> pa.Table:
    parents = table["parent_comment"].to_pylist()
    place = table.schema.get_field_index("parent_comment")
    return table.set_column(place, "parent_comment", pa.array(parents[1:] + parents[:1]))


TABLES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "rows gone": lambda table: table.slice(0, len(table) - 2),
    "row twice": lambda table: pa.concat_tables([table, table.slice(0, 1)]),
    "parents of other comments": with_parents_of_others,
    "label of another type": lambda table: table.set_column(0, "label", table["label"].cast(pa.int64())),
    "column gone": lambda table: table.drop_columns(["score"]),
    "other labels": lambda table: table.set_column(
        0, "label", pc.cast(pc.subtract(pa.scalar(1, pa.int8()), table["label"]), pa.int8())
    ),
}


MANIFEST: dict[str, tuple[Callable[[dict[str, Any]], object], tuple[str, ...]]] = {
    "counts, drops and lists of files": (
        lambda one: (
            one["counts"].update({"2010-02/kept": 1}),
            one["drops"].update(broken_chain=0, magic=3),
            one["files"].pop("main/train-balanced.csv"),
            one["files"].update({"main/more.csv": {}}),
        ),
        ("2010-02/kept (", "broken_chain (", "magic (", "main/train-balanced.csv", "main/more.csv"),
    ),
    "other seed": (lambda one: one["config"].update(seed=5), ("seed",)),
    "other words": (lambda one: one["about"].update(finding="9 comments"), ("about",)),
    "other dump": (
        lambda one: one["inputs"].update({"RC_part0.ndjson": "0" * 64}),
        ("dumps are those of the manifest",),
    ),
}
"""Changes of the manifest, and what the report must say of each."""


def seal(folder: Path) -> None:
    """Write the hashes of changed files into the manifest, as whoever changed them could."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        path = folder / name
        path.touch()
        manifest["files"][name] = {"bytes": path.stat().st_size, "sha256": digest(path)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


SAYS = {
    "forgotten.json": "raw/sarc.csv is what the dumps give",  # without the comments of the author
    "withdrawn/0002.csv": "withdrawn/0002.csv",
    "releases.json": "releases.json can be read",  # there is no list of what a third version withdrew
    "after-2010-02/test-unbalanced.csv": "after-2010-02/test-unbalanced.csv",
    "after-2010-02/comments.json": "after-2010-02 has the texts of main",
}
"""What the report says of a changed file, if it is not a rule that begins with its name."""

ALONE = {"forgotten.json": 100, "withdrawn/0002.csv": 101, "releases.json": 102,
         "after-2010-02/test-unbalanced.csv": 101, "after-2010-02/comments.json": 102}  # fmt: skip
"""Rounds of the files whose changes concern other files."""


def rounds() -> dict[int, list[str]]:
    """Return the mutations to try together: one of every file, each of which has rules of its own."""
    found: dict[int, list[str]] = defaultdict(list)
    seen: Counter[str] = Counter()
    for what, (name, _) in MUTATIONS.items():
        found[ALONE.get(name, seen[name])].append(what)
        seen[name] += 1
    for number, what in enumerate(TABLES, seen["raw/sarc.parquet"]):
        found[number].append(what)
    return found


def mutate(folder: Path, what: str) -> tuple[str, ...]:
    """Change a file; return what the report may say of it."""
    if what in TABLES:
        mutated_parquet(folder / "raw" / "sarc.parquet", TABLES[what])
        return "raw/sarc.parquet ", "Parquet files have the columns of a raw corpus"
    name, change = MUTATIONS[what]
    before = (folder / name).read_bytes()
    after = change(before)
    assert after != before, what
    (folder / name).write_bytes(after)
    return (SAYS.get(name, f"{name} "),)


def said(folder: Path) -> list[str]:
    """Return what the report says of a changed corpus with sealed hashes."""
    seal(folder)
    wrong = verify_corpus(folder).wrong
    assert "files match the manifest" not in wrong
    return [*wrong, *(fault for faults in wrong.values() for fault in faults)]


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(rounds()))
def test_every_mutation_is_caught(corpus: Path, tmp_path: Path, number: int) -> None:
    shutil.copytree(corpus, tmp_path / "copy")
    signs = {what: mutate(tmp_path / "copy", what) for what in rounds()[number]}
    report = said(tmp_path / "copy")
    assert [what for what, sign in signs.items() if not any(one.startswith(sign) for one in report)] == []


@pytest.mark.slow
@pytest.mark.parametrize("what", MANIFEST)
def test_every_change_of_the_manifest_is_caught(corpus: Path, tmp_path: Path, what: str) -> None:
    shutil.copytree(corpus, tmp_path / "copy")
    change, signs = MANIFEST[what]
    path = tmp_path / "copy" / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    path.write_text(json.dumps(manifest))
    report = said(tmp_path / "copy")
    assert [sign for sign in signs if not any(one.startswith(sign) for one in report)] == []


def test_a_file_that_is_not_sealed_is_found(corpus: Path, tmp_path: Path) -> None:
    shutil.copytree(corpus, tmp_path / "copy")
    path = tmp_path / "copy" / "parquet" / "month=2010-01" / "sarc.parquet"
    mutated_parquet(path, lambda table: table.slice(1))
    wrong = verify_corpus(tmp_path / "copy").wrong
    assert {"files match the manifest", "files by month have the rows of sarc.parquet"} <= set(wrong)


def test_texts_that_only_look_deleted_are_sound(tmp_path: Path) -> None:
    from corpus.dumping import comment

    (tmp_path / "RC_2010-01").write_bytes(comment("a", body="[deleted] ") + comment("b", body="sure /s"))
    run(tmp_path, [str(tmp_path / "RC_2010-01")])
    assert verify_corpus(tmp_path / "out").wrong == {}


def test_a_long_comment_and_a_folder_with_signs_of_patterns_are_sound(tmp_path: Path) -> None:
    from corpus.dumping import comment

    path = tmp_path / "odd [x]*{y}" / "RC_2010-01"
    path.parent.mkdir()
    path.write_bytes(comment("a", body="sure /s") + comment("b", body="long " * 40_000))
    run(path.parent, [str(path)])
    assert verify_corpus(path.parent / "out").wrong == {}
