"""Audits on the site: numbers with their intervals, and the audit's own pages without a dead link."""

from __future__ import annotations

import random
import re

import pytest

from deadpan.datasets.audit import audit_sources
from deadpan.records import Example, Turn
from deadpan.report import build_report
from deadpan.storage import write_records


def corpus(path, *, mark: bool):
    rng = random.Random(2)
    rows = []
    for i in range(80):
        label = rng.random() < 0.5
        end = "!!!" if mark and label else "."
        words = [f"w{rng.randrange(50)}" for _ in range(6)]
        rows.append(Example(str(i), Turn("", " ".join(words) + end), label=label))
    write_records(path, rows, Example)
    return path


@pytest.mark.slow
def test_a_shortcut_is_told_and_none_is_not(tmp_path):
    sources = [corpus(tmp_path / f"{name}.jsonl", mark=name == "index") for name in ("index", "plain")]
    audit_sources(sources, out=tmp_path / "atlas")
    build_report([tmp_path / "atlas"], tmp_path / "site")
    page = (tmp_path / "site" / "atlas" / "index.html").read_text(encoding="utf-8")
    assert "In 1 of 2 corpora one family of shallow features alone reaches an AUC significantly above" in page
    assert "punctuation" in page
    own = tmp_path / "site" / "atlas" / "pages"
    assert (own / "index-2.html").is_file(), "a corpus called index has a page beside the atlas"
    for path in own.glob("*.html"):
        for link in re.findall(r'href="([^"#]+)"', path.read_text(encoding="utf-8")):
            assert (path.parent / link).is_file(), link
