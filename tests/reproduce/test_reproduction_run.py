"""Reproductions from the outside: verdicts, the official split, resuming after a kill, pages, errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from deadpan.bench import open_set
from deadpan.bench.items.item import write_items
from deadpan.errors import ConfigError, DataError
from deadpan.reproduce import reproduce, trials
from deadpan.reproduce.published import WORDS
from deadpan.storage import digest, read_manifest
from reproduce.releases import isarcasm, sarc

SOURCE = Path(__file__).parents[2] / "src"


def cells(result) -> dict[str, object]:
    return {cell.published.id: cell for _, cell in result.cells()}


def test_table_2_in_one_call_and_every_cell_has_a_verdict(table_2):
    found = cells(table_2[0])
    bow = found["table-2/bag-of-words/pol-bal"]
    assert bow.verdict.word in ("consistent", "exceeds") and "trained on four fifths" in bow.verdict.why
    assert bow.ours.value.value == 1.0
    assert "cross-validation" in bow.ours.how
    assert not any(cell.verdict.word == "reproduced" for cell in found.values()), "no published split is here"
    assert found["table-2/bag-of-words/all-bal"].verdict.word == "needs data"
    assert "train-balanced.csv" in found["table-2/bag-of-words/all-bal"].verdict.why
    assert "train-unbalanced.csv" in found["table-2/random/pol-unbal"].verdict.why
    assert found["table-2/sentence-embedding/pol-bal"].verdict.word == "needs weights"
    human = found["table-2/human-average/pol-bal"].verdict
    assert human.word == "needs people"
    assert "deadpan studio create pairwise" in human.why
    assert all(cell.verdict.why for cell in found.values())


def test_the_official_split_and_the_unbalanced_task_are_used_where_they_are(own_data, tmp_path):
    data = own_data
    sarc(data / "sarc_pol", "test", "balanced", 10, 100)
    for part, start in (("train", 0), ("test", 100)):
        sarc(data / "sarc_pol", part, "unbalanced", 40, start)
    vectors = tmp_path / "glove.txt"
    vectors.write_text("obviously 1 0\ntoday 0 1\nit 0.1 0.1\n")
    result = reproduce("sarc", tmp_path / "out", data_dir=data, only=["table-2"], vectors=vectors)
    found = cells(result)
    assert found["table-2/bag-of-bigrams/pol-bal"].ours.how == "published test split"
    assert found["table-2/bag-of-bigrams/pol-bal"].ours.value.n == 10
    assert found["table-2/sentence-embedding/pol-bal"].verdict.word in ("reproduced", "exceeds")
    assert found["table-2/random/pol-bal"].verdict.word == "reproduced", "the same procedure on the published split"
    unbalanced = found["table-2/bag-of-bigrams/pol-unbal"]
    assert unbalanced.ours.how == "published test split"
    assert unbalanced.ours.value.n == 40, "F1 is a mean over sequences"


def test_a_second_start_repeats_nothing_and_writes_the_same_bytes(table_2, data, own_data, tmp_path, monkeypatch):
    out = shutil.copytree(table_2[1], tmp_path / "out")
    before = {path.name: digest(path) for path in out.glob("[!.]*") if path.suffix == ".html"}
    run_trial = trials.run_trial

    def again_only_without_weights(system, *arguments, **settings):
        if system != "embedding":  # the shipped vectors may not be here; then it is not measured at all
            pytest.fail(f"{system} was trained again")
        return run_trial(system, *arguments, **settings)

    monkeypatch.setattr(trials, "run_trial", again_only_without_weights)
    again = reproduce("sarc", out, data_dir=data, only=["table-2"], quick=True)
    assert again.resumed > 0
    assert {path.name: digest(path) for path in out.glob("[!.]*") if path.suffix == ".html"} == before
    trained = []
    monkeypatch.setattr(
        trials, "run_trial", lambda system, *a, **k: trained.append(system) or run_trial("random", *a, seed=0)
    )
    sarc(own_data / "sarc_pol", "train", "balanced", 90)
    changed = reproduce("sarc", out, data_dir=own_data, only=["table-2"], quick=True)
    sizes = [cells(each)["table-2/bag-of-words/pol-bal"].ours.value.n for each in (again, changed)]
    assert sizes[0] < sizes[1], "other data are measured anew"
    assert {"bow", "bigrams"} <= set(trained)


@pytest.mark.slow
def test_a_run_killed_after_a_trial_continues_after_it(table_2, data, tmp_path):
    out = tmp_path / "out"
    dies = (
        "import os, signal, sys\nfrom deadpan.journal import Journal\nkeep = Journal.append\n"
        "def append(self, *a, **k):\n keep(self, *a, **k)\n os.kill(os.getpid(), signal.SIGKILL)\n"
        "Journal.append = append\nfrom deadpan.cli import main\nmain(sys.argv[1:])\n"
    )
    command = ["reproduce", "sarc", "--data-dir", str(data), "--only", "table-2", "--quick", "--out", str(out)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    killed = subprocess.run([sys.executable, "-c", dies, *command], env=environment, capture_output=True)
    assert killed.returncode == -signal.SIGKILL
    assert not (out / "manifest.json").exists()
    result = reproduce("sarc", out, data_dir=data, only=["table-2"], quick=True)
    assert result.resumed == 1
    assert result.as_dict() == table_2[0].as_dict(), "as if it had not been killed"


def test_counts_of_a_part_need_the_other_part_and_with_it_they_are_compared(own_data, tmp_path):
    data = own_data
    one = cells(reproduce("isarcasm", tmp_path / "a", data_dir=data, only=["table-3"]))
    assert one["table-3/irony/tweets"].verdict.word == "needs data"
    assert "isarcasm_test.csv" in one["table-3/irony/tweets"].verdict.why
    assert one["table-3/irony/tweets"].ours.value.value == 10
    isarcasm(data / "isarcasm", "test", 8)
    both = cells(reproduce("isarcasm", tmp_path / "b", data_dir=data, only=["table-3"]))
    assert both["table-3/irony/tweets"].verdict.word == "differs"


@pytest.mark.slow
def test_all_seven_networks_are_measured(data, tmp_path, deadpan):
    ran = deadpan("reproduce", "isarcasm", "--data-dir", data, "--only", "table-7",
                  "--quick", "--out", tmp_path / "out", "--json")  # fmt: skip
    assert ran.status == 0
    exhibits = {each["id"]: each for each in ran.json["papers"][0]["exhibits"]}
    rows = {cell["row"]: cell for cell in exhibits["table-7"]["cells"] if cell["column"] == "F-score"}
    assert len(rows) == 8
    measured = [row for row, cell in rows.items() if cell["ours"]]
    assert len(measured) == 7, "seven networks; the row of people needs people"
    assert rows["Manual Labelling"]["verdict"] == "needs people"


def test_pages_have_a_row_per_cell_and_no_dead_link(table_2, data, tmp_path):
    out = shutil.copytree(table_2[1], tmp_path / "out")
    write_items(tmp_path / "items.jsonl", open_set("public").items[:12])
    result = reproduce(
        ["sarc", "sarcbench"], out, data_dir=data, only=["table-1", "table-2", "table-3"], quick=True,
        items=tmp_path / "items.jsonl",
    )  # fmt: skip
    html = (out / "sarc.html").read_text(encoding="utf-8")
    legend = len(WORDS)
    assert html.count("<tr>") - html.count("<thead>") == len(result.papers[0].cells) + legend
    for page in out.glob("*.html"):
        for link in re.findall(r'href="([^"#]+)"', page.read_text(encoding="utf-8")):
            assert (out / link).exists(), link
    stored = json.loads((out / "reproduction.json").read_text(encoding="utf-8"))
    assert sum(stored["counts"].values()) == len(result)
    assert read_manifest(out).command == "reproduce sarc sarcbench"


def test_the_summary_fits_80_columns(table_2, data, tmp_path, deadpan):
    out = shutil.copytree(table_2[1], tmp_path / "o")
    ran = deadpan("reproduce", "sarc", "--data-dir", data, "--only", "table-2", "--quick", "--out", out)
    assert ran.status == 0
    assert max(len(line) for line in ran.out.splitlines() if "/" not in line) <= 80


def test_without_data_nothing_is_measured_and_that_is_said(tmp_path, deadpan):
    (tmp_path / "empty").mkdir()
    ran = deadpan("reproduce", "isarcasm", "--only", "table-7", "--quick", "--data-dir", tmp_path / "empty",
                  "--out", tmp_path / "out")  # fmt: skip
    assert ran.status == 0
    assert "None of the 24 cells could be measured" in ran.out and "0 of 0" not in ran.out


def test_notes_beside_a_reproduction_stay_out_of_its_manifest(tmp_path, deadpan):
    (tmp_path / "empty").mkdir()
    out = tmp_path / "out"
    for _ in range(2):
        arguments = ("--only", "table-7", "--quick", "--data-dir", tmp_path / "empty", "--out", out)
        assert deadpan("reproduce", "isarcasm", *arguments).status == 0
        (out / "notes.txt").write_text("mine")
    assert set(read_manifest(out).files) == {"reproduction.json", "isarcasm.html", "index.html"}


def test_mistakes_are_one_line(data, tmp_path, deadpan):
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("mine")
    for arguments, words in (
        (["sarc", "--data-dir", data, "--out", full], "not a reproduction"),
        (["sark", "--data-dir", data, "--out", tmp_path / "x"], "sarc"),
        (["sarc", "--only", "table-9", "--data-dir", data, "--out", tmp_path / "x"], "table-1"),
        (["sarc", "--vectors", tmp_path / "no.txt", "--data-dir", data, "--out", tmp_path / "x"], "--vectors"),
    ):
        ran = deadpan("reproduce", *arguments)
        assert ran.status == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1
    with pytest.raises(ConfigError, match="vectors"):
        reproduce("sarc", tmp_path / "x", vektors="a")
    (full / "thesis.txt").unlink()
    with pytest.raises((ConfigError, DataError)):
        reproduce("sarc", tmp_path / "x", data_dir=tmp_path / "nowhere")
