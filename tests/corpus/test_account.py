"""The card of a built corpus: what it says of dumps that nobody wrote."""

from __future__ import annotations

import shutil

import pytest

from deadpan.corpus.account import SYNTHETIC
from deadpan.corpus.build import build_corpus
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.storage import read_manifest


@pytest.mark.slow
def test_a_corpus_of_synthetic_dumps_says_so(tmp_path):
    made = synthesize_dumps(tmp_path / "made", months=1, comments=300, form="gz")
    shutil.copytree(tmp_path / "made", tmp_path / "real")
    (tmp_path / "real" / "manifest.json").write_text('{"somebody": "else"}')
    for name, synthetic in (("made", True), ("real", False)):
        out = tmp_path / f"corpus-{name}"
        build_corpus([str(tmp_path / name / path.name) for path in made.files], out)
        assert read_manifest(out).config.get("synthetic", False) is synthetic
        card = (out / "README.md").read_text(encoding="utf-8")
        assert (SYNTHETIC in card) is synthetic
        assert ("corpus of Reddit comments" in card) is not synthetic
