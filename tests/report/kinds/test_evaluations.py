"""Files of predictions that `deadpan score` scored, as a story of the site."""

from __future__ import annotations

from pathlib import Path

from deadpan.datasets.scored import score_files
from deadpan.report import build_report


def scored(path: Path, right: int) -> Path:
    """A scored table of 40 rows of which the first ones are right."""
    lines = ["id,text,label,predicted_label,predicted_score"]
    for n in range(40):
        truth = n % 2 == 0
        answer = truth if n < right else not truth
        words = [("sarcastic" if each else "sincere") for each in (truth, answer)]
        lines.append(f"{n},text number {n},{words[0]},{words[1]},{0.9 if answer else 0.1}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def page(folder: Path, *paths: Path) -> str:
    folder.mkdir(exist_ok=True)
    score_files(paths).write(folder / "out")
    build_report([folder / "out"], folder / "site")
    return (folder / "site" / "out" / "index.html").read_text(encoding="utf-8")


def test_one_scored_file_stands_beside_a_constant_answer(tmp_path):
    good = page(tmp_path, scored(tmp_path / "good.csv", 36))
    assert "good has balanced accuracy 0.9" in good and "on 40 labelled rows" in good
    assert "Answers of good" in good and "predicted sarcastic" in good


def test_a_file_that_is_no_better_than_a_constant_answer_is_said_to_be(tmp_path):
    poor = page(tmp_path, scored(tmp_path / "poor.csv", 20))
    assert "poor is not significantly better than a constant answer" in poor


def test_rows_without_an_answer_are_named_where_they_lower_the_score(tmp_path):
    path = scored(tmp_path / "shy.csv", 40)
    lines = path.read_text(encoding="utf-8").splitlines()
    shy = [
        line.rsplit(",", 2)[0] + ",cannot tell,0.5" if n % 4 == 1 else line for n, line in enumerate(lines)
    ]
    path.write_text("\n".join(shy) + "\n", encoding="utf-8")
    assert "Rows without an answer, which count as wrong: shy 10." in page(tmp_path, path)
    assert "count as wrong" not in page(tmp_path / "again", scored(tmp_path / "good.csv", 36))


def test_of_two_files_the_better_one_is_named_only_if_it_is_significantly_better(tmp_path):
    both = page(tmp_path, scored(tmp_path / "poor.csv", 10), scored(tmp_path / "good.csv", 38))
    assert "good does best on 40 labelled rows" in both and "Differences" in both
    alike = page(tmp_path / "again", scored(tmp_path / "a.csv", 36), scored(tmp_path / "b.csv", 35))
    assert "No system is significantly better than all others" in alike
