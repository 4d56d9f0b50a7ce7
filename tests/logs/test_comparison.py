"""Comparisons of logs: paired by item, planted differences found, different questions refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from deadpan.errors import DeadpanError
from deadpan.logs.comparison import compare_logs, compare_scores
from deadpan.logs.log import ScoredItem

REAL = Path(__file__).parents[2] / "examples" / "logs"


def table(path: Path, rows: dict[str, list[float]], clusters: list[str] | None = None) -> Path:
    lines = ["item,system,score,cluster"]
    for system, scores in rows.items():
        for i, score in enumerate(scores):
            lines.append(f"{i},{system},{score},{clusters[i] if clusters else ''}")
    path.write_text("\n".join(lines) + "\n")
    return path


def planted(d: float, n: int = 600, seed: int = 0) -> dict[str, list[float]]:
    cell = np.random.default_rng(seed).choice(4, size=n, p=[0.6, 0.1 + d / 2, 0.1 - d / 2, 0.2])
    return {"a": (cell < 2).astype(float).tolist(), "b": ((cell == 0) | (cell == 2)).astype(float).tolist()}


def test_a_planted_difference_is_found(tmp_path):
    result = compare_logs([table(tmp_path / "t.csv", planted(0.1))])
    assert result.pairs[0].verdict == "a is better"
    assert result.pairs[0].difference.low > 0


def test_no_difference_is_not_found_and_says_what_would_be(tmp_path):
    result = compare_logs([table(tmp_path / "t.csv", planted(0.0, seed=4))])
    pair = result.pairs[0]
    assert not pair.significant
    assert 0.03 < pair.detectable < 0.09
    assert "t test over clusters" in result.summary().text()


def test_clusters_widen_the_interval(tmp_path):
    rows = planted(0.06)
    copied = {name: np.repeat(scores[:60], 10).tolist() for name, scores in rows.items()}
    names = [f"t{i // 10}" for i in range(600)]
    alone = compare_logs([table(tmp_path / "a.csv", copied)]).pairs[0]
    whole = compare_logs([table(tmp_path / "b.csv", copied, names)]).pairs[0]
    assert whole.n_clusters == 60
    assert whole.standard_error > 2.5 * alone.standard_error
    assert whole.p_holm > alone.p_holm


def test_real_logs_of_three_tools():
    inspect = compare_logs([REAL / "inspect-plain.eval", REAL / "inspect-literal.eval"], cluster="pair")
    assert (inspect.n, inspect.n_clusters) == (24, 12)
    assert list(inspect.systems) == ["inspect-plain", "inspect-literal"]
    lm_eval = compare_logs([REAL / "lm-eval-a", REAL / "lm-eval-b"])
    assert lm_eval.systems["lm-eval-a"].value == pytest.approx(5 / 24)
    assert lm_eval.pairs[0].n_clusters == 24
    helm = compare_logs([REAL / "helm"], metric="quasi_exact_match")
    assert (helm.n, len(helm.systems)) == (24, 2)
    assert helm.pairs[0].verdict == "local/qwen2.5-coder-1.5b is better"


def test_holm_over_several_and_one_reference(tmp_path):
    rows = planted(0.1) | {"c": planted(0.1)["a"]}
    path = table(tmp_path / "t.csv", rows)
    assert len(compare_logs([path]).pairs) == 3
    result = compare_logs([path], against="b")
    assert [(pair.first, pair.second) for pair in result.pairs] == [("a", "b"), ("c", "b")]
    assert result.pairs[0].p_holm == pytest.approx(min(1, 2 * result.pairs[0].p))


def test_items_without_a_score_or_in_one_log_only():
    def system(scores):
        return {str(i): ScoredItem(str(i), score) for i, score in enumerate(scores)}

    systems = {"a": system([1, 1, None, 0, 1]), "b": system([1, 0, 1, 0])}
    result = compare_scores(systems)
    assert result.n == 3
    assert any("not in all logs" in note for note in result.notes)
    assert any("1 item without a score is left out (a 1)" in note for note in result.notes)
    assert compare_scores(systems, unscored="zero").n == 4


def test_another_question_under_the_same_id_is_refused():
    def system(question):
        return {"1": ScoredItem("1", 1.0, "", question)}

    with pytest.raises(DeadpanError, match="different questions in different logs"):
        compare_scores({"a": system("x"), "b": system("y")})


def test_an_item_in_two_clusters_is_refused():
    def system(cluster):
        return {"1": ScoredItem("1", 1.0, cluster)}

    with pytest.raises(DeadpanError, match="give every item one cluster"):
        compare_scores({"a": system("x"), "b": system("y")})
    assert compare_scores({"a": system("x"), "b": system("")}).n_clusters == 1


def test_rows_written_twice_are_averaged_and_said_to_be(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("item,system,score\n1,a,1\n1,a,0\n2,a,0\n1,b,0\n2,b,1\n")
    result = compare_logs([path])
    assert any("3 scores of 2 items" in note for note in result.notes)
    assert "2 items are too few" in result.pairs[0].verdict


def test_systems_that_no_item_tells_apart_are_not_certain_to_be_equal():
    def system(score):
        return {str(i): ScoredItem(str(i), score) for i in range(24)}

    right = compare_scores({"a": system(1.0), "b": system(1.0)})
    (pair,) = right.pairs
    assert pair.verdict == "no difference found"
    assert pair.difference.low == pytest.approx(-pair.difference.high)
    assert 0.1 < pair.difference.high < 0.2
    assert 0.8 < right.systems["a"].low < 0.9 and right.systems["a"].high == 1.0
    assert any("tells a and b apart" in note for note in right.notes)
    far = compare_scores({"a": system(40.0), "b": system(40.0)}).pairs[0].difference
    assert (far.value, far.low) == (0.0, None)  # of scores without limits nothing is known


def test_the_manifest_names_every_file_that_was_read(tmp_path):
    compare_logs([REAL / "lm-eval-a", REAL / "lm-eval-b"]).write(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert sum("samples_" in name for name in manifest["inputs"]) == 2
    assert manifest["config"]["unscored"] == "exclude"
    assert manifest["seed"] is None


def test_bad_comparisons_are_one_line(tmp_path):
    path = table(tmp_path / "t.csv", planted(0.0, n=20))
    other = table(tmp_path / "o.csv", {"c": [1.0]})
    other.write_text("item,score\nelse,1\n")
    with pytest.raises(DeadpanError, match="no item in common"):
        compare_logs([path, other])
    with pytest.raises(DeadpanError, match="at least two systems"):
        compare_logs([other])
    with pytest.raises(DeadpanError, match="named twice"):
        compare_logs([path, path])
    with pytest.raises(DeadpanError, match="unknown system"):
        compare_logs([path], against="z")


def test_the_folder_has_a_page_a_figure_and_json(tmp_path):
    compare_logs([table(tmp_path / "t.csv", planted(0.1))]).write(tmp_path / "out")
    data = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert data["comparisons"][0]["verdict"] == "a is better"
    assert (tmp_path / "out" / "differences.svg").exists()
    assert "no difference" in (tmp_path / "out" / "report.html").read_text()


def rated(path, rates: dict[str, float], n: int = 200):
    rng = random.Random(1)
    lines = ["item,system,score"]
    for i in range(n):
        luck = rng.random()
        lines += [f"{i},{name},{int(luck < rate)}" for name, rate in rates.items()]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("rates", "said"),
    [
        ({"a": 0.9, "b": 0.5}, "a is significantly better than the other"),
        ({"a": 0.9, "b": 0.5, "c": 0.4}, "a is significantly better than all others"),
        ({"a": 0.9, "b": 0.89, "c": 0.4}, "2 of 3 differences between 3 systems are significant"),
        ({"a": 0.6, "b": 0.595}, "No significant difference between 2 systems"),
    ],
)
def test_a_winner_needs_every_difference_to_be_significant(tmp_path, rates, said):
    assert compare_logs([rated(tmp_path / "t.csv", rates)]).headline().startswith(said)


def test_a_winner_against_one_reference_only_is_not_a_winner_over_all(tmp_path):
    path = rated(tmp_path / "t.csv", {"a": 0.9, "b": 0.89, "c": 0.4})
    assert "better than" not in compare_logs([path], against="c").headline()
