"""The board: same texts or refused, scores computed again, ranks by the paired test, submissions checked."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from deadpan.detect.detector import Detector
from deadpan.detect.studies.board import DetectorBoard, make_board
from deadpan.detect.studies.comparison import compare_systems
from deadpan.detect.studies.evaluation import evaluate
from deadpan.errors import DeadpanError
from deadpan.formats.predictions import read_predictions, write_predictions
from deadpan.records import Example, Prediction, Turn


def texts(n: int, *, seed: int = 1, copies: int = 0) -> list[Example]:
    """Texts of which every word list is different; 8 of 10 sarcastic ones are splendid, 2 of 10 others."""
    rng = random.Random(seed)
    rows = []
    for at in range(n):
        label = at % 2 == 0
        tone = "splendid" if rng.random() < (0.8 if label else 0.2) else "cold"
        words = [tone, *(f"w{rng.randrange(10_000)}" for _ in range(8))]
        rows.append(Example(f"t{at}", Turn("", " ".join(words)), label=label, source="made-up"))
    return [*rows, *(Example(f"c{at}", rows[at].response, label=rows[at].label) for at in range(copies))]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a comparison of three systems."""
    out = tmp_path_factory.mktemp("results") / "ours"
    compare_systems(texts(200), ["bow", "random", "majority"], k=2, source="made-up").write(out)
    return out


def refused(board: DetectorBoard) -> str:
    return "\n".join(f"{who}: {why}" for who, why in board.refused)


def test_systems_are_ranked_by_the_paired_test_beside_a_constant_answer(ours: Path, tmp_path: Path) -> None:
    board = make_board([ours], published=lambda corpus, metric: [("theirs", 0.9, f"{corpus} {metric}")])
    (corpus,) = board.corpora
    assert (corpus.rows[0].system, corpus.rows[0].rank) == ("bow", "1")
    assert {row.rank for row in corpus.rows[1:]} == {"2 to 3"} and not corpus.rows[1].above_constant
    assert corpus.constant == 0.5 and board.headline() == "made-up: bow leads."
    board.write(tmp_path / "board")
    page = (tmp_path / "board" / "index.html").read_text(encoding="utf-8")
    assert "theirs" in page and "made-up balanced_accuracy: other texts" in page and "constant answer" in page


def test_tested_texts_are_written_as_hashes_only(ours: Path) -> None:
    written = (ours / "tested.csv").read_text(encoding="utf-8")
    assert written.splitlines()[0] == "id,label,group,sequence,copy,sha256" and "splendid" not in written


def test_a_result_that_was_changed_or_is_not_one_is_refused(ours: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copytree(ours, tmp_path / "changed"))
    file = changed / "bow.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("true", "false"), encoding="utf-8")
    (tmp_path / "empty").mkdir()
    why = refused(make_board([ours, changed, tmp_path / "empty", tmp_path / "none"]))
    assert "bow.jsonl: missing, or changed" in why and "no tested.csv" in why and "no such folder" in why


def test_copies_texts_seen_in_training_and_other_texts_are_refused(ours: Path, tmp_path: Path) -> None:
    compare_systems(texts(60, copies=3), ["bow"], k=2).write(tmp_path / "copies")
    detector = Detector("bow").fit(texts(200)[:100])
    evaluate(detector, texts(200), keep_seen=True, source="made-up").write(tmp_path / "seen")
    evaluate(detector, texts(200), source="made-up").write(tmp_path / "rest")
    why = refused(make_board([ours, *(tmp_path / name for name in ("copies", "seen", "rest"))]))
    assert "copies: 3 of 63 tested rows are copies" in why and "seen: texts that it was trained on" in why
    assert "100 other texts" in why and "than ours (200" in why


def test_a_submission_is_checked_row_by_row(ours: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sent"
    folder.mkdir()
    shutil.copy(ours / "tested.csv", folder)
    right = read_predictions(ours / "bow.jsonl")
    write_predictions(folder / "good.jsonl", right)
    write_predictions(folder / "short.jsonl", right[:-4])
    write_predictions(folder / "twice.jsonl", [*right, right[0]])
    write_predictions(folder / "strange.csv", [*right[1:], Prediction("who?", True, 0.9)])
    board = make_board([ours, folder])
    (good,) = [row for row in board.corpora[0].rows if row.system == "good"]
    assert good.training == "training texts not declared" and good.rank == "1 to 2"
    why = refused(board)
    assert "incomplete: 4 of 200" in why and "answered twice" in why and "'who?'" in why
    (folder / "tested.csv").write_text((ours / "tested.csv").read_text().replace(",1,", ",0,", 1), encoding="utf-8")
    assert "of no corpus on this board" in refused(make_board([ours, folder]))


def test_a_submission_that_cannot_be_read_is_refused_and_the_rest_stands(ours: Path, tmp_path: Path) -> None:
    sent, empty = tmp_path / "sent", tmp_path / "nothing"
    for folder in (sent, empty):
        folder.mkdir()
        shutil.copy(ours / "tested.csv", folder)
    (sent / "broken.jsonl").write_text("no JSON\n")
    (sent / "costs.csv").write_text("a,b\n1,2\n")
    rows = [
        f'{{"example_id": "{p.example_id}", "label": true, "score": NaN}}\n'
        for p in read_predictions(ours / "bow.jsonl")
    ]
    (sent / "nan.jsonl").write_text("".join(rows))
    board = make_board([ours, sent, empty])
    assert {row.system for row in board.corpora[0].rows} == {"bow", "random", "majority"}
    why = refused(board)
    assert "broken.jsonl (sent): " in why and "costs.csv (sent): " in why
    assert "200 scores are NaN" in why and "nothing: " in why and "no answers in it" in why


def test_a_manifest_that_vouches_for_nothing_is_refused(ours: Path, tmp_path: Path) -> None:
    bare, torn = (Path(shutil.copytree(ours, tmp_path / name)) for name in ("bare", "torn"))
    manifest = json.loads((ours / "manifest.json").read_text())
    (bare / "manifest.json").write_text(json.dumps({**manifest, "files": {"compare.json": {}}}))
    (torn / "manifest.json").write_text(json.dumps({**manifest, "files": {}}))
    (torn / "compare.json").write_text("{}")
    why = refused(make_board([ours, bare, torn]))
    assert "bare: " in why and "compare.json: missing, or changed" in why and "no data in it" in why


def test_nothing_to_show_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DeadpanError, match="no result can go on a board"):
        make_board([tmp_path / "none"])


def test_the_command_adds_published_scores(tmp_path: Path, deadpan: Any) -> None:
    compare_systems(texts(120), ["bow", "random"], k=2, source="kocosa").write(tmp_path / "kocosa")
    board = deadpan("detect", "board", tmp_path / "kocosa", "--json").json
    assert board["corpora"]["kocosa"]["published"][0][0] == "Human Evaluation"
