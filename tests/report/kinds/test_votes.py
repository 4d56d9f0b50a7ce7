"""Studies of votes on the site: the verdict with its interval, and meant against heard."""

from __future__ import annotations

from deadpan.detect.studies.soft_labels import study_votes
from deadpan.records import Example, Turn
from deadpan.report import build_report


def test_meant_and_heard_stand_on_the_page(tmp_path):
    rows = [
        Example(str(i), Turn("", f"text {i}"), label=i % 2 == 0,
                meta={"votes": 4 if i % 2 == 0 else i % 3, "voters": 5, "sarcasm_ref": i % 2 == 0})
        for i in range(40)
    ]  # fmt: skip
    study_votes(rows, "majority", k=2).write(tmp_path / "out")
    build_report([tmp_path / "out"], tmp_path / "site")
    page = (tmp_path / "site" / "out" / "index.html").read_text(encoding="utf-8")
    assert "no significant difference" in page
    assert "4 of 5 hear it" in page and "cross entropy" in page
