"""deadpan compare: a planted difference and none, for machines and people; bad input is one line, exit 2."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

REAL = Path(__file__).parents[2] / "examples" / "logs"


def table(path: Path, d: float, n: int = 400) -> Path:
    """Write two systems that differ by `d`, with a tenth of the items right in one of them only."""
    cell = np.random.default_rng(2).choice(4, size=n, p=[0.6, 0.1 + d / 2, 0.1 - d / 2, 0.2])
    rows = [f"{i},a,{int(c < 2)}\n{i},b,{int(c in (0, 2))}\n" for i, c in enumerate(cell)]
    path.write_text("item,system,score\n" + "".join(rows))
    return path


def test_a_planted_difference_is_found_and_none_is_not(deadpan, tmp_path):
    found = deadpan("compare", table(tmp_path / "t.csv", 0.12), "--json").json["comparisons"][0]
    assert found["verdict"] == "a is better"
    assert found["difference"]["low"] > 0
    none = deadpan("compare", table(tmp_path / "n.csv", 0.0), "--json").json["comparisons"][0]
    assert not none["significant"]
    assert none["difference"]["low"] < 0 < none["difference"]["high"]
    assert none["detectable"] > 0.03


@pytest.mark.parametrize(
    ("scores", "beside_mean", "of_difference"),
    [
        ("1 0 1 1 0 1", "the 95 % Wilson interval.", "the 95 % t interval of the difference."),
        ("90 20 70 60 10 80", "the 95 % t interval.", "the 95 % t interval of the difference."),
        ("0 0 0 0 0 0", "the 95 % Wilson interval.", "(Wilson where no cluster differs from the others)"),
    ],
)
def test_the_note_names_the_intervals_in_brackets(deadpan, tmp_path, scores, beside_mean, of_difference):
    own = scores.split()
    rows = [f"{i},a,{a}\n{i},b,{b}\n" for i, (a, b) in enumerate(zip(own, own[1:] + own[:1], strict=True))]
    (tmp_path / "t.csv").write_text("item,system,score\n" + "".join(rows))
    said = " ".join(deadpan("compare", tmp_path / "t.csv").out.split())
    assert f"Beside a mean in brackets: {beside_mean}" in said
    assert of_difference in said


def test_one_system_on_another_scale_is_named(deadpan, tmp_path):
    rows = [f"{i},a,{i % 2}\n{i},b,{i}\n" for i in range(12)]
    (tmp_path / "t.csv").write_text("item,system,score\n" + "".join(rows))
    said = " ".join(deadpan("compare", tmp_path / "t.csv").out.split())
    assert "the 95 % Wilson interval; the 95 % t interval for b, with scores outside 0 to 1." in said


def test_real_logs_fit_a_terminal_and_a_page(deadpan, tmp_path):
    ran = deadpan("compare", REAL / "lm-eval-a", REAL / "lm-eval-b", "--out", tmp_path / "out")
    assert ran.status == 0
    assert all(len(line) <= 80 for line in ran.out.splitlines())
    assert "t test over clusters" in ran.out
    assert {"report.html", "differences.svg", "comparison.json"} <= {p.name for p in (tmp_path / "out").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "cure"),
    [
        (["nowhere.eval", "TABLE"], "no such file or folder"),
        (["EMPTY", "TABLE"], "empty file"),
        (["CUT", "TABLE"], "damaged"),
        (["LATIN", "TABLE"], "not a number"),
        (["TABLE", "--against", "c"], "unknown system"),
        (["TABLE", "--metric", "luck"], "no column 'luck'"),
        (["TABLE", "--unscored", "half"], "zero"),
        (["TABLE", "--seed", "-1"], "seed"),
    ],
)
def test_bad_input_is_one_line(deadpan, tmp_path, arguments, cure):
    whole = (REAL / "inspect-plain.eval").read_bytes()
    files = {
        "TABLE": table(tmp_path / "t.csv", 0.0, 20),
        "EMPTY": tmp_path / "empty.csv",
        "CUT": tmp_path / "cut.eval",
        "LATIN": tmp_path / "latin.csv",
    }
    files["EMPTY"].write_bytes(b"")
    files["CUT"].write_bytes(whole[: len(whole) // 3])
    files["LATIN"].write_bytes("item,score\n1,gr\xfc\xdf\n".encode("latin-1"))
    ran = deadpan("compare", *[files.get(word, word) for word in arguments])
    assert ran.status == 2
    assert cure in ran.err
    assert ran.err.count("\n") == 1
