"""Answers of people on a page of the report: every coefficient by its name, and how well they agree."""

from __future__ import annotations

from deadpan.formats.export import write_export
from deadpan.records import Judgment
from deadpan.report import build_report


def answered(folder, *, agree: bool):
    judgments = [
        Judgment(f"i{item}", f"p{person}", "sarcastic", "yes" if (item + person * (not agree)) % 2 else "no",
                 1.0, "2026-11-16T10:00:00+00:00")
        for item in range(12)
        for person in range(3)
    ]  # fmt: skip
    write_export(folder, judgments, [], config={"study": "pilot", "protocol": "reader-judgment"})
    return folder


def test_agreement_is_in_the_finding_the_figure_and_a_table(tmp_path):
    site = build_report([answered(tmp_path / "export", agree=True)], tmp_path / "site")
    assert "Krippendorff's alpha on “sarcastic” is 1.0" in site.findings[0]
    html = (tmp_path / "site" / "export" / "index.html").read_text(encoding="utf-8")
    for name in ("raw agreement", "Cohen&#x27;s kappa", "Fleiss&#x27; kappa", "Gwet&#x27;s AC1"):
        assert name in html
    assert "People agree more than expected by chance." in html


def test_disagreement_is_said_as_such(tmp_path):
    build_report([answered(tmp_path / "export", agree=False)], tmp_path / "site")
    html = (tmp_path / "site" / "export" / "index.html").read_text(encoding="utf-8")
    assert "People agree no more than expected by chance." in html
