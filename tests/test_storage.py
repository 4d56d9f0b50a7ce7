"""Files are whole or not there, and what comes back is what went in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import (
    atomic,
    digest,
    file_marks,
    lock_folder,
    prepare_output,
    read_json,
    read_manifest,
    read_records,
    write_manifest,
    write_records,
    write_text,
)
from strategies import records

FORMS = ["a.jsonl", "a.parquet"]


@pytest.mark.parametrize("name", FORMS)
@given(batch=records)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_records_come_back_exactly(name, batch):
    kind, rows = batch
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        assert write_records(path, rows, kind) == len(rows)
        assert list(read_records(path, kind)) == rows


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("text", ["", "\0", "\u2028\r\n", "👨‍👩‍👧 한국어 \U0010ffff", "x" * 3_000_000], ids=len)
def test_odd_texts_survive(tmp_path, name, text):
    rows = [Example("a", Turn(text, text), (Turn("", text),), explanation=text, meta={"k": text})]
    write_records(tmp_path / name, rows, Example)
    assert list(read_records(tmp_path / name, Example)) == rows


@pytest.mark.parametrize("name", FORMS)
def test_more_than_one_batch(tmp_path, name):
    rows = [Example(str(i), Turn("", f"text {i}"), (Turn("A", "x"),) * (i % 3)) for i in range(17_000)]
    write_records(tmp_path / name, iter(rows), Example)
    assert list(read_records(tmp_path / name, Example)) == rows


@pytest.mark.parametrize("name", FORMS)
def test_what_cannot_be_written_leaves_nothing(tmp_path, name):
    rows = [Example("a", Turn("", "fine")), Example("b", Turn("", "\ud800"))]
    with pytest.raises(DataError):
        write_records(tmp_path / name, rows, Example)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FORMS)
def test_a_failing_source_keeps_the_old_file(tmp_path, name):
    def broken():
        yield Example("new", Turn("", "x"))
        raise RuntimeError("source broke")

    old = [Example("old", Turn("", "x"))]
    write_records(tmp_path / name, old, Example)
    with pytest.raises(RuntimeError):
        write_records(tmp_path / name, broken(), Example)
    assert list(read_records(tmp_path / name, Example)) == old
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_killed_write_leaves_the_old_file_and_is_swept_up_by_the_next(tmp_path):
    target = tmp_path / "a.txt"
    write_text(target, "old")
    script = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom deadpan.storage import atomic\n"
        "with atomic(Path(sys.argv[1])) as t:\n t.write_text('half')\n os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(target)], check=False).returncode == -9
    assert target.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    write_text(target, "new")
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert target.read_text() == "new"


def test_a_write_under_way_elsewhere_is_left_alone(tmp_path):
    target = tmp_path / "a.txt"
    other = tmp_path / f".a.txt.{os.getppid()}.tmp"
    other.write_text("theirs")
    with atomic(target) as temporary:
        temporary.write_text("ours")
    assert other.read_text() == "theirs"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ('{"id": "a"', "not a JSON line"),
        ('{"id": "a"}', "no key 'response'"),
        (
            '{"id": "a", "response": {"speaker": "", "text": "x"}, "lable": true}',
            "unknown key 'lable': did you mean 'label'?",
        ),
        ('{"id": "a", "response": {"speaker": "", "text": 5}}', "response.text needs text in quotes, got 5"),
        (
            '{"id": "a", "response": {"speaker": "", "text": "x"}, "label": "yes"}',
            "label needs true or false, got 'yes'",
        ),
        ('{"id": "a", "response": {"speaker": "", "text": "x"}, "split": "valid"}', 'split needs one of "train"'),
        ("[1]", "needs a table with id, response"),
        ('"\\ud800', "not a JSON line"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, word):
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": "ok", "response": {"speaker": "", "text": "x"}}\n\n' + line + "\n")
    with pytest.raises(DataError, match=r"x\.jsonl:3: ") as caught:
        list(read_records(path, Example))
    assert word in str(caught.value)


def test_a_cut_parquet_is_an_error(tmp_path):
    path = tmp_path / "x.parquet"
    write_records(path, [Example("a", Turn("", "x"))], Example)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="cut off"):
        list(read_records(path, Example))


def test_a_parquet_with_changed_bytes_is_read_or_an_error(tmp_path):
    path = tmp_path / "x.parquet"
    write_records(path, [Prediction(f"x{n}", True, 0.5) for n in range(50)], Prediction)
    whole = path.read_bytes()
    refused = 0
    for seed in range(200):
        random = Random(seed)
        changed = bytearray(whole)
        for _ in range(random.randint(1, 6)):
            changed[random.randrange(len(changed))] = random.randrange(256)
        path.write_bytes(changed)
        try:
            list(read_records(path, Prediction))
        except DataError as said:
            refused += 1
            assert "x.parquet" in str(said)
    assert refused > 150


def test_a_parquet_of_something_else_is_an_error(tmp_path):
    write_records(tmp_path / "x.parquet", [Prediction("a", True)], Prediction)
    with pytest.raises(DataError, match="not a file of Example"):
        list(read_records(tmp_path / "x.parquet", Example))


def test_unknown_forms_and_missing_files_are_errors(tmp_path):
    with pytest.raises(ConfigError, match=r"\.jsonl or \.parquet"):
        write_records(tmp_path / "x.csv", [], Example)
    with pytest.raises(DataError, match="no such file"):
        read_records(tmp_path / "x.jsonl", Example)
    with pytest.raises(DataError, match="no such file"):
        read_json(tmp_path / "x.json")


def test_the_manifest_of_a_folder_tells_every_file(tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("input")
    out = tmp_path / "out"
    write_records(out / "deep" / "a.jsonl", [Example("a", Turn("", "x"))], Example)
    tally = Tally()
    tally.drop("empty", "in.txt:1")
    made = write_manifest(
        out, command="test", config={"k": 1}, seed=3, inputs=[source], counts={"kept": 1}, tally=tally
    )
    assert read_manifest(out) == made
    raw = json.loads((out / "manifest.json").read_text())
    assert raw["files"]["deep/a.jsonl"]["sha256"] == digest(out / "deep" / "a.jsonl")
    assert raw["inputs"] == {"in.txt": digest(source)}
    assert (raw["drops"], raw["seed"], raw["config"]) == ({"empty": 1}, 3, {"k": 1})
    first = (out / "manifest.json").read_bytes()
    write_manifest(out, command="test", config={"k": 1}, seed=3, inputs=[source], counts={"kept": 1}, tally=tally)
    assert (out / "manifest.json").read_bytes() == first


def test_files_that_were_there_before_are_not_listed(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "old.txt").write_text("of the last run")
    before = file_marks(tmp_path)
    write_text(tmp_path / "old.txt", "of the last run")
    write_text(tmp_path / "new.txt", "new")
    made = write_manifest(tmp_path, command="test", before=before)
    assert list(made.files) == ["new.txt", "old.txt"]
    assert read_manifest(tmp_path) == made


def test_a_manifest_of_somebody_else_is_never_replaced(tmp_path):
    (tmp_path / "manifest.json").write_text('{"name": "an app"}')
    with pytest.raises(ConfigError, match=r"manifest\.json: not a manifest of deadpan: choose another --out"):
        prepare_output(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is a file"):
        prepare_output(tmp_path / "notes.txt")
    assert prepare_output(tmp_path / "new") == {} and (tmp_path / "new").is_dir()


def test_inputs_of_one_name_are_all_in_the_manifest(tmp_path):
    paths = [tmp_path / folder / "rows.csv" for folder in ("x/a", "y/a", "b")]
    for path in (*paths, tmp_path / "other.csv"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(path))
    made = write_manifest(tmp_path / "other.csv", command="test", inputs=[*paths, tmp_path / "other.csv"])
    assert sorted(made.inputs) == ["b/rows.csv", "other.csv", "x/a/rows.csv", "y/a/rows.csv"]


def test_the_manifest_of_a_file_stands_beside_it(tmp_path):
    write_records(tmp_path / "a.parquet", [], Example)
    write_manifest(tmp_path / "a.parquet", command="test")
    assert (tmp_path / "a.parquet.manifest.json").is_file()
    assert list(read_manifest(tmp_path / "a.parquet").files) == ["a.parquet"]


HOLD = """
import sys
from pathlib import Path
from deadpan.storage import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_a_second_run_is_told_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"in\n"
        with pytest.raises(DataError, match="another run is using this folder"), lock_folder(folder):
            pass
        holder.kill()
    with lock_folder(folder):
        assert folder.is_dir()
